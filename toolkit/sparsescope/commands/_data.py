"""Data of a command, from a name, a file or standard input, and the problem made of them."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

STANDARD_INPUT = "-"
PARQUET = b"PAR1"  # the first bytes of such a file


def load_data(options: argparse.Namespace) -> Any:
    """Return the data set that the arguments name.

    Raises
    ------
    ValueError
        for data that cannot be read.
    """
    from .. import datasets

    with given_file(options.data) as name:
        return datasets.load(name, target=column_of(options.target), scale=getattr(options, "scale", None))


def column_of(given: str | None) -> str | int | None:
    """Return the label column that an argument names: whole numbers are positions."""
    return int(given) if given is not None and given.lstrip("-").isdigit() else given


@contextmanager
def given_file(given: str) -> Iterator[str | Path]:
    """Yield the name or path of data as given; for ``-`` a file with what comes on standard input, while it is open.

    Raises
    ------
    ValueError
        if nothing comes.
    """
    if given != STANDARD_INPUT:
        yield given
        return
    content = sys.stdin.buffer.read()
    if not content.strip():
        raise ValueError(
            "standard input is empty; a table (CSV with a header line, Parquet) or svmlight text is needed"
        )
    with tempfile.TemporaryDirectory(prefix="sparsescope-") as folder:
        path = Path(folder) / f"stdin{_suffix(content)}"
        path.write_bytes(content)
        yield path


def _suffix(content: bytes) -> str:
    """The suffix by which what came on standard input is read."""
    if content.startswith(PARQUET):
        return ".parquet"
    first = content.lstrip().split(b"\n", 1)[0]
    return ".svm" if b":" in first and b"," not in first else ".csv"


def make_problem(options: argparse.Namespace, data: Any) -> Any:
    """Return the problem of data and arguments; its λ is the default."""
    from ..problems.prediction import Problem

    return Problem(
        data,
        loss=options.loss,
        penalty=options.penalty,
        intercept=options.intercept,
        standardize=getattr(options, "standardize", False),
    )


def site_of(given: str | None, max_sessions: int, folder: str | None = None) -> Any:
    """Return the state of a server's pages.

    Parameters
    ----------
    given : str or None
        name of a data set, or a file
    max_sessions : int
        number of pages that may be open at a time; 0: no limit
    folder : str or None
        folder of a sweep that is watched

    Raises
    ------
    ValueError
        for data that cannot be read.
    """
    from .. import datasets
    from ..dashboard import Site

    site = Site(max_sessions=max_sessions)
    if folder is not None:
        from ..sweeps.folder import Folder

        site.folder = Folder(folder)
    if given is not None and given in datasets.names():
        site.settings["dataset"] = given
    elif given is not None:
        site.data = datasets.load(given)
    return site
