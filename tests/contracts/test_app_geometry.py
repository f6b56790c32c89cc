"""The geometry page: contours of F itself with its vertices, iterates as solvers make them, and messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from sparsescope.app.planes import scene as scenes
from sparsescope.app.planes import worker
from sparsescope.app.planes.contours import Contours
from sparsescope.app.planes.scene import CURVES, Scene, full_problem
from sparsescope.registry import app_pages, penalties
from sparsescope.runs.turns import Turns
from waiting import Said, told_until, until

FEW = 6  # contours in the tests: their vertices take nearly all of a page's time


@pytest.fixture(autouse=True)
def few_contours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenes, "CURVES", FEW)


def settings(**changed: Any) -> dict[str, Any]:
    return {**app_pages["geometry"]().settings, "dataset": "iris", **changed}


def scene_of(**changed: Any) -> Scene:
    chosen = settings(**changed)
    return Scene(full_problem(ss.datasets.load(chosen["dataset"]), chosen), chosen)


def shown(page: Any) -> dict[str, dict[str, Any]]:
    """The newest message of each type once the page is at rest."""

    def newest(said: Said) -> dict[str, dict[str, Any]]:
        return {message["type"]: message for message in said}

    def at_rest(said: Said) -> bool:
        last = newest(said)
        status = last.get("status", {"error": "", "text": "not yet"})
        return bool(status["error"]) or (not status["text"] and last["paths"]["done"])

    return newest(told_until(page, at_rest))


def asked(page: Any, **changes: Any) -> dict[str, dict[str, Any]]:
    page.on_message({"type": "set", "changes": changes})
    return shown(page)


def test_the_plane_waits_for_the_turns_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = Turns(clock=lambda: 0.0)
    monkeypatch.setattr(worker, "TURNS", turns)
    other = turns.place()
    assert other.take()  # and, by this clock, never for long
    page = app_pages["geometry"](None, {"dataset": "iris", "iterations": "30"})
    page.on_message({"type": "ready"})
    until(lambda: turns.waiting)
    assert turns.waiting == 1 and not [header for header, _ in page.poll() if header["type"] in ("scene", "paths")]
    other.give_back()
    assert shown(page)["paths"]["done"]
    until(lambda: not turns._holders)  # the last message is said before the turn is given back
    page.close()


@pytest.mark.parametrize("count", [FEW, pytest.param(CURVES, marks=pytest.mark.slow)])
@pytest.mark.parametrize("plane", ["two features", "two weights"])
@pytest.mark.parametrize("penalty", list(penalties))
def test_every_vertex_is_on_the_contour_of_the_composite_objective(
    plane: str, penalty: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scenes, "CURVES", count)
    scene = scene_of(plane=plane, penalty=penalty, feature2=2, feature1=2 if plane == "two weights" else 3)
    x, y, half = scene.window((scene.unit, -scene.unit))
    drawn = scene.drawing((x, y, half), lambda: True)
    assert drawn is not None and len(drawn["contours"]) > 5
    for curve in drawn["contours"][:: count // 3]:
        assert len(curve["points"]) >= 24
        inside = np.abs(curve["points"] - (x, y)).max(axis=1) <= half
        for a, b in curve["points"][inside][::5]:
            assert scene.problem.objective(scene.plane.weights(a, b)) == pytest.approx(curve["level"], rel=1e-6)


def test_kinks_are_vertices_and_smooth_penalties_have_none() -> None:
    for penalty, kinks in (("l1", 2), ("elastic-net", 2), ("ridge", 0)):
        scene = scene_of(penalty=penalty)
        assert len(scene.plane.kinks(scene.unit)) == kinks, penalty
    scene = scene_of(penalty="l1")
    lines = scene.plane.kinks(scene.unit)
    reach = 4.0 * scene.unit
    level = scene.plane.value(0.0, 0.5 * scene.unit)
    points = Contours(scene.plane.value, scene.centre, reach, 1e-3, lines).at(level)
    assert np.abs(points - (0.0, 0.5 * scene.unit)).max(axis=1).min() < 1e-7, "the crossing with an axis is a vertex"


def test_a_row_of_l1_linf_has_its_kinks_where_two_weights_are_equally_large_and_only_there() -> None:
    scene = scene_of(plane="two weights", penalty="l1/linf", feature1=2, feature2=2)
    other = abs(scene.plane.base[2, 2])
    assert other > 0
    for line in scene.plane.kinks(scene.unit):
        (p, q), (u, v) = line
        for low, high in scene.plane.segments(line, -2.0, 2.0, scene.unit):
            for t in (low + 1e-3, 0.5 * (low + high), high - 1e-3):
                sizes = sorted([abs(p + t * u), abs(q + t * v), other])
                assert sizes[2] - sizes[1] < 1e-3, "the two largest of the row are equal"


def test_chords_stay_near_the_contour_of_a_loss_with_kinks() -> None:
    scene = scene_of(loss="crammer-singer", class1=1, class2=2)
    tolerance = 2e-3 * scene.unit
    contours = Contours(scene.plane.value, scene.centre, 6.0 * scene.unit, tolerance, scene.plane.kinks(scene.unit))
    level = 1.3 * scene.plane.value(*scene.centre)
    points = contours.at(level)
    for (x1, y1), (x2, y2) in zip(points, np.roll(points, -1, axis=0), strict=True):
        angle = np.arctan2(0.5 * (y1 + y2) - scene.centre[1], 0.5 * (x1 + x2) - scene.centre[0])
        length = np.hypot(0.5 * (x1 + x2) - scene.centre[0], 0.5 * (y1 + y2) - scene.centre[1])
        assert contours._radius(float(angle), level) - length < 4.0 * tolerance


def test_the_optimum_of_the_plane_is_the_certified_one_or_smallest_on_the_slice() -> None:
    whole = scene_of()
    assert whole.exact and whole.plane.value(*whole.centre) == pytest.approx(whole.reference.objective, rel=1e-8)
    slice_ = scene_of(plane="two weights", hold="zero", feature1=2, feature2=2, class1=0, class2=2)
    least = slice_.plane.value(*slice_.centre)
    assert not slice_.exact and least > slice_.reference.objective
    around = [
        slice_.plane.value(slice_.centre[0] + a, slice_.centre[1] + b) for a in (-0.01, 0.01) for b in (-0.01, 0.01)
    ]
    assert least <= min(around)
    assert "slice" in slice_.sentence() and "zero" in slice_.sentence()


def test_dots_are_the_iterates_of_the_solvers() -> None:
    page = app_pages["geometry"](None, settings(iterations="12", lane3="none", lane4="none"))
    page.on_message({"type": "ready"})
    said = shown(page)
    scene = page._worker.scene
    for path in said["paths"]["paths"]:
        run = ss.Run(scene.problem, path["name"], W=scene.plane.weights(*said["paths"]["start"]))
        events = [run.advance()]
        points = [scene.plane.coordinates(run.state.weights())[:2]]
        for _ in range(12):
            events.append(run.advance())
            points.append(scene.plane.coordinates(run.state.weights())[:2])
        assert np.reshape(path["points"], (-1, 2)) == pytest.approx(np.array(points), rel=1e-4, abs=1e-6)
        assert path["objective"] == pytest.approx([event.objective for event in events], rel=1e-6)
    assert said["scene"]["exact"] and not any(path["projected"] for path in said["paths"]["paths"])
    page.close()


def test_a_dragged_start_steps_and_momentum_are_followed() -> None:
    page = app_pages["geometry"](
        None, settings(loss="squared", penalty="ridge", iterations="40", lane3="none", lane4="none")
    )
    page.on_message({"type": "ready"})
    shown(page)
    moved = asked(page, start1=0.5, start2=-0.25)
    unit = page._worker._given.unit
    assert moved["paths"]["start"] == pytest.approx([0.5 * unit, -0.25 * unit], rel=1e-5)
    safe = {path["name"]: path["objective"] for path in moved["paths"]["paths"]}
    assert np.all(np.diff(safe["ista"]) <= 1e-12)
    wild = asked(page, step_length=4.0, lane1="ista")
    values = next(path for path in wild["paths"]["paths"] if path["name"] == "ista")["objective"]
    assert values[-1] > values[0], "beyond 2/K of a quadratic nothing converges"
    assert wild["paths"]["model"]["radius"] == pytest.approx(4.0 * moved["paths"]["model"]["radius"], rel=1e-4)
    still = asked(page, step_length=1.0, momentum=0.0)
    found = {path["name"]: path["objective"] for path in still["paths"]["paths"]}
    assert found["fista-cst"] == pytest.approx(found["ista"], rel=1e-6), "without momentum FISTA is ISTA"
    page.close()


def test_other_units_are_noticed_by_gradient_steps_and_not_by_coordinate_ones_and_turning_the_other_way_round() -> None:
    common = {"dataset": "wine", "loss": "squared", "penalty": "ridge", "lam_ratio": "1e-6", "iterations": "120"}
    lanes = {"lane3": "bcd-ls", "lane4": "gls", "start1": "0.7", "start2": "0.4"}
    page = app_pages["geometry"](None, settings(**common, **lanes, stretch="5"))
    page.on_message({"type": "ready"})

    def reached(said: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        return {path["name"]: (path["reached"][1], path["given"][1]) for path in said["paths"]["paths"]}

    units = reached(shown(page))
    assert units["bcd-ls"][0] == units["bcd-ls"][1] and units["gls"] == (1, 1)
    assert units["ista"][0] > units["ista"][1]
    turned = reached(asked(page, stretch=1.0, turn=40.0))
    assert turned["ista"][0] == turned["ista"][1] and turned["gls"] == (1, 1)
    assert turned["bcd-ls"][0] != turned["bcd-ls"][1]
    page.close()


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"feature1": "1", "feature2": "1"}, "the same"),
        ({"feature1": "99"}, "0 to 3"),
        ({"class2": "0"}, "same one"),
        ({"class2": "7"}, "0 to 2"),
        ({"dataset": "planted-tags"}, "label sets"),
        pytest.param({"dataset": "planted-extreme", "plane": "two weights"}, "too many", marks=pytest.mark.slow),
    ],
)
def test_planes_that_cannot_be_are_refused_in_words(wrong: dict[str, str], words: str) -> None:
    page = app_pages["geometry"](None, settings(**wrong))
    page.on_message({"type": "ready"})
    status = shown(page)["status"]
    assert words in status["error"] and not status["detail"]
    back = asked(page, dataset="iris", plane="two features", feature1=-1, feature2=-1, class2=1)
    assert back["paths"]["done"] and not back["status"]["error"]
    page.close()


def test_a_slice_of_too_many_scores_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small data set above a lower limit: making one above the limit takes seconds."""
    monkeypatch.setattr(scenes, "MOST_SCORES", 13_469)  # digits have 1347 samples and 10 classes
    test_planes_that_cannot_be_are_refused_in_words({"dataset": "digits", "plane": "two weights"}, "too many")


def test_a_page_that_is_shown_again_gets_plane_and_iterates_again() -> None:
    page = app_pages["geometry"](None, settings(lane4="none"))
    page.on_message({"type": "ready"})
    first = shown(page)
    page.on_message({"type": "ready"})
    again = shown(page)
    assert again["scene"] == first["scene"] and again["paths"] == first["paths"]
    page.close()
