"""EdgeStudy and the page of networks: edges along λ, and the halves of the samples that have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from sparsescope.app import Page
from sparsescope.registry import app_pages
from sparsescope.runs.edges import EdgeStudy
from sparsescope.runs.selections import half
from sparsescope.runs.study import TOL
from sparsescope.views.theta import graph
from waiting import finish

LAMS = 5


@pytest.fixture(scope="module")
def study() -> EdgeStudy:
    data = ss.datasets.load("wine")
    problem = ss.CovarianceProblem.from_data(data, correlation=True, features=8)
    made = EdgeStudy(problem, data.X[:, problem.kept], n_lams=LAMS, ratio=0.2, resamples=3, seed=2)
    for _ in made.steps():
        assert made.stage
    return made


def test_the_path_is_that_of_ss_path(study: EdgeStudy) -> None:
    expected = ss.path(study.problem, n_lams=LAMS, ratio=0.2, tol=1e-6)
    for k in range(LAMS):
        Theta = study.theta(k)
        assert np.allclose(Theta, Theta.T)
        problem = study.problem.with_lam(float(study.lams[k]))
        best = expected["objective"][k]
        assert abs(problem.objective(Theta) - best) <= 2 * TOL * abs(best)
    assert np.count_nonzero(study.theta(0)) == 8, "no edges at λ_max"
    assert np.count_nonzero(study.theta(LAMS - 1)) > 8


def test_shares_count_the_halves_that_have_an_edge(study: EdgeStudy) -> None:
    data = ss.datasets.load("wine")
    X = data.X[:, study.problem.kept]
    counts = np.zeros((LAMS, 8, 8))
    union = np.zeros(LAMS)
    for b in range(3):
        part = ss.CovarianceProblem.from_data(X[half(data.n, 2, b)], correlation=True)
        found = ss.path(part, lams=study.lams, tol=1e-3, max_iter=300)
        ever = np.zeros((8, 8), dtype=bool)
        for k in range(LAMS):
            there = np.triu(found.weights(k).toarray() != 0, 1)
            counts[k] += there
            ever |= there
            union[k] += ever.sum()
    assert study.selections.halves == 3
    for k in range(LAMS):
        pairs = graph(study.theta(k))[0]
        assert study.share(k, pairs) == pytest.approx(counts[k][pairs[:, 0], pairs[:, 1]] / 3)
    assert study.selections.mean_union(LAMS - 1) == pytest.approx(union[-1] / 3)
    assert study.selections.false_bound(2, 0.75) == pytest.approx((union[2] / 3) ** 2 / (0.5 * 28))


def test_features_that_are_constant_in_a_half_have_no_edges_there() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    X[:, 0] = 0.0
    X[0, 0] = 1.0  # in some halves only
    X[:, 3] = X[:, 2] + 0.1 * X[:, 3]  # an edge in every half, under its own name
    problem = ss.CovarianceProblem.from_data(X, correlation=True)
    made = EdgeStudy(problem, X, n_lams=3, ratio=0.1, resamples=6)
    for _ in made.steps():
        pass
    assert made.selections.halves == 6 and not made.notes
    assert any(0 not in half(40, 0, b) for b in range(6))
    assert made.share(1, np.array([[2, 3], [0, 2], [0, 3]])) == pytest.approx([1.0, 0.0, 0.0])


# ---------------------------------------------------------------------------------------------------------------- page
def opened(data: Any = None, **settings: str) -> Page:
    page = app_pages["network"](data, {"n_lams": "5", "ratio": "0.2", "resamples": "2", **settings})
    page.on_message({"type": "ready"})
    return page


def test_the_page_says_the_edges_of_each_lam_and_their_shares_at_the_chosen_one() -> None:
    page = opened(dataset="wine", features="8", lam_ratio="0.3")
    said = finish(page)
    begin = next(m for m in said if m["type"] == "begin")
    points = [point for m in said if m["type"] == "points" for point in m["points"]]
    assert begin["p"] == 8 == len(begin["names"]) == len(begin["places"]) and len(points) == len(begin["lams"]) == 5
    problem = ss.CovarianceProblem.from_data(ss.datasets.load("wine"), correlation=True, features=8)
    Theta = ss.path(problem, n_lams=5, ratio=0.2, tol=1e-4).weights(4).toarray()
    pairs, ties, degrees, _ = graph(Theta)
    edges = points[4]["edges"]
    found = dict(zip(zip(edges[::2], edges[1::2], strict=True), points[4]["ties"], strict=True))
    assert found == {(i, j): pytest.approx(tie, abs=1e-3) for (i, j), tie in zip(pairs.tolist(), ties, strict=True)}
    assert points[4]["degrees"] == degrees.tolist() and points[0]["count"] == 0
    shares = [m for m in said if m["type"] == "shares"][-1]
    assert len(shares["shares"]) == points[shares["at"]]["count"] and shares["halves"] == 2
    page.on_message({"type": "set", "changes": {"lam_ratio": 0.2}})
    after = [m for m, _ in page.poll() if m["type"] == "shares"]
    assert after and after[-1]["at"] == 4
    page.close()


def test_a_problem_has_a_network_without_stability_and_others_are_refused_in_words() -> None:
    data = ss.datasets.load("wine")
    page = opened(ss.CovarianceProblem.from_data(data, correlation=True))
    said = finish(page)
    assert not [m for m in said if m["type"] == "shares"] and [m for m in said if m["type"] == "points"]
    page.close()
    for wrong, word in ((np.arange(5.0)[:, None], "2 features"), (np.full((5, 2), 3.0), "constant")):
        page = opened((wrong, None))
        status = [m for m in finish(page) if m["type"] == "status"][-1]
        assert word in status["error"] and not status["detail"]
        page.close()
