"""Choice of the page: by settings, by a problem, by given data (see :mod:`.kind`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..problems.covariance import CovarianceProblem
from ..registry import pages
from . import settings as st
from .kind import Kind
from .setting import PROBLEM


def of(settings: Mapping[str, Any]) -> Kind:
    """The page that settings mean."""
    page: Kind = st.page_of(settings)
    return page


def of_problem(problem: Any) -> Kind:
    """The page of a problem."""
    page: Kind = pages[problem.kind]
    return page


def for_matrices() -> Any:
    """The page that takes data without classes, and covariance problems."""
    return pages[CovarianceProblem.kind]


def starting(data: Any) -> dict[str, Any]:
    """Settings to begin with on data that were handed over, unless others are asked for."""
    if isinstance(data, CovarianceProblem):
        return {"task": for_matrices().task, "diagonal": data.diagonal, "lam_ratio": ratio(data)}
    return {"task": for_matrices().task} if without_classes(data) else {}


def ratio(problem: CovarianceProblem) -> float:
    """λ as a share of λ_max, within what the slider has; the usual share where S is diagonal."""
    if problem.lam_max in (0.0, float("inf")):
        return float(st.LAM_RATIO.default)
    return float(st.LAM_RATIO.read(problem.lam / problem.lam_reference, []))


def without_classes(source: Any) -> str:
    """Return why these data allow no classification; empty if they do."""
    if isinstance(source, CovarianceProblem):
        return "What was handed over is a covariance problem, which has no classes."
    if isinstance(source, tuple) and source[1] is None:
        return "The data were handed over without labels."
    return ""


def settle(settings: dict[str, Any], source: Any) -> tuple[Kind, list[str]]:
    """The kind of problem for settings and data. Where the data do not allow the task, ``settings`` are changed to one
    that they do allow, with a notice."""
    why = without_classes(source)
    if not why or settings["task"] == for_matrices().task:
        return of(settings), []
    settings["task"] = for_matrices().task
    return of(settings), [f"{why} Showing the network of the features"]


def limits(source: Any) -> dict[tuple[str, str], str]:
    """Reasons against settings that these data do not allow: (setting, value), value "" for all of them."""
    why = without_classes(source)
    found = {("task", page.task): why for page in st.pages() if page.task != for_matrices().task} if why else {}
    if isinstance(source, CovarianceProblem):
        of_data = [setting.name for setting in for_matrices().settings if setting.effect == PROBLEM]
        found |= {(key, ""): "The matrix was handed over and is taken as it is." for key in of_data}
    return found
