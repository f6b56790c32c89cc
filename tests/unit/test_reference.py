"""ss.reference: certified optima, computed once."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import digits, iris, text
from sparsescope.runs import reference as module
from sparsescope.runs import run as run_module
from sparsescope.runs.problem_keys import content_key
from sparsescope.runs.turns import Turns
from waiting import until


@pytest.fixture(autouse=True)
def empty() -> Any:
    module.forget()
    yield
    module.forget()


def problem_of(lam: float = 0.1, **parts: Any) -> ss.Problem:
    return ss.Problem(*iris(), lam=lam, **parts)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The problems that are really solved from now on."""
    solved, solve = [], module.solve_reference

    def count(problem: Any, *args: Any) -> Any:
        solved.append(problem)
        return solve(problem, *args)

    monkeypatch.setattr(module, "solve_reference", count)
    return solved


def test_a_reference_is_a_certified_optimum() -> None:
    problem = problem_of()
    found = ss.reference(problem, tol=1e-10)
    assert found.converged and 0.0 <= found.gap == found.objective - found.dual and found.relative_gap <= 1e-10
    other = ss.solve(problem, "bcd-ls", tol=1e-11, max_iter=20_000)
    assert found.dual - 1e-12 <= other.objective and found.objective == pytest.approx(other.objective, rel=1e-9)
    assert ss.certify(problem, found.W).objective == pytest.approx(found.objective, rel=1e-13)
    assert "working-set" in found.solver


def test_equal_problems_share_a_reference_and_others_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = counted(monkeypatch)
    first = ss.reference(problem_of())
    X, y = iris()
    assert ss.reference(ss.Problem(X.copy(), y.copy(), lam=0.1)) is first, "the content counts, not the object"
    assert len(solved) == 1
    changed = X.copy()
    changed[3, 2] += 1e-9
    others = [
        problem_of(0.11),
        problem_of(penalty="l1"),
        problem_of(intercept=True),
        ss.Problem(changed, y, lam=0.1),
        ss.Problem(X, np.roll(y, 1), lam=0.1),
        problem_of(loss="logistic"),
        ss.Problem(sp.csc_array(X), y, lam=0.1),
    ]
    keys = [content_key(problem) for problem in [problem_of(), *others]]
    assert len(set(keys)) == len(keys)
    assert ss.reference(others[0]) is not first and len(solved) == 2


def test_a_tighter_tolerance_is_computed_and_a_looser_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    solved = counted(monkeypatch)
    rough = ss.reference(problem_of(), tol=1e-2)
    fine = ss.reference(problem_of(), tol=1e-10)
    assert len(solved) == 2 and fine.gap < rough.gap
    assert ss.reference(problem_of(), tol=1e-4) is fine and len(solved) == 2


def test_a_busy_machine_does_not_weaken_a_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wall time passes while others compute; what the thread itself spends is limited."""
    ticks = itertools.count(step=1e6)
    monkeypatch.setattr(run_module, "CLOCK", lambda: next(ticks))
    found = ss.reference(problem_of(), tol=1e-8, max_seconds=60.0)
    assert found.converged and found.relative_gap <= 1e-8
    monkeypatch.setattr(module, "CLOCK", lambda: next(ticks))
    short = ss.reference(problem_of(0.11), tol=1e-8, max_seconds=60.0)
    assert not short.converged and "limit of 60 solver seconds" in short.message


def test_a_reference_that_its_limit_cut_short_is_computed_again_with_a_larger_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    solved = counted(monkeypatch)
    early = ss.reference(problem_of(), tol=1e-10, max_seconds=1e-9)
    assert not early.converged
    assert ss.reference(problem_of(), tol=1e-10, max_seconds=1e-9) is early and len(solved) == 1
    found = ss.reference(problem_of(), tol=1e-10, max_seconds=None)
    assert found.converged and len(solved) == 2
    assert ss.reference(problem_of(), tol=1e-10, max_seconds=1e-9) is found and len(solved) == 2


def test_in_the_background_the_caller_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    gate, solve = threading.Event(), module.solve_reference

    def slow(*args: Any) -> Any:
        assert gate.wait(120.0)
        return solve(*args)

    monkeypatch.setattr(module, "solve_reference", slow)
    job = ss.reference(problem_of(), background=True)
    assert not job.done() and job.bounds is None
    assert ss.reference(problem_of(), background=True) is job, "one job for one problem"
    with pytest.raises(TimeoutError, match="was not found within"):
        job.result(timeout=0.01)
    gate.set()
    found = job.result(timeout=120.0)
    assert job.done() and job.bounds == pytest.approx((found.dual, found.objective), rel=1e-12)
    again = ss.reference(problem_of(), background=True)
    assert again.done() and again.result() is found


def test_a_reference_in_turns_waits_for_the_others_and_one_that_is_not_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turns, problem = Turns(clock=lambda: 0.0), problem_of(0.123)
    monkeypatch.setattr(module, "TURNS", turns)
    other = turns.place()
    assert other.take()  # and, by this clock, never for long
    job = ss.reference(problem, background=True, in_turns=True)
    until(lambda: turns.waiting)
    assert turns.waiting == 1 and not job.done()
    assert ss.reference(problem_of(0.124)).converged, "nobody's turn is needed for it"
    assert not job.done() and job.bounds is None
    other.give_back()
    assert job.result(120.0).converged and not turns._holders, "the turn was given back at the end"


def test_a_job_can_be_cancelled_and_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    started = threading.Event()
    watch = module.ReferenceJob._watch

    def told(self: Any, event: Any) -> bool:
        started.set()
        return watch(self, event)

    monkeypatch.setattr(module.ReferenceJob, "_watch", told)
    X, y = digits()
    hard = ss.Problem(X, y, loss="crammer-singer", penalty="l1", lam=1e-5)
    job = ss.reference(hard, tol=1e-13, max_seconds=None, background=True)
    assert started.wait(120.0)
    job.cancel()
    with pytest.raises(RuntimeError, match="cancelled"):
        job.result(timeout=120.0)
    assert job.cancelled() and job.bounds is not None
    assert content_key(hard) not in module._cache


def test_a_failure_is_raised_where_the_reference_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise ValueError("no such optimum")

    monkeypatch.setattr(module, "solve_reference", broken)
    job = ss.reference(problem_of(), background=True)
    with pytest.raises(ValueError, match="no such optimum"):
        job.result(timeout=120.0)


def test_limits_and_kinds() -> None:
    X, y = text()
    early = ss.reference(ss.Problem(X, y, loss="crammer-singer", lam=1e-3), tol=1e-12, max_seconds=1e-9)
    assert not early.converged and early.dual <= early.objective and "limit" in early.message
    theta = ss.reference(ss.CovarianceProblem(np.eye(3) + 0.5, lam=0.1))
    assert theta.converged and theta.W.shape == (3, 3)
    with pytest.raises(ValueError, match="no optimum"):
        ss.reference(ss.SequenceProblem(*iris()))
    with pytest.raises(TypeError, match="a Problem is needed"):
        ss.reference("iris")  # type: ignore[arg-type]


def test_equal_looking_problems_have_references_of_their_own() -> None:
    """Full features are held about their means, and weights of features stand beside the penalty."""
    X, y = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 2.0], [7.0, 8.0]] * 4), np.arange(16) % 2
    for shift in (0.0, 64.0):
        problem = ss.Problem(X + shift, y, loss="logistic", lam=0.01, intercept=True)
        found = ss.reference(problem)
        assert problem.objective(found.W, found.b) == pytest.approx(found.objective, rel=1e-9)
    for weights in (None, [1.0, 3.0]):
        problem = ss.Problem(X, y, loss="logistic", lam=0.01, feature_weights=weights)
        found = ss.reference(problem)
        assert problem.objective(found.W) == pytest.approx(found.objective, rel=1e-9)
