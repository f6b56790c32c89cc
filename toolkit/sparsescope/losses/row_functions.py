"""Functions of one row that losses define: their docstrings, what they return, and how Python calls them."""

from __future__ import annotations

from typing import Any

import numpy as np


def value_face(function: Any, loss: Any, z: Any, y: Any) -> Any:
    """ℓ of one sample's scores (m,), or of each row of Z (n, m) with its target: (n,)."""
    if np.ndim(z) == 1:
        return function(loss, z, y)
    return np.array([function(loss, row, target) for row, target in zip(np.asarray(z), y, strict=True)])


def gradient_face(function: Any, loss: Any, z: Any, y: Any, *rest: Any) -> Any:
    """∇ℓ of one sample's scores (m,), or of each row of Z (n, m); with more arguments, the row function itself."""
    if rest:
        return function(loss, z, y, *rest)
    Z = np.atleast_2d(np.asarray(z, dtype=np.float64))
    found, work = np.zeros_like(Z), np.empty(Z.shape[1])
    for row, target, result in zip(Z, [y] if np.ndim(z) == 1 else y, found, strict=True):
        function(loss, row, target, 1.0, result, work)
    return found[0] if np.ndim(z) == 1 else found


# Docstrings of the functions of one row, which every loss defines.
ROW_DOCS = {
    "value": """Evaluate ℓ(z, y).

    Parameters
    ----------
    z
        scores of one sample, (m,), or of several, (n, m).
    y
        its target: a class, or a label set (m,); or the targets of all samples.

    Returns
    -------
    float or numpy.ndarray
        the loss, or the losses (n,).
    """,
    "gradient": """Add x·∇ℓ(z, y) to g; called from Python as ``gradient(Z, y)``, return ∇ℓ.

    Parameters
    ----------
    z
        scores (m,).
    y
        target.
    x
        factor: an entry of X.
    g
        array (m,) that is added to.
    work
        scratch array (m,), float64.

    Returns
    -------
    float
        ℓ(z, y).
    """,
    "derivatives": """Add x·∇ℓ(z, y) to g and x²·diag ∇²ℓ(z, y) to h.

    Parameters
    ----------
    z
        scores (m,).
    y
        target.
    x
        factor: an entry of X.
    g, h
        arrays (m,) that are added to.
    work
        scratch array (m,), float64.

    Returns
    -------
    float
        ℓ(z, y).
    """,
    "hessian_product": """Compute out = ∇²ℓ(z, y)·v, with the generalised Hessian of non-smooth derivatives.

    Parameters
    ----------
    z
        scores (m,).
    y
        target.
    v
        vector (m,).
    out
        array (m,) to write to, other than ``v``.
    """,
    "conjugate": """Evaluate ℓ*(u), or an upper bound of it.

    Parameters
    ----------
    u
        dual row (m,).
    y
        target.

    Returns
    -------
    float
        the value; +∞ outside the domain.
    """,
    "repair": """Change dual rows within the domain of ℓ* so that their sum is zero (for intercepts).

    Parameters
    ----------
    U
        dual rows (n, m), changed in place.
    Y
        targets of all samples.
    """,
    "prox_conjugate": """Project in place: v ← prox_{σℓ*}(v), a row of the domain of ℓ*.

    Parameters
    ----------
    v
        row (m,), changed in place.
    y
        target.
    sigma
        σ > 0.
    """,
    "along_face": """Project a direction in place on those along the face of the domain of ℓ* that u lies on.

    Parameters
    ----------
    u
        a value of :meth:`prox_conjugate`, (m,).
    y
        target.
    v
        direction (m,), changed in place.
    """,
}


ROW_RETURNS = {
    **dict.fromkeys(("value", "gradient", "derivatives", "update_scores"), "float64"),
    **dict.fromkeys(("conjugate", "scaled_conjugate", "gradient_conjugate"), "float64"),
    "repaired_conjugate": "float64",
    **dict.fromkeys(("hessian_product", "hessian_product_from", "hessian_diag", "hessian_factors"), ""),
    **dict.fromkeys(("prox_conjugate", "repair", "repair_weighted"), ""),
    "is_inactive": "boolean",
}
