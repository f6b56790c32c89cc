"""Path: what a λ-path left behind, one line of numbers and one sparse W for each λ. Saved without pickle."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import extras
from ..registry import check_whole
from .path_files import PathFiles
from .path_points import Point, path_columns

# What decides which λ is best, in this order: accuracies for classes, precision for label sets; held-out ones first.
BEST_BY = ("test_accuracy", "test_precision_at_1", "train_accuracy", "train_precision_at_1")
_MORE_IS_BETTER = ("accuracy", "precision", "f1", "dual")
_SHOWN = ("lam", "nonzero_rows", "objective", "relative_gap", "train_accuracy", "test_accuracy", "iterations")


@dataclass(frozen=True)
class Path(PathFiles):
    """Solutions along a λ-path, from the largest λ to the smallest.

    ``path["objective"]`` is a column (float64, one entry per λ): ``lam``, the numbers of a certificate, sparsity,
    accuracies, and ``iterations``, ``passes`` and ``seconds`` spent at that λ alone. The usual ones are properties too.

    Parameters
    ----------
    points
        the solutions.
    info
        description of the problem.
    notes
        changes of the given λ.
    message
        reason why the path ended.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> found = ss.path(problem, n_lams=3, ratio=0.5)
    >>> len(found), bool(found.converged.all())
    (3, True)
    >>> found.weights(2).shape
    (4, 3)
    """

    # ------------------------------------------------------------------------------------------------------ columns
    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in path_columns():
            raise KeyError(f"unknown column {name!r}; known: {', '.join(path_columns())}")
        return np.array([p.numbers[name] for p in self.points], dtype=float)

    @property
    def lams(self) -> np.ndarray:
        """λ, falling."""
        return self["lam"]

    @property
    def objective(self) -> np.ndarray:
        """F at each λ."""
        return self["objective"]

    @property
    def gap(self) -> np.ndarray:
        """Duality gap F − D ≥ F − F* at each λ; NaN where there is no certificate."""
        return self["gap"]

    @property
    def relative_gap(self) -> np.ndarray:
        """Relative duality gap, ``gap/|F|``, at each λ."""
        return self["relative_gap"]

    @property
    def nonzero_rows(self) -> np.ndarray:
        """Number of features used at each λ, int64."""
        return self["nonzero_rows"].astype(np.int64)

    @property
    def nonzero_entries(self) -> np.ndarray:
        """Number of non-zero weights at each λ, int64."""
        return self["nonzero_entries"].astype(np.int64)

    @property
    def train_accuracy(self) -> np.ndarray:
        """Accuracy on the problem's samples, in [0, 1]."""
        return self["train_accuracy"]

    @property
    def test_accuracy(self) -> np.ndarray:
        """Accuracy on the held-out samples, in [0, 1]; NaN without them."""
        return self["test_accuracy"]

    @property
    def seconds(self) -> np.ndarray:
        """Solver seconds spent at each λ."""
        return self["seconds"]

    @property
    def iterations(self) -> np.ndarray:
        """Iterations spent at each λ, int64."""
        return self["iterations"].astype(np.int64)

    @property
    def converged(self) -> np.ndarray:
        """True if the tolerance (or the given rule) was met at each λ, bool."""
        return np.array([p.converged for p in self.points], dtype=bool)

    @property
    def reasons(self) -> list[str]:
        """Reasons why the iterations at each λ ended."""
        return [p.reason for p in self.points]

    def to_frame(self) -> Any:
        """Return all columns as a pandas data frame, one row per λ.

        Returns
        -------
        pandas.DataFrame
            the columns by their names.
        """
        pd = extras.package("pandas", "Path.to_frame")
        frame = pd.DataFrame({name: self[name] for name in path_columns()})
        frame = frame.astype(dict.fromkeys(("nonzero_rows", "nonzero_entries", "iterations"), "int64"))
        return frame.assign(converged=self.converged)

    # ------------------------------------------------------------------------------------------------------ weights
    def weights(self, k: int = -1) -> Any:
        """Return W at the k-th λ.

        Parameters
        ----------
        k
            number of the λ; −1: the last.

        Returns
        -------
        Any
            W (d, m) in the data's precision: a full array, or CSR where the solver kept it sparse.
        """
        rows, values = self._kept(k)
        shape = int(self.info["d"]), int(self.info["m"])
        if sp.issparse(values):
            entries = values.tocoo()
            return sp.csr_array((entries.data, (rows[entries.coords[0]], entries.coords[1])), shape=shape)
        W = np.zeros(shape, dtype=values.dtype)
        W[rows] = values
        return W

    def intercept(self, k: int = -1) -> np.ndarray | None:
        """Return b at the k-th λ.

        Parameters
        ----------
        k
            number of the λ; −1: the last.

        Returns
        -------
        np.ndarray | None
            b (m,); ``None`` for a problem without an intercept.
        """
        b = self._point(k).b
        return None if b is None else b.copy()

    def support(self, k: int = -1) -> np.ndarray:
        """Return the non-zero rows at the k-th λ.

        Parameters
        ----------
        k
            number of the λ; −1: the last.

        Returns
        -------
        np.ndarray
            row numbers, sorted, int32.
        """
        return self._kept(k)[0].copy()

    def norms(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ℓ2 norms of the rows of W along the path.

        Returns
        -------
        tuple[np.ndarray, np.ndarray]
            ``features`` (r,) int32, those that are ever non-zero in the order in which they enter, and ``norms``
            (len(path), r) float64: column i belongs to ``features[i]``.
        """
        kept = [self._kept(k) for k in range(len(self))]
        order = np.concatenate([np.empty(0, np.int32), *(rows for rows, _ in kept)])
        first = np.unique(order, return_index=True)[1]
        features = order[np.sort(first)]
        column = np.full(int(self.info["d"]) if self.points else 0, -1)
        column[features] = np.arange(features.size)
        norms = np.zeros((len(self), features.size))
        for line, (rows, values) in zip(norms, kept, strict=True):
            squares = values.multiply(values).sum(axis=1) if sp.issparse(values) else None
            line[column[rows]] = (
                np.linalg.norm(values.astype(np.float64), axis=1)
                if squares is None
                else np.sqrt(np.asarray(squares, dtype=np.float64).ravel())
            )
        return features, norms

    def profile(self, top: int | None = None) -> Any:
        """Return the norm of each feature's row against λ as a tidy data frame.

        Parameters
        ----------
        top
            take only this number of features, those whose norms become largest; ``None``: all that ever enter.

        Returns
        -------
        pandas.DataFrame
            columns ``lam``, ``feature``, ``name``, ``norm``; one line for each λ and feature.
        """
        pd = extras.package("pandas", "Path.profile")
        features, norms = self.norms()
        if top is not None:
            count = check_whole("top", top, 1)
            largest = np.sort(np.argsort(-norms.max(axis=0, initial=0.0), kind="stable")[:count])
            features, norms = features[largest], norms[:, largest]
        known = self.info.get("feature_names")
        names = [known[j] if known else f"feature {j}" for j in features]
        return pd.DataFrame(
            {
                "lam": np.tile(self.lams, features.size),
                "feature": np.repeat(features, len(self)),
                "name": np.repeat(np.array(names, dtype=object), len(self)),
                "norm": norms.T.ravel(),
            }
        )

    def best(self, by: str | None = None, within: float = 0.0) -> int:
        """Return the index of the best λ: the largest accuracy, or the smallest gap, objective or violation.

        Parameters
        ----------
        by
            column that decides; ``None``: the first of :data:`BEST_BY` that has values, so held-out measures where
            the path has test data, else those of the training data.
        within
            take the largest λ (the sparsest model) that is at most this much worse than the best.

        Returns
        -------
        int
            the index.

        Raises
        ------
        ValueError
            if the column has no values, or ``within`` is negative.
        """
        if by is None:
            by = next((name for name in BEST_BY if np.isfinite(self[name]).any()), BEST_BY[0])
        values = self[by]
        if not within >= 0:
            raise ValueError(f"within is {within!r}; it must be at least 0")
        if not np.isfinite(values).any():
            hint = "; give the path test=(X, y)" if by.startswith("test_") else ""
            raise ValueError(f"this path has no {by}{hint}")
        worse = -values if any(word in by for word in _MORE_IS_BETTER) else values
        return int(np.flatnonzero(worse <= np.nanmin(worse) + within)[0])

    def _point(self, k: int) -> Point:
        if not -len(self) <= k < len(self):
            raise IndexError(f"λ number {k} of a path with {len(self)}")
        return self.points[k]

    def _kept(self, k: int) -> tuple[np.ndarray, Any]:
        point = self._point(k)
        if point.rows is None or point.values is None:
            raise ValueError("this path was made with keep_weights=False and holds no weights")
        return point.rows, point.values

    # ------------------------------------------------------------------------------------------------------ showing
    def __repr__(self) -> str:
        if not self.points:
            return "Path(empty)"
        missed = len(self) - int(self.converged.sum())
        return (
            f"Path({len(self)} λ from {self.lams[0]:.3g} to {self.lams[-1]:.3g}, "
            f"{self.nonzero_rows[0]} to {self.nonzero_rows[-1]} rows, {int(self.iterations.sum())} iterations, "
            f"{self.seconds.sum():.3g} s{f', {missed} not converged' if missed else ''})"
        )

    def _repr_html_(self) -> str:
        lines = [f"<p>{html.escape(text)}</p>" for text in (repr(self), *self.notes)]
        if not self.points:
            return lines[0]
        chosen = np.unique(np.linspace(0, len(self) - 1, min(len(self), 8)).round().astype(int))
        names = [name for name in _SHOWN if np.isfinite(self[name]).any()]
        cells = ["".join(f"<td>{self[name][k]:.4g}</td>" for name in names) for k in chosen]
        head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in names)
        body = "".join(f"<tr>{line}</tr>" for line in cells)
        return "".join(lines) + f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
