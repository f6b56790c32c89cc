"""Files of compiled kernels that survive faults: one file for each combination of types, checked when it is read.

A file is written under another name and put in its place in one step, so no reader ever sees half of one, and nothing
has to be locked: two processes that compile the same kernel write the same thing one after the other. A file is read
only if its owner is this user (or root) and its checksum is right, because reading it means unpickling it. Whatever is
wrong with a file, the kernel is compiled again and the file replaced; where nothing can be written, kernels live as
long as the process.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import pickle
import stat
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..registry import SparsescopeError

MAGIC = b"sparsescope kernel 2\n"
SUFFIX = ".nbc"
ABANDONED_SECONDS = 3600.0  # half-written files of processes that were killed are removed after this time
UNUSED_SECONDS = 30 * 86400.0  # kernels that nobody read for so long are removed
NOTED_SECONDS = 86400.0  # the time of a kernel that is read is updated at most this often

logger = logging.getLogger(__name__)
_told: set[str] = set()  # what was logged already: one line each


# ------------------------------------------------------------------------------------------------------ whom to trust
def is_trusted(found: os.stat_result) -> bool:
    """Return whether a file or folder belongs to this user or to root, and nobody else can write to it."""
    if not hasattr(os, "getuid"):
        return True  # Windows: the user's folders are private, and modes say nothing
    return found.st_uid in (os.getuid(), 0) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def usable(folder: Path) -> bool:
    """Make a folder for this user alone if it is not there; whether it can be trusted.

    Raises ``OSError`` if it cannot be made. A folder of ours that others could write to is closed to them: what they
    may have put there stays theirs, and is refused file by file.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode):
        found = folder.stat()
    if not is_trusted(found) and hasattr(os, "getuid") and found.st_uid == os.getuid():
        folder.chmod(0o700)
        found = folder.stat()
    return is_trusted(found)


def private(folder: Path) -> bool:
    """Make a folder in a place where everybody may write; whether it is really ours alone (no link, mode 0700)."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or not is_trusted(found):
        return False
    if not hasattr(os, "getuid"):
        return True
    if found.st_uid != os.getuid():
        return False
    folder.chmod(0o700)
    return True


def remove_abandoned(folder: Path) -> None:
    """Remove what killed processes left half-written long ago, and kernels of sources that are gone."""
    for pattern, seconds in (("*.tmp", ABANDONED_SECONDS), (f"*{SUFFIX}", UNUSED_SECONDS)):
        limit = time.time() - seconds
        for path in folder.glob(pattern):
            with contextlib.suppress(OSError):  # another process may have removed it, or the folder is read-only
                if path.stat().st_mtime < limit:
                    path.unlink()


def tell_once(text: str) -> None:
    """One line in the log, once in a process."""
    if text not in _told:
        _told.add(text)
        logger.warning("%s", text)


# ---------------------------------------------------------------------------------------------------------- the files
def replace_file(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Write a file in one step: whoever reads it, and whatever happens meanwhile, sees the old content or the new."""
    made = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}.tmp")
    try:
        handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with open(handle, "wb") as file:
            file.write(content)
        os.replace(made, path)
    except BaseException:
        with contextlib.suppress(OSError):
            made.unlink()
        raise


class Damaged(SparsescopeError):
    """A file that does not hold what was written."""


def seal(content: bytes) -> bytes:
    """The content with its checksum before it."""
    return MAGIC + hashlib.sha256(content).digest() + content


def unseal(sealed: bytes) -> bytes:
    """The content of a sealed file; `Damaged` if a single bit is another one."""
    start = len(MAGIC) + 32
    if not sealed.startswith(MAGIC) or len(sealed) < start:
        raise Damaged("it is no kernel file, or of another version")
    if hashlib.sha256(sealed[start:]).digest() != sealed[len(MAGIC) : start]:
        raise Damaged("its checksum is wrong")
    return sealed[start:]


class KernelStore:
    """The kept kernels of one function.

    Parameters
    ----------
    folder : where they are kept, or None: nowhere
    base : beginning of the files' names
    stamp : of the sources that the kernels are made of; other sources have other files
    dumps : turns keys and compiled code into bytes that ``pickle`` reads
    """

    def __init__(self, folder: Path | None, base: str, stamp: str, dumps: Callable[[Any], bytes]) -> None:
        self.folder, self.base, self.stamp, self._dumps = folder, base, stamp, dumps

    def path(self, key: Any) -> Path | None:
        """The file of a key."""
        if self.folder is None:
            return None
        named = hashlib.sha256(f"{self.stamp} {key!r}".encode()).hexdigest()[:24]
        return self.folder / f"{self.base}-{named}{SUFFIX}"

    def load(self, key: Any) -> Any:
        """Return the data saved under a key, or None. A damaged file counts as None, and is logged once."""
        path = self.path(key)
        if path is None:
            return None
        try:
            with open(path, "rb") as file:
                found = os.fstat(file.fileno())
                if not is_trusted(found):
                    raise Damaged("others than its owner may have written it")
                if time.time() - found.st_mtime > NOTED_SECONDS:
                    with contextlib.suppress(OSError):  # a read-only cache
                        os.utime(path)
                stamp, kept, data = pickle.loads(unseal(file.read()))
        except FileNotFoundError:
            return None
        except Exception as error:  # unpickling can raise anything; the way out is always the same
            tell_once(f"the compiled kernel {path} is not used ({type(error).__name__}: {error}); compiling it again")
            return None
        return data if stamp == self.stamp and kept == key else None

    def save(self, key: Any, data: Any) -> None:
        """Keep what was compiled for a key. Where it cannot be written it is not kept, which is logged once."""
        path = self.path(key)
        if path is None:
            return
        try:
            replace_file(path, seal(self._dumps((self.stamp, key, data))))
        except OSError as error:
            tell_once(
                f"compiled kernels are not kept: {path.parent} cannot be written ({error.strerror or error}); "
                "another folder can be given in SPARSESCOPE_CACHE"
            )

    def flush(self) -> None:
        """Forget the kernels of this function."""
        for path in self.folder.glob(f"{self.base}-*{SUFFIX}") if self.folder is not None else ():
            path.unlink(missing_ok=True)
