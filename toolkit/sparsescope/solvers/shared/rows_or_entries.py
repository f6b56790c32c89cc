"""Choice between steps on rows of W and Newton steps on its single entries, by what was measured of both."""

from __future__ import annotations

import numpy as np

from ...problems.prediction import Problem
from ...registry import solvers
from .gradient_steps import FEW, is_tangled

# Scores from which on sweeps over rows of words beat Newton steps on entries: of hinges, and with a ridge of at least
# this share (measured with 3 to 20 classes of pydocs, 20 newsgroups and generated words, λ down to .005 λ_max: with
# a ridge up to five times as fast for twelve classes, .9 of the time on average for eight to ten; for six 1.4). With an
# intercept, which Newton steps on entries eliminate and sweeps over rows do not, a ridge makes no difference (five data
# sets, four losses, λ of .2 and .02 λ_max, three gaps: rows take 1.4 of the time for nine classes, 1.15 for twelve, .7
# for twenty). Where the loss is a sum over scores, Hessians are diagonal and moves of entries cost as much as with one
# score: rows win without an intercept and with hinges only (1.1 to 1.7 times as fast), and take up to eight times as
# long elsewhere (45 problems with 8 to 30 classes).
MANY_SCORES, MANY_WITH_RIDGE, LEAST_RIDGE = 16, 8, 0.1
LEAST_FACTORED = 0.5  # the share for a loss whose Hessians have factors: with a quarter, entries took .86 of the time
# Nor do rows win with few scores n·m: of hinges with a ridge, of hinges without one, and of other losses where X has so
# many features for each sample. On drawn sets of words with 6 to 26 classes entries took .5 to .9 of the seconds for
# hinges with fewer, 1.1 to 2.5 times as long with more; for the logistic loss .5 to 1.9, .86 on average.
LEAST_HINGED, LEAST_HINGED_NO_RIDGE, LEAST_SMOOTH, WIDE = 28_000, 50_000, 20_000, 4.0
# The same for any X with few features for its samples and classes: m³n/d from which on rows win, also along a path
# (measured on 30 problems of 38 to 20 000 samples, 4 to 22 283 features and 2 to 26 classes, real and generated). Not
# where columns of dense X go together and Hessians have a short form: sums over scores (.1 to .8 of the seconds on five
# drawn data sets) and the logistic loss (.58 on average of 40, with six to sixteen classes; .11 to 1.6).
ROWS_WIN, ROWS_WIN_WITH_RIDGE = 150_000.0, 25_000.0
# The same for dense X with a sample for two features, and three scores or more: m̃²·√(ñ·D³)/d from which on they win,
# with D directions of the columns, ñ samples and m̃ classes (1/Σ p² of their shares p) in effect. Steps on all scores
# are products of matrices; pixels, rare features and rare classes make them short. Measured with two losses and gaps of
# 1e-2 to 1e-6 on 60 data sets, half of them real, of 100 to 12 000 samples, 9 to 1200 features and 3 to 20 classes, and
# with ridges on 30: a fifth of newglmnet's seconds where it is largest, four times as long where it is smallest; along
# a path likewise.
DENSE_SCORES, DENSE_ROWS_WIN, DENSE_WITH_RIDGE = 3, 5000.0, 450.0
# One or two scores, or a quadratic loss, and dense X whose columns do not go together: D/d at least, samples for each
# feature, and the share of λ_max that λ is at most, as paths go on with what begins at λ_max. With few samples for a
# feature X holds many numbers and λ is smaller. Gradients of all weights, then Newton steps took .4 to 1.0 of the
# seconds of single entries with one score (24 drawn data sets of 1000 to 60 000 samples, two losses, six λ and gaps
# each: .73 on average), and .3 to 1.0 with least squares. For these the condition with D³ from above is a lower one,
# which holds from MANY_SQUARES scores on for fewer samples, too (sixteen: .01 to .9 of the seconds, eight: .6 to 1.5).
FEW_SCORES, APART, BELOW, SAMPLES_EACH = 2, 0.85, 0.5, 7
FEWER_EACH, LEAST_NUMBERS, FAR_BELOW = 2, 300_000, 0.05
SQUARES_WIN, MANY_SQUARES = 2500.0, 10
# With one score and more than FEW columns Newton steps on entries go on to the end, however many weights are in use,
# where the columns have fewer directions than FEW_DIRECTIONS (on 54 drawn data sets of 130 to 600 features with fewer
# than 250, neighbours or factors of which go together, two losses and λ of .003 to .05 λ_max they took .97, .95 and .88
# of the seconds of what went on before, to gaps of 1e-2, 1e-4 and 1e-6; on another processor, with 128 to 250, 1.07 of
# those of steps on rows on eleven, and up to twice as long where all features tell). On hinges with HINGES_EACH samples
# for a feature and columns that do not go together they do, and begin, from such a λ on (.80, .88 and .96 of the
# seconds of steps on rows, on 19 drawn sets; 1.09 to 1.17 on 21 others, and up to 2.5 where neighbours go together).
FEW_DIRECTIONS, HINGES_EACH, HINGES_ABOVE = 150, 10, 0.005


def sums_entries(problem: Problem) -> bool:
    """Return whether Ω is a sum over single entries with a threshold, Σ a|w| + b½w²."""
    terms = problem.regulariser.entry_terms()
    return terms is not None and bool(np.any(terms[0]))


def prefers_rows(problem: Problem) -> bool:
    """Return whether steps on rows beat Newton steps on single entries.

    They do with many classes and few features for the samples there are; with dense X whose columns do not go together,
    and several classes of one size, or one or two scores; and with sparse X and many classes, with the curvature of a
    ridge or with hinges, most of which are inactive. They do so less often where the loss is a sum over scores.
    """
    if solvers.create("working-set").solves(problem):
        return False  # weights of single entries, say
    terms = problem.regulariser.entry_terms()
    assert terms is not None
    curved = float(terms[1] / np.mean(terms[0]))
    ridge = curved >= LEAST_RIDGE
    n, d, separable = problem.n, problem.d, problem.loss.separable
    if separable and problem.design.is_sparse and (problem.intercept or not problem.loss.hinges):
        return False
    if problem.m**3 * n >= (ROWS_WIN_WITH_RIDGE if ridge else ROWS_WIN) * d:
        short = separable or problem.loss.factored
        return problem.design.is_sparse or not (short and is_tangled(problem))
    if problem.design.is_sparse:
        ridge = curved >= (LEAST_FACTORED if problem.loss.factored else LEAST_RIDGE)
        many = MANY_WITH_RIDGE if ridge and not problem.intercept else MANY_SCORES
        return problem.m >= many and (ridge or problem.loss.hinges) and _has_many_scores(problem, ridge)
    if begins_on_rows(problem):
        return True
    if problem.m < DENSE_SCORES or 2 * n < d:
        return False
    return _products_win(problem, DENSE_WITH_RIDGE if ridge else DENSE_ROWS_WIN)


def begins_on_rows(problem: Problem) -> bool:
    """Return whether steps on rows win from zero weights on, though not from near ones: with few scores, or a quadratic
    loss, and dense X with many samples whose columns do not go together, at a λ well below λ_max."""
    if problem.design.is_sparse or not (problem.m <= FEW_SCORES or problem.loss.quadratic):
        return False
    n, d, share = problem.n, problem.d, _share(problem)
    if share > BELOW or _has_hinges_of_many_samples(problem):
        return False
    many = n >= SAMPLES_EACH * d
    enough = n >= FEWER_EACH * d and n * d >= LEAST_NUMBERS and share <= FAR_BELOW
    if (many or enough) and problem.directions() >= APART * d:
        return True
    squares = problem.loss.quadratic and (problem.m >= MANY_SQUARES or (problem.m >= FEW_SCORES and 2 * n >= d))
    return squares and _products_win(problem, SQUARES_WIN)


def keeps_entries(problem: Problem) -> bool:
    """Return whether Newton steps on single entries, once begun on dense X, win to the end: with one score, and few
    directions of the columns or hinges of many samples."""
    return problem.m == 1 and (problem.directions() < FEW_DIRECTIONS or _has_hinges_of_many_samples(problem))


def _has_hinges_of_many_samples(problem: Problem) -> bool:
    """Return whether there are one score, hinges, many samples for each of many features that do not go together, and
    no very small λ."""
    hinges = problem.m == 1 and problem.loss.hinges and problem.d > FEW and problem.n >= HINGES_EACH * problem.d
    return hinges and _share(problem) > HINGES_ABOVE and problem.directions() >= APART * problem.d


def _has_many_scores(problem: Problem, ridge: bool) -> bool:
    """Return whether there are enough scores n·m for steps on rows of words to win."""
    scores = problem.n * problem.m
    if problem.loss.hinges:
        return scores >= (LEAST_HINGED if ridge else LEAST_HINGED_NO_RIDGE)
    return scores >= LEAST_SMOOTH or problem.d < WIDE * problem.n


def _share(problem: Problem) -> float:
    """Return λ/λ_max."""
    return float(problem.lam / max(problem.lam_max, np.finfo(float).tiny))


def _products_win(problem: Problem, least: float) -> bool:
    """Return whether m̃²·√(ñ·D³)/d is at least ``least``."""
    size = _classes(problem) ** 2 * np.sqrt(problem.even_samples() * problem.directions() ** 3)
    return bool(size >= least * problem.d)


def _classes(problem: Problem) -> float:
    """Return how many classes there are in effect: m where they are of one size, or of label sets."""
    return float(problem.m) if problem.multilabel else float(1.0 / np.sum(problem.class_shares**2))
