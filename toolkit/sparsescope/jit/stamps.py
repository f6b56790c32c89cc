"""Sources of a kernel: the files whose code can end up in it, and a stamp over their contents.

numba does not see that a kernel depends on other files than its own. Everything that compiled code calls is a name of a
module, so the files are found by following import statements: from the kernel's file, and from the files of the parts
that it is handed. An edited penalty then leaves the kernels of the others as they are.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numba

PACKAGE = Path(__file__).resolve().parents[1]
NAME = __name__.split(".")[0]  # of this package, in module names
# Folders and files whose code is compiled into kernels, and those of them that every kernel is made with.
SOURCES = ("jit", "inputs/columns.py", "kernels", "losses", "penalties")
ALWAYS = ("jit", "inputs/columns.py")

IMPORT = re.compile(
    rf"^[ \t]*from[ \t]+(?P<base>\.[\w.]*|{NAME}[\w.]*)[ \t]+import[ \t]+(?P<names>\([^)]*\)|.*)", re.MULTILINE
)
PLAIN_IMPORT = re.compile(rf"^[ \t]*import[ \t]+.*\b{NAME}\b", re.MULTILINE)


@functools.cache  # every kernel asks, and looking through the folders takes half a millisecond
def _files(names: tuple[str, ...], root: Path) -> tuple[Path, ...]:
    found: list[Path] = []
    for name in names:
        path = root / name
        found += _sources_in(path) if path.is_dir() else [path] if path.exists() else []
    return tuple(found)


def _sources_in(folder: Path) -> list[Path]:
    """The Python files below a folder. Folders of bytecode come and go while other programs run: they are left out."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found += [Path(place, name) for name in names if name.endswith(".py")]
    return sorted(found)


def source_digest() -> str:
    """Sixteen hex digits over all sources that can end up in a kernel."""
    return _digest_of(_files(SOURCES, PACKAGE), PACKAGE)


def common_digest() -> str:
    """Sixteen hex digits over the sources that every kernel is made with."""
    return _digest_of(_files(ALWAYS, PACKAGE), PACKAGE)


@functools.cache
def _digest_of(files: tuple[Path, ...], root: Path) -> str:
    seen = hashlib.sha256()
    for file in files:
        seen.update(str(file.relative_to(root)).encode())
        seen.update(file.read_bytes())
    return seen.hexdigest()[:16]


@functools.cache
def _imported(file: Path, root: Path) -> frozenset[Path] | None:
    """The package's files that a file imports from; None if a statement does not tell which they are."""
    text = file.read_text(encoding="utf-8")
    if PLAIN_IMPORT.search(text):
        return None
    found: set[Path] = set()
    for match in IMPORT.finditer(text):
        stem = match["base"].lstrip(".")
        level = len(match["base"]) - len(stem)
        if level:
            folder = file.parents[level - 1]
        else:
            folder, stem = root, stem.partition(".")[2]
        base = folder.joinpath(*stem.split(".")) if stem else folder
        if base.with_suffix(".py").exists():
            found.add(base.with_suffix(".py"))
            continue
        for name in re.findall(r"(\w+)(?:[ \t]+as[ \t]+\w+)?", re.sub(r"#.*", "", match["names"])):
            if not (base / f"{name}.py").exists():
                return None  # a name that a folder's __init__ hands on
            found.add(base / f"{name}.py")
    return frozenset(found)


@functools.cache
def closure(modules: frozenset[str], root: Path = PACKAGE) -> tuple[Path, ...] | None:
    """The files under ``SOURCES`` that code of these modules can reach; None if that is unknown."""
    waiting = [root.joinpath(*name.split(".")[1:]).with_suffix(".py") for name in modules]
    sources = set(_files(SOURCES, root))
    seen: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file in seen or file not in sources:
            continue  # what stands elsewhere is not compiled (a test holds that)
        seen.add(file)
        imported = _imported(file, root)
        if imported is None:
            return None
        waiting += imported
    return tuple(sorted(seen | set(_files(ALWAYS, root))))


@functools.cache
def stamp(modules: frozenset[str], root: Path = PACKAGE) -> str:
    """Sixteen hex digits over the sources of kernels that are made of these modules of the package."""
    files = closure(modules, root)
    return _digest_of(_files(SOURCES, root) if files is None else files, root)


def modules_of(signature: Iterable[Any]) -> set[str]:
    """The modules of the classes and functions among a kernel's arguments, those inside of others included."""
    found: set[str] = set()
    for kind in signature:
        cls = getattr(kind, "instance_class", None)
        if cls is not None:
            found.add(cls.__module__)
        if isinstance(kind, numba.types.BaseTuple):
            found |= modules_of(kind)
        if isinstance(kind, numba.types.Dispatcher):
            found.add(kind.dispatcher.py_func.__module__)
    return found
