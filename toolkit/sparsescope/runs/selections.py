"""Selections: how often resamples of the samples select each variable at each λ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Selections:
    """Counts of stability selection [1].

    Parameters
    ----------
    lams
        number of λ, the largest first.
    size
        numbers that stand for variables: 0 to size − 1.
    variables
        how many variables there are; ``None``: ``size``.

    References
    ----------
    [1] Meinshausen and Bühlmann, "Stability selection", Journal of the Royal Statistical Society B 72 (2010).
    """

    def __init__(self, lams: int, size: int, variables: int | None = None) -> None:
        self.counts = np.zeros((lams, size), dtype=np.uint16)
        self.halves = 0  # resamples that are counted
        self._unions = np.zeros(lams)
        self._variables = size if variables is None else variables

    def add(self, supports: Sequence[np.ndarray]) -> None:
        """Count one resample: the variables it selects at each λ. Readers in other threads see all of it or nothing."""
        ever = np.zeros(self.counts.shape[1], dtype=bool)
        counts, unions = self.counts.copy(), self._unions.copy()
        for k, support in enumerate(supports):
            counts[k, support] += 1
            ever[support] = True
            unions[k] += ever.sum()
        self.counts, self._unions = counts, unions
        self.halves += 1

    def share(self, k: int) -> np.ndarray:
        """Return the share of the resamples that select each variable at the k-th λ, (size,)."""
        return self.counts[k] / max(self.halves, 1)

    def most_selected(self, k: int) -> np.ndarray:
        """Return the largest share of each variable at the λ number 0 to k, (size,)."""
        return self.counts[: k + 1].max(axis=0) / max(self.halves, 1)

    def mean_union(self, k: int) -> float:
        """Return the mean number of variables that a resample selects at one of the λ number 0 to k."""
        return float(self._unions[k]) / max(self.halves, 1)

    def false_bound(self, k: int, threshold: float) -> float:
        """Return the bound of [1] on the expected number of variables selected without need.

        Variables are called stable if their largest share at the λ number 0 to k is at least ``threshold`` > 1/2. The
        bound is q²/((2π − 1) d) with q = :meth:`mean_union` and d variables; it assumes that those without effect are
        exchangeable and selected no better than by guessing.
        """
        return self.mean_union(k) ** 2 / ((2.0 * threshold - 1.0) * self._variables)


def half(n: int, seed: int, number: int) -> np.ndarray:
    """Return the rows of a random half of n samples, drawn without replacement, ascending."""
    return np.sort(np.random.default_rng([seed, number]).permutation(n)[: n // 2])
