"""LHAC for sparse inverse covariances: a low-rank model over a greedy working set (Tang and Scheinberg 2013, Sec. 4.2).

repeat for each component of the problem:
    Σ ← Θ⁻¹;  G ← S − Σ;  v ← violations of all entries
    I ← support of Θ ∪ the entries of largest violation                            (the working set, from below)
    B ← γI − QRQᵀ from the last pairs of a move of Θ and the change of G           (low_rank.py)
    D ← sweeps of coordinate descent over I on tr(GD) + ½⟨D, BD⟩ + ΣλC|Θ + D|: O(memory) a step, whatever p is
    Θ ← Θ + αD by Armijo's rule, with a Cholesky factor a trial
Vectors hold the entries on and below the diagonal, those off it times √2: their inner product is ⟨A, B⟩ = tr(AB).
"""

from __future__ import annotations

import math

import numpy as np

from ..registry import field, solvers
from .base import settings
from .lhac import SOLVED
from .shared.inverse_covariance import Block, CovarianceSolver
from .shared.low_rank import LowRankHessian, largest_violations, sweep_model


class Memory:
    """Memory of LHAC for a component: positions (rows ≥ columns) of the vectors' entries, their scale, the model."""

    def __init__(self, block: Block, memory: int) -> None:
        k = block.at.size
        self.rows, self.columns = np.tril_indices(k)
        self.scale = np.where(self.rows == self.columns, 1.0, math.sqrt(2.0))
        # The largest curvature of the model at a diagonal Θ; the paper's 1 ignores the units of S.
        self.model = LowRankHessian(self.rows.size, memory, float(np.diag(block.Sigma).max()) ** 2)

    def vector(self, A: np.ndarray) -> np.ndarray:
        """The vector of a symmetric A (k, k)."""
        return A[self.rows, self.columns] * self.scale


@settings
class LHACCovariance(CovarianceSolver):
    """Low-rank quasi-Newton steps for a sparse inverse covariance, over the support and the most violated entries."""

    memory: int = field(10, 1, 50, "pairs that the model of the Hessian is made of")
    greed: float = field(0.5, 0.02, 1.0, "share of the violated entries that join the support in the working set")
    sweeps: int = field(10, 1, 100, "sweeps over the model in one iteration, at most", log=True)
    damping: bool = field(True, doc="damp pairs without curvature, instead of leaving them out")

    title = "LHAC for covariances"
    menu_order = 180
    remark = "For covariance problems."
    doc = "Coordinate descent on a low-rank model of the Hessian, over the entries in use and the most violated ones."
    source = "Tang and Scheinberg 2013, Alg. 2.1 and Sec. 4.2"

    def move(self, block: Block, report: np.ndarray) -> tuple[float, int]:
        if block.memory is None:
            block.memory = Memory(block, self.memory)
        kept = block.memory
        theta, violation = kept.vector(block.Theta), kept.vector(block.violation)
        used = theta != 0.0
        used[largest_violations(np.where(used, 0.0, violation), self.greed)] = True
        at = np.flatnonzero(used)
        rows, columns, scale = kept.rows[at], kept.columns[at], kept.scale[at]
        block.works_on(columns, rows)
        Q, Qhat, diagonal = kept.model.rows(at)
        w, g = theta[at], block.G[rows, columns] * scale
        moved = w.copy()
        sweep_model(
            Q,
            Qhat,
            kept.model.gamma,
            diagonal,
            g,
            w,
            block.Lam[rows, columns] * scale,
            np.zeros(at.size),
            moved,
            self.sweeps,
            SOLVED,
            report,
        )
        new = block.Theta.copy()
        new[rows, columns] = new[columns, rows] = moved / scale
        before = block.G
        size, trials = block.descend(new)
        if size > 0.0:
            kept.model.learn(kept.vector(block.Theta) - theta, kept.vector(block.G - before), self.damping)
        return size, trials


solvers.add("lhac-covariance", LHACCovariance)
