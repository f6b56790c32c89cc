"""ss.certify: judging weights and dual points from anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import COVER, fitting, iris, random_point, tags
from sparsescope.registry import losses

CASES = [(loss, penalty) for loss, penalty in COVER] + [("crammer-singer", "l1/l2"), ("separation-ranking", "ridge")]


def problem_of(loss: str, penalty: str, intercept: bool = False) -> ss.Problem:
    X, y = iris()
    problem = ss.Problem(X, fitting(loss, y), loss=loss, penalty=penalty, intercept=intercept)
    return problem.with_lam(0.1 * problem.lam_reference)


def gradients(problem: ss.Problem, Z: np.ndarray) -> np.ndarray:
    """∇ℓ of all rows, by the functions of the loss."""
    U, work = np.zeros((problem.n, problem.m)), np.zeros(problem.m)
    for z, u, target in zip(Z, U, problem.y, strict=True):
        problem.loss.gradient(z, target, 1.0, u, work)
    return U


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize(("loss", "penalty"), CASES)
def test_a_dual_point_from_outside_bounds_the_optimum(loss: str, penalty: str, intercept: bool) -> None:
    problem = problem_of(loss, penalty, intercept)
    found = ss.solve(problem, "auto", tol=1e-6, max_iter=20_000, max_seconds=20.0, record=False)
    rng = np.random.default_rng(0)
    W, b = random_point(problem)
    for k in range(6):
        Z = rng.standard_normal((problem.n, problem.m)) * 10.0 ** (k - 3)
        judged = ss.certify(problem, W, b, dual=gradients(problem, Z))
        assert judged.dual <= found.objective * (1 + 1e-9), "a lower bound, whatever the dual point"
        assert judged.dual >= problem.certificate(W, b).dual
    best = gradients(problem, problem.scores(found.W, found.b))
    judged = ss.certify(problem, W, b, dual=best)
    assert judged.objective == pytest.approx(problem.objective(W, b), rel=1e-12)
    assert judged.gap == judged.objective - judged.dual >= judged.objective - found.objective - 1e-9
    if problem.loss.smooth and loss != "label-ranking-squared-hinge":  # of that one only a bound of ℓ* is known
        assert judged.dual == pytest.approx(found.objective, rel=2e-3)


@pytest.mark.parametrize("loss", ["crammer-singer", "logistic", "multiclass-squared-hinge", "separation-ranking"])
def test_dual_rows_outside_the_domain_are_refused(loss: str) -> None:
    problem = problem_of(loss, "ridge")
    W, _ = random_point(problem)
    good = gradients(problem, problem.scores(W))
    for change in (1e-3, 1e-6):
        for entry in range(problem.m):
            bad = good.copy()
            bad[4, entry] += change
            with pytest.raises(ValueError, match=r"rows? outside the domain .*sample 4"):
                ss.certify(problem, W, dual=bad)
    if loss == "crammer-singer":
        heavy = np.zeros_like(good)
        heavy[:, :] = -0.6
        heavy[np.arange(problem.n), problem.y] = 1.2
        with pytest.raises(ValueError, match="outside the domain"):
            ss.certify(problem, W, dual=-heavy)


def test_the_solvers_own_dual_point_proves_its_gap() -> None:
    problem = problem_of("crammer-singer", "l1/l2", intercept=True)
    run = ss.Run(problem, "fbpd", stop=ss.stopping.Gap(1e-6) | ss.stopping.Iterations(30_000), certify_every=20)
    list(run)
    judged = ss.certify(problem, run.state.weights(), run.state.intercept(), dual=run.state.Y)
    assert judged.relative_gap <= 2e-6 < problem.certificate(run.state.weights(), run.state.intercept()).relative_gap


def weighted(loss: str, penalty: str, intercept: bool) -> tuple[ss.Problem, ss.Problem]:
    """A problem with whole weights, and the same with repeated samples."""
    X, y = iris()
    y, times = fitting(loss, y), np.random.default_rng(3).integers(1, 4, len(y))
    parts: dict[str, Any] = {"loss": loss, "penalty": penalty, "intercept": intercept, "lam": 0.05}
    return ss.Problem(X, y, sample_weight=times, **parts), ss.Problem(X.repeat(times, 0), y.repeat(times), **parts)


# A weighted loss calls those of the loss (test_sample_weights.py): a smooth one, one with kinks, one of one score.
WEIGHTED = ("multiclass-squared-hinge", "crammer-singer", "binary-logistic")


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize(
    ("loss", "penalty"),
    [pytest.param(*case, marks=() if case[0] in WEIGHTED else pytest.mark.slow) for case in CASES],
)
def test_with_sample_weights_a_dual_point_proves_what_it_proves_for_repeated_samples(
    loss: str, penalty: str, intercept: bool
) -> None:
    problem, repeated = weighted(loss, penalty, intercept)
    assert problem.sample_weight is not None
    times = np.random.default_rng(3).integers(1, 4, problem.n)
    W, b = random_point(problem)
    rng = np.random.default_rng(0)
    for size in (0.1, 1.0, 10.0):
        rows = gradients(problem, size * rng.standard_normal((problem.n, problem.m)))
        here = ss.certify(problem, W, b, dual=problem.sample_weight[:, None] * rows)
        there = ss.certify(repeated, W, b, dual=rows.repeat(times, 0))
        assert here.objective == pytest.approx(there.objective, rel=1e-12)
        assert here.dual == pytest.approx(there.dual, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("weights", [{"class_weight": "balanced"}, {"class_weight": {0: 3.0, 1: 0.5}}])
def test_class_weights_and_samples_of_weight_zero(weights: dict[str, Any]) -> None:
    X, y = iris()
    kept = np.arange(len(y)) > 10  # classes of different sizes
    problem = ss.Problem(
        X, y, loss="crammer-singer", lam=0.05, intercept=True, sample_weight=np.where(kept, 2.0, 0.0), **weights
    )
    assert problem.n == kept.sum()
    run = ss.Run(problem, "fbpd", stop=ss.stopping.Gap(1e-6) | ss.stopping.Iterations(30_000), certify_every=20)
    list(run)
    W, b = run.state.weights(), run.state.intercept()  # type: ignore[union-attr]
    judged = ss.certify(problem, W, b, dual=run.state.Y)  # type: ignore[union-attr]
    assert judged.relative_gap <= 1e-5 < problem.certificate(W, b).relative_gap
    assert problem.sample_weight is not None
    heavy = int(np.argmax(problem.sample_weight))
    wrong = np.array(run.state.Y)  # type: ignore[union-attr]
    wrong[heavy] = 0.0
    wrong[heavy, problem.y[heavy]], wrong[heavy, problem.y[heavy] - 1] = (
        np.array([-1.01, 1.01]) * problem.sample_weight[heavy]
    )
    with pytest.raises(ValueError, match="outside the domain"):
        ss.certify(problem, W, b, dual=wrong)
    wrong[heavy] /= 1.02
    ss.certify(problem, W, b, dual=wrong)


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
def test_a_dual_point_never_proves_too_much_where_features_are_not_penalised(intercept: bool) -> None:
    X, y = iris()
    c = np.array([0.0, 1.0, 2.0, 1.0])
    problem = ss.Problem(X, y, loss="logistic", lam=0.05, intercept=intercept, feature_weights=c)
    found = ss.solve(problem, "auto", tol=1e-8, max_iter=5000, record=False)
    W, b = random_point(problem)
    rng = np.random.default_rng(0)
    for size in (0.0, 0.1, 1.0, 10.0):
        Z = problem.scores(found.W, found.b) + size * rng.standard_normal((problem.n, problem.m))
        assert ss.certify(problem, W, b, dual=gradients(problem, Z)).dual <= found.objective * (1 + 1e-9)


def test_label_sets_take_a_dual_point() -> None:
    problem = ss.Problem(*tags(), lam=0.05)
    found = ss.solve(problem, tol=1e-7)
    judged = ss.certify(problem, found.W, dual=gradients(problem, problem.scores(found.W)))
    assert judged.dual <= found.objective * (1 + 1e-12) and judged.gap >= 0.0


def test_weights_of_scikit_learn_are_judged() -> None:
    from sklearn.linear_model import LogisticRegression

    X, y = iris()
    problem = ss.Problem(X, y, loss="logistic", penalty="ridge", intercept=True)
    problem = problem.with_lam(1.0 / (0.7 * problem.n))
    rough, fine = (LogisticRegression(C=0.7, tol=tol, max_iter=10_000).fit(X, y) for tol in (1e-1, 1e-10))
    judged = ss.certify(problem, fine)
    assert judged.relative_gap < 1e-6 and ss.certify(problem, rough).gap >= judged.gap
    known = ss.solve(problem, tol=1e-10)
    assert judged.objective - known.objective <= judged.gap
    with pytest.raises(ValueError, match="intercept=True"):
        ss.certify(ss.Problem(X, y, loss="logistic", penalty="ridge", lam=0.1), fine)
    with pytest.raises(ValueError, match="coef_ of LogisticRegression has shape"):
        ss.certify(ss.Problem(X[:, :2], y, loss="logistic", lam=0.1, intercept=True), fine)
    with pytest.raises(ValueError, match="given twice"):
        ss.certify(problem, fine, np.zeros(3))


def test_sparse_weights_covariances_and_what_cannot_be_judged() -> None:
    problem = problem_of("multiclass-squared-hinge", "l1/l2")
    W, _ = random_point(problem)
    assert ss.certify(problem, sp.csr_array(W)) == ss.certify(problem, W)
    of_features = ss.CovarianceProblem(np.eye(3) + 0.5, lam=0.1)
    assert ss.certify(of_features, np.eye(3)).gap == of_features.certificate(np.eye(3)).gap
    with pytest.raises(ValueError, match="takes Θ alone"):
        ss.certify(of_features, np.eye(3), dual=np.eye(3))
    with pytest.raises(ValueError, match="no optimum"):
        ss.certify(ss.SequenceProblem(*iris()), W)
    for dual, words in (
        (np.zeros((2, 2)), r"dual has shape \(2, 2\)"),
        (np.full((problem.n, problem.m), np.nan), "not finite"),
    ):
        with pytest.raises(ValueError, match=words):
            ss.certify(problem, W, dual=dual)


@pytest.mark.parametrize("loss", list(losses))
def test_the_zero_dual_point_is_always_allowed(loss: str) -> None:
    problem: Any = problem_of(loss, "l1")
    judged = ss.certify(problem, np.zeros((problem.d, problem.m)), dual=np.zeros((problem.n, problem.m)))
    assert judged.dual <= judged.objective
