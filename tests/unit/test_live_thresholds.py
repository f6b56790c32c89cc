"""The threshold strip: levels of features, what is proved inactive, and which dots are sent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import PENALTIES, in_turn
from sparsescope.live import thresholds
from sparsescope.problems.certificate import Workspace
from sparsescope.registry import solvers

rng = np.random.default_rng(5)
X = rng.normal(size=(80, 12)) * (rng.random((80, 12)) < 0.6)
Y = (X[:, 0] + 0.4 * rng.normal(size=80) > 0).astype(int) + (X[:, 1] > 0.4)
ROWS = {
    "l1/l2": lambda g: np.linalg.norm(g, axis=1),
    "l1": lambda g: np.abs(g).max(axis=1),
    "l1/linf": lambda g: np.abs(g).sum(axis=1),
    "elastic-net": lambda g: np.abs(g).max(axis=1) / 0.5,
}


def problem_of(penalty: Any, *, sparse: bool = False, ratio: float = 0.2, **options: Any) -> ss.Problem:
    problem = ss.Problem(sp.csc_array(X) if sparse else X, Y, penalty=penalty, loss="logistic", **options)
    return problem.with_lam(ratio * problem.lam_reference)


def measured(
    problem: ss.Problem, steps: int, columns: int = 100, restart: bool = False
) -> tuple[thresholds.Strip, Any]:
    run = ss.Run(problem, solvers.create("fista-ls", restart=restart))
    for _ in range(steps + 1):
        run.advance()
    work = Workspace(problem, levels=True)
    return thresholds.measure(problem, run.state, run.solver, work, columns), run.state


def gradient(problem: ss.Problem, W: np.ndarray) -> np.ndarray:
    Z = X @ W
    P = np.exp(Z - Z.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    P[np.arange(len(Y)), Y] -= 1.0
    return X.T @ P / len(Y)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("penalty", list(ROWS))
def test_a_level_is_the_dual_norm_of_the_gradient_of_a_row(penalty: str, sparse: bool) -> None:
    problem = problem_of(penalty, sparse=sparse)
    strip, state = measured(problem, 3)
    np.testing.assert_allclose(strip.levels, ROWS[penalty](gradient(problem, state.weights())), rtol=1e-5)
    np.testing.assert_allclose(strip.norms, np.linalg.norm(state.weights(), axis=1), rtol=1e-6)


@pytest.mark.parametrize(
    "penalty",
    [
        "l1/l2",
        "l1/linf",
        "sparse-group",
        "elastic-net",
        ss.penalties.BlockL1L2(size=3),
        ss.penalties.BlockL1Linf(size=5),
    ],
)
def test_the_highest_level_at_zero_is_lam_max(penalty: Any) -> None:
    problem = problem_of(penalty)
    strip, _ = measured(problem, 0)
    assert strip.levels.max() == pytest.approx(problem.lam_max, rel=1e-6)
    assert strip.counts[thresholds.ACTIVE] == 0 and not strip.words.size


def test_weighted_entries_have_the_level_of_their_largest() -> None:
    weights = rng.uniform(0.5, 2.0, size=(12, 3))
    problem = problem_of(ss.penalties.WeightedL1(weights))
    run = ss.Run(problem, "newglmnet")
    run.advance()
    strip = thresholds.measure(problem, run.state, run.solver, Workspace(problem, levels=True), 100)
    expected = (np.abs(gradient(problem, run.state.weights())) / weights).max(axis=1)
    np.testing.assert_allclose(strip.levels, expected, rtol=1e-5)


@pytest.mark.parametrize("penalty", ["l1/l2", "l1/linf"])
def test_at_the_optimum_the_rows_that_are_in_stand_at_the_bar(penalty: str) -> None:
    problem = problem_of(penalty)
    strip, _ = measured(problem, 400, restart=True)  # as near as 3000 steps without restarts
    inside = strip.states == thresholds.ACTIVE
    assert inside.any() and not inside.all()
    np.testing.assert_allclose(strip.levels[inside], problem.lam, rtol=1e-4)
    assert (strip.levels[~inside] <= problem.lam * (1 + 1e-6)).all()
    assert (strip.states[~inside] == thresholds.SAFE).all(), "a small gap settles what stays out"


@pytest.mark.parametrize(
    ("penalty", "intercept"),
    in_turn(["l1/l2", "l1", "l1/linf", "sparse-group", "elastic-net", ss.penalties.BlockL1L2(size=3)], (False, True)),
)
def test_what_is_proved_out_is_out(penalty: Any, intercept: bool) -> None:
    problem = problem_of(penalty, intercept=intercept)
    optimum = ss.solve(problem, "fista-ls", restart=True, tol=1e-12, max_iter=20_000, record=False)
    support = np.flatnonzero(np.linalg.norm(optimum.W, axis=1) > 1e-9)
    settled = []
    for steps in (0, 5, 40, 400):
        strip, _ = measured(problem, steps)
        out = strip.features[strip.states == thresholds.SAFE]
        assert not set(out) & set(support)
        settled.append(out.size)
    assert settled[-1] >= settled[0]


def test_heavy_samples_widen_the_ball() -> None:
    weights = np.random.default_rng(1).choice([0.2, 1.0, 6.0], size=80)
    problem = problem_of("l1/l2", sample_weight=weights)
    optimum = ss.solve(problem, "fista-ls", restart=True, tol=1e-12, max_iter=20_000, record=False)
    support = set(np.flatnonzero(np.linalg.norm(optimum.W, axis=1) > 1e-9))
    for steps in (0, 5, 40, 400):
        strip, _ = measured(problem, steps)
        assert not set(strip.features[strip.states == thresholds.SAFE]) & support


def test_nothing_is_proved_where_the_penalty_never_zeroes_rows() -> None:
    strip, _ = measured(problem_of("ridge"), 5)
    assert strip.counts[thresholds.SAFE] == 0


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_spread_bounds_the_level(penalty: Any) -> None:
    for size in (1, 2, 7):
        for v in np.random.default_rng(size).standard_normal((200, size)):
            level, bound = penalty.zero_threshold(v), penalty.spread(size) * np.linalg.norm(v)
            assert level <= bound * (1 + 1e-12) or not np.isfinite(bound)


def test_with_many_features_neighbours_share_a_dot_and_the_highest_is_shown() -> None:
    levels = np.random.default_rng(0).random(130_107)
    norms = np.zeros(levels.size)
    norms[[7, 90_000]] = 1.0, 2.0
    states = np.where(norms > 0, thresholds.ACTIVE, thresholds.OPEN).astype(np.int8)
    shown, binned = thresholds.choose(levels, norms, states, 600)
    assert {7, 90_000} <= set(shown.tolist()) and shown.size == 602
    assert binned == pytest.approx(levels.size / 600)
    starts = (np.arange(600) * levels.size) // 600
    quiet = np.where(norms > 0, -1, levels)
    highest = np.sort(np.maximum.reduceat(quiet, starts))
    np.testing.assert_allclose(np.sort(levels[np.setdiff1d(shown, [7, 90_000])]), highest)


def test_the_words_are_the_rows_of_largest_norm_with_the_class_of_their_largest_weight() -> None:
    strip, state = measured(problem_of("l1/l2", ratio=0.05), 200)
    W = state.weights()
    norms = np.linalg.norm(W, axis=1)
    assert strip.words.tolist() == np.argsort(-norms, kind="stable")[: strip.words.size].tolist()
    assert strip.word_classes.tolist() == np.abs(W[strip.words]).argmax(axis=1).tolist()
    np.testing.assert_allclose(strip.word_values, W[strip.words, strip.word_classes], rtol=1e-6)


def test_without_a_workspace_the_strip_says_why_and_still_has_the_words() -> None:
    problem = problem_of("l1/l2", ratio=0.05)
    _, state = measured(problem, 50)
    strip = thresholds.measure(problem, state, ss.Run(problem, "fista-ls").solver, None, 100)
    assert "gradient is not known" in strip.reason and strip.words.size and not strip.features.size
