"""QUIC: Newton steps on the entries in use and the violated ones (Hsieh, Sustik, Dhillon and Ravikumar 2011).

repeat for each component of the problem (those of few features together):
    Σ ← Θ⁻¹;  G ← S − Σ
    free ← entries with Θ_ij ≠ 0 or |G_ij| > λC_ij                                 (the working set, from above)
    D ← sweeps of coordinate descent over the free entries on tr(GD) + ½tr(ΣDΣD) + ΣλC|Θ + D|:
        a = Σ_ij² + Σ_iiΣ_jj (Σ_ii² on the diagonal), b = G_ij + σ_iᵀDσ_j, c = Θ_ij + D_ij,
        D_ij ← D_ij − c + S(c − b/a, λC_ij/a);  DΣ is kept up to date: O(p) a step
    Θ ← Θ + αD by Armijo's rule; a Cholesky factor exists exactly where Θ + αD is positive definite
Iteration k makes at most 1 + k/2 sweeps, because far from the solution few are enough, and fewer once the model is
solved to a tenth of its violation. Columns come in random order, and so do the entries of a column: the order of the
columns stalls where S is ill-conditioned.

Two additions of this project. Σ and DΣ are in single precision, half the memory to read, and in double precision on a
component once a direction did not lead down. With cg_steps, sweeps that did not solve the model and hardly changed
which entries are in use are followed by conjugate gradients on these, up to the first change of a sign.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..kernels.coordinates import SEED, SWEEPS, walk
from ..kernels.covariance import newton_descent, support_descent
from ..pauses import to_the_end
from ..registry import field, solvers
from .base import State, settings
from .shared.in_parts import WORK
from .shared.inverse_covariance import Block, CovarianceSolver

# Sweeps in iteration k on a component: 1 + k/2. Few are enough far from the solution (the authors' program takes k/3).
GROWTH = 0.5
SOLVED = 0.1  # sweeps end when the violation of the model has fallen to this share of that of the first sweep
SETTLED = 0.03  # of the entries in use may have become so or ceased to be so in the sweeps before conjugate gradients
SUPPORT_SOLVED = 0.01  # conjugate gradients end when their residual has fallen to this share

# Precision of the model on a component: single until a direction leads nowhere, which may be the rounding.
SINGLE, DOUBLE = np.float32, np.float64


@settings
class QUIC(CovarianceSolver):
    """Newton steps for a sparse inverse covariance, by coordinate descent on the active entries (Hsieh et al. 2011)."""

    sweeps: int = field(10, 1, 100, "sweeps over the model in one iteration, at most", log=True)

    cg_steps: int = field(0, 0, 200, "conjugate-gradient steps after sweeps that did not solve the model, at most")

    least_block = 64
    title = "QUIC"
    menu_order = 170
    remark = (
        "For covariance problems, one component after the other; entries in random order, more sweeps from "
        "iteration to iteration."
    )
    doc = "Newton steps on the exact second-order model by coordinate descent, over the entries in use or violated."
    source = "Hsieh, Sustik, Dhillon and Ravikumar 2011; Tang and Scheinberg 2013, Sec. 4.2"

    def move(self, block: Block, report: np.ndarray) -> tuple[float, int]:
        free = (block.Theta != 0.0) | (block.violation > 0.0)
        columns, rows = np.divmod(np.flatnonzero(np.tril(free)), block.at.size)  # by columns j, then rows i ≤ j
        block.works_on(rows, columns)
        taken, seed, number = block.memory or (0, 1, SINGLE)
        Sigma, new, U = block.Sigma.astype(number), block.Theta.copy(), np.zeros(block.Theta.shape, dtype=number)
        sweeps = min(self.sweeps, 1 + int(taken * GROWTH))
        model, at = (Sigma, block.G, block.Lam, rows, columns, new, U), walk(rows.size, seed)
        to_the_end(lambda: bool(newton_descent(*model, sweeps, SOLVED, at, WORK, report)))
        changed = np.count_nonzero((new != 0.0) != (block.Theta != 0.0))
        if self.cg_steps and report[SWEEPS] >= sweeps and changed <= SETTLED * np.count_nonzero(new):
            support_descent(*model, self.cg_steps, SUPPORT_SOLVED, report)
        size, trials = block.descend(new)
        block.memory = taken + 1, int(at.at[SEED]), number if size > 0.0 else DOUBLE
        return size, trials

    def precompile(self, tiny: Any, problem: Any) -> State:
        state = self.init(tiny)
        # The second does not change what is in use, and one sweep leaves something to solve.
        for number in (SINGLE, SINGLE, DOUBLE):
            for block in state.blocks or ():
                block.memory = 0, 1, number
            dataclasses.replace(self, sweeps=1).step(tiny, state)
        return state


solvers.add("quic", QUIC)
