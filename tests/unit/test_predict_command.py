"""`sparsescope predict` and `solve --model`: the same classes as in Python, from every format, or a sentence."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file, load_iris
from test_cli import run

import sparsescope as ss
from sparsescope import cli, estimators

FITTED = ("--loss", "logistic", "--scale", "none", "--standardize", "--intercept", "--lam-ratio", "0.01")


def frame() -> pd.DataFrame:
    """Iris with words as labels and a column of text."""
    data = load_iris(as_frame=True)
    site = np.array(["here", "there"])[np.arange(150) % 2]
    return data.data.assign(site=site, kind=np.array(["a", "b", "c"])[data.target])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the command line, and its samples in all formats."""
    place = tmp_path_factory.mktemp("predict")
    table = frame()
    table.to_csv(place / "all.csv", index=False)
    table.to_parquet(place / "all.parquet")
    table.drop(columns="kind").iloc[:, ::-1].to_csv(place / "new.csv", index=False)  # no labels, another order
    code = run("solve", str(place / "all.csv"), "--target", "kind", *FITTED, "--model", str(place / "model.npz"),
               "--out", str(place / "run.parquet"))  # fmt: skip
    assert code == cli.DONE
    X, y = load_iris(return_X_y=True)
    estimators.SparseClassifier(lam_ratio=0.01).fit(X, y).save(place / "numbers.npz")
    np.savez(place / "X.npz", X=X)
    np.savez(place / "both.npz", X_train=X[:100], y_train=y[:100], X_test=X[100:], y_test=y[100:])
    dump_svmlight_file(X, y, str(place / "all.svm"), zero_based=False)
    return place


def expected(folder: Path) -> list[str]:
    """Predictions of the model, in plain numpy."""
    model = estimators.load(folder / "model.npz")
    table = frame()
    columns = [table[c] if c in table else table["site"] == c.partition("=")[2] for c in model.feature_names_in_]
    Z = np.column_stack(columns).astype(float) @ model.coef_.T + model.intercept_
    return [str(name) for name in model.classes_[Z.argmax(axis=1)]]


@pytest.mark.parametrize("name", ["all.csv", "all.parquet", "new.csv"])
def test_columns_are_found_by_their_names(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run("predict", str(folder / "model.npz"), str(folder / name)) == cli.DONE
    assert capsys.readouterr().out.splitlines() == expected(folder)


@pytest.mark.parametrize("name", ["all.parquet", "new.csv"])
def test_standard_input(folder: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO((folder / name).read_bytes())))
    assert run("predict", str(folder / "model.npz"), "-", "--json") == cli.DONE
    found = json.loads(capsys.readouterr().out)
    assert found["predictions"] == expected(folder) and found["n"] == 150 and found["classes"] == ["a", "b", "c"]
    assert "accuracy" not in found  # no column is called as labels are


def test_probabilities_are_those_of_the_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["predict", str(folder / "model.npz"), str(folder / "all.csv"), "--target", "kind", "--proba"]
    capsys.readouterr()
    assert run(*arguments) == cli.DONE
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    out = folder / "predicted.parquet"
    assert run(*arguments, "--json", "--out", str(out)) == cli.DONE
    found, written = json.loads(capsys.readouterr().out), pd.read_parquet(out)
    shares = np.array(found["probabilities"])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(shares, written.to_numpy()[:, 1:].astype(float))
    np.testing.assert_array_equal(shares, [[float(row[f"probability of {c}"]) for c in "abc"] for row in rows])
    chosen = np.array(list("abc"))[shares.argmax(axis=1)]
    assert list(written["predicted"]) == found["predictions"] == chosen.tolist()
    assert found["accuracy"] == np.mean(chosen == frame()["kind"].to_numpy())


@pytest.mark.parametrize(("name", "part"), [("X.npz", slice(0, 150)), ("both.npz", slice(100, 150)),
                                            ("all.svm", slice(0, 150))])  # fmt: skip
def test_models_without_names_take_samples_by_position(
    folder: Path, name: str, part: slice, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run("predict", str(folder / "numbers.npz"), str(folder / name), "--json") == cli.DONE
    found = json.loads(capsys.readouterr().out)
    X, y = load_iris(return_X_y=True)
    wanted = estimators.load(folder / "numbers.npz").predict(X[part])
    assert found["predictions"] == wanted.tolist()
    assert found.get("accuracy", np.nan) == pytest.approx(
        np.nan if name == "X.npz" else np.mean(wanted == y[part]), nan_ok=True
    )


def test_label_sets_are_lists(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    Y = (X > 0).astype(int)
    estimators.SparseClassifier("multitask-squared-hinge", lam_ratio=0.01).fit(X, Y).save(tmp_path / "sets.npz")
    np.savez(tmp_path / "X.npz", X=X)
    assert run("predict", str(tmp_path / "sets.npz"), str(tmp_path / "X.npz"), "--json") == cli.DONE
    found = json.loads(capsys.readouterr().out)["predictions"]
    wanted = estimators.load(tmp_path / "sets.npz").predict(X)
    assert found == [np.flatnonzero(row).tolist() for row in wanted] and any(len(row) > 1 for row in found)
    assert run("predict", str(tmp_path / "sets.npz"), str(tmp_path / "X.npz")) == cli.DONE
    assert capsys.readouterr().out.splitlines() == [",".join(map(str, row)) for row in found]


def without(column: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda table: table.drop(columns=column)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (without("petal width (cm)"), "lacks 'petal width (cm)', which the model needs"),
        (without("site"), "lacks 'site=here', 'site=there'"),
        (lambda table: table.assign(site="nowhere"), "column 'site' has the value 'nowhere', which the model does not"),
        (
            lambda table: table.mask(np.outer(table.index < 3, [True] * 6)),
            "has missing values in column 'sepal length (cm)' (3 of 150 rows)",
        ),
    ],
)
def test_other_tables_are_refused(
    folder: Path, changed: Any, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(frame()).to_csv(tmp_path / "t.csv", index=False)
    capsys.readouterr()
    assert run("predict", str(folder / "model.npz"), str(tmp_path / "t.csv")) == cli.FAILED
    out, err = capsys.readouterr()
    assert words in err and len(err.splitlines()) == 1 and not out


def test_other_files_are_refused(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more PAR1")
    pd.DataFrame({"a": [1.0, 2.0]}).to_csv(tmp_path / "narrow.csv", index=False)
    ss.SparseInverseCovariance(lam_ratio=0.5).fit(load_iris().data).save(tmp_path / "graph.npz")
    numbers, model = str(folder / "numbers.npz"), str(folder / "model.npz")
    for arguments, words in (
        (("predict", model, str(tmp_path / "broken.parquet")), "is not a readable Parquet table"),
        (("predict", model, "iris"), "iris has 4 features, and the model has 6"),
        (("predict", numbers, str(tmp_path / "narrow.csv")), "has 1 features, and the model has 4, without names"),
        (("predict", numbers, str(folder / "X.npz"), "--target", "y"), "named for tables only"),
        (("predict", numbers, str(folder / "X.npz"), "--proba"), "gives no probabilities"),
        (
            ("predict", str(tmp_path / "graph.npz"), "iris"),
            "holds a SparseInverseCovariance, which predicts no classes",
        ),
        (("predict", str(folder / "X.npz"), "iris"), "is not a model saved by sparsescope"),
        (("solve", str(folder / "all.csv"), "--model", str(tmp_path / "m")), "scaled by the rule 'standard'"),
    ):
        capsys.readouterr()
        assert run(*arguments) == cli.FAILED
        out, err = capsys.readouterr()
        assert words in err and not out, err
    assert run("predict", model) == run("predict", model, "iris", "--out", "table.txt") == cli.USAGE
    assert not (tmp_path / "m.npz").exists()


def test_parquet_reads_as_csv_does(folder: Path) -> None:
    written, text = (ss.datasets.load(folder / name, target="kind") for name in ("all.parquet", "all.csv"))
    np.testing.assert_array_equal(written.X, text.X)
    np.testing.assert_array_equal(written.y, text.y)
    assert written.feature_names == text.feature_names and written.class_names == ["a", "b", "c"]
    trace = pd.read_parquet(folder / "run.parquet")
    assert trace["relative_gap"].iloc[-1] <= 1e-6 and (trace["iteration"].diff().iloc[1:] > 0).all()


def test_without_pyarrow_the_extra_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    capsys.readouterr()
    for arguments in (("solve", str(folder / "all.parquet")), ("solve", "iris", "--out", str(folder / "t.parquet"))):
        assert run(*arguments) == cli.FAILED
        said = capsys.readouterr()
        assert 'pip install "sparsescope[tables]"' in said.err and len(said.err.splitlines()) == 1 and not said.out


def test_a_model_of_a_result_is_the_one_that_was_solved(tmp_path: Path) -> None:
    data = ss.datasets.load("digits", scale="none")
    problem = ss.Problem(data, lam_ratio=0.2, intercept=True)
    result = ss.solve(problem, tol=1e-3)
    model = estimators.from_result(problem, result)
    W, _ = model.weights_
    np.testing.assert_array_equal(W, result.W)
    assert model.relative_gap_ == result.relative_gap and model.lam_ratio_ == pytest.approx(0.2)
    Z = data.X_test @ result.W + result.b
    held_out = pd.DataFrame(data.X_test, columns=data.feature_names)
    assert model.predict(held_out).tolist() == np.array(problem.class_names)[Z.argmax(axis=1)].tolist()
    assert result.trace is not None and model.history_["objective"][-1] == pytest.approx(result.objective)
    again = estimators.load(model.save(tmp_path / "m"))
    np.testing.assert_array_equal(again.decision_function(held_out), model.decision_function(held_out))
    with pytest.raises(TypeError, match="predicts no classes"):
        estimators.from_result(ss.CovarianceProblem(np.eye(3), lam=0.1), result)  # type: ignore[arg-type]
