"""References: the certified optimum of a problem, computed once, in the foreground or in a thread."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..pauses import pausing
from ..problems.base import BaseProblem
from .event import Event
from .optima import Reference
from .problem_keys import content_key
from .run import as_problem
from .solving import solve
from .turns import TURNS, Turn

KEPT = 64  # references that are remembered; of the oldest ones the weights go with them
# Limits count processor seconds of the thread that computes: a busy machine delays a reference and does not weaken it.
CLOCK: Callable[[], float] = time.thread_time


class ReferenceJob:
    """A reference that is being computed in a thread; jobs of equal problems are one job.

    Parameters
    ----------
    problem
        the problem.
    tol
        relative gap to reach.
    max_seconds
        processor seconds of the solver after which the bounds reached so far are taken; ``None``: no limit.
    keep
        called with the reference when it is found.
    in_turns
        take turns with the other computations of this process.
    """

    def __init__(
        self,
        problem: BaseProblem,
        tol: float,
        max_seconds: float | None,
        keep: Callable[[Reference], None],
        in_turns: bool = False,
    ) -> None:
        self._cancelled, self._done = threading.Event(), threading.Event()
        self._bounds: tuple[float, float] | None = None
        self._found: Reference | None = None
        self._error: Exception | None = None
        self._turn = TURNS.place() if in_turns else None
        self._computes = False  # whether it holds a turn
        self._thread = threading.Thread(
            target=self._work, args=(problem, tol, max_seconds, keep), daemon=True, name="sparsescope-reference"
        )

    @classmethod
    def started(cls, *args: Any) -> ReferenceJob:
        """Make a job and start its thread.

        Parameters
        ----------
        *args
            as for the class.

        Returns
        -------
        ReferenceJob
            the job.
        """
        job = cls(*args)
        job._thread.start()
        return job

    @classmethod
    def finished(cls, found: Reference) -> ReferenceJob:
        """Make a job that is done.

        Parameters
        ----------
        found
            its reference.

        Returns
        -------
        ReferenceJob
            the job.
        """
        job = object.__new__(cls)
        job._cancelled, job._done, job._found, job._error = threading.Event(), threading.Event(), found, None
        job._bounds = (found.dual, found.objective)
        job._turn, job._computes = None, False
        job._done.set()
        return job

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The bounds (lower, upper) of F* that are known so far; ``None`` before the first."""
        return self._bounds

    def done(self) -> bool:
        """Return whether the job has ended: with a reference, an error, or because it was cancelled.

        Returns
        -------
        bool
            True if it has.
        """
        return self._done.is_set()

    def cancelled(self) -> bool:
        """Return whether :meth:`cancel` was called before the job was done.

        Returns
        -------
        bool
            True if it was.
        """
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """End the job after the step that is under way; what it found so far is not kept."""
        if not self._done.is_set():
            self._cancelled.set()
            if self._turn is not None:
                self._turn.give_up()

    def result(self, timeout: float | None = None) -> Reference:
        """Wait for the reference.

        Parameters
        ----------
        timeout
            seconds to wait; ``None``: without limit.

        Returns
        -------
        Reference
            the reference.

        Raises
        ------
        TimeoutError
            if it took longer than ``timeout`` seconds.
        RuntimeError
            if the job was cancelled.
        """
        if not self._done.wait(timeout):
            raise TimeoutError(f"the reference was not found within {timeout:g} s; wait longer, or cancel the job")
        if self._error is not None:
            raise self._error
        if self._found is None:
            raise RuntimeError("the job was cancelled; ask for the reference again")
        return self._found

    def _work(
        self, problem: BaseProblem, tol: float, max_seconds: float | None, keep: Callable[[Reference], None]
    ) -> None:
        try:
            with pausing(self._pause):
                found = solve_reference(problem, tol, max_seconds, self._watch)
            if not self._cancelled.is_set():
                keep(found)
                self._found = found
        except Exception as error:  # it is raised where the reference is asked for
            self._error = error
        finally:
            if self._turn is not None and self._computes:
                self._turn.give_back()
            self._done.set()

    def _watch(self, event: Event) -> bool:
        if self._turn is not None:  # from the first event on: compiling before it is nobody's turn
            self._await_turn(self._turn)
        if event.gap == event.gap:
            upper = event.dual + event.gap  # with a budget F itself is no bound
            if self._bounds is not None:
                upper = min(upper, self._bounds[1])
            self._bounds = (event.dual, upper)
        return self._cancelled.is_set()

    def _pause(self) -> None:
        if self._turn is not None and self._computes:
            self._turn.rest()

    def _await_turn(self, turn: Turn) -> None:
        if self._computes and turn.over():
            turn.give_back()
            self._computes = False
        if not self._computes:
            turn.take()
            self._computes = True


def solve_reference(
    problem: BaseProblem, tol: float, max_seconds: float | None, watch: Callable[[Event], bool] | None = None
) -> Reference:
    """Compute a reference with ``auto``, without the cache.

    Parameters
    ----------
    problem
        the problem.
    tol
        relative gap to reach.
    max_seconds
        processor seconds of the solver after which the bounds reached so far are taken; ``None``: no limit.
    watch
        called with each event; True ends the run.

    Returns
    -------
    Reference
        the reference.
    """
    found = solve(
        problem,
        "auto",
        tol=tol,
        max_iter=10_000_000,
        max_seconds=max_seconds,
        certify_every=None,
        record=False,
        callbacks=[] if watch is None else [watch],
        clock=CLOCK,
    )
    return Reference.of(found)


@dataclass(frozen=True)
class _Kept:
    """A reference that is remembered, with the tolerance and the limit that it was computed for."""

    tol: float
    max_seconds: float | None
    found: Reference

    def serves(self, tol: float, max_seconds: float | None) -> bool:
        """Return whether another computation to this tolerance, within this limit, would bring nothing new."""
        if self.found.relative_gap <= tol:
            return True
        if self.found.converged or self.max_seconds is None:
            return self.tol <= tol
        return self.tol <= tol and max_seconds is not None and max_seconds <= self.max_seconds


_cache: OrderedDict[str, _Kept] = OrderedDict()  # by content key
_jobs: dict[tuple[str, float, float | None], ReferenceJob] = {}
_lock = threading.Lock()


def reference(
    problem: BaseProblem,
    *,
    tol: float = 1e-9,
    max_seconds: float | None = 60.0,
    background: bool = False,
    in_turns: bool = False,
) -> Any:
    """Find the certified optimum of a problem; it is computed once and remembered by the problem's content.

    Parameters
    ----------
    problem
        a problem that has an optimum (no sequence of models).
    tol
        relative gap to reach.
    max_seconds
        processor seconds of the solver after which the bounds reached so far are taken; ``None``: no limit.
    background
        return a :class:`ReferenceJob` at once instead of waiting.
    in_turns
        take turns with the live sessions and pages of this process, which compute one at a time.

    Returns
    -------
    Reference or ReferenceJob
        the reference, or with ``background`` the job that computes it.

    Raises
    ------
    ValueError
        if the problem has no optimum, or an argument is not allowed.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> found = ss.reference(problem)
    >>> found.gap <= 1e-9 * found.objective
    True
    """
    if not as_problem(problem).proves:
        raise ValueError("a sequence of models has no optimum; compare its predictions instead")
    key = content_key(problem)
    with _lock:
        known = _cache.get(key)
        if known is not None and known.serves(tol, max_seconds):
            _cache.move_to_end(key)
            return ReferenceJob.finished(known.found) if background else known.found
        job = _jobs.get((key, tol, max_seconds))
        if job is None or job.done() or job.cancelled():
            job = ReferenceJob.started(
                problem, tol, max_seconds, lambda found: _keep(key, _Kept(tol, max_seconds, found)), in_turns
            )
            _jobs[key, tol, max_seconds] = job
            for old in [name for name, other in _jobs.items() if other.done()]:
                del _jobs[old]
    return job if background else job.result()


def known(problem: BaseProblem) -> Reference | None:
    """Return the reference of a problem if one is remembered, whatever its tolerance; nothing is computed.

    Parameters
    ----------
    problem
        the problem.

    Returns
    -------
    Reference | None
        the reference, or ``None``.
    """
    with _lock:
        if not _cache:
            return None
    key = content_key(problem)
    with _lock:
        found = _cache.get(key)
    return None if found is None else found.found


def forget() -> None:
    """Forget all references."""
    with _lock:
        _cache.clear()


def _keep(key: str, new: _Kept) -> None:
    with _lock:
        known = _cache.get(key)
        if known is not None and known.found.gap < new.found.gap:
            new = replace(new, found=known.found)
        _cache[key] = new
        _cache.move_to_end(key)
        while len(_cache) > KEPT:
            _cache.popitem(last=False)
