"""FBPD: the exact Crammer–Singer hinge by primal–dual splitting (Chierchia et al. 2015, Alg. 1).

    W ← prox_{nλτΩ}(V − τXᵀQ),   b without the prox
    P_i ← the projection of (Q_i + e_y) + σ((2Z − Z_V)_i + r_i) on the unit simplex;   U_i = P_i − e_y
    (V, Q) ← (W, U), or what the acceleration asks for (solvers/splitting.py)

with Z = XW, Z_V = XV and r = μ off the true class. It solves n·F, so U_i is in the domain of ℓ* and λ keeps its meaning
(λ₃ of the paper is 1/(nλ)). The paper projects T(2W − V) with T W = Z − Z[y]·1ᵀ. The two differ by a number added to
each row, which the projection does not see; so τσ‖X‖² ≤ 1 is enough, where ‖T‖² is up to m times as large.
"""

from __future__ import annotations

from ..kernels.splitting import flow_step
from ..problems.prediction import Problem
from ..registry import solvers
from .base import settings
from .shared.splitting import Splitting, SplittingState


@settings
class FBPD(Splitting):
    """Two products with X and one projection of n rows a step. The gap is proved with its dual point, and closes."""

    title = "FBPD"
    menu_order = 80
    doc = "Primal–dual splitting for the exact multiclass hinge; its dual point proves the gap."
    source = "Chierchia et al. 2015, Alg. 1"

    def dual(self, problem: Problem, state: SplittingState, sigma: float, weights: tuple[float, float, float],
             t: int) -> None:
        flow_step(state.Z, state.VZ, state.Q, problem.y, problem.loss.margin, sigma, 1.0, True, *weights, state.VZ0,
                  state.Q0, state.U, state.shares[t], state.shares[t + 1], state.reports[t])


solvers.add("fbpd", FBPD)
