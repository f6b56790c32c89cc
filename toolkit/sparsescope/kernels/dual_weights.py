"""Weights W(u) of a dual point, in the layout that suits the samples (kernels/dual_coordinates.py).

A step on one sample takes a few scores of it and adds multiples of it to a few columns of W. Sparse samples read rows
of W, one for each stored entry. Of full samples a score is a product of two rows, of X and of Wᵀ, which a processor
takes several entries at a time. Both layouts have the same functions.
"""

from __future__ import annotations

import numpy as np

from ..jit.parts import struct


@struct
class ByFeature:
    """W (d, m) float64 by features, for samples of :class:`SparseColumns`."""

    V: np.ndarray

    def classes(self):  # type: ignore[no-untyped-def]
        """Number of classes."""
        return self.V.shape[1]

    def add_all_scores(self, samples, i, g):  # type: ignore[no-untyped-def]
        """g += scores of sample i for all classes, by four entries of x at a time: g is read and written less often."""
        W, m = self.V, self.V.shape[1]
        p, stop = samples.start(i), samples.stop(i)
        while p + 4 <= stop:
            w0, w1, w2, w3 = (
                W[samples.row(p, i)],
                W[samples.row(p + 1, i)],
                W[samples.row(p + 2, i)],
                W[samples.row(p + 3, i)],
            )
            x0, x1 = samples.entry(p, i), samples.entry(p + 1, i)
            x2, x3 = samples.entry(p + 2, i), samples.entry(p + 3, i)
            for k in range(m):
                g[k] += (x0 * w0[k] + x1 * w1[k]) + (x2 * w2[k] + x3 * w3[k])
            p += 4
        while p < stop:
            w, x = W[samples.row(p, i)], samples.entry(p, i)
            for k in range(m):
                g[k] += x * w[k]
            p += 1

    def add_scores(self, samples, i, labels, size, g):  # type: ignore[no-untyped-def]
        """g += scores of sample i for the first ``size`` labels of a list: sums of four or two that stay in
        registers."""
        W = self.V
        start, stop, e = samples.start(i), samples.stop(i), 0
        while e + 4 <= size:
            k0, k1, k2, k3 = labels[e], labels[e + 1], labels[e + 2], labels[e + 3]
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for p in range(start, stop):
                w, x = W[samples.row(p, i)], samples.entry(p, i)
                a += x * w[k0]
                b += x * w[k1]
                c += x * w[k2]
                d += x * w[k3]
            g[e] += a
            g[e + 1] += b
            g[e + 2] += c
            g[e + 3] += d
            e += 4
        if e + 2 <= size:
            k0, k1 = labels[e], labels[e + 1]
            a, b = 0.0, 0.0
            for p in range(start, stop):
                w, x = W[samples.row(p, i)], samples.entry(p, i)
                a += x * w[k0]
                b += x * w[k1]
            g[e] += a
            g[e + 1] += b
            e += 2
        if e < size:
            a = 0.0
            for p in range(start, stop):
                a += samples.entry(p, i) * W[samples.row(p, i), labels[e]]
            g[e] += a

    def add(self, samples, i, labels, moves, count):  # type: ignore[no-untyped-def]
        """W += x_i times ``moves`` in the columns of the first ``count`` labels of a list."""
        for p in range(samples.start(i), samples.stop(i)):
            w, x = self.V[samples.row(p, i)], samples.entry(p, i)
            for e in range(count):
                w[labels[e]] += x * moves[e]


@struct
class ByClass:
    """The same by classes: Wᵀ (m, d), for samples of :class:`DenseColumns`."""

    V: np.ndarray

    def classes(self):  # type: ignore[no-untyped-def]
        """Number of classes."""
        return self.V.shape[0]

    def add_all_scores(self, samples, i, g):  # type: ignore[no-untyped-def]
        """g += scores of sample i for all classes, four at a time: each reading of x serves four."""
        W, m, x, k = self.V, self.V.shape[0], samples.XT[i], 0
        while k + 4 <= m:
            w0, w1, w2, w3 = W[k], W[k + 1], W[k + 2], W[k + 3]
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for p in range(x.size):
                a += x[p] * w0[p]
                b += x[p] * w1[p]
                c += x[p] * w2[p]
                d += x[p] * w3[p]
            g[k] += a
            g[k + 1] += b
            g[k + 2] += c
            g[k + 3] += d
            k += 4
        while k < m:
            w, a = W[k], 0.0
            for p in range(x.size):
                a += x[p] * w[p]
            g[k] += a
            k += 1

    def add_scores(self, samples, i, labels, size, g):  # type: ignore[no-untyped-def]
        """g += scores of sample i for the first ``size`` labels of a list."""
        x = samples.XT[i]
        for e in range(size):
            w, a = self.V[np.uintp(labels[e])], 0.0
            for p in range(x.size):
                a += x[p] * w[p]
            g[e] += a

    def add(self, samples, i, labels, moves, count):  # type: ignore[no-untyped-def]
        """W += x_i times ``moves`` in the columns of the first ``count`` labels of a list."""
        x = samples.XT[i]
        for e in range(count):
            w, step = self.V[np.uintp(labels[e])], moves[e]
            for p in range(x.size):
                w[p] += step * x[p]
