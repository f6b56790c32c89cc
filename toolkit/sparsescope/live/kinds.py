"""The kinds of problems that the explorer shows, and which one is meant (see :mod:`.kind`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..problems.covariance import CovarianceProblem
from . import settings as st
from .covariances import Covariances
from .kind import Kind
from .predictions import Predictions
from .sequences import Sequences

KINDS: dict[str, Kind] = {kind.name: kind for kind in (Predictions(), Sequences(), Covariances())}


def of(settings: Mapping[str, Any]) -> Kind:
    """The kind of problem that settings mean."""
    return next(kind for kind in KINDS.values() if kind.meant(settings))


def of_problem(problem: Any) -> Kind:
    """The kind of a problem."""
    return KINDS[problem.kind]


def starting(data: Any) -> dict[str, Any]:
    """Settings to begin with on data that were handed over, unless others are asked for."""
    if isinstance(data, CovarianceProblem):
        return {"task": Covariances.task, "diagonal": data.diagonal, "lam_ratio": ratio(data)}
    return {"task": Covariances.task} if without_classes(data) else {}


def ratio(problem: CovarianceProblem) -> float:
    """λ as a share of λ_max, within what the slider has; the usual share where S is diagonal."""
    if problem.lam_max in (0.0, float("inf")):
        return float(st.PLAIN["lam_ratio"])
    return min(max(problem.lam / problem.lam_reference, st.LAM_LOW), st.LAM_HIGH)


def without_classes(source: Any) -> str:
    """Why nothing can be classified with these data, in words; empty if it can."""
    if isinstance(source, CovarianceProblem):
        return "What was handed over is a covariance problem, which has no classes."
    if isinstance(source, tuple) and source[1] is None:
        return "The data were handed over without labels."
    return ""


def settle(settings: dict[str, Any], source: Any) -> tuple[Kind, list[str]]:
    """The kind of problem for settings and data. Where the data do not allow the task, ``settings`` are changed to one
    that they do allow, and a notice says so."""
    why = without_classes(source)
    if not why or settings["task"] == Covariances.task:
        return of(settings), []
    settings["task"] = Covariances.task
    return of(settings), [f"{why} Showing the network of the features"]


def limits(source: Any) -> dict[tuple[str, str], str]:
    """Reasons in words against settings that these data have no use for: (setting, value), value "" for all of them."""
    why = without_classes(source)
    found = {("task", "classes"): why} if why else {}
    if isinstance(source, CovarianceProblem):
        found |= {(key, ""): "The matrix was handed over and is taken as it is." for key in Covariances.fresh}
    return found
