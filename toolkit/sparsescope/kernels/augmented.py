"""Envelopes of losses with their curvature, and derivatives of prox operators, for augmented Lagrangians."""

from __future__ import annotations

from ..jit.parts import kernel
from .memory import lone_row


@kernel
def envelope(Z, U0, Y, loss, sigma, U):
    """U_i ← prox_{σℓ*}(U0_i + σZ_i); returns Σ_i max_u ⟨u, z_i⟩ − ℓ*(u) − ‖u − U0_i‖²/(2σ), which is reached there."""
    total = 0.0
    for i in range(Z.shape[0]):
        for k in range(Z.shape[1]):
            U[i, k] = U0[i, k] + sigma * Z[i, k]
        loss.prox_conjugate(U[i], Y[i], sigma)
        along = 0.0
        far = 0.0
        for k in range(Z.shape[1]):
            along += U[i, k] * Z[i, k]
            far += (U[i, k] - U0[i, k]) ** 2
        total += along - loss.conjugate(U[i], Y[i]) - 0.5 * far / sigma
    return total


@kernel
def envelope_curvature(U, Y, loss, sigma, C):
    """C_i = σ times the derivative of prox_{σℓ*} where its value is U_i. U (n, m), C (n, m, m)."""
    m = U.shape[1]
    v = lone_row(m)
    for i in range(U.shape[0]):
        for k in range(m):
            for r in range(m):
                v[r] = 0.0
            v[k] = sigma
            loss.along_face(U[i], Y[i], v)
            for r in range(m):
                C[i, k, r] = v[r]


@kernel
def loss_curvature(Z, Y, loss, C):
    """C_i = ∇²ℓ(z_i). Z (n, m), C (n, m, m)."""
    m = Z.shape[1]
    v = lone_row(m)
    for i in range(Z.shape[0]):
        for k in range(m):
            for r in range(m):
                v[r] = 0.0
            v[k] = 1.0
            loss.hessian_product(Z[i], Y[i], v, C[i, k])


@kernel
def pieces(W, tau, penalty, P, A):
    """Compute P, the projection on the smooth piece of Ω, and A = P(I + τ∇²Ω(w))P at every row w of W. W (g, p), P and
    A (g, p, p)."""
    p = W.shape[1]
    v = lone_row(p)
    q = lone_row(p)
    for j in range(W.shape[0]):
        for k in range(p):
            for r in range(p):
                v[r] = 0.0
            v[k] = 1.0
            penalty.at(j).project_tangent(W[j], v)
            for r in range(p):
                P[j, k, r] = v[r]
                q[r] = v[r]
            penalty.at(j).hessian_vec(W[j], tau, v, q)
            penalty.at(j).project_tangent(W[j], q)
            for r in range(p):
                A[j, k, r] = q[r]
