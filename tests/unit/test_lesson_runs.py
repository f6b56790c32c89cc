"""Runs of lessons in another process: their pictures, what they find, errors, and students who leave."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest
from test_turns import until

from sparsescope import registry
from sparsescope.app import _lesson_job as jobs
from sparsescope.app._lesson_job import LessonJob
from sparsescope.app.lesson import LessonPage
from sparsescope.lessons.running import MOST_WAITING, ShownRun
from sparsescope.runs.processes import Helpers, process_count


def shown(start: int, stop: int, show: Any) -> int:
    """A run with a picture for each number."""
    for number in range(start, stop):
        show({"number": number})
    if stop < start:
        raise ValueError("no numbers")
    return stop


SHOWN: list[int] = []


def endless(show: Any) -> None:
    SHOWN.clear()
    try:
        while True:
            show({})
            SHOWN.append(1)
    finally:
        SHOWN.append(-1)


class Pool:
    """Does the orders here, as another process does them; ``ended`` counts jobs that were left."""

    def __init__(self, answers: Any = None) -> None:
        self.given: list[ShownRun] = []
        self.ended = 0
        self._answers = answers

    def job(self, given: ShownRun) -> Any:
        self.given.append(given)
        pool = self

        class Order(SimpleNamespace):
            def __enter__(self) -> Any:
                return self

            def __exit__(self, *_: Any) -> None:
                pool.ended += 1

            def put(self, method: str) -> None:
                self.found = getattr(given, method)()

            def get(self, _seconds: float) -> Any:
                for found in self.found:
                    return (), False, found
                return (), True, None

        return Order()


def test_a_run_shows_its_pictures_and_returns_what_it_found() -> None:
    found = [*ShownRun(shown, (2, 5), True).run()]
    assert found == [*(("shown", {"number": number}) for number in (2, 3, 4)), ("result", 5)]
    assert [*ShownRun(shown, (2, 5), False).run()] == [("result", 5)]
    for pictures in (True, False):
        with pytest.raises(ValueError, match="no numbers"):
            list(ShownRun(shown, (5, 2), pictures).run())


def test_a_run_waits_for_those_who_watch_and_ends_with_them() -> None:
    found = ShownRun(endless, (), True).run()
    assert next(found) == ("shown", {})
    until(lambda: len(SHOWN) >= MOST_WAITING)
    assert len(SHOWN) <= MOST_WAITING + 1, "pictures that nobody takes are not piled up"
    found.close()
    until(lambda: SHOWN[-1] == -1)


def test_a_lesson_follows_its_run_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool()
    monkeypatch.setattr(jobs, "RUNNERS", pool)
    monkeypatch.setattr(jobs, "FRAME", 0.0)
    done: list[Any] = []

    def work(job: LessonJob) -> None:
        done.append(job.run(shown, 0, 3, about={"of": "scene"}))
        done.append((job.news()[-1], job.run(shown, 4, 6)))
        job.run(shown, 9, 1)

    job = LessonJob(work, apart=True)
    until(lambda: not job.running)
    assert done == [3, ({"type": "frame", "of": "scene", "picture": {"number": 2}}, 6)]
    assert [message["text"] for message in job.news() if message["type"] == "error"] == ["no numbers"]
    assert [run.pictures for run in pool.given] == [True, False, False] and pool.ended == 3

    here = LessonJob(work)
    until(lambda: not here.running)
    assert done[2:] == done[:2] and len(pool.given) == 3, "a page that is alone computes by itself"


def test_who_leaves_ends_the_run_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, going = Pool(), threading.Event()
    monkeypatch.setattr(jobs, "RUNNERS", pool)

    def work(job: LessonJob) -> None:
        going.set()
        job.run(endless, about={})

    job = LessonJob(work, apart=True)
    assert going.wait(120)
    job.stop()
    until(lambda: not job.running)
    assert pool.ended == 1 and not any(message["type"] == "error" for message in job.news())


@pytest.mark.slow
def test_a_lesson_on_a_shared_server_finds_in_another_process_what_it_finds_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lesson = registry.lessons[next(iter(registry.lessons))]
    revealed = []
    for crowded in (False, True):
        monkeypatch.setattr(jobs, "RUNNERS", Helpers(1, idle_seconds=20.0))
        before = process_count()
        page = LessonPage(None, {"lesson": lesson.place})
        page.crowded = crowded
        page.on_message({"type": "ready"})
        answer = lesson.predictions[0].kind.clean(lesson.predictions[0].kind.guess())
        page.on_message({"type": "do", "action": "predict", "k": 1, "answer": answer, "sure": 2})
        told: list[Any] = []
        until(lambda page=page, told=told: told.extend(m for m, _ in page.poll()) or not page.running)
        told.extend(message for message, _ in page.poll())
        assert (process_count() > before) is crowded
        assert sum(message["type"] == "frame" for message in told) > 0
        revealed.append(next(message for message in told if message["type"] == "reveal"))
        page.close()
    assert revealed[0] == revealed[1]
