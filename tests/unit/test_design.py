"""The data matrix: products, sums of squares and forms, against plain numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from helpers import forms, interpreted, text
from sparsescope.inputs.class_sums import class_sums
from sparsescope.inputs.columns import BLOCK, PART, STREAMED, columns_matmul, columns_rmatmul, streamed
from sparsescope.inputs.design import Design
from sparsescope.inputs.design_products import SingleProducts
from sparsescope.inputs.turned import turned_dense


def designs(dtype: str = "float64") -> list[Any]:
    matrix, _ = text()
    return [pytest.param(Design(X.astype(dtype)), id=f"{form}-{dtype}") for form, X in forms(matrix)]


every_form = pytest.mark.parametrize("design", [*designs(), *designs("float32")])


@every_form
@pytest.mark.parametrize("extra", [0, 1], ids=["plain", "intercept"])
def test_products_are_those_of_numpy(design: Design, extra: int) -> None:
    matrix, _ = text()
    A = np.column_stack([matrix.toarray(), np.ones((60, extra))])
    rng = np.random.default_rng(0)
    tol = {"rtol": 1e-5, "atol": 1e-5} if design.dtype == np.float32 else {"rtol": 1e-12, "atol": 1e-12}
    for share in (0.0, 0.1, 0.9):  # dense data leave the zero rows of W out where there are many
        coef = (rng.standard_normal((50 + extra, 3)) * (rng.random((50 + extra, 1)) < share)).astype(design.dtype)
        Z = design.matmul(coef, np.full((60, 3), np.nan, dtype=design.dtype))
        np.testing.assert_allclose(Z, A @ coef, **tol)
    U = rng.standard_normal((60, 3)).astype(design.dtype)
    out = design.rmatmul(U, np.full((50 + extra, 3), np.nan, dtype=design.dtype))
    np.testing.assert_allclose(out, A.T @ U, **tol)
    pieces = [(start, stop, G.copy()) for start, stop, G in design.rmatmul_blocks(U)]
    assert pieces[0][0] == 0 and pieces[-1][1] == 50
    np.testing.assert_allclose(np.vstack([G for _, _, G in pieces]), (A.T @ U)[:50], **tol)
    small = list(design.rmatmul_blocks(U, np.empty((7, 3), dtype=design.dtype)))
    assert [stop for _, stop, _ in small][-1] == 50


@every_form
def test_sums_of_squares_are_those_of_numpy(design: Design) -> None:
    matrix, y = text()
    A = matrix.toarray()
    np.testing.assert_allclose(design.squared_norms, (A**2).sum(axis=0), rtol=1e-6)
    by_class = np.column_stack([(A[y == c] ** 2).sum(axis=0) for c in range(4)])
    sums = class_sums(design, y, 4)
    np.testing.assert_allclose(sums, by_class, rtol=1e-6)
    assert design.squared_norms.dtype == sums.dtype == np.float64
    omega = np.linspace(0.5, 2.0, len(y))
    weighted = np.column_stack([(omega[y == c, None] * A[y == c] ** 2).sum(axis=0) for c in range(4)])
    np.testing.assert_allclose(class_sums(design, y, 4, omega), weighted, rtol=1e-6)


def test_compiled_products_do_what_the_interpreted_ones_do() -> None:
    matrix, _ = text()
    rng = np.random.default_rng(0)
    coef, U = rng.standard_normal((50, 3)), rng.standard_normal((60, 3))
    for _, X in forms(matrix):
        columns = Design(X).columns
        Z, Y = np.zeros((60, 3)), np.zeros((60, 3))
        columns_matmul(columns, coef, 0, len(coef), Z)
        interpreted(columns_matmul)(columns, coef, 0, len(coef), Y)
        np.testing.assert_allclose(Z, Y, atol=1e-13)
        for m in (1, 3):
            G, H = np.empty((9, m)), np.empty((9, m))
            columns_rmatmul(columns, U[:, :m].copy(), 3, 12, G)
            interpreted(columns_rmatmul)(columns, U[:, :m].copy(), 3, 12, H)
            np.testing.assert_allclose(G, H, atol=1e-13)
            np.testing.assert_allclose(G, matrix[:, 3:12].T @ U[:, :m], atol=1e-12)


def test_blocks_are_not_larger_than_promised() -> None:
    def sizes(X: sp.sparray, m: int) -> list[int]:
        return [stop - start for start, stop, _ in Design(X).rmatmul_blocks(np.ones((X.shape[0], m)))]

    X = sp.random_array((5, 2 * BLOCK + 3), density=0.01, random_state=np.random.default_rng(0), format="csr")
    assert sizes(X, STREAMED // BLOCK) == [BLOCK, BLOCK, 3]  # with many classes: no array (d, m) is made
    assert sizes(X, 1) == [2 * BLOCK + 3]  # with few the whole is no larger
    wide = sp.csr_array((5, 3 * STREAMED // 2))
    assert sizes(wide, 2) == [STREAMED // 2] * 3


def test_blocks_of_long_columns_are_no_longer_than_a_pause_allows() -> None:
    rows, d = 20_000, 4 * BLOCK
    X = Design(sp.csc_array((np.ones(rows * d // 4), *_columns_of(rows, d)), shape=(rows, d)))
    assert streamed(X, 1) * X.nnz // d <= PART and streamed(X, 1) < d


def _columns_of(rows: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Places and ends of columns whose first quarter of rows is taken."""
    return np.tile(np.arange(rows // 4), d), np.arange(d + 1) * (rows // 4)


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.int8, np.float64),
        (bool, np.float64),
        (np.float16, np.float64),
        (np.uint64, np.float64),
        (np.dtype(">f8"), np.float64),
        (np.dtype(">f4"), np.float32),
    ],
)
def test_floating_point_data_keep_their_precision_and_all_else_becomes_double(given: Any, dtype: Any) -> None:
    X = np.arange(6).reshape(3, 2)
    design = Design(X.astype(given))
    assert design.dtype == dtype and design.dtype.isnative
    np.testing.assert_array_equal(design.matrix, X.astype(given))


def test_odd_but_good_input_is_understood() -> None:
    assert Design([[1, 2], [3, 4]]).n == 2
    X = np.eye(3)
    X.flags.writeable = False
    design = Design(X)
    design.matmul(np.ones((3, 2)), np.empty((3, 2)))
    assert Design(sp.coo_matrix(np.eye(4))).nnz == 4
    twice = sp.coo_array((np.ones(3), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))  # an entry given in two parts
    np.testing.assert_array_equal(Design(twice).matrix.toarray(), [[0, 2], [1, 0]])
    unsorted = sp.csc_array((np.array([1.0, 2.0]), np.array([1, 0]), np.array([0, 2])), shape=(2, 1))
    np.testing.assert_array_equal(Design(unsorted).matrix.toarray(), [[2], [1]])
    np.testing.assert_array_equal(unsorted.indices, [1, 0])  # what was given is not changed


def test_a_design_says_what_it_is() -> None:
    matrix, _ = text()
    assert repr(Design(matrix)) == f"Design(60 samples × 50 features, sparse, {matrix.nnz} non-zeros, float64)"
    dense = Design(matrix.toarray().astype(np.float32))
    assert "dense, float32" in repr(dense)
    assert dense.nbytes == 60 * 50 * 4 and Design(matrix).nbytes < dense.nbytes


def test_dense_rows_are_turned_in_strips() -> None:
    for n, d in ((1, 7), (511, 3), (512, 20), (1300, 40)):
        X = np.random.default_rng(0).standard_normal((n, d))
        turned = turned_dense(X)
        assert turned.flags.f_contiguous and np.array_equal(turned, X)
        assert np.shares_memory(turned_dense(turned), turned), "what is by columns is not copied"
        assert np.array_equal(turned_dense(X[::2, ::-1]), X[::2, ::-1])


def test_products_in_single_precision() -> None:
    rng = np.random.default_rng(0)
    design = Design(rng.standard_normal((70, 30)))
    made = SingleProducts(design)
    for m in (1, 2, 5):
        W, U = rng.standard_normal((31, m)).astype(np.float32), rng.standard_normal((70, m)).astype(np.float32)
        out, back = np.empty((70, m), np.float32), np.empty((31, m), np.float32)
        np.testing.assert_allclose(made.matmul(W, out), design.matrix @ W[:30] + W[30], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(made.rmatmul(U, back)[:30], design.matrix.T @ U, rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match="dense"):
        SingleProducts(Design(sp.csr_array(np.eye(3))))
