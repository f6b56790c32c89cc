"""Separation ranking (Crammer and Singer 2003; Yen et al. 2016, Eq. 2): max(0, 1 + max_{r∉Y} z_r − min_{p∈Y} z_p)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy

from ..jit.parts import part, two_forms
from ..kernels.projections import cut_to_set_flows
from ..registry import losses
from .base import DOMAIN_SLACK, OFF_FACE, Loss
from .crammer_singer import CrammerSinger
from .flows import worst_pairs
from .label_flows import repair_label_flows
from .reference import indicator

HINGE = CrammerSinger(margin=1.0)


# A class is a set with one label, and the loss is then the Crammer–Singer hinge with margin 1, which is written for it.
def class_value(z, y):  # type: ignore[no-untyped-def]
    return HINGE.value(z, y)


def set_value(z, y):  # type: ignore[no-untyped-def]
    top, low = -np.inf, np.inf
    for r in range(z.size):
        if y[r] != 0:
            low = min(low, z[r])
        else:
            top = max(top, z[r])
    return max(1.0 + top - low, 0.0)  # an empty or full set leaves −inf in it


def class_gradient(z, y, x, g, work):  # type: ignore[no-untyped-def]
    return HINGE.gradient(z, y, x, g, work)


def set_gradient(z, y, x, g, work):  # type: ignore[no-untyped-def]
    top, low = -np.inf, np.inf
    for r in range(z.size):
        if y[r] != 0:
            low = min(low, z[r])
        else:
            top = max(top, z[r])
    if 1.0 + top - low <= 0.0:
        return 0.0
    above, below = 0.0, 0.0
    for r in range(z.size):
        if y[r] != 0:
            below += z[r] <= low
        else:
            above += z[r] >= top
    for r in range(z.size):
        if y[r] != 0:
            if z[r] <= low:
                g[r] -= x / below
        elif z[r] >= top:
            g[r] += x / above
    return 1.0 + top - low


def class_conjugate(u, y):  # type: ignore[no-untyped-def]
    return HINGE.conjugate(u, y)


def set_conjugate(u, y):  # type: ignore[no-untyped-def]
    mass, net = 0.0, 0.0
    for r in range(u.size):
        net += u[r]
        if y[r] != 0:
            if u[r] > DOMAIN_SLACK:
                return np.inf
        else:
            if u[r] < -DOMAIN_SLACK:
                return np.inf
            mass += u[r]
    if mass > 1.0 + DOMAIN_SLACK or abs(net) > DOMAIN_SLACK:
        return np.inf
    return -mass


def class_prox_conjugate(v, y, sigma):  # type: ignore[no-untyped-def]
    HINGE.prox_conjugate(v, y, sigma)


def set_prox_conjugate(v, y, sigma):  # type: ignore[no-untyped-def]
    for r in range(v.size):
        if y[r] == 0:
            v[r] += sigma
    cut_to_set_flows(v, y, 1.0)


def class_along_face(u, y, v):  # type: ignore[no-untyped-def]
    HINGE.along_face(u, y, v)


def set_along_face(u, y, v):  # type: ignore[no-untyped-def]
    mass = 0.0
    for r in range(u.size):
        mass += max(u[r], 0.0)
    whole = mass >= 1.0 - OFF_FACE  # then the sums of both sides stay, else only their difference
    above, below, highs, lows = 0.0, 0.0, 0, 0
    for r in range(u.size):
        if u[r] > OFF_FACE:
            above += v[r]
            highs += 1
        elif u[r] < -OFF_FACE:
            below += v[r]
            lows += 1
    for r in range(u.size):
        if abs(u[r]) <= OFF_FACE:
            v[r] = 0.0
        elif not whole:
            v[r] -= (above + below) / (highs + lows)
        else:
            v[r] -= above / highs if u[r] > 0.0 else below / lows


def class_repair(U, Y, y, weights):  # type: ignore[no-untyped-def]
    HINGE.repair(U, Y)


def set_repair(U, Y, y, weights):  # type: ignore[no-untyped-def]
    # More flow from a set's labels to the others keeps the signs and the sums of a row, but its mass may pass the
    # sample's weight: then all rows shrink together, so that the columns still sum to zero.
    repair_label_flows(U, Y, y, weights)
    heaviest = 1.0
    for i in range(U.shape[0]):
        mass = 0.0
        for r in range(U.shape[1]):
            mass += max(U[i, r], 0.0)
        heaviest = max(heaviest, mass / weights[i])
    for i in range(U.shape[0]):
        for r in range(U.shape[1]):
            U[i, r] /= heaviest


value = two_forms(class_value, set_value, by=1)
gradient = two_forms(class_gradient, set_gradient, by=1, makes_arrays=False)
conjugate = two_forms(class_conjugate, set_conjugate, by=1)
prox_conjugate = two_forms(class_prox_conjugate, set_prox_conjugate, by=1)
along_face = two_forms(class_along_face, set_along_face, by=1)
repair = two_forms(class_repair, set_repair, by=2)


@part
class SeparationRanking(Loss):
    """The worst pair of a label in the set and one off it, by a hinge (Yen et al. 2016, Eq. 2).

    Empty and full sets have no pairs: their loss is 0. For a class it is the Crammer–Singer hinge with margin 1. It
    is not smooth; ``gradient`` adds a subgradient: the highest labels off the set and the lowest in it share evenly.
    """

    title = "separation ranking hinge"
    menu_order = 80
    hinges = True
    doc = (
        "The lowest label of a sample should score at least 1 above the highest one it does not have; only the "
        "worst pair counts. It is not smooth."
    )
    formula = "max(0, 1 + max_{r∉Y} z_r − min_{p∈Y} z_p)"
    source = "Crammer and Singer 2003; Yen et al. 2016, Eq. 2"
    target_types = ("classes", "sets")
    smooth = False
    of_differences = True
    margin: ClassVar[float] = 1.0

    def reference(self, Z, y):
        values, U = np.zeros(len(Z)), np.zeros(Z.shape)
        for i, (z, labels) in enumerate(zip(Z, indicator(Z, y), strict=True)):
            inside, outside = np.flatnonzero(labels == 1), np.flatnonzero(labels == 0)
            if inside.size and outside.size:
                values[i] = max(0.0, 1.0 - z[inside].min() + z[outside].max())
            if values[i] > 0.0:  # even shares of all pairs that are level with the worst one
                low, high = inside[z[inside] == z[inside].min()], outside[z[outside] == z[outside].max()]
                U[i, low], U[i, high] = -1.0 / low.size, 1.0 / high.size
        return values, U

    def value(self, z, y):
        return value(z, y)

    def gradient(self, z, y, x, g, work):
        return gradient(z, y, x, g, work)

    def derivatives(self, z, y, x, g, h, work):
        # The loss is piecewise linear: nothing is added to h.
        return gradient(z, y, x, g, work)

    def hessian_product(self, z, y, v, out):
        for r in range(z.size):
            out[r] = 0.0

    def conjugate(self, u, y):
        return conjugate(u, y)

    def prox_conjugate(self, v, y, sigma):
        prox_conjugate(v, y, sigma)

    def along_face(self, u, y, v):
        along_face(u, y, v)

    def repair(self, U, Y):
        repair(U, Y, Y[0], np.ones(U.shape[0]))

    def repair_weighted(self, U, Y, weights):
        repair(U, Y, Y[0], weights)

    def curvature(self, m: int) -> float:
        raise TypeError("the separation ranking hinge is not smooth: its gradient has no Lipschitz constant")

    def null_intercept(self, weights: np.ndarray) -> np.ndarray:
        return HINGE.null_intercept(weights)

    def null_faces(self, b: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return HINGE.null_faces(b, y) if y.ndim == 1 else worst_pairs(b, y != 0, self.margin)

    def null_subgradients(self, weights: np.ndarray, intercept: bool) -> np.ndarray:
        return HINGE.null_subgradients(weights, intercept)

    def null_of_sets(self, Y: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the best intercept at W = 0, with subgradients there.

        Parameters
        ----------
        Y
            label sets (n, m).
        weights
            weights of the samples, (n,); ``None``: equal.

        Returns
        -------
        tuple[np.ndarray, np.ndarray]
            the intercept (m,) and subgradients u_i of ℓ, (n, m), with Σ_i weights_i·u_i = 0.

        Raises
        ------
        FloatingPointError
            if the linear programme fails.
        """
        from scipy.optimize import linprog  # slow to import, and few problems need it

        sets, which = np.unique(Y, axis=0, return_inverse=True)
        which = which.reshape(-1)
        counts = np.bincount(which, weights)
        q, m = sets.shape
        sign = np.where(sets.ravel() != 0, -1.0, 1.0)
        share = np.repeat(counts / counts.sum(), m)
        entry, row = np.arange(q * m), np.repeat(np.arange(q), m)
        # What leaves a set goes to labels off it.
        balance = scipy.sparse.csr_array((sign, (row, entry)), shape=(q, q * m))
        columns = scipy.sparse.csr_array((sign * share, (entry % m, entry)), shape=(m, q * m))
        off = scipy.sparse.csr_array((np.maximum(sign, 0.0), (row, entry)), shape=(q, q * m))
        found = linprog(
            -share * np.maximum(sign, 0.0),
            A_ub=off,
            b_ub=np.ones(q),
            A_eq=scipy.sparse.vstack([balance, columns]),
            b_eq=np.zeros(q + m),
            method="highs",
        )
        if found.status != 0:
            raise FloatingPointError(f"the best intercept for zero weights was not found: {found.message}")
        return found.eqlin.marginals[q:], (sign * found.x).reshape(q, m)[which]


losses.add("separation-ranking", SeparationRanking)
