"""A test for sparse matrices that does not load ``scipy.sparse``: a first solve of dense data does without it."""

from __future__ import annotations

import sys
from typing import Any


def is_sparse(X: Any) -> bool:
    """Return whether X is a sparse matrix or array of SciPy.

    Where ``scipy.sparse`` is not loaded, or another thread is just loading it, nobody can have made one.
    """
    issparse = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return issparse is not None and bool(issparse(X))
