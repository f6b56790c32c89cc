"""The explorer as a notebook widget: the dashboard's page module and `Explorer`, carried by anywidget."""

from __future__ import annotations

import functools
import warnings
from pathlib import Path
from typing import Any

from .. import datasets, live
from ..live.given import data_and_settings
from ..live.recordings.making import of_session, record
from ..live.recordings.packing import BadRecording
from ..live.recordings.recording import Recording, framed
from ..live.recordings.resuming import Past, past_of
from ..problems.base import BaseProblem
from ..problems.prediction import Problem
from ..runs.result import Result
from ..runs.trace import Trace
from .base import SHELL, LiveWidget, Message, checked_height
from .still import last_picture

SAVED_BYTES = 700_000  # of the recording in a saved notebook
PART_PREFIXES = ("loss_", "penalty_", "solver_")


def explore(X: Any = None, y: Any = None, *, height: int = 0, **settings: Any) -> ExplorerWidget | Recording:
    """Show a live explorer of a data set in a notebook.

    Parameters
    ----------
    X
        data matrix (n, d) (array or sparse matrix), a ``Dataset``, the name or path of a data set, a ``Problem`` or a
        ``SequenceProblem``, with which the page begins, a ``CovarianceProblem``, whose network is shown, or a
        ``Recording``, from whose end the run goes on; or a ``Result`` or ``Trace``, whose events are the past of the
        page and which goes on where it ended. ``None``: the default data set, and a choice of all of them.
    y
        labels (n,); needed exactly when ``X`` is a matrix, and not for the network of its features. Of a result or a
        trace its problem, needed where no registered data set has the name that the trace gives.
    height
        height in pixels of a compact page: λ, one chart and W, such as 480; 0: the whole page.
    **settings
        initial values of the page's controls: ``task`` ("classes", or "covariance" for the network of the features,
        with ``features``, ``correlation``, ``diagonal`` and ``order``), ``loss``, ``penalty``, ``solver`` (registry
        names), ``lam_ratio`` (λ/λ_max, from 1e-4 to 1), ``intercept``, ``speed`` (iterations a second, or "max"),
        ``x`` ("iterations", "passes", "seconds"), and parameters of the chosen parts such as ``penalty_rho``,
        ``loss_margin``, ``solver_selection``.

    Returns
    -------
    ExplorerWidget or Recording
        the widget; of a result or a trace whose data are not here, with a warning, the recording that plays it.

    Raises
    ------
    ValueError
        for data or settings that cannot be used; the message says which and what is allowed.

    Examples
    --------
    >>> widget = ss.explore("iris", lam_ratio=0.2)  # the last expression of a cell shows it
    >>> widget.settings["lam_ratio"]
    0.2
    >>> widget.close()
    """
    if isinstance(X, Recording):
        if y is not None:
            raise ValueError("a recording's own data are handed over with recording.on(X, y)")
        return ExplorerWidget(X, _checked(settings), height)
    if isinstance(X, Result | Trace):
        return _past(X, y, _checked(settings), checked_height(height))
    return ExplorerWidget(_data(X, y, settings.get("task")), _checked(settings), checked_height(height))


def _past(run: Result | Trace, problem: Any, settings: Message, height: int) -> ExplorerWidget | Recording:
    """The explorer of a run that goes on; where it cannot, its recording."""
    if problem is not None and not isinstance(problem, BaseProblem):
        raise ValueError(f"a {type(run).__name__} goes on with its problem: ss.explore(result, problem)")
    try:
        return ExplorerWidget(past_of(run, problem), settings, height)
    except BadRecording as error:
        if problem is not None or settings:
            raise
        warnings.warn(f"the run is played and does not go on: {error}", stacklevel=3)
        return record(run)


def _data(X: Any, y: Any, task: Any = None) -> Any:
    if isinstance(X, BaseProblem):
        return _problem(X, y, task)
    if X is None or isinstance(X, str | Path) or hasattr(X, "class_names"):
        if y is not None:
            raise ValueError("y is only needed with a data matrix; a data set brings its own labels")
        return datasets.load(str(X)) if isinstance(X, str | Path) else X
    if y is None and task != "covariance":
        raise ValueError(
            "labels y are needed with a data matrix X: explore(X, y); without them there is the network "
            'of the features: explore(X, task="covariance")'
        )
    return X, y


def _problem(problem: BaseProblem, y: Any, task: Any) -> BaseProblem:
    if isinstance(problem, Problem):
        if y is not None:
            raise ValueError(f"a {type(problem).__name__} brings its own labels; leave y out")
        data_and_settings(problem)  # raises what the page cannot do, here and not in a view
        return problem
    if y is not None or task not in (None, "covariance"):
        raise ValueError("a covariance problem has no classes: neither y nor another task goes with it")
    return problem


def _checked(settings: Message) -> Message:
    """Settings with their keys as the explorer names them. On a page wrong ones are corrected; in Python they raise."""
    named = {}
    for key, value in settings.items():
        prefix = next((prefix for prefix in PART_PREFIXES if key.startswith(prefix)), None)
        named[key.replace("_", ".", 1) if prefix else key] = value
    _, corrections = live.Explorer.settings_from_query({key: str(value) for key, value in named.items()})
    if corrections:
        raise ValueError("; ".join(corrections))
    return named


class ExplorerWidget(LiveWidget):
    """Made by :func:`explore`. The last expression of a notebook cell shows it; `close()` ends its worker.

    The explorer is built when a view is ready, and everything that touches it runs on the event loop that
    handles the widget's messages (JupyterLab may give widgets their own loop, so that they live while a cell runs).
    """

    _esm = live.esm_text() + "\n" + SHELL

    def __init__(self, data: Any = None, settings: Message | None = None, height: int = 0) -> None:
        self._data = data
        self._settings = dict(settings or {})
        super().__init__(height)

    @property
    def settings(self) -> Message:
        """The settings as they are on the page (before a view is open: those it will start with)."""
        return dict(self._settings) if self._explorer is None else dict(self._explorer.settings)

    @property
    def session(self) -> Any:
        """The running `Session`, whose `.trace` holds all that is shown; None until a view has loaded the data."""
        return None if self._explorer is None else self._explorer.session

    def _made(self) -> Any:
        return live.Explorer(self._data, self._settings, references=True)

    def _rest(self) -> None:
        if self.session is not None:
            self.session.pause()

    def _repr_text(self) -> str:
        if self._data is None:
            what = "all data sets"
        elif isinstance(self._data, tuple):
            what = f"your data, {self._data[0].shape[0]} × {self._data[0].shape[1]}"
        elif isinstance(self._data, BaseProblem | Recording):
            what = repr(self._data)
        else:
            what = self._data.title
        return f"<sparsescope explorer of {what}: live in JupyterLab; in a browser: sparsescope explore>"

    def _drawn(self) -> str:
        """Return the present picture of the page as HTML without a kernel: a recording that plays where frames may run,
        and a drawing where they are taken out. Before the first event that of the given past; empty without one."""
        session = self.session
        if session is None or not len(session.trace):
            return self._past_drawn
        still = last_picture(session.trace, session.problem, session.solver.name)
        return framed(of_session(session, limit=SAVED_BYTES).html(), still)

    @functools.cached_property
    def _past_drawn(self) -> str:
        """The same of the past with which the page begins; empty without one."""
        given = self._data
        if isinstance(given, Recording):
            return given._repr_html_()
        if not isinstance(given, Past):
            return ""
        still = last_picture(given.trace, given.problem, str(given.settings.get("solver", "")))
        return framed(given.recording(SAVED_BYTES).html(), still)
