"""Data sets in files: by path, or by name in the folders listed in the environment variable ``SPARSESCOPE_DATA``."""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .base import Dataset
from .npz import looks_like_dataset, read_npz
from .raw import Raw, check_options, finish
from .tables import PARQUET_SUFFIX, looks_like_svmlight, read_labelled, read_svmlight

FOLDERS_VARIABLE = "SPARSESCOPE_DATA"
CSV_SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.bz2", ".tsv.bz2")
TABLE_SUFFIXES = (*CSV_SUFFIXES, PARQUET_SUFFIX)
SVMLIGHT_SUFFIXES = tuple(
    stem + packed for packed in ("", ".gz", ".bz2") for stem in (".svm", ".svmlight", ".libsvm", ".scale")
)
SPREADSHEET_SUFFIXES = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods")
SUFFIXES = (".npz", *TABLE_SUFFIXES, *SVMLIGHT_SUFFIXES)
KEPT = 2.0  # seconds: a file that was rewritten where it stands shows in the menus after so long at most
FORMATS = ".npz, .csv or .tsv with a header line, .parquet, svmlight/libsvm text; text files also as .gz or .bz2"


def folders() -> list[Path]:
    """The folders of SPARSESCOPE_DATA, in order, without empty entries."""
    return [Path(part).expanduser() for part in os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep) if part.strip()]


def fetched_folder() -> Path:
    """Return the folder in which :func:`sparsescope.datasets.fetch` keeps its copies: beside those of scikit-learn."""
    home = os.environ.get("SCIKIT_LEARN_DATA") or Path("~") / "scikit_learn_data"
    return Path(home).expanduser() / "sparsescope"


def check_copy(path: Path) -> None:
    """Compare a fetched copy with the checksum beside it; ValueError gives the repair of a damaged one."""
    if path.parent != fetched_folder():
        return
    beside = path.with_suffix(".sha256")
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if not beside.exists() or beside.read_text().strip() != found:
        call = f"sparsescope.datasets.fetch({stem_of(path)!r}, again=True)"
        raise ValueError(f"{path} is not as it was fetched (its checksum differs); fetch it anew: {call}")


def stem_of(path: Path) -> str:
    """The file's name without the (possibly double) suffix of a known format."""
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if path.name.lower().endswith(suffix):
            return path.name[: -len(suffix)]
    return path.name


_listed: tuple[float, tuple[Any, ...], dict[str, Path]] = (-math.inf, (), {})


def files_found() -> dict[str, Path]:
    """Name -> path of the loadable files in the folders: known suffix, and for .npz the keys of a data set.

    Menus and settings of a page ask for this several times at each change, and looking at every file keeps a server
    from its other pages. So an answer is kept for :data:`KEPT` seconds while the folders stay as they were.
    """
    global _listed
    now, state = time.monotonic(), _state_of_folders()
    since, before, found = _listed
    if state is None or state != before or now - since > KEPT:
        found = _look_for_files()
        _listed = (now, state, found) if state is not None else (-math.inf, (), {})
    return dict(found)


def _state_of_folders() -> tuple[Any, ...] | None:
    """State of the folders, another one once a file came or went; None if one changed so lately that it may again."""
    state: list[Any] = []
    for folder in (*folders(), fetched_folder()):
        try:
            changed = folder.stat().st_mtime
        except OSError:  # no such folder
            changed = -math.inf
        if time.time() - changed < KEPT:
            return None
        state.append((folder, changed))
    return tuple(state)


def _look_for_files() -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in _files_in_folders():
        if path.name.lower().endswith(SUFFIXES) and (path.suffix != ".npz" or looks_like_dataset(path)):
            found.setdefault(stem_of(path), path)
    return found


def _files_in_folders() -> Iterator[Path]:
    for folder in (*folders(), fetched_folder()):
        if folder.is_dir():
            yield from sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))


def find_file(name: str) -> Path | None:
    """The file a name stands for: an existing path, else a file of a folder, with or without its suffix; else None.

    Raises ValueError when `name` is a folder.
    """
    path = Path(name).expanduser()
    if path.is_file():
        return path
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give a file (or its name, with the folder in {FOLDERS_VARIABLE})")
    if path.name != name:  # a path with folders in it was meant as it is
        return None
    everything = list(_files_in_folders())
    rules: tuple[Callable[[Path], bool], ...] = (
        lambda p: p.name == name,
        lambda p: p.name.lower().endswith(SUFFIXES) and stem_of(p) == name,
    )
    for match in rules:
        for candidate in everything:
            if match(candidate):
                return candidate
    return None


def check_no_spreadsheet(path: Path) -> None:
    """Raise ValueError for a spreadsheet, with the way out."""
    if path.name.lower().endswith(SPREADSHEET_SUFFIXES):
        raise ValueError(
            f"{path} is a spreadsheet, which is not read; save the sheet as CSV with a header line, or as Parquet: "
            f"pandas.read_excel({path.name!r}).to_csv({path.stem + '.csv'!r}, index=False)"
        )


def read_file(path: Path, target: str | int | None = None) -> Raw:
    """Read a file by its suffix; the format of other files is detected. Raises ValueError for other formats."""
    name = path.name.lower()
    check_no_spreadsheet(path)
    if target is not None and not name.endswith(TABLE_SUFFIXES):
        raise ValueError(f"target= names the label column of a CSV or Parquet table; {path.name} is not one")
    if name.endswith(".npz"):
        return read_npz(path)
    if name.endswith(TABLE_SUFFIXES):
        return read_labelled(path, target)
    if name.endswith(SVMLIGHT_SUFFIXES) or looks_like_svmlight(path):
        return read_svmlight(path)
    raise ValueError(f"{path} has a format that is not known; known: {FORMATS}")


def load_file(
    path: Path | str,
    *,
    test_size: float = 0.25,
    seed: int = 0,
    scale: str | None = None,
    target: str | int | None = None,
    dtype: str = "float64",
) -> Dataset:
    """The data set in a file; see :func:`sparsescope.datasets.load`."""
    path = Path(path)
    check_options(test_size, seed, scale, dtype)
    check_copy(path)
    return finish(read_file(path, target), stem_of(path), test_size=test_size, seed=seed, scale=scale, dtype=dtype)
