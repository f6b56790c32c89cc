"""One measurement of a solver of this package. Task on standard input, result on standard output; see watch.py.

With "gap" in the task, the run goes on until the relative duality gap is that small, and its seconds are reported:
without the certificates (as everywhere, observers do not count) and with them.
"""

from __future__ import annotations

import gc
import sys
import time

import numpy as np
import scipy.sparse as sp
from watch import Watch, read_data, read_task

import sparsescope as ss
from sparsescope.problems.certificate import Workspace, certify
from sparsescope.registry import solvers
from sparsescope.runs.run import warm_up

REHEARSAL = 2000  # samples and features of the rehearsal problem
REHEARSAL_SECONDS = 1.0


def rehearse(task, X, y, solver):
    """Compile every kernel and load it: the tiny warm-up of every run, then a small problem nearly to its end, because
    some kernels are first needed late. Returns the seconds of the former, which is what a user waits for."""
    began = time.process_time()
    parts = {"loss": task["loss"], "penalty": task.get("penalty", "l1/l2")}
    problem = ss.Problem(X, y, lam=task["lam"], **parts)
    warm_up(problem, solver)
    seconds = time.process_time() - began
    step = max(1, X.shape[1] // REHEARSAL)
    rows = np.flatnonzero(np.arange(len(y)) % max(1, len(y) // REHEARSAL) == 0)
    part = X[:, ::step].tocsr()[rows].tocsc() if sp.issparse(X) else X[rows][:, ::step]
    small = ss.Problem(part, y[rows], **parts)
    small = small.with_lam(0.1 * small.lam_max)
    state, work = solver.init(small), Workspace(small)
    began = time.process_time()
    while time.process_time() - began < REHEARSAL_SECONDS:
        solver.step(small, state)
        if certify(small, state.coef, state.Z, work).relative_gap < 1e-10:
            break
    return problem, seconds


def touch(problem, solver):
    """Write to the memory of a run before the clock starts, as a race on a page does; peers are not given this."""
    for _ in range(2):
        sibling = problem.fresh()
        state = solver.init(sibling)
        solver.step(sibling, state)
        above = np.ones((problem.d + 1, problem.m))
        del state
        gc.collect()
    return above


def to_gap(task, problem, solver):
    """Step until the relative gap is reached."""
    work = Workspace(problem)
    first = time.process_time()
    spent, relative = 0.0, float("inf")
    state = solver.init(problem)
    spent += time.process_time() - first
    while relative > task["gap"] and spent < task["limit"]:
        began = time.process_time()
        solver.step(problem, state)
        spent += time.process_time() - began
        relative = certify(problem, state.coef, state.Z, work).relative_gap
    return {
        "gap": relative,
        "gap_cpu": spent if relative <= task["gap"] else None,
        "gap_cpu_with_certificates": time.process_time() - first,
        "gap_iterations": state.iteration,
    }


def main():
    """Run the task and report."""
    task = read_task()
    X, y = read_data(task["data"])
    setting = dict(task["setting"])
    solver = solvers.create(setting.pop("solver"), **setting)
    problem, compiling = rehearse(task, X, y, solver)
    if task.get("touched"):
        held = touch(problem, solver)  # noqa: F841  memory above what was given back
    watch = Watch(task, X, y)
    if "gap" in task:
        found = to_gap(task, problem, solver)
        watch.report(compiling=compiling, **found)
        return
    watch.start()
    state = solver.init(problem)
    done = False
    while not done:
        solver.step(problem, state)
        done = watch.look(state.weights())
    watch.report(compiling=compiling, drift=abs(float(np.abs(state.Z - X @ state.weights()).max())))


if __name__ == "__main__":
    sys.exit(main())
