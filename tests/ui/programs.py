"""Programs in the background, on free ports."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# Only turn an endless wait into a failure.
START_SECONDS = 240
FIXED_PORTS = range(20_000, 30_000)  # below those that systems give to connections that go out
STOP_SECONDS = 120


def free_port() -> int:
    """Return a port that is free now and that no connection is given later, for programs that are started again."""
    for _ in range(100):
        port = random.choice(FIXED_PORTS)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind(("localhost", port))
                return port
    raise AssertionError(f"no port of {FIXED_PORTS} is free")


class Program:
    """A program in the background whose output is read all the time (a full pipe would stop it)."""

    def __init__(self, *command: str, **options: Any) -> None:
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", **options
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)

    def wait_for(self, pattern: str) -> str:
        """The first match of a pattern in the output; fails with the output when the program ends or is too slow."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            found = re.search(pattern, "".join(self.lines))
            if found:
                return found.group(0)
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"{pattern!r} did not appear in:\n{''.join(self.lines)}")

    def wait_open(self, address: str) -> str:
        """The address, once something listens there: a program may print it before it does."""
        parts = urlsplit(address)
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection((parts.hostname or "localhost", parts.port or 80), timeout=1).close()
                return address
            except OSError:
                time.sleep(0.05)
        raise AssertionError(f"nobody listens at {address}:\n{''.join(self.lines)}")

    def stop(self) -> int:
        """End the program; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


def start_class(*arguments: str) -> tuple[Program, str]:
    """`sparsescope serve --class` for this machine only, and the teacher's secret link."""
    command = (sys.executable, "-m", "sparsescope", "serve", "--class", "--address", "localhost")
    program = Program(*command, *arguments, env=dict(os.environ))
    return program, program.wait_for(r"(?<=teacher only: )http://localhost:\d+/\S+")


def start_explorer(*arguments: str, script: str = "", **variables: str) -> tuple[Program, str]:
    """`sparsescope explore` on a free port (or a script of this folder that stands in for it), and its address.

    variables: for the program's environment.
    """
    command = [str(Path(__file__).with_name(script))] if script else ["-m", "sparsescope"]
    program = Program(
        sys.executable, *command, "explore", "--no-browser", "--port", "0", *arguments, env={**os.environ, **variables}
    )
    return program, program.wait_for(r"http://localhost:\d+/")
