"""Rules that choose a λ from the scores of folds: the best mean, or the largest λ within one standard error of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RULES = ("best", "one-se")
LEVEL = 1e-9  # scores that differ by less, relative to the largest, are level: the larger λ wins


@dataclass(frozen=True)
class Chosen:
    """The λ of the best mean score, and the largest whose mean is within one standard error of it.

    means, errors : (n_lams,) of the folds' scores · best, one_se : numbers of λ
    """

    means: np.ndarray
    errors: np.ndarray
    best: int
    one_se: int

    def by(self, rule: str) -> int:
        """Return the number of the λ that a rule of :data:`RULES` chooses."""
        return self.best if rule == "best" else self.one_se


def choose(scores: np.ndarray) -> Chosen:
    """Judge scores (n_lams, n_folds), the largest λ first; ``ValueError`` if no λ has a score on every fold."""
    means = scores.mean(axis=1)
    if not np.isfinite(means).any():
        raise ValueError("no λ has a finite score on every fold; choose another scoring")
    folds = scores.shape[1]
    errors = scores.std(axis=1, ddof=1) / np.sqrt(folds) if folds > 1 else np.zeros(len(means))
    slack = LEVEL * max(1.0, float(np.nanmax(np.abs(means))))
    top = float(np.nanmax(means))
    best = int(np.flatnonzero(means >= top - slack)[0])
    within = int(np.flatnonzero(means >= means[best] - errors[best] - slack)[0])
    return Chosen(means, errors, best, within)
