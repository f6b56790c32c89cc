"""FBPD: non-smooth losses by primal–dual splitting (Chierchia et al. 2015, Alg. 1, for the Crammer–Singer hinge).

    choose W, Y, and τ, σ > 0 with τσ‖X‖² ≤ 1;   for i = 0, 1, …
        W⁺ ← prox_{τ·nλΩ}(W − τXᵀY)              b without the prox
        Ŷ  ← Y + σX(2W⁺ − W)
        Y⁺ ← prox_{σℓ*}(Ŷ)                       row by row

It solves n·F, so the rows of Y are in the domain of ℓ* and λ keeps its meaning (λ₃ of the paper is 1/(nλ)). The prox of
ℓ* is a projection: for the Crammer–Singer hinge of Ŷ_i + e_y + σr_i on the unit simplex, r = μ off the true class; for
separation ranking on the flows from a set's labels to the others (kernels/projections.py). The paper has T instead
of X, with T W = Z − Z[y]·1ᵀ. The two differ by a number added to each row of Ŷ, which the projection does not see; so
τσ‖X‖² ≤ 1 is enough, where ‖T‖² is up to m times as large.

``iterate`` is that, from the point (V, Q) to its image (W⁺, Y⁺). The paper's next point is the image; restarts and
leaps choose another one (shared/splitting.py names the files that explain them).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..kernels.splitting import dual_step
from ..problems.prediction import Problem
from ..registry import losses, solvers
from .base import settings
from .shared.primal_step import primal_step
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

    def iterate(self, problem: Problem, state: SplittingState, mixing: tuple[float, float, float]) -> float:
        moved = primal_step(problem, state, self.strength(problem), mixing)  # W ← prox_{τ·nλΩ}(V − τXᵀQ)
        W, Z, Y, VZ, Q = state.coef, state.Z, state.Y, state.VZ, state.Q
        problem.design.matmul(W, Z)
        state.passes += 2.0  # XᵀQ and XW
        sigma, anchors = state.sigma, (state.VZ0, state.Q0)

        def project(first: int, last: int, report: np.ndarray) -> None:  # Y ← prox_{σℓ*}(Q + σ(2Z − Z_V))
            dual_step(Z, VZ, Q, *problem.terms, sigma, *mixing, *anchors, Y, first, last, report)

        state.shared(project)
        return state.distance(moved)


solvers.add("fbpd", FBPD)
