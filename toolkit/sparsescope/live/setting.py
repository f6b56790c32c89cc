"""One setting of the page, declared once: default, correction, address, control, help and Python follow from it.

A page declares its own settings in its file (``Kind.settings``); those of all pages stand in :mod:`.settings`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..registry import Field
from .saying import brief

# The consequence of a change of a setting: only another picture; an order to the run under way; a problem with
# another part on the same data; a problem made anew.
LOOK, RUN, PART, PROBLEM = "look", "run", "part", "problem"
NO_CONTROL = ""


@dataclass(frozen=True)
class Setting:
    """A setting of the page.

    Parameters
    ----------
    name
        Key in settings, messages and addresses.
    field
        Default, bounds or choices, and the explanation: what :func:`sparsescope.registry.field` makes.
    label
        Name on the page.
    formula
        Formula under the explanation.
    effect
        Consequence of a change: ``LOOK``, ``RUN``, ``PART`` or ``PROBLEM``.
    place
        Where its control stands: ``"above"`` or ``"below"`` that of λ, in the ``"bar"``, in the group ``"run"``, or
        nowhere (``NO_CONTROL``: a chart has one).
    argument
        Keyword with which the problem takes the value; empty: it takes none.
    passed
        Values of the settings to values of the argument, where they differ. ``None`` leaves the argument out of a
        snippet.
    menu
        Label and explanation of each choice.
    word
        A word that is allowed beside numbers, such as ``"max"``.
    caps
        Values at which a slider stops, instead of a range; ``word`` is the last one.
    unit
        Unit of these values.
    of_split
        Whether it concerns the reading of a named data set, and not data handed over.
    fineness
        Multiplier of the number of a slider's steps.
    tag
        Name of the control in tests of the page; ``field-…`` unless given.
    """

    name: str
    field: Field
    label: str = ""
    formula: str = ""
    effect: str = PROBLEM
    place: str = "below"
    argument: str = ""
    passed: Mapping[Any, Any] | None = None
    menu: Mapping[str, tuple[str, str]] | None = None
    word: str = ""
    caps: tuple[float, ...] = ()
    unit: str = ""
    of_split: bool = False
    fineness: int = 1
    tag: str = ""

    def __post_init__(self) -> None:
        """Give the field the setting's name, and the choices of the menu."""
        field = replace(self.field, name=self.name)
        if self.menu is not None:
            field = replace(field, kind="choice", choices=tuple(self.menu))
        object.__setattr__(self, "field", field)
        object.__setattr__(self, "label", self.label or self.name)

    @property
    def default(self) -> Any:
        """Value on a first visit."""
        return self.field.default

    def explained(self, doc: str, formula: str) -> Setting:
        """Return the setting with the explanation of another page."""
        return replace(self, field=replace(self.field, doc=doc), formula=formula)

    def read(self, value: Any, notices: list[str]) -> Any:
        """Return an allowed value for what somebody sent, and append a notice if it was corrected."""
        if self.word and str(value) == self.word:
            return self.word
        return read_field(self.name, value, self.field, notices)

    def passes(self, value: Any) -> Any:
        """Return the argument of the problem that a value stands for."""
        return value if self.passed is None else self.passed[value]


def read_field(key: str, value: Any, field: Field, notices: list[str]) -> Any:
    """Return an allowed value of a field for what somebody sent, and append a notice if it was corrected."""
    if value is None:
        return field.default
    if field.kind == "bool":
        return _truth(key, value, bool(field.default), notices)
    if field.kind == "choice":
        choices = field.choices or ()
        if str(value) in [str(c) for c in choices]:
            return next(c for c in choices if str(c) == str(value))
        notices.append(f"{key} is {brief(value)}; using {field.default!r} (allowed: {', '.join(map(str, choices))})")
        return field.default
    number = _number(value)
    if number is None:
        notices.append(f"{key} is {brief(value)}, which is not a number; using {field.default!r}")
        return field.default
    if field.kind == "int":
        number = float(round(number))
    if field.low is not None and field.open_low and number <= field.low:
        notices.append(f"{key} is {number:g}; using {field.default!r} (allowed: {field.bounds()})")
        return field.default
    return _clamped(key, number, field, notices)


def _clamped(key: str, number: float, field: Field, notices: list[str]) -> float | int:
    low, high, bounded = field.low, field.high, number
    if low is not None:
        bounded = max(bounded, low)
    if high is not None:
        bounded = min(bounded, high)
    if bounded != number:
        span = f"{low:g} to {high:g}" if low is not None and high is not None else "the allowed values"
        notices.append(f"{key} is {number:g}, outside {span}; using {bounded:g}")
    return int(bounded) if field.kind == "int" else float(bounded)


def _number(value: Any) -> float | None:
    """A finite number, or None. True and False are not numbers here."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _truth(key: str, value: Any, default: bool, notices: list[str]) -> bool:
    text = str(value).strip().lower()
    if text in ("1", "true", "yes", "on"):
        return True
    if text in ("0", "false", "no", "off"):
        return False
    notices.append(f"{key} is {brief(value)}; using {'yes' if default else 'no'} (allowed: yes or no)")
    return default
