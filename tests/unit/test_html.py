"""Objects as notebooks show them, and runs as files of other programs."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sparsescope as ss
from helpers import iris


@pytest.fixture(scope="module")
def result() -> ss.Result:
    return ss.solve(ss.Problem(*iris(), lam_ratio=0.1), "ista", tol=1e-4)


def shown(thing: Any) -> str:
    text: str = thing._repr_html_()
    for tag in ("table", "tr", "th", "td"):
        assert len(re.findall(rf"<{tag}\b", text)) == text.count(f"</{tag}>"), text
    assert "nan" not in text.lower() and "<script" not in text
    return text


def test_objects_show_their_numbers(result: ss.Result) -> None:
    problem = ss.Problem(*iris(), lam=0.125, intercept=True)
    for part in (f"{problem.n}, 4, 3", "0.125", "L1L2", "yes"):
        assert part in shown(problem)
    covariance = ss.CovarianceProblem.from_data(iris()[0], lam=0.25)
    assert "penalised" in shown(covariance) and "0.25" in shown(covariance)
    assert shown(ss.SequenceProblem(*iris(), lam=1e-3)).startswith("<div><b>SequenceProblem")
    assert f"{result.objective:.6g}" in shown(result) and "certified" in shown(result) and "yes" in shown(result)
    assert result.trace is not None
    assert str(len(result.trace)) in shown(result.trace) and "ISTA" in shown(result.trace).upper()
    assert "0" in shown(ss.Trace())
    event = next(iter(ss.Run(problem, "fista-ls")))
    assert "Event of fista-ls" in shown(event) and "restarts" in shown(event)
    assert "table" in shown(ss.path(problem, n_lams=3))


def test_texts_of_data_are_escaped() -> None:
    X, y = iris()
    problem = ss.Problem(X, y)
    problem._data.name = "<img onerror=1>"
    assert "<img" not in shown(problem) and "&lt;img" in shown(problem)


def test_a_run_as_csv_npz_and_parquet(result: ss.Result, tmp_path: Path) -> None:
    trace = result.trace
    assert trace is not None
    expected = trace.to_frame()
    table = pd.read_csv(trace.to_csv(tmp_path / "run.csv"))
    pd.testing.assert_frame_equal(table, expected, check_dtype=False)
    with np.load(trace.to_npz(tmp_path / "run"), allow_pickle=False) as arrays:
        assert set(arrays) == set(trace.columns)
        for name in arrays:
            np.testing.assert_array_equal(arrays[name], trace[name])
    pytest.importorskip("pyarrow")
    pd.testing.assert_frame_equal(pd.read_parquet(trace.to_parquet(tmp_path / "run.parquet")), expected)


def test_without_pyarrow_parquet_names_the_way_out(
    result: ss.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert result.trace is not None
    with pytest.raises(ImportError, match=r"Writing a Parquet file needs the package pyarrow.*pip install pyarrow"):
        result.trace.to_parquet(tmp_path / "run.parquet")
    assert not list(tmp_path.iterdir())


def test_several_runs_are_drawn_in_one_picture(result: ss.Result) -> None:
    problem = ss.Problem(*iris(), lam_ratio=0.1)
    other = ss.solve(problem, "fista-ls", tol=1e-4).trace
    assert other is not None and result.trace is not None
    figure = ss.views.draw("convergence", [result.trace, other], problem)
    names = [line.name for line in figure.data]
    assert "ISTA: objective F" in names and any(name.startswith("FISTA") for name in names), names
    colours = {line.legendgroup: line.line.color for line in figure.data}
    assert len(colours) == 2 == len(set(colours.values()))
    gap = next(line for line in figure.data if line.name.endswith("duality gap (relative)") and "FISTA" in line.name)
    known = other["relative_gap"]
    drawn = np.asarray(gap.y, dtype=float)
    np.testing.assert_allclose(drawn[np.isfinite(drawn)], known[np.isfinite(known) & (known > 0)])
    by_name = ss.views.draw("accuracy", {"first": result.trace, "second": other})
    assert {line.legendgroup for line in by_name.data} == {"first", "second"}
    twice = ss.views.draw("convergence", [result.trace, result.trace])
    assert len({line.legendgroup for line in twice.data}) == 2
    with pytest.raises(ValueError, match="draws one trace"):
        ss.views.draw("weights", [result.trace, other])
    with pytest.raises(ValueError, match="0 traces"):
        ss.views.draw("convergence", [])
