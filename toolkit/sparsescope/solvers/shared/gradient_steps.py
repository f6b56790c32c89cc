"""First-order steps on all of W or on a working set: a few SpaRSA steps in place of a sweep, or before Newton steps.

Where a working set would hold most columns of X, because there are few or because most are in use, products with all of
X cost less than a sweep that walks its columns one by one. For dense X this also holds of the columns of a working set:
gathered into one array, they are read by products of matrices. On dense X the step of a row is as long as if its column
had the length of the longest one, so columns of raw data need no scaling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...pauses import even_parts, pause
from ...problems.base import Certificate
from ...problems.certificate import Known
from ...problems.prediction import Problem
from ...problems.screened_gradient import used_rows
from ...registry import solvers
from ..base import State
from ..sparsa import SpaRSA, SpaRSAState
from .forecast import ridge

FEW = 128  # columns of X up to which gradient steps on all rows take the place of sweeps
# Samples of dense X from which on gradient steps on a working set do, or with fewer where Ω has a ridge or columns are
# no more than FEW_DENSE: a sweep takes the exponentials of all samples anew for each column. Measured on 20 data sets,
# six of them real, of 80 to 10 000 samples, 150 to 22 283 features and 3 to 20 classes: .6 of the time on average, .1
# to 1.7. With 105 samples and ℓ1/ℓ2 it is 1.1 times as long. With hinges, of which a sweep leaves out the samples that
# are flat, .4 to .9 on average over 15 data sets.
FEW_SAMPLES, FEW_DENSE = 128, 400
# With fewer samples and more columns they also do where columns have this many directions in effect for each sample:
# ten drawn sets of 45 to 127 samples, 500 to 3000 features and 2 to 8 classes with four to twenty-three of them take
# .32 to 1.25 of the time, .75 on average over three losses and four penalties (gaps 1e-2 to 1e-6), three others .39 to
# 1.22. Three with a tenth, and two of 38 and 105 samples of 7129 and 22 283 genes, take 1.14: they stay with sweeps.
APART = 2.0
GATHERED_BYTES = 2**29  # of the columns of a working set, if they are most of X; more stay where they are, for sweeps
# Up to MOST columns of dense X, and no more than samples, gradient steps open where at least the share VIOLATED of the
# rows is violated at zero weights. They go on while CROWDED of the rows are in use, and end below SPARSE. Measured on
# 2000 to 5000 samples, 200 to 1500 features and 5 to 12 classes, with .05 to 1 of the rows in use: with most of them
# two to nine times as fast as sweeps. From 800 features on, where few stay in use, an opening costs what others gain.
MOST, VIOLATED, CROWDED, SPARSE = 600, 0.9, 0.5, 0.4
# They open on tangled columns (below) up to this share of λ_max only: of features that share one to five factors (240
# problems of 150 to 5000 samples and 130 to 600 features) few stay in use at a larger λ, where an opening costs a tenth
# to two thirds. At smaller ones it costs as often as it gains, but leads on to gradient steps where these go on well.
SMALL = 0.02
# Columns are tangled if they have fewer directions in effect than this share of d and n: pixels (.03 to .11 of them;
# generated features and words .6 to 1), where sweeps leave fewer rows in use. With hinges and one score gradient steps
# take 1.08 of the time there (1500 and 5000 images), with ten .68 under ℓ1 and .96 under ℓ1/ℓ2.
TANGLED = 0.25
# Share of single weights in use from which on they are faster than newglmnet on the same data, 1.5 to 15 times; with
# one score or two, whose Hessians cost little, 1.5 to 3 times.
MANY_USED, MANY_USED_OF_FEW = 0.35, 0.7
# Gradient steps open on sparse X with at most so many weights, for b of at least this share of a in Σ a|w| + b½w². They
# gain 1.2 to 2.5 times on 3440 documents of 3034 words and 20 classes, and nothing on 11 314 of 56 436 words.
OPENED, RIDGE = 300_000, 0.5
SHORTEST = 1e-12  # squared length of a column beside the longest, below which it counts as one of this
AT_ONCE = 5  # SpaRSA steps that take the place of a sweep
COPIED = 500_000  # entries of X that are copied between two pauses


def takes_all(problem: Problem) -> bool:
    """Decide whether gradient steps on all rows take the place of sweeps: few columns, blocks that tie rows, or a dense
    X with a penalty that leaves no row out."""
    if problem.d <= FEW or problem.regulariser.blocks is not None:
        return True
    return not (problem.partitioned or problem.design.is_sparse or problem.penalty.zeroes_rows)


def takes_part(problem: Problem, rows: int) -> bool:
    """Decide whether gradient steps on a working set, of this number of rows, take the place of sweeps over it. Without
    rows, where zero weights are optimal, a sweep moves the intercept alone."""
    if problem.partitioned or problem.design.is_sparse or problem.regulariser.blocks is not None:
        return False
    if not rows or (2 * rows > problem.d and rows * problem.n * problem.dtype.itemsize > GATHERED_BYTES):
        return False
    terms = problem.regulariser.entry_terms()
    if terms is not None and terms[1] > 0.0:
        return True
    enough = problem.n >= FEW_SAMPLES or problem.d <= FEW_DENSE or problem.directions() >= APART * problem.n
    return enough and not sweeps_win(problem)


def products_win(problem: Problem) -> bool:
    """Return whether products with all of X cost little beside other work on most of its columns."""
    return not (problem.partitioned or problem.design.is_sparse) and problem.d <= min(MOST, problem.n)


def may_crowd(problem: Problem) -> bool:
    """Return whether gradient steps take the place of sweeps while most rows are in use: products with dense X."""
    if problem.partitioned or problem.design.is_sparse or takes_all(problem):
        return False
    return not sweeps_win(problem)


def sweeps_win(problem: Problem) -> bool:
    """Return whether sweeps win in spite of products with dense X: one score, hinges and columns that go together."""
    return problem.m == 1 and problem.loss.hinges and is_tangled(problem)


def is_tangled(problem: Problem) -> bool:
    """Return whether the columns of dense X have few directions in effect for their number."""
    return directions_share(problem) < TANGLED


def directions_share(problem: Problem) -> float:
    """Return how many directions the columns of dense X have in effect, beside the most that there can be."""
    return problem.directions() / min(problem.d, problem.n)


def fall_evenly(problem: Problem) -> bool:
    """Return whether sweeps or batches of gradient steps come nearer to the optimum by a factor that hardly changes:
    the penalty has kinks, and there are a ridge, or several scores and dense columns that do not go together."""
    if not problem.penalty.zeroes_rows:
        return False
    if ridge(problem) > 0.0:
        return True
    return not (problem.partitioned or problem.design.is_sparse) and problem.m > 1 and not is_tangled(problem)


def may_open(problem: Problem) -> bool:
    """Return whether gradient steps on all of dense X may come first where most rows are violated at zero weights: with
    columns that go together few of these stay in use, but at a small λ."""
    return products_win(problem) and (problem.lam <= SMALL * problem.lam_max or not is_tangled(problem))


def is_crowded(problem: Problem, coef: np.ndarray, least: float = CROWDED) -> bool:
    """Return whether they do, with at least this share of the rows of ``coef`` in use."""
    return may_crowd(problem) and bool(np.count_nonzero(used_rows(coef[: problem.d])) >= least * problem.d)


def opens(problem: Problem) -> bool:
    """Decide whether gradient steps come before sweeps from zero weights on: sparse X, a ridge, and a loss whose
    gradients cost more than the numbers of X that a sweep reads for them; without an intercept, which such X, held as
    it is, ties to all features."""
    terms = None if problem.partitioned else problem.regulariser.entry_terms()
    return bool(
        problem.design.is_sparse
        and not problem.intercept
        and problem.d * problem.m <= OPENED
        and problem.m > 1
        and not problem.loss.hinges
        and terms is not None
        and terms[1] >= RIDGE * np.mean(terms[0])
    )


def opens_on_most(problem: Problem, violation: np.ndarray) -> bool:
    """The same for dense X, with the violations (d,) of the rows at zero weights."""
    if takes_all(problem) or not may_open(problem):
        return False
    return bool(np.count_nonzero(violation) >= VIOLATED * problem.d)


def _columns(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """Copies of columns of dense X, one after the other in memory, with pauses."""
    found = np.empty((problem.n, rows.size), dtype=problem.dtype, order="F")
    for first, last in even_parts(rows.size, problem.n, COPIED):
        found[:, first:last] = problem.design.matrix[:, rows[first:last]]
        pause()
    return found


class GradientSteps:
    """SpaRSA steps on the point of another state, which may move it in between.

    Parameters
    ----------
    problem, state
        the problem, and the state whose weights and scores the steps change.
    known
        loss and gradient of its point, where somebody has taken them; blocks that tie rows do without. With ``rows``,
        its G has these.
    alpha
        α of steps that another state took on this loss; ``None``: the first of SpaRSA.
    rows
        numbers of the rows that they move, ascending; all others are zero. ``None``: all.
    """

    def __init__(
        self,
        problem: Problem,
        state: State,
        known: Known | None = None,
        alpha: float | None = None,
        rows: np.ndarray | None = None,
    ) -> None:
        if problem.regulariser.blocks is not None:
            known = None
        self.at: np.ndarray | None = None
        self.part: Problem | None = None  # that of the rows
        coef = state.coef
        if rows is not None:
            self.at = np.append(rows, problem.d) if problem.intercept else rows
            self.part, coef = problem.restricted(rows, _columns(problem, rows)), coef[self.at]
        # Under blocks, whose Newton steps come soon, short steps gain nothing (1.03 of the time in 120 cases).
        steps = "alternating" if problem.regulariser.blocks is None else "paper"
        self.solver: SpaRSA = solvers.create("sparsa", steps=steps)
        lengths = self._lengths(problem)
        alpha = self._first(self.part or problem, lengths) if alpha is None else alpha
        self.inner = SpaRSAState(self.part or problem, coef, known, alpha)
        self.inner.lengths = lengths
        self.moved = False  # whether somebody else moved the point since the last step
        self._begin()
        self._share(state)

    def adapt(self, problem: Problem) -> None:
        """Go on, on all rows, with another λ or penalty.

        The gradient of the loss stays what it was. α does not: near an optimum it is a quotient of two small numbers,
        most of which is rounding.
        """
        self._begin()
        self.inner.judge(problem)
        self.inner.K = self._first(problem, self.inner.lengths)

    def _begin(self) -> None:
        """Begin a batch."""
        self.begun, self.gained, self.cost = 0, 0.0, 0.0  # steps of the batch under way, and what they gained and cost

    def _lengths(self, problem: Problem) -> np.ndarray:
        """Lengths of the rows' steps beside each other: columns of X count as if they were of one length."""
        K = problem.block_constants("tight")
        most, lengths = float(K.max()), np.ones(problem.rows)
        words = problem.design.is_sparse and problem.d > FEW  # the rare ones would go too far
        if most > 0.0 and not words and problem.regulariser.blocks is None:
            lengths = most / np.maximum(K, SHORTEST * most)
        return lengths if self.at is None else lengths[self.at]

    @staticmethod
    def _first(problem: Problem, lengths: np.ndarray) -> float:
        """α to begin with: that of SpaRSA, whose steps have one length, for steps of these."""
        return max(float((problem.block_constants("class-aware") * lengths).max()), 1e-12)

    @property
    def objective(self) -> float:
        """F after the last step."""
        return self.inner.values[-1]

    @property
    def lowest(self) -> float:
        """The smallest F of the last few steps."""
        return min(self.inner.values)

    @property
    def alpha(self) -> float:
        """α of the next step."""
        return self.inner.K

    def advance(
        self, problem: Problem, state: State, steps: int = AT_ONCE, enough: Callable[[], bool] | None = None
    ) -> float:
        """The steps of a batch, or of the rest of it, but none after ``enough`` returned True; the weights and scores
        of ``state`` are the new point. Returns passes over the rows' columns."""
        self._resume(problem, state)
        before = self.inner.passes
        for done in range(self.begun + 1, steps + 1):
            self.solver.step(self.part or problem, self.inner)
            pause()
            self.begun = done % steps
            if self.begun and enough is not None and enough():
                break
        self._share(state)
        state.step_size, state.trials = self.inner.step_size, self.inner.trials
        return self.inner.passes - before

    def certificate(self, problem: Problem, state: State, work: Any) -> Certificate:
        """The certificate of the point, of steps on all rows; the gradient that it needs is left to the next step."""
        self._resume(problem, state)
        return self.solver.certificate(problem, self.inner, work)

    def violations(self, problem: Problem) -> np.ndarray:
        """Violations of the rows at the point of the last step; the gradient that they need is left to the next."""
        part, inner = self.part or problem, self.inner
        found, paper = np.empty(part.d), np.empty(part.d)
        G = inner.pull(part)
        part.regulariser.violations(G, 1.0 / part.n, inner.coef[: part.d], part.lam, found, paper)
        return found

    def _resume(self, problem: Problem, state: State) -> None:
        if self.moved:
            if self.at is not None:
                self.inner.coef[:] = state.coef[self.at]
            self.inner.resume(self.part or problem)
            self.moved = False
            self._begin()

    def _share(self, state: State) -> None:
        # One pair of arrays: SpaRSA exchanges the new point and the old one, Newton steps change the point in place.
        state.Z = self.inner.Z
        if self.at is None:
            state.coef = self.inner.coef
        else:
            state.coef[self.at] = self.inner.coef
