"""Certificates of a Θ: the duality gap and the optimality violations of a covariance problem.

    D(U) = logdet(S + U) + p for every symmetric U with |U_ij| ≤ λC_ij and S + U ≻ 0

Of U two are tried. **From the support**: U_ij = λC_ij·sign Θ_ij where Θ is not zero, and Θ⁻¹ − S cut to ±λC
elsewhere. Then λΣC|Θ| = tr(UΘ), and the gap is of second order in the violations, as F − F* is; but S + U may be
indefinite far from the solution. **From the inverse**: with W = Θ⁻¹ scaled to the diagonal S_ii + λC_ii and Δ = W − S,
U = θΔ off the diagonal with the largest θ ≤ 1 that keeps the bounds, and U_ii = λC_ii: S + U = θW + (1 − θ)(S + diag U)
is always definite.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from ..kernels.coordinates import entry_violations
from .base import Certificate
from .linear_algebra import cholesky, inner, inverse, logdet


class PenalisedCovariance(Protocol):
    """A covariance problem as its certificate sees it: S (p, p), λ, and the thresholds λC by components."""

    lam: float

    @property
    def S(self) -> np.ndarray: ...
    @property
    def d(self) -> int: ...
    @property
    def components(self) -> np.ndarray: ...
    @property
    def diagonal_thresholds(self) -> np.ndarray: ...
    def thresholds(self, at: np.ndarray) -> np.ndarray: ...
    def penalty_of(self, Theta: np.ndarray) -> float: ...
    def scale(self, objective: float) -> float: ...


@dataclass
class Component:
    """One component with what a certificate needs of it: its features ``at`` (k,), and S, λC, Θ, Σ = Θ⁻¹ and the
    violations there, all (k, k); f = tr(SΘ) − logdet Θ."""

    at: np.ndarray
    S: np.ndarray
    Lam: np.ndarray
    Theta: np.ndarray
    Sigma: np.ndarray
    violation: np.ndarray
    f: float


class Known(NamedTuple):
    """All components of a point, as a solver has them, and the features that are ``alone``."""

    components: Iterable[Component]
    alone: np.ndarray


def dual_value(S: np.ndarray, Lam: np.ndarray, Theta: np.ndarray, Sigma: np.ndarray) -> float:
    """logdet(S + U) + k for the U of the top of this file; NaN if neither is any good (zero weights, far from the
    solution). All (k, k)."""
    U = np.where(Theta != 0.0, np.copysign(Lam, Theta), np.clip(Sigma - S, -Lam, Lam))
    factor = cholesky(S + U)
    if factor is None:
        target = np.diag(S) + np.diag(Lam)
        scale = np.sqrt(target / np.diag(Sigma))
        U = Sigma * scale[:, None] * scale - S
        np.fill_diagonal(U, 0.0)
        over = np.abs(U) > Lam
        theta = float((Lam[over] / np.abs(U[over])).min()) if over.any() else 1.0
        U *= theta
        np.fill_diagonal(U, np.diag(Lam))
        factor = cholesky(S + U)
    return float("nan") if factor is None else logdet(factor) + S.shape[0]


def certify_covariance(problem: PenalisedCovariance, Theta: np.ndarray, known: Known | None = None) -> Certificate:
    """The certificate of a symmetric positive definite Θ (p, p), one component of the problem after the other.

    ``known``: the components of Θ, if a solver has them with their inverses; otherwise they are computed.
    ``relative_gap`` is gap/max(1, |F|): F, in nats, may be near zero. Violations are those of single entries, their
    ℓ2 norms over rows; ``nonzero_rows`` counts features with an edge.
    """
    S, d = problem.S, problem.d
    components, alone = _components(problem, Theta) if known is None else known
    wrong = np.zeros(d)
    own, bounds = np.diag(S)[alone], problem.diagonal_thresholds[alone]
    theta = np.diag(Theta)[alone]
    loss = float((own * theta - np.log(theta)).sum())
    dual = float(np.log(own + bounds).sum()) + alone.size
    wrong[alone] = np.abs(own + bounds - 1.0 / theta)
    for part in components:
        loss += part.f
        wrong[part.at] = np.sqrt(np.einsum("ij,ij->i", part.violation, part.violation))
        dual += dual_value(part.S, part.Lam, part.Theta, part.Sigma)
    penalty = problem.penalty_of(Theta)
    objective = loss + problem.lam * penalty
    gap = objective - dual
    rows, entries = graph_size(Theta)
    return Certificate(
        objective=objective,
        loss=loss,
        penalty=penalty,
        dual=dual,
        gap=gap,
        relative_gap=gap / problem.scale(objective),
        violation=float(wrong.max()),
        violation_sum=float(wrong.sum()),
        paper_violation=float("nan"),
        paper_violation_sum=float("nan"),
        nonzero_rows=rows,
        nonzero_entries=entries,
    )


def _components(problem: PenalisedCovariance, Theta: np.ndarray) -> tuple[Iterator[Component], np.ndarray]:
    blocks, alone = split(problem, Theta)
    return (_computed(problem, Theta, at) for at in blocks), alone


def _computed(problem: PenalisedCovariance, Theta: np.ndarray, at: np.ndarray) -> Component:
    square = np.ix_(at, at)
    S, own, Lam = np.ascontiguousarray(problem.S[square]), np.ascontiguousarray(Theta[square]), problem.thresholds(at)
    factor = cholesky(own)
    if factor is None:
        raise ValueError("Θ is not positive definite; the objective is infinite there")
    Sigma, violation = inverse(factor), np.empty(S.size)
    entry_violations((S - Sigma).ravel(), own.ravel(), Lam.ravel(), 0.0, violation)
    return Component(at, S, Lam, own, Sigma, violation.reshape(S.shape), inner(S, own) - logdet(factor))


def graph_size(Theta: np.ndarray) -> tuple[int, int]:
    """Features with an edge, and non-zero entries of Θ."""
    counts = np.count_nonzero(Theta, axis=1)  # the diagonal is never zero
    return int(np.count_nonzero(counts > 1)), int(counts.sum())


def split(problem: PenalisedCovariance, Theta: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """The features of each component of at least two, and those that are alone; all in one block where Θ ties
    components together (before the first step after λ has risen, or at a point that was given)."""
    labels = problem.components
    rows, columns = np.nonzero(Theta)
    if (labels[rows] != labels[columns]).any():
        return [np.arange(problem.d)], np.empty(0, dtype=np.intp)
    return groups(labels)


def groups(labels: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """The members of each label that has at least two, and those of all others."""
    order = np.argsort(labels, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    alone = [part for part in parts if part.size == 1]
    return [part for part in parts if part.size > 1], np.concatenate([np.empty(0, dtype=np.intp), *alone])
