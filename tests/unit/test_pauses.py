"""Places to stop within a step: who computes meanwhile, what the clock counts, and that nothing else changes."""

from __future__ import annotations

import itertools
import sys
import threading
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from test_turns import Clock, until, waiting

import sparsescope as ss
from sparsescope import pauses
from sparsescope.app._lesson_job import LessonJob
from sparsescope.app._working import Work
from sparsescope.inputs import turned as turning
from sparsescope.inputs.turned import turned
from sparsescope.pauses import even_parts, parts_of, pause, pausing, rested, to_the_end
from sparsescope.problems import linear_algebra
from sparsescope.registry import solvers
from sparsescope.runs import run as runs
from sparsescope.runs.turns import SLICE, TURNS, Turns
from sparsescope.solvers.shared import in_parts
from waiting import LONG


def _run(solver: str, penalty: str, rest: Any = None, clock: Any = None) -> tuple[Any, list[Any]]:
    problem = ss.Problem(ss.datasets.load("iris"), penalty=penalty, lam_ratio=0.05, intercept=True)
    run = ss.Run(problem, solver, clock=clock)
    events = []
    for _ in range(7):
        if rest is None:
            events.append(run.advance())
        else:
            with pausing(rest):
                events.append(run.advance())
    return run, [(event.objective, event.gap, event.violation, event.passes) for event in events]


@pytest.mark.parametrize(
    ("solver", "penalty"),
    [("working-set", "l1/l2"), ("newglmnet", "l1"), ("bcd-ls", "l1/l2"), ("fista-ls", "l1/l2")],
)
def test_an_interrupted_run_is_the_same_in_every_bit(
    solver: str, penalty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_parts, "PART", 450)  # entries times classes: a row of iris at a time
    plain, events = _run(solver, penalty)
    others: list[Any] = []

    def rest() -> None:
        if len(others) < 3:  # another run computes in between, with the same kernels
            with pausing(lambda: None):
                others.append(_run(solver, penalty)[0])
        else:
            others.append(None)

    interrupted, again = _run(solver, penalty, rest)
    assert len(others) > 12, "at every certificate, and within steps"
    assert events == again
    assert np.array_equal(plain.state.coef, interrupted.state.coef)


LIMITS = {
    "PART": 40,
    "PRODUCT": 40,
    "CELLS": 40,
    "TURNED_AT_ONCE": 40,
    "COPIED": 40,
    "RANKED": 40,
    "SAMPLE": 20,
    "BESIDE": 2,
    "WORK": 200,
    "DENSE_PART": 40,
    "AT_ONCE": 40,
    "SCORES": 40,
    "SCANNED": 40,
    "FIRST_PART": 3,
}


def _cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that is cut into parts is cut into small ones."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("sparsescope.inputs", "sparsescope.problems", "sparsescope.solvers")):
            for limit, small in LIMITS.items():
                if isinstance(getattr(module, limit, None), int):
                    monkeypatch.setattr(module, limit, small)
    monkeypatch.setattr(linear_algebra, "WHOLE", 8)
    monkeypatch.setattr(linear_algebra, "STRIP", 5)


def _wide(solver: str) -> Any:
    """A wide sparse problem that a solver takes."""
    if "covariance" in solvers[solver].kinds:
        return ss.CovarianceProblem(
            np.corrcoef(np.random.default_rng(0).standard_normal((60, 12)), rowvar=False), lam=0.1
        )
    X = sp.random_array((40, 120), density=0.2, random_state=np.random.default_rng(0)).tocsc()
    for loss in ("multiclass-squared-hinge", "crammer-singer", "squared"):
        for classes, penalty in itertools.product((3, 2), ("l1", "elastic-net", "l1/l2", "ridge")):
            problem = ss.Problem(X, np.arange(40) % classes, loss=loss, penalty=penalty, lam=0.01)
            if solvers.create(solver).refuses(problem) is None:
                return problem
    raise AssertionError(f"{solver} takes none of these problems")


def _steps(problem: Any, solver: str, rest: Any) -> tuple[np.ndarray, list[Any]]:
    """Weights and events of a run whose pauses are somebody's."""
    run = ss.Run(problem, solver)
    with pausing(rest):
        events = [run.advance() for _ in range(5)]
    return run.state.dense(problem), [(event.objective, event.gap, event.passes) for event in events]


EVERY_SOLVER = [name for name in solvers if solvers[name].kinds != ("sequence",)]


@pytest.mark.parametrize(
    "solver", [pytest.param(name, marks=() if name == "newglmnet" else pytest.mark.slow) for name in EVERY_SOLVER]
)
def test_every_solver_is_the_same_in_every_bit_however_often_it_rests(
    solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = _wide(solver)
    _cut(monkeypatch)
    plain, events = _steps(problem, solver, lambda: None)
    rests: list[Any] = []

    def rest() -> None:
        rests.append(None)
        if len(rests) % 17 == 3 and len(rests) < 60:  # another run computes in between, with the same kernels and data
            _steps(problem, solver, lambda: None)

    interrupted, again = _steps(problem, solver, rest)
    assert len(rests) > 20, "at every certificate, and within steps"
    assert repr(events) == repr(again), "NaN equals NaN here"
    np.testing.assert_array_equal(plain, interrupted)


def test_work_is_cut_into_parts_of_about_the_same_cost() -> None:
    assert list(even_parts(7, 10.0, 30.0)) == [(0, 3), (3, 6), (6, 7)]
    assert list(even_parts(0, 1.0, 5.0)) == [(0, 0)] == list(parts_of(np.zeros(0), 5.0))
    assert list(even_parts(3, 10.0, 1.0)) == [(0, 1), (1, 2), (2, 3)], "one at a time at least"
    assert list(parts_of(np.array([2, 2]), 5.0)) == [(0, 2)], "what is one part is not cut"
    assert list(parts_of(np.array([2, 3]), 5.0)) == [(0, 1), (1, 2)]
    costs = np.random.default_rng(0).integers(0, 9, 200)
    parts = list(parts_of(costs, 30.0))
    assert [first for first, _ in parts[1:]] == [stop for _, stop in parts[:-1]]
    assert parts[0][0] == 0 and parts[-1][1] == 200
    assert max(costs[first:stop].sum() for first, stop in parts) <= 30 + 8
    left, rests = [3], []
    with pausing(lambda: rests.append(left[0])):
        to_the_end(lambda: bool(left.append(left.pop() - 1)) or left[0] == 0)
    assert rests == [2, 1, 0]


def test_a_factor_in_strips_is_the_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    B, b = rng.standard_normal((23, 40)), rng.standard_normal(23)
    A = B @ B.T
    solved, inverse = linear_algebra.Factor(A).solve(b), linear_algebra.inverse(linear_algebra.cholesky(A))
    whole = linear_algebra.logdet(linear_algebra.cholesky(A))
    monkeypatch.setattr(linear_algebra, "WHOLE", 8)
    monkeypatch.setattr(linear_algebra, "STRIP", 5)
    rests: list[Any] = []
    with pausing(lambda: rests.append(None)):
        factor = linear_algebra.cholesky(A)
        np.testing.assert_allclose(linear_algebra.Factor(np.tril(A)).solve(b), solved, rtol=1e-9)
        np.testing.assert_allclose(linear_algebra.inverse(factor), inverse, rtol=1e-9, atol=1e-13)
    assert linear_algebra.logdet(factor) == pytest.approx(whole) and len(rests) > 10
    A[20, 20] = -1.0
    assert linear_algebra.cholesky(A) is None
    with pytest.raises(linear_algebra.LinAlgError, match="not positive definite"):
        linear_algebra.Factor(A)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_making_a_problem_stops_on_the_way_and_is_the_same(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X = sp.random_array((40, 120), density=0.2, random_state=np.random.default_rng(0), dtype=dtype).tocsr()
    whole = ss.Problem(X, np.arange(40) % 3, lam_ratio=0.1)
    by_sample = whole.design.samples
    _cut(monkeypatch)
    rests: list[Any] = []
    with pausing(lambda: rests.append(None)):
        made = ss.Problem(X, np.arange(40) % 3, lam_ratio=0.1)
        turned_again = made.design.samples
    assert len(rests) > 20
    assert made.lam_max == whole.lam_max
    for one, other in ((made.design.columns, whole.design.columns), (turned_again, by_sample)):
        for found, wanted in zip(one, other, strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found, wanted)


def test_columns_that_are_chosen_come_by_sample_as_scipy_has_them() -> None:
    X = sp.random_array((30, 50), density=0.2, random_state=np.random.default_rng(1)).tocsc()
    for chosen in (np.array([3, 7, 8, 40]), np.arange(0)):
        wanted = X[:, chosen].astype(np.float32).tocsr()
        data, indices, indptr = turned(X, 30, chosen, np.float32)
        assert data.dtype == np.float32
        np.testing.assert_array_equal(data, wanted.data)
        np.testing.assert_array_equal(indices, wanted.indices)
        np.testing.assert_array_equal(indptr, wanted.indptr)


def test_the_memory_of_turned_columns_is_asked_for_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    X = sp.random_array((60, 50), density=0.5, random_state=np.random.default_rng(1)).tocsc()
    rests: dict[int, int] = {}
    for size in (turning.TOUCHED, 1000):
        monkeypatch.setattr(turning, "TOUCHED", size)
        with pausing(lambda size=size: rests.__setitem__(size, rests.get(size, 0) + 1)):  # type: ignore[misc]
            np.testing.assert_array_equal(turned(X, 60)[0], X.tocsr().data)
    whole, pieces = rests.values()
    values, indices = X.data.nbytes, X.indices.nbytes
    assert pieces - whole == -(-values // 1000) - (-indices // 1000) - 2


def test_a_long_sweep_stops_at_the_same_rows_always(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.05)
    whole, order = problem.design, np.array([3, 0, 2, 1])
    assert in_parts.stops_of(whole, problem.m, order) == [4]
    monkeypatch.setattr(in_parts, "PART", 2 * 150 * problem.m)
    assert in_parts.stops_of(whole, problem.m, order) == [2, 4]
    assert in_parts.stops_of(whole, problem.m, order[:0]) == [0]
    X = sp.random_array((40, 30), density=0.3, random_state=np.random.default_rng(0)).tocsc()
    sparse = ss.Problem(X, np.arange(40) % 3, lam_ratio=0.1)
    monkeypatch.setattr(in_parts, "PART", 100)
    order = np.arange(30)[::-1]
    stops = in_parts.stops_of(sparse.design, 3, order)
    read = np.diff(sparse.design.matrix.indptr)[order] * 3
    parts = np.split(read, stops[:-1])
    assert stops[-1] == 30 and len(parts) > 5
    assert max(part.sum() for part in parts) <= 100 + read.max()


@pytest.mark.parametrize("values", ["different", "few", "infinite"])
def test_the_largest_of_many_values_are_those_of_all_at_once(values: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    A = rng.integers(0, 3, 1500).astype(float) if values == "few" else rng.standard_normal(1500)
    if values == "infinite":
        A[rng.permutation(1500)[:300]] = np.inf
    wanted = -np.sort(-A)
    for name in ("RANKED", "COPIED", "SAMPLE", "BESIDE"):
        monkeypatch.setattr(in_parts, name, LIMITS[name])
    rests: list[Any] = []
    for count in (1, 2, 40, 299, 301, 700, 1499, 1500):
        with pausing(lambda: rests.append(None)):
            found = in_parts.largest(A, count)
        assert np.unique(found).size == count
        np.testing.assert_array_equal(-np.sort(-A[found]), wanted[:count])
    assert len(rests) > 8 * 50


def test_the_solvers_clock_leaves_pauses_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(pauses.time, "perf_counter", lambda: now[0])

    def rest() -> None:
        now[0] += 5.0

    before = rested()
    pause()
    assert rested() == before, "nobody shares"
    with pausing(rest):
        pause()
        with pausing(lambda: None):
            pause()
        pause()
    pause()
    assert rested() == before + 10.0
    seen: list[float] = []
    thread = threading.Thread(target=lambda: seen.append(rested()))
    thread.start()
    thread.join()
    assert seen == [0.0], "of each thread its own"


def test_a_run_that_waits_for_its_turn_costs_no_solver_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(pauses.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(runs, "CLOCK", lambda: now[0])

    def rest() -> None:
        now[0] += 1.0

    run, _ = _run("working-set", "l1/l2", rest)
    assert now[0] > 12.0 and run.seconds == 0.0


def test_a_turn_changes_hands_in_the_middle_of_a_step() -> None:
    clock = Clock()
    turns = Turns(2, clock, clock.sleep)
    mine = turns.place()
    assert mine.take()
    mine.rest()
    assert mine in turns._holders, "its time is not used up"
    with mine.aside():
        clock.now += 2 * SLICE
        mine.rest()  # a kernel is compiled and tried out
    mine.began = clock.now
    order: list[str] = []
    other, thread = waiting(turns, False, order, "other")
    clock.now += SLICE
    done: list[str] = []

    def step() -> None:
        mine.rest()
        done.append("mine")

    stepping = threading.Thread(target=step, daemon=True)
    stepping.start()
    until(lambda: order == ["other"] and turns.waiting == 1)
    thread.join()
    assert not done and turns._holders == [other]
    other.give_back()
    stepping.join()
    assert done == ["mine"] and turns._holders == [mine]


def test_a_lessons_run_takes_turns_and_ends_between_two_kernels() -> None:
    reached, held = threading.Event(), []
    other = TURNS.place()

    def work(job: LessonJob) -> None:
        held.append(job.turn in TURNS._holders)
        job.show({})({"picture": 1})
        job.show({})({"picture": 2})  # which waits a little, without a turn
        held.append(job.turn in TURNS._holders)
        reached.set()
        while True:
            pause()

    job = LessonJob(work)
    assert reached.wait(120) and held == [True, True]
    assert other.take(), "a run without an end leaves its turn to others"
    job.stop()
    other.give_back()
    until(lambda: not job.running)
    assert job.turn not in TURNS._holders
    assert not any(message["type"] == "error" for message in job.news())


def test_work_of_a_page_rests_within_a_step() -> None:
    steps: list[str] = []

    def work(_work: Work) -> Any:
        while not steps:
            pause()
        yield

    made = Work(work)
    made.start()
    other = TURNS.place()
    assert other.take(), "a step without an end leaves its turn to others"
    steps.append("end")
    other.give_back()
    until(lambda: not made.running)
    assert not made.error


def test_lam_max_that_rests_in_mid_work_keeps_no_other_problem_waiting() -> None:
    """A lock over the constants of all problems would: functools.cached_property has one before Python 3.12."""
    X, y = np.random.default_rng(0).normal(size=(60, 8)), np.arange(60) % 3
    resting, done = threading.Event(), threading.Event()
    first, second = (ss.Problem(X, y, loss="crammer-singer", lam=0.1) for _ in range(2))

    def rest() -> None:
        resting.set()
        assert done.wait(LONG)

    def compute() -> None:
        with pausing(rest):
            found.append(first.lam_reference)

    found: list[float] = []
    one = threading.Thread(target=compute, daemon=True)
    one.start()
    assert resting.wait(LONG), "it never rests"
    other = threading.Thread(target=lambda: found.append(second.lam_reference), daemon=True)
    other.start()
    try:
        until(lambda: found, "for a problem beside one that rests")
    finally:
        done.set()
    one.join(LONG)
    assert len(found) == 2 and found[0] == found[1] > 0.0
