"""Parameters that a part declares, once each.

The declaration gives the default, the check of bad values, the slider of the explorer and the line in the
documentation. Columns of what a solver reports are declared likewise.
"""

from __future__ import annotations

import difflib
import inspect
import math
from dataclasses import dataclass
from typing import Any, ClassVar

from .errors import NotAllowed


@dataclass(frozen=True)
class Field:
    """One parameter of a part.

    Parameters
    ----------
    name
        name of the parameter.
    default
        default value.
    low, high
        inclusive bounds; ``None``: unbounded.
    doc
        description, for tooltips and docs.
    log
        use a logarithmic slider.
    choices
        allowed values of a choice.
    kind
        ``"float"``, ``"int"``, ``"bool"`` or ``"choice"``.
    open_low
        exclude the lower bound itself.

    Examples
    --------
    >>> rho = ss.registry.penalties.fields("elastic-net")[0]
    >>> rho.name, rho.default
    ('rho', 0.5)
    """

    name: str
    default: Any
    low: float | None = None
    high: float | None = None
    doc: str = ""
    log: bool = False
    choices: tuple[str, ...] | None = None
    kind: str = "float"
    open_low: bool = False

    def check(self, value: Any, owner: str) -> Any:
        """Return a value in the field's type.

        Parameters
        ----------
        value
            the value to check.
        owner
            name of the part, for messages.

        Returns
        -------
        Any
            the value.

        Raises
        ------
        NotAllowed, TypeError
            if it is not allowed; the message says what is.
        """
        what = f"{owner}: {self.name}"
        if self.kind == "choice":
            assert self.choices is not None
            if value not in self.choices:
                near = difflib.get_close_matches(str(value), self.choices, 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise NotAllowed(f"{what} is {value!r}{hint}; allowed: {', '.join(map(repr, self.choices))}")
            return value
        if self.kind == "bool":
            if type(value).__name__ in ("bool", "bool_") or (isinstance(value, int | float) and value in (0, 1)):
                return bool(value)
            raise NotAllowed(f"{what} is {value!r}; allowed: True or False")
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise NotAllowed(f"{what} is {value!r}; a number is needed ({self.bounds()})") from None
        if self.kind == "int":
            if not math.isfinite(number) or number != int(number):
                raise NotAllowed(f"{what} is {value!r}; a whole number is needed ({self.bounds()})")
            number = int(number)
        below = self.low is not None and (number < self.low or (self.open_low and number == self.low))
        above = self.high is not None and number > self.high
        if below or above or math.isnan(number):
            raise NotAllowed(f"{what} is {value!r}; allowed: {self.bounds()}")
        return number

    def bounds(self) -> str:
        """Describe the allowed values, for messages and tooltips.

        Returns
        -------
        str
            the description.
        """
        if self.choices:
            return ", ".join(self.choices)
        if self.kind == "bool":
            return "True or False"
        low, high = self.low, self.high
        if low is not None and high is not None:
            return f"{'above ' if self.open_low else ''}{low:g} to {high:g}"
        if low is not None:
            return f"{'above' if self.open_low else 'at least'} {low:g}"
        return f"at most {high:g}" if high is not None else "any number"


def field(
    default: Any,
    low: float | None = None,
    high: float | None = None,
    doc: str = "",
    *,
    log: bool = False,
    choices: tuple[str, ...] | None = None,
    open_low: bool = False,
) -> Any:
    """Declare a parameter in the body of a part's class; its kind follows from the default and from ``choices``.

    Parameters
    ----------
    default
        default value.
    low, high
        inclusive bounds; ``None``: unbounded.
    doc
        description, for tooltips and docs.
    log
        use a logarithmic slider.
    choices
        allowed values, for a choice.
    open_low
        exclude the lower bound itself.

    Returns
    -------
    Any
        the declaration, a :class:`Field`; an instance of the part has the value in its place.

    Examples
    --------
    >>> from sparsescope import field
    >>> class Margin:
    ...     margin: float = field(1.0, 0.0, 10.0, "μ: width of the margin")
    """
    if choices is not None:
        kind = "choice"
    elif isinstance(default, bool):
        kind = "bool"
    elif isinstance(default, int):
        kind = "int"
    else:
        kind = "float"
    return Field("", default, low, high, doc, log, choices, kind, open_low)


PERCENT = "100*"  # before a column's name: the share in percent


@dataclass(frozen=True)
class Column:
    """A number that events carry beside the common ones, declared once by whoever reports it.

    Parameters
    ----------
    name
        Name in events, traces and files; of a solver's columns also the attribute of its state that holds the value.
    doc
        Description; with ``unit`` the text of tooltips.
    unit
        ``"share"`` for a number in [0, 1], ``"s"`` for seconds, or empty.
    of_step
        Whether the number belongs to one iteration, and not to a whole λ of a path.
    drawn
        Whether pictures are made of it, so that the live page gets it at every event.
    label, short
        Names in legends and tooltips, and at the ends of lines, where there is little room.
    status
        Name in the live page's line of newest values; empty: it does not stand there.
    colour, dash
        How its line is drawn: a named colour of ``views.style.THEMES`` and a dash pattern.
    absent
        Sentence for a picture of a run whose solver does not report it.
    momentary
        Whether it holds at its own event alone: the live page shows none as soon as a later event has none.
    of_gradient
        Whether it is in the units of a gradient, as λ is. A solver that works on scaled data states it for these; an
        event has it for the data as they were given.
    """

    name: str
    doc: str
    unit: str = ""
    of_step: bool = True
    drawn: bool = False
    label: str = ""
    short: str = ""
    status: str = ""
    colour: str = ""
    dash: str = "solid"
    absent: str = ""
    momentary: bool = False
    of_gradient: bool = False

    @property
    def shown(self) -> str:
        """Name of what charts draw: the column itself or, of a share, its percentage (``100*name``)."""
        return f"{PERCENT}{self.name}" if self.unit == "share" else self.name


def check_whole(name: str, value: Any, low: int) -> int:
    """Return a value as an int.

    Parameters
    ----------
    name
        name of the argument, for the message.
    value
        the value to check.
    low
        smallest value allowed.

    Returns
    -------
    int
        the number.

    Raises
    ------
    NotAllowed
        unless it is a whole number of at least ``low``.

    Examples
    --------
    >>> from sparsescope.registry import check_whole
    >>> check_whole("k", 3, 1)
    3
    """
    try:
        fits = not isinstance(value, bool) and int(value) == value and value >= low
    except (TypeError, ValueError, OverflowError):  # words, NaN, infinity
        fits = False
    if not fits:
        raise NotAllowed(f"{name} is {value!r}; a whole number of at least {low} is needed")
    return int(value)


def collect_fields(cls: type) -> tuple[Field, ...]:
    """Return the :class:`Field` declarations in the body of a class, in order, with their names.

    Returns
    -------
    tuple[Field, ...]
        the declarations.
    """
    found = []
    for name, value in vars(cls).items():
        if isinstance(value, Field):
            found.append(
                Field(
                    name,
                    value.default,
                    value.low,
                    value.high,
                    value.doc,
                    value.log,
                    value.choices,
                    value.kind,
                    value.open_low,
                )
            )
    return tuple(found)


def documented(doc: str | None, fields: tuple[Field, ...]) -> str:
    """Return a class's docstring with a section Parameters made of the declarations of its fields.

    Parameters
    ----------
    doc
        the docstring as it stands in the class.
    fields
        the declarations.

    Returns
    -------
    str
        the docstring; unchanged if there are no fields, or if it has such a section.
    """
    text = inspect.cleandoc(doc or "")
    if not fields or "Parameters\n----------" in text:
        return text
    plain = str.maketrans({"|": r"\|", "*": r"\*"})  # no markup
    lines = [f"{f.name}\n    {f.doc.strip().translate(plain)} (default {f.default!r}; {f.bounds()})." for f in fields]
    return "\n".join([text, "", "Parameters", "----------", *lines])


def exampled(doc: str | None, example: str) -> str:
    """Return a class's docstring with a section Examples.

    Parameters
    ----------
    doc
        the docstring as it stands in the class.
    example
        lines with ``>>>`` and what they print.

    Returns
    -------
    str
        the docstring; unchanged if it has such a section.
    """
    text = inspect.cleandoc(doc or "")
    return text if "Examples\n--------" in text else "\n".join([text, "", "Examples", "--------", example])


class RowFunctions:
    """Base of parts whose functions of one row are defined by each of them, and documented once, by their base."""

    __slots__ = ()
    row_docs: ClassVar[dict[str, str]] = {}  # docstring by the name of the function
    row_returns: ClassVar[dict[str, str]] = {}  # its type of result, for functions that are not compiled; "": none

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        for name, doc in cls.row_docs.items():
            function = vars(cls).get(name)
            if inspect.isfunction(function) and not function.__doc__:
                function.__doc__ = inspect.cleandoc(doc)
