"""Starting the explorer's server and a headless Chromium, for the measurements that need a screen."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
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
    """``sparsescope explore`` on a free port, as a context; ``seconds`` is the time to its first answer."""

    def __init__(self, environment: dict[str, str] | None = None, *arguments: str) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.port = port
        self.url = f"http://localhost:{port}/"
        self._command = [
            sys.executable,
            "-m",
            "sparsescope",
            "explore",
            "--port",
            str(port),
            "--no-browser",
            *arguments,
        ]
        self._environment = environment
        # A file: a pipe that nobody reads would stop the server.
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self.seconds = float("nan")

    def __enter__(self) -> Explorer:
        began = time.perf_counter()
        self.process = subprocess.Popen(
            self._command, env=self._environment, stdout=subprocess.DEVNULL, stderr=self._errors, text=True
        )
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
        """What the server has written to its standard error so far."""
        self._errors.seek(0)
        return self._errors.read()

    def __exit__(self, *_: Any) -> None:
        self.process.terminate()
        self.process.wait(60)  # a long step of the solver ends first
        self._errors.close()


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
