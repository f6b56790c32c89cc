"""The moment at which `auto` goes on with another solver: counted work, so that runs can be repeated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...problems.prediction import Problem
from ...registry import solvers
from ..base import Solver
from ..ssnal import is_small
from .gradient_steps import FEW, MANY_USED, MANY_USED_OF_FEW, products_win
from .interior_point import factoring
from .interior_point import suits as takes_interior_points
from .proximal_point import suits
from .row_space_pays import is_overspent, is_wide
from .rows_or_entries import begins_on_rows, keeps_entries

# Entries that dual-cd may read for each sample and pair of weights before ssnal takes over: about what that would cost
# as a whole, with LEAST_WORK for small problems, where an iteration counts DUAL_STEP besides (measured on the problems
# of benchmarks/bench_crammer_singer.py, with C from .1 to 100).
DUAL_WORK, LEAST_WORK, DUAL_STEP = 1.25, 5e6, 4e4
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
# With many more samples than the size of the system, putting it together is most of a step: FORMED is a multiplication
# of a product of matrices (10 000 samples, 30 features, 8 classes: working-set ends in .2 s, ssnal would take .7 s).
FORMED = 0.14
LONG = 1500  # steps after which ssnal takes over: they cost about half of what it needs (benchmarks/bench_reach.py)
MOST_FAILURES = 10  # Newton steps without descent at one F, after which ssnal takes over as well
# Newton steps cut to less than a quarter, or products with the Hessian, after which damped steps and sweeps take over:
# they cope with features and classes of very different sizes (measured on covertypes with and without an intercept).
SHORT_STEPS, MOST_PRODUCTS = 3, 300
THINNED = 0.75  # of the share of weights in use from which on gradient steps go on: below it newglmnet does again
# Features for each sample from which on Newton steps on hinges under a ridge have to be nearly exact.
UNDERDETERMINED = 10


def fitting(problem: Problem, chosen: tuple[Solver, str], state: Any) -> tuple[Solver, str]:
    """Return ``chosen``, the solver for zero weights and the reason, or what is faster from the weights of a state on.

    Where many weights are in use and X is dense, gradient steps on all of them cost less than a pass of ``newglmnet``
    over those in use. The row space of X is made once for the data. Where ``working-set`` is chosen for its beginning
    alone, Newton steps on single entries go on if they have begun: from near weights few are left to do."""
    on_entries = solvers["newglmnet"], solvers["one-score"]
    begun: Any = getattr(state, "delegate", None)
    if isinstance(begun, solvers["row-space"]) and is_wide(problem) and begun.solves(problem) is None:
        return begun, f"under {problem.penalty.title} every solution lies in the row space of X, which is known by now"
    others = isinstance(begun, on_entries) and isinstance(chosen[0], solvers["working-set"])
    if others and begins_on_rows(problem) and begun.solves(problem) is None:
        return begun, "Newton steps on single weights, from near ones on"
    wide = problem.d > FEW and isinstance(chosen[0], solvers["newglmnet"]) and products_win(problem)
    if not (wide and not state.sparse and getattr(state, "opened", True) and getattr(state, "settles", True)):
        return chosen
    steps = solvers.create("working-set")
    least = MANY_USED if problem.m > 2 else MANY_USED_OF_FEW
    if state.delegate == steps:
        least *= THINNED
    if np.count_nonzero(state.coef[: problem.d]) < least * problem.d * problem.m or steps.solves(problem) is not None:
        return chosen
    if keeps_entries(problem):
        return chosen
    return steps, (
        f"many of {problem.d} × {problem.m} weights are in use: gradient steps on all of them, which are products with "
        "dense X, and Newton steps in between"
    )


def successor(problem: Problem, state: Any, chosen: tuple[Solver, str]) -> tuple[Solver, str] | None:
    """Return the solver that goes on from the delegate of ``auto``, and the reason; ``None``: nobody yet. ``chosen``:
    the solver for zero weights and the reason."""
    if isinstance(chosen[0], solvers["newglmnet"]) and isinstance(
        state.delegate, (solvers["newglmnet"], solvers["working-set"])
    ):
        found = fitting(problem, chosen, state)
        if found[0] != state.delegate:
            return found
    if state.chosen_at is None:
        state.chosen_at = state.iteration - 1
    if isinstance(state.delegate, solvers["newton-cg"]):
        within = solvers.create("row-space")
        if is_wide(problem) and within.solves(problem) is None:
            if not is_overspent(problem, state.products):
                return None
            return within, (
                f"newton-cg did not end in {state.products} products with the Hessian, which cost as much as the row "
                f"space of X does: of {problem.d} features, at most {problem.n} combinations count"
            )
        if (state.short < SHORT_STEPS and state.products < MOST_PRODUCTS) or is_underdetermined(problem):
            return None
        return solvers.create("working-set"), (
            f"newton-cg did not end in {state.products} products with the Hessian and {state.iteration} steps, "
            f"{state.short} of which the line search cut short: damped steps, with sweeps in between"
        )
    done = state.iteration - state.chosen_at
    failed = getattr(state, "failures", 0) >= MOST_FAILURES
    late = done >= LONG or failed or outdone(problem, done) if problem.loss.smooth else overdue(problem, state, done)
    if not late:
        return None
    exact = solvers.create("ssnal")
    if exact == state.delegate or is_underdetermined(problem) or exact.solves(problem) is not None:
        return None
    if small_exact(problem) is None:
        return (exact, _along_the_path(state, done)) if takes_interior_points(problem) else None
    cut = f", {state.failures} of which found no descent" if failed else ""
    why = "semismooth Newton steps, which reach high accuracy in tens to hundreds of iterations"
    return exact, f"{state.delegate.name} did not end in {done} iterations{cut}, and the systems are small: {why}"


def small_exact(problem: Problem) -> Solver | None:
    """``ssnal`` where its systems are cheap to factor, else ``None``: hinges need one of all weights."""
    exact = solvers.create("ssnal")
    few = suits(problem) or is_small(problem)
    return exact if few and exact.solves(problem) is None else None


def _along_the_path(state: Any, done: int) -> str:
    return (
        f"{state.delegate.name} did not end in {done} iterations, and samples and classes are few: Newton steps along "
        "the central path, which reach high accuracy in tens of iterations"
    )


def is_underdetermined(problem: Problem, each: float = UNDERDETERMINED) -> bool:
    """Return whether a smooth loss has hinges and Ω = ½‖W‖², with many features for ``each`` sample: rough Newton
    steps, of ssnal too, are cut short there by one hinge after the other."""
    terms = problem.regulariser.entry_terms()
    ridge = terms is not None and np.ndim(terms[0]) == 0 and terms == (0.0, 1.0)  # weights of features make an array
    return bool(ridge and problem.loss.smooth and problem.loss.hinges and problem.d >= each * problem.n)


def outdone(problem: Problem, done: int) -> bool:
    """Return whether the iterations on a smooth loss have cost as much as proximal points would in all."""
    terms, others = problem.regulariser.entry_terms(), OF_ROWS if problem.regulariser.blocks is None else OF_BLOCKS
    base, cubic = OF_ENTRIES if terms is not None and np.ndim(terms[0]) == 0 else others
    size = float(min(problem.rows, problem.n) * problem.m)
    formed = FORMED * max(problem.n - size, 0.0) * size**2
    return done * (ITERATION + ENTRY * problem.design.nnz * problem.m) >= STEPS * (base + cubic * size**3 + formed)


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
        return bool(state.work + DUAL_STEP * done > LEAST_WORK + DUAL_WORK * systems)
    return takes_interior_points(problem) and bool(state.work > STEP_WORK + FACTOR_WORK * factoring(problem))
