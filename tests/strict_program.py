"""A user's program that goes through the public names: `make types` checks it with mypy --strict. It is also run."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import sparsescope as ss


def fits(problem: ss.Problem) -> tuple[float, list[int]]:
    """Solve, certify, and look at what was found."""
    result: ss.Result = ss.solve(problem, "bcd-ls", tol=1e-6, selection="greedy")
    proof = ss.certify(problem, result.W, result.b)
    assert proof.relative_gap <= 1e-5 and result.converged
    rows: np.ndarray = result.support
    best: ss.Reference = ss.reference(problem)
    distance: float = result.objective - best.objective
    message: str = result.message
    assert message and distance >= -1e-9
    return result.relative_gap, [int(row) for row in rows]


def watches(problem: ss.Problem) -> ss.Trace:
    """Step a run by hand, and let a worker thread run."""
    recorder = ss.Recorder()
    run = ss.Run(problem, "fista-ls", stop=ss.stopping.Gap(1e-4), callbacks=[recorder])
    iterations: float = 0
    for event in run:
        iterations = event.iteration
        if event.certified:
            gap: float = event.gap
            assert gap >= 0.0
    run.change(lam_ratio=0.2)
    assert iterations > 0
    session = ss.Session(problem, "bcd-ls")
    session.close()
    trace: ss.Trace = recorder.trace
    objective: np.ndarray = trace["objective"]
    assert objective.size
    return trace


def follows(problem: ss.Problem) -> ss.Path:
    """Paths and races."""
    found: ss.Path = ss.path(problem, n_lams=4, ratio=0.2, tol=1e-3)
    lams: np.ndarray = found.lams
    race: ss.Race = ss.race(problem, ["bcd-ls", "fista-ls"], budget=3, unit="iterations")
    names: tuple[str, ...] = race.names
    assert lams.size == 4 and len(names) == 2
    return found


def estimates(X: np.ndarray, y: np.ndarray, folder: Path) -> float:
    """Estimators and their files."""
    model: ss.SparseClassifier = ss.SparseClassifier("logistic", lam_ratio=0.1).fit(X, y)
    file: Path = model.save(folder / "model")
    again = ss.estimators.load(file)
    chosen: ss.SparseClassifierCV = ss.SparseClassifierCV(n_lams=3, cv=2).fit(X, y)
    scores: np.ndarray = model.decision_function(X)
    assert (again.decision_function(X) == scores).all() and chosen.lam_ > 0
    return float(model.score(X, y))


def asks_the_registry() -> list[str]:
    """Parts by name, with their settings."""
    penalty: ss.penalties.ElasticNet = ss.penalties.ElasticNet(rho=0.3)
    loss: ss.losses.Logistic = ss.losses.Logistic()
    assert penalty.rho == 0.3 and loss.title
    return [*ss.registry.solvers.names(), *ss.datasets.names()]


def main() -> None:
    """Go through all of it."""
    data = ss.datasets.load("iris", scale="standard", seed=1)
    problem = ss.Problem(data, loss="logistic", penalty="l1/l2", lam_ratio=0.1, intercept=True)
    relative, rows = fits(problem)
    assert relative <= 1e-6 and rows and asks_the_registry()
    watches(problem)
    follows(problem.with_(penalty=ss.penalties.ElasticNet(rho=0.3)))
    covariance = ss.CovarianceProblem.from_data(np.asarray(data.X), lam_ratio=0.5)
    assert ss.solve(covariance, tol=1e-4).converged
    try:
        ss.Problem(data, loss="none")
    except ss.SparsescopeError as error:
        assert "unknown loss" in str(error)
    with tempfile.TemporaryDirectory() as folder:
        assert estimates(np.asarray(data.X), np.asarray(data.y), Path(folder)) > 0.5


if __name__ == "__main__":
    main()
