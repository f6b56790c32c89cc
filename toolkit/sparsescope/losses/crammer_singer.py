"""Crammer–Singer hinge (Crammer and Singer 2001; Chierchia et al. 2015, Eq. 5): max_r (z_r − z_y + μ·[r ≠ y])."""

from __future__ import annotations

import numpy as np

from ..jit.parts import part
from ..kernels.projections import cut_to_flows
from ..registry import field, losses
from .base import DOMAIN_SLACK, OFF_FACE, Loss
from .flows import repair_flows, worst_pairs
from .reference import balanced, shifted

SHIFTS = 32  # circulations that are averaged at W = 0 with an intercept


@part
class CrammerSinger(Loss):
    """The multiclass hinge itself, not squared: only the class that comes closest counts.

    It is not smooth. ``gradient`` adds a subgradient: e_r − e_y for the largest wrong score, spread evenly over equal
    ones, and nothing where the loss is 0. A dual point made of subgradients is feasible: the gap is valid, but does
    not close at the optimum (MATH §3); ``fbpd`` solves it with its own dual point, whose gap closes.
    """

    margin: float = field(1.0, 0.01, 10.0, "μ: how far the true class should lead; scales W and λ, not the shape")

    title = "Crammer–Singer hinge"
    menu_order = 70
    hinges = True
    doc = (
        "The true class should lead every other by the margin; only the worst shortfall counts. It is not smooth: "
        "`fbpd` solves it and proves the gap; methods that take subgradients come near."
    )
    formula = "max_r (z_r − z_y + μ·[r ≠ y])"
    source = "Crammer and Singer 2001; Chierchia et al. 2015"
    smooth = False
    of_differences = True

    def reference(self, Z, y):
        A = shifted(Z, y, self.margin)
        worst = (A.max(axis=1, keepdims=True) == A) & (A > 0.0)  # even shares of the largest wrong scores
        return A.max(axis=1), balanced(worst / np.maximum(worst.sum(axis=1, keepdims=True), 1), y)

    def value(self, z, y):
        top = z[y]
        for r in range(z.size):
            if r != y:
                top = max(top, z[r] + self.margin)
        return top - z[y]

    def gradient(self, z, y, x, g, work):
        top = -np.inf
        for r in range(z.size):
            if r != y:
                top = max(top, z[r] + self.margin)
        if top <= z[y]:
            return 0.0
        equal = 0.0
        for r in range(z.size):
            if r != y and z[r] + self.margin >= top:
                equal += 1.0
        for r in range(z.size):
            if r != y and z[r] + self.margin >= top:
                g[r] += x / equal
        g[y] -= x
        return top - z[y]

    def derivatives(self, z, y, x, g, h, work):
        # The loss is piecewise linear: nothing is added to h.
        return self.gradient(z, y, x, g, work)

    def hessian_product(self, z, y, v, out):
        for r in range(z.size):
            out[r] = 0.0

    def conjugate(self, u, y):
        mass = 0.0
        for r in range(u.size):
            if r != y:
                if u[r] < -DOMAIN_SLACK:
                    return np.inf
                mass += u[r]
        if mass > 1.0 + DOMAIN_SLACK or abs(mass + u[y]) > DOMAIN_SLACK:
            return np.inf
        return -self.margin * mass

    def prox_conjugate(self, v, y, sigma):
        v[y] -= sigma * self.margin  # as much as that more everywhere else: the projection does not see the difference
        cut_to_flows(v, y, 1.0)

    def along_face(self, u, y, v):
        total, count = 0.0, 0
        for k in range(u.size):
            if u[k] + (1.0 if k == y else 0.0) > OFF_FACE:
                total += v[k]
                count += 1
        for k in range(u.size):
            v[k] = v[k] - total / count if u[k] + (1.0 if k == y else 0.0) > OFF_FACE else 0.0

    def repair(self, U, Y):
        repair_flows(U, Y)

    def curvature(self, m: int) -> float:
        raise TypeError("the Crammer–Singer hinge is not smooth: its gradient has no Lipschitz constant")

    def null_intercept(self, weights: np.ndarray) -> np.ndarray:
        # Raising class t by δ ≤ μ changes the mean loss from μ to μ + δ(1 − 2w_t): it pays for a majority only.
        best = np.zeros(weights.size)
        if weights.max() > 0.5:
            best[int(weights.argmax())] = self.margin
        return best

    def null_faces(self, b: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return worst_pairs(b, np.eye(b.size, dtype=bool)[y], self.margin)

    def null_subgradients(self, weights: np.ndarray, intercept: bool) -> np.ndarray:
        """Return subgradients at W = 0 (and the best intercept), which bound λ_max from above.

        Parameters
        ----------
        weights
            shares of the classes, (m,).
        intercept
            whether there is an intercept; then Σ_c weights_c·u_c = 0.

        Returns
        -------
        np.ndarray
            one subgradient per class, (m, m).
        """
        m = weights.size
        if not intercept:
            return np.full((m, m), 1.0 / (m - 1)) - np.eye(m) * m / (m - 1)
        top = int(weights.argmax())
        if weights[top] > 0.5:  # b is μ there: samples of that class may keep a part of their mass
            flow = np.zeros((m, m))
            flow[top], flow[:, top] = weights, weights
            flow[top, top] = 0.0
        else:
            # The classes as arcs on a circle of length 1, turned by at least the longest arc: none meets itself.
            flow = np.zeros((m, m))
            stop = np.cumsum(weights)
            start = stop - weights
            for turn in np.linspace(weights[top], 1.0 - weights[top], SHIFTS):
                for lap in (0.0, 1.0):
                    low = np.maximum(start[:, None] + turn, start[None] + lap)
                    high = np.minimum(stop[:, None] + turn, stop[None] + lap)
                    flow += np.maximum(high - low, 0.0) / SHIFTS
        np.fill_diagonal(flow, 0.0)
        rows = np.divide(flow, weights[:, None], out=np.zeros((m, m)), where=weights[:, None] > 0.0)
        np.fill_diagonal(rows, -rows.sum(axis=1))
        return rows


losses.add("crammer-singer", CrammerSinger)
