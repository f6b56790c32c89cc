"""newGLMNET: coordinate descent on the exact second-order model, with two levels of shrinking (Yuan et al. 2012).

repeat:
    look (when the working set is solved well enough): g ← ∇f(W) and violations of all entries; M ← the largest
        I ← entries in use and those at zero with |g| > t − M'/n, M' the M of the look before    (outer level)
    C_i ← ∇²ℓ(z_i)/n,  H_a ← Σ_i x_ij² C_ikk for the entries a = (j, k) of I
    δ ← coordinate descent in random order over I on gᵀδ + ½δᵀXᵀCXδ + λΩ(W + δ), with C·Xδ kept up to date; entries
        at zero that are well inside are left out until the others are solved                    (inner level)
        until the violations of the model are a share of those at δ = 0
    W ← W + αδ by Armijo's rule
A step on entry (j, k) costs nnz(column j), and m times as much if it moves. C takes n·m² numbers.
"""

from __future__ import annotations

import numpy as np

from ..kernels.coordinates import FLOPS, STEPS, SWEEPS, entry_curvatures, exact_descent, sample_hessians
from ..problems.prediction import Problem
from ..registry import field, solvers
from .base import settings
from .shared.entries import Entries, EntrySolver, EntryState

MOST_BYTES = 2_000_000_000  # of the Hessians of all samples
LEAVE = 0.3  # a working set is left when its largest violation is below this share of that of all when it was made
FORCING = 0.3  # sweeps end when the violations of the model add up to this share of those before


class NewGLMNETState(EntryState):
    """State: the Hessians of the samples; the working set and what made it; the generator of orders."""

    def __init__(self, problem: Problem, coef: np.ndarray) -> None:
        super().__init__(problem, coef)
        n, m = self.Z.shape
        self.C = np.empty((n, m, m), dtype=problem.dtype)
        self.R = np.empty_like(self.Z)
        self.seed = 1

    def forget(self, problem: Problem) -> None:
        super().forget(problem)
        self.at: np.ndarray | None = None  # places of the working set in the flat W, and the rows they are in
        self.rows = np.empty(0, dtype=np.intp)
        self.top = 0.0  # largest violation when all entries were looked at last


@settings
class NewGLMNET(EntrySolver):
    """Newton steps by coordinate descent on single entries, with the exact Hessian and two levels of shrinking."""

    sweeps: int = field(50, 1, 1000, "sweeps over the model in one iteration, at most", log=True)
    shrinking: bool = field(True, doc="leave out entries that are well inside, at both levels")

    title = "newGLMNET"
    menu_order = 130
    remark = "For penalties that are sums over entries; it keeps an m × m Hessian for every sample."
    doc = "Newton steps on single weights by coordinate descent on the exact second-order model, with shrinking."
    source = "Yuan, Ho and Lin 2012; Friedman, Hastie and Tibshirani 2010"

    def refuses(self, problem: Problem) -> str | None:
        reason = super().refuses(problem)
        size = problem.n * problem.m**2 * problem.dtype.itemsize
        if reason is None and size > MOST_BYTES:
            reason = (
                f"{self.name} keeps an m × m Hessian for every sample, here {size / 1e9:.1f} GB, more than the "
                f"{MOST_BYTES / 1e9:g} GB allowed; lhac keeps none"
            )
        if reason is None and not hasattr(problem.loss, "hessian_product"):
            reason = f"{self.name} needs second derivatives, and the {problem.loss.title} loss does not define them"
        return reason

    def start(self, problem: Problem, coef: np.ndarray) -> NewGLMNETState:
        return NewGLMNETState(problem, coef)

    def step(self, problem: Problem, state: NewGLMNETState) -> None:  # type: ignore[override]
        part = self._part(problem, state)
        design, report = problem.design, state.report
        sample_hessians(state.Z, *problem.terms, 1.0 / problem.n, state.C)
        H = np.empty(part.at.size)
        entry_curvatures(design.columns, design.ones, part.rows, part.classes, state.C, H)
        new = part.w.copy()
        state.R[:] = 0.0
        report[:] = 0.0
        wrong = state.wrong(part.at)[0]
        margin = 1.0 / problem.n if self.shrinking else -1.0
        state.seed = exact_descent(
            design.columns,
            design.ones,
            part.rows,
            part.classes,
            part.g,
            part.w,
            part.t,
            part.ridge,
            H,
            state.C,
            state.R,
            new,
            self.sweeps,
            FORCING * wrong,
            margin,
            state.seed,
            report,
        )
        self.finish(problem, state, part, new)
        self.note(state, part, report[SWEEPS], report[STEPS], report[FLOPS])

    def _part(self, problem: Problem, state: NewGLMNETState) -> Entries:
        """The working set with its gradients, chosen anew if the present one is solved."""
        if state.at is not None:
            state.take_gradient(problem, state.rows)
            if state.wrong(state.at)[1] > LEAVE * state.top:
                return state.entries(problem, state.at)
        state.take_gradient(problem)
        used = state.coef.ravel() != 0.0
        used[state.d * problem.m :] = True
        if self.shrinking:
            thresholds = state.thresholds if state.thresholds.size > 1 else state.thresholds[0, 0]
            used |= (np.abs(state.G) > thresholds - state.top / problem.n).ravel()
        else:
            used[:] = True
        state.at = np.flatnonzero(used)
        state.rows = np.unique(state.at // problem.m)
        state.top = float(state.violation.max())
        return state.entries(problem, state.at)


solvers.add("newglmnet", NewGLMNET)
