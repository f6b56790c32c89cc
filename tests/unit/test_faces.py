"""The public face: one word for a change, names or objects everywhere, keywords for settings, results that say more."""

from __future__ import annotations

import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import sparsescope as ss
from helpers import iris
from sparsescope import registry


@pytest.fixture
def problem() -> ss.Problem:
    return ss.Problem(*iris(), loss="multiclass-squared-hinge", penalty="l1/l2", lam_ratio=0.1)


class Asked(ss.stopping.Stop):
    """A rule of a user's own, with a memory: stops when it was asked three times."""

    def __init__(self) -> None:
        self.count = 0

    def check(self, event: ss.Event) -> str | None:
        self.count += 1
        return "asked three times" if self.count == 3 else None


@pytest.mark.parametrize("certify_every", [1, 2, 7, None])
def test_a_stop_rule_is_asked_once_for_each_event(problem: ss.Problem, certify_every: int | None) -> None:
    rule = Asked()
    events = list(ss.Run(problem, "bcd-ls", stop=rule, certify_every=certify_every))
    assert (len(events), rule.count) == (3, 3)
    assert events[-1].certified and events[-1].message == "asked three times"


def test_a_finished_run_makes_no_further_step(problem: ss.Problem) -> None:
    run = ss.Run(problem, "bcd-ls", stop=ss.stopping.Iterations(2))
    assert [event.iteration for event in run] == [0, 1, 2]
    assert list(run) == []
    run.change(lam=problem.lam / 2)
    assert [event.iteration for event in run] == [3], "a change lets it go on until its rule says so again"


def test_a_run_changes_by_names_and_objects(problem: ss.Problem) -> None:
    run = ss.Run(problem, "bcd-ls")
    run.advance()
    run.change(solver="fista-ls")
    assert run.solver.name == "fista-ls"
    run.change(solver=ss.solvers.BCD, loss="logistic", penalty=ss.penalties.ElasticNet(rho=0.5), lam_ratio=0.2)
    assert run.problem.loss == ss.losses.Logistic()
    assert run.problem.lam == pytest.approx(0.2 * run.problem.lam_reference)
    assert run.advance().certified
    before = run.problem
    with pytest.raises(ValueError, match="unknown solver 'fista'"):
        run.change(solver="fista")
    with pytest.raises(ValueError, match="give one of them"):
        run.change(lam=0.1, lam_ratio=0.1)
    assert run.problem is before


def test_a_session_changes_by_the_same_word(problem: ss.Problem) -> None:
    with ss.Session(problem, "bcd-ls") as session:
        session.change(lam_ratio=0.5, solver="fista-ls")
        assert session.wait_idle(120)
        assert session.problem.lam == pytest.approx(0.5 * problem.lam_max) and session.solver.name == "fista-ls"
        with pytest.warns(DeprecationWarning, match=r"Session\.change"):
            session.tweak(lam=0.01)
        assert session.wait_idle(120) and session.problem.lam == 0.01


def test_lam_ratio_is_taken_wherever_lam_is() -> None:
    X, y = iris()
    problem = ss.Problem(X, y, lam_ratio=0.3)
    assert problem.lam == pytest.approx(0.3 * problem.lam_max)
    assert problem.with_(penalty="l1", lam_ratio=0.3).lam == pytest.approx(0.3 * problem.with_(penalty="l1").lam_max)
    network = ss.CovarianceProblem.from_data(X, lam_ratio=0.4)
    assert network.lam == pytest.approx(0.4 * network.lam_reference)
    assert network.with_(lam_ratio=0.2).lam == pytest.approx(0.2 * network.lam_reference)
    for bad in (0.0, -1.0, np.inf, "much", None):
        if bad is not None:
            with pytest.raises(ValueError, match="lam_ratio is"):
                ss.Problem(X, y, lam_ratio=bad)
    with pytest.raises(ValueError, match="give one of them"):
        ss.Problem(X, y, lam=0.1, lam_ratio=0.1)


def test_settings_of_a_named_solver_are_keywords(problem: ss.Problem) -> None:
    chosen = ss.solve(problem, "bcd-ls", selection="random", seed=3, tol=1e-3)
    made = ss.solve(problem, ss.solvers.BCD(selection="random", seed=3), tol=1e-3)
    np.testing.assert_array_equal(chosen.W, made.W)
    again = ss.solve(problem, ss.solvers.BCD(selection="random"), seed=3, tol=1e-3)
    np.testing.assert_array_equal(chosen.W, again.W)
    with pytest.raises(TypeError, match="no parameter 'selektion'; did you mean 'selection'"):
        ss.solve(problem, "bcd-ls", selektion="random")
    with pytest.raises(TypeError, match="no setting 'selektion'"):
        ss.solve(problem, ss.solvers.BCD(), selektion="random")


def test_solve_takes_a_clock(problem: ss.Problem) -> None:
    ticks = iter(range(100_000))
    result = ss.solve(problem, "bcd-ls", tol=1e-3, clock=lambda: float(next(ticks)))
    assert result.seconds == result.n_iter + 1, "one tick for the start and one for each iteration"
    assert ss.solve(problem, "bcd-ls", tol=1e-3, clock=time.thread_time).converged


def test_the_default_solver_is_auto_everywhere(problem: ss.Problem) -> None:
    assert ss.Run(problem).solver.name == "auto"
    assert ss.solve(problem).reason
    with ss.Session(problem) as session:
        assert session.solver.name == "auto"


@pytest.mark.parametrize("solver", ["bcd-ls", "pd-sparse"])
def test_a_result_tells_its_support_whatever_the_type_of_w(solver: str) -> None:
    problem = ss.Problem(
        *iris(), loss="crammer-singer" if solver == "pd-sparse" else None, penalty="elastic-net", lam_ratio=0.1
    )
    result = ss.solve(problem, solver, tol=1e-4)
    dense = result.W.toarray() if sp.issparse(result.W) else result.W
    np.testing.assert_array_equal(result.support, np.flatnonzero((dense != 0).any(axis=1)))
    assert result.success is result.converged is True
    assert result.n_iter == result.iterations


def test_not_converging_is_a_warning(problem: ss.Problem) -> None:
    with pytest.warns(ConvergenceWarning, match="bcd-ls ended before the tolerance 1e-09 was reached: limit of 1"):
        ss.solve(problem, "bcd-ls", tol=1e-9, max_iter=1)


@pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")
def test_an_end_that_was_asked_for_is_no_warning(problem: ss.Problem) -> None:
    ss.solve(problem, "bcd-ls", tol=0.0, max_iter=2)
    ss.solve(problem, "bcd-ls", tol=1e-9, stop=ss.stopping.Iterations(1))
    ss.solve(problem, "bcd-ls", tol=1e-9, callbacks=lambda event: event.iteration == 1)


@pytest.mark.parametrize("name", list(registry.penalties))
def test_penalties_have_a_plain_face(name: str) -> None:
    penalty = registry.penalties.create(name)
    if not hasattr(penalty, "prox"):
        return  # a penalty over blocks is applied by the problem's regulariser, which knows the blocks
    W = np.random.default_rng(0).standard_normal((5, 3))
    shrunk = penalty.prox(W, 0.4)
    assert shrunk.shape == W.shape
    np.testing.assert_array_equal(shrunk[2], penalty.prox(W[2], 0.4))
    out = np.empty(3)
    penalty.prox(W[2], 0.4, out)
    np.testing.assert_array_equal(out, shrunk[2])
    assert penalty.value(W) == pytest.approx(sum(penalty.value(row) for row in W))
    assert penalty.value(W) == pytest.approx(penalty.reference(W).sum())
    with pytest.raises(ValueError, match="at least 0"):
        penalty.prox(W, -1.0)


@pytest.mark.parametrize("name", list(registry.losses))
def test_losses_have_a_plain_face(name: str) -> None:
    loss = registry.losses.create(name)
    rng = np.random.default_rng(0)
    m = 1 if loss.one_score else 3
    Z, y = rng.standard_normal((6, m)), np.array([0, 1, 0, 1, 1, 0])
    if "classes" not in loss.target_types:
        y = np.eye(3, dtype=np.uint8)[y]
    values, slopes = loss.reference(Z, y)
    np.testing.assert_allclose(loss.value(Z, y), values, rtol=1e-12)
    np.testing.assert_allclose(loss.gradient(Z, y), slopes, rtol=1e-9, atol=1e-12)
    assert loss.value(Z[1], y[1]) == pytest.approx(values[1])
    np.testing.assert_allclose(loss.gradient(Z[1], y[1]), slopes[1], rtol=1e-9, atol=1e-12)


def test_the_facts_of_a_problem_are_its_metadata(problem: ss.Problem) -> None:
    with pytest.warns(DeprecationWarning, match="now its metadata"):
        assert problem.facts == problem.metadata
