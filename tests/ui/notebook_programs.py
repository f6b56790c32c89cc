"""Notebook programs on free ports, and what a person does in them: run all, answer a lesson, run the last cell."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from explorer_page import PATIENT_MS
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from programs import Program, free_port

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
LESSONS = {"rows": NOTEBOOKS / "01_why_rows_vanish.ipynb", "momentum": NOTEBOOKS / "05_momentum.ipynb"}


def write_notebook(given: Path | Sequence[str], path: Path) -> None:
    """Write a notebook of the package, or one of these cells, for the kernel of these tests."""
    import nbformat  # takes seconds; only these tests need it

    if isinstance(given, Path):
        notebook = nbformat.read(given, as_version=4)
    else:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in given])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)


def start_jupyter(program: str, folder: Path, *options: str) -> Program:
    """JupyterLab or Notebook in a new folder."""
    folder.mkdir()
    return Program(
        sys.executable,
        "-m",
        program,
        "--no-browser",
        "--allow-root",
        f"--port={free_port()}",
        "--ServerApp.ip=localhost",
        "--IdentityProvider.token=",
        f"--ServerApp.root_dir={folder}",
        *options,
    )


def run_all_cells(page: Page, root: str = "explorer-root") -> None:
    """Run the notebook and wait for its first widget or page."""
    page.get_by_text("import sparsescope").first.click()
    _run(page, "Run All Cells", root)


def run_cell(page: Page, number: int, root: str = "explorer-root") -> None:
    """Run one cell, the first is number 0, and wait for its widget or page."""
    page.locator(".jp-CodeCell").nth(number).locator(".cm-content").click()
    _run(page, "Run Selected Cell and Do not Advance", root)


def _run(page: Page, command: str, root: str) -> None:
    """Give a command of the menu Run, again if need be: JupyterLab drops it while it connects to the kernel."""
    idle = page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").first
    for patience in (40_000, 40_000, PATIENT_MS):
        idle.wait_for(state="attached")
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text(command, exact=True).click()
        try:
            page.get_by_test_id(root).first.wait_for(state="attached", timeout=patience)
            return
        except PlaywrightTimeout:
            continue
    raise AssertionError(f"nothing appeared after three times {command!r}")


def clear_outputs(page: Page) -> None:
    """Clear the outputs of all cells, and wait until they are gone."""
    page.get_by_role("menuitem", name="Edit", exact=True).click()
    page.get_by_text("Clear Outputs of All Cells", exact=True).click()
    expect(page.locator(".jp-OutputArea-child")).to_have_count(0)


def lock_in(page: Page, k: int, sure: int) -> Locator:
    """Lock the answer in as it stands, and return the reveal."""
    page.get_by_test_id(f"p{k}-sure-{sure}").check()
    page.get_by_test_id(f"p{k}-lock").click()
    reveal = page.get_by_test_id(f"p{k}-reveal")
    expect(reveal).to_contain_text("Claim")
    return reveal


def run_last_cell(page: Page, text: str) -> None:
    """Run the last cell once more, and wait for a text in its output."""
    page.locator(".jp-CodeCell").last.locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".jp-OutputArea").filter(has_text=text).last).to_be_visible()


def answer_the_first_lesson(page: Page) -> None:
    """Answer every prediction of lesson 1 in its cells: with a first vote, and with one run elsewhere."""
    for _ in range(3):
        page.get_by_test_id("p1-up-l1").press("Enter")
    page.get_by_test_id("p1-sure-1").check()
    page.get_by_test_id("p1-talk").click()
    expect(page.get_by_test_id("p1-first")).to_contain_text("vote again")
    page.get_by_test_id("p1-down-l1").click()
    expect(lock_in(page, 1, 2)).to_contain_text("you after talking")
    page.get_by_test_id("step-p2").get_by_role("checkbox").nth(1).check()
    lock_in(page, 2, 1)
    page.get_by_test_id("p3-number").fill("30")
    expect(lock_in(page, 3, 3)).to_contain_text("too low")
    for k in (4, 5):
        page.get_by_test_id(f"step-p{k}").get_by_role("radio").first.check()
        lock_in(page, k, 3)
    page.get_by_test_id("p4-more").click()
    expect(page.get_by_test_id("p4-elsewhere").get_by_role("table")).to_be_visible()
    expect(page.get_by_test_id("p4-more")).to_be_hidden()
