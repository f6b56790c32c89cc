"""Label ranking squared hinge (Blondel et al. 2013, Sec. 4.7): Σ_{p∈Y} Σ_{r∉Y} max(1 − (z_p − z_r), 0)²."""

from __future__ import annotations

import numpy as np

from ..jit.parts import part, two_forms
from ..registry import losses
from .base import Loss, all_zero
from .label_flows import flow_cost, product_flow_cost, repair_label_flows, repaired_flow_cost
from .multiclass_squared_hinge import MulticlassSquaredHinge
from .pairs import pair_derivatives, pair_gradient, pair_product, pair_value
from .reference import indicator

HINGE = MulticlassSquaredHinge()


# A class is a set with one label, and the sum over its pairs is the multiclass squared hinge, which is written for it.
def class_value(z, y):  # type: ignore[no-untyped-def]
    return HINGE.value(z, y)


def class_gradient(z, y, x, g, work):  # type: ignore[no-untyped-def]
    return HINGE.gradient(z, y, x, g, work)


def class_derivatives(z, y, x, g, h, work):  # type: ignore[no-untyped-def]
    return HINGE.derivatives(z, y, x, g, h, work)


def class_diagonal(z, u, y, x, h, work):  # type: ignore[no-untyped-def]
    HINGE.hessian_diag(z, u, y, x, h, work)


def set_diagonal(z, u, y, x, h, work):  # type: ignore[no-untyped-def]
    pair_derivatives(z, y, x, work[0], h[0], work[1])


def class_move(z, y, x, delta, u, work):  # type: ignore[no-untyped-def]
    return HINGE.update_scores(z, y, x, delta, u, work)


def set_move(z, y, x, delta, u, work):  # type: ignore[no-untyped-def]
    for r in range(z.size):
        z[r] += x * delta[r]
        u[r] = 0.0
    return pair_gradient(z, y, 1.0, u, work[1])


def class_product(z, y, v, out):  # type: ignore[no-untyped-def]
    HINGE.hessian_product(z, y, v, out)


def class_conjugate(u, y):  # type: ignore[no-untyped-def]
    return HINGE.conjugate(u, y)


def class_scaled(z, u, y, scale, work):  # type: ignore[no-untyped-def]
    return HINGE.scaled_conjugate(z, u, y, scale, work)


def class_repair(U, Y, y, weights):  # type: ignore[no-untyped-def]
    HINGE.repair(U, Y)


value = two_forms(class_value, pair_value, by=1)
gradient = two_forms(class_gradient, pair_gradient, by=1, makes_arrays=False)
derivatives = two_forms(class_derivatives, pair_derivatives, by=1, makes_arrays=False)
diagonal = two_forms(class_diagonal, set_diagonal, by=2, makes_arrays=False)
move = two_forms(class_move, set_move, by=1, makes_arrays=False)
product = two_forms(class_product, pair_product, by=1)


def set_repaired(z, u, y, scale, work):  # type: ignore[no-untyped-def]
    for r in range(u.size):
        work[0, r] = 0.0
    gradient(z, y, 1.0, work[0], work[1])
    return repaired_flow_cost(z, u, work[0], y, scale, work[1])


conjugate = two_forms(class_conjugate, product_flow_cost, by=1)
scaled = two_forms(class_scaled, flow_cost, by=2)
repaired = two_forms(class_scaled, set_repaired, by=2)
repair = two_forms(class_repair, repair_label_flows, by=2)


@part
class LabelRankingSquaredHinge(Loss):
    """Squared hinges over all pairs of a label in the set and one off it (Blondel et al. 2013, Sec. 4.7).

    Empty and full sets have no pairs: their loss is 0. For a class it is the multiclass squared hinge.
    """

    title = "label ranking squared hinge"
    menu_order = 60
    hinges = True
    tight = True
    doc = "Every label of a sample should score at least 1 above every label it does not have; shortfalls are squared."
    formula = "Σ_{p∈Y} Σ_{r∉Y} max(1 − z_p + z_r, 0)²"
    source = "Blondel et al. 2013, Sec. 4.7"
    target_types = ("classes", "sets")
    difference_curvature = 2.0
    of_differences = True

    def reference(self, Z, y):
        values, U = np.zeros(len(Z)), np.zeros(Z.shape)
        for i, (z, labels) in enumerate(zip(Z, indicator(Z, y), strict=True)):
            inside, outside = np.flatnonzero(labels == 1), np.flatnonzero(labels == 0)
            A = np.maximum(1.0 - z[inside][:, None] + z[outside], 0.0)  # pairs (label in the set, label off it)
            values[i] = (A**2).sum()
            U[i, outside], U[i, inside] = 2.0 * A.sum(axis=0), -2.0 * A.sum(axis=1)
        return values, U

    def value(self, z, y):
        return value(z, y)

    def gradient(self, z, y, x, g, work):
        return gradient(z, y, x, g, work)

    def derivatives(self, z, y, x, g, h, work):
        return derivatives(z, y, x, g, h, work)

    def is_inactive(self, u, y):
        return all_zero(u)

    def hessian_diag(self, z, u, y, x, h, work):
        diagonal(z, u, y, x, h, work)

    def update_scores(self, z, y, x, delta, u, work):
        return move(z, y, x, delta, u, work)

    def hessian_product(self, z, y, v, out):
        product(z, y, v, out)

    def conjugate(self, u, y):
        return conjugate(u, y)

    def scaled_conjugate(self, z, u, y, scale, work):
        return scaled(z, u, y, scale, work)

    def repaired_conjugate(self, z, u, y, scale, work):
        return repaired(z, u, y, scale, work)

    def repair(self, U, Y):
        repair(U, Y, Y[0], np.ones(U.shape[0]))

    def repair_weighted(self, U, Y, weights):
        repair(U, Y, Y[0], weights)

    def curvature(self, m: int) -> float:
        # With a labels in the set, twice the Laplacian of a complete bipartite graph: 0, 2a, 2(m − a) and 2m.
        return 2.0 * m

    def class_aware(self, sums: np.ndarray) -> np.ndarray | None:
        return HINGE.class_aware(sums)

    def set_aware(self, norms: np.ndarray, sums: np.ndarray, m: int) -> np.ndarray:
        # A Laplacian is at most twice its largest degree; sums hold the degrees, weighted.
        return 2.0 * np.minimum(m * norms, 2.0 * sums.max(axis=1))


losses.add("label-ranking-squared-hinge", LabelRankingSquaredHinge)
