"""Multiclass logistic loss (Blondel et al. 2013, Eq. 12), with the margin of Chierchia et al. as a parameter."""

from __future__ import annotations

import numpy as np

from ..jit.elementary import exponential, log_one_plus, logarithm
from ..jit.parts import helper, part
from ..registry import field, losses
from .base import DOMAIN_SLACK, Loss
from .binary_logistic import BinaryLogistic, entropy
from .flows import repair_flows
from .reference import indicator, shifted

FEW = 11  # classes up to which exponentials of many samples are taken at once: with more, a row is a loop of its own


@helper
def largest(z):  # type: ignore[no-untyped-def]
    """max_r z_r, in four strands: a chain of comparisons is slow, and NaN keeps compilers from splitting it."""
    a, b, c, d = z[0], z[0], z[0], z[0]
    whole = z.size - z.size % 4
    for r in range(0, whole, 4):
        a = z[r] if z[r] > a else a
        b = z[r + 1] if z[r + 1] > b else b
        c = z[r + 2] if z[r + 2] > c else c
        d = z[r + 3] if z[r + 3] > d else d
    for r in range(whole, z.size):
        a = z[r] if z[r] > a else a
    a, b = max(a, b), max(c, d)
    return max(a, b)


@helper
def shifted_exponentials(z, y, margin, work):  # type: ignore[no-untyped-def]
    """work_r = exp(z_r + margin·[r≠y] − top), top the largest of z_r + margin; returns Σ_r work_r (> 0) and top."""
    top = largest(z) + margin
    total = 0.0
    for r in range(z.size):
        e = exponential(z[r] + (0.0 if r == y else margin) - top)
        work[r] = e
        total += e
    return total, top


@helper
def all_exponentials(Z, Y, margin, work, sums):  # type: ignore[no-untyped-def]
    """The same for b samples: exponentials one row after the other in ``work`` (b·m,), their sums in ``sums`` (b,).
    Returns Σ_i (top_i − z_iy), what is missing from Σ_i log(sums_i) in the sum of the losses."""
    m, ahead = Z.shape[1], 0.0
    for i in range(Z.shape[0]):
        z, c, at = Z[i], np.uintp(Y[i]), i * m
        top = largest(z) + margin
        for r in range(m):
            work[at + r] = z[r] + margin - top
        work[at + c] = z[c] - top
        ahead += top - z[c]
    for e in range(Z.shape[0] * m):  # in one long loop, which is vectorised whatever m is
        work[e] = exponential(work[e])
    for i in range(Z.shape[0]):
        total = 0.0
        for r in range(m):
            total += work[i * m + r]
        sums[i] = total
    return ahead


@helper
def of_two(first, second, y, margin):  # type: ignore[no-untyped-def]
    """Return the gradient for the first of two scores, which is minus that for the second and ± the probability p of
    the other class, and −log(1 − p): one exponential, exact for small p, and no branch."""
    side = 1.0 if y == 1 else -1.0
    lead = margin - side * (second - first)
    e = exponential(-abs(lead))
    return side * (1.0 if lead > 0.0 else e) / (1.0 + e), max(lead, 0.0) + log_one_plus(e)


@helper
def off_class(z, u, y, scale, margin):  # type: ignore[no-untyped-def]
    """Return a, b, c and e with ℓ*(s·u) = e + a·log a + c·log b for u = ∇ℓ(z, y): a = q_y, b is s times the largest
    probability, c = Σ_{r≠y} q_r.

    The largest probability is that of the largest z_r + μ[r≠y], so two maxima find both."""
    c = np.uintp(y)
    top, most = z[c] - margin, max(1.0 + u[c], largest(u))  # u of y is not above 0
    if margin == 0.0:
        top = largest(z)
    else:
        for r in range(u.size):
            top = max(top, z[r] if r != c else top)
    below = 0.0
    rest = 0.0
    for r in range(u.size):
        q = u[r] if r != c else 0.0
        below += q * (z[r] - top)
        rest += q
    return max(1.0 + scale * u[c], 0.0), scale * most, scale * rest, scale * (below - rest * margin)


@part
class Logistic(Loss):
    """log(1 + Σ_{r≠y} exp(μ + z_r − z_y)): softmax regression, shifted by a margin μ.

    Scores are shifted by their maximum before they are exponentiated, so that values up to 1e3 (and far beyond) give
    finite results.
    """

    margin: float = field(0.0, 0.0, 10.0, "μ: how far the true class should lead before the loss flattens (0: softmax)")

    title = "multiclass logistic"
    of_differences = factored = True
    menu_order = 30
    tight = True
    doc = "Softmax regression: minus the log-probability of the true class."
    formula = "log(1 + Σ_{r≠y} exp(μ + z_r − z_y))"
    source = "Blondel et al. 2013, Eq. 12; Chierchia et al. 2015, Sec. 4 for μ = 1"

    def in_one_score(self) -> Loss | None:
        return BinaryLogistic() if self.margin == 0.0 else None

    def reference(self, Z, y):
        A = shifted(Z, y, self.margin)
        values = np.logaddexp.reduce(A, axis=1)
        return values, np.exp(A - values[:, None]) - indicator(Z, y)

    def value(self, z, y):
        if z.size == 2:
            return of_two(z[0], z[1], y, self.margin)[1]
        top = largest(z) + self.margin
        total = 0.0
        for r in range(z.size):
            total += exponential(z[r] + (0.0 if r == y else self.margin) - top)
        return logarithm(total) + top - z[y]

    def gradient(self, z, y, x, g, work):
        if z.size == 2:
            p, value = of_two(z[0], z[1], y, self.margin)
            g[0] += x * p
            g[1] -= x * p
            return value
        total, top = shifted_exponentials(z, y, self.margin, work)
        for r in range(z.size):
            g[r] += x * (work[r] / total)
        g[y] -= x
        return logarithm(total) + top - z[y]

    def values(self, Z, Y, work, sums):
        total = 0.0
        if Z.shape[1] == 2:
            for i in range(Z.shape[0]):
                total += of_two(Z[i, 0], Z[i, 1], Y[i], self.margin)[1]
            return total
        if Z.shape[1] > FEW:
            for i in range(Z.shape[0]):
                total += self.value(Z[i], Y[i])
            return total
        total += all_exponentials(Z, Y, self.margin, work, sums)
        for i in range(Z.shape[0]):
            total += logarithm(sums[i])
        return total

    def gradients(self, Z, Y, U, work, sums):
        m, total = Z.shape[1], 0.0
        if m == 2:
            for i in range(Z.shape[0]):
                work[i], value = of_two(Z[i, 0], Z[i, 1], Y[i], self.margin)
                total += value
            for i in range(Z.shape[0]):
                U[i, 0] = work[i]
                U[i, 1] = -work[i]
            return total
        if m > FEW:
            U[:] = 0.0
            for i in range(Z.shape[0]):
                total += self.gradient(Z[i], Y[i], 1.0, U[i], work[:m])
            return total
        total += all_exponentials(Z, Y, self.margin, work, sums)
        for i in range(Z.shape[0]):
            u, share = U[i], 1.0 / sums[i]
            for r in range(m):
                u[r] = share * work[i * m + r]
            u[np.uintp(Y[i])] -= 1.0
        for i in range(Z.shape[0]):
            total += logarithm(sums[i])
        return total

    def derivatives(self, z, y, x, g, h, work):
        if z.size == 2:
            p, value = of_two(z[0], z[1], y, self.margin)
            g[0] += x * p
            g[1] -= x * p
            curve = x * x * abs(p) * (1.0 - abs(p))
            h[0] += curve
            h[1] += curve
            return value
        total, top = shifted_exponentials(z, y, self.margin, work)
        for r in range(z.size):
            p = work[r] / total
            g[r] += x * p
            h[r] += x * x * p * (1.0 - p)
        g[y] -= x
        return logarithm(total) + top - z[y]

    def hessian_product(self, z, y, v, out):
        total, _ = shifted_exponentials(z, y, self.margin, out)
        mean = 0.0
        for r in range(z.size):
            mean += out[r] * v[r]
        mean /= total
        for r in range(z.size):
            out[r] *= (v[r] - mean) / total

    def hessian_product_from(self, z, u, y, v, out):
        if u.size == 2:
            bent = u[1 - y] * (1.0 - u[1 - y]) * (v[1 - y] - v[y])
            out[1 - y] = bent
            out[y] = -bent
            return
        c = np.uintp(y)
        mean = v[c]
        for r in range(u.size):
            mean += u[r] * v[r]
        own = (1.0 + u[c]) * (v[c] - mean)
        for r in range(u.size):
            out[r] = u[r] * (v[r] - mean)
        out[c] = own

    def hessian_factors(self, z, u, y, a, b):
        for r in range(u.size):  # the probabilities: diag(p) − ppᵀ
            a[r] = u[r]
        a[np.uintp(y)] += 1.0
        for r in range(u.size):
            b[r] = a[r]

    def hessian_diag(self, z, u, y, x, h, work):
        curve = x * x
        for r in range(u.size):  # u = p − e_y; the probabilities need no exponentials then
            h[0, r] += curve * (u[r] * (1.0 - u[r]))
        h[1, y] -= curve * (2.0 * u[y])  # there p(1 − p) = −u(1 + u)

    def conjugate(self, u, y):
        total = 0.0
        mass = 0.0
        for r in range(u.size):
            q = u[r] + (1.0 if r == y else 0.0)
            if q < -DOMAIN_SLACK:
                return np.inf
            mass += q
            if q > 0.0:
                total += q * logarithm(q)
            if r != y:
                total -= self.margin * u[r]
        return total if abs(mass - 1.0) <= DOMAIN_SLACK else np.inf

    def gradient_conjugate(self, z, u, y, scale, work):
        # Off the class y, q = s·p and log p_r = z_r + μ − L, where the largest p tells L: two logarithms a sample.
        own, most, rest, plain = off_class(z, u, y, scale, self.margin)
        return plain + own * logarithm(own) + rest * logarithm(most)

    def gradient_conjugates(self, Z, U, Y, scale, kept, work, sums):
        b, total = Z.shape[0], 0.0
        if Z.shape[1] == 2:
            for i in range(b):
                work[i] = scale * kept[i if kept.size > 1 else 0] * abs(U[i, 0])
            for i in range(b):
                total += entropy(work[i]) - self.margin * work[i]
            return total
        for i in range(b):
            share = scale * kept[i if kept.size > 1 else 0]
            work[i], work[b + i], sums[i], plain = off_class(Z[i], U[i], Y[i], share, self.margin)
            total += plain
        for i in range(b):
            total += work[i] * logarithm(work[i]) + sums[i] * logarithm(work[b + i])
        return total

    def repair(self, U, Y):
        repair_flows(U, Y)

    def probabilities(self, Z: np.ndarray) -> np.ndarray | None:
        if self.margin > 0.0:  # the loss is then no log-likelihood
            return None
        P = np.exp(Z - Z.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        return P

    def null_intercept(self, weights: np.ndarray) -> np.ndarray | None:
        if self.margin > 0.0 or not weights.all():  # no formula; an empty class wants −∞
            return None
        b: np.ndarray = np.log(weights)
        return b - b.mean()

    def curvature(self, m: int) -> float:
        return 0.5  # Böhning's bound; the paper's constant lacks the 1/n (MATH §2)


losses.add("logistic", Logistic)
