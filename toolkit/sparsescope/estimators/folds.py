"""Cross-validation along a path: scores of every λ on every fold, and the rules that choose one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

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


def require_rule(rule: Any) -> None:
    """``ValueError`` for a rule that is none of :data:`RULES`."""
    if rule not in RULES:
        raise ValueError(f"rule is {rule!r}; allowed: {', '.join(map(repr, RULES))}")


def fold_scores(
    n_jobs: int | None, score: Callable[..., tuple[np.ndarray, int]], arguments: list[tuple[Any, ...]]
) -> np.ndarray:
    """Scores (n_lams, n_folds) of ``score(*arguments)`` for every fold, and a warning where λ were not solved.

    ``score`` returns the scores of one fold, and the number of λ that ended at a limit.
    """
    found = Parallel(n_jobs=n_jobs)(delayed(score)(*given) for given in arguments)
    warn_of_limits(sum(missed for _, missed in found), "in the folds")
    return np.column_stack([scores for scores, _ in found])


def warn_of_limits(missed: int, where: str) -> None:
    """Warn if a number of λ ended before their tolerance."""
    if missed:
        warnings.warn(
            f"{missed} λ {where} ended before the tolerance was reached; allow more iterations (max_iter), a larger "
            "tol, or fewer small λ (ratio)",
            ConvergenceWarning,
            stacklevel=3,
        )
