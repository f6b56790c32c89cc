"""Dual points scaled sample by sample: valid bounds, and tighter where few features are in the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.kernels.rows import loss_gradient
from sparsescope.problems import certificate, local_scaling


def words(n: int = 60, d: int = 40, seed: int = 0) -> tuple[sp.csr_array, np.ndarray]:
    """Samples with few features each, of three classes that some of them tell apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = sp.lil_array((n, d))
    for i in range(n):
        X[i, rng.choice(d, 4, replace=False)] = rng.uniform(0.5, 2.0, 4)
        X[i, y[i]] = 1.0
    return sp.csr_array(X), y


def as_a_whole(monkeypatch: pytest.MonkeyPatch, problem: ss.Problem, W: np.ndarray, b: Any) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(certificate, "WORTH_TRYING", -1.0)
        return ss.certify(problem, W, b)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["multiclass-squared-hinge", "logistic"])
def test_the_bound_is_valid_and_never_worse(monkeypatch: pytest.MonkeyPatch, loss: str, intercept: bool) -> None:
    X, y = words()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, y.size)
    problem = ss.Problem(X, y, loss=loss, intercept=intercept, lam_ratio=0.2, sample_weight=weights)
    best = ss.solve(problem, tol=1e-10)
    assert best.dual <= best.objective
    rng, tighter = np.random.default_rng(2), 0
    for size in np.geomspace(1e-1, 1e-5, 9):
        W = best.W * (1.0 + size * rng.standard_normal(best.W.shape))
        b = best.b + size * rng.standard_normal(3) if intercept else None
        local, whole = ss.certify(problem, W, b), as_a_whole(monkeypatch, problem, W, b)
        assert local.dual <= best.objective * (1.0 + 1e-12)
        assert local.dual >= whole.dual and local.objective == whole.objective
        assert local.gap == pytest.approx(local.objective - local.dual, abs=1e-15)
        tighter += local.gap < 0.9 * whole.gap
    assert tighter >= 3


def test_one_feature_in_the_way_costs_its_own_samples_only(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = words()
    held = np.flatnonzero(y == 1)[:2]
    column = sp.csr_array((0.5 * np.ones(2), (held, [0, 0])), shape=(y.size, 1))
    without = ss.Problem(X, y, intercept=False, lam_ratio=0.1)
    W = np.vstack([ss.solve(without, tol=1e-10).W, np.zeros((1, 3))])
    gaps = []
    for size in (1.0, 14.0):  # below λ, and a little above it
        problem = ss.Problem(sp.hstack([X, size * column]), y, intercept=False, lam=without.lam)
        local, whole = ss.certify(problem, W), as_a_whole(monkeypatch, problem, W, None)
        assert local.dual >= whole.dual
        gaps.append((local.gap, whole.gap))
    best = ss.solve(problem, tol=1e-10)
    assert local.dual <= best.objective
    assert gaps[0][0] <= 1e-9 and gaps[1][0] < 0.5 * gaps[1][1]


def test_data_in_one_block_is_scaled_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = words()
    problem = ss.Problem(X.toarray(), y, lam_ratio=0.2)
    found = ss.solve(problem, tol=1e-2)
    assert ss.certify(problem, found.W, found.b) == as_a_whole(monkeypatch, problem, found.W, found.b)


def test_a_path_scales_by_samples_only_where_its_goal_is_not_met_without(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = words()
    problem, tried = ss.Problem(X, y, loss="logistic", intercept=False), []
    scale = local_scaling.LocalScaling.dual
    monkeypatch.setattr(
        local_scaling.LocalScaling, "dual", lambda self, *given: tried.append(given[1]) or scale(self, *given)
    )

    def seen(**more: Any) -> int:
        tried.clear()
        assert ss.path(problem, "fista-ls", n_lams=8, ratio=0.1, tol=0.04, **more).converged.all()
        return len(tried)

    assert seen(callbacks=[lambda event: None]) > seen(), "who watches is shown the best bound"


EXACT = [name for name in ss.registry.solvers if ss.registry.solvers[name].converges]


@pytest.mark.parametrize("name", EXACT)
def test_certificates_get_the_gradients_of_the_present_scores(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A dual point that is not a solver's own one is ∇ℓ(Z), and the dual value is made of both."""
    X, y = words()
    problem = ss.Problem(X, y, loss="logistic", lam_ratio=0.1)
    if ss.registry.solvers.create(name).solves(problem) is not None:
        pytest.skip(f"{name} does not solve this problem")
    run, value, looked = ss.Run(problem, name), certificate.Workspace.conjugates, []
    run.warm_up()

    def conjugates(self: Any, problem: Any, Z: np.ndarray, *more: Any) -> float:
        if not self.own:
            U = np.empty_like(self.U)
            loss_gradient(Z, *problem.terms, U)
            looked.append(float(np.abs(U - self.U).max()))
        return float(value(self, problem, Z, *more))

    monkeypatch.setattr(certificate.Workspace, "conjugates", conjugates)
    for _ in range(12):
        run.advance(certify_now=True)
    if not looked:
        pytest.skip(f"{name} has its own dual point")
    assert max(looked) <= 1e-12
