"""Random features: what they approach, that the seed gives them again, and scikit-learn's own checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import sparsescope as ss
from helpers import digits, text
from sparsescope.inputs import transformers
from sparsescope.inputs.feature_maps import GAIN, KINDS, data_scale, draw

MAPS = (transformers.RandomFourierFeatures, transformers.RandomLogits, transformers.RandomProducts)


@parametrize_with_checks([kind(8, random_state=0) for kind in MAPS])
def test_scikit_learn_accepts_the_transformers(estimator: Any, check: Any) -> None:
    check(estimator)


def test_products_of_fourier_features_approach_the_kernel() -> None:
    X, _ = digits()
    s = 12.0
    A = transformers.RandomFourierFeatures(40_000, width=s, random_state=0).fit_transform(X[:30])
    squares = ((X[:30, None] - X[None, :30]) ** 2).sum(axis=2)
    np.testing.assert_allclose(A @ A.T, np.exp(-squares / s), atol=0.02)


def test_the_width_is_the_median_of_squared_distances() -> None:
    X, _ = digits()
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    exact = np.median(squares[np.triu_indices(len(X), 1)])
    assert data_scale(X, 0).width == pytest.approx(exact, rel=0.03)
    assert data_scale(sp.csr_array(X), 0).width == pytest.approx(data_scale(X, 0).width, rel=1e-12)
    assert transformers.RandomLogits(3, random_state=0).fit(X).width_ == data_scale(X, 0).width


@pytest.mark.parametrize("kind", KINDS)
def test_features_follow_their_formula(kind: str) -> None:
    X, _ = digits()
    scale = data_scale(X)
    drawn = draw(kind, 7, scale, seed=3, stage=2)
    V = X @ drawn.weights + drawn.offset
    expected = {
        "fourier": lambda: np.sqrt(2 / 7) * np.cos(V),
        "logits": lambda: 1 / (1 + np.exp(-V)),
        "products": lambda: V[:, :7] * V[:, 7:],
    }
    np.testing.assert_allclose(drawn.features(X), expected[kind](), rtol=1e-12)
    assert drawn.p == 7
    spread = V.var(axis=0).mean() / (GAIN if kind == "logits" else 1.0) ** 2
    assert 0.3 < spread < 3.0, "projections have a variance near one, whatever the units of the data"


@pytest.mark.parametrize("kind", KINDS)
def test_seed_and_stage_give_the_same_features_again_and_others_other_ones(kind: str) -> None:
    X, _ = text()
    scale = data_scale(X)
    a, again, stage, seed = (draw(kind, 5, scale, s, t).features(X) for s, t in ((1, 4), (1, 4), (1, 5), (2, 4)))
    np.testing.assert_array_equal(a, again)
    assert not np.allclose(a, stage) and not np.allclose(a, seed)
    np.testing.assert_allclose(draw(kind, 5, scale, 1, 4).features(X.toarray()), a, rtol=1e-10, atol=1e-12)
    single = draw(kind, 5, scale, 1, 4, np.float32).features(X.astype(np.float32))
    assert single.dtype == np.float32 and np.isfinite(single).all()
    np.testing.assert_allclose(single, a, atol=1e-4)


def test_logits_of_far_samples_stay_finite() -> None:
    drawn = draw("logits", 4, data_scale(np.eye(3)), 0, dtype=np.float32)
    found = drawn.features(np.array([[1e6, 0, 0], [-1e6, 0, 0]], dtype=np.float32))
    assert np.isfinite(found).all() and found.max() <= 1.0 and found.min() >= 0.0


def test_a_solver_fits_what_a_pipeline_of_pca_and_features_makes() -> None:
    X, y = ss.datasets.load("digits").X, ss.datasets.load("digits").y
    raw = ss.solve(
        ss.Problem(X, y, loss="squared", penalty="ridge", lam=1e-3, intercept=True), "gls", tol=1e-8, record=False
    )
    maps = make_pipeline(
        transformers.PCA(20, random_state=0), transformers.RandomFourierFeatures(300, random_state=0)
    ).fit(X)
    problem = ss.Problem(maps.transform(X), y, loss="squared", penalty="ridge", lam=1e-6)
    found = ss.solve(problem, "gls", tol=1e-6, record=False)
    assert found.objective < 0.5 * raw.objective
    assert np.mean(problem.predict(found.W, X=maps.transform(X)) == y) > 0.97


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"n_features": 0}, "n_features is 0"), ({"width": -1.0}, "width is -1"), ({"width": "mean"}, "width is 'mean'")],
)
def test_parameters_that_cannot_be_are_named(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        transformers.RandomFourierFeatures(**settings).fit(np.eye(4))


def test_a_median_of_zero_and_an_unknown_kind_are_named() -> None:
    with pytest.raises(ValueError, match="median distance between samples is 0"):
        transformers.RandomFourierFeatures(3, random_state=0).fit(np.ones((10, 2)))
    with pytest.raises(ValueError, match="unknown features 'cosines'"):
        draw("cosines", 3, data_scale(np.eye(3)), 0)
