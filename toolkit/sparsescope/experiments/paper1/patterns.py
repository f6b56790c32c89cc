"""Fig. 1: which weights each penalty sets to zero. The paper draws it; here the models are fitted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..base import Settings
from ..pools import Pool, Split
from ..progress import Report, gather
from ..runs import certified_optimum
from . import protocol

if TYPE_CHECKING:
    import pandas as pd

# The paper's four, in its order, then the two of its Sec. 4.7.
PENALTIES = ("ridge", "l1", "elastic-net", "l1/l2", "l1/linf", "sparse-group")
SHARE = 0.1  # λ as a share of each penalty's own λ_max, so that the penalties are comparable
SHOWN = 48  # features in the picture
TOL = 1e-5


def fit_penalties(pool: Pool, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """Weights of the multiclass squared hinge with each penalty at λ = 0.1 λ_max.

    A row for each weight of the ``SHOWN`` features with the largest column norms: data, penalty, lam, feature, name,
    class, weight; and of the whole matrix nonzero_rows_percent (of the features that occur), nonzero_percent (of their
    weights) and inside_percent (of the weights in non-zero rows), the same in all rows of a penalty.
    """
    split = pool.split(settings.seed, protocol.TEST_SIZE)
    seconds = protocol.limits(settings).seconds
    return gather([(p, partial(_fit, split, p, seconds)) for p in PENALTIES], report or Report())


def _fit(split: Split, penalty: str, seconds: float) -> pd.DataFrame:
    import pandas as pd

    problem = split.problem.with_(penalty=penalty)
    problem = problem.with_lam(SHARE * problem.lam_reference)
    W = np.asarray(certified_optimum(problem, TOL, seconds).W)
    norms = problem.design.squared_norms
    occurring = norms > 0
    nonzero = W[occurring] != 0
    rows = nonzero.any(axis=1)
    shown = np.sort(np.argsort(-norms, kind="stable")[:SHOWN])
    table = pd.DataFrame({
        "data": split.name, "penalty": penalty, "lam": problem.lam,
        "feature": np.repeat(shown, problem.m), "name": np.repeat([problem.feature_name(j) for j in shown], problem.m),
        "class": np.tile(problem.class_names, len(shown)), "weight": W[shown].ravel(),
    })  # fmt: skip
    table["nonzero_rows_percent"] = 100.0 * rows.mean()
    table["nonzero_percent"] = 100.0 * nonzero.mean()
    table["inside_percent"] = 100.0 * nonzero[rows].mean() if rows.any() else np.nan
    return table
