"""Nothing lost: interrupted runs, checkpoints, traces on full disks, processes killed at any moment, quiet pipes."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nursery import kill_at_work

import sparsescope as ss
from sparsescope import cli
from sparsescope.jit import store
from sparsescope.runs.keeping import Checkpoints, Interrupted, Interrupts, check_writable, file_of
from sparsescope.runs.trace import Recorder, Trace

# So slow a method on so ill-conditioned a problem that it never meets a rule that would end it.
ENDLESS = ("solve", "digits", "--solver", "ista", "--lam-ratio", "0.0001", "--tol", "1e-15", "--max-iter", "100000000")


def interrupt_at(iteration: int, times: int = 1) -> Any:
    """A callback that presses Ctrl-C."""

    def press(event: Any) -> None:
        if event.iteration == iteration:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)

    return press


# --------------------------------------------------------------------------------------------------------- interrupts
@pytest.fixture(autouse=True)
def plain_handler() -> Iterator[None]:
    """Python's own handler: a server that another test started in this process may have left its own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupted_solve_hands_over_what_it_has(problem: ss.Problem) -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(Interrupted, match="interrupted after 3 iterations") as caught:
        ss.solve(problem, "ista", tol=0.0, max_iter=50, callbacks=[interrupt_at(3)])
    result = caught.value.result
    assert isinstance(caught.value, KeyboardInterrupt)
    assert (result.converged, result.iterations, len(result.trace)) == (False, 3, 4)
    assert "interrupted" in result.message
    same = ss.solve(problem, "ista", tol=0.0, max_iter=3)
    np.testing.assert_array_equal(result.W, same.W)
    assert result.objective == same.objective, "the weights and the certificate belong together"
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_interrupt_ends_at_once(problem: ss.Problem) -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        ss.solve(problem, "ista", tol=0.0, max_iter=50, callbacks=[interrupt_at(3, times=2)])
    assert not isinstance(caught.value, Interrupted)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_ways_to_handle_interrupts_are_left_alone(problem: ss.Problem) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        result = ss.solve(problem, "ista", tol=0.0, max_iter=5, callbacks=[interrupt_at(3)])
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [1] and result.iterations == 5
    found: list[bool] = []

    def inside() -> None:
        with Interrupts() as interrupts:  # in a thread, where signals cannot be set
            found.append(interrupts.seen)

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join(60)
    assert found == [False]


# --------------------------------------------------------------------------------------------------------------- files
def recorded(problem: ss.Problem, iterations: int = 5) -> Trace:
    recorder = Recorder()
    ss.solve(problem, "ista", tol=0.0, max_iter=iterations, callbacks=[recorder], record=False)
    return recorder.trace


@pytest.mark.parametrize("step", ["open", "replace"])
def test_a_full_disk_leaves_the_older_trace(
    step: str, problem: ss.Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = recorded(problem, 3).save(tmp_path / "run.npz")
    longer = recorded(problem, 6)

    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(store.os, step, fail)
        with pytest.raises(OSError, match=r"run\.npz could not be written \(No space left.*is as it was"):
            longer.save(file)
    assert len(Trace.load(file)) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]
    longer.save(file)
    assert len(Trace.load(file)) == 7


def test_a_full_disk_leaves_the_older_path(
    problem: ss.Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = ss.path(problem, n_lams=2, ratio=0.5).save(tmp_path / "path")
    longer = ss.path(problem, n_lams=3, ratio=0.5)
    with monkeypatch.context() as patched:
        patched.setattr(store.os, "replace", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left")))
        with pytest.raises(OSError, match=r"path\.npz could not be written"):
            longer.save(file)
    assert len(ss.Path.load(file)) == 2


def test_a_trace_keeps_the_mode_of_its_file_and_follows_links(problem: ss.Problem, tmp_path: Path) -> None:
    trace, real = recorded(problem), tmp_path / "real.npz"
    trace.save(real)
    assert real.stat().st_mode & 0o600 == 0o600
    real.chmod(0o640)
    link = tmp_path / "link.npz"
    link.symlink_to(real)
    assert trace.save(link) == real and link.is_symlink() and real.stat().st_mode & 0o777 == 0o640
    assert file_of("a/b") == Path("a/b.npz")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("nowhere/run.npz", "there is no such folder"),
        ("here.npz", "is a folder"),
        ("file/run.npz", "cannot be written"),
    ],
)
def test_a_place_that_cannot_be_written_is_found_before_the_fit(
    place: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "here.npz").mkdir()
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match=words):
        check_writable(tmp_path / place)
    monkeypatch.setattr(ss.datasets, "load", lambda *_: pytest.fail("the data were read first"))
    assert cli.main(["solve", "iris", "--save", str(tmp_path / place)]) == cli.FAILED
    assert words in capsys.readouterr().err


def test_solve_says_the_name_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["solve", "iris", "--max-iter", "2", "--save", str(tmp_path / "run")]) == cli.UNCERTIFIED
    assert f"trace: {tmp_path / 'run.npz'}" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.npz"]


def test_checkpoints_come_every_few_seconds_and_cost_little(problem: ss.Problem, tmp_path: Path) -> None:
    now, cost, saved = [0.0], 0.0, []
    recorder = Recorder()
    points = Checkpoints(recorder.trace, tmp_path / "run.npz", every=5.0, clock=lambda: now[0])
    save = recorder.trace.save

    def slow(path: Path) -> Path:
        now[0] += cost
        saved.append((now[0], len(recorder.trace)))
        return save(path)

    recorder.trace.save = slow  # type: ignore[method-assign]

    def tick(event: Any) -> None:
        now[0] += 1.0

    ss.solve(problem, "ista", tol=0.0, max_iter=20, callbacks=[tick, recorder, points], record=False)
    assert [at for at, _ in saved] == [5.0, 10.0, 15.0, 20.0]
    assert [size for _, size in saved] == [5, 10, 15, 20], "each holds all events until then"
    assert len(Trace.load(tmp_path / "run.npz")) == 20
    cost, now[0], saved[:] = 2.0, 0.0, []
    points = Checkpoints(recorder.trace, tmp_path / "run.npz", every=5.0, clock=lambda: now[0])
    ss.solve(problem, "ista", tol=0.0, max_iter=60, callbacks=[tick, points], record=False)
    assert len(saved) == 2, "writing that takes 2 s comes every 40 s"


# ------------------------------------------------------------------------------------------------------- the command
def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "sparsescope", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def after_line(process: subprocess.Popen[str], text: str) -> None:
    """Read until a line with this text."""
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return
    raise AssertionError(f"no line with {text!r}; the end: {process.communicate()}")


def test_ctrl_c_saves_and_exits_130(tmp_path: Path) -> None:
    process = start(*ENDLESS, "--save", str(tmp_path / "run"))
    after_line(process, "iteration")
    after_line(process, " 5 ")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == cli.INTERRUPTED, errors
    assert "interrupted after" in output and f"trace: {tmp_path / 'run.npz'}" in output
    assert "Traceback" not in errors
    assert len(Trace.load(tmp_path / "run.npz")) > 5


# As `python -m sparsescope`, and says when it begins: what Python does before that can be interrupted too.
BEGUN = """
import sys
from sparsescope.__main__ import start
print("begun", flush=True)
sys.exit(start())
"""


def interrupt_somewhere(folder: Path, wait: float, number: int) -> tuple[int, str]:
    """Send a signal to a `solve --save` after a time; exit code and errors. A trace that is there can be read."""
    command = [sys.executable, "-c", BEGUN, *ENDLESS, "--save", str(folder / "run")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    after_line(process, "begun")
    time.sleep(wait)
    for _ in range(12):  # the compiler can lose an interrupt: whoever waits presses the keys again
        process.send_signal(number)
        try:
            _, errors = process.communicate(timeout=10)
            break
        except subprocess.TimeoutExpired:
            continue
    else:
        process.kill()
        raise AssertionError("the process does not end")
    if (folder / "run.npz").exists():
        assert len(Trace.load(folder / "run.npz")) > 0
    return process.returncode, errors


# While it still imports or compiles; that it iterates is waited for above, and at a later time here it mostly does.
@pytest.mark.parametrize("wait", [1.0, *(pytest.param(wait, marks=pytest.mark.slow) for wait in (2.0, 4.0))])
def test_ctrl_c_at_any_time_leaves_no_traceback(wait: float, tmp_path: Path) -> None:
    code, errors = interrupt_somewhere(tmp_path, wait, signal.SIGINT)
    # Where the signal itself ends the process shells show 130 too.
    assert code in (cli.INTERRUPTED, -signal.SIGINT) and "Traceback" not in errors, errors


CALLED_FROM_C = """
import ctypes, time
from sparsescope.__main__ import heed_interrupts
def interrupted():
    raise KeyboardInterrupt
def wrong():
    raise ValueError("something else")
heed_interrupts()
ctypes.CFUNCTYPE(None)(wrong)()
try:
    ctypes.CFUNCTYPE(None)(interrupted)()
    time.sleep(300)
except KeyboardInterrupt:
    print("heard")
"""


def test_ctrl_c_within_a_function_called_from_c_is_not_lost() -> None:
    done = subprocess.run([sys.executable, "-c", CALLED_FROM_C], capture_output=True, text=True, timeout=120)
    assert done.stdout == "heard\n" and "KeyboardInterrupt" not in done.stderr
    assert "ValueError: something else" in done.stderr, "other errors are told as ever"


WRITER = """
import sys
import numpy as np, sparsescope as ss
from sparsescope.runs.trace import Recorder
rng = np.random.default_rng(0)
recorder = Recorder()
problem = ss.Problem(rng.standard_normal((60, 40)), np.arange(60) % 3, lam=0.01)
ss.solve(problem, "ista", tol=0.0, max_iter=5, callbacks=[recorder], record=False)
def work():
    recorder.trace.save(sys.argv[2])
"""


def kill_while_saving(folder: Path, times: int, seed: int = 0) -> None:
    """Kill a process that does nothing but save at random moments: the file always holds the whole trace."""
    draw = random.Random(seed)
    file = folder / "run.npz"

    def wait(_: int) -> None:
        end = time.monotonic() + 60
        while not file.exists() and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(draw.random() * 0.2)

    def check() -> None:
        assert len(Trace.load(file)) == 6

    kill_at_work(WRITER, file, times, wait, check)


def test_a_process_killed_while_it_saves_leaves_a_whole_trace(tmp_path: Path) -> None:
    kill_while_saving(tmp_path, 3)


@pytest.mark.parametrize("command", ["datasets", "--help", "solve digits --max-iter 30"])
def test_whoever_reads_the_output_may_stop(command: str) -> None:
    line = f"set -o pipefail; {sys.executable} -u -m sparsescope {command} | head -n 1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.count("\n") == 1


@pytest.mark.parametrize("arguments", [["solve"], ["explore", "--no-browser", "--data"], ["paper", "1", "--data"]])
@pytest.mark.parametrize("data", ["nowhere", "damaged.npz", "empty.csv", "."])
def test_wrong_data_have_one_exit_code(
    arguments: list[str], data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "damaged.npz").write_bytes(b"PK\x03\x04 damaged")
    (tmp_path / "empty.csv").write_text("")
    assert cli.main([*arguments, data]) == cli.FAILED
    error = capsys.readouterr().err
    assert error.startswith(f"sparsescope {arguments[0]}: ") and error.count("\n") == 1
