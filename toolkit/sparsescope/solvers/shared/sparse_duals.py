"""Solvers on a sparse dual point of a multiclass hinge: how they begin, go on, and what they prove."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from ...inputs.is_sparse import is_sparse
from ...kernels.sparse_duals import dual_sums, take_duals
from ...kernels.sparse_rows import copied, drop_behind, empty_rows
from ...problems.base import Certificate
from ...problems.prediction import Problem
from ...registry import check_whole
from ..base import Solver, State
from .dual_points import certificate_of_duals, refuses_hinge
from .sparse_state import PDSparseState, paper_scaling

SMALL = 1e-12  # dual entries of another method that count as zero


class PDSparseDuals(Solver):
    """Solver whose state is a sparse dual point α with W(α) = S(Xᵀα, λ₄), neither of them ever dense.

    nu : parts of the labels, of which a search scans one · seed : of the order of the samples and of the search
    """

    nu: int
    seed: int

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
        if W is not None and (W.nnz if is_sparse(W) else np.any(W)):
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

    def post_solve(self, problem: Problem, state: PDSparseState, sweeps: int = 20) -> scipy.sparse.csr_array:
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
        scipy.sparse.csr_array
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
