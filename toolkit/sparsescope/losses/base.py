"""What every loss offers, and the repairs of dual points that several of them share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..jit.parts import helper
from ..registry import LAST, Field

# Rounding can push a dual point out of its domain by this much (relative to 1) without harm; beyond it the conjugate
# is +inf. Single precision needs the width.
DOMAIN_SLACK = 1e-5
OFF_FACE = 1e-10  # dual entries below it count as zero: which side of it rounding leaves them on must not matter
LEVEL = 1e-9  # of the margin: scores that differ by less are level


def _value_face(function: Any, loss: Any, z: Any, y: Any) -> Any:
    """ℓ of one sample's scores (m,), or of each row of Z (n, m) with its target: (n,)."""
    if np.ndim(z) == 1:
        return function(loss, z, y)
    return np.array([function(loss, row, target) for row, target in zip(np.asarray(z), y, strict=True)])


def _gradient_face(function: Any, loss: Any, z: Any, y: Any, *rest: Any) -> Any:
    """∇ℓ of one sample's scores (m,), or of each row of Z (n, m); with more arguments, the row function itself."""
    if rest:
        return function(loss, z, y, *rest)
    Z = np.atleast_2d(np.asarray(z, dtype=np.float64))
    found, work = np.zeros_like(Z), np.empty(Z.shape[1])
    for row, target, result in zip(Z, [y] if np.ndim(z) == 1 else y, found, strict=True):
        function(loss, row, target, 1.0, result, work)
    return found[0] if np.ndim(z) == 1 else found


class Loss:
    """A loss ℓ(z, y) of one sample's scores z (length m) and its target y: a class in 0…m−1, or a label set.

    A label set is a row of an indicator matrix: uint8 of length m. ``target_types`` says which targets a loss takes,
    out of ``"classes"`` and ``"sets"``; one that takes both asks :mod:`sparsescope.losses.targets` which labels y has.

    A loss is a class decorated with ``@part`` that inherits from this one and defines the functions of one row below.
    They are called from compiled kernels (and interpreted in tests), so they use loops and scalars and never allocate.

    ==================================  =====================================================================
    ``value(z, y)``                     ℓ(z, y)
    ``gradient(z, y, x, g, work)``      adds x·∇ℓ to g, returns ℓ
    ``derivatives(z, y, x, g, h, work)``  adds x·∇ℓ to g and x²·diag ∇²ℓ to h, returns ℓ
    ``hessian_product(z, y, v, out)``   out = ∇²ℓ(z, y)·v (generalised where ℓ has kinks; ``out`` is not ``v``)
    ``conjugate(u, y)``                 ℓ*(u) or an upper bound of it, +inf outside its domain
    ``repair(U, Y)``                    changes the rows of U inside the domain so that Σ_i u_i = 0 (intercepts)
    ==================================  =====================================================================

    Three more have a plain form here, which a loss replaces if it knows a faster one: ``is_inactive``,
    ``hessian_diag`` and ``update_scores``, for solvers that keep u_i = ∇ℓ(z_i, y_i) of every sample beside its scores.
    Sample weights need nothing of a loss (:class:`sparsescope.losses.weighted.WeightedLoss` is made of it), unless its
    ``repair`` depends on how large the domain is: then it defines ``repair_weighted`` too.

    ``hessian_product`` is needed by second-order solvers only; a loss without it is solved by first-order steps.
    A loss with kinks has ``prox_conjugate(v, y, sigma)``: v ← prox_{σℓ*}(v) in place, a row of the domain of ℓ*, and
    ``margin``, the unit of its scores; `fbpd` needs both. ``along_face(u, y, v)`` projects v in place on the directions
    along the face of that domain that u = prox_{σℓ*}(…) lies on, where ℓ* is linear: the derivative of the prox, which
    `ssnal` needs.
    ``work`` is a scratch row of length m (float64) whose contents are free. Class attributes say what the planners
    need: ``smooth`` (has a gradient with a Lipschitz constant) and ``difference_curvature`` (for losses that are a
    separable function of the differences of scores between labels on and off the target: the bound of its second
    derivative, which gives a tighter constant for the full gradient, MATH §2); and for label sets ``threshold``: labels
    that score above it are predicted (``None``: the scores have no natural zero, it is chosen on the training data).
    ``one_score``: a sample has a single score, z (1,), which tells two classes y ∈ {0, 1} apart; positive means 1.

    What the contract tests need to know stands here as well: :meth:`reference`, ``hinges`` (a sample whose margins are
    all kept has neither gradient nor curvature, and ``is_inactive`` says so) and ``tight`` (the largest eigenvalue of
    ∇²ℓ comes as near to ``curvature`` as one likes).
    """

    __slots__ = ()
    # Called from Python, ``value(Z, y)`` and ``gradient(Z, y)`` take one sample or all of them.
    faces: ClassVar[dict[str, Any]] = {"value": _value_face, "gradient": _gradient_face}
    fields: ClassVar[tuple[Field, ...]] = ()
    title: ClassVar[str] = ""
    doc: ClassVar[str] = ""
    formula: ClassVar[str] = ""
    source: ClassVar[str] = ""
    target_types: ClassVar[tuple[str, ...]] = ("classes",)
    threshold: ClassVar[float | None] = None
    smooth: ClassVar[bool] = True
    difference_curvature: ClassVar[float | None] = None
    one_score: ClassVar[bool] = False
    hinges: ClassVar[bool] = False
    tight: ClassVar[bool] = False
    menu_order: ClassVar[float] = LAST

    # The functions of one row, declared for readers and type checkers. They are defined by each loss.
    value: Any
    gradient: Any
    derivatives: Any
    hessian_product: Any
    conjugate: Any
    repair: Any
    prox_conjugate: Any
    along_face: Any

    def reference(self, Z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluate the loss by its formula in plain numpy: what the compiled functions are tested against.

        Parameters
        ----------
        Z
            Scores (n, m).
        y
            Classes (n,), or an indicator of label sets (n, m).

        Returns
        -------
        tuple
            ℓ(z_i, y_i) of every sample, (n,), and ∇ℓ(z_i, y_i), (n, m).
        """
        raise TypeError(f"{type(self).__name__} does not define reference(Z, y), its formula in plain numpy")

    def is_inactive(self, u, y):  # type: ignore[no-untyped-def]
        """Whether u = ∇ℓ says that the sample has neither gradient nor curvature: all its hinges are inactive.

        A loss without hinges has no idle samples; False is always a right answer. With sample weights u is a positive
        multiple of ∇ℓ.
        """
        return False

    def hessian_diag(self, z, u, y, x, h, work):  # type: ignore[no-untyped-def]
        """Adds x²·diag ∇²ℓ to h, given u = ∇ℓ(z, y). ``work`` is (2, m), its first row finite.

        h is (2, m), the sum of two rows: what belongs to a single label goes into the second one, because a store of
        one number holds up the vector instructions that load its neighbours with it.
        """
        self.derivatives(z, y, x, work[0], h[0], work[1])

    def update_scores(self, z, y, x, delta, u, work):  # type: ignore[no-untyped-def]
        """Adds x·delta to z and writes u = ∇ℓ(z, y) at the new z; returns ℓ there. ``work`` is (2, m)."""
        for r in range(z.size):
            z[r] += x * delta[r]
            u[r] = 0.0
        return self.gradient(z, y, 1.0, u, work[1])

    def scaled_conjugate(self, z, u, y, scale, work):  # type: ignore[no-untyped-def]
        """ℓ*(scale·u) for u = ∇ℓ(z, y), or an upper bound of it: losses whose conjugate is only known there define it.

        The dual value is made of this. ``work`` is (2, m).
        """
        row = work[0]
        for r in range(u.size):
            row[r] = scale * u[r]
        return self.conjugate(row, y)

    def repaired_conjugate(self, z, u, y, scale, work):  # type: ignore[no-untyped-def]
        """The same for a row u that was ∇ℓ(z, y) before :meth:`repair` changed it."""
        return self.scaled_conjugate(z, u, y, scale, work)

    def repair_weighted(self, U, Y, weights):  # type: ignore[no-untyped-def]
        """:meth:`repair` for rows u_i in weights_i times the domain of ℓ*. As without weights, for losses whose repair
        only shrinks entries, or moves them within their row."""
        self.repair(U, Y)

    def probabilities(self, Z: np.ndarray) -> np.ndarray | None:
        """Return the probabilities of classes or labels that the model gives, or ``None`` if the loss implies none.

        Parameters
        ----------
        Z
            Scores (n, m).

        Returns
        -------
        numpy.ndarray or None
            (n, classes); rows sum to 1 for classes.
        """
        return None

    def null_intercept(self, weights: np.ndarray) -> np.ndarray | None:
        """The best intercept at W = 0 where it has a formula, else ``None``. weights : shares of the classes, (m,)."""
        return None

    def null_subgradients(self, weights: np.ndarray, intercept: bool) -> np.ndarray | None:
        """For losses with kinks: a subgradient at W = 0 (and the best intercept) for each class, shape (m, m), with
        Σ_c weights_c·u_c = 0 if there is an intercept. They give an upper bound of λ_max."""
        return None

    def null_of_sets(self, Y: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray] | None:
        """For losses with kinks and label sets Y (n, m) of samples with weights (n,), or equal ones: the best intercept
        at W = 0, shape (m,), and subgradients u_i of ℓ there, (n, m), with Σ_i weights_i·u_i = 0. ``None`` if there is
        no rule for them (smooth losses need none)."""
        return None

    def null_faces(self, b: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """For losses with kinks whose subgradients are flows between labels: all of them at scores b (m,), the same of
        every sample. y : as in a problem, n targets.

        (receive, send, loose): a subgradient has entries ≥ 0 where ``receive`` (n, m), ≤ 0 where ``send`` (n, m), 0
        elsewhere; it sums to zero, and its positive entries to 1, or to at most 1 where ``loose`` (n,). Rows without a
        label to receive are zero. ``None`` if there is no such rule.
        """
        return None

    def validate(self, m: int) -> str | None:
        """What is wrong with the loss for m scores, in words, where it is a user's own and can be checked; ``None`` if
        nothing was found."""
        return None

    def curvature(self, m: int) -> float:
        """c: upper bound of the largest eigenvalue of ∇²_z ℓ for m classes."""
        raise TypeError(f"{type(self).__name__} does not define its curvature")

    def paper_curvature(self, m: int) -> float:
        """The constant as printed in the loss's paper; the same as :meth:`curvature` unless the paper's is larger."""
        return self.curvature(m)

    def class_aware(self, sums: np.ndarray) -> np.ndarray | None:
        """Bounds n·K_j from the class sums s_jc = Σ_{i: y_i=c} x_ij² (shape (d, m)), or ``None`` if none is better."""
        return None

    def set_aware(self, norms: np.ndarray, sums: np.ndarray, m: int) -> np.ndarray | None:
        """The same for label sets, or ``None``. Only samples with some labels, but not all, are counted.

        norms : Σ_i x_ij², shape (d,). sums : Σ_i x_ij²·D_ic, shape (d, m), where D_ic is the number of labels on the
        other side of c: m − |Y_i| if c is in Y_i, else |Y_i|.
        """
        return None


def worst_pairs(b: np.ndarray, inside: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The faces of max(0, μ + max_{r∉Y} b_r − min_{p∈Y} b_p), as of :meth:`Loss.null_faces`. inside : Y_i, (n, m) bool.

    Scores within 1e-9 of the margin count as level: b is a solution up to rounding only.
    """
    level = LEVEL * margin
    top = np.where(inside, -np.inf, b).max(axis=1)
    low = np.where(inside, b, np.inf).min(axis=1)
    value = margin + top - low  # −∞ for empty and full sets
    counts = (value >= -level)[:, None]
    return (
        ~inside & (b >= top[:, None] - level) & counts,
        inside & (b <= low[:, None] + level) & counts,
        np.abs(value) <= level,
    )


@helper
def all_zero(u):  # type: ignore[no-untyped-def]
    """Whether every entry of a row is exactly zero. Adds up instead of leaving early: vector instructions."""
    total = 0.0
    for r in range(u.size):
        total += abs(u[r])
    return total == 0.0


@helper
def repair_flows(U, Y):  # type: ignore[no-untyped-def]
    """Make the columns of U sum to zero for losses whose dual rows are u = q − t·e_y, with flows q ≥ 0 off the class y.

    MATH §7: class c receives Q_c = Σ_i q_ic and sends N_c = Σ_{i: y_i=c} t_i. Columns that receive too much are cut by
    N_c/Q_c and what that frees goes, within its own row, to the columns that receive too little. Row masses t_i stay,
    so every row stays in the domain.
    """
    n, m = U.shape
    sent = np.zeros(m)
    received = np.zeros(m)
    for i in range(n):
        for r in range(m):
            if r != Y[i]:
                sent[Y[i]] += U[i, r]
                received[r] += U[i, r]
    keep = np.ones(m)
    share = np.zeros(m)
    lacking = 0.0
    for c in range(m):
        if received[c] > sent[c]:
            keep[c] = sent[c] / received[c]
        else:
            share[c] = sent[c] - received[c]
            lacking += share[c]
    for c in range(m):
        share[c] = share[c] / lacking if lacking > 0.0 else 0.0
    for i in range(n):
        y = Y[i]
        freed = 0.0
        mass = 0.0
        for r in range(m):
            if r != y:
                mass += U[i, r]
                freed += (1.0 - keep[r]) * U[i, r]
        for r in range(m):
            if r != y:
                U[i, r] = keep[r] * U[i, r] + freed * share[r]
        # What the row frees for its own class would flow from y to y: it cancels, and the row's mass shrinks by it.
        U[i, y] = -(mass - freed * share[y])
