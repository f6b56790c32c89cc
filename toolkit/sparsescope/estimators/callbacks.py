"""scikit-learn's callbacks (version 1.9 and later), and the history that every fit keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..runs.event import Event

    class CallbackSupportMixin:
        """Mixin of scikit-learn."""

        def _init_callback_context(self, **settings: Any) -> Any: ...

    def with_callbacks(method: Any) -> Any:
        """Decorator of scikit-learn."""

else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # an earlier scikit-learn

        class CallbackSupportMixin:
            """Empty base: this scikit-learn has no callbacks."""

        def with_callbacks(method: Any) -> Any:
            """Return the method as it is."""
            return method


COLUMNS = ("iteration", "objective", "relative_gap", "nonzero_rows")
MOST = 256  # entries of a history; beyond it every second one is dropped


class History:
    """An observer that keeps what certified events say, thinned: the table of :attr:`SparseClassifier.history_`."""

    def __init__(self) -> None:
        self._rows: list[list[float]] = []
        self._every, self._seen = 1, 0

    def __call__(self, event: Event) -> None:
        if not event.certified and not event.message:
            return
        if self._seen % self._every == 0 or event.message:
            self._rows.append([float(getattr(event, name)) for name in COLUMNS])
        self._seen += 1
        if len(self._rows) > MOST:
            self._rows, self._every = self._rows[::2], 2 * self._every

    @property
    def table(self) -> np.ndarray:
        """One row an event, with the fields :data:`COLUMNS`."""
        kind = np.dtype([(name, np.float64) for name in COLUMNS])
        return np.array([tuple(row) for row in self._rows], dtype=kind)


class Told:
    """Observer that calls scikit-learn's callbacks for a fit and each of its iterations; True if one requests a stop.

    ``fitted`` gives, from an event, the attributes of an estimator that predicts with the weights of that moment.
    """

    def __init__(self, estimator: Any, data: dict[str, Any], fitted: Callable[[Event], dict[str, Any]]) -> None:
        self._estimator, self._data, self._fitted = estimator, data, fitted
        # Made also without user callbacks: a search over this estimator adds it to its tree of tasks.
        self._context = estimator._init_callback_context(max_subtasks=None)
        self._context.call_on_fit_task_begin(estimator=estimator, **data)
        self._last: Event | None = None

    def __call__(self, event: Event) -> bool:
        self._last = event
        if not self._context._callbacks or event.iteration == 0:
            return False
        task = self._context.subcontext(task_name="iteration")
        task.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return bool(self._tell(task))

    def _tell(self, task: Any) -> Any:
        event = self._last
        made = None if event is None else (lambda: self._fitted(event))
        return task.call_on_fit_task_end(estimator=self._estimator, reconstruction_attributes=made, **self._data)

    def end(self) -> None:
        """Tell that the fit is done."""
        self._tell(self._context)


def told(estimator: Any, data: dict[str, Any], fitted: Callable[[Event], dict[str, Any]]) -> list[Told]:
    """Return the observer for scikit-learn's callbacks in a list, which is empty where scikit-learn has none."""
    return [Told(estimator, data, fitted)] if hasattr(estimator, "_init_callback_context") else []
