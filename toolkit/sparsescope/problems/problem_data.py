"""Data of a prediction problem: what is handed in, checked and joined to what siblings of a problem share."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..inputs.design import Design
from ..inputs.given_blocks import in_blocks, joined_labels
from ..inputs.labels import LabelSets, check_labels
from ..inputs.partitioned import PartitionedDesign
from . import sample_weights


class SharedData:
    """Data that siblings of a problem share, with their names and cached constants."""

    def __init__(
        self,
        design: Design,
        targets: np.ndarray | LabelSets,
        class_names: list[str],
        feature_names: list[str] | None,
        intercept: bool,
        name: str | None,
        image_shape: tuple[int, int] | None,
        label_values: np.ndarray | None,
        weights: np.ndarray | None = None,
    ) -> None:
        self.design, self.targets, self.label_values = design, targets, label_values
        self.total = float(design.n if weights is None else weights.sum())  # Σw
        # ω; equal weights are none: a mean does not see them
        self.weights = None if weights is None or np.ptp(weights) == 0.0 else weights * (design.n / self.total)
        self.class_names, self.feature_names = class_names, feature_names
        self.intercept, self.name, self.image_shape = intercept, name, image_shape
        self.standardize = False
        self.feature_weights: np.ndarray | None = None
        self.cache: dict[Any, Any] = {}

    def on(self, design: Design) -> SharedData:
        """The same with the data in another frame; constants are computed anew."""
        if design is self.design:
            return self
        made = copy.copy(self)
        made.design, made.cache = design, {}
        return made

    def cached(self, key: Any, make: Any) -> Any:
        if key not in self.cache:
            self.cache[key] = make()
        return self.cache[key]


def shared_data(
    X: Any,
    y: Any,
    *,
    centred: bool,
    intercept: bool,
    standardize: bool,
    class_names: Any,
    feature_names: Any,
    sample_weight: Any,
    class_weight: Any,
    feature_weights: Any,
    client: Any,
) -> SharedData:
    """Return the data of a problem.

    Parameters
    ----------
    X, y, intercept, standardize, class_names, feature_names, sample_weight, class_weight, feature_weights, client
        as for :class:`sparsescope.Problem`.
    centred
        True if features are held about their means where there is an intercept.

    Returns
    -------
    SharedData
        the data.

    Raises
    ------
    ValueError, TypeError
        for data that cannot be used; the message names the argument.
    """
    name, image_shape = None, None
    if hasattr(X, "feature_names") and hasattr(X, "X"):  # a Dataset
        if y is not None:
            raise ValueError("y is given twice: the data set carries its labels; leave y out")
        dataset = X
        class_names = dataset.class_names if class_names is None else class_names
        feature_names = dataset.feature_names if feature_names is None else feature_names
        name, image_shape = dataset.name, dataset.image_shape
        X, y = dataset.X, dataset.y
    if y is None:
        raise ValueError("y is missing: one class label, or a label set, for each sample is needed")
    if in_blocks(X):
        X = PartitionedDesign(X, client=client)
    elif client is not None:
        raise ValueError(
            "client= is for data in blocks of rows, and X is one matrix; give a list of blocks, a dask array, or "
            "ss.PartitionedDesign(blocks, client=client)"
        )
    if isinstance(X, PartitionedDesign):
        y = joined_labels(y)
    centre = intercept and centred
    if sample_weight is not None or class_weight is not None:  # means and deviations need the weights first
        design = X if isinstance(X, Design) else Design(X)
    else:
        design = (
            X.framed(centre, standardize)
            if isinstance(X, Design)
            else Design(X, centre=centre, standardize=standardize)
        )
    labels, names, values = check_labels(y, design.n, None if class_names is None else list(class_names))
    features = list(feature_names) if feature_names is not None else design.feature_names
    if features is not None and len(features) != design.d:
        raise ValueError(f"{len(features)} feature names for {design.d} features; the numbers must be equal")
    classes = None if isinstance(labels, LabelSets) else labels
    weights = sample_weights.combined(sample_weight, class_weight, classes, design.n, names, values)
    if weights is not None:
        design, labels, weights = _without_weightless(design.plain(), labels, weights)
        design = design.framed(centre, standardize, weights)
    made = SharedData(design, labels, names, features, intercept, name, image_shape, values, weights)
    made.standardize = standardize
    made.feature_weights = sample_weights.feature_weights(feature_weights, design.d)
    return made


def _without_weightless(design: Design, labels: Any, weights: np.ndarray) -> tuple[Design, Any, np.ndarray]:
    """The samples whose weight is not 0; ``ValueError`` where they have too few labels left to tell apart."""
    if weights.all():
        return design, labels, weights
    kept = np.flatnonzero(weights)
    if isinstance(labels, LabelSets):
        labels = LabelSets.of(labels.sparse()[kept])
        left = bool(labels.partial.any())
    else:
        labels = labels[kept]
        left = np.ptp(labels) > 0
    if not left:
        raise ValueError(
            "the samples whose weight is not 0 have one class only, or label sets that are empty or full: "
            "there is nothing to tell apart"
        )
    return Design(design.matrix[kept]), labels, weights[kept]
