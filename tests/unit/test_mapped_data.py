"""Data in files that are mapped into memory: held without a copy, with the same optimum as data in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss


def mapped(X: Any, folder: Path) -> sp.csc_array:
    """The matrix in files of its three arrays, as docs/own-data.md has it."""
    X = sp.csc_array(X)
    for name in ("data", "indices", "indptr"):
        np.save(folder / f"{name}.npy", getattr(X, name))
    parts = [np.load(folder / f"{name}.npy", mmap_mode="c") for name in ("data", "indices", "indptr")]
    return sp.csc_array(tuple(parts), shape=X.shape)


@pytest.fixture
def both(tmp_path: Path) -> tuple[sp.csc_array, sp.csc_array, np.ndarray]:
    rng = np.random.default_rng(0)
    X = sp.random_array((300, 60), density=0.2, format="csc", random_state=rng)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # those of older SciPys have 64 bits
    y = (X @ rng.standard_normal((60, 3))).argmax(axis=1)
    return X, mapped(X, tmp_path), y


def test_mapped_data_are_held_without_a_copy(both: Any) -> None:
    _, there, y = both
    before = there.data.copy()
    problem = ss.Problem(there, y, lam_ratio=0.1)
    assert np.shares_memory(problem.design.matrix.data, there.data)
    assert np.shares_memory(problem.design.columns.indices, there.indices)
    ss.solve(problem, "sparsa")
    np.testing.assert_array_equal(there.data, before)


@pytest.mark.parametrize(
    "solver", ["working-set", "sparsa", *(pytest.param(name, marks=pytest.mark.slow) for name in ("fista-ls", "ista"))]
)
def test_solvers_find_the_optimum_of_the_data_in_memory(both: Any, solver: str) -> None:
    X, there, y = both
    near, far = (ss.solve(ss.Problem(data, y, lam_ratio=0.1), solver, tol=1e-9) for data in (X, there))
    assert far.converged and far.objective == pytest.approx(near.objective, rel=1e-12)
    np.testing.assert_array_equal(far.support, near.support)


def test_columns_with_an_entry_twice_are_copied(tmp_path: Path) -> None:
    X = sp.csc_array((np.ones(4), np.array([0, 0, 1, 2]), np.array([0, 2, 4])), shape=(3, 2))
    problem = ss.Problem(mapped(X, tmp_path), [0, 1, 0])
    assert problem.design.matrix.nnz == 3
