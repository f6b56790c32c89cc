"""Recording: a run that plays anywhere, as an object and as one HTML file."""

from __future__ import annotations

import functools
import html
import re
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from ...problems.base import BaseProblem
from ...runs.continuing import ContinuedRun, Point
from ...runs.keeping import write
from ...runs.problem_keys import data_key
from ...runs.run import as_solver
from ...runs.session import Session
from ...runs.trace import Trace
from ...version import __version__
from ..assets import RECORDING, esm_text
from .checking import check, start_of
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
        """Return whether a problem has the data of the recorded run, by their digest.

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
        return page_of(self._header, self._block)

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


def page_of(header: dict[str, Any], block: bytes) -> str:
    """Return the page of a recorded run."""
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
