"""A recording that somebody opens on the page: it comes in pieces, bounded, and is read as a hostile file would be."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from .recordings.packing import BadRecording, extracted
from .recordings.recording import Recording

MOST_BYTES = 4 * 2**20  # of a file; recordings of usual runs have 1.5 MiB at most
MOST_PIECE = 160_000  # characters of a message's piece
LONGEST_NAME = 80

Message = dict[str, Any]


class Opening:
    """Pieces of a file that have come so far."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0

    def _forget(self) -> None:
        self._pieces, self._size = [], 0

    def take(self, message: Message) -> Recording | None:
        """Take a piece; return the recording with the last one.

        Raises
        ------
        BadRecording
            (a ``ValueError``) for a file that is too large, damaged or something else; its pieces are forgotten.
        """
        try:
            if message.get("first") is True:
                self._forget()
            piece = message.get("piece")
            if not isinstance(piece, str) or len(piece) > MOST_PIECE:
                raise BadRecording(f"a piece of a recording is a text of at most {MOST_PIECE} characters")
            self._size += len(piece)
            if self._size * 3 > MOST_BYTES * 4 + 8:
                raise BadRecording(f"the file is larger than {MOST_BYTES >> 20} MiB, which no recording is")
            self._pieces.append(piece)
            if message.get("last") is not True:
                return None
            content = base64.b64decode("".join(self._pieces), validate=True)
            self._forget()
            return Recording(*extracted(content, _name(message.get("name"))))
        except binascii.Error:
            self._forget()
            raise BadRecording("the recording did not arrive as it was sent; open it again") from None
        except BadRecording:
            self._forget()
            raise


def _name(given: Any) -> str:
    """Return the name by which sentences call the file."""
    text = "".join(c for c in given if c.isprintable())[:LONGEST_NAME] if isinstance(given, str) else ""
    return text or "this file"
