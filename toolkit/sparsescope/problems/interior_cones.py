"""Cones of the interior point method, and the norms of a penalty as pieces with a cone each.

A cone keeps slacks s and duals z. Its scaling T (Nesterov and Todd) has Tz = T⁻¹s; for s, z ≥ 0 it is √(s/z), for the
cone t ≥ ‖w‖₂ it is η(2qqᵀ − J)^½ with J = diag(1, −1, …). Newton steps need θ = T⁻² and what becomes of s∘z.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from .penalty_norms import Norms, vectors_of

TINY = 1e-300
FAR = 10.0  # factor from the centre up to which a product is near it
INSIDE = 0.8  # share of a norm's dual ball up to which duals are given


class Orthant:
    """Slacks s ≥ 0 and duals z ≥ 0, arrays of any shape."""

    def __init__(self, s: np.ndarray, z: np.ndarray) -> None:
        self.s, self.z = s, z

    @property
    def count(self) -> int:
        """Number of complementary pairs."""
        return self.s.size

    def product(self) -> float:
        """Σ of slacks times duals."""
        return float((self.s * self.z).sum())

    def centre(self, unit: Any, product: float) -> None:
        """Move s, z to the pair with that product everywhere and the same s − unit·z."""
        v = self.s - unit * self.z
        self.s = _larger_root(v, 4.0 * product * unit)
        self.z = _larger_root(-v, 4.0 * product * unit) / unit

    def scale(self) -> None:
        """Compute θ at s, z."""
        self.theta = self.z / self.s

    def times(self, v: np.ndarray) -> np.ndarray:
        """θv."""
        return self.theta * v

    def predictor(self) -> np.ndarray:
        """The v with ds + θ⁻¹dz = v where s∘z is to vanish."""
        return -self.s

    def corrector(self, ds: np.ndarray, dz: np.ndarray, centre: float) -> np.ndarray:
        """The same where s∘z is to become the centre, with what a first step (ds, dz) left out."""
        return (centre - self.s * self.z - ds * dz) / self.z

    def recentred(
        self, aim: np.ndarray, ds: np.ndarray, dz: np.ndarray, ahead: float, below: float, centre: float
    ) -> np.ndarray:
        """The aim changed so that, after steps of these sizes, no s∘z is far from the centre."""
        product = (self.s + ahead * ds) * (self.z + below * dz)
        missing = np.clip(product, centre / FAR, FAR * centre) - product
        return np.asarray(aim + np.maximum(missing, -FAR * centre) / self.z)

    def longest(self, ds: np.ndarray | None, dz: np.ndarray | None) -> float:
        """The longest step of both, or of one of them, inside the cone."""
        return min(_until_zero(self.s, ds), _until_zero(self.z, dz))

    def ahead(self, size: float, ds: np.ndarray, dz: np.ndarray) -> float:
        """Σ of slacks times duals after a step."""
        return float(((self.s + size * ds) * (self.z + size * dz)).sum())


def _larger_root(v: np.ndarray, four: Any) -> np.ndarray:
    """½(v + √(v² + four)), without cancellation."""
    size = np.sqrt(v * v + four)
    return np.asarray(np.where(v >= 0.0, 0.5 * (v + size), 0.5 * four / (size + np.abs(v))))


def _until_zero(v: np.ndarray, dv: np.ndarray | None) -> float:
    if dv is None:
        return np.inf
    falls = float((dv / v).min(initial=0.0))
    return -1.0 / falls if falls < 0.0 else np.inf


class SecondOrder(Orthant):
    """Rows (t, w) of s and z with t ≥ ‖w‖₂."""

    @property
    def count(self) -> int:
        return len(self.s)

    def centre(self, unit: Any, product: float) -> None:
        v = self.s - unit * self.z
        length = np.linalg.norm(v[:, 1:], axis=1, keepdims=True)
        axis = v[:, 1:] / np.maximum(length, TINY)

        def rooted(sign: float) -> np.ndarray:
            high, low = (_larger_root(sign * (v[:, :1] + side), 4.0 * product * unit) for side in (length, -length))
            return np.column_stack([0.5 * (high + low), 0.5 * (high - low) * axis])

        self.s, self.z = rooted(1.0), rooted(-1.0) / unit

    def scale(self) -> None:
        """Compute η and q: θ = (2(Jq)(Jq)ᵀ − J)/η²."""
        ds, dz = np.sqrt(np.maximum(_gap(self.s), TINY)), np.sqrt(np.maximum(_gap(self.z), TINY))
        s, z = self.s / ds[:, None], self.z / dz[:, None]
        z[:, 1:] *= -1.0
        plain = s[:, 0] * z[:, 0] - (s[:, 1:] * z[:, 1:]).sum(axis=1)
        self.q = (s + z) / np.sqrt(2.0 * (1.0 + plain))[:, None]
        self.eta = np.sqrt(ds / dz)
        self.level = self._scaled(self.z)

    def _scaled(self, v: np.ndarray, back: bool = False) -> np.ndarray:
        """Tv, or T⁻¹v."""
        head, tail = self.q[:, :1], -self.q[:, 1:] if back else self.q[:, 1:]
        along = (tail * v[:, 1:]).sum(axis=1, keepdims=True)
        out = np.empty_like(v)
        out[:, :1] = head * v[:, :1] + along
        out[:, 1:] = v[:, 1:] + tail * (v[:, :1] + along / (1.0 + head))
        return out / self.eta[:, None] if back else out * self.eta[:, None]

    def times(self, v: np.ndarray) -> np.ndarray:
        return self._scaled(self._scaled(v, back=True), back=True)

    def corrector(self, ds: np.ndarray, dz: np.ndarray, centre: float) -> np.ndarray:
        aim = -_jordan(self.level, self.level) - _jordan(self._scaled(ds, back=True), self._scaled(dz))
        aim[:, 0] += centre
        head, tail = self.level[:, :1], self.level[:, 1:]
        out = np.empty_like(aim)
        out[:, :1] = (head * aim[:, :1] - (tail * aim[:, 1:]).sum(axis=1, keepdims=True)) / _gap(self.level)[:, None]
        out[:, 1:] = (aim[:, 1:] - out[:, :1] * tail) / head
        return self._scaled(out)

    def recentred(
        self, aim: np.ndarray, ds: np.ndarray, dz: np.ndarray, ahead: float, below: float, centre: float
    ) -> np.ndarray:
        """The aim: rows of norms are left as they are."""
        del ds, dz, ahead, below, centre
        return aim

    def longest(self, ds: np.ndarray | None, dz: np.ndarray | None) -> float:
        return min(_until_edge(self.s, ds), _until_edge(self.z, dz))


def _gap(v: np.ndarray) -> np.ndarray:
    """t² − ‖w‖²."""
    size = np.linalg.norm(v[:, 1:], axis=1)
    return np.asarray((v[:, 0] - size) * (v[:, 0] + size))


def _jordan(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """u∘v = (uᵀv, u₀v₁ + v₀u₁)."""
    out = u[:, :1] * v + v[:, :1] * u
    out[:, 0] = (u * v).sum(axis=1)
    return out


def _until_edge(v: np.ndarray, dv: np.ndarray | None) -> float:
    """The smallest positive root of (t² − ‖w‖²)(v + x·dv), of all rows."""
    if dv is None:
        return np.inf
    a, b = _gap(dv), v[:, 0] * dv[:, 0] - (v[:, 1:] * dv[:, 1:]).sum(axis=1)
    c, inside = _gap(v), b * b - a * _gap(v)
    with np.errstate(all="ignore"):
        far = -(b + np.where(b >= 0.0, 1.0, -1.0) * np.sqrt(np.maximum(inside, 0.0)))
        roots = np.concatenate([(far / a)[inside >= 0.0], (c / far)[inside >= 0.0]])
    roots = np.concatenate([roots, -v[:, 0][dv[:, 0] < 0.0] / dv[:, 0][dv[:, 0] < 0.0]])
    return float(roots[np.isfinite(roots) & (roots > 0.0)].min(initial=np.inf))


class Piece:
    """Norms of vectors of W, each below a variable t. ``at``: places of vectors in the flat W, (vectors, length)."""

    single = False  # whether its curvature is a diagonal
    cone: Orthant

    def __init__(self, at: np.ndarray, cost: np.ndarray) -> None:
        self.at, self.cost = at, cost.reshape(-1)
        self.t = np.empty(0)

    def copied(self) -> Any:
        """A copy that goes on by itself; arrays never change."""
        made = copy.copy(self)
        made.cone = copy.copy(self.cone)
        return made

    def norms(self, w: np.ndarray) -> np.ndarray:
        """The norms of vectors, (vectors,)."""
        raise NotImplementedError

    def hold(self, v: np.ndarray, share: float = INSIDE) -> np.ndarray:
        """Give the duals as much of v as weights' part as leaves them inside the cone; return what they hold."""
        raise NotImplementedError

    def approach(self, w: np.ndarray, v: np.ndarray, size: float, product: float) -> None:
        """Take a point near vectors w and duals of a weights' part v that is central: all products are ``product``.

        ``size`` : of the largest weight
        """
        self.t = self.norms(w)
        self.cone.s = -self.images(w, self.t)  # on the boundary of the cone, as the duals are at the optimum
        self.hold(v, 1.0)
        units = (size / np.maximum(self.cost, TINY)).reshape(-1, 1)
        self.cone.centre(units, product)

    def images(self, w: np.ndarray, t: np.ndarray) -> np.ndarray:
        """The decrease of the slacks."""
        raise NotImplementedError

    def weights_part(self, z: np.ndarray) -> np.ndarray:
        """The share of the duals in the gradient in the vectors."""
        raise NotImplementedError

    def bounds_part(self, z: np.ndarray) -> np.ndarray:
        """Their share in the gradient in t."""
        raise NotImplementedError

    def residual(self, flat: np.ndarray) -> np.ndarray:
        """The residual of the slacks."""
        return self.images(flat[self.at], self.t) + self.cone.s

    def cost_residual(self) -> np.ndarray:
        """The residual of the gradient in t."""
        return self.bounds_part(self.cone.z) + self.cost

    def coupling(self) -> tuple[np.ndarray, np.ndarray]:
        """The curvature in (w, t), negated, and in t."""
        raise NotImplementedError

    def stiffness(self) -> np.ndarray:
        """The curvature in w to which a residual is shared out."""
        raise NotImplementedError

    def reduce(self, t: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The right-hand side in w after t is eliminated."""
        held = self.cone.times(b)
        v, h = self.coupling()
        return self.weights_part(held) + v * ((t + self.bounds_part(held)) / h)[:, None]

    def expand(self, w: np.ndarray, t: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The steps of t and of the duals for one of w."""
        v, h = self.coupling()
        grown = (t + self.bounds_part(self.cone.times(b)) + (v * w).sum(axis=1)) / h
        return grown, self.cone.times(self.images(w, grown) - b)

    def absorb(self, z: np.ndarray, t: np.ndarray, off: np.ndarray) -> None:
        """Change steps of duals in place: their part in w by ``off``, and that in t to ``t`` exactly."""
        raise NotImplementedError

    def diagonal(self) -> np.ndarray:
        """The curvature in w, of single entries."""
        raise NotImplementedError

    def arrow(self, extra: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """D⁻¹ and u of the inverse D⁻¹ + uuᵀ of the curvature in w plus a diagonal. Both (vectors, length)."""
        raise NotImplementedError


class Corners(Piece):
    """Maximum norms: −t ≤ w ≤ t. Of vectors with one entry they are |w|."""

    def __init__(self, at: np.ndarray, cost: np.ndarray, centre: float) -> None:
        super().__init__(at, cost)
        length = at.shape[1]
        self.single = length == 1
        self.t = 2.0 * length * centre / self.cost
        s = np.repeat(self.t[:, None], length, axis=1)
        z = np.repeat(0.5 * self.cost[:, None] / length, length, axis=1)
        self.cone = Orthant(np.stack([s, s]), np.stack([z, z]))

    def norms(self, w: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(w).max(axis=1))

    def hold(self, v: np.ndarray, share: float = INSIDE) -> np.ndarray:
        most, length = share * self.cost, self.at.shape[1]
        v = v * np.minimum(1.0, most / np.maximum(np.abs(v).sum(axis=1), TINY))[:, None]
        rest = 0.5 * (self.cost - np.abs(v).sum(axis=1))[:, None] / length
        self.cone.z = np.stack([np.maximum(v, 0.0) + rest, np.maximum(-v, 0.0) + rest])
        return v

    def images(self, w: np.ndarray, t: np.ndarray) -> np.ndarray:
        return np.stack([w - t[:, None], -w - t[:, None]])

    def weights_part(self, z: np.ndarray) -> np.ndarray:
        return np.asarray(z[0] - z[1])

    def bounds_part(self, z: np.ndarray) -> np.ndarray:
        return np.asarray(-z.sum(axis=(0, 2)))

    def coupling(self) -> tuple[np.ndarray, np.ndarray]:
        theta = self.cone.theta
        return theta[0] - theta[1], theta.sum(axis=(0, 2))

    def _inside(self) -> np.ndarray:
        theta = self.cone.theta
        return np.asarray(4.0 * theta[0] * theta[1] / (theta[0] + theta[1]))

    def stiffness(self) -> np.ndarray:
        return self._inside() if self.single else np.asarray(self.cone.theta.sum(axis=0))

    def absorb(self, z: np.ndarray, t: np.ndarray, off: np.ndarray) -> None:
        short = (-t - z.sum(axis=(0, 2))) / self.at.shape[1]
        z[0] += 0.5 * (off + short[:, None])
        z[1] += 0.5 * (short[:, None] - off)

    def diagonal(self) -> np.ndarray:
        return self._inside()[:, 0]

    def arrow(self, extra: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        theta = self.cone.theta
        both = theta[0] + theta[1]
        D = both + extra
        left = ((4.0 * theta[0] * theta[1] + extra * both) / D).sum(axis=1, keepdims=True)
        return 1.0 / D, (theta[0] - theta[1]) / (D * np.sqrt(left))


class Lengths(Piece):
    """Euclidean norms: t ≥ ‖w‖₂."""

    cone: SecondOrder

    def __init__(self, at: np.ndarray, cost: np.ndarray, centre: float) -> None:
        super().__init__(at, cost)
        self.t = centre / self.cost
        s, z = np.zeros((2, len(at), at.shape[1] + 1))
        s[:, 0], z[:, 0] = self.t, self.cost
        self.cone = SecondOrder(s, z)

    def norms(self, w: np.ndarray) -> np.ndarray:
        return np.asarray(np.linalg.norm(w, axis=1))

    def hold(self, v: np.ndarray, share: float = INSIDE) -> np.ndarray:
        v = v * np.minimum(1.0, share * self.cost / np.maximum(np.linalg.norm(v, axis=1), TINY))[:, None]
        self.cone.z = np.column_stack([self.cost, -v])
        return v

    def images(self, w: np.ndarray, t: np.ndarray) -> np.ndarray:
        return -np.column_stack([t, w])

    def weights_part(self, z: np.ndarray) -> np.ndarray:
        return -z[:, 1:]

    def bounds_part(self, z: np.ndarray) -> np.ndarray:
        return -z[:, 0]

    def coupling(self) -> tuple[np.ndarray, np.ndarray]:
        q, squares = self.cone.q, self.cone.eta**2
        return 2.0 * q[:, :1] * q[:, 1:] / squares[:, None], (2.0 * q[:, 0] ** 2 - 1.0) / squares

    def stiffness(self) -> np.ndarray:
        return np.repeat((1.0 / self.cone.eta**2)[:, None], self.at.shape[1], axis=1)

    def absorb(self, z: np.ndarray, t: np.ndarray, off: np.ndarray) -> None:
        z[:, 1:] -= off
        z[:, 0] = -t

    def arrow(self, extra: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        squares, w = (self.cone.eta**2)[:, None], self.cone.q[:, 1:]
        D = extra + 1.0 / squares
        held = squares * extra
        kept = 2.0 / (1.0 + 2.0 * (w * w * held / (1.0 + held)).sum(axis=1, keepdims=True))
        return 1.0 / D, w / D * np.sqrt(kept / squares)


def pieces_of(regulariser: Any, found: Norms, d: int, m: int, strength: float, centre: float) -> list[Piece]:
    """The norms times a number, each with a point in the middle of its cone."""
    vectors = vectors_of(regulariser, d, m) or [(np.arange(d * m)[:, None], np.arange(d))]
    made: list[Piece] = []
    if found.single is not None:
        made.append(Corners(np.arange(d * m)[:, None], strength * found.single, centre))
    for (at, _), high, length in zip(vectors, found.highest, found.length, strict=True):
        if high is not None:
            made.append(Corners(at, strength * high, centre))
        if length is not None:
            made.append(Lengths(at, strength * length, centre))
    return made
