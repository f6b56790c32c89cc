"""The race page beyond its lines: accuracy, what an iteration's time goes into, and solvers of a user."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

import sparsescope as ss
from sparsescope.app import race
from sparsescope.races.lanes import PRODUCTS, PYTHON
from sparsescope.registry import app_pages, solvers
from sparsescope.solvers.base import settings
from waiting import Said, told_until

SETTINGS = {"dataset": "iris", "unit": "iterations", "budget": "40", "lane3": "none", "lane4": "none"}


def told_by(**changed: Any) -> list[dict[str, Any]]:
    """Everything a race says until its table."""
    page = app_pages["race"](None, {**SETTINGS, **changed})
    page.on_message({"type": "ready"})

    def has_table(said: Said) -> bool:
        wrong = [m["error"] for m in said if m["type"] == "status" and m["error"]]
        assert not wrong, wrong
        return any(m["type"] == "table" for m in said)

    with closing(page):
        return told_until(page, has_table)


def table_of(**changed: Any) -> dict[str, Any]:
    """The table of a race that has ended."""
    return next(m for m in told_by(**changed) if m["type"] == "table")


def test_the_accuracy_of_a_lane_is_measured_over_time_beside_its_clock() -> None:
    said = told_by(lane1="ista", lane2="bcd-ls")
    parts = [part for m in said if m["type"] == "points" for part in m["lanes"] if part["name"] == "ista"]
    looks = {key: [x for part in parts for x in part["looks"][key]] for key in ("iterations", "accuracy")}
    assert looks["iterations"][:6] == [0, 1, 2, 3, 4, 5] and 40 in looks["iterations"]
    assert len(looks["iterations"]) < 20, "at ever fewer iterations"
    data = ss.datasets.load("iris")
    problem, (X, y) = ss.Problem(data, lam_ratio=0.1), data.test
    for iteration in (1, 5, 40):
        W = ss.solve(problem, "ista", tol=0, max_iter=iteration).W
        measured = looks["accuracy"][looks["iterations"].index(iteration)]
        assert measured == pytest.approx(float((problem.predict(W, X=X) == y).mean()), abs=1e-4)


def test_points_keep_a_pace_and_all_have_come_when_the_race_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race, "POINTS_PERIOD", 1e9)
    said = told_by(lane1="ista", lane2="bcd-ls")
    points = [m["lanes"] for m in said if m["type"] == "points"]
    assert len(points) <= 2, "what was there at first, and the rest at the end"
    objectives = {
        name: [x for lanes in points for part in lanes if part["name"] == name for x in part["objective"]]
        for name in ("ista", "bcd-ls")
    }
    found = ss.race(ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1), list(objectives), unit="iterations", budget=40)
    for entry in found.entries:
        assert objectives[entry.name] == pytest.approx(list(entry.trace["objective"]), rel=1e-9)


def test_a_lane_ends_with_its_accuracy_on_held_out_samples() -> None:
    found = {row["name"]: row for row in table_of()["rows"]}
    data = ss.datasets.load("iris")
    problem = ss.Problem(data, lam_ratio=0.1)
    for name in ("bcd-ls", "fista-ls"):
        W = ss.solve(problem, name, tol=0, max_iter=40).W
        X, y = data.test
        assert found[name]["iteration_ms"] > 0
        assert found[name]["accuracy"] == pytest.approx(float((problem.predict(W, X=X) == y).mean()), abs=1e-3)


def test_the_parts_of_an_iteration_add_up_and_name_the_kernels() -> None:
    parts = table_of(dataset="digits", lane1="ista", lane2="bcd-ls", budget="20")["parts"]
    assert set(parts) == {"ista", "bcd-ls"}
    for name, found in parts.items():
        shares = [share for _, share in found]
        assert sum(shares) == pytest.approx(1.0, abs=0.02), name
        assert shares[:-1] == sorted(shares[:-1], reverse=True)
    assert PRODUCTS in dict(parts["ista"]), "ISTA reads the data twice an iteration"
    assert any("sweep" in part for part, _ in parts["bcd-ls"]), "BCD is one kernel"
    assert PYTHON in dict(parts["ista"])


@pytest.fixture
def own_solver() -> Iterator[str]:
    """A solver that a notebook cell registers."""

    @settings
    class Timid(ss.solvers.ISTA):  # type: ignore[name-defined, misc]
        """ISTA with half the safe step."""

        step_length: float = ss.field(0.5, 0.1, 1.0, "step in units of 1/K")

    solvers.add("timid", Timid, title="Timid")
    yield "timid"
    del solvers._entries["timid"]


def test_a_solver_of_ones_own_races_on_equal_terms(own_solver: str) -> None:
    page = app_pages["race"]()
    menu = next(c for g in page.controls() for c in g["controls"] if c["id"] == "lane1")
    assert own_solver in [choice["value"] for choice in menu["choices"]]
    page.close()
    rows = {row["name"]: row for row in table_of(lane1=own_solver, lane2="ista", budget="30")["rows"]}
    assert set(rows) == {own_solver, "ista"}
    problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    expected = ss.race(problem, [solvers.create(own_solver), "ista"], unit="iterations", budget=30).times()
    reached = [None if value != value else value for value in expected.loc[own_solver]]
    assert rows[own_solver]["times"] == reached
    assert "did you mean" in app_pages["race"](None, {"lane1": "timd"}).notices[0]
