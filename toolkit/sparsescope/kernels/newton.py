"""Second-order pieces on the rows of W in use: products with the Hessian, its diagonal, and steps along a direction.

Everything here works on the *support*: s rows of the coefficient array and the columns of data that belong to them,
stored by samples. A sample is then read once for a product: its change of scores is formed, bent by the loss's Hessian
and spread back while its entries are still in the cache; samples on which the loss is flat (all hinges inactive) are
not read at all.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import kernel, struct
from .memory import lone_row, lone_row_as, lone_rows, samples_at_once

ROUNDING = 1e-4  # share of the curvature across a vector below which that along it is the same
LEAST_SHARE = 1e-3  # smallest diagonal entry of a row's preconditioner, as a share of its largest
SINGULAR = 1e-12  # share of a number that is left of a difference from which on it is rounding


@struct
class SupportRows:
    """The support's columns by samples (CSR): entry p of a sample belongs to row ``indices[p]`` of the support."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray


@kernel
def loss_derivatives(Z, Y, loss, U, A, bent):
    """U_i = ∇ℓ(z_i), A_i = diag ∇²ℓ(z_i), bent_i = whether that diagonal is not zero. Returns Σ_i ℓ. Z, U, A (n, m)."""
    n, m = Z.shape
    most = samples_at_once(m)
    work, sums, rows, h = lone_row(most * m), lone_row(most), lone_rows(3, m), lone_rows(2, m)
    total = 0.0
    for first in range(0, n, most):
        last = min(first + most, n)
        total += loss.gradients(Z[first:last], Y[first:last], U[first:last], work, sums)
        for i in range(first, last):  # from the gradient, which needs no exponentials
            for k in range(m):
                h[0, k] = h[1, k] = 0.0
            loss.hessian_diag(Z[i], U[i], Y[i], 1.0, h, rows)
            top = 0.0
            for k in range(m):
                A[i, k] = h[0, k] + h[1, k]
                top = max(top, A[i, k])
            bent[i] = top > 0.0
    return total


@kernel
def support_diagonal(rows, samples, A, scale, H):
    """H += scale·(X∘X)ᵀA on the support, over the samples named. A (n, m), H (s, m)."""
    m = A.shape[1]
    for position in range(samples.size):
        i = samples[position]
        a = A[i]
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            xx = H.dtype.type(scale) * rows.data[p] * rows.data[p]
            h = H[rows.indices[p]]
            for k in range(m):
                h[k] += xx * a[k]


@kernel
def support_hessian_product(rows, samples, Z, U, Y, loss, scale, V, shift, out, pull):
    """out += scale·Xᵀ∇²ℓ(Z)(XV + 1·shiftᵀ) over the samples named; pull += scale·(the same without Xᵀ, summed).

    U : ∇ℓ(Z), (n, m); V, out : (s, m); shift, pull : (m,), the intercept's part (zeros, and ignored, without one).
    """
    m = V.shape[1]
    e = lone_row_as(m, V.dtype)
    r = lone_row_as(m, V.dtype)
    factor = V.dtype.type(scale)
    for position in range(samples.size):
        i = samples[position]
        first, last = rows.indptr[i], rows.indptr[i + 1]
        for k in range(m):
            e[k] = shift[k]
        for p in range(first, last):
            x = rows.data[p]
            v = V[rows.indices[p]]
            for k in range(m):
                e[k] += x * v[k]
        loss.hessian_product_from(Z[i], U[i], Y[i], e, r)
        for k in range(m):
            r[k] *= factor
            pull[k] += r[k]
        for p in range(first, last):
            x = rows.data[p]
            o = out[rows.indices[p]]
            for k in range(m):
                o[k] += x * r[k]


@kernel
def hessian_rows(samples, Z, U, Y, loss, scale, E):
    """E_p ← scale·∇²ℓ(z_i) E_p with i = samples[p], in place. Z, U = ∇ℓ(Z) (n, m), E (samples, m)."""
    m = Z.shape[1]
    r = lone_row_as(m, E.dtype)
    factor = E.dtype.type(scale)
    for p in range(samples.size):
        i = samples[p]
        loss.hessian_product_from(Z[i], U[i], Y[i], E[p], r)
        for k in range(m):
            E[p, k] = factor * r[k]


@kernel
def tangent_gradient(W, G, lam, penalty, first, last):
    """G ← the gradient of F along the piece of Ω that the non-zero rows of W lie on; G holds the loss's. All (s, m);
    the rows first…last."""
    for j in range(first, last):
        penalty.at(j).gradient(W[j], lam, G[j])
        penalty.at(j).project_tangent(W[j], G[j])


@struct
class RowMetric:
    """Preconditioner M_j = B_j − h_j h_jᵀ/(1ᵀh_j) − dip_j w wᵀ of every vector w = W_j in use; it is positive definite.

    B_j is a diagonal: of ∇²f, plus the largest curvature of λΩ, plus the damping; h_j = diag ∇²f.
    A norm does not bend along w at all, and by λ/‖w‖ across. A loss of differences does not bend where all scores of a
    sample rise together, and diag(h) − hhᵀ/(1ᵀh) does not, either. A diagonal alone makes rows stiff in all directions:
    conjugate gradients then need many steps for what only lengthens and shortens them, and for what only the penalty
    bends. With A = (h, w) the inverse is B⁻¹ + B⁻¹A K AᵀB⁻¹ (Woodbury), where K is 2 × 2.

    inverse (s, m) : B⁻¹ · null (s, m) : B⁻¹h · along (s, m) : B⁻¹w · core (s, 3) : K₁₁, K₁₂, K₂₂; 0: left out
    dip (s,) : by how much less λΩ bends along w than across, times 1/‖w‖²
    """

    inverse: np.ndarray
    null: np.ndarray
    along: np.ndarray
    core: np.ndarray
    dip: np.ndarray


def make_metric(shape: tuple[int, int], dtype: np.dtype) -> RowMetric:
    """Room for a preconditioner; :func:`damped_diagonal` fills it."""
    inverse, null, along = (np.empty(shape, dtype) for _ in range(3))
    return RowMetric(inverse, null, along, np.empty((shape[0], 3)), np.zeros(shape[0]))  # type: ignore[call-arg]


@kernel
def damped_diagonal(W, H, lam, penalty, penalised, differences, damping, first, last, metric):
    """Fill the rows first…last of the preconditioner; H holds diag ∇²f, and on return the damping: damping·D.

    Rows from ``penalised`` on (the intercept) have no penalty. ``differences``: the vectors are rows of W, and the loss
    is one of differences. Classes without active samples get a floor, or their step had no bound.
    """
    h = lone_row_as(H.shape[1], W.dtype)
    for j in range(first, last):
        stiff = 0.0
        dip = 0.0
        size = 0.0
        if j < penalised:
            stiff = penalty.at(j).curvature_bound(W[j], lam)
            h[:] = 0.0
            if stiff > 0.0:
                penalty.at(j).hessian_vec(W[j], lam, W[j], h)
            bends = 0.0
            for k in range(H.shape[1]):
                w = np.float64(W[j, k])
                size += w * w
                bends += w * np.float64(h[k])
            if size > 0.0:
                dip = min(max(stiff - bends / size, 0.0), stiff)
                if dip < ROUNDING * stiff:
                    dip = 0.0
        metric.dip[j] = dip / size if size > 0.0 else 0.0
        top = H.dtype.type(0.0)
        mass = 0.0
        for k in range(H.shape[1]):
            top = max(top, H[j, k])
            mass += np.float64(H[j, k])
            h[k] = H[j, k]
        if j < penalised:
            penalty.at(j).project_tangent(W[j], h)
        floor = LEAST_SHARE * np.float64(top) + 1e-12
        # K⁻¹ is [one, cross; cross, two]; each number is what is left of the rank-one term after its share in B.
        one = mass
        two = size / dip if dip > 0.0 else 0.0
        least_two = SINGULAR * two
        cross = 0.0
        for k in range(H.shape[1]):
            D = max(np.float64(H[j, k]), floor) + stiff
            inverse = 1.0 / ((1.0 + damping) * D)
            w = np.float64(W[j, k] if dip > 0.0 else 0.0)
            g = np.float64(h[k])
            one -= g * g * inverse
            two -= w * w * inverse
            cross -= g * w * inverse
            metric.inverse[j, k] = inverse
            metric.null[j, k] = g * inverse
            metric.along[j, k] = w * inverse
            H[j, k] = H.dtype.type(damping * D)
        metric.core[j, 0] = 0.0
        metric.core[j, 1] = 0.0
        metric.core[j, 2] = 0.0
        with_null = differences and one > SINGULAR * mass
        with_along = dip > 0.0 and two > least_two
        apart = one * two - cross * cross
        if with_null and with_along and apart > SINGULAR * one * two:
            metric.core[j, 0] = two / apart
            metric.core[j, 1] = -cross / apart
            metric.core[j, 2] = one / apart
        elif with_along:
            metric.core[j, 2] = 1.0 / two
        elif with_null:
            metric.core[j, 0] = 1.0 / one


@kernel
def tangent_hessian(W, V, lam, penalty, penalised, damping, first, last, out):
    """out ← P(out + λ∇²Ω(W)V + damping∘V), P the projection on the piece of Ω that W lies on. All (s, m); the rows
    first…last."""
    for j in range(first, last):
        for k in range(W.shape[1]):
            out[j, k] += damping[j, k] * V[j, k]
        if j < penalised:
            penalty.at(j).hessian_vec(W[j], lam, V[j], out[j])
            penalty.at(j).project_tangent(W[j], out[j])


@kernel
def tangent_precondition(W, metric, R, penalty, penalised, first, last, out):
    """out ← P M⁻¹ R. All (s, m); the rows first…last."""
    for j in range(first, last):
        null = 0.0
        along = 0.0
        for k in range(R.shape[1]):
            out[j, k] = metric.inverse[j, k] * R[j, k]
            null += np.float64(metric.null[j, k]) * np.float64(R[j, k])
            along += np.float64(metric.along[j, k]) * np.float64(R[j, k])
        one = R.dtype.type(metric.core[j, 0] * null + metric.core[j, 1] * along)
        two = R.dtype.type(metric.core[j, 1] * null + metric.core[j, 2] * along)
        for k in range(R.shape[1]):
            out[j, k] += one * metric.null[j, k] + two * metric.along[j, k]
        if j < penalised:
            penalty.at(j).project_tangent(W[j], out[j])


@kernel
def stop_at_zero(W, metric, first, last, D):
    """D_j ← −W_j for the vectors in use that W + D would carry through zero, where Ω has a kink there. All (s, m).

    Returns how many of the rows first…last these are.
    """
    stopped = 0
    for j in range(first, last):
        past = 0.0
        for k in range(W.shape[1]):
            past += W[j, k] * (W[j, k] + D[j, k])
        if metric.dip[j] > 0.0 and past <= 0.0:
            stopped += 1
            for k in range(W.shape[1]):
                D[j, k] = -W[j, k]
    return stopped


@kernel
def moved_loss(Z, E, step, Y, loss):
    """Σ_i ℓ(z_i + step·e_i, y_i). Z, E (n, m)."""
    n, m = Z.shape
    most = samples_at_once(m)
    work, sums, moved = lone_row(most * m), lone_row(most), lone_rows(most, m)
    total = 0.0
    for first in range(0, n, most):
        last = min(first + most, n)
        for i in range(first, last):
            for k in range(m):
                moved[i - first, k] = Z[i, k] + step * E[i, k]
        total += loss.values(moved[: last - first], Y[first:last], work, sums)
    return total


@kernel
def moved_penalty(W, D, step, penalty, penalised, first, last, out):
    """out = W + step·D in the rows first…last; returns Ω of those before ``penalised``. All (s, m)."""
    total = 0.0
    for j in range(first, last):
        for k in range(W.shape[1]):
            out[j, k] = W[j, k] + step * D[j, k]
        if j < penalised:
            total += penalty.at(j).value(out[j])
    return total
