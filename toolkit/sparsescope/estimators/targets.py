"""Targets as scikit-learn hands them over: classes as numbers, label sets as indicators, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target

MANY_OUTPUTS = "multiclass-multioutput"


@dataclass(frozen=True)
class Targets:
    """Targets of a classifier.

    classes : the classes in sorted order, or the numbers of the labels · y : numbers of the classes (n,), or an
    indicator (n, m), dense or sparse · multilabel : whether every sample has a set of labels
    """

    classes: np.ndarray
    y: Any
    multilabel: bool

    @property
    def names(self) -> list[str]:
        """Names of the classes or labels."""
        return [str(c) for c in self.classes]

    def factors(self, class_weight: Any) -> Any:
        """Return class weights as a problem takes them: mappings by the numbers of the classes."""
        if not isinstance(class_weight, Mapping) or self.multilabel:
            return class_weight
        weights = compute_class_weight(dict(class_weight), classes=self.classes, y=self.classes[self.y])
        return dict(enumerate(weights.tolist()))


def read_targets(y: Any, classes: Any = None) -> Targets:
    """Number classes in sorted order; take indicators as they are.

    Parameters
    ----------
    y
        One class a sample, or an indicator of label sets with two columns or more, dense or sparse.
    classes
        All classes that may occur, where ``y`` need not have all of them; ``None``: those of ``y``.

    Raises
    ------
    ValueError
        for targets that are no classes (numbers with fractions), for several outputs, and for a single class.
    """
    check_classification_targets(y)
    kind = type_of_target(y, input_name="y")
    if kind == MANY_OUTPUTS:
        raise ValueError(
            "y has several outputs with several classes each; one class a sample is needed, or an indicator of label "
            "sets. For several outputs there is sklearn.multioutput.MultiOutputClassifier"
        )
    if kind == "multilabel-indicator":
        return Targets(np.arange(y.shape[1]), y, True)
    labels = column_or_1d(y, warn=True)
    known = np.unique(labels) if classes is None else np.unique(np.asarray(classes))
    if known.size < 2:
        raise ValueError(f"y has one class only ({known[0]!r}); at least two classes are needed")
    numbers = np.searchsorted(known, labels)
    strange = (numbers >= known.size) | (known[np.minimum(numbers, known.size - 1)] != labels)
    if strange.any():
        raise ValueError(f"y has the class {labels[strange][0]!r}, which is none of classes = {known.tolist()}")
    return Targets(known, numbers.astype(np.int64), False)


def as_given(indicator: Any, sparse: bool) -> Any:
    """Return predicted label sets as whole numbers, sparse if those of the training were."""
    if sparse:
        return sp.csr_matrix(indicator, dtype=np.int64)
    return np.asarray(indicator.toarray() if sp.issparse(indicator) else indicator, dtype=np.int64)
