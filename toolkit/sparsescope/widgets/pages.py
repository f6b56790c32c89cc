"""Every page of the app as a notebook widget."""

from __future__ import annotations

import difflib
import functools
import html
from pathlib import Path
from typing import Any

from .. import datasets, live
from ..app import Page
from ..live.given import data_and_settings
from ..live.recordings.recording import Recording, framed
from ..problems.base import BaseProblem
from ..problems.prediction import Problem
from ..registry import NotAllowed, app_pages
from .base import SHELL, LiveWidget, Message, checked_height
from .explore import explore


def show(page: str, X: Any = None, y: Any = None, *, height: int = 0, **settings: Any) -> LiveWidget | Recording:
    """Show a page of the app in a notebook.

    Parameters
    ----------
    page
        name of the page, such as ``"race"``, ``"path"`` or ``"prox"``; ``"explorer"`` is :func:`explore`.
    X
        data matrix (n, d), a ``Dataset``, the name or path of a data set, or a ``Problem`` with which the page begins;
        for the page ``"lesson"`` a lesson begun with :func:`sparsescope.lesson`, whose answers it shares. ``None``:
        what the settings name.
    y
        labels (n,); needed exactly when ``X`` is a matrix.
    height
        height in pixels of a compact page, such as 480; 0: the whole page.
    **settings
        the page's settings, as its address has them.

    Returns
    -------
    LiveWidget or Recording
        the widget; what :func:`sparsescope.explore` returns for a run whose data are not here.

    Raises
    ------
    ValueError
        for an unknown page, for unknown settings, and for values or data that cannot be used; the message says what is
        allowed.

    Examples
    --------
    >>> ss.show("race", "iris", unit="iterations", budget=100, lane4="none")
    <sparsescope race of Iris flowers: live in JupyterLab; in a browser: sparsescope explore>
    """
    kind: Any = app_pages[page]
    if not (isinstance(kind, type) and issubclass(kind, Page)):
        return explore(X, y, height=height, **settings)
    data, own = kind.handed(X, settings) or _data(kind, X, y)
    return _widget(page)(data, _checked(kind, {**own, **settings}), checked_height(height))


def _data(kind: type[Page], X: Any, y: Any) -> tuple[Any, Message]:
    """Return what a page is handed, and the settings that a problem stands for."""
    if X is None and y is None:
        return None, {}
    known = {f.name for f in kind.fields}
    if "dataset" not in known:
        raise NotAllowed(f"the page {kind.name} shows no data; leave X and y out")
    if isinstance(X, Problem):
        if y is not None:
            raise NotAllowed("a Problem brings its own labels; leave y out")
        data, own = data_and_settings(X)
        return data, {key: value for key, value in own.items() if key in known}
    if isinstance(X, BaseProblem):
        raise NotAllowed(f"the page {kind.name} needs a Problem with labels; this is a {type(X).__name__}")
    if isinstance(X, str | Path) or hasattr(X, "class_names"):
        if y is not None:
            raise NotAllowed("y is only needed with a data matrix; a data set brings its own labels")
        return datasets.load(str(X)) if isinstance(X, str | Path) else X, {}
    if y is None:
        raise NotAllowed(f"labels y are needed with a data matrix X: show({kind.name!r}, X, y)")
    return (X, y), {}


def _checked(kind: type[Page], settings: Message) -> Message:
    """Return the settings with their values in the types of their fields. On a page wrong ones are corrected; in
    Python they raise."""
    known = {f.name: f for f in kind.fields}
    for name in settings:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise NotAllowed(f"the page {kind.name} has no setting {name!r}{hint} Known: {', '.join(known)}")
    return {name: kind.check(known[name], value) for name, value in settings.items()}


class PageWidget(LiveWidget):
    """Made by :func:`show`. The last expression of a notebook cell shows it; ``close()`` ends its work."""

    name = ""

    def __init__(self, data: Any = None, settings: Message | None = None, height: int = 0) -> None:
        self._data = data
        self._settings = dict(settings or {})
        super().__init__(height)

    @property
    def page(self) -> Page | None:
        """The page itself, behind its messages; ``None`` until a view is open."""
        found: Page | None = self._explorer
        return found

    @property
    def settings(self) -> Message:
        """The settings as they are on the page (before a view is open: those it will start with)."""
        if self.page is not None:
            return self.page.settings
        complete: Message = app_pages[self.name].settings_from_query(self._settings)[0]
        return complete

    def _made(self) -> Page:
        made: Page = app_pages[self.name](self._data, self._settings)
        return made

    def _rest(self) -> None:
        if self.page is not None:
            self.page.suspend()

    def _poll(self) -> None:
        if not self._views:
            self._rest()  # a page rests for a moment at a time
        super()._poll()

    def _drawn(self) -> str:
        """Return the page as it is now, as HTML that its own module draws without a kernel."""
        page = self.page
        if page is None or not page.records:
            return ""
        still = f"<p><b>{html.escape(page.title)}</b> {html.escape(page.summary())}</p>"
        return framed(page.recording()["text"], still)

    def _repr_text(self) -> str:
        if text := app_pages[self.name].as_text(self._data, self.settings):
            return str(text)
        if isinstance(self._data, tuple):
            of = f" of your data, {self._data[0].shape[0]} × {self._data[0].shape[1]}"
        else:
            of = f" of {self._data.title}" if hasattr(self._data, "title") else ""
        return f"<sparsescope {self.name}{of}: live in JupyterLab; in a browser: sparsescope explore>"


def page_widget(name: str, data: Any) -> PageWidget:
    """Return the widget of a page that is handed what no setting names.

    Parameters
    ----------
    name
        of a registered page.
    data
        what the page is made with.

    Returns
    -------
    PageWidget
        the widget.
    """
    return _widget(name)(data)


@functools.cache
def _widget(name: str) -> type[PageWidget]:
    """Return the widget of a page: anywidget reads the module from the class."""
    module = live.esm_text(str(getattr(app_pages[name], "script", f"pages/{name}.js"))) + "\n" + SHELL
    made: type[PageWidget] = type(f"{name.title()}Widget", (PageWidget,), {"name": name, "_esm": module})
    return made
