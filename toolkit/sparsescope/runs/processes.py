"""Processes for long computations beside a page: they leave the page's process its interpreter.

A :class:`Job` has an object and orders, each a call of one of the object's methods, which are generators. Orders of
all jobs go to a few processes (:data:`HELPERS`), one order of each job in turn; what the generators yield comes back
through :meth:`Job.get`.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import queue
import subprocess
import sys
import threading
import weakref
from collections import deque
from typing import Any

from ..registry import SparsescopeError
from .helper import DO, DONE, FAILED, FOUND, GIVE, read, write

IDLE_SECONDS = 60.0  # after which a process without orders ends: it holds the memory of an interpreter
NAME = "sparsescope-helper"  # of the threads that wait for the processes
THREAD_COUNTS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
NUMBERS = itertools.count(1)  # of jobs
_POOLS: weakref.WeakSet[Helpers] = weakref.WeakSet()


class HelperError(SparsescopeError, RuntimeError):
    """A computation failed in another process; its cause shows the traceback there."""

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.__cause__ = RuntimeError(f"in the other process:\n{detail}") if detail else None


class Helpers:
    """A few processes that work for whoever has orders.

    Parameters
    ----------
    most
        processes at a time; ``None``: one less than there are cores, and at least one.
    idle_seconds
        after which a process without orders ends.
    """

    def __init__(self, most: int | None = None, idle_seconds: float = IDLE_SECONDS) -> None:
        self.most = max((os.cpu_count() or 1) - 1, 1) if most is None else most
        self.idle_seconds = idle_seconds
        self._news = threading.Condition()
        self._jobs: deque[Job] = deque()  # those with orders that nobody works on
        self._threads = self._idle = 0
        _POOLS.add(self)

    @property
    def count(self) -> int:
        """Number of processes, working or idle."""
        return self._threads

    def job(self, given: Any) -> Job | None:
        """Return a job for an object, to be used as a context.

        Parameters
        ----------
        given
            what the orders are calls of.

        Returns
        -------
        Job or None
            ``None`` if the object cannot go to another process, as with parts that were defined in a notebook.
        """
        try:
            message = pickle.dumps(given)
        except (pickle.PicklingError, TypeError, AttributeError):
            return None
        return None if b"__main__" in message else Job(self, message)  # another process has another __main__

    def _offer(self, job: Job) -> None:
        """Take an order of a job; with the lock."""
        if job not in self._jobs:
            self._jobs.append(job)
        if self._idle < sum(len(job._waiting) for job in self._jobs) and self._threads < self.most:
            self._threads += 1
            threading.Thread(target=self._work, daemon=True, name=NAME).start()
        self._news.notify()

    def _take(self) -> tuple[Job, Any] | None:
        """Return the next order, ``None`` after a long time without one."""
        with self._news:
            self._idle += 1
            there = self._news.wait_for(lambda: bool(self._jobs), self.idle_seconds)
            self._idle -= 1
            if not there:
                self._threads -= 1
                return None
            job = self._jobs.popleft()
            order = job._waiting.popleft()
            if job._waiting:
                self._jobs.append(job)
            return job, order

    def _work(self) -> None:
        """Do orders with one process; runs in a thread."""
        child: Child | None = None
        while (taken := self._take()) is not None:
            job, order = taken
            if child is not None and not child.alive:
                child = None
            child = child or Child()
            if job._begin(child):
                child.work(job, order)
            job._end(child)
        if child is not None:
            child.end()


def process_count() -> int:
    """Return the number of processes that work for this one, or wait for orders.

    Returns
    -------
    int
        of all :class:`Helpers`.
    """
    return sum(helpers.count for helpers in _POOLS)


class Job:
    """Orders of one page. Leaving it as a context ends it, and the processes that work on it."""

    def __init__(self, helpers: Helpers, given: bytes) -> None:
        self.given, self.number = given, next(NUMBERS)
        self.left = 0  # orders that have not ended
        self._helpers = helpers
        self._waiting: deque[Any] = deque()
        self._answers: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()
        self._children: set[Child] = set()
        self._cancelled = False

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: Any) -> None:
        self.cancel()

    def put(self, method: str, *arguments: Any) -> None:
        """Order a call of a method of the job's object."""
        with self._helpers._news:
            self.left += 1
            self._waiting.append((method, arguments))
            self._helpers._offer(self)

    def get(self, seconds: float) -> tuple[Any, bool, Any] | None:
        """Wait for what comes next.

        Parameters
        ----------
        seconds
            at most.

        Returns
        -------
        tuple or None
            the arguments of an order, whether it has ended, and what it has found; ``None`` if nothing came.

        Raises
        ------
        ValueError, HelperError
            if an order failed.
        """
        try:
            (_, arguments), kind, *rest = self._answers.get(timeout=seconds)
        except queue.Empty:
            return None
        if kind == FAILED:
            expected, sentence, detail = rest
            raise ValueError(sentence) if expected else HelperError(sentence, detail)
        self.left -= kind == DONE
        return arguments, kind == DONE, rest[0] if rest else None

    def cancel(self) -> None:
        """Forget all orders, and end the processes that work on them. Safe to call twice."""
        with self._helpers._news:
            self._cancelled = True
            self._waiting.clear()
            with contextlib.suppress(ValueError):
                self._helpers._jobs.remove(self)
            for child in self._children:
                child.kill()

    def _begin(self, child: Child) -> bool:
        with self._helpers._news:
            if not self._cancelled:
                self._children.add(child)
            return not self._cancelled

    def _end(self, child: Child) -> None:
        with self._helpers._news:
            self._children.discard(child)


class Child:
    """One process; its methods except :meth:`kill` are called by one thread."""

    def __init__(self) -> None:
        environment = {
            **os.environ,
            **dict.fromkeys(THREAD_COUNTS, "1"),
            "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}.helper"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        self._holds = 0  # the number of the job whose object it has
        self._killed = False

    @property
    def alive(self) -> bool:
        """True if it can take an order."""
        return not self._killed and self._process.poll() is None

    def work(self, job: Job, order: Any) -> None:
        """Do an order of a job, and hand on what comes of it."""
        try:
            self._send(job, order)
            while True:
                answer = pickle.loads(read(self._process.stdout))  # type: ignore[arg-type]
                job._answers.put((order, *answer))
                if answer[0] != FOUND:
                    return
        except (OSError, EOFError):
            self.kill()
            self._process.wait()
            if not job._cancelled:
                job._answers.put((order, FAILED, False, self._epitaph(order), ""))

    def _send(self, job: Job, order: Any) -> None:
        stream: Any = self._process.stdin
        if self._holds != job.number:
            self._holds = job.number
            write(stream, pickle.dumps((GIVE, job.given)))
        write(stream, pickle.dumps((DO, *order)))

    def _epitaph(self, order: Any) -> str:
        what, arguments = order
        number = f" {arguments[0] + 1}" if arguments and isinstance(arguments[0], int) else ""
        return (
            f"the process that worked on {what}{number} ended abruptly (status {self._process.returncode}; killed, or "
            "out of memory?); start again, with less data or fewer parts"
        )

    def kill(self) -> None:
        """End it in the middle of what it does."""
        self._killed = True
        self._process.kill()

    def end(self) -> None:
        """Let it end: it sees that nobody gives orders any more."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait()


HELPERS = Helpers()
