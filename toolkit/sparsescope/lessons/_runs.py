"""Problems and measurements that lessons share."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import numpy as np

from .. import datasets, registry
from ..datasets.base import Dataset
from ..problems.prediction import Problem
from ..runs.result import Result
from ..runs.solving import solve

ABOVE = "F above the smallest, relative"  # an axis
LOSS = "multiclass-squared-hinge"
SOME = re.compile(r"(.+):([\d,]+)")  # digits:3,8 are the samples of two classes; C:\mine.npz is a file


@lru_cache(maxsize=8)
def load(name: str, seed: int = 0) -> Dataset:
    """Return a data set; ``digits:3,8`` has the samples of these classes only."""
    some = SOME.fullmatch(name)
    whole, classes = some.groups() if some else (name, "")
    data = datasets.load(whole)
    if seed and not data.own_split:
        data = datasets.load(whole, seed=seed)
    if not classes:
        return data
    wanted = [int(c) for c in classes.split(",")]
    train, test = np.isin(data.y, wanted), np.isin(data.y_test, wanted)
    return datasets.from_arrays(
        data.X[train], np.searchsorted(wanted, data.y[train]),
        X_test=data.X_test[test], y_test=np.searchsorted(wanted, data.y_test[test]), name=name,
    )  # fmt: skip


def at(name: str, ratio: float = 0.1, seed: int = 0, loss: str = LOSS, penalty: Any = "l1/l2") -> Problem:
    """Return a problem without intercept whose λ is a share of λ_max."""
    problem = Problem(load(name, seed), loss=loss, penalty=penalty)
    return problem.with_(lam=ratio * problem.lam_reference)


def fit(problem: Problem, tol: float = 1e-6) -> Result:
    """Return the solution to a relative gap of ``tol``."""
    return solve(problem, "working-set", tol=tol)


def code_of(name: str, loss: str = LOSS, penalty: str = "l1/l2") -> str:
    """Return the lines of a notebook that make :func:`at` at 0.1 λ_max, with the seed of the student."""
    return (
        f'data = ss.datasets.load("{name}", seed=lesson.student % 3)\n'
        f'problem = ss.Problem(data, loss="{loss}", penalty="{penalty}", lam_ratio=0.1)\n'
    )


@lru_cache(maxsize=64)
def optimum(name: str, ratio: float = 0.1, seed: int = 0) -> Result:
    """Return the solution of :func:`at`, certified to ten digits."""
    return fit(at(name, ratio, seed), 1e-10)


def dense(W: Any) -> np.ndarray:
    """Return weights as an array."""
    return np.asarray(W.toarray() if hasattr(W, "toarray") else W)


def rows_used(W: Any) -> np.ndarray:
    """Return which rows are not all zero, (d,)."""
    return np.abs(dense(W)).max(axis=1) > 0


def accuracy_on_test(problem: Problem, W: Any, data: Dataset) -> float:
    """Return the accuracy on the test part, in percent."""
    found = problem.predictor.predict(W, X=data.X_test)
    return 100.0 * float(np.mean(found == data.y_test))


def first(above: np.ndarray, level: float) -> float:
    """Return the iteration at which a run is within ``level``; infinite where it never is."""
    there = above <= level * (1 + 1e-6)  # what stops a run is there, whatever the rounding
    return float(np.argmax(there)) if there.any() else np.inf


def count(iterations: float, most: int) -> str:
    """Return a number of iterations as text."""
    return f"{iterations:.0f}" if np.isfinite(iterations) else f"more than {most}"


def change_text(share: float) -> str:
    """Return a relative change as people write it: +3.2 %."""
    shown = f"{100 * share:+.0f}" if abs(share) >= 1 else f"{100 * share:+.3g}"
    return "0 %" if abs(share) < 1e-6 else f"{shown} %".replace("-", "−")


def level_text(level: float) -> str:
    """Return a power of ten as people write it: 1e-4."""
    return f"{level:.0e}".replace("e-0", "e-")


def power_text(value: float) -> str:
    """Return the power of ten nearest to a number above zero, as people write it: 10²²²."""
    return "10" + f"{np.log10(value):.0f}".translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def title(penalty: str) -> str:
    """Return a penalty's name as people write it."""
    return registry.penalties.title(penalty)
