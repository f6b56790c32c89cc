"""The rows of W in use with their columns of X, gathered for the products of a Newton step."""

from __future__ import annotations

import numpy as np

from ...inputs.design_products import DENSE_COST, DENSE_PART, MOST_GATHERED
from ...inputs.turned import turned
from ...kernels.newton import SupportRows, hessian_rows, support_diagonal, support_hessian_product
from ...pauses import parts_of, pause
from ...problems.prediction import Problem
from ...threads import accumulated, count, even_rounds, in_rounds, size_of_part

BLOCK_ABOVE = 0.15  # share of non-zero cells above which the columns in use are kept as a block
BLOCK_BYTES = 2**28  # largest block
SQUARED = 32  # columns of a block whose squares are taken at once
MOST_BENT = 0.8  # share of bent samples above which products take all of them: the flat ones add nothing
PRODUCT = 3_000_000  # products of numbers on single entries of the support between two pauses


class Support:
    """The rows of W in use with their columns of data, as a block or by samples (CSR).

    Directions from many data are computed in single precision: they only have to point down, and the gradient before
    and the line search after are in full precision. A block is used where the columns are so full that its regular
    layout wins. ``dtype`` is its precision.
    """

    def __init__(self, problem: Problem, rows: np.ndarray, single: bool, block: bool | None = None) -> None:
        design = problem.design
        self.rows = rows
        self.problem = problem
        cells = design.n * rows.size
        self.nnz = int(np.diff(design.matrix.indptr)[rows].sum()) if design.is_sparse else cells
        self.dtype = np.dtype(np.float32) if single else problem.dtype
        if block is None:
            block = not design.is_sparse or (self.nnz > BLOCK_ABOVE * cells and 8 * cells <= BLOCK_BYTES)
        self.block: np.ndarray | None = None
        self.bent_block: np.ndarray | None = None
        self.samples = np.arange(problem.n)
        self.stretches: list[tuple[int, int]] | None = None  # of these samples, between which a product pauses
        self.cut_for = 1  # threads
        if not block:
            self.by_sample = SupportRows(*turned(design.columns, design.n, rows, self.dtype))  # type: ignore[call-arg]
        else:
            part = design.matrix[:, rows]
            pause()
            self.block = np.asfortranarray(part.toarray() if design.is_sparse else part, dtype=self.dtype)

    def bend(self, samples: np.ndarray, A: np.ndarray) -> np.ndarray:
        """Keep to the samples where the loss is not flat; returns the diagonal of ∇²f from A (n, m), shape (s, m)."""
        problem, s, scale = self.problem, self.rows.size, 1.0 / self.problem.n
        self.samples, self.stretches = samples, None
        H = np.zeros((s + problem.intercept, problem.m), dtype=self.dtype)
        if self.block is None:
            costs = problem.m * (np.diff(self.by_sample.indptr)[samples] + 1.0)
            accumulated(
                parts_of(costs, size_of_part(float(costs.sum()), PRODUCT)),
                H,
                lambda out, first, last: support_diagonal(self.by_sample, samples[first:last], A, scale, out),
            )
        else:
            if samples.size > MOST_BENT * problem.n:
                self.samples = np.arange(problem.n)
            whole = self.samples.size == problem.n
            self.bent_block = self.block if whole else self.block[self.samples]
            self._square(self.bent_block, (A if whole else A[self.samples]).astype(self.dtype, copy=False), H)
            H *= self.dtype.type(scale)
        if problem.intercept:
            H[s] = scale * A.sum(axis=0)
        return H

    @staticmethod
    def _square(block: np.ndarray, A: np.ndarray, out: np.ndarray) -> None:
        """The first rows of out (s, m) = (block²)ᵀA, in strips of columns: squares of all would be another block."""
        size, s = block.shape
        squares = np.empty((size, min(SQUARED, s)), dtype=block.dtype, order="F")
        for first in range(0, s, SQUARED):
            last = min(first + SQUARED, s)
            strip = np.square(block[:, first:last], out=squares[:, : last - first])
            np.matmul(strip.T, A, out=out[first:last])

    def hessian_product(self, Z: np.ndarray, U: np.ndarray, V: np.ndarray, out: np.ndarray) -> None:
        """out = (1/n) Xᵀ∇²ℓ(Z) X V over the samples given to :meth:`bend`, the intercept's row last; U = ∇ℓ(Z)."""
        problem, s, scale = self.problem, self.rows.size, 1.0 / self.problem.n
        if self.bent_block is not None:
            E = np.empty((self.samples.size, problem.m), dtype=self.dtype)
            block = self.bent_block

            def push(_: int, first: int, last: int) -> None:
                part = E[first:last]
                np.matmul(block[first:last], V[:s], out=part)
                if problem.intercept:
                    part += V[s]
                hessian_rows(self.samples[first:last], Z, U, *problem.terms, scale, part)

            in_rounds(even_rounds(self.samples.size, DENSE_COST * max(s, 1) * problem.m, DENSE_COST * DENSE_PART), push)
            in_rounds(
                even_rounds(s, DENSE_COST * self.samples.size * problem.m, DENSE_COST * DENSE_PART),
                lambda _, first, last: np.matmul(block[:, first:last].T, E, out=out[first:last]),
            )
            if problem.intercept:
                out[s] = E.sum(axis=0)
            return
        out[:] = 0.0
        pause()
        shift = V[s].copy() if problem.intercept else np.zeros(problem.m, dtype=self.dtype)
        if self.stretches is None or self.cut_for != count():
            costs = problem.m * (2.0 * np.diff(self.by_sample.indptr)[self.samples] + 4.0)
            self.stretches, self.cut_for = list(parts_of(costs, size_of_part(float(costs.sum()), PRODUCT))), count()

        def add(target: np.ndarray, first: int, last: int) -> None:
            samples = self.samples[first:last]
            pull = target[s] if problem.intercept else np.empty_like(shift)
            support_hessian_product(self.by_sample, samples, Z, U, *problem.terms, scale, V, shift, target, pull)

        accumulated(self.stretches, out, add)


def _is_most(problem: Problem, at: np.ndarray) -> bool:
    """Decide whether a product with all columns of a dense X costs less than gathering those in use."""
    return not problem.design.is_sparse and at.size >= MOST_GATHERED * problem.d


def pulled(problem: Problem, at: np.ndarray, U: np.ndarray) -> np.ndarray:
    """XᵀU (s, m) for the columns in use, the intercept's last."""
    if _is_most(problem, at):
        found: np.ndarray = problem.design.rmatmul(U, np.empty((problem.rows, problem.m), dtype=problem.dtype))[at]
        return found
    return problem.design.rmatmul_rows(at, U, np.empty((at.size, problem.m), dtype=problem.dtype))


def pushed(problem: Problem, at: np.ndarray, D: np.ndarray, out: np.ndarray) -> np.ndarray:
    """out = XD (n, m) for D on the columns in use."""
    if _is_most(problem, at):
        whole = np.zeros((problem.rows, problem.m), dtype=D.dtype)
        whole[at] = D
        return problem.design.matmul(whole, out, at[at < problem.d])
    return problem.design.matmul_rows(at, D, out)
