"""The contract of solvers whose model is a sequence, and what a sequence problem promises."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import digits, forms, iris, solvers_for, tags, text
from sparsescope.registry import solvers
from sparsescope.runs.stopping import SETTLED, Iterations, Settled
from sparsescope.solvers.auto import choose

METHODS = [name for name in solvers_for("sequence") if not solvers[name].delegates]
# Every solver with settings that are worth a run: what a step is, and where features come from.
VARIANTS = {name: [{}, *(solvers[name].contract_settings or ())] for name in METHODS}
CASES = [
    pytest.param(name, "squared", chosen, id="-".join([name, *(f"{k}={v}" for k, v in chosen.items())]))
    for name in METHODS
    for chosen in VARIANTS[name]
]
CASES += [
    pytest.param("stagewise", "logistic", {"features": 3, "inner": 8, "generator": g}, id=f"stagewise-logistic-{g}")
    for g in ("columns", "fourier")
]
every_case = pytest.mark.parametrize(("name", "loss", "chosen"), CASES)


@cache
def problem_on(
    data: str = "iris", loss: str = "squared", form: str = "dense", dtype: str = "float64", intercept: bool = False
) -> ss.SequenceProblem:
    X, y = {"iris": iris, "text": text, "tags": tags}[data]()
    return ss.SequenceProblem(dict(forms(X))[form].astype(dtype), y, loss=loss, lam=1e-3, intercept=intercept)


def after(problem: ss.SequenceProblem, solver: Any, steps: int, **settings: Any) -> ss.Run:
    run = ss.Run(problem, solver, stop=Iterations(steps), **settings)
    list(run)
    return run


# -------------------------------------------------------------------------------------------------------- the sequence
@every_case
def test_the_model_replays_its_sequence_and_the_loss_falls(name: str, loss: str, chosen: dict[str, Any]) -> None:
    X, _ = text()
    for data, intercept in (("text", False), ("text", True)):
        problem = problem_on(data, loss, "csr", intercept=intercept)
        run = ss.Run(problem, solvers.create(name, **chosen), stop=Iterations(5))
        values = [event.objective for event in run]
        model = run.state.model
        assert len(model) == 5 and (np.diff(values) <= 1e-9 * values[0]).all() and values[-1] < 0.95 * values[0]
        assert problem.objective(model) == pytest.approx(values[-1], rel=1e-10)
        np.testing.assert_allclose(model.scores(X), run.state.Z, atol=1e-9)
        np.testing.assert_allclose(model.scores(X.toarray()[:7]), run.state.Z[:7], atol=1e-9)
        np.testing.assert_array_equal(problem.predict(model), problem.scores(model).argmax(axis=1))
        early = model.scores(X, steps=2)
        assert problem.mean_loss(early) == pytest.approx(values[2], rel=1e-10)


@every_case
def test_dense_csr_and_csc_and_single_precision_take_the_same_way(name: str, loss: str, chosen: dict[str, Any]) -> None:
    ends = [
        after(problem_on("text", loss, form, dtype), solvers.create(name, **chosen), 4).state.Z
        for form, dtype in (
            ("dense", "float64"),
            ("csr", "float64"),
            ("csc", "float64"),
            ("csr", "float32"),
            ("dense", "float32"),
        )
    ]
    for found in ends[1:]:
        single = found.dtype == np.float32
        np.testing.assert_allclose(found, ends[0], atol=5e-3 if single else 1e-8)
    assert ends[3].dtype == ends[4].dtype == np.float32


@every_case
def test_pausing_resuming_and_watching_change_nothing(name: str, loss: str, chosen: dict[str, Any]) -> None:
    problem, solver = problem_on(loss=loss, intercept=True), solvers.create(name, **chosen)
    X, y = iris()
    whole = after(problem, solver, 5, certify_every=10**6)
    recorder = ss.Recorder()
    watched = after(problem, solver, 5, test=(X[:9], y[:9]), callbacks=[recorder])
    np.testing.assert_array_equal(watched.state.Z, whole.state.Z)
    first = after(problem, solver, 3)
    copied = first.state.copy()
    before = copied.Z.copy()
    list(ss.Run(problem, solver, stop=Iterations(4), state=first.state))
    np.testing.assert_array_equal(copied.Z, before)
    assert (len(copied.model), len(first.state.model)) == (3, 4) and copied.model.steps[0] is first.state.model.steps[0]
    resumed = ss.Run(problem, solver, stop=Iterations(5), state=copied)
    list(resumed)
    np.testing.assert_array_equal(resumed.state.Z, whole.state.Z)
    trace = recorder.trace
    assert len(trace) == 6 and np.isnan(trace["gap"]).all() and np.isfinite(trace["violation"]).all()
    accuracies = [np.mean(whole.state.model.scores(X[:9], steps=k).argmax(axis=1) == y[:9]) for k in range(1, 6)]
    np.testing.assert_allclose(trace["test_accuracy"][1:], accuracies)
    assert trace["train_accuracy"][-1] == np.mean(problem.predict(whole.state.model) == y)


@every_case
def test_events_and_traces_are_complete(name: str, loss: str, chosen: dict[str, Any], tmp_path: Path) -> None:
    problem, solver = problem_on(loss=loss), solvers.create(name, **chosen)
    recorder = ss.Recorder()
    events = []
    for event in ss.Run(problem, solver, stop=Iterations(4), callbacks=[recorder]):
        events.append((event, event.state.weights().copy()))
    for k, (event, W) in enumerate(events):
        assert event.iteration == k and event.loss == event.objective and event.penalty == 0.0
        assert event.nonzero_rows == np.count_nonzero(W.any(axis=1)) and W.shape == (4, 3)
        assert (event.features >= events[k - 1][0].features) if k else event.features == 0.0
        assert not k or (event.passes > events[k - 1][0].passes and event.step_size > 0 and event.working_set > 0)
    assert events[-1][0].message == "limit of 4 iterations"
    trace = ss.Trace.load(recorder.trace.save(tmp_path / "sequence"))
    np.testing.assert_array_equal(trace["features"], [event.features for event, _ in events])
    assert trace.segments == 1 and trace.info["loss"] == repr(problem.loss)
    with pytest.raises(ValueError, match="read-only"):
        events[0][0].state.weights()[...] = 0.0


@pytest.mark.parametrize("name", METHODS)
def test_label_sets_are_fitted_and_predicted(name: str) -> None:
    X, Y = tags()
    problem = problem_on("tags", form="csr")
    found = ss.solve(problem, name, max_iter=4, test=(X[:9], Y[:9]))
    Z = problem.scores(found.model)
    if name == "cls":
        assert Z.min() >= 0.0 and Z.max() <= 1.0, "calibrated predictions lie in the box"
    np.testing.assert_array_equal(problem.predict(found.model), (Z > 0.5).astype(np.uint8))
    assert found.trace is not None and found.trace["train_micro_f1"][-1] > 0.8
    assert 0.0 <= found.trace["test_precision_at_1"][-1] <= 1.0


# ------------------------------------------------------------------------------------------------------------ live runs
@pytest.mark.parametrize("name", METHODS)
def test_a_session_plays_changes_lam_and_solver_and_forks(name: str) -> None:
    X, y = iris()
    problem = problem_on()
    other = next(each for each in METHODS if each != name)
    with ss.Session(problem, name, test=(X[:9], y[:9])) as session:
        session.step(3)
        assert session.wait_idle(120.0)
        before = session.run.state.Z.copy()
        session.change(lam=1e-2)
        session.change(solver=other)
        session.step(2)
        assert session.wait_idle(120.0)
        assert session.status().error is None and len(session.run.state.model) == 5
        np.testing.assert_allclose(session.run.state.model.scores(X, steps=3), before, atol=1e-12)
        assert [mark.kind for mark in session.trace.marks] == ["lam", "solver"]
        assert session.trace.segments == 1, "λ is no part of F: values before and after can be compared"
        with session.fork() as fork:
            fork.step()
            assert fork.wait_idle(120.0) and len(fork.run.state.model) == 6 and len(session.run.state.model) == 5


def test_another_loss_begins_a_new_sequence() -> None:
    run = after(problem_on(), "stagewise", 2)
    run.change(problem=run.problem.with_(loss="logistic"))
    assert len(run.state.model) == 0 and not run.state.Z.any()


def test_solve_ends_when_the_objective_settles_and_says_so() -> None:
    found = ss.solve(problem_on("text"), "cls", tol=1e-3, max_iter=500)
    assert found.converged and found.message.startswith(SETTLED) and found.iterations < 500
    values = found.trace["objective"]
    fell = -np.diff(values) / np.maximum(values[:-1], 1e-2 * values[0])
    assert (fell[-3:] < 1e-3).all() and (fell[:-3] >= 1e-3).any()
    assert "columns" in repr(found) and found.W.shape == (50, 4)
    with pytest.raises(ValueError, match="rel"):
        Settled(-1.0)


def test_columns_that_come_again_are_not_counted_again() -> None:
    problem = problem_on()
    assert after(problem, "cls", 3).state.features == problem.d
    taken = after(problem, solvers.create("stagewise", features=3), 5).state
    assert taken.features == problem.d == taken.seen.sum() and len(taken.model) == 5
    assert after(problem, solvers.create("stagewise", features=3, generator="fourier"), 5).state.features == 15


def test_a_sequence_whose_objective_falls_to_zero_ends() -> None:
    """More random features than samples: F falls by a share of itself stage after stage, down to rounding."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 6)), np.arange(40) % 3
    problem = ss.SequenceProblem(X, y, lam=1e-4)
    solver = solvers.create("stagewise", generator="fourier", features=60)
    stages = {}
    for of_null in (0.0, 1e-2):
        run = ss.Run(problem, solver, stop=Settled(1e-6, of_null=of_null) | Iterations(60))
        stages[of_null] = [event.objective for event in run]
        assert ("settled" in run.message) == (of_null > 0), run.message
    values = np.array(stages[1e-2])
    assert values[-1] < 1e-6 * values[0] and len(values) < len(stages[0.0])
    assert "of F before the first fit" in run.message
    assert problem.null_objective == values[0]


def test_auto_chooses_a_solver_of_sequences_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ss.solve(problem_on(), "auto", max_iter=2).reason.startswith("cls: predictions are judged")
    assert ss.solve(problem_on(loss="logistic"), "auto", max_iter=2).reason.startswith("stagewise: ")
    monkeypatch.setattr("sparsescope.solvers.auto.MOST_COLUMNS", 3)
    assert choose(problem_on())[0].name == "stagewise"


# ------------------------------------------------------------------------------------------------------------ bad input
def test_solvers_and_problems_of_other_kinds_do_not_mix() -> None:
    X, y = iris()
    plain = ss.Problem(X, y, loss="squared", penalty="ridge")
    for name in METHODS:
        with pytest.raises(ValueError, match=f"{name} is for sequences of models"):
            ss.Run(plain, name)
    with pytest.raises(ValueError, match="bcd-ls is for predictions"):
        ss.Run(problem_on(), "bcd-ls")
    with pytest.raises(ValueError, match="cannot begin at given weights"):
        ss.Run(problem_on(), "cls", W=np.zeros((4, 3))).advance()
    with pytest.raises(ValueError, match="a path follows solutions"):
        ss.path(problem_on(), "cls")


def test_what_a_sequence_has_not_is_refused_in_words() -> None:
    problem = problem_on()
    model = after(problem, "cls", 1).state.model
    for ask in (problem.gap, problem.certificate, problem.gradient):
        with pytest.raises(TypeError, match="no weights W"):
            ask(np.zeros((4, 3)))
    with pytest.raises(TypeError, match="a model is needed"):
        problem.predict(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="samples of 4 features"):
        model.scores(np.zeros((2, 5)))
    with pytest.raises(ValueError, match="the model has 1"):
        model.scores(np.zeros((2, 4)), steps=2)
    with pytest.raises(ValueError, match="one class only"):
        ss.SequenceProblem(np.eye(3), [1, 1, 1])
    with pytest.raises(ValueError, match="not smooth"):
        ss.SequenceProblem(*digits(), loss="crammer-singer")
