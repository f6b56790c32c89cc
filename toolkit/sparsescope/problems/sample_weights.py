"""Weights of samples and of classes: what is given, checked, as one number for each sample. And those of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

BALANCED = "balanced"


def sample_weights(given: Any, n: int) -> np.ndarray | None:
    """Weights ≥ 0 of n samples, (n,) float64; ``None`` if none are given.

    Raises ``TypeError`` or ``ValueError`` for weights that are no numbers, too many or too few, negative, not finite,
    or all 0.
    """
    found = _checked("sample_weight", "sample", given, n, "the sample is left out")
    if found is not None and not found.any():
        raise ValueError("all sample weights are 0, so no sample is left; one at least has to be positive")
    return found


def feature_weights(given: Any, d: int) -> np.ndarray | None:
    """Weights ≥ 0 of d features in the penalty, (d,) float64; ``None`` if none are given. Raises as above."""
    found = _checked("feature_weights", "feature", given, d, "not penalised")
    if found is not None and not found.any():
        raise ValueError("all feature weights are 0, so nothing is penalised; one at least has to be positive")
    return found


def _checked(name: str, of: str, given: Any, size: int, zero: str) -> np.ndarray | None:
    """Weights that are finite numbers ≥ 0, (size,) float64; ``None`` if none are given."""
    if given is None:
        return None
    try:
        found = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {given!r}; an array of {size} numbers ≥ 0 is needed") from None
    if found.shape != (size,):
        raise ValueError(f"{name} has shape {found.shape}; one weight for each {of}, ({size},), is needed")
    wrong = np.flatnonzero(~np.isfinite(found) | (found < 0.0))
    if wrong.size:
        raise ValueError(
            f"{name} of {of} {wrong[0]} is {found[wrong[0]]:g}; weights are finite numbers ≥ 0 (0: {zero})"
        )
    return found


def class_factors(
    given: Any, classes: np.ndarray | None, names: Sequence[str], values: np.ndarray | None, weights: np.ndarray | None
) -> np.ndarray | None:
    """The factor of each sample for the weight of its class, (n,); ``None`` if no class weights are given.

    given : ``"balanced"``: every class that occurs gets the same total weight, counted with the sample weights; or a
    mapping of classes (as they were given in y, or by name) to numbers ≥ 0, 1 for those it does not name · classes :
    of the samples, ``None`` for label sets · values : the labels as they were given, if they are not 0…m−1

    Raises ``TypeError`` or ``ValueError`` for anything else.
    """
    if given is None:
        return None
    if classes is None:
        raise ValueError(
            "class_weight is given, and y has label sets: a sample belongs to several classes or none. "
            "Give a weight for each sample: sample_weight="
        )
    if isinstance(given, str) and given == BALANCED:
        totals = np.bincount(classes, weights, minlength=len(names)).astype(np.float64)
        used = totals > 0.0
        factors = np.zeros(len(names))
        factors[used] = totals.sum() / (np.count_nonzero(used) * totals[used])
        return factors[classes]
    if not isinstance(given, Mapping):
        raise TypeError(f'class_weight is {given!r}; allowed: None, "balanced", or a mapping of classes to weights')
    factors = np.ones(len(names))
    for label, weight in given.items():
        try:
            weight = float(weight)
        except (TypeError, ValueError):
            raise TypeError(f"class_weight of {label!r} is {weight!r}; a number ≥ 0 is needed") from None
        if not (np.isfinite(weight) and weight >= 0.0):
            raise ValueError(f"class_weight of {label!r} is {weight:g}; weights are finite numbers ≥ 0")
        factors[_number_of(label, names, values)] = weight
    return factors[classes]


def _number_of(label: Any, names: Sequence[str], values: np.ndarray | None) -> int:
    """The number of a class that was given as in y, or by its name."""
    if isinstance(label, str) and label in names:
        return list(names).index(label)
    for number, value in enumerate(range(len(names)) if values is None else values):
        if label == value:
            return number
    shown = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
    raise ValueError(f"class_weight names {label!r}, which is none of the classes ({shown})")


def combined(
    sample_weight: Any,
    class_weight: Any,
    classes: np.ndarray | None,
    n: int,
    names: Sequence[str],
    values: np.ndarray | None,
) -> np.ndarray | None:
    """The product of both kinds of weights, (n,) ≥ 0; ``None`` if all are equal and positive, or none are given: with
    a mean over samples equal weights change nothing.

    Raises what :func:`sample_weights` and :func:`class_factors` raise, and ``ValueError`` if the product is 0 for all
    samples.
    """
    weights = sample_weights(sample_weight, n)
    factors = class_factors(class_weight, classes, names, values, weights)
    if factors is not None:
        weights = factors if weights is None else weights * factors
        if not weights.any():
            raise ValueError("class_weight and sample_weight leave no sample with a positive weight")
    return weights
