"""Messages of a session: commands and their queue, its status, its pictures, and the inbox in which they wait."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

# Of these only the last one counts: a slider sends many changes, and a button may be pressed many times.
LATEST = frozenset({"open", "change", "speed", "every", "stop", "play", "pause"})


@dataclass(frozen=True)
class Status:
    """State of a session.

    Parameters
    ----------
    mode
        ``idle``, ``compiling``, ``running``, ``paused``, ``finished``, ``error`` or ``closed``.
    message
        a sentence about it.
    error
        traceback of a failed worker.
    iteration
        iterations done.
    rate
        iterations a second of wall time.
    epoch
        number of the current compilation or change.
    generation
        number of the newest command that is taken into account. As long as it is below the session's, a command is
        still waiting and the mode may be about to change.
    """

    mode: str = "idle"
    message: str = ""
    error: str | None = None
    iteration: int = 0
    rate: float = float("nan")
    epoch: int = 0
    generation: int = 0


@dataclass(frozen=True)
class Picture:
    """Newest answer to :meth:`Session.request`.

    Parameters
    ----------
    count
        number of answers so far; 0: none yet.
    iteration
        iteration at which it was made.
    value
        what the function returned.
    """

    count: int = 0
    iteration: float = 0
    value: Any = None


@dataclass(frozen=True)
class Command:
    """One command; ``turn`` is the generation that it made."""

    name: str
    problem: Any = None
    solver: Any = None
    number: Any = None
    rule: Any = None
    text: str | None = None
    play: bool = False  # of a change: whether the run goes on after it
    turn: int = 0


class Commands(deque[Command]):
    """Commands that wait, the oldest first."""

    def put(self, command: Command) -> None:
        """Append a command. It replaces those of its kind that it makes void, and takes over steps not yet begun."""
        if command.name == "reset" and self and self[-1].name == "reset":
            self.pop()
        if command.name == "step" and self and self[-1].name == "step":
            command = replace(command, number=command.number + self.pop().number)
        # As from two sliders that are moved in turn: these do not depend on each other.
        if command.name in LATEST:
            tail = []
            while self and self[-1].name in LATEST:
                last = self.pop()
                if last.name != command.name:
                    tail.append(last)
                elif last.play and not any(later.name == "pause" for later in tail):
                    command = replace(command, play=True)
            self.extend(reversed(tail))
        self.append(command)


class Inbox:
    """Commands and requests that the worker of a session has not obeyed yet; any thread may write to it.

    Parameters
    ----------
    target
        problem and solver as they will be once all commands are obeyed.
    """

    def __init__(self, target: tuple[Any, Any]) -> None:
        self.lock = threading.Lock()  # held while what follows changes
        self.target = target
        self.commands = Commands()
        self.wish: Callable[[Any, Any], Any] | None = None  # function that makes the next picture
        self.generation = 0  # commands given
        self.closed = False

    @property
    def busy(self) -> bool:
        """True if a command or a request waits."""
        return bool(self.commands) or self.wish is not None

    def put(self, command: Command) -> None:
        """Append a command and number it.

        Parameters
        ----------
        command
            the command.

        Raises
        ------
        RuntimeError
            after the session was closed.
        """
        self.require_open()
        with self.lock:
            self.generation += 1
            self.commands.put(replace(command, turn=self.generation))

    def take(self) -> Command | None:
        """Return the oldest command and remove it.

        Returns
        -------
        Command | None
            the command; ``None`` if there is none.
        """
        with self.lock:
            return self.commands.popleft() if self.commands else None

    def take_wish(self) -> Callable[[Any, Any], Any] | None:
        """Return the request for a picture and remove it.

        Returns
        -------
        Callable[[Any, Any], Any] | None
            the function that makes it; ``None`` if there is no request.
        """
        with self.lock:
            wish, self.wish = self.wish, None
            return wish

    def require_open(self) -> None:
        """Refuse to go on after the session was closed.

        Raises
        ------
        RuntimeError
            if it was.
        """
        if self.closed:
            raise RuntimeError("the session is closed")
