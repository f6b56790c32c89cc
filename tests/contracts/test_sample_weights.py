"""The contract of sample weights: whole weights are repeated samples, and samples of weight 0 are not there.

Every loss, certificate, λ_max, step constant and solver is held to it. The file runs twice: interpreted in a separate
process, where no kernel needs compiling; and compiled. The fast tests have every solver once interpreted, and compiled
what is met most; the slow ones have everything.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import LOSSES, PREDICTING, run_interpreted
from sparsescope.jit.compiler import disabled
from sparsescope.losses.weighted import WeightedLoss
from sparsescope.registry import losses, penalties, solvers

N, D, M = 14, 5, 3
rng = np.random.default_rng(0)
X = rng.standard_normal((N, D))
CLASSES = np.arange(N) % M
SETS = (rng.random((N, M)) < 0.5).astype(np.uint8)
WEIGHTS = np.array([1, 2, 3, 0, 1, 4, 1, 2, 0, 3, 1, 2, 1, 5], dtype=float)
REPEATED = np.repeat(np.arange(N), WEIGHTS.astype(int))
KINDS = [(name, kind) for name in losses for kind in losses[name].target_types]
WEIGHING = [name for name in PREDICTING if solvers[name].takes_sample_weights]
COMPILED = ("multiclass-squared-hinge", "bcd-ls", "pd-sparse")  # what the fast tests compile


def cases(given: list[Any], key: Any) -> list[Any]:
    """pytest parameters, slow unless they are interpreted, or named above."""
    return [
        pytest.param(*case, id="-".join(case), marks=() if disabled() or key(case) in COMPILED else pytest.mark.slow)
        for case in given
    ]


every_kind = pytest.mark.parametrize(("loss", "kind"), cases(KINDS, lambda case: case[0]))
every_smooth_kind = pytest.mark.parametrize(
    ("loss", "kind"), cases([c for c in KINDS if losses[c[0]].smooth], lambda case: case[0])
)


def targets(loss: str, kind: str) -> np.ndarray:
    if kind == "sets":
        return SETS
    return np.minimum(CLASSES, 1) if losses[loss].one_score else CLASSES


def penalty_of(name: str) -> Any:
    return penalties.create(name, size=2) if name.startswith("block") else penalties.create(name)


@cache
def pair(
    loss: str, kind: str = "classes", penalty: str = "l1/l2", intercept: bool = False, lam: float = 0.1
) -> tuple[ss.Problem, ss.Problem]:
    """The problem with weights, and the one with repeated samples."""
    y = targets(loss, kind)
    parts: dict[str, Any] = {"loss": loss, "penalty": penalty_of(penalty), "lam": lam, "intercept": intercept}
    return ss.Problem(X, y, sample_weight=WEIGHTS, **parts), ss.Problem(X[REPEATED], y[REPEATED], **parts)


def point(problem: ss.Problem) -> tuple[np.ndarray, Any]:
    own = np.random.default_rng(1)
    W, b = 0.3 * own.standard_normal((problem.d, problem.m)), 0.1 * own.standard_normal(problem.m)
    return W, b if problem.intercept else None


def combinations(name: str) -> list[tuple[str, str, str]]:
    """Solver, loss and penalty of its cases: those that it solves."""
    solver: Any = solvers.create(name)
    return [
        (name, loss, penalty)
        for loss in solver.losses or ("multiclass-squared-hinge", "logistic", "crammer-singer")
        for penalty in solver.only_penalties or ("l1/l2", "ridge", "l1", "elastic-net")
        if solver.solves(pair(loss, "classes", penalty)[0]) is None
    ]


def quick(name: str, loss: str, penalty: str) -> bool:
    """Interpreted, each solver with the first loss and penalty that it solves; compiled, what is met most."""
    first = combinations(name)[0]
    if disabled():
        return (name, loss, penalty) == first
    return name in COMPILED and (bool(solvers[name].losses) or (loss == first[1] and penalty in ("l1/l2", "ridge")))


def solved() -> list[Any]:
    """Cases for pytest: solver, loss, penalty, intercept and λ.

    Interpreted, each solver has one fast case, with an intercept if it takes one, and a λ at which it needs
    a third of the iterations.
    """
    found = []
    for name in WEIGHING:
        for case, intercept in product(combinations(name), (False, True)):
            label = "-".join([*case, "intercept" if intercept else "plain"])
            fast = quick(*case)
            slow = disabled() or not fast
            found.append(pytest.param(*case, intercept, 0.1, id=label, marks=pytest.mark.slow if slow else ()))
            if disabled() and fast and intercept == solvers[name].takes_intercept:
                found.append(pytest.param(*case, intercept, 0.5, id=f"{label}-quick"))
    return found


# What a weighted loss does is the same code compiled and interpreted, but for the functions that it calls: the first
# loss stands for all where these have to be compiled.
every_loss = pytest.mark.parametrize(
    "loss",
    [
        pytest.param(*case.values, id=case.id, marks=pytest.mark.slow if k and not disabled() else ())
        for k, case in enumerate(LOSSES)
    ],
)


@every_loss
def test_a_weighted_loss_is_the_multiple_of_the_loss(loss: Any) -> None:
    m = 1 if loss.one_score else 4
    own = np.random.default_rng(2)
    for kind in loss.target_types:
        y = np.array([1, 0, 1]) if kind == "classes" else np.array([[1, 0, 0, 1], [0, 1, 0, 0], [1, 1, 1, 0]], np.uint8)
        weights = np.array([0.25, 3.0, 1.75])
        weighted: Any = WeightedLoss(loss, y, weights)  # type: ignore[call-arg]
        for i, w in enumerate(weights):
            z = own.standard_normal(m)
            work = np.zeros((3, m))
            u, v = np.zeros(m), np.zeros(m)
            value = loss.gradient(z, y[i], 1.0, u, work[0])
            assert weighted.gradient(z, i, 2.0, v, work[0]) == pytest.approx(w * value)
            assert weighted.value(z, i) == pytest.approx(w * value)
            np.testing.assert_allclose(v, 2.0 * w * u, atol=1e-14)
            moved, delta = z - 0.5 * np.arange(m), np.arange(m) * 1.0
            assert weighted.update_scores(moved, i, 0.5, delta, v, work) == pytest.approx(w * value)
            np.testing.assert_allclose(v, w * u, atol=1e-12)
            assert weighted.is_inactive(v, i) == loss.is_inactive(u, y[i])
            if hasattr(loss, "derivatives"):
                g, h, k = np.zeros(m), np.zeros(m), np.zeros(m)
                loss.derivatives(z, y[i], 0.7, g, h, work[0])
                v[:] = 0.0
                weighted.derivatives(z, i, 0.7, v, k, work[0])
                np.testing.assert_allclose(v, w * g, atol=1e-14)
                np.testing.assert_allclose(k, w * h, atol=1e-14)
                two, four = np.zeros((2, m)), np.zeros((2, m))
                loss.hessian_diag(z, u, y[i], 0.7, two, np.zeros((2, m)))
                weighted.hessian_diag(z, w * u, i, 0.7, four, np.zeros((3, m)))
                np.testing.assert_allclose(four, w * two, atol=1e-14)
            if hasattr(loss, "hessian_product"):
                direction, a, b = own.standard_normal(m), np.zeros(m), np.zeros(m)
                loss.hessian_product(z, y[i], direction, a)
                weighted.hessian_product(z, i, direction, b)
                np.testing.assert_allclose(b, w * a, atol=1e-14)
                weighted.hessian_product_from(z, w * u, i, direction, b)
                np.testing.assert_allclose(b, w * a, atol=1e-13)
                loss.hessian_factors(z, u, y[i], direction, a)
                weighted.hessian_factors(z, w * u, i, b, v)
                np.testing.assert_allclose(b, w * direction, atol=1e-13)
                np.testing.assert_allclose(v, np.sqrt(w) * a, atol=1e-13)
            for scale in (1.0, 0.4):
                here = w * loss.scaled_conjugate(z, u, y[i], scale, np.zeros((2, m)))
                assert weighted.scaled_conjugate(z, w * u, i, scale, np.zeros((3, m))) == pytest.approx(here)
            # Fenchel and Young: no conjugate lies below z·u − ℓ.
            assert weighted.scaled_conjugate(z, w * u, i, 1.0, np.zeros((3, m))) >= w * (z @ u - value) - 1e-12


# Interpreted, all penalties without an intercept, and one of them with one: it is a matter of the loss.
@pytest.mark.parametrize(
    ("intercept", "chosen"),
    [
        pytest.param(False, list(penalties) if disabled() else ["l1/l2"], id="plain"),
        pytest.param(True, ["l1/l2"], id="intercept"),
        *([pytest.param(True, list(penalties), id="every", marks=pytest.mark.slow)] if disabled() else []),
    ],
)
@every_kind
def test_certificates_are_those_of_repeated_samples(loss: str, kind: str, intercept: bool, chosen: list[str]) -> None:
    for penalty in chosen:
        weighted, repeated = pair(loss, kind, penalty, intercept)
        W, b = point(weighted)
        here, there = weighted.certificate(W, b), repeated.certificate(W, b)
        for name in ("objective", "loss", "dual", "gap", "violation", "violation_sum"):
            assert getattr(here, name) == pytest.approx(getattr(there, name), rel=1e-9, abs=1e-12), (penalty, name)
        assert here.gap >= -1e-12
        assert weighted.lam_max == pytest.approx(repeated.lam_max, rel=1e-6), penalty
    if intercept:
        here, there = (p.objective(None, p.null_intercept) for p in (weighted, repeated))
        assert here == pytest.approx(there, rel=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@every_smooth_kind
def test_constants_are_those_of_repeated_samples(loss: str, kind: str, form: Any, intercept: bool) -> None:
    y = targets(loss, kind)
    weighted = ss.Problem(form(X), y, loss=loss, intercept=intercept, sample_weight=WEIGHTS)
    repeated = ss.Problem(form(X[REPEATED]), y[REPEATED], loss=loss, intercept=intercept)
    for constants in ("paper", "tight", "class-aware"):
        np.testing.assert_allclose(weighted.block_constants(constants), repeated.block_constants(constants))
        assert weighted.full_constant(constants) == pytest.approx(repeated.full_constant(constants), rel=1e-4)
    np.testing.assert_allclose(weighted.second_moment(), repeated.second_moment(), atol=1e-12)


@pytest.mark.parametrize(("name", "loss", "penalty", "intercept", "lam"), solved())
def test_solvers_reach_the_optimum_of_repeated_samples(
    name: str, loss: str, penalty: str, intercept: bool, lam: float
) -> None:
    if disabled() and solvers[name].sparse:
        pytest.skip("its kernels do not run interpreted: unsigned indices")
    solver: Any = solvers.create(name)
    weighted, repeated = pair(loss, "classes", penalty, intercept, lam)
    reason = solver.solves(weighted)
    if reason is not None:
        pytest.skip(reason)
    reference = "pd-sparse" if solver.sparse else "bcd-ls" if losses[loss].smooth else "fbpd"
    sure = reference_value(loss, penalty, intercept, lam, reference)
    if not solver.converges:  # steps like 1/√t: near, and never certified
        state = solver.init(weighted)
        for _ in range(400):
            solver.step(weighted, state)
        assert sure * (1 - 1e-6) <= weighted.objective(state.weights(), state.intercept()) < 1.1 * sure
        return
    found = ss.solve(weighted, solver, tol=1e-6, max_iter=20_000, record=False, certify_every=10)
    assert found.converged, found
    assert found.objective == pytest.approx(sure, rel=4e-6)
    assert repeated.objective(found.W, found.b) == pytest.approx(found.objective, rel=1e-9)


@pytest.mark.skipif(not disabled(), reason="the interpreted run has it")
@pytest.mark.parametrize("intercept", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("loss", [name for name, kind in KINDS if kind == "sets"])
def test_label_sets_reach_the_optimum_of_repeated_samples(loss: str, intercept: bool) -> None:
    weighted, repeated = pair(loss, "sets", "l1/l2", intercept, 0.05)
    here, there = (ss.solve(p, "auto", tol=1e-5, max_iter=20_000, record=False) for p in (weighted, repeated))
    assert here.converged and there.converged
    assert here.objective == pytest.approx(there.objective, rel=3e-5)


@cache
def reference_value(loss: str, penalty: str, intercept: bool, lam: float, solver: str) -> float:
    """The optimum of the problem with repeated samples, certified to 1e-6."""
    repeated = pair(loss, "classes", penalty, intercept, lam)[1]
    found = ss.solve(repeated, solver, tol=1e-6, max_iter=20_000, record=False, certify_every=10)
    assert found.converged, found
    return float(found.objective)


def test_solvers_without_weights_say_so() -> None:
    weighted = pair("crammer-singer")[0]
    refusing = [name for name in PREDICTING if name not in WEIGHING]
    assert refusing
    for name in refusing:
        reason = solvers.create(name).solves(weighted)
        assert reason is not None and "weigh" in reason and "auto" in reason
    with pytest.raises(ValueError, match="every sample the same weight"):
        ss.solve(weighted, refusing[0])


def test_samples_of_weight_zero_are_not_there() -> None:
    kept = WEIGHTS > 0
    weighted = pair("logistic")[0]
    without = ss.Problem(X[kept], CLASSES[kept], loss="logistic", lam=0.1, sample_weight=WEIGHTS[kept])
    W, _ = point(weighted)
    assert weighted.n == kept.sum() and weighted.total_weight == WEIGHTS.sum()
    np.testing.assert_array_equal(weighted.y, CLASSES[kept])
    assert weighted.certificate(W) == without.certificate(W)
    assert weighted.lam_max == without.lam_max
    sets = ss.Problem(sp.csr_array(X), SETS, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(sets.y, SETS[kept])


def test_equal_weights_are_none() -> None:
    plain = ss.Problem(X, CLASSES)
    equal = ss.Problem(X, CLASSES, sample_weight=np.full(N, 3.0))
    assert equal.sample_weight is None and equal.total_weight == 3 * N
    assert equal.terms[0] is equal.y and equal.terms[1] is equal.loss
    W, _ = point(plain)
    assert equal.certificate(W) == plain.certificate(W)
    # Another program's C multiplies the sum of the weighted losses.
    assert equal.with_scaling("liblinear", C=2.0).lam == pytest.approx(plain.with_scaling("liblinear", C=6.0).lam)


def test_balanced_classes_have_the_same_total_weight() -> None:
    y = np.array([0] * 6 + [1] * 3 + [2])
    data = X[:10]
    problem = ss.Problem(data, y, class_weight="balanced")
    omega = problem.sample_weight
    assert omega is not None
    np.testing.assert_allclose(np.bincount(y, omega), np.full(3, 10 / 3))
    np.testing.assert_allclose(problem.weighted_shares, np.full(3, 1 / 3))
    by_hand = ss.Problem(data, y, class_weight={0: 1.0, 1: 2.0, 2: 6.0})
    np.testing.assert_allclose(by_hand.sample_weight, omega)
    words = ss.Problem(data, np.array(["a", "b", "c"])[y], class_weight={"b": 2.0, "c": 6.0})
    np.testing.assert_allclose(words.sample_weight, omega)
    # With sample weights, classes are counted with them, as repeated samples would be.
    weights = np.array([1, 2, 1, 1, 1, 1, 3, 1, 1, 2.0])
    repeated = np.repeat(np.arange(10), weights.astype(int))
    both = ss.Problem(data, y, sample_weight=weights, class_weight="balanced", lam=0.1)
    W, _ = point(both)
    there = ss.Problem(data[repeated], y[repeated], class_weight="balanced", lam=0.1)
    assert both.objective(W) == pytest.approx(there.objective(W), rel=1e-12)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_means_and_deviations_are_those_of_repeated_samples(form: Any, standardize: bool) -> None:
    data = X + np.array([10.0, 0.0, -5.0, 0.0, 0.0])
    data[:, 3] *= np.arange(N) % 2  # half full: never centred
    parts: dict[str, Any] = {"intercept": True, "standardize": standardize, "lam": 0.1}
    weighted = ss.Problem(form(data), CLASSES, sample_weight=WEIGHTS, **parts)
    repeated = ss.Problem(form(data[REPEATED]), CLASSES[REPEATED], **parts)
    W, b = point(weighted)
    here, there = weighted.certificate(W, b), repeated.certificate(W, b)
    for name in ("objective", "penalty", "dual", "violation"):
        assert getattr(here, name) == pytest.approx(getattr(there, name), rel=1e-8), name
    assert weighted.lam_max == pytest.approx(repeated.lam_max, rel=1e-8)


def test_siblings_keep_the_weights() -> None:
    weighted, repeated = pair("logistic")
    W, _ = point(weighted)
    for change in ({"lam": 0.02}, {"loss": "squared"}, {"penalty": "ridge"}):
        assert weighted.with_(**change).objective(W) == pytest.approx(repeated.with_(**change).objective(W))
    rows = np.array([0, 2, 3])
    assert weighted.restricted(rows).objective(W[rows]) == pytest.approx(repeated.restricted(rows).objective(W[rows]))
    assert "weighted" in repr(weighted) and "weighted" not in repr(repeated)


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"sample_weight": np.ones(3)}, ValueError, "one weight for each sample"),
        ({"sample_weight": -np.ones(N)}, ValueError, "sample 0 is -1"),
        ({"sample_weight": np.full(N, np.nan)}, ValueError, "finite numbers"),
        ({"sample_weight": np.zeros(N)}, ValueError, "all sample weights are 0"),
        ({"sample_weight": ["heavy"] * N}, TypeError, "an array of 14 numbers"),
        ({"sample_weight": (CLASSES == 1) * 1.0}, ValueError, "one class only"),
        ({"class_weight": "fair"}, TypeError, "balanced"),
        ({"class_weight": {7: 2.0}}, ValueError, "none of the classes"),
        ({"class_weight": {1: "much"}}, TypeError, "a number"),
        ({"class_weight": {1: -1.0}}, ValueError, "finite numbers"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(given: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        ss.Problem(X, CLASSES, **given)


def test_class_weights_need_classes() -> None:
    with pytest.raises(ValueError, match="label sets"):
        ss.Problem(X, SETS, class_weight="balanced")


@pytest.mark.skipif(disabled(), reason="this is the interpreted run")
@pytest.mark.parametrize("marks", ["not slow", pytest.param("", marks=pytest.mark.slow)], ids=["quick", "all"])
def test_interpreted(marks: str) -> None:
    """This file in a process without a compiler; with the slow tests all losses, penalties and solvers."""
    run_interpreted(__file__, marks)
