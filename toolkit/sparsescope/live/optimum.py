"""F* of the problem on the page, from a reference that is computed in the background."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from ..runs.reference import ReferenceJob, reference
from .jobs import Jobs

TOL = 1e-9  # relative gap of a reference: lines reach down to it
MOST_SECONDS = 30.0  # solver seconds after which its bounds are taken as they are
REST = 0.7  # seconds for which the problem has to stay the same: a slider being dragged starts nothing
_one = threading.Lock()  # references of a process are computed one after the other; pages share its cores


class Optimum:
    """Looks after the reference of a session's problem, and notes it in the session's trace.

    A run that has closed its gap itself is its own reference. A job of a problem that is no longer on the page is
    cancelled, and what it found is dropped; what was noted once stays.

    Parameters
    ----------
    clock : seconds; replaced in tests
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._target: tuple[Any, ...] | None = None
        self._problem: Any = None
        self._since = 0.0
        self._asking = Jobs("sparsescope-ask")  # knowing a problem again means to look at all its data
        self._job: ReferenceJob | None = None
        self._dropped = threading.Event()  # of what is being asked for
        self._made: list[ReferenceJob] = []
        self._busy = False  # whether it is this one's turn
        self._failed = False

    def look(self, session: Any) -> None:
        """Begin, drop or take over a reference; to be called often."""
        problem, solver = session.target
        target = solver.target(problem) if problem.proves and solver.follows_lam else None
        if target != self._target or problem is not self._problem:
            if target != self._target:
                self._drop()
                self._since = self._clock()
            self._target, self._problem = target, problem
        trace = session.trace
        if target is None or not len(trace) or not trace.is_of(target) or trace.optimum() is not None:
            return
        if self._busy:
            self._collect(trace)
        elif self._closed(trace):
            trace.note_optimum(target, trace.lower(), trace.best())
        elif not self._failed and trace["iteration"][-1] > 0 and self._clock() - self._since >= REST:
            self._begin(problem)

    def close(self) -> None:
        """Cancel what is under way."""
        self._drop()

    def _closed(self, trace: Any) -> bool:
        """Return whether the run's own bounds are as near to each other as a reference's would be."""
        width, scale = trace.best() - trace.lower(), max(abs(trace.best()), float(trace.info.get("least_scale", 0.0)))
        return bool(0.0 <= width <= TOL * scale)

    def _begin(self, problem: Any) -> None:
        if _one.acquire(blocking=False):
            self._busy, self._dropped, self._made = True, threading.Event(), []
            dropped, made = self._dropped, self._made

            def ask() -> ReferenceJob:
                job = reference(problem, tol=TOL, max_seconds=MOST_SECONDS, background=True)
                made.append(job)  # first: whoever drops it cancels what is here, or it is cancelled below
                if dropped.is_set():
                    job.cancel()
                return job

            self._asking.start(ask)

    def _collect(self, trace: Any) -> None:
        outcome = self._asking.collect()
        if outcome is not None:
            self._job, self._failed = outcome.value, bool(outcome.error)
        job = self._job
        if self._failed or job is None or not job.done():
            if self._failed:
                self._release()
            return
        assert self._target is not None
        self._release()
        try:
            found = job.result(0.0)
        except (RuntimeError, ValueError, FloatingPointError, MemoryError):
            self._failed = True  # the range shows what is proved; it is not computed again
            return
        if found.dual <= found.objective:
            trace.note_optimum(self._target, found.dual, found.objective)

    def _drop(self) -> None:
        self._dropped.set()
        self._asking.cancel()
        for job in self._made:  # also one that has begun and was not taken over yet
            job.cancel()
        if self._busy:
            self._release()
        self._failed = False

    def _release(self) -> None:
        self._job, self._busy = None, False
        _one.release()
