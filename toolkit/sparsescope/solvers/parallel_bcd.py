"""Parallel block coordinate descent (Richtárik and Takáč 2012; Blondel et al. 2013, Sec. 4.4.2) on T threads.

    repeat (outer iteration), for a new random order of the rows, cut into stretches:
        every thread t takes a part S_t of the stretch and a copy of the scores, and for each row j of it
            W⁺_j ← prox_{λ/(βK_j)}(W_j − G_j/(βK_j)),   β = 1 + (ω − 1)(T − 1)/max(1, d − 1)             (MATH §7)
        meet:  Z⁺ ← Z + Σ_t (Z_t − Z)
        if F(W⁺) > F(W): undo the rows of all threads but the first, and take shorter stretches from now on
    ω is the largest number of non-zeros in a row of X: with T blocks in flight at once steps have to be shorter by β,
    or they diverge. Within a stretch a thread does not see the rows of the others; the test on F makes that safe,
    because the first thread's rows alone are plain coordinate descent, whose F never rises.

No thread writes what another one reads, so the result depends on T but not on timing (:mod:`sparsescope.threads`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from ..kernels.parallel import meet
from ..kernels.rows import penalty_sum
from ..kernels.sweeps import Kept, Swept, both, keep, make_kept, sweep_constant_step
from ..pauses import pause, takes_turns
from ..problems.prediction import Problem
from ..registry import field, solvers
from ..threads import cores, together
from .base import Solver, State, settings
from .bcd import REFRESH
from .shared.columns import CURSOR_COLUMNS, FIXED_STEP_COLUMNS, SEEN_COLUMNS
from .shared.in_parts import stops_of

STRETCHES = 6  # of an iteration, at first; the threads meet after each
LONGER = 1.1  # growth of a stretch after it went well; it is halved if it did not
LONGEST = 3  # stretches of an iteration, at least


class ParallelState(State):
    """State: scores and what is kept beside them: the common ones, the next common ones, and those of each thread."""

    seen_violation = seen_violation_sum = row_cursor = float("nan")

    def __init__(self, problem: Problem, coef: np.ndarray, count: int, seed: int) -> None:
        super().__init__(problem, coef)
        n, m = self.Z.shape
        self.rng = np.random.default_rng(seed)
        self.kept, self.next_kept = make_kept(n, m, problem.dtype), make_kept(n, m, problem.dtype)
        self.next_Z = np.empty_like(self.Z)
        self.ZT = np.empty((count, n, m), dtype=problem.dtype)
        self.keptT: list[Kept] = [make_kept(n, m, problem.dtype) for _ in range(count)]
        self.shares = [int(i) for i in np.linspace(0, n, count + 1)]
        self.begin(problem)

    def begin(self, problem: Problem) -> None:
        """Compute what depends on loss, penalty and λ."""
        keep(self.Z, *problem.terms, self.kept)
        self.length = max(1.0, problem.d / STRETCHES)


@settings
class ParallelBCD(Solver):
    """BCD with constant steps on several threads; every run with the same number of threads gives the same result."""

    threads: int = field(0, 0, cores(), "T: threads, at most as many as there are cores; 0 takes every core")
    constants: str = field("class-aware", choices=("class-aware", "tight", "paper"), doc="K_j, as for bcd-cst")
    seed: int = field(0, 0, 2**31 - 1, "seed of the order of the rows")

    title = "parallel BCD"
    menu_order = 70
    contract_iterations = 10_000  # β = 2 halves the steps on dense data
    columns = (*FIXED_STEP_COLUMNS, *SEEN_COLUMNS, *CURSOR_COLUMNS)
    doc = "Block coordinate descent with constant steps, on several threads at once."
    source = "Richtárik and Takáč 2012; Blondel et al. 2013, Sec. 4.4.2"
    pauses = True
    takes_sample_weights = True

    def count(self) -> int:
        """Return the number of threads.

        Returns
        -------
        int
            the number.
        """
        return self.threads or cores()

    def start(self, problem: Problem, coef: np.ndarray) -> ParallelState:
        return ParallelState(problem, coef, self.count(), self.seed)

    def adapt(self, problem: Problem, state: ParallelState) -> None:
        state.begin(problem)

    def step(self, problem: Problem, state: ParallelState) -> None:
        for _ in self.step_in_parts(problem, state, None):
            pass

    def step_in_parts(self, problem: Problem, state: ParallelState, rows: int | None) -> Iterator[tuple[int, int]]:
        # Pauses where the threads meet, once ``rows`` rows or more have been visited.
        if state.iteration and state.iteration % REFRESH == 0:
            problem.design.matmul(state.coef, state.Z)
            keep(state.Z, *problem.terms, state.kept)
        swept: list[Swept] = []
        order = state.rng.permutation(problem.d)
        done = shown = 0
        before, entries = state.passes, problem.design.nnz + problem.n * problem.intercept
        while done < problem.d:
            stretch = order[done : done + max(self.count(), int(state.length))]
            swept += self._stretch(problem, state, stretch)
            done += stretch.size
            if rows is not None and rows <= done - shown and done < problem.d:
                state.passes = before + functools.reduce(both, swept).read / entries
                shown, state.row_cursor = done, float(order[done - 1])
                yield done, problem.d
        state.row_cursor = float("nan")
        if problem.intercept:
            swept.append(self._intercept(problem, state))
        report = functools.reduce(both, swept)
        state.iteration += 1
        state.passes = before + report.read / entries
        state.working_set = float(problem.d)
        state.step_size = report.steps / report.moved if report.moved else float("nan")
        if problem.penalty.is_norm:
            state.seen_violation_sum = report.seen_sum
            state.seen_violation = report.seen_max

    def _stretch(self, problem: Problem, state: ParallelState, rows: np.ndarray) -> list[Swept]:
        """Sweep the rows on all threads and bring their moves together."""
        count, lam, penalty = self.count(), problem.lam, problem.penalty
        entries = np.cumsum(problem.design.column_counts[rows])
        cuts = np.searchsorted(entries, np.linspace(0.0, entries[-1], count + 1)[1:-1], side="right")
        bounds = [0, *(int(c) for c in cuts), rows.size]
        old = state.coef[rows]
        constants = self.beta(problem) * problem.block_constants(self.constants)
        before = float(state.kept.values.sum()) / problem.n
        swept = self._swept(problem, state, [rows[bounds[t] : bounds[t + 1]] for t in range(count)], constants)
        change = lam * (penalty_sum(state.coef[rows], penalty)[0] - penalty_sum(old, penalty)[0])
        use = np.ones(count, dtype=np.uint8)
        after = self._meet(problem, state, use)
        pause()
        slack = 4.0 * float(np.finfo(problem.dtype).eps) * abs(before)
        if count == 1 or after + change <= before + slack:
            state.length = min(LONGER * state.length, max(1.0, problem.d / LONGEST))
        else:
            use[1:] = 0
            state.coef[rows[bounds[1] :]] = old[bounds[1] :]
            self._meet(problem, state, use)
            state.length = max(1.0, 0.5 * state.length)
        state.Z, state.next_Z = state.next_Z, state.Z
        state.kept, state.next_kept = state.next_kept, state.kept
        return swept

    def _swept(
        self, problem: Problem, state: ParallelState, shares: list[np.ndarray], constants: np.ndarray
    ) -> list[Swept]:
        """Sweep each thread's share of a stretch. Where that is long, the threads meet on the way, to pause."""
        # Threads that meet often wait for each other; without anybody to give way to, they meet at the end only.
        stops = [stops_of(problem.design, problem.m, rows) if takes_turns() else [rows.size] for rows in shares]
        longest = max(len(own) for own in stops)
        done: list[Swept] = []
        together([functools.partial(self._copy, state, t) for t in range(len(shares))], state.ZT.size)
        pause()
        for turn in range(longest):
            parts = [
                rows[own[turn - 1] if turn else 0 : own[turn]] if turn < len(own) else rows[:0]
                for rows, own in zip(shares, stops, strict=True)
            ]
            entries = sum(int(problem.design.column_counts[part].sum()) for part in parts)
            swept = together(
                [functools.partial(self._part, problem, state, t, part, constants) for t, part in enumerate(parts)],
                entries * problem.m,
            )
            done = [both(old, new) for old, new in zip(done, swept, strict=True)] if done else swept
            pause()
        return done

    @staticmethod
    def _copy(state: ParallelState, t: int) -> None:
        """Give thread t a copy of the scores and of what is kept beside them."""
        state.ZT[t] = state.Z
        mine, common = state.keptT[t], state.kept
        mine.U[:], mine.values[:], mine.busy[:] = common.U, common.values, common.busy

    def _part(self, problem: Problem, state: ParallelState, t: int, rows: np.ndarray, constants: np.ndarray) -> Swept:
        """Run a part of thread t's share of a stretch: its rows, on its copy of the scores."""
        done: Swept = sweep_constant_step(
            problem.design.columns,
            rows,
            state.coef[: problem.d],
            state.ZT[t],
            *problem.terms,
            problem.penalty,
            problem.lam,
            True,
            constants,
            state.keptT[t],
        )
        return done

    def _meet(self, problem: Problem, state: ParallelState, use: np.ndarray) -> float:
        """The next common scores, with the moves of the threads in ``use``; returns their mean loss."""
        return (
            sum(
                together(
                    [
                        functools.partial(
                            meet, state.Z, state.ZT, use, *problem.terms, first, last, state.next_Z, state.next_kept
                        )
                        for first, last in zip(state.shares[:-1], state.shares[1:], strict=True)
                    ],
                    state.ZT.size,
                )
            )
            / problem.n
        )

    def beta(self, problem: Problem) -> float:
        """Return β, the factor of the constants with T blocks updated at once.

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        float
            β.
        """
        return 1.0 + (problem.design.most_in_a_row - 1.0) * (self.count() - 1.0) / max(1, problem.d - 1)

    def _intercept(self, problem: Problem, state: ParallelState) -> Swept:
        constants = problem.block_constants(self.constants)[problem.d :]
        done: Swept = sweep_constant_step(
            problem.design.ones,
            np.zeros(1, dtype=np.intp),
            state.coef[problem.d :],
            state.Z,
            *problem.terms,
            problem.penalty,
            problem.lam,
            False,
            constants,
            state.kept,
        )
        return done


solvers.add("bcd-parallel", ParallelBCD)
