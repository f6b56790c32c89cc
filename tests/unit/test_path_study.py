"""PathStudy: folds, halves and what is chosen from them agree with the same computations written plainly."""

from __future__ import annotations

import os
import pickle
import signal
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from sparsescope.registry import app_pages
from sparsescope.runs import edges
from sparsescope.runs import study as studies
from sparsescope.runs.choosing import choose
from sparsescope.runs.edges import EdgeStudy
from sparsescope.runs.processes import HELPERS, Helpers
from sparsescope.runs.study import PathStudy, row_norms
from waiting import until

LAMS = 6


@pytest.fixture(scope="module")
def study() -> PathStudy:
    data = ss.datasets.load("iris")
    problem = ss.Problem(data, penalty="l1/l2")
    made = PathStudy(problem, data.y, data.test, n_lams=LAMS, ratio=0.05, folds=3, resamples=4, seed=1)
    for _ in made.steps():
        assert made.stage
    return made


def test_the_path_is_that_of_ss_path(study: PathStudy) -> None:
    expected = ss.path(study.problem, n_lams=LAMS, ratio=0.05, tol=1e-4)
    assert study.lams == pytest.approx(expected.lams)
    assert [point.numbers["objective"] for point in study.points] == pytest.approx(list(expected.objective), rel=1e-6)
    W = expected.weights(-1)
    rows = study.points[-1].rows
    assert row_norms(study.points[-1].values) == pytest.approx(np.linalg.norm(W[rows], axis=1), rel=1e-2)
    assert all(point.numbers["test_accuracy"] > 0 for point in study.points)


def test_folds_spread_each_class_and_hold_out_every_sample_once(study: PathStudy) -> None:
    fold = study._fold_numbers()
    y = ss.datasets.load("iris").y
    for k in range(3):
        sizes = [np.count_nonzero((fold == f) & (y == k)) for f in range(3)]
        assert max(sizes) - min(sizes) <= 1
    part = np.flatnonzero(fold != 0)
    X = ss.datasets.load("iris").X
    found = ss.path(study.problem.on(X[part], y[part]), lams=study.lams, tol=1e-6, test=(X[fold == 0], y[fold == 0]))
    assert study.scores[:, 0] == pytest.approx(found.test_accuracy, abs=1.5 / np.count_nonzero(fold == 0))


def test_the_choice_is_that_of_the_rule_of_one_standard_error(study: PathStudy) -> None:
    chosen = study.chosen
    assert chosen is not None
    expected = choose(study.scores)
    means, errors = study.scores.mean(axis=1), study.scores.std(axis=1, ddof=1) / np.sqrt(3)
    assert (chosen.best, chosen.one_se) == (expected.best, expected.one_se)
    assert chosen.one_se <= chosen.best == int(np.argmax(means))
    assert means[chosen.one_se] >= means[chosen.best] - errors[chosen.best] - 1e-9


def test_shares_count_the_halves_that_select_a_row(study: PathStudy) -> None:
    data = ss.datasets.load("iris")
    assert study.selections.halves == 4 and study.selections.counts.shape == (LAMS, 4)
    counts, union = np.zeros((LAMS, 4)), np.zeros(LAMS)
    for b in range(4):
        half = np.sort(np.random.default_rng([1, b]).permutation(data.n)[: data.n // 2])
        found = ss.path(study.problem.on(data.X[half], data.y[half]), lams=study.lams, tol=1e-3, max_iter=300)
        ever = set()
        for k in range(LAMS):
            ever |= set(found.support(k).tolist())
            counts[k, found.support(k)] += 1
            union[k] += len(ever)
    assert np.array_equal(study.selections.counts, counts)
    assert study.selections.most_selected(LAMS - 1) == pytest.approx(counts.max(axis=0) / 4)
    assert study.selections.mean_union(2) == union[2] / 4
    assert study.selections.false_bound(2, 0.75) == pytest.approx((union[2] / 4) ** 2 / (0.5 * 4))


def test_what_cannot_be_done_is_noted_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from sparsescope.runs import study as module

    monkeypatch.setattr(module, "MOST_COUNTS", 3)
    data = ss.datasets.load("iris")
    made = PathStudy(ss.Problem(data), data.y, n_lams=3, folds=0, resamples=2)
    for _ in made.steps():
        pass
    assert made.chosen is None and made.selections.halves == 0 and "No stability selection" in made.notes[0]
    assert len(made.points) == 3


def test_label_sets_are_compared_by_precision() -> None:
    data = ss.datasets.make_multilabel_text(n=80, d=40, m=4, informative=8, labels=1.5, seed=1)
    made = PathStudy(ss.Problem(data, penalty="l1/l2"), data.y, data.test, n_lams=3, ratio=0.3, folds=2, resamples=1)
    for _ in made.steps():
        pass
    assert made.measure == "test_precision_at_1" and made.chosen is not None
    assert np.isfinite(made.scores).all()


def test_the_parts_of_a_study_survive_the_way_to_another_process(study: PathStudy) -> None:
    parts = pickle.loads(pickle.dumps(study._parts()))
    *_, found = (scores for scores in parts.fold(1) if scores is not None)
    assert np.array_equal(found, study.scores[:, 1])


@pytest.mark.slow
def test_other_processes_find_the_same(monkeypatch: pytest.MonkeyPatch, study: PathStudy) -> None:
    monkeypatch.setattr(studies, "LONG", 0.0)
    monkeypatch.setattr(edges, "LONG", 0.0)
    data = ss.datasets.load("iris")
    helpers = Helpers(2)
    made = PathStudy(study.problem, data.y, data.test, n_lams=LAMS, ratio=0.05, folds=3, resamples=4, seed=1)
    seen = {(made.stage, made.done) for _ in made.steps(helpers=helpers)}
    assert {("folds", 1), ("folds", 3), ("resamples", 4)} <= seen and helpers.count
    assert np.array_equal(made.scores, study.scores) and not made.notes
    assert made.chosen is not None and study.chosen is not None and made.chosen.one_se == study.chosen.one_se
    assert np.array_equal(made.selections.counts, study.selections.counts)
    assert made.selections.mean_union(2) == study.selections.mean_union(2)
    wine = ss.datasets.load("wine")
    problem = ss.CovarianceProblem.from_data(wine, correlation=True, features=8)
    found = []
    for given in (None, helpers):
        of_edges = EdgeStudy(problem, wine.X[:, problem.kept], n_lams=5, ratio=0.2, resamples=3, seed=2)
        for _ in of_edges.steps(helpers=given):
            pass
        found.append(of_edges.selections)
    assert found[0].halves == found[1].halves == 3 and np.array_equal(found[0].counts, found[1].counts)


@pytest.mark.slow
def test_a_page_says_that_its_process_ended_and_another_page_ends_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies, "LONG", 0.0)
    killed: list[int] = []

    def children() -> list[Any]:
        return [child for job in begun for child in list(job._children)]

    begun: list[Any] = []
    make = HELPERS.job

    def job(given: Any) -> Any:
        begun.append(make(given))
        return begun[-1]

    monkeypatch.setattr(HELPERS, "job", job)
    settings = {"dataset": "digits", "n_lams": 60, "folds": 5, "resamples": 0}
    page: Any = app_pages["path"](None, settings)
    page.start()
    until(lambda: children() or page.work.error)
    (child,) = children()
    os.kill(child._process.pid, signal.SIGKILL)
    killed.append(child._process.pid)
    until(lambda: page.work.error)
    assert "the process that worked on fold" in page.work.error and "ended abruptly" in page.work.error
    page.start()
    until(lambda: [c for c in children() if c._process.pid not in killed])
    (child,) = children()
    page.end()
    until(lambda: child._process.poll() is not None and not page.running)
