"""Working sets with block coordinate descent and Newton steps: the fast solver beyond the papers.

repeat:
    choose     v ← violations of all rows (one gradient); B ← rows in use and the rows of largest violation, at .95λ
    repeat     on B only:
        sweep  one pass of BCD with line search over B
        Newton now and then: a damped Newton step on the rows in use (newton.py)
        until      the residual of the sweep is below a share of the largest violation that made B, or small enough for
               the gap at which the run will stop: then a certificate is due
The gradient that a certificate needs is left to the next choice, and the other way round.
Newton steps are taken as often as they pay (shared/pacing.py), and B is made of the few rows that keep the gap up where
these stand out (shared/polish.py).
With few columns there is no use for a working set: a few SpaRSA steps on all rows then take the place of a sweep. So
they do for dense X while most rows are in use, and where the penalty ties features in blocks; a Newton step then moves
the blocks in use. From zero weights on they also do for sparse X with a ridge and no intercept. For dense X they
take its place on B, too: products with the columns of B, gathered into one array, take a fraction of the time of a walk
along them (not so for hinges of one score without a ridge where columns go together).
Data in blocks of rows are read in passes, and the above works on the columns that a pass names (shared/by_passes.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ..kernels.rows import penalty_sum
from ..kernels.sweeps import LineSearch, Swept, both, sweep_line_search
from ..pauses import pause
from ..problems.base import Certificate
from ..problems.certificate import Known, certify, is_double
from ..problems.prediction import Problem
from ..registry import Column, field, solvers
from ..threads import cores, using
from .base import Solution, Solver, State, settings
from .shared import by_passes, gradient_steps, secant
from .shared.columns import CURSOR_COLUMNS, STEP_COLUMNS
from .shared.first_trial import curvature_field, widening
from .shared.gradient_steps import GradientSteps
from .shared.in_parts import largest, swept_in_parts
from .shared.newton import Newton, able, expected_work, single
from .shared.working_set_state import Looked, WorkingSetState, violations_at

LEAST_ROWS = (64, 256)  # bounds of the smallest working set, which is an eighth of the rows
GROWTH = 8  # a working set holds at most this many times the rows in use
# A working set is left when its residual is below these shares of the largest violation of all rows, or of those left
# outside: rows inside are worked on anyway.
LEAVE, LEAVE_OUTSIDE = 0.2, 0.8
# Rows of zero weights come into a working set from this share of λ on: those just below it are the next to be violated
# as the others move, and would only be seen with the certificate that they spoil.
ENTERS = 0.95
SIGMA, BACKTRACK, TRIALS_MOST = 0.01, 0.5, 30  # line search of the sweeps, as for bcd-ls
# What an entry costs when a sweep reads it, in units of one read by a Hessian product (measured: by samples, block).
SWEEP_COST, SWEEP_COST_BLOCK = 3.0, 15.0
LOOKS = 300_000  # products of a gradient from which on each gradient step is asked whether it may be the last
REFRESH = 20  # steps after which scores are computed afresh, so that rounding does not pile up


@settings
class WorkingSet(Solver):
    """BCD on a working set of violated rows, with damped Newton steps on the rows in use."""

    newton: bool = field(True, doc="take Newton steps on the rows in use, as often as they pay")
    cg_steps: int = field(
        15, 1, 1000, "conjugate-gradient steps of a Newton step (ten times as many near the end)", log=True
    )
    curvature: str = curvature_field()
    threads: int = field(
        1, 0, cores(), "threads for products with X, searches and certificates; 0 takes every core; sweeps run on one"
    )

    title = "working set + Newton"
    menu_order = 190
    contract_iterations = 300
    doc = "Block coordinate descent on the most violated rows, with Newton steps on the rows in use."
    source = "this project; its parts: Tseng and Yun 2009 (sweeps), Johnson and Guestrin 2015 (working sets)"
    takes_sample_weights = takes_feature_weights = takes_blocks = takes_partitions = pauses = True
    columns: ClassVar[tuple[Column, ...]] = (*STEP_COLUMNS, *CURSOR_COLUMNS)

    def refuses(self, problem: Problem) -> str | None:
        if problem.partitioned and not problem.penalty.zeroes_rows:
            return (
                f"{self.name} gathers the columns of the features in use, and with the {problem.penalty.title} penalty "
                "these are all features of the blocks. Choose a penalty with zeros, or sparsa, fista-ls or ista"
            )
        return super().refuses(problem)

    def start(self, problem: Problem, coef: np.ndarray) -> Any:
        return (by_passes.PassesState if problem.partitioned else WorkingSetState)(problem, coef)

    def adapt(self, problem: Problem, state: Any) -> None:
        if isinstance(state, by_passes.PassesState):
            state.seen = None
        else:
            state.forget(problem)

    def lead(self, problem: Problem, state: Any, earlier: Solution, length: float) -> bool:
        return isinstance(state, WorkingSetState) and secant.lead(problem, state, earlier, length)

    def warm_start_from(self, problem: Problem, state: State) -> State:
        new, steps = super().warm_start_from(problem, state), getattr(state, "gradient", None)
        if isinstance(new, WorkingSetState) and isinstance(steps, GradientSteps):
            new.alpha = steps.alpha
            new.ready = state.ready if new.whole else None  # its gradient is that of the next step
        return new

    def certificate(self, problem: Problem, state: Any, work: Any) -> Certificate:
        # The gradient that it needs is left to the next choice of rows, or to the next gradient step.
        with using(self.threads):
            return self._certificate(problem, state, work)

    def _certificate(self, problem: Problem, state: Any, work: Any) -> Certificate:
        if isinstance(state, by_passes.PassesState) or not is_double(problem):
            return super().certificate(problem, state, work)
        if state.whole:
            if state.gradient is None:
                self._take_all(problem, state)
            found: Certificate = state.gradient.certificate(problem, state, work)
            state.forecast.learn(found.relative_gap, state.aim)
            return found
        seen = state.take_gradient(problem, whole=work.levels is not None)
        work.screen = state.screen
        loss = float(state.kept.values.sum()) / problem.n
        found = certify(problem, state.coef, state.Z, work, known=Known(loss, state.kept.U, seen.G, 1.0, seen.rows))
        state.forecast.learn(found.relative_gap, state.aim)
        if state.aim and problem.row_penalty.is_norm and (state.ready or not state.polish.on):
            self._look_at_gap(problem, state, found.relative_gap, seen)
        return found

    @staticmethod
    def _look_at_gap(problem: Problem, state: WorkingSetState, gap: float, seen: Looked) -> None:
        """Work on the rows alone that keep the gap from the aim, if they do."""
        W = state.coef[: problem.d] if seen.rows is None else state.coef[seen.rows]
        state.polish.certified(problem, gap, state.aim, seen.G, W)
        if (rows := state.polish.rows) is not None:
            state.polish.rows = rows if seen.rows is None else seen.rows[rows]
            state.chosen = None

    def variant(self, problem: Problem) -> tuple[bool, ...]:
        return single(problem), gradient_steps.takes_all(problem), gradient_steps.opens(problem), problem.partitioned

    def precompile(self, tiny: Problem, problem: Problem) -> State:
        state = super().precompile(tiny, problem)
        if not gradient_steps.takes_all(problem) or (problem.partitioned and problem.regulariser.blocks is None):
            # The tiny problem has few columns; this one, or the columns that are gathered of it, may have more.
            work = WorkingSetState(tiny, state.coef)
            self._choose(tiny, work)
            for _ in self._sweep(tiny, work):
                pass
        if self.newton and able(problem):
            state.coef[: tiny.d] = 1.0  # some row has to be in use
            for block in (True, False) if tiny.design.is_sparse else (True,):
                Newton(tiny, 2, single(problem), block).step(tiny, state)
        return state

    def step(self, problem: Problem, state: Any) -> None:
        for _ in self.step_in_parts(problem, state, None):
            pass

    def step_in_parts(self, problem: Problem, state: Any, rows: int | None) -> Iterator[tuple[int, int]]:
        if isinstance(state, by_passes.PassesState):
            with using(self.threads):
                by_passes.step(problem, state, self)
            return
        with using(self.threads):
            sweeps = not self._moved(problem, state)
        if sweeps:
            yield from self._sweep(problem, state, rows)
        state.iteration += 1
        state.unrefreshed += 1

    def _moved(self, problem: Problem, state: Any) -> bool:
        """Choose rows where that is due, and take a Newton step or a gradient step; False if a sweep is due."""
        if state.chosen is None:
            state.look_at_rows(problem)
            if not state.whole:
                self._choose(problem, state)
                state.whole = not state.coef[: state.d].any() and gradient_steps.opens_on_most(problem, state.violation)
            if state.whole:
                self._take_all(problem, state)
            pause()
        due = self.newton and state.pacing.due and able(problem) and not state.polish.on
        if due and not (state.pacing.left and self._ends_without(problem, state)) and self._newton(problem, state):
            return True
        if state.gradient is None and not state.polish.on and gradient_steps.takes_part(problem, state.chosen.size):
            self._take_part(problem, state)
        if state.gradient is None:
            return False
        self._gradient(problem, state, state.gradient)
        return True

    def _ends_without(self, problem: Problem, state: WorkingSetState) -> bool:
        """Return whether steps of the other kinds are likely to end sooner than a Newton step would help."""
        steps = self.cg_steps if state.newton is None else state.newton.cg_steps
        block = state.newton is None or state.newton.uses_block
        unit = SWEEP_COST_BLOCK if block else SWEEP_COST
        return state.pacing.ends_before(expected_work(problem, state.coef, steps, block) / unit)

    @staticmethod
    def _take_all(problem: Problem, state: WorkingSetState) -> None:
        """All rows: gradient steps look at all of them."""
        state.chosen = np.arange(problem.d)
        if state.gradient is None:
            seen = state.looked if state.fresh and state.measured is problem.loss else None
            known = None
            if seen is not None and seen.rows is None:
                loss = float(state.kept.values.sum()) / problem.n
                known = Known(loss, state.kept.U, seen.G, 1.0)
            state.gradient = GradientSteps(problem, state, known, state.alpha)
            state.alpha = None
        state.objective = state.gradient.objective

    @staticmethod
    def _take_part(problem: Problem, state: WorkingSetState) -> None:
        """Gradient steps on the working set."""
        rows, seen, known = state.chosen, state.looked, None
        assert rows is not None
        if seen is not None and state.fresh and state.measured is problem.loss:
            at = rows if seen.rows is None else np.searchsorted(seen.rows, rows)
            known = Known(float(state.kept.values.sum()) / problem.n, state.kept.U, seen.G[at], 1.0)
        state.gradient = GradientSteps(problem, state, known, state.alpha, rows)

    def _gradient(self, problem: Problem, state: WorkingSetState, gradient: GradientSteps) -> None:
        state.ready = False if state.aim else None

        def enough() -> bool:
            if not state.forecast.is_far(state.aim):
                self._meet(problem, state, gradient)
                state.ready = state.forecast.ends(state.aim)
            return bool(state.ready)

        looks = bool(state.aim) and problem.regulariser.blocks is None and _entries(problem) * problem.m >= LOOKS
        passes = gradient.advance(problem, state, enough=enough if looks else None)
        if gradient.part is not None:
            passes *= gradient.part.design.nnz / _entries(problem)
        # Its products cost what those of a Newton step do.
        block = state.newton is None or state.newton.uses_block
        gradient.cost += passes * _entries(problem) / (SWEEP_COST_BLOCK if block else SWEEP_COST)
        gradient.gained += state.objective - gradient.objective
        nears = not gradient.begun and bool(state.aim) and gradient_steps.fall_evenly(problem)
        if not gradient.begun:
            # With several scores and kinks at single entries, Newton steps lead to bursts that hindsight does not see.
            hindsight = problem.m == 1 or problem.regulariser.entry_terms() is None
            state.pacing.swept(gradient.gained, gradient.cost, batch=hindsight)
            gradient.gained = gradient.cost = 0.0
        state.objective = gradient.objective
        state.passes += passes
        if state.whole:
            if (looks or nears) and not state.ready:
                self._meet(problem, state, gradient)
            state.working_set = float(problem.d)
            state.ready = bool(state.aim) or None  # its gradient is that of the next step: it costs little
            state.look_at_rows(problem)
        else:
            self._look_at_part(problem, state, gradient)
        if nears:
            state.pacing.nears(state.forecast.above(state.aim))

    @staticmethod
    def _meet(problem: Problem, state: WorkingSetState, gradient: GradientSteps) -> np.ndarray:
        """Forecast the gap at the point of gradient steps, from its violations, which are returned."""
        left = gradient.violations(problem)
        state.forecast.met(problem, left, gradient.objective, problem.lam * gradient.inner.omega)
        return left

    def _look_at_part(self, problem: Problem, state: WorkingSetState, gradient: GradientSteps) -> None:
        """Leave the working set if it is solved well enough."""
        assert state.chosen is not None
        state.fresh, state.looked, state.alpha = False, None, gradient.alpha
        state.working_set = float(state.chosen.size)
        if state.ready:
            state.chosen = None
            return
        left = self._meet(problem, state, gradient)
        if state.aim:
            state.ready = state.forecast.ends(state.aim)
        if state.ready or float(left.max()) <= state.target:
            state.chosen = None

    def _choose(self, problem: Problem, state: WorkingSetState) -> None:
        """Rank all rows by violation and take those in use and the worst of the others."""
        d, n, penalty = problem.d, problem.n, problem.row_penalty
        if state.unrefreshed >= REFRESH:
            problem.design.matmul(state.coef, state.Z)
            state.unrefreshed = 0
            state.moved()
        seen = state.take_gradient(problem)
        used, weights = seen.used, state.coef[:d] if seen.rows is None else state.coef[seen.rows]
        loss = float(state.kept.values.sum()) / n
        violation, paper = state.violation[: len(weights)], state.paper[: len(weights)]
        near = np.empty(len(weights))
        for lam, out in ((ENTERS * problem.lam, near), (problem.lam, violation)):
            violations_at(problem, seen.G, weights, lam, out, paper)
        if seen.rows is not None:
            found = violation.copy()
            state.violation[:] = 0.0
            state.violation[seen.rows] = found
            near, found = np.zeros(d), near
            near[seen.rows] = found
        state.passes += 1.0
        state.objective = loss + problem.lam * penalty_sum(weights, penalty)[0]
        least = min(max(d // 8, LEAST_ROWS[0]), LEAST_ROWS[1])
        size = max(least, GROWTH * int(used.sum())) if penalty.zeroes_rows else d
        state.chosen, state.gradient = state.polish.take(), None
        if state.chosen is None:
            rank = np.where(used, np.inf, near)
            best = largest(rank, size) if size < d else np.arange(d)
            state.chosen = np.sort(best[rank[best] > 0.0])
        state.working = np.zeros(d, dtype=np.uint8)
        state.working[state.chosen] = 1
        outside = 0.0 if state.polish.on else float(np.where(state.working == 1, 0.0, state.violation).max())
        state.target = max(LEAVE * float(state.violation.max()), LEAVE_OUTSIDE * outside)

    def _sweep(self, problem: Problem, state: WorkingSetState, rows: int | None = None) -> Iterator[tuple[int, int]]:
        """One sweep over the working set, pausing after every ``rows`` rows."""
        d = problem.d
        assert state.chosen is not None
        state.take_samples(problem)
        state.looked = None
        eps, factor = float(np.finfo(problem.dtype).eps), widening(problem, self.curvature)
        search = LineSearch(factor, SIGMA, BACKTRACK, TRIALS_MOST, eps)  # type: ignore[call-arg]
        before = state.passes

        def sweep(columns: Any, order: np.ndarray, at: slice) -> Swept:
            given = (columns, order, state.coef[at], state.Z, *problem.terms, problem.row_penalty, problem.lam)
            done: Swept = sweep_line_search(*given, at.start == 0, search, state.kept)
            return done

        def note(done: Swept) -> None:
            state.passes = before + done.read / _entries(problem)

        done = yield from swept_in_parts(
            problem, state.chosen, rows, state, lambda part: sweep(problem.design.columns, part, slice(0, d)), note
        )
        of_rows = done
        pause()
        if problem.intercept:
            first = np.zeros(1, dtype=state.chosen.dtype)
            done = both(done, sweep(problem.design.ones, first, slice(d, problem.rows)))
        loss = float(state.kept.values.sum()) / problem.n
        after = loss + problem.lam * penalty_sum(state.coef[:d], problem.row_penalty)[0]
        drop, state.objective = state.objective - after, after
        note(done)
        state.working_set = float(state.chosen.size)
        state.trials = done.trials / max(done.moved, 1.0) if done.trials else float("nan")
        state.step_size = done.steps / done.moved if done.moved else float("nan")
        if state.polish.on:
            state.polish.sweeps += 1
            state.ready = state.polish.done or of_rows.residual <= state.target
        else:
            state.pacing.swept(drop, done.read)
            if state.aim:
                state.forecast.swept(problem, of_rows, after, after - loss)
                if gradient_steps.fall_evenly(problem):
                    state.pacing.nears(state.forecast.above(state.aim))
                state.ready = state.forecast.ends(state.aim)
        # Not the intercept's, which all rows have moved: a certificate finds its own.
        if (state.aim and state.ready) or of_rows.residual <= state.target:
            state.chosen = None

    def _newton(self, problem: Problem, state: WorkingSetState) -> bool:
        """A Newton step on the rows in use; False if no row is in use (the state is then as it was)."""
        if state.newton is None:
            state.newton = Newton(problem, self.cg_steps)
        done = state.newton.step(problem, state)
        state.pacing.sweeps = 0
        if done is None:
            return False
        state.moved()
        if not done.taken:
            state.failed(done.before)
        if state.whole:
            state.ready = bool(state.aim) or None
            state.forecast.forget()
        elif state.ready is not None:
            state.ready = state.forecast.ends_after_newton(done.taken, state.aim)
            if state.ready:
                state.chosen = None  # with the gradient that the certificate takes
        passes = done.read / _entries(problem)
        state.polish.begin(passes)
        state.passes += passes
        sweep = state.pacing.cost * (SWEEP_COST_BLOCK if state.newton.uses_block else SWEEP_COST)
        state.pacing.stepped(done.before - done.after, done.work / sweep)
        state.objective = done.after
        state.working_set = float(np.count_nonzero(state.coef[: problem.d].any(axis=1)))
        state.trials, state.step_size = float(done.trials), done.size
        return True


def _entries(problem: Problem) -> float:
    return float(problem.design.nnz + problem.n * problem.intercept)


solvers.add("working-set", WorkingSet)
