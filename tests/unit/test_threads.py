"""Threads for the parts of a computation: results that do not depend on timing, errors, and products cut for them."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import digits, text
from sparsescope import threads
from sparsescope.inputs import design_products
from sparsescope.inputs.design import Design
from sparsescope.pauses import pausing
from sparsescope.solvers import WorkingSet
from sparsescope.threads import accumulated, cores, count, even_rounds, in_rounds, size_of_part, together, using

two_cores = pytest.mark.skipif(cores() < 2, reason="one core only: two threads are refused here")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is worth a thread."""
    monkeypatch.setattr(threads, "WORTH", 1)
    monkeypatch.setattr(design_products, "WORTH", 1)


def test_an_error_in_any_thread_is_raised_in_the_caller() -> None:
    def fail() -> None:
        raise RuntimeError("in a thread")

    with pytest.raises(RuntimeError, match="in a thread"):
        together([lambda: 1, fail])
    assert together([lambda: 1, lambda: 2]) == [1, 2]


@two_cores
def test_an_error_in_the_calling_thread_waits_for_the_others() -> None:
    raised, written = threading.Event(), []

    def fails() -> None:
        raised.set()
        raise ValueError("first")

    def writes() -> None:
        assert raised.wait(60)
        threading.Event().wait(0.05)  # still at work when the error is there
        written.append(1)

    with pytest.raises(ValueError, match="first"):
        together([fails, writes])
    assert written == [1]


def test_the_first_error_is_raised_when_all_tasks_have_ended() -> None:
    def fail(what: str) -> None:
        raise RuntimeError(what)

    with pytest.raises(RuntimeError, match="one"):
        together([lambda: 0, lambda: fail("one"), lambda: fail("two")])


def test_a_task_that_has_tasks_of_its_own_does_not_wait_for_itself() -> None:
    def inner() -> list[int]:
        return together([lambda: 1, lambda: 2, lambda: 3])

    assert together([inner] * 4) == [[1, 2, 3]] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_has_threads_of_its_own() -> None:
    program = (
        "import os, sys, signal\n"
        "from sparsescope.threads import together\n"
        "assert together([lambda: 1, lambda: 2]) == [1, 2]\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    signal.alarm(60)\n"
        "    os._exit(0 if together([lambda: 3, lambda: 4]) == [3, 4] else 1)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=120)


def test_only_who_says_so_uses_threads_and_only_there() -> None:
    found: list[int] = []
    assert count() == 1
    with using(3):
        assert count() == 3
        other = threading.Thread(target=lambda: found.append(count()))
        other.start()
        other.join()
        with using(0):
            assert count() == cores()
        with pytest.raises(ValueError, match="on the way"), using(2):
            raise ValueError("on the way")
        assert count() == 3
    assert count() == 1 and found == [1]


@pytest.mark.parametrize("turns", [False, True], ids=["alone", "taking turns"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_every_part_is_worked_on_once_by_the_thread_whose_turn_it_is(number: int, turns: bool) -> None:
    parts, done = [(i, i + 1) for i in range(7)], []
    rests: list[int] = []
    with using(number), pausing(lambda: rests.append(len(done))) if turns else nullcontext():
        in_rounds(parts, lambda place, first, stop: done.append((place, first, stop)))
    assert sorted(done, key=lambda one: one[1]) == [(i % number, i, i + 1) for i in range(7)]
    if turns:  # after each round, with nothing half done
        assert rests == [min(i, 7) for i in range(number, 7 + number, number)]


@pytest.mark.parametrize("turns", [False, True], ids=["alone", "taking turns"])
def test_a_sum_of_parts_is_the_same_bit_for_bit_in_every_run(turns: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((101, 50)).astype(np.float32)

    def work(out: np.ndarray, first: int, stop: int) -> None:
        out += X[first:stop].sum(axis=0)

    found = []
    for _ in range(5):
        with using(2), pausing(lambda: None) if turns else nullcontext():
            found.append(accumulated(even_rounds(101, 50.0, 400.0), np.ones(50, np.float32), work))
    for one in found[1:]:
        np.testing.assert_array_equal(one, found[0])
    np.testing.assert_allclose(found[0], 1.0 + X.sum(axis=0), rtol=1e-4, atol=1e-5)


def test_parts_are_of_one_size_for_all_threads(small: None) -> None:
    assert size_of_part(1e9, 100.0) == 100.0 and list(even_rounds(10, 1.0, 4.0)) == [(0, 4), (4, 8), (8, 10)]
    for number, lines, most in itertools.product((2, 3), (1, 7, 100, 1001), (5.0, 40.0, 1e6)):
        with using(number):
            parts = list(even_rounds(lines, 1.0, most))
        sizes = [stop - first for first, stop in parts]
        assert sum(sizes) == lines and [first for first, _ in parts[1:]] == [stop for _, stop in parts[:-1]]
        assert min(sizes) >= 1 and max(sizes) - min(sizes) <= 1 and max(sizes) <= most
        assert len(parts) == lines or (lines > number and len(parts) % number == 0)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("m", [1, 3, 9])
def test_products_on_threads_are_those_on_one(form: str, m: int, small: None) -> None:
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 90), density=0.3, random_state=rng).tocsc()
    design = Design(X if form == "sparse" else X.toarray())
    W, U, rows = rng.standard_normal((90, m)), rng.standard_normal((60, m)), np.arange(1, 90, 3)
    W[::4] = 0.0
    answers = []
    for number in (1, 2, 3):
        with using(number):
            blocks = np.concatenate([G.copy() for _, _, G in design.rmatmul_blocks(U)])
            answers.append(
                (
                    design.matmul(W, np.empty((60, m))),
                    design.matmul(W, np.empty((60, m)), np.flatnonzero(W.any(axis=1))),
                    design.rmatmul(U, np.empty((90, m))),
                    design.matmul_rows(rows, W[rows], np.empty((60, m))),
                    design.rmatmul_rows(rows, U, np.empty((30, m))),
                    blocks,
                )
            )
            shares = design.shares(m)
            assert shares[0][0] == 0 and shares[-1][1] == 90
            assert len(shares) == (number if form == "sparse" else 1)
    for found in answers[1:]:
        for one, other in zip(answers[0], found, strict=True):
            np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)
        if form == "sparse":  # each row of XᵀU is one thread's
            np.testing.assert_array_equal(found[2], answers[0][2])
            np.testing.assert_array_equal(found[5], answers[0][5])


def weights_of(problem: ss.Problem, number: int, steps: int = 15) -> Any:
    """Weights after some steps of `working-set` on several threads, with certificates in between."""
    run = ss.Run(problem, WorkingSet(threads=number), stop=ss.stopping.Iterations(steps), certify_every=3)
    for _ in run:
        pass
    return run.state.coef


@two_cores
@pytest.mark.parametrize(
    ("data", "parts"),
    [
        ("digits", {}),
        ("text", {}),
        ("text", {"intercept": True}),
        ("text", {"feature_weights": "uneven"}),
        ("text", {"penalty": "ridge"}),
    ],
)
def test_a_run_on_two_threads_is_the_same_in_every_bit_and_ends_at_the_optimum(
    data: str, parts: dict[str, Any], small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = {"digits": digits, "text": text}[data]()
    if "feature_weights" in parts:
        parts = {"feature_weights": np.linspace(0.5, 2.0, X.shape[1])}
    problem = ss.Problem(X, y, lam_ratio=0.1, **parts)
    first = weights_of(problem, 2)
    np.testing.assert_array_equal(weights_of(problem, 2), first)
    with pausing(lambda: None):  # the threads meet after each part
        np.testing.assert_array_equal(weights_of(problem, 2), first)
    names: set[str] = set()
    plain = threads._in_turn
    monkeypatch.setattr(
        threads, "_in_turn", lambda *given: (names.add(threading.current_thread().name), plain(*given))[1]
    )
    found = ss.solve(problem, WorkingSet(threads=2), tol=1e-6)
    alone = ss.solve(problem, WorkingSet(), tol=1e-6)
    assert found.converged and len(names) == 2, "parts were worked on in two threads"
    assert found.objective == pytest.approx(alone.objective, rel=3e-6)


@two_cores
def test_several_sessions_on_two_threads_do_not_disturb_each_other(small: None) -> None:
    problem = ss.Problem(*text(), lam_ratio=0.1)
    alone, found = weights_of(problem, 2), []
    workers = [threading.Thread(target=lambda: found.append(weights_of(problem, 2))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert len(found) == 4
    for one in found:
        np.testing.assert_array_equal(one, alone)
