"""Lipschitz constants of gradients: of one row (block) and of all of W at once (MATH §2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .design import Design

KINDS = ("paper", "tight", "class-aware")
# Lanczos gives a lower estimate of the largest eigenvalue; its error is far below this, which is added for safety.
INFLATE = 1.001


def check_kind(kind: str) -> None:
    """``ValueError`` unless ``kind`` is one of :data:`KINDS`."""
    if kind not in KINDS:
        raise ValueError(f"unknown constants {kind!r}; allowed: {', '.join(KINDS)}")


def block_constants(design: Design, y: np.ndarray, m: int, loss: Any, intercept: bool, kind: str) -> np.ndarray:
    """K_j for every row: shape (d,), one more entry (last) if there is an intercept."""
    check_kind(kind)
    norms = design.squared_norms
    counts = np.bincount(y, minlength=m).astype(float)
    if intercept:
        norms = np.append(norms, float(design.n))
    if kind == "class-aware":
        sums = design.class_sums(y, m)
        if intercept:
            sums = np.vstack([sums, counts])
        bound = loss.class_aware(sums)
        if bound is not None:
            return bound / design.n
    c = loss.paper_curvature(m) if kind == "paper" else loss.curvature(m)
    return c * norms / design.n


def full_constant(design: Design, y: np.ndarray, m: int, loss: Any, intercept: bool, kind: str) -> float:
    """K for the gradient with respect to all of W (and the intercept)."""
    check_kind(kind)
    c = loss.paper_curvature(m) if kind == "paper" else loss.curvature(m)
    constant = c * _largest(design, y, 1, intercept, differences=False)
    if kind == "class-aware" and loss.difference_curvature is not None:
        constant = min(constant, loss.difference_curvature * _largest(design, y, m, intercept, differences=True))
    return INFLATE * constant / design.n


def _largest(design: Design, y: np.ndarray, m: int, intercept: bool, differences: bool) -> float:
    """σ_max² of X (or [X 1]), or ‖T‖² with T: W ↦ Z − Z[y]·1ᵀ. Works on the smaller side of the operator."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh  # slow to import, needed by few

    n, rows = design.n, design.d + int(intercept)
    here = np.arange(n)
    U = np.empty((n, m), dtype=design.dtype)
    W = np.empty((rows, m), dtype=design.dtype)

    def forward(coef: np.ndarray) -> np.ndarray:
        Z = design.matmul(coef, U)
        if differences:
            Z -= Z[here, y][:, None].copy()
        return Z

    def backward(Z: np.ndarray) -> np.ndarray:
        if differences:
            Z[here, y] -= Z.sum(axis=1)
        return design.rmatmul(Z, W)

    def normal(v: np.ndarray) -> np.ndarray:
        if rows <= n:
            W[:] = v.reshape(rows, m)
            return backward(forward(W)).astype(np.float64).ravel()
        U[:] = v.reshape(n, m)
        return forward(backward(U)).astype(np.float64).ravel()

    size = min(rows, n) * m
    start = np.random.default_rng(0).standard_normal(size)
    if size <= 2:
        return float(max(np.linalg.eigvalsh(np.column_stack([normal(e) for e in np.eye(size)]))))
    try:
        top = eigsh(LinearOperator((size, size), matvec=normal, dtype=np.float64), k=1, which="LM", v0=start,
                    tol=1e-5, maxiter=500, return_eigenvectors=False)
        return float(top[0])
    except ArpackNoConvergence:  # several equal top singular values; fall back to a bound that always holds
        return float(design.squared_norms.sum() + n * intercept) * (m if differences else 1)
