"""Turbo: for some seconds one page of a shared server has every other turn, and all others share the rest evenly."""

from __future__ import annotations

from typing import Any

from ..runs.turns import TURNS, Turn, Turns

FREE, MINE, TAKEN = "free", "mine", "taken"
REFUSED = "Another page of this server computes at full speed just now; try again in some seconds."


class Turbo:
    """The lease of one page, which its session's worker has; another session of the page takes it over.

    Parameters
    ----------
    turns
        of all workers of the process.
    """

    def __init__(self, turns: Turns = TURNS) -> None:
        self._turns = turns
        self._mine: Turn | None = None

    def take(self, message: dict[str, Any], turn: Turn | None) -> str:
        """Begin (``on``) or end; a sentence if that cannot be."""
        on = message.get("on")
        if not isinstance(on, bool):
            raise ValueError("turbo: on is missing; true or false is needed")
        if not on or turn is None:
            self.end()
        elif not self._turns.lease(turn):
            return REFUSED
        else:
            self._mine = turn
        return ""

    def end(self) -> None:
        """Give the lease back, if there is one."""
        if self._mine is not None:
            self._turns.pass_lease(self._mine, None)
            self._mine = None

    def state(self, turn: Turn, crowded: bool) -> str | None:
        """Return who has the lease: "mine", "taken", "free" on a server with other pages, or ``None`` on another."""
        lessee = self._turns.lessee
        if self._mine is not None and lessee is not self._mine:
            self._mine = None  # the time is over
        if self._mine is not None:
            if turn is not self._mine:
                self._turns.pass_lease(self._mine, turn)
                self._mine = turn
            return MINE
        return TAKEN if lessee is not None else FREE if crowded else None
