"""Messages on their way to pages, encoded once, however many pages they go to."""

from __future__ import annotations

import functools
import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

ALIGNED = 8

Message = dict[str, Any]


def packed(header: str, block: bytes) -> bytes:
    """Return a message with a block of arrays.

    Parameters
    ----------
    header : str
        JSON
    block : bytes
        its arrays

    Returns
    -------
    bytes
        length of the header, header, block
    """
    text = header.encode()
    text += b" " * (-(4 + len(text)) % ALIGNED)
    return struct.pack("<I", len(text)) + text + block


class Parcel:
    """One message: a header and arrays.

    Parameters
    ----------
    header : dict
        JSON without NaN; not to be changed any more
    buffers : sequence of bytes
        arrays, one behind the other
    """

    def __init__(self, header: Message, buffers: Sequence[bytes] | None = None) -> None:
        self.header = header
        self._buffers = buffers

    @property
    def type(self) -> str:
        """Type of the message."""
        return str(self.header["type"])

    @functools.cached_property
    def text(self) -> str:
        """The header as JSON.

        As one text: Bokeh would take a header apart into some hundred objects, which cost more than all else.

        Raises
        ------
        TypeError, ValueError
            if the header is no JSON.
        """
        return json.dumps(self.header, ensure_ascii=False, allow_nan=False, default=_number)

    @functools.cached_property
    def block(self) -> bytes | None:
        """The arrays; None without any."""
        return b"".join(self._buffers) if self._buffers else None

    @functools.cached_property
    def packed(self) -> bytes | str:
        """The message on a websocket of :mod:`~sparsescope.dashboard.wire`: text, or bytes where there are arrays."""
        return self.text if self.block is None else packed(self.text, self.block)


def _number(value: Any) -> Any:
    """One of numpy's numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a message holds {type(value).__name__}, which is no JSON")
