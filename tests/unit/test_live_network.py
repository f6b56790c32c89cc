"""The network of the features in the explorer: settings, the problem that is made, and what a page is sent of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from test_live_explorer import Page

import sparsescope as ss
from sparsescope.live import Explorer, kinds, theta
from sparsescope.live import settings as st
from sparsescope.live.packer import Block
from sparsescope.live.pages.covariances import MOST_NODES
from sparsescope.live.picture import Wish
from sparsescope.live.preparing import load, prepare
from sparsescope.runs.session_work import finish_gap
from sparsescope.views.places import places

rng = np.random.default_rng(5)
COMMON = rng.normal(size=(80, 1))
X = np.hstack([COMMON + 0.3 * rng.normal(size=(80, 4)), 2.0 * rng.normal(size=(80, 3)), np.full((80, 1), 7.0)])
Y = np.arange(80) % 3


def wish(**changes: Any) -> dict[str, Any]:
    """Settings of the task."""
    return st.clean({"dataset": "own", "task": "covariance", **changes}, ["own"])[0]


@pytest.fixture
def client() -> Iterator[Page]:
    explorer = Explorer((X, Y), {"task": "covariance", "speed": "max", "lam_ratio": 0.3}, allow_data_choice=False)
    yield Page(explorer)
    explorer.close()


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_the_features_that_vary_most_make_the_network_and_constant_ones_are_named(storage: Any) -> None:
    prepared = prepare(wish(features=5), (storage(X), Y), None)
    problem, facts = prepared.problem, prepared.facts
    assert problem.kind == "covariance" and (facts["p"], facts["all_features"]) == (5, 8)
    largest = np.sort(np.argsort(-X.var(axis=0))[:5])
    assert problem.feature_names == [f"feature {j}" for j in largest]
    np.testing.assert_allclose(problem.S, np.corrcoef(X[:, largest].T), atol=1e-12)
    assert prepared.notices == ["1 of 8 features is constant in these samples and was left out: feature 7"]
    assert prepared.test is None and prepared.lam_reference == problem.lam_max
    covariance = prepare(wish(correlation=False, diagonal=False), (storage(X), Y), None).problem
    assert covariance.d == 7 and not covariance.diagonal
    np.testing.assert_allclose(covariance.S, np.cov(X[:, :7].T, bias=True), atol=1e-12)


def test_pixels_stand_on_their_grid_and_words_by_their_correlations() -> None:
    for name, grid in (("digits", True), ("breast_cancer", False)):
        settings = st.clean({"dataset": name, "task": "covariance", "features": 20})[0]
        facts = prepare(settings, load(settings), None).facts
        assert (facts["p"], facts["grid"], len(facts["places"])) == (20, grid, 20)
        if grid:
            assert facts["feature_names"] == [f"pixel {y},{x}" for x, y in facts["places"]]


@pytest.mark.parametrize(("data", "words"), [
    (np.ones((9, 4)), "all 4 features are constant"),
    (np.column_stack([np.ones(9), np.arange(9.0)]), "these data have only one"),
    (np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]), "no two features are correlated"),
])  # fmt: skip
def test_data_without_a_network_are_refused_in_words(data: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        prepare(wish(), (data, None), None)


def test_solvers_of_the_other_task_are_replaced_and_only_those_of_this_one_are_offered() -> None:
    prepared = prepare(wish(solver="fista-ls"), (X, Y), None)
    assert prepared.settings["solver"] == "auto"
    assert "fista-ls cannot be used here: fista-ls is for predictions" in prepared.notices[-1]
    back = prepare(st.clean({"dataset": "own", "solver": "quic"}, ["own"])[0], (X, Y), None)
    assert back.settings["solver"] == "auto" and back.problem.kind == "prediction"
    assert set(kinds.of(wish()).solver_names()) == {"quic", "lhac-covariance", "auto"}
    assert not {"quic", "lhac-covariance"} & set(kinds.of(st.defaults()).solver_names())


def test_the_task_goes_through_an_address() -> None:
    chosen, notices = st.clean(
        {
            "task": "covariance",
            "features": 30,
            "diagonal": False,
            "order": "degree",
            "penalty": "elastic-net",
            "penalty.rho": 0.5,
        }
    )
    query = st.to_query(chosen)
    assert notices == [] and st.from_query(query) == (chosen, [])
    assert query["task"] == "covariance" and query["features"] == "30" and query["diagonal"] == "0"
    assert "loss" not in query and query["penalty"] == "elastic-net", "what was chosen for the other task is kept"
    assert "features" not in st.to_query(st.defaults())
    wrong, notices = st.from_query({"task": "network", "features": "1000"})
    assert (wrong["task"], wrong["features"]) == ("classes", MOST_NODES) and len(notices) == 2


def test_lambda_solver_and_diagonal_change_while_it_runs(client: Page) -> None:
    client.start()
    shown = {c["id"] for group in client.of("controls")[-1]["groups"] for c in group["controls"]}
    assert {"task", "features", "correlation", "diagonal", "lam_ratio"} <= shown
    assert not {"loss", "penalty", "intercept"} & shown
    client.send("do", action="run")
    client.until(lambda: client.last()["mode"] == "finished", "the end")
    client.applied(client.send("set", changes={"lam_ratio": 0.1}))
    client.applied(client.send("set", changes={"solver": "lhac-covariance"}))
    client.applied(client.send("set", changes={"diagonal": False}))
    assert [mark["kind"] for mark in client.marks()] == ["lam", "solver", "diagonal"]
    pictures = client.until(
        lambda: [frame["picture"] for frame in client.frames() if frame["picture"] and frame["picture"]["nonzero"] > 0],
        "a picture with edges",
    )
    assert {picture["kind"] for picture in pictures} == {"theta"}
    seen = [frame["status"] for frame in client.frames() if frame["status"]]
    assert any((status["inner_sweeps"] or 0) > 0 and status["step_flops"] > 0 for status in seen)
    assert all(status["test_accuracy"] is None for status in seen)
    session = client.explorer.session
    assert session is not None and session.wait_idle(120.0)
    client.until(lambda: client.last()["total"] == len(session.trace), "the last point")
    again = ss.solve(session.problem, "quic", tol=1e-9)
    assert client.last()["status"]["objective"] == pytest.approx(again.objective, rel=1e-7)


def test_the_other_task_and_back_keeps_the_settings_and_says_what_it_replaces(client: Page) -> None:
    client.start()
    client.applied(client.send("set", changes={"solver": "quic", "solver.sweeps": 7, "features": 6}))
    client.applied(client.send("set", changes={"task": "classes"}))
    client.until(lambda: client.of("problem")[-1]["kind"] == "prediction", "classes")
    assert client.explorer.settings["solver"] == "bcd-ls"
    assert any("quic does not apply to this task" in notice for m in client.of("notices") for notice in m["notices"])
    client.applied(client.send("set", changes={"penalty": "l1"}))
    client.applied(client.send("set", changes={"task": "covariance"}))
    client.until(lambda: client.of("problem")[-1]["kind"] == "covariance", "the network")
    settings = client.explorer.settings
    assert (settings["solver"], settings["solver.sweeps"], settings["features"]) == ("quic", 7, 6)
    assert settings["penalty"] == "l1"


@pytest.mark.parametrize("given", ["samples", "matrix"])
def test_data_without_classes_can_be_handed_over(given: str) -> None:
    problem = ss.CovarianceProblem.from_data(X[:, :7], correlation=True, lam=0.2, diagonal=False)
    explorer = Explorer((X, None) if given == "samples" else problem, {"speed": "max"})
    page = Page(explorer).start()
    controls = {c["id"]: c for group in page.of("controls")[-1]["groups"] for c in group["controls"]}
    assert {c["value"]: c["disabled"] for c in controls["task"]["choices"]} == {"classes": True, "covariance": False}
    assert controls["features"]["disabled"] == (given == "matrix")
    if given == "matrix":
        assert page.last()["lam"] == pytest.approx(0.2) and explorer.settings["diagonal"] is False
    page.send("set", changes={"task": "classes"})
    page.until(lambda: any("Showing the network" in n for m in page.of("notices") for n in m["notices"]), "a notice")
    page.until(lambda: explorer.settings["task"] == "covariance", "the task that is possible")
    explorer.close()


def test_a_matrix_that_is_too_large_for_a_page_is_refused() -> None:
    with pytest.raises(ValueError, match="1001 features, and the explorer shows at most 1000"):
        prepare(wish(), ss.CovarianceProblem(np.eye(1001)), None)


THETA = np.diag([2.0, 1.0, 4.0, 1.0, 1.0])
THETA[0, 2] = THETA[2, 0] = -1.0
THETA[2, 4] = THETA[4, 2] = 0.5
TIES = {(0, 2): 1.0 / np.sqrt(8.0), (2, 4): -0.25}


def test_the_picture_has_partial_correlations_and_a_scale_without_the_diagonal() -> None:
    shot = theta.take(THETA, Wish(sort="given", row=2, asks=(("a", 4, 2), ("b", 9, 9))))
    assert shot.scale == 1.0 and shot.cells[0, 2] == -127 and not np.diag(shot.cells).any()
    np.testing.assert_array_equal(shot.diagonal, [2, 1, 4, 1, 1])
    pairs = shot.edges.reshape(-1, 2).tolist()
    assert dict(zip(map(tuple, pairs), shot.ties.tolist(), strict=True)) == pytest.approx(TIES)
    assert pairs[0] == [0, 2], "the strongest first"
    assert shot.degrees.tolist() == [1, 0, 2, 0, 1] and (shot.nonzero, shot.components, shot.hidden) == (3, 1, 0)
    assert shot.row_classes.tolist() == [0, 4] and shot.row_values == pytest.approx([TIES[0, 2], TIES[2, 4]])
    assert shot.answers == (("a", 4, 2, 0.5, None, None),)
    block = Block()
    header = shot.header(block.add)
    assert header["kind"] == "theta" and header["shape"] == [5, 5] and header["cells"][2] == 25
    unseen = theta.take(THETA, Wish(sort="given", row=2, visible=False))
    assert unseen.cells.size == unseen.edges.size == 0 and unseen.row_classes.tolist() == [0, 4]


@pytest.mark.parametrize(("order", "rows"), [
    ("given", [0, 1, 2, 3, 4]), ("degree", [2, 0, 4, 1, 3]), ("component", [0, 2, 4, 1, 3]), ("name", [4, 3, 2, 1, 0]),
])  # fmt: skip
def test_features_stand_in_the_wished_order(order: str, rows: list[int]) -> None:
    shot = theta.take(THETA, Wish(sort=order, rank=np.arange(5)[::-1] if order == "name" else None))
    assert shot.rows.tolist() == rows
    at = rows.index(0), rows.index(2)
    assert shot.cells[at] == shot.cells[at[::-1]] == -127
    assert (shot.parts is not None) == (order == "component")


def test_a_large_picture_is_put_together_and_only_the_strongest_edges_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theta, "MAX_EDGES", 7)
    large = np.eye(100) + np.triu(np.full((100, 100), -0.001), 1) + np.tril(np.full((100, 100), -0.001), -1)
    large[50, 90] = large[90, 50] = -0.5
    shot = theta.take(large, Wish(rows=20, columns=30, sort="given"))
    assert shot.cells.shape == (20, 20) and shot.binned == 5.0 and shot.cells[10, 18] == -127
    assert shot.edges[:2].tolist() == [50, 90] and shot.ties.size == 7 and shot.hidden == 4950 - 7
    assert shot.degrees.tolist() == [99] * 100


def test_places_are_always_the_same_apart_and_near_where_features_are_tied() -> None:
    S = np.corrcoef(X[:, :7].T)
    at = places(S)
    np.testing.assert_array_equal(at, places(S.copy()))
    gaps = np.linalg.norm(at[:, None] - at, axis=2)
    assert np.abs(at).max() <= 1.0 + 1e-12 and gaps[np.triu_indices(7, 1)].min() > 0.3
    assert gaps[:4, :4].max() < gaps[:4, 4:].max(), "the first four share a cause"
    for odd in (np.eye(4), np.ones((5, 5)), np.eye(1), np.array([[1.0, 0.2], [0.2, 1.0]]), np.zeros((3, 3))):
        assert np.isfinite(places(odd)).all() and places(odd).shape == (len(odd), 2)


@pytest.mark.parametrize("solver", ["quic", "lhac-covariance"])
def test_a_run_ends_when_its_gap_does(solver: str) -> None:
    problem = ss.CovarianceProblem.from_data(X[:, :7], lam=0.1)
    with ss.Session(problem, solver) as session:
        session.play()
        assert session.wait_idle(120.0)
        gaps = session.trace["relative_gap"]
        known = gaps[np.isfinite(gaps)]
        assert session.status().mode == "finished" and known[-1] <= finish_gap() and np.isfinite(gaps[-1])
        assert (known[:-1] > finish_gap()).all(), "no iteration after the gap was closed"
