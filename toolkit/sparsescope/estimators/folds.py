"""Cross-validation along a path: scores of every λ on every fold, and where the fit on all samples starts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from ..runs.choosing import RULES, choose
from ..runs.path_result import Path

__all__ = ["RULES", "Fold", "choose", "fit_folds", "mean_start", "require_rule", "warn_of_limits"]

MOST_KEPT = 50_000_000  # weights of a fold, over all λ, that are handed back: 400 MB


@dataclass
class Fold:
    """Path of one fold.

    scores : (n_lams,) on the held-out samples · missed : number of λ that ended at a limit · path : ``None`` where its
    weights are sparse, or too many to be handed back
    """

    scores: np.ndarray
    missed: int
    path: Path | None = None

    @classmethod
    def of(cls, found: Path, scores: np.ndarray) -> Fold:
        """Keep of a path what is needed later."""
        kept = [point.values for point in found.points]
        small = not any(sp.issparse(values) for values in kept) and sum(values.size for values in kept) <= MOST_KEPT
        return cls(scores, int((~found.converged).sum()), found if small else None)


def mean_start(problem: Any, folds: list[Fold], k: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the mean of the folds' weights and intercepts at the k-th λ, near the solution on all samples.

    ``None`` where they are not at hand, or a fold lacked a class.
    """
    paths = [fold.path for fold in folds if fold.path is not None]
    if len(paths) < len(folds) or any(found.weights(k).shape != (problem.d, problem.m) for found in paths):
        return None, None
    W: np.ndarray = sum(found.weights(k) for found in paths) / len(paths)
    intercepts = [b for found in paths if (b := found.intercept(k)) is not None]
    return W, np.mean(intercepts, axis=0) if intercepts else None


def require_rule(rule: Any) -> None:
    """``ValueError`` for a rule that is none of :data:`RULES`."""
    if rule not in RULES:
        raise ValueError(f"rule is {rule!r}; allowed: {', '.join(map(repr, RULES))}")


def fit_folds(n_jobs: int | None, fit: Callable[..., Fold], arguments: list[tuple[Any, ...]]) -> list[Fold]:
    """Return ``fit(*arguments)`` of every fold, with a warning where λ were not solved."""
    found: list[Fold] = Parallel(n_jobs=n_jobs)(delayed(fit)(*given) for given in arguments)
    warn_of_limits(sum(fold.missed for fold in found), "in the folds")
    return found


def warn_of_limits(missed: int, where: str) -> None:
    """Warn if a number of λ ended before their tolerance."""
    if missed:
        warnings.warn(
            f"{missed} λ {where} ended before the tolerance was reached; allow more iterations (max_iter), a larger "
            "tol, or fewer small λ (ratio)",
            ConvergenceWarning,
            stacklevel=3,
        )
