"""What every penalty offers, and the small row functions several of them share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..jit.parts import helper
from ..registry import LAST, Field


def _value_face(function: Any, penalty: Any, w: Any) -> Any:
    """Ω of one row (m,), or of a whole W (d, m): the sum over its rows."""
    return function(penalty, w) if np.ndim(w) == 1 else float(sum(function(penalty, row) for row in np.asarray(w)))


def _prox_face(function: Any, penalty: Any, v: Any, tau: float, out: Any = None) -> Any:
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


class Penalty:
    """A penalty Ω(W) = Σ_j Ω(W_j) that is a sum over the rows of W (one row a feature, one entry a class).

    A penalty is a class decorated with ``@part`` that inherits from this one and defines these functions of one row:

    =========================  ==============================================================================
    ``value(w)``               Ω(w)
    ``prox(v, tau, out)``      out = argmin ½‖w − v‖² + τΩ(w); ``out`` may be ``v``
    ``violation(g, w, lam)``   dist(−g, λ∂Ω(w)), the exact optimality violation (MATH §7)
    ``dual_norm(v)``           gauge of the domain of Ω*: Ω*(v/t) is finite exactly for t ≥ dual_norm(v); 0 if Ω* is
                               finite everywhere. It need not be the same for −v: Ω may prefer a sign
    ``conjugate(v)``           Ω*(v) for v inside that domain
    ``zero_threshold(g)``            the smallest λ at which a zero row with gradient g stays zero (+inf: at none)
    =========================  ==============================================================================

    Second-order solvers use four more, which describe Ω on the smooth piece (manifold) that a non-zero row w lies on:
    the entries that may move without Ω meeting a kink. A penalty without them is solved by first-order steps.

    =========================  ==============================================================================
    ``project_tangent(w, v)``          projects v in place on the directions along the piece (zero entries of the lasso
                               stay zero, tied entries of ℓ1/ℓ∞ move together)
    ``gradient(w, lam, out)``     out += λ∇Ω(w) along the piece
    ``hessian_vec(w, lam, v, out)``   out += λ∇²Ω(w)·v along the piece, for a tangent v
    ``curvature_bound(w, lam)``      a bound of the eigenvalues of λ∇²Ω(w) along the piece
    =========================  ==============================================================================

    Three more have a default here, and are defined by a penalty that knows better:

    =========================  ==============================================================================
    ``stays_zero(g, lam)``     whether a zero row with gradient g is optimal: critical(g) ≤ λ
    ``addend(tau)``            what adds up over prox steps in a row: with A = Σ_i addend(τ_i),
    ``prox_added(v, A, out)``  out = prox_{τ_k}(… prox_{τ_1}(v)) (MATH §7, if the class says ``adds_up``)
    =========================  ==============================================================================

    Class attributes: ``zeroes_rows`` (the prox can set whole rows or entries to zero), ``is_norm`` (Ω is a norm of the
    row, so that the criterion of Blondel et al., Eq. 9, is defined), ``adds_up`` (prox steps in a row have the closed
    form above; a penalty without it has them done one after the other).
    """

    __slots__ = ()
    # Called from Python, ``value(W)`` takes a row or a whole W, and ``prox(v, step)`` returns an array.
    faces: ClassVar[dict[str, Any]] = {"value": _value_face, "prox": _prox_face}
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
        """Evaluate Ω of every row of W by its formula in plain numpy: what the compiled functions are tested against.

        Parameters
        ----------
        W
            Rows (k, m).

        Returns
        -------
        numpy.ndarray
            Ω(W_j) of every row, (k,).
        """
        raise TypeError(f"{type(self).__name__} does not define reference(W), its formula in plain numpy")

    def rescaled(self, unit: float) -> tuple[Penalty, float]:
        """(Ω̃, f) with Ω(c·W) = f·Ω̃(W) for a number c = ``unit`` > 0; here those of a norm."""
        return self, unit

    def entry_terms(self) -> tuple[float, float] | None:
        """(a, b) if Ω(w) = Σ_k a·|w_k| + b·½w_k², a sum over single entries, else ``None``."""
        return None

    def spread(self, size: int) -> float:
        """A factor c with critical(v) ≤ c·‖v‖₂ for vectors of this size; +inf: there is none. With it a duality gap
        proves that rows are zero at the optimum."""
        return float("inf")

    def tiny_sibling(self) -> Penalty:
        """A penalty that compiles the same kernels and takes every problem: this one, unless it needs certain data."""
        return self

    def at(self, j):  # type: ignore[no-untyped-def]
        """The penalty of row j (of a block, for blocks of features): this one, unless rows have weights."""
        return self

    def of_rows(self, rows: Any) -> Any:
        """The penalty of some of the rows (a slice or their numbers): this one, unless rows have weights."""
        return self

    def stays_zero(self, g, lam):  # type: ignore[no-untyped-def]
        return self.zero_threshold(g) <= lam

    def addend(self, tau):  # type: ignore[no-untyped-def]
        return tau

    def prox_added(self, v, total, out):  # type: ignore[no-untyped-def]
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
    """Whether an entry of a row is below 0."""
    return np.min(w) < 0.0


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
