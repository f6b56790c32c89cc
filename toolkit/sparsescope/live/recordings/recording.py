"""Recording: a run that plays anywhere, as an object and as one HTML file."""

from __future__ import annotations

import ast
import functools
import html
import re
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from ...problems.base import BaseProblem
from ...registry import datasets, solvers
from ...runs.continuing import ContinuedRun, Point
from ...runs.keeping import write
from ...runs.reference import data_key
from ...runs.result import Result
from ...runs.run import as_solver
from ...runs.session import Session
from ...runs.solving import solve
from ...runs.trace import Trace
from ...version import __version__
from ..assets import RECORDING, esm_text
from ..given import data_and_settings
from .building import LIMIT, build, smallest_that_fits
from .building import Point as LastPoint
from .checking import check, start_of
from .looks import Looks
from .packing import MOST_FILE, BadRecording, array, embedded, extracted
from .past import past_of

FRAME_HEIGHT = 760  # pixels of a recording in a notebook


class Recording:
    """Recorded run: :meth:`save` writes one HTML file that plays it in a browser; a notebook plays it in its cell.

    Made by :func:`sparsescope.record` and :func:`sparsescope.load_recording`.

    Parameters
    ----------
    header
        facts of the problem and the run (JSON).
    block
        the arrays that the header places.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> recording = ss.record(ss.solve(problem, tol=1e-4))
    >>> recording.html().startswith("<!doctype html>")
    True
    """

    def __init__(self, header: dict[str, Any], block: bytes) -> None:
        check(header, block)
        self._header, self._block = header, block
        self.source: Any = None  # data of a run that goes on; None: the data set that the settings name

    @property
    def title(self) -> str:
        """Title of the page."""
        return str(self._header["title"])

    @property
    def settings(self) -> dict[str, Any]:
        """Settings by which an explorer makes the same problem; empty for one that it has no controls for."""
        return {k: v for k, v in self._header["settings"].items() if k != "dataset" or self.source is None}

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The recorded columns by their names, one entry for each event that is kept."""
        return {name: array(self._block, place, name) for name, *place in self._header["run"]["columns"]}

    @property
    def solver(self) -> str:
        """The solver of the run's first segment, as it prints itself."""
        return str(self._header.get("solver", ""))

    def __len__(self) -> int:
        return int(self._header["run"]["count"])

    def __repr__(self) -> str:
        last = self.columns["iteration"]
        where = f" to iteration {int(last[-1])}" if len(last) else ""
        return f"Recording({self.title!r}, {len(self)} events{where}, {len(self._header['pictures'])} pictures of W)"

    @property
    def file_name(self) -> str:
        """Name for the file of the recording, made of its title."""
        return re.sub(r"[^\w.-]+", "-", self.title).strip("-.")[:60] + "-run.html"

    def on(self, X: Any, y: Any = None) -> Recording:
        """Return the same recording with the data that an explorer goes on with, where no registered set holds them.

        Parameters
        ----------
        X
            data matrix (n, d), or a Dataset.
        y
            labels (n,) of a data matrix.

        Returns
        -------
        Recording
            for :func:`sparsescope.explore`.
        """
        other = Recording(self._header, self._block)
        other.source = X if y is None else (X, y)
        return other

    def belongs_to(self, problem: BaseProblem) -> bool:
        """Whether a problem has the data of the recorded run, by their digest.

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        bool
            True if data, targets and weights are the same.
        """
        return self._header.get("data") is not None and self._header["data"] == data_key(problem)

    def weights(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the last weights.

        Returns
        -------
        tuple
            W (d, m), and the intercept (m,) or ``None``.

        Raises
        ------
        BadRecording
            if the recording does not keep them: W was too large, or it was made of a trace alone.
        """
        if self._header.get("start") is None:
            raise BadRecording(
                "this recording does not keep its last weights (W was too large, or it was made of a trace alone), so "
                "no run goes on from it"
            )
        return start_of(self._header, self._block)

    def past(self, problem: Any, solver: Any) -> tuple[Trace, Point]:
        """Return the recorded events as a trace, and the point from which a run goes on.

        Parameters
        ----------
        problem
            a problem with the recorded data.
        solver
            the solver that goes on.

        Returns
        -------
        tuple of Trace and Point
            the trace, in which columns that a recording does not keep are NaN, and the point.

        Raises
        ------
        BadRecording
            if the recording does not keep its last weights, if they have another shape than those of the problem, or
            if its segments or marks are damaged.
        """
        W, b = self.weights()
        if W.shape != (problem.d, problem.m) or (b is None) == bool(problem.intercept):
            raise BadRecording("W or the intercept has another shape here than in the recording")
        return past_of(self._header, self._block, W, b, problem, solver)

    def session(self, problem: BaseProblem, solver: Any = None, **options: Any) -> Session:
        """Return a live session that goes on from where the recording ended, with the recorded past before it.

        Parameters
        ----------
        problem
            a problem with the recorded data; its loss, penalty and λ may be others.
        solver
            as for :class:`sparsescope.Session`.
        **options
            further arguments of :class:`sparsescope.Session`.

        Returns
        -------
        Session
            the session; its reset goes back to the end of the recording.

        Raises
        ------
        BadRecording
            if the data are others, or the recording does not keep its weights.
        """
        if not self.belongs_to(problem):
            raise BadRecording("these data are not those of the recorded run: their digest is another one")
        chosen = as_solver(solver, problem)
        past, point = self.past(problem, chosen)
        return Session(problem, chosen, make_run=functools.partial(ContinuedRun, point=point), past=past, **options)

    def html(self) -> str:
        """Return the page as a text.

        Returns
        -------
        str
            an HTML page that holds everything and asks for nothing.
        """
        return _page(self._header, self._block)

    def save(self, path: str | Path) -> Path:
        """Write the page.

        Parameters
        ----------
        path
            name of the file.

        Returns
        -------
        Path
            the file.
        """
        target = Path(path).expanduser()
        write(target, self.html().encode())
        return target

    def _repr_html_(self) -> str:
        return framed(self.html(), f"<p>{html.escape(self._header['said'])}</p>")


def framed(page: str, still: str) -> str:
    """Return HTML that shows a page in a frame, and what lies under it where frames are taken out."""
    return (
        f'<div style="position: relative; min-height: {FRAME_HEIGHT}px">{still}'
        f'<iframe title="recorded run" sandbox="allow-scripts allow-downloads" srcdoc="{html.escape(page)}" '
        f'style="position: absolute; inset: 0; width: 100%; height: {FRAME_HEIGHT}px; border: 0; background: #f4f6f8">'
        "</iframe></div>"
    )


def _page(header: dict[str, Any], block: bytes) -> str:
    return page_text(header, block, esm_text(RECORDING))


def page_text(header: dict[str, Any], block: bytes, module: str) -> str:
    """Return the page of a recording; ``module`` is the code that plays it."""
    frame = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
    return frame.substitute(
        title=html.escape(header["title"]),
        said=html.escape(header["said"]),
        generator=html.escape(f"sparsescope {__version__}"),
        numbers=embedded(header, block),
        module=module,
    )


def load_recording(path: str | Path) -> Recording:
    """Read a recording from its HTML file. Nothing in the file is run or unpickled.

    Parameters
    ----------
    path
        the file.

    Returns
    -------
    Recording
        the recording.

    Raises
    ------
    BadRecording
        (a ``ValueError``) if the file is no recording, is damaged, or is of a later version; the message says which.

    Examples
    --------
    >>> import tempfile
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = ss.record(ss.solve(problem, tol=1e-4)).save(f"{folder}/run.html")
    ...     recording = ss.load_recording(path)
    >>> "iteration" in recording.columns
    True
    """
    target = Path(path).expanduser()
    size = target.stat().st_size
    if size > MOST_FILE:
        raise BadRecording(f"{target} has {size / 2**20:.0f} MiB; a recording has at most {MOST_FILE >> 20}")
    return Recording(*extracted(target.read_bytes(), str(target)))


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
        return _page(*parts["of"])

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
