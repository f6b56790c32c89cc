"""Commands of a page between two looks of a busy server: merged by key, bounded in number, shed with a sentence."""

from __future__ import annotations

from typing import Any

MOST = 64  # commands that wait; a person gives a few a second
MOST_KEYS = 100  # settings in one merged message
ONE_OF = frozenset({"run", "pause", "reset", "cancel"})  # pressed twice they do what they do once

Message = dict[str, Any]


class Inbox:
    """Messages that wait to be taken, the oldest first."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self.shed = 0  # messages that were left out since the last :meth:`take`

    def __len__(self) -> int:
        return len(self._messages)

    def put(self, message: Message) -> None:
        """Keep a message: merged with the newest one where the last value of a key is all that counts."""
        last = self._messages[-1] if self._messages else None
        if last is not None and _same_command(last, message):
            self._messages[-1] = _merged(last, message)
        elif len(self._messages) >= MOST:
            self.shed += 1
        else:
            self._messages.append(message)

    def take(self) -> tuple[list[Message], str]:
        """Give all messages away; and a sentence if some were left out, else the empty text."""
        messages, self._messages = self._messages, []
        shed, self.shed = self.shed, 0
        if not shed:
            return messages, ""
        return messages, (
            f"{shed} commands came faster than this server could take them and were left out; the first {MOST} count. "
            "Repeat what is missing."
        )


def _same_command(last: Message, message: Message) -> bool:
    kind = message.get("type")
    if not isinstance(kind, str) or last.get("type") != kind:
        return False
    if kind == "layout":
        return True
    if kind == "do":
        action = message.get("action")
        return isinstance(action, str) and action in ONE_OF and last.get("action") == action
    return (
        kind == "set"
        and _is_plain(last)
        and _is_plain(message)
        and len({*last["changes"], *message["changes"]}) <= MOST_KEYS
    )


def _is_plain(message: Message) -> bool:
    """Return whether every value is one that is judged by itself: a wrong one must not take others with it."""
    changes = message.get("changes")
    return isinstance(changes, dict) and all(
        isinstance(value, str | float | None) or (isinstance(value, int) and abs(value) < 2**63)
        for value in changes.values()
    )


def _merged(last: Message, message: Message) -> Message:
    """The newer message with the keys of the older one, whose ids it carries along."""
    made = dict(message)
    if message["type"] == "set":
        made["changes"] = {**last["changes"], **message["changes"]}
    carried = [*last.get("carried", []), *([last["id"]] if last.get("id") is not None else [])]
    if carried:
        made["carried"] = carried
    return made
