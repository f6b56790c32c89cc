"""Base class of losses."""

from __future__ import annotations

from typing import Any, ClassVar

from ..jit.parts import helper
from ..registry import LAST, Field, RowFunctions
from .facts import LossFacts
from .row_functions import ROW_DOCS, ROW_RETURNS, gradient_face, value_face

# Rounding can push a dual point out of its domain by this much (relative to 1) without harm; beyond it the conjugate
# is +inf. Single precision needs the width.
DOMAIN_SLACK = 1e-5
OFF_FACE = 1e-10  # dual entries below it count as zero: which side of it rounding leaves them on must not matter


class Loss(LossFacts, RowFunctions):
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

    Nine more have a default, which a loss replaces by a faster form: ``values``, ``gradients`` and
    ``gradient_conjugates`` for many samples at once, ``gradient_conjugate`` for certificates, and ``is_inactive``,
    ``hessian_diag``, ``hessian_product_from``, ``hessian_factors`` and ``update_scores``, for solvers that keep
    u_i = ∇ℓ(z_i, y_i) of every sample. Sample weights need no code in a loss (see
    :class:`sparsescope.losses.weighted.WeightedLoss`), unless its ``repair`` depends on the size of the domain: then it
    also defines ``repair_weighted``.

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
    ``one_score``: a sample has a single score, z (1,), which separates two classes y ∈ {0, 1}; positive means 1;
    ``quadratic``: ∇²ℓ is the identity everywhere, so that one least squares step reaches the optimum under a ridge;
    ``separable``: the loss is a sum of functions of single scores, so ∇²ℓ is diagonal; ``factored``:
    ∇²ℓ = diag(a) − bbᵀ with the vectors of ``hessian_factors``, which such a loss defines.

    For the contract tests: :meth:`reference`, ``hinges`` (a sample that satisfies all its margins has neither gradient
    nor curvature, and ``is_inactive`` is True) and ``tight`` (the supremum of the largest eigenvalue of ∇²ℓ is
    ``curvature``).
    """

    __slots__ = ()
    row_docs: ClassVar[dict[str, str]] = ROW_DOCS
    row_returns: ClassVar[dict[str, str]] = ROW_RETURNS
    # Called from Python, ``value(Z, y)`` and ``gradient(Z, y)`` take one sample or all of them.
    faces: ClassVar[dict[str, Any]] = {"value": value_face, "gradient": gradient_face}
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
    quadratic: ClassVar[bool] = False
    separable: ClassVar[bool] = False
    factored: ClassVar[bool] = False
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

    def in_one_score(self) -> Loss | None:
        """Return the loss ℓ̃ of one score with ℓ((−s/2, s/2), y) = ℓ̃(s, y) for two classes.

        Returns
        -------
        Loss | None
            the loss, or ``None`` if there is none; then two classes are solved with a score for each.
        """
        return None

    def values(self, Z, Y, work, sums):  # type: ignore[no-untyped-def]
        """Evaluate Σ_i ℓ(z_i, y_i) over b samples.

        Parameters
        ----------
        Z
            scores (b, m).
        Y
            targets (b, …).
        work
            scratch array (b·m,).
        sums
            scratch array (b,).

        Returns
        -------
        float
            the sum.
        """
        total = 0.0
        for i in range(Z.shape[0]):
            total += self.value(Z[i], Y[i])
        return total

    def gradients(self, Z, Y, U, work, sums):  # type: ignore[no-untyped-def]
        """Compute U_i = ∇ℓ(z_i, y_i) of b samples.

        Parameters
        ----------
        Z
            scores (b, m).
        Y
            targets (b, …).
        U
            array (b, m) to write to.
        work
            scratch array (b·m,).
        sums
            scratch array (b,).

        Returns
        -------
        float
            Σ_i ℓ(z_i, y_i).
        """
        total = 0.0
        U[:] = 0.0
        for i in range(Z.shape[0]):
            total += self.gradient(Z[i], Y[i], 1.0, U[i], work[: Z.shape[1]])
        return total

    def is_inactive(self, u, y):  # type: ignore[no-untyped-def]
        """Return whether u = ∇ℓ shows that the sample has neither gradient nor curvature: all its hinges are inactive.

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

    def hessian_product_from(self, z, u, y, v, out):  # type: ignore[no-untyped-def]
        """Compute out = ∇²ℓ(z, y)·v, given u = ∇ℓ(z, y).

        Parameters
        ----------
        z
            scores (m,).
        u
            gradient (m,).
        y
            target.
        v
            vector (m,).
        out
            array (m,) to write to, other than ``v``; it may be ``u``.
        """
        self.hessian_product(z, y, v, out)

    def hessian_factors(self, z, u, y, a, b):  # type: ignore[no-untyped-def]
        """Compute a and b with ∇²ℓ(z, y) = diag(a) − bbᵀ, given u = ∇ℓ(z, y), for a loss that is ``factored``.

        Parameters
        ----------
        z
            scores (m,).
        u
            gradient (m,).
        y
            target.
        a, b
            arrays (m,) to write to; a may be ``u``.
        """
        for r in range(u.size):
            a[r] = b[r] = 0.0

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

    def gradient_conjugate(self, z, u, y, scale, work):  # type: ignore[no-untyped-def]
        """Evaluate :meth:`scaled_conjugate` for a row u that is ∇ℓ(z, y) to the last digits, not a solver's own one.

        A loss replaces it where z makes that faster. Certificates along a run spend most of their time in it.

        Parameters
        ----------
        z
            scores (m,).
        u
            gradient (m,) at these scores.
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

    def gradient_conjugates(self, Z, U, Y, scale, kept, work, sums):  # type: ignore[no-untyped-def]
        """Evaluate Σ_i :meth:`gradient_conjugate` over b samples, each scaled by a share, too.

        Parameters
        ----------
        Z
            scores (b, m).
        U
            gradients (b, m) at these scores.
        Y
            targets (b, …).
        scale
            factor in [0, 1].
        kept
            shares (b,) in [0, 1], or (1,) if it is the same for all.
        work
            scratch array (b·m,), and at least (3·m,).
        sums
            scratch array (b,).

        Returns
        -------
        float
            the sum.
        """
        total = 0.0
        rows = work[: 3 * Z.shape[1]].reshape(3, Z.shape[1])
        for i in range(Z.shape[0]):
            share = scale * kept[i if kept.size > 1 else 0]
            total += self.gradient_conjugate(Z[i], U[i], Y[i], share, rows)
        return total

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


@helper
def all_zero(u):  # type: ignore[no-untyped-def]
    """Return whether every entry of a row is exactly zero. Adds up instead of leaving early: vector instructions."""
    total = 0.0
    for r in range(u.size):
        total += abs(u[r])
    return total == 0.0
