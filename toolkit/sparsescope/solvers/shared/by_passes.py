"""Working sets for data in blocks: a pass over all of X names the features, the rest happens on their columns.

repeat:
    look       gradient and certificate of the present point: one pass over the blocks, here or on a cluster
    choose     the rows in use, and those that violate optimality, the worst first, as many as fit into memory
    gather     their columns, which is a small part of X, into one matrix; those that are there are kept
    solve      the problem on these columns in memory, to a share of the gap that the pass has certified
A gap of 1e-6 takes a handful of passes, where methods of full gradients take hundreds. Columns in use that do not fit
into memory stay in their blocks, and the restricted problem is solved by proximal gradient steps on them.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy

from ...inputs.archives import LIMIT_VARIABLE, memory_limit
from ...inputs.partitioned import PartitionedDesign
from ...kernels.rows import loss_gradient, repair_dual
from ...problems.base import Certificate
from ...problems.certificate import Workspace, certify, double_scores, is_double
from ...problems.prediction import Problem
from ...registry import solvers
from ..base import Solver, State

MOST_BYTES = 2**29  # of gathered columns; with SPARSESCOPE_MEMORY_GB half of that
LEAST, GROWTH = 1024, 8  # most features that come in at a time: this many, or this many times those in use
FEWEST = 16  # features that have to fit into memory beside those in use, if there are that many
# Relative gap to which the columns are solved: a share of the one that the pass certified, and of the one at which the
# run will stop. A pass costs far more than steps on a few columns, so the next one should be the last where it can be.
SHARE, SHARE_OF_AIM = 1e-4, 0.3
LEAST_GAP = 1e-13  # relative; rounding
MOST_STEPS = 500  # on the columns between two passes
EVERY = 2  # steps between two certificates on the columns


class Columns:
    """Gathered columns: their numbers, ascending, and the matrix. They never change."""

    def __init__(self, rows: np.ndarray, matrix: Any) -> None:
        self.rows, self.matrix = rows, matrix

    def __deepcopy__(self, memo: Any) -> Columns:
        return self


class PassesState(State):
    """State: the point, what the last pass found out about it, and the gathered columns.

    ``seen``: the certificate of the present point; ``None`` before a pass, and after a change of the problem.
    """

    def __init__(self, problem: Problem, coef: np.ndarray) -> None:
        super().__init__(problem, coef)
        self.work = Workspace(problem)
        self.seen: Certificate | None = None
        self.columns: Columns | None = None


def step(problem: Problem, state: PassesState, core: Solver) -> None:
    """One iteration: choose and gather columns, solve the problem on them with ``core``, and look at the new point."""
    design = _design(problem)
    before = design.entries_read
    seen = state.seen if state.seen is not None else look(problem, state)
    rows, fits = _chosen(problem, state)
    aim = max(SHARE * seen.relative_gap, SHARE_OF_AIM * state.aim, LEAST_GAP)
    if fits:
        state.columns = gathered(design, rows, state.columns)
        part, solver = problem.restricted(rows, state.columns.matrix), core
    else:
        state.columns = None
        part, solver = problem.restricted(rows, design.narrowed(rows)), solvers.create("sparsa")
    at = np.append(rows, problem.d) if problem.intercept else rows
    coef = solve_part(part, solver, state.coef[at], aim)
    state.coef[at] = coef
    part.design.matmul(coef, state.Z)
    if not fits:
        design.entries_read += _design(part).entries_read
    state.working = np.zeros(problem.d, dtype=np.uint8)
    state.working[rows] = 1
    state.working_set = float(rows.size)
    look(problem, state)
    state.passes += (design.entries_read - before) / max(design.nnz, 1)
    state.iteration += 1


def look(problem: Problem, state: PassesState) -> Certificate:
    """The certificate of the present point, and the violations of all features in ``state.work``: one pass.

    With an intercept the certificate's dual point is not the gradient of the losses; both are multiplied in one pass.
    """
    if problem.intercept and problem.regulariser.free is None:
        Z = state.Z if is_double(problem) else double_scores(problem, state.coef, np.empty(state.Z.shape))
        U = np.empty(Z.shape)
        loss_gradient(Z, *problem.terms, U)
        repaired = U.copy()
        repair_dual(repaired, *problem.terms)
        _design(problem).products(U, repaired)
    state.seen = certify(problem, state.coef, state.Z, state.work)
    state.ready = state.seen.relative_gap <= state.aim  # the certificate is there, so showing it costs no pass
    return state.seen


def solve_part(part: Problem, core: Solver, coef: np.ndarray, aim: float) -> np.ndarray:
    """The coefficients of a restricted problem at a relative gap of ``aim``, from ``coef`` on; the best that is found
    if rounding or the limit of steps come first."""
    state, work = core.start(part, coef.copy()), Workspace(part)
    best, value, idle = coef, np.inf, 0
    for count in range(1, MOST_STEPS + 1):
        core.step(part, state)
        if count % EVERY:
            continue
        found = core.certificate(part, state, work)
        idle = 0 if found.objective < value else idle + 1
        if found.objective < value:
            best, value = state.coef.copy(), found.objective
        if found.relative_gap <= aim or idle > MOST_STEPS // 20:
            break
    return best


def gathered(design: PartitionedDesign, rows: np.ndarray, have: Columns | None) -> Columns:
    """The columns ``rows``, ascending; only those that are not there yet are read."""
    if have is None:
        return Columns(rows, design.take(rows))
    if np.array_equal(rows, have.rows):
        return have
    new = np.setdiff1d(rows, have.rows)
    old = np.isin(have.rows, rows)
    numbers = np.concatenate([have.rows[old], new])
    pieces = [have.matrix[:, np.flatnonzero(old)], *([design.take(new)] if new.size else [])]
    whole = scipy.sparse.hstack(pieces, format="csc") if design.is_sparse else np.hstack(pieces)
    return Columns(rows, whole[:, np.argsort(numbers)])


def _chosen(problem: Problem, state: PassesState) -> tuple[np.ndarray, bool]:
    """The features to work on, ascending, and whether their columns fit into memory."""
    design, regulariser = _design(problem), problem.regulariser
    used = np.asarray(state.coef[: problem.d].any(axis=1))
    if regulariser.free is not None:
        used |= regulariser.free.any(axis=1)
    used = np.asarray(regulariser.complete(used))
    sizes = design.column_entries * (design.dtype.itemsize + 4 * design.is_sparse)
    most = memory_limit() // 2
    room = (most if LIMIT_VARIABLE in os.environ else min(most, MOST_BYTES)) - int(sizes[used].sum())
    violation = np.where(used, 0.0, state.work.violation)
    worst = np.flatnonzero(violation > 0.0)
    worst = worst[np.argsort(-violation[worst], kind="stable")][: max(LEAST, GROWTH * int(used.sum()))]
    fitting = int(np.searchsorted(np.cumsum(sizes[worst]), room, side="right"))
    fits = room >= 0 and fitting >= min(FEWEST, worst.size)
    flags = used.copy()
    flags[worst[:fitting] if fits else worst] = True
    if not flags.any():  # the point is optimal but for rounding
        flags[int(np.argmax(state.work.violation))] = True
    kept = np.empty(0, dtype=np.intp) if state.columns is None else state.columns.rows
    if fits and int(sizes[flags].sum() + sizes[kept].sum()) <= room:
        flags[kept] = True  # what is there costs nothing, and nothing comes and goes
    return np.flatnonzero(regulariser.complete(flags)), fits


def _design(problem: Problem) -> PartitionedDesign:
    assert isinstance(problem.design, PartitionedDesign)
    return problem.design
