"""Newton–CG for a ridge: truncated Newton steps on all of W (Lin, Weng and Keerthi 2008), preconditioned.

U_i ← ∇ℓ(z_i);  G ← XᵀU/n + λW
from zero weights on, conjugate-gradient steps on F itself while they are likely to end sooner (conjugate_opening.py)
repeat:
    D ← solution of (∇²f(W) + λI + μM) D = −G by conjugate gradients, preconditioned by M = cΣ̂ + λI:
        c ← the mean of the diagonals of ∇²ℓ(z_i);  Σ̂ ← XᵀX/n of all samples or some (its diagonal where features
        are many); until the residual is η times the first one in the norm of M⁻¹, or the
        gap that it would leave, ‖residual‖²/(2λ), is a share of the one at which the run will stop
    α ← 1, ½, ¼… until F(W + αD) ≤ F(W) + σα⟨G, D⟩;   Z + αXD are the scores of a trial, XD is known from the products
    W ← W + αD;   μ ← 1 or 4μ if α < 1, else a quarter       a model that was far off is damped; μ begins at 0
    η ← min(η₀, ‖G⁺‖/‖G‖)                               fewer products far from the optimum, a fast end
F is λ-strongly convex under a ridge, so ‖G‖²/(2λ) is the gap of the dual point ∇ℓ(Z): the solver knows when to ask.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from ..inputs.design_products import DesignProducts
from ..kernels.newton import hessian_rows, moved_loss
from ..pauses import even_parts, pause
from ..problems.base import Certificate
from ..problems.certificate import Known, certify, is_double
from ..problems.linear_algebra import inner
from ..problems.prediction import Problem
from ..registry import Column, field, solvers
from .base import Solver, State, settings
from .shared.armijo import backtrack
from .shared.columns import STEP_COLUMNS
from .shared.conjugate_opening import ConjugateSteps
from .shared.conjugate_opening import opens as steps_pay
from .shared.newton import SCORES, SINGLE_ABOVE, take_derivatives
from .shared.newton_system import NewtonSystem, is_cheap
from .shared.ridge_preconditioner import Preconditioner

MOST_TRIALS = 30
WITHIN = 0.2  # share of the gap at which the run will stop that the residual of a Newton system may leave
STRICTER = 0.3  # factor of that share after a certificate that it did not suffice for
SHORT = 0.25  # a step below this share of the Newton step is counted: the quadratic model is far off
SOLVED = 1e-13  # relative gap below which the steps say nothing about the problem
ROUNDING = 4.0  # units of the last digit of λW within which a gradient is rounding
# μ, in units of M: from the first step that the line search cuts, and what steps make of it; below the least it is 0.
FIRST_DAMPING, DAMPING_UP, DAMPING_DOWN, LEAST_DAMPING = 1.0, 4.0, 0.25, 0.03
FEWEST = 3  # classes for which a copy of X in single precision is made
LARGEST = 1e8  # absolute value of an entry of an X that is read in single precision; it is 1 over it at least
FLAT = 1e-13  # pᵀHp/pᵀMp of a direction p that the objective does not bend along, but for rounding


def in_single(problem: Problem) -> bool:
    """Return whether conjugate-gradient steps go through X in single precision: it is dense and large, and squares of
    its entries stay far from the ends of the range. With fewer classes the copy costs what the products save."""
    design = problem.design
    if design.is_sparse or problem.m < FEWEST or design.nnz <= SINGLE_ABOVE or not is_double(problem):
        return False
    return 1.0 / LARGEST <= design.magnitude <= LARGEST


class NewtonCGState(State):
    """State: loss, U = ∇ℓ(Z) and G = ∇F at the point, M, and what the last step reports.

    loss : the mean loss · A : diagonal of ∇²ℓ (n, m) · size, last_size : ‖G‖ here and at the point before
    damping : μ
    short : number of steps that the line search cut to less than a quarter · products : with the Hessian, so far; both
    only before the optimum is reached
    inner_steps : products with the Hessian in the last step
    """

    inner_steps = float("nan")

    def __init__(self, problem: Problem, coef: np.ndarray) -> None:
        super().__init__(problem, coef)
        self.U, self.A, self.bent = np.empty_like(self.Z), np.empty_like(self.Z), np.empty(problem.n, dtype=np.bool_)
        self.G = np.empty_like(coef)
        self.everybody = np.arange(problem.n)
        self.single = in_single(problem)
        self.metric: Preconditioner | None = None
        self.system: NewtonSystem | None = None
        self.opened = bool(coef[: problem.d].any())
        self.loss, self.size, self.last_size, self.strict = float("nan"), float("nan"), float("nan"), 1.0
        self.begin(problem)

    def begin(self, problem: Problem) -> None:
        """Take the derivatives of another loss, or with another λ."""
        self.loss = self.derivatives(problem, self.Z)
        self.take_gradient(problem)
        self.last_size = self.size
        self.strict, self.ready = 1.0, None
        self.short, self.products = 0, 0
        self.damping = 0.0
        self.gradient: ConjugateSteps | None = None  # while they open

    def derivatives(self, problem: Problem, Z: np.ndarray) -> float:
        """U, A and which samples are bent, of scores Z; returns the mean loss."""
        return take_derivatives(problem, Z, self.U, self.A, self.bent) / problem.n

    def loss_along(self, problem: Problem, E: np.ndarray, size: float) -> float:
        """The mean loss at the scores Z + size·E."""
        (y, loss), total = problem.terms, 0.0
        for first, last in even_parts(problem.n, problem.m, SCORES):
            total += moved_loss(self.Z[first:last], E[first:last], size, y[first:last], loss)
            pause()
        return total / problem.n

    def take_gradient(self, problem: Problem) -> None:
        """The gradient of F, of U and the weights."""
        problem.design.rmatmul(self.U, self.G)
        self.G *= problem.dtype.type(1.0 / problem.n)
        pause()
        self.G[: self.d] += problem.dtype.type(problem.lam) * self.coef[: self.d]
        self.size = math.sqrt(inner(self.G, self.G))

    def point(self, problem: Problem) -> tuple[float, float, int, int]:
        """Return loss, Ω and non-zeros; the loss is that of the last step."""
        return self.loss, *problem.regulariser.value(self.coef[: self.d])

    def objective(self, problem: Problem) -> float:
        """F of the point."""
        W = self.coef[: self.d]
        return self.loss + 0.5 * problem.lam * inner(W, W)

    def preconditioner(self, problem: Problem) -> Preconditioner:
        """M for the curvature of the losses at the point."""
        if self.metric is None:
            self.metric = Preconditioner(problem)
        self.metric.take(problem, self.A)
        return self.metric

    def products_of(self, problem: Problem) -> DesignProducts:
        """Products with X for conjugate-gradient steps: in single precision where X is dense and large."""
        return problem.single_products() if self.single else problem.design

    def factored(self, problem: Problem) -> np.ndarray | None:
        """D of the Newton system, put together and factored; ``None`` if that is too dear, or rounding forbids it."""
        if not is_cheap(problem):
            return None
        if self.system is None:
            self.system = NewtonSystem(problem)
        return self.system.direction(problem, self.Z, self.U, self.G)

    def judge(self, problem: Problem) -> None:
        """Judge whether a certificate is likely to show the gap in demand."""
        goal = self.strict * self.aim * abs(self.objective(problem))
        self.ready = bool(self.aim) and self.size**2 <= 2.0 * problem.lam * goal

    def copy(self) -> Any:
        return copy.deepcopy(self, {id(shared): shared for shared in (self.everybody, self.system)})


@settings
class NewtonCG(Solver):
    """Newton steps on all of W under a ridge, by preconditioned conjugate gradients (Lin et al. 2008).

    A step costs two products with X, and two for each conjugate-gradient step: these take less time where
    X is dense and large, of which a copy in single precision is kept. With at most a thousand features and
    enough samples Σ̂ = XᵀX/n, of all samples or of some, preconditions them: O(n·d² + d³) operations, once for the data.
    """

    cg_steps: int = field(200, 1, 10_000, "conjugate-gradient steps in one Newton step, at most", log=True)
    forcing: float = field(
        0.3, 1e-6, 0.9, "residual that a Newton system is left with, as a share, at most (η₀)", log=True
    )

    direct: bool = field(True, doc="put together and factor Newton systems that are small enough to be cheaper so")
    opening: bool = field(
        True, doc="begin with conjugate-gradient steps on the objective itself, where they are likely to end sooner"
    )
    damping: bool = field(True, doc="add a multiple of the preconditioner after a step that was cut short")

    title = "Newton–CG"
    menu_order = 135
    remark = "For every smooth loss with `ridge` that has second derivatives; two products with X for each inner step."
    doc = "Newton steps on all weights by conjugate gradients, preconditioned by the covariance of the features."
    source = "Lin, Weng and Keerthi 2008; Dembo, Eisenstat and Steihaug 1982"
    columns = (*STEP_COLUMNS, Column("inner_steps", "conjugate-gradient steps of this iteration", status="CG"))
    takes_sample_weights = True
    only_penalties = ("ridge",)
    contract_settings = (
        {},
        {"direct": False},
        {"direct": False, "cg_steps": 1},
        {"damping": False},
        {"opening": False},
        {"cg_steps": 5},
        {"forcing": 0.003},
    )

    def refuses(self, problem: Problem) -> str | None:
        reason = super().refuses(problem)
        if reason is None:
            reason = self.refuses_all_but_ridge(problem)
        if reason is None and not hasattr(problem.loss, "hessian_product"):
            reason = f"{self.name} needs second derivatives, and the {problem.loss.title} loss does not define them"
        return reason

    def start(self, problem: Problem, coef: np.ndarray) -> NewtonCGState:
        return NewtonCGState(problem, coef)

    def adapt(self, problem: Problem, state: NewtonCGState) -> None:
        state.begin(problem)

    def step(self, problem: Problem, state: NewtonCGState) -> None:
        before, lam = state.objective(problem), problem.lam
        if state.ready:  # and yet there was no stop
            state.strict *= STRICTER
        if not state.opened:
            if self._opens(problem, state):
                self._open(problem, state)
                return
            state.opened = True
        D, E = self._direction(problem, state, WITHIN * state.strict * state.aim * abs(before))
        slope = inner(state.G, D)
        step = D[: state.d]
        pause()
        along, square = inner(state.coef[: state.d], step), inner(step, step)
        # What rounding may change in a sum of n losses: a rise by less is none.
        slack = max(4.0, math.sqrt(problem.n)) * float(np.finfo(problem.dtype).eps) * abs(before)
        loss, moved = state.loss, state.Z + E

        def rise(size: float) -> float:
            pause()
            if size == 1.0:  # mostly the only trial: with the derivatives that are needed next
                state.loss = state.derivatives(problem, moved)
            else:
                state.loss = state.loss_along(problem, E, size)
            return state.loss - loss + lam * (size * along + 0.5 * size**2 * square)

        size, trials, taken = backtrack(rise, slope, slack, MOST_TRIALS if slope < 0.0 else 0)
        state.last_size = state.size
        state.trials = float(trials) if taken else float("nan")
        if taken:  # else the step size stays that of the last step
            state.step_size = size
            state.coef += problem.dtype.type(size) * D
            pause()
            if size == 1.0:
                state.Z[:] = moved
            else:
                state.Z += problem.dtype.type(size) * E
        if trials and size != 1.0:  # the derivatives are those of the first trial
            state.loss = state.derivatives(problem, state.Z)
        state.take_gradient(problem)
        pause()
        state.judge(problem)
        if taken and size == 1.0:
            state.damping *= DAMPING_DOWN if state.damping > LEAST_DAMPING else 0.0
        if state.last_size**2 > 2.0 * lam * SOLVED * abs(before):  # else rounding cuts steps short
            if taken and size < 1.0 and self.damping:
                state.damping = max(FIRST_DAMPING, DAMPING_UP * state.damping)
            state.short += taken and size < SHORT
            state.products += int(state.inner_steps)
        state.ready = state.ready or not taken
        state.working_set = float(problem.rows)
        state.passes += 2.0 + 2.0 * state.inner_steps
        state.iteration += 1

    def _opens(self, problem: Problem, state: NewtonCGState) -> bool:
        """Decide whether conjugate-gradient steps on the objective itself come first."""
        if not self.opening or not state.aim or (self.direct and is_cheap(problem)):
            return False
        return state.gradient is not None or steps_pay(problem)

    @staticmethod
    def _open(problem: Problem, state: NewtonCGState) -> None:
        """Take one of them."""
        if state.gradient is None:
            state.gradient = ConjugateSteps(problem, state)
        taken = state.gradient.advance(problem, state)
        state.last_size = state.size  # the first Newton system is left with η₀ of its residual
        state.judge(problem)
        state.opened = not (taken and (state.ready or state.gradient.goes_on()))
        if state.opened:
            state.gradient = None
        state.products += 1
        state.inner_steps = 1.0
        state.working_set = float(problem.rows)
        state.passes += 2.0
        state.iteration += 1

    def _direction(self, problem: Problem, state: NewtonCGState, goal: float) -> tuple[np.ndarray, np.ndarray]:
        """D of the Newton system, and XD; ``goal``: gap that its residual may leave."""
        if self.direct and (found := state.factored(problem)) is not None:
            state.inner_steps = 0.0
            return found, problem.design.matmul(found, np.empty_like(state.Z))
        return self._conjugate_gradients(problem, state, goal)

    def _conjugate_gradients(
        self, problem: Problem, state: NewtonCGState, goal: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same by conjugate gradients. In single precision they solve for D/‖G‖, and XD is made anew."""
        n, d, lam, products = problem.n, state.d, problem.lam, state.products_of(problem)
        number, size = products.dtype.type, state.size if state.single and state.size else 1.0
        metric = state.preconditioner(problem)
        R = (state.G * problem.dtype.type(-1.0 / size)).astype(products.dtype, copy=False)
        # A loss of differences of scores does not see all intercepts move alike: what rounding leaves there has no
        # curvature to stand against, and the steps keep out of that direction.
        level = problem.intercept and problem.loss.of_differences

        def levelled(V: np.ndarray) -> np.ndarray:
            pause()
            if level:
                V[d] -= V[d].mean()
            return V

        M = levelled(metric.solve(levelled(R)))
        damping, MP = state.damping, R.copy()  # MP = M·P, of the same sums as P
        pause()
        P, D, E = M.copy(), np.zeros_like(R), np.zeros_like(state.Z)
        Q, S, T = np.empty_like(R), np.empty_like(E, dtype=R.dtype), np.empty_like(E, dtype=R.dtype)
        first, forcing = inner(R, M), min(self.forcing, state.size / state.last_size)
        eps, W = float(np.finfo(problem.dtype).eps), state.coef[:d]
        wanted = state.size > ROUNDING * eps * lam * math.sqrt(inner(W, W))  # else G is what XᵀU/n and λW leave
        steps, rho = 0, first
        while wanted and steps < self.cg_steps and rho > 0.0:
            pause()
            products.matmul(P, S)
            T[:] = S
            for start, stop in even_parts(n, problem.m, SCORES):
                hessian_rows(state.everybody[start:stop], state.Z, state.U, *problem.terms, 1.0, T[start:stop])
                pause()
            products.rmatmul(T, Q)
            Q *= number(1.0 / n)
            Q[:d] += number(lam) * P[:d]
            if damping:
                Q += number(damping) * MP
            levelled(Q)
            steps += 1
            curve = inner(P, Q)
            if curve <= FLAT * rho:
                break
            alpha = number(rho / curve)
            D += alpha * P
            if not state.single:
                E += alpha * S
            pause()
            R -= alpha * Q
            M = levelled(metric.solve(R))
            old, rho = rho, inner(R, M)
            if rho <= forcing**2 * first or (not damping and size**2 * inner(R, R) <= 2.0 * lam * goal):
                break
            P *= number(rho / old)
            P += M
            if damping:
                MP *= number(rho / old)
                MP += R
        state.inner_steps = float(steps)
        if state.single:
            D = size * D.astype(problem.dtype)
            problem.design.matmul(D, E)
        return D, E

    def variant(self, problem: Problem) -> bool:
        return in_single(problem)

    def precompile(self, tiny: Problem, problem: Problem) -> State:
        state = super().precompile(tiny, problem)
        assert isinstance(state, NewtonCGState)
        state.loss_along(tiny, np.zeros_like(state.Z), 0.5)  # the tiny problem's first step may need no second trial
        if self.opening:
            ConjugateSteps(tiny, state).advance(tiny, state)
        if in_single(problem):
            state.single = True
            self._conjugate_gradients(tiny, state, 0.0)
        return state

    def certificate(self, problem: Problem, state: NewtonCGState, work: Any) -> Certificate:
        if not is_double(problem):
            return super().certificate(problem, state, work)
        pulled = state.G[: state.d] - problem.lam * state.coef[: state.d]
        return certify(problem, state.coef, state.Z, work, known=Known(state.loss, state.U, pulled, 1.0))


solvers.add("newton-cg", NewtonCG)
