"""Parallel block coordinate descent: the same result in every run, safe steps, threads that may fail."""

from __future__ import annotations

import itertools
import threading
from contextlib import nullcontext

import numpy as np
import pytest

import sparsescope as ss
from helpers import digits, text
from sparsescope import threads
from sparsescope.pauses import pausing
from sparsescope.runs.stopping import Iterations
from sparsescope.solvers import ParallelBCD, parallel_bcd
from sparsescope.solvers.shared import in_parts
from sparsescope.threads import cores, together

two_cores = pytest.mark.skipif(cores() < 2, reason="one core only: two threads are refused here")


def on(data: str, share: float = 0.1, **parts: object) -> ss.Problem:
    problem = ss.Problem(*{"digits": digits, "text": text}[data](), **parts)  # type: ignore[arg-type]
    return problem.with_lam(share * problem.lam_reference)


def objectives(problem: ss.Problem, solver: ParallelBCD, count: int = 30) -> list[float]:
    return [event.objective for event in ss.Run(problem, solver, stop=Iterations(count))]


@two_cores
@pytest.mark.parametrize("data", ["digits", "text"])
def test_the_result_depends_on_the_number_of_threads_and_the_seed_only(data: str) -> None:
    problem = on(data)
    first = objectives(problem, ParallelBCD(threads=2))
    for _ in range(3):
        assert objectives(problem, ParallelBCD(threads=2)) == first
    assert objectives(problem, ParallelBCD(threads=2, seed=1)) != first
    assert objectives(problem, ParallelBCD(threads=1)) != first


@two_cores
@pytest.mark.parametrize("data", ["digits", "text"])
def test_tasks_that_run_one_after_the_other_give_the_same_result(monkeypatch: pytest.MonkeyPatch, data: str) -> None:
    problem, names = on(data), set()
    part = ParallelBCD._part

    def watched(*args: object) -> object:
        names.add(threading.current_thread().name)
        return part(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(ParallelBCD, "_part", watched)
    found = []
    for alone, count in ((0.0, 2), (np.inf, 1)):
        names.clear()
        monkeypatch.setattr(threads, "ALONE", alone)
        found.append(objectives(problem, ParallelBCD(threads=2)))
        assert len(names) == count
    assert found[0] == found[1]


@two_cores
def test_threads_that_meet_to_pause_find_what_those_find_that_meet_at_the_end_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(in_parts, "PART", 2000)
    meetings: list[int] = []
    monkeypatch.setattr(parallel_bcd, "together", lambda tasks, *rest: (meetings.append(1), together(tasks, *rest))[1])
    problem = ss.Problem(*digits(), lam_ratio=0.1)
    found = []
    for turns in (False, True):
        meetings.clear()
        with pausing(lambda: None) if turns else nullcontext():
            solver = ParallelBCD(threads=min(2, cores()))
            state = solver.init(problem)
            for _ in range(10):
                solver.step(problem, state)
        found.append((state.coef.copy(), state.Z.copy(), len(meetings)))
    alone, shared = found
    np.testing.assert_array_equal(alone[0], shared[0])
    np.testing.assert_array_equal(alone[1], shared[1])
    assert alone[2] < shared[2]


@two_cores
def test_with_one_thread_it_is_coordinate_descent_over_permuted_rows() -> None:
    problem = on("digits")
    serial = ss.Run(problem, ss.solvers.BCDConstant(selection="permuted"), stop=Iterations(10))
    np.testing.assert_allclose(
        objectives(problem, ParallelBCD(threads=1), 10), [e.objective for e in serial], rtol=1e-12
    )


def test_beta_is_that_of_the_paper() -> None:
    X, y = text()
    problem = ss.Problem(X, y)
    omega = max(np.count_nonzero(row) for row in (X.toarray() if hasattr(X, "toarray") else X))
    assert problem.design.most_in_a_row == omega
    for count in (1, 2):
        if count <= cores():
            expected = 1 + (omega - 1) * (count - 1) / (problem.d - 1)
            assert ParallelBCD(threads=count).beta(problem) == pytest.approx(expected)


@two_cores
def test_the_objective_never_rises_where_all_columns_are_alike() -> None:
    # The threads' moves add up to twice the right one on such data; without the test on F this diverges.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 1)) + 0.01 * rng.standard_normal((300, 40))
    problem = ss.Problem(X, (X[:, 0] > 0).astype(int) + (X[:, 0] > 1))
    problem = problem.with_lam(0.05 * problem.lam_max)
    run = ss.Run(problem, ParallelBCD(threads=2), stop=Iterations(60))
    values = [event.objective for event in run]
    assert all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(values))
    np.testing.assert_allclose(run.state.Z, problem.scores(run.state.coef), atol=1e-9)
    assert values[-1] == pytest.approx(ss.solve(problem, "working-set", tol=1e-9).objective, rel=1e-2)


def test_more_threads_than_cores_are_refused_in_words() -> None:
    with pytest.raises(ValueError, match=rf"threads.*{cores() + 1}.*{cores()}"):
        ss.solve(on("digits"), ParallelBCD(threads=cores() + 1))
    with pytest.raises(ValueError, match="threads"):
        ParallelBCD(threads=-1)


def test_column_counts_are_the_same_for_dense_and_sparse_data_and_see_no_stored_zeros() -> None:
    import scipy.sparse as sp

    X = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0], [4.0, 5.0, 6.0]])
    stored = sp.csc_array(X)
    stored[0, 0] = 0.0  # keeps its place
    dense = ss.Design(stored.toarray())
    sparse = ss.Design(stored)
    np.testing.assert_array_equal(dense.column_counts, [1, 1, 3])
    np.testing.assert_array_equal(sparse.column_counts, [1, 1, 3])
    assert dense.most_in_a_row == sparse.most_in_a_row == 3


@two_cores
def test_several_runs_at_once_do_not_disturb_each_other() -> None:
    problem = on("text")
    alone = objectives(problem, ParallelBCD(threads=2), 15)
    found: list[list[float]] = []
    workers = [
        threading.Thread(target=lambda: found.append(objectives(problem, ParallelBCD(threads=2), 15))) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert found == [alone] * 4
