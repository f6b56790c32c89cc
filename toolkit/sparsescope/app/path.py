"""Page: a λ-path that grows live, with cross-validation and stability selection behind it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .. import registry
from ..registry import field
from ..runs.path_points import Point
from ..runs.processes import HELPERS
from ..runs.study import PathStudy, row_norms
from ._names import DATASETS, LOSSES, PENALTIES
from ._studies import StudyPage
from ._working import Work
from .base import Message, number

MOST_LINES = 500  # rows that are drawn as lines
MOST_JOINING = 200  # rows of a λ that may become lines: those of the largest norms
MOST_SHARES = 250  # rows whose shares are sent
MOST_STABLE = 80  # stable rows that are named
LAM_LOW = 1e-4
HEAD_SECONDS = 0.03  # between two pictures of the iterate, at least
SHARE_SECONDS = 0.5  # between two tables of shares, or of scores
MORE_HALVES = 1.25  # times as many as in the last table of shares


class PathPage(StudyPage):
    """Weights against λ while the path is computed, with the measures by which a λ is chosen."""

    name = "path"
    records = True
    title = "Path"
    menu_order = 30
    doc = "One problem at falling λ, each solved from the solution before it to a gap of 1e-4. Click to choose λ."

    dataset: ClassVar[Any] = field("pydocs", choices=DATASETS, doc="the data")
    loss: ClassVar[Any] = field("multiclass-squared-hinge", choices=LOSSES, doc="the loss")
    penalty: ClassVar[Any] = field("l1/l2", choices=PENALTIES, doc="the penalty")
    intercept: ClassVar[Any] = field(False, doc="an unpenalised intercept")
    lam_ratio: ClassVar[Any] = field(
        0.1, LAM_LOW, 1.0, "λ/λ_max: the chosen λ, which links to other pages carry", log=True
    )
    n_lams: ClassVar[Any] = field(50, 5, 200, "number of λ")
    ratio: ClassVar[Any] = field(0.01, LAM_LOW, 0.5, "smallest λ divided by λ_max", log=True)
    folds: ClassVar[Any] = field(5, 0, 10, "folds of the cross-validation; 0 or 1: none")
    resamples: ClassVar[Any] = field(20, 0, 200, "random halves of the samples for stability selection; 0: none")
    threshold: ClassVar[Any] = field(0.75, 0.55, 1.0, "π: a row is stable if at least this share of halves selects it")
    seed: ClassVar[Any] = field(0, 0, 2**31 - 1, "of the split, the folds and the halves")

    labels: ClassVar[dict[str, str]] = {
        "dataset": "data",
        "lam_ratio": "λ/λ_max",
        "n_lams": "λs",
        "ratio": "down to",
        "resamples": "halves",
        "threshold": "stable π",
    }
    groups: ClassVar[dict[str, tuple[str, ...]]] = {
        "Problem": ("dataset", "loss", "penalty", "intercept", "lam_ratio"),
        "Path": ("n_lams", "ratio", "seed"),
        "Behind it": ("folds", "resamples", "threshold"),
    }

    # ----------------------------------------------------------------------------------------------------- computation
    def forget(self) -> None:
        super().forget()
        self._head: _Iterate | None = None
        self._lines: dict[int, int] = {}  # row -> number of its line
        self._norms: list[tuple[np.ndarray, np.ndarray]] = []  # of each λ: rows, norms

    def forget_sent(self) -> None:
        super().forget_sent()
        self._sent_lines = 0
        self._sent_scores, self._scores_at = "", 0.0
        self._sent_halves, self._sent_at = -1, 0.0
        self._sent_stable: tuple[int, float] | None = None  # number of the λ, threshold

    def steps(self, work: Work) -> Iterator[None]:
        """Read the data, then work through the study."""
        chosen = self.settings
        data, problem = self._loaded(chosen, "loss", "penalty", "intercept", seed=chosen["seed"])
        study = PathStudy(
            problem,
            data[1] if isinstance(data, tuple) else data.y,
            getattr(data, "test", None),
            **{name: chosen[name] for name in ("n_lams", "ratio", "folds", "resamples", "seed")},
        )
        self._doing = "Compiling the solver …"
        yield
        if work is self.work:
            self._study = study
        seen = 0.0
        for _ in study.steps(work.turn.aside, HELPERS):
            now = time.monotonic()
            if study.stage == "path" and now - seen >= HEAD_SECONDS and work is self.work:
                seen, self._head = now, _iterate(study)
            yield

    # --------------------------------------------------------------------------------------------------------- browser
    def found(self, study: PathStudy) -> Iterator[Message]:
        """Return new λ, the iterate at the present one, scores of the folds and shares of the halves."""
        yield from self._points(study)
        yield from self._heads(study)
        yield from self._scores(study)
        yield from self._shares(study)

    def begin(self, study: PathStudy) -> Iterator[Message]:
        """Return the λ, and the sizes of the problem."""
        problem = study.problem
        yield {
            "type": "begin",
            "epoch": self._epoch,
            "lams": [number(x) for x in study.lams],
            "ratios": [number(x / study.problem.lam_reference) for x in study.lams],
            "unit": "λ_max" if np.isfinite(problem.lam_max) else "λ_ref",
            "n": problem.n,
            "d": problem.d,
            "m": problem.m,
            "measure": "accuracy" if problem.sets is None else "precision at 1",
            "chance": number(float(np.max(problem.class_shares)), 4),  # of always naming the most frequent class
            "folds": study.folds,
            "resamples": study.resamples,
        }

    def _points(self, study: PathStudy) -> Iterator[Message]:
        points = study.points
        for k in range(len(self._norms), len(points)):
            self._join(points[k])
        size, lines = len(self._norms), len(self._lines)
        if size == self._sent_points:
            return
        rows = list(self._lines)
        names = study.problem.feature_name
        fresh = rows[self._sent_lines :]
        yield {
            "type": "points",
            "from": self._sent_points,
            "points": [_numbers(points[k], study) for k in range(self._sent_points, size)],
            "values": [self._values(k, rows[: self._sent_lines]) for k in range(self._sent_points, size)],
            "lines": [{"row": j, "name": names(j)} for j in fresh],
            "pasts": [self._values(k, fresh) for k in range(size)] if fresh else [],
        }
        self._sent_points, self._sent_lines = size, lines

    def _heads(self, study: PathStudy) -> Iterator[Message]:
        """The iterate at the present λ, which is not a point of the path yet."""
        head, self._head = self._head, None
        if head is None or study.stage != "path" or head.k < len(self._norms):
            return
        values = _norms_of(list(self._lines), head.rows, head.norms)
        yield {"type": "head", "k": head.k, "iteration": head.iteration, "values": values, "lines": len(values)}

    def _join(self, point: Point) -> None:
        assert point.rows is not None
        norms = row_norms(point.values)
        self._norms.append((point.rows, norms))
        for at in np.argsort(-norms, kind="stable")[:MOST_JOINING]:
            if len(self._lines) < MOST_LINES and norms[at] > 0:
                self._lines.setdefault(int(point.rows[at]), len(self._lines))

    def _values(self, k: int, rows: list[int]) -> list[float | None]:
        """The norms of some rows at the k-th λ."""
        return _norms_of(rows, *self._norms[k])

    def _scores(self, study: PathStudy) -> Iterator[Message]:
        table = [[number(x, 5) for x in column] for column in study.scores.T if np.isfinite(column).any()]
        chosen = study.chosen
        message: Message = {"type": "scores", "folds": table, "chosen": None}
        if chosen is not None:
            message["chosen"] = {
                "means": [number(x, 5) for x in chosen.means],
                "errors": [number(x, 4) for x in chosen.errors],
                "best": chosen.best,
                "one_se": chosen.one_se,
            }
        known, now = sum(x is not None for column in table for x in column), time.monotonic()
        key = str((known, chosen is None))
        late = now - self._scores_at >= SHARE_SECONDS or known == study.scores.size
        if table and key != self._sent_scores and late:
            self._sent_scores, self._scores_at = key, now
            yield message

    def _shares(self, study: PathStudy) -> Iterator[Message]:
        halves, now = study.selections.halves, time.monotonic()
        done = halves >= study.resamples
        # The first halves change the picture, one more among many hardly does, and a table has up to 250 rows.
        late = now - self._sent_at >= SHARE_SECONDS and halves >= MORE_HALVES * self._sent_halves
        names = study.problem.feature_name
        if halves and halves != self._sent_halves and (late or done):
            self._sent_halves, self._sent_at, self._sent_stable = halves, now, None
            largest = study.selections.counts.max(axis=0)
            shown = np.argsort(-largest.astype(int), kind="stable")[:MOST_SHARES]
            shown = shown[largest[shown] > 0]
            table = study.selections.counts[:, shown].T
            counts = [(int(np.argmax(row > 0)), row) for row in table]  # the first that is not zero, and all
            yield {
                "type": "shares",
                "halves": halves,
                "of": study.resamples,
                "rows": [
                    {"row": int(j), "name": names(int(j)), "from": first}
                    for j, (first, _) in zip(shown, counts, strict=True)
                ],
                "counts": [row[first:].tolist() for first, row in counts],
            }
        k, threshold = self._nearest(study), self.settings["threshold"]
        if not halves or self._sent_stable == (k, threshold):
            return
        self._sent_stable = (k, threshold)
        most = study.selections.most_selected(k)
        stable = np.flatnonzero(most >= threshold - 1e-12)
        ranked = stable[np.argsort(-most[stable], kind="stable")][:MOST_STABLE]
        yield {
            "type": "stable",
            "rows": [{"row": int(j), "name": names(int(j)), "share": number(most[j], 3)} for j in ranked],
            "count": int(stable.size),
            "at": k,
            "union": number(study.selections.mean_union(k), 4),
            "bound": number(study.selections.false_bound(k, threshold), 3),
            "threshold": threshold,
        }


class _Iterate(NamedTuple):
    """Norms of the iterate's rows at the k-th λ."""

    k: int
    iteration: int
    rows: np.ndarray
    norms: np.ndarray


def _iterate(study: PathStudy) -> _Iterate:
    run = study.run
    assert run.state is not None
    flags = np.empty(study.problem.d, dtype=np.uint8)
    run.state.support(flags)
    rows, values = run.state.snapshot(flags)
    return _Iterate(run.position, run.state.iteration, rows, row_norms(values))


def _norms_of(rows: list[int], there: np.ndarray, norms: np.ndarray) -> list[float | None]:
    """The norms of some rows, of those that are there (ascending); the others are zero."""
    if not rows or not there.size:
        return [0.0] * len(rows)
    wanted = np.asarray(rows)
    at = np.minimum(np.searchsorted(there, wanted), there.size - 1)
    return [number(float(x), 4) for x in np.where(there[at] == wanted, norms[at], 0.0)]


def _numbers(point: Point, study: PathStudy) -> Message:
    held_out = study.measure
    return {
        "rows": int(point.numbers["nonzero_rows"]),
        "entries": int(point.numbers["nonzero_entries"]),
        "train": number(point.numbers[held_out.replace("test_", "train_")], 5),
        "test": number(point.numbers[held_out], 5),
        "gap": number(point.numbers["relative_gap"], 3),
        "iterations": int(point.numbers["iterations"]),
        "converged": point.converged,
    }


registry.app_pages.add(PathPage.name, PathPage)
