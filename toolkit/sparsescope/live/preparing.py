"""Computations before a problem can be shown: they run in the preparing thread and use no explorer."""

from __future__ import annotations

import json
import math
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import datasets, views  # noqa: F401  (importing the views registers them)
from ..registry import solvers
from ..registry import views as view_registry
from ..solvers.auto import Auto, choose
from ..views import style
from . import kinds
from . import picture as pictures
from . import settings as st

MAX_NAMES = 2000  # more feature names than this are sent when they are needed


@dataclass(frozen=True)
class Prepared:
    """A problem ready to be run, with everything that the page shows of it."""

    settings: dict[str, Any]
    problem: Any
    solver: Any
    source: Any  # the Dataset, or what was handed over: (X, y), or a covariance problem
    test: tuple[Any, Any] | None
    facts: dict[str, Any]
    reasons: dict[tuple[str, str], str]
    chosen: str  # which solver `auto` chose and why; empty for another solver
    lam_reference: float
    lam_finite: bool
    lam_bound: bool  # λ_max is only an upper bound
    name_rank: np.ndarray
    notices: list[str]
    fresh: bool  # True: new data or intercept, or another kind of problem: a new session is needed


def load(settings: Mapping[str, Any]) -> Any:
    """The data set that the settings name, split by their seed."""
    return datasets.load(settings["dataset"], seed=settings["seed"])


def prepare(settings: Mapping[str, Any], source: Any, old: Any, before: str = "") -> Prepared:
    """Make the problem of ``settings`` on ``source`` (a Dataset, a pair (X, y), or a problem that was handed over).

    With ``old``, the problem now shown, the new one is its sibling and shares its data and constants. A loss that does
    not take the labels of new data, and a solver that does not take the problem, are replaced by the first that does,
    with a notice. ``before`` is the solver now shown.
    """
    wanted = dict(settings)
    kind, notices = kinds.settle(wanted, source)
    if old is None:
        base, more = kind.create(source, wanted)
    elif old.kind != kind.name:
        base, more = kind.cross(old, wanted)
    else:
        base, more = kind.sibling(old, wanted), []
    solver, replaced = _fitting_solver(base, wanted)
    notices = [*notices, *more, *replaced, *kind.notices(base, solver, old, before)]
    reference = lam_reference(base, kind)
    problem = base.with_lam(kind.lam(wanted, reference))
    return Prepared(
        settings=wanted,
        problem=problem,
        solver=solver,
        source=source,
        test=kind.test(source),
        facts=facts(problem, source),
        reasons=kind.impossible(problem, wanted) | kinds.limits(source),
        chosen=chosen(problem, solver),
        lam_reference=reference,
        lam_finite=math.isfinite(problem.lam_max),
        lam_bound=kind.bound(problem),
        name_rank=pictures.name_rank(problem.feature_names, problem.d),
        notices=notices,
        fresh=old is None or problem.kind != old.kind or problem.m != old.m,  # W has another shape
    )


def lam_reference(problem: Any, kind: Any) -> float:
    """The unit of the λ slider; ``ValueError`` if there is none."""
    if problem.lam_max == 0.0:
        raise ValueError(kind.flat)
    reference = float(problem.lam_reference)
    if not (math.isfinite(reference) and reference > 0):
        raise ValueError(kind.flat)
    return reference


def _fitting_solver(problem: Any, settings: dict[str, Any]) -> tuple[Any, list[str]]:
    """The chosen solver, or `auto` or the first other that takes the problem (then ``settings`` are changed)."""
    solver = st.make_part(settings, "solver")
    reason = solver.solves(problem)
    if reason is None:
        return solver, []
    for name in sorted(st.PARTS["solver"].names(), key=lambda name: name != "auto"):
        other = st.PARTS["solver"].create(name)
        if other.solves(problem) is None and kinds.of({**settings, "solver": name}).name == problem.kind:
            fresh, _ = st.merge(settings, {"solver": name}, [settings["dataset"]])
            notice = f"{settings['solver']} cannot be used here: {reason}. Using {name}"
            settings.clear()
            settings.update(fresh)
            return other, [notice]
    raise ValueError(f"no solver takes {kinds.of_problem(problem).title(settings)}; {settings['solver']}: {reason}")


def chosen(problem: Any, solver: Any) -> str:
    """Return the solver that `auto` chooses for the problem, with the reason; empty for another solver."""
    if not isinstance(solver, Auto):
        return ""
    choice, reason = choose(problem)
    return f"chosen here: {solvers.title(choice.name)}. {reason[0].upper()}{reason[1:]}"


def facts(problem: Any, source: Any) -> dict[str, Any]:
    """The message ``problem`` without its epoch."""
    d, names, kind = problem.d, problem.feature_names, kinds.of_problem(problem)
    return {
        "type": "problem",
        "kind": kind.name,
        "letters": list(kind.letters),
        "name": problem.name or "your data",
        "title": getattr(source, "title", "") or problem.name or "your data",
        "description": getattr(source, "description", ""),
        "source": getattr(source, "source", ""),
        "n": problem.n,
        "d": d,
        "m": problem.m,
        "class_names": [str(c) for c in problem.score_names],  # of the columns of W
        "feature_names": [str(s) for s in names] if names is not None and d <= MAX_NAMES else None,
        "named": names is not None,
        "image_shape": list(problem.image_shape) if problem.image_shape is not None else None,
        "lam_max": float(problem.lam_max) if math.isfinite(problem.lam_max) else None,
        "lam_max_is_bound": kind.bound(problem),
        "lam_reference": float(problem.lam_reference),
        "intercept": problem.intercept,
        "views": specs(problem),
        "reported": reported(kind.name),
        "palette": {"themes": style.THEMES, "diverging": style.DIVERGING},
        **kind.facts(problem, source),
    }


def reported(kind: str) -> list[dict[str, str]]:
    """Return the columns that solvers of a kind of problem report and the page shows besides the common numbers."""
    columns = {c.name: c for name in solvers if kind in solvers[name].kinds for c in solvers[name].columns if c.status}
    return [{"name": c.name, "status": c.status, "doc": c.doc, "unit": c.unit} for c in columns.values()]


def specs(problem: Any) -> list[dict[str, Any]]:
    """Return the specs that the page draws: the views of its kind, in the order of a narrow page, and the pictures that
    are no view of a trace."""
    kind = kinds.of_problem(problem)
    return [*(spec_of(name, problem) for name in kind.views if name in view_registry), *kind.looks]


def spec_of(name: str, problem: Any) -> dict[str, Any]:
    """Return the spec of a view; one that ends in an error, as a user's may, gives a spec with its traceback."""
    try:
        found: dict[str, Any] = view_registry.create(name).spec(problem)
        found["id"], found["kind"], json.dumps(found, allow_nan=False)
    except Exception as error:
        return {
            "id": name,
            "title": view_registry.title(name),
            "kind": "failed",
            "error": f"The view {name} cannot be described: {type(error).__name__}: {error}",
            "traceback": "".join(traceback.format_exception(error)),
        }
    return found
