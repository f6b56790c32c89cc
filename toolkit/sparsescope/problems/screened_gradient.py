"""Gradients without the rows that cannot matter: those of zero weights whose level is proved to be at most λ.

A row j of zero weights adds to a certificate, and to a choice of rows, only if its level, the smallest λ at which it
stays zero, is above λ. The level is a gauge, so from dual rows U₀ whose levels are known
    level_j(U) ≤ level_j(U₀) + c·‖x_j‖·‖U − U₀‖_F/n,   with c of Regulariser.spread.
Near a solution U hardly moves, and the products of most columns of X are left out. Rows that are computed are the same
to the last bit, so a run does not depend on what was looked at before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs.partitioned import PartitionedDesign
from ..kernels.rows import support_flags
from ..pauses import even_parts
from .linear_algebra import inner

SAFETY = 1e-9  # of λ, against rounding of levels and distances
# U₀ is replaced by the present U where that many of the entries of X are read, or where what was read since, beyond the
# least so far, has come to a whole product.
MOST_READ = 0.7
DIFFERENCES = 20_000  # entries of dual rows that are subtracted at a time


def screens(problem: Any) -> bool:
    """Decide whether rows can be left out: sparse data in double precision and one piece, and a penalty with zeros on
    single rows of one kind."""
    design, regulariser = problem.design, problem.regulariser
    whole = isinstance(design, PartitionedDesign) or regulariser.needs_all_rows or problem.dtype != np.float64
    return bool(design.is_sparse and not whole and np.isfinite(regulariser.spread()))


def used_rows(W: np.ndarray) -> np.ndarray:
    """Flag the rows that are not zero, (d,) bool: NaN is not zero."""
    flags = np.empty(len(W), dtype=np.uint8)
    support_flags(W, flags)
    return flags.view(np.bool_)


class ScreenedGradient:
    """The levels at earlier dual rows, and what they prove about the present ones; of one problem after the other.

    Nothing is known before the second look at a problem: who looks once does not pay for it.
    """

    def __init__(self) -> None:
        self.of: tuple[Any, Any] = (None, None)
        self.forget()

    def __deepcopy__(self, memo: Any) -> ScreenedGradient:
        return ScreenedGradient()  # a fork learns for itself: the data are not to be copied with it

    def forget(self) -> None:
        """Know nothing of any dual rows."""
        self.looks = 0
        self.U: np.ndarray | None = None
        self.levels = self.reach = np.empty(0)
        self.least, self.beyond = 1.0, 0.0

    def learns(self, problem: Any) -> bool:
        """Decide whether what is seen of all rows is worth knowing: their levels are then written to ``levels``.

        Parameters
        ----------
        problem
            the problem, whose gradient is about to be looked at.

        Returns
        -------
        bool
            whether to call :meth:`know` if all rows are looked at.
        """
        if not self._knows(problem):
            self.of = (problem.design, problem.regulariser)
            self.forget()
        self.looks += 1
        if self.looks < 2 or not screens(problem):
            return False
        if self.looks == 2:
            design = problem.design
            self.levels = np.empty(problem.d)
            self.reach = problem.regulariser.spread() * np.sqrt(design.squared_norms) / problem.n
        return True

    def know(self, U: np.ndarray) -> None:
        """Take over dual rows U (n, m) whose levels have been written."""
        if self.U is None:
            self.U = np.empty_like(U)
        self.U[:] = U
        self.least, self.beyond = 1.0, 0.0

    def _knows(self, problem: Any) -> bool:
        design, regulariser = self.of
        return design is problem.design and regulariser.same_levels(problem.regulariser)

    def rows(self, problem: Any, U: np.ndarray, used: np.ndarray | None = None) -> np.ndarray | None:
        """Return the rows that may have a level above λ, and the ``used`` ones; ``None``: nothing is known.

        Parameters
        ----------
        problem
            the problem.
        U
            dual rows (n, m).
        used
            flags (d,) of rows that are wanted in any case.

        Returns
        -------
        np.ndarray | None
            numbers of the rows, sorted; at least one.
        """
        if self.U is None or not self._knows(problem):
            return None
        distance = self._distance(U)
        if not np.isfinite(distance):  # of a run that diverges: all rows are looked at, and the error is theirs
            return None
        bound = distance * self.reach
        bound += self.levels
        wanted = bound > problem.lam * (1.0 - SAFETY)
        if used is not None:
            wanted |= used
        found = np.flatnonzero(wanted)
        return found if found.size else np.zeros(1, dtype=found.dtype)

    def _distance(self, U: np.ndarray) -> float:
        """‖U − U₀‖_F, some rows at a time: a difference of all would have to be kept somewhere."""
        assert self.U is not None
        total = 0.0
        for first, last in even_parts(len(U), U.shape[1], DIFFERENCES):
            moved = U[first:last] - self.U[first:last]
            total += inner(moved, moved)
        return float(np.sqrt(total))

    def worth(self, problem: Any, U: np.ndarray, used: np.ndarray, have: np.ndarray | None = None) -> np.ndarray | None:
        """Return the same rows without those that the caller has (``have``, numbers), or ``None`` where a look at all
        rows pays: it renews what is known."""
        rows = self.rows(problem, U, used)
        if rows is None:
            return None
        if have is not None:
            rows = np.setdiff1d(rows, have, assume_unique=True)
        starts = problem.design.matrix.indptr
        read = float((starts[rows + 1] - starts[rows]).sum()) / max(problem.design.nnz, 1)
        self.least = min(self.least, read)
        self.beyond += read - self.least
        return rows if read <= MOST_READ and self.beyond <= 1.0 else None

    def product(self, U: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Compute the named rows of XᵀU."""
        design = self.of[0]
        found: np.ndarray = design.rmatmul_rows(rows, U, np.empty((rows.size, U.shape[1])))
        return found
