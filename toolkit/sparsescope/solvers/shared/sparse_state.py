"""State of `pd-sparse`: a sparse dual point, and weights that are a function of it and never dense."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from ...kernels.frank_wolfe import NEEDED, NEEDED_ACTIVE, REPORT, SCORED, SEARCHED, UPDATED, sweep
from ...kernels.label_search import scratch
from ...kernels.sparse_duals import fit_box
from ...kernels.sparse_rows import FRONT, SIZE, START, WIDTH, clear, empty_rows, front, grown
from ...kernels.sparse_scores import csr_parts, hinge_sum
from ...pauses import even_parts, pause
from ...problems.prediction import Problem
from .pacing import Naps, SearchPacing
from .state import State

ACTIVE = 1e-6  # a hinge counts as active above this share of the margin
UPDATE_COST = 8.0  # reading an entry of W in a search against changing one (measured on 20 newsgroups)
ORDERED_COST = 3.0  # the same where most rows stand by label
# Samples of the first part of a pass, and entries that are read in a part: one to three milliseconds.
FIRST_PART, SCANNED = 64, 500_000
NAN = float("nan")


def paper_scaling(problem: Problem) -> tuple[float, float]:
    """C and λ₄ of ½‖W‖² + λ₄‖W‖₁ + C Σℓ, which is F/(λ(1−ρ)) (MATH §1)."""
    rho = getattr(problem.penalty, "rho", 0.0)  # the ridge is the elastic net with ρ = 0
    return 1.0 / (problem.n * problem.lam * (1.0 - rho)), rho / (1.0 - rho)


class PDSparseState(State):
    """State of PD-Sparse. There are no dense weights and no scores: ``weights()`` is a sparse matrix.

    rows : v = Xᵀα by features, and which of its entries are above λ₄ · active : a_ik = −α_ik of the active labels ·
    indptr, targets, alpha : the labels of each sample and their duals · squares : ‖x_i‖² · C, lam4, margin : the
    paper's numbers in force · most : the bound of each sample's duals, C or ω_i·C (n,) · wanted : candidates of a
    search · gains (n,): what the last step of each sample gained, see :func:`sweep` · pacing : how to search, and when
    · naps : samples that a search leaves out · work : of the steps at this λ, see :func:`work`
    """

    sparse = True

    search_share = float("nan")

    def __init__(self, problem: Problem, parts: int, seed: int) -> None:
        self.bare()
        self.frame = problem.design.frame
        self.d, self.m, self.dtype = problem.d, problem.m, problem.dtype
        self.parts = parts
        self.indptr, self.targets = label_lists(problem)
        self.alpha = np.zeros(self.targets.size)
        self.active = empty_rows(problem.n, 4 * problem.n)
        self.rows = empty_rows(problem.d * parts, min(problem.design.nnz, problem.d * problem.m))
        self.squares = squared_rows(problem.design)
        self.gains = np.zeros(problem.n)
        self.naps = Naps(problem.n)
        self.search_seconds = self.update_seconds = 0.0
        self.scratch = scratch(problem.m, parts, seed)
        self.rng = np.random.default_rng(seed)
        self.report, self.work = np.zeros(REPORT), 0.0
        self.C, self.lam4, self.margin = NAN, NAN, NAN
        self.most = np.full(1, NAN)
        self.wanted = 1
        self.pacing = SearchPacing()
        self.filled = 0  # entries of v when it was last made anew
        self._weights: scipy.sparse.csr_array | None = None
        self._hinges: tuple[tuple[Any, ...], tuple[float, int, int]] | None = None  # what was summed, and the sums
        self.squared = 0.0  # ‖W‖² before W is rounded to the precision of the data

    def weights(self) -> scipy.sparse.csr_array:
        """W, CSR (d, m), labels in order."""
        own = self.inner_weights()
        return own if self.frame is None else self.frame.weights(own)

    def inner_weights(self) -> scipy.sparse.csr_array:
        """W = S(Xᵀα, λ₄) in the frame of the design, CSR (d, m), labels in order; its arrays are read-only."""
        if self._weights is None:
            indptr, indices, data = front(self.rows, self.parts, self.lam4)
            pause()
            self.squared = float(data @ data)
            made = scipy.sparse.csr_array(
                (data.astype(self.dtype, copy=False), indices, indptr), shape=(self.d, self.m)
            )
            pause()
            made.sort_indices()
            pause()
            for array in (made.data, made.indices, made.indptr):
                array.flags.writeable = False
            self._weights = made
        return self._weights

    def intercept(self) -> None:
        return None

    def dense(self, problem: Problem) -> np.ndarray:
        return problem.coefficients(self.weights())

    def dual_rows(self, U: np.ndarray) -> bool:
        samples = np.arange(U.shape[0])
        sizes = self.active.head[:, SIZE].astype(np.int64)
        at = np.repeat(self.active.head[:, START].astype(np.int64) - np.cumsum(sizes) + sizes, sizes)
        at += np.arange(at.size)
        U[:] = 0.0
        U[np.repeat(samples, sizes), self.active.labels[at]] = self.active.values[at]
        U[np.repeat(samples, np.diff(self.indptr)), self.targets] = -self.alpha
        U /= self.C  # a sample's weight is in its row, as in those of the other solvers
        return True

    def moved(self) -> None:
        """The dual point changed: forget the weights that were made of the old one."""
        self._weights = self._hinges = None

    def make_room(self) -> None:
        """Make the pools as large as the pass that ran out of room needs."""
        if self.report[NEEDED] > 0.0:
            self.rows = grown(self.rows, self.rows.labels.size + int(self.report[NEEDED]))
        if self.report[NEEDED_ACTIVE] > 0.0:
            self.active = grown(self.active, self.active.labels.size + int(self.report[NEEDED_ACTIVE]))
        self.report[NEEDED] = self.report[NEEDED_ACTIVE] = 0.0

    def take_scaling(self, problem: Problem) -> None:
        """λ, penalty and margin of the problem; duals that do not fit any more are scaled down, v is made anew."""
        self.C, self.lam4 = paper_scaling(problem)
        self.most = self.C * weights_of_samples(problem)
        self.margin = float(getattr(problem.loss, "margin", 1.0))
        self.work = 0.0
        self.naps.wake_all()
        self.rows.used[WIDTH] = self.m if self.lam4 == 0.0 and self.parts == 1 else 0
        fit_box(self.squares, self.indptr, self.targets, self.alpha, self.active, self.most, self.scratch)
        self.refresh(problem)

    def refresh(self, problem: Problem) -> None:
        """v = Xᵀα anew, which takes out what is left of entries that have become 0."""
        clear(self.rows)
        self.sweep(problem, np.arange(problem.n), anew=True)
        self.filled = int(self.rows.used[0])
        self.moved()

    def sweep(
        self,
        problem: Problem,
        order: np.ndarray,
        wanted: int = 0,
        rate: int = 1,
        fixed: bool = False,
        anew: bool = False,
    ) -> None:
        """A pass over the samples of ``order``, one after the other: the kernel of the same name."""
        at, stop, begun = 0, min(FIRST_PART, order.size), work(self)
        least = UPDATE_COST * problem.design.nnz / problem.n if anew else 1.0
        while at < order.size:
            at = sweep(
                problem.design.sparse_samples,
                self.squares,
                order[:stop],
                at,
                self.parts,
                wanted,
                rate,
                fixed,
                anew,
                self.indptr,
                self.targets,
                self.alpha,
                self.active,
                self.rows,
                self.most,
                self.margin,
                self.lam4,
                self.scratch,
                self.gains,
                self.report,
            )
            self.make_room()
            pause()
            if at == stop:  # the next part is as much work, if its samples are like those before
                each = max((work(self) - begun) / stop, least)
                stop = min(order.size, stop + max(FIRST_PART, int(SCANNED / each)))

    def reading(self, problem: Problem) -> float:
        """Entries of W that an exact search reads for a sample, in the mean of all."""
        matrix, fronts = problem.design.matrix, self.rows.head[:, FRONT].reshape(self.d, self.parts).sum(axis=1)
        stored = np.diff(matrix.indptr) if problem.design.is_sparse else np.full(self.d, problem.n)
        return float(stored @ fronts.astype(np.float64)) / (problem.n * self.parts)

    def point(self, problem: Problem) -> tuple[float, float, int, int]:
        W = self.inner_weights()
        rho = getattr(problem.penalty, "rho", 0.0)
        data = W.data.astype(np.float64, copy=False)
        omega = rho * float(np.abs(data).sum()) + 0.5 * (1.0 - rho) * float(data @ data)
        return self.hinges(problem)[0] / problem.n, omega, int(np.count_nonzero(np.diff(W.indptr))), int(W.nnz)

    def support(self, flags: np.ndarray) -> None:
        flags[:] = np.diff(self.inner_weights().indptr) > 0

    def hinges(self, problem: Problem) -> tuple[float, int, int]:
        """Σ_i ω_i·ℓ at the weights, how many hinges are active, and how many samples have their one label first: from
        one pass over all scores, which is kept until the weights move."""
        known = (problem.loss, problem.sample_weight)
        if self._hinges is None or any(a is not b for a, b in zip(known, self._hinges[0], strict=True)):
            W, design, n = self.inner_weights(), problem.design, problem.n
            stored = np.diff(design.matrix.indptr) if design.is_sparse else np.full(self.d, n)
            total, active, right = 0.0, 0, 0
            weights = csr_parts(W)  # once for all pieces: it copies what is read-only
            for first, last in even_parts(n, float(stored @ np.diff(W.indptr).astype(np.float64)) / n, SCANNED):
                found = hinge_sum(
                    design.sparse_samples,
                    *weights,
                    self.indptr,
                    self.targets,
                    self.margin,
                    ACTIVE * self.margin,
                    weights_of_samples(problem),
                    self.scratch,
                    first,
                    last,
                )
                total, active, right = total + float(found[0]), active + int(found[1]), right + int(found[2])
                pause()
            self._hinges = (known, (total, active, right))
        return self._hinges[1]

    def accuracy(self, problem: Problem) -> float | None:
        """Share of the training samples whose class scores highest; None for label sets."""
        return None if problem.sets is not None else self.hinges(problem)[2] / problem.n


def work(state: PDSparseState) -> float:
    """Cost of the sweeps of a step, in entries read. It is counted and not timed, so that a run is reproducible."""
    change = ORDERED_COST if state.rows.used[WIDTH] else UPDATE_COST
    return float(state.report[SEARCHED] + state.report[SCORED] + change * state.report[UPDATED])


def weights_of_samples(problem: Problem) -> np.ndarray:
    """ω (n,), or one 1 for all: (1,)."""
    return np.ones(1) if problem.sample_weight is None else problem.sample_weight


def label_lists(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """The labels of each sample, one after the other: indptr (n + 1,) int64 and labels int32, for classes or sets."""
    if problem.sets is not None:
        return problem.sets.indptr, problem.sets.labels
    return np.arange(problem.n + 1, dtype=np.int64), problem.y.astype(np.int32)


def squared_rows(design: Any) -> np.ndarray:
    """‖x_i‖² of every sample, (n,) float64."""
    if not design.is_sparse:
        return np.einsum("ij,ij->i", design.matrix, design.matrix, dtype=np.float64)
    squares = scipy.sparse.csc_array(
        (design.matrix.data.astype(np.float64) ** 2, design.matrix.indices, design.matrix.indptr),
        shape=design.matrix.shape,
    )
    return np.asarray(squares.sum(axis=1)).ravel()
