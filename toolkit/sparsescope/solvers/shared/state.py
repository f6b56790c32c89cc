"""State of a solver: everything that changes during a run, and nothing else."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...inputs.frame import Frame
from ...kernels.rows import loss_sum, support_flags
from ...problems.prediction import Problem


class Solution(NamedTuple):
    """Coefficients where they are not zero: the numbers of the rows (s,), in order, and copies of them (s, m).

    Parameters
    ----------
    rows
        the numbers; that of the intercept is d.
    values
        the rows.
    """

    rows: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, coef: np.ndarray) -> Solution:
        """Return a copy of what is not zero.

        Parameters
        ----------
        coef
            coefficients (rows, m).

        Returns
        -------
        Solution
            the copy.
        """
        flags = np.empty(len(coef), dtype=np.uint8)
        support_flags(coef, flags)
        rows = np.flatnonzero(flags)
        return cls(rows, coef[rows])


class State:
    """State of a solver: weights, scores and counters; everything that changes during a run.

    What a solver reports (``Solver.columns``) are attributes of the same names, set by its steps.

    Parameters
    ----------
    problem
        the problem.
    coef
        weights (rows, m), with the intercept as a last row if the problem has one, in the frame of the problem's
        design: :meth:`weights` and :meth:`intercept` return them in the user's units. The array is kept.

    Attributes
    ----------
    frame
        that of the design; ``None`` if X is held as it was given.
    Z
        scores (n, m) of ``coef``.
    passes
        readings of the data, in units of all their stored entries.
    step_size, trials, working_set
        of the last step; NaN where the solver does not report them (``shared.columns``).
    working
        flags (d,) of the rows in the present working set (uint8 or bool); ``None``: all rows.
    """

    frame: Frame | None
    sparse: ClassVar[bool] = False  # True: weights() is a CSR matrix, and there are neither ``coef`` nor ``Z``
    aim = 0.0  # the relative gap at which the run will stop; 0: unknown
    ready: bool | None = None  # whether a certificate is likely to show that gap; ``None``: the solver does not know
    # Of the last step: a solver that reports them sets them, and they stay unknown for others.
    step_size = trials = working_set = float("nan")

    def __init__(self, problem: Problem, coef: np.ndarray) -> None:
        self.bare()
        self.d = problem.d
        self.frame = problem.design.frame
        self.coef = coef
        self.Z = problem.design.matmul(coef, np.empty((problem.n, problem.m), dtype=problem.dtype))

    def bare(self) -> None:
        """Everything but the weights: counters, and what the last step did."""
        self.frame = None
        self.iteration = 0
        self.passes = 0.0
        self.delegate: Any = None  # the solver that `auto` chose, and why
        self.reason = ""
        self.chosen_at: int | None = None  # iteration after which it took its first step
        self.working: np.ndarray | None = None

    def dense(self, problem: Problem) -> np.ndarray:
        """Return a copy of the coefficients as an array.

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        np.ndarray
            the coefficients (rows, m).

        Raises
        ------
        ValueError
            where the array would be too large.
        """
        return self.coef.copy()

    def point(self, problem: Problem) -> tuple[float, float, int, int]:
        """Evaluate the present weights.

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        tuple[float, float, int, int]
            mean loss, Ω(W), number of non-zero rows and of non-zero entries.
        """
        loss = loss_sum(self.Z, *problem.terms) / problem.n
        return loss, *problem.regulariser.value(self.coef[: self.d])

    def weights(self) -> Any:
        """Return W, read-only, in the user's units.

        Returns
        -------
        Any
            W (d, m), dense or CSR.
        """
        W = self.inner_weights()
        if self.frame is not None:
            W = self.frame.weights(W)
            W.flags.writeable = False
        return W

    def inner_weights(self) -> Any:
        """Return W in the frame of the problem's design.

        Returns
        -------
        Any
            a read-only view (d, m).
        """
        view = self.coef[: self.d]
        view.flags.writeable = False
        return view

    def intercept(self) -> Any:
        """Return b, read-only.

        Returns
        -------
        Any
            b (m,), or ``None``.
        """
        if self.coef.shape[0] == self.d:
            return None
        b = self.coef[self.d] if self.frame is None else self.frame.intercept(self.coef)
        b.flags.writeable = False
        return b

    def coefficients(self) -> np.ndarray:
        """Return W and b as one array, in the user's units.

        Returns
        -------
        np.ndarray
            the array (rows, m).
        """
        if self.frame is None:
            return self.coef
        b = self.intercept()
        return np.asarray(self.weights()) if b is None else np.vstack([self.weights(), b])

    def snapshot(self, flags: np.ndarray) -> tuple[np.ndarray, Any]:
        """Return what traces and paths keep of the weights.

        Parameters
        ----------
        flags
            those of :meth:`support`.

        Returns
        -------
        tuple[np.ndarray, Any]
            the numbers of the non-zero rows (int32) and a copy of their values, (len(rows), m), dense or CSR.
        """
        rows = np.flatnonzero(flags).astype(np.int32)
        return rows, self.weights()[rows]

    def snapshot_bytes(self, flags: np.ndarray) -> int:
        """Estimate the memory of the values of a :meth:`snapshot`.

        Parameters
        ----------
        flags
            those of :meth:`support`.

        Returns
        -------
        int
            bytes.
        """
        W = self.weights()
        if self.sparse:
            return int(sum(part.nbytes for part in (W.data, W.indices, W.indptr)))
        return int(np.count_nonzero(flags)) * W.shape[1] * W.itemsize

    def support(self, flags: np.ndarray) -> None:
        """Mark the non-zero rows of W.

        Parameters
        ----------
        flags
            array (d,), uint8: set to 1 where row j has a non-zero entry, else to 0.
        """
        support_flags(self.coef[: self.d], flags)

    def dual_rows(self, U: np.ndarray) -> bool:
        """Write this state's dual point into an array, rows in the domain of ℓ*.

        Parameters
        ----------
        U
            the array (n, m).

        Returns
        -------
        bool
            False if the state has no dual point: U is unchanged, and a certificate takes the gradients of the loss.
        """
        return False

    def dual_facts(self, problem: Problem) -> dict[str, float]:
        """Return the fields of a certificate that describe the dual point; none for a state without one.

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        dict[str, float]
            values by field.
        """
        return {}

    def copy(self) -> Any:
        """Return an independent state that continues from here (a fork).

        Returns
        -------
        Any
            the copy.
        """
        return copy.deepcopy(self)


class Start(State):
    """Weights to start from in place of those of the state that is left, with the dual point of that state.

    Parameters
    ----------
    problem
        the problem.
    coef
        the weights (rows, m), in the frame of its design.
    left
        the state that is left; ``None``: there is no dual point.
    """

    def __init__(self, problem: Any, coef: np.ndarray, left: State | None) -> None:
        self.bare()
        self.d, self.frame = problem.d, problem.design.frame
        self.coef, self._left = coef, left

    def dual_rows(self, U: np.ndarray) -> bool:
        return self._left is not None and self._left.dual_rows(U)
