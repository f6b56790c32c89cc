"""`/health` and `/metrics`: how a server fares, for people and for Prometheus. Both stand behind the gate."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tornado.web import RequestHandler

from ..runs.processes import process_count
from ..runs.turns import TURNS
from ..runs.worker import NAME
from ..version import __version__
from .page import Site

LATE = 0.25  # seconds of mean lateness beyond which the server does not call itself well

# name in /metrics, key in /health, what it is
METRICS = (
    ("sparsescope_sessions", "sessions", "Pages with an explorer"),
    ("sparsescope_sessions_limit", "places", "Explorers allowed at a time, 0 without a limit"),
    ("sparsescope_workers", "workers", "Threads of sessions"),
    ("sparsescope_workers_waiting", "waiting", "Workers that wait for a turn"),
    ("sparsescope_helper_processes", "helpers", "Processes for long computations"),
    ("sparsescope_loop_lateness_seconds", "lateness", "Mean delay of the event loop"),
    ("sparsescope_loop_lateness_worst_seconds", "worst_lateness", "Worst delay of the last seconds"),
    ("sparsescope_memory_bytes", "memory_bytes", "Resident memory of the process"),
    ("sparsescope_cpu_seconds_total", "cpu_seconds", "Processor time of the process"),
    ("sparsescope_uptime_seconds", "uptime_seconds", "Time since the server began"),
)


def memory() -> int | None:
    """Resident memory of this process in bytes, or the most that it has been; ``None`` where no module reports it."""
    file = Path("/proc/self/statm")
    if file.exists():
        return int(file.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def facts(site: Site, began: float) -> dict[str, Any]:
    """Return the present facts about the server."""
    return {
        "status": "ok" if site.lateness.mean < LATE else "late",
        "version": __version__,
        "sessions": site.explorers,
        "places": site.max_sessions,
        "workers": sum(thread.name == NAME for thread in threading.enumerate()),
        "waiting": TURNS.waiting,
        "helpers": process_count(),
        "lateness": site.lateness.mean,
        "worst_lateness": site.lateness.worst,
        "memory_bytes": memory(),
        "cpu_seconds": time.process_time(),
        "uptime_seconds": time.monotonic() - began,
    }


def as_metrics(found: dict[str, Any]) -> str:
    """The facts in Prometheus' text format."""
    lines = []
    for name, key, words in METRICS:
        if found[key] is None:
            continue
        kind = "counter" if name.endswith("_total") else "gauge"
        lines += [f"# HELP {name} {words}.", f"# TYPE {name} {kind}", f"{name} {found[key]:g}"]
    return "\n".join(lines) + "\n"


class _Told(RequestHandler):
    def initialize(self, site: Site, began: float) -> None:
        self.site, self.began = site, began

    def prepare(self) -> None:
        self.set_header("Cache-Control", "no-store")


class HealthHandler(_Told):
    """`/health`: JSON; status 503 while the server is late."""

    def get(self) -> None:
        """Answer."""
        found = facts(self.site, self.began)
        self.set_status(200 if found["status"] == "ok" else 503)
        self.finish(found)


class MetricsHandler(_Told):
    """`/metrics`: the same numbers for Prometheus."""

    def get(self) -> None:
        """Answer."""
        self.set_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.finish(as_metrics(facts(self.site, self.began)))


def patterns(site: Site) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """Routes for the server."""
    given = {"site": site, "began": time.monotonic()}
    return [(r"/health", HealthHandler, given), (r"/metrics", MetricsHandler, given)]
