"""Base of views: pure functions from a trace (and its problem) to a picture, with two interfaces.

``view.spec(problem)`` describes in JSON what the live page draws; ``view.figure(trace, problem)`` draws a finished
plotly figure for notebooks and documents. Both take names, colours and dashes from :mod:`sparsescope.views.style`.
A view holds its own options and nothing else, reads the trace, and changes nothing.
"""

from __future__ import annotations

import copy
import difflib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import plotly.graph_objects as go

from ..registry import LAST, Field, collect_fields, documented, field

if TYPE_CHECKING:
    from ..problems.prediction import Problem
    from ..runs.trace import Trace

# The three clocks of a run: the option's name -> (trace column, axis title).
X_AXES: dict[str, tuple[str, str]] = {
    "iterations": ("iteration", "iterations"),
    "passes": ("passes", "passes over the data"),
    "seconds": ("seconds", "solver time [s]"),
}


class View(ABC):
    """Base of all views. A subclass names itself, declares its options as fields and implements two methods.

    Class attributes: ``name`` (registry name), ``title``, ``doc`` (one sentence), ``needs`` (what must have been
    recorded) and ``empty`` (text of the picture as long as there is nothing to draw). ``kinds`` are the kinds of
    problems on whose page the explorer shows the view, and ``menu_order`` is its place there and in
    lists. ``compares``: :func:`sparsescope.views.draw` takes several traces.

    Parameters
    ----------
    **options
        values of the options; see ``fields``.

    Raises
    ------
    TypeError
        for an unknown option.
    ValueError
        for a value that is not allowed.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    doc: ClassVar[str]
    needs: ClassVar[str]
    empty: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]] = ("prediction",)
    compares: ClassVar[bool] = False
    menu_order: ClassVar[float] = LAST
    fields: ClassVar[tuple[Field, ...]] = ()

    theme = field("light", choices=("light", "dark"), doc="colours for light or for dark paper")
    height = field(0, 0, 4000, doc="height in pixels; 0 takes one that suits the content")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.fields = collect_fields(cls) + collect_fields(View)
        cls.__doc__ = documented(cls.__doc__, cls.fields)

    def __init__(self, **options: Any) -> None:
        """``options``: values for any of ``fields``. ``TypeError`` names an unknown one, ``ValueError`` a bad value."""
        for declared in self.fields:
            setattr(self, declared.name, declared.default)
        self._set(options)

    def _set(self, options: dict[str, Any]) -> None:
        known = {f.name: f for f in self.fields}
        for key, value in options.items():
            if key not in known:
                near = difflib.get_close_matches(key, list(known), 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise TypeError(f"view {self.name!r} has no option {key!r}{hint} (options: {', '.join(known)})")
            setattr(self, key, known[key].check(value, f"view {self.name!r}"))

    def with_options(self, **options: Any) -> View:
        """Return a copy of this view with some options changed.

        Parameters
        ----------
        **options
            checked as in the constructor.

        Returns
        -------
        View
            the copy.
        """
        view = copy.copy(self)
        view._set(options)
        return view

    def figure(self, trace: Trace, problem: Problem | None = None, **options: Any) -> go.Figure:
        """Draw the trace; with nothing to draw the figure has its axes and a sentence with the reason.

        Parameters
        ----------
        trace
            the trace.
        problem
            the problem, for feature and class names; ``None``: the names in the trace are used.
        **options
            replace the view's options for this figure.

        Returns
        -------
        go.Figure
            a plotly figure.
        """
        return self.with_options(**options)._draw(trace, problem)

    @abstractmethod
    def _draw(self, trace: Trace, problem: Problem | None) -> go.Figure:
        """The figure, with ``self``'s options."""

    @abstractmethod
    def spec(self, problem: Problem) -> dict[str, Any]:
        """Describe what the live page draws, as a JSON-able dict.

        It has ``id``, ``title``, ``kind`` and the keys of that kind:

        - ``"lines"``: ``y`` (a list of ``{column, label, short, colour, dash, axis}``), ``left`` and ``right``
          (axis, or ``None``; ``share`` on the left: values from 0 to 1, shown in percent; ``between``: two columns,
          a value and its lower bound, that the axis is fitted to), ``empty``; and optionally ``bands`` (areas
          between the columns ``low`` and ``high``), ``levels`` (values to compare with, as ``{value, label, short,
          colour}``), ``count`` (the column whose evaluations the page counts), ``x`` (the column that replaces the
          clock), ``choices``, a list of ``{label, y, left}``, with a ``right`` if that is another one, of which the
          page shows one at a time. Besides trace columns there are some that the page derives: ``least_excess`` and
          ``most_excess``, between which ``(F - F*) / |F|`` is proved to lie
          (:func:`sparsescope.views.convergence.excess`), ``known_excess``, the same for a known reference
          (:func:`sparsescope.views.convergence.known_excess`), ``nonzero_percent`` = 100 * nonzero_rows / d,
          ``working_percent``, the same for the solver's working set, ``dual`` = objective - gap, ``100*name``, the
          share ``name`` in percent, ``dual_percent`` = 100 * dual_entries / (m - 1), ``working_entries`` = working_set,
          ``used_entries`` = (nonzero_entries + d) / 2 and ``weights_per_feature`` = nonzero_entries / d.
        - ``"raster"``: the active set over time; ``empty``.
        - ``"matrix"``: the weights, rows by classes; ``sorts``, ``images``, ``empty``.
        - ``"stages"``: coefficients of a sequence of models; as before, and ``parts`` of it that can be shown.
        - ``"theta"``, ``"network"``: an inverse covariance as a matrix (``orders``) and as a graph; ``empty``.

        Parameters
        ----------
        problem
            the problem on the page.

        Returns
        -------
        dict[str, Any]
            the description.
        """

    def __repr__(self) -> str:
        changed = [f"{f.name}={getattr(self, f.name)!r}" for f in self.fields if getattr(self, f.name) != f.default]
        return f"{type(self).__name__}({', '.join(changed)})"
