"""The semismooth Newton augmented Lagrangian on a problem with few enough weights for a factored system.

    minimise Σ_i ℓ(ζ_i) + nλΩ(V) subject to ζ = XW + 1bᵀ, V = W, with multipliers U (n, m) and P (d, m):

    φ(W, b) = Σ_i e_i(z_i) + E(W),   z = XW + 1bᵀ
    e_i(z) = max_u ⟨u, z⟩ − ℓ*(u) − ‖u − U_i‖²/(2σ),   reached at u = prox_{σℓ*}(U_i + σz); for smooth losses
             ℓ(z) itself, with u = ∇ℓ(z): they need no multiplier
    E(W)   = min_V nλΩ(V) + ⟨P, W − V⟩ + ½ρ‖W − V‖²,   reached at V = prox_{nλΩ/ρ}(W + P/ρ)

φ is smooth, and its gradient XᵀU⁺ + P⁺ with U⁺ = u, P⁺ = P + ρ(W − V). A Newton step takes the generalised Hessian
Xᵀ C X + ρ(I − J), C_i = ∇²e_i, J the derivative of the prox: both are projections on the pieces that u and V lie on,
where these are not smooth. Near the minimum of φ the multipliers move, U ← U⁺, P ← P⁺, and σ, ρ grow.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from ...kernels.augmented import envelope, envelope_curvature, loss_curvature, pieces
from ...kernels.rows import loss_gradient
from ...pauses import even_parts, pause
from ...problems.linear_algebra import Factor, fill
from ...problems.penalty_norms import vectors_of
from ...problems.prediction import Problem
from .armijo import BACKTRACK, backtrack
from .in_parts import WORK
from .pieces import row_functions

ARMIJO, TRIALS = 1e-4, 25
INNER = 0.05  # the multipliers move when the gradient is this share of what they would move
QUICK, SLOW, SHRINK = 3, 8, 2.0  # σ and ρ may grow after at most QUICK Newton steps, and shrink after more than SLOW
GROWTH, ENOUGH = 2.0, 0.9  # of σ and ρ, where a residual has not fallen to this share
MOST = 100.0  # σ and ρ grow to this many times their first value: steps get harder and the gap no better beyond
FLOPS = 6e7  # of a product of columns between two pauses, where reading an entry costs as much as GATHERED of them
GATHERED = 30.0
NONE = 1e-10  # share of what the prox is taken of below which a weight counts as zero
# Damping: a share of σ‖x_j‖²/m + ρ that is added to the diagonal, for φ has flat and straight pieces. It falls after a
# full step and rises after a shortened one.
FIRST, LEAST, HIGHEST, DOWN, UP = 1e-2, 1e-10, 1e4, 0.1, 4.0


class Lagrangian:
    """A point of the method: the smooth variable W, b, the multipliers, and what belongs to the last of these points.

    W : (rows, m) · V : (d, m), the image of the prox · Z : scores of W · Un, Pn : U⁺, P⁺ · value : φ · G : its gradient
    """

    def __init__(self, problem: Problem, W: np.ndarray, U: np.ndarray) -> None:
        self.problem, self.U = problem, U.astype(np.float64)
        self.X = problem.design.matrix
        d, n = problem.d, problem.n
        self.smooth = bool(problem.loss.smooth)
        self.strength = n * problem.lam
        self.W = W.astype(np.float64)
        self.index = vectors_of(problem.regulariser, d, problem.m)
        unit = 1.0 if self.smooth else problem.loss.margin
        self.sigma = 1.0 / unit
        mean = float(problem.design.squared_norms.sum()) / max(d, 1)
        self.rho = max(0.05 * self.sigma * mean, 1e-12)
        self.damping = FIRST
        self.limits = (MOST * self.sigma, MOST * self.rho)
        norms = self.problem.design.squared_norms
        norms = np.append(norms, float(n)) if problem.intercept else norms
        self.norms = np.repeat(norms, problem.m) / problem.m
        self.Un, self.steps = np.empty_like(self.U), 0
        self.P = self._multiplier()
        self.residuals = (np.inf, np.inf)
        self.trials, self.size, self.stale = 0, float("nan"), False
        self.evaluate()

    def __deepcopy__(self, memo: Any) -> Lagrangian:
        made = copy.copy(self)  # the problem never changes
        for name in ("U", "P", "W", "V", "Z", "Un", "Pn", "G"):
            setattr(made, name, getattr(self, name).copy())
        return made

    def resume(self, old: Lagrangian) -> None:
        """Take over how another one, of the same problem on other features, has set its steps."""
        self.sigma, self.rho, self.damping = old.sigma, old.rho, old.damping
        self.stale = True

    @property
    def shown(self) -> np.ndarray:
        """The weights of the point: V, which comes out of a prox, and the intercept."""
        return np.concatenate([self.V, self.W[self.problem.d :]])

    def _multiplier(self) -> np.ndarray:
        """A point of nλ∂Ω: for hinges the one nearest to −XᵀU, which is −XᵀU less its prox; for smooth losses one at
        weights near W, which is −XᵀU itself if W is optimal."""
        H = -np.ascontiguousarray((self.X.T @ self.U).astype(np.float64))
        out = np.empty_like(H)
        if self.smooth:
            W = self.W[: self.problem.d]
            self.problem.regulariser.prox(W + H / self.rho, self.strength / self.rho, out)
            return H + self.rho * (W - out)
        self.problem.regulariser.prox(H, self.strength, out)
        return H - out

    # ------------------------------------------------------------------------------------------------------- φ
    def scores(self, W: np.ndarray) -> np.ndarray:
        d = self.problem.d
        Z = np.ascontiguousarray(self.X @ W[:d], dtype=np.float64)
        if self.problem.intercept:
            Z += W[d]
        return Z

    def phi(self, W: np.ndarray, Z: np.ndarray) -> tuple[float, np.ndarray]:
        """φ and V; U⁺ is written into ``Un``."""
        problem, d = self.problem, self.problem.d
        if self.smooth:
            total = float(loss_gradient(Z, *problem.terms, self.Un))
        else:
            total = float(envelope(Z, self.U, *problem.terms, self.sigma, self.Un))
        T = W[:d] + self.P / self.rho
        V = np.empty_like(T)
        problem.regulariser.prox(T, self.strength / self.rho, V)
        off = T - V
        total += self.strength * problem.regulariser.value(V)[0] + 0.5 * self.rho * float((off * off).sum())
        return total - 0.5 * float((self.P * self.P).sum()) / self.rho, V

    def evaluate(self) -> None:
        """φ, V, U⁺, P⁺ and the gradient at W."""
        self.Z = self.scores(self.W)
        self.value, self.V = self.phi(self.W, self.Z)
        self.finish()

    def finish(self) -> None:
        """P⁺ and the gradient, when Z, V and U⁺ are there."""
        d = self.problem.d
        self.Pn = self.P + self.rho * (self.W[:d] - self.V)
        self.G = np.empty_like(self.W)
        self.G[:d] = self.X.T @ self.Un + self.Pn
        if self.problem.intercept:
            self.G[d] = self.Un.sum(axis=0)

    # ------------------------------------------------------------------------------------------------------- steps
    def step(self, patience: int) -> bool:
        """A Newton step; then the multipliers move if φ is near its minimum, or after ``patience`` steps. Whether they
        did."""
        if self.stale:
            self.value, self.V = self.phi(self.W, self.Z)
            self.finish()
            self.stale = False
        D = self.direction()
        pause()
        E = self.scores(D)
        pause()
        slope = float((self.G * D).sum())
        before, noise = self.value, 1e-13 * (abs(self.value) + float((self.Un * self.Z).__abs__().sum()))
        size, value, V = 1.0, before, self.V

        def tried(at: float) -> float:
            nonlocal size, value, V
            size = at
            pause()
            value, V = self.phi(self.W + size * D, self.Z + size * E)
            return value

        self.trials = backtrack(tried, slope, noise, TRIALS, before, ARMIJO).trials  # the last trial is taken anyway
        change = DOWN if size == 1.0 else UP / max(size, BACKTRACK**6)
        self.damping = min(max(self.damping * change, LEAST), HIGHEST)
        self.W = self.W + size * D
        self.Z = self.Z + size * E
        self.value, self.V, self.size = value, V, size
        self.steps += 1
        pause()
        self.finish()
        pause()
        if not (self.settled() or self.steps >= patience):
            return False
        self.move()
        return True

    def settled(self) -> bool:
        """Return whether the gradient is small against the move of the multipliers, in comparable units."""
        if not np.abs(self.G).max() > 1e-15 * (np.abs(self.Pn).max() + self.strength):
            return True
        # Lengths in the metric of the quadratic terms: √ρ·(W − V) and (U⁺ − U)/√σ.
        moved = float(((self.Pn - self.P) ** 2).sum()) / self.rho
        if not self.smooth:
            moved += float(((self.Un - self.U) ** 2).sum()) / self.sigma
        D = self.system(solve=False)
        left = float((self.G * self.G / D).sum())
        return left <= INNER**2 * moved

    def move(self) -> None:
        """U ← U⁺, P ← P⁺; σ and ρ grow where that did not move enough closer."""
        far_u = 0.0 if self.smooth else float(np.linalg.norm(self.Un - self.U)) / self.sigma
        far_p = float(np.linalg.norm(self.Pn - self.P)) / self.rho
        self.U[:], self.P = self.Un, self.Pn
        quick = self.steps <= QUICK
        if quick and far_u > ENOUGH * self.residuals[0]:
            self.sigma = min(GROWTH * self.sigma, self.limits[0])
        if quick and far_p > ENOUGH * self.residuals[1]:
            self.rho = min(GROWTH * self.rho, self.limits[1])
        if self.steps > SLOW:
            self.sigma, self.rho = self.sigma / SHRINK, self.rho / SHRINK
        self.residuals = far_u, far_p
        self.steps = 0
        self.stale = True  # φ is another function now

    # ------------------------------------------------------------------------------------------------------ Hessian
    def direction(self) -> np.ndarray:
        """−H⁻¹G."""
        return self.system(solve=True)

    def system(self, solve: bool) -> np.ndarray:
        """The Newton direction, or (``solve`` False) the diagonal of the Hessian, at least its floor; (rows, m)."""
        problem, (rows, m) = self.problem, self.W.shape
        n, d = problem.n, problem.d
        C, (y, loss) = np.empty((n, m, m)), problem.terms
        for first, last in even_parts(n, 16.0 * m * m, WORK):
            at = slice(first, last)
            if self.smooth:
                loss_curvature(self.Z[at], y[at], loss, C[at])
            else:
                envelope_curvature(self.Un[at], y[at], loss, self.sigma, C[at])
            pause()
        if not solve:
            top = np.einsum("ikk->ik", C)
            squares = self.X.multiply(self.X) if problem.design.is_sparse else self.X * self.X
            D = np.empty((rows, m))
            pause()
            D[:d] = squares.T @ top
            if problem.intercept:
                D[d] = top.sum(axis=0)
            D[:d] += self.rho
            return np.maximum(D, 1e-9 * D.max())
        parts = np.empty((rows, m, rows, m))
        fill(parts, 0.0)
        A = self.X
        if problem.design.is_sparse:
            A = A.tocsr()
        for k in range(m):
            for r in range(k, m):
                block = self._weighted_gram(A, C[:, k, r])
                if block is None:
                    continue
                parts[:, k, :, r] = block
                if r > k:
                    parts[:, r, :, k] = block.T
        pause()
        H = parts.reshape(rows * m, rows * m)
        if problem.intercept and problem.loss.of_differences:  # b + t·1 changes nothing: rounding must not choose t
            bias = H[d * m :, d * m :]
            bias += np.trace(bias) / m**2
        self._add_penalty(H)
        pause()
        diagonal = np.einsum("aa->a", H)
        b, shift = -self.G.ravel(), self.damping * (self.sigma * self.norms + self.rho)
        while True:
            diagonal += shift
            try:
                return Factor(H).solve(b).reshape(rows, m)
            except LinAlgError:
                shift *= 100.0

    def _weighted_gram(self, A: Any, c: np.ndarray) -> np.ndarray | None:
        """AᵀDiag(c)A, with a column of ones for an intercept; ``None`` where c is zero."""
        problem, used, block = self.problem, np.flatnonzero(c), None
        if used.size == 0:
            return None
        p = float(A.shape[1] + problem.intercept)
        for first, last in even_parts(used.size, 2.0 * p * p + GATHERED * p, FLOPS):
            at = used[first:last]
            part = A[at] if at.size < problem.n else A
            part = part.toarray() if problem.design.is_sparse else part
            if problem.intercept:
                part = np.column_stack([part, np.ones(at.size)])
            pause()
            found = (part * c[at][:, None]).T @ part
            block = found if block is None else block + found
            pause()
        return block

    def _add_penalty(self, H: np.ndarray) -> None:
        """H += ρ(I − J) on the penalised weights."""
        problem, d, m = self.problem, self.problem.d, self.W.shape[1]
        diagonal = np.einsum("aa->a", H)
        diagonal[: d * m] += self.rho
        flat = self.V.ravel()
        # Which side of the kink rounding leaves a weight on must not matter.
        least = NONE * float(np.abs(self.V + self.Pn / self.rho).max(initial=0.0))
        flat = np.where(np.abs(flat) > least, flat, 0.0)
        if self.index is None:
            diagonal[: d * m][flat != 0.0] -= self.rho
            return
        penalty = row_functions(problem)
        for at, numbers in self.index:
            here = flat[at].any(axis=1) if problem.penalty.zeroes_rows else np.ones(len(at), dtype=bool)
            used = at[here]
            if used.size == 0:
                continue
            g, p = used.shape
            P, A = np.empty((g, p, p)), np.empty((g, p, p))
            pieces(flat[used], self.strength / self.rho, penalty.of_rows(numbers[here]), P, A)
            rest = np.eye(p) - P
            J = np.linalg.inv(A + rest) - rest
            H[used[:, :, None], used[:, None, :]] -= self.rho * J
