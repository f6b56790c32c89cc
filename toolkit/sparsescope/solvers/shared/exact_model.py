"""The exact second-order model on a working set of entries: sweeps over it, and conjugate gradients after them.

Both pause where nothing is half done, always at the same places (``pauses.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.coordinates import (
    FLOPS,
    SEED,
    STEPS,
    SWEEPS,
    bend_scores,
    conjugate_residuals,
    conjugate_step,
    exact_descent,
    sample_hessians,
    walk,
)
from ...pauses import even_parts, parts_of, pause, to_the_end
from ...problems.prediction import Problem
from .entries import Entries, add_scores, reads, score_parts
from .in_parts import WORK

FLAT = 500.0  # in roundings of the number type: the share of the curvatures of single entries that is rounding


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
        seed: int,
    ) -> int:
        """Sweeps over the entries of ``part`` (kernels/coordinates.py, ``exact_descent``); returns the next seed."""
        data, at = (problem.design.columns, problem.design.ones, part.rows, part.classes), walk(new.size, seed)
        model = part.t, part.ridge, self.C, self.R, new
        to_the_end(lambda: bool(exact_descent(*data, *model, sweeps, share, floor, margin, at, WORK, report)))
        return int(at.at[SEED])

    def conjugate(
        self, problem: Problem, part: Entries, new: np.ndarray, steps: int, share: float, report: np.ndarray
    ) -> float:
        """Conjugate gradients over the entries with new ≠ 0 or without a threshold, as long as no entry changes its
        sign: coordinate descent is slow where columns are correlated, and the model is quadratic there.

        After sweeps; R is not kept up to date. Ends when the residual has fallen to a share, after ``steps`` steps, or
        at the first zero, where the entry stays. Returns the share of the way to their solution that was gone.
        """
        design, (n, m) = problem.design, self.R.shape
        at = np.flatnonzero((new != 0.0) | (part.t == 0.0))
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
