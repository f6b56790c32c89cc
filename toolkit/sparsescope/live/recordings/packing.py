"""The file format of recordings (``recordings/format.md``): a JSON header and one block of arrays inside an HTML page.

Whatever the bytes of a file are, reading ends with a recording or with a sentence: every size is checked before
anything of that size is made, nothing is unpickled, and nothing in a file is run.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import zlib
from typing import Any

import numpy as np

from ...registry import SparsescopeError

FORMAT = 1
KIND = "sparsescope recording"
MOST_FILE = 32 * 2**20  # bytes of a file that is read at all
MOST_HEADER = 8 * 2**20  # characters of its header
MOST_BYTES = 64 * 2**20  # of the unpacked block
MOST_DEPTH = 16  # objects and lists within each other
TYPES = ("float64", "float32", "int32", "int8")  # which the page can read
HEADER_ID, BLOCK_ID = "sparsescope-recording", "sparsescope-arrays"
_PART = '<script type="{kind}" id="{name}">'
HEADER_MARK = _PART.format(kind="application/json", name=HEADER_ID)
BLOCK_MARK = _PART.format(kind="text/plain", name=BLOCK_ID)
END = "</script>"


class BadRecording(SparsescopeError, ValueError):
    """A file that is no recording, is damaged, or is too large to be one."""


def embedded(header: dict[str, Any], block: bytes) -> str:
    """Return header and block as the two elements of a page that hold them.

    Nothing in the header can end its element: ``<`` is written as an escape.
    """
    text = json.dumps(header, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    safe = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    packed = base64.b64encode(zlib.compress(block, 9)).decode()
    return f"{HEADER_MARK}{safe}{END}\n{BLOCK_MARK}{packed}{END}\n"


def extracted(content: bytes, name: str) -> tuple[dict[str, Any], bytes]:
    """Return header and block of a file.

    Parameters
    ----------
    content
        the bytes of the file.
    name
        what messages call it.

    Raises
    ------
    BadRecording
        with a sentence that says what is wrong.
    """
    if len(content) > MOST_FILE:
        raise BadRecording(f"{name} has {len(content) / 2**20:.0f} MiB; a recording has at most {MOST_FILE >> 20}")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRecording(f"{name} is not a recording: it is no UTF-8 text") from error
    header = _header(_part(text, HEADER_MARK, name, MOST_HEADER), name)
    if header.get("kind") != KIND:
        raise BadRecording(f"{name} is not a recording of sparsescope")
    version = header.get("format")
    if type(version) is not int or not 1 <= version <= FORMAT:
        raise BadRecording(f"{name}: format {str(version)[:20]} is unknown; this version reads up to {FORMAT}")
    return header, _block(_part(text, BLOCK_MARK, name, MOST_FILE), header.get("bytes"), name)


def _part(text: str, mark: str, name: str, most: int) -> str:
    start = text.find(mark)
    if start < 0:
        raise BadRecording(f"{name} is not a recording of sparsescope: it has no element for its numbers")
    start += len(mark)
    end = text.find(END, start)
    if end < 0 or end - start > most:
        raise BadRecording(f"{name} is damaged: an element does not end, or is too long")
    return text[start:end]


def _header(text: str, name: str) -> dict[str, Any]:
    depth = deepest = 0
    for found in re.finditer(r"[\[\]{}]", re.sub(r'"(?:[^"\\]|\\.)*"', "0", text)):
        depth += 1 if found[0] in "[{" else -1
        deepest = max(deepest, depth)
    if deepest > MOST_DEPTH:
        raise BadRecording(f"{name} is damaged: its header nests {deepest} deep; at most {MOST_DEPTH} are read")
    try:
        header = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadRecording(f"{name} is damaged: its header is no JSON ({str(error)[:120]})") from error
    if not isinstance(header, dict):
        raise BadRecording(f"{name} is damaged: its header is no JSON object")
    return header


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def _block(packed: str, size: Any, name: str) -> bytes:
    if type(size) is not int or not 0 <= size <= MOST_BYTES:
        raise BadRecording(f"{name} announces {str(size)[:20]} bytes of numbers; 0 to {MOST_BYTES} are read")
    unpacker = zlib.decompressobj()
    try:
        block = unpacker.decompress(base64.b64decode(packed, validate=True), size + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise BadRecording(f"{name} is damaged: its numbers cannot be unpacked ({str(error)[:120]})") from error
    if len(block) != size or not unpacker.eof:
        raise BadRecording(f"{name} is damaged: it does not hold the {size} bytes of numbers that it announces")
    return block


def array(block: bytes, place: Any, name: str, length: int | None = None) -> np.ndarray:
    """Return the array that [type, offset, length] means, of this length if one is given; a read-only view.

    Raises
    ------
    BadRecording
        for a place outside the block or of another type.
    """
    if not (isinstance(place, list) and len(place) == 3 and place[0] in TYPES):
        raise BadRecording(f"a recording places {name} by type ({', '.join(TYPES)}), offset and length")
    kind, offset, size = place
    numbers = type(offset) is int and type(size) is int and offset >= 0 and size >= 0 and offset % 8 == 0
    if not numbers or offset + size * np.dtype(kind).itemsize > len(block):
        raise BadRecording(f"a recording is damaged: {name} lies outside its numbers")
    if length is not None and size != length:
        raise BadRecording(f"a recording is damaged: {name} has {size} entries where {length} are needed")
    return np.frombuffer(block, dtype=kind, count=size, offset=offset)


def finite(value: Any) -> float | None:
    """Return a JSON number, ``None`` for one that is not known."""
    number = float(value)
    return number if math.isfinite(number) else None
