"""Base class of penalties, and small row functions that several penalties share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..jit.parts import helper
from ..registry import LAST, Field, RowFunctions
from .row_functions import ROW_DOCS, ROW_RETURNS, prox_face, value_face


class Penalty(RowFunctions):
    """Base of all penalties Ω(W) = Σ_j Ω(W_j), sums over the rows of W (one row per feature, one entry per class).

    A penalty is a class decorated with ``@part`` that inherits from this one and defines these functions of one row:

    =========================  ==============================================================================
    ``value(w)``               Ω(w)
    ``prox(v, tau, out)``      out = argmin ½‖w − v‖² + τΩ(w); ``out`` may be ``v``
    ``violation(g, w, lam)``   dist(−g, λ∂Ω(w)), the exact optimality violation
    ``dual_norm(v)``           gauge of the domain of Ω*: Ω*(v/t) is finite exactly for t ≥ dual_norm(v); 0 if Ω* is
                               finite everywhere. It may differ for −v: Ω may prefer a sign
    ``conjugate(v)``           Ω*(v) for v inside that domain
    ``zero_threshold(g)``      the smallest λ at which a zero row with gradient g stays zero (+∞: at none)
    =========================  ==============================================================================

    Second-order solvers use four more, which describe Ω on the smooth piece (manifold) that a non-zero row w lies on:
    the entries that may move while Ω stays differentiable. A penalty without them is solved by first-order steps.

    =================================  ======================================================================
    ``project_tangent(w, v)``          projects v in place on the tangent space of the piece (zero entries of the
                                       lasso stay zero, tied entries of ℓ1/ℓ∞ move together)
    ``gradient(w, lam, out)``          out += λ∇Ω(w) along the piece
    ``hessian_vec(w, lam, v, out)``    out += λ∇²Ω(w)·v along the piece, for a tangent v
    ``curvature_bound(w, lam)``        a bound of the eigenvalues of λ∇²Ω(w) along the piece
    =================================  ======================================================================

    Three more have a default, which a penalty may replace:

    ==========================  =============================================================================
    ``stays_zero(g, lam)``      whether a zero row with gradient g is optimal: zero_threshold(g) ≤ λ
    ``addend(tau)``             the term of successive prox steps: with A = Σ_i addend(τ_i),
    ``prox_added(v, A, out)``   out = prox_{τ_k}(… prox_{τ_1}(v)) (if the class sets ``adds_up``)
    ==========================  =============================================================================

    Class attributes: ``zeroes_rows`` (the prox can set whole rows or entries to zero), ``is_norm`` (Ω is a norm of the
    row, so that the criterion of Blondel et al. (2013), Eq. 9, is defined), ``adds_up`` (successive prox steps have the
    closed form above; a penalty without it computes them one after the other).
    """

    __slots__ = ()
    row_docs: ClassVar[dict[str, str]] = ROW_DOCS
    row_returns: ClassVar[dict[str, str]] = ROW_RETURNS
    # Called from Python, ``value(W)`` takes a row or a whole W, and ``prox(v, step)`` returns an array.
    faces: ClassVar[dict[str, Any]] = {"value": value_face, "prox": prox_face}
    fields: ClassVar[tuple[Field, ...]] = ()
    title: ClassVar[str] = ""
    doc: ClassVar[str] = ""
    formula: ClassVar[str] = ""
    prox_formula: ClassVar[str] = ""  # of one row v with the step τ, for people
    source: ClassVar[str] = ""
    zeroes_rows: ClassVar[bool] = True
    is_norm: ClassVar[bool] = True
    adds_up: ClassVar[bool] = False
    menu_order: ClassVar[float] = LAST

    value: Any
    prox: Any
    violation: Any
    dual_norm: Any
    conjugate: Any
    zero_threshold: Any
    project_tangent: Any
    gradient: Any
    hessian_vec: Any
    curvature_bound: Any

    def reference(self, W: np.ndarray) -> np.ndarray:
        """Evaluate Ω of every row of W by its formula in plain numpy, which the compiled functions are tested against.

        Parameters
        ----------
        W
            rows (k, m).

        Returns
        -------
        np.ndarray
            Ω(W_j) of every row, (k,).

        Raises
        ------
        TypeError
            if the penalty does not define it.
        """
        raise TypeError(f"{type(self).__name__} does not define reference(W), its formula in plain numpy")

    def rescaled(self, unit: float) -> tuple[Penalty, float]:
        """Return (Ω̃, f) with Ω(c·W) = f·Ω̃(W); here those of a norm.

        Parameters
        ----------
        unit
            c > 0.

        Returns
        -------
        tuple[Penalty, float]
            the penalty Ω̃ and the factor f.
        """
        return self, unit

    def entry_terms(self) -> tuple[float, float] | None:
        """Return (a, b) if Ω is the sum of ``a·|w_k| + b·½w_k²`` over single entries.

        Returns
        -------
        tuple[float, float] | None
            the two factors, or ``None``.
        """
        return None

    def spread(self, size: int) -> float:
        """Return a factor c with zero_threshold(v) ≤ c·‖v‖₂.

        With it a duality gap proves that rows are zero at the optimum.

        Parameters
        ----------
        size
            number of entries of v.

        Returns
        -------
        float
            the factor; +∞ if there is none.
        """
        return float("inf")

    def tiny_sibling(self) -> Penalty:
        """Return a penalty that compiles the same kernels and is valid for every problem.

        It is the penalty itself unless that needs certain data.

        Returns
        -------
        Penalty
            the penalty.
        """
        return self

    def at(self, j):  # type: ignore[no-untyped-def]
        """Return the penalty of a row (of a block, for blocks of features); itself unless rows have weights.

        Parameters
        ----------
        j
            number of the row.

        Returns
        -------
        Penalty
            the penalty.
        """
        return self

    def of_rows(self, rows: Any) -> Any:
        """Return the penalty of some rows; itself unless rows have weights.

        Parameters
        ----------
        rows
            a slice, or numbers of rows.

        Returns
        -------
        Any
            the penalty.
        """
        return self

    def stays_zero(self, g, lam):  # type: ignore[no-untyped-def]
        """Return whether a zero row with gradient g is optimal: zero_threshold(g) ≤ λ.

        Parameters
        ----------
        g
            gradient of the loss part, (m,).
        lam
            λ.

        Returns
        -------
        bool
            True if it is.
        """
        return self.zero_threshold(g) <= lam

    def addend(self, tau):  # type: ignore[no-untyped-def]
        """Return the term that is added over successive prox steps: A = Σ_i addend(τ_i).

        Parameters
        ----------
        tau
            τ of one step.

        Returns
        -------
        float
            the term.
        """
        return tau

    def prox_added(self, v, total, out):  # type: ignore[no-untyped-def]
        """Compute several prox steps at once: out = prox_{τ_k}(… prox_{τ_1}(v)), if the class sets ``adds_up``.

        Parameters
        ----------
        v
            row (m,).
        total
            A, the sum of :meth:`addend` over the steps.
        out
            array (m,) to write to.
        """
        self.prox(v, total, out)


@helper
def norm2(v):  # type: ignore[no-untyped-def]
    """‖v‖₂ of a row."""
    total = 0.0
    for k in range(v.size):
        total += v[k] * v[k]
    return np.sqrt(total)


@helper
def norm1(v):  # type: ignore[no-untyped-def]
    """‖v‖₁ of a row."""
    total = 0.0
    for k in range(v.size):
        total += abs(v[k])
    return total


@helper
def norm_inf(v):  # type: ignore[no-untyped-def]
    """‖v‖_∞ of a row."""
    top = 0.0
    for k in range(v.size):
        top = max(top, abs(v[k]))
    return top


@helper
def norm2_positive(v):  # type: ignore[no-untyped-def]
    """‖max(v, 0)‖₂ of a row."""
    total = 0.0
    for k in range(v.size):
        if v[k] > 0.0:
            total += v[k] * v[k]
    return np.sqrt(total)


@helper
def largest_positive(v):  # type: ignore[no-untyped-def]
    """max(0, max_k v_k) of a row."""
    top = 0.0
    for k in range(v.size):
        top = max(top, v[k])
    return top


@helper
def has_negative(w):  # type: ignore[no-untyped-def]
    """Return whether an entry of a row is below 0."""
    found = False
    for k in range(w.size):  # np.min takes half a second to compile
        found = found or w[k] < 0.0
    return found


@helper
def shrink(v, t):  # type: ignore[no-untyped-def]
    """Soft threshold S(v, t) of a number."""
    if v > t:
        return v - t
    if v < -t:
        return v + t
    return 0.0


@helper
def l1_threshold(v, radius):  # type: ignore[no-untyped-def]
    """θ ≥ 0 with Σ_k max(|v_k| − θ, 0) = radius, or 0 if ‖v‖₁ ≤ radius (projection on an ℓ1 ball).

    Michelot's iteration: the set of entries above θ only shrinks, so it ends after at most m rounds; it needs neither
    a sort nor memory, and for the short rows of W a handful of rounds is enough.
    """
    total = 0.0
    for k in range(v.size):
        total += abs(v[k])
    if total <= radius:
        return 0.0
    count = v.size
    theta = (total - radius) / count
    while True:
        total = 0.0
        kept = 0
        for k in range(v.size):
            if abs(v[k]) > theta:
                total += abs(v[k])
                kept += 1
        if kept >= count or kept == 0:  # ">": an entry at the threshold may come back by rounding, for ever
            return theta
        count = kept
        theta = (total - radius) / count
