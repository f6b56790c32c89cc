"""Jobs of one page: the newest wish runs at once, and what was overtaken leaves no trace."""

from __future__ import annotations

import threading

from sparsescope.live.jobs import MOST, Jobs

SOON = 60.0


def test_the_newest_wish_does_not_wait_for_the_one_before() -> None:
    jobs, gate = Jobs(), threading.Event()
    older, newest = threading.Event(), threading.Event()
    jobs.start(lambda: older.set() or gate.wait(SOON))
    assert older.wait(SOON)
    jobs.start(lambda: newest.set() or "new")
    assert newest.wait(SOON), "the newest job runs while the older one is still at work"
    gate.set()
    assert jobs.wait(SOON)
    outcome = jobs.collect()
    assert outcome is not None and outcome.value == "new"
    assert jobs.collect() is None and not jobs.busy


def test_beyond_the_most_jobs_the_newest_waits_and_those_between_are_left_out() -> None:
    jobs, gate = Jobs(), threading.Event()
    begun: list[int] = []
    for k in range(MOST):
        at_work = threading.Event()
        jobs.start(lambda k=k, at_work=at_work: begun.append(k) or at_work.set() or gate.wait(SOON))  # type: ignore[misc]
        assert at_work.wait(SOON)
    for k in range(MOST, MOST + 3):
        jobs.start(lambda k=k: begun.append(k) or k)  # type: ignore[misc]
    gate.set()
    assert jobs.wait(SOON)
    outcome = jobs.collect()
    assert outcome is not None and outcome.value == MOST + 2
    assert sorted(begun) == [*range(MOST), MOST + 2]


def test_a_job_that_was_called_off_has_no_result() -> None:
    jobs, gate = Jobs(), threading.Event()
    at_work = threading.Event()
    jobs.start(lambda: at_work.set() or gate.wait(SOON))
    assert at_work.wait(SOON)
    jobs.cancel()
    gate.set()
    assert jobs.wait(SOON)
    assert jobs.collect() is None
