"""Calibrated and stagewise least squares (Agarwal et al. 2013, Alg. 2 and 3): steps by formula, and rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import digits, iris, tags, text
from sparsescope.inputs.feature_maps import draw
from sparsescope.runs.stopping import Iterations
from sparsescope.solvers import CLS, Stagewise
from sparsescope.solvers.shared import stage_data


def fitted(problem: ss.SequenceProblem, solver: Any, steps: int) -> Any:
    run = ss.Run(problem, solver, stop=Iterations(steps))
    list(run)
    return run.state


def nearest_in_simplex(v: np.ndarray) -> np.ndarray:
    """By bisection on the level."""
    low, high = v.min() - 1.0, v.max()
    for _ in range(200):
        level = 0.5 * (low + high)
        low, high = (level, high) if np.maximum(v - level, 0).sum() > 1 else (low, level)
    return np.maximum(v - level, 0)


# -------------------------------------------------------------------------------------------- calibrated least squares
@pytest.mark.parametrize("basis", ["identity", "square", "cube"])
def test_a_step_fits_the_residual_calibrates_and_projects(basis: str) -> None:
    X, y = iris()
    lam, n, Y = 0.01, len(y), np.eye(3)[y]
    state = fitted(ss.SequenceProblem(X, y, lam=lam), CLS(basis=basis), 3)
    predictions, powers = np.zeros((n, 3)), {"identity": 1, "square": 2, "cube": 3}[basis]
    for _ in range(3):
        W = np.linalg.solve(X.T @ X / n + lam * np.eye(4), X.T @ (Y - predictions) / n)
        moved = predictions + X @ W
        G = np.hstack([moved**k for k in range(1, powers + 1)])
        predictions = np.array([nearest_in_simplex(v) for v in G @ np.linalg.lstsq(G, Y, rcond=1e-9)[0]])
    np.testing.assert_allclose(state.Z, predictions, atol=1e-6)
    np.testing.assert_allclose(state.weights(), W, atol=1e-6)


def test_calibration_beats_least_squares_and_more_powers_fit_better() -> None:
    X, y = digits()
    plain = ss.Problem(X, y, loss="squared", penalty="ridge", lam=1e-3)
    found = [
        ss.solve(ss.SequenceProblem(X, y, lam=1e-3), CLS(basis=basis), max_iter=8, record=False).objective
        for basis in ("identity", "square", "cube")
    ]
    W = ss.solve(plain, "gls", record=False).W
    linear = 0.5 * ((X @ W - np.eye(10)[y]) ** 2).sum() / len(y)
    assert linear > found[0] > found[1] > found[2]


def test_a_basis_of_ones_own_is_used_and_replayed() -> None:
    class Rooted(CLS):
        def expand(self, Y: np.ndarray) -> np.ndarray:
            return np.hstack([Y, np.sqrt(np.abs(Y))])

    class Broken(CLS):
        def expand(self, Y: np.ndarray) -> np.ndarray:
            return np.full((3, 2), np.nan)

    X, y = iris()
    problem = ss.SequenceProblem(X, y, lam=1e-3)
    state = fitted(problem, Rooted(), 4)
    assert state.model.steps[0].C.shape == (6, 3)
    np.testing.assert_allclose(state.model.scores(X), state.Z, atol=1e-12)
    with pytest.raises(ValueError, match=r"expand gave an array of shape \(3, 2\)"):
        fitted(problem, Broken(), 1)


# ------------------------------------------------------------------------------------------------------------ stagewise
def test_one_stage_of_all_columns_is_least_squares_and_two_are_a_pass_of_block_descent() -> None:
    X, y = digits()
    lam, n, Y = 0.01, len(y), np.eye(10)[y]
    whole = fitted(ss.SequenceProblem(X, y, lam=lam), Stagewise(features=500), 1)
    expected = np.linalg.solve(X.T @ X / n + lam * np.eye(64), X.T @ Y / n)
    np.testing.assert_allclose(whole.weights(), expected, atol=1e-10)
    state = fitted(ss.SequenceProblem(X, y, lam=lam), Stagewise(features=40, seed=2), 2)
    first, second = (step.block.numbers for step in state.model.steps)
    assert sorted([*first, *second]) == list(range(64)) and len(first) == 40
    A, B = X[:, first], X[:, second]
    V = np.linalg.solve(A.T @ A / n + lam * np.eye(40), A.T @ Y / n)
    U = np.linalg.solve(B.T @ B / n + lam * np.eye(24), B.T @ (Y - A @ V) / n)
    np.testing.assert_allclose(state.Z, A @ V + B @ U, atol=1e-10)
    np.testing.assert_allclose(X @ state.weights(), state.Z, atol=1e-10)


def test_columns_come_by_the_size_of_their_gradient_and_are_ordered_anew_in_the_next_pass() -> None:
    X, y = text()
    problem = ss.SequenceProblem(X, y, lam=1e-3)
    state = fitted(problem, Stagewise(generator="gradient", features=20), 3)
    taken = np.concatenate([step.block.numbers for step in state.model.steps])
    sizes = np.linalg.norm(X.T @ -np.eye(4)[y], axis=1)
    assert sorted(taken) == list(range(50))
    assert (np.diff(sizes[taken]) <= 1e-12).all()
    again = fitted(problem, Stagewise(generator="gradient", features=20), 4).model.steps[3].block.numbers
    sizes = np.linalg.norm(X.T @ (state.Z - np.eye(4)[y]), axis=1)
    assert len(again) == 20 and sizes[again].min() >= np.sort(sizes)[::-1][20] - 1e-12


@pytest.mark.parametrize("kind", ["fourier", "logits", "products"])
def test_random_stages_are_known_by_seed_and_number(kind: str) -> None:
    X, y = digits()
    problem = ss.SequenceProblem(X, y, lam=1e-4)
    state = fitted(problem, Stagewise(generator=kind, features=30, seed=5, calibrated=True), 2)
    predictions = np.zeros((len(y), 10))
    for stage in range(2):
        A = np.hstack([draw(kind, 30, problem.data_scale(5), 5, stage).features(X), predictions])
        V = np.linalg.solve(A.T @ A / len(y) + 1e-4 * np.eye(40), A.T @ (np.eye(10)[y] - predictions) / len(y))
        predictions = predictions + A @ V
    np.testing.assert_allclose(state.Z, predictions, atol=1e-8)
    assert state.features == 60 and not state.weights().any()
    wide = fitted(problem, Stagewise(generator=kind, features=30, seed=5, width=4.0), 1)
    assert not np.allclose(wide.Z, fitted(problem, Stagewise(generator=kind, features=30, seed=5), 1).Z)


def test_a_logistic_stage_solves_its_problem_with_the_predictions_as_offset() -> None:
    X, y = iris()
    state = fitted(ss.SequenceProblem(X, y, loss="logistic", lam=0.05), Stagewise(features=2, inner=400), 2)
    Z = np.zeros((len(y), 3))
    for step in state.model.steps:
        A = X[:, step.block.numbers]
        moved = Z + A @ step.V
        P = np.exp(moved) / np.exp(moved).sum(axis=1, keepdims=True)
        assert np.abs(A.T @ (P - np.eye(3)[y]) / len(y) + 0.05 * step.V).max() < 1e-8
        Z = moved


def test_an_intercept_begins_at_the_best_constant() -> None:
    X, y = iris()
    for loss, expected in (("squared", np.bincount(y) / len(y)), ("logistic", np.log(np.bincount(y) / len(y)))):
        state = Stagewise().init(ss.SequenceProblem(X, y, loss=loss, intercept=True))
        np.testing.assert_allclose(
            state.Z - state.Z.mean(axis=1, keepdims=True), np.tile(expected - expected.mean(), (len(y), 1)), atol=1e-8
        )


def test_features_that_are_made_again_are_the_ones_that_would_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = digits()
    ends = []
    for held, chunk in ((10**9, 10**9), (0, 1), (0, 10**9)):
        monkeypatch.setattr(stage_data, "HOLD_BYTES", held)
        monkeypatch.setattr("sparsescope.problems.sequence_model.CHUNK_BYTES", chunk)
        problem = ss.SequenceProblem(np.tile(X, (5, 1)), np.tile(y, 5), loss="logistic", lam=1e-3)
        ends.append(fitted(problem, Stagewise(generator="fourier", features=10, inner=5), 2).Z)
    for other in ends[1:]:
        np.testing.assert_allclose(other, ends[0], atol=1e-10)


def test_more_features_than_samples_go_through_the_ridge_and_a_ridge_too_small_is_named() -> None:
    X, y = text()
    state = fitted(ss.SequenceProblem(X, y, lam=1e-6), Stagewise(generator="fourier", features=200), 1)
    assert np.mean(state.Z.argmax(axis=1) == y) == 1.0
    twice = np.hstack([X.toarray()[:, :5]] * 2)
    with pytest.raises(ValueError, match="is singular"):
        fitted(ss.SequenceProblem(twice, y, lam=1e-300), Stagewise(features=10), 1)
    for name in ("features", "inner"):
        with pytest.raises(ValueError, match=name):
            Stagewise(**{name: 0})


def test_losses_that_do_not_fit_are_refused_in_words() -> None:
    X, y = iris()
    reason = str(CLS().solves(ss.SequenceProblem(X, y, loss="logistic")))
    assert "multiclass logistic loss is of scores" in reason and "stagewise" in reason
    with pytest.raises(ValueError, match="label sets"):
        ss.SequenceProblem(*tags(), loss="logistic")
