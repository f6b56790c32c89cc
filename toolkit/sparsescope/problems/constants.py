"""Lipschitz constants of gradients: of one row (block) and of all of W at once (MATH §2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from ..inputs.class_sums import class_sums
from ..inputs.design import Design
from ..inputs.labels import partial
from ..inputs.partitioned import PartitionedDesign

KINDS = ("paper", "tight", "class-aware")
# Lanczos gives a lower estimate of the largest eigenvalue; its error is far below this, which is added for safety.
INFLATE = 1.001
DRAWN = 128  # samples whose pairs tell how columns go together
MEASURED = 512  # samples that tell how even their lengths are


def check_kind(kind: str) -> None:
    """``ValueError`` unless ``kind`` is one of :data:`KINDS`."""
    if kind not in KINDS:
        raise ValueError(f"unknown constants {kind!r}; allowed: {', '.join(KINDS)}")


def block_constants(
    design: Design, y: np.ndarray, m: int, loss: Any, intercept: bool, kind: str, weights: np.ndarray | None = None
) -> np.ndarray:
    """K_j for every row: shape (d,), one more entry (last) if there is an intercept. y : as in a problem.

    weights : ω of the samples, (n,), with the mean 1. Sample i then counts ω_i·x_ij² where it counts x_ij² without.
    """
    check_kind(kind)
    if kind == "class-aware" and not loss.one_score:  # whose curvature is the same for both classes
        aware = _set_aware if y.ndim == 2 else _class_aware
        bound = aware(design, y, m, loss, intercept, weights)
        if bound is not None:
            return bound / design.n
    norms = design.squared_norms if weights is None else design.target_sums(weights[:, None])[:, 0]
    if intercept:
        norms = np.append(norms, float(design.n))  # the weights sum to n as well
    c = loss.paper_curvature(m) if kind == "paper" else loss.curvature(m)
    return c * norms / design.n


def _class_aware(
    design: Design, y: np.ndarray, m: int, loss: Any, intercept: bool, weights: np.ndarray | None
) -> np.ndarray | None:
    if isinstance(design, PartitionedDesign):
        sums = design.class_sums(y, m, weights)
    else:
        sums = class_sums(design, y, m, weights)
    if intercept:  # a column of ones
        sums = np.vstack([sums, np.bincount(y, weights, minlength=m).astype(float)])
    bound: np.ndarray | None = loss.class_aware(sums)
    return bound


def _set_aware(
    design: Design, Y: np.ndarray, m: int, loss: Any, intercept: bool, weights: np.ndarray | None
) -> np.ndarray | None:
    degrees = partners(Y)
    inside = partial(Y).astype(np.float64)[:, None]
    if weights is not None:
        degrees, inside = weights[:, None] * degrees, weights[:, None] * inside
    norms, sums = design.target_sums(inside), design.target_sums(degrees)
    if intercept:
        norms, sums = np.vstack([norms, inside.sum(axis=0)]), np.vstack([sums, degrees.sum(axis=0)])
    bound: np.ndarray | None = loss.set_aware(norms[:, 0], sums, m)
    return bound


def partners(Y: np.ndarray) -> np.ndarray:
    """Return the number of labels on the other side of each label: m − n_i for labels of sample i, which has n_i, and
    n_i for the others; 0 for empty and full sets. Y (n, m) uint8; shape (n, m), float64."""
    m = Y.shape[1]
    sizes = Y.sum(axis=1, dtype=np.float64)[:, None]
    degrees = np.where(Y == 1, m - sizes, sizes)
    degrees[~partial(Y)] = 0.0
    return degrees


def full_constant(
    design: Design, y: np.ndarray, m: int, loss: Any, intercept: bool, kind: str, weights: np.ndarray | None = None
) -> float:
    """K for the gradient with respect to all of W (and the intercept); weights as for :func:`block_constants`."""
    check_kind(kind)
    c = loss.paper_curvature(m) if kind == "paper" else loss.curvature(m)
    constant = c * _largest(design, 1, intercept, None, weights=weights)
    if kind == "class-aware" and loss.difference_curvature is not None:
        root = _root(y)
        constant = min(constant, loss.difference_curvature * _largest(design, m, intercept, root, weights=weights))
    return INFLATE * constant / design.n


def second_moment(
    design: Design, intercept: bool, weights: np.ndarray | None = None, samples: int | None = None
) -> np.ndarray:
    """XᵀX/n, with the column of ones of an intercept last: (rows, rows), in the precision of the data; weights ω (n,)
    of the samples, with the mean 1, make it XᵀΩX/n. ``samples``: number of them, drawn at random; ``None``: all."""
    matrix, d, n = design.matrix, design.d, design.n
    if samples is not None and samples < n:
        drawn = np.sort(np.random.default_rng(0).choice(n, samples, replace=False))
        matrix, n, weights = matrix[drawn], samples, None if weights is None else weights[drawn]
    scaled = matrix if weights is None else _rows_times(matrix, weights.astype(design.dtype))
    moment = np.empty((d + int(intercept),) * 2, dtype=design.dtype)
    moment[:d, :d] = (matrix.T @ scaled).toarray() if design.is_sparse else matrix.T @ scaled
    if intercept:
        moment[d, :d] = moment[:d, d] = np.asarray(scaled.sum(axis=0)).ravel()
        moment[d, d] = n if weights is None else weights.sum()
    moment /= n
    return moment


def directions(design: Design) -> float:
    """d²/‖C‖²_F of the d columns of dense X that are not zero, C (d, d) their cosines; from DRAWN rows of X.

    ‖C‖²_F is the mean of (x_i·x_k)² over pairs of samples, in columns of mean square 1; 0 for X without numbers.
    """
    rows, scales = _drawn_rows(design, DRAWN)
    used = rows.shape[1]
    if not used or design.n < 2:
        return float(used)
    rows = (rows * np.sqrt(scales)).astype(np.float64)
    products = rows.T @ rows if used < len(rows) else rows @ rows.T  # their squares have the same sum
    lengths = np.einsum("ij,ij->i", rows, rows)
    found = float(np.vdot(products, products) - np.vdot(lengths, lengths)) / (len(rows) * (len(rows) - 1))
    return used**2 / max(found, float(used))


def even_samples(design: Design) -> float:
    """(Σ r)²/Σ r² of the squared lengths r of the samples, in columns of mean square 1; from MEASURED rows of dense X.

    0 for X without numbers."""
    rows, scales = _drawn_rows(design, MEASURED)
    lengths = np.einsum("ij,ij,j->i", rows, rows, scales, dtype=np.float64)
    squares = float(np.vdot(lengths, lengths))
    return design.n / len(lengths) * float(lengths.sum()) ** 2 / squares if squares else 0.0


def _drawn_rows(design: Design, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of dense X, drawn at random, without columns of zeros; and what squares are multiplied with for a mean of
    1."""
    used = design.squared_norms > 0.0
    drawn = np.sort(np.random.default_rng(0).permutation(design.n)[:count])
    rows = design.matrix[drawn]
    return rows if used.all() else rows[:, used], design.n / design.squared_norms[used]


def spectrum(moment: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and eigenvectors of Σ̂ (k, k), in its precision; rounding below zero is taken away."""
    values, vectors = scipy.linalg.eigh(moment, check_finite=False)
    return np.maximum(values, 0.0), np.asfortranarray(vectors)


def row_space(design: Design) -> tuple[np.ndarray, np.ndarray]:
    """U (n, r) and the singular values (r,) of X = UΣVᵀ, from XXᵀ = UΣ²Uᵀ; the column of an intercept is left out.

    A direction of X = 0 is kept where there is no other: problems have a feature at least.
    """
    matrix = design.matrix.astype(np.float64, copy=False)
    product = matrix @ matrix.T
    squares, U = scipy.linalg.eigh(
        product.toarray() if design.is_sparse else product, overwrite_a=True, check_finite=False
    )
    least = len(squares) * np.finfo(np.float64).eps * float(squares[-1])
    kept = squares > max(least, np.finfo(np.float64).tiny)
    kept[-1] = True
    return U[:, kept], np.sqrt(np.maximum(squares[kept], np.finfo(np.float64).tiny))


def _rows_times(matrix: Any, weights: np.ndarray) -> Any:
    """diag(weights)·matrix, dense or CSC."""
    if isinstance(matrix, np.ndarray):
        return matrix * weights[:, None]
    scaled = matrix.copy()
    scaled.data *= weights[scaled.indices]
    return scaled


def operator_norm(design: Design, y: np.ndarray, m: int, intercept: bool, differences: bool) -> float:
    """‖X‖² ([X 1] with an intercept), or ‖T‖² of T: W ↦ Z − Z[y]·1ᵀ for classes y, of the root of the pairs for label
    sets; not below it, and hardly above."""
    if differences:
        return INFLATE * _largest(design, m, intercept, _root(y))
    return INFLATE * _largest(design, 1, intercept, None)


def centred_norm(design: Design, y: np.ndarray, m: int, means: np.ndarray, differences: bool) -> tuple[float, float]:
    """(‖[X − 1x̄ᵀ, s·1]‖², s), the latter such that the last column, which is orthogonal to the others, has the norm of
    all of them together (1 if they are all constant); ``differences``: the norm² of T on these, as in
    :func:`operator_norm`. means : x̄ (d,)."""
    others = _largest(design, 1, True, None, (means, 0.0))
    rounding = 16.0 * design.n * np.finfo(design.dtype).eps ** 2 * float(design.squared_norms.sum())
    scale = float(np.sqrt(others / design.n)) if others > rounding else 1.0
    if differences:
        return INFLATE * _largest(design, m, True, _root(y), (means, scale)), scale
    return INFLATE * scale * scale * design.n, scale


# A root maps scores to scores, row by row: S with SᵀS = the Laplacian of the graph whose edges are the pairs of a label
# in the target and one off it. A difference curvature c' bounds ∇²ℓ by c'·SᵀS, hence K ≤ (c'/n)·‖S∘X‖².
Root = tuple[Callable[[np.ndarray], np.ndarray], Callable[[np.ndarray], np.ndarray]]


def _root(y: np.ndarray) -> Root:
    return _set_root(y) if y.ndim == 2 else _class_root(y)


def _class_root(y: np.ndarray) -> Root:
    """Return T, Z ↦ Z − Z[y]·1ᵀ (MATH §2), for classes, and its adjoint; both work in place."""
    here = np.arange(len(y))

    def forward(Z: np.ndarray) -> np.ndarray:
        Z -= Z[here, y][:, None].copy()
        return Z

    def backward(Z: np.ndarray) -> np.ndarray:
        Z[here, y] -= Z.sum(axis=1)
        return Z

    return forward, backward


def _weighted_root(root: Root, weights: np.ndarray) -> Root:
    """√Ω after a root, and the adjoint; both work in place."""
    scale = np.sqrt(weights)[:, None]
    to_root, from_root = root

    def forward(Z: np.ndarray) -> np.ndarray:
        found = to_root(Z)
        found *= scale
        return found

    def backward(Z: np.ndarray) -> np.ndarray:
        Z *= scale
        return from_root(Z)

    return forward, backward


def _set_root(Y: np.ndarray) -> Root:
    """Return the symmetric root of the Laplacian of a complete bipartite graph, for label sets.

    With a labels in Y_i and b off it, its eigenvalues are b on vectors inside Y_i that sum to zero, a on those off it,
    m on the difference of the two means, and 0 on constants.
    """
    m = Y.shape[1]
    keep = partial(Y)[:, None]
    inside = (Y == 1) & keep
    a = np.maximum(inside.sum(axis=1, dtype=np.float64), 1.0)[:, None]
    b = np.maximum(m - a, 1.0)

    def apply(Z: np.ndarray) -> np.ndarray:
        whole = Z.sum(axis=1, keepdims=True, dtype=np.float64)
        there = np.where(inside, Z, 0.0).sum(axis=1, keepdims=True, dtype=np.float64)
        mean_in, mean_out = there / a, (whole - there) / b
        gap = np.sqrt(m) * (mean_in - mean_out)
        Z[:] = np.where(inside, np.sqrt(b) * (Z - mean_in) + gap * b / m, np.sqrt(a) * (Z - mean_out) - gap * a / m)
        Z *= keep
        return Z

    return apply, apply


def _largest(
    design: Design,
    m: int,
    intercept: bool,
    root: Root | None,
    frame: tuple[np.ndarray, float] | None = None,
    weights: np.ndarray | None = None,
) -> float:
    """‖S∘X‖² for a root S of n×m scores, or σ_max² of X (``None``, m = 1); with an intercept for [X 1], or for
    [X − 1x̄ᵀ, s·1] with a ``frame`` (x̄, s); weights ω put √Ω before all of it. Works on the smaller side of the
    operator."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh  # slow to import, needed by few

    n, rows = design.n, design.d + int(intercept)
    U = np.empty((n, m), dtype=design.dtype)
    W = np.empty((rows, m), dtype=design.dtype)
    to_root, from_root = root or (lambda Z: Z, lambda Z: Z)
    if weights is not None:
        to_root, from_root = _weighted_root((to_root, from_root), weights)

    def forward(coef: np.ndarray) -> np.ndarray:
        if frame is not None:
            coef = coef.copy()
            coef[-1] = frame[1] * coef[-1] - frame[0] @ coef[:-1]
        return to_root(design.matmul(coef, U))

    def backward(Z: np.ndarray) -> np.ndarray:
        G = design.rmatmul(from_root(Z), W)
        if frame is not None:
            G[:-1] -= np.outer(frame[0], G[-1])
            G[-1] *= frame[1]
        return G

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
    if not normal(start).any():
        return 0.0  # ARPACK refuses an operator that is zero
    try:
        top = eigsh(
            LinearOperator((size, size), matvec=normal, dtype=np.float64),
            k=1,
            which="LM",
            v0=start,
            tol=1e-5,
            maxiter=500,
            return_eigenvectors=False,
        )
        return float(top[0])
    except ArpackNoConvergence:  # several equal top singular values; fall back to a bound that always holds
        most = 1.0 if weights is None else float(weights.max())
        return float(design.squared_norms.sum() + n * intercept) * (m if root is not None else 1) * most
