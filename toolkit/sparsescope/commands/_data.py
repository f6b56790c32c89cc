"""Data of a command, from a name, a file or standard input, and the problem made of them."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

STANDARD_INPUT = "-"


def load_data(options: argparse.Namespace) -> Any:
    """Return the data set that the arguments name.

    Raises
    ------
    ValueError
        for data that cannot be read.
    """
    from .. import datasets

    target: Any = options.target
    if target is not None and target.lstrip("-").isdigit():
        target = int(target)
    if options.data != STANDARD_INPUT:
        return datasets.load(options.data, target=target)
    text = sys.stdin.buffer.read()
    if not text.strip():
        raise ValueError("standard input is empty; a CSV table with a header line or svmlight text is needed")
    with tempfile.TemporaryDirectory(prefix="sparsescope-") as folder:
        first = text.lstrip().split(b"\n", 1)[0]
        looks_sparse = b":" in first and b"," not in first
        path = Path(folder) / ("stdin.svm" if looks_sparse else "stdin.csv")
        path.write_bytes(text)
        return datasets.load(path, target=target)


def make_problem(options: argparse.Namespace, data: Any) -> Any:
    """Return the problem of data and arguments; its λ is the default."""
    from ..problems.prediction import Problem

    return Problem(data, loss=options.loss, penalty=options.penalty, intercept=options.intercept)


def site_of(given: str | None, max_sessions: int) -> Any:
    """Return the state of a server's pages.

    Parameters
    ----------
    given : str or None
        name of a data set, or a file
    max_sessions : int
        number of pages that may be open at a time; 0: no limit

    Raises
    ------
    ValueError
        for data that cannot be read.
    """
    from .. import datasets
    from ..dashboard import Site

    site = Site(max_sessions=max_sessions)
    if given is not None and given in datasets.names():
        site.settings["dataset"] = given
    elif given is not None:
        site.data = datasets.load(given)
    return site
