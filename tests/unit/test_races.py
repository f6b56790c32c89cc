"""Races: turns by the clock, one optimum, tables that say no more than was measured, refusals."""

from __future__ import annotations

import itertools
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest

import sparsescope as ss
from helpers import iris
from sparsescope.races import RaceRun
from sparsescope.races import run as races_run
from sparsescope.races.lanes import Lane, label


@pytest.fixture(scope="module")
def problem() -> ss.Problem:
    X, y = iris()
    return ss.Problem(X, y, loss="multiclass-squared-hinge", penalty="l1/l2", lam=0.05)


@pytest.fixture(scope="module")
def found(problem: ss.Problem) -> ss.Race:
    return ss.race(problem, ["bcd-ls", "fista-ls"], budget=2000, unit="iterations", goal=1e-7)


class Ticks:
    """A clock that goes on by one at each look."""

    def __init__(self) -> None:
        self.count = itertools.count()

    def __call__(self) -> float:
        return float(next(self.count))


@pytest.mark.parametrize("unit", ["iterations", "passes", "seconds"])
def test_the_lane_that_has_spent_least_is_the_next(problem: ss.Problem, unit: str) -> None:
    run = RaceRun(problem, ["bcd-ls", "fista-ls", "sparsa"], budget=40, unit=unit, goal=1e-300, clock=Ticks())
    looked = 0
    for _ in run:
        spent = {other: other.spent(unit) for other in run.lanes if not other.message}
        if len(spent) == len(run.lanes) and all(len(other.trace) for other in run.lanes):
            column = {"iterations": "iteration"}.get(unit, unit)
            largest = max(np.diff(other.trace[column], prepend=0.0).max() for other in run.lanes)
            assert max(spent.values()) - min(spent.values()) <= largest, "nobody is further ahead than one iteration"
            looked += 1
    assert looked > 10
    assert run.done and all(lane.message for lane in run.lanes)


def test_all_lanes_start_at_the_same_point_and_end_at_the_goal(problem: ss.Problem, found: ss.Race) -> None:
    assert found.names == ("bcd-ls", "fista-ls")
    first = {float(entry.trace["objective"][0]) for entry in found.entries}
    assert len(first) == 1
    assert all(entry.message.startswith("goal") for entry in found.entries)
    optimum = ss.solve(problem, tol=1e-9).objective
    for entry in found.entries:
        assert entry.trace["objective"][-1] - optimum <= 2e-7 * abs(optimum)
        assert entry.trace["relative_gap"][-1] >= 0, "the last point carries a certificate"
    assert found.width <= 1e-8


def test_times_are_those_of_the_first_point_within_a_level(found: ss.Race) -> None:
    table = found.times()
    assert list(table.columns) == ["1e-02", "1e-04", "1e-06"] and list(table.index) == ["bcd-ls", "fista-ls"]
    frame = found.to_frame()
    for name, row in table.iterrows():
        points = frame[frame["solver"] == name]
        for level, spent in zip((1e-2, 1e-4, 1e-6), row, strict=True):
            before = points[points["iteration"] < spent]
            assert (before["suboptimality"] > level).all()
            assert points.loc[points["iteration"] == spent, "suboptimality"].iloc[0] <= level
    assert (found.times(unit="passes").to_numpy() > 0).all()
    assert list(frame.columns[:2]) == ["solver", "seed"]


def test_a_level_that_the_optimum_is_not_known_well_enough_for_has_no_time(problem: ss.Problem) -> None:
    rough = ss.solve(problem, tol=1e-3, max_iter=100)
    reference = ss.Reference.of(rough)
    made = ss.race(problem, {"mine": "bcd-ls"}, budget=3, unit="iterations", goal=1e-12, reference=reference)
    assert made.width > 1e-7
    assert np.isnan(made.times().loc["mine", "1e-06"])
    assert not np.isnan(made.times([0.5 if made.width < 0.05 else 100.0]).to_numpy()).any()


def test_a_level_that_was_not_reached_has_no_time(problem: ss.Problem) -> None:
    made = ss.race(problem, ["fista-ls"], budget=1, unit="iterations")
    assert made.entries[0].message.startswith("budget")
    assert np.isnan(made.times().loc["fista-ls", "1e-06"])


def test_seeds_run_each_and_give_a_median_and_a_spread(problem: ss.Problem) -> None:
    solver = ss.solvers.BCD(selection="permuted")
    made = ss.race(problem, [solver, "fista-ls"], budget=500, unit="iterations", seeds=3)
    shuffled = label(solver)
    assert "permuted" in shuffled
    assert [entry.seed for entry in made.entries] == [0, 1, 2, None]
    low, high = made.spread(shuffled, 1e-4)
    assert low <= made.times().loc[shuffled, "1e-04"] <= high


def test_a_users_solver_and_settings_race_under_their_labels(problem: ss.Problem) -> None:
    made = ss.race(problem, {"short": ss.solvers.FISTA(), "long": "ista"}, budget=50, unit="iterations")
    assert made.names == ("short", "long")


def test_a_lane_that_diverges_says_so_and_the_others_go_on(problem: ss.Problem) -> None:
    class Wild(ss.solvers.ISTA):  # type: ignore[name-defined,misc]
        def step(self, problem: Any, state: Any) -> None:
            super().step(problem, state)
            state.coef *= 1e200

    wild = Wild()
    made = ss.race(problem, {"wild": wild, "bcd-ls": "bcd-ls"}, budget=2000, unit="iterations")
    ends = {entry.name: entry.message for entry in made.entries}
    assert "diverged" in ends["wild"] and ends["bcd-ls"].startswith("goal")
    assert np.isnan(made.times().loc["wild", "1e-06"])


def test_each_lane_pays_for_its_own_constants(problem: ss.Problem) -> None:
    problem.block_constants("tight")
    sibling = problem.fresh()
    assert sibling.key == problem.key and sibling.design is problem.design
    assert not sibling._data.cache and problem._data.cache


def test_the_picture_has_a_line_for_each_lane_and_its_label(found: ss.Race) -> None:
    figure = found.plot()
    assert [line.name for line in figure.data] == ["bcd-ls", "fista-ls"]
    assert sorted(note.text for note in figure.layout.annotations) == ["bcd-ls", "fista-ls"]
    for line, entry in zip(figure.data, found.entries, strict=True):
        measured = found.suboptimality(entry)
        assert np.isin(np.asarray(line.y)[np.isfinite(np.asarray(line.y, dtype=float))], measured).all()
    assert found.plot("seconds", "dark").layout.xaxis.title.text
    with pytest.raises(ValueError, match="one of iterations, passes, seconds"):
        found.plot("weeks")
    assert "<table" in found._repr_html_() and "F* = " in found._repr_html_()


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        ("bcd-ls", {}, "a list such as"),
        ([], {}, "0 solvers are entered"),
        (["bcd-ls", "bcd-ls"], {}, "entered twice"),
        (["bcd-ls"], {"unit": "hours"}, "it must be one of seconds, passes, iterations"),
        (["bcd-ls"], {"budget": 0}, "budget is 0"),
        (["bcd-ls"], {"budget": float("nan")}, "budget is nan"),
        (["bcd-ls"], {"goal": -1}, "goal is -1"),
        (["bcd-ls"], {"seeds": 0}, "seeds is 0"),
        (["quic"], {}, "quic is for"),
        (["fbpd-constrained"], {}, "."),
    ],
)
def test_what_cannot_race_is_refused_in_words(problem: ss.Problem, given: Any, options: Any, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        ss.race(problem, given, **options)


def test_a_budget_solver_and_a_sequence_are_refused() -> None:
    X, y = iris()
    hinge = ss.Problem(X, y, loss="crammer-singer", penalty="l1", lam=0.05)
    with pytest.raises(ValueError, match="another function"):
        ss.race(hinge, ["fbpd-constrained"])
    with pytest.raises(ValueError, match="no optimum to race to"):
        ss.race(ss.SequenceProblem(X, y), ["cls"])


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_lanes_side_by_side_leave_what_lanes_in_turns_leave(backend: str) -> None:
    problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    options = {"budget": 6, "unit": "iterations", "seeds": 3}
    solvers = {"sgd": ss.solvers.FOBOS(seed=4), "bcd": "bcd-ls"}
    reference = ss.reference(problem)
    turns = ss.race(problem, solvers, reference=reference, **options)
    with joblib.parallel_config(backend=backend):
        apart = ss.race(problem, solvers, reference=reference, n_jobs=2, **options)
    compare(turns, apart)


@pytest.mark.slow
def test_lanes_on_a_cluster_leave_what_lanes_in_turns_leave() -> None:
    distributed = pytest.importorskip("distributed")
    problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    options = {"budget": 6, "unit": "iterations", "seeds": 3}
    turns = ss.race(problem, ["fobos", "bcd-ls"], **options)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        apart = ss.race(problem, ["fobos", "bcd-ls"], client=client, **options)
        seen = client.run(lambda dask_worker: len(dask_worker.state.log))
    assert any(seen.values())
    compare(turns, apart)


def compare(turns: ss.Race, apart: ss.Race) -> None:
    assert [(e.name, e.seed, e.message) for e in turns.entries] == [(e.name, e.seed, e.message) for e in apart.entries]
    for one, other in zip(turns.entries, apart.entries, strict=True):
        np.testing.assert_array_equal(one.trace["objective"], other.trace["objective"])
    drop = ["seconds"]
    pd.testing.assert_frame_equal(turns.to_frame().drop(columns=drop), apart.to_frame().drop(columns=drop))


def test_lanes_elsewhere_are_asked_for_in_one_way() -> None:
    problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    for wrong in ({"n_jobs": 2, "client": object()}, {"n_jobs": 2, "looks": True}):
        with pytest.raises(ValueError, match="n_jobs"):
            ss.RaceRun(problem, ["bcd-ls"], **wrong)


def test_an_iteration_is_rehearsed_where_its_memory_can_be_kept_and_counts_for_nothing(
    problem: ss.Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    rehearsed: list[str] = []
    whole = Lane.rehearse

    def counted(lane: Lane) -> Any:
        rehearsed.append(lane.name)
        return whole(lane)

    monkeypatch.setattr(Lane, "rehearse", counted)
    run = ss.RaceRun(problem, ["bcd-ls", "fista-ls"], budget=0.05)
    run.prepare()
    assert set(rehearsed) == {"bcd-ls", "fista-ls"} and all(lane.spent("seconds") == 0.0 for lane in run.lanes)
    rehearsed.clear()
    monkeypatch.setattr(races_run, "MOST_REHEARSED", 1)  # W would be too large
    ss.RaceRun(problem, ["bcd-ls"], budget=0.05).prepare()
    assert rehearsed == []
