"""Single controls of the page, made from the registries and the fields of the parts.

Nothing here depends on which losses, penalties and solvers exist, nor on the kinds of problems: what a control means is
declared with its setting, or in the words that its page puts in their place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .. import registry
from ..registry import Field, Registry
from . import settings as st
from .setting import Setting

# At how many places a slider of a real number stops between its ends.
SLIDER_STEPS = 200
LONGEST_SYMBOL = 7  # √(σ/τ)

Words = Mapping[str, tuple[str, str]]  # a setting's meaning and its formula
NO_WORDS: Words = {}
Reasons = Mapping[tuple[str, str], str]  # (setting, value) -> why it cannot be chosen; value "": the whole control
NO_REASONS: Reasons = {}


def choice(parts: Registry, name: str, reason: str | None) -> dict[str, Any]:
    """One entry of a menu made from a registry."""
    return _entry(name, parts.title(name), parts.doc(name), reason)


def part_select(
    kind: str,
    settings: Mapping[str, Any],
    reasons: Reasons,
    said: str = "",
    *,
    words: Words = NO_WORDS,
    names: Sequence[str] | None = None,
) -> dict[str, Any]:
    """The menu of losses, penalties or solvers (or of those ``names``); ``said`` stands under it in place of the part's
    formula and source."""
    declared = st.PART_SETTINGS[kind]
    parts, current = declared.registry, settings[kind]
    part = parts[current]
    formula = " · ".join(t for t in (getattr(part, "formula", ""), getattr(part, "source", "")) if t)
    doc, general = words.get(kind, (declared.doc, declared.formula))
    return {
        "id": kind,
        "kind": "select",
        "label": declared.label,
        "doc": doc,
        "formula": general,
        "about": parts.doc(current),
        "about_formula": said or formula,
        "value": current,
        "choices": [choice(parts, name, reasons.get((kind, name))) for name in names or parts.names()],
        "disabled": False,
        "reason": "",
        "tag": f"{kind}-select",
    }


def setting_control(
    setting: Setting, settings: Mapping[str, Any], reasons: Reasons = NO_REASONS, words: Words = NO_WORDS
) -> dict[str, Any]:
    """The control of a setting, as it was declared; ``words`` of the page replace its explanation."""
    doc, formula = words.get(setting.name, (setting.field.doc, setting.formula))
    reason = reasons.get((setting.name, ""), "")
    value = settings[setting.name]
    common = {"id": setting.name, "label": setting.label, "doc": doc, "formula": formula, "value": value}
    common |= {"disabled": bool(reason), "reason": reason, "tag": setting.tag, "place": setting.place}
    if setting.caps:
        return {**common, "kind": "steps", "choices": _caps(setting, value)}
    if setting.menu is not None:
        return {**common, **_menu(setting, value, reasons)}
    return {**common, **_face(setting.field, setting.fineness)}


def field_control(kind: str, field: Field, value: Any) -> dict[str, Any]:
    """The control of one parameter of a part."""
    return {
        "id": f"{kind}.{field.name}",
        "label": field.name.replace("_", " ") + _symbol(field.doc),
        "doc": field.doc,
        # A box says itself that it has two states.
        "formula": ("" if field.kind == "bool" else f"{field.bounds()}; ") + f"default {_shown(field.default)}",
        "value": value,
        "disabled": False,
        "reason": "",
        **_face(field),
    }


def _face(field: Field, fineness: int = 1) -> dict[str, Any]:
    """Return the kind of a control, which follows from its field: a check box, a menu, a number or a slider."""
    if field.kind == "bool":
        return {"kind": "check"}
    if field.kind == "choice":
        entries = [_entry(c, str(c)) for c in field.choices or ()]
        return {"kind": "select", "choices": entries, "about": "", "about_formula": ""}
    integer = field.kind == "int"
    bounded = field.low is not None and field.high is not None
    # A slider over a huge range of whole numbers (a seed) cannot be set to a value: a number field can.
    wide = integer and bounded and not field.log and (field.high or 0) - (field.low or 0) > 5 * SLIDER_STEPS
    low, high = _ends(field)
    if not bounded or wide:
        step: float | str = 1 if integer else "any"
        return {"kind": "number", "low": field.low, "high": field.high, "step": step, "integer": integer}
    assert low is not None and high is not None
    log = bool(field.log) and low > 0
    step = 1.0 if integer else _step(low, high, log) / fineness
    return {"kind": "slider", "low": low, "high": high, "log": log, "step": step, "integer": integer}


def _entry(value: Any, label: str, doc: str = "", reason: str | None = None) -> dict[str, Any]:
    """One entry of a menu; with a ``reason`` it cannot be chosen."""
    return {"value": value, "label": label, "doc": doc, "disabled": reason is not None, "reason": reason or ""}


def _menu(setting: Setting, value: Any, reasons: Reasons) -> dict[str, Any]:
    """The menu of a setting whose choices have names and explanations."""
    menu = setting.menu or {}
    entries = [_entry(choice, label, doc, reasons.get((setting.name, choice))) for choice, (label, doc) in menu.items()]
    return {"kind": "select", "choices": entries, "about": menu[value][1], "about_formula": ""}


def _caps(setting: Setting, value: Any) -> list[dict[str, Any]]:
    """The places of a slider over a short list of caps, the last one without a cap."""
    caps = {*setting.caps} | ({value} - {setting.word})  # a value from an address stays reachable
    return [_entry(cap, f"{cap:g} {setting.unit}") for cap in sorted(caps)] + [_entry(setting.word, "no cap")]


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


def lam_control(
    settings: Mapping[str, Any],
    lam_reference: float | None,
    finite: bool,
    bound: bool = False,
    *,
    words: Words = NO_WORDS,
) -> dict[str, Any]:
    """The λ slider, in units of λ_max on a logarithmic scale; ``lam_reference`` is None until the data are there, and
    ``bound``: it is only an upper bound of λ_max."""
    made = setting_control(st.LAM_RATIO, settings, words=words) | {"scale": lam_reference}
    if not finite:
        made["label"] = "λ / λ_ref"
        made["doc"] += (
            " This penalty never forces weights to zero, so there is no λ_max; a reference of the same size is used."
        )
    if bound:
        made["doc"] += (
            " For this loss, which is not smooth, λ_max is only an upper bound on data of this size: weights may be "
            "zero below 1 already."
        )
    if not st.PARTS["solver"][settings["solver"]].follows_lam:
        made |= {"disabled": True, "reason": "This method has a budget η on the mean loss instead of λ."}
    return made


def data_control(
    settings: Mapping[str, Any], names: Sequence[str], given: tuple[str, str] | None, words: Words = NO_WORDS
) -> dict[str, Any]:
    """The menu of data sets. ``given`` is the (name, title) of data handed over in Python."""
    declared = st.DATASET
    doc, formula = words.get(declared.name, (declared.doc, declared.formula))
    entries = []
    for name in names:
        own = given is not None and name == given[0]
        entries.append(_entry(name, given[1] if own and given else name, "" if own else data_doc(name)))
    alone = len(names) == 1
    return {
        "id": declared.name,
        "kind": "select",
        "label": declared.label,
        "doc": doc,
        "formula": formula,
        "about": "" if given is not None and settings["dataset"] == given[0] else data_doc(settings["dataset"]),
        "about_formula": "",
        "value": settings["dataset"],
        "choices": entries,
        "disabled": alone,
        "reason": "There is no other data set to choose from here." if alone else "",
        "tag": "data-select",
    }


def data_doc(name: str) -> str:
    """Return the description of a data set in the registry; files on disk have only a name."""
    return registry.datasets.doc(name) if name in registry.datasets else ""
