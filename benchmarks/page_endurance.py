"""Memory of page and server while somebody works with the explorer for an hour.

A headless Chromium changes settings by the page's own controls at an even pace: λ most of the time, then loss, penalty,
method, looks of the charts, pins, undo, steps back into the past, other data. At each ``EVERY``-th change both are
weighed: the resident memory of the server's process, and what is alive on the page after a garbage collection (the JS
heap, the memory behind its arrays, nodes, listeners). Growth is counted from the end of the first tenth, in which every
part has been used once: kernels are compiled, data sets are read.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

EVERY = 50  # changes between two weighings
WARM = 0.1  # share of the changes before growth is counted
IN_TIME = 30_000  # ms in which the page must have taken a change
ANSWERED = "() => window.__sparsescope.page.link.sentAt.size === 0"
PUT = """([id, value]) => {
  const { controls } = window.__sparsescope.page;
  const node = controls.nodes.get(id); // a kind of problem need not have every control
  if (node && !node.control.disabled) controls.put(id, value);
}"""
CHOICES = """(id) => (window.__sparsescope.page.controls.nodes.get(id)?.control.choices || [])
  .filter((choice) => !choice.disabled).map((choice) => choice.value)"""
FROM_BUTTONS = ("pin-button", "undo-button", "logx-button", "logx-button")
# One round: λ, λ, λ, then one of the others in turn.
LAMS = (0.5, 0.2, 0.1, 0.05, 0.3, 0.15)
OTHERS = ("penalty", "past", "loss", "button", "solver", "reset", "penalty", "button")
DATASETS = ("iris", "digits", "wine")
DATASET_EVERY = 100  # changes


def server_bytes(pid: int) -> int:
    """Resident memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def page_bytes(session: Any) -> dict[str, int]:
    """Count what is alive on the page after a garbage collection."""
    session.send("HeapProfiler.collectGarbage")
    usage = session.send("Runtime.getHeapUsage")
    counts = {entry["name"]: int(entry["value"]) for entry in session.send("Performance.getMetrics")["metrics"]}
    return {
        "heap": int(usage["usedSize"]),
        "arrays": int(usage.get("backingStorageSize", 0)),
        "nodes": counts["Nodes"],
        "listeners": counts["JSEventListeners"],
    }


class Person:
    """Somebody who works with the page: each call of :meth:`change` is one change, the next of a fixed round."""

    def __init__(self, page: Any) -> None:
        self.page, self.count, self._round = page, 0, 0
        self._turn: dict[str, int] = {}

    def change(self) -> None:
        """Make the next change, and wait until the page has painted what it did."""
        self.count += 1
        if self.count % DATASET_EVERY == 0:
            self._put("dataset", DATASETS)
        elif self.count % 4:
            self._put("lam_ratio", LAMS)
        else:
            self._other(OTHERS[self._round % len(OTHERS)])
            self._round += 1
        self.page.wait_for_function(ANSWERED, timeout=IN_TIME)

    def _other(self, what: str) -> None:
        if what == "button":
            button = self.page.get_by_test_id(self._next("button", FROM_BUTTONS))
            if button.is_enabled():
                button.click()
        elif what == "past":  # into the past, and back to the newest event
            for key in (",", ",", "Escape"):
                self.page.keyboard.press(key)
        elif what == "reset":
            self.page.get_by_test_id("reset-button").click()
            self.page.get_by_test_id("run-button").click()
        else:
            self._put(what, self.page.evaluate(CHOICES, what))

    def _put(self, name: str, values: Any) -> None:
        if values:
            self.page.evaluate(PUT, [name, self._next(name, values)])

    def _next(self, name: str, values: Any) -> Any:
        turn = self._turn[name] = self._turn.get(name, -1) + 1
        return values[turn % len(values)]


def endure(page: Any, pid: int, changes: int, minutes: float) -> list[dict[str, float]]:
    """Make the changes in these minutes; what was weighed on the way, oldest first."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    person, began, weighed = Person(page), time.perf_counter(), []
    for k in range(changes):
        person.change()
        time.sleep(max(0.0, began + 60 * minutes * (k + 1) / changes - time.perf_counter()))
        if (k + 1) % EVERY == 0 or k + 1 == changes:
            row = {"changes": k + 1, "minutes": (time.perf_counter() - began) / 60, "server": server_bytes(pid)}
            row |= page_bytes(session)
            weighed.append(row)
            print("  ".join(f"{name} {value:.6g}" for name, value in row.items()), flush=True)
    return weighed


def growth(weighed: list[dict[str, float]]) -> dict[str, float]:
    """Megabytes that page and server have grown by since the end of the first tenth, the largest at any time."""
    warm = next(row for row in weighed if row["changes"] >= WARM * weighed[-1]["changes"])
    later = [row for row in weighed if row["changes"] >= warm["changes"]]

    def most(*names: str) -> float:
        return max(sum(row[name] - warm[name] for name in names) for row in later) / 1e6

    return {"page grew by MB": most("heap", "arrays"), "server grew by MB": most("server")}
