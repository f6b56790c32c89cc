"""A run that goes on from where a recording, a result or a trace ended, if the data are those of that run."""

from __future__ import annotations

import ast
import functools
import math
from typing import Any

import numpy as np

from ... import datasets
from ...problems.prediction import Problem
from ...registry import losses, penalties, problems
from ...runs.continuing import ContinuedRun, Point
from ...runs.problem_keys import data_key
from ...runs.result import Result
from ...runs.trace import Trace
from .making import known, of_run
from .packing import BadRecording
from .recording import Recording

SAME_OBJECTIVE = 1e-6  # relative difference of F at the kept weights from which on the data are other ones


class Past:
    """Past of a run: its events, the point where it stands, and the data with which it goes on.

    Parameters
    ----------
    trace
        the events.
    point
        where it stands.
    problem
        the problem, with the λ of the last event.
    """

    def __init__(self, trace: Trace, point: Point, problem: Any) -> None:
        self.trace, self.point, self.problem = trace, point, problem
        self.source, self.settings = known(problem, str(trace.info.get("solver", "")))
        if self.source is None:
            raise BadRecording("this problem has weights or parts that the explorer's page has no control for")
        self.title = str(getattr(self.source, "title", "") or "a run")
        self._key = data_key(problem)

    def belongs_to(self, problem: Any) -> bool:
        """Return whether a problem has the data of the run, by their digest."""
        return data_key(problem) == self._key

    def recording(self, limit: int) -> Recording:
        """Return the recording that plays the past.

        Parameters
        ----------
        limit
            bytes of its file at most.

        Returns
        -------
        Recording
            the recording.
        """
        end = (self.point.W, self.point.b, self.point.iteration)
        about: dict[str, Any] = {"source": self.source, "settings": self.settings, "title": self.title}
        return of_run(self.trace, self.problem, point=end, limit=limit, **about)


def past_of(what: Result | Trace, problem: Any = None) -> Past:
    """Return what a result or a trace left.

    Parameters
    ----------
    what
        the result (with a trace), or the trace.
    problem
        its problem; ``None``: the data set that the trace names is read, if it is registered.

    Raises
    ------
    BadRecording
        if it cannot go on: no trace, no weights of the last event, no data, or other ones.
    """
    trace = what.trace if isinstance(what, Result) else what
    if trace is None or not len(trace):
        raise BadRecording("this result has no trace: solve with record=True")
    at = [float(trace[name][-1]) for name in ("iteration", "passes", "seconds")]
    W, b = (what.W, what.b) if isinstance(what, Result) else (_last_weights(trace), None)
    problem = _read(trace) if problem is None else problem
    if not problem.proves:
        raise BadRecording("a sequence of models has no point to go on from")
    if isinstance(what, Trace) and problem.intercept:
        raise BadRecording("a trace does not keep the intercept, so no run goes on from it; take the result")
    problem = problem.with_lam(float(trace["lam"][-1]))
    if W.shape != (problem.d, problem.m) or (b is None) == bool(problem.intercept):
        raise BadRecording(f"these data have weights of shape {(problem.d, problem.m)}, and the run's are {W.shape}")
    _check_objective(problem, W, b, float(trace["objective"][-1]))
    return Past(trace, Point(int(at[0]), at[1], at[2], W, b), problem)


def _last_weights(trace: Trace) -> Any:
    kept = trace.weights_at(len(trace) - 1)
    if kept is None or kept[0] != int(trace["iteration"][-1]):
        raise BadRecording("this trace does not keep the weights of its last event; take the result")
    return kept[1]


def _check_objective(problem: Any, W: Any, b: Any, then: float) -> None:
    """Raise ``BadRecording`` unless F at the kept weights is that of the run."""
    weights = W.toarray() if hasattr(W, "toarray") else np.asarray(W)
    now = problem.objective(weights) if b is None else problem.objective(weights, b)
    if not math.isclose(float(now), then, rel_tol=SAME_OBJECTIVE, abs_tol=SAME_OBJECTIVE * problem.least_scale):
        raise BadRecording(
            f"these are not the data of the run: the objective at its weights is {now:.6g} here and was {then:.6g}"
        )


def _read(trace: Trace) -> Any:
    """The problem that a trace describes, on the data set that it names."""
    info = trace.info
    name = str(info.get("dataset", ""))
    if name not in datasets.names():
        raise BadRecording("the data of this run are not here; hand over its problem: ss.explore(result, problem)")
    data = datasets.load(name)
    if not problems[str(info.get("kind", Problem.kind))].samples:
        raise BadRecording("a trace does not say how S was made; hand over its problem: ss.explore(result, problem)")
    parts = {kind: _part(str(info.get(kind, "")), found) for kind, found in (("loss", losses), ("penalty", penalties))}
    return Problem(data, **parts, intercept=bool(info.get("intercept")))


def _plain_name(part: Any) -> str:
    return str(getattr(part, "plain_name", part.__name__))  # compiled parts have a digest behind their names


def _part(text: str, registry: Any) -> Any:
    """The part that prints itself as ``Name(parameter=value, …)``."""
    name = text.partition("(")[0]
    found = next((part for part in map(registry.__getitem__, registry) if _plain_name(part) == name), None)
    try:
        call = ast.parse(text, mode="eval").body
        given = {word.arg: ast.literal_eval(word.value) for word in call.keywords}  # type: ignore[attr-defined]
        if found is None or None in given:
            raise ValueError(text)
        return found(**given)
    except (SyntaxError, ValueError, AttributeError, TypeError) as error:
        raise BadRecording(
            f"{name or 'a part'} of this run is not registered; hand over its problem: ss.explore(result, problem)"
        ) from error


def going_on(recording: Any, problem: Any, solver: Any) -> tuple[dict[str, Any], str]:
    """Return further arguments of a session, and a sentence for the page: whether the run goes on, or why not.

    Parameters
    ----------
    recording
        the recording, or a :class:`Past`.
    problem
        the problem that the page has made of the recording's settings.
    solver
        the solver of the page.
    """
    if isinstance(recording, Past):
        if not recording.belongs_to(problem):
            return {}, "The run begins at zero: these data are not those of the run: their digests differ"
        past, point = recording.trace, recording.point
        options = {"make_run": functools.partial(ContinuedRun, point=point), "past": past}
        return options, f"The run goes on from iteration {point.iteration}, with the past before it."
    if not recording.belongs_to(problem):
        return {}, "The run begins at zero: these data are not those of the recording: their digests differ"
    try:
        past, point = recording.past(problem, solver)
    except BadRecording as error:
        return {}, f"The run begins at zero: {error}"
    options = {"make_run": functools.partial(ContinuedRun, point=point), "past": past}
    return options, f"The run goes on from iteration {point.iteration} of the recording, with the past before it."
