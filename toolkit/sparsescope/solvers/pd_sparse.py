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

import math
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..kernels.frank_wolfe import SEARCHED
from ..kernels.sparse_duals import dual_sums, take_duals
from ..kernels.sparse_rows import SIZE, copied, drop_behind, empty_rows
from ..problems.base import Certificate
from ..problems.prediction import Problem
from ..registry import Column, check_whole, field, solvers
from .base import Solver, State, settings
from .shared.columns import DUAL_COLUMNS
from .shared.dual_points import certificate_of_duals, refuses_hinge
from .shared.sparse_state import PDSparseState as PDSparseState
from .shared.sparse_state import paper_scaling as paper_scaling
from .shared.sparse_state import work as work

STALE = 2.0  # v is rebuilt when its number of entries has grown by this factor
STILL = 0.1  # sweeps without a search leave out samples whose last step gained less than this share of the mean
OPENING = 16  # parts of the first pass, before each of which it is decided how the next ones are searched
SMALL = 1e-12  # dual entries of another method that count as zero


@settings
class PDSparse(Solver):
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
    columns = (
        *DUAL_COLUMNS,
        Column(
            "search_share",
            "share of the work that went into searches for what to work on",
            "share",
            drawn=True,
            label="searching",
            short="search",
            status="searching",
            colour="green",
            absent="this solver does not search for labels",
        ),
        Column("search_seconds", "CPU seconds so far of passes that search", "s", of_step=False),
        Column("update_seconds", "CPU seconds so far of passes over what is active already", "s", of_step=False),
    )
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
    losses = ("crammer-singer", "separation-ranking")
    only_penalties = ("elastic-net", "ridge")
    takes_intercept = False
    takes_sample_weights = True
    sparse = True
    remedy = "choose a larger λ (a smaller C)"

    def refuses(self, problem: Problem) -> str | None:
        return refuses_hinge(self, problem)

    # -------------------------------------------------------------------------------------------------- begin and go on
    def init(self, problem: Problem, W: Any = None, b: Any = None) -> PDSparseState:
        """Return a state at zero; this solver starts from a dual point, not from weights.

        Parameters
        ----------
        problem
            the problem.
        W
            not allowed.
        b
            not allowed.

        Returns
        -------
        PDSparseState
            the state.

        Raises
        ------
        ValueError
            for weights to start from.
        """
        self.require(problem)
        if b is not None:
            raise ValueError(f"b is given, and {self.name} has no intercept")
        if W is not None and (W.nnz if sp.issparse(W) else np.any(W)):
            raise ValueError(
                f"{self.name} cannot begin at given weights, only at a dual point: go on from a state "
                "(Run(state=…)) or change λ while it runs"
            )
        return self.begin(problem)

    def begin(self, problem: Problem) -> PDSparseState:
        """Return a state whose dual point is zero.

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        PDSparseState
            the state.
        """
        state = PDSparseState(problem, min(self.nu, problem.m), self.seed)
        state.pacing.opening = True
        state.take_scaling(problem)
        return state

    def warm_start_from(self, problem: Problem, state: State) -> PDSparseState:
        """Continue from the dual point of another state, if it has one; else start from zero: W does not determine α.

        Parameters
        ----------
        problem
            the problem.
        state
            the other solver's state.

        Returns
        -------
        PDSparseState
            a new state.
        """
        taken = PDSparseState(problem, min(self.nu, problem.m), self.seed)
        if isinstance(state, PDSparseState):
            taken.alpha, taken.active = state.alpha.copy(), copied(state.active)
        elif not state.sparse:
            U = np.empty((problem.n, problem.m), dtype=problem.dtype)
            if state.dual_rows(U):
                taken.active = empty_rows(problem.n, 2 * (int(np.count_nonzero(U > SMALL)) + problem.n))
                take_duals(
                    U,
                    taken.indptr,
                    taken.targets,
                    paper_scaling(problem)[0],
                    SMALL,
                    taken.alpha,
                    taken.active,
                    taken.scratch,
                )
        taken.take_scaling(problem)
        return taken

    def adapt(self, problem: Problem, state: PDSparseState) -> None:
        state.take_scaling(problem)

    # ------------------------------------------------------------------------------------------------------- the steps
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
        state.search_share = searched / total if total > 0.0 else 0.0
        state.search_seconds += between - began
        state.update_seconds += time.thread_time() - between
        if int(state.rows.used[0]) > STALE * max(state.filled, problem.design.nnz):
            state.refresh(problem)
        state.moved()
        state.iteration += 1
        state.passes += 2.0 * visits / problem.n
        state.working_set = float(np.count_nonzero(state.rows.head[:, SIZE].reshape(problem.d, -1).any(axis=1)))

    def search(self, problem: Problem, state: PDSparseState) -> tuple[int, bool]:
        """Do a sweep that searches for new labels, over the samples that are not skipped.

        Parameters
        ----------
        problem
            the problem.
        state
            the state.

        Returns
        -------
        tuple[int, bool]
            the number of these samples, and whether exact searches were left out because they would read too much.
        """
        rate, awake, pacing = self.rate(problem, state.C), state.naps.awake(), state.pacing
        opening = self.opening and pacing.opening and not self.sampling and rate > 1
        seen, left_out = 0, opening and state.iteration > 0
        for some in np.array_split(state.rng.permutation(awake), OPENING if opening else 1):
            if opening and seen:
                changed = (work(state) - state.report[SEARCHED]) / seen
                left_out = left_out or pacing.is_dear(state.reading(problem), changed)
            drawn = rate > 1 and (self.sampling or left_out)
            state.sweep(problem, some, state.wanted, rate if drawn else 1)
            if self.shrinking and not drawn and state.parts == 1:  # else a search may not have found what would move
                state.naps.rest(some, state.gains[some] == 0.0)
            seen += some.size
        pacing.searched(state.gains[awake], left_out, state.iteration == 0)
        return seen, left_out

    def moving(self, state: PDSparseState) -> np.ndarray:
        """Return the samples with active labels whose last step had a noticeable gain.

        Parameters
        ----------
        state
            the state.

        Returns
        -------
        np.ndarray
            their numbers.
        """
        active = state.active.head[:, SIZE] > 0
        if not self.shrinking:
            return np.flatnonzero(active)
        return np.flatnonzero(active & (state.gains > STILL * state.gains.mean()))

    def rate(self, problem: Problem, C: float) -> int:
        """Return d_i/d̃_i, the number of features of a sample per drawn one (Yen et al. 2016, Sec. 4.4).

        Parameters
        ----------
        problem
            the problem.
        C
            1/(nλ) in the units of the solver.

        Returns
        -------
        int
            the rate.
        """
        n, d, m, stored = problem.n, problem.d, problem.m, max(problem.design.nnz, 1)
        return max(1, math.ceil(min(5.0 * d * m / (C * stored * math.log(m)), stored / (5.0 * n))))

    def post_solve(self, problem: Problem, state: PDSparseState, sweeps: int = 20) -> sp.csr_array:
        """Return weights without the shrinkage of the ℓ1 part (Yen et al. 2016, Sec. 4.3).

        They minimise ½‖W‖² + C Σℓ on the support of W alone, where each loss counts only the sample's labels and its
        active ones. They sometimes predict better, but are no solution of the problem: its certificate does not apply
        to them. The state is unchanged.

        Parameters
        ----------
        problem
            the problem.
        state
            a state of this solver.
        sweeps
            sweeps over the samples with active labels, from the dual point of the state.

        Returns
        -------
        sp.csr_array
            weights (d, m), CSR.
        """
        check_whole("sweeps", sweeps, 1)
        own: PDSparseState = state.copy()
        drop_behind(own.rows)
        own.lam4 = 0.0
        for _ in range(sweeps):
            own.sweep(problem, own.rng.permutation(problem.n), fixed=True)
        own.moved()
        return own.weights().copy()

    # ------------------------------------------------------------------------------------------------- what is proved
    def certificate(self, problem: Problem, state: PDSparseState, work: Any = None) -> Certificate:
        """Evaluate objective and dual value of the state; ``violation`` is the bound of λ(1−ρ)‖W − W*‖_F from the gap.

        Parameters
        ----------
        problem
            the problem.
        state
            the state.
        work
            not used.

        Returns
        -------
        Certificate
            the certificate.
        """
        loss, omega, rows, entries = state.point(problem)
        _, active, _ = state.hinges(problem)
        total, duals = dual_sums(state.active)
        state.inner_weights()  # and ‖W‖² with them
        unit = problem.lam * (1.0 - getattr(problem.penalty, "rho", 0.0))
        dual = unit * (state.margin * total - 0.5 * state.squared)
        return certificate_of_duals(problem, dual, loss, omega, unit, (rows, entries, active, duals))


solvers.add("pd-sparse", PDSparse)
