"""Paper 5: its data, its measurements on tiny settings, and verdicts on tables made by hand."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import claim_cases
import numpy as np
import pandas as pd
import pytest
from paper3_tables import where

from sparsescope.experiments import Settings, load_paper, output, runs
from sparsescope.experiments.conduct import conduct
from sparsescope.experiments.paper5 import figures, protocol, samples
from sparsescope.experiments.paper5.covariances import with_optimum
from sparsescope.experiments.paper5.protocol import FISTA, GLMNET, LHAC, QUIC
from sparsescope.experiments.progress import Report

PAPER = load_paper(5)


# ----------------------------------------------------------------------------------------------------- made by hand
def races(edit: Any = None, power: float = 1.0) -> dict[str, pd.DataFrame]:
    """Runs as the paper has them: the violation falls tenfold an iteration; an iteration of LHAC is short."""
    parts = []
    for size in (100, 200, 400):
        unit = (size / 100) ** power
        for name, first, later in ((FISTA, 1.5, 30.0), (GLMNET, 2.0 * unit, 4.0 * unit), (LHAC, 1.0, 1.0)):
            seconds = [first * k if k <= 2 else 2 * first + later * (k - 2) for k in range(7)]
            parts.append(pd.DataFrame({"data": "hand", "samples": size, "features": 9, "solver": name,
                                       "iteration": range(7), "seconds": seconds, "objective": 1.0,
                                       "violation": [10.0**-k for k in range(7)], "message": ""}))  # fmt: skip
    table = pd.concat(parts, ignore_index=True)
    return {"races": table if edit is None else edit(table)}


def covariances(edit: Any = None) -> dict[str, pd.DataFrame]:
    """Runs as the paper has them: QUIC takes few dear iterations, from above; LHAC many cheap ones, from below."""
    parts = []
    for name, count, flops, step, sets in (
        (QUIC, 6, 5e7, 400.0, [300, 180, 150]),
        (LHAC, 12, 1e7, 90.0, [80, 120, 149]),
    ):
        k = np.arange(count + 1)
        size = np.interp(k, [0, 1, 3, count], [40, *sets])
        parts.append(pd.DataFrame({"data": "hand", "features": 50, "solver": name, "iteration": k, "sweeps": 3.0,
                                   "steps": 1e3, "step_flops": step, "flops": flops * k, "seconds": 0.1 * k,
                                   "violation": 10.0 ** (-6.5 * k / count), "size": 150, "optimum": 150,
                                   "working_set": np.where(k > 0, size, np.nan), "screened": 2}))  # fmt: skip
    table = pd.concat(parts, ignore_index=True)
    return {"covariances": table if edit is None else edit(table)}


def slowed(name: str, factor: float) -> Any:
    return lambda t: t.assign(seconds=t["seconds"].where(t["solver"] != name, factor * t["seconds"]))


NOT_THERE = where(violation=0.5)()
# claim -> (tables where it holds, tables where it does not, tables that cannot tell)
CASES: dict[str, tuple[Any, Any, Any]] = {
    "lhac-fastest": (races(), races(slowed(LHAC, 5.0)), races(NOT_THERE)),
    "fista-early": (races(), races(slowed(FISTA, 9.0)), races(NOT_THERE)),
    "fista-late": (races(), races(slowed(FISTA, 0.01)), races(NOT_THERE)),
    "margin-grows": (races(), races(power=-0.5), races(where(violation=0.5)(solver=GLMNET))),
    "scales": (races(), races(power=-0.5), races(where(samples=100)())),
    "fewer-flops": (covariances(), covariances(where(flops=1e9)(solver=LHAC)), covariances(NOT_THERE)),
    "trade": (covariances(), covariances(where(step_flops=50.0)(solver=QUIC)), covariances(NOT_THERE)),
    "from-below": (covariances(), covariances(where(working_set=200)(solver=LHAC)),
                   covariances(lambda t: t[t["solver"] == QUIC])),
    "from-above": (covariances(), covariances(where(working_set=20)(solver=QUIC)),
                   covariances(lambda t: t[t["solver"] == LHAC])),
}  # fmt: skip


test_every_claim_has_its_cases, test_a_claim_can_hold_fail_and_stay_open = claim_cases.claim_tests(PAPER, CASES)


@pytest.mark.parametrize("name", ["lhac-fastest", "fista-early", "fista-late", "margin-grows"])
def test_repeated_runs_decide_claims_on_times(name: str) -> None:
    claim_cases.check_repeats(PAPER, CASES, name)


def test_figures_show_every_method_and_what_was_not_reached() -> None:
    for fig in (figures.races(races(where(violation=0.5)(solver=FISTA))), figures.working_sets(covariances())):
        names = {trace.name for trace in fig.data}
        assert names >= ({FISTA, GLMNET, LHAC} if FISTA in names else {QUIC, LHAC})
        assert all(len(trace.x) for trace in fig.data)


def test_the_optimum_is_the_size_at_the_smallest_violation() -> None:
    table = covariances(lambda t: t.assign(size=np.where(t["violation"] == t["violation"].min(), 7, 9)))["covariances"]
    assert set(with_optimum(table)["optimum"]) == {7}


# ------------------------------------------------------------------------------------------------------------ the data
@pytest.fixture(scope="module")
def pools(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """A bundled set, and a file with a covariance matrix."""
    folder = tmp_path_factory.mktemp("data")
    A = np.random.default_rng(0).normal(size=(30, 12))
    names = np.array([f"g{j}" for j in range(12)])
    np.savez(folder / "matrix.npz", S=np.corrcoef((A + A[:, :1]).T), feature_names=names)
    return [samples.load("breast_cancer"), samples.load(str(folder / "matrix.npz"))]


def test_data_are_taken_for_what_they_are_for(pools: list[Any]) -> None:
    flowers, matrix = pools
    assert samples.not_for_races(flowers) is None and samples.not_for_covariances(flowers) is None
    assert "covariance matrix" in str(samples.not_for_races(matrix)) and samples.not_for_covariances(matrix) is None
    problem = samples.covariance_problem(matrix, protocol.QUICK)
    assert problem is not None and problem.feature_name(3) == "g3" and problem.lam == 0.5
    assert "texts" in str(samples.not_for_covariances(samples.load("pydocs")))
    digits = samples.load("digits")
    assert {digits.class_names[k] for k in digits.y[samples.chosen_rows(digits, 0)]} == {"4", "9"}
    assert samples.sizes(flowers, protocol.FULL) == [142, 284, 569]
    assert samples.sizes(flowers, dataclasses.replace(protocol.FULL, sizes=(50, 100, 200, 900))) == [50, 100, 200]
    few = dataclasses.replace(flowers, X=flowers.X[:30], y=flowers.y[:30])
    assert "fewer than 40" in str(samples.not_for_races(few))
    still = dataclasses.replace(flowers, X=np.ones((40, 9)), y=flowers.y[:40])
    assert "of its features vary" in str(samples.not_for_covariances(still))


def test_all_of_it_on_tiny_settings(pools: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "QUICK", dataclasses.replace(protocol.QUICK, sizes=(40, 60, 80), features=10))
    monkeypatch.setattr(protocol, "SHARE", 0.2)  # FISTA takes thousands of iterations at a smaller λ
    monkeypatch.setattr(runs, "REPEATS", 2)  # medians of two runs are medians, too
    folder = output.Folder(tmp_path)
    results = conduct(PAPER, pools, Settings(quick=True, seconds=60.0), folder, PAPER.choose(None), Report())
    assert {v.claim.name for v in results.verdicts} == set(CASES) and not results.interrupted
    names = {p.name for p in folder.path.iterdir()}
    assert {"fig1.html", "fig2.html", "table1.csv", "table2.csv", "races.csv", "covariances.csv"} <= names
    first = pd.read_csv(folder.path / "table1.csv")
    assert first["samples"].tolist() == [40, 40, 60, 60, 80, 80] and np.isfinite(first[LHAC]).all()
    assert first[[FISTA, GLMNET, LHAC]].gt(0).all(axis=None)
    second = pd.read_csv(folder.path / "table2.csv")
    assert second["data"].tolist() == ["breast_cancer"] * 2 + ["matrix"] * 2
    assert second["p"].tolist() == [10, 10, 12, 12]
    assert np.isfinite(second.drop(columns="data")).all(axis=None)
    assert (second[f"{LHAC} flops a step"] <= 12 + 6 * 20).all()
    assert "it is a covariance matrix" in (folder.path / "summary.md").read_text()
    found = pd.read_csv(folder.path / "covariances.csv")
    for _, run in found.groupby(["data", "solver"]):
        assert run["violation"].iloc[-1] <= 1e-6 and (np.diff(run["flops"]) > 0).all()
    assert protocol.limits(Settings(seconds=3.0)).seconds == 3.0 and protocol.limits(Settings()) is protocol.FULL
