"""Base class of losses, and repairs of dual points that several losses share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..jit.parts import helper
from ..registry import LAST, Field, RowFunctions

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
    **dict.fromkeys(("conjugate", "scaled_conjugate", "repaired_conjugate"), "float64"),
    **dict.fromkeys(("hessian_product", "hessian_diag", "prox_conjugate", "repair", "repair_weighted"), ""),
    "is_inactive": "boolean",
}


class Loss(RowFunctions):
    """Base of all losses ℓ(z, y) of one sample's scores z (m,) and its target y: a class in 0…m−1, or a label set.

    A label set is a row of an indicator matrix, uint8 of length m. ``target_types`` lists the targets that a loss
    takes, out of ``"classes"`` and ``"sets"``; one that takes both reads the labels of y with
    :mod:`sparsescope.losses.targets`.

    A loss is a class decorated with ``@part`` that inherits from this one and defines the functions of one row below.
    They are called from compiled kernels (and interpreted in tests), so they use loops and scalars and never allocate.

    =====================================  =================================================================
    ``value(z, y)``                        ℓ(z, y)
    ``gradient(z, y, x, g, work)``         adds x·∇ℓ to g, returns ℓ
    ``derivatives(z, y, x, g, h, work)``   adds x·∇ℓ to g and x²·diag ∇²ℓ to h, returns ℓ
    ``hessian_product(z, y, v, out)``      out = ∇²ℓ(z, y)·v (generalised Hessian; ``out`` is not ``v``)
    ``conjugate(u, y)``                    ℓ*(u) or an upper bound of it, +∞ outside its domain
    ``repair(U, Y)``                       changes the rows of U within the domain to Σ_i u_i = 0 (intercepts)
    =====================================  =================================================================

    Three more have a default, which a loss replaces by a faster form: ``is_inactive``, ``hessian_diag`` and
    ``update_scores``, for solvers that keep u_i = ∇ℓ(z_i, y_i) of every sample. Sample weights need no code in a loss
    (see :class:`sparsescope.losses.weighted.WeightedLoss`), unless its ``repair`` depends on the size of the domain:
    then it also defines ``repair_weighted``.

    ``hessian_product`` is needed by second-order solvers only; a loss without it is solved by first-order steps. A
    non-smooth loss has ``prox_conjugate(v, y, sigma)``: v ← prox_{σℓ*}(v) in place, a row of the domain of ℓ*, and
    ``margin``, the unit of its scores; ``fbpd`` needs both. ``along_face(u, y, v)`` projects v in place on the
    directions along the face of that domain that u = prox_{σℓ*}(…) lies on, where ℓ* is linear: the derivative of the
    prox, which ``ssnal`` needs. ``work`` is a scratch row of length m (float64) whose contents are free.

    Class attributes: ``smooth`` (the gradient is Lipschitz continuous); ``difference_curvature`` (for losses that are a
    separable function of the differences of scores between labels on and off the target: the bound of its second
    derivative, which gives a tighter constant for the full gradient, docs/mathematics.md, section 2); for label sets
    ``threshold``: labels that score above it are predicted (``None``: it is chosen on the training data);
    ``of_differences``: a number added to all scores of a sample changes nothing, so ∇²ℓ·1 = 0;
    ``one_score``: a sample has a single score, z (1,), which separates two classes y ∈ {0, 1}; positive means 1.

    For the contract tests: :meth:`reference`, ``hinges`` (a sample that satisfies all its margins has neither gradient
    nor curvature, and ``is_inactive`` is True) and ``tight`` (the supremum of the largest eigenvalue of ∇²ℓ is
    ``curvature``).
    """

    __slots__ = ()
    row_docs: ClassVar[dict[str, str]] = ROW_DOCS
    row_returns: ClassVar[dict[str, str]] = ROW_RETURNS
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
    of_differences: ClassVar[bool] = False
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
        """Evaluate the loss by its formula in plain numpy, which the compiled functions are tested against.

        Parameters
        ----------
        Z
            scores (n, m).
        y
            classes (n,), or an indicator of label sets (n, m).

        Returns
        -------
        tuple[np.ndarray, np.ndarray]
            ℓ(z_i, y_i) of every sample, (n,), and ∇ℓ(z_i, y_i), (n, m).

        Raises
        ------
        TypeError
            if the loss does not define it.
        """
        raise TypeError(f"{type(self).__name__} does not define reference(Z, y), its formula in plain numpy")

    def is_inactive(self, u, y):  # type: ignore[no-untyped-def]
        """Whether u = ∇ℓ shows that the sample has neither gradient nor curvature: all its hinges are inactive.

        Losses without hinges have no inactive samples; False is always correct. With sample weights u is a positive
        multiple of ∇ℓ.

        Parameters
        ----------
        u
            gradient of the sample, (m,).
        y
            target.

        Returns
        -------
        bool
            True if it is certain.
        """
        return False

    def hessian_diag(self, z, u, y, x, h, work):  # type: ignore[no-untyped-def]
        """Add x²·diag ∇²ℓ to h, given u = ∇ℓ(z, y).

        The result is the sum of the two rows of h: a term of a single label goes into the second one, because storing
        one number delays the vector instructions that load its neighbours.

        Parameters
        ----------
        z
            scores (m,).
        u
            gradient (m,).
        y
            target.
        x
            factor: an entry of X.
        h
            array (2, m) that is added to.
        work
            scratch array (2, m), its first row finite.
        """
        self.derivatives(z, y, x, work[0], h[0], work[1])

    def update_scores(self, z, y, x, delta, u, work):  # type: ignore[no-untyped-def]
        """Add x·delta to z and write u = ∇ℓ(z, y) at the new z.

        Parameters
        ----------
        z
            scores (m,), changed in place.
        y
            target.
        x
            factor: an entry of X.
        delta
            step of a row of W, (m,).
        u
            array (m,) for the gradient.
        work
            scratch array (2, m).

        Returns
        -------
        float
            ℓ at the new z.
        """
        for r in range(z.size):
            z[r] += x * delta[r]
            u[r] = 0.0
        return self.gradient(z, y, 1.0, u, work[1])

    def scaled_conjugate(self, z, u, y, scale, work):  # type: ignore[no-untyped-def]
        """Evaluate ℓ*(scale·u) for u = ∇ℓ(z, y), or an upper bound of it.

        Losses whose conjugate is only known at such points define it. The dual value is made of it.

        Parameters
        ----------
        z
            scores (m,).
        u
            gradient (m,).
        y
            target.
        scale
            factor in [0, 1].
        work
            scratch array (2, m).

        Returns
        -------
        float
            the value.
        """
        row = work[0]
        for r in range(u.size):
            row[r] = scale * u[r]
        return self.conjugate(row, y)

    def repaired_conjugate(self, z, u, y, scale, work):  # type: ignore[no-untyped-def]
        """Evaluate :meth:`scaled_conjugate` for a row u that was ∇ℓ(z, y) before :meth:`repair` changed it.

        Parameters
        ----------
        z
            scores (m,).
        u
            repaired row (m,).
        y
            target.
        scale
            factor in [0, 1].
        work
            scratch array (2, m).

        Returns
        -------
        float
            the value.
        """
        return self.scaled_conjugate(z, u, y, scale, work)

    def repair_weighted(self, U, Y, weights):  # type: ignore[no-untyped-def]
        """Repair rows u_i in weights_i times the domain of ℓ*, see :meth:`repair`.

        The default is the repair without weights, for losses whose repair only shrinks entries, or moves them within
        their row.

        Parameters
        ----------
        U
            dual rows (n, m), changed in place.
        Y
            targets of all samples.
        weights
            weights of the samples, (n,).
        """
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
        """Return the best intercept at W = 0 where it has a formula.

        Parameters
        ----------
        weights
            shares of the classes, (m,).

        Returns
        -------
        np.ndarray | None
            the intercept (m,), or ``None``.
        """
        return None

    def null_subgradients(self, weights: np.ndarray, intercept: bool) -> np.ndarray | None:
        """Return subgradients of a non-smooth loss at W = 0 (and the best intercept), which bound λ_max from above.

        Parameters
        ----------
        weights
            shares of the classes, (m,).
        intercept
            whether there is an intercept; then Σ_c weights_c·u_c = 0.

        Returns
        -------
        np.ndarray | None
            one subgradient per class, (m, m); ``None`` if there is no rule.
        """
        return None

    def null_of_sets(self, Y: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the best intercept at W = 0 of a non-smooth loss of label sets, with subgradients there.

        Parameters
        ----------
        Y
            label sets (n, m).
        weights
            weights of the samples, (n,); ``None``: equal.

        Returns
        -------
        tuple[np.ndarray, np.ndarray] | None
            the intercept (m,) and subgradients u_i of ℓ, (n, m), with Σ_i weights_i·u_i = 0; ``None`` if there is
            no rule (smooth losses need none).
        """
        return None

    def null_faces(self, b: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Return the subgradients of a non-smooth loss at scores b, the same of every sample, as flows between labels.

        A subgradient has entries ≥ 0 where ``receive``, ≤ 0 where ``send``, 0 elsewhere; it sums to zero, and its
        positive entries to 1, or to at most 1 where ``loose``. Rows without a receiving label are zero.

        Parameters
        ----------
        b
            scores (m,).
        y
            n targets, as in a problem.

        Returns
        -------
        tuple[np.ndarray, np.ndarray, np.ndarray] | None
            receive (n, m), send (n, m) and loose (n,); ``None`` if there is no such rule.
        """
        return None

    def validate(self, m: int) -> str | None:
        """Check a user-defined loss for m scores.

        Parameters
        ----------
        m
            number of scores.

        Returns
        -------
        str | None
            the fault that was found, or ``None``.
        """
        return None

    def curvature(self, m: int) -> float:
        """Return c, an upper bound of the largest eigenvalue of ∇²_z ℓ.

        Parameters
        ----------
        m
            number of classes.

        Returns
        -------
        float
            c.

        Raises
        ------
        TypeError
            if the loss does not define it.
        """
        raise TypeError(f"{type(self).__name__} does not define its curvature")

    def paper_curvature(self, m: int) -> float:
        """Return the constant as printed in the loss's paper; that of :meth:`curvature` unless the paper's is larger.

        Parameters
        ----------
        m
            number of classes.

        Returns
        -------
        float
            the constant.
        """
        return self.curvature(m)

    def class_aware(self, sums: np.ndarray) -> np.ndarray | None:
        """Return bounds n·K_j made of the class sums s_jc = Σ_{i: y_i=c} x_ij².

        Parameters
        ----------
        sums
            class sums (d, m).

        Returns
        -------
        np.ndarray | None
            the bounds (d,); ``None`` if none is better than the general one.
        """
        return None

    def set_aware(self, norms: np.ndarray, sums: np.ndarray, m: int) -> np.ndarray | None:
        """Return bounds n·K_j for label sets; only samples with some labels, but not all, are counted.

        Parameters
        ----------
        norms
            Σ_i x_ij², (d,).
        sums
            Σ_i x_ij²·D_ic, (d, m), where D_ic is the number of labels on the other side of c: m − n_i if c is in
            the set of sample i, which has n_i labels, else n_i.
        m
            number of labels.

        Returns
        -------
        np.ndarray | None
            the bounds (d,); ``None`` if none is better than the general one.
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
