"""Actions of a person on the explorer's page, and what they see."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlparse

import axe_playwright_python
from playwright.sync_api import Locator, Page, Request, expect

# Only turns an endless wait into a failure: a busy machine compiles kernels for a minute. Every wait has this limit,
# also those of Playwright (conftest.py), so no test says how long anything takes.
PATIENT_MS = 240_000
LOCAL = {"localhost", "127.0.0.1"}
# A run that is far from its end whenever a test pauses it, however long the pause takes to come.
UNHURRIED = {"dataset": "digits", "solver": "ista", "lam_ratio": 0.001, "speed": 60}

# Moves a range input as a hand does: the value, then the events of moving and of letting go.
MOVE_SLIDER = """(slider, share) => {
  const low = Number(slider.min), high = Number(slider.max)
  const value = low + share * (high - low)
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(slider, value)
  slider.dispatchEvent(new Event("input", {bubbles: true}))
  slider.dispatchEvent(new Event("change", {bubbles: true}))
}"""


# Panel's own shell: its progress bar has no name, its page title is an empty heading, and the layer of its tooltips is
# in no landmark. Everything else is ours.
PANELS = ("MuiLinearProgress", "MuiTypography", "data-pmui-layer")


def findings(page: Page) -> list[str]:
    """Findings of axe-core on a page as it is now, without Panel's own shell."""
    page.evaluate(Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate(
        "async () => (await axe.run(document, {resultTypes: ['violations']})).violations.flatMap("
        "(rule) => rule.nodes.map((node) => `${rule.id}: ${node.html}`))"
    )
    return [text for text in found if not any(name in text for name in PANELS)]


class Network:
    """The requests of a page that leave this machine."""

    def __init__(self, page: Page) -> None:
        self.all: list[str] = []
        page.on("request", self._note)
        page.on("websocket", lambda socket: self.all.append(socket.url))

    def _note(self, request: Request) -> None:
        self.all.append(request.url)

    @property
    def outside(self) -> list[str]:
        """Addresses on other machines."""
        return [
            url
            for url in self.all
            if urlparse(url).scheme in ("http", "https", "ws", "wss") and urlparse(url).hostname not in LOCAL
        ]


class ExplorerPage:
    """The explorer in a browser. Locators find elements inside shadow roots as well."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)

    def open(self, **settings: Any) -> ExplorerPage:
        """Load the page and wait until the problem is there."""
        query = "?" + urlencode(settings) if settings else ""
        self.page.goto(self.address + query)
        self.wait_ready()
        return self

    def wait_ready(self) -> None:
        """Until data and problem are loaded: λ_max is known and the session waits for a command."""
        self.page.wait_for_function(
            "() => window.__sparsescope && window.__sparsescope.lam !== null"
            " && ['idle', 'paused'].includes(window.__sparsescope.status.mode)"
        )

    def part(self, testid: str) -> Locator:
        """An element by its test id."""
        return self.page.get_by_test_id(testid)

    def click(self, testid: str) -> None:
        """Click an element."""
        self.part(testid).click()

    def debug(self, name: str) -> Any:
        """A value of the page's debug object."""
        return self.page.evaluate(f"window.__sparsescope.{name}")

    def wait(self, condition: str, argument: Any = None) -> None:
        """Until a condition on the debug object `s` (and an argument `x`) holds."""
        self.page.wait_for_function(f"(x) => {{ const s = window.__sparsescope; return {condition} }}", arg=argument)

    def run(self) -> None:
        """Press Run and wait for points."""
        before = self.debug("points")
        self.click("run-button")
        self.wait("s.points > x + 3", before)

    def pause(self) -> None:
        """Press Pause and wait until the solver rests and the page shows where."""
        self.click("pause-button")
        self.wait("s.status.mode === 'paused'")
        self.expect_iteration(self.debug("status.iteration"))

    def expect_iteration(self, number: int) -> None:
        """The status line shows this iteration."""
        expect(self.part("status-iteration")).to_have_attribute("data-value", str(number))

    def point(self, at: Locator, x: float, y: float, shows: Locator) -> None:
        """Point at a place (shares of the width and height) until something is shown there."""
        at.scroll_into_view_if_needed()
        end = time.monotonic() + PATIENT_MS / 1000
        while not shows.is_visible():
            assert time.monotonic() < end, f"pointing there did not show {shows}"
            box = at.bounding_box()
            assert box is not None
            self.page.mouse.move(box["x"] + x * box["width"] - 1, box["y"] + y * box["height"])
            self.page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
            self.page.wait_for_timeout(100)

    def choose(self, testid: str, value: str) -> None:
        """Choose in a select."""
        self.part(testid).select_option(value)

    def slide(self, testid: str, share: float) -> None:
        """Move a slider to a share of its length."""
        self.part(testid).evaluate(MOVE_SLIDER, share)

    def number(self, testid: str) -> float:
        """The plain number behind a text of the page."""
        return float(self.part(testid).get_attribute("data-value") or "nan")

    def query(self) -> dict[str, str]:
        """The settings in the address bar."""
        return {key: values[-1] for key, values in parse_qs(urlparse(self.page.url).query).items()}

    def expect_mode(self, mode: str) -> None:
        """The status line says this mode."""
        expect(self.part("mode")).to_have_attribute("data-mode", mode)
