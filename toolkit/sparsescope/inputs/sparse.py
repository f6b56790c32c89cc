"""Validation of sparse matrices: compiled code uses their indices without bounds checks."""

from __future__ import annotations

from typing import Any

import numpy as np

COMPRESSED = ("csr", "csc", "bsr")


def check_sparse(matrix: Any, what: str) -> Any:
    """A sparse matrix, as it is; ``ValueError`` names what is wrong with its indices or index pointers.

    scipy checks them only where a matrix is made, and not all of them: arrays of a matrix can be replaced later.
    """
    if matrix.format in COMPRESSED:
        try:
            matrix.check_format(full_check=True)
        except (ValueError, TypeError, IndexError) as error:
            raise ValueError(_sentence(what, matrix, str(error))) from None
    elif matrix.format == "coo":
        for axis, (places, size) in enumerate(zip(matrix.coords, matrix.shape, strict=True)):
            if len(places) != len(matrix.data):
                raise ValueError(_sentence(what, matrix, f"{len(places)} indices for {len(matrix.data)} entries"))
            places = np.asarray(places)
            if places.size and (int(places.min()) < 0 or int(places.max()) >= size):
                raise ValueError(
                    _sentence(what, matrix, f"indices {places.min()}…{places.max()} on axis {axis} of length {size}")
                )
    return matrix


def _sentence(what: str, matrix: Any, reason: str) -> str:
    return (
        f"{what} is not a valid sparse matrix ({matrix.format.upper()}, shape {matrix.shape}): {reason}. Make it "
        "anew from its rows, columns and values, for example with scipy.sparse.coo_array"
    )
