"""The exact second-order model on a working set of entries: sweeps over it, its Gram matrix, conjugate gradients.

All pause where nothing is half done, always at the same places (``pauses.py``).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from ...kernels.conjugate import conjugate_descent
from ...kernels.coordinates import (
    FLOPS,
    LEFT,
    SWEEP,
    SWEEPS,
    Walk,
    entry_violations,
    exact_descent,
    walk,
)
from ...kernels.gram import entry_slopes, gram_descent, weighted_columns
from ...kernels.hessians import sample_hessians
from ...pauses import even_parts, parts_of, pause, to_the_end
from ...problems.prediction import Problem
from .entries import Entries
from .in_parts import WORK

# Flops of a matrix product that take as long as one entry of sparse or dense X in a sweep; those between two pauses.
SPARSE_ENTRY, DENSE_ENTRY, PRODUCT = 60.0, 30.0, 40_000_000
# With several scores, a move of an entry costs this share of that more for each, and with factors of Hessians a sweep
# so many times one with diagonals; columns are weighted for each pair of scores, which takes so many flops a number;
# and so many for each call of a product.
MOVED, FACTORED, WEIGHTED, CALL = 0.25, 2.0, 10.0, 90_000.0
# Weighted columns are made in blocks of so many numbers, which stay in the cache, and of so many samples at least.
BLOCK, LEAST_SAMPLES = 131_072, 64
GRAM_SWEEPS = 500  # over one Gram matrix, at most
FACTORED_FROM = 6  # scores: from there on moves on factors of Hessians cost less than those on m × m numbers
NULL = 10.0  # in roundings of the number type and classes: the share of the curvature of an intercept that is none
FLAT = 500.0  # in roundings of the number type: the share of the curvatures of single entries that is rounding


def moving(part: Entries, new: np.ndarray) -> np.ndarray:
    """Return the places of the entries with new ≠ 0 or without a threshold."""
    return np.flatnonzero((new != 0.0) | (part.t == 0.0))


def _bent(C: np.ndarray, V: np.ndarray) -> np.ndarray:
    """C·v of Hessians (…, m, m), their diagonals (…, m, 1) or their factors (…, m, 2)."""
    if C.shape[-1] == 1:
        return C[..., 0] * V
    return C[..., 0] * V - C[..., 1] * (C[..., 1] @ V)[..., None] if is_factored(C) else C @ V


def _summed(C: np.ndarray) -> np.ndarray:
    """Σ C_i, (m, m), or its diagonal (m, 1) where those are diagonal."""
    if is_factored(C):
        return np.diag(C[..., 0].sum(axis=0, dtype=float)) - C[..., 1].T @ C[..., 1]
    return np.asarray(C.sum(axis=0, dtype=float))


def samples_at_once(n: int, s: int) -> int:
    """Return of how many of n samples weighted columns of s entries are made at a time."""
    return min(n, max(LEAST_SAMPLES, min(PRODUCT // max(1, s * s), BLOCK // max(1, s))))


def hessian_width(problem: Problem) -> int:
    """Return how many numbers are kept of each row of a sample's Hessian: one where it is diagonal, two of its factors
    (kernels/hessians.py)."""
    if problem.loss.separable:
        return 1
    return 2 if problem.loss.factored and problem.m >= FACTORED_FROM else problem.m


def _order(problem: Problem) -> Any:
    return "C" if problem.design.is_sparse else "F"


def is_factored(C: np.ndarray) -> bool:
    """Return whether an array holds factors of Hessians (…, m, 2)."""
    return C.shape[-1] == 2 < C.shape[-2]


class ExactModel:
    """The model at the present scores.

    C (n, m, m), R (n, m) : Hessians and gradients of the samples, divided by n; R follows the sweeps · made (n, m) :
    flags of the rows of C that are there, those that the entries of the working set reach. C may have one of two
    shorter forms (kernels/hessians.py)

    With dense columns C and R lie class after class, so that a step reads and writes consecutive numbers; with sparse
    columns sample after sample, so that it reads few places.
    """

    def __init__(self, problem: Problem) -> None:
        n, m = problem.n, problem.m
        self.C = self._room(problem)
        self.made = np.zeros((n, m), dtype=np.uint8)
        self.R = np.empty((n, m), dtype=problem.dtype, order=_order(problem))

    def _room(self, problem: Problem) -> np.ndarray:
        """Room for the Hessians; zeros, for the samples that no entry of the working set reaches: their lag is zero."""
        shape = problem.n, problem.m, hessian_width(problem)
        return np.zeros(shape, dtype=problem.dtype, order=_order(problem))

    def take(self, problem: Problem, part: Entries, Z: np.ndarray, U: np.ndarray) -> None:
        """The model of these entries at scores Z, where the samples have the gradients U."""
        (y, loss), design, n = problem.terms, problem.design, problem.n
        if self.C.shape[2] != hessian_width(problem):  # another loss
            self.C = self._room(problem)
        rows, classes, m = part.rows, part.classes, problem.m
        if not design.is_sparse or part.reads(design).sum() >= n * m:  # it costs no more to take all samples
            rows, classes = np.full(m, -1, dtype=rows.dtype), np.arange(m, dtype=classes.dtype)
            pieces = even_parts(m, 4.0 * m * n, WORK)
        else:
            pieces = parts_of(4.0 * m * part.reads(design), WORK)
        self.made[:] = 0
        pause()
        for first, last in pieces:
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
        """Sweep over the entries of ``part`` (kernels/coordinates.py, ``exact_descent``) until there were ``sweeps`` of
        them since ``place`` was made. Returns whether they have solved the model."""
        data = problem.design.columns, problem.design.ones, part.rows, part.classes
        model = part.t, part.ridge, self.C, self.R, new
        eliminates = place.shift.size > 0
        if eliminates:
            self._free(place)
        to_the_end(lambda: bool(exact_descent(*data, *model, sweeps, share, floor, margin, place, WORK, report)))
        if place.lag.size:  # from here on R is R
            for first, last in even_parts(len(self.R), 2.0 * self.R.shape[1], WORK):
                self.R[first:last] -= self.C[first:last, :, 1] * place.lag[first:last, None].astype(self.R.dtype)
                pause()
            place.lag[:] = 0.0
        if eliminates:
            self._follow(part, new, place)
        return bool(place.at[SWEEP] < 0)

    def walk(self, problem: Problem, part: Entries, seed: int) -> Walk:
        """A descent over these entries that has not begun. It eliminates the intercept where X is sparse: dense columns
        are held about their means."""
        free = problem.m if problem.intercept and problem.design.is_sparse else 0
        width = 0 if not free else 1 if problem.loss.separable else problem.m
        return walk(part.at.size, seed, free=free, width=width, lag=problem.n if is_factored(self.C) else 0)

    def _free(self, place: Walk) -> None:
        """The shift of the intercept that solves the model, before a descent that eliminates it."""
        m, width = place.inverse.shape
        if not place.inverse.any():
            B = np.zeros((m, width))
            for first, last in even_parts(len(self.R), float(m * width), WORK):
                B += _summed(self.C[first:last])
                pause()
            # Scores that move together may change no loss: there B is rounding.
            null = NULL * m * float(np.finfo(self.C.dtype).eps)
            if width == 1:
                np.divide(1.0, B, out=place.inverse, where=null * B.max(initial=0.0) < B)
            else:
                place.inverse[:] = np.linalg.pinv(B, rcond=null, hermitian=True)
        place.shift[:] = -_bent(place.inverse, self.R.sum(axis=0, dtype=float))

    def _follow(self, part: Entries, new: np.ndarray, place: Walk) -> None:
        """Move the intercept by that shift after it."""
        at = np.flatnonzero(part.rows < 0)
        new[at] += place.shift[part.classes[at]]
        shift = place.shift.astype(self.R.dtype)
        for first, last in even_parts(len(self.R), float(self.C[0].size), WORK):
            self.R[first:last] += _bent(self.C[first:last], shift)
            pause()

    def gram_cost(self, problem: Problem, part: Entries, new: np.ndarray) -> float:
        """Return what :meth:`descend_on_gram` costs, in sweeps over the entries that it moves; infinite where C is not
        there for all samples."""
        n, m, at, design = problem.n, problem.m, moving(part, new), problem.design
        if m > 1 and not self.made.all():
            return math.inf
        entry = SPARSE_ENTRY if design.is_sparse else DENSE_ENTRY
        read = max(1.0, float(part.reads(design)[at].sum()))
        sizes = np.bincount(part.classes[at], minlength=m)
        apart = float(n) * float(np.square(sizes, dtype=float).sum())  # a Gram matrix for each score
        if self.C.shape[2] == 1:
            calls = float(sum(math.ceil(n / samples_at_once(n, int(size))) for size in sizes if size))
            return (apart + CALL * calls) / (entry * read)
        blocks, whole = math.ceil(n / samples_at_once(n, at.size)), float(n) * at.size**2
        if is_factored(self.C):
            flops, calls = whole + apart + WEIGHTED * n * at.size * 2.0, blocks * (m + 1.0)
            return (flops + CALL * calls) / (FACTORED * entry * read)
        flops, calls = whole + WEIGHTED * n * at.size * m, blocks * m * (m + 1) / 2.0
        return (flops + CALL * calls) / (entry * (1.0 + MOVED * (m - 1)) * read)

    def descend_on_gram(
        self, problem: Problem, part: Entries, new: np.ndarray, share: float, seed: int, report: np.ndarray
    ) -> int:
        """Sweeps on the Hessian XᵀCX of the entries with new ≠ 0 or without a threshold, until the violations add up to
        a share of what they were. After sweeps over the columns; R is not kept up to date. Returns the next seed."""
        at = moving(part, new)
        at = at[np.argsort(part.classes[at], kind="stable")]
        if self.C.shape[2] > 1:
            return self._descend(problem, part, new, at, share, seed, report)
        ends = np.searchsorted(part.classes[at], np.arange(problem.m + 1))
        for first, last in pairwise(ends):  # no curvature goes with two scores
            if first < last:
                seed = self._descend(problem, part, new, at[first:last], share, seed, report)
        return seed

    def _descend(
        self,
        problem: Problem,
        part: Entries,
        new: np.ndarray,
        at: np.ndarray,
        share: float,
        seed: int,
        report: np.ndarray,
    ) -> int:
        """Sweep over the Hessian of the entries at these places, which lie class after class, as above."""
        rows, classes, t, ridge, w, s = part.rows[at], part.classes[at], part.t[at], part.ridge[at], new[at], at.size
        slope, violation = np.zeros(s, dtype=self.R.dtype), np.empty(s, dtype=self.R.dtype)
        read = part.reads(problem.design)[at]
        for first, last in parts_of(2.0 * read, WORK):
            entry_slopes(problem.design.columns, problem.design.ones, rows, classes, self.R, first, last, slope)
            pause()
        entry_violations(slope + ridge * w, w, t, 0.0, violation)
        target, order, end = share * float(violation.sum()), np.arange(s), report[SWEEPS] + GRAM_SWEEPS
        H = self._gram(problem, rows, classes)
        report[FLOPS] += float(problem.n) * s * s + 4.0 * float(read.sum())
        at_once = min(GRAM_SWEEPS, max(1, WORK // max(1, 2 * s * s)))
        while report[SWEEPS] < end:
            seed = int(gram_descent(H, t, ridge, slope, w, at_once, target, order, seed, report))
            pause()
            if report[LEFT] <= target:
                break
        new[at] = w
        return seed

    def _gram(self, problem: Problem, rows: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """XᵀCX of these entries, (s, s), which lie class after class; where Hessians are diagonal, all of one class."""
        (n, m), s, design, C = self.R.shape, rows.size, problem.design, self.C
        alone = C.shape[2] == 1
        size = samples_at_once(n, s)
        H, block, places = np.zeros((s, s), C.dtype), np.empty(size * s, C.dtype), np.zeros(s, np.int64)
        of = [slice(first, last) for first, last in pairwise(np.searchsorted(classes, np.arange(m + 1)))]
        for first in range(0, n, size):
            last = min(first + size, n)
            here = block[: (last - first) * s].reshape(s, last - first).T
            curves = C[first:last, classes[0], 0] if alone else np.ones(last - first, C.dtype)
            weighted_columns(design.columns, rows, np.sqrt(np.maximum(curves, 0.0)), first, places, here)
            if alone:
                H += here.T @ here
                pause()
                continue
            if is_factored(C):
                for k in range(m):
                    H[of[k], of[k]] += (here[:, of[k]] * C[first:last, k, 0, None]).T @ here[:, of[k]]
                here *= C[first:last, classes, 1]
                H -= here.T @ here
                pause()
                continue
            for k in range(m):
                for q in range(k + 1):
                    H[of[k], of[q]] += (here[:, of[k]] * C[first:last, k, q, None]).T @ here[:, of[q]]
                pause()
        for k in range(0 if alone or is_factored(C) else m):
            for q in range(k):
                H[of[q], of[k]] = H[of[k], of[q]].T
        return H

    def conjugate(
        self, problem: Problem, part: Entries, new: np.ndarray, steps: int, share: float, report: np.ndarray
    ) -> float:
        """Conjugate gradients over the entries with new ≠ 0 or without a threshold, as long as no entry changes its
        sign: coordinate descent is slow where columns are correlated, and the model is quadratic there.

        After sweeps; R is not kept up to date. Ends when the residual has fallen to a share, after ``steps`` steps, or
        at the first zero, where the entry stays. Returns the share of the way to their solution that was gone.
        """
        design, at, dtype = problem.design, moving(part, new), self.R.dtype
        some = Entries(at, part.rows[at], part.classes[at], new[at], part.t[at], part.ridge[at])
        data = design.columns, design.ones, some.rows, some.classes, some.t, some.ridge, self.C, self.R, some.w
        end = steps, share, FLAT * float(np.finfo(dtype).eps)
        P, left, diagonal, move = (np.zeros(at.size, dtype) for _ in range(4))
        space, place = (np.empty_like(self.R), P, left, diagonal, move), walk(0)
        to_the_end(lambda: bool(conjugate_descent(*data, *end, *space, place, WORK, report)))
        crossing = (some.t > 0.0) & (some.w * (some.w + move) < 0.0)
        shares = -some.w[crossing] / move[crossing]
        part_of_move = min(1.0, float(shares.min(initial=1.0)))
        found = some.w + part_of_move * move
        found[np.flatnonzero(crossing)[shares <= part_of_move]] = 0.0
        new[at] = found
        return part_of_move
