"""``ss.watch``: a callback of scikit-learn with a live page, in a notebook cell or served beside a script."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .estimators.fits import Fits
from .estimators.watching import Watch
from .registry import app_pages
from .runs.event import Event

__all__ = ["LiveWatch", "watch"]


class LiveWatch(Watch):
    """Callback of scikit-learn with a live page; made by :func:`watch`.

    As the last expression of a notebook cell it shows the page: F and D, the certified gap and the largest rows of W,
    iteration by iteration. :meth:`serve` opens the same page on a server of this process.

    Parameters
    ----------
    callbacks
        functions of an event, as of :class:`sparsescope.estimators.Watch`.

    Attributes
    ----------
    url
        address of the page while it is served; empty otherwise.

    Examples
    --------
    >>> watch = ss.watch()
    >>> watch.url
    ''
    """

    def __init__(self, callbacks: Iterable[Callable[[Event], Any]] = ()) -> None:
        self.fits = Fits()
        super().__init__([self.fits.see, *callbacks])
        self.url = ""
        self._widget: Any = None
        self._stop: Callable[[], None] | None = None

    # ------------------------------------------------------------------------------------------------- scikit-learn's
    def setup(self, estimator: Any, context: Any) -> None:
        super().setup(estimator, context)
        self.fits.begin()

    def teardown(self, estimator: Any, context: Any) -> None:
        """Tell the page that the fit is over; called by scikit-learn after a fit.

        Parameters
        ----------
        estimator
            the estimator that is fitted.
        context
            its task.
        """
        super().teardown(estimator, context)
        self.fits.end()

    def _open(self, *given: Any) -> None:
        self.fits.begin()  # several fits may stand within one task: the parts of a search
        super()._open(*given)

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("a live watch has a page in this process and cannot be sent to another one: use n_jobs=1")

    # --------------------------------------------------------------------------------------------------------- notebook
    @property
    def widget(self) -> Any:
        """The page as a notebook widget, made once."""
        if self._widget is None:
            from .widgets.pages import page_widget

            self._widget = page_widget(_registered(), self.fits)
        return self._widget

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return self.widget._repr_mimebundle_(**kwargs)

    # ---------------------------------------------------------------------------------------------------------- server
    def serve(self, port: int = 0, show: bool = True) -> LiveWatch:
        """Serve the page from a thread of this process, for this machine only, until :meth:`close`.

        Parameters
        ----------
        port
            0 takes any free port.
        show
            open a browser.

        Returns
        -------
        LiveWatch
            itself; ``url`` is the address.

        Raises
        ------
        OSError
            if the port is taken.
        """
        if self._stop is not None:
            return self
        from .dashboard.server import in_background

        name = _registered()
        self.url, self._stop = in_background({name: self.fits}, port, name, show)
        print(f"Watching at {self.url}")
        return self

    def __enter__(self) -> LiveWatch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the server and the widget. The traces stay. Safe to call twice."""
        stop, self._stop = self._stop, None
        if stop is not None:
            stop()
        self.url = ""
        if self._widget is not None:
            self._widget.close()
            self._widget = None


def _registered() -> str:
    """Give the page its place among the others, and return its name: where nothing is watched it has none."""
    from .app._watching import WatchPage  # it draws, and the callback alone needs nothing that draws

    if WatchPage.name not in app_pages:
        app_pages.add(WatchPage.name, WatchPage)
    return WatchPage.name


def watch(
    callbacks: Iterable[Callable[[Event], Any]] = (), *, serve: bool = False, port: int = 0, show: bool = True
) -> LiveWatch:
    """Make a callback that watches fits of scikit-learn's ``LogisticRegression``, with a live page.

    Parameters
    ----------
    callbacks
        functions of an event, called at every iteration.
    serve
        open a local page at once, which lives until ``close()`` or the end of the process. In a notebook the callback
        itself, as the last expression of a cell, shows the page there.
    port
        of that page; 0 takes any free port.
    show
        open a browser with it.

    Returns
    -------
    LiveWatch
        the callback: ``estimator.set_callbacks(ss.watch()).fit(X, y)`` (scikit-learn 1.9 and later).

    Examples
    --------
    >>> watch = ss.watch()
    >>> len(watch.traces)
    0
    """
    made = LiveWatch(callbacks)
    return made.serve(port, show) if serve else made
