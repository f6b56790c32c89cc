"""Linear systems of the interior point method (central_path.py): one Newton step for any right-hand side.

    B·dW + Xᵀy = r,   y = Q·X·dW        with Q the curvature of the hinges and B that of the penalty and the intercept

B⁻¹ = D⁻¹ + UUᵀ is known without cancellation; U has columns where norms join entries of W. The weights that a norm
leaves free have B near 0: rounding in r becomes large in W. So y = QX·dW is refined by corrections that are added to W,
and the duals are taken from y and not from W: XᵀU and the duals of the norms then cancel exactly.

Three systems give y, and the one that is quickest to factor is taken. With K = XB⁻¹Xᵀ and B⁻¹ = AAᵀ, A = (D^-½, U):

    Joint     Q = RRᵀ, (I + RᵀKR)·g = RᵀXB⁻¹r, y = Rg, of n·m rows
    ByClass   Q is a diagonal Θ if the levels a and the slacks ξ of the samples stay unknowns. Then Θ⁻¹ + K falls into
              classes of n rows, but for some columns: two of each sample, those of U that join classes, and the
              intercepts. A system of these columns remains (a Schur complement).
    ByWeights (I + AᵀXᵀQXA)·v = Aᵀr, y = QXAv, of the weights, the columns of U and the intercepts: for many samples
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from numpy.linalg import LinAlgError

from ..pauses import pause
from .linear_algebra import Factor

FREE, LOOSE = 1e-10, 1e-9  # curvature that an intercept, and every weight, has at least
JITTER, MORE = 1e-14, 100.0  # relative change of a system's diagonal, and its factor where that does not do
MOST_CORRECTIONS = 20  # of classes: as many as shrink by the factor below, until they are small
SMALL, SHRINKS = 1e-9, 0.5
MOST_SQUARE = 1e8  # of what is squared
COARSE = 1e-3  # share of y above which a correction gives new weights instead of being added to them


class Curvature:
    """B of the penalty, by its inverse.

    ``inverse``: D⁻¹ (d·m,); ``joined``: columns of U as (at, u), both (vectors, length);
    ``by_class``: whether these join entries of one class only.
    """

    def __init__(self, shape: tuple[int, int], by_class: bool, E: np.ndarray, pieces: list[Any], n: int) -> None:
        self.shape, self.by_class, self.n = shape, by_class, n
        for piece in pieces:
            if piece.single:
                E[piece.at[:, 0]] += piece.diagonal()
        self.inverse: np.ndarray = 1.0 / E
        self.joined: list[tuple[np.ndarray, np.ndarray]] = []
        for piece in pieces:
            if not piece.single:
                inverse, u = piece.arrow(E[piece.at])
                self.inverse[piece.at] = inverse
                self.joined.append((piece.at, u))

    def solve(self, r: np.ndarray) -> np.ndarray:
        """B⁻¹r, (rows, m)."""
        d, m = self.shape
        flat = r[:d].ravel()
        out = self.inverse * flat
        for at, u in self.joined:
            out[at] += u * (u * flat[at]).sum(axis=1, keepdims=True)
        return np.vstack([out.reshape(d, m), r[d:] / (FREE * self.n)])

    def pulled(self, flat: np.ndarray) -> np.ndarray:
        """AᵀR of R with columns, (rows·m, c)."""
        size = self.inverse.size
        parts = [np.sqrt(self.inverse)[:, None] * flat[:size]]
        parts += [np.einsum("vp,vpc->vc", u, flat[at]) for at, u in self.joined]
        return np.concatenate([*parts, flat[size:] / np.sqrt(FREE * self.n)])

    def pushed(self, v: np.ndarray) -> np.ndarray:
        """Av, (rows, m)."""
        d, m = self.shape
        start = self.inverse.size
        out = np.sqrt(self.inverse) * v[:start]
        for at, u in self.joined:
            out[at] += u * v[start : start + len(at), None]
            start += len(at)
        return np.vstack([out.reshape(d, m), v[start:].reshape(-1, m) / np.sqrt(FREE * self.n)])

    def within(self, r: np.ndarray) -> np.ndarray:
        """The same of weights (d, m), without what joins classes."""
        flat = r.ravel()
        out = self.inverse * flat
        for at, u in self.joined if self.by_class else []:
            out[at] += u * (u * flat[at]).sum(axis=1, keepdims=True)
        return out.reshape(self.shape)

    def columns(self, X: np.ndarray, k: int) -> np.ndarray:
        """A with AAᵀ = XB⁻¹Xᵀ within class k, but for what joins classes and the intercept."""
        d, m = self.shape
        found = [X[:, :d] * np.sqrt(self.inverse.reshape(d, m)[:, k])]
        for at, u in self.joined if self.by_class else []:
            here = at[:, 0] % m == k
            found.append(np.einsum("ivp,vp->iv", X[:, at[here] // m], u[here]))
        return np.column_stack(found)

    def joins(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the features (vectors,) and u (vectors, m) of the parts that join classes."""
        return [] if self.by_class else [(at[:, 0] // self.shape[1], u) for at, u in self.joined]


def system_of(X: np.ndarray, curvature: Curvature, hinges: Any) -> Joint | ByClass | ByWeights:
    """Return the system that is quickest to factor."""
    crossing, all_columns = (sum(len(at) for at, _ in some) for some in (curvature.joins(), curvature.joined))
    costs = work(len(X), *curvature.shape, crossing, all_columns)
    return (Joint, ByClass, ByWeights)[int(np.argmin(costs))](X, curvature, hinges)


def work(n: int, d: int, m: int, crossing: int, columns: int) -> tuple[float, float, float]:
    """Multiplications of a factorisation: of ``Joint``, ``ByClass`` and ``ByWeights``.

    ``columns`` : those of U · ``crossing`` : those that join classes
    """
    joint = (n * m) ** 3 / 6.0 + n * n * m * d + n * n * m * m * crossing
    one = n * n * (2.0 * n + d + 2.0 * crossing) + n * crossing * crossing
    size = d * m + columns + m
    weights = 0.5 * n * (d * m) ** 2 + size**3 / 6.0 + (d * m) ** 2
    return joint, m * one + (2 * n + crossing + m) ** 3 / 6.0, weights


def factored(S: np.ndarray) -> Factor:
    """Cholesky factor of a symmetric matrix, which is overwritten, with as little added to its diagonal as does."""
    diagonal, jitter = S.diagonal().copy(), JITTER
    while True:
        np.einsum("aa->a", S)[:] = diagonal * (1.0 + jitter)
        try:
            return Factor(S.T)
        except LinAlgError:
            jitter *= MORE
            if not jitter < 1.0:
                raise


def crossed(X: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """XᵀQX, (rows, m, rows, m), of one Q_i (m, m) for each sample."""
    rows, m = X.shape[1], Q.shape[1]
    H = np.empty((rows, m, rows, m))
    for k in range(m):
        for r in range(k, m):
            part = (X * Q[:, k, r, None]).T @ X
            H[:, k, :, r], H[:, r, :, k] = part, part.T
    return H


class Joint:
    """I + RᵀKR of all samples and classes."""

    def __init__(self, X: np.ndarray, curvature: Curvature, hinges: Any) -> None:
        self.X, self.curvature = X, curvature
        (n, rows), (d, m) = X.shape, curvature.shape
        self.R = hinges.factor()
        K = np.zeros((n, m, n, m))
        for k in range(m):
            A = curvature.columns(X, k)
            A = np.column_stack([A, X[:, d:] / np.sqrt(FREE * n)]) if rows > d else A
            K[:, k, :, k] = A @ A.T
            pause()
        S = K.reshape(n * m, n * m)
        for features, u in curvature.joins():
            A = (X[:, None, features] * u.T[None]).reshape(n * m, -1)
            S += A @ A.T
            pause()
        for _ in range(2):  # RᵀKR; K is symmetric
            S = np.matmul(self.R.transpose(0, 2, 1), S.reshape(n, m, n * m)).reshape(n * m, n * m).T
            S = np.ascontiguousarray(S)
            pause()
        np.einsum("aa->a", S)[:] += 1.0
        self.system = factored(S)

    def solve(self, r: np.ndarray, corrections: int) -> tuple[np.ndarray, np.ndarray]:
        """Return dW and y."""
        g = self._solved(self._seen(self.curvature.solve(r)))
        W = self.curvature.solve(r - self.X.T @ self._spread(g))
        for _ in range(corrections):
            change = self._solved(g - self._seen(W))
            g = g - change
            W = W + self.curvature.solve(self.X.T @ self._spread(change))
        return W, self._spread(g)

    def reached(self, Z: np.ndarray) -> np.ndarray:
        """Return the weights, small where B is large, whose scores are about Z where these count."""
        return self.curvature.solve(self.X.T @ self._spread(self._solved(np.einsum("ika,ik->ia", self.R, Z))))

    def _solved(self, b: np.ndarray) -> np.ndarray:
        return self.system.solve(b.ravel()).reshape(b.shape)

    def _seen(self, W: np.ndarray) -> np.ndarray:
        """RᵀXW."""
        return np.asarray(np.einsum("ika,ik->ia", self.R, self.X @ W))

    def _spread(self, g: np.ndarray) -> np.ndarray:
        """Rg."""
        return np.asarray(np.einsum("ika,ia->ik", self.R, g))


class ByWeights:
    """I + CᵀC with C = RᵀXA: v + Cᵀg = Aᵀr and g = Cv, with W = Av and y = Rg."""

    def __init__(self, X: np.ndarray, curvature: Curvature, hinges: Any) -> None:
        self.X, self.curvature, self.R = X, curvature, hinges.factor()
        (rows, (d, m)) = X.shape[1], curvature.shape
        H = crossed(X, self.R @ self.R.transpose(0, 2, 1))
        S = curvature.pulled(curvature.pulled(H.reshape(rows * m, rows * m)).T)
        np.einsum("aa->a", S)[:] += 1.0
        if rows > d:  # all intercepts may move together: nothing changes
            S[-m:, -m:] += S.diagonal()[-m:].mean()
        self.system = factored(S)

    def solve(self, r: np.ndarray, corrections: int) -> tuple[np.ndarray, np.ndarray]:
        """Return dW and y."""
        a = self._pulled(r)
        v = self._solved(a)
        g = self._seen(v)
        for _ in range(corrections):
            off = self._seen(v) - g
            change = self._solved(a - v - self._returned(g + off))
            v, g = v + change, g + off + self._seen(change)
        return self.curvature.pushed(v), np.asarray(np.einsum("ika,ia->ik", self.R, g))

    def reached(self, Z: np.ndarray) -> np.ndarray:
        """Return the weights, small where B is large, whose scores are about Z where these count."""
        return self.curvature.pushed(self._solved(self._returned(np.einsum("ika,ik->ia", self.R, Z))))

    def _seen(self, v: np.ndarray) -> np.ndarray:
        """Cv, (n, m)."""
        return np.asarray(np.einsum("ika,ik->ia", self.R, self.X @ self.curvature.pushed(v)))

    def _returned(self, g: np.ndarray) -> np.ndarray:
        """Cᵀg."""
        return self._pulled(self.X.T @ np.einsum("ika,ia->ik", self.R, g))

    def _pulled(self, r: np.ndarray) -> np.ndarray:
        """Aᵀr."""
        return self.curvature.pulled(r.reshape(-1, 1))[:, 0]

    def _solved(self, a: np.ndarray) -> np.ndarray:
        return self.system.solve(a)


def _root(A: np.ndarray) -> np.ndarray:
    """Upper triangular R with RᵀR = I + AAᵀ; without squares where A is large, as weights that are free make it."""
    if float(np.einsum("ij,ij->i", A, A).max(initial=0.0)) < MOST_SQUARE:
        M = A @ A.T
        np.einsum("ii->i", M)[:] += 1.0
        upper, wrong = scipy.linalg.lapack.dpotrf(M, clean=True)
        if not wrong:
            return np.asarray(upper)
    return np.triu(scipy.linalg.lapack.dgeqrf(np.vstack([A.T, np.eye(len(A))]))[0][: len(A)])


class ByClass:
    """Θ⁻¹ + K class by class, and the Schur complement of the unknowns x = (a, ξ, −Uᵀ(r − Xᵀy), −b).

    With K of D⁻¹ alone: (Θ⁻¹ + K)y + Ex = h and Eᵀy − Δx = c.
    """

    def __init__(self, X: np.ndarray, curvature: Curvature, hinges: Any) -> None:
        self.X, self.curvature = X, curvature
        (n, rows), (d, m) = X.shape, curvature.shape
        self.off, self.theta = hinges.off, hinges.theta
        self.root = np.sqrt(self.theta)
        self.joins, at = [], 2 * n
        for features, u in curvature.joins():
            self.joins.append((slice(at, at + features.size), features, u))
            at += features.size
        self.intercepts = slice(at, at + m * (rows - d))
        self.delta = np.concatenate([np.zeros(n), hinges.last, np.ones(at - 2 * n), np.full(m * (rows - d), FREE * n)])
        self.inverses = np.empty((m, n, n))  # of the triangular factors of I + √Θ·K·√Θ
        T = np.diag(self.delta)
        for k in range(m):
            A = self.root[:, k, None] * curvature.columns(X, k)
            self.inverses[k] = scipy.linalg.lapack.dtrtri(_root(A))[0].T
            self._add(T, k)
        if rows > d:  # all intercepts may move together: nothing changes
            T[self.intercepts, self.intercepts] += T.diagonal()[self.intercepts].mean()
        self.system = factored(T)

    def _add(self, T: np.ndarray, k: int) -> None:
        """Add EᵀE of class k, E its columns after (Θ⁻¹ + K)^-½."""
        n, off = len(self.X), self.off[:, k]
        own = self.inverses[k] * self.root[:, k]
        G = own.T @ own
        both, rest = slice(0, 2 * n), slice(2 * n, None)
        T[:n, :n] += G
        T[:n, n : 2 * n] += G * off
        T[n : 2 * n, :n] += G * off[:, None]
        T[n : 2 * n, n : 2 * n] += G * off * off[:, None]
        others = [self.X[:, features] * u[:, k] for _, features, u in self.joins]
        if self.intercepts.stop > self.intercepts.start:
            others.append(np.zeros((n, len(self.inverses))))
            others[-1][:, k] = 1.0
        if others:
            E = own @ np.column_stack(others)
            T[rest, rest] += E.T @ E
            across = own.T @ E
            T[both, rest] += np.vstack([across, across * off[:, None]])
            T[rest, both] = T[both, rest].T

    def _times(self, x: np.ndarray) -> np.ndarray:
        """Ex, (n, m)."""
        out = self._levels(x)
        for at, features, u in self.joins:
            out += self.X[:, features] @ (u * x[at, None])
        return out + x[self.intercepts] if self.intercepts.stop > self.intercepts.start else out

    def _levels(self, x: np.ndarray) -> np.ndarray:
        """The share of a and ξ in the scores, (n, m)."""
        n = len(self.X)
        return np.asarray(x[:n, None] + np.where(self.off, x[n : 2 * n, None], 0.0))

    def _gathered(self, y: np.ndarray) -> np.ndarray:
        """Eᵀy."""
        parts = [y.sum(axis=1), np.where(self.off, y, 0.0).sum(axis=1)]
        parts += [((self.X[:, features].T @ y) * u).sum(axis=1) for _, features, u in self.joins]
        if self.intercepts.stop > self.intercepts.start:
            parts.append(y.sum(axis=0))
        return np.concatenate(parts)

    def _apart(self, h: np.ndarray) -> np.ndarray:
        """(Θ⁻¹ + K)⁻¹h."""
        v = np.matmul(self.inverses, (self.root * h).T[:, :, None])
        return np.asarray(self.root * np.matmul(self.inverses.transpose(0, 2, 1), v)[:, :, 0].T)

    def _solved(self, h: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return y and x."""
        x = self.system.solve(self._gathered(self._apart(h)) - c)
        return self._apart(h - self._times(x)), x

    def _weights(self, G: np.ndarray, x: np.ndarray) -> np.ndarray:
        """D⁻¹G − Ux of the weights, −x of the intercepts."""
        d, m = self.curvature.shape
        W = np.vstack([self.curvature.within(G[:d]), -x[self.intercepts].reshape(-1, m)])
        for at, features, u in self.joins:
            np.subtract.at(W, features, u * x[at, None])
        return W

    def solve(self, r: np.ndarray, corrections: int) -> tuple[np.ndarray, np.ndarray]:
        """Return dW and y."""
        d = self.curvature.shape[0]
        c = np.zeros(self.delta.size)
        for at, features, u in self.joins:
            c[at] = (r[features] * u).sum(axis=1)
        c[self.intercepts] = r[d:].ravel()
        y, x = self._solved(self.X[:, :d] @ self.curvature.within(r[:d]), c)
        W, before = self._weights(r - self.X.T @ y, x), np.inf
        for k in range(MOST_CORRECTIONS):
            dy, dx = self._solved(self.X @ W - self._levels(x) - y / self.theta, c - self._gathered(y) + self.delta * x)
            share = float(np.linalg.norm(dy)) / max(float(np.linalg.norm(y)), 1e-300)
            if k >= corrections and not SMALL < share < SHRINKS * before:
                break
            y, x, before = y + dy, x + dx, share
            W = self._weights(r - self.X.T @ y, x) if share > COARSE else W + self._weights(-self.X.T @ dy, dx)
        return W, y

    def reached(self, Z: np.ndarray) -> np.ndarray:
        """Return the weights, small where B is large, whose scores are about Z where these count."""
        y, x = self._solved(Z, np.zeros(self.delta.size))
        return -self._weights(-self.X.T @ y, x)


def cheapest(n: int, d: int, m: int, found: Any, by_class: bool) -> float:
    """Multiplications of a factorisation with the norms that were found."""
    vectors = sum(len(v) for kind in (found.length, found.highest) for v in kind if v is not None)
    return min(work(n, d, m, 0 if by_class else vectors, vectors))
