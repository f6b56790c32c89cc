"""Processes for long computations: what is found, errors, sudden ends, cancelling, and the end of the parent."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helper_cases import Cases

from sparsescope.runs.parts import through
from sparsescope.runs.processes import HelperError, Helpers, Job
from waiting import LONG, until


def is_gone(pid: int) -> bool:
    """Return whether a process has ended; one that nobody has asked for its status yet has ended too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):  # it may go between opening and reading
        return True


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")


@pytest.fixture(scope="module")
def helpers() -> Helpers:
    return Helpers(1)


def answers(job: Job) -> Iterator[Any]:
    while job.left:
        answer = job.get(LONG)
        assert answer is not None
        yield answer


def test_orders_are_done_and_what_they_find_comes_as_it_is_found(helpers: Helpers) -> None:
    assert [a for a in through(Cases("a"), "count", 3, helpers=helpers) if a] == [
        (0, True, None),
        (1, False, ("a", 0)),
        (1, True, None),
        (2, False, ("a", 0)),
        (2, False, ("a", 1)),
        (2, True, None),
    ]
    here = [a for a in through(Cases("a"), "count", 3) if a]
    assert here == [a for a in through(Cases("a"), "count", 3, helpers=helpers) if a], "the same as without processes"


def test_orders_of_two_jobs_are_done_in_turn(helpers: Helpers) -> None:
    first, second = helpers.job(Cases("first")), helpers.job(Cases("second"))
    assert first is not None and second is not None
    with first, second:
        for k in range(3):
            first.put("count", k)
            second.put("count", k)
        until(lambda: first._answers.qsize() + second._answers.qsize() == 2 * (3 + 3))
        assert {a[2][0] for a in answers(first) if a[2]} == {"first"}
        assert {a[2][0] for a in answers(second) if a[2]} == {"second"}
    assert helpers.count == 1


def test_errors_reach_whoever_asked_and_the_process_goes_on(helpers: Helpers) -> None:
    job = helpers.job(Cases("a"))
    assert job is not None
    with job:
        job.put("fail", 4, ValueError)
        with pytest.raises(ValueError, match=r"^no 4$"):
            list(answers(job))
        job.put("fail", 5, KeyError)
        with pytest.raises(HelperError, match="KeyError: 'no 5'") as caught:
            list(answers(job))
        assert "helper_cases.py" in "".join(traceback.format_exception(caught.value)), "where it happened"
        job.put("count", 1)
        assert job.get(LONG) == ((1,), False, ("a", 0))


@needs_proc
def test_a_process_that_ends_abruptly_is_named_and_the_next_order_has_another_one(helpers: Helpers) -> None:
    job = helpers.job(Cases("a"))
    assert job is not None
    with job:
        job.put("die", 2)
        with pytest.raises(HelperError, match=r"the process that worked on die 3 ended abruptly \(status -9"):
            list(answers(job))
        job.put("count", 1)
        assert job.get(LONG) == ((1,), False, ("a", 0))


@needs_proc
def test_cancelling_ends_what_is_under_way_and_what_waits(helpers: Helpers) -> None:
    job, other = helpers.job(Cases("a")), helpers.job(Cases("b"))
    assert job is not None and other is not None
    with job:
        job.put("go_on_for_ever", 0)
        job.put("go_on_for_ever", 1)
        found = job.get(LONG)
        assert found is not None
        pid = found[2]
        assert not is_gone(pid)
    until(lambda: is_gone(pid))
    with other:
        other.put("count", 1)
        assert other.get(LONG) == ((1,), False, ("b", 0)), "nothing of the cancelled job was in the way"


def test_what_cannot_go_to_another_process_is_done_here(helpers: Helpers) -> None:
    here = Cases("a")
    here.name = lambda: 5  # type: ignore[assignment,return-value]
    assert helpers.job(here) is None
    assert [a[0] for a in through(here, "count", 2, helpers=helpers) if a] == [0, 1, 1]


def test_a_process_without_orders_ends_after_a_while() -> None:
    helpers = Helpers(1, idle_seconds=0.0)
    assert [a for a in through(Cases("a"), "count", 1, helpers=helpers) if a] == [(0, True, None)]
    until(lambda: helpers.count == 0)


@needs_proc
def test_a_process_ends_with_its_parent() -> None:
    code = (
        "import sys, time\n"
        "from helper_cases import Cases\n"
        "from sparsescope.runs.processes import Helpers\n"
        "job = Helpers(1).job(Cases('a'))\n"
        "job.put('go_on_for_ever', 0)\n"
        "print(job.get(100)[2], flush=True)\n"
        "time.sleep(1000)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert not is_gone(pid)
        parent.kill()
    until(lambda: is_gone(pid))
