"""Limits on what a page may send, held before anything is parsed or unpacked.

Bokeh's messages are JSON texts, and its values may hold gzip-compressed arrays: 0.8 MB of them became 490 MB of memory.
The explorer's page sends small JSON objects and nothing else, so everything beyond that ends the connection.
"""

from __future__ import annotations

import json
import logging
import re
from typing import Any

from ..registry import SparsescopeError

MAX_TEXT = 256 * 1024
"""Characters in one fragment of a message (and bytes in what Tornado reads before it hands it over)."""

MAX_DEPTH = 32
"""Objects and lists within each other. The page's deepest message has about ten."""

MAX_PARTS = 20_000
"""Entries of all objects and lists of a message together."""

PACKED = frozenset({"bytes", "ndarray", "typed_array"})
"""Types of Bokeh's values that are unpacked when they are read; the page sends none of them."""

_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"')

logger = logging.getLogger(__name__)


class TooMuch(SparsescopeError, ValueError):
    """A message beyond the limits."""


def check_fragment(fragment: str | bytes) -> None:
    """Raise `TooMuch` for a fragment of a message that is binary, too long, too deep or of too many parts."""
    if not isinstance(fragment, str):
        raise TooMuch("binary data are not taken")
    if len(fragment) > MAX_TEXT:
        raise TooMuch(f"{len(fragment)} characters; at most {MAX_TEXT} are taken")
    # Few brackets are not deep, and a short text has not many parts: nearly all messages.
    if len(fragment) > MAX_PARTS or fragment.count("[") + fragment.count("{") > MAX_DEPTH:
        _check_shape(fragment)
    if any(f'"{name}"' in fragment for name in PACKED) or "\\u" in fragment:
        _check_packed(fragment)


def _check_shape(fragment: str) -> None:
    bare = _TEXTS.sub("0", fragment)
    depth = deepest = 0
    for found in re.finditer(r"[\[\]{}]", bare):
        depth += 1 if found[0] in "[{" else -1
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise TooMuch(f"objects within objects, {deepest} deep; at most {MAX_DEPTH} are taken")
    parts = bare.count(",") + bare.count(":")
    if parts > MAX_PARTS:
        raise TooMuch(f"{parts} entries; at most {MAX_PARTS} are taken")


def _check_packed(fragment: str) -> None:
    try:
        waiting = [json.loads(fragment)]
    except ValueError:
        return  # the protocol's own parser reports the fault
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(kind := value.get("type"), str) and kind in PACKED:
                raise TooMuch(f"packed data ({kind}) are not taken")
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


class LimitedMessages:
    """Mixin for Bokeh's websocket handler: holds the limits, and closes the connection of a page that passes them."""

    connection: Any

    def check_origin(self, origin: str) -> bool:
        """Return True: the gate has judged the Origin of every request before a handler is made."""
        return True

    async def on_message(self, fragment: Any) -> None:
        """Take one fragment of a message."""
        try:
            check_fragment(fragment)
        except TooMuch as error:
            logger.warning("a message was refused: %s", error)
            self.close(1009, "message beyond the limits")  # type: ignore[attr-defined]
            return
        await super().on_message(fragment)  # type: ignore[misc]

    def on_close(self) -> None:
        """Forget a page that has gone, unless a ping that did not reach it has done so before."""
        if getattr(self.connection, "_session", True) is None:
            self.connection = None
        super().on_close()  # type: ignore[misc]


def limit_messages(application: Any) -> None:
    """Make every websocket of a Bokeh application hold the limits."""
    from bokeh.server.views.ws import WSHandler

    found = 0
    for rule in application.wildcard_router.rules:
        if isinstance(rule.target, type) and issubclass(rule.target, WSHandler):
            rule.target = type(f"Limited{rule.target.__name__}", (LimitedMessages, rule.target), {})
            found += 1
    if not found:
        raise RuntimeError("this version of Bokeh has no websocket where one was expected; limits cannot be held")
