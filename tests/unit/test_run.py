"""The loop: events, clock, callbacks, the end of a run, solve and its result."""

from __future__ import annotations

import dataclasses
import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import iris, text
from sparsescope.registry import field
from sparsescope.runs import observing
from sparsescope.runs import run as run_module
from sparsescope.runs.event import NUMBERS, Event, known_columns
from sparsescope.runs.run import Run, as_solver, is_warm, warm_up
from sparsescope.runs.solving import solve
from sparsescope.runs.stopping import Gap, Iterations, Objective, Passes, Seconds, Violation
from sparsescope.solvers.base import Solver, State, settings
from waiting import Clock


@settings
class Slow(Solver):
    """Does nothing useful, and takes a second a step (of the clock in ``clock``)."""

    cost: float = field(1.0, 0.0, 10.0, "seconds a step")

    def step(self, problem: ss.Problem, state: State) -> None:
        CLOCK.now += self.cost
        state.iteration += 1
        state.passes += 1.0


@settings
class Exploding(Solver):
    """Doubles its weights in each step."""

    def step(self, problem: ss.Problem, state: State) -> None:
        with np.errstate(all="ignore"):
            state.coef += 1e160
            state.coef *= 1e160
            problem.design.matmul(state.coef, state.Z)
        state.iteration += 1


CLOCK = Clock()


def test_the_clock_counts_the_solver_and_not_its_observers(
    problem: ss.Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (run_module, observing):
        monkeypatch.setattr(module, "CLOCK", CLOCK)

    def observer(_: Event) -> None:
        CLOCK.now += 1000.0

    certify = Slow.certificate

    def slow_certificate(*args: Any) -> Any:
        CLOCK.now += 500.0
        return certify(*args)

    warm_up(problem, Slow())
    monkeypatch.setattr(Slow, "certificate", slow_certificate)
    events = list(Run(problem, Slow(), stop=Iterations(4), callbacks=[observer]))
    assert [e.seconds for e in events] == [0.0, 1.0, 2.0, 3.0, 4.0]
    events = list(Run(problem, Slow(cost=0.5), stop=Seconds(1.5), callbacks=[observer]))
    assert [e.seconds for e in events] == [0.0, 0.5, 1.0, 1.5] and "1.5 solver seconds" in events[-1].message


def test_a_run_may_bring_its_own_clock(problem: ss.Problem) -> None:
    run = Run(problem, Slow(), stop=Iterations(3), clock=CLOCK)
    assert [e.seconds for e in run] == [0.0, 1.0, 2.0, 3.0]


def test_adaptive_certificates_stay_below_their_share(problem: ss.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    certified, events = adaptive(problem, monkeypatch, [3.0] * 60)
    assert certified == [0, 12, 24, 36, 48, 60], "three seconds are paid for by twelve others"
    assert all(
        np.isnan(e.gap) and np.isnan(e.train_accuracy) and np.isfinite(e.objective) for e in events if not e.certified
    )


def test_cheap_certificates_come_on_a_grid_in_any_case(problem: ss.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    certified, _ = adaptive(problem, monkeypatch, [0.9] * 60)
    grid = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 60]
    assert set(grid) <= set(certified)
    between = [(now, now - before) for before, now in pairwise(certified) if now not in grid]
    assert between and min(passed for _, passed in between) == 4


def test_one_slow_certificate_leaves_no_run_unmeasured(problem: ss.Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    costs = [0.1] * 4 + [1000.0] + [0.1] * 300
    certified, _ = adaptive(problem, monkeypatch, costs)
    assert np.diff(certified).max() <= 2, "the median of the costs decides, not the last one"


def adaptive(problem: ss.Problem, monkeypatch: pytest.MonkeyPatch, costs: list[float]) -> tuple[list[int], list[Event]]:
    """Iterations with a certificate in a run of 60 steps of a second, and its events; certificates cost so much."""
    for module in (run_module, observing):
        monkeypatch.setattr(module, "CLOCK", CLOCK)
    monkeypatch.setattr(observing, "CPU_CLOCK", CLOCK)
    certify, left = Slow.certificate, iter(costs)

    def certificate(*args: Any) -> Any:
        CLOCK.now += next(left)
        return certify(*args)

    warm_up(problem, Slow())
    monkeypatch.setattr(Slow, "certificate", certificate)
    events = list(Run(problem, Slow(), stop=Iterations(60), certify_every=None))
    return [e.iteration for e in events if e.certified], events


def test_certificates_come_at_every_kth_iteration_and_at_the_end(problem: ss.Problem) -> None:
    events = list(Run(problem, "ista", stop=Iterations(8), certify_every=3))
    assert [e.iteration for e in events if e.certified] == [0, 3, 6, 8]


@pytest.mark.parametrize(
    "rule",
    [
        Gap(1e-3),
        Violation(1e-2),
        Violation(1e-2, paper=True, over="sum"),
        Passes(7),
        Objective(2.0),
        Iterations(3),
        Gap(0.5) | Iterations(1),
    ],
    ids=repr,
)
def test_a_run_ends_when_its_rule_says_so_and_the_last_event_says_why(problem: ss.Problem, rule: Any) -> None:
    run = Run(problem, "bcd-ls", stop=rule)
    events = list(run)
    assert events[-1].message == run.message != "" and all(e.message == "" for e in events[:-1])
    assert events[-1].certified
    rule.reset()
    assert [bool(rule.check(e)) for e in events] == [False] * (len(events) - 1) + [True]


def test_a_callback_ends_the_run_by_returning_true(problem: ss.Problem) -> None:
    seen: list[int] = []
    run = Run(
        problem, "ista", callbacks=[lambda e: e.iteration == 4, lambda e: seen.append(e.iteration)], certify_every=100
    )
    assert list(run)[-1].message == run.message == "stopped by a callback"
    assert seen == [0, 1, 2, 3, 4]
    result = solve(problem, "ista", callbacks=[lambda e: e.iteration == 4], certify_every=100)
    assert result.iterations == 4 and np.isfinite(result.gap) and result.message == "stopped by a callback"
    assert not any(e.message for _, e in zip(range(6), Run(problem, "ista", callbacks=[lambda e: 1]), strict=False))


def test_a_run_without_a_rule_goes_on_until_its_caller_stops(problem: ss.Problem) -> None:
    run = Run(problem, "ista")
    for event in run:
        if event.iteration == 5:
            break
    assert run.advance().iteration == 6 and run.opened


def test_events_cannot_be_changed_and_name_their_numbers(problem: ss.Problem) -> None:
    event = Run(problem, "ista").advance()
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.objective = 0.0  # type: ignore[misc]
    assert {"iteration", "objective", "gap", "lam"} <= set(NUMBERS) and {"test_accuracy"} <= known_columns().keys()
    assert not {"problem", "solver", "state", "message"} & set(NUMBERS)


@pytest.mark.filterwarnings("error")
def test_numbers_beside_the_common_ones_are_attributes_of_an_event(problem: ss.Problem) -> None:
    """Also those that every event had as a field: a solver that does not report one shows NaN."""
    common = {field.name for field in dataclasses.fields(Event)} - {"message", "info"}
    assert common == {*NUMBERS, "problem", "solver", "state"} and len(common) == 14
    assert not common & known_columns().keys(), "a number is declared once"
    run = Run(problem.with_lam(0.1 * problem.lam_max), "bcd-ls", certify_every=2)
    start, between, certified = run.advance(), run.advance(), run.advance()
    assert np.isnan([start.working_set, start.step_size, start.trials]).all() and start.certified
    assert np.isnan([between.dual, between.violation]).all() and not between.certified
    for name in ("dual", "violation", "working_set", "step_size", "trials"):
        assert getattr(certified, name) == certified.info[name], name
        assert name in certified._repr_html_()
    assert certified.gap == certified.objective - certified.dual
    other = Run(problem, Slow()).advance()
    assert "trials" not in other.info and np.isnan(other.trials)
    assert dataclasses.replace(certified, message="done").step_size == certified.step_size
    assert pickle.loads(pickle.dumps(dataclasses.replace(certified, problem=None, state=None))).dual == certified.dual


def test_a_solver_that_diverges_is_named(problem: ss.Problem) -> None:
    with pytest.raises(FloatingPointError, match="Exploding diverged at iteration 1"):
        list(Run(problem, Exploding(), stop=Iterations(5)))


def test_the_test_set_is_scored_in_its_own_form(problem: ss.Problem) -> None:
    import scipy.sparse as sp

    X, y = iris()
    for held_out in (X[:20], sp.csr_array(X[:20]), X[:20].astype(np.float32)):
        events = list(Run(problem, "bcd-ls", stop=Iterations(3), test=(held_out, y[:20])))
        expected = np.mean(problem.predict(events[-1].state.weights(), X=X[:20]) == y[:20])
        assert events[-1].test_accuracy == expected
    words = ss.Problem(X, np.array(["x", "y", "z"])[y], lam=0.3)
    one_class = list(Run(words, "bcd-ls", stop=Iterations(1), test=(X[:5], ["x"] * 5)))
    assert one_class[-1].test_accuracy == np.mean(words.predict(one_class[-1].state.weights(), X=X[:5]) == 0)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"certify_every": 0}, ValueError, "certify_every is 0"),
        ({"certify_every": 1.5}, ValueError, "whole number"),
        ({"test": (np.zeros((3, 7)), [0, 1, 2])}, ValueError, "test X has 7 features"),
        ({"test": (np.zeros((3, 4)), [0, 1])}, ValueError, "test y has 2 labels, test X has 3"),
        ({"test": (np.zeros((3, 4)), [0, 1, 5])}, ValueError, "none of the classes"),
        ({"solver": "bcd"}, ValueError, "unknown solver 'bcd'; did you mean 'bcd-"),
        ({"solver": 3}, TypeError, "is not a solver"),
        ({"W": np.zeros((2, 2))}, ValueError, "W has shape"),
    ],
)
def test_bad_settings_are_refused(problem: ss.Problem, given: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Run(problem, **given).advance()


def test_solvers_are_understood_by_name_class_and_object() -> None:
    assert as_solver("fista-cst") == as_solver(ss.solvers.FISTA(line_search=False))
    assert as_solver(ss.solvers.BCD) == ss.solvers.BCD()


def test_compilation_is_done_before_the_clock_and_once(problem: ss.Problem) -> None:
    @settings
    class Fresh(Slow):
        """A solver that nothing has warmed up."""

    assert not is_warm(problem, Fresh())
    Run(problem, Fresh()).warm_up()
    assert is_warm(problem, Fresh()) and not is_warm(problem.with_(loss="logistic"), Fresh())


# ------------------------------------------------------------------------------------------------------------- solve
def test_solve_returns_the_point_and_what_is_known_about_it() -> None:
    X, y = text()
    problem = ss.Problem(X, y, lam=0.02, intercept=True)
    found = solve(problem, "bcd-ls", tol=1e-8, test=(X, y))
    assert found.converged and "certified" in found.message and found.relative_gap <= 1e-8
    assert found.W.shape == (50, 4) and found.b is not None and found.b.shape == (4,)
    at = problem.certificate(found.W, found.b)
    assert (found.objective, found.gap) == pytest.approx((at.objective, at.gap), abs=1e-13)
    assert found.violation == pytest.approx(at.violation, abs=1e-13)
    assert len(found.trace) == found.iterations + 1 and found.trace["objective"][-1] == found.objective
    assert found.seconds > 0 and found.passes > found.iterations
    assert "converged: certified" in repr(found) and "rows" in repr(found)
    found.W[:] = 0  # the result owns its arrays


def test_solve_says_when_it_did_not_converge(problem: ss.Problem) -> None:
    found = solve(problem, "ista", tol=1e-12, max_iter=4, record=False)
    assert not found.converged and found.message == "limit of 4 iterations" and found.trace is None
    assert "not converged" in repr(found)
    found = solve(problem, "ista", tol=1e-12, stop=Passes(6))
    assert "6 data passes" in found.message
    found = solve(problem, "ista", tol=1e-12, max_seconds=1e-9)
    assert "solver seconds" in found.message and found.b is None


def test_solve_starts_where_it_is_told(problem: ss.Problem) -> None:
    W = np.full((4, 3), 0.25)
    found = solve(problem, "ista", W=W, max_iter=0)
    np.testing.assert_array_equal(found.W, W)
    assert found.iterations == 0
