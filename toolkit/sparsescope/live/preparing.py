"""What has to be computed before a problem can be shown: runs in the preparing thread, touches no explorer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import datasets, views  # noqa: F401  (importing the views registers them)
from ..problem import Problem
from ..registry import losses, solvers
from ..registry import views as view_registry
from ..solvers.auto import Auto, choose
from ..views import style
from . import controls
from . import picture as pictures
from . import settings as st

MAX_NAMES = 2000  # more feature names than this are sent when they are needed
# No view of a trace: what the data alone decide, and what they mean for a run of gls. Computed when somebody looks.
SPECTRUM = {"id": "spectrum", "title": "Spectrum of the data", "kind": "spectrum",
            "empty": "The singular values of X say how hard the data are for methods that know no curvature."}
VIEWS = ("convergence", "accuracy", "active-set", "duality", "weights")


@dataclass(frozen=True)
class Prepared:
    """A problem ready to be run, with everything the page wants to know of it."""

    settings: dict[str, Any]
    problem: Problem
    solver: Any
    source: Any  # the Dataset, or the (X, y) that was handed over
    test: tuple[Any, Any] | None
    facts: dict[str, Any]
    reasons: dict[tuple[str, str], str]
    chosen: str  # which solver `auto` chose and why; empty for another solver
    lam_reference: float
    lam_finite: bool
    name_rank: np.ndarray
    notices: list[str]
    fresh: bool  # True: new data or intercept, a new session is needed


def load(settings: Mapping[str, Any]) -> Any:
    """The data set that the settings name, split by their seed."""
    return datasets.load(settings["dataset"], seed=settings["seed"])


def prepare(settings: Mapping[str, Any], source: Any, old: Problem | None, before: str = "") -> Prepared:
    """Make the problem of ``settings`` on ``source`` (a Dataset or a pair (X, y)).

    With ``old``, the problem now shown, the new one is its sibling and shares its data and constants. A loss that does
    not take the labels of new data, and a solver that does not take the problem, are replaced by the first that does,
    and a notice says so. ``before`` is the solver now shown.
    """
    wanted = dict(settings)
    if old is None:
        base, notices = _new_problem(source, wanted)
    else:
        base, notices = old.with_(**{kind: st.make_part(wanted, kind) for kind in ("loss", "penalty")}), []
    solver, more = _fitting_solver(base, wanted)
    notices += more
    if not base.loss.smooth:
        notices += kinks(base, solver, known=old is not None and not old.loss.smooth, before=before)
    reference = float(base.lam_reference)
    if not (math.isfinite(reference) and reference > 0):
        raise ValueError("λ_max is zero: at W = 0 no feature tells the classes apart, so there is nothing to fit")
    problem = base.with_lam(wanted["lam_ratio"] * reference)
    names = problem.feature_names
    return Prepared(
        settings=wanted,
        problem=problem,
        solver=solver,
        source=source,
        test=test_data(source),
        facts=facts(problem, source),
        reasons=controls.impossible(problem, wanted),
        chosen=chosen(problem, solver),
        lam_reference=reference,
        lam_finite=math.isfinite(problem.lam_max),
        name_rank=pictures.name_rank(names, problem.d),
        notices=notices,
        fresh=old is None or problem.m != old.m,  # W has another shape
    )


def kinks(problem: Problem, solver: Any, known: bool, before: str) -> list[str]:
    """What is different for a loss with kinks (unless that is ``known``), and which methods close its gap, where the
    chosen one does not; ``before``: the solver up to now."""
    # Those that are made for some losses alone keep a dual point of them.
    made = [name for name in solvers.names() if (other := solvers.create(name)).only and other.solves(problem) is None]
    said = f"the {problem.loss.title} has kinks: λ_max is only an upper bound"
    if not made or solver.name in made or solver.name == "auto":
        return [] if known else [said]
    if known and solver.name == before:
        return []
    return [f"{said}, and the gap closes only with a method that keeps a dual point (here {' or '.join(made)}); with "
            f"{solver.name} it is true but stays open"]


def _new_problem(source: Any, settings: dict[str, Any]) -> tuple[Problem, list[str]]:
    """The problem on new data, with the chosen loss or (then ``settings`` are changed) one that takes their labels."""
    X, y = source if isinstance(source, tuple) else (source, None)
    plain = Problem(X, y, lam=1.0, intercept=bool(settings["intercept"]), penalty=st.make_part(settings, "penalty"))
    try:
        return plain.with_(loss=st.make_part(settings, "loss")), []
    except ValueError as refused:
        name = str(losses.name_of(plain.loss))
        fresh, _ = st.merge(settings, {"loss": name}, [settings["dataset"]])
        settings.clear()
        settings.update(fresh)
        return plain, [f"{refused}. Using {name}"]


def _fitting_solver(problem: Problem, settings: dict[str, Any]) -> tuple[Any, list[str]]:
    """The chosen solver, or `auto` or the first other that takes the problem (then ``settings`` are changed)."""
    solver = st.make_part(settings, "solver")
    reason = solver.solves(problem)
    if reason is None:
        return solver, []
    for name in sorted(st.PARTS["solver"].names(), key=lambda name: name != "auto"):
        other = st.PARTS["solver"].create(name)
        if other.solves(problem) is None:
            fresh, _ = st.merge(settings, {"solver": name}, [settings["dataset"]])
            notice = f"{settings['solver']} cannot be used here: {reason}. Using {name}"
            settings.clear()
            settings.update(fresh)
            return other, [notice]
    raise ValueError(f"no solver takes {settings['loss']} × {settings['penalty']}; {settings['solver']}: {reason}")


def chosen(problem: Problem, solver: Any) -> str:
    """What `auto` chooses for the problem, and why; empty for another solver."""
    if not isinstance(solver, Auto):
        return ""
    choice, reason = choose(problem)
    return f"chosen here: {solvers.title(choice.name)}. {reason[0].upper()}{reason[1:]}"


def test_data(source: Any) -> tuple[Any, Any] | None:
    """The held-out samples of a data set, if it has any."""
    return None if isinstance(source, tuple) else source.test


def facts(problem: Problem, source: Any) -> dict[str, Any]:
    """The message ``problem`` without its epoch."""
    d, names = problem.d, problem.feature_names
    design = problem.design
    test = test_data(source)
    counts = np.rint(problem.n * problem.class_shares)
    finite = math.isfinite(problem.lam_max)
    return {
        "type": "problem",
        "name": problem.name or "your data",
        "title": getattr(source, "title", "") or problem.name or "your data",
        "description": getattr(source, "description", ""),
        "source": getattr(source, "source", ""),
        "n": problem.n,
        "d": d,
        "m": problem.m,
        "density": design.nnz / max(1, problem.n * d),
        "storage": "sparse" if design.is_sparse else "dense",
        "test_n": 0 if test is None else int(np.shape(test[1])[0]),
        "class_names": [str(c) for c in problem.score_names],  # of the columns of W
        "all_classes": [str(c) for c in problem.class_names],
        "class_sizes": [int(c) for c in counts],
        "multilabel": problem.multilabel,
        "feature_names": [str(s) for s in names] if names is not None and d <= MAX_NAMES else None,
        "named": names is not None,
        "image_shape": list(problem.image_shape) if problem.image_shape is not None else None,
        "objective0": null_objective(problem),
        "lam_max": float(problem.lam_max) if finite else None,
        "lam_max_is_bound": not problem.loss.smooth,
        "lam_reference": float(problem.lam_reference),
        "intercept": problem.intercept,
        "views": specs(problem),
        "palette": {"themes": style.THEMES, "diverging": style.DIVERGING},
    }


def null_objective(problem: Problem) -> float:
    """F at W = 0 (with the best intercept, if there is one): where every run begins."""
    b = problem.null_intercept if problem.intercept else None
    return float(problem.objective(None, b))


def specs(problem: Problem) -> list[dict[str, Any]]:
    """What the page draws: the views of the explorer in the order in which they stand on a narrow page, and the
    spectrum."""
    names = [name for name in VIEWS if name in view_registry]
    return [*(view_registry.create(name).spec(problem) for name in names), SPECTRUM]
