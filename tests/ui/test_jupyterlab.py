"""Notebook widgets in a real JupyterLab: the explorer, pages, and two lessons from the first cell to the last."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from explorer_page import PATIENT_MS, ExplorerPage, Network
from notebook_programs import (
    LESSONS,
    answer_the_first_lesson,
    clear_outputs,
    lock_in,
    run_all_cells,
    run_cell,
    run_last_cell,
    start_jupyter,
    write_notebook,
)
from playwright.sync_api import Page, expect

CELLS = (
    "import sparsescope as ss\nss.show('geometry', 'iris', height=480, iterations=30)",
    "ss.explore('pydocs', height=480, lam_ratio=0.1, speed=5)",
    "widget = ss.explore('iris', lam_ratio=0.001, speed=30)\nwidget",
)
PAST = (
    "import sparsescope as ss\nproblem = ss.Problem(ss.datasets.load('wine'), loss='logistic', lam_ratio=0.05)",
    "result = ss.solve(problem, 'fista-ls', max_iter=6, tol=1e-14, record=True)\nss.explore(result)",
)
OF_TRACE = (PAST[0], PAST[1].replace("explore(result)", "explore(result.trace)"))
ROWS, MOMENTUM = LESSONS["rows"], LESSONS["momentum"]
WATCHED = (
    "import sparsescope as ss\nfrom sklearn.linear_model import LogisticRegression\ndata = ss.datasets.load('digits')",
    "watch = ss.watch()\nwatch",
    "model = LogisticRegression(C=0.1).set_callbacks(watch).fit(data.X, data.y)",
    "print('iterations:', int(model.n_iter_[0]), 'points:', len(watch.trace))",
)
# JupyterLab would like to fetch news and to ask whether it may: neither belongs in a test.
NO_NEWS = {"fetchNews": "false", "checkForUpdates": False}


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Address of a JupyterLab, and the folder of its notebooks."""
    place = tmp_path_factory.mktemp("jupyter")
    folder = place / "work"
    settings = place / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(NO_NEWS))
    options = (f"--LabApp.user_settings_dir={place / 'settings'}", f"--LabApp.workspaces_dir={place / 'workspaces'}")
    program = start_jupyter("jupyterlab", folder, *options)
    yield program.wait_open(program.wait_for(r"http://localhost:\d+/lab")).partition("/lab")[0], folder
    program.stop()


@pytest.fixture
def lab(jupyter: tuple[str, Path], page: Page, request: pytest.FixtureRequest) -> Iterator[str]:
    """Address at which JupyterLab opens one notebook, alone in its workspace; its kernel ends with the test."""
    address, folder = jupyter
    name = f"live-{len(list(folder.glob('*.ipynb')))}"
    write_notebook(getattr(request, "param", CELLS), folder / f"{name}.ipynb")
    yield f"{address}/lab/workspaces/{name}/tree/{name}.ipynb"
    token = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "_xsrf")
    page.close()  # which would start another kernel
    for kernel in page.request.get(f"{address}/api/kernels").json():
        answer = page.request.delete(f"{address}/api/kernels/{kernel['id']}", headers={"X-XSRFToken": token})
        assert answer.ok, answer.text()


def test_a_page_a_compact_widget_and_the_explorer_live_in_cells_one_after_another(
    page: Page, network: Network, lab: str
) -> None:
    """One notebook, whose kernel starts once; the output of a cell is cleared before the next one is run."""
    page.goto(lab)
    run_cell(page, 0, "page-root")
    a_page_of_the_app_keeps_to_its_height(page)
    clear_outputs(page)
    run_cell(page, 1)
    the_compact_explorer_keeps_to_its_height(page)
    clear_outputs(page)
    run_cell(page, 2)
    explorer = ExplorerPage(page, lab)
    explorer.wait_ready()
    expect(explorer.part("explorer-root")).to_be_visible()
    explorer.run()
    frames = explorer.debug("frames")
    explorer.slide("lam-slider", 0.3)
    explorer.wait("s.marks.some(m => m.kind === 'lam') && s.frames > x", argument=frames)
    explorer.pause()
    explorer.wait("s.status.relative_gap !== null")
    # A restarted kernel knows nothing of the page, which says so and keeps what it shows.
    iteration = explorer.debug("status.iteration")
    base = lab.partition("/lab")[0]
    (kernel,) = page.request.get(f"{base}/api/kernels").json()
    token = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "_xsrf")
    answer = page.request.post(f"{base}/api/kernels/{kernel['id']}/restart", headers={"X-XSRFToken": token})
    assert answer.ok, answer.text()
    silent = page.get_by_test_id("kernel-silent")
    expect(silent).to_contain_text("restarted")
    expect(silent).to_contain_text(f"iteration {iteration}")


def a_page_of_the_app_keeps_to_its_height(page: Page) -> None:
    """A key in the plane moves the start, and the page computes its path."""
    settled = "() => window.__sparsescope && window.__sparsescope.page.body.settled()"
    page.wait_for_function(settled)
    root = page.get_by_test_id("page-root")
    assert root.evaluate("e => e.getRootNode().host.clientHeight") == 480
    plane = page.get_by_test_id("plane")
    expect(plane).to_be_visible()
    plane.press("ArrowUp")
    page.wait_for_function(settled)
    paths = page.evaluate("window.__sparsescope.page.body.paths")
    settings = page.evaluate("window.__sparsescope.settings")
    assert paths["wanted"] == [settings["start1"], settings["start2"]] and settings["start2"] != 0.8
    assert [path["iterations"] for path in paths["paths"]]


def the_compact_explorer_keeps_to_its_height(page: Page) -> None:
    """The numbers, one chart, W and the bar of the past are all in sight, and nothing covers a chart."""
    explorer = ExplorerPage(page, page.url)
    explorer.wait_ready()
    expect(explorer.part("mode")).to_have_text("not begun")
    expect(explorer.part("status-message")).to_contain_text("press Run")
    explorer.run()
    expect(explorer.part("scrub")).to_be_visible()
    explorer.pause()
    root = explorer.part("explorer-root")
    height, host = root.evaluate("e => [e.scrollHeight, e.getRootNode().host.clientHeight]")
    assert host == 480
    assert height <= host
    parts = ("chart-convergence", "chart-weights", "scrub")
    convergence, weights, scrub = (
        explorer.part(name).evaluate("e => e.getBoundingClientRect().toJSON()") for name in parts
    )
    assert max(convergence["y"] + convergence["height"], weights["y"] + weights["height"]) <= scrub["y"] + 1
    assert min(convergence["height"], weights["height"]) > 200
    # A chart is drawn as tall as it is shown, also after a bar beside it has grown.
    drawn = explorer.part("chart-convergence").locator(".chart-plot")
    svg, plot = drawn.evaluate("e => [e.querySelector('svg').getBoundingClientRect().height, e.clientHeight]")
    assert abs(svg - plot) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("lab", [PAST, OF_TRACE], indirect=True, ids=["result", "trace"])
def test_a_result_is_shown_with_its_past_and_goes_on(page: Page, lab: str) -> None:
    explorer = ExplorerPage(page, lab)
    page.goto(lab)
    run_all_cells(page)
    explorer.wait("s.status.iteration >= 6 && s.points > 6 && s.lam !== null")
    assert explorer.page.evaluate(
        "Array.from(window.__sparsescope.page.store.column('iteration')).slice(0, 7)"
    ) == list(range(7)), "every iteration of the past is drawn"
    assert explorer.debug("settings.solver") == "fista-ls"
    explorer.click("step-button")
    explorer.wait("s.status.iteration === 7")
    expect(explorer.part("scrub")).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("lab", [WATCHED], indirect=True)
def test_a_fit_of_scikit_learn_is_watched_in_a_cell(page: Page, network: Network, lab: str) -> None:
    """The widget of one cell draws the fit of the next, point by point, and nothing is asked of the world outside."""
    pytest.importorskip("sklearn.callback")  # scikit-learn 1.9
    page.goto(lab)
    run_all_cells(page, "watch-status")
    output = page.locator(".jp-OutputArea").filter(has_text="iterations:").last
    expect(output).to_be_visible(timeout=PATIENT_MS)
    iterations, points = map(int, re.findall(r": (\d+)", output.inner_text()))
    assert points == iterations + 1 > 3
    expect(page.get_by_test_id("watch-status")).to_contain_text(
        f"Ended after {iterations} iterations", timeout=PATIENT_MS
    )
    expect(page.get_by_test_id("watch-gap").locator(".race-line")).to_have_count(1)
    expect(page.get_by_test_id("watch-gap-note")).to_contain_text(re.compile(rf"after {iterations} iterations"))
    expect(page.get_by_test_id("watch-values").locator(".closing-line")).to_have_count(2)
    expect(page.get_by_test_id("watch-weights")).to_be_visible()


def begun(page: Page, lab: str) -> None:
    """Open the notebook of a lesson and run it to its end."""
    page.goto(lab)
    run_all_cells(page, "step-p1")
    expect(page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").first).to_be_attached()


@pytest.mark.slow
@pytest.mark.parametrize("lab", [ROWS], indirect=True)
def test_the_first_lesson_is_done_in_jupyterlab(page: Page, network: Network, lab: str) -> None:
    begun(page, lab)
    answer_the_first_lesson(page)
    run_last_cell(page, "sure 3 of 3:")  # the lesson in Python has what was answered in the cells


@pytest.mark.slow
@pytest.mark.parametrize("lab", [MOMENTUM], indirect=True)
def test_a_curve_is_drawn_in_jupyterlab_and_a_cell_goes_on_where_it_was_left(page: Page, lab: str) -> None:
    begun(page, lab)
    box = page.get_by_test_id("p1-sketch")
    box.scroll_into_view_if_needed()
    place = box.bounding_box()
    assert place is not None
    page.mouse.move(place["x"] + 20, place["y"] + 20)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] - 20, place["y"] + place["height"] - 30, steps=20)
    page.mouse.up()
    reveal = lock_in(page, 1, 3)
    expect(reveal).to_contain_text("falls steadily")
    expect(page.get_by_test_id("p1-sketch").locator(".lesson-measured-curve")).to_be_visible()
    for k in range(2, page.locator("[data-testid^='step-p']").count() + 1):
        step = page.get_by_test_id(f"step-p{k}")
        if step.get_by_test_id(f"p{k}-number").count():
            page.get_by_test_id(f"p{k}-number").fill("3")
        elif step.get_by_role("radio").count() > 3:
            step.get_by_role("radio").first.check()
        lock_in(page, k, 2)
    run_last_cell(page, "sure 2 of 3:")
    # The same notebook once more: the cells show what was answered, and Python has it again.
    page.reload()
    run_all_cells(page, "step-p1")
    expect(page.get_by_test_id("p1-reveal")).to_contain_text("falls steadily")
    expect(page.get_by_test_id("p1-sketch").locator(".lesson-measured-curve")).to_be_visible()
    page.get_by_test_id("p1-again").click()
    expect(page.get_by_test_id("p1-lock")).to_be_visible()
