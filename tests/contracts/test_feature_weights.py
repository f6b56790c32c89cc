"""The contract of feature weights: a norm with weights c is the norm itself on features divided by c; weight 0 is free.

The file runs twice: interpreted in a new process, with every penalty and solver, and compiled with a few.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import BLOCK_PENALTIES, PREDICTING, ROW_PENALTIES, run_interpreted
from sparsescope.jit.compiler import disabled
from sparsescope.registry import losses, penalties, solvers

N, D, M = 20, 6, 3
rng = np.random.default_rng(3)
X = rng.standard_normal((N, D))
Y = np.arange(N) % M
C = np.array([0.5, 0.5, 2.0, 2.0, 1.25, 1.25])  # equal in blocks of two
NORMS = [name for name in penalties if penalties[name].is_norm]
WEIGHING = [name for name in PREDICTING if solvers[name].takes_feature_weights]
LOSS = "multiclass-squared-hinge"


def penalty_of(name: str) -> Any:
    return penalties.create(name, size=2) if name.startswith("block") else penalties.create(name)


def cases(names: list[str], fast: tuple[str, ...]) -> list[Any]:
    return [pytest.param(name, marks=() if disabled() or name in fast else pytest.mark.slow) for name in names]


def pair(name: str, loss: str = LOSS, form: Any = np.asarray, **more: Any) -> tuple[ss.Problem, ss.Problem]:
    """The problem with weights, and the one on features divided by them."""
    parts: dict[str, Any] = {"loss": loss, "penalty": penalty_of(name), "lam": 0.05, **more}
    return ss.Problem(form(X), Y, feature_weights=C, **parts), ss.Problem(form(X / C), Y, **parts)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", cases(NORMS, ("l1/l2",)))
def test_norms_are_those_of_scaled_features(name: str, intercept: bool, form: Any) -> None:
    weighted, scaled = pair(name, form=form, intercept=intercept)
    own = np.random.default_rng(4)
    W, b = own.standard_normal((D, M)) * (own.random((D, 1)) < 0.6), own.standard_normal(M) if intercept else None
    here, there = weighted.certificate(W, b), scaled.certificate(C[:, None] * W, b)
    for field in ("objective", "penalty", "dual", "gap", "nonzero_rows"):
        assert getattr(here, field) == pytest.approx(getattr(there, field), rel=1e-9, abs=1e-12), field
    assert weighted.lam_max == pytest.approx(scaled.lam_max, rel=1e-7)


@pytest.mark.parametrize("name", cases([*ROW_PENALTIES, *BLOCK_PENALTIES], ("l1/l2",)))
def test_the_prox_is_optimal_and_duals_bound(name: str) -> None:
    weighted, _ = pair(name)
    V, out = np.random.default_rng(5).standard_normal((D, M)), np.empty((D, M))
    weighted.regulariser.prox(V, 0.3, out)
    violation, paper = np.empty(D), np.empty(D)
    weighted.regulariser.violations(out - V, 1.0, out, 0.3, violation, paper)
    np.testing.assert_allclose(violation, 0.0, atol=1e-9)
    # Fenchel and Young: Ω(W) + Ω*(V) ≥ ⟨V, W⟩ inside the domain of Ω*.
    top, _ = weighted.regulariser.duals(-V, 1.0, 1.0)
    scale = 1.0 / max(top, 1.0)
    _, star = weighted.regulariser.duals(-scale * V, 1.0, 1.0)
    assert weighted.regulariser.value(out)[0] + star >= scale * float((V * out).sum()) - 1e-9


def test_l1_is_the_weighted_lasso() -> None:
    weighted, _ = pair("l1")
    other = ss.Problem(X, Y, loss=LOSS, penalty=ss.penalties.WeightedL1(C), lam=0.05)
    W = np.random.default_rng(6).standard_normal((D, M))
    assert weighted.certificate(W).gap == pytest.approx(other.certificate(W).gap, rel=1e-12)
    assert weighted.lam_max == pytest.approx(other.lam_max, rel=1e-12)


@pytest.mark.parametrize("name", cases(WEIGHING, ("bcd-ls",)))
def test_solvers_reach_the_optimum_of_scaled_features(name: str) -> None:
    solver: Any = solvers.create(name)
    loss = solver.losses[0] if solver.losses else LOSS
    met = 0
    rows = solver.solves(pair("l1/l2", loss)[0]) is None
    for penalty in [*NORMS, "elastic-net", "ridge"] if disabled() else ["l1/l2" if rows else "l1"]:
        for intercept in (False, True):
            weighted, scaled = pair(penalty, loss, intercept=intercept)
            if solver.solves(weighted) is not None:
                continue
            met += 1
            found = ss.solve(weighted, solver, tol=1e-6, max_iter=20_000, record=False, certify_every=10)
            assert found.converged, (penalty, found)
            if penalty in NORMS:
                reference = "fbpd" if not losses[loss].smooth else "bcd-ls"
                reference = reference if solvers.create(reference).solves(scaled) is None else "fista-ls"
                sure = ss.solve(scaled, reference, tol=1e-6, max_iter=20_000, record=False, certify_every=10)
                assert sure.converged
                assert found.objective == pytest.approx(sure.objective, rel=3e-6), penalty
    assert met


def test_few_of_many_features() -> None:
    """Above the thresholds at which working sets and restrictions begin."""
    if not disabled():
        pytest.skip("the interpreted run has it")
    own = np.random.default_rng(7)
    wide = own.standard_normal((12, 260))
    c = own.uniform(0.5, 2.0, 260)
    for name, loss in (("working-set", LOSS), ("fbpd", "crammer-singer")):
        weighted = ss.Problem(wide, Y[:12], loss=loss, feature_weights=c, lam_ratio=0.3)
        scaled = ss.Problem(wide / c, Y[:12], loss=loss, lam=weighted.lam)
        here, there = (ss.solve(p, name, tol=1e-5, max_iter=20_000, record=False) for p in (weighted, scaled))
        assert here.converged and there.converged
        assert here.objective == pytest.approx(there.objective, rel=3e-5)


@pytest.mark.parametrize("name", cases(["l1/l2", "l1", "ridge", "elastic-net", "sparse-group"], ("l1/l2",)))
def test_features_of_weight_zero_are_free(name: str) -> None:
    c = np.array([0.0, 1.0, 1.0, 2.0, 1.0, 1.0])
    problem = ss.Problem(X, Y, loss="logistic", penalty=penalty_of(name), feature_weights=c, lam=0.2)
    state = solvers.create("bcd-ls").init(problem)
    for _ in range(400):
        solvers.create("bcd-ls").step(problem, state)
    W = np.array(state.weights())
    found = problem.certificate(W)
    assert found.violation < 1e-7
    assert np.abs(problem.gradient(W)[0]).max() < 1e-7 and W[0].any()
    # A tiny weight is nearly none; with it the gap closes and bounds the optimum.
    small = ss.Problem(X, Y, loss="logistic", penalty=penalty_of(name), feature_weights=np.maximum(c, 1e-7), lam=0.2)
    sure = ss.solve(small, "bcd-ls", tol=1e-7, max_iter=4000, record=False, certify_every=20)
    assert found.objective == pytest.approx(sure.objective, rel=1e-6)
    assert np.isfinite(found.dual) and -1e-12 <= found.gap < 1e-6
    if name in NORMS:
        top = problem.with_lam(problem.lam_max * 1.001)
        for _ in range(400):
            solvers.create("bcd-ls").step(top, state)
        assert not np.array(state.weights())[1:].any()


SMOOTH = [name for name in losses if losses[name].smooth and "classes" in losses[name].target_types]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", cases(SMOOTH, ("logistic",)))
def test_the_gap_closes_with_features_of_weight_zero(loss: str, intercept: bool, form: Any) -> None:
    c = np.array([0.0, 0.0, 1.0, 1.0, 0.5, 0.5])
    y = np.minimum(Y, 1) if losses[loss].one_score else Y
    for penalty in ["l1/l2", "l1/linf", "elastic-net", "ridge", *BLOCK_PENALTIES] if disabled() else ["l1/l2"]:
        problem = ss.Problem(
            form(X), y, loss=loss, penalty=penalty_of(penalty), feature_weights=c, lam=0.05, intercept=intercept
        )
        found = ss.solve(problem, "auto", tol=1e-7, max_iter=4000, record=False, certify_every=5)
        assert found.converged, (penalty, found)
        # The bound holds: of points that move free weights or others, none lies below it.
        own = np.random.default_rng(8)
        for size in (1e-4, 1e-2, 1.0):
            W = found.W + size * own.standard_normal(found.W.shape) * (own.random((D, 1)) < 0.5)
            b = found.b if found.b is None else found.b + size * own.standard_normal(found.b.size)
            assert problem.objective(W, b) >= found.dual - 1e-12
            here = problem.certificate(W, b)
            assert here.dual <= found.objective + 1e-12 and np.isfinite(here.dual)


def test_entries_without_penalty_and_samples_with_weights_are_certified() -> None:
    weights = np.ones((D, M))
    weights[2, 1] = weights[4, 0] = 0.0
    problem = ss.Problem(
        X,
        Y,
        loss="logistic",
        penalty=ss.penalties.WeightedL1(weights),
        lam=0.05,
        intercept=True,
        sample_weight=np.random.default_rng(9).random(N) + 0.1,
    )
    found = ss.solve(problem, "auto", tol=1e-7, max_iter=4000, record=False)
    assert found.converged and found.W[2, 1] != 0.0, found


def test_a_fit_of_free_features_without_end_proves_nothing_false() -> None:
    wall = np.r_[-np.ones(N // 2), np.ones(N // 2)]
    y = (wall > 0).astype(int)
    problem = ss.Problem(
        np.column_stack([wall, X]), y, loss="logistic", lam=0.05, feature_weights=np.r_[0.0, np.ones(D)]
    )
    found = problem.certificate(np.zeros((D + 1, 2)))
    assert np.isfinite(found.dual) and 0.0 <= found.gap <= found.objective + 1e-12
    far = problem.objective(np.r_[[[-40.0, 40.0]], np.zeros((D, 2))])
    assert far < 1e-12 and found.dual <= far + 1e-12, "its infimum is 0"


@pytest.mark.parametrize(
    ("given", "parts", "kind", "words"),
    [
        (np.ones(3), {}, ValueError, "one weight for each feature"),
        (-np.ones(D), {}, ValueError, "feature 0 is -1"),
        (np.zeros(D), {}, ValueError, "nothing is penalised"),
        ("heavy", {}, TypeError, "an array of 6 numbers"),
        (np.arange(1.0, 7.0), {"penalty": penalty_of("block-l1/l2")}, ValueError, "differ within a block"),
        (C, {"penalty": ss.penalties.WeightedL1(C)}, ValueError, "a weight for every entry"),
        (np.arange(6.0), {"loss": "crammer-singer"}, ValueError, "needs a smooth loss"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(given: Any, parts: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        ss.Problem(X, Y, feature_weights=given, **parts)


def test_solvers_without_feature_weights_say_so() -> None:
    weighted, _ = pair("ridge", "crammer-singer")
    refusing = [name for name in PREDICTING if name not in WEIGHING]
    for name in refusing:
        reason = solvers.create(name).solves(weighted)
        assert reason is not None and "features alike" in reason and "auto" in reason
    assert refusing and solvers.create("auto").solves(weighted) is None


@pytest.mark.skipif(disabled(), reason="this is the interpreted run")
@pytest.mark.slow  # quick runs try the weights of samples without a compiler
@pytest.mark.parametrize("marks", ["not slow", ""], ids=["quick", "all"])
def test_interpreted(marks: str) -> None:
    """This file in a process without a compiler: the cases of quick runs, and all penalties and solvers."""
    run_interpreted(__file__, marks)
