"""Page: the proximal operators of all row penalties at once, for a vector that is dragged."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import (
    datasets,
    penalties,  # noqa: F401  (registers them)
    registry,
)
from ..live.jobs import Jobs
from ..problems.prediction import Problem
from ..registry import field
from ..runs.solving import solve
from ._names import Names
from .base import Message, Page, number

REACH = 2.5  # the largest entry of v
LARGEST = 2.0  # what the largest entry of a row of W is made
MOST_ROWS = 50
RATIO = 0.1  # of λ_max, at which W is fitted
MOST_SECONDS = 20.0  # of its solver
BY_HAND = "by hand"
SOURCES: Any = Names(registry.datasets, lambda: (BY_HAND, *datasets.names()))
MOST = 8
ANGLES = np.linspace(0.0, 2.0 * np.pi, 181)
SAME = 1e-9  # entries closer than this are tied; smaller ones are zero


class ProxPage(Page):
    """prox_{τΩ}(v) = argmin_w ½‖w − v‖² + τΩ(w) of every row penalty, beside each other."""

    name = "prox"
    records = True
    title = "Prox"
    menu_order = 50
    doc = (
        "Drag v: the arrow leads to prox(v). Shaded: the v that the penalty sends to zero; of a norm it is the ball of "
        "the dual norm with radius τ, and v − prox(v) is the projection of v onto it. Dashed: where Ω is as large as "
        "at prox(v)."
    )
    recorded_doc = doc.replace("Drag v: the arrow leads to prox(v)", "The arrow leads from v to prox(v)")

    source: ClassVar[Any] = field(BY_HAND, choices=SOURCES, doc="what v is: yours, or a row of W fitted to these data")
    row: ClassVar[Any] = field(1, 1, MOST_ROWS, "which row of W: 1 is the one of largest norm")
    count: ClassVar[Any] = field(2, 2, MOST, "m: entries of v; two are drawn as a plane, more as bars")
    tau: ClassVar[Any] = field(0.8, 0.0, REACH, "τ: step times λ, what the penalty weighs")
    rho: ClassVar[Any] = field(0.5, 0.0, 1.0, "ρ: of the penalties that mix two parts")
    space: ClassVar[Any] = field(False, doc="draw three entries in space; turn the picture by dragging it")
    nonnegative: ClassVar[Any] = field(False, doc="allow no negative weights, where the penalty has that")
    v1: ClassVar[Any] = field(2.0, -REACH, REACH, "first entry of v")
    v2: ClassVar[Any] = field(1.2, -REACH, REACH, "second entry of v")
    v3: ClassVar[Any] = field(-0.6, -REACH, REACH, "third entry of v")
    v4: ClassVar[Any] = field(0.3, -REACH, REACH, "fourth entry of v")
    v5: ClassVar[Any] = field(1.2, -REACH, REACH, "fifth entry of v")
    v6: ClassVar[Any] = field(-2.4, -REACH, REACH, "sixth entry of v")
    v7: ClassVar[Any] = field(0.0, -REACH, REACH, "seventh entry of v")
    v8: ClassVar[Any] = field(0.9, -REACH, REACH, "eighth entry of v")

    labels: ClassVar[dict[str, str]] = {
        "source": "v",
        "count": "m",
        "tau": "τ",
        "rho": "ρ",
        "nonnegative": "W ≥ 0",
        "space": "3-D",
    }

    def __init__(self, data: Any = None, settings: Any = None) -> None:
        super().__init__(data, settings)
        self._jobs = Jobs("sparsescope-prox")
        self._fitted: _Rows | None = None

    # ------------------------------------------------------------------------------------------------- a row of W as v
    def start(self) -> None:
        """Fit W where v is one of its rows."""
        self.changed({"source"})

    def changed(self, names: set[str]) -> None:
        """Fit W to other data."""
        source = self.settings["source"]
        if "source" in names and source != BY_HAND and (self._fitted is None or self._fitted.source != source):
            self._jobs.start(lambda: _fit(source))

    def look(self) -> list[tuple[Message, list[bytes]]]:
        """Return the picture of a row once W is fitted."""
        outcome = self._jobs.collect()
        if outcome is None:
            return []
        if outcome.value is None:
            return [({"type": "error", "text": outcome.error, "detail": ""}, [])]
        self._fitted = outcome.value
        controls = {"type": "controls", "groups": self.controls(), "settings": self.settings}
        return [(controls, []), ({"type": "picture", **self.picture()}, [])]

    def end(self) -> None:
        """Forget what is being fitted."""
        self._jobs.cancel()

    @property
    def _rows(self) -> _Rows | None:
        """The rows of W where v is one of them; ``None`` also while W is being fitted."""
        fitted = self._fitted
        return fitted if fitted is not None and fitted.source == self.settings["source"] else None

    @property
    def v(self) -> np.ndarray:
        """The vector, (count,): a row of W, or what hands have chosen."""
        if self._rows is not None:
            return self._rows.vector(self.settings["row"])
        return np.array([self.settings[f"v{k + 1}"] for k in range(self.settings["count"])])

    def _note(self) -> str:
        """Say which row v is."""
        if self.settings["source"] == BY_HAND:
            return ""
        return "Fitting W …" if self._rows is None else self._rows.sentence(self.settings["row"])

    def controls(self) -> list[Message]:
        """Return the controls without the entries of v beyond its length."""
        groups = super().controls()
        for control in (c for g in groups for c in g["controls"] if c["id"] == "space"):
            control.update(disabled=len(self.v) != 3, reason="Space has three directions: choose m = 3.")
        by_hand = self.settings["source"] == BY_HAND
        beyond = {f"v{k + 1}" for k in range(self.settings["count"] if by_hand else 0, MOST)}
        beyond |= {"row"} if by_hand else {"count"}
        return [{**g, "controls": [c for c in g["controls"] if c["id"] not in beyond]} for g in groups]

    def picture(self) -> Message:
        """Return v and a panel for each penalty."""
        tau, v = float(self.settings["tau"]), self.v
        return {
            "v": [number(x) for x in v],
            "tau": tau,
            "note": self._note(),
            "reach": REACH,
            "space": bool(self.settings["space"]) and len(v) == 3,
            "panels": [self._panel(*part, v, tau) for part in self._parts()],
        }

    def _parts(self) -> list[tuple[str, Any]]:
        """Return the names and the penalties that are drawn: all sums over rows, with this page's parameters."""
        made = []
        for name in registry.penalties:
            if not hasattr(registry.penalties[name], "prox"):
                continue  # a sum over blocks: its vectors are the blocks, and its formula is that of a row penalty
            given = {f.name: self.settings[f.name] for f in registry.penalties.fields(name) if f.name in self.settings}
            made.append((name, registry.penalties.create(name, **given)))
        return made

    def _panel(self, name: str, penalty: Any, v: np.ndarray, tau: float) -> Message:
        p = penalty.prox(v, tau)
        taken = v - p
        panel: Message = {
            "name": name,
            "title": registry.penalties.title(name),
            "formula": penalty.formula,
            "prox_formula": penalty.prox_formula,
            "parameters": parameters(penalty),
            "blocks": self._block_names(penalty),
            "p": [number(x) for x in p],
            "taken": [number(x) for x in taken],
            "value": [number(float(penalty.value(x))) for x in (v, p)],
            "saying": saying(penalty, v, p, tau),
            "zero_set": [],
            "level": [],
            "sections": [],
        }
        if len(v) == 2:
            panel["zero_set"] = zero_set(penalty, tau)
            panel["level"] = level_curve(penalty, p)
        if len(v) == 3 and self.settings["space"]:
            panel["sections"] = zero_sections(penalty, tau)
        return panel

    @staticmethod
    def _block_names(penalty: Any) -> list[str]:
        """Return the names of penalties that apply this one to every block of features in a class."""
        rows = {name: getattr(registry.penalties[name], "row", None) for name in registry.penalties}
        return [name for name, row in rows.items() if row is not None and type(penalty) in (row, type(row))]


@dataclass(frozen=True)
class _Rows:
    """The rows of W that are not zero, the largest norms first."""

    source: str
    title: str  # of the data
    rows: list[np.ndarray]
    names: list[str]
    used: int  # rows that are not zero; those of the largest norms are here
    of: str  # what W is the optimum of

    def _at(self, row: int) -> int:
        return min(row, len(self.rows)) - 1

    def _shown(self, row: int) -> np.ndarray:
        """The entries that are drawn: the largest, in the order of the classes; two at least."""
        w = self.rows[self._at(row)]
        chosen = np.sort(np.argsort(-np.abs(w), kind="stable")[:MOST])
        return w[chosen] if w.size > 1 else np.array([w[0], 0.0])

    def vector(self, row: int) -> np.ndarray:
        """Return a row as v, its largest entry made :data:`LARGEST`."""
        shown = self._shown(row)
        return np.round(shown * (LARGEST / np.abs(shown).max()), 4)

    def sentence(self, row: int) -> str:
        """Say which row it is, and what was done with it."""
        w, factor = self.rows[self._at(row)], LARGEST / float(np.abs(self._shown(row)).max())
        part = f"; its {MOST} largest of {w.size} entries" if w.size > MOST else ""
        at = self._at(row)
        which = f"“{self.names[at]}”, number {at + 1} of {self.used} by norm"
        return f"v is a row of W: {which}, times {factor:.3g}{part}. W: {self.of} on {self.title}."


def _fit(source: str) -> _Rows:
    """Return the rows of W at λ = λ_max/10 on some data, with the usual loss and penalty."""
    data = datasets.load(source)
    problem = Problem(data, lam_ratio=RATIO)
    found = solve(problem, tol=1e-4, max_seconds=MOST_SECONDS, record=False)
    W = np.asarray(found.W.toarray() if hasattr(found.W, "toarray") else found.W)
    norms = np.linalg.norm(W, axis=1)
    order = [int(j) for j in np.argsort(-norms, kind="stable")[:MOST_ROWS] if norms[j] > 0]
    if not order:
        raise ValueError(f"W is zero on {source} at {RATIO:g} λ_max; choose other data")
    names = [str(problem.feature_name(j)) for j in order]
    of = f"{problem.loss.title} with {problem.penalty.title} at {RATIO:g} λ_max, relative gap {found.relative_gap:.0e}"
    return _Rows(source, data.title, [W[j] for j in order], names, int(np.count_nonzero(norms)), of)


def parameters(penalty: Any) -> str:
    """Return the parameters of a penalty for people; switches that are off are left out."""
    shown = [(f, getattr(penalty, f.name)) for f in penalty.fields]
    return ", ".join(
        f.name if f.kind == "bool" else f"{f.doc.partition(':')[0]} = {value:g}"
        for f, value in shown
        if value is not False
    )


def saying(penalty: Any, v: np.ndarray, p: np.ndarray, tau: float) -> str:
    """Return what happened to v in a sentence, from the numbers alone."""
    zeros, was_zero = np.abs(p) < SAME, np.abs(v) < SAME
    bound = float(penalty.zero_threshold(-v))
    if zeros.all() and not was_zero.all():
        return f"v lies in the set that is sent to zero: τ = {tau:.2f} is at least {bound:.2f}."
    parts = []
    if (zeros & ~was_zero).any():
        parts.append(f"set to zero: {_entries(zeros & ~was_zero)}")
    sizes = np.abs(p)
    tied = (sizes > SAME) & (np.abs(sizes - sizes.max()) < SAME)
    if tied.sum() > 1 and not np.allclose(np.abs(v)[tied], np.abs(v)[tied][0], atol=SAME):
        parts.append(f"tied at {sizes.max():.2f}: {_entries(tied)}")
    if not parts:
        ratio = float(np.linalg.norm(p) / np.linalg.norm(v)) if np.linalg.norm(v) > 0 else 1.0
        parts.append(
            "nothing is set to zero or tied" + (f"; the length is {ratio:.2f} of what it was" if v.any() else "")
        )
    ends = f"; all of v goes to zero from τ = {bound:.2f} on" if np.isfinite(bound) else "; no τ sends it to zero"
    return f"{parts[0][0].upper()}{'; '.join(parts)[1:]}{ends}."


def _entries(chosen: np.ndarray) -> str:
    numbers = [str(k + 1) for k in np.flatnonzero(chosen)]
    return f"{'entry' if len(numbers) == 1 else 'entries'} {', '.join(numbers)}"


def zero_set(penalty: Any, tau: float) -> list[list[float | None]]:
    """Return the boundary of {v : prox_τ(v) = 0}, [[x, y], …]; empty where that is the origin only or unbounded."""
    radius = tau * _directions(penalty)
    if not np.isfinite(radius).all() or not radius.any():
        return []
    return _points(radius)


def zero_sections(penalty: Any, tau: float) -> list[list[list[float | None]]]:
    """Return the boundary of {v : prox_τ(v) = 0} in space, cut by the planes of two coordinates: three lists of points
    [[x, y, z], …]; empty where that is the origin only or unbounded."""
    found = []
    for radius, ways in _space_directions(penalty):
        if not np.isfinite(radius).all() or not (tau * radius).any():
            return []
        found.append([[number(tau * r * x, 5) for x in way] for r, way in zip(radius, ways, strict=True)])
    return found


@functools.lru_cache(maxsize=256)
def _space_directions(penalty: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """Distances from the origin at which the zero set for τ = 1 ends, and their directions, in three planes."""
    made = []
    angles = ANGLES[::2]
    for first, second in ((0, 1), (1, 2), (2, 0)):
        ways = np.zeros((angles.size, 3))
        ways[:, first], ways[:, second] = np.cos(angles), np.sin(angles)
        thresholds = np.array([float(penalty.zero_threshold(-way)) for way in ways])
        with np.errstate(divide="ignore"):
            made.append((np.minimum(np.where(thresholds > 0, 1.0 / thresholds, np.inf), 100.0), ways))
    return made


@functools.lru_cache(maxsize=256)
def _directions(penalty: Any) -> np.ndarray:
    """Distance from the origin at which the zero set for τ = 1 ends, for each angle; inf where it does not end."""
    found = np.empty(ANGLES.size)
    for k, angle in enumerate(ANGLES):
        threshold = float(penalty.zero_threshold(-np.array([np.cos(angle), np.sin(angle)])))
        found[k] = 1.0 / threshold if threshold > 0 else np.inf
    return np.minimum(found, 100.0)


def level_curve(penalty: Any, p: np.ndarray) -> list[list[float | None]]:
    """Return the boundary of {w : Ω(w) ≤ Ω(p)}, [[x, y], …]; empty at p = 0."""
    height = float(penalty.value(p))
    if not 0.0 < height < np.inf:
        return []
    a, b, other = _growth(penalty)
    radius = 2.0 * height / (a + np.sqrt(a * a + 4.0 * b * height))
    for k in np.flatnonzero(other):
        radius[k] = _reach(functools.partial(_along, penalty, ANGLES[k]), height)
    return _points(radius)


@functools.lru_cache(maxsize=64)
def _growth(penalty: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a, b with Ω(r·u) = a·r + b·r² for the direction u of each angle, and where that does not hold."""
    one, two, three = (np.array([_along(penalty, angle, r) for angle in ANGLES]) for r in (1.0, 2.0, 3.0))
    with np.errstate(invalid="ignore"):  # directions that are not allowed have Ω = ∞
        b = np.where(np.isfinite(one), (two - 2.0 * one) / 2.0, 0.0)
        a = one - b
        other = np.isfinite(one) & (np.abs(3.0 * a + 9.0 * b - three) > 1e-9 * three)
    return a, b, other


def _along(penalty: Any, angle: float, r: float) -> float:
    return float(penalty.value(r * np.array([np.cos(angle), np.sin(angle)])))


def _reach(value: Callable[[float], float], height: float) -> float:
    """Return the r ≥ 0 with value(r) = height, for a value that grows with r."""
    low, high = 0.0, 1.0
    while value(high) < height:
        high *= 2.0
    for _ in range(50):
        middle = (low + high) / 2.0
        low, high = (middle, high) if value(middle) < height else (low, middle)
    return high


def _points(radius: np.ndarray) -> list[list[float | None]]:
    return [[number(r * np.cos(a), 5), number(r * np.sin(a), 5)] for r, a in zip(radius, ANGLES, strict=True)]


registry.app_pages.add(ProxPage.name, ProxPage)
