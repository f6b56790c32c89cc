"""Block coordinate descent on the rows of W (Blondel et al. 2013, Alg. 1 and 2).

repeat (outer iteration):
    for each row j in the chosen order:
        G_j, h_j  ← gradient and diagonal of the generalised Hessian, one pass over column j     (Eq. 5, 6; Alg. 3)
        L_j       ← max(c‖h_j‖_∞, 1e-12)         (line search)   or   K_j                         (constant step)
        W*_j      ← prox_{λ/L_j}(W_j − G_j/L_j)                                                   (Eq. 3, 4)
        δ         ← W*_j − W_j
        α         ← 1, ω, ω²… until F(W+αδ) − F(W) ≤ σα(G_jᵀδ + λΩ(W*_j) − λΩ(W_j)),   or 1      (Eq. 7)
        W_j ← W_j + αδ,  Z_i ← Z_i + α x_ij δ for the samples with x_ij ≠ 0
c = 1 in the paper. A loss of differences of scores has ∇²ℓ·1 = 0, so the curvature along some direction is at least
m/(m−1) times the largest diagonal entry, and c is that: for two classes it is exact, where the paper's first trial
takes twice the best step.
The gradients of the samples are kept beside their scores Z_i, so a row that is zero and stays zero costs one
multiply-add for each entry and class.
Shrinking (optional; Blondel et al. 2013, Sec. 5.2.4; Yuan et al. 2010): every few iterations a zero row whose
gradient is so small that it would stay zero at λ − M, M the largest L_j‖W*_j − W_j‖ of the last iteration, is left
out of what follows; once M has fallen to a tenth, and at the latest after 20 iterations, all rows take part again.
Orders: cyclic; permuted (each row once, shuffled); random (d draws); greedy (the rows of largest violation).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ..kernels.rows import row_violations
from ..kernels.sweeps import (
    LineSearch,
    Swept,
    both,
    keep,
    make_kept,
    mark_for_sweep,
    sweep_constant_step,
    sweep_line_search,
)
from ..problems.prediction import Problem
from ..registry import Column, field, solvers
from .base import Solver, State, settings
from .shared.columns import CURSOR_COLUMNS, FIXED_STEP_COLUMNS, SEEN_COLUMNS, STEP_COLUMNS
from .shared.first_trial import curvature_field, widening
from .shared.in_parts import swept_in_parts

ORDERS = ("cyclic", "permuted", "random", "greedy")
DRAWN = ("permuted", "random")  # which of them need a seed
# Scores are updated step by step; after this many iterations they are computed afresh, so rounding cannot pile up.
REFRESH = 20
SHRINK_EVERY = 4  # iterations between two checks of which rows can be left out
UNSHRINK_SHARE = 0.1  # all rows take part again when the residual has fallen to this share of what it was then
MOST_SHRUNK = 20  # iterations in a row without the rows left out
LEAST_TRIALS = 30  # a step of 2^-30 that still fails the test is at rounding level: the row is left as it is


class BCDState(State):
    """State of both variants: gradients and losses of the samples beside their scores, the generator of random orders,
    and room for the greedy ranking when it is used."""

    seen_violation = seen_violation_sum = float("nan")
    smallest_constant = largest_constant = float("nan")

    def __init__(self, problem: Problem, coef: np.ndarray, seed: int) -> None:
        super().__init__(problem, coef)
        self.rng = np.random.default_rng(seed)
        self.kept = make_kept(problem.n, problem.m, problem.dtype)
        keep(self.Z, *problem.terms, self.kept)
        self.ranking: tuple[np.ndarray, np.ndarray] | None = None
        self.reinstate()

    def reinstate(self) -> None:
        """Let all rows take part."""
        self.rows: np.ndarray | None = None  # those that take part; None: all
        self.working = None
        self.since, self.target = 0, 0.0


class _BCD(Solver):
    """Base of both variants: orders, counting, refreshing."""

    takes_sample_weights = takes_feature_weights = True
    pauses = True
    columns: ClassVar[tuple[Column, ...]] = (*STEP_COLUMNS, *SEEN_COLUMNS, *CURSOR_COLUMNS)

    selection: str
    greedy_batch: int
    shrinking: bool
    seed: int

    def idle(self, problem: Any) -> dict[str, str]:
        """Name the settings that have no effect with this order of the rows."""
        found = {}
        if self.selection not in DRAWN:
            found["seed"] = f"Nothing is drawn at random in {self.selection} order."
        if self.selection != "greedy":
            found["greedy_batch"] = "Rows are only ranked in greedy order."
        return found

    def start(self, problem: Problem, coef: np.ndarray) -> BCDState:
        return BCDState(problem, coef, self.seed)

    def adapt(self, problem: Problem, state: BCDState) -> None:
        keep(state.Z, *problem.terms, state.kept)
        state.reinstate()

    def precompile(self, tiny: Problem, problem: Problem) -> BCDState:
        state: BCDState = super().precompile(tiny, problem)  # type: ignore[assignment]
        if self.shrinking:
            mark_for_sweep(
                tiny.design.columns,
                np.arange(tiny.d),
                state.coef[: tiny.d],
                state.kept,
                tiny.penalty,
                tiny.lam,
                0.0,
                np.empty(tiny.d, dtype=np.uint8),
            )
        return state

    def step(self, problem: Problem, state: BCDState) -> None:
        for _ in self.step_in_parts(problem, state, None):
            pass

    def step_in_parts(self, problem: Problem, state: BCDState, rows: int | None) -> Iterator[tuple[int, int]]:
        if state.iteration and state.iteration % REFRESH == 0:
            problem.design.matmul(state.coef, state.Z)
            keep(state.Z, *problem.terms, state.kept)
        entries = problem.design.nnz + problem.n * problem.intercept
        order = self._order(problem, state)
        before, whole = state.passes, slice(0, problem.d)

        def note(done: Swept) -> None:
            state.passes = before + done.read / entries

        done = yield from swept_in_parts(
            problem,
            order,
            rows,
            state,
            lambda part: self._sweep(problem, state, problem.design.columns, part, whole),
            note,
        )
        if problem.intercept:  # its block is a column of ones without penalty, at the end of each iteration
            ones, block = problem.design.ones, slice(problem.d, problem.rows)
            done = both(done, self._sweep(problem, state, ones, np.zeros(1, dtype=np.intp), block))
        state.iteration += 1
        note(done)
        state.working_set = float(order.size)
        state.trials = done.trials / max(done.moved, 1.0) if done.trials else float("nan")
        state.step_size = done.steps / done.moved if done.moved else float("nan")
        if problem.row_penalty.is_norm and state.rows is None:  # a sum over some of the rows says nothing about all
            state.seen_violation, state.seen_violation_sum = done.seen_max, done.seen_sum
        else:
            state.seen_violation = state.seen_violation_sum = float("nan")
        if self.shrinking and self.selection != "greedy":  # the greedy rule looks at all rows anyway
            self._shrink(problem, state, done.residual)

    def _shrink(self, problem: Problem, state: BCDState, residual: float) -> None:
        """Leave rows out, or bring them back; ``residual`` is that of the rows that took part."""
        state.since += 1
        if state.rows is not None and (residual <= state.target or state.since >= MOST_SHRUNK):
            state.reinstate()
        elif state.since % SHRINK_EVERY == 0:
            rows = np.arange(problem.d) if state.rows is None else state.rows
            marks = np.empty(rows.size, dtype=np.uint8)
            read = mark_for_sweep(
                problem.design.columns,
                rows,
                state.coef[: problem.d],
                state.kept,
                problem.row_penalty,
                problem.lam,
                residual,
                marks,
            )
            state.passes += read / problem.design.nnz
            if state.rows is None:
                state.since, state.target = 0, UNSHRINK_SHARE * residual
            if not marks.all():
                state.rows = rows[marks == 1]
                state.working = np.zeros(problem.d, dtype=np.uint8)
                state.working[state.rows] = 1

    def _sweep(self, problem: Problem, state: BCDState, columns: Any, order: np.ndarray, rows: slice) -> Swept:
        """Sweep the given rows of the coefficient array, whose columns of data are ``columns``."""
        raise TypeError(f"{type(self).__name__} does not define _sweep")

    def _order(self, problem: Problem, state: BCDState) -> np.ndarray:
        rows = np.arange(problem.d) if state.rows is None else state.rows
        if self.selection == "cyclic":
            return rows
        if self.selection == "permuted":
            return state.rng.permutation(rows)
        if self.selection == "random":
            return rows[state.rng.integers(0, rows.size, rows.size)] if rows.size else rows
        return self._greedy(problem, state)

    def _greedy(self, problem: Problem, state: BCDState) -> np.ndarray:
        # One pass over the data ranks all rows; with greedy_batch = 1 this is the Gauss–Southwell rule itself.
        if state.ranking is None:
            state.ranking = (np.empty(problem.d), np.empty(problem.d))
        violation, paper = state.ranking
        scale = 1.0 / problem.n
        for start, stop, G in problem.design.rmatmul_blocks(state.kept.U):
            penalty = problem.row_penalty.of_rows(slice(start, stop))
            row_violations(
                G,
                scale,
                state.coef[start:stop],
                problem.lam,
                penalty,
                penalty.is_norm,
                violation[start:stop],
                paper[start:stop],
            )
        state.passes += 1.0
        count = min(self.greedy_batch, problem.d)
        best = np.argpartition(-violation, count - 1)[:count]
        return best[np.argsort(-violation[best], kind="stable")]


@settings
class BCD(_BCD):
    """Block coordinate descent with line search (Tseng and Yun 2009; Blondel et al. 2013, Sec. 4.4.1)."""

    selection: str = field("cyclic", choices=ORDERS, doc="order of the rows within an iteration")
    greedy_batch: int = field(
        16, 1, 100_000, "rows updated between two greedy rankings (greedy selection only)", log=True
    )
    shrinking: bool = field(False, doc="leave rows out that are zero and likely to stay so, for some iterations")
    sigma: float = field(0.01, 1e-6, 0.5, "σ: share of the predicted decrease a step must reach (Eq. 7)", log=True)
    backtrack: float = field(0.5, 0.1, 0.9, "ω: factor between line-search trials (Eq. 7)")
    curvature: str = curvature_field()
    seed: int = field(0, 0, 2**31 - 1, "seed of permuted and random orders")

    title = "BCD (line search)"
    menu_order = 10
    monotone = True
    contract_iterations = 1000
    doc = "Block coordinate descent: one row of W at a time, with a line search."
    source = "Blondel et al. 2013, Alg. 1 and 2, Sec. 4.4.1"

    def _sweep(self, problem: Problem, state: BCDState, columns: Any, order: np.ndarray, rows: slice) -> Swept:
        factor, eps = widening(problem, self.curvature), float(np.finfo(problem.dtype).eps)
        search = LineSearch(factor, self.sigma, self.backtrack, LEAST_TRIALS, eps)  # type: ignore[call-arg]
        done: Swept = sweep_line_search(
            columns,
            order,
            state.coef[rows],
            state.Z,
            *problem.terms,
            problem.row_penalty,
            problem.lam,
            rows.start == 0,
            search,
            state.kept,
        )
        return done


@settings
class BCDConstant(_BCD):
    """Block coordinate descent with step 1/K_j (Richtárik and Takáč 2012; Blondel et al. 2013, Sec. 4.4.2)."""

    selection: str = field("random", choices=ORDERS, doc="order of the rows within an iteration")
    constants: str = field(
        "class-aware",
        choices=("class-aware", "tight", "paper"),
        doc="K_j: as printed in the paper, its tight value, or the bound that uses the classes",
    )
    greedy_batch: int = field(
        16, 1, 100_000, "rows updated between two greedy rankings (greedy selection only)", log=True
    )
    shrinking: bool = field(False, doc="leave rows out that are zero and likely to stay so, for some iterations")
    seed: int = field(0, 0, 2**31 - 1, "seed of permuted and random orders")

    title = "BCD (constant step)"
    menu_order = 15
    monotone = True
    columns = (
        *FIXED_STEP_COLUMNS,
        *SEEN_COLUMNS,
        *CURSOR_COLUMNS,
        Column("smallest_constant", "smallest K_j of a row: its steps are the longest", of_step=False),
        Column("largest_constant", "largest K_j of a row: its steps are the shortest", of_step=False),
    )
    doc = "Block coordinate descent with the step 1/K_j of each row, without line search."
    source = "Blondel et al. 2013, Sec. 4.4.2"

    def describe_steps(self, problem: Problem, state: State) -> str:
        K = problem.block_constants(self.constants)
        return f"steps 1/K_j, {self.constants} K_j from {K.min():.3g} to {K.max():.3g}"

    def step_in_parts(self, problem: Problem, state: BCDState, rows: int | None) -> Iterator[tuple[int, int]]:
        K = problem.block_constants(self.constants)
        state.smallest_constant, state.largest_constant = float(K.min()), float(K.max())
        yield from super().step_in_parts(problem, state, rows)

    def _sweep(self, problem: Problem, state: BCDState, columns: Any, order: np.ndarray, rows: slice) -> Swept:
        done: Swept = sweep_constant_step(
            columns,
            order,
            state.coef[rows],
            state.Z,
            *problem.terms,
            problem.row_penalty,
            problem.lam,
            rows.start == 0,
            problem.block_constants(self.constants)[rows],
            state.kept,
        )
        return done


def _register() -> None:
    made: dict[str, Any] = {"bcd-ls": BCD, "bcd-cst": BCDConstant}
    for name, cls in made.items():
        solvers.add(name, cls)


_register()
