"""The pieces of PD-Sparse on arrays, against plain numpy: projection, steps, search, dual points, sparse scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar

from sparsescope.inputs.design import Design
from sparsescope.kernels import frank_wolfe as fw
from sparsescope.kernels import label_search
from sparsescope.kernels import sparse_rows as sr
from sparsescope.kernels.sparse_duals import dual_sums, fit_box, take_duals
from sparsescope.kernels.sparse_scores import best_labels, hinge_sum
from sparsescope.kernels.two_sides import balance


# ------------------------------------------------------------------------------------------------------ the projection
def on_simplex(v: np.ndarray, total: float) -> np.ndarray:
    """The nearest point of {x ≥ 0, Σx = total}, by sorting."""
    a = np.sort(v)[::-1]
    levels = (np.cumsum(a) - total) / np.arange(1, a.size + 1)
    return np.maximum(v - levels[np.flatnonzero(a >= levels)[-1]], 0.0)


def by_search(b: np.ndarray, c: np.ndarray, most: float) -> float:
    """The best sum t, by a search over [0, most]: what is left is a simplex on each side."""

    def distance(t: float) -> float:
        return float(((on_simplex(b, t) - b) ** 2).sum() + ((on_simplex(c, t) - c) ** 2).sum())

    found = minimize_scalar(distance, bounds=(0.0, most), method="bounded", options={"xatol": 1e-12})
    return min((distance(t), t) for t in (0.0, float(found.x), most))[1]


@pytest.mark.parametrize(("k", "own"), [(1, 1), (4, 1), (5, 4), (2, 9), (70, 55)])
def test_the_block_is_projected_exactly(k: int, own: int) -> None:
    rng = np.random.default_rng(k + own)
    kinds = set()
    for trial in range(30):
        most = float(rng.choice([0.1, 1.0, 20.0]))
        b, c = rng.standard_normal((1, k)) + 2 * rng.normal(), rng.standard_normal((1, own)) + 2 * rng.normal()
        if trial % 5 == 0:
            b, c = np.round(b), np.round(c)  # ties
        x, y, t = b.copy(), c.copy(), np.empty(1)
        t[0] = balance(x[0], y[0], most, np.empty(k), np.empty(own))
        kinds.add("zero" if t[0] == 0.0 else "full" if t[0] == most else "between")
        assert x.sum() == pytest.approx(t[0], abs=1e-12) and y.sum() == pytest.approx(t[0], abs=1e-12)
        assert t[0] == pytest.approx(by_search(b[0], c[0], most), abs=1e-5)
        if t[0] > 0.0:
            np.testing.assert_allclose(x[0], on_simplex(b[0], t[0]), atol=1e-12)
            np.testing.assert_allclose(y[0], on_simplex(c[0], t[0]), atol=1e-12)
        if 0.0 < t[0] < most:  # the two levels cancel: the derivative in t is 0
            assert (b[0] - x[0])[x[0] > 0][0] == pytest.approx(-(c[0] - y[0])[y[0] > 0][0], abs=1e-9)
    assert kinds == {"zero", "full", "between"}


# --------------------------------------------------------------------------------------------------------------- cases
@dataclass
class Case:
    """A small problem in the paper's scaling, with everything that the kernels take."""

    X: Any
    sets: list[list[int]]
    m: int
    C: float = 0.7
    lam4: float = 0.15
    margin: float = 1.0
    parts: int = 1
    rate: int = 1
    s: Any = field(init=False)

    def __post_init__(self) -> None:
        self.n, self.d = self.X.shape
        self.dense = np.asarray(self.X.todense() if sp.issparse(self.X) else self.X)
        self.design = Design(self.X)
        self.squares = (self.dense**2).sum(axis=1)
        self.indptr = np.r_[0, np.cumsum([len(labels) for labels in self.sets])].astype(np.int64)
        self.targets = np.array([k for labels in self.sets for k in labels], dtype=np.int32)
        self.alpha = np.zeros(len(self.targets))
        self.active = sr.empty_rows(self.n, 2 * self.n)
        self.rows = sr.empty_rows(self.d * self.parts, 16)
        self.rows.used[sr.WIDTH] = self.m if self.lam4 == 0.0 and self.parts == 1 else 0
        self.s = label_search.scratch(self.m, self.parts, 3)
        self.gains = np.zeros(self.n)
        self.report = np.zeros(fw.REPORT)
        fit_box(self.squares, self.indptr, self.targets, self.alpha, self.active, np.full(1, self.C), self.s)

    def room(self) -> None:
        """Make the pools as large as the last pass asked for."""
        if self.report[fw.NEEDED]:
            self.rows = sr.grown(self.rows, self.rows.labels.size + int(self.report[fw.NEEDED]))
        if self.report[fw.NEEDED_ACTIVE]:
            self.active = sr.grown(self.active, self.active.labels.size + int(self.report[fw.NEEDED_ACTIVE]))
        self.report[fw.NEEDED] = self.report[fw.NEEDED_ACTIVE] = 0.0

    def sweep(self, order: np.ndarray, wanted: int, anew: bool = False) -> None:
        at = 0
        while at < self.n:
            at = fw.sweep(
                self.design.sparse_samples,
                self.squares,
                order,
                at,
                self.parts,
                wanted,
                self.rate,
                False,
                anew,
                self.indptr,
                self.targets,
                self.alpha,
                self.active,
                self.rows,
                np.full(1, self.C),
                self.margin,
                self.lam4,
                self.s,
                self.gains,
                self.report,
            )
            self.room()

    def rebuild(self) -> None:
        sr.clear(self.rows)
        self.sweep(np.arange(self.n), 0, anew=True)

    def dual(self) -> np.ndarray:
        """α (n, m), with its signs."""
        A = np.zeros((self.n, self.m))
        for i, (start, size, _, _) in enumerate(self.active.head):
            A[i, self.active.labels[start : start + size]] = -self.active.values[start : start + size]
            A[i, self.sets[i]] = self.alpha[self.indptr[i] : self.indptr[i + 1]]
        return A

    def v(self) -> np.ndarray:
        V = np.zeros((self.d, self.m))
        for r, (start, size, _, _) in enumerate(self.rows.head):
            V[r // self.parts, self.rows.labels[start : start + size]] = self.rows.values[start : start + size]
        return V

    def w(self, V: np.ndarray) -> np.ndarray:
        return np.sign(V) * np.maximum(np.abs(V) - self.lam4, 0.0)

    def primal_dual(self) -> tuple[float, float]:
        """P and −G of the paper, from the dual point alone."""
        A = self.dual()
        W = self.w(self.dense.T @ A)
        Z = self.dense @ W
        loss = 0.0
        for z, labels in zip(Z, self.sets, strict=True):
            off = np.setdiff1d(np.arange(self.m), labels)
            if labels and len(off):
                loss += max(0.0, self.margin + z[off].max() - z[labels].min())
        square = 0.5 * (W**2).sum()
        return square + self.lam4 * np.abs(W).sum() + self.C * loss, -np.minimum(A, 0).sum() * self.margin - square


def case(kind: str, **options: Any) -> Case:
    """A case with a sample without features, and with empty and full sets where there are sets."""
    rng = np.random.default_rng(4)
    n, d, m = (24, 9, 6 if kind != "many" else 150)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < np.linspace(0.05, 0.9, d))
    X[5] = 0.0
    if kind == "sets":
        sets = [sorted(rng.permutation(m)[: rng.integers(1, 4)].tolist()) for _ in range(n)]
        sets[2], sets[3] = [], list(range(m))
    else:
        sets = [[int(rng.integers(m))] for _ in range(n)]
    return Case(sp.csr_array(X) if kind == "many" else X, sets, m, **options)


def reference_sweep(c: Case, A: np.ndarray, order: np.ndarray) -> None:
    """The same steps with whole arrays, where every label is in the active set."""
    for i in order:
        own, off = c.sets[i], np.setdiff1d(np.arange(c.m), c.sets[i])
        if not own or not len(off) or c.squares[i] == 0.0:
            continue
        z = c.w(c.dense.T @ A).T @ c.dense[i]
        x = (z[off] + c.margin) / c.squares[i] - A[i, off]
        y = A[i, own] - z[own] / c.squares[i]
        balance(x, y, c.C, np.empty_like(x), np.empty_like(y))
        A[i, off], A[i, own] = -x, y


@pytest.mark.parametrize(
    ("kind", "margin", "lam4"),
    [("classes", 1.0, 0.15), ("sets", 1.0, 0.15), ("classes", 0.4, 0.15), ("sets", 0.4, 0.0), ("classes", 1.0, 0.0)],
)
def test_sweeps_with_all_labels_are_those_of_whole_arrays(kind: str, margin: float, lam4: float) -> None:
    c = case(kind, margin=margin, lam4=lam4)
    A = c.dual()
    assert A[5].min() == -c.C and A[5].max() == c.C, "a sample without features has t = C"
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(c.n)
        c.sweep(order, c.m)
        reference_sweep(c, A, order)
        np.testing.assert_allclose(c.dual(), A, atol=1e-11)
        np.testing.assert_allclose(c.v(), c.dense.T @ A, atol=1e-11)
    if kind == "sets":
        assert (A[2:4] == 0).all(), "empty and full sets take no part"


@pytest.mark.parametrize(
    ("kind", "parts", "rate", "lam4"),
    [("classes", 1, 1, 0.15), ("sets", 1, 1, 0.0), ("sets", 3, 2, 0.15), ("many", 1, 1, 0.15), ("many", 3, 3, 0.0)],
)
def test_sweeps_raise_the_dual_and_close_the_gap(kind: str, parts: int, rate: int, lam4: float) -> None:
    c = case(kind, parts=parts, rate=rate, lam4=lam4)
    rng = np.random.default_rng(0)
    before = c.primal_dual()[1]
    for k in range(480):
        c.sweep(rng.permutation(c.n), (1, 2, 0)[k % 3])
        if k % 40 == 0:
            now = c.primal_dual()[1]
            assert now >= before - 1e-10
            before = now
    primal, dual = c.primal_dual()
    assert -1e-12 <= primal - dual <= 1e-5 * primal
    A = c.dual()
    for a, labels in zip(A, c.sets, strict=True):
        assert a.sum() == pytest.approx(0.0, abs=1e-12) and -np.minimum(a, 0).sum() <= c.C + 1e-12
        assert (a[labels] >= 0).all() and (np.delete(a, labels) <= 0).all()


def test_a_row_that_comes_to_stand_by_label_holds_all_that_was_added_to_it() -> None:
    c = Case(np.ones((2, 1)), [[0], [0]], 20, lam4=0.0)
    U = np.zeros((2, 20))
    U[0, 1:16], U[1, 16:] = 0.05, 0.2  # the first fills its block of 16, the second brings four labels more
    U[:, 0] = -U[:, 1:].sum(axis=1)
    c.active = sr.empty_rows(c.n, 64)
    take_duals(U, c.indptr, c.targets, c.C, 0.0, c.alpha, c.active, c.s)
    c.rebuild()
    assert (c.rows.head[:, sr.BITS] >= sr.ORDERED).all()
    np.testing.assert_allclose(c.v(), -c.C * U.sum(axis=0, keepdims=True), atol=1e-12)


def test_v_is_made_anew_from_the_dual_point_without_what_is_left_of_zeros() -> None:
    c = case("many")
    rng = np.random.default_rng(1)
    for _ in range(30):
        c.sweep(rng.permutation(c.n), 2)
    before = c.v()
    filled = c.rows.head[:, sr.SIZE].sum()
    c.rebuild()
    np.testing.assert_allclose(c.v(), c.dense.T @ c.dual(), atol=1e-14)
    np.testing.assert_allclose(c.v(), before, atol=1e-12)
    assert c.rows.head[:, sr.SIZE].sum() < filled


def test_a_smaller_box_scales_only_the_samples_that_leave_it() -> None:
    c = case("sets")
    for seed in range(5):
        c.sweep(np.random.default_rng(seed).permutation(c.n), 2)
    before = c.dual()
    mass = np.maximum(before, 0).sum(axis=1)
    c.C = 0.5 * c.C
    fit_box(c.squares, c.indptr, c.targets, c.alpha, c.active, np.full(1, c.C), c.s)
    after = c.dual()
    assert (mass > c.C).any() and (mass < c.C).any()
    expected = before * np.where(mass > c.C, c.C / np.maximum(mass, 1e-300), 1.0)[:, None]
    np.testing.assert_allclose(after, expected, atol=1e-14)
    assert dual_sums(c.active) == (pytest.approx(-np.minimum(after, 0).sum()), np.count_nonzero(after < 0))


def test_samples_without_features_get_the_whole_box_and_the_others_nothing() -> None:
    """A dual point of zero: t = C on the first label of a sample and the first other one (MATH §7)."""
    squares, indptr = np.array([0.0, 2.0, 0.0]), np.array([0, 1, 2, 4])
    targets, alpha = np.array([1, 0, 0, 2], np.int32), np.zeros(4)
    active, s = sr.empty_rows(3, 6), label_search.scratch(3, 1, 0)
    fit_box(squares, indptr, targets, alpha, active, np.full(1, 0.5), s)
    np.testing.assert_array_equal(alpha, [0.5, 0.0, 0.5, 0.0])
    np.testing.assert_array_equal(active.head[:, sr.SIZE], [1, 0, 1])
    at = active.head[[0, 2], sr.START]
    assert active.labels[at].tolist() == [0, 1] and active.values[at].tolist() == [0.5, 0.5]


# ------------------------------------------------------------------------------------------------- scores of sparse W
@pytest.mark.parametrize("density", [0.1, 0.6], ids=["by a list of labels", "all labels"])
def test_scores_of_sparse_weights_rank_as_dense_ones_do(density: float) -> None:
    rng = np.random.default_rng(2)
    n, d, m = 40, 12, 90
    X = sp.random_array((n, d), density=0.3, random_state=rng).tocsr()
    W = np.round(rng.standard_normal((d, m)) * (rng.random((d, m)) < density), 1)  # rounded: equal scores
    sparse = sp.csr_array(W)
    Z = np.asarray(X.todense()) @ W
    s = label_search.scratch(m, 1, 0)
    arrays = sparse.indptr.astype(np.int64), sparse.indices.astype(np.int32), sparse.data
    for k in (1, 5, m):
        labels, scores = np.empty((n, k), np.int32), np.empty((n, k))
        best_labels(Design(X).sparse_samples, n, *arrays, s, labels, scores)
        order = np.argsort(-Z, axis=1, kind="stable")[:, :k]
        np.testing.assert_allclose(scores, np.take_along_axis(Z, order, axis=1), atol=1e-14)
        np.testing.assert_array_equal(np.sign(scores), np.sign(np.take_along_axis(Z, labels.astype(int), axis=1)))
        if k == 1:
            zero = scores[:, 0] == 0.0
            np.testing.assert_array_equal(labels[zero], order[zero])
    sets = [sorted(rng.permutation(m)[: rng.integers(0, 4)].tolist()) for _ in range(n)]
    sets[0] = list(range(m))
    sets[1:9] = [[int(best)] for best in Z[1:9].argmax(axis=1)]
    indptr = np.r_[0, np.cumsum([len(labels) for labels in sets])].astype(np.int64)
    hinges = [
        max(0.0, 0.5 + np.delete(z, own).max() - z[own].min()) if 0 < len(own) < m else 0.0
        for z, own in zip(Z, sets, strict=True)
    ]
    total, active, first = hinge_sum(
        Design(X).sparse_samples, *arrays, indptr, np.concatenate(sets).astype(np.int32), 0.5, 1e-9, np.ones(1), s, 0, n
    )
    assert total == pytest.approx(sum(hinges)) and active == np.count_nonzero(np.array(hinges) > 1e-9)
    best_labels(Design(X).sparse_samples, n, *arrays, s, labels := np.empty((n, 1), np.int32), np.empty((n, 1)))
    assert first == sum(own == [best] for own, best in zip(sets, labels[:, 0], strict=True)) > 0


def test_a_search_adds_every_feature_those_of_value_one_too() -> None:
    rng = np.random.default_rng(5)
    dense = (rng.random((8, 6)) < 0.6).astype(float)
    samples, m = Design(sp.csr_array(dense)).sparse_samples, 3
    rows, s = sr.empty_rows(6, 16), label_search.scratch(m, 1, 0)
    W = rng.standard_normal((6, m))
    for j in range(6):
        rows = sr.grown(rows, rows.labels.size + 16)
        for k in range(m):
            sr.add(rows, j, k, W[j, k], 0.0)
    for i in range(8):
        count, _ = label_search.search(samples, i, rows, 1, 0, 0, 0.0, s)
        assert count == -1, "few labels are scored without a list"
        np.testing.assert_allclose(s.scores, dense[i] @ W, atol=1e-12)


def test_features_are_drawn_with_the_right_mean() -> None:
    c = case("many", parts=1)
    for seed in range(3):
        c.sweep(np.random.default_rng(seed).permutation(c.n), 1)
    W = c.w(c.v())
    i = int(np.argmax((c.dense != 0).sum(axis=1)))
    mean = np.zeros(c.m)
    for _ in range(4000):
        count, _ = label_search.search(c.design.sparse_samples, i, c.rows, 1, 0, 2, c.lam4, c.s)
        set_now = c.s.touched[:count] if count >= 0 else np.arange(c.m)
        mean[set_now] += c.s.scores[set_now] / 4000
    assert np.abs(mean).max() > 0.1
    np.testing.assert_allclose(mean, W.T @ c.dense[i], atol=0.05 * np.abs(mean).max())
