"""Products of dense X with few columns, in an order that BLAS is fast in.

Written to an array whose rows are together, as W and Z are, a product of few columns goes through kernels made for wide
ones. Written to one whose columns are together it takes 0.4 to 0.7 of the time from 32 features on (OpenBLAS on
processors with 512-bit registers; with 256-bit ones 0.7 to 1.2), the copy included; a strip of X that stays in the
processor's cache is read from memory once. Up to three columns are multiplied one after the other: products with
vectors run as fast as memory gives X.
"""

from __future__ import annotations

import numpy as np

FEWEST, MOST = 2, 12  # columns of W that it pays for
VECTORS = 3  # so many columns at most are multiplied one after the other
LEAST_FEATURES = 32
STRIP_BYTES = 2**20  # of X, read from the cache while all columns are multiplied
LEAST_FORWARD, LEAST_BACK = 1024, 256  # samples of a strip


def suits(X: np.ndarray, columns: int) -> bool:
    """Return whether a product of X (n, d), or of part of it, with this number of columns is faster by strips."""
    return X.dtype == np.float64 and FEWEST <= columns <= MOST and X.shape[1] >= LEAST_FEATURES


def times(X: np.ndarray, W: np.ndarray, out: np.ndarray) -> None:
    """out = XW. X (n, d), W (d, m), out (n, m)."""
    n, d = X.shape
    strip = min(n, max(LEAST_FORWARD, STRIP_BYTES // (X.itemsize * d)))
    turned, columns = np.empty((W.shape[1], strip), X.dtype), np.ascontiguousarray(W.T)
    for start in range(0, n, strip):
        part = X[start : start + strip]
        product = turned[:, : len(part)]
        if len(columns) <= VECTORS:
            for column, row in zip(columns, product, strict=True):
                np.matmul(part, column, out=row)
        else:
            np.matmul(part, W, out=product.T)
        out[start : start + strip] = product.T


def pulled(X: np.ndarray, U: np.ndarray, out: np.ndarray) -> None:
    """out = XᵀU. X (n, d), U (n, m), out (d, m)."""
    n, d = X.shape
    strip = min(n, max(LEAST_BACK, STRIP_BYTES // (X.itemsize * d)))
    total, product = np.zeros((U.shape[1], d), X.dtype), np.empty((U.shape[1], d), X.dtype)
    for start in range(0, n, strip):
        part, rows = X[start : start + strip].T, U[start : start + strip]
        if len(product) <= VECTORS:
            for column, row in zip(np.ascontiguousarray(rows.T), product, strict=True):
                np.matmul(part, column, out=row)
        else:
            np.matmul(part, rows, out=product.T)
        total += product
    out[:] = total.T
