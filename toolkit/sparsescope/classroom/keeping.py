"""Keeps a class in an SQLite file, if the teacher names one; without a file nothing is written."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..registry import SparsescopeError

MARK = 0x53504353  # application_id of the file
VERSION = 1


class NotAClass(SparsescopeError, ValueError):
    """Error for a file that holds no class."""


class Keeper:
    """Values by kind and key, written together by :meth:`flush`.

    Parameters
    ----------
    path : path, optional
        the file, made if it is not there and readable by its owner only; None keeps nothing

    Raises
    ------
    NotAClass
        if the file holds something else.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self._waiting: list[tuple[str, tuple[Any, ...]]] = []
        self._base: sqlite3.Connection | None = None
        if path is None:
            return
        file = Path(path)
        file.touch(mode=0o600, exist_ok=True)
        base = sqlite3.connect(file)
        try:
            _prepare(base, file)
        except sqlite3.DatabaseError as error:
            base.close()
            raise NotAClass(f"{file} is no file of a class ({error}); name another one after --keep") from error
        except NotAClass:
            base.close()
            raise
        os.chmod(file, 0o600)  # it holds the key of the board
        self._base = base

    @property
    def keeps(self) -> bool:
        """True if there is a file."""
        return self._base is not None

    def all(self, kind: str) -> Iterator[tuple[str, Any]]:
        """Return the keys and values of one kind, the oldest first."""
        if self._base is not None:
            self.flush()
            for key, value in self._base.execute("SELECT key, value FROM kept WHERE kind = ? ORDER BY rowid", (kind,)):
                yield key, json.loads(value)

    def put(self, kind: str, key: str, value: Any) -> None:
        """Keep a value, from the next :meth:`flush` on."""
        if self._base is not None:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
            # An update leaves the row, and with it the order, where it is.
            self._waiting.append(
                (
                    "INSERT INTO kept VALUES (?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value",
                    (kind, key, text),
                )
            )

    def remove(self, kind: str, key: str, begins: bool = False) -> None:
        """Forget a value, or all whose key begins so."""
        if self._base is not None:
            where = "substr(key, 1, length(?)) = ?" if begins else "key = ?"
            self._waiting.append(
                (f"DELETE FROM kept WHERE kind = ? AND {where}", (kind, *((key, key) if begins else (key,))))
            )

    def flush(self) -> None:
        """Write what has changed, in one transaction."""
        if self._base is not None and self._waiting:
            with self._base:
                for command, values in self._waiting:
                    self._base.execute(command, values)
            self._waiting.clear()

    def close(self) -> None:
        """Write and close. Safe to call twice."""
        if self._base is not None:
            self.flush()
            self._base.close()
            self._base = None


def _prepare(base: sqlite3.Connection, file: Path) -> None:
    (mark,) = base.execute("PRAGMA application_id").fetchone()
    (version,) = base.execute("PRAGMA user_version").fetchone()
    (tables,) = base.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables == 0 and mark == 0:
        with base:
            base.execute("CREATE TABLE kept (kind TEXT, key TEXT, value TEXT, PRIMARY KEY (kind, key))")
            base.execute(f"PRAGMA application_id = {MARK}")
            base.execute(f"PRAGMA user_version = {VERSION}")
    elif mark != MARK:
        raise NotAClass(f"{file} is a database of another program; name another file after --keep")
    elif version != VERSION:
        raise NotAClass(f"{file} was written by another version ({version}, this one reads {VERSION})")
