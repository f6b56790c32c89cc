"""Fig. 3: how fast five methods come to rest, each on its own problem, and how far from x∞ they are on the way."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...problems.prediction import Problem
from ...runs.event import Event
from ...runs.run import Run
from ...runs.stopping import Iterations, Seconds
from ...solvers.base import Solver
from ..base import Settings
from ..pools import Pool, Split
from ..progress import Job, Report, gather
from ..runs import CLOCK, NEVER, clocked, ended, repeat_times
from . import protocol, samples
from .fitting import chosen_alpha, mean_hinge, sparse_alphas

if TYPE_CHECKING:
    import pandas as pd

FIRST_POINTS = 12
GROWTH = 1.08  # of the solver seconds between two points that are kept
MATCH_TOL = 1e-6  # relative gap of the solution whose mean hinge becomes η
PATIENCE = 3.0  # the limit of that solution, in race limits
SURE = 1e-2  # relative gap: a point further off is not x∞, however little it moves
WEIGHTS = 4_000_000  # numbers in the kept iterates of a run at most


class Path:
    """An observer that keeps thinned iterates and notes when two in a row first were within ``CHANGE`` of each other.

    It ends the run when they are within ``settle``. Changes and distances are of all weights and the intercept,
    relative to the norm of the later one.
    """

    def __init__(self, change: float, settle: float) -> None:
        self.change, self.settle = change, settle
        self.seconds: list[float] = []
        self.iterations: list[int] = []
        self.points: list[np.ndarray] = []
        self.reached: tuple[float, int] | None = None  # (seconds, iterations) at ``change``
        self.last = np.inf
        self._old: np.ndarray | None = None
        self._due = 0.0

    def __call__(self, event: Event) -> bool:
        now = event.state.coef
        norm = float(np.linalg.norm(now))
        if self._old is not None and norm > 0.0:  # the iterates begin at zero, and may stay there for a while
            self.last = float(np.linalg.norm(now - self._old)) / norm
            if self.last <= self.change and self.reached is None:
                self.reached = (event.seconds, int(event.iteration))
        self._old = now.copy()
        done = self.last <= self.settle
        if done or bool(event.message) or event.iteration < FIRST_POINTS or event.seconds >= self._due:
            self._due = event.seconds * GROWTH
            if self.seconds and event.iteration == self.iterations[-1]:
                return done
            if (len(self.points) + 1) * now.size > WEIGHTS:
                self._thin()
            self.seconds.append(event.seconds)
            self.iterations.append(int(event.iteration))
            self.points.append(self._old)
        return done

    def _thin(self) -> None:
        # Later points follow each other closely: every second one of them is enough.
        keep = [k for k in range(len(self.points)) if k < FIRST_POINTS or k % 2]
        self.seconds = [self.seconds[k] for k in keep]
        self.iterations = [self.iterations[k] for k in keep]
        self.points = [self.points[k] for k in keep]

    def distances(self) -> np.ndarray:
        """‖x − x∞‖/‖x∞‖ at each kept point, x∞ the last one."""
        end = self.points[-1]
        norm = float(np.linalg.norm(end)) or 1.0
        return np.array([float(np.linalg.norm(x - end)) / norm for x in self.points])


def run_path(problem: Problem, solver: Solver, settle: float, seconds: float) -> tuple[Path, Run]:
    """Run from zero weights until two iterates are within ``settle`` of each other, or the time is over.

    A method that diverges has run out of its time as well.
    """
    path = Path(protocol.CHANGE, settle)
    run = Run(problem.fresh(), solver, stop=Seconds(seconds), callbacks=[path], certify_every=NEVER, clock=CLOCK)
    try:
        for _ in run:
            pass
    except ArithmeticError:
        path.last = np.inf
    return path, run


def last_gap(run: Run) -> float:
    """The relative gap where a run ended; NaN if it diverged."""
    assert run.state is not None
    return run.certificate().relative_gap if np.isfinite(run.state.Z).all() else float("nan")


def matching_eta(problem: Problem, limit: protocol.Limits) -> float:
    """The mean hinge at the solution of the regularised problem: with it the constrained one has the same solution."""
    from ...runs.stopping import Gap

    rule = Gap(MATCH_TOL) | Seconds(PATIENCE * limit.race_seconds)
    run = ended(problem, protocol.solver(protocol.HINGE), rule, certify_every=20)
    assert run.state is not None
    return mean_hinge(problem, np.asarray(run.state.weights()), run.state.intercept())


def repeat(table: pd.DataFrame, run: Run, solver: Solver, limit: protocol.Limits) -> None:
    """Give a short run the median seconds of repeated ones at the same iterations, and their quartiles."""
    last = int(table["iteration"].max())

    rule = Iterations(last) | Seconds(limit.race_seconds)
    again = clocked(lambda watch: ended(run.problem, solver, rule, callbacks=[watch], certify_every=NEVER))
    repeat_times(table, again)


def time_methods(pool: Pool, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """Fig. 3, left: the five methods over α on random subsets, a row for each run.

    The problems bounded by η have the η that gives them the regularised problem's solution. Quick: at the second α,
    with the runs of :func:`follow_methods`. Columns: data, kind,
    per_class, draw, alpha, method, lam, eta, seconds and iterations (until two iterates in a row are within 1e-5;
    NaN if that did not come; medians of repeated runs where one takes little, with seconds_low and seconds_high, their
    quartiles), all_seconds, gap (relative, of the last point), features, samples.
    """
    limit = protocol.limits(settings)
    features = samples.FILTERS if limit.filters else samples.PIXELS
    jobs: list[Job] = []
    for size in limit.images:
        penalty = protocol.penalty(protocol.BLOCKINF, samples.blocks(pool, features))
        alphas = sparse_alphas(samples.draw(pool, features, size, settings.seed), penalty, limit)
        for k in range(limit.race_draws):
            for alpha in alphas[1 : 2 if limit.shared else None]:  # at the first one most problems have W = 0
                labels = {"data": pool.name, "kind": features, "per_class": size, "draw": k, "alpha": alpha}
                jobs += [
                    (
                        f"{size} a class, subset {k + 1}, α = {alpha:.2g}, {name}",
                        partial(_time, pool, features, settings.seed + k, name, penalty, limit, labels),
                    )
                    for name in protocol.METHODS
                ]
    return gather(jobs, report or Report())


def _time(
    pool: Pool, features: str, seed: int, name: str, penalty: Any, limit: protocol.Limits, labels: dict[str, Any]
) -> pd.DataFrame:
    import pandas as pd

    split = samples.draw(pool, features, labels["per_class"], seed)
    path, run, eta = race(
        split, name, labels["alpha"], penalty, limit, limit.settle if limit.shared else protocol.CHANGE
    )
    found = pd.DataFrame([path.reached or (float("nan"), float("nan"))], columns=["seconds", "iteration"])
    if path.reached:
        repeat(found, run, protocol.method(name, eta), limit)
    return pd.DataFrame([{
        **labels, "method": name, "lam": run.problem.lam, "eta": eta,
        **found.rename(columns={"iteration": "iterations"}).iloc[0], "all_seconds": run.seconds,
        "gap": last_gap(run), "features": run.problem.d,
        "samples": run.problem.n,
    }])  # fmt: skip


def race(
    split: Split, name: str, alpha: float, penalty: Any, limit: protocol.Limits, settle: float
) -> tuple[Path, Run, float]:
    """One method at one α, and the η that goes with it (NaN for the methods without)."""
    objective, _, _ = protocol.METHODS[name]
    problem = protocol.with_alpha(split.problem.with_(loss=protocol.loss(objective), penalty=penalty), alpha)
    eta = float("nan")
    if name in protocol.BOUNDED:
        key = ("eta", problem.key, limit)
        if key not in split.references:
            split.references[key] = matching_eta(problem, limit)
        eta = split.references[key]
    case = ("race", name, problem.key, settle, limit)
    found: tuple[Path, Run] = split.references.get(case) or run_path(
        problem, protocol.method(name, eta), settle, limit.race_seconds
    )
    if limit.shared:
        split.references[case] = found
    return *found, eta


def settled(path: Path, gap: float, limit: protocol.Limits) -> bool:
    """Return whether the last point of a run may stand for x∞."""
    return bool(path.last <= limit.settle and gap <= SURE)


def follow_methods(pool: Pool, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """Fig. 3, right: distances to x∞ at the α of the best accuracy of each objective (quick: at the second α of the
    grid), a row for each kept point.

    Columns: data, kind, per_class, alpha, method, lam, eta, iteration, seconds, distance (‖x − x∞‖/‖x∞‖, x∞ the last
    point of the same run), settled (whether the last two iterates were within the limit's ``settle``, and the gap is
    at most 1e-2: little movement alone may be short steps), gap (relative, of x∞), features, samples.
    """
    limit = protocol.limits(settings)
    features = samples.FILTERS if limit.filters else samples.PIXELS
    jobs = [
        (f"{size} a class, {name}", partial(_follow, pool, features, size, settings.seed, name, limit))
        for size in limit.images
        for name in protocol.METHODS
    ]
    return gather(jobs, report or Report())


def _follow(pool: Pool, features: str, per_class: int, seed: int, name: str, limit: protocol.Limits) -> pd.DataFrame:
    import pandas as pd

    split = samples.draw(pool, features, per_class, seed)
    penalty = protocol.penalty(protocol.BLOCKINF, samples.blocks(pool, features))
    alpha = (
        sparse_alphas(split, penalty, limit)[1]
        if limit.shared
        else chosen_alpha(pool, features, per_class, protocol.BLOCKINF, protocol.METHODS[name][0], limit, seed)
    )
    path, run, eta = race(split, name, alpha, penalty, limit, limit.settle)
    gap = last_gap(run)
    found = pd.DataFrame({
        "data": pool.name, "kind": features, "per_class": per_class, "alpha": alpha, "method": name,
        "lam": run.problem.lam, "eta": eta, "iteration": path.iterations, "seconds": path.seconds,
        "distance": path.distances(), "settled": settled(path, gap, limit), "gap": gap,
        "features": run.problem.d, "samples": run.problem.n,
    })  # fmt: skip
    if np.isfinite(gap):  # a method that diverged has no time to repeat
        repeat(found, run, protocol.method(name, eta), limit)
    return found
