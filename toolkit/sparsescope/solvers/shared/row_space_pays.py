"""Choice of the row space of X under a ridge: what the eigenvectors of XXᵀ cost, and what they save.

Both are counted in about nanoseconds of one processor; their ratio is what matters. Steps on all features make products
with X, those on hinges more of them for a smaller λ; in the row space they cost little, after XXᵀ and its eigenvectors.
Fitted to 480 drawn problems of 60 to 1500 samples, .8 to 20 features for each and up to 20 classes, dense and words, λ
from .003 to .3 of λ_max and gaps of 1e-2 to 1e-6.
"""

from __future__ import annotations

from ...problems.prediction import Problem

MOST_SAMPLES = 3000  # the eigenvectors of XXᵀ take n³
EIGENVECTORS, ROWS = 0.2, 36.0  # for each n³ and n²
PRODUCT, OF_WORDS = 0.02, 0.6  # of XXᵀ, for each number in X and sample, dense and sparse
ONCE, PASS = 2e6, 3e4
# A product of X with the weights, or the reverse: for each number in X; the same for each class; for each row of W and
# of the scores, and each class.
DENSE, SPARSE = (0.2, 0.045, 1.5), (0.4, 0.33, 2.0)
# Products that steps on all features take; those of hinges times the share of λ_max that λ is, to a power.
SMOOTH, DENSE_HINGES, SPARSE_HINGES = 50.0, (45.0, -0.75), (20.0, -0.5)
# Features for each sample from which on it is taken for losses that are not smooth, with dense X (measured for 100 to
# 2000 samples, 2 to 10 classes, and three sets of gene expressions).
NON_SMOOTH = 3.0


def row_space_pays(problem: Problem) -> bool:
    """Return whether the row space of X is expected to be faster than steps on all features, under a ridge."""
    if not problem.loss.smooth:
        few = problem.n <= MOST_SAMPLES and problem.d >= NON_SMOOTH * problem.n
        return few and not problem.design.is_sparse
    if not is_wide(problem):
        return False
    if problem.loss.hinges:
        number, power = SPARSE_HINGES if problem.design.is_sparse else DENSE_HINGES
        number *= _share(problem) ** power
    else:
        number = SMOOTH
    return bool(number * product_cost(problem) > _setting_up(problem))


def is_wide(problem: Problem) -> bool:
    """Return whether X has more features than samples, and not too many of these for the eigenvectors of XXᵀ."""
    return problem.n <= min(MOST_SAMPLES, problem.d - 1)


def is_overspent(problem: Problem, products: int) -> bool:
    """Return whether products with the Hessian, two with X each, have cost what the row space costs to make."""
    return bool(2.0 * products * product_cost(problem) > _setting_up(problem))


def _share(problem: Problem) -> float:
    """Return λ as a share of λ_max, at most 1."""
    largest = problem.lam_reference
    return min(max(problem.lam, 1e-12 * largest) / largest, 1.0) if largest > 0.0 else 1.0


def product_cost(problem: Problem) -> float:
    """Return what a product of X with the weights costs, or one of Xᵀ with the scores' gradients."""
    number, of_class, rows = SPARSE if problem.design.is_sparse else DENSE
    return (
        PASS + problem.design.nnz * (number + of_class * problem.m) + rows * (problem.n + problem.d) * float(problem.m)
    )


def _setting_up(problem: Problem) -> float:
    n = float(problem.n)
    product = (OF_WORDS if problem.design.is_sparse else PRODUCT) * problem.design.nnz * n
    return ONCE + product + EIGENVECTORS * n**3 + ROWS * n**2
