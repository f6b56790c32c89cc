"""Starting the explorer's server and a headless Chromium, for the measurements that need a screen."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DRAWN = "() => window.__sparsescope && window.__sparsescope.received > 0"
SETTLED = "() => { const { body } = window.__sparsescope.page; return !body.settled || body.settled() }"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Explorer:
    """``sparsescope explore`` on a free port, as a context; ``seconds`` is the time to its first answer.

    With ``keep`` it is ``sparsescope serve --class`` for this machine only, kept in this file, which may be entered
    again after it was left: at the same port, with the same links. ``core``: the only one that the server may use.
    """

    def __init__(
        self, environment: dict[str, str] | None = None, *arguments: str, keep: str = "", core: int | None = None
    ) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.port = port
        self.url = f"http://localhost:{port}/"
        kind = ("serve", "--class", "--address", "localhost", "--keep", keep) if keep else ("explore", "--no-browser")
        self._command = [sys.executable, "-m", "sparsescope", *kind, "--port", str(port), *arguments]
        self._environment, self._core = environment, core
        # A file: a pipe that nobody reads would stop the server.
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self._said = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self.seconds = float("nan")

    def __enter__(self) -> Explorer:
        began = time.perf_counter()
        self.process = subprocess.Popen(
            self._command, env=self._environment, stdout=self._said, stderr=self._errors, text=True
        )
        if self._core is not None:
            os.sched_setaffinity(self.process.pid, {self._core})  # its threads and processes inherit that
        while True:
            if self.process.poll() is not None:
                raise RuntimeError(f"the explorer ended at once:\n{self.log()}")
            try:
                with urllib.request.urlopen(self.url, timeout=2) as answer:
                    answer.read(1)
                break
            except OSError:
                if time.perf_counter() - began > 60:
                    raise
                time.sleep(0.02)
        self.seconds = time.perf_counter() - began
        return self

    def log(self) -> str:
        """Return what the server has written to its standard error so far."""
        self._errors.seek(0)
        return self._errors.read()

    @property
    def teacher(self) -> str:
        """The secret link of the teacher's board."""
        self._said.seek(0)
        return re.findall(r"(?<=teacher only: )http://\S+", self._said.read())[-1]

    def stop(self) -> None:
        """End the server; what it has written stays, and it may be entered again."""
        self.process.terminate()
        self.process.wait(60)  # a long step of the solver ends first

    def __exit__(self, *_: Any) -> None:
        self.stop()
        self._errors.close()
        self._said.close()


@contextmanager
def a_class() -> Iterator[Explorer]:
    """The server of a class of which nothing is kept."""
    with tempfile.TemporaryDirectory() as folder, Explorer(keep=str(Path(folder) / "class.sqlite")) as server:
        yield server


@contextmanager
def browser(width: int = 1440, height: int = 1500) -> Iterator[Any]:
    """A page of the system's Chromium."""
    from playwright.sync_api import sync_playwright

    path = next((found for name in CHROMIUM if (found := shutil.which(name))), None)
    if path is None:
        raise SystemExit("No Chromium on this machine; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            page = chromium.new_page(viewport={"width": width, "height": height})
            page.set_default_timeout(60_000)
            yield page
        finally:
            chromium.close()


def moves(page: Any, times: int, rest: float) -> list[float]:
    """Milliseconds from moving λ to the first painted frame that carries the change, with seconds of rest between."""
    slider = page.locator("[data-testid=lam-slider]")
    low, high = float(slider.get_attribute("min")), float(slider.get_attribute("max"))
    before = len(page.evaluate("() => window.__sparsescope.latencies"))
    for k in range(times):
        slider.evaluate(
            "(s, v) => { s.value = v; s.dispatchEvent(new Event('input', {bubbles: true})); }",
            str(low + (high - low) * (0.45 + 0.1 * (k % 2))),
        )
        page.wait_for_function(f"() => window.__sparsescope.latencies.length > {before + k}")
        time.sleep(rest)
    return [float(v) for v in page.evaluate("() => window.__sparsescope.latencies")[before:]]
