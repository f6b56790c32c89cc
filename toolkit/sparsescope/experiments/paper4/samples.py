"""The data: both kinds of labels in one pool, the test part, and a held-out part to choose λ on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ... import datasets
from ...inputs.design import Design
from ...problems.prediction import Problem
from ..pools import Pool, Split, held_out, pool
from . import protocol

GROWTH_DATA = "planted-extreme"
GENERATED = (GROWTH_DATA, "planted-extreme-tags")
QUICK_LABELS, QUICK_SAMPLES = 300, 2000


def load(name_or_path: str) -> Pool:
    """A data set with classes or label sets; raises what :func:`sparsescope.datasets.load` raises."""
    return pool(datasets.load(name_or_path, test_size=0.0), sets=True)


def quick(data: Pool) -> Pool:
    """The first 2000 documents about the 300 most frequent labels of a generated set, which is in random order; other
    data as they are."""
    if data.name not in GENERATED:
        return data
    if multilabel(data):
        y = data.y[:, :QUICK_LABELS]
        rows = np.flatnonzero(np.asarray(y.sum(axis=1)).ravel())[:QUICK_SAMPLES]
    else:
        y = data.y
        rows = np.flatnonzero(y < QUICK_LABELS)[:QUICK_SAMPLES]
    return replace(data, X=data.X[rows], y=y[rows], class_names=data.class_names[:QUICK_LABELS], splits={}, cache={})


def multilabel(data: Pool) -> bool:
    """Return whether the samples have sets of labels."""
    return data.y.ndim == 2


def indicator(y: Any, m: int) -> sp.csr_array:
    """Classes (n,) or label sets (n, m) as a sparse indicator (n, m)."""
    if y.ndim == 2:
        return sp.csr_array(y)
    return sp.csr_array((np.ones(len(y), dtype=np.uint8), y, np.arange(len(y) + 1)), shape=(len(y), m))


def has(y: Any, labels: np.ndarray) -> np.ndarray:
    """Return whether sample i has the label labels[i], (n,) bool."""
    if y.ndim == 1:
        return np.asarray(y == labels)
    if not sp.issparse(y):
        return np.asarray(y[np.arange(len(labels)), labels] == 1)
    chosen = sp.csr_array((np.ones(len(labels), dtype=np.uint8), labels, np.arange(len(labels) + 1)), shape=y.shape)
    return np.asarray(chosen.multiply(y).sum(axis=1)).ravel() > 0


def whole(data: Pool) -> Split:
    """The training part and the test part: the data's own, or a quarter held out, label by label."""
    if "whole" not in data.splits:
        data.splits["whole"] = _split(data, *data.parts(protocol.TEST))
    return data.splits["whole"]


def training_targets(data: Pool) -> Any:
    """The classes or label sets of the training part of :func:`whole`."""
    return data.y[data.parts(protocol.TEST)[0]]


def tuning(data: Pool, seed: int) -> Split:
    """Four fifths of the training part, and the fifth on which λ is chosen."""
    key = ("tuning", seed)
    if key not in data.splits:
        rows = data.parts(protocol.TEST)[0]
        train, held = held_out(data.name, data.y[rows], protocol.HELD_OUT, seed)
        data.splits[key] = _split(data, rows[train], rows[held])
    return data.splits[key]


def _split(data: Pool, train: np.ndarray, test: np.ndarray) -> Split:
    X = data.X[train]
    problem = Problem(
        sp.csc_array(X),
        data.y[train],
        loss=protocol.loss(multilabel(data)),
        penalty="elastic-net",
        class_names=data.class_names,
    )
    return Split(data.name, sp.csr_array(X), problem, Design(sp.csr_array(data.X[test])), data.y[test])


def not_for_growth(data: Pool) -> str | None:
    """The growth has separate data; it is measured once, beside the generated set with many classes."""
    return None if data.name == GROWTH_DATA else f"it is for generated data (--data {GROWTH_DATA})"
