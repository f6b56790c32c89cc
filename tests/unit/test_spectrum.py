"""Singular values, the paper's proxy of a condition number, and Theorem 1's bound beside what gls does."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import digits, text
from sparsescope.problems.spectrum import Spectrum, spectrum, theorem1
from sparsescope.runs.stopping import Iterations


def test_singular_values_are_those_of_numpy_for_every_form(monkeypatch: pytest.MonkeyPatch) -> None:
    for X in (digits()[0], digits()[0].T.copy(), text()[0].toarray()):
        exact = np.linalg.svd(X, compute_uv=False)
        for form in (X, sp.csr_array(X), sp.csc_array(X)):
            np.testing.assert_allclose(spectrum(form).values, exact, atol=1e-6 * exact[0])
        np.testing.assert_allclose(spectrum(X, k=3).values, exact[:3], rtol=1e-8)
        monkeypatch.setattr("sparsescope.problems.spectrum.EXACT", 10)  # as for large data: ARPACK
        for form in (X, sp.csr_array(X), X.astype(np.float32)):
            found = spectrum(form, k=5).values
            np.testing.assert_allclose(found, exact[:5], rtol=1e-5)
            np.testing.assert_array_equal(found, spectrum(form, k=5).values)
        monkeypatch.undo()


def test_the_condition_proxy_and_the_shares() -> None:
    made = Spectrum(np.array([8.0, 4.0, 2.0, 1.0, 1.0]), 5)
    assert made.condition() == 4.0 and made.condition(1, 3) == 4.0
    np.testing.assert_allclose(made.shares(), [0.5, 0.75, 0.875, 0.9375, 1.0])
    assert Spectrum(np.array([1.0, 0.0]), 2).condition(1, 2) == np.inf
    with pytest.raises(ValueError, match="there are 5 singular values; first is 6"):
        made.condition(6)
    with pytest.raises(ValueError, match="k is 0"):
        spectrum(np.eye(3), k=0)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_theorem_1_bounds_what_gls_does_in_any_units(loss: str) -> None:
    X, y = digits()
    bounds = []
    for unit in (1.0, 100.0):
        problem = ss.Problem(unit * X, y, loss=loss, penalty="ridge", lam=1e-3 * unit**2)
        best = ss.solve(problem, "gls", tol=1e-12, max_iter=3000, record=False)
        run = ss.Run(problem, ss.solvers.GLS(accelerated=False), stop=Iterations(60))
        excess = np.array([event.objective for event in run]) - best.objective
        bound = theorem1(problem, best.W, np.arange(61), monotone=1.0 if loss == "squared" else None)
        assert (excess[1:] <= bound[1:] + 1e-12).all()
        assert bound[0] == pytest.approx(
            0.5
            * (
                problem.loss.curvature(10) * ((unit * X @ best.W) ** 2).sum() / len(X) + problem.lam * (best.W**2).sum()
            ),
            rel=1e-6,
        )
        bounds.append(bound)
    np.testing.assert_allclose(bounds[1], bounds[0], rtol=1e-5, atol=1e-14)


def test_what_theorem_1_does_not_cover_is_named() -> None:
    X, y = digits()
    problem = ss.Problem(X, y, loss="logistic", penalty="ridge", intercept=True)
    with pytest.raises(ValueError, match="has no intercept"):
        theorem1(problem, np.zeros((64, 10)), 3)
    with pytest.raises(ValueError, match="monotone is 2"):
        theorem1(ss.Problem(X, y, loss="logistic", penalty="ridge"), np.zeros((64, 10)), 3, monotone=2.0)
