"""The features of one stage on all training samples, a stretch of samples at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy

from ...inputs.is_sparse import is_sparse
from ...problems.prediction import Problem
from ...problems.sequence_model import Columns, chunks

# Features that are needed in every inner iteration are kept if they take no more than this (8000 single-precision
# features of 60 000 samples do); else they are made again each time, which takes many times as long.
HOLD_BYTES = 2_500_000_000


class StageData:
    """A = the features of a block on X, with the predictions Ŷ before the stage beside them if ``own``.

    matrix : X, dense or CSR · start : Ŷ (n, m) · width : columns of A
    """

    def __init__(self, problem: Problem, matrix: Any, block: Any, start: np.ndarray, own: bool) -> None:
        self.problem, self.matrix, self.block, self.own = problem, matrix, block, own
        self.start = start
        self.width = block.p + (problem.m if own else 0)
        self.sparse = isinstance(block, Columns) and is_sparse(matrix) and not own
        self.kept: list[tuple[int, int, Any]] | None = None

    def hold(self) -> None:
        """Keep the features for repeated use, if they fit."""
        if self.sparse or self.problem.n * self.width * self.problem.dtype.itemsize <= HOLD_BYTES:
            self.kept = list(self.parts())

    def parts(self) -> Iterator[tuple[int, int, Any]]:
        """(start, stop, A of these samples): dense in C order, or sparse where columns of a sparse X are taken."""
        if self.kept is not None:
            yield from self.kept
            return
        if isinstance(self.block, Columns) and self.sparse:
            yield 0, self.problem.n, scipy.sparse.csr_array(self.block.features(self.matrix))
            return
        for start, stop in chunks(self.problem.n, 2 * self.width, self.problem.dtype.itemsize):
            A = self.block.features(self.matrix[start:stop])
            if is_sparse(A):
                A = A.toarray()
            if self.own:
                A = np.hstack([A, self.start[start:stop]])
            yield start, stop, np.ascontiguousarray(A)

    def moments(self, U: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray | None]:
        """AᵀA/n (width, width), its lower triangle in Fortran order, and AᵀU/n of U (n, m), in one pass."""
        dtype, n = self.problem.dtype, self.problem.n
        moment = np.zeros((self.width, self.width), dtype=dtype, order="F")
        blas = scipy.linalg.blas
        syrk = blas.ssyrk if dtype == np.float32 else blas.dsyrk
        G = None if U is None else np.zeros((self.width, self.problem.m), dtype=dtype)
        for start, stop, A in self.parts():
            if self.sparse:
                moment += (A.T @ A).toarray()
            else:  # half the work of a product: the triangle alone
                moment = syrk(1.0, A.T, beta=1.0, c=moment, lower=1, overwrite_c=1)
            if G is not None and U is not None:
                G += A.T @ U[start:stop]
        moment *= dtype.type(1.0 / n)
        if G is not None:
            G *= dtype.type(1.0 / n)
        return moment, G

    def add(self, V: np.ndarray, Z: np.ndarray) -> None:
        """Z ← Z + A V. V (width, m), Z (n, m)."""
        for start, stop, A in self.parts():
            Z[start:stop] += A @ V

    def gradient(self, U: np.ndarray) -> np.ndarray:
        """AᵀU/n, (width, m)."""
        G = np.zeros((self.width, self.problem.m), dtype=self.problem.dtype)
        for start, stop, A in self.parts():
            G += A.T @ U[start:stop]
        G *= self.problem.dtype.type(1.0 / self.problem.n)
        return G
