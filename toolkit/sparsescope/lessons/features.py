"""Features by which a drawn curve is judged: its direction, the place of its peak, whether it bounces, how it bends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

FLAT = 0.04  # of the height of a sketch: less is no rise and no fall
CLEAR = 0.12  # of the span of a curve: a rise or fall that counts
EARLY = 0.4  # of the width: a peak before that is early


@dataclass(frozen=True)
class Form:
    """Form that a curve can have: its description, and an example with as many heights as wanted."""

    text: str
    example: Callable[[int], np.ndarray]


@dataclass(frozen=True)
class Feature:
    """Feature of curves: a name for the form of any curve, and the forms there are.

    Attributes
    ----------
    form : function of heights at equal steps that returns the name of the form
    forms : the forms by name
    """

    form: Callable[[Sequence[float]], str]
    forms: Mapping[str, Form]


def _scaled(y: Any) -> np.ndarray:
    values = np.asarray(y, dtype=float)
    span = np.ptp(values)
    return (values - values.min()) / span if span > 0 else np.zeros_like(values)


def _direction(y: Sequence[float]) -> str:
    if np.ptp(np.asarray(y, dtype=float)) < FLAT:
        return "flat"
    v = _scaled(y)
    top, bottom = int(v.argmax()), int(v.argmin())
    if v[top] - v[-1] > CLEAR and v[top] - v[0] > CLEAR:
        return "hump"
    if v[0] - v[bottom] > CLEAR and v[-1] - v[bottom] > CLEAR:
        return "dip"
    return "rises" if v[-1] > v[0] else "falls"


def _peak(y: Sequence[float]) -> str:
    form = _direction(y)
    if form != "hump":
        return "rises" if form == "rises" else "falls" if form == "falls" else "flat"
    return "early" if int(np.argmax(y)) < EARLY * (len(y) - 1) else "late"


def _bounces(y: Sequence[float]) -> str:
    v = np.asarray(y, dtype=float)
    if np.ptp(v) < FLAT:
        return "flat"
    if v[-1] >= v[0]:
        return "rises"
    lowest = np.minimum.accumulate(v)
    return "bounces" if (v - lowest).max() > FLAT else "falls"


def _bend(y: Sequence[float]) -> str:
    """Compare the middle with the chord: below it the fall slows down, above it the fall speeds up."""
    v = np.asarray(y, dtype=float)
    if np.ptp(v) < FLAT or v[-1] >= v[0]:
        return "flat"
    chord = np.linspace(v[0], v[-1], v.size)
    off = float(np.mean(v - chord) / np.ptp(v))
    return "faster" if off > 0.06 else "slower" if off < -0.06 else "straight"


def _line(n: int) -> np.ndarray:
    return np.linspace(0.0, 1.0, n)


def _hump(place: float) -> Callable[[int], np.ndarray]:
    return lambda n: np.interp(_line(n), [0.0, place, 1.0], [0.05, 0.95, 0.4])


RISES = Form("rises to the end", lambda n: 0.1 + 0.8 * _line(n))
FALLS = Form("falls to the end", lambda n: 0.9 - 0.8 * _line(n))
LEVEL = Form("stays where it is", lambda n: np.full(n, 0.5))

FEATURES: dict[str, Feature] = {
    "direction": Feature(
        _direction,
        {
            "rises": RISES,
            "hump": Form("rises, and falls at the end", _hump(0.6)),
            "falls": FALLS,
            "dip": Form("falls, and rises at the end", lambda n: 1.0 - _hump(0.6)(n)),
            "flat": LEVEL,
        },
    ),
    "peak": Feature(
        _peak,
        {
            "rises": RISES,
            "early": Form("a peak early, then falls", _hump(0.12)),
            "late": Form("a peak late, then falls", _hump(0.75)),
            "falls": FALLS,
            "flat": LEVEL,
        },
    ),
    "bounces": Feature(
        _bounces,
        {
            "falls": Form("falls steadily", FALLS.example),
            "bounces": Form(
                "falls, but rises again now and then",
                lambda n: 0.85 - 0.75 * _line(n) + 0.12 * np.sin(7 * np.pi * _line(n)) * (_line(n) > 0.2),
            ),
            "rises": RISES,
            "flat": LEVEL,
        },
    ),
    "bend": Feature(
        _bend,
        {
            "straight": Form("a straight line: the same number of digits at each iteration", FALLS.example),
            "slower": Form("quick at first, then slower and slower", lambda n: 0.05 + 0.9 * (1 - _line(n)) ** 3),
            "faster": Form("slow at first, then faster and faster", lambda n: 0.95 - 0.9 * _line(n) ** 3),
            "flat": Form("does not fall", LEVEL.example),
        },
    ),
}


def form_of(feature: str, x: Any, y: Any, count: int = 25) -> str:
    """Return the form of a measured curve, read at equal steps of x.

    Parameters
    ----------
    feature
        name of the feature.
    x, y
        the curve; x rises.
    count
        number of steps.
    """
    places = np.linspace(x[0], x[-1], count)
    heights = _scaled(np.interp(places, x, y))
    return FEATURES[feature].form([float(v) for v in heights])
