"""Generalised least squares (Agarwal et al. 2013, Alg. 1): its steps, its rates, links of a user, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import digits, iris, tags
from sparsescope.jit.parts import part
from sparsescope.losses.link import link_fault
from sparsescope.runs.stopping import Gap, Iterations


def ill_conditioned(n: int, d: int, condition: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) with singular values from 1 down to 1/condition (times √n), and classes of a softmax model."""
    rng = np.random.default_rng(seed)
    U, _ = np.linalg.qr(rng.standard_normal((n, d)))
    V, _ = np.linalg.qr(rng.standard_normal((d, d)))
    spread = np.sqrt(n) * np.geomspace(1.0, 1.0 / condition, d)
    scores = np.sqrt(n) * U @ rng.standard_normal((d, 3))
    return (U * spread) @ V.T, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def objective_and_gradient(X: np.ndarray, y: np.ndarray, lam: float, W: np.ndarray) -> tuple[float, np.ndarray]:
    Z = X @ W
    E = np.exp(Z - Z.max(axis=1, keepdims=True))
    P = E / E.sum(axis=1, keepdims=True)
    value = -np.log(P[np.arange(len(y)), y]).mean() + 0.5 * lam * (W**2).sum()
    return value, X.T @ (P - np.eye(W.shape[1])[y]) / len(y) + lam * W


def test_a_step_is_equation_14_with_a_ridge() -> None:
    X, y = digits()
    lam, rng = 0.01, np.random.default_rng(0)
    W = rng.standard_normal((64, 10))
    for setting, L in (("tight", 0.5), ("paper", 1.0)):
        problem = ss.Problem(X, y, loss="logistic", penalty="ridge", lam=lam)
        solver = ss.solvers.GLS(lipschitz=setting, accelerated=False)
        state = solver.init(problem, W)
        solver.step(problem, state)
        _, G = objective_and_gradient(X, y, lam, W)
        expected = W - np.linalg.solve(L * X.T @ X / len(y) + lam * np.eye(64), G)
        np.testing.assert_allclose(state.weights(), expected, atol=1e-11)
        assert state.step_size == 1.0 / L


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize("kind", ["classes", "sets"])
def test_with_the_identity_link_one_step_is_least_squares(kind: str, intercept: bool) -> None:
    X, y = iris() if kind == "classes" else tags()
    problem = ss.Problem(X, y, loss="squared", penalty="ridge", lam=0.02, intercept=intercept)
    events = list(ss.Run(problem, "gls", stop=Gap(1e-12) | Iterations(5)))
    assert len(events) == 2 and "certified" in events[-1].message
    A = np.asarray(X.todense()) if sp.issparse(X) else X
    Y = np.eye(3)[y] if kind == "classes" else y.astype(float)
    if intercept:
        A, Y = A - A.mean(axis=0), Y - Y.mean(axis=0)
    expected = np.linalg.solve(A.T @ A / len(A) + 0.02 * np.eye(A.shape[1]), A.T @ Y / len(A))
    np.testing.assert_allclose(events[-1].state.weights(), expected, atol=1e-10)


@pytest.mark.parametrize("accelerated", [False, True])
def test_iterations_do_not_depend_on_the_conditioning(accelerated: bool) -> None:
    # With a ridge in the same proportion to every singular value there would be nothing to compare: it is negligible.
    needed = {}
    for condition in (1.0, 1e3, 1e6):
        X, y = ill_conditioned(400, 8, condition)
        problem = ss.Problem(X, y, loss="logistic", penalty="ridge", lam=1e-16)
        best = ss.solve(problem, ss.solvers.GLS(accelerated=True), tol=1e-30, max_iter=400, record=False).objective
        run = ss.Run(problem, ss.solvers.GLS(accelerated=accelerated), certify_every=10**6)
        needed[condition] = next(e.iteration for e in run if e.objective - best <= 1e-8 or e.iteration == 400)
    assert needed[1e6] < 300 and max(needed.values()) - min(needed.values()) <= 1, needed


def test_the_accelerated_variant_needs_fewer_steps_and_shows_its_own_point() -> None:
    X, y = digits()
    problem = ss.Problem(X, y, loss="logistic", penalty="ridge", lam=1e-4)
    counts = [
        len(list(ss.Run(problem, ss.solvers.GLS(accelerated=a), stop=Gap(1e-4) | Iterations(2000))))
        for a in (False, True)
    ]
    assert 4 * counts[1] < counts[0]
    solver = ss.solvers.GLS()
    state = solver.init(problem)
    for _ in range(30):
        solver.step(problem, state)
    np.testing.assert_allclose(state.Z, X @ state.weights(), atol=1e-10)
    assert state.restarts > 0 or state.t > 10.0


def test_a_copy_shares_the_factor_and_a_change_of_lam_makes_another() -> None:
    X, y = iris()
    problem = ss.Problem(X, y, loss="logistic", penalty="ridge", lam=0.1)
    solver = ss.solvers.GLS()
    state = solver.init(problem)
    copied = state.copy()
    assert copied.factor is state.factor and copied.coef is not state.coef
    solver.adapt(problem.with_lam(0.2), copied)
    assert copied.factor is not state.factor and copied.lam == 0.2


def test_more_features_than_samples_are_solved_through_the_ridge() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 50)), np.arange(20) % 2
    for dtype in (np.float64, np.float32):
        problem = ss.Problem(X.astype(dtype), y, loss="squared", penalty="ridge", lam=1e-3)
        W = ss.solve(problem, "gls", tol=1e-5, record=False).W
        expected = X.T @ np.linalg.solve(X @ X.T / 20 + 1e-3 * np.eye(20), np.eye(2)[y]) / 20
        np.testing.assert_allclose(W, expected, atol=1e-9 if dtype == np.float64 else 2e-3)


# ------------------------------------------------------------------------------------------------------------ bad input
def test_a_singular_matrix_with_a_ridge_that_vanishes_beside_it_is_named() -> None:
    X = np.ones((30, 3)) * np.arange(1, 31)[:, None]
    problem = ss.Problem(X, np.arange(30) % 2, loss="squared", penalty="ridge", lam=1e-300)
    with pytest.raises(ValueError, match=r"XᵀX/n is singular .* λ = 1e-300 is too small"):
        ss.solve(problem, "gls")


def test_other_penalties_and_matrices_that_do_not_fit_are_refused_in_words() -> None:
    X, y = iris()
    assert "needs the ridge penalty" in str(ss.solvers.GLS().solves(ss.Problem(X, y, loss="squared")))
    wide = ss.Problem(
        sp.csr_array((np.ones(4), (np.arange(4), np.arange(4))), shape=(4, 40_000)),
        [0, 1, 0, 1],
        loss="squared",
        penalty="ridge",
    )
    reason = str(ss.solvers.GLS().solves(wide))
    assert "40000 × 40000" in reason and "GB" in reason


class OwnLink(ss.losses.LinkLoss):
    """Base of the links below: each score has a link to itself."""

    __slots__ = ()

    def curvature(self, m):  # type: ignore[no-untyped-def]
        return 0.5


@part
class Arctan(OwnLink):
    """g(z) = ½ + arctan(z)/π."""

    title = "arctan link"

    def potential(self, z):
        total = 0.0
        for r in range(z.size):
            total += 0.5 * z[r] + (z[r] * np.arctan(z[r]) - 0.5 * np.log1p(z[r] * z[r])) / np.pi
        return total

    def link(self, z, out):
        for r in range(z.size):
            out[r] = 0.5 + np.arctan(z[r]) / np.pi


@part
class Falling(OwnLink):
    """g(z) = −z/4: not monotone."""

    def potential(self, z):
        return -0.125 * (z * z).sum()

    def link(self, z, out):
        out[:] = -0.25 * z


@part
class Steep(OwnLink):
    """g(z) = 3z, steeper than it says."""

    def potential(self, z):
        return 1.5 * (z * z).sum()

    def link(self, z, out):
        out[:] = 3.0 * z


@part
class Turning(OwnLink):
    """Monotone, but no gradient: it turns the scores, so it is not cyclically monotone."""

    def potential(self, z):
        return 0.125 * (z * z).sum()

    def link(self, z, out):
        out[:] = 0.25 * z
        out[0] += 0.2 * z[1]
        out[1] -= 0.2 * z[0]


@pytest.mark.parametrize("kind", ["classes", "sets"])
def test_a_link_of_ones_own_is_fitted_to_a_certified_optimum(kind: str) -> None:
    X, y = iris() if kind == "classes" else tags()
    problem = ss.Problem(X, y, loss=Arctan(), penalty="ridge", lam=0.05)
    found = ss.solve(problem, "gls", tol=1e-9, max_iter=500, record=False)
    assert found.converged
    A = np.asarray(X.todense()) if sp.issparse(X) else X
    Y = np.eye(3)[y] if kind == "classes" else y
    G = A.T @ (0.5 + np.arctan(A @ found.W) / np.pi - Y) / len(A) + 0.05 * found.W
    assert np.abs(G).max() < 1e-5
    assert np.isinf(ss.Problem(X, y, loss=Arctan(), penalty="ridge", lam=0.05, intercept=True).gap(found.W))


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (Falling, "not monotone"),
        (Steep, "changes faster than curvature"),
        (Turning, "not the gradient of its potential"),
    ],
)
def test_a_link_that_breaks_its_promise_is_refused_with_the_reason(link: Any, words: str) -> None:
    X, y = iris()
    assert link_fault(Arctan(), 3) is None
    assert words in str(link_fault(link(), 3))
    with pytest.raises(ValueError, match=words):
        ss.solve(ss.Problem(X, y, loss=link(), penalty="ridge"), "gls")
