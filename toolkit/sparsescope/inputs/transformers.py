"""Random features as scikit-learn transformers, to be put before any solver or classifier; and scikit-learn's own PCA.

>>> from sparsescope import transformers
>>> maps = transformers.RandomFourierFeatures(n_features=500, random_state=0)
>>> maps.fit_transform([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]).shape
(3, 500)

``PCA`` (dense data) and ``TruncatedSVD`` (sparse data, without centring) are scikit-learn's; they are named here as
images are taken to 50 dimensions before random features (Agarwal et al. 2013, App. A.2.1).
"""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .feature_maps import data_scale, draw

__all__ = ["PCA", "RandomFourierFeatures", "RandomLogits", "RandomProducts", "TruncatedSVD"]

MOST_SEED = 2**31 - 1


class RandomMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the random maps; subclasses name their ``kind`` of :mod:`sparsescope.inputs.feature_maps`.

    X is dense or sparse; features are float32 where X is, else float64. ``fit`` raises ``ValueError`` for data that are
    not finite, for n_features below 1 and for a width that is not positive.

    Parameters
    ----------
    n_features
        number of features.
    width
        s, the scale of squared distances; ``"median"``: their median over pairs of training samples.
    random_state
        int, ``RandomState`` or ``None``; an int makes the features reproducible.

    Attributes
    ----------
    width_
        s in use.
    drawn_
        weights and offsets.
    n_features_in_
        d.
    """

    kind: ClassVar[str] = ""

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        _, section, told = inspect.cleandoc(RandomMap.__doc__ or "").partition("Parameters\n")
        cls.__doc__ = f"{inspect.cleandoc(cls.__doc__ or '')}\n\n{section}{told}"

    def __init__(self, n_features: int = 1000, *, width: float | str = "median", random_state: Any = None) -> None:
        self.n_features = n_features
        self.width = width
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> RandomMap:
        """Draw the features for data like X.

        Parameters
        ----------
        X
            samples (n, d).
        y
            not used.

        Returns
        -------
        RandomMap
            the transformer itself.

        Raises
        ------
        ValueError
            see the class.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        if not (isinstance(self.n_features, int | np.integer) and self.n_features >= 1):
            raise ValueError(f"n_features is {self.n_features!r}; a whole number of at least 1 is needed")
        given = None
        if self.width != "median":
            if isinstance(self.width, str) or not (float(self.width) > 0.0 and np.isfinite(float(self.width))):
                raise ValueError(f"width is {self.width!r}; a positive number or 'median' is needed")
            given = float(self.width)
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(MOST_SEED)
        scale = data_scale(X, int(seed), given if given is not None or X.shape[0] > 1 else 1.0)
        self.width_ = scale.width
        self.drawn_ = draw(self.kind, int(self.n_features), scale, int(seed), dtype=X.dtype)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Evaluate the features of samples.

        Parameters
        ----------
        X
            samples (k, d).

        Returns
        -------
        np.ndarray
            features (k, n_features).
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return self.drawn_.features(X).astype(X.dtype, copy=False)

    @property
    def _n_features_out(self) -> int:
        return self.drawn_.p

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class RandomFourierFeatures(RandomMap):
    """Random features √(2/p) cos(ωᵀx + β) of the kernel exp(−‖x − x'‖²/width) (Rahimi and Recht 2007).

    scikit-learn's ``RBFSampler`` is the same map with a given width, 1/gamma. Here the width follows the data (the
    median heuristic of Agarwal et al. 2013, App. A.2.1), and float32 data stay float32.

    Examples
    --------
    >>> X = ss.datasets.load("iris").X
    >>> ss.transformers.RandomFourierFeatures(20, random_state=0).fit_transform(X).shape
    (112, 20)
    """

    kind = "fourier"


class RandomLogits(RandomMap):
    """Logistic functions of random projections (Agarwal et al. 2013, App. A.2.1).

    On digits fewer of them are needed than of Fourier features.

    Examples
    --------
    >>> X = ss.datasets.load("iris").X
    >>> ss.transformers.RandomLogits(20, random_state=0).fit_transform(X).shape
    (112, 20)
    """

    kind = "logits"


class RandomProducts(RandomMap):
    """Products of two random projections of the centred data: random polynomials of degree 2.

    Examples
    --------
    >>> X = ss.datasets.load("iris").X
    >>> ss.transformers.RandomProducts(20, random_state=0).fit_transform(X).shape
    (112, 20)
    """

    kind = "products"
