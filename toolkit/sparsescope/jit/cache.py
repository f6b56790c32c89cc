"""Compiled kernels on disk: what names them, where they lie, and how numba finds them again.

``digest`` names code by its content, so that edited code is never mistaken for the old one. Traps 1, 2 and 4 of
``parts.py`` are dealt with here, the first of them together with ``stamps.py``.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import sys
import tempfile
import time
import types as pytypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

from .callbacks import has_callbacks
from .stamps import NAME, common_digest, modules_of, source_digest, stamp
from .store import ABANDONED_SECONDS, KernelStore, private, remove_abandoned, tell_once, usable

try:
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
    from numba.core.runtime import rtsys
    from numba.core.serialize import dumps

    HOOKS = True
except ImportError:  # private names: with a numba without them nothing is kept on disk
    CompileResultCacheImpl = FunctionCache = _CacheLocator = object
    dumps = rtsys = None
    HOOKS = False

PRUNE_AFTER_DAYS = 30.0  # cache folders of older versions of the sources are removed after this time
LIBRARIES = ("numpy", "numba", "scipy", "math", "cmath", "builtins")  # what digests do not look into


# ---------------------------------------------------------------------------------------------- digests (trap 2)
def digest(thing: Any, *, _seen: set[int] | None = None) -> str:
    """Hash of what a class or function does: byte code, constants, and the plain functions and numbers it refers to."""
    found = hashlib.sha256()
    seen = _seen if _seen is not None else set()
    _feed(found, thing, seen)
    return found.hexdigest()[:12]


def _feed(into: Any, thing: Any, seen: set[int]) -> None:
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, type):
        for base in thing.__mro__:
            if base.__module__ == "builtins":
                continue
            for key in sorted(vars(base)):
                value = vars(base)[key]
                if isinstance(value, pytypes.FunctionType):
                    into.update(key.encode())
                    _feed(into, value, seen)
    elif isinstance(thing, pytypes.FunctionType):
        _feed_code(into, thing.__code__)
        into.update(repr(thing.__defaults__).encode())
        cells = [c.cell_contents for c in thing.__closure__ or ()]
        names = sorted(_names(thing.__code__))
        named = [thing.__globals__.get(name) for name in names]
        for module in [value for value in named if isinstance(value, pytypes.ModuleType)]:
            if module.__name__.split(".")[0] not in LIBRARIES:  # helpers called as ``mymodule.helper(...)``
                named += [getattr(module, name, None) for name in names]
        for value in cells + named:
            inner = getattr(value, "py_func", value)
            if isinstance(inner, pytypes.FunctionType):
                _feed(into, inner, seen)
            elif isinstance(inner, np.ndarray):  # compiled code keeps the values of arrays it finds by name
                into.update(repr((inner.dtype, inner.shape)).encode() + inner.tobytes())
            elif isinstance(inner, int | float | complex | str | bytes | bool | tuple):
                into.update(repr(inner).encode())


def _feed_code(into: Any, code: pytypes.CodeType) -> None:
    into.update(code.co_code)
    into.update(repr(code.co_names + code.co_varnames).encode())
    for const in code.co_consts:
        if isinstance(const, pytypes.CodeType):
            _feed_code(into, const)
        elif isinstance(const, frozenset):  # its order is another one in each process
            into.update(repr(sorted(map(repr, const))).encode())
        else:
            into.update(repr(const).encode())


def _names(code: pytypes.CodeType) -> set[str]:
    names = set(code.co_names)
    for const in code.co_consts:
        if isinstance(const, pytypes.CodeType):
            names |= _names(const)
    return names


# ---------------------------------------------------------------------------------------------------- the disk cache
def cache_root() -> Path:
    """Folder of all compiled kernels: ``SPARSESCOPE_CACHE``, else ``NUMBA_CACHE_DIR``, else the user's cache folder."""
    chosen = os.environ.get("SPARSESCOPE_CACHE") or os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen) / "kernels"
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    return Path(base).expanduser() / "sparsescope" / "kernels"


@functools.cache
def cache_folder() -> Path | None:
    """Folder for the kernels of this compiler, this Python and this numba; made on first use.

    Where it cannot be made, a folder that is this user's alone among the machine's temporary files. None if that is not
    possible either, or somebody else's: then nothing is kept and nothing read, because reading means unpickling.
    """
    name = f"{common_digest()}-py{sys.version_info[0]}{sys.version_info[1]}-numba{numba.__version__}"
    folder = cache_root() / name
    try:
        fresh = not folder.exists()
        if not usable(folder):
            tell_once(
                f"the kernel cache {folder} is not used: others than its owner can write to it, or it belongs to "
                "somebody else; kernels are compiled in each process"
            )
            return None
    except OSError:  # a home that cannot be written to
        return _temporary_folder(name)
    with contextlib.suppress(OSError):  # a read-only cache is read all the same
        mark = folder / "used"
        if not mark.exists() or mark.stat().st_mtime < time.time() - ABANDONED_SECONDS:  # to look at all takes a while
            mark.touch()
            remove_abandoned(folder)
    if fresh:
        prune(folder.parent, keep=folder)
    return folder


def _temporary_folder(name: str) -> Path | None:
    user = getattr(os, "getuid", lambda: "user")()
    root = Path(tempfile.gettempdir()) / f"sparsescope-{user}"
    try:
        if private(root) and usable(root / name):
            return root / name
        reason = "it belongs to somebody else, or others can look into it"
    except OSError as error:
        reason = error.strerror or str(error)
    tell_once(
        f"compiled kernels are not kept: {cache_root()} cannot be written and {root} is not used ({reason}); "
        "another folder can be given in SPARSESCOPE_CACHE"
    )
    return None


def fallback() -> str:
    """A sentence if kernels are not kept where they belong, and why; "" if they are."""
    if not HOOKS:
        return (
            f"numba {numba.__version__} lacks private names that the cache needs: "
            "kernels are compiled anew in each process"
        )
    folder = cache_folder()
    if folder is not None and folder.parent != cache_root():
        return f"{cache_root()} cannot be written: kernels last as long as the machine's temporary folder"
    return ""


def remember(compiled: Any, function: Any) -> None:
    """Let a compiled kernel be kept on disk, where this numba allows it."""
    if HOOKS:
        compiled._cache = KernelCache(function)


def prune(root: Path, keep: Path) -> None:
    """Remove the folders of sources that were not used for a long time."""
    limit = time.time() - PRUNE_AFTER_DAYS * 86400
    for old in root.iterdir():
        with contextlib.suppress(OSError):  # another process may be removing it at this moment
            mark = old / "used"
            if old != keep and mark.exists() and mark.stat().st_mtime < limit:
                shutil.rmtree(old, ignore_errors=True)


class _SourceKeyedLocator(_CacheLocator):
    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._py_file = py_file  # numba's name for it, in its warnings
        self._line = py_func.__code__.co_firstlineno
        # What a kernel of this package is made of depends on its arguments too (`KernelCache`); a user's kernel says
        # itself what it does, and may call all of the package.
        inside = (py_func.__module__ or "").split(".")[0] == NAME
        self._stamp = source_digest() + ("" if inside else digest(py_func))
        # The same sources in another folder (a second checkout, a moved environment) find the same kernels.
        self._place = py_func.__module__ if inside else py_file

    def get_cache_path(self) -> str:
        return str(cache_folder() or "")

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return hashlib.sha256(f"{self._place}:{self._line}".encode()).hexdigest()[:10]

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _SourceKeyedLocator:
        return cls(py_func, py_file)


class _KernelCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_SourceKeyedLocator]


class KernelCache(FunctionCache):
    """numba's function cache with files of our own: checked, replaced in one step, one for each combination of types.

    numba's own index file loses entries, and can name another kernel's code, when processes write it at the same time.
    """

    _impl_class = _KernelCacheImpl

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        self._module = py_func.__module__ or ""
        self._cache_file = self._store()

    def _store(self, foreign: str = "", made_of: str = "") -> KernelStore:
        base = self._impl.filename_base + (f"-{foreign}" if foreign else "")
        return KernelStore(cache_folder(), base, made_of or self._impl.locator.get_source_stamp(), dumps)

    def _store_for(self, sig: tuple[Any, ...]) -> KernelStore | None:
        """Return the store of the kernel for these types; None for parts that no other process can find (trap 4)."""
        parts = modules_of(sig)
        foreign = {name for name in parts if name.split(".")[0] != NAME}
        if "__main__" in foreign:
            return None
        if foreign or self._module.split(".")[0] != NAME:
            return self._store(hashlib.sha256(" ".join(sorted(foreign)).encode()).hexdigest()[:12] if foreign else "")
        return self._store(made_of=stamp(frozenset(parts | {self._module})))  # trap 1

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kept kernel for these types, or None.

        numba first makes its compiler ready, which takes a fifth of the time of a first solve. A kernel that is there
        needs nothing of it but counted references; numba's compiler readies itself when it is asked to compile. What
        a user's kernel needs nobody knows.
        """
        if self._module.split(".")[0] != NAME:
            return super().load_overload(sig, target_context)
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        store = self._store_for(sig) if self._enabled else None
        if store is None:
            return None
        data = store.load(self._index_key(sig, target_context.codegen()))
        return None if data is None else self._impl.rebuild(target_context, data)

    def _save_overload(self, sig: Any, data: Any) -> None:
        store = self._store_for(sig) if self._enabled else None
        if store is not None and not has_callbacks(sig) and self._impl.check_cachable(data):
            store.save(self._index_key(sig, data.codegen), self._impl.reduce(data))
