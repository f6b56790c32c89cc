"""Columns that are each other's negatives: what makes them, and products with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.inputs import design_products as products
from sparsescope.inputs.design import Design
from sparsescope.inputs.mirrored import mirrored
from sparsescope.registry import solvers

FORMS = {"rows": np.ascontiguousarray, "columns": np.asfortranarray, "sparse": sp.csc_array}


def drawn(n: int = 90, d: int = 40) -> np.ndarray:
    """Data with zeros in them."""
    rng = np.random.default_rng(3)
    return rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("extra", [0, 1], ids=["plain", "intercept"])
def test_products_are_those_of_numpy(form: str, extra: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, rng = drawn(), np.random.default_rng(4)
    design = Design(FORMS[form](X))
    asked: list[int] = []
    halved = products.halved
    monkeypatch.setattr(products, "halved", lambda *given: (asked.append(1), halved(*given))[1])
    w, u = rng.standard_normal(40 + extra), rng.standard_normal(90)
    ones = np.ones((90, extra))
    Z = design.matmul(np.column_stack([-w, w]), np.empty((90, 2)))
    G = design.rmatmul(np.column_stack([u, -u]), np.empty((40 + extra, 2)))
    assert len(asked) == 2
    np.testing.assert_allclose(Z[:, 1], np.hstack([X, ones]) @ w, atol=1e-12)
    np.testing.assert_allclose(G[:, 0], np.hstack([X, ones]).T @ u, atol=1e-12)
    assert mirrored(Z) and mirrored(G)


def test_what_is_mirrored() -> None:
    w = np.arange(1.0, 5.0)
    assert mirrored(np.column_stack([w, -w])) and mirrored(np.zeros((3, 2)))
    assert not mirrored(np.column_stack([w, -np.nextafter(w, 9.0)])), "to the last bit"
    assert not mirrored(np.column_stack([w, -w, w]))
    assert not mirrored(np.column_stack([[*w, np.nan], [*-w, np.nan]]))
    assert not mirrored(np.empty((0, 2)))


@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_two_classes_of_the_logistic_loss(margin: float) -> None:
    """One exponential for both classes says what the general formulas say, and keeps gradients mirrored."""
    loss = ss.losses.Logistic(margin=margin)
    Z = np.array([[0.3, -0.8], [-2.0, 1.5], [40.0, -40.0], [-700.0, 700.0], [0.0, 0.0]])
    for y in (np.zeros(5, dtype=np.int64), np.ones(5, dtype=np.int64)):
        values, gradients = loss.reference(Z, y)
        for z, label, value, gradient in zip(Z, y, values, gradients, strict=True):
            g, h, work, out = np.zeros(2), np.zeros(2), np.empty(2), np.empty(2)
            assert loss.value(z, label) == pytest.approx(value, rel=1e-12, abs=1e-300)
            assert loss.derivatives(z, label, 1.0, g, h, work) == pytest.approx(value, rel=1e-12, abs=1e-300)
            np.testing.assert_allclose(g, gradient, atol=1e-12)
            assert g[0] == -g[1]
            p = abs(g[0])
            np.testing.assert_allclose(h, p * (1.0 - p))
            loss.hessian_product_from(z, g, label, np.array([0.7, -0.2]), out)
            np.testing.assert_allclose(out, p * (1.0 - p) * np.array([0.9, -0.9]))
            assert out[0] == -out[1]


@pytest.mark.parametrize("solver, penalty", [("newton-cg", "ridge"), ("fista-ls", "l1/l2"), ("sparsa", "l1")])
@pytest.mark.parametrize("form", FORMS)
def test_weights_of_two_classes_stay_mirrored(solver: str, penalty: str, form: str) -> None:
    X = drawn()
    y = (X[:, 0] + X[:, 1] > np.random.default_rng(5).standard_normal(90)).astype(int)
    problem = ss.Problem(FORMS[form](X), y, loss="logistic", penalty=penalty, lam=0.01, intercept=form == "sparse")
    chosen: Any = solvers.create(solver)
    state = chosen.init(problem)
    for _ in range(4):
        chosen.step(problem, state)
        np.testing.assert_allclose(state.coef[:, 0], -state.coef[:, 1], rtol=1e-9, atol=1e-13)
