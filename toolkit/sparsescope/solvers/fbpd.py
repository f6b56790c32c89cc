"""FBPD: non-smooth losses by primal–dual splitting (Chierchia et al. 2015, Alg. 1, for the Crammer–Singer hinge).

    W ← prox_{nλτΩ}(V − τXᵀQ),   b without the prox
    U_i ← prox_{σℓ*}(Q_i + σ(2Z − Z_V)_i)
    (V, Q) ← (W, U), or the point of the acceleration (solvers/shared/splitting.py)

with Z = XW, Z_V = XV. It solves n·F, so U_i is in the domain of ℓ* and λ keeps its meaning (λ₃ of the paper is 1/(nλ)).
The prox of ℓ* is a projection: for the Crammer–Singer hinge of Q_i + e_y + σ((2Z − Z_V)_i + r_i) on the unit simplex,
r = μ off the true class; for separation ranking on the flows from a set's labels to the others
(kernels/projections.py). The paper projects T(2W − V) with T W = Z − Z[y]·1ᵀ. The two differ by a number added to each
row, which the projection does not see; so τσ‖X‖² ≤ 1 is enough, where ‖T‖² is up to m times as large.
"""

from __future__ import annotations

from typing import ClassVar

from ..kernels.splitting import dual_step
from ..problems.prediction import Problem
from ..registry import losses, solvers
from .base import settings
from .shared.splitting import Splitting, SplittingState


@settings
class FBPD(Splitting):
    """Forward-backward primal-dual splitting (Chierchia et al. 2015, Alg. 1), certified with its dual point.

    A step costs two products with X and one projection of n rows.
    """

    title = "FBPD"
    menu_order = 80
    doc = "Primal–dual splitting for exact hinges, of classes and of label sets; its dual point proves the gap."
    source = "Chierchia et al. 2015, Alg. 1; its projection for label sets is this project's"
    losses: ClassVar[tuple[str, ...]] = ("crammer-singer", "separation-ranking")
    takes_sample_weights = takes_feature_weights = True

    def refuses(self, problem: Problem) -> str | None:
        if not hasattr(problem.loss, "prox_conjugate"):
            fitting = [name for name in losses if hasattr(losses[name], "prox_conjugate")]
            return (
                f"{self.name} needs the prox of the conjugate of the loss (prox_conjugate): {', '.join(fitting)} "
                f"define it, the {problem.loss.title} loss does not; choose one of these, or another solver, "
                "such as auto"
            )
        return None

    def dual(
        self, problem: Problem, state: SplittingState, sigma: float, weights: tuple[float, float, float], t: int
    ) -> None:
        dual_step(
            state.Z,
            state.VZ,
            state.Q,
            *problem.terms,
            sigma,
            *weights,
            state.VZ0,
            state.Q0,
            state.U,
            state.shares[t],
            state.shares[t + 1],
            state.reports[t],
        )


solvers.add("fbpd", FBPD)
