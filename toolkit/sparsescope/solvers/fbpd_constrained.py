"""FBPD with a budget on the hinge instead of λ (Chierchia et al. 2015, Alg. 2), and without its slack variables.

    minimise Ω(W) over all W (and b) whose mean hinge is at most η

``slacks="none"``: the budget has one multiplier t, and the dual rows U_i lie in t·(Δ − e_y), Δ the unit simplex:
    W ← prox_{τΩ}(V − τXᵀQ)
    Û ← Q + σ(2Z − Z_V + r);   (U, t) ← argmin Σ_i ½‖U_i − Û_i‖² + σnη·t over U_i ∈ t·(Δ − e_y), t ≥ 0
The second line is a search for t: the derivative of the sum in t is convex, falling and piecewise linear, so Newton's
method from the last t ends after two or three evaluations of the rows. It is this project's; τσ‖X‖² ≤ 1 as in ``fbpd``.

``slacks="each"``: the paper's epigraphical projection, with one ζ_i a sample:
        max_r((T W)_ir + r_ir) ≤ ζ_i for all i,   Σζ ≤ nη,   T W = Z − Z[y]·1ᵀ
    W ← prox_{τΩ}(V − τTᵀY),   ζ ← the projection of ζ_V − τ'ξ on {Σζ ≤ nη}
    Ŷ ← Y + σT(2W − V),   ξ̂ ← ξ + σ'(2ζ − ζ_V)
    (Y, ξ) ← what the projection of (Ŷ/σ, ξ̂/σ') on the epigraphs takes away, times (σ, σ')
    the next point is the image, or the point of the acceleration (shared/splitting.py)

The paper has τ' = τ and σ' = σ with τσ·max(‖T‖², 1) ≤ 1 (``steps="paper"``). As W and ζ meet the dual variables in
separate blocks, τσ‖T‖² ≤ 1 and τ'σ' ≤ 1 are enough: σ' starts at σ with τ' = 1/σ', so that ζ moves ‖T‖² times as
fast, and moves at restarts towards ‖ξ − ξ₀‖/‖ζ − ζ₀‖ (``steps="adaptive"``).
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..kernels.splitting import Mixed, budget_ahead, budget_gain, epigraph_step, flow_step, hinge_rows
from ..problems.base import Certificate
from ..problems.certificate import Workspace
from ..problems.prediction import Problem
from ..registry import Column, field, solvers
from .base import settings
from .shared.budget import Known, certify_budget, first_suspicion, keep_budget
from .shared.columns import DUAL_COLUMNS, FIXED_STEP_COLUMNS
from .shared.primal_step import primal_step
from .shared.splitting import Splitting, SplittingState

SAME, TINY = 1e-12, 1e-300  # t is found when it moves by less than this share; below TINY it is 0
LOOKS = 50  # at the rows, in one search for t: two or three are usual
MOST_APART = 30.0  # bound of the ratio of σ' and σ, either way


class BudgetState(SplittingState):
    """State with one ζ_i a sample, and the row sums ``sums`` = −ξ of the dual rows (Q, Y are the TᵀY of the paper).

    slope : σ' · guess : the first level · level : the dual value of the budget, t; 1/(nt) is the λ with the same
        solution · known : see budget.py
    """

    of_samples: ClassVar[tuple[str, ...]] = ("Y", "zeta", "sums", "level", "guess")

    def __init__(self, problem: Problem, coef: np.ndarray, threads: int, anchored: bool) -> None:
        super().__init__(problem, coef, threads, anchored)
        self.zeta, self.sums = np.empty(problem.n, problem.dtype), np.zeros(problem.n, problem.dtype)
        self.zetaV, self.q = np.empty_like(self.zeta), np.empty_like(self.sums)
        self.zeta0, self.q0 = (np.empty_like(self.zeta), np.empty_like(self.sums)) if anchored else (self.zetaV, self.q)
        self.level = self.guess = self.slope = 0.0
        self.suspicion = math.inf
        self.known = Known()

    def triples(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        return [*super().triples(), (self.zeta, self.zetaV, self.zeta0), (self.sums, self.q, self.q0)]

    def mass(self, problem: Problem) -> float:
        return self.level

    def dual_rows(self, U: np.ndarray) -> bool:
        flows = -self.Y.min(axis=1, keepdims=True)  # their sum off the true class stands on it, with a minus
        np.divide(self.Y, np.maximum(flows, max(self.level, 1e-300)), out=U)
        return True


@settings
class Budgeted(Splitting):
    """Base of the methods with a budget on the loss, with the paper's steps: a slack variable ζ_i for each sample."""

    eta: float = field(
        0.5,
        0.0,
        10.0,
        "η: the largest mean hinge a sample that is allowed (α of the paper); W = 0 keeps one of μ and more",
        log=True,
    )

    follows_lam = False
    columns = (
        *FIXED_STEP_COLUMNS,
        *DUAL_COLUMNS,
        Column(
            "excess",
            "violation of the budget η on the mean hinge, 0 if it is satisfied",
            of_step=False,
            status="over budget",
        ),
        Column(
            "equivalent_lam",
            "λ of the problem without a budget that has the same solution, by the dual point",
            of_step=False,
        ),
    )
    contract_settings = (*Splitting.contract_settings, {"eta": 0.35})
    # The multiplier of the budget is free to swing: what it does in the first, very short epochs would make the dual
    # steps far too long, and it would stay at zero for a long time afterwards.
    telling = 5
    remedy = "choose a larger eta, another balance of the steps or another solver"

    @property
    def explicit(self) -> bool:
        """True if there is a slack variable for each sample."""
        return True

    def make_state(self, problem: Problem, coef: np.ndarray) -> BudgetState:
        state = self.new_state(problem, coef)
        margin = problem.loss.margin
        # The λ with the same solution is λ_max for η = μ; a guess for smaller budgets is enough to set the scale.
        unit = self.unit(problem)
        state.level = state.guess = 1.0 / (problem.n * unit * min(max(self.eta / margin, 0.01), 1.0))
        state.suspicion = first_suspicion(problem, unit)
        if not self.restricts(problem):
            self.set_steps(problem, state)
        return state

    def new_state(self, problem: Problem, coef: np.ndarray) -> BudgetState:
        """Make the arrays of a state.

        Parameters
        ----------
        problem
            the problem.
        coef
            coefficients (rows, m); the state may keep the array.

        Returns
        -------
        BudgetState
            the state.
        """
        return BudgetState(problem, coef, self.count(), self.acceleration != "none")

    def unit(self, problem: Problem) -> float:
        """Return the scale of λ on these data (1 where there is none: every λ gives W = 0).

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        float
            the scale.
        """
        try:
            return problem.lam_reference
        except ValueError:
            return 1.0

    def start_dual(self, problem: Problem, state: Any) -> None:
        super().start_dual(problem, state)
        self.scale_dual(problem, state)

    def scale_dual(self, problem: Problem, state: BudgetState) -> None:
        """Scale dual rows in the domain of ℓ* by the budget's multiplier, and project ζ to the hinges within η.

        Parameters
        ----------
        problem
            the problem.
        state
            the state, changed in place.
        """
        state.Y *= problem.dtype.type(state.level)
        state.sums[:] = state.level
        state.zeta[:] = self.hinges(problem, state)
        state.zeta -= max(float(state.zeta.mean(dtype=np.float64)) - self.eta, 0.0)

    def hinges(self, problem: Problem, state: BudgetState) -> np.ndarray:
        """Evaluate the hinge of every sample at the state's weights.

        Parameters
        ----------
        problem
            the problem.
        state
            the state.

        Returns
        -------
        np.ndarray
            the hinges (n,).
        """
        rows = np.empty(problem.n)
        hinge_rows(state.Z, problem.y, problem.loss.margin, rows)
        return rows

    def set_steps(self, problem: Problem, state: Any) -> None:
        paper = self.steps == "paper"
        norm = self.coupling(problem, state, differences=self.explicit or paper)
        state.norm = max(norm, 1.0) if paper and self.explicit else max(norm, 1e-150)
        level = state.level if state.level > 0.0 else state.guess
        state.weight = self.balance * (1.0 if paper else state.norm * level / problem.loss.margin)
        state.slope = state.weight / state.norm

    def carry(self, problem: Problem, old: SplittingState, new: Any) -> None:
        super().carry(problem, old, new)
        new.level = old.mass(problem)
        self.scale_dual(problem, new)
        if isinstance(old, BudgetState):
            new.sums[:], new.Y[:], new.known = old.sums, old.Y, old.known
            if type(old) is type(new):
                new.zeta[:] = old.zeta

    def strength(self, problem: Problem) -> float:
        return 1.0

    def precompile(self, tiny: Problem, problem: Problem) -> Any:
        state: Any = super().precompile(tiny, problem)
        state.suspicion = math.inf  # a budget that is right for the data may be out of reach on the tiny problem
        return state

    def iterate(self, problem: Problem, state: Any, mixing: tuple[float, float, float]) -> float:
        # Alg. 2, with a slack variable for each sample
        tau, sigma = state.tau, state.sigma
        inner = tau if self.steps == "paper" else 1.0 / state.slope  # τ'
        # ζ ← the projection of ζ_V − τ'ξ on {Σζ ≤ nη}
        np.multiply(state.q, problem.dtype.type(inner), out=state.zeta)
        state.zeta += state.zetaV
        over = max(float(state.zeta.mean(dtype=np.float64)) - self.eta, 0.0)
        state.zeta -= problem.dtype.type(over)
        state.level = over / inner if over > 0.0 else float(state.sums.mean(dtype=np.float64))
        slack = float(((state.zeta - state.zetaV) ** 2).sum(dtype=np.float64)) * tau / inner
        moved = slack + primal_step(problem, state, self.strength(problem), mixing)  # W ← prox_{τΩ}(V − τTᵀY)
        problem.design.matmul(state.coef, state.Z)
        state.passes += 2.0

        def project(first: int, last: int, report: np.ndarray) -> None:  # (Y, ξ): what the epigraphs take away
            epigraph_step(
                Mixed(state.Z, state.VZ, state.VZ0),  # type: ignore[call-arg]
                Mixed(state.zeta, state.zetaV, state.zeta0),  # type: ignore[call-arg]
                Mixed(state.Y, state.Q, state.Q0),  # type: ignore[call-arg]
                Mixed(state.sums, state.q, state.q0),  # type: ignore[call-arg]
                *(problem.y, problem.loss.margin, sigma, state.slope / sigma),
                *mixing,
                *(first, last, report),
            )

        state.shared(project)
        found: float = state.distance(moved)
        return found

    def leaps(self, problem: Problem) -> bool:
        return not self.explicit and super().leaps(problem)  # slack variables are further parts of the point

    def restart(self, state: Any) -> None:
        primal, dual = float(np.linalg.norm(state.zeta - state.zeta0)), float(np.linalg.norm(state.sums - state.q0))
        if self.steps == "adaptive" and primal > 0.0 and dual > 0.0:
            state.slope = math.sqrt(state.slope * dual / primal)
        super().restart(state)
        sigma = state.weight / state.norm
        state.slope = min(max(state.slope, sigma / MOST_APART), sigma * MOST_APART)

    # ------------------------------------------------------------------------------------------------ what is reported
    def value(self, problem: Problem, loss: float, penalty: float) -> float:
        return penalty

    def target(self, problem: Problem) -> tuple[Any, ...]:
        return ("budget", repr(problem.loss), repr(problem.penalty), self.eta)

    def certificate(self, problem: Problem, state: Any, work: Workspace) -> Certificate:
        return certify_budget(problem, state, self.eta, work)

    def conclude(self, problem: Problem, state: Any) -> bool:
        return keep_budget(problem, state, self.eta)


@settings
class FBPDConstrained(Budgeted):
    """FBPD for the problem that minimises the penalty with the mean hinge at most ``eta`` (Chierchia et al. 2015).

    λ has no effect. Events carry the λ with the same solution, and the amount by which the iterates still violate the
    constraint; the weights at the end of a run satisfy it. With eta = 0 every sample has to be classified with the
    whole margin.
    """

    slacks: str = field(
        "none",
        choices=("none", "each"),
        doc="one multiplier for the budget, or the paper's slack variable for each sample",
    )

    title = "FBPD with a budget"
    menu_order = 90
    remark = (
        "With one multiplier for the budget or by the paper's epigraphical projection; a budget out of reach "
        "is explained (`ss.solvers.smallest_hinge` computes what can be reached)."
    )
    doc = "The smallest penalty whose mean hinge keeps a budget η."
    source = "Chierchia et al. 2015, Alg. 2"

    @property
    def explicit(self) -> bool:
        return self.slacks == "each"

    def iterate(self, problem: Problem, state: Any, mixing: tuple[float, float, float]) -> float:
        if self.explicit:
            return super().iterate(problem, state, mixing)
        moved = primal_step(problem, state, self.strength(problem), mixing)  # W ← prox_{τΩ}(V − τXᵀQ)
        problem.design.matmul(state.coef, state.Z)
        state.passes += 2.0
        sigma, y, margin = state.sigma, problem.y, problem.loss.margin
        rows = state.Z, state.VZ, state.Q
        # Ŷ ← Q + σ(2Z − Z_V + r), and the t of the best (Y, t)
        state.shared(lambda first, last, _: budget_ahead(*rows, y, margin, sigma, state.Y, first, last))
        state.level = self.price(problem, state, sigma * problem.n * self.eta)
        state.sums[:] = state.level

        def project(first: int, last: int, report: np.ndarray) -> None:  # Y ← Ŷ on t·(Δ − e_y), row by row
            flow_step(*rows, y, state.level, *mixing, state.VZ0, state.Q0, state.Y, first, last, report)

        state.shared(project)
        found: float = state.distance(moved)
        return found

    def price(self, problem: Problem, state: BudgetState, target: float) -> float:
        """Return the t ≥ 0 at which the sum of squares falls by ``target`` per unit of t, starting at the last t.

        Parameters
        ----------
        problem
            the problem.
        state
            the state.
        target
            the decrease per unit.

        Returns
        -------
        float
            t.
        """
        mass = state.level
        for _ in range(LOOKS):
            gain, slope = self.gain(problem, state, mass)
            if slope > 0.0:
                new = max(mass + (gain - target) / slope, 0.0)
            elif mass > TINY and target > 0.0:  # no sample sends all of t away: it is too large
                new = 0.5 * mass
            else:
                return mass if target == 0.0 else 0.0
            if abs(new - mass) <= SAME * new:
                return new
            mass = new
        return mass

    def gain(self, problem: Problem, state: BudgetState, mass: float) -> tuple[float, float]:
        """Return the decrease of the sum of squares per unit of t, and its derivative, at t = ``mass``.

        Parameters
        ----------
        problem
            the problem.
        state
            the state.
        mass
            t.

        Returns
        -------
        tuple[float, float]
            the decrease and its derivative.
        """
        parts = state.shared(lambda first, last, _: budget_gain(state.Y, problem.y, mass, first, last))
        return sum(gain for gain, _ in parts), sum(slope for _, slope in parts)


solvers.add("fbpd-constrained", FBPDConstrained)
