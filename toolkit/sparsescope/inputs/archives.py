"""Arrays from ``.npz`` files that somebody else may have made: sized before they are read, never unpickled."""

from __future__ import annotations

import math
import os
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

LIMIT_VARIABLE = "SPARSESCOPE_MEMORY_GB"
MEMORY_SHARE = 0.25  # of the machine's memory that one file may ask for
FALLBACK_BYTES = 4 * 2**30  # where the machine does not say how much memory it has

# What zipfile, zlib and numpy raise for bytes that are not what they should be.
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    OSError,
    EOFError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    SyntaxError,
    TokenError,
    RuntimeError,
    OverflowError,
    AttributeError,
    MemoryError,
)


_LIMITED: ContextVar[int | None] = ContextVar("sparsescope-memory", default=None)


@contextmanager
def limited_memory(bytes_: int) -> Iterator[None]:
    """Limit the bytes that reading a file in the body may take, whatever the environment allows."""
    token = _LIMITED.set(min(bytes_, memory_limit()))
    try:
        yield
    finally:
        _LIMITED.reset(token)


def memory_limit() -> int:
    """Bytes that one file may ask for: ``SPARSESCOPE_MEMORY_GB``, else a quarter of the machine's memory."""
    if (limited := _LIMITED.get()) is not None:
        return limited
    chosen = os.environ.get(LIMIT_VARIABLE, "").strip()
    if chosen:
        try:
            value = float(chosen)
        except ValueError:
            value = math.nan
        if not 0 < value < math.inf:
            raise ValueError(f"{LIMIT_VARIABLE} is {chosen!r}; a positive number of gigabytes is needed, such as 16")
        return round(value * 2**30)
    try:
        return int(MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return FALLBACK_BYTES


def check_memory(path: Path | str, needed: float, why: str) -> None:
    """Raise ValueError if a file needs more memory than allowed; ``why`` names the reason."""
    limit = memory_limit()
    if needed > limit:
        raise ValueError(
            f"{path} needs {needed / 2**30:.3g} GiB of memory: {why}; at most {limit / 2**30:.3g} GiB "
            f"are given to one file. {_way_out(needed)}"
        )


def _way_out(needed: float) -> str:
    if _LIMITED.get() is not None:
        return "Load it in Python, or take fewer rows or columns"
    return f"Raise the limit with {LIMIT_VARIABLE}={math.ceil(needed / 2**30)}"


def read_arrays(path: Path | str) -> dict[str, np.ndarray]:
    """Read all arrays of an ``.npz`` file.

    Raises
    ------
    FileNotFoundError
        if there is no such file
    ValueError
        if it is no such file, is damaged, holds Python objects, or needs more memory than allowed; nothing is
        unpacked before the sizes of all arrays are known
    """
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise
    except DAMAGE as error:
        raise ValueError(f"{path} is not a readable .npz file ({_words(error)})") from error
    with archive:
        members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
        needed = {member.filename: _announced(archive, member, path) for member in members}
        if needed:
            largest = max(needed, key=lambda name: needed[name])
            check_memory(
                path, sum(needed.values()), f"key {_key(largest)!r} alone for {needed[largest] / 2**30:.3g} GiB"
            )
        return {_key(member.filename): _read(archive, member, path) for member in members}


def _key(filename: str) -> str:
    return filename.removesuffix(".npy")


def _words(error: Exception) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Shape, type and length of the header of an array in a file."""
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"version {version} of the array format is not known")
    shape, _, dtype = read(file)
    if any(k < 0 for k in shape):
        raise ValueError(f"shape {shape} has a negative size")
    return shape, dtype, file.tell()


def _announced(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path | str) -> int:
    """Bytes of an array by its header; ValueError where the archive holds another number."""
    key = _key(member.filename)
    try:
        with archive.open(member) as file:
            shape, dtype, start = _header(file)
    except DAMAGE as error:
        raise ValueError(f"{path}: key {key!r} is damaged ({_words(error)})") from error
    if dtype.hasobject:
        raise ValueError(
            f"{path}: key {key!r} holds Python objects, which are never unpickled; "
            "allowed: numbers and fixed-width text"
        )
    needed = math.prod(shape) * dtype.itemsize
    if needed != member.file_size - start:
        raise ValueError(
            f"{path}: key {key!r} is damaged (its header announces {needed} bytes, the file holds "
            f"{member.file_size - start})"
        )
    return needed


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path | str) -> np.ndarray:
    try:
        with archive.open(member) as file:
            array: np.ndarray = np.lib.format.read_array(file, allow_pickle=False)
            if file.read(1):
                raise ValueError("more bytes than announced")
            check_text(array)
    except DAMAGE as error:
        raise ValueError(f"{path}: key {_key(member.filename)!r} is damaged ({_words(error)})") from error
    return array


def check_text(array: np.ndarray) -> None:
    """Raise ValueError for a text array with numbers that stand for no character: Python makes no text of them."""
    for name in array.dtype.names or ():
        check_text(array[name])
    if array.dtype.kind != "U":
        return
    codes = np.frombuffer(array.tobytes(), np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
    wrong = codes[codes > sys.maxunicode]
    if wrong.size:
        raise ValueError(f"it holds text with the number {wrong[0]}, which is no character")
