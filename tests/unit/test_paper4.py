"""Paper 4 on tiny data: other programs, measures, models, the command's folder."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.experiments import Settings, load_paper, output, peers, runs
from sparsescope.experiments.conduct import conduct
from sparsescope.experiments.paper4 import models, protocol, samples, scores
from sparsescope.experiments.pools import Pool, pool
from sparsescope.experiments.progress import Report

TINY = Settings(quick=True, seed=1)


@pytest.fixture(scope="module")
def classes() -> Pool:
    """300 documents, 60 classes, under the name of the data that the growth goes with."""
    return pool(ss.datasets.make_extreme(300, 200, 60, length=25.0, words=5, test_size=0.0))


@pytest.fixture(scope="module")
def tags() -> Pool:
    """The same with label sets, kept sparse."""
    return pool(ss.datasets.make_extreme(300, 200, 60, length=25.0, words=5, multilabel=True, name="tags"), sets=True)


# --------------------------------------------------------------------------------------------------- other programs
def test_one_against_all_is_that_of_scikit_learn() -> None:
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC

    X, y = ss.datasets.load("iris", test_size=0.0)
    X = sp.csr_array(X)
    fit = peers.one_vs_rest(peers.SVM, X, samples.indicator(y, 4))
    known = OneVsRestClassifier(LinearSVC(fit_intercept=False, tol=1e-6, max_iter=100_000)).fit(X, y)
    W = np.vstack([e.coef_ for e in known.estimators_]).T
    np.testing.assert_allclose(fit.W[:, :3], W, atol=0.15)
    assert not fit.W[:, 3].any() and fit.trained.tolist() == [0, 1, 2, 3] and fit.note == ""
    sparse = peers.one_vs_rest(peers.LOGISTIC_L1, X, samples.indicator(y, 3), C=0.1).W
    assert sparse.format == "csr" and 0 < sparse.nnz < 12
    few = peers.one_vs_rest(peers.LOGISTIC_L2, X, samples.indicator(y, 3), limit=0.0)
    assert len(few.trained) == 1 and few.note == "1 of 3 classes were trained" and few.W[:, few.trained].all()


def test_the_multiclass_method_leaves_absent_classes_at_zero() -> None:
    X, y = ss.datasets.load("iris", test_size=0.0)
    fit = peers.crammer_singer(X, 2 * y, 5, tol=1e-4)
    assert fit.W.shape == (4, 5) and not fit.W[:, [1, 3]].any() and fit.W[:, [0, 2, 4]].all()
    assert np.mean((X @ fit.W).argmax(axis=1) == 2 * y) > 0.8


def test_samples_are_written_as_vowpal_wabbit_reads_them() -> None:
    X = sp.csr_array(np.array([[0.0, 1.5], [0.0, 0.0]]))
    assert peers.vw_lines(X, np.array([3, 1])) == ["3 | 1:1.5", "1 | "]
    assert peers.vw_lines(X, None)[0] == " | 1:1.5"


def test_vowpal_wabbit_learns(classes: Pool) -> None:
    if peers.vowpal_missing() is not None:
        pytest.skip(peers.vowpal_missing() or "")
    fit = peers.vowpal(classes.X, classes.y, classes.X, 60)
    assert fit.passes == 10 and np.mean(fit.predicted == classes.y) > 0.8 and fit.size > 0 and fit.seconds > 0.0


# --------------------------------------------------------------------------------------------------------- measures
def test_measures_of_ranked_and_predicted_labels() -> None:
    Y = sp.csr_array(np.array([[1, 0, 1, 0], [0, 1, 0, 0]], dtype=np.uint8))
    found = scores.measures(np.array([[0, 1, 2], [0, 1, 3]]), sp.csr_array(np.array([[1, 1, 0, 0], [0, 1, 0, 0]])), Y)
    assert (found["p_at_1"], found["p_at_3"]) == (0.5, pytest.approx(0.5)) and np.isnan(found["p_at_5"])
    assert found["micro_f1"] == pytest.approx(2 * 2 / (3 + 3))
    assert found["macro_f1"] == pytest.approx((1.0 + 2 / 3 + 0.0) / 3), "label 3 is nowhere and does not count"


def test_sparse_and_dense_models_predict_the_same(classes: Pool) -> None:
    split = samples.whole(classes)
    rng = np.random.default_rng(0)
    W = np.where(rng.random((200, 60)) < 0.05, rng.standard_normal((200, 60)), 0.0)
    kept = scores.stored(W)
    assert sp.issparse(kept) and scores.stored(sp.csr_array(W + 1.0)).shape == (200, 60)
    assert not sp.issparse(scores.stored(sp.csr_array(W + 1.0)))
    assert scores.size(kept) == 12 * kept.nnz + 8 * 201 and scores.size(W) == 8 * 200 * 60
    Z = split.test.matrix @ W
    for model in (kept, W):
        best = scores.ranking(split.problem, model, split.test, 3)
        np.testing.assert_allclose(np.take_along_axis(Z, best, axis=1), -np.sort(-Z, axis=1)[:, :3], atol=1e-12)


def test_a_part_of_the_classes_tells_time_and_size_for_all(classes: Pool) -> None:
    split = samples.whole(classes)
    W = np.ones((200, 60))
    found = models.extrapolated(split, peers.Fit(W, 2.0, np.arange(10)))
    assert found["train_seconds"] == 12.0 and found["bytes"] == 8 * 200 * 60 and found["nonzeros"] == 200 * 60
    assert found["predict_seconds"] > 0.0
    W = np.zeros((200, 60))
    W[3] = 1.0
    assert np.isnan(models.extrapolated(split, peers.Fit(W, 2.0, np.arange(10)))["predict_seconds"])


# ---------------------------------------------------------------------------------------------------------- samples
def test_parts_are_the_datas_own_or_a_quarter(classes: Pool, tags: Pool) -> None:
    split, inner = samples.whole(classes), samples.tuning(classes, 0)
    assert split.problem.n + split.test.n == 300 and split is samples.whole(classes)
    assert inner.problem.n + inner.test.n == split.problem.n and inner.problem.m == 60
    own = samples.whole(tags)
    assert tags.training == own.problem.n and own.problem.multilabel and own.problem.loss.title
    assert samples.has(tags.y, np.asarray(tags.y.argmax(axis=1)).ravel()).all()
    assert samples.not_for_growth(classes) is None and "planted-extreme" in str(samples.not_for_growth(tags))


def test_quick_takes_a_part_of_the_generated_sets(classes: Pool, tags: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "QUICK_LABELS", 20)
    monkeypatch.setattr(samples, "QUICK_SAMPLES", 50)
    few = samples.quick(classes)
    assert few.X.shape == (50, 200) and few.y.max() < 20 == len(few.class_names) and few.facts["n"] == 50
    assert samples.quick(tags) is tags, "data that are not generated are measured as they are"
    sets = samples.quick(dataclasses.replace(tags, name="planted-extreme-tags"))
    assert sets.y.shape == (50, 20) and np.asarray(sets.y.sum(axis=1)).min() >= 1


# ------------------------------------------------------------------------------------------------------ the command
@pytest.fixture(scope="module")
def made(classes: Pool, tags: Pool, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """All of paper 4 on tiny data."""
    folder = output.Folder(tmp_path_factory.mktemp("paper4"))
    patch = pytest.MonkeyPatch()
    patch.setattr(protocol, "QUICK", dataclasses.replace(
        protocol.QUICK, lam4s=(0.1,), iterations=2, seconds=5.0, peer_seconds=60.0, search_seconds=5.0,
        search_gap=0.3, growth_n=300, growth_d=200, growth_m=(10, 140), growth_iterations=1))  # fmt: skip
    patch.setattr(runs, "REPEATS", 2)  # medians of two runs are medians, too
    paper = load_paper(4)
    try:
        results = conduct(paper, [classes, tags], TINY, folder, paper.choose(None), Report())
    finally:
        patch.undo()
    return folder.path, results


def test_the_folder_holds_everything(made: tuple[Path, Any]) -> None:
    folder, results = made
    paper = load_paper(4)
    names = {p.name for p in folder.iterdir()}
    assert {f"{e.name}.html" for e in paper.experiments} <= names and {"tables12.csv", "table3.csv"} <= names
    assert {f"{m.table}.csv" for m in paper.measurements} <= names and not results.interrupted
    assert {v.claim.name for v in results.verdicts} == {c.name for c in paper.claims}
    assert "Growth is not measured on tags: it is for generated data" in (folder / "summary.md").read_text()


def test_every_method_is_in_the_tables(made: tuple[Path, Any]) -> None:
    folder, _ = made
    found = pd.read_csv(folder / "models.csv", keep_default_na=True)
    for data, part in found.groupby("data"):
        assert part["method"].tolist() == list(protocol.METHODS) and part["chosen"].sum() == 1
        by = part.set_index("method")
        assert by.loc[list(protocol.OURS), "k_a"].gt(0).all() and by.loc[list(protocol.OURS), "bytes"].gt(0).all()
        assert by.loc[protocol.PD, "p_at_1"] > 0.3 and by.loc[protocol.ONE_SVM, "p_at_1"] > 0.3
        assert by.loc[protocol.ONE_SVM, "trained"] == 60
        only = data == "tags"
        assert (by.loc[protocol.MULTI, "note"] == "it is for one class a sample") is only
        assert np.isnan(by.loc[protocol.PD, "p_at_5"]) != only, "classes have no sets to rank"
        assert np.isnan(by.loc[protocol.VW, "p_at_1"]) or not only
    sparse = pd.read_csv(folder / "sparsity.csv")
    assert (sparse["k_a"] > sparse["k_a_others"]).all() and sparse["held_out"].between(0, 1).all()
    searches = pd.read_csv(folder / "searches.csv")
    assert set(searches["search"]) == set(protocol.SEARCHES) and (searches.groupby("search")["seconds"].max() > 0).all()
    growth = pd.read_csv(folder / "growth.csv")
    assert growth["classes"].tolist() == [10, 10, 140, 140] and (growth["seen"] <= growth["classes"]).all()
    assert growth["iteration_seconds"].gt(0).all() and growth["samples"].nunique() == 1


def test_seconds_limit_every_fit() -> None:
    limit = protocol.limits(Settings(seconds=60.0))
    assert (limit.seconds, limit.peer_seconds, limit.search_seconds) == (60.0, 60.0, 30.0)
    assert protocol.limits(Settings()) is protocol.FULL
