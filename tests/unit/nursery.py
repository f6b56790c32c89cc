"""Fresh processes that need not load numba, or a server, each for itself.

A process loads what the package is built on, and nothing of the package; each question is then answered by a copy of
this process. Such a copy has to import and to find the package as any new process does, and takes a second or three
less for it. All copies have the same seed of hashes and the same addresses: where these matter, start a process.
Processes that are killed at their work are such copies, too.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

PROGRAM = """
import json, os, sys, traceback
assert not any(name.partition(".")[0] == "sparsescope" for name in sys.modules), "the package is not loaded beforehand"
for line in sys.stdin:
    code, folder, environment, out, err = json.loads(line)
    child = os.fork()
    if child == 0:
        for number, name in ((1, out), (2, err)):
            os.dup2(os.open(name, os.O_WRONLY | os.O_TRUNC), number)
        os.environ.update(environment)
        os.chdir(folder)
        sys.path[1:1] = environment["PYTHONPATH"].split(os.pathsep)  # after the folder itself, as in a new process
        status = 0
        try:
            exec(compile(code, "<string>", "exec"), globals())
        except BaseException:
            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Answer(NamedTuple):
    """Outcome of a copy, with the names of `subprocess.run`."""

    returncode: int
    stdout: str
    stderr: str


class Nursery:
    """A process that is copied for each question."""

    def __init__(self, process: subprocess.Popen[str], notes: Path) -> None:
        self.process, self.notes = process, notes

    def run(self, code: str, folder: Path, path: str, **environment: str) -> Answer:
        """Run code in a copy, in a folder and with a PYTHONPATH."""
        out, err = self.notes / "out", self.notes / "err"
        for file in (out, err):
            file.write_text("")
        asked: list[Any] = [code, str(folder), {**environment, "PYTHONPATH": path}, str(out), str(err)]
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        status = self.process.stdout.readline()
        assert status, "the process that is copied has ended"
        return Answer(int(status), out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"))


@contextmanager
def nursery(loads: str) -> Iterator[Nursery]:
    """A nursery whose process has run this code, which imports what the package is built on."""
    variables = {key: value for key, value in os.environ.items() if key not in ("NUMBA_CACHE_DIR", "PYTHONPATH")}
    with (
        tempfile.TemporaryDirectory() as notes,
        subprocess.Popen(
            [sys.executable, "-c", loads + PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=variables,
        ) as process,
    ):
        yield Nursery(process, Path(notes))
        assert process.stdin is not None
        process.stdin.close()


AT_WORK = """
import os, sys
for _ in range(int(sys.argv[1])):
    first, child = os.getpid(), os.fork()
    while not child and os.getppid() == first:
        work()
    if not child:
        os._exit(1)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def kill_at_work(program: str, place: Path, times: int, wait: Callable[[int], None], check: Callable[[], None]) -> None:
    """Kill processes that do nothing but call their function `work`, one after the other.

    program: defines `work` and finds the place in `sys.argv[2]` · wait: lets the process of this number work for a
    while · check: is called when one has been killed
    """
    command = [sys.executable, "-c", program + AT_WORK, str(times), str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            for number in range(times):
                working = int(process.stdout.readline())
                wait(number)
                os.kill(working, signal.SIGKILL)
                assert int(process.stdout.readline()) == -signal.SIGKILL, "it ended otherwise"
                check()
        except BaseException:
            process.kill()
            raise
    assert process.returncode == 0
