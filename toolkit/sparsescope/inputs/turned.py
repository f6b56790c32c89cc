"""Storage turned the other way: rows of columns, or columns of rows, in parts with places to stop.

scipy and numpy do it in one piece, which takes tens of milliseconds for a large matrix.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import scipy

from ..pauses import parts_of, pause
from .columns import SparseColumns, count_places, spread_entries

PART = 100_000  # entries that are counted or moved between two pauses
STRIP = 512  # dense rows that are turned at a time: what is read and what is written both stay in the cache
TOUCHED = 2**20  # bytes of new memory that are asked for between two pauses


def turned(
    storage: Any,
    size: int,
    chosen: np.ndarray | None = None,
    dtype: Any = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return data, indices and index pointers of the same entries by the places that ``indices`` names.

    Parameters
    ----------
    storage
        compressed by rows or by columns: has writeable ``data``, ``indices`` and ``indptr``.
    size
        number of places.
    chosen
        numbers of the lists that are taken, in this order; ``None``: all.
    dtype
        of the data returned; ``None``: as they are.

    Returns
    -------
    tuple[np.ndarray, np.ndarray, np.ndarray]
        the entries of each place in the order of the lists.
    """
    data, indices, indptr = storage.data, storage.indices, storage.indptr
    lengths = np.diff(indptr)
    if chosen is None:
        chosen = np.arange(len(lengths), dtype=np.intp)
    parts = list(parts_of(lengths[chosen], PART))
    counts = np.zeros(size + 1, dtype=indices.dtype)
    for first, last in parts:
        count_places(indices, indptr, chosen, first, last, counts)
        pause()
    starts = np.cumsum(counts, dtype=indices.dtype)
    free = starts[:-1].copy()
    out, places = _made(starts[-1], dtype or data.dtype), _made(starts[-1], indices.dtype)
    for first, last in parts:
        spread_entries(data, indices, indptr, chosen, first, last, free, out, places)
        pause()
    return out, places, starts


def _made(size: int, dtype: Any) -> np.ndarray:
    """An array (size,) whose memory is there. The system gives each page of memory when it is first written; entries
    are spread over all of them, so otherwise all pages would be given within the first part."""
    made = np.empty(size, dtype=dtype)
    page, at_once = mmap.PAGESIZE // made.itemsize, TOUCHED // made.itemsize
    for first in range(0, size, at_once):
        made[first : first + at_once : page] = 0
        pause()
    return made


def by_columns(X: Any) -> Any:
    """Return a valid sparse matrix as CSC; a large one that comes by rows is turned in parts, with pauses."""
    if X.format != "csr" or X.nnz <= PART or X.dtype not in (np.float32, np.float64) or not X.dtype.isnative:
        return scipy.sparse.csc_array(X)
    arrays = (array if array.flags.writeable else array.copy() for array in (X.data, X.indices, X.indptr))
    return scipy.sparse.csc_array(turned(SparseColumns(*arrays), X.shape[1]), shape=X.shape)  # type: ignore[call-arg]


def turned_dense(X: np.ndarray) -> np.ndarray:
    """Return a dense array in Fortran order: X itself if it is, else a copy that is made some rows at a time."""
    if X.ndim != 2 or X.flags.f_contiguous:
        return np.asfortranarray(X)
    made = np.empty(X.shape, dtype=X.dtype, order="F")
    for first in range(0, len(X), STRIP):
        made[first : first + STRIP] = X[first : first + STRIP]
        pause()
    return made


def by_samples(matrix: Any, columns: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return data, indices and index pointers by rows of a CSC matrix, of which ``columns`` is the storage."""
    if matrix.nnz > PART:
        return turned(columns, matrix.shape[0])
    by_rows = scipy.sparse.csr_array(matrix)
    index = columns.indices.dtype
    return by_rows.data, plain(by_rows.indices, index), plain(by_rows.indptr, index)


def plain(array: np.ndarray, dtype: Any) -> np.ndarray:
    """Return a writeable array of this type: the same one if it is such."""
    converted = array.astype(dtype, copy=False)
    return converted if converted.flags.writeable else converted.copy()
