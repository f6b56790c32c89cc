"""Arrays as R's readBin takes them: a sparse matrix by columns, whole numbers of four bytes, doubles of eight."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp


def write(folder: Path, X: Any, y: np.ndarray, **more: np.ndarray) -> None:
    """Write the columns of X, the classes and further arrays into a folder, a file ``<name>.bin`` each."""
    C = sp.csc_matrix(X)
    C.sort_indices()
    arrays = {"x": C.data.astype(float), "i": C.indices, "p": C.indptr, "y": y, "shape": np.array(X.shape), **more}
    for name, values in arrays.items():
        values = np.asarray(values)
        values.astype(np.int32 if values.dtype.kind in "iu" else np.float64).tofile(folder / f"{name}.bin")
