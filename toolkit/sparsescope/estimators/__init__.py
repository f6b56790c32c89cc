"""scikit-learn's face: estimators that stand in pipelines and searches, and models in files.

Importing this package loads scikit-learn; ``import sparsescope`` does not.
"""

from __future__ import annotations

from ..inputs.transformers import RandomFourierFeatures, RandomLogits, RandomProducts
from .classifier import SparseClassifier
from .classifier_cv import SparseClassifierCV
from .covariance import SparseInverseCovariance, SparseInverseCovarianceCV
from .files import load
from .solved import from_result
from .stagewise import StagewiseClassifier
from .watching import Watch

__all__ = [
    "RandomFourierFeatures",
    "RandomLogits",
    "RandomProducts",
    "SparseClassifier",
    "SparseClassifierCV",
    "SparseInverseCovariance",
    "SparseInverseCovarianceCV",
    "StagewiseClassifier",
    "Watch",
    "from_result",
    "load",
]
