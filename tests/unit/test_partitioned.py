"""Data in blocks of rows: the same numbers as one matrix, few passes, and sentences for what does not go."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.inputs.class_sums import class_sums
from sparsescope.registry import solvers
from sparsescope.solvers.shared import by_passes

CUTS = (0, 40, 41, 120)  # a block of one row among them


def data(dense: bool = False, dtype: Any = np.float64) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(3)
    X = sp.random_array((120, 40), density=0.2, format="csr", random_state=rng)
    y = (X @ rng.standard_normal((40, 3))).argmax(axis=1)
    X = X.astype(dtype)
    return (X.toarray() if dense else X), y


def blocks(X: Any) -> list[Any]:
    return [X[start:stop] for start, stop in itertools.pairwise(CUTS)]


def sums(design: Any, y: np.ndarray) -> np.ndarray:
    """The class sums with weights, of which the step constants are made."""
    weights = np.arange(1.0, 121.0)
    if isinstance(design, ss.PartitionedDesign):
        return design.class_sums(y, 3, weights)
    return class_sums(design, y, 3, weights)


@pytest.mark.parametrize(("dense", "threads"), [(False, 1), (True, 1), (False, 2)])
def test_a_design_in_blocks_gives_the_numbers_of_one_matrix(dense: bool, threads: int) -> None:
    X, y = data(dense)
    one, many = ss.Design(X), ss.PartitionedDesign(blocks(X), threads=threads)
    assert (many.n, many.d, many.nnz, many.dtype, many.parts) == (one.n, one.d, one.nnz, one.dtype, 3)
    assert many.magnitude == one.magnitude and many.most_in_a_row == one.most_in_a_row
    rng = np.random.default_rng(0)
    W, U = rng.standard_normal((41, 3)) * (rng.random((41, 1)) < 0.4), rng.standard_normal((120, 3))
    Z, G, E = np.empty((120, 3)), np.empty((41, 3)), np.empty((3, 3))
    rows = np.array([0, 7, 40])
    same = np.testing.assert_allclose
    expected: list[Any] = []
    for there in (one, many):
        found = [
            there.matmul(W, Z).copy(), there.rmatmul(U, G).copy(), sums(there, y), there.squared_norms,
            there.column_counts, there.matmul_rows(rows, W[rows], Z).copy(), there.rmatmul_rows(rows, U, E).copy(),
        ]  # fmt: skip
        expected = expected or found
        for mine, theirs in zip(found, expected, strict=True):
            same(mine, theirs, rtol=1e-12, atol=1e-12)
    some, plain = many.take(rows[:2]), np.asarray(X[:, rows[:2]].todense() if not dense else X[:, rows[:2]])
    same(some.toarray() if sp.issparse(some) else some, plain)
    same(many.gram(rows[:2]), plain.T @ plain)
    same(many.narrowed(rows[:2]).take(np.array([1]))[:, [0]].sum(), plain[:, 1].sum())


def test_a_product_that_is_known_reads_nothing() -> None:
    X, _ = data()
    design, U = ss.PartitionedDesign(blocks(X)), np.ones((120, 2))
    design.rmatmul(U, np.empty((40, 2)))
    read = design.entries_read
    assert read == design.nnz
    (_, _, G), V = next(design.rmatmul_blocks(U)), 2.0 * U
    assert design.entries_read == read
    np.testing.assert_allclose(design.products(U, V)[1], 2.0 * G)
    assert design.entries_read == 2 * read, "only what is not known is computed, in one pass"
    design.matmul(np.zeros((40, 2)), U)
    assert design.entries_read == 2 * read, "columns of zero rows are not read"
    U[:] = 3.0
    np.testing.assert_allclose(design.rmatmul(U, np.empty((40, 2))), 3.0 * G), "an array that was changed is another"


ABLE = [name for name in solvers if solvers[name].takes_partitions]
QUICK = ("working-set", "sparsa")


@pytest.mark.parametrize("solver", [pytest.param(s, marks=() if s in QUICK else pytest.mark.slow) for s in ABLE])
def test_solvers_find_the_certified_optimum_of_one_matrix(solver: str) -> None:
    X, y = data()
    near = ss.solve(ss.Problem(X, y, lam_ratio=0.3), "sparsa", tol=1e-9)
    problem = ss.Problem(blocks(X), y, lam_ratio=0.3)
    assert problem.partitioned and problem.lam == pytest.approx(near.trace["lam"][-1], rel=1e-14)
    far = ss.solve(problem, solver, tol=1e-9, max_iter=30_000)
    assert far.converged and far.objective == pytest.approx(near.objective, rel=1e-8)
    np.testing.assert_array_equal(far.support, near.support)
    assert ss.certify(problem, far.W).gap == pytest.approx(far.gap, abs=1e-9)


KINDS: dict[str, dict[str, Any]] = {
    "intercept": {"intercept": True},
    "intercept, dense": {"intercept": True, "dense": True},
    "float32": {"dtype": np.float32},
    "natural units": {"unit": 1e-9},
    "weights of samples": {"sample_weight": np.arange(1.0, 121.0)},
    "free feature": {"feature_weights": np.r_[0.0, np.ones(39)], "intercept": True},
}


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=() if k in ("intercept", "natural units") else pytest.mark.slow) for k in KINDS]
)
def test_working_sets_by_passes_solve_all_kinds_of_problems(kind: str) -> None:
    options = dict(KINDS[kind])
    X, y = data(options.pop("dense", False), options.pop("dtype", np.float64))
    X = X * X.dtype.type(options.pop("unit", 1.0))
    tol = 1e-5 if X.dtype == np.float32 else 1e-8
    near = ss.solve(ss.Problem(X, y, lam_ratio=0.3, **options), "sparsa", tol=tol)
    problem = ss.Problem(blocks(X), y, lam_ratio=0.3, **options)
    far = ss.solve(problem, "working-set", tol=tol, max_iter=60)
    assert far.converged and far.objective == pytest.approx(near.objective, rel=2.0 * tol)


def test_working_sets_need_a_handful_of_passes_and_say_how_many() -> None:
    X, y = data()
    problem = ss.Problem(blocks(X), y, lam_ratio=0.3)
    began = problem.design.entries_read
    found = ss.solve(problem, "working-set", tol=1e-8)
    read = (problem.design.entries_read - began) / problem.design.nnz
    assert found.converged and found.iterations < 15
    # Each iteration reads everything once, and the columns that come in; the pass of the start is the Run's.
    assert read < found.iterations + 2.5 and found.passes <= read <= found.passes + 1.0
    events = found.trace
    assert np.isfinite(events["gap"]).sum() >= 2 and (np.diff(events["passes"]) > 0).all()


def test_columns_that_do_not_fit_into_memory_stay_in_their_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data()
    near = ss.solve(ss.Problem(X, y, lam_ratio=0.3), "sparsa", tol=1e-6)
    monkeypatch.setattr(by_passes, "MOST_BYTES", 100)
    monkeypatch.delenv("SPARSESCOPE_MEMORY_GB", raising=False)
    problem = ss.Problem(blocks(X), y, lam_ratio=0.3)
    monkeypatch.setattr(type(problem.design), "take", None)  # nothing is gathered
    far = ss.solve(problem, "working-set", tol=1e-6, max_iter=60)
    assert far.converged and far.objective == pytest.approx(near.objective, rel=1e-6)


def test_lam_and_penalty_change_while_it_runs() -> None:
    X, y = data()
    problem = ss.Problem(blocks(X), y, lam_ratio=0.5)
    run = ss.Run(problem, "working-set", stop=ss.stopping.Gap(1e-7))
    for _ in run:
        pass
    run.change(lam_ratio=0.3)
    last = list(run)[-1]
    near = ss.solve(ss.Problem(X, y, lam_ratio=0.3), "sparsa", tol=1e-7)
    assert last.objective == pytest.approx(near.objective, rel=1e-6)
    assert run.state.copy().columns is run.state.columns, "a fork shares the columns, which never change"


def test_other_solvers_refuse_and_name_those_that_work() -> None:
    X, y = data()
    problem = ss.Problem(blocks(X), y, lam_ratio=0.3)
    for name in solvers:
        solver = solvers.create(name)
        if problem.kind in solver.kinds and not solver.takes_partitions:
            assert "blocks of rows" in (reason := solver.solves(problem)), name
            assert "working-set" in reason and "sparsa" in reason
    assert "sparsa" in solvers.create("working-set").solves(problem.with_(penalty="ridge", lam=0.1))
    ridge = ss.solve(problem.with_(penalty="ridge", lam=0.1), tol=1e-4)
    assert ridge.converged and ridge.reason.startswith("sparsa")
    with pytest.raises(ValueError, match="one matrix"):
        _ = problem.design.matrix
    hinge = problem.with_(loss="crammer-singer", lam=0.1)
    with pytest.raises(ValueError, match=r"X lies in blocks of rows, and sparsa needs a smooth loss"):
        ss.solve(hinge)
    assert hinge.lam_max >= ss.Problem(X, y, loss="crammer-singer").lam_max * (1 - 1e-9) and hinge.lam_max_slack == 1.0
    with pytest.raises(ValueError, match="standardize"):
        ss.Problem(blocks(X), y, standardize=True)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda X: [X[:60], X[60:, :30]], "block 1 of X has features 30, block 0 40"),
        (lambda X: [X[:60], X[60:].toarray()], "storage dense"),
        (lambda X: [X[:60], X[60:].astype(np.float32)], "float32"),
    ],
)
def test_blocks_that_do_not_agree_are_named(make: Any, sentence: str) -> None:
    X, y = data()
    with pytest.raises(ValueError, match=sentence):
        ss.Problem(make(X), y)


def test_labels_may_come_in_blocks_and_a_client_needs_blocks() -> None:
    X, y = data()
    assert ss.Problem(blocks(X), blocks(y)).y.tolist() == y.tolist()
    with pytest.raises(ValueError, match="client= is for data in blocks"):
        ss.Problem(X, y, client=object())
    with pytest.raises(ValueError, match="no blocks"):
        ss.PartitionedDesign([])
    with pytest.raises(ValueError, match="threads"):
        ss.PartitionedDesign(blocks(X), threads=0)


def test_a_reference_knows_the_data_in_blocks() -> None:
    X, _ = data()
    one, other = (ss.PartitionedDesign(blocks(Z)) for Z in (X, 2.0 * X))
    assert one.fingerprint().tolist() == ss.PartitionedDesign(blocks(X)).fingerprint().tolist()
    assert one.fingerprint().tolist() != other.fingerprint().tolist()


@pytest.mark.parametrize("kind", ["delayed", pytest.param("array", marks=pytest.mark.slow)])
def test_a_dask_array_or_delayed_blocks_are_read_when_they_are_needed(kind: str) -> None:
    dask = pytest.importorskip("dask")
    X, y = data(dense=kind == "array")
    near = ss.solve(ss.Problem(X, y, lam_ratio=0.3), "sparsa", tol=1e-6)
    if kind == "array":
        array = pytest.importorskip("dask.array")
        problem = ss.Problem(array.from_array(X, chunks=(50, 7)), array.from_array(y, chunks=30), lam_ratio=0.3)
    else:
        problem = ss.Problem([dask.delayed(block) for block in blocks(X)], y, lam_ratio=0.3)
    assert problem.design.parts == 3
    assert ss.solve(problem, "sparsa", tol=1e-6).objective == pytest.approx(near.objective, rel=1e-6)
