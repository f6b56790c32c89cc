"""Data sets: bundled, generated, and files of users.

``load("digits")`` gives a :class:`Dataset`; ``X, y = load("digits")`` unpacks its training part. :func:`names` lists
what can be loaded, :func:`describe` describes it, :func:`make_text` and :func:`make_multilabel_text` generate
problems of any size, :func:`make_extreme` those with very many classes or labels, :func:`from_arrays` wraps arrays.
"""

from __future__ import annotations

import difflib
import html
import os
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from ..registry import UnknownName, discover
from ..registry import datasets as registry
from ._fetching import fetch
from ._sources import SOURCES as _FETCHED
from .base import Dataset, Truth
from .extreme import make_extreme
from .files import FOLDERS_VARIABLE, FORMATS, files_found, find_file, folders, load_file
from .partitions import open_partitions as open
from .partitions import write_partitions
from .raw import from_arrays
from .scaling import SCALES
from .tags import make_multilabel_text
from .text import make_text
from .uploads import NOT_HERE, PREFIX, load_visible, visible_names

__all__ = [
    "SCALES",
    "Dataset",
    "Truth",
    "describe",
    "fetch",
    "find",
    "from_arrays",
    "load",
    "make_extreme",
    "make_multilabel_text",
    "make_text",
    "names",
    "open",
    "write_partitions",
]

discover(__name__)  # importing the files of this folder registers the data sets in them


def load(
    name_or_path: str | os.PathLike[str],
    *,
    test_size: float | None = None,
    seed: int | None = None,
    scale: str | None = None,
    target: str | int | None = None,
    dtype: str = "float64",
) -> Dataset:
    """Load a data set by name or from a file.

    Parameters
    ----------
    name_or_path
        a registered name (:func:`names`), the path of a file, or the name of a file (its suffix may be left out) in
        a folder listed in SPARSESCOPE_DATA or among the sets that :func:`fetch` keeps; looked up in this order.
        Formats: .npz, CSV, Parquet, svmlight/libsvm.
    test_size
        share set aside for test, class by class at random (0.25 if left out). A UserWarning follows if it has no
        effect, because the data have a test part.
    seed
        of the split and of generated data (0 if left out); likewise.
    scale
        ``None`` (a default that suits the values) or one of SCALES, see :mod:`sparsescope.datasets.scaling`.
    target
        label column of a CSV or Parquet table.
    dtype
        ``"float64"`` or ``"float32"`` for the values of X.

    Returns
    -------
    Dataset
        the data set.

    Raises
    ------
    UnknownName
        (a ValueError and KeyError) when there is no such name or file.
    ValueError
        for bad data or options.
    TypeError
        for arrays and data frames, which :func:`from_arrays` takes.

    Examples
    --------
    >>> data = ss.datasets.load("iris")
    >>> data.X.shape
    (112, 4)
    """
    if not isinstance(name_or_path, str | os.PathLike):
        kind = type(name_or_path).__name__
        raise TypeError(
            f"load takes a name or a file's path, not {kind}; for arrays and data frames: from_arrays(X, y)"
        )
    key = os.fspath(name_or_path)
    if key.startswith(PREFIX):
        # Zero is what pages pass where nobody chose: the split is then that of the page of the data.
        return _uploaded(key, {n: v for n, v in (("test_size", test_size), ("seed", seed)) if v})
    if key in registry and target is not None:
        raise ValueError(f"target= names the label column of a CSV or Parquet table; {key!r} is not one")
    options = {"test_size": test_size, "seed": seed}
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if key in registry:
        loaded: Dataset = registry[key](**given, scale=scale, dtype=dtype)
    else:
        loaded = load_file(find(key), **given, scale=scale, target=target, dtype=dtype)
    # Zero is what callers pass who want no choice made for them: no test part, no seed.
    chosen = {name: value for name, value in given.items() if value != 0}
    if chosen and loaded.own_split:
        said = " and ".join(f"{name}={value!r}" for name, value in chosen.items())
        warnings.warn(f"{loaded.name} has its own test part, so {said} changes nothing", stacklevel=2)
    return loaded


def _uploaded(key: str, options: dict[str, Any]) -> Dataset:
    found = load_visible(key, **options)
    if found is None:
        raise UnknownName(NOT_HERE.format(repr(key)))
    return found


def find(name: str | os.PathLike[str]) -> Path:
    """Return the file of a path or name (see :func:`load`).

    Parameters
    ----------
    name
        path, or name of a file in a folder of SPARSESCOPE_DATA.

    Returns
    -------
    Path
        the file.

    Raises
    ------
    UnknownName
        if there is none; lists the known ones.

    Examples
    --------
    >>> ss.datasets.find("no-such-file.csv")
    Traceback (most recent call last):
    ...
    sparsescope.errors.UnknownName: ...
    """
    key = os.fspath(name)
    path = find_file(key)
    if path is not None:
        return path
    found = list(files_found())
    known = registry.names()
    near = difflib.get_close_matches(key, known + found, 1, cutoff=0.5)
    where = [str(folder) + ("" if folder.is_dir() else " (no such folder)") for folder in folders()]
    message = f"no data set or file {key!r}"
    message += f"; did you mean {near[0]!r}?" if near else "."
    message += f" Registered: {', '.join(known)}."
    if found:
        message += f" Files: {', '.join(found)}."
    message += f" Looked in: {', '.join([str(Path.cwd()), *where])}"
    message += "." if where else f" ({FOLDERS_VARIABLE} lists no folder)."
    if key in _FETCHED:
        message = f"{key!r} was not fetched yet: sparsescope.datasets.fetch({key!r}) does it. {message}"
    raise UnknownName(f"{message} Formats: {FORMATS}")


def names() -> list[str]:
    """Return the names that :func:`load` accepts: registered sets, files of SPARSESCOPE_DATA, fetched sets.

    Returns
    -------
    list[str]
        the names.

    Examples
    --------
    >>> "digits" in ss.datasets.names()
    True
    """
    known = registry.names()
    return known + [name for name in files_found() if name not in known] + visible_names()


class Listed(NamedTuple):
    """One line of :func:`describe`: name, title, what it is, and the file (None for registered sets)."""

    name: str
    title: str
    doc: str
    path: Path | None


class Listing(tuple[Listed, ...]):
    """Lines of :func:`describe`; shows as a table."""

    def __repr__(self) -> str:
        width = max((len(line.name) for line in self), default=0)
        return "\n".join(f"{line.name:{width}s}  {line.doc}" for line in self)

    def _repr_html_(self) -> str:
        cells = "".join(f"<tr><td>{html.escape(line.name)}</td><td>{html.escape(line.doc)}</td></tr>" for line in self)
        return f"<table><tr><th>name</th><th>what it is</th></tr>{cells}</table>"


def describe() -> Listing:
    """Describe all names that :func:`load` accepts; loads nothing.

    Returns
    -------
    Listing
        one line per data set.

    Examples
    --------
    >>> ss.datasets.describe()[0].name == ss.datasets.names()[0]
    True
    """
    lines = [Listed(name, registry.title(name), registry.doc(name), None) for name in registry.names()]
    lines += [
        Listed(name, path.name, f"file {path}", path) for name, path in files_found().items() if name not in registry
    ]
    return Listing(lines)
