"""λ_max of a non-smooth loss: a small linear programme over its subgradients at W = 0.

W = 0 is optimal exactly at λ ≥ min over U of Ω°(−XᵀU/n), where row u_i is a subgradient of the loss of sample i at the
best intercept, and the rows sum to zero if there is one. These rows are flows between the labels of two sides
(:meth:`sparsescope.losses.base.Loss.null_faces`), so only Ω° is not linear; it is the largest of ⟨−XᵀU/n, w⟩ over all w
with Ω(w) ≤ 1. Cutting planes (Kelley 1960) take a few such w at a time, those that the last U violates:

    t ← the smallest t with ⟨−XᵀU/n, w⟩ ≤ t for the w so far (a lower bound of λ_max);  λ_max ≤ Ω°(−XᵀU/n) for its U

With more samples and classes a central path gives both bounds (null_path.py): its steps are few, whatever the penalty.
It also finds U with XᵀU = 0: then no weights lower the loss, and λ_max is 0.

With polyhedral penalties (ℓ1, ℓ1/ℓ∞) the two meet after a few rounds; with round ones (ℓ1/ℓ2) they approach each other
slowly, and the central path ends it there, too. Where that path gives up, the planes go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from ..inputs.is_sparse import is_sparse
from .null_path import between

MOST_FLOWS = 6000  # rows by labels above which no programme is solved
# Steps of the simplex method times numbers of the programme, of all together: before a central path is tried (about .1
# CPU s), and where that one gives up.
FIRST_WORK, MOST_WORK = 50_000_000, 700_000_000
FEW_FLOWS = 1000  # rows by labels above which a central path is followed
MET = 5e-7  # share at which its bounds have met
CUTS = 64  # new ones from a point
CLOSE = 1e-7  # share of λ_max at which the bounds have met
TIGHT = 1e-3  # share of t within which a cut holds it
BETWEEN = 0.7  # share of the best point so far
ROUNDING = 32.0 * float(np.finfo(np.float64).eps)  # share of the lengths of X's columns and U's that is none of XᵀU


@dataclass(frozen=True)
class Critical:
    """``lam``: W = 0 is optimal from there on; ``slack``: the smallest such λ is at most this share below it (1: that
    is not known)."""

    lam: float
    slack: float


def tighten(problem: Any, regulariser: Any, U: np.ndarray) -> Critical:
    """λ_max between two bounds, from the subgradients U (n, m) of a first upper bound; 0 if rounding hides it.

    The first bound is kept where the programme would be too large, X lies in blocks, or the loss has no rule for its
    subgradients; the bounds so far where all programmes together take more than ``MOST_WORK``, or the central path more
    than its own. These count steps and no time: λ_max is the same on every machine.
    """
    nothing = 0.0 if problem.partitioned else _rounding(problem, regulariser, U)
    found = _bounded(problem, regulariser, U, nothing)
    return Critical(0.0, 0.0) if found.lam <= nothing else found


def _rounding(problem: Any, regulariser: Any, U: np.ndarray) -> float:
    """The Ω° of what may be rounding in XᵀU/n; 0 where that is not finite."""
    X = problem.design.matrix
    with np.errstate(over="ignore", invalid="ignore"):
        squares = X.power(2).sum(axis=0) if is_sparse(X) else np.einsum("ij,ij->j", X, X)
        lengths = np.sqrt(np.asarray(squares, dtype=np.float64).ravel()) / problem.n
        worst = np.outer(lengths, np.linalg.norm(U.astype(np.float64), axis=0))
    if not np.isfinite(worst).all():
        return 0.0
    size = max(float(regulariser.zero_threshold(G)) for G in (worst, -worst))
    return ROUNDING * size if np.isfinite(size) else 0.0


def _bounded(problem: Any, regulariser: Any, U: np.ndarray, nothing: float) -> Critical:
    """The same; below ``nothing`` it is not looked for."""
    n, d, m = problem.n, problem.d, problem.m
    G = problem.design.rmatmul(U, np.empty((d + int(problem.intercept), m), U.dtype))[:d].astype(np.float64) / n
    upper = float(regulariser.zero_threshold(G))
    solvable = n * m <= MOST_FLOWS and not problem.partitioned
    faces = problem.loss.null_faces(problem.null_intercept, problem.y) if solvable else None
    if faces is None or regulariser.free is not None or not 0.0 < upper < np.inf:
        return Critical(upper, 1.0)
    few = n * m <= FEW_FLOWS
    found = between(problem, regulariser, faces, upper, np.inf if few else MET, nothing)
    if found is not None and (not few or found[1] <= nothing):
        lower, upper = found
        return Critical(upper, min(max(1.0 - lower / upper, 0.0), 1.0))
    planes = _Planes(problem, regulariser, faces, G, upper, nothing)
    if not planes.approach(min(FIRST_WORK, MOST_WORK)):  # planes approach a round norm slowly: the path ends it
        ended = between(problem, regulariser, faces, planes.upper, MET, nothing)
        if ended is not None:
            planes.lower, planes.upper = max(planes.lower, ended[0]), min(planes.upper, ended[1])
        else:
            planes.approach(MOST_WORK)
    return Critical(planes.upper, min(max(1.0 - planes.lower / planes.upper, 0.0), 1.0))


class _Planes:
    """Cutting planes and the bounds that they have found so far, from G = XᵀU/n with the bound ``upper``."""

    def __init__(
        self, problem: Any, regulariser: Any, faces: tuple[Any, ...], G: np.ndarray, upper: float, nothing: float
    ) -> None:
        self.problem, self.regulariser, self.nothing = problem, regulariser, nothing
        self.flows = _Flows(problem, *faces)
        self.cuts = scipy.sparse.csr_array((0, self.flows.count))
        self.lower, self.upper = 0.0, upper
        self.best, self.points = G, [G]

    def approach(self, work: int) -> bool:
        """Bring the bounds together with at most so much work; returns whether they have met, or are below what is
        looked for."""
        problem, zero_threshold = self.problem, self.regulariser.zero_threshold
        while self.upper - self.lower > CLOSE * self.upper and self.upper > self.nothing:
            above = max(self.lower, 0.5 * self.upper)
            new = [_cuts(problem, self.regulariser, point, above, self.flows) for point in self.points]
            cuts = scipy.sparse.vstack([self.cuts, *new]).tocsr()
            solved = self.flows.solve(cuts, work)
            if solved is None:
                return self.upper - self.lower <= MET * self.upper
            t, V, tight, done = solved
            work -= done
            self.cuts = cuts[tight] if t > self.lower else cuts  # cuts that are dropped might else come back for ever
            self.lower = max(self.lower, t)
            G = np.ascontiguousarray((problem.design.matrix.T @ V).astype(np.float64)) / problem.n
            # Beside the solution of the programme, a point between it and the best one so far is cut off (Ben-Ameur and
            # Neto 2007): corners of the programme are far from the solution where Ω° is round.
            self.points = [G, np.ascontiguousarray(BETWEEN * self.best + (1.0 - BETWEEN) * G)]
            for point in self.points:
                value = float(zero_threshold(point))
                if value < self.upper:
                    self.upper, self.best = value, point
        return True


class _Flows:
    """Subgradients at W = 0 as variables of a linear programme: what each label receives or sends, and t last."""

    def __init__(self, problem: Any, receive: np.ndarray, send: np.ndarray, loose: np.ndarray) -> None:
        n, m = receive.shape
        self.shape = (n, m)
        got, gave = np.nonzero(receive), np.nonzero(send)
        self.sample, self.label = (np.concatenate(pair) for pair in zip(got, gave, strict=True))
        self.sign = np.concatenate([np.ones(got[0].size), -np.ones(gave[0].size)])
        self.count = self.sample.size + 1
        # What a flow counts in U: the weight of its sample.
        weights = problem.sample_weight
        self.scale = np.ones(self.sample.size) if weights is None else weights[self.sample]
        columns = np.arange(self.sample.size)
        balance = scipy.sparse.csr_array((self.sign, (self.sample, columns)), shape=(n, self.count))
        mass = scipy.sparse.csr_array((np.ones(got[0].size), (got[0], columns[: got[0].size])), shape=(n, self.count))
        equal = [balance, mass[~loose]]
        right = [np.zeros(n), np.asarray(receive.any(axis=1), dtype=float)[~loose]]
        if problem.intercept:
            equal.append(scipy.sparse.csr_array((self.sign * self.scale, (self.label, columns)), shape=(m, self.count)))
            right.append(np.zeros(m))
        self.equal, self.right = scipy.sparse.vstack(equal).tocsr(), np.concatenate(right)
        self.most = mass[loose]

    def solve(self, cuts: scipy.sparse.csr_array, most: int) -> tuple[float, np.ndarray, np.ndarray, int] | None:
        """The smallest t under these cuts, (cuts, count), the rows U (n, m) that reach it, which cuts hold it, and the
        work; ``None`` where that would be more than ``most``."""
        from scipy.optimize import linprog  # slow to import, and few problems need it

        cost = np.zeros(self.count)
        cost[-1] = 1.0
        above = scipy.sparse.vstack([self.most, cuts]).tocsr()
        limits = np.concatenate([np.ones(self.most.shape[0]), np.zeros(cuts.shape[0])])
        step = above.nnz + self.equal.nnz
        if most < step:
            return None
        found = linprog(
            cost,
            A_ub=above,
            b_ub=limits,
            A_eq=self.equal,
            b_eq=self.right,
            method="highs-ds",
            options={"maxiter": most // step},
        )
        if found.status != 0:
            return None
        U = np.zeros(self.shape)
        U[self.sample, self.label] = self.sign * self.scale * found.x[:-1]
        slack = found.ineqlin.residual[self.most.shape[0] :]
        return float(found.fun), U, slack <= TIGHT * found.fun, int(found.nit) * step


def _cuts(problem: Any, regulariser: Any, G: np.ndarray, t: float, flows: _Flows) -> scipy.sparse.csr_array:
    """Cuts ⟨−XᵀU/n, w⟩ ≤ t that G = XᵀU/n violates most, one for each vector that Ω is a sum over.

    prox_{tΩ} of such a vector v of −G is not zero exactly where its dual norm is above t; with w = prox_{tΩ}(v) the
    rest v − w is in t∂Ω(w), so ⟨v − w, w⟩/t is Ω(w), or no less where Ω is not a norm.
    """
    group = regulariser.groups(G.shape)
    W = np.empty_like(G)
    regulariser.prox(-G, t, W)
    size = np.bincount(group.ravel(), ((-G - W) * W).ravel()) / t
    height = np.bincount(group.ravel(), (-G * W).ravel())
    ratio = np.divide(height, size, out=np.zeros_like(size), where=size > 0.0)
    worst = np.argsort(-ratio, kind="stable")[:CUTS]
    worst = worst[ratio[worst] > t * (1.0 + 1e-12)]
    made = np.zeros((worst.size, flows.count))
    X = problem.design.matrix
    for row, g in zip(made, worst, strict=True):
        at = group == g
        features = np.flatnonzero(at.any(axis=1))
        columns = X[:, features]
        columns = columns.toarray() if is_sparse(columns) else columns
        S = columns @ (np.where(at, W, 0.0)[features] / (size[g] * problem.n))
        row[:-1] = -flows.sign * flows.scale * S[flows.sample, flows.label]
        row[-1] = -1.0
    return scipy.sparse.csr_array(made)
