"""The worker of a session: a thread that refers to the session only while it works for it.

A session that nobody holds any more is collected, running or not, and its worker ends. Garbage is collected in
whichever thread allocates something, whatever locks that thread holds: what a session's finalizer does takes none.
"""

from __future__ import annotations

import threading
import weakref
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from .turns import TURNS, Turn

NAME = "sparsescope-session"


class Worked(Protocol):
    """Interface of a session that a worker uses."""

    @property
    def ended(self) -> bool:
        """True if nothing is to be done any more."""

    def due(self) -> float:
        """Return the seconds until there is something to do; 0: now."""

    def asked(self) -> bool:
        """Return whether a command waits."""

    def serve(self, turn: Turn) -> None:
        """Do what there is to do, until the turn is over."""


class Wake:
    """Wakes a worker, like an event, but also from a finalizer: the lock of an event cannot be taken twice by a thread,
    the queue here is made for it."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[None] = SimpleQueue()

    def set(self) -> None:
        """Wake the worker now, or let its next wait end at once."""
        if self._calls.empty():  # who finds a call there finds one that is still to be heard
            self._calls.put(None)

    def clear(self) -> None:
        """Forget the calls so far. What they are about is looked at afterwards."""
        with suppress(Empty):
            while True:
                self._calls.get_nowait()

    def wait(self, seconds: float) -> None:
        """Wait until called, for ``seconds`` at most."""
        with suppress(Empty):
            self._calls.get(timeout=seconds)


class Worker:
    """A thread for one session, which begins when it is first needed."""

    def __init__(self) -> None:
        self.turn = TURNS.place()
        self.thread: threading.Thread | None = None
        self._wake = Wake()

    def call(self, session: Worked, urgent: bool = True) -> None:
        """Wake the thread; pictures, which are due all the time, are not urgent."""
        if self.thread is None:
            arguments = (weakref.ref(session), self._wake, self.turn)
            self.thread = threading.Thread(target=_work, args=arguments, name=NAME, daemon=True)
            weakref.finalize(session, _let_go, self._wake, self.turn).atexit = False
            self.thread.start()
        self._wake.set()
        if urgent:
            self.turn.hurry()

    def end(self, timeout: float) -> None:
        """Let the thread end, and wait for it, unless it is the calling one."""
        self.turn.give_up()
        self._wake.set()
        if self.thread is not None and self.thread is not threading.current_thread():
            self.thread.join(timeout)


def _let_go(wake: Wake, turn: Turn) -> None:
    turn.abandon()
    wake.set()


def _work(ref: Any, wake: Wake, turn: Turn) -> None:
    while not turn.given_up:
        wake.clear()
        session = ref()
        if session is None or session.ended:
            return
        wait, asked = session.due(), session.asked()
        del session  # neither while it rests nor in the queue
        if wait > 0:
            wake.wait(wait)
            continue
        try:
            if turn.take(asked):
                _serve(ref(), turn)
        finally:
            turn.give_back()


def _serve(session: Worked | None, turn: Turn) -> None:
    if session is not None:
        session.serve(turn)
