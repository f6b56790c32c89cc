"""Functions of one row that penalties define: their docstrings, what they return, and how Python calls them."""

from __future__ import annotations

from typing import Any

import numpy as np


def value_face(function: Any, penalty: Any, w: Any) -> Any:
    """Ω of one row (m,), or of a whole W (d, m): the sum over its rows."""
    return function(penalty, w) if np.ndim(w) == 1 else float(sum(function(penalty, row) for row in np.asarray(w)))


def prox_face(function: Any, penalty: Any, v: Any, tau: float, out: Any = None) -> Any:
    """prox_{τΩ} of one row, or of every row of a W: written into ``out`` where it is given, else returned."""
    if out is not None:
        return function(penalty, v, tau, out)
    if not tau >= 0.0:
        raise ValueError(f"the step of a prox is {tau!r}; a number of at least 0 is needed")
    given = np.array(v, dtype=np.float64)
    found = np.empty_like(given)
    for row, result in zip(np.atleast_2d(given), np.atleast_2d(found), strict=True):
        function(penalty, row, tau, result)
    return found


# Docstrings of the functions of one row, which every penalty defines.
ROW_DOCS = {
    "value": """Evaluate Ω(w).

    Parameters
    ----------
    w
        a row (m,), or a whole W (d, m), whose rows are summed.

    Returns
    -------
    float
        Ω.
    """,
    "prox": """Compute out = argmin ½‖w − v‖² + τΩ(w); called from Python without ``out``, return it.

    Parameters
    ----------
    v
        a row (m,), or from Python rows (k, m).
    tau
        τ ≥ 0.
    out
        array to write to; it may be ``v``.
    """,
    "violation": """Evaluate dist(−g, λ∂Ω(w)), the exact optimality violation of a row.

    Parameters
    ----------
    g
        gradient of the loss part, (m,).
    w
        row of W, (m,).
    lam
        λ.

    Returns
    -------
    float
        the distance.
    """,
    "dual_norm": """Evaluate the gauge of the domain of Ω*: Ω*(v/t) is finite exactly for t ≥ dual_norm(v).

    Parameters
    ----------
    v
        row (m,).

    Returns
    -------
    float
        the gauge; 0 if Ω* is finite everywhere.
    """,
    "conjugate": """Evaluate Ω*(v) inside its domain.

    Parameters
    ----------
    v
        row (m,).

    Returns
    -------
    float
        the value.
    """,
    "zero_threshold": """Return the smallest λ at which a zero row with gradient g stays zero.

    Parameters
    ----------
    g
        gradient of the loss part, (m,).

    Returns
    -------
    float
        the λ; +∞ if there is none.
    """,
    "project_tangent": """Project v in place on the tangent space of the smooth piece of Ω that w lies on.

    Parameters
    ----------
    w
        row (m,).
    v
        direction (m,), changed in place.
    """,
    "gradient": """Add λ∇Ω(w), the gradient along the smooth piece, to out.

    Parameters
    ----------
    w
        row (m,).
    lam
        λ.
    out
        array (m,) that is added to.
    """,
    "hessian_vec": """Add λ∇²Ω(w)·v, along the smooth piece, to out.

    Parameters
    ----------
    w
        row (m,).
    lam
        λ.
    v
        tangent direction (m,).
    out
        array (m,) that is added to.
    """,
    "curvature_bound": """Return a bound of the eigenvalues of λ∇²Ω(w) along the smooth piece.

    Parameters
    ----------
    w
        row (m,).
    lam
        λ.

    Returns
    -------
    float
        the bound.
    """,
}


ROW_RETURNS = {
    **dict.fromkeys(("value", "violation", "dual_norm", "conjugate"), "float64"),
    **dict.fromkeys(("zero_threshold", "addend", "curvature_bound"), "float64"),
    **dict.fromkeys(("prox", "prox_added", "project_tangent", "gradient", "hessian_vec"), ""),
    "stays_zero": "boolean",
}
