"""The promises of views: they draw an empty trace and filled ones, or say why not."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from typing import Any

from ..runs.run import Run
from ..runs.stopping import Iterations
from ..runs.trace import Recorder, Trace
from .report import Fault
from .solvers import FIRST, small


def filled(count: int) -> tuple[Trace, Any]:
    """The trace of a run of that many iterations, and its problem."""
    problem = small(*FIRST[0], 0)
    recorder = Recorder()
    for _ in Run(problem, "ista", stop=Iterations(count), callbacks=[recorder]):
        pass
    return recorder.trace, problem


def sentences(figure: Any) -> list[str]:
    """The texts that stand in a figure."""
    return [note.text for note in figure.layout.annotations if note.text]


def described(view: Any) -> str:
    """The texts of the class."""
    for name in ("name", "title", "doc", "needs", "empty"):
        if not getattr(view, name, ""):
            raise Fault(f"your class has no {name}")
    return "name, title, doc, needs and empty are there"


def empty(view: Any) -> str:
    """An empty trace gives the sentence of the class."""
    figure = view.figure(Trace(), small(*FIRST[0], 0))
    if view.empty not in sentences(figure):
        raise Fault(f"the figure of an empty trace does not say {view.empty!r}")
    return "says that there is nothing to draw"


def drawn(view: Any) -> str:
    """Filled traces give a figure with lines, or a sentence."""
    for count in (1, 6):
        trace, problem = filled(count)
        before = len(trace)
        for given in (problem, None):
            figure = view.figure(trace, given)
            json.loads(figure.to_json())
            if not len(figure.data) and not sentences(figure):
                raise Fault(f"the figure of a trace with {before} events is blank and does not say why")
        if len(trace) != before:
            raise Fault("your view changes the trace that it draws")
    return "are drawn, with the problem and without"


def spec(view: Any) -> str:
    """The description for the live page is plain JSON."""
    found = view.spec(small(*FIRST[0], 0))
    missing = [key for key in ("id", "title", "kind", "empty") if key not in found]
    if missing:
        raise Fault(f"your spec has no {', '.join(missing)}")
    if json.loads(json.dumps(found, allow_nan=False)) != found:
        raise Fault("your spec is not plain JSON: use lists, dicts, texts, numbers and None")
    return "is plain JSON"


CHECKS: dict[str, Callable[[Any], str]] = {
    "texts": described,
    "empty trace": empty,
    "filled traces": drawn,
    "spec": spec,
}


def checks(view: Any) -> Iterator[tuple[str, Callable[[], str]]]:
    """The checks of a view."""
    for name, one in CHECKS.items():
        yield name, functools.partial(one, view)
