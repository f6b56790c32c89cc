"""Fetching the usual large sets once, by scikit-learn's fetchers; afterwards they load by name without a network."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import io
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import extras
from ..jit.store import replace_file
from ..progress import progress
from ..registry import UnknownName
from ._sources import SOURCES, Source
from .base import Dataset
from .files import fetched_folder, load_file
from .raw import Raw

LOOK_SECONDS = 0.5  # between two looks at how much has arrived


def fetch(name: str, *, again: bool = False, **options: Any) -> Dataset:
    """Fetch a well-known data set over the network, once; later calls, and :func:`load`, read the kept copy.

    The download is made and checked by scikit-learn, into scikit-learn's folder (``~/scikit_learn_data``, or
    SCIKIT_LEARN_DATA). The copy stands in ``sparsescope`` below it with a checksum, which every load compares. Nothing
    else in the package ever asks the network.

    Parameters
    ----------
    name
        ``"mnist"``, ``"fashion-mnist"``, ``"news20"``, ``"rcv1"`` or ``"covtype"``.
    again
        fetch it anew although there is a copy.
    **options
        those of :func:`load`: ``test_size``, ``seed``, ``scale``, ``dtype``.

    Returns
    -------
    Dataset
        the data set.

    Raises
    ------
    UnknownName
        for another name; lists the known ones.
    OSError
        if it cannot be fetched, or not be kept; the message names the reason and the source.
    ValueError
        if the kept copy is damaged.

    Examples
    --------
    >>> data = ss.datasets.fetch("news20")  # doctest: +SKIP
    >>> data = ss.datasets.load("news20")  # afterwards, without a network  # doctest: +SKIP
    """
    if name not in SOURCES:
        near = difflib.get_close_matches(name, SOURCES, 1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise UnknownName(f"no data set {name!r} can be fetched{hint} Known: {', '.join(SOURCES)}")
    path = fetched_folder() / f"{name}.npz"
    if again or not path.exists():
        _keep(_download(name, SOURCES[name]), path)
    return load_file(path, **options)


def _download(name: str, source: Source) -> Raw:
    home = fetched_folder().parent
    try:
        home.mkdir(parents=True, exist_ok=True)
        with _progress(f"{name} from {source.origin}", source.megabytes, home):
            return source.read(str(home))
    except (OSError, EOFError, ValueError) as error:
        raise OSError(
            f"{name} could not be fetched from {source.origin}: {str(error) or type(error).__name__}. It needs a "
            f"connection once (about {source.megabytes} MB); a file of your own is loaded by its path"
        ) from error


def _keep(raw: Raw, path: Path) -> None:
    """Write the set and then its checksum: a copy without one was not finished."""
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays_of(raw))  # type: ignore[arg-type]
    content = packed.getvalue()
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, content, 0o644)
    replace_file(path.with_suffix(".sha256"), hashlib.sha256(content).hexdigest().encode(), 0o644)


def arrays_of(raw: Raw) -> dict[str, np.ndarray]:
    """The keys of docs/own-data.md for a set with a test part, or without one."""
    found: dict[str, np.ndarray] = {}
    main = "X" if raw.X_test is None else "X_train"
    for X, y, key in ((raw.X, raw.y, main), (raw.X_test, raw.y_test, "X_test")):
        if X is None:
            continue
        found |= _parts(key, X)
        found |= _parts("Y" + key[1:], y) if sp.issparse(y) else {"y" + key[1:]: np.asarray(y)}
    for key, names in (("feature_names_utf8", raw.feature_names),):
        if names is not None:
            found[key] = np.frombuffer("\n".join(names).encode(), np.uint8)
    if raw.class_names is not None:
        found["class_names"] = np.asarray(raw.class_names)
    if raw.image_shape is not None:
        found["image_shape"] = np.asarray(raw.image_shape)
    return found | {key: np.asarray(getattr(raw, key)) for key in ("title", "description", "source", "licence")}


def _parts(key: str, X: Any) -> dict[str, np.ndarray]:
    if not sp.issparse(X):
        return {key: np.asarray(X)}
    matrix = sp.csr_matrix(X)
    return {
        f"{key}_data": matrix.data,
        f"{key}_indices": matrix.indices,
        f"{key}_indptr": matrix.indptr,
        f"{key}_shape": np.asarray(matrix.shape),
    }


@contextlib.contextmanager
def _progress(what: str, megabytes: int, folder: Path) -> Iterator[None]:
    """Tell on standard error how much has arrived in a folder, where somebody watches."""
    if not sys.stderr.isatty() or not extras.is_installed("tqdm"):
        print(f"Fetching {what} (about {megabytes} MB, only this once)", file=sys.stderr, flush=True)
        yield
        return
    before, done = _bytes_in(folder), threading.Event()
    with progress(megabytes * 10**6, "B", desc=f"Fetching {what}", unit_scale=True) as bar:

        def look() -> None:
            while not done.wait(LOOK_SECONDS):
                arrived = max(_bytes_in(folder) - before, 0)
                bar.total = max(bar.total, arrived)
                bar.update(arrived - bar.n)

        watcher = threading.Thread(target=look, name="sparsescope-fetch", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()


def _bytes_in(folder: Path) -> int:
    total = 0
    for place, _, files in os.walk(folder):
        for file in files:
            with contextlib.suppress(OSError):  # moved or removed meanwhile
                total += os.stat(os.path.join(place, file)).st_size
    return total
