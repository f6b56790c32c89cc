"""Cross-validation along a path: scores of every λ on every fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from ..runs.choosing import RULES, choose

__all__ = ["RULES", "choose", "fold_scores", "require_rule", "warn_of_limits"]


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
