"""A real server, a real browser: the system's Chromium through Playwright, and programs started on free ports."""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from explorer_page import PATIENT_MS, ExplorerPage, Network
from playwright.sync_api import Browser, BrowserContext, BrowserType, Page, expect
from playwright.sync_api import Error as PlaywrightError
from programs import start_explorer

from sparsescope.cli import BROWSERS

# A browser that sends no requests unasked: the tests record every request.
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Profile:
    """A browser's profile, and what pages have stored in it.

    Its first tab stays, so that the browser does.
    """

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.tab = context.pages[0]
        self.origins: set[str] = set()
        context.on("page", lambda page: page.on("framenavigated", lambda frame: self._note(frame.url)))

    def _note(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https"):
            self.origins.add(f"{parts.scheme}://{parts.netloc}")

    def forget(self) -> None:
        """Close all pages and forget what they stored, but not the files they fetched."""
        for page in self.context.pages:
            if page != self.tab:
                page.close()
        self.context.set_offline(False)
        self.context.clear_cookies()
        tools = self.context.new_cdp_session(self.tab)
        kinds = "cookies,local_storage,indexeddb,websql,service_workers,cache_storage,file_systems"
        for origin in self.origins:
            tools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": kinds})
        tools.detach()
        self.origins.clear()


def chromium() -> str | None:
    """Path of the browser, or None."""
    named = os.environ.get("SPARSESCOPE_CHROMIUM")
    return named or next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Overrides pytest-playwright's: the system's browser instead of one that Playwright would have to download."""
    path = chromium()
    if path is None:
        words = "no Chromium found: apt-get install chromium, or set SPARSESCOPE_CHROMIUM to a browser's path"
        if os.environ.get("SPARSESCOPE_REQUIRE_BROWSER"):
            pytest.fail(words)
        pytest.skip(words)
    return {**browser_type_launch_args, "executable_path": path, "args": list(QUIET)}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """A usual screen, and leave to write to the clipboard."""
    return {
        **browser_context_args,
        "viewport": {"width": 1440, "height": 900},
        "permissions": ["clipboard-read", "clipboard-write"],
    }


expect.set_options(timeout=PATIENT_MS)


@pytest.fixture(scope="session")
def profile(
    browser_type: BrowserType,
    browser_type_launch_args: dict[str, Any],
    browser_context_args: dict[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Profile]:
    """One browser with a profile on disk for all tests: it compiles scripts, half of what a page costs, once."""
    folder = tmp_path_factory.mktemp("profile")
    made = browser_type.launch_persistent_context(folder, **browser_type_launch_args, **browser_context_args)
    made.set_default_timeout(PATIENT_MS)  # a limit that no busy machine reaches
    yield Profile(made)
    made.close()


@pytest.fixture
def context(profile: Profile) -> Iterator[BrowserContext]:
    """Overrides pytest-playwright's: the profile, which knows nothing of the tests before."""
    yield profile.context
    profile.forget()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Add to the report of a test that failed what its pages showed and what they complained of."""
    report = yield
    named = getattr(item, "funcargs", {})
    if call.when == "call" and report.failed and "context" in named:
        for page in named["context"].pages[1:]:
            try:
                said = page.locator("body").aria_snapshot(timeout=5_000)
                said += str(page.evaluate("() => JSON.stringify(window.__sparsescope?.status)"))
            except PlaywrightError as error:  # a page that is gone has nothing to show
                said = str(error)
            report.sections.append((f"page {page.url}", said))
    if report.failed and "explorer" in named:
        report.sections.append(("errors on the page", "\n".join(named["explorer"].errors)))
    return report


@pytest.fixture
def newcomer(browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[Page]:
    """A page in a browser that keeps nothing and has never been here: every file is fetched."""
    context = browser.new_context(**browser_context_args)
    context.set_default_timeout(PATIENT_MS)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Address of one server for all tests; at the end it must have ended cleanly and without a traceback."""
    program, address = start_explorer("--linger", "1")  # a closed page takes no more of the machine
    yield address
    assert program.stop() == 0
    said = "".join(program.lines)
    assert "Traceback" not in said, said


@pytest.fixture(scope="session")
def counted(server: str) -> Iterator[Any]:
    """The server behind an address of the measurements that counts every byte on its way to the browser."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "benchmarks"))
        kind = importlib.import_module("counted").Counted
    with kind(int(urlsplit(server).port or 0)) as way:
        yield way


@pytest.fixture
def explorer(page: Page, server: str) -> ExplorerPage:
    """A page of the server, not yet opened."""
    return ExplorerPage(page, server)


@pytest.fixture
def network(page: Page) -> Iterator[Network]:
    """Everything the page asks for, at the end of the test too nothing from outside."""
    made = Network(page)
    yield made
    assert not made.outside, made.outside
