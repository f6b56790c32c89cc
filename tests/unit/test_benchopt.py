"""The benchopt folder: its plain formulas are our objective, and its solvers solve that problem.

benchopt itself is not needed here: a stand-in for its base classes lets the files be imported and driven.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "benchopt"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a file of the folder by its path."""
    stand_in = types.ModuleType("benchopt")
    for name in ("BaseObjective", "BaseDataset", "BaseSolver"):
        setattr(stand_in, name, type(name, (), {}))
    monkeypatch.setitem(sys.modules, "benchopt", stand_in)
    monkeypatch.syspath_prepend(str(FOLDER))
    for name in ("benchmark_utils", "benchmark_utils.formulas"):
        monkeypatch.delitem(sys.modules, name, raising=False)

    def read(path: str) -> types.ModuleType:
        spec = importlib.util.spec_from_file_location(f"benchopt_{Path(path).stem}", FOLDER / path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    yield read
    for name in ("benchmark_utils", "benchmark_utils.formulas"):
        sys.modules.pop(name, None)


def started(load: Any, loss: str, penalty: str, X: Any, y: np.ndarray) -> Any:
    objective = load("objective.py").Objective()
    objective.loss, objective.penalty, objective.lam_ratio = loss, penalty, 0.2
    objective.set_data(X, y)
    return objective


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("penalty", ["l1", "l1/l2"])
@pytest.mark.parametrize("loss", ["logistic", "multiclass-squared-hinge"])
def test_the_plain_formulas_are_our_objective(load: Any, loss: str, penalty: str, sparse: bool) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((40, 7)), np.arange(40) % 4
    given = sp.csr_matrix(X) if sparse else X
    objective = started(load, loss, penalty, given, y)
    problem = ss.Problem(given, y, loss=loss, penalty=penalty, lam=objective.lam)
    assert objective.lam == pytest.approx(0.2 * problem.lam_max, rel=1e-12)
    W = rng.standard_normal((7, 4)) * (rng.random((7, 1)) < 0.6)
    assert objective.evaluate_result(W)["value"] == pytest.approx(problem.objective(W), rel=1e-12)
    assert objective.evaluate_result(**objective.get_one_result())["rows_used"] == 0


@pytest.mark.parametrize("solver", ["auto", "fista-ls"])
def test_our_solver_reaches_the_certified_optimum(load: Any, solver: str) -> None:
    data = ss.datasets.load("iris")
    objective = started(load, "logistic", "l1", data.X, data.y)
    runs = load("solvers/sparsescope_solver.py").Solver()
    runs.solver = solver
    given = objective.get_objective()
    assert runs.skip(**given) == (False, None)
    runs.set_objective(**given)
    runs.warm_up()
    asked = iter(range(300))
    runs.run(lambda: next(asked, None) is not None)
    best = ss.solve(ss.Problem(data.X, data.y, loss="logistic", penalty="l1", lam=objective.lam), tol=1e-9).objective
    assert objective.evaluate_result(**runs.get_result())["value"] <= best * (1 + 1e-6)


def test_what_a_solver_does_not_take_is_said(load: Any) -> None:
    data = ss.datasets.load("iris")
    objective = started(load, "multiclass-squared-hinge", "l1/l2", data.X, data.y)
    runs = load("solvers/sparsescope_solver.py").Solver()
    runs.solver = "newglmnet"
    skipped, words = runs.skip(**objective.get_objective())
    assert skipped and words
    skipped, words = load("solvers/scikit_learn.py").Solver().skip(**objective.get_objective())
    assert skipped and "row penalty" in words


def test_scikit_learn_minimises_the_same_objective(load: Any) -> None:
    data = ss.datasets.load("iris")
    objective = started(load, "logistic", "l1", data.X, data.y)
    peer = load("solvers/scikit_learn.py").Solver()
    skipped, words = peer.skip(**objective.get_objective())
    if skipped:
        pytest.skip(words)
    peer.set_objective(**objective.get_objective())
    peer.run(2000)
    best = ss.solve(ss.Problem(data.X, data.y, loss="logistic", penalty="l1", lam=objective.lam), tol=1e-9).objective
    assert objective.evaluate_result(**peer.get_result())["value"] == pytest.approx(best, rel=1e-5)


def test_the_data_sets_have_the_form_that_the_objective_takes(load: Any) -> None:
    made = load("datasets/simulated.py").Dataset()
    made.n, made.d, made.m, made.used, made.seed = 60, 12, 3, 4, 0
    found = made.get_data()
    assert found["X"].shape == (60, 12) and set(found["y"]) == {0, 1, 2}
    shipped = load("datasets/bundled.py").Dataset()
    shipped.dataset = "iris"
    assert shipped.get_data()["y"].max() == 2
