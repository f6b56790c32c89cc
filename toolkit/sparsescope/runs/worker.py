"""The worker of a session: a thread that knows the session only while it works for it.

A session that nobody holds any more is collected, running or not, and its worker ends.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any, Protocol

from .turns import TURNS, Turn

NAME = "sparsescope-session"


class Worked(Protocol):
    """Interface of a session that a worker uses."""

    @property
    def ended(self) -> bool:
        """Whether nothing is to be done any more."""

    def due(self) -> float:
        """Return the seconds until there is something to do; 0: now."""

    def asked(self) -> bool:
        """Return whether a command waits."""

    def serve(self, turn: Turn) -> None:
        """Do what there is to do, until the turn is over."""


class Worker:
    """A thread for one session, which begins when it is first needed."""

    def __init__(self) -> None:
        self.turn = TURNS.place()
        self.thread: threading.Thread | None = None
        self._wake = threading.Event()

    def call(self, session: Worked, urgent: bool = True) -> None:
        """There is something to do; pictures, which are wanted all the time, are not urgent."""
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
        _let_go(self._wake, self.turn)
        if self.thread is not None and self.thread is not threading.current_thread():
            self.thread.join(timeout)


def _let_go(wake: threading.Event, turn: Turn) -> None:
    turn.give_up()
    wake.set()


def _work(ref: Any, wake: threading.Event, turn: Turn) -> None:
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
