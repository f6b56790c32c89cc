"""SSNAL: semismooth Newton steps on augmented Lagrangians (Li, Sun and Toh 2018), for smooth and non-smooth losses.

    repeat:
        Newton steps on φ(W, b), the augmented Lagrangian with multipliers (U, P) of ζ = XW + 1bᵀ and V = W
            until its gradient is small against what the multipliers would move
        U ← prox_{σℓ*}(U + σ(XW + 1bᵀ)),  P ← P + ρ(W − V),  V = prox_{nλΩ/ρ}(W + P/ρ)
        σ, ρ grow while the steps are few, and shrink where they were many

Both terms of the objective stand behind their envelopes, so φ is smooth and every step is a linear system; the pieces
that U and V lie on enter as projections (solvers/shared/augmented.py). A smooth loss stands there as it is: then U is
its gradient, and only P is a multiplier. The weights shown are V, which comes out of a prox; the gap is proved with U,
for smooth losses with their gradients at V. One outer iteration is one Newton step. With many features, the steps are
those of the problem on the ones that matter (solvers/shared/restriction.py).

Smooth losses with small systems (few samples or few features) take the method of the paper itself: proximal points W,
each found by Newton steps on its dual, whose systems have the size of the pieces in use (shared/proximal_point.py).
Hinges with few samples and many weights take Newton steps along the central path instead (shared/interior_point.py):
there the pieces of U and of V change together for long, and steps on one of them know nothing of the other. Where
rounding ends these (at λ_max, say, where the smallest slack of a solution is zero, and so is its dual), the Lagrangian
goes on from their point, if its system is small enough.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from ..kernels.rows import loss_gradient
from ..kernels.splitting import hinge_facts, smoothed_duals
from ..pauses import pause
from ..problems.base import Certificate
from ..problems.certificate import certify
from ..problems.prediction import Problem
from ..registry import Column, field, solvers
from .base import Solver, State, settings
from .shared.augmented import Lagrangian
from .shared.columns import DUAL_COLUMNS, STEP_COLUMNS
from .shared.interior_point import InteriorPoint
from .shared.interior_point import suits as takes_interior_points
from .shared.pieces import has_derivatives
from .shared.proximal_point import ProximalPoint, suits
from .shared.restriction import Restriction, choose, worthwhile
from .shared.splitting import ACTIVE

MOST_WEIGHTS = 3000  # rows of W by classes that a factored system may have
FEW, SMALL = 200, 1000  # features and weights up to which a system of all weights is cheap to factor
MOST_CURVATURES = 30_000_000  # samples by classes squared


def is_small(problem: Problem) -> bool:
    """Return whether a system of all weights is cheap to factor."""
    return problem.d < FEW and problem.rows * problem.m <= SMALL


class AugmentedState(State):
    """State: ``core`` the Lagrangian of the problem on some features (``part``; ``None``: on all), U the dual rows."""

    def __init__(self, problem: Problem, coef: np.ndarray, U: np.ndarray) -> None:
        super().__init__(problem, coef)
        self.U = U
        self.smooth = bool(problem.loss.smooth)
        self.core: Lagrangian | ProximalPoint | InteriorPoint | None = None
        self.part: Restriction | None = None
        self.choices = 0

    def dual_rows(self, U: np.ndarray) -> bool:
        if self.smooth:  # its gradients at the weights shown prove the gap
            return False
        U[:] = self.U
        return True

    def dual_facts(self, problem: Problem) -> dict[str, float]:
        if self.smooth:
            return {}
        slack = ACTIVE * problem.loss.margin
        _, active, entries = hinge_facts(self.Z, self.U, problem.y, problem.loss, slack)
        return {"active_share": active / problem.n, "dual_entries": entries / problem.n}


@settings
class SSNAL(Solver):
    """Semismooth Newton method on augmented Lagrangians, for high accuracy.

    Its steps are few and expensive: each factors a system of all active weights.
    """

    inner: int = field(30, 2, 1000, "Newton steps at most until the multipliers move", log=True)

    title = "SSNAL"
    menu_order = 85
    doc = "Semismooth Newton steps on augmented Lagrangians, for few weights: high accuracy in few steps."
    source = "Li, Sun and Toh 2018 (the lasso); for these losses and penalties: this project"
    takes_blocks = splits = True
    takes_weights = takes_sample_weights = takes_feature_weights = True
    contract_settings = ({"inner": 6},)
    remedy = "choose a larger λ or another solver"
    columns: ClassVar[tuple[Column, ...]] = (*STEP_COLUMNS, *DUAL_COLUMNS)

    def refuses(self, problem: Problem) -> str | None:
        needed, what = (
            ("hessian_product", "second derivatives")
            if problem.loss.smooth
            else ("along_face", "derivatives of a prox")
        )
        if not hasattr(problem.loss, needed):
            smooth = "smooth" if problem.loss.smooth else "not smooth"
            return (
                f"{self.name} needs {needed} of a loss that is {smooth} ({what}), which the {problem.loss.title} loss "
                "does not define. Choose another loss, or another solver, such as auto"
            )
        if problem.regulariser.weights is None and not has_derivatives(problem):
            return (
                f"{self.name} needs the second derivatives of the penalty, which {problem.penalty.title} does "
                "not define; choose another penalty or solver"
            )
        if problem.n * problem.m**2 > MOST_CURVATURES or (
            problem.rows * problem.m > MOST_WEIGHTS
            and not (worthwhile(problem) or suits(problem) or takes_interior_points(problem))
        ):
            return (
                f"{self.name} factors a system of all weights, at most {MOST_WEIGHTS}, and keeps n·m² numbers; the "
                f"problem ({problem.loss.title}: n = {problem.n}, d = {problem.d}, m = {problem.m}) is too large. "
                "fbpd takes it"
            )
        return None

    def start(self, problem: Problem, coef: np.ndarray) -> AugmentedState:
        U = np.empty((problem.n, problem.m), problem.dtype)
        state = AugmentedState(problem, coef, U)
        self._begin_duals(problem, state)
        return state

    def _begin_duals(self, problem: Problem, state: AugmentedState) -> None:
        """Dual rows that belong to the weights: the gradients of a smooth loss, those of a smoothed hinge."""
        if problem.loss.smooth:
            loss_gradient(state.Z, *problem.terms, state.U)
        elif state.coef[: problem.d].any():
            smoothed_duals(state.Z, *problem.terms, 1.0 / problem.loss.margin, state.U)
        else:
            state.U[:] = problem.null_duals

    def warm_start_from(self, problem: Problem, state: State) -> AugmentedState:
        taken = super().warm_start_from(problem, state)
        assert isinstance(taken, AugmentedState)
        if not taken.smooth:
            state.dual_rows(taken.U)
        return taken

    def adapt(self, problem: Problem, state: AugmentedState) -> None:
        state.core = state.part = state.working = state.ready = None
        state.choices = 0
        smooth = bool(problem.loss.smooth)
        if smooth or smooth != state.smooth:  # between hinges the dual rows go on
            state.smooth = smooth
            self._begin_duals(problem, state)

    def step(self, problem: Problem, state: AugmentedState) -> None:
        if state.core is None:
            self._choose(problem, state)
        core = state.core
        assert core is not None
        moved = core.step(self.inner)
        self._show(problem, state)
        state.iteration += 1
        state.trials, state.step_size = float(core.trials), core.size
        state.passes += (4.0 + core.trials) * core.problem.design.nnz / max(problem.design.nnz, 1)
        state.working_set = float(core.problem.rows)
        if isinstance(core, InteriorPoint):
            state.ready = bool(
                core.reached / problem.n - core.proved <= state.aim * problem.scale(core.reached / problem.n)
            )
            if core.at_its_end and problem.rows * problem.m <= MOST_WEIGHTS:
                state.core, state.ready = Lagrangian(problem, state.coef, state.U), None
        elif moved and worthwhile(problem) and isinstance(core, Lagrangian):
            self._choose(problem, state)

    def _choose(self, problem: Problem, state: AugmentedState) -> None:
        """The features to work on, and the Lagrangian on them."""
        if suits(problem):
            state.core = ProximalPoint(problem, state.coef)
            return
        if takes_interior_points(problem):
            state.core = InteriorPoint(problem, state.coef, state.U)
            return
        part = None
        if worthwhile(problem):
            part = choose(problem, state.U, state.coef, problem.n * problem.lam, state.part, state.choices)
            state.choices += 1
        if state.core is not None and part is state.part:
            return
        assert state.core is None or isinstance(state.core, Lagrangian)
        pause()
        old, state.part = state.core, part
        state.working = None if part is None else part.flags.astype(np.uint8)
        W = state.coef if part is None else state.coef[part.coef_rows]
        state.core = Lagrangian(problem if part is None else part.problem, W, state.U)
        if old is not None:
            state.core.resume(old)

    def certificate(self, problem: Problem, state: AugmentedState, work: Any) -> Certificate:
        core, proved = state.core, -np.inf
        if isinstance(core, ProximalPoint):
            # U = ∇ℓ(Z) at the scores of the dual problem, which rounding in the weights does not reach.
            proved = certify(problem, state.coef, core.Z, work).dual
        found = super().certificate(problem, state, work)
        if not proved > found.dual:
            return found
        gap = found.objective - proved
        return dataclasses.replace(found, dual=proved, gap=gap, relative_gap=gap / problem.scale(found.objective))

    @staticmethod
    def _show(problem: Problem, state: AugmentedState) -> None:
        """Weights, scores and dual rows of the state: those of the Lagrangian's last point."""
        core, part = state.core, state.part
        assert core is not None
        rows = slice(0, problem.rows) if part is None else part.coef_rows
        if part is not None:
            state.coef[: problem.d] = 0.0
        state.coef[rows] = core.shown
        state.U[:] = core.Un
        problem.design.matmul(state.coef, state.Z)


solvers.add("ssnal", SSNAL)
