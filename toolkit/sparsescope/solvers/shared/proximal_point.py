"""The proximal point method with semismooth Newton steps on its dual, for problems with few samples or few pieces.

    repeat:  W ← argmin_V Σ_i ℓ(x_iᵀV) + nλΩ(V) + ‖V − W‖²/(2σ),  then σ grows

    the dual of one problem, with U = ∇ℓ(Z):  minimise  Σ_i ℓ*(u_i) + max_V −⟨XᵀU, V⟩ − nλΩ(V) − ‖V − W‖²/(2σ)

whose gradient in U is Z − XV with V = prox_{σnλΩ}(W − σXᵀU). A Newton step takes C_i = ∇²ℓ(z_i) and the derivative J
of the prox, (I + σXJXᵀC)·dZ = XV − Z. J is zero off the pieces of Ω that V lies on, so J = EEᵀ has few columns E: with
A = √σ·XE, dZ = XV − Z + Aw, (I + AᵀCA)·w = AᵀC(Z − XV), a system of the pieces in use; while these are more than the
scores, the system of those is solved. For smooth losses.

Where many corners of Ω stay undecided for long, σ grows past them; the multipliers of the augmented Lagrangian
(augmented.py) need many more steps there.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from ...kernels.augmented import loss_curvature, pieces
from ...kernels.rows import loss_gradient
from ...pauses import pause
from ...problems.linear_algebra import Factor
from ...problems.penalty_norms import vectors_of
from ...problems.prediction import Problem
from .armijo import backtrack
from .pieces import row_functions

ARMIJO, TRIALS = 1e-4, 25
INNER = 0.1  # the centre moves when the decrease to come is this share of what the proximal terms hold
FIRST = 1e3  # first σ, in units of 1/‖X‖²
QUICK, SLOW = 4, 12  # Newton steps up to which σ grows a lot, and a little
FAST, GENTLE, SHRINK = 10.0, 3.0, 2.0
BEYOND = 1e4  # factor by which no proximal point has a larger F than the start, and by which σ shrinks if one has
CLOSE = 1e-9  # share of the gradient of the loss below which its residual needs no larger σ
RANK = 1e-10  # eigenvalues of J that count as zero
NOISE = 1e-13  # relative rounding of the dual's value
MOST_SYSTEM = 2000  # rows of the system: the smaller of those of W and of the samples, times classes
MOST_ENTRIES = 4_000_000  # of X, which is held as a full array


def suits(problem: Problem) -> bool:
    """Return whether the loss is smooth and the systems are small."""
    small = min(problem.rows, problem.n) * problem.m <= MOST_SYSTEM and problem.n * problem.d <= MOST_ENTRIES
    return small and bool(problem.loss.smooth)


class ProximalPoint:
    """A point of the method: ``Z``, its dual rows ``Un`` = ∇ℓ(Z), and the weights ``W``, with the intercept."""

    def __init__(self, problem: Problem, W: np.ndarray) -> None:
        self.problem = problem
        X = problem.design.matrix
        X = np.asarray(X.toarray() if problem.design.is_sparse else X, dtype=np.float64)
        self.X = np.column_stack([X, np.ones(problem.n)]) if problem.intercept else X
        self.strength = problem.n * problem.lam
        self.vectors = vectors_of(problem.regulariser, problem.d, problem.m)
        self.centre = W.astype(np.float64)
        self.sigma = FIRST / max(float(np.linalg.norm(X, 2)) ** 2, 1e-300)
        self.trials, self.size, self.steps = 0, float("nan"), 0
        self.Z = self.X @ self.centre
        self.Un = np.empty_like(self.Z)
        self.most = math.inf  # of σ
        self.reached, self.nearest = self.total(self.centre), self.centre  # the centre of the smallest F
        self.unlikely = BEYOND * max(self.reached, self.total(np.zeros_like(self.centre)))
        self.evaluate()

    def __deepcopy__(self, memo: Any) -> ProximalPoint:
        made = copy.copy(self)  # the problem and X never change
        for name in ("centre", "W", "Z", "Un"):
            setattr(made, name, getattr(self, name).copy())
        return made

    @property
    def shown(self) -> np.ndarray:
        """The weights of the point: at first and after a move the centre, which σ has not moved on from."""
        return self.centre if self.steps == 0 else self.W

    def total(self, W: np.ndarray) -> float:
        """nF at W."""
        d = self.problem.d
        loss = float(loss_gradient(self.X @ W, *self.problem.terms, self.Un))
        return loss + self.strength * float(self.problem.regulariser.value(np.ascontiguousarray(W[:d]))[0])

    def evaluate(self) -> None:
        """The dual's value and the weights at Z."""
        self.value, self.W = self.dual(self.Z)

    def dual(self, Z: np.ndarray) -> tuple[float, np.ndarray]:
        """The dual's value and V; U is written into ``Un``."""
        problem, d = self.problem, self.problem.d
        loss = float(loss_gradient(Z, *problem.terms, self.Un))
        G = self.X.T @ self.Un
        V = self.centre - self.sigma * G
        out = np.empty((d, problem.m))
        problem.regulariser.prox(np.ascontiguousarray(V[:d]), self.sigma * self.strength, out)
        V[:d] = out
        held = self.strength * problem.regulariser.value(out)[0] + self.held(V)
        return float((self.Un * Z).sum()) - loss - float((G * V).sum()) - held, V

    # ------------------------------------------------------------------------------------------------------- steps
    def step(self, patience: int) -> bool:
        """A Newton step; then the centre moves near the minimum, or after ``patience`` steps. Whether it did."""
        D, slope = self.direction()
        before, noise = self.value, NOISE * (abs(self.value) + float(np.abs(self.Un * self.Z).sum()))
        start = self.Z

        def trial(size: float) -> float:
            self.Z, self.size = start + size * D, size
            pause()
            self.evaluate()
            return self.value

        self.trials = backtrack(trial, slope, noise, TRIALS, before, ARMIJO).trials
        self.steps += 1
        settled = self.size == 1.0 and -0.5 * slope <= max(INNER * self.held(self.W), noise)
        if settled or self.steps >= patience:
            self.move(settled)
            return True
        return False

    def held(self, V: np.ndarray) -> float:
        """The value of the proximal term."""
        return 0.5 * float(((V - self.centre) ** 2).sum()) / self.sigma

    def move(self, settled: bool) -> None:
        """Take the point as the centre; σ grows after few steps and shrinks where they did not suffice.

        With exact steps F never grows. Where it grows beyond all measure, σ is larger than the precision carries: the
        best centre is taken again, with a smaller σ, for good.
        """
        found = self.total(self.W)
        if not found <= self.unlikely:
            self.most = self.sigma = self.sigma / BEYOND
            self.centre, self.steps = self.nearest, 0
            self.Z = self.X @ self.centre
            self.evaluate()
            return
        if found < self.reached:
            self.reached, self.nearest = found, self.W
        residual = float(np.linalg.norm(self.W - self.centre)) / self.sigma
        self.centre = self.W
        factor = FAST if self.steps <= QUICK else GENTLE if self.steps <= SLOW else 1.0
        if not settled:
            factor = 1.0 / SHRINK
        elif residual <= CLOSE * float(np.linalg.norm(self.X.T @ self.Un)):
            factor = 1.0
        self.sigma = min(factor * self.sigma, self.most)
        self.steps = 0
        self.evaluate()

    def direction(self) -> tuple[np.ndarray, float]:
        """The Newton step in Z, and the slope of the dual along it."""
        problem, (n, m) = self.problem, self.Z.shape
        C = np.empty((n, m, m))
        loss_curvature(self.Z, *problem.terms, C)
        pause()
        R = self.Z - self.X @ self.W
        CR = np.einsum("ikr,ir->ik", C, R)
        A = self.columns()
        if A.count <= n * m and A.together <= n:
            S = A.gram(C)
            np.einsum("aa->a", S)[:] += 1.0
            D = A.times(_solved(S, A.transposed(CR))) - R
        else:
            values, Q = np.linalg.eigh(C)
            B = Q * np.sqrt(np.maximum(values, 0.0))[:, None, :]
            S = A.outer(B)
            np.einsum("aa->a", S)[:] += 1.0
            moved = np.einsum("ika,ia->ik", B, _solved(S, np.einsum("ika,ik->ia", B, R).ravel()).reshape(n, m))
            D = A.times(A.transposed(moved)) - R
        return D, float((CR * D).sum())

    # ----------------------------------------------------------------------------------------- derivative of the prox
    def columns(self) -> Columns:
        """A = √σ·XE, with J = EEᵀ the derivative of the prox at V."""
        problem, m, d = self.problem, self.problem.m, self.problem.d
        root, flat = np.sqrt(self.sigma), self.W[:d].ravel()
        own: list[list[np.ndarray]] = [[] for _ in range(m)]  # columns that move the scores of one class
        rows: list[int] = []  # features whose weights of all classes move together, and E of each (m, columns)
        roots: list[np.ndarray] = []
        terms = problem.regulariser.entry_terms()
        alike = terms is not None and np.ndim(terms[0]) == 0  # a|w| + b½w² for every entry
        if alike or self.vectors is None:
            a, b = (1.0, 0.0) if terms is None else terms
            shrunk = 1.0 / np.sqrt(1.0 + self.sigma * self.strength * b)
            for k in range(m):
                used = self.W[:d, k] != 0.0 if np.any(a) else slice(None)
                own[k].append(shrunk * self.X[:, :d][:, used])
        for at, numbers in [] if alike else self.vectors or []:
            used = np.flatnonzero(flat[at].any(axis=1)) if problem.penalty.zeroes_rows else np.arange(len(at))
            if not used.size:
                continue
            for place, E in zip(at[used], self._roots(flat[at[used]], numbers[used]), strict=True):
                if problem.regulariser.blocks is not None:
                    own[place[0] % m].append(self.X[:, place // m] @ E)
                elif E.shape[1]:
                    rows.append(int(place[0]) // m)
                    roots.append(E)
        if problem.intercept:
            for k in range(m):
                own[k].append(self.X[:, d:])
        return Columns(own, self.X[:, rows], roots, root, self.Z.shape)

    def _roots(self, vectors: np.ndarray, numbers: np.ndarray) -> list[np.ndarray]:
        """E of every vector of W (g, p): J = EEᵀ."""
        g, p = vectors.shape
        P, A = np.empty((g, p, p)), np.empty((g, p, p))
        penalty = row_functions(self.problem).of_rows(numbers)
        pieces(vectors, self.sigma * self.strength, penalty, P, A)
        rest = np.eye(p) - P
        values, Q = np.linalg.eigh(inverses(A + rest) - rest)
        return [Q[v][:, values[v] > RANK] * np.sqrt(values[v][values[v] > RANK]) for v in range(g)]


def inverses(A: np.ndarray) -> np.ndarray:
    """Inverses (g, p, p) of symmetric matrices whose eigenvalues are at least 1, also where rounding has lost these."""
    try:
        return np.linalg.inv(A)
    except np.linalg.LinAlgError:
        values, Q = np.linalg.eigh(A)
        found: np.ndarray = (Q / np.maximum(values, 1.0)[:, None, :]) @ Q.transpose(0, 2, 1)
        return found


class Columns:
    """A, whose columns move the scores of one class each (``own``) or of all: x_j times a column of E_j (``rows``: the
    x_j, (n, features), ``roots``: the E_j, (m, columns))."""

    def __init__(
        self,
        own: list[list[np.ndarray]],
        rows: np.ndarray,
        roots: list[np.ndarray],
        root: float,
        shape: tuple[int, int],
    ) -> None:
        n, m = shape
        self.shape, self.together = shape, len(roots)
        self.own = [root * np.column_stack(part) if part else np.empty((n, 0)) for part in own]
        self.rows = root * rows
        self.roots = np.concatenate(roots, axis=1) if roots else np.empty((m, 0))
        lengths = [part.shape[1] for part in roots]
        self.at = np.repeat(np.arange(len(roots)), lengths)  # the feature of every column
        self.starts = np.cumsum([0, *lengths])[:-1]
        self.ends = np.cumsum([0, *(part.shape[1] for part in self.own), self.roots.shape[1]])
        self.count = int(self.ends[-1])

    def _place(self, k: int) -> slice:
        return slice(self.ends[k], self.ends[k + 1])

    def times(self, w: np.ndarray) -> np.ndarray:
        """A·w, (n, m)."""
        Z = np.zeros(self.shape)
        if self.together:
            V = np.add.reduceat(self.roots * w[self._place(self.shape[1])], self.starts, axis=1)
            Z += self.rows @ V.T
        for k, part in enumerate(self.own):
            Z[:, k] += part @ w[self._place(k)]
        return Z

    def transposed(self, R: np.ndarray) -> np.ndarray:
        """AᵀR, (count,)."""
        own = [part.T @ R[:, k] for k, part in enumerate(self.own)]
        return np.concatenate([*own, (self.roots * (R.T @ self.rows)[:, self.at]).sum(axis=0)])

    def gram(self, C: np.ndarray) -> np.ndarray:
        """AᵀCA; its lower half."""
        m, S = self.shape[1], np.zeros((self.count, self.count))
        last, joint = self._place(m), np.zeros((m, self.together, self.roots.shape[1]))
        for k in range(m):
            for r in range(k + 1):
                weighted = self.own[k] * C[:, k, r, None]
                S[self._place(k), self._place(r)] = weighted.T @ self.own[r]
                if self.together:
                    pause()
                    G = (self.rows * C[:, k, r, None]).T @ self.rows
                    joint[k] += G[:, self.at] * self.roots[r]
                    if r < k:
                        joint[r] += G[:, self.at] * self.roots[k]
                pause()
        for k in range(m if self.together else 0):
            S[last, last] += self.roots[k][:, None] * joint[k][self.at]
            mixed = [self.rows.T @ (self.own[k] * C[:, r, k, None]) for r in range(m)]
            S[last, self._place(k)] = sum(self.roots[r][:, None] * mixed[r][self.at] for r in range(m))
            pause()
        return S

    def outer(self, B: np.ndarray) -> np.ndarray:
        """BᵀAAᵀB, for B (n, m, m) by samples."""
        n, m = self.shape
        moved = np.empty((n, m, n, m))
        for k, part in enumerate(self.own):
            moved[:, k] = (part @ part.T)[:, :, None] * B[None, :, k, :]
            pause()
        for k in range(m if self.together else 0):
            for r in range(m):
                J = np.add.reduceat(self.roots[k] * self.roots[r], self.starts)
                moved[:, k] += ((self.rows * J) @ self.rows.T)[:, :, None] * B[None, :, r, :]
                pause()
        return np.asarray((B.transpose(0, 2, 1) @ moved.reshape(n, m, n * m)).reshape(n * m, n * m))


def _solved(S: np.ndarray, b: np.ndarray) -> np.ndarray:
    """S⁻¹b for S = I + a positive semidefinite matrix, of which the lower half is given."""
    try:
        return Factor(S).solve(b)
    except LinAlgError:  # rounding of large entries: no eigenvalue is below that of I
        values, Q = np.linalg.eigh(S)
        return np.asarray(Q @ ((Q.T @ b) / np.maximum(values, 1.0)))
