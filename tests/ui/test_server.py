"""The server behind the pages: places, ends of sessions, `panel serve`, own data by path."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
from explorer_page import UNHURRIED, ExplorerPage
from playwright.sync_api import BrowserContext, BrowserType, Page, expect
from programs import Program, start_explorer

ROOT = Path(__file__).resolve().parents[2]
LEFT_SECONDS = 120  # only turns an endless wait into a failure


def eventually(condition: Callable[[], bool], what: str) -> None:
    """Wait until a condition (a function) holds."""
    end = time.monotonic() + LEFT_SECONDS
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.25)
    raise AssertionError(f"{what} within {LEFT_SECONDS} s")


def workers(program: Program) -> int | None:
    """Return the number of workers that `counting_server.py` printed; None before it printed one."""
    said = re.findall(r"workers: (\d+)\n", "".join(program.lines))
    return int(said[-1]) if said else None


def gets_a_place(page: Page, address: str) -> bool:
    """Return whether the page, loaded now, shows the explorer and not the refusal."""
    page.goto(address)
    root, refusal = page.get_by_test_id("explorer-root"), page.get_by_text("places are taken")
    expect(root.or_(refusal).first).to_be_visible()
    return root.count() > 0


def test_a_file_is_explored_by_its_path_on_a_server_that_says_when_it_is_full(
    context: BrowserContext, tmp_path: Path
) -> None:
    rows = [f"{i % 7},{i % 5},{(i * i) % 11},{'even' if i % 2 == 0 else 'odd'}" for i in range(60)]
    file = tmp_path / "mine.csv"
    file.write_text("a,b,c,label\n" + "\n".join(rows) + "\n")
    program, address = start_explorer("--data", str(file), "--max-sessions", "1", "--linger", "1")
    try:
        first = ExplorerPage(context.new_page(), address).open()
        expect(first.part("dataset-summary")).to_contain_text("m 2")
        first.run()
        second = context.new_page()
        second.goto(address)
        expect(second.get_by_text("All 1 places are taken")).to_be_visible()
        first.page.close()
        eventually(lambda: gets_a_place(second, address), "the place of a closed page is free again")
    finally:
        program.stop()


def test_a_foreign_name_and_a_missing_token_open_nothing(
    browser_type: BrowserType, browser_type_launch_args: dict[str, Any]
) -> None:
    """DNS rebinding, as a browser sees it: a foreign name that leads to this machine."""
    program, address = start_explorer("--token", "right")
    port = urlparse(address).port
    rules = "--host-resolver-rules=MAP evil.example 127.0.0.1"
    options = {**browser_type_launch_args, "args": [*browser_type_launch_args["args"], rules]}
    browser = browser_type.launch(**options)
    try:
        page = browser.new_page()
        for foreign in (f"http://evil.example:{port}/", f"http://evil.example:{port}/?token=right"):
            answer = page.goto(foreign)
            assert answer is not None and answer.status == 403
            expect(page.get_by_text("does not go by the name")).to_be_visible()
        for socket in (f"ws://localhost:{port}/ws", f"ws://evil.example:{port}/ws"):
            opened = page.evaluate(
                """(address) => new Promise((done) => {
              const socket = new WebSocket(address, ["bokeh", "x"])
              socket.onopen = () => done(true)
              socket.onerror = () => done(false)
            })""",
                socket,
            )
            assert opened is False
        answer = page.goto(f"http://localhost:{port}/?dataset=iris")
        assert answer is not None and answer.status == 403
        page.get_by_label("Token").fill("right")
        page.get_by_role("button", name="Open").click()
        ExplorerPage(page, address).wait_ready()
        assert "token" not in page.url
        ExplorerPage(page, address).open(dataset="iris")
    finally:
        browser.close()
        program.stop()


def test_closing_a_page_ends_its_worker(context: BrowserContext) -> None:
    program, address = start_explorer("--linger", "1", script="counting_server.py")
    try:
        explorer = ExplorerPage(context.new_page(), address).open(**UNHURRIED)
        explorer.run()
        eventually(lambda: workers(program) == 1, "the worker runs")
        explorer.page.close()
        eventually(lambda: workers(program) == 0, "the worker is gone")
    finally:
        assert program.stop() == 0


@pytest.mark.slow
def test_with_an_empty_cache_the_page_says_what_is_compiled(page: Page, tmp_path: Path) -> None:
    program, address = start_explorer(SPARSESCOPE_CACHE=str(tmp_path))
    try:
        explorer = ExplorerPage(page, address)
        page.goto(address + "?dataset=iris")
        expect(explorer.part("explorer-root")).to_be_visible()
        explorer.expect_mode("compiling")
        expect(explorer.part("explorer-root")).to_contain_text("compiling the kernels of bcd-ls")
        explorer.wait_ready()
        explorer.run()
    finally:
        program.stop()


def test_a_page_loaded_again_in_mid_run_keeps_its_run_until_the_server_is_lost(page: Page) -> None:
    program, address = start_explorer("--linger", "60")
    try:
        explorer = ExplorerPage(page, address).open(**UNHURRIED)
        explorer.run()
        explorer.wait("s.status.iteration > 20")
        before, points = explorer.debug("status.iteration"), explorer.debug("points")
        page.reload()
        explorer.wait("s && s.status.iteration > x", before)
        explorer.wait("s.points > x", points)  # the whole past is there again
        explorer.wait("s.status.mode === 'running'")
        program.process.kill()
        veil = page.get_by_test_id("connection-lost")
        expect(veil).to_be_visible()
        assert re.search(r"is lost\. The pictures are those of iteration \d", veil.inner_text())
    finally:
        program.process.kill()


def test_panel_serves_all_pages_whose_links_lead_there_and_which_keep_their_address(page: Page) -> None:
    files = [str(path) for path in sorted((ROOT / "apps").glob("*.py"))]
    program = Program(sys.executable, "-m", "panel", "serve", *files, "--port", "0")
    try:
        address = program.wait_for(r"http://localhost:\d+/prox")
        page.goto(address + "?tau=0.5")
        page.wait_for_function("() => window.__sparsescope && window.__sparsescope.received > 0")
        for title, path in (("Geometry", "geometry"), ("Prox", "prox"), ("Data", "data")):
            page.get_by_role("link", name=title, exact=True).click()
            page.wait_for_url(f"**/{path}*")
            page.wait_for_function("() => window.__sparsescope && window.__sparsescope.received > 0")
        expect(page.get_by_role("link", name="Explorer", exact=True)).to_have_attribute("href", "./explorer")
        page.get_by_test_id("data-to-explorer").click()  # not the one at the root, where Panel lists its files
        page.wait_for_url("**/explorer?dataset=*")
        ExplorerPage(page, address).wait_ready()
        explorer = ExplorerPage(page, address.replace("/prox", "/explorer")).open(dataset="iris", lam_ratio=0.25)
        assert explorer.debug("settings.lam_ratio") == 0.25
        explorer.run()
        explorer.slide("lam-slider", 0.5)
        page.wait_for_url("**/explorer?**lam_ratio=0.01*")
    finally:
        program.stop()


# Keeps the websockets of a page, and counts the frames that come on each.
WIRES = """
const Real = WebSocket
globalThis.wires = []
globalThis.WebSocket = class extends Real {
  constructor(...given) {
    super(...given)
    if (String(given[0]).endsWith("/wire")) {
      globalThis.wires.push(this)
      this.count = 0
      this.addEventListener("message", ({data}) => { this.count += typeof data !== "string" })
    }
  }
}
"""


# From here on the page hears nothing on its websocket; whether the answer to a recording came is noted.
DEAF = """() => {
  wires[0].onmessage = null
  wires[0].addEventListener("message", ({data}) => {
    wires[0].lost ||= typeof data === "string" && data.includes("recording")
  })
}"""


def test_the_page_goes_on_over_bokehs_channel_when_its_own_websocket_breaks(page: Page, server: str) -> None:
    """Frames come over `/wire`; when that breaks, the page begins anew on Bokeh's channel, with its run."""
    page.add_init_script(WIRES)
    explorer = ExplorerPage(page, server).open(dataset="digits", lam_ratio=0.001, speed=10)
    page.wait_for_function("() => wires.length === 1 && wires[0].readyState === 1")
    explorer.run()
    page.wait_for_function("() => wires[0].count > 3")
    page.evaluate("wires[0].close()")
    before = explorer.debug("status.iteration")
    explorer.wait("s.status.iteration > x + 5", before)
    explorer.pause()
    explorer.click("reset-button")
    explorer.expect_iteration(0)
    assert page.evaluate("wires.length") == 1 and page.get_by_test_id("connection-lost").count() == 0
    assert not explorer.errors


def test_a_question_whose_answer_was_lost_with_the_websocket_is_asked_again(page: Page, server: str) -> None:
    page.add_init_script(WIRES)
    explorer = ExplorerPage(page, server).open(dataset="iris", solver="bcd-ls", speed=1000)
    page.wait_for_function("() => wires.length === 1 && wires[0].readyState === 1")
    explorer.click("step10-button")
    page.wait_for_function("() => wires[0].count > 0")
    page.evaluate(DEAF)
    explorer.click("record-button")
    page.wait_for_function("() => wires[0].lost")
    with page.expect_download() as saved:
        page.evaluate("wires[0].close()")
    assert saved.value.suggested_filename.endswith(".html")
    expect(page.get_by_test_id("record-button")).to_be_enabled()
    assert not explorer.errors
