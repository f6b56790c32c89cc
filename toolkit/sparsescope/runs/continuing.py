"""Going on with a run that ended or was killed: the point that a trace's file keeps, and events that count on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .event import Event
from .run import Run
from .trace import Trace


@dataclass(frozen=True)
class Point:
    """Point where a run stood: iteration, passes and solver seconds, W (d, m) and b (m,) or ``None``."""

    iteration: int
    passes: float
    seconds: float
    W: Any
    b: np.ndarray | None


class Standing:
    """The trace of a run together with its present point, as one file, which ``Checkpoints`` writes.

    As a callback it notes the newest event, so it has to come before the checkpoints.

    Parameters
    ----------
    trace
        the trace that a recorder fills.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._event: Event | None = None

    def __call__(self, event: Event) -> None:
        self._event = event

    def save(self, path: str | Path) -> Path:
        """Write the trace, with the point where the run stands.

        Parameters
        ----------
        path
            the file.

        Returns
        -------
        Path
            the path written.
        """
        event = self._event
        if event is None or event.state is None:
            return self.trace.save(path)
        W, b = event.state.weights(), event.state.intercept()
        kept = {"at": np.array([event.iteration, event.passes, event.seconds])}
        if sp.issparse(W):
            matrix = sp.csr_array(W)
            kept |= {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
            kept["shape"] = np.array(matrix.shape)
        else:
            rows = np.flatnonzero((W != 0).any(axis=1))
            kept |= {"rows": rows, "values": np.ascontiguousarray(W[rows]), "shape": np.array(W.shape)}
        if b is not None:
            kept["b"] = np.asarray(b)
        return self.trace.save(path, {f"point_{name}": value for name, value in kept.items()})


def point_in(arrays: dict[str, np.ndarray]) -> Point | None:
    """Return the point among the arrays of a trace's file.

    Parameters
    ----------
    arrays
        the file's arrays.

    Returns
    -------
    Point or None
        the point; ``None`` where the file has none.

    Raises
    ------
    ValueError
        if its parts do not fit together.
    """
    found = {name[6:]: value for name, value in arrays.items() if name.startswith("point_")}
    if not found:
        return None
    try:
        iteration, passes, seconds = (float(value) for value in found["at"])
        d, m = (int(size) for size in found["shape"])
        if "rows" in found:
            W: Any = np.zeros((d, m))
            W[found["rows"]] = found["values"]
        else:
            W = sp.csr_array((found["data"], found["indices"], found["indptr"]), shape=(d, m))
            W.check_format(full_check=True)
        b = found.get("b")
        finite = np.isfinite(found["values" if "rows" in found else "data"]).all() and (
            b is None or np.isfinite(b).all()
        )
        if not (finite and min(iteration, passes, seconds) >= 0 and (b is None or b.shape == (m,))):
            raise ValueError("its numbers are not those of a run")
    except (KeyError, IndexError, ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"the point that is kept in the file is damaged ({error})") from error
    return Point(int(iteration), passes, seconds, W, b)


def counted_on(observers: list[Callable[[Event], Any]], point: Point) -> list[Callable[[Event], Any]]:
    """Return observers that see a run count on from a point: its first event is that point, which they know already.

    Parameters
    ----------
    observers
        functions of an event.
    point
        where the earlier run stood.

    Returns
    -------
    list
        the functions for the new run.
    """

    def shifted(observer: Callable[[Event], Any]) -> Callable[[Event], Any]:
        def see(event: Event) -> Any:
            if event.iteration == 0:
                return None
            return observer(
                replace(
                    event,
                    iteration=event.iteration + point.iteration,
                    passes=event.passes + point.passes,
                    seconds=event.seconds + point.seconds,
                )
            )

        return see

    return [shifted(observer) for observer in observers]


class ContinuedRun(Run):
    """Run that counts on from a point: iterations, passes and seconds begin with those of the point.

    Parameters
    ----------
    problem, solver, **options
        see :class:`Run`.
    point
        where it begins.
    """

    def __init__(self, problem: Any, solver: Any = None, *, point: Point, **options: Any) -> None:
        super().__init__(problem, solver, W=point.W, b=point.b, **options)
        self._point = point

    def _open(self) -> Event:
        self.warm_up()
        state = self.solver.init(self.problem.natural, *self._start)
        state.iteration, state.passes, self.seconds = self._point.iteration, self._point.passes, self._point.seconds
        self.state, self._opened = state, True
        self._schedule.restart(state.iteration)
        return self.observe(certify_now=True)
