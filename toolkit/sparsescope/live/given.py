"""A problem that somebody holds, as data and settings of the page: so that all its controls work on it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..datasets.base import Dataset
from ..datasets.partitions import PartitionedDataset
from ..problems.prediction import Problem
from ..registry import losses, penalties
from . import settings as st


def data_and_settings(problem: Problem) -> tuple[Dataset, dict[str, Any]]:
    """Return the data of a problem, and the settings with which the page makes the same problem of them.

    Parameters
    ----------
    problem
        A problem of classes or label sets, or a sequence problem.

    Returns
    -------
    tuple of Dataset and dict
        Data and settings.

    Raises
    ------
    ValueError
        for a problem with weights or a scaling that the page has no control for, or with a loss or a penalty that is
        not registered.
    """
    _require_plain(problem)
    design = problem.design.plain()
    data = (PartitionedDataset if problem.partitioned else Dataset)(
        name=problem.name or st.OWN,
        title=problem.name or "your data",
        X=design if problem.partitioned else design.matrix,
        y=problem.y if problem.sets is None else problem.sets.indicator(),
        feature_names=problem.feature_names,
        class_names=[str(name) for name in problem.class_names],
        image_shape=problem.image_shape,
    )
    settings: dict[str, Any] = {"intercept": bool(problem.intercept), **_part(problem.loss, "loss", losses)}
    if problem.stages:
        return data, {**settings, "solver": problem.default_solver, "ridge": float(problem.lam)}
    settings |= _part(problem.penalty, "penalty", penalties)
    reference = problem.lam_reference
    if math.isfinite(reference) and reference > 0:
        settings["lam_ratio"] = st.LAM_RATIO.read(problem.lam / reference, [])
    return data, settings


def _require_plain(problem: Problem) -> None:
    lacking = {
        "sample_weight": problem.sample_weight is not None,
        "feature_weights": problem.feature_weights is not None,
        "standardize": bool(problem.standardize),
    }
    named = [name for name, there in lacking.items() if there]
    if named:
        raise ValueError(
            f"this problem has {' and '.join(named)}, which the explorer's page has no control for; make it without, "
            "or follow it with ss.Session and ss.views"
        )


def _part(part: Any, kind: str, registry: Any) -> dict[str, Any]:
    """The settings of a loss or a penalty."""
    name = registry.name_of(part)
    if name is None:
        raise ValueError(f"the {kind} {part!r} is not registered, so the page's menu does not have it: registry.add it")
    given = {f"{kind}.{f.name}": getattr(part, f.name) for f in registry.fields(name)}
    known = {f"{kind}.{f.name}" for f in st.fields_of(kind, name)}
    return {kind: name, **{key: np.asarray(value).item() for key, value in given.items() if key in known}}
