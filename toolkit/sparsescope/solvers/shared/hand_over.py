"""The moment at which `auto` goes on with `ssnal`: counted work on the dual, so that runs can be repeated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...problems.prediction import Problem
from ...registry import solvers
from ..ssnal import is_small
from .interior_point import factoring
from .interior_point import suits as takes_interior_points

# Entries that dual-cd may read for each sample and pair of weights before ssnal takes over: about what that would cost
# as a whole, with LEAST_WORK for small problems (measured on the problems of benchmarks/bench_crammer_singer.py).
DUAL_WORK, LEAST_WORK = 0.5, 5e6
# The same for pd-sparse, whose steps cost something besides: a third of what ssnal needs from zero weights (measured on
# iris, wine, breast_cancer, digits and made label sets, 5 ns for each entry read; twice or a third of it is slower).
SPARSE_STEP, SPARSE_WORK = 7e4, (1.5e6, 0.08)
# The same where interior points take over: for each multiplication of a factorisation, and for what they do besides.
# Ten to fifteen steps cost about that (measured on problems of 40 to 150 samples of benchmarks/bench_reach.py).
FACTOR_WORK, STEP_WORK = 1.5, 2e7
# Multiplications for which a step of fbpd counts besides those with X, and the share of what interior points need (a
# least number, more for each class, and one of a factorisation, each for all steps) after which they take over: they
# begin at the point they are given, so little is lost (measured on 216 problems of 30 to 150 samples, 64 to 2000
# features and 2 to 50 classes: half of the share is as fast on average, and slower at worst).
SPLIT_STEP, SPLIT_SHARE, PATH_WORK, CLASS_WORK = 3e5, 0.3, 4e7, 3e6

# What an iteration on a smooth loss counts besides the entries of X and classes, and for each of these; what a step of
# proximal points counts, for a penalty of single entries, of blocks and of rows, and for the third power of the size of
# its system; and the steps that these need (all in multiplications, measured on some 80 problems of 60 to 300 samples,
# 30 to 1500 features and 3 to 5 classes with λ from .1 to 1e-4 λ_max, and on 288 of benchmarks/bench_reach.py).
ITERATION, ENTRY, STEPS = 4e6, 16.0, 90
OF_ENTRIES, OF_BLOCKS, OF_ROWS = (4e6, 1.0 / 6.0), (8e6, 0.1), (1.2e7, 0.4)


def outdone(problem: Problem, done: int) -> bool:
    """Return whether the iterations on a smooth loss have cost as much as proximal points would in all."""
    terms, others = problem.regulariser.entry_terms(), OF_ROWS if problem.regulariser.blocks is None else OF_BLOCKS
    base, cubic = OF_ENTRIES if terms is not None and np.ndim(terms[0]) == 0 else others
    size = float(min(problem.rows, problem.n) * problem.m)
    return done * (ITERATION + ENTRY * problem.design.nnz * problem.m) >= STEPS * (base + cubic * size**3)


def overdue(problem: Problem, state: Any, done: int) -> bool:
    """Return whether dual-cd has done as much work as ssnal would need in all, or pd-sparse and fbpd a third."""
    if isinstance(state.delegate, solvers["fbpd"]):
        spent = done * (SPLIT_STEP + problem.design.nnz * problem.m)
        least = PATH_WORK + CLASS_WORK * problem.m
        due = spent > SPLIT_SHARE * least and bool(spent > SPLIT_SHARE * (least + factoring(problem)))
        return due and takes_interior_points(problem)
    systems = problem.n * float(problem.d * problem.m) ** 2
    if isinstance(state.delegate, solvers["pd-sparse"]):
        spent = state.work + SPARSE_STEP * done
        return is_small(problem) and bool(spent > SPARSE_WORK[0] + SPARSE_WORK[1] * systems)
    if not isinstance(state.delegate, solvers["dual-cd"]):
        return False
    if is_small(problem):
        return bool(state.work > LEAST_WORK + DUAL_WORK * systems)
    return takes_interior_points(problem) and bool(state.work > STEP_WORK + FACTOR_WORK * factoring(problem))
