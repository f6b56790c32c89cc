"""Widgets and lesson 1 in Notebook 7 and marimo, where these are installed (docs/lessons.md: versions tried)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from explorer_page import PATIENT_MS, ExplorerPage, Network
from notebook_programs import (
    LESSONS,
    answer_the_first_lesson,
    run_all_cells,
    run_last_cell,
    start_jupyter,
    write_notebook,
)
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from programs import Program, free_port

pytestmark = pytest.mark.slow

EXPLORER = "ss.explore('iris', lam_ratio=0.02, speed=30)"
PLANE = "ss.show('geometry', 'iris', height=480, iterations=30)"
ROWS = LESSONS["rows"]
APP = f"""
import marimo
app = marimo.App()

@app.cell
def _():
    import marimo as mo
    import sparsescope as ss
    return mo, ss

@app.cell
def _(ss):
    {EXPLORER}
    return

@app.cell
def _(mo, ss):
    mo.ui.anywidget({PLANE})
    return

if __name__ == "__main__":
    app.run()
"""


@pytest.fixture
def notebook7(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Address of an opened notebook in Notebook 7."""
    pytest.importorskip("notebook", minversion="7", reason="needs Notebook 7: pip install 'notebook>=7'")
    program = start_jupyter("notebook", tmp_path / "work")
    write_notebook(request.param, tmp_path / "work" / "live.ipynb")
    address = program.wait_open(program.wait_for(r"http://localhost:\d+/"))
    yield f"{address}notebooks/live.ipynb"
    program.stop()


@pytest.fixture
def marimo(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Address of marimo with an app (its text is run), or with a notebook that it converted (which is edited)."""
    pytest.importorskip("marimo", reason="needs marimo: pip install marimo")
    begin = (sys.executable, "-m", "marimo", "-q", "-y")
    file = tmp_path / "live.py"
    if isinstance(request.param, Path):
        subprocess.run((*begin, "convert", str(request.param), "-o", str(file)), check=True)
        command = ("edit", str(file), "--skip-update-check")
    else:
        file.write_text(request.param, encoding="utf-8")
        command = ("run", str(file))
    port = free_port()
    program = Program(*begin, *command, "--headless", "--no-token", "--host=localhost", f"--port={port}", cwd=tmp_path)
    yield program.wait_open(f"http://localhost:{port}/")
    program.stop()


def watch_a_run(page: Page) -> None:
    """The explorer and a page, two widgets of one notebook: a run moves, follows λ and rests, the page answers."""
    explorer = ExplorerPage(page, page.url)
    plane = page.get_by_test_id("plane")
    plane.scroll_into_view_if_needed()
    expect(plane).to_be_visible()
    told = page.get_by_test_id("page-root").filter(has_text="iterations until")
    expect(told).to_be_visible()
    plane.press("ArrowUp")
    explorer.part("run-button").scroll_into_view_if_needed()
    explorer.click("run-button")
    mode = explorer.part("mode")
    expect(mode).to_have_attribute("data-mode", "running")
    explorer.slide("lam-slider", 0.6)
    expect(explorer.part("status-iteration")).not_to_have_attribute("data-value", "0")
    explorer.click("pause-button")
    expect(mode).to_have_attribute("data-mode", "paused")


@pytest.mark.parametrize("notebook7", [("import sparsescope as ss", EXPLORER, PLANE)], indirect=True)
def test_widgets_live_in_notebook_7(page: Page, network: Network, notebook7: str) -> None:
    page.goto(notebook7)
    run_all_cells(page)
    watch_a_run(page)


@pytest.mark.parametrize("notebook7", [ROWS], indirect=True)
def test_the_first_lesson_is_done_in_notebook_7(page: Page, notebook7: str) -> None:
    page.goto(notebook7)
    run_all_cells(page, "step-p1")
    answer_the_first_lesson(page)
    run_last_cell(page, "sure 3 of 3:")


@pytest.mark.parametrize("marimo", [APP], indirect=True)
def test_widgets_live_in_marimo(page: Page, marimo: str) -> None:
    page.goto(marimo)
    watch_a_run(page)
    expect(page.get_by_test_id("explorer-root")).to_have_attribute("data-theme", "light")
    page.evaluate("document.body.dataset.theme = 'dark'")  # as marimo does when its theme is changed
    expect(page.get_by_test_id("explorer-root")).to_have_attribute("data-theme", "dark")


@pytest.mark.parametrize("marimo", [ROWS], indirect=True)
def test_the_first_lesson_is_done_in_marimo(page: Page, marimo: str) -> None:
    """Converted by marimo; its last cell is run once more, as marimo cannot know of answers given in widgets."""
    page.goto(marimo)
    page.get_by_test_id("run-button").first.wait_for()
    step = page.get_by_test_id("step-p1")
    for patience in (10_000, 40_000, PATIENT_MS):  # marimo drops the command while it is connecting to the kernel
        page.keyboard.press("ControlOrMeta+Shift+KeyR")
        try:
            step.wait_for(state="attached", timeout=patience)
            break
        except PlaywrightTimeout:
            continue
    answer_the_first_lesson(page)
    last = page.locator("[data-testid='cell-editor']").last
    last.click()
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.get_by_text("sure 3 of 3:")).to_be_visible()
