"""Kinds of predictions: what a student may answer, and how an answer is compared with the measured one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..wording import plural
from .answers import Judgement, Kind, Message, is_list, refused
from .features import FEATURES, Feature

KNOTS = 25  # of a sketch


@dataclass(frozen=True)
class Choice(Kind):
    """One of several options, or several of them (``several=True``); ``options`` maps keys to texts."""

    options: Mapping[str, str]
    several: bool = False
    name: ClassVar[str] = "choice"

    def clean(self, answer: Any) -> Any:
        """Return a key, or with ``several`` the chosen keys in the order of the options."""
        wanted = f"{'a list of some' if self.several else 'one'} of: {', '.join(self.options)}"
        if not self.several:
            if not isinstance(answer, str) or answer not in self.options:
                raise refused(answer, wanted)
            return answer
        if not is_list(answer):
            raise refused(answer, wanted)
        given = list(answer)
        if not all(isinstance(key, str) and key in self.options for key in given):
            raise refused(answer, wanted)
        return [key for key in self.options if key in given]

    def judge(self, answer: Any, measured: Any) -> Judgement:
        """Compare; a mistake has the key of the option that was wrongly chosen or left out."""
        if not self.several:
            return Judgement(answer == measured, () if answer == measured else (answer,))
        differ = tuple(key for key in self.options if (key in answer) != (key in measured))
        return Judgement(not differ, differ)

    def mistakes(self, measured: Any) -> tuple[str, ...]:
        """Return the options that are wrong; with ``several`` all of them can be."""
        return tuple(key for key in self.options if self.several or key != measured)

    def example(self, key: str, measured: Any) -> Any:
        """Return the wrong option, or with ``several`` the right set with this option turned over."""
        if not self.several:
            return key
        return [k for k in self.options if (k in measured) != (k == key)]

    def right(self, measured: Any) -> Any:
        """Return what was measured."""
        return measured

    def guess(self) -> Any:
        """Return the first option."""
        first = next(iter(self.options))
        return [first] if self.several else first

    def shown(self, answer: Any) -> str:
        """Return the texts of the options."""
        keys = answer if self.several else [answer]
        return ", ".join(self.options.get(key, str(key)) for key in keys) or "none of them"

    def how(self) -> str:
        """Return the keys with their texts."""
        lines = [f"    {key!r}: {text}" for key, text in self.options.items()]
        return "\n".join(["several of, as a list:" if self.several else "one of:", *lines])

    def message(self) -> Message:
        """Return the options."""
        options = [{"key": key, "text": text} for key, text in self.options.items()]
        return {"kind": self.name, "several": self.several, "options": options}


@dataclass(frozen=True)
class Slider(Kind):
    """Number between two ends.

    Parameters
    ----------
    low, high
        ends of the slider.
    unit
        of the number, for people.
    near
        how far an answer may be off: a factor with ``log``, a distance without.
    log
        whether distances are counted in factors.
    whole
        whether only whole numbers occur.
    one
        unit of the number 1, where it is another word.
    """

    low: float
    high: float
    unit: str
    near: float
    log: bool = False
    whole: bool = False
    one: str = ""
    name: ClassVar[str] = "slider"

    def clean(self, answer: Any) -> float:
        """Return the number."""
        wanted = f"a number from {self.low:g} to {self.high:g} is needed"
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            raise refused(answer, wanted)
        if not (math.isfinite(answer) and self.low <= answer <= self.high):
            raise refused(answer, wanted)
        return float(answer)

    def judge(self, answer: Any, measured: Any) -> Judgement:
        """Compare by factor or by distance; a mistake is ``"low"`` or ``"high"``.

        Where what was measured lies beyond an end of the slider, that end stands for it: nobody can answer more.
        """
        aim = self.right(measured)
        side = ("low",) if answer < aim else ("high",)
        if self.log and answer > 0 and aim > 0:
            factor = max(answer / aim, aim / answer)
            right = factor <= self.near * (1 + 1e-12)
            text = "as measured" if factor < 1.005 else f"{factor:.3g} times too {side[0]}"
        else:
            off = abs(answer - aim)
            right = off <= self.near * (1 + 1e-12)
            size = f"{off:.3g}"
            points = f"{size} point" if size == "1" else f"{size} points"
            amount = points if self.unit == "%" else self.shown(float(size))
            text = "as measured" if off == 0 else f"{amount} too {side[0]}"
        if aim != measured:
            text = "as far as the slider goes" if right else f"{text}, and the slider ends before what was measured"
        return Judgement(right, () if right else side, text)

    def mistakes(self, measured: Any) -> tuple[str, ...]:
        """Return the sides on which there are wrong numbers."""
        ends = {"low": self.low, "high": self.high}
        return tuple(key for key, end in ends.items() if self.judge(end, measured).keys == (key,))

    def example(self, key: str, measured: Any) -> Any:
        """Return the end of the slider."""
        return self.low if key == "low" else self.high

    def right(self, measured: Any) -> Any:
        """Return what was measured, within the ends."""
        return min(max(float(measured), self.low), self.high)

    def guess(self) -> Any:
        """Return the middle."""
        middle = math.sqrt(self.low * self.high) if self.log else (self.low + self.high) / 2
        return round(middle) if self.whole else float(f"{middle:.2g}")

    def shown(self, answer: Any) -> str:
        """Return the number with its unit."""
        number = f"{answer:.4g}"
        return f"{number} {self.one or self.unit if number == '1' else self.unit}".strip()

    def how(self) -> str:
        """Return the ends and the scale."""
        return f"a number from {self.low:g} to {self.high:g} ({self.unit}); {self._scored()}"

    def message(self) -> Message:
        """Return ends, unit and scale."""
        keys = ("low", "high", "unit", "one", "log", "whole", "near")
        return {"kind": self.name, "scored": self._scored(), **{key: getattr(self, key) for key in keys}}

    def _scored(self) -> str:
        return f"right within a factor of {self.near:g}" if self.log else f"right within {self.near:g} {self.unit}"


@dataclass(frozen=True)
class Order(Kind):
    """Items in an order; measured is a number for each item, and equal numbers may stand in any order.

    Parameters
    ----------
    items
        texts by key.
    first, last
        what the first and the last place mean.
    falling
        whether the item with the largest number stands first, and not that with the smallest.
    """

    items: Mapping[str, str]
    first: str
    last: str
    falling: bool = False
    name: ClassVar[str] = "order"

    def clean(self, answer: Any) -> list[str]:
        """Return the keys in the order that was given."""
        wanted = f"a list of all of these in an order: {', '.join(self.items)}"
        if not is_list(answer):
            raise refused(answer, wanted)
        given = list(answer)
        if not all(isinstance(key, str) for key in given) or sorted(given) != sorted(self.items):
            raise refused(answer, wanted)
        return given

    def judge(self, answer: Any, measured: Any) -> Judgement:
        """Count the pairs in the wrong order; a mistake has the key of the item that stands in most of them."""
        wrong = self._wrong_pairs(answer, measured)
        if not wrong:
            return Judgement(True)
        counts = {key: sum(key in pair for pair in wrong) for key in self.items}
        pairs = f"{plural(len(wrong), 'pair')} in the wrong order"
        return Judgement(False, (max(counts, key=counts.__getitem__),), pairs)

    def _wrong_pairs(self, answer: Sequence[str], measured: Mapping[str, float]) -> list[tuple[str, str]]:
        pairs = [(a, b) for k, a in enumerate(answer) for b in answer[k + 1 :]]
        return [(a, b) for a, b in pairs if self._rank(measured, a) > self._rank(measured, b)]

    def _rank(self, measured: Mapping[str, float], key: str) -> float:
        return -measured[key] if self.falling else measured[key]

    def mistakes(self, measured: Any) -> tuple[str, ...]:
        """Return the items that can be furthest from their place."""
        return tuple(key for key in self.items if self._misplaced(key, measured) is not None)

    def example(self, key: str, measured: Any) -> Any:
        """Return an order in which this item is furthest from its place."""
        return self._misplaced(key, measured)

    def _misplaced(self, key: str, measured: Any) -> list[str] | None:
        rest = [k for k in self.right(measured) if k != key]
        for place in range(len(self.items)):
            tried = [*rest[:place], key, *rest[place:]]
            if self.judge(tried, measured).keys == (key,):
                return tried
        return None

    def right(self, measured: Any) -> Any:
        """Return the items by their numbers."""
        return sorted(self.items, key=lambda key: self._rank(measured, key))

    def guess(self) -> Any:
        """Return the items as they are listed."""
        return list(self.items)

    def shown(self, answer: Any) -> str:
        """Return the texts in order; of a measurement, with equal items joined."""
        if not isinstance(answer, Mapping):
            return " → ".join(self.items[key] for key in answer)
        text, before = "", None
        for key in self.right(answer):
            text += ("" if before is None else " = " if answer[key] == before else " → ") + self.items[key]
            before = answer[key]
        return text

    def how(self) -> str:
        """Return the keys, and what first and last mean."""
        lines = [f"    {key!r}: {text}" for key, text in self.items.items()]
        return "\n".join([f"a list of all of these, first: {self.first}; last: {self.last}", *lines])

    def message(self) -> Message:
        """Return the items and what the ends mean."""
        items = [{"key": key, "text": text} for key, text in self.items.items()]
        return {"kind": self.name, "items": items, "first": self.first, "last": self.last, "falling": self.falling}


@dataclass(frozen=True)
class Sketch(Kind):
    """Curve over an axis, judged by a feature of it, never by its numbers.

    Parameters
    ----------
    feature
        name of the feature, of :data:`sparsescope.lessons.features.FEATURES`.
    x, y
        what the axes mean.
    low, high
        what the ends of the x axis mean, as texts.
    """

    feature: str
    x: str
    y: str
    low: str
    high: str
    name: ClassVar[str] = "sketch"

    @property
    def judged(self) -> Feature:
        """The feature."""
        return FEATURES[self.feature]

    def clean(self, answer: Any) -> list[float]:
        """Return the heights (0 to 1) at :data:`KNOTS` equal steps; the name of a form gives its example."""
        forms = self.judged.forms
        if isinstance(answer, str) and answer in forms:
            return [float(v) for v in forms[answer].example(KNOTS)]
        wanted = f"a list of at least 3 heights from 0 to 1, or one of: {', '.join(forms)}"
        if not is_list(answer):
            raise refused(answer, wanted)
        given = list(answer)
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) and 0 <= v <= 1 for v in given)
        if not numbers or not 3 <= len(given) <= 10 * KNOTS:
            raise refused(answer, wanted)
        places = [k * (len(given) - 1) / (KNOTS - 1) for k in range(KNOTS)]
        return [_between(given, place) for place in places]

    def judge(self, answer: Any, measured: Any) -> Judgement:
        """Compare the forms; a mistake has the name of the form that was drawn."""
        drawn = self.judged.form(answer)
        return Judgement(drawn == measured, () if drawn == measured else (drawn,))

    def mistakes(self, measured: Any) -> tuple[str, ...]:
        """Return the other forms."""
        return tuple(form for form in self.judged.forms if form != measured)

    def example(self, key: str, measured: Any) -> Any:
        """Return a curve of this form."""
        return self.clean(key)

    def right(self, measured: Any) -> Any:
        """Return a curve of the measured form."""
        return self.clean(measured)

    def guess(self) -> Any:
        """Return the first form."""
        return next(iter(self.judged.forms))

    def shown(self, answer: Any) -> str:
        """Return the name of the form."""
        form = answer if isinstance(answer, str) else self.judged.form(answer)
        return self.judged.forms[form].text

    def how(self) -> str:
        """Return the forms and the axes."""
        lines = [f"    {key!r}: {form.text}" for key, form in self.judged.forms.items()]
        head = f"heights from 0 to 1 over {self.x} (from {self.low} to {self.high}), or the name of a form:"
        return "\n".join([head, *lines])

    def message(self) -> Message:
        """Return the axes and examples of the forms, which a keyboard can choose."""
        forms = [{"key": key, "text": form.text, "example": self.clean(key)} for key, form in self.judged.forms.items()]
        keys = ("x", "y", "low", "high")
        return {"kind": self.name, "knots": KNOTS, "forms": forms, **{key: getattr(self, key) for key in keys}}


def _between(values: Sequence[float], place: float) -> float:
    low = min(int(place), len(values) - 2)
    return float(values[low] + (place - low) * (values[low + 1] - values[low]))
