"""FOBOS: forward-backward splitting on one sample at a time (Duchi and Singer 2009), for non-smooth losses too.

t ← 0
repeat (outer iteration):
    repeat n times:
        t ← t + 1,  η_t ← η₀/√t
        i ← the next sample;  u ← a (sub)gradient of ℓ(·, y_i) at z_i = Wᵀx_i + b
        W ← prox_{λη_t Ω}(W − η_t x_i uᵀ),  b ← b − η_t u
    Z ← XW + 1bᵀ
The prox concerns every row of W, but a row of a feature that x_i lacks only shrinks. Such steps are made up for
when the row is needed: in one prox where they add up (MATH §7), else one after the other until the row is zero.
So a step costs O(nnz(x_i)·m).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..kernels.stochastic import FINITE, READ, REPORT, STEP, TOUCHED, Lazy, begin_sweep, bring_up, forward_backward
from ..pauses import even_parts, parts_of, pause
from ..problems.prediction import Problem
from ..registry import field, solvers
from .base import Solver, State, settings
from .shared.columns import FIXED_STEP_COLUMNS
from .shared.in_parts import PART

# Scores of entries of samples that are read between two pauses; and steps that a row lags behind at the end, where they
# have to be taken one by one, until it is zero.
AT_ONCE, LAG = PART // 2, 100.0
ORDERS = ("random", "permuted", "cyclic")


class FOBOSState(State):
    """State: the number t of steps taken, the generator of random orders, and scratch for the lazy rows."""

    def __init__(self, problem: Problem, coef: np.ndarray, seed: int) -> None:
        super().__init__(problem, coef)
        self.t = 0
        self.rng = np.random.default_rng(seed)
        n, d = problem.n, self.d
        flags = np.zeros(d, dtype=np.uint8), np.zeros(d, dtype=np.uint8)
        self.lazy = Lazy(np.zeros(n), np.zeros(n + 1), np.zeros(d, dtype=np.intp), *flags)  # type: ignore[call-arg]
        self.report = np.zeros(REPORT)


@settings
class FOBOS(Solver):
    """Stochastic proximal (sub)gradient steps with η_t = η₀/√t; an outer iteration takes n of them.

    It needs X by rows as well: a second copy of the data, made once for all problems on them. The objective does not
    fall steadily, and no step size is right for long: use :func:`sparsescope.solvers.search_eta0` to choose η₀.
    """

    eta0: float = field(3.0, 1e-6, 1e6, "η₀: the first step size, in the chosen unit", log=True)
    unit: str = field(
        "data",
        choices=("data", "one"),
        doc="unit of η₀: 1/(c·mean ‖x_i‖²), which suits data of any scale, or 1 as in the papers (with an intercept "
        "and max |x_ij| outside 1/64 to 1e6: for X divided by a power of two near it)",
    )
    order: str = field(
        "random", choices=ORDERS, doc="samples of an iteration: drawn with replacement, shuffled, or in turn"
    )
    seed: int = field(0, 0, 2**31 - 1, "seed of random and permuted orders")

    title = "FOBOS"
    menu_order = 60
    remark = "It keeps a second copy of X, by rows; `ss.solvers.search_eta0` looks for η₀ on held-out data."
    contract_settings = (
        {"order": "permuted"},
        {"order": "cyclic"},
        {"seed": 7},
        {"eta0": 1.5},
        {"unit": "one", "eta0": 0.1},
    )  # the ends of a range of step sizes are not worth a run
    doc = "One sample at a time, with step sizes η₀/√t; takes non-smooth losses."
    columns = FIXED_STEP_COLUMNS
    source = "Duchi and Singer 2009; Blondel et al. 2013, Sec. 5.2"
    takes_sample_weights = True
    converges = False
    online = True
    remedy = "choose a smaller eta0 (search_eta0 looks for a good one)"

    def refuses(self, problem: Problem) -> str | None:
        if getattr(problem.loss, "gradient", None) is None:
            return (
                f"{self.name} needs a gradient or subgradient of the loss; the {problem.loss.title} loss offers "
                "none. Choose another loss, or a solver that does not need gradients"
            )
        return self.refuses_blocks(problem)

    def start(self, problem: Problem, coef: np.ndarray) -> FOBOSState:
        return FOBOSState(problem, coef, self.seed)

    def step(self, problem: Problem, state: FOBOSState) -> None:
        design, n = problem.design, problem.n
        report, before = state.report, state.coef.copy()
        report[:] = 0.0
        report[FINITE] = 1.0
        self._sweep(problem, state, self._order(problem, state))
        if not (report[FINITE] and np.isfinite(state.coef).all()):
            state.coef[:] = before  # the state holds finite numbers
            raise FloatingPointError(
                f"{self.name} diverged in iteration {state.iteration + 1}: the step size eta0 = {self.eta0:g} is too "
                f"large for these data. Reset, and {self.remedy}"
            )
        design.matmul(state.coef, state.Z)
        state.t += n
        state.iteration += 1
        state.passes += report[READ] / design.nnz + 1.0  # the scores of all samples cost another pass
        state.working_set = max(report[TOUCHED], 1.0) + problem.intercept
        state.step_size = float(report[STEP])

    def _sweep(self, problem: Problem, state: FOBOSState, order: np.ndarray) -> None:
        """One step for each sample of an order, pausing between samples now and then."""
        samples, penalty, coef, m = problem.design.samples, problem.penalty, state.coef, problem.m
        eta0, lazy, report = self.eta0 * self._unit(problem), state.lazy, state.report
        begin_sweep(coef, penalty, problem.lam, eta0, state.t, lazy)
        pause()
        lengths = np.diff(samples.indptr)[order] if problem.design.is_sparse else np.full(order.size, problem.d)
        for first, last in parts_of(lengths * float(m), AT_ONCE):
            taken = state.t, penalty.adds_up, lazy, report
            forward_backward(samples, order, first, last, coef, *problem.terms, penalty, problem.d, eta0, *taken)
            pause()
            if not report[FINITE]:
                return
        lag = 1.0 if penalty.adds_up else LAG
        for first, last in even_parts(problem.d, lag * m, AT_ONCE):
            bring_up(coef, penalty, penalty.adds_up, lazy, first, last, report)
            pause()

    def precompile(self, tiny: Problem, problem: Problem) -> State:
        safe = replace(self, eta0=1.0, unit="data")  # an η₀ that suits the data may be too large for the tiny problem
        state = safe.start(tiny, tiny.coefficients())
        safe.step(tiny, state)
        return state

    def _order(self, problem: Problem, state: FOBOSState) -> np.ndarray:
        if self.order == "cyclic":
            return np.arange(problem.n)
        if self.order == "permuted":
            return state.rng.permutation(problem.n)
        return state.rng.integers(0, problem.n, problem.n)

    def _unit(self, problem: Problem) -> float:
        if self.unit == "data":
            return data_unit(problem)
        # Here X is c times the given one (problems/natural.py): a step η on W is one of η/c² on W/c. A step on the
        # intercept knows no units of X; with an intercept η₀ is therefore that of the problem in natural units.
        return 1.0 if problem.intercept else problem.units[0] ** -2.0


def data_unit(problem: Problem) -> float:
    """1/(c·mean ‖x_i‖²): a step size that suits a sample of mean size. A non-smooth loss has no c; it counts as 1."""
    c = problem.loss.curvature(problem.m) if problem.loss.smooth else 1.0
    size = float(problem.design.squared_norms.sum()) / problem.n + float(problem.intercept)
    return 1.0 / (c * size) if size > 0.0 else 1.0


solvers.add("fobos", FOBOS)
