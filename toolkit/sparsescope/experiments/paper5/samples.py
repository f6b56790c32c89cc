"""The data: two classes of a set in random order, and correlations of features, or a matrix that is one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...problems.covariance import CovarianceProblem
from ...problems.prediction import Problem
from .. import pools
from ..pools import Pool
from . import protocol

MATRIX = "covariance matrix"  # the scaling of a pool that is one
TEXT = 0.1  # data with a smaller share of non-zeros are texts: correlations of rare words say little
FEWEST, FEWEST_FEATURES = 40, 8
POSITIVE = 100.0  # largest over smallest value from which positive data (intensities of genes) are taken as logarithms


def load(name_or_path: str) -> Pool:
    """A data set with classes; or an ``.npz`` file with a covariance matrix ``S`` and, if it has them,
    ``feature_names``. Raises what :func:`sparsescope.datasets.load` raises."""
    path = _matrix_file(name_or_path)
    if path is None:
        return pools.load_data(name_or_path)
    with np.load(path, allow_pickle=False) as stored:
        S = np.array(stored["S"])
        names = [str(each) for each in stored["feature_names"]] if "feature_names" in stored.files else None
    return Pool(path.stem, path.stem, S, np.zeros(len(S), dtype=np.int64), ["none"], names, None, MATRIX)


def _matrix_file(name: str) -> Path | None:
    folders = [Path(folder) for folder in os.environ.get("SPARSESCOPE_DATA", "").split(os.pathsep) if folder]
    for path in (Path(name), *(folder / f"{name}.npz" for folder in folders)):
        if path.suffix == ".npz" and path.is_file():
            with np.load(path, allow_pickle=False) as stored:
                return path if "S" in stored.files else None
    return None


# ---------------------------------------------------------------------------------------------------- two classes
def not_for_races(data: Pool) -> str | None:
    """Table 1 needs samples of two classes."""
    if data.scaling == MATRIX:
        return "it is a covariance matrix, not samples with classes"
    size = chosen_rows(data, 0).size
    return None if size >= FEWEST else f"its two largest classes have {size} samples, fewer than {FEWEST}"


def chosen_rows(data: Pool, seed: int) -> np.ndarray:
    """The samples of the two classes to be separated (4 and 9 of digits, else the largest), in random order."""
    names = list(map(str, data.class_names))
    if set(protocol.GISETTE) <= set(names):
        classes = [names.index(name) for name in protocol.GISETTE]
    else:
        counts = np.bincount(data.y, minlength=len(names))
        classes = np.argsort(-counts, kind="stable")[:2].tolist()
    rows = np.flatnonzero(np.isin(data.y, classes))
    return np.random.default_rng(seed).permutation(rows)


def sizes(data: Pool, limit: protocol.Limits) -> list[int]:
    """The numbers of samples: the paper's that there are, or a quarter, a half and all."""
    n = chosen_rows(data, 0).size
    able = [size for size in limit.sizes if size <= n]
    return able if len(able) >= 3 else sorted({n // 4, n // 2, n})


def races_problem(data: Pool, size: int, seed: int) -> Problem:
    """The first ``size`` samples of :func:`chosen_rows`, at the protocol's share of λ_max."""
    rows = np.sort(chosen_rows(data, seed)[:size])
    X: Any = sp.csc_array(data.X[rows]) if sp.issparse(data.X) else np.asarray(data.X[rows], dtype=np.float64)
    problem = Problem(X, data.y[rows], loss="binary-logistic", penalty="l1")
    return problem.with_lam(protocol.SHARE * problem.lam_max)


# ---------------------------------------------------------------------------------------------------- correlations
def not_for_covariances(data: Pool) -> str | None:
    """Table 2 needs a matrix, or dense features that vary."""
    if data.scaling == MATRIX:
        return None
    if np.count_nonzero(data.X.data if sp.issparse(data.X) else data.X) < TEXT * np.prod(data.X.shape):
        return "its features are mostly zero, as those of texts are"
    kept = covariance_problem(data, protocol.QUICK)
    if kept is None:
        return f"fewer than {FEWEST_FEATURES} of its features vary"
    return None if kept.lam_max > protocol.LAM else f"no two of its features have a correlation above {protocol.LAM:g}"


def covariance_problem(data: Pool, limit: protocol.Limits) -> CovarianceProblem | None:
    """The matrix, or the correlations of the features of largest variance; ``None`` if too few of them vary."""
    if data.scaling == MATRIX:
        return CovarianceProblem(data.X, lam=protocol.LAM, feature_names=data.feature_names)
    X = data.X.toarray() if sp.issparse(data.X) else np.array(data.X, dtype=np.float64)
    if X.min() > 0.0 and X.max() > POSITIVE * X.min():
        X = np.log2(X)
    spread = X.std(axis=0)
    varied = np.flatnonzero(spread > 1e-7 * np.abs(X).max(axis=0))
    if varied.size < FEWEST_FEATURES:
        return None
    chosen = np.sort(varied[np.argsort(-spread[varied], kind="stable")[: limit.features]])
    names = None if data.feature_names is None else [data.feature_names[j] for j in chosen]
    return CovarianceProblem.from_data(X[:, chosen], correlation=True, lam=protocol.LAM, feature_names=names)
