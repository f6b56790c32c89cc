"""Messages of a session: commands and their queue, its status, its pictures."""

from __future__ import annotations

from collections import deque
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
            self.extend(reversed(tail))
        self.append(command)
