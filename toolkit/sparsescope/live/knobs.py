"""Single controls of the page, made from the registries and the fields of the parts.

Nothing here knows which losses, penalties and solvers exist, nor which kinds of problems: what a control means is in
:data:`KNOBS`, or in the words that its kind puts in their place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .. import registry
from ..registry import Field, Registry
from . import settings as st

SPEEDS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 250.0, 500.0, 1000.0)
# At how many places a slider of a real number stops between its ends.
SLIDER_STEPS = 200
LONGEST_SYMBOL = 7  # √(σ/τ)

Words = Mapping[str, tuple[str, str]]  # a setting's meaning and its formula
Reasons = Mapping[tuple[str, str], str]  # (setting, value) -> why it cannot be chosen

LABELS = {"dataset": "data", "loss": "loss", "penalty": "penalty", "solver": "method"}
KNOBS: dict[str, tuple[str, str]] = {
    "dataset": (
        "The samples, their classes and the names of the features. Another data set starts a new problem.",
        "X is n × d, one row a sample; y holds one of m classes for each, or a set of m labels",
    ),
    "task": (
        "What is done with these data. Another task makes a new problem.",
        "W: a weight for each feature and class. Θ: for each pair of features how they are tied, all others known",
    ),
    "loss": (
        "How a wrong or narrow decision is charged. Changed during a run, the weights stay (warm start).",
        "F(W) = (1/n) Σ_i ℓ(x_iᵀW, y_i) + λ Ω(W)",
    ),
    "penalty": (
        "What makes W sparse. Changed during a run, the weights stay (warm start).",
        "F(W) = (1/n) Σ_i ℓ(x_iᵀW, y_i) + λ Ω(W)",
    ),
    "lam_ratio": (
        "The weight of the penalty, as a part of λ_max: at 1 and above every penalised weight is zero. "
        "Move it during a run: the next step uses it.",
        "λ_max = max_j Ω°(G(0)_j), the largest dual norm of a gradient row at W = 0",
    ),
    "intercept": (
        "An offset for each class that is not penalised. Switching it makes a new problem.",
        "Z = XW + 1bᵀ",
    ),
    "balanced": (
        "Every class counts the same, however few samples it has: a sample weighs the more, the rarer its class is. "
        "What is measured on held-out samples counts each once. Switching it makes a new problem.",
        "(1/Σw) Σ_i w_i ℓ_i, w_i = 1/(samples of the class y_i)",
    ),
    "solver": (
        "The method that minimises F. Changed during a run, it goes on from the present weights.",
        "min_W F(W)",
    ),
    "speed": (
        "A cap on the iterations in a second of wall time, so that one can follow. The solver's own clock does not "
        "count the waiting.",
        "",
    ),
    "stop": ("When the run ends by itself.", ""),
    "features": (
        f"How many features are the nodes: those of largest variance, at most {st.FEATURES_HIGH}. Constant ones are "
        "left out.",
        "",
    ),
    "correlation": (
        "S holds correlations: every feature is scaled to unit variance. Else it holds covariances, and features that "
        "vary more count for more.",
        "S_ij / (S_ii S_jj)^{1/2}",
    ),
    "diagonal": (
        "Whether the diagonal of Θ pays as well. Changed during a run, Θ stays (warm start).",
        "λ Σ_ij |Θ_ij|, over all entries or over those with i ≠ j",
    ),
    "seed": ("Which samples are held out for testing. Another seed makes a new problem.", ""),
}

TASKS = {
    "classes": ("Classify", "Weights W that tell the classes (or labels) of a sample."),
    "covariance": (
        "Network of the features",
        "Which pairs of features are tied to each other when all others are known: a sparse inverse covariance Θ.",
    ),
}
STOPS = {
    "precision": ("at full precision", "When the duality gap is as small as the numbers can tell."),
    "gap": ("gap of 1e-6", "When the relative duality gap, which proves how near the optimum is, is at most 1e-6."),
    "held-out": (
        "held-out data",
        "When three evaluations on held-out data in a row were no better than the best one; never without such data.",
    ),
}


def choice(parts: Registry, name: str, reason: str | None) -> dict[str, Any]:
    """One entry of a menu made from a registry."""
    return {
        "value": name,
        "label": parts.title(name),
        "doc": parts.doc(name),
        "disabled": reason is not None,
        "reason": reason or "",
    }


def part_select(
    kind: str,
    settings: Mapping[str, Any],
    reasons: Reasons,
    said: str = "",
    *,
    words: Words = KNOBS,
    names: Sequence[str] | None = None,
) -> dict[str, Any]:
    """The menu of losses, penalties or solvers (or of those ``names``); ``said`` stands under it in place of the part's
    formula and source."""
    parts = st.PARTS[kind]
    current = settings[kind]
    part = parts[current]
    formula = " · ".join(t for t in (getattr(part, "formula", ""), getattr(part, "source", "")) if t)
    doc, general = words[kind]
    return {
        "id": kind,
        "kind": "select",
        "label": LABELS[kind],
        "doc": doc,
        "formula": general,
        "about": parts.doc(current),
        "about_formula": said or formula,
        "value": current,
        "choices": [choice(parts, name, reasons.get((kind, name))) for name in names or parts.names()],
        "disabled": False,
        "reason": "",
    }


def field_control(kind: str, field: Field, value: Any) -> dict[str, Any]:
    """The control of one parameter of a part."""
    control: dict[str, Any] = {
        "id": f"{kind}.{field.name}",
        "label": field.name.replace("_", " ") + _symbol(field.doc),
        "doc": field.doc,
        "formula": f"{field.bounds()}; default {_shown(field.default)}",
        "value": value,
        "disabled": False,
        "reason": "",
        "live": True,
    }
    if field.kind == "bool":
        return {**control, "kind": "check"}
    if field.kind == "choice":
        entries = [
            {"value": c, "label": str(c), "doc": "", "disabled": False, "reason": ""} for c in field.choices or ()
        ]
        return {**control, "kind": "select", "choices": entries, "about": "", "about_formula": ""}
    integer = field.kind == "int"
    bounded = field.low is not None and field.high is not None
    # A slider over a huge range of whole numbers (a seed) cannot be set to a value: a number field can.
    wide = integer and bounded and not field.log and (field.high or 0) - (field.low or 0) > 5 * SLIDER_STEPS
    low, high = _ends(field)
    if not bounded or wide:
        step: float | str = 1 if integer else "any"
        return {**control, "kind": "number", "low": field.low, "high": field.high, "step": step, "integer": integer}
    assert low is not None and high is not None
    log = bool(field.log) and low > 0
    step = 1.0 if integer else _step(low, high, log)
    return {**control, "kind": "slider", "low": low, "high": high, "log": log, "step": step, "integer": integer}


def _symbol(doc: str) -> str:
    """The symbol that a parameter has in formulas, with a space before it: what its description may begin with."""
    symbol, colon, _ = doc.partition(": ")
    return f" {symbol}" if colon and len(symbol) <= LONGEST_SYMBOL and not symbol.isascii() else ""


def _ends(field: Field) -> tuple[float | None, float | None]:
    """Ends of a slider. A lower end that is itself not allowed moves up a little."""
    low, high = field.low, field.high
    if low is None or high is None:
        return low, high
    if field.log and low <= 0:
        low = high * 1e-6 if field.default in (None, 0) else min(float(field.default), high) * 1e-3
    elif field.open_low:
        low = 1 + low if field.kind == "int" else low + (high - low) / SLIDER_STEPS
    return low, high


def _step(low: float, high: float, log: bool) -> float:
    """Step of a slider: in decades if it is logarithmic, else a round part of the range."""
    if log:
        return math.log10(high / low) / SLIDER_STEPS
    raw = (high - low) / SLIDER_STEPS
    power = 10.0 ** math.floor(math.log10(raw))
    return next(power * k for k in (1, 2, 5, 10) if power * k >= raw * (1 - 1e-9))


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def lam_slider(
    settings: Mapping[str, Any],
    key: str,
    label: str,
    low: float,
    high: float,
    scale: float | None,
    doc: str,
    formula: str,
) -> dict[str, Any]:
    """A logarithmic slider that reacts while it moves; ``scale`` times its value is shown too."""
    return {
        "id": key,
        "kind": "slider",
        "label": label,
        "doc": doc,
        "formula": formula,
        "value": settings[key],
        "low": low,
        "high": high,
        "log": True,
        "step": math.log10(high / low) / (2 * SLIDER_STEPS),
        "integer": False,
        "scale": scale,
        "live": True,
        "disabled": False,
        "reason": "",
    }


def lam_control(
    settings: Mapping[str, Any], lam_reference: float | None, finite: bool, bound: bool = False, *, words: Words = KNOBS
) -> dict[str, Any]:
    """The λ slider, in units of λ_max on a logarithmic scale; ``lam_reference`` is None until the data are there, and
    ``bound`` says that it is only an upper bound of λ_max."""
    doc, formula = words["lam_ratio"]
    if not finite:
        doc += " This penalty never forces weights to zero, so there is no λ_max; a reference of the same size is used."
    if bound:
        doc += (
            " For this loss, which has kinks, λ_max is only an upper bound on data of this size: weights may be "
            "zero below 1 already."
        )
    made = lam_slider(
        settings,
        "lam_ratio",
        "λ / λ_max" if finite else "λ / λ_ref",
        st.LAM_LOW,
        st.LAM_HIGH,
        lam_reference,
        doc,
        formula,
    )
    made["place"] = "bar"
    if not st.PARTS["solver"][settings["solver"]].follows_lam:
        made |= {"disabled": True, "reason": "This method has a budget η on the mean loss in the place of λ."}
    return made


def speed_control(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The speed: a slider over a short list of caps, the last one without a cap."""
    doc, formula = KNOBS["speed"]
    now = settings["speed"]
    caps = set(SPEEDS)
    if now != st.MAX:
        caps.add(now)  # a speed from an address stays reachable
    entries: list[Any] = [*sorted(caps), st.MAX]
    return {
        "id": "speed",
        "kind": "steps",
        "label": "speed",
        "doc": doc,
        "formula": formula,
        "value": now,
        "choices": [
            {
                "value": cap,
                "label": "no cap" if cap == st.MAX else f"{cap:g} it/s",
                "doc": "",
                "disabled": False,
                "reason": "",
            }
            for cap in entries
        ],
        "live": True,
        "disabled": False,
        "reason": "",
    }


def stop_control(settings: Mapping[str, Any], reasons: Reasons, stops: Words = STOPS) -> dict[str, Any]:
    """The menu of stop rules; ``stops``: what they are called, and their meaning."""
    doc, formula = KNOBS["stop"]
    return {
        "id": "stop",
        "kind": "select",
        "label": "stop",
        "doc": doc,
        "formula": formula,
        "value": settings["stop"],
        "about": stops[settings["stop"]][1],
        "about_formula": "",
        "choices": [
            {
                "value": value,
                "label": stops[value][0],
                "doc": stops[value][1],
                "disabled": ("stop", value) in reasons,
                "reason": reasons.get(("stop", value), ""),
            }
            for value in st.CHOICES["stop"]
        ],
        "disabled": False,
        "reason": "",
    }


def data_control(
    settings: Mapping[str, Any], names: Sequence[str], given: tuple[str, str] | None, words: Words = KNOBS
) -> dict[str, Any]:
    """The menu of data sets. ``given`` is the (name, title) of data handed over in Python."""
    doc, formula = words["dataset"]
    entries = []
    for name in names:
        own = given is not None and name == given[0]
        entries.append(
            {
                "value": name,
                "label": given[1] if own and given else name,
                "doc": "" if own else data_doc(name),
                "disabled": False,
                "reason": "",
            }
        )
    alone = len(names) == 1
    return {
        "id": "dataset",
        "kind": "select",
        "label": LABELS["dataset"],
        "doc": doc,
        "formula": formula,
        "about": "" if given is not None and settings["dataset"] == given[0] else data_doc(settings["dataset"]),
        "about_formula": "",
        "value": settings["dataset"],
        "choices": entries,
        "disabled": alone,
        "reason": "There is no other data set to choose from here." if alone else "",
    }


def data_doc(name: str) -> str:
    """What the registry says about a data set; files found on disk are known by name only."""
    return registry.datasets.doc(name) if name in registry.datasets else ""


def task_control(settings: Mapping[str, Any], reasons: Reasons) -> dict[str, Any]:
    """The menu of tasks."""
    doc, formula = KNOBS["task"]
    entries = [
        {
            "value": task,
            "label": label,
            "doc": about,
            "disabled": ("task", task) in reasons,
            "reason": reasons.get(("task", task), ""),
        }
        for task, (label, about) in TASKS.items()
    ]
    return {
        "id": "task",
        "kind": "select",
        "label": "task",
        "doc": doc,
        "formula": formula,
        "value": settings["task"],
        "about": "",
        "about_formula": "",
        "choices": entries,
        "disabled": False,
        "reason": "",
    }


def check_control(key: str, label: str, settings: Mapping[str, Any], words: Words = KNOBS) -> dict[str, Any]:
    """A setting that is on or off."""
    doc, formula = words[key]
    return {
        "id": key,
        "kind": "check",
        "label": label,
        "doc": doc,
        "formula": formula,
        "value": settings[key],
        "disabled": False,
        "reason": "",
        "live": True,
    }


def features_control(key: str, label: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """How many features make the network."""
    doc, formula = KNOBS[key]
    return {
        "id": key,
        "kind": "slider",
        "label": label,
        "doc": doc,
        "formula": formula,
        "value": settings[key],
        "low": st.FEATURES_LOW,
        "high": st.FEATURES_HIGH,
        "step": 1,
        "log": False,
        "integer": True,
        "disabled": False,
        "reason": "",
        "live": False,
    }


def seed_control(settings: Mapping[str, Any], words: Words = KNOBS) -> dict[str, Any]:
    """The seed of the split into training and test samples."""
    doc, formula = words["seed"]
    return {
        "id": "seed",
        "kind": "number",
        "label": "split seed",
        "doc": doc,
        "formula": formula,
        "value": settings["seed"],
        "low": 0,
        "high": st.SEED_HIGH,
        "step": 1,
        "integer": True,
        "disabled": False,
        "reason": "",
        "live": False,
    }
