"""Data sets that somebody hands over at run time: kept in memory, seen by their owner only, bounded in number and size.

A :class:`Shelf` belongs to one browser. While code runs for its owner (:func:`visible`) the names of its data sets are
among those of :func:`sparsescope.datasets.names`, and :func:`sparsescope.datasets.load` takes them; for everybody else
they do not exist. Threads see nothing unless the context goes along (``contextvars.copy_context``).
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..inputs.archives import limited_memory
from .base import Dataset
from .columns import Column, check_roles, from_table, look_at
from .files import FORMATS, SUFFIXES, TABLE_SUFFIXES, read_file
from .raw import Raw, finish
from .tables import read_table

PREFIX = "upload:"
DEFAULTS = {"words": "tf-idf", "test_size": 0.25, "seed": 0}
NOT_HERE = (
    "{} was uploaded by another browser, or is gone: uploads are kept for the browser that sent them, and not for "
    "long. Upload the file again on the page of the data"
)
LONGEST_NAME = 40
LONGEST_TITLE = 80
LONGEST_SENTENCE = 500
UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)  # controls, bidirectional marks


@dataclass(frozen=True)
class Limits:
    """Limits of one file, and of all files of one browser."""

    bytes: int = 200 * 2**20  # of a file as it comes
    memory: int = 2**30  # of a file when it is read
    rows: int = 1_000_000
    columns: int = 20_000  # of a table
    features: int = 2_000_000  # of other files
    cells: int = 20_000_000  # of a table, or entries of other files
    files: int = 8
    kept: int = 2 * 2**30  # bytes of all files of a browser

    def check_table(self, rows: int, cells: int) -> None:
        """Raise ValueError for a table that may hold more; called before it is parsed."""
        self._check("cells", cells, self.cells)

    def check_shape(self, rows: int, columns: int, most_columns: int, cells: int) -> None:
        """Raise ValueError for more rows, columns or cells than allowed."""
        self._check("rows", rows, self.rows)
        self._check("columns" if most_columns == self.columns else "features", columns, most_columns)
        self._check("cells", cells, self.cells)

    @staticmethod
    def _check(what: str, found: int, most: int) -> None:
        if found > most:
            raise ValueError(f"the file has {found:,} {what}; at most {most:,} are taken here. Take a part of it, or "
                             "load it in Python")  # fmt: skip


LIMITS = Limits()


@dataclass(frozen=True)
class Upload:
    """One file that was handed over.

    Parameters
    ----------
    name : under which it is loaded, with :data:`PREFIX`
    title : name of the file, as a text to be shown
    data : the data set, or ``None`` where the columns' roles make none
    error : why not
    report : sentences on what was read and left out
    table, columns, roles : of tables only
    raw : of other files what was read, so that it can be split anew; ``None`` where the file has a test part
    """

    name: str
    title: str
    data: Dataset | None = None
    error: str = ""
    report: tuple[str, ...] = ()
    table: Any = None
    columns: tuple[Column, ...] = ()
    roles: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=lambda: dict(DEFAULTS))
    raw: Raw | None = None

    @property
    def splits(self) -> bool:
        """True if the split into training and test samples can be made anew."""
        return self.table is not None or self.raw is not None

    @property
    def size(self) -> int:
        """Bytes in memory, about."""
        table = 0 if self.table is None else int(self.table.memory_usage(deep=True).sum())
        table += 0 if self.raw is None else _bytes(self.raw.X)
        if self.data is None:
            return table
        return table + sum(_bytes(X) for X in (self.data.X, self.data.X_test) if X is not None)

    def with_roles(self, roles: dict[str, str], **options: Any) -> Upload:
        """Return the table read with other roles of its columns (or options of :func:`from_table`)."""
        roles, options = {**self.roles, **roles}, {**self.options, **options}
        if self.raw is not None:
            return replace(self, options=options, data=_finished(self.raw, self.name, self.title, options))
        made = replace(self, roles=roles, options=options, data=None, error="", report=())
        try:
            check_roles(roles, list(self.columns))
            with limited_memory(LIMITS.memory):
                data, report = from_table(self.table, roles, name=self.name, title=self.title, **options)
        except ValueError as error:
            return replace(made, error=_said(str(error)))
        read = f"{len(self.table):,} rows and {len(self.columns):,} columns were read."
        return replace(made, data=data, report=(read, *report))


def read_upload(path: Path, given_name: str, limits: Limits = LIMITS, **options: Any) -> Upload:
    """Read a file that somebody sent.

    Parameters
    ----------
    path
        where the server put it: in a separate folder, under a new name.
    given_name
        name that the file has elsewhere: for the format and to be shown, never to be opened.
    limits
        most that it may hold.
    **options
        ``words``, ``test_size`` and ``seed`` of the data set.

    Raises
    ------
    ValueError
        for a file that cannot be read, or holds too much; the message names the file as it was given.
    """
    title, name = shown_title(given_name), PREFIX + _stem(given_name)
    options = {**DEFAULTS, **options}
    try:
        with limited_memory(limits.memory):
            if path.name.lower().endswith(TABLE_SUFFIXES):
                return _table(path, name, title, limits, options)
            raw = read_file(path)
            rows, columns = (int(k) for k in np.shape(raw.X))
            entries = int(raw.X.nnz) if sp.issparse(raw.X) else rows * columns
            limits.check_shape(rows, columns, limits.features, entries)
            data = _finished(raw, name, title, options)
    except ValueError as error:
        if not suffix_of(title) and "readable" in str(error):
            raise ValueError(f"{title} has a format that is not known; known: {FORMATS}") from None
        raise ValueError(_said(str(error).replace(str(path), title))) from None
    told = f"{rows:,} rows and {columns:,} features were read; values scaled by the rule {data.scaling!r}."
    return Upload(name, title, data, report=(told,), options=options, raw=raw if raw.X_test is None else None)


class UploadReader:
    """A file that another process is to read: its method yields what :func:`read_upload` returns.

    Parameters
    ----------
    path, given_name, limits
        as for :func:`read_upload`
    """

    def __init__(self, path: Path, given_name: str, limits: Limits = LIMITS) -> None:
        self.path, self.given_name, self.limits = path, given_name, limits

    def read(self) -> Iterator[Upload]:
        """Read the file.

        Yields
        ------
        Upload
            once
        """
        yield read_upload(self.path, self.given_name, self.limits)


def _finished(raw: Raw, name: str, title: str, options: dict[str, Any]) -> Dataset:
    split = {key: options[key] for key in ("test_size", "seed")}
    data = finish(raw, name, **split, scale=None, dtype="float64")
    return replace(data, title=title, own_split=True, source=f"file {title}")


def _said(text: str) -> str:
    """A sentence that may quote what stands in a file: a few lines of it, without what cannot be seen."""
    seen = UNSEEN.sub("", text)
    return seen if len(seen) <= LONGEST_SENTENCE else seen[:LONGEST_SENTENCE] + " …"


def _table(path: Path, name: str, title: str, limits: Limits, options: dict[str, Any]) -> Upload:
    table = read_table(path, limits.check_table)
    limits.check_shape(len(table), table.shape[1], limits.columns, table.size)
    columns = look_at(table)
    made = Upload(name, title, table=table, columns=tuple(columns), options=options)
    return made.with_roles({column.name: column.role for column in columns})


def suffix_of(given_name: str) -> str:
    """Return the suffix by which a file is read, one of those known; empty for another one."""
    return next((s for s in sorted(SUFFIXES, key=len, reverse=True) if given_name.lower().endswith(s)), "")


def shown_title(given_name: str) -> str:
    """Return the last part of a file's name without characters that cannot be seen."""
    last = UNSEEN.sub("", re.split(r"[\\/]", given_name)[-1]).strip()
    return last[:LONGEST_TITLE] or "file"


def _stem(given_name: str) -> str:
    title = shown_title(given_name)
    stem = title[: len(title) - len(suffix_of(title))]
    return re.sub(r"[^\w.-]+", "-", stem).strip("-.")[:LONGEST_NAME] or "file"


def _bytes(X: Any) -> int:
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) if sp.issparse(X) else int(X.nbytes)


class Shelf:
    """The files of one browser; its key is known to that browser only."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.key = secrets.token_urlsafe(32)
        self.limits = limits
        self.version = 0  # grows when something changes
        self._lock = threading.Lock()
        self._items: dict[str, Upload] = {}
        self._other: tuple[Upload, dict[str, Any], Dataset | None] | None = None  # the last other split

    @property
    def items(self) -> list[Upload]:
        """The files, the oldest first."""
        with self._lock:
            return list(self._items.values())

    @property
    def size(self) -> int:
        """Bytes in memory, about."""
        return sum(item.size for item in self.items)

    def names(self) -> list[str]:
        """Names of the data sets that can be loaded."""
        return [item.name for item in self.items if item.data is not None]

    def get(self, name: str) -> Upload | None:
        """Return a file by its name."""
        with self._lock:
            return self._items.get(name)

    def room(self) -> str:
        """Return the reason why no further file is taken, or the empty text."""
        if len(self.items) >= self.limits.files:
            return f"{self.limits.files} files are kept already; remove one of them first"
        return ""

    def put(self, upload: Upload) -> Upload:
        """Keep a file under its name, or the next free one. Raises ValueError where there is no room."""
        if reason := self.room():
            raise ValueError(reason)
        if self.size + upload.size > self.limits.kept:
            raise ValueError(f"the files together would take more than {self.limits.kept / 2**30:.3g} GiB; remove one "
                             "of them first")  # fmt: skip
        with self._lock:
            name, k = upload.name, 1
            while name in self._items:
                k += 1
                name = f"{upload.name}-{k}"
            data = None if upload.data is None else replace(upload.data, name=name)
            upload = replace(upload, name=name, data=data)
            self._items[name] = upload
            self.version += 1
        return upload

    def exchange(self, upload: Upload) -> None:
        """Replace the file of the same name, if it is still there."""
        with self._lock:
            if upload.name in self._items:
                self._items[upload.name] = upload
                self._other = None
                self.version += 1

    def remove(self, name: str) -> None:
        """Forget a file."""
        with self._lock:
            self._items.pop(name, None)
            self._other = None
            self.version += 1

    def load(self, name: str, **options: Any) -> Dataset | None:
        """Return a data set, or ``None``; with ``test_size`` or ``seed`` split anew where the file has no test part."""
        item = self.get(name)
        if item is None or not item.splits or item.data is None:
            return None if item is None else item.data
        wanted = {**item.options, **options}
        if wanted == item.options:
            return item.data
        other = self._other
        if other is None or other[0] is not item or other[1] != wanted:
            self._other = other = (item, wanted, item.with_roles({}, **options).data)
        return other[2]


VISIBLE: ContextVar[Shelf | None] = ContextVar("sparsescope-shelf", default=None)


@contextmanager
def visible(shelf: Shelf | None) -> Iterator[None]:
    """Let the data sets of a shelf be found inside."""
    token = VISIBLE.set(shelf)
    try:
        yield
    finally:
        VISIBLE.reset(token)


def visible_names() -> list[str]:
    """Names of the data sets that can be seen here."""
    shelf = VISIBLE.get()
    return [] if shelf is None else shelf.names()


def load_visible(name: str, **options: Any) -> Dataset | None:
    """Return a data set that can be seen here, or ``None``; options as for :meth:`Shelf.load`."""
    shelf = VISIBLE.get()
    return None if shelf is None else shelf.load(name, **options)


__all__ = ["FORMATS", "LIMITS", "PREFIX", "Limits", "Shelf", "Upload", "read_upload", "visible"]
