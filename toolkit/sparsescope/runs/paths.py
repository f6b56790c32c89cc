"""λ-paths: one problem at many λ, from large to small, each solved from the solution before it (warm start).

:class:`PathRun` steps along the path as a run that can be watched; :func:`path` goes all the way and returns the
:class:`Path`. There is one loop, that of :class:`sparsescope.Run`.
"""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

from ..problems.base import BaseProblem
from ..registry import check_whole
from ..solvers.base import Solution, Solver, State
from .event import Event
from .grids import lam_grid
from .path_points import Point
from .path_result import Path
from .run import Run, as_problem
from .stopping import Gap, Stop
from .trace import Recorder

__all__ = ["Path", "PathRun", "Solved", "path"]


# Share of ``tol`` to which the solution of a λ must be certified at the next one to be its solution, too. Otherwise the
# first λ, where F hardly differs from that of zero weights, would have the largest errors of a path by far: up to 3e-3
# at a tolerance of 1e-2, where all others had less than 3e-5 (logistic loss, ℓ1, two sets of text).
UNMOVED = 1e-2


@dataclass
class Solved(Gap):
    """Stopping rule applied at each λ: certified to a relative duality gap of ``tol``, see :class:`Gap`.

    Where no gap can be evaluated (NaN), the exact violation must be at most ``tol``·λ instead. Before the first
    iteration at a λ, a hundredth of ``tol`` is asked for: a step is cheap there, and leads far.

    Parameters
    ----------
    tol
        relative gap to reach.
    of_null
        as for :class:`Gap`.
    """

    tol: float = 1e-4

    def __post_init__(self) -> None:
        if not (isinstance(self.tol, Real) and self.tol > 0):
            raise ValueError(f"tol is {self.tol!r}; it must be a positive number")

    def check(self, event: Event) -> str | None:
        return (replace(self, tol=UNMOVED * self.tol) if event.iteration == 0 else self)._met(event)

    def _met(self, event: Event) -> str | None:
        if (reason := super().check(event)) is not None:
            return reason
        if event.certified and event.gap != event.gap and event.violation <= self.tol * event.lam:
            return f"no gap here; violation {event.violation:.1e} ≤ {self.tol:.1e}·λ"
        return None


class PathRun(Run):
    """Run along a λ-path: an iterator of events like :class:`Run`, whose λ falls whenever its rule is met.

    The events of one λ are its starting point and one for each iteration; ``event.lam`` is the present λ. It starts at
    the solution of the λ before, as a point of the new problem; or, with a solver that can, ahead of it on the line
    through the last two solutions, extrapolated in log λ, where F is lower there. A :class:`Recorder` among the
    callbacks gets a mark at each change of λ. Iterations, passes and seconds are counted over the whole path. ``lams``
    and ``notes`` hold the λ to come, ``position`` the number of the present one, ``path`` the solutions so far.

    Parameters
    ----------
    problem
        a Problem or CovarianceProblem; its own λ is not used.
    solver
        registry name or Solver.
    n_lams, ratio, lams
        see :func:`lam_grid`; with ``lams`` the other two are not used.
    tol
        relative duality gap at which a λ is left, see :class:`Solved`.
    max_iter
        largest number of iterations at one λ.
    stop
        a rule in place of ``tol``; it sees iterations, passes and seconds of the present λ only.
    stop_when
        function of the last event of a λ; if it returns True the path ends there.
    keep_weights
        keep W at every λ (its non-zero rows; the entries of Θ); False saves memory where rows do not vanish
        (ridge).
    certify_every
        evaluate certificates and accuracies at every k-th iteration; more often in the first iterations at a λ,
        because a warm start may need only a few; ``None`` as in :class:`Run`.
    callbacks, W, b, state, test, clock
        see :class:`Run`.

    Raises
    ------
    ValueError
        for values that are not allowed.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> run = ss.PathRun(problem, n_lams=3, ratio=0.5)
    >>> for event in run:
    ...     pass
    >>> run.position, len(run.path)
    (2, 3)
    """

    def __init__(
        self,
        problem: BaseProblem,
        solver: str | Solver = "auto",
        *,
        n_lams: int = 50,
        ratio: float = 1e-2,
        lams: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        stop: Stop | None = None,
        stop_when: Callable[[Event], Any] | None = None,
        keep_weights: bool = True,
        callbacks: Iterable[Callable[[Event], Any]] = (),
        W: Any = None,
        b: Any = None,
        state: State | None = None,
        certify_every: int | None = 5,
        test: Any = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.max_iter = check_whole("max_iter", max_iter, 1)
        self.lams, self.notes = lam_grid(as_problem(problem), n_lams, ratio, lams)
        # Rules may remember what they saw: a copy, so that two runs made with the same rule do not share a memory.
        super().__init__(
            problem.with_lam(self.lams[0]),
            solver,
            stop=Solved(tol) if stop is None else copy.deepcopy(stop),
            callbacks=callbacks,
            W=W,
            b=b,
            state=state,
            certify_every=certify_every,
            test=test,
            clock=clock,
        )
        if not self.solver.follows_lam:
            raise ValueError(
                f"{self.solver.name} has a budget and no λ, so there is no path for it to follow; take "
                "another solver, or solve for one budget after the other"
            )
        self.stop_when, self.keep_weights = stop_when, keep_weights
        self.position = 0
        self._given = problem
        self._points: list[Point] = []
        self._leave = False  # the present λ is done, the next event is the start of the next one
        self._began = (0, 0.0, 0.0) if state is None else (state.iteration, state.passes, 0.0)
        self._next_certificate = 0  # an iteration of the present λ
        self._earlier: tuple[float, Solution] | None = None  # the λ before, and its solution
        self._unseen = False  # whether the caller looks at events with a certificate only

    @property
    def path(self) -> Path:
        """The path so far: the λ that are done. Costs nothing but a few references."""
        return Path(tuple(self._points), _describe(self), self.notes, self.message)

    def advance(self, certify_now: bool = False) -> Event:
        """Return the next event: one iteration further, or the start of the next λ.

        Parameters
        ----------
        certify_now
            evaluate a certificate in any case.

        Returns
        -------
        Event
            the event.
        """
        if not self._leave:
            return self._hurry() if self._unseen and self._opened else super().advance(certify_now)
        assert self.state is not None
        self._leave = False
        before, foreseen = self.problem.lam, self._ready() is not None
        self._began = (self.state.iteration, self.state.passes, self.seconds)
        self._next_certificate = 0
        self.position += 1
        self._go_on(self.problem.with_lam(self.lams[self.position]), self.solver)
        for callback in self.callbacks:
            if isinstance(callback, Recorder):
                callback.trace.mark(f"λ {before:.3g} → {self.problem.lam:.3g}", "lam")
        self._lead(before)
        if self._unseen and foreseen:
            return self._hurry()  # the solution of the λ before is not looked at: the solver says when to look
        return self.observe(certify_now=True)

    def _lead(self, lam: float) -> None:
        """Let the solver start ahead of the solution at ``lam``, the λ before, where two foretell the next."""
        assert self.state is not None
        if self.state.sparse or not hasattr(self.state, "coef"):
            return
        earlier, self._earlier = self._earlier, (lam, Solution.of(self.state.coef))
        if earlier is None or not 0.0 < self.problem.lam < lam < earlier[0]:
            return
        began = self._clock()
        length = math.log(lam / self.problem.lam) / math.log(earlier[0] / lam)
        self.solver.lead(self.problem.natural, self.state, earlier[1], length)
        self.seconds += self._clock() - began

    def _hurry(self) -> Event:
        """Iterate up to the next certificate; between two of them no rule and nobody looks at the run."""
        while True:
            self._iterate()
            assert self.state is not None
            done = self.state.iteration
            if done - self._began[0] >= self.max_iter or self._due(done):
                return self.observe(certify_now=True)

    def settle(self, problem: Any) -> Any:
        """Return the problem at the present λ.

        Parameters
        ----------
        problem
            the problem asked for.

        Returns
        -------
        Any
            the problem.

        Raises
        ------
        ValueError
            if it is another one than the path's.
        """
        if problem.key[:-1] != self._given.key[:-1] or problem.lam not in (self._given.lam, self.problem.lam):
            raise ValueError(
                f"a path sets λ itself and keeps its {' and '.join(problem.parts)}; start a new path for others"
            )
        return self.problem

    def follow(self, other: Run) -> None:
        """Go on from the present point of another run along the same path (a fork).

        Parameters
        ----------
        other
            the run to follow.
        """
        super().follow(other)
        if isinstance(other, PathRun):
            self.lams, self.position, self._leave, self._began = other.lams, other.position, other._leave, other._began
            self._earlier = other._earlier
            self._points = list(other._points)
            self.stop = copy.deepcopy(other.stop)

    def _due(self, iteration: int) -> bool:
        if self.certify_every is None:
            return super()._due(iteration)
        here, ready = iteration - self._began[0], self._ready()
        if ready is not None:
            return ready or here % self.certify_every == 0
        if here < self._next_certificate:
            return False
        self._next_certificate = here + min(1 + here // 4, self.certify_every)
        return True

    def _enough(self) -> float:
        return self.state.aim if self._unseen and self.state is not None else 0.0

    def _reason(self, event: Event) -> str:
        iteration, passes, seconds = self._began
        here = replace(
            event, iteration=event.iteration - iteration, passes=event.passes - passes, seconds=event.seconds - seconds
        )
        assert self.stop is not None
        return self.stop.check(here) or (
            f"limit of {self.max_iter} iterations at one λ" if here.iteration >= self.max_iter else ""
        )

    def _finish(self, reason: str, event: Event) -> str:
        limit = reason.endswith("iterations at one λ")
        counts = (event.iteration - self._began[0], event.passes - self._began[1], event.seconds - self._began[2])
        del self._points[self.position :]  # a run that is stepped on after its end improves its last λ
        self._points.append(Point.of(event, counts, not limit, reason, self.keep_weights))
        done, total = self.position + 1, self.lams.size
        where = f"λ = {event.lam:.3g} after {event.iteration} iterations"
        if done < total and self.stop_when is not None and self.stop_when(event):
            return f"path ended by stop_when at {where}; {done} of {total} λ done"
        if done < total:
            self._leave = True
            return ""
        missed = sum(not p.converged for p in self._points)
        return f"path done: {total} λ down to {where}" + (f"; {missed} λ not converged" if missed else "")


def path(
    problem: BaseProblem,
    solver: str | Solver = "auto",
    *,
    n_lams: int = 50,
    ratio: float = 1e-2,
    lams: Any = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    stop: Stop | None = None,
    stop_when: Callable[[Event], Any] | None = None,
    keep_weights: bool = True,
    test: Any = None,
    callbacks: Iterable[Callable[[Event], Any]] = (),
    certify_every: int | None = 5,
    clock: Callable[[], float] | None = None,
    progress: bool | Callable[[int, int, Event], Any] = False,
) -> Path:
    """Solve a problem at many λ, from λ_max downwards, each from the solution before it.

    A callback that returns True ends the path; the solutions found until then are returned. What is raised is that of
    :class:`PathRun`.

    Parameters
    ----------
    problem
        a Problem or CovarianceProblem; its own λ is not used.
    solver
        registry name or Solver.
    n_lams, ratio, lams
        see :func:`lam_grid`.
    tol, max_iter, stop, stop_when, keep_weights, certify_every
        see :class:`PathRun`.
    test, callbacks, clock
        see :class:`Run`.
    progress
        True shows a progress line on standard error; or a function of (λ done, λ in all, last event), called after
        each λ.

    Returns
    -------
    Path
        the solutions.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), loss="logistic")
    >>> path = ss.path(problem, n_lams=5, ratio=0.1)
    >>> len(path)
    5
    """
    run = PathRun(
        problem,
        solver,
        n_lams=n_lams,
        ratio=ratio,
        lams=lams,
        tol=tol,
        max_iter=max_iter,
        stop=stop,
        stop_when=stop_when,
        keep_weights=keep_weights,
        callbacks=callbacks,
        certify_every=certify_every,
        test=test,
        clock=clock,
    )
    run._unseen = stop is None and not run.callbacks
    tell = _line if progress is True else progress
    done = 0
    for event in run:
        if tell and len(run._points) > done:
            done = len(run._points)
            tell(done, run.lams.size, event)
    if progress is True:
        print(file=sys.stderr)
    return run.path


def _line(done: int, total: int, event: Event) -> None:
    gap = "" if event.relative_gap != event.relative_gap else f", relative gap {event.relative_gap:.0e}"
    print(
        f"\rλ {done} of {total}: {event.lam:.3g}, {event.nonzero_rows} rows{gap}   ",
        end="",
        file=sys.stderr,
        flush=True,
    )


def _describe(run: Run) -> dict[str, Any]:
    facts = {name: value for name, value in run.problem.metadata.items() if name != "lam"}
    return facts | {"solver": repr(run.solver), "reason": run.reason}  # of `auto`
