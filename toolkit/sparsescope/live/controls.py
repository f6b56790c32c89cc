"""The controls of the page, generated from the registries and the fields of the parts.

Nothing here knows which losses, penalties and solvers exist. A choice that does not fit the others stays in the list,
disabled, with the solver's own reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .. import datasets, registry
from ..registry import Field, Registry
from . import settings as st

SPEEDS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 250.0, 500.0, 1000.0)
# At how many places a slider of a real number stops between its ends.
SLIDER_STEPS = 200

LABELS = {"dataset": "data", "loss": "loss", "penalty": "penalty", "solver": "method"}
KNOBS: dict[str, tuple[str, str]] = {
    "dataset": (
        "The samples, their classes and the names of the features. Another data set starts a new problem.",
        "X is n × d, one row a sample; y holds one of m classes for each, or a set of m labels",
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
    "seed": ("Which samples are held out for testing. Another seed makes a new problem.", ""),
}

STOPS = {
    "precision": ("at full precision", "When the duality gap is as small as the numbers can tell."),
    "gap": ("gap of 1e-6", "When the relative duality gap, which proves how near the optimum is, is at most 1e-6."),
    "held-out": ("held-out data", "When three evaluations on held-out data in a row were no better than the best one; "
                                  "never without such data."),
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
    kind: str, settings: Mapping[str, Any], reasons: Mapping[tuple[str, str], str], said: str = ""
) -> dict[str, Any]:
    """The menu of losses, penalties or solvers; ``said`` stands under it in place of the part's formula and source."""
    parts = st.PARTS[kind]
    current = settings[kind]
    part = parts[current]
    formula = " · ".join(t for t in (getattr(part, "formula", ""), getattr(part, "source", "")) if t)
    doc, general = KNOBS[kind]
    return {
        "id": kind,
        "kind": "select",
        "label": LABELS[kind],
        "doc": doc,
        "formula": general,
        "about": parts.doc(current),
        "about_formula": said or formula,
        "value": current,
        "choices": [choice(parts, name, reasons.get((kind, name))) for name in parts.names()],
        "disabled": False,
        "reason": "",
    }


def field_control(kind: str, field: Field, value: Any) -> dict[str, Any]:
    """The control of one parameter of a part."""
    control: dict[str, Any] = {
        "id": f"{kind}.{field.name}",
        "label": field.name.replace("_", " "),
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


def lam_control(
    settings: Mapping[str, Any], lam_reference: float | None, finite: bool, bound: bool = False
) -> dict[str, Any]:
    """The λ slider, in units of λ_max on a logarithmic scale; ``lam_reference`` is None until the data are there, and
    ``bound`` says that it is only an upper bound of λ_max."""
    doc, formula = KNOBS["lam_ratio"]
    if not finite:
        doc += " This penalty never forces weights to zero, so there is no λ_max; a reference of the same size is used."
    if bound:
        doc += " For this loss, which has kinks, λ_max is only an upper bound: weights may be zero below 1 already."
    return {
        "id": "lam_ratio",
        "kind": "slider",
        "label": "λ / λ_max" if finite else "λ / λ_ref",
        "doc": doc,
        "formula": formula,
        "value": settings["lam_ratio"],
        "low": st.LAM_LOW,
        "high": st.LAM_HIGH,
        "log": True,
        "step": math.log10(st.LAM_HIGH / st.LAM_LOW) / (2 * SLIDER_STEPS),
        "integer": False,
        "scale": lam_reference,
        "live": True,
        "disabled": False,
        "reason": "",
    }


def speed_control(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The speed: a slider over a short list of caps, the last one without a cap."""
    doc, formula = KNOBS["speed"]
    now = settings["speed"]
    caps = set(SPEEDS)
    if now != st.MAX:
        caps.add(now)  # a speed from an address stays reachable
    entries: list[Any] = [*sorted(caps), st.MAX]
    return {
        "id": "speed", "kind": "steps", "label": "speed", "doc": doc, "formula": formula, "value": now,
        "choices": [
            {"value": cap, "label": "no cap" if cap == st.MAX else f"{cap:g} it/s", "doc": "", "disabled": False,
             "reason": ""}
            for cap in entries
        ],
        "live": True, "disabled": False, "reason": "",
    }


def stop_control(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The menu of stop rules."""
    doc, formula = KNOBS["stop"]
    return {
        "id": "stop", "kind": "select", "label": "stop", "doc": doc, "formula": formula, "value": settings["stop"],
        "about": STOPS[settings["stop"]][1], "about_formula": "",
        "choices": [
            {"value": value, "label": STOPS[value][0], "doc": STOPS[value][1], "disabled": False, "reason": ""}
            for value in st.CHOICES["stop"]
        ],
        "disabled": False, "reason": "",
    }


def data_control(settings: Mapping[str, Any], names: Sequence[str], given: tuple[str, str] | None) -> dict[str, Any]:
    """The menu of data sets. ``given`` is the (name, title) of data handed over in Python."""
    doc, formula = KNOBS["dataset"]
    entries = []
    for name in names:
        own = given is not None and name == given[0]
        entries.append({
            "value": name, "label": given[1] if own and given else name, "doc": "" if own else data_doc(name),
            "disabled": False, "reason": "",
        })
    alone = len(names) == 1
    return {
        "id": "dataset", "kind": "select", "label": LABELS["dataset"], "doc": doc, "formula": formula,
        "about": "" if given is not None and settings["dataset"] == given[0] else data_doc(settings["dataset"]),
        "about_formula": "", "value": settings["dataset"], "choices": entries, "disabled": alone,
        "reason": "There is no other data set to choose from here." if alone else "",
    }


def data_doc(name: str) -> str:
    """What the registry says about a data set; files found on disk are known by name only."""
    return registry.datasets.doc(name) if name in registry.datasets else ""


def check_control(key: str, label: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """A setting that is on or off."""
    doc, formula = KNOBS[key]
    return {
        "id": key, "kind": "check", "label": label, "doc": doc, "formula": formula, "value": settings[key],
        "disabled": False, "reason": "", "live": True,
    }


def seed_control(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The seed of the split into training and test samples."""
    doc, formula = KNOBS["seed"]
    return {
        "id": "seed", "kind": "number", "label": "split seed", "doc": doc, "formula": formula,
        "value": settings["seed"], "low": 0, "high": st.SEED_HIGH, "step": 1, "integer": True, "disabled": False,
        "reason": "", "live": False,
    }


def schema(
    settings: Mapping[str, Any],
    *,
    reasons: Mapping[tuple[str, str], str] | None = None,
    lam_reference: float | None = None,
    lam_finite: bool = True,
    lam_bound: bool = False,
    names: Sequence[str] | None = None,
    given: tuple[str, str] | None = None,
    chosen: str = "",
) -> list[dict[str, Any]]:
    """The groups of controls: a list of ``{"title", "controls"}``.

    ``names`` are the data sets to choose from (None: all), ``given`` the (name, title) of data handed over in Python.
    ``reasons`` gives for (kind, name) why a choice is impossible beside the others; what is missing is possible.
    ``chosen`` says which solver ``auto`` chose and why.
    """
    reasons = reasons or {}
    problem = [data_control(settings, list(names or datasets.names()), given)]
    for kind in ("loss", "penalty"):
        problem.append(part_select(kind, settings, reasons))
        problem += [field_control(kind, f, settings[f"{kind}.{f.name}"]) for f in st.fields_of(kind, settings[kind])]
    problem.append(lam_control(settings, lam_reference, lam_finite, lam_bound))
    problem.append(check_control("intercept", "intercept", settings))
    if given is None or settings["dataset"] != given[0]:  # what was handed over is split already
        problem.append(seed_control(settings))
    solver = [part_select("solver", settings, reasons, chosen)]
    solver += [field_control("solver", f, settings[f"solver.{f.name}"]) for f in
               st.fields_of("solver", settings["solver"])]
    return [
        {"title": "Problem", "controls": problem},
        {"title": "Solver", "controls": solver},
        {"title": "Run", "controls": [speed_control(settings), stop_control(settings)]},
    ]


def impossible(problem: Any, settings: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Reasons in words for every loss, penalty and solver that does not fit.

    A solver is tried with the problem. A loss or a penalty is tried as a sibling of ``problem``: it is possible if any
    solver takes that; when it is chosen and the present one does not, another takes over, with a notice.
    """
    found: dict[tuple[str, str], str] = {}
    solver = st.make_part(settings, "solver")
    others = [st.PARTS["solver"].create(name) for name in st.PARTS["solver"].names()]
    for kind in ("loss", "penalty"):
        for name in st.PARTS[kind].names():
            part = st.make_part(settings, kind) if name == settings[kind] else st.PARTS[kind].create(name)
            try:
                sibling = problem.with_(**{kind: part})
                reason = solver.solves(sibling)
                if reason is not None and any(other.solves(sibling) is None for other in others):
                    reason = None
            except ValueError as refused:  # the problem itself refuses this pair, in words
                reason = str(refused)
            if reason is not None:
                found[kind, name] = str(reason)
    for name in st.PARTS["solver"].names():
        candidate = solver if name == settings["solver"] else st.PARTS["solver"].create(name)
        reason = candidate.solves(problem)
        if reason is not None:
            found["solver", name] = str(reason)
    return found
