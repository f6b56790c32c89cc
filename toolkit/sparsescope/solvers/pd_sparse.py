"""PD-Sparse: fully-corrective block-coordinate Frank–Wolfe on a sparse dual (Yen et al. 2016, Alg. 1 and 2).

With λ₄ = ρ/(1−ρ), C = 1/(nλ(1−ρ)), e_ik = μ off the labels Y_i of sample i and 0 on them, and W(α) = S(Xᵀα, λ₄):
    min_α G(α) = ½‖W(α)‖² + Σ_i e_iᵀα_i,   α_ip ≥ 0 for p in Y_i, α_ik ≤ 0 off it, Σ_p α_ip = −Σ_k α_ik = t_i ≤ C

    for all samples i, in an order without repetition:
        k ← the label off Y_i with the largest score w_kᵀx_i, found among the non-zeros of W for the features of x_i;
            or: in one of ν parts of the labels, from some of the features (bi-stochastic search); from some features
            at first, too, where searches are most of the work
        A_i ← A_i ∪ {k}
        α_i ← the minimum of the quadratic bound of G, with curvature Q_i = ‖x_i‖², over the labels in A_i and Y_i
        A_i ← the labels off Y_i with α_ik ≠ 0;   v ← Xᵀα and W ← S(v, λ₄), where they changed
    the same without a search, over the samples with active labels that still move, until that was as much work again,
    or gains less for its work than the sweep with a search

A sample that a search left where it was is left out of the next searches: of one, then of three, at most of seven.
The gradient of block i is Wᵀx_i + e_i (Eq. 17 has the sign of e_i wrong, Eq. 22 has it right). P + G is the gap of the
paper; that of (P) is λ(1−ρ) times as large. With sample weights t_i ≤ ω_i·C. Memory: O(nnz(X)·max|A_i|); nothing of
size n×m or d×m is made.
"""

from __future__ import annotations

import time

import numpy as np

from ..kernels.frank_wolfe import SEARCHED
from ..kernels.sparse_rows import SIZE
from ..problems.prediction import Problem
from ..registry import field, solvers
from .base import settings
from .shared.columns import DUAL_COLUMNS, SEARCH_COLUMNS, WORKING_SET
from .shared.label_searches import PDSparseSearches
from .shared.sparse_state import PDSparseState as PDSparseState
from .shared.sparse_state import paper_scaling as paper_scaling
from .shared.sparse_state import work as work

STALE = 2.0  # v is rebuilt when its number of entries has grown by this factor


@settings
class PDSparse(PDSparseSearches):
    """Primal-dual method that keeps a few active labels per sample and a few weights per feature (Yen et al. 2016).

    Neither W nor the scores are ever dense: the work of an iteration depends on the non-zeros of W and of the dual
    point, not on the number of labels.
    """

    nu: int = field(1, 1, 64, "ν: parts of the labels, of which a search scans one (the paper has 3; 1: all labels)")
    sampling: bool = field(False, doc="searches draw some of a sample's features, the larger ones more often")
    opening: bool = field(True, doc="the first searches draw features, too, where searches are most of the work")
    doubling: bool = field(True, doc="searches return twice as many labels whenever they are most of the work")
    inner: int = field(20, 0, 100, "largest number of sweeps over the active labels alone after each search")
    shrinking: bool = field(True, doc="samples that stand still are left out for a while")
    seed: int = field(0, 0, 2**31 - 1, "seed of the order of the samples and of the search")

    title = "PD-Sparse"
    menu_order = 110
    columns = (WORKING_SET, *DUAL_COLUMNS, *SEARCH_COLUMNS)
    remark = (
        "For `crammer-singer` and `separation-ranking` with `elastic-net` (ρ < 1) or `ridge`, without "
        "intercept. W is a sparse matrix, and nothing of size n×m or d×m is made. It begins at a dual point "
        "(another solver's, or zero), not at given weights; a run that switches to it keeps the point it had until it "
        "finds a better one."
    )
    contract_settings = (
        {"nu": 3},
        {"sampling": True},
        {"opening": False},
        {"doubling": False},
        {"inner": 0},
        {"shrinking": False},
        {"seed": 7},
    )
    doc = "Frank–Wolfe steps on a sparse dual; for very many labels, with weights that are never dense."
    source = "Yen et al. 2016, Alg. 1"

    def step(self, problem: Problem, state: PDSparseState) -> None:
        state.report[:] = 0.0
        pacing, began = state.pacing, time.thread_time()
        visits, drawn = self.search(problem, state)
        searched = float(state.report[SEARCHED])
        first = work(state)
        between = time.thread_time()
        if self.doubling and ((drawn and state.iteration == 0) or pacing.is_most(searched, first)):
            state.wanted = min(2 * state.wanted, problem.m)
        done = 0
        while done < self.inner and pacing.goes_on(work(state), first):
            order = state.rng.permutation(self.moving(state))
            if not order.size:
                break
            before = work(state)
            state.sweep(problem, order)
            visits += order.size
            done += 1
            if not pacing.has_paid(state.gains[order].sum(), work(state) - before, first):
                break
        total = work(state)
        state.work += total
        state.search_share = searched / total if total > 0.0 else 0.0
        state.search_seconds += between - began
        state.update_seconds += time.thread_time() - between
        if int(state.rows.used[0]) > STALE * max(state.filled, problem.design.nnz):
            state.refresh(problem)
        state.moved()
        state.iteration += 1
        state.passes += 2.0 * visits / problem.n
        state.working_set = float(np.count_nonzero(state.rows.head[:, SIZE].reshape(problem.d, -1).any(axis=1)))


solvers.add("pd-sparse", PDSparse)
