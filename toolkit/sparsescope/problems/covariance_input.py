"""Validated input of a covariance problem: a covariance or correlation matrix, or samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..inputs.design import Design
from ..inputs.is_sparse import is_sparse
from ..registry import check_whole
from .linear_algebra import cholesky

MOST_BYTES = 4_000_000_000  # of S, Θ, Θ⁻¹ and what a solver keeps of their size
ARRAYS = 6  # of them
SYMMETRIC, DEFINITE = 1e-8, 1e-8  # what passes for rounding, as a share of the largest entry
BLOCK = 64  # features whose variance is found at a time
FLAT = 1e-14  # share of the second moment below which a variance is that of a constant
SINGLE = 1e4  # times as much passes in single precision


@dataclass(frozen=True, eq=False)
class Covariance:
    """S (p, p) float64, read-only, of n samples (0: it was given), with the names of its features if they have any.

    ``kept`` (p,): which features of the samples these are, ``None`` if they were not chosen; ``constant``: names of
    those that were left out because they are constant.
    """

    S: np.ndarray
    n: int
    names: list[str] | None
    name: str | None
    kept: np.ndarray | None = None
    constant: tuple[str, ...] = ()

    def feature_name(self, j: Any) -> str:
        """Name of feature j, or ``feature j``."""
        return self.names[j] if self.names is not None else f"feature {j}"

    def __deepcopy__(self, memo: Any) -> Covariance:
        return self  # nothing in it ever changes


def given_covariance(given: Any, feature_names: Any) -> Covariance:
    """A covariance or correlation matrix as it was given; ``ValueError`` or ``TypeError`` if it is none."""
    names = None if feature_names is None else [str(name) for name in feature_names]
    if names is None and hasattr(given, "columns"):
        names = [str(name) for name in given.columns]
    shape = np.shape(given)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(
            f"S has shape {shape}; a square matrix is needed. For samples there is CovarianceProblem.from_data(X)"
        )
    check_size(shape[0])
    try:
        S = np.array(given.toarray() if is_sparse(given) else given)
        single = S.dtype == np.float32
        S = S.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"S is not a matrix of numbers: {error}") from None
    found = _named(S, 0, names, None)
    _check(found, SINGLE if single else 1.0)
    np.copyto(S, 0.5 * (S + S.T))
    S.flags.writeable = False
    return found


def _named(S: np.ndarray, n: int, names: list[str] | None, name: str | None) -> Covariance:
    if names is not None and len(names) != S.shape[0]:
        raise ValueError(f"{len(names)} feature names for {S.shape[0]} features; the numbers must be equal")
    return Covariance(S, n, names, name)


def check_size(p: int) -> None:
    """``ValueError`` naming the bytes if p features are more than memory holds."""
    if p == 0:
        raise ValueError("S is empty; at least one feature is needed")
    size = 8 * ARRAYS * p * p
    if size > MOST_BYTES:
        raise ValueError(
            f"{p} features: S, its inverse and what solvers keep are {ARRAYS} arrays of {p} × {p} "
            f"numbers, {size / 1e9:.1f} GB, more than the {MOST_BYTES / 1e9:g} GB allowed; choose fewer "
            "features (those that vary most, say)"
        )


def _check(found: Covariance, slack: float) -> None:
    S, name = found.S, found.feature_name
    bad = ~np.isfinite(S)
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise ValueError(f"S has an entry that is not finite: {S[i, j]} for {name(i)} and {name(j)}")
    off = np.abs(S - S.T)
    if off.max() > slack * SYMMETRIC * np.abs(S).max():
        i, j = np.unravel_index(int(off.argmax()), S.shape)
        raise ValueError(
            f"S is not symmetric: {S[i, j]:g} for {name(i)} and {name(j)}, and {S[j, i]:g} the other way round"
        )
    if (np.diag(S) < 0.0).any():
        j = int(np.diag(S).argmin())
        raise ValueError(f"S has a negative variance: {S[j, j]:g} for {name(j)}")
    margin = slack * DEFINITE * max(float(np.diag(S).max()), np.finfo(float).tiny)
    if cholesky(0.5 * (S + S.T) + margin * np.eye(S.shape[0])) is None:
        least = float(np.linalg.eigvalsh(0.5 * (S + S.T))[0])
        raise ValueError(
            f"S is indefinite: its smallest eigenvalue is {least:.3g}, and that of a covariance or "
            "correlation matrix is at least 0. Correlations of pairs with missing values can come out so; "
            "fill in the values, or add a small multiple of the identity"
        )


def check_weights(given: Any, data: Covariance) -> np.ndarray:
    """Weights C (p, p) as a read-only array; ``ValueError`` if they are no weights for S."""
    p = data.S.shape[0]
    try:
        C = np.array(given.toarray() if is_sparse(given) else given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"weights is not a matrix of numbers: {error}") from None
    if C.shape != (p, p):
        raise ValueError(f"weights has shape {C.shape}; (p, p) = ({p}, {p}) is needed")
    bad = ~(np.isfinite(C) & (C >= 0.0))
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise ValueError(
            f"weights holds {C[i, j]:g} for {data.feature_name(i)} and {data.feature_name(j)}; weights "
            "are finite and at least 0"
        )
    if np.abs(C - C.T).max() > SYMMETRIC * max(C.max(), np.finfo(float).tiny):
        raise ValueError("weights is not symmetric; Θ is, so both entries of a pair have one weight")
    C = 0.5 * (C + C.T)
    C.flags.writeable = False
    return C


def samples_of(X: Any, feature_names: Any = None) -> tuple[Design, list[str] | None, str | None]:
    """Samples (an array, a sparse matrix, a data frame, a Design or a Dataset) with the names of their features, and
    the name of a Dataset. ``ValueError`` if there are fewer than 2, or not as many names as features."""
    name = None
    if hasattr(X, "feature_names") and hasattr(X, "X"):  # a Dataset
        name, names, X = X.name, X.feature_names, X.X
        feature_names = names if feature_names is None else feature_names
    design = X if isinstance(X, Design) else Design(X)
    if design.n < 2:
        raise ValueError(f"X has {design.n} sample; a covariance needs at least 2")
    found = design.feature_names if feature_names is None else [str(each) for each in feature_names]
    if found is not None and len(found) != design.d:
        raise ValueError(f"{len(found)} feature names for {design.d} features; the numbers must be equal")
    return design, None if found is None else list(found), name


def variances(design: Design) -> tuple[np.ndarray, np.ndarray]:
    """Variances of the features (p,), and flags of those that are constant: rounding of the mean leaves them a variance
    of about eps² times its square."""
    matrix = design.matrix
    mean = np.asarray(matrix.mean(axis=0, dtype=np.float64)).ravel()
    if design.is_sparse:
        squares = matrix.astype(np.float64)
        squares.data **= 2
        found = np.asarray(squares.mean(axis=0)).ravel() - np.square(mean)
    else:
        found = np.empty(design.d)
        for j in range(0, design.d, BLOCK):  # not all at once, which would be a copy of the data
            found[j : j + BLOCK] = np.square(matrix[:, j : j + BLOCK] - mean[j : j + BLOCK]).mean(axis=0)
    return found, found <= FLAT * (found + np.square(mean))


def varying(design: Design, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the ``most`` features of largest variance that are not constant (of equal ones the first), ascending,
    and of the constant ones."""
    found, constant = variances(design)
    rounded = np.where(constant, -1.0, np.round(found / max(found.max(initial=0.0), np.finfo(float).tiny), 9))
    order = np.argsort(-rounded, kind="stable")[: design.d - int(constant.sum())]
    return np.sort(order[:most]), np.flatnonzero(constant)


def from_samples(X: Any, correlation: bool, feature_names: Any, features: int | None = None) -> Covariance:
    """The covariance or correlation matrix of samples X (n, p); see ``CovarianceProblem.from_data``."""
    if features is None and len(np.shape(X)) == 2:
        check_size(np.shape(X)[1])  # before anything is copied
    design, names, name = samples_of(X, feature_names)
    matrix, chosen, constant = design.matrix, None, ()
    if features is not None:
        every = names or [f"feature {j}" for j in range(design.d)]
        chosen, flat = varying(design, check_whole("features", features, 1))
        if not chosen.size:
            raise ValueError(f"all {design.d} features are constant; a covariance needs some that vary")
        matrix, constant = matrix[:, chosen], tuple(every[j] for j in flat)
        names = [every[j] for j in chosen]
    check_size(matrix.shape[1])
    if design.is_sparse:
        mean = np.asarray(matrix.mean(axis=0), dtype=np.float64).ravel()
        product = (matrix.T.astype(np.float64) @ matrix.astype(np.float64)).toarray()
        S = product / design.n - np.outer(mean, mean)
    else:
        centred = matrix.astype(np.float64)
        centred -= centred.mean(axis=0)
        S = centred.T @ centred / design.n
    S = 0.5 * (S + S.T)
    found = replace(_named(S, design.n, names, name), kept=chosen, constant=constant)
    if correlation:
        _scale(found, matrix)
    S.flags.writeable = False
    return found


def _scale(found: Covariance, matrix: Any) -> None:
    """Make S a correlation matrix; ``ValueError`` names a feature of ``matrix`` that is constant."""
    S = found.S
    own = np.diag(S).copy()
    # Rounding of the mean leaves a constant feature a variance of about eps² times its square.
    second = own + np.square(np.asarray(matrix.mean(axis=0), dtype=np.float64).ravel())
    constant = np.flatnonzero(own <= FLAT * second)
    if constant.size:
        raise ValueError(
            f"{found.feature_name(constant[0])} is constant, so it has no correlations; leave it out "
            f"({constant.size} such feature(s)), or say how many features to keep with features="
        )
    scale = 1.0 / np.sqrt(own)
    S *= scale[:, None]
    S *= scale
    np.fill_diagonal(S, 1.0)
