"""The contract of accuracy: on data where features are correlated and of very different sizes, `auto` certifies every
loss with every penalty, with and without intercept, at a larger and a smaller λ.

Processor seconds of the same problems are measured by benchmarks/bench_reach.py.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import factors, fitting
from sparsescope.registry import losses, penalties

CLASSES = [name for name in losses if "classes" in losses[name].target_types]
SHARES = (0.1, 0.02)  # of λ_max


def certified(loss: str, penalty: Any, intercept: bool, share: float, tol: float) -> None:
    X, y = factors()
    problem = ss.Problem(X, fitting(loss, y), loss=loss, penalty=penalty, intercept=intercept)
    problem = problem.with_lam(share * problem.lam_reference)
    found = ss.solve(problem, "auto", tol=tol, max_iter=20_000, record=False, certify_every=10)
    assert found.converged, (loss, penalty, intercept, share, found)
    assert problem.objective(found.W, found.b) - found.dual <= tol * abs(found.objective) * (1.0 + 1e-9) + 1e-15


def unpredictable(n: int, d: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlated features of very different sizes, and labels that nothing predicts."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 8)) @ rng.standard_normal((8, d)) + 0.1 * rng.standard_normal((n, d))
    X, y = X * np.exp(rng.standard_normal(d)), rng.integers(0, m, n)
    y[:m] = np.arange(m)
    return X, y


@pytest.mark.slow
@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize("penalty", list(penalties))
@pytest.mark.parametrize("loss", CLASSES)
def test_auto_certifies_a_relative_gap_of_1e_6(loss: str, penalty: str, intercept: bool) -> None:
    for share in SHARES:
        certified(loss, penalty, intercept, share, 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", list(penalties))
@pytest.mark.parametrize("loss", [name for name in CLASSES if losses[name].smooth])
def test_auto_certifies_smooth_losses_to_1e_9(loss: str, penalty: str) -> None:
    certified(loss, penalty, True, SHARES[1], 1e-9)


@pytest.mark.parametrize("size", [2, pytest.param(16, marks=pytest.mark.slow), 64])
def test_auto_certifies_tied_blocks_of_any_size(size: int) -> None:
    certified("logistic", ss.penalties.BlockL1Linf(size), True, SHARES[1], 1e-6)


@pytest.mark.parametrize(
    ("loss", "penalty", "samples", "classes"),
    [
        ("logistic", "l1/linf", 150, 5),
        ("multiclass-squared-hinge", ss.penalties.BlockL1Linf(16), 150, 5),
        *(
            pytest.param(loss, penalty, 300, 10, marks=pytest.mark.slow)
            for loss, penalty in [
                ("logistic", "l1/linf"),
                ("multiclass-squared-hinge", ss.penalties.BlockL1Linf(16)),
                ("logistic", ss.penalties.BlockL1Linf(16)),
                ("logistic", ss.penalties.BlockL1Linf(64)),
                ("multiclass-squared-hinge", ss.penalties.BlockL1Linf(64)),
                ("multiclass-squared-hinge", "l1/linf"),
            ]
        ),
    ],
)
def test_labels_that_nothing_predicts_at_a_small_lam(loss: str, penalty: Any, samples: int, classes: int) -> None:
    """Many corners of ℓ1/ℓ∞ stay undecided for long: gradient steps take tens of thousands of iterations."""
    X = factors()[0][:samples]
    y = np.random.default_rng(1).integers(0, classes, samples)
    problem = ss.Problem(X, y, loss=loss, penalty=penalty, intercept=True)
    problem = problem.with_lam(0.002 * problem.lam_max)
    found = ss.solve(problem, "auto", tol=1e-6, max_iter=3000, record=False, certify_every=10)
    assert found.converged and problem.objective(found.W, found.b) - found.dual <= 1e-6 * found.objective * (1 + 1e-9)
    assert found.reason.startswith("ssnal: working-set did not end in"), "or the problem is no longer a hard one"


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(90, 220, 10), (150, 130, 10), (100, 1000, 2), (40, 500, 10)], ids=str)
@pytest.mark.parametrize("size", [16, 64])
@pytest.mark.parametrize("loss", ["logistic", "multiclass-squared-hinge"])
def test_labels_that_nothing_predicts_with_many_weights(loss: str, size: int, shape: tuple[int, int, int]) -> None:
    """n·d·m is at most 2e5, and W has more entries than can be factored as one system in time."""
    X, y = unpredictable(*shape)
    problem = ss.Problem(X, y, loss=loss, penalty=ss.penalties.BlockL1Linf(size), intercept=True)
    problem = problem.with_lam(0.002 * problem.lam_max)
    found = ss.solve(problem, "auto", tol=1e-6, max_iter=4000, record=False, certify_every=10)
    assert found.converged and problem.objective(found.W, found.b) - found.dual <= 1e-6 * found.objective * (1 + 1e-9)


def certified_hinge(loss: str, penalty: Any, shape: tuple[int, int, int], intercept: bool, share: float) -> Any:
    problem = ss.Problem(*unpredictable(*shape), loss=loss, penalty=penalty, intercept=intercept)
    problem = problem.with_lam(share * problem.lam_reference)
    stop = ss.stopping.Gap(1e-6, of_null=0.0)  # F is less than a hundredth of F(0) in some of these
    found = ss.solve(problem, "auto", tol=0.0, stop=stop, max_iter=3000, record=False, certify_every=10)
    assert found.converged, (loss, penalty, shape, intercept, share, found)
    assert problem.objective(found.W, found.b) - found.dual <= 1e-6 * found.objective * (1 + 1e-9)
    return found


@pytest.mark.parametrize("penalty", [ss.penalties.BlockL1Linf(16), "sparse-group"])
def test_a_hinge_with_many_weights_on_labels_that_nothing_predicts(penalty: Any) -> None:
    found = certified_hinge("crammer-singer", penalty, (30, 220, 4), True, 0.002)
    assert found.reason.startswith("ssnal: fbpd did not end in"), "or the problem is no longer a hard one"
    assert np.count_nonzero(found.W) < found.W.size


def test_a_hinge_with_ridge_on_labels_that_nothing_predicts() -> None:
    X, y = unpredictable(60, 130, 6)
    problem = ss.Problem(X, y, loss="crammer-singer", penalty="ridge", lam=0.01)
    found = ss.solve(problem, "auto", tol=1e-6, max_iter=400, record=False, certify_every=5)
    assert found.converged and found.reason.startswith("ssnal: dual-cd did not end in"), "or it is no longer a hard one"
    assert problem.objective(found.W, found.b) - found.dual <= 1e-6 * found.objective * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(90, 220, 10), (150, 130, 10), (100, 1000, 2), (60, 64, 50), (300, 200, 5)], ids=str)
@pytest.mark.parametrize(
    "penalty",
    [
        *(name for name in penalties if penalties[name].zeroes_rows),
        ss.penalties.BlockL1Linf(16),
        ss.penalties.BlockL1Linf(64),
    ],
    ids=str,
)
def test_hinges_with_many_weights(penalty: Any, shape: tuple[int, int, int]) -> None:
    certified_hinge("crammer-singer", penalty, shape, True, 0.002)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [ss.penalties.BlockL1Linf(16), "sparse-group", "l1/l2"], ids=str)
@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize("shape", [(90, 220, 10), (60, 64, 50)], ids=str)
def test_separation_ranking_with_many_weights(shape: tuple[int, int, int], intercept: bool, penalty: Any) -> None:
    certified_hinge("separation-ranking", penalty, shape, intercept, 0.002)


def few_of_many(n: int, d: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """A fifth of the features, of different sizes, tell something about the classes; every class is there."""
    rng = np.random.default_rng(d)
    X = rng.standard_normal((n, d)) * np.exp(0.5 * rng.standard_normal(d))
    T = rng.standard_normal((d, m)) * (rng.random((d, 1)) < 0.2)
    y = (X @ T + 0.5 * np.sqrt(d) * rng.standard_normal((n, m))).argmax(axis=1)
    y[:m] = np.arange(m)
    return X, y


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(60, 120, 3), (80, 136, 4), (60, 190, 3), (60, 210, 4), (50, 410, 5)], ids=str)
@pytest.mark.parametrize("penalty", list(penalties))
@pytest.mark.parametrize("loss", CLASSES)
def test_every_loss_and_penalty_on_both_sides_of_internal_thresholds(
    loss: str, penalty: str, shape: tuple[int, int, int]
) -> None:
    """Solvers change their way at 128, 200 and 400 features.

    With more features than samples F* may lie below a hundredth of F(0), where ``tol`` accepts a gap that is small
    against F(0) alone: the rule asks for a gap relative to F itself.
    """
    X, y = few_of_many(*shape)
    stop = ss.stopping.Gap(1e-6, of_null=0.0)
    for intercept, share in product((False, True), SHARES):
        problem = ss.Problem(X, fitting(loss, y), loss=loss, penalty=penalty, intercept=intercept)
        problem = problem.with_lam(share * problem.lam_reference)
        found = ss.solve(problem, "auto", tol=0.0, stop=stop, max_iter=20_000, record=False, certify_every=10)
        assert found.relative_gap <= 1e-6, (intercept, share, found)
        assert problem.objective(found.W, found.b) - found.dual <= 1e-6 * found.objective * (1 + 1e-9) + 1e-15


def test_the_data_are_as_hard_as_they_are_meant_to_be() -> None:
    X, _ = factors()
    singular = np.linalg.svd(X, compute_uv=False)
    assert singular[0] > 1e3 * singular[-1]


@pytest.mark.parametrize("intercept", [pytest.param(False, marks=pytest.mark.slow), True], ids=["plain", "intercept"])
@pytest.mark.parametrize("penalty", ["l1/l2", "l1", "l1/linf"])
def test_a_tiny_lam_is_certified(penalty: str, intercept: bool) -> None:
    data = ss.datasets.load("iris", test_size=0.0)
    problem = ss.Problem(data, loss="logistic", penalty=penalty, intercept=intercept)
    problem = problem.with_lam(1e-9 * problem.lam_max)
    found = ss.solve(problem, "auto", tol=1e-6, max_iter=5000, record=False, certify_every=10)
    assert found.relative_gap <= 1e-6, found


@pytest.mark.slow
@pytest.mark.parametrize("penalty", ["l1/l2", "l1"])
def test_a_fit_of_all_digits_without_errors_is_certified_relative_to_its_own_f(penalty: str) -> None:
    data = ss.datasets.load("digits", test_size=0.0)
    problem = ss.Problem(data, loss="multiclass-squared-hinge", penalty=penalty, intercept=True)
    problem = problem.with_lam(1e-6 * problem.lam_max)
    stop = ss.stopping.Gap(1e-6, of_null=0.0)  # F is less than a ten-thousandth of F(0)
    found = ss.solve(problem, "auto", tol=0.0, stop=stop, max_iter=5000, record=False, certify_every=10)
    assert found.relative_gap <= 1e-6 and found.objective < 1e-4 * problem.null_objective, found
