"""The contract of solvers of sparse inverse covariances, and what a covariance problem promises."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.covariance import graphical_lasso

import sparsescope as ss
from helpers import interpreted, iris, solvers_for, values_of
from sparsescope.kernels.coordinates import REPORT, SEED, STEPS, SWEEPS, walk
from sparsescope.kernels.covariance import newton_descent, support_descent
from sparsescope.problems.linear_algebra import cholesky, inverse
from sparsescope.registry import solvers
from sparsescope.runs.stopping import Gap, Iterations
from sparsescope.solvers import quic
from sparsescope.solvers.shared.inverse_covariance import together

METHODS = [name for name in solvers_for(ss.CovarianceProblem.kind) if not solvers[name].delegates]
every_solver = pytest.mark.parametrize("name", METHODS)
P = 14


@cache
def samples(groups: int = 2) -> np.ndarray:
    """60 samples of P features in groups that know nothing of each other, each a chain."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, P))
    for j in range(P):
        if j % (P // groups):
            X[:, j] = 0.8 * X[:, j - 1] + 0.6 * X[:, j]
    return X * np.geomspace(0.5, 2.0, P)


@cache
def problem_on(kind: str = "plain") -> ss.CovarianceProblem:
    """Small problems of every kind that there is."""
    X = samples()
    if kind == "correlation":
        return ss.CovarianceProblem.from_data(X, correlation=True, lam=0.5)
    if kind == "free diagonal":
        return ss.CovarianceProblem.from_data(X, lam=0.1, diagonal=False)
    if kind == "weights":
        C = np.random.default_rng(1).uniform(0.2, 2.0, (P, P))
        C[0, 3] = C[3, 0] = 0.0
        return ss.CovarianceProblem.from_data(X, lam=0.2, weights=np.triu(C) + np.triu(C, 1).T)
    if kind == "singular":
        return ss.CovarianceProblem.from_data(X[:6], correlation=True, lam=0.3, diagonal=False)
    return ss.CovarianceProblem.from_data(X, lam=0.2)


KINDS = ("plain", "correlation", "free diagonal", "weights", "singular")


@cache
def best(kind: str) -> ss.Result:
    return ss.solve(problem_on(kind), "quic", tol=1e-13, max_iter=500, record=False)


def distance_to_optimality(problem: ss.CovarianceProblem, Theta: np.ndarray) -> float:
    """The largest distance of −(S − Θ⁻¹)_ij to λC_ij ∂|Θ_ij|, from nothing but the definition."""
    G, C = problem.S - np.linalg.inv(Theta), np.ones((P, P)) if problem.weights is None else problem.weights.copy()
    if not problem.diagonal:
        np.fill_diagonal(C, 0.0)
    bound = problem.lam * C
    off = np.where(Theta != 0, np.abs(G + bound * np.sign(Theta)), np.maximum(np.abs(G) - bound, 0.0))
    return float(off.max())


# ---------------------------------------------------------------------------------------------------- reaching optima
@pytest.mark.parametrize("kind", KINDS)
@every_solver
def test_a_certificate_made_of_what_the_solver_knows_is_that_of_its_point(name: str, kind: str) -> None:
    problem, method = problem_on(kind), solvers.create(name)
    state = method.init(problem)
    work = problem.workspace(state.sparse)
    for _ in range(4):
        found, alone = method.certificate(problem, state, work), problem.certificate(state.coef)
        assert vars(found) == pytest.approx(vars(alone), rel=1e-12, abs=1e-14, nan_ok=True)
        method.step(problem, state)
    other = problem.with_lam(1.5 * problem.lam)  # other components and thresholds: nothing known of them may be used
    method.adapt(other, state)
    found = method.certificate(other, state, work)
    assert vars(found) == pytest.approx(vars(other.certificate(state.coef)), rel=1e-12, abs=1e-14, nan_ok=True)


@pytest.mark.parametrize("kind", KINDS)
@every_solver
def test_reaches_a_certified_optimum(name: str, kind: str) -> None:
    problem = problem_on(kind)
    found = ss.solve(problem, name, tol=1e-11, max_iter=2000, record=False)
    assert found.converged and found.b is None, found
    assert found.objective == pytest.approx(best(kind).objective, rel=1e-10)
    assert distance_to_optimality(problem, found.W) < 1e-4
    assert distance_to_optimality(problem, best(kind).W) < 1e-5
    np.testing.assert_array_equal(found.W, found.W.T)
    assert problem.objective(found.W) == pytest.approx(found.objective, rel=1e-12)
    assert found.dual <= best(kind).objective + 1e-12 and "edges between" in repr(found)
    if kind == "weights":
        assert found.W[0, 3] != 0.0, "an entry without penalty"


def test_agrees_with_the_graphical_lasso_of_scikit_learn() -> None:
    problem = problem_on("free diagonal")  # theirs does not penalise the diagonal
    theirs = graphical_lasso(problem.S.copy(), alpha=problem.lam, mode="lars", tol=1e-8)[1]
    np.testing.assert_allclose(best("free diagonal").W, theirs, atol=1e-5)
    assert problem.gap(0.5 * (theirs + theirs.T)) < 1e-9


@pytest.mark.parametrize(
    "name",
    [(name, f.name, v) for name in METHODS for f in solvers.fields(name) for v in values_of(f) if v != f.default],
    ids=lambda case: "-".join(map(str, case)),
)
def test_every_setting_solves(name: tuple[str, str, Any]) -> None:
    solver = solvers.create(name[0], **{name[1]: name[2]})
    found = ss.solve(problem_on(), solver, tol=1e-8, max_iter=4000, record=False)
    assert found.converged and found.objective == pytest.approx(best("plain").objective, rel=1e-7)


@every_solver
def test_a_feature_on_its_own_has_the_closed_form(name: str) -> None:
    problem = problem_on().with_lam(problem_on().lam_max)
    found = ss.solve(problem, name, tol=1e-14)
    np.testing.assert_allclose(found.W, np.diag(1.0 / (np.diag(problem.S) + problem.lam)), rtol=1e-14)
    assert found.gap == pytest.approx(0.0, abs=1e-12) and found.iterations <= 1
    below = ss.solve(problem.with_lam(0.95 * problem.lam), name, tol=1e-12).W
    assert np.count_nonzero(below) == P + 2, "just below λ_max there is one edge"


# ----------------------------------------------------------------------------------------------------- the run of a run
@every_solver
def test_events_tell_the_truth_and_the_counters_count(name: str) -> None:
    problem, solver = problem_on(), solvers.create(name)
    seen = [(event, event.state.weights().copy()) for event in ss.Run(problem, name, stop=Iterations(6))]
    values = [event.objective for event, _ in seen]
    assert (np.diff(values) <= 1e-13 * np.abs(values[0])).all()
    for k, (event, Theta) in enumerate(seen):
        assert event.objective == pytest.approx(problem.objective(Theta), rel=1e-12)
        # The gap is that to the best dual value so far, so at most that of the point itself.
        assert -1e-12 <= event.gap <= problem.gap(Theta) * (1 + 1e-6) + 1e-12
        assert event.gap == pytest.approx(event.objective - max(e.dual for e, _ in seen[: k + 1]), abs=1e-15)
        edges = np.count_nonzero(np.triu(Theta, 1))
        assert event.nonzero_entries == P + 2 * edges
        assert event.nonzero_rows == np.count_nonzero((Theta != 0).sum(axis=1) > 1)
        assert np.isnan(event.train_accuracy)
        if k:
            assert event.passes > seen[k - 1][0].passes and event.step_size > 0 and event.trials >= 1
            # A step may change no other entry than those it works on.
            assert np.count_nonzero(np.triu(Theta)) <= event.working_set <= P * (P + 1) / 2
            assert 1 <= event.inner_sweeps <= solver.sweeps + getattr(solver, "cg_steps", 0)
            assert event.coordinate_steps <= event.inner_sweeps * event.working_set
    flops = [event.step_flops for event, _ in seen[1:]]
    if name == "lhac-covariance":  # O(memory): at most 2·memory numbers are read and changed
        assert max(flops) <= 12 + 3 * 2 * 2 * solver.memory
    else:  # O(p)
        assert max(flops) <= 12 + 6 * P


@every_solver
def test_pause_resume_fork_and_observers_change_nothing(name: str) -> None:
    problem = problem_on("weights")
    whole = ss.Run(problem, name, stop=Iterations(9))
    list(whole)
    first = ss.Run(problem, name, stop=Iterations(4), certify_every=3)
    list(first)
    copied = first.state.copy()
    list(ss.Run(problem, name, stop=Iterations(9), state=first.state))
    again = ss.Run(problem, name, stop=Iterations(9), state=copied)
    list(again)
    for state in (first.state, copied):
        np.testing.assert_array_equal(state.weights(), whole.state.weights())
    with pytest.raises(ValueError, match="read-only"):
        whole.state.weights()[...] = 0.0


@every_solver
def test_a_start_at_the_optimum_stops_at_once_and_other_starts_lead_there(name: str) -> None:
    problem = problem_on("free diagonal")
    events = list(ss.Run(problem, name, W=best("free diagonal").W, stop=Gap(1e-10)))
    assert len(events) == 1 and "certified" in events[0].message
    far = np.linalg.inv(problem.S + 0.3 * np.eye(P))  # dense: it ties the components together
    found = ss.solve(problem, name, W=far, tol=1e-10, max_iter=2000)
    assert found.objective == pytest.approx(best("free diagonal").objective, rel=1e-9)


@pytest.mark.parametrize(
    "change", [{"lam": 0.05}, {"lam": 0.6}, {"diagonal": False}, {"weights": True}], ids=lambda c: "-".join(map(str, c))
)
@every_solver
def test_a_change_of_the_problem_keeps_theta_and_finds_the_new_optimum(name: str, change: dict[str, Any]) -> None:
    if "weights" in change:
        change = {"weights": problem_on("weights").weights}
    problem = problem_on()
    other = problem.with_(**change)
    run = ss.Run(problem, name, stop=Iterations(5))
    list(run)
    Theta = run.state.weights().copy()
    run.change(problem=other)
    np.testing.assert_array_equal(run.state.weights(), Theta)
    assert run.observe().objective == pytest.approx(other.objective(Theta), rel=1e-12)
    run.stop = Gap(1e-10) | Iterations(2000)
    last = list(run)[-1]
    assert "certified" in last.message
    assert last.objective == pytest.approx(ss.solve(other, "quic", tol=1e-12).objective, rel=1e-9)


def test_a_change_of_the_solver_keeps_theta_and_counters() -> None:
    run = ss.Run(problem_on(), METHODS[0], stop=Iterations(2))
    list(run)
    Theta = run.state.weights().copy()
    for following in METHODS[::-1]:
        run.change(solver=solvers.create(following))
        np.testing.assert_array_equal(run.state.weights(), Theta)
        before, event = run.state.iteration, run.advance()
        assert event.iteration == before + 1 and event.objective < problem_on().objective(Theta)
        Theta = run.state.weights().copy()
    with pytest.raises(ValueError, match="keeps the data"):
        run.change(problem=problem_on("correlation"))


@every_solver
def test_the_path_is_warm_started_and_the_trace_comes_back_from_its_file(name: str, tmp_path: Any) -> None:
    problem = problem_on("correlation")
    found = ss.path(problem, name, n_lams=4, ratio=0.2, tol=1e-9)
    assert found.converged.all() and found.nonzero_entries[0] == P and (np.diff(found.nonzero_entries) >= 0).all()
    read = ss.Path.load(found.save(tmp_path / "path"))
    for k, lam in enumerate(found.lams):
        direct = ss.solve(problem.with_lam(lam), "quic", tol=1e-11).W
        np.testing.assert_allclose(read.weights(k).toarray(), direct, atol=1e-4)
    result = ss.solve(problem, name, tol=1e-9)
    trace = ss.Trace.load(result.trace.save(tmp_path / "trace"))
    np.testing.assert_array_equal(trace.weights().toarray(), result.W)
    edges = np.flatnonzero((result.W != 0).sum(axis=1) > 1)
    np.testing.assert_array_equal(trace.support(), edges)
    assert trace.info["diagonal"] == "penalised" and trace.info["d"] == P


def test_auto_chooses_and_a_session_obeys() -> None:
    problem = problem_on()
    assert "quic: a sparse inverse covariance" in ss.solve(problem, "auto", tol=1e-9).reason
    with ss.Session(problem) as session:
        assert session.solver.name == "auto"
        session.step(3)
        session.change(lam=0.1, diagonal=False)
        session.change(solver="lhac-covariance")
        session.play()
        assert session.wait_idle(120.0) and session.status().mode == "finished", session.status()
        assert [mark.text for mark in session.trace.marks] == [
            "diagonal penalised → free",
            "λ 0.2 → 0.1",
            "solver auto → lhac-covariance",
        ]
        with pytest.raises(ValueError, match="no loss and no penalty"):
            session.change(loss="squared")


# ------------------------------------------------------------------------------------------------------- certificates
@pytest.mark.parametrize("kind", KINDS)
def test_the_dual_value_is_a_bound_at_any_theta(kind: str) -> None:
    problem, rng = problem_on(kind), np.random.default_rng(3)
    for scale in (0.01, 0.3, 3.0):
        A = rng.normal(size=(P, P)) * scale
        found = problem.certificate(best(kind).W + A @ A.T)
        assert not found.dual > best(kind).objective + 1e-10
        assert kind == "weights" or np.isfinite(found.gap)
        assert found.violation > 0.0 and found.objective >= best(kind).objective


def test_the_gap_near_the_optimum_is_of_second_order() -> None:
    problem, Theta = problem_on(), best("plain").W.copy()
    gaps = []
    for step in (1e-3, 1e-4):
        Theta[0, 0] = best("plain").W[0, 0] + step
        gaps.append(problem.gap(Theta))
    assert gaps[0] < 1e-4 and gaps[1] == pytest.approx(gaps[0] / 100, rel=0.3)


def test_components_are_those_of_the_large_covariances() -> None:
    problem = problem_on("correlation")
    assert np.unique(problem.components).size > 1
    Theta = best("correlation").W
    apart = problem.components[:, None] != problem.components
    assert not Theta[apart].any() and (np.abs(problem.S[apart]) <= problem.lam).all()


def test_small_components_are_worked_on_together_and_each_feature_once() -> None:
    rng = np.random.default_rng(3)
    parts = np.split(rng.permutation(60), np.cumsum([2, 30, 3, 5, 11, 2]))
    found = together(parts, 8)
    assert sorted(np.concatenate(found)) == list(range(60))
    assert [at.size for at in found] == [30, 2 + 3, 11, 5 + 2, 7]
    np.testing.assert_array_equal(np.concatenate(together(parts, 0)), np.concatenate(parts))
    assert len(together(parts, 0)) == len(parts) and together([], 8) == []


def pairs_of(problem: ss.CovarianceProblem, Theta: np.ndarray) -> tuple[Any, ...]:
    """Σ, G, thresholds, rows, columns: what a descent over all entries takes."""
    columns, rows = np.nonzero(np.tril(np.ones(Theta.shape)))
    Sigma = inverse(cholesky(Theta))
    return Sigma, problem.S - Sigma, problem.thresholds(), rows, columns


def correlated() -> ss.CovarianceProblem:
    """Twenty features, each like those before it."""
    X = np.random.default_rng(2).standard_normal((60, 20))
    return ss.CovarianceProblem(np.cov(X @ np.triu(np.full((20, 20), 0.3) + 0.7 * np.eye(20)), rowvar=False), lam=0.1)


def test_the_compiled_descent_is_the_interpreted_one() -> None:
    problem = problem_on()
    Theta = best("plain").W + 0.1 * np.eye(P)
    Sigma, G, Lam, rows, columns = pairs_of(problem, Theta)
    ends = []
    for run in (newton_descent, interpreted(newton_descent)):
        new, U, report = Theta.copy(), np.zeros(Theta.shape), np.zeros(REPORT)
        run(Sigma, G, Lam, rows.copy(), columns, new, U, 3, 0.0, walk(rows.size, 7), 10**9, report)
        np.testing.assert_allclose(U, (new - Theta) @ Sigma, atol=1e-12)
        ends.append((new, report))
    np.testing.assert_allclose(ends[0][0], ends[1][0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ends[0][1], ends[1][1], rtol=1e-7, atol=1e-12)


def test_a_descent_that_is_interrupted_goes_on_as_if_it_had_not_been() -> None:
    problem = correlated()
    Theta = problem.coefficients()
    Sigma, G, Lam, rows, columns = pairs_of(problem, Theta)
    ends = []
    for most in (10**9, 1):
        new, at, stops = Theta.copy(), walk(rows.size, 7), 0
        args = (Sigma, G, Lam, rows.copy(), columns, new, np.zeros(Theta.shape), 3, 0.0, at, most, np.zeros(REPORT))
        while not newton_descent(*args):
            stops += 1
        ends.append(new)
        assert (stops > 2) == (most == 1)
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-9, atol=1e-12)


def test_single_precision_gives_the_same_direction_but_for_its_rounding() -> None:
    problem = correlated()
    Theta = problem.coefficients()
    Sigma, G, Lam, rows, columns = pairs_of(problem, Theta)
    moves = []
    for number in (np.float32, np.float64):
        new, U = Theta.copy(), np.zeros(Theta.shape, dtype=number)
        model = (Sigma.astype(number), G, Lam, rows.copy(), columns, new, U)
        newton_descent(*model, 3, 0.0, walk(rows.size, 7), 10**9, np.zeros(REPORT))
        moves.append(new - Theta)
    assert 0.0 < np.linalg.norm(moves[0] - moves[1]) <= 1e-4 * np.linalg.norm(moves[1])


def test_a_direction_that_leads_nowhere_in_single_precision_is_sought_in_double(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []

    def descent(Sigma: np.ndarray, G: Any, Lam: Any, rows: Any, columns: Any, new: np.ndarray, *rest: Any) -> bool:
        seen.append(Sigma.dtype)
        if Sigma.dtype == np.float64:
            return bool(newton_descent(Sigma, G, Lam, rows, columns, new, *rest))
        new += np.sign(G) * 0.01 * new.diagonal().min()  # uphill
        return True

    monkeypatch.setattr(quic, "newton_descent", descent)
    result = ss.solve(correlated(), "quic", tol=1e-10, max_iter=100)
    assert result.relative_gap <= 1e-10
    assert seen[0] == np.float32 and set(seen[1:]) == {np.dtype(np.float64)}


def test_single_precision_inside_reaches_the_accuracy_of_double_on_scales_far_apart() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 20)) * np.logspace(-1.5, 1.5, 20) + rng.normal(size=(30, 1))
    result = ss.solve(ss.CovarianceProblem(np.cov(X, rowvar=False), lam=0.1), "quic", tol=1e-11, max_iter=5000)
    assert np.linalg.cond(result.W) > 1e3 and result.relative_gap <= 1e-11


def test_a_sweep_visits_every_pair_once_whatever_the_order() -> None:
    problem = problem_on()
    Theta = best("plain").W + 0.1 * np.eye(P)
    Sigma, G, Lam, rows, columns = pairs_of(problem, Theta)
    ends, seeds = [], []
    for seed in (1, 2):
        mixed, new, report = rows.copy(), Theta.copy(), np.zeros(REPORT)
        args = (Sigma, G, Lam, mixed, columns, new, np.zeros((P, P)))
        at = walk(rows.size, seed)
        assert newton_descent(*args, 1, 0.0, at, 10**9, report)
        seeds.append(int(at.at[SEED]))
        assert report[STEPS] == rows.size and not np.array_equal(mixed, rows)
        assert set(zip(mixed, columns, strict=True)) == set(zip(rows, columns, strict=True))
        newton_descent(*args, 5000, 1e-13, walk(rows.size, seeds[-1]), 10**9, report)
        ends.append(new)
    assert seeds[0] != seeds[1]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9, err_msg="one model, one minimum")


def test_sweeps_grow_from_iteration_to_iteration() -> None:
    run = ss.Run(problem_on(), ss.solvers.QUIC(sweeps=3), stop=ss.stopping.Gap(1e-10))
    sweeps = [event.inner_sweeps for event in run][1:]
    assert sweeps[0] == 1 and max(sweeps) <= 3 and event_limits(sweeps)


def event_limits(sweeps: list[float]) -> bool:
    """Return whether iteration k made at most 1 + k/2 sweeps."""
    return all(count <= 1 + k / 2 for k, count in enumerate(sweeps))


def test_conjugate_gradients_solve_the_model_on_the_support_and_stop_at_a_zero() -> None:
    problem, Theta = problem_on(), best("plain").W
    Sigma, Lam = inverse(cholesky(Theta)), problem.thresholds()
    columns, rows = np.nonzero(np.tril(Theta != 0.0))
    start = Theta + 0.02 * np.diag(np.arange(P))  # with the same signs; the model's minimum is at Θ

    def descend(run: Any, G: np.ndarray, steps: int) -> np.ndarray:
        new, report = start.copy(), np.zeros(REPORT)
        run(Sigma, G, Lam, rows, columns, new, (start - Theta) @ Sigma, steps, 1e-10, report)
        assert 0 < report[SWEEPS] <= steps and report[STEPS] == report[SWEEPS] * rows.size
        np.testing.assert_array_equal(new, new.T)
        return new

    G = problem.S - Sigma
    for run in (support_descent, interpreted(support_descent)):
        np.testing.assert_allclose(descend(run, G, 300), Theta, atol=1e-5)
    assert np.abs(descend(support_descent, G, 2) - Theta).max() < np.abs(start - Theta).max()
    pulled = descend(support_descent, G + 5.0 * (Theta != 0.0) * np.sign(Theta), 300)  # a minimum beyond zero
    gone = (pulled == 0.0) & (Theta != 0.0)
    assert 1 <= np.count_nonzero(gone) <= 2 and (pulled * Theta >= 0.0).all()


def test_the_rehearsal_runs_every_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    for kernel in (newton_descent, support_descent):
        monkeypatch.setattr(quic, kernel.__name__, lambda *a, k=kernel: (seen.append(k.__name__), k(*a))[1])
    problem = problem_on()
    ss.solvers.QUIC(cg_steps=5).precompile(problem.tiny_sibling(), problem)
    assert set(seen) == {"newton_descent", "support_descent"}


# ------------------------------------------------------------------------------------------------------- other kinds
def test_solvers_of_one_kind_refuse_problems_of_another_in_words() -> None:
    predicting, covariance = ss.Problem(*iris(), loss="logistic", penalty="l1"), problem_on()
    for name in solvers:
        solver = solvers.create(name)
        for problem in (predicting, covariance):
            reason = solver.solves(problem)
            if problem.kind in solver.kinds:
                assert problem is predicting or reason is None
                continue
            assert reason is not None and reason.startswith(f"{name} is for ")
            assert ("quic" if problem is covariance else "bcd-ls") in reason.split("there are")[1]
            for door in (ss.Run, ss.Session, ss.path) if name in ("quic", "bcd-ls") else (ss.Run,):
                with pytest.raises(ValueError, match="is for"):
                    door(problem, name)


# ------------------------------------------------------------------------------------------------------------- inputs
def test_inputs_of_every_form_give_the_same_problem() -> None:
    X, names = samples(), [f"gene {j}" for j in range(P)]
    S = np.cov(X.T, bias=True)
    frame = pd.DataFrame(X, columns=names)
    forms = {
        "array": ss.CovarianceProblem(S, feature_names=names),
        "frame": ss.CovarianceProblem(frame.cov(ddof=0)),
        "sparse": ss.CovarianceProblem(sp.csr_array(S), feature_names=names),
        "single": ss.CovarianceProblem(S.astype(np.float32), feature_names=names),
        "samples": ss.CovarianceProblem.from_data(frame),
        "sparse samples": ss.CovarianceProblem.from_data(sp.csc_array(X), feature_names=names),
        "single samples": ss.CovarianceProblem.from_data(X.astype(np.float32), feature_names=names),
    }
    for form, problem in forms.items():
        np.testing.assert_allclose(problem.S, S, atol=1e-6 if "single" in form else 1e-12, err_msg=form)
        assert problem.feature_names == names and problem.n == (60 if "samples" in form else 0)
        assert problem.dtype == np.float64
    data = ss.CovarianceProblem.from_data(ss.datasets.load("wine"), correlation=True)
    assert data.name == "wine" and data.feature_names and np.diag(data.S) == pytest.approx(1.0)
    np.testing.assert_allclose(problem_on("correlation").S, np.corrcoef(X.T), atol=1e-12)


BROKEN = {
    "not square": (lambda S: S[:3], r"shape \(3, 14\); a square matrix"),
    "words": (lambda S: [["a", "b"], ["c", "d"]], "not a matrix of numbers"),
    "nan": (lambda S: np.where(np.eye(P) == 1, np.nan, S), "not finite: nan for feature 0 and feature 0"),
    "one-sided": (lambda S: np.triu(S), "not symmetric: .* the other way round"),
    "negative variance": (lambda S: S - 9.0 * np.eye(P), "negative variance"),
    "indefinite": (lambda S: np.ones((P, P)) - 2.0 * (1 - np.eye(P)), "indefinite: its smallest eigenvalue is -1[0-9]"),
    "empty": (lambda S: np.empty((0, 0)), "at least one feature"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_matrices_that_are_no_covariances_are_refused(case: str) -> None:
    make, words = BROKEN[case]
    with pytest.raises((ValueError, TypeError), match=words):
        ss.CovarianceProblem(make(problem_on().S.copy()))


def test_other_bad_input_is_refused_with_what_was_wrong() -> None:
    S, X = problem_on().S, samples().copy()
    ones = np.ones((P, P))
    for settings, words in (
        ({"lam": -1.0}, "lam is -1.0; it must be positive"),
        ({"lam": "much"}, "a positive number is needed"),
        ({"diagonal": "no"}, "diagonal is 'no'; True"),
        ({"weights": -ones}, "weights holds -1 for feature 0"),
        ({"weights": ones[:2]}, r"weights has shape \(2, 14\)"),
        ({"weights": np.triu(ones)}, "not symmetric"),
        ({"feature_names": ["a"]}, "1 feature names for 14"),
    ):
        with pytest.raises(ValueError, match=words):
            ss.CovarianceProblem(S, **settings)
    X[:, 2] = 7.1
    with pytest.raises(ValueError, match="feature 2 is constant"):
        ss.CovarianceProblem.from_data(X, correlation=True)
    with pytest.raises(ValueError, match="variance 0 and no penalty"):
        ss.CovarianceProblem(np.zeros((2, 2)), diagonal=False)
    with pytest.raises(ValueError, match="S is singular"):
        ss.CovarianceProblem(np.ones((3, 3)), weights=np.zeros((3, 3)))
    with pytest.raises(ValueError, match="at least 2"):
        ss.CovarianceProblem.from_data(X[:1])
    with pytest.raises(ValueError, match=r"20000 features: .* 6 arrays of 20000 × 20000 numbers, 19\.2 GB"):
        ss.CovarianceProblem(np.broadcast_to(0.0, (20_000, 20_000)))
    with pytest.raises(ValueError, match=r"20000 features: .* 19\.2 GB"):
        ss.CovarianceProblem.from_data(np.broadcast_to(0.0, (5, 20_000)))
    with pytest.raises(ValueError, match="λ has no scale"):
        _ = ss.CovarianceProblem(np.eye(3)).lam_reference
    for W, words in ((-np.eye(P), "not positive definite"), (np.triu(ones), "not symmetric"), (np.eye(2), "shape")):
        with pytest.raises(ValueError, match=words):
            ss.solve(problem_on(), W=W)
    with pytest.raises(ValueError, match="has no intercept"):
        ss.solve(problem_on(), b=np.zeros(P))
    with pytest.raises(ValueError, match="leave test out"):
        ss.solve(problem_on(), test=(X, X[:, 0]))
    assert problem_on().objective(-np.eye(P)) == np.inf
