"""Recordings made of problems, sessions, results and traces."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from ...problems.base import BaseProblem
from ...registry import datasets, solvers
from ...runs.result import Result
from ...runs.session import Session
from ...runs.solving import solve
from ...runs.trace import Trace
from ..given import data_and_settings
from .building import LIMIT, build, smallest_that_fits
from .building import Point as LastPoint
from .looks import Looks
from .recording import Recording, page_of


def record(
    what: BaseProblem | Session | Result | Trace,
    path: str | Path | None = None,
    *,
    problem: BaseProblem | None = None,
    title: str = "",
    limit: int = LIMIT,
    **settings: Any,
) -> Recording:
    """Record a run: one HTML file that replays it in a browser, without Python and without a network.

    Parameters
    ----------
    what
        a problem, which is solved now; a session, a result or a trace, whose events are taken as they are.
    path
        name of the file to write; ``None`` writes none.
    problem
        the problem of a result or a trace. Without it the recording has what the trace remembers of it, and no run
        goes on from it.
    title
        of the page; empty: the name of the data.
    limit
        bytes of the file at most: with more, events and pictures of W are thinned.
    **settings
        of a problem that is solved now: arguments of :func:`sparsescope.solve`.

    Returns
    -------
    Recording
        the recording.

    Raises
    ------
    ValueError
        if there are no events, or not even few of them fit the limit.
    TypeError
        for something that is no run.

    Examples
    --------
    >>> import sparsescope as ss
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> recording = ss.record(problem, solver="bcd-ls", max_iter=3, tol=0)
    >>> len(recording)
    4
    """
    test = None
    if isinstance(what, BaseProblem):
        if problem is not None and problem is not what:
            raise ValueError("a problem is solved as it is; leave problem= out")
        problem, what = what, solve(what, **settings)
        test = settings.get("test")
    elif settings:
        raise TypeError(f"{', '.join(settings)}: settings are those of a problem that is solved now")
    if isinstance(what, Session):
        made = of_session(what, title=title, limit=limit)
    else:
        trace, point = _parts(what)
        made = of_run(trace, problem, point=point, title=title, limit=limit, test=test)
    if path is not None:
        made.save(path)
    return made


def of_run(
    trace: Trace,
    problem: Any = None,
    *,
    source: Any = None,
    settings: dict[str, Any] | None = None,
    point: LastPoint | None = None,
    title: str = "",
    limit: int = LIMIT,
    test: Any = None,
    known_looks: Any = None,
) -> Recording:
    """Return the recording of a trace, thinned until its file is within the limit; arguments as for :func:`build`, and
    ``test``: (X, y) held out, ``known_looks``: answers of the page that need not be computed again."""
    if settings is None and problem is not None:
        source, settings = known(problem, str(trace.info.get("solver", "")))
    parts: dict[str, Any] = {}
    shown = Looks(trace, problem, point, test, known_looks)

    def make(plan: tuple[int, int, int, int]) -> str:
        about: dict[str, Any] = {"source": source, "settings": settings, "title": title}
        parts["of"] = build(trace, problem, **about, point=point, plan=plan, looks=shown)
        return page_of(*parts["of"])

    smallest_that_fits(make, limit)
    return Recording(*parts["of"])


def of_session(session: Session, **options: Any) -> Recording:
    """Return the recording of a session as it stands, from any thread; options as for :func:`of_run`."""
    if not len(session.trace):
        raise ValueError("nothing has been recorded yet: the run begins with its first iteration")
    trace, iteration, point = session.standing()
    return of_run(trace, session.problem, point=(point["W"], point["b"], iteration), test=session.test, **options)


def to_html(trace: Trace, path: str | Path, problem: Any = None) -> Path:
    """Write the recording of a trace (:meth:`sparsescope.Trace.to_html`)."""
    return of_run(trace, problem).save(path)


def _parts(what: Any) -> tuple[Trace, LastPoint | None]:
    """Trace and last point of a run."""
    if isinstance(what, Result):
        if what.trace is None:
            raise ValueError("this result has no trace: solve with record=True")
        return what.trace, (what.W, what.b, what.iterations)
    if isinstance(what, Trace):
        return what, None
    raise TypeError(f"a problem, session, result or trace can be recorded, not {type(what).__name__}")


def known(problem: Any, solver: str) -> tuple[Any, dict[str, Any]]:
    """The data and the explorer's settings of a problem; none for one that the page has no controls for."""
    if not problem.samples:
        return problem, {}
    try:
        data, settings = data_and_settings(problem)
    except ValueError:  # weights or own parts: it is played all the same, and no explorer can go on
        return None, {}
    if data.name in datasets:
        settings["dataset"] = data.name
    return data, settings | _solver_settings(solver)


def _solver_settings(text: str) -> dict[str, Any]:
    """The explorer's settings for a solver that prints itself as ``Name(setting=value, …)``; none for one that is not
    registered."""
    try:
        call: Any = ast.parse(text, mode="eval").body
        given = {word.arg: ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError, AttributeError):
        return {}
    for name in solvers:
        if solvers[name].__name__ != text.partition("(")[0]:
            continue
        own = {f.name: given[f.name] for f in solvers.fields(name) if f.name in given and given[f.name] != f.default}
        try:
            same = repr(solvers.create(name, **own)) == text  # FISTA is registered with a line search and without
        except (ValueError, TypeError):
            continue
        if same:
            return {"solver": name, **{f"solver_{key}": value for key, value in own.items()}}
    return {}
