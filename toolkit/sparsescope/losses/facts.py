"""Facts about a loss that problems and tests ask for in Python: its model at W = 0, its curvature, its formula."""

from __future__ import annotations

import numpy as np


class LossFacts:
    """Facts that a loss may state, with the defaults of one that states none."""

    __slots__ = ()

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
