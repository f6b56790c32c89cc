"""Times at which frames are due, with the test's clock."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sparsescope.live.beat import FRAME_PERIOD, LATE_LOOP, LEAST, SLOWEST_PERIOD, Beat
from sparsescope.live.explorer import LOOK_AGAIN, Explorer
from sparsescope.live.stage import EARLY, LEAD
from waiting import Clock

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 6))
Y = (X[:, 0] > 0).astype(int)


def sent_in(seconds: float, lateness: float) -> int:
    """Frames of a shell that comes a little too late to each of them."""
    clock = Clock()
    beat = Beat(clock)
    frames, end = 0, clock.now + seconds
    while clock.now < end:
        clock.now += beat.wait() + lateness
        assert beat.wait() == 0
        beat.sent()
        frames += 1
    return frames


@pytest.mark.parametrize("lateness", [0.0, 0.004, 0.4 * FRAME_PERIOD])
def test_frames_that_go_out_late_do_not_move_the_beat(lateness: float) -> None:
    assert sent_in(10.0, lateness) == pytest.approx(10.0 / FRAME_PERIOD, abs=2)


def test_frames_never_follow_each_other_closely() -> None:
    clock = Clock()
    beat = Beat(clock)
    beat.sent()
    clock.now += 20 * FRAME_PERIOD  # nothing was there to show
    for _ in range(5):
        beat.sent()
        assert beat.wait() >= LEAST * FRAME_PERIOD - 1e-9
        clock.now += beat.wait()
    beat.sent()
    beat.sent()  # at once: somebody waited for an answer
    assert beat.wait() == pytest.approx(FRAME_PERIOD)


def test_a_page_that_is_alone_is_not_slowed_by_the_few_milliseconds_that_its_own_solver_costs() -> None:
    beat = Beat(Clock())
    beat.lateness = 0.005
    assert beat.period == FRAME_PERIOD and not beat.late
    beat.crowded = True
    assert beat.period > FRAME_PERIOD
    beat.crowded, beat.lateness = False, 2 * LATE_LOOP
    assert beat.period > FRAME_PERIOD and beat.late
    beat.lateness = 10.0
    assert beat.period == SLOWEST_PERIOD


def test_a_page_is_looked_at_when_a_picture_is_to_be_asked_for_and_when_a_frame_is_due() -> None:
    clock = Clock()
    explorer = Explorer((X, Y), allow_data_choice=False, clock=clock)
    try:
        assert explorer.soon() == math.inf, "nothing to look for before the page is ready"
        explorer.on_message({"type": "ready"})
        director = explorer._director
        assert director._jobs.wait(120.0)
        director.look()
        stage = director.stage
        assert stage is not None
        explorer._link.spend()
        explorer._beat.sent()
        explorer._beat.sent()
        wait = FRAME_PERIOD - stage.lead
        assert stage.lead == EARLY and explorer.soon() == pytest.approx(wait)
        clock.now += wait
        assert explorer.soon() == pytest.approx(stage.lead)
        stage._answer_took = 10.0
        assert stage.lead == LEAD, "a slow step does not make the pictures old"
        stage._answer_took = 0.0
        clock.now += FRAME_PERIOD
        assert explorer.soon() == math.inf, "due, and nothing to wait for"
        stage._pending, stage._asked_at, stage._shot = True, clock.now, None
        assert explorer.soon() == LOOK_AGAIN, "its picture is on its way"
        explorer._link.spend()
        assert explorer.soon() == math.inf, "a page that draws two frames gets no third"
    finally:
        explorer.close()


def test_pictures_are_made_for_frames_that_can_be_sent(monkeypatch: Any) -> None:
    clock = Clock()
    explorer = Explorer((X, Y), {"speed": "max"}, allow_data_choice=False, clock=clock)
    asked: list[float] = []
    try:
        explorer.on_message({"type": "ready"})
        assert explorer._director._jobs.wait(120.0)
        explorer.poll()
        assert explorer.session is not None and explorer.session.wait_idle(120.0)
        for _ in range(3):
            explorer.poll()
            clock.now += 1.0
        request = explorer.session.request
        monkeypatch.setattr(explorer.session, "request", lambda make: (asked.append(clock.now), request(make)))
        explorer._link.give(2)
        explorer._link.spend()
        explorer._link.spend()
        for _ in range(5):
            clock.now += 0.1
            explorer.session.step(1)
            assert explorer.session.wait_idle(120.0)
            explorer.poll()
        assert not asked, "no frame can be sent, so nobody would see the picture"
        explorer.on_message({"type": "credit", "n": 2})
        explorer.poll()
        assert len(asked) == 1
    finally:
        explorer.close()
