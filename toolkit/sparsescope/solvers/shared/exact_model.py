"""The exact second-order model on a working set of entries: sweeps over it, its Gram matrix, conjugate gradients.

All pause where nothing is half done, always at the same places (``pauses.py``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...kernels.coordinates import (
    FLOPS,
    LEFT,
    STEPS,
    SWEEP,
    SWEEPS,
    Walk,
    bend_scores,
    conjugate_residuals,
    conjugate_step,
    entry_violations,
    exact_descent,
    sample_hessians,
)
from ...kernels.gram import entry_slopes, gram_descent, weighted_columns
from ...pauses import even_parts, parts_of, pause, to_the_end
from ...problems.prediction import Problem
from .entries import Entries, add_scores, reads, score_parts
from .in_parts import WORK

# Flops of a matrix product that take as long as one entry of sparse or dense X in a sweep; those between two pauses.
SPARSE_ENTRY, DENSE_ENTRY, PRODUCT = 60.0, 30.0, 40_000_000
# Weighted columns are made in blocks of so many numbers, which stay in the cache, and of so many samples at least.
BLOCK, LEAST_SAMPLES = 131_072, 64
GRAM_SWEEPS = 500  # over one Gram matrix, at most
FLAT = 500.0  # in roundings of the number type: the share of the curvatures of single entries that is rounding


def moving(part: Entries, new: np.ndarray) -> np.ndarray:
    """Return the places of the entries with new ≠ 0 or without a threshold."""
    return np.flatnonzero((new != 0.0) | (part.t == 0.0))


class ExactModel:
    """The model at the present scores.

    C (n, m, m), R (n, m) : Hessians and gradients of the samples, divided by n; R follows the sweeps · made (n, m) :
    flags of the rows of C that are there, those that the entries of the working set reach

    With dense columns C and R lie class after class, so that a step reads and writes consecutive numbers; with sparse
    columns sample after sample, so that it reads few places.
    """

    def __init__(self, problem: Problem) -> None:
        n, m = problem.n, problem.m
        order: Any = "C" if problem.design.is_sparse else "F"
        self.C = np.empty((n, m, m), dtype=problem.dtype, order=order)
        self.made = np.zeros((n, m), dtype=np.uint8)
        self.R = np.empty((n, m), dtype=problem.dtype, order=order)

    def take(self, problem: Problem, part: Entries, Z: np.ndarray, U: np.ndarray) -> None:
        """The model of these entries at scores Z, where the samples have the gradients U."""
        (y, loss), design, n = problem.terms, problem.design, problem.n
        rows, classes = part.rows, part.classes
        read = reads(design, rows)
        if not design.is_sparse or read.sum() >= n * problem.m:  # it costs no more to take all samples
            rows, classes = np.full(problem.m, -1, dtype=rows.dtype), np.arange(problem.m, dtype=classes.dtype)
            read = reads(design, rows)
        self.made[:] = 0
        for first, last in parts_of(4.0 * problem.m * read, WORK):
            data = design.columns, design.ones, rows, classes, first, last, Z, U, y, loss
            sample_hessians(*data, 1.0 / n, self.made, self.C)
            pause()
        np.multiply(U, problem.dtype.type(1.0 / problem.n), out=self.R)
        pause()

    def sweep(
        self,
        problem: Problem,
        part: Entries,
        new: np.ndarray,
        report: np.ndarray,
        *,
        sweeps: int,
        share: float,
        floor: float,
        margin: float,
        place: Walk,
    ) -> bool:
        """Sweep over the entries of ``part`` (kernels/coordinates.py, ``exact_descent``), up to so many in all since
        ``place`` was made. Returns whether they have solved the model."""
        data = problem.design.columns, problem.design.ones, part.rows, part.classes
        model = part.t, part.ridge, self.C, self.R, new
        to_the_end(lambda: bool(exact_descent(*data, *model, sweeps, share, floor, margin, place, WORK, report)))
        return bool(place.at[SWEEP] < 0)

    def gram_cost(self, problem: Problem, part: Entries, new: np.ndarray) -> float:
        """Return what :meth:`descend_on_gram` costs, in sweeps over the entries that it moves; infinite with several
        scores."""
        if problem.m > 1:
            return math.inf
        at, design = moving(part, new), problem.design
        entry = SPARSE_ENTRY if design.is_sparse else DENSE_ENTRY
        return float(problem.n * at.size**2 / (entry * max(1, reads(design, part.rows[at]).sum())))

    def descend_on_gram(
        self, problem: Problem, part: Entries, new: np.ndarray, share: float, seed: int, report: np.ndarray
    ) -> int:
        """Sweeps on the Hessian XᵀCX of the entries with new ≠ 0 or without a threshold, of one score, until the
        violations add up to a share of what they were. After sweeps over the columns; R is not kept up to date. Returns
        the next seed."""
        at = moving(part, new)
        rows, t, ridge, w, s = part.rows[at], part.t[at], part.ridge[at], new[at], at.size
        slope, violation = np.zeros(s, dtype=self.R.dtype), np.empty((s, 1), dtype=self.R.dtype)
        data = problem.design.columns, problem.design.ones, rows, part.classes[at]
        read = reads(problem.design, rows)
        for first, last in parts_of(2.0 * read, WORK):
            entry_slopes(*data, self.R, first, last, slope)
            pause()
        entry_violations((slope + ridge * w)[:, None], w[:, None], t[:, None], 0.0, violation)
        target, order, end = share * float(violation.sum()), np.arange(s), report[SWEEPS] + GRAM_SWEEPS
        H = self._gram(problem, rows)
        report[FLOPS] += float(problem.n) * s * s + 4.0 * float(read.sum())
        at_once = max(1, WORK // max(1, 2 * s * s))
        while report[SWEEPS] < end:
            seed = int(gram_descent(H, t, ridge, slope, w, at_once, target, order, seed, report))
            pause()
            if report[LEFT] <= target:
                break
        new[at] = w
        return seed

    def _gram(self, problem: Problem, rows: np.ndarray) -> np.ndarray:
        """XᵀCX of these columns, (s, s)."""
        n, s, design = problem.n, rows.size, problem.design
        size = min(n, max(LEAST_SAMPLES, min(PRODUCT // max(1, s * s), BLOCK // max(1, s))))
        H, block = np.zeros((s, s), dtype=self.R.dtype), np.empty(size * s, dtype=self.R.dtype)
        places = np.zeros(s, dtype=np.int64)
        for first in range(0, n, size):
            last = min(first + size, n)
            here = block[: (last - first) * s].reshape(last - first, s, order="F")
            weighted_columns(design.columns, rows, self.C, first, last, places, here)
            H += here.T @ here
            pause()
        return H

    def conjugate(
        self, problem: Problem, part: Entries, new: np.ndarray, steps: int, share: float, report: np.ndarray
    ) -> float:
        """Conjugate gradients over the entries with new ≠ 0 or without a threshold, as long as no entry changes its
        sign: coordinate descent is slow where columns are correlated, and the model is quadratic there.

        After sweeps; R is not kept up to date. Ends when the residual has fallen to a share, after ``steps`` steps, or
        at the first zero, where the entry stays. Returns the share of the way to their solution that was gone.
        """
        design, (n, m) = problem.design, self.R.shape
        at = moving(part, new)
        some = Entries(at, part.rows[at], part.classes[at], new[at], part.t[at], part.ridge[at])
        read = reads(design, some.rows)
        data = design.columns, design.ones, some.rows, some.classes
        left, diagonal, P, move = (np.zeros(at.size, dtype=self.R.dtype) for _ in range(4))
        rho, length = 0.0, float(read.sum())
        for first, last in parts_of(5.0 * read, WORK):
            model = some.t, some.ridge, self.C, self.R, some.w
            rho = conjugate_residuals(*data, *model, first, last, rho, left, diagonal, P)
            pause()
        report[FLOPS] += 5.0 * length
        target, E = share * share * rho, np.empty_like(self.R)
        of_scores, of_entries = score_parts(design, some), list(parts_of(2.0 * read, WORK))
        flat = FLAT * float(np.finfo(self.R.dtype).eps)
        for _ in range(steps):
            if rho <= target:
                break
            add_scores(design, some, P, E, of_scores)
            curve = 0.0
            for first, last in even_parts(n, 2.0 * m * m, WORK):
                curve = bend_scores(self.C, E, first, last, curve)
                pause()
            curve += float((some.ridge * P * P).sum(dtype=np.float64))
            apart = float((diagonal * P * P).sum(dtype=np.float64))
            if curve <= flat * apart:  # nothing changes along it: all intercepts may move together, however far
                break
            before, size, rho = rho, rho / curve, 0.0
            for first, last in of_entries:
                rho = conjugate_step(*data, some.ridge, E, size, first, last, rho, P, move, left, diagonal)
                pause()
            P[:] = left / diagonal + rho / before * P
            report[SWEEPS] += 1.0
            report[STEPS] += at.size
            report[FLOPS] += 4.0 * length + n * m * (2.0 * m + 2.0) + 10.0 * at.size
        crossing = (some.t > 0.0) & (some.w * (some.w + move) < 0.0)
        shares = -some.w[crossing] / move[crossing]
        part_of_move = min(1.0, float(shares.min(initial=1.0)))
        found = some.w + part_of_move * move
        found[np.flatnonzero(crossing)[shares <= part_of_move]] = 0.0
        new[at] = found
        return part_of_move
