"""Output of commands: tables in files, JSON or text."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from .. import extras


def check_table(path: str | None) -> Path | None:
    """Return where a table goes, before anything is computed.

    Raises
    ------
    MissingPackage
        without pandas, which makes the table, and for Parquet without pyarrow.
    OSError
        for a folder that is not there.
    """
    extras.package("pandas", "The table of this command")
    if path is None:
        return None
    target = Path(path).expanduser()
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target} cannot be written: there is no folder {target.parent}")
    if target.suffix.lower() == ".parquet":
        extras.package("pyarrow", "Writing a Parquet file")
    return target


def write_table(table: Any, path: Path) -> None:
    """Write a data frame, in one step: an older file of this name is replaced as a whole or stays."""
    from ..runs import keeping

    keeping.write_table(table, path)


def as_json(value: Any) -> str:
    """Return one line of JSON; numbers that are not finite become null."""
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def say(text: str) -> None:
    """Print a line at once: whoever reads a pipe sees it."""
    print(text, flush=True)
