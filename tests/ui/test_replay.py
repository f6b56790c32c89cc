"""A recording in a browser: opened from disk without a network, played, scrubbed, and made by the page's own button."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from explorer_page import PATIENT_MS, ExplorerPage
from playwright.sync_api import BrowserContext, Page, expect

import sparsescope as ss

pytestmark = pytest.mark.ui
PLAYER = "window.__sparsescope.page.replay"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = ss.datasets.load("digits")
    problem = ss.Problem(data, lam_ratio=0.1)
    path = tmp_path_factory.mktemp("recordings") / "run.html"
    ss.record(problem, path, solver="bcd-ls", max_iter=60, tol=0, test=data.test)
    return path


class Replay:
    """A recording as a person sees it, in a browser that is offline."""

    def __init__(self, page: Page, context: BrowserContext, file: Path) -> None:
        self.page, self.asked, self.errors = page, [], []  # type: ignore[var-annotated]
        context.set_offline(True)
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda line: self.errors.append(line.text) if line.type == "error" else None)
        page.goto(file.as_uri())
        self.wait("window.__sparsescope && window.__sparsescope.held > 0")

    def iteration(self) -> int:
        return int(self.page.get_by_test_id("status-iteration").inner_text().replace("\u202f", "").replace(" ", ""))

    def value(self, expression: str) -> Any:
        return self.page.evaluate(expression)

    def wait(self, expression: str) -> None:
        """Wait until something holds: the file forbids the eval by which Playwright would wait."""
        end = time.monotonic() + PATIENT_MS / 1000
        while not self.value(expression):
            assert time.monotonic() < end, expression
            self.page.wait_for_timeout(20)

    def fastest(self) -> None:
        self.page.get_by_test_id("replay-speed").evaluate(
            "(slider) => { slider.value = slider.max; slider.dispatchEvent(new Event('input', {bubbles: true})) }"
        )
        self.wait(f"{PLAYER}.settings.speed === 4")

    def look_at(self, share: float) -> None:
        self.page.get_by_test_id("scrub").evaluate(
            """(slider, share) => {
              slider.value = String(Math.round(share * Number(slider.max)))
              slider.dispatchEvent(new Event("input", {bubbles: true}))
            }""",
            share,
        )


@pytest.fixture
def replay(page: Page, context: BrowserContext, file: Path) -> Replay:
    return Replay(page, context, file)


def test_a_recording_opens_from_disk_and_asks_for_nothing(replay: Replay, file: Path) -> None:
    assert file.stat().st_size < 1_500_000
    expect(replay.page.get_by_test_id("replay-title")).to_have_text("digits")
    for view in ("convergence", "accuracy", "active-set", "weights", "words"):
        expect(replay.page.get_by_test_id(f"chart-{view}")).to_be_visible()
    expect(replay.page.get_by_test_id("left-out")).to_have_count(0)
    expect(replay.page.get_by_test_id("chart-threshold").locator(".chart-note")).to_contain_text("proved out")
    replay.page.get_by_test_id("confusion-button").click()
    expect(replay.page.get_by_test_id("confusion-words")).to_contain_text("at iteration 60")
    expect(replay.page.get_by_test_id("misread")).to_contain_text("taken for")
    replay.page.get_by_test_id("spectrum-button").click()
    expect(replay.page.get_by_test_id("spectrum-words")).to_contain_text("singular values")
    assert replay.iteration() == 60
    assert replay.asked == [file.as_uri()] and replay.errors == []


def test_scrubbing_moves_every_view(replay: Replay) -> None:
    page = replay.page
    replay.look_at(0.0)
    note = page.get_by_test_id("chart-weights").locator(".chart-note")
    expect(page.get_by_test_id("chart-words")).to_contain_text("All rows of W are zero here.")
    expect(page.get_by_test_id("scrub-said")).to_contain_text("iteration 0 of 60")
    replay.look_at(0.5)
    expect(page.get_by_test_id("scrub-said")).to_contain_text("iteration 30 of 60")
    shown = replay.value(f"{PLAYER}.shown.iteration")
    recorded = [picture["iteration"] for picture in replay.value(f"{PLAYER}.header.pictures")]
    assert shown == max(k for k in recorded if k <= 30)  # the newest that was recorded, never one in between
    expect(note).to_contain_text(f"iteration {shown}")
    page.get_by_test_id("scrub-live").click()
    expect(note).to_contain_text("iteration 60")
    assert replay.errors == []


def test_it_plays_pauses_steps_and_starts_again_by_keyboard(replay: Replay) -> None:
    page = replay.page
    page.keyboard.press("r")
    expect(page.get_by_test_id("status-iteration")).to_have_text("0")
    page.keyboard.press(".")
    expect(page.get_by_test_id("status-iteration")).to_have_text("1")
    page.keyboard.press(" ")
    expect(page.get_by_test_id("mode")).to_have_text("playing")
    replay.wait("window.__sparsescope.held > 5")
    page.keyboard.press(" ")
    expect(page.get_by_test_id("mode")).to_have_text("paused")
    assert replay.value("window.__sparsescope.held") == replay.value(f"{PLAYER}.sent")
    replay.fastest()  # to its end
    page.get_by_test_id("run-button").click()
    expect(page.get_by_test_id("mode")).to_have_text("recorded")  # the end
    assert replay.iteration() == 60 and replay.errors == []


@pytest.mark.slow
def test_speed_and_the_axis_are_chosen(replay: Replay) -> None:
    page = replay.page
    replay.fastest()
    page.get_by_test_id("x-select").select_option("passes")
    replay.wait("window.__sparsescope.page.axis.x === 'passes'")
    assert replay.errors == []


@pytest.mark.slow
def test_hovering_tells_the_recorded_weight(replay: Replay) -> None:
    page = replay.page
    page.get_by_test_id("images-button").click()
    canvas = page.get_by_test_id("chart-weights").locator("canvas")
    canvas.hover(position={"x": 200, "y": 40})
    expect(page.locator(".tooltip")).to_contain_text("(iteration 60)")
    assert replay.errors == []


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("dark", 390),
        pytest.param("light", 1280, marks=pytest.mark.slow),
        pytest.param("light", 390, marks=pytest.mark.slow),
        pytest.param("dark", 1280, marks=pytest.mark.slow),
    ],
)
def test_it_fits_a_telephone_and_follows_the_theme(
    page: Page, context: BrowserContext, file: Path, scheme: Any, width: int
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 720})
    replay = Replay(page, context, file)
    assert replay.value("document.documentElement.scrollWidth") <= width
    assert replay.value("window.__sparsescope.page.palette.theme") == scheme
    page.get_by_test_id("theme-button").click()
    assert replay.value("window.__sparsescope.page.palette.theme") != scheme
    assert replay.errors == []


@pytest.mark.slow
def test_it_plays_inside_a_frame_of_a_saved_notebook(page: Page, context: BrowserContext, file: Path) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content(f"<body>{ss.load_recording(file)._repr_html_()}</body>")
    inside = page.frame_locator("iframe")
    expect(inside.get_by_test_id("status-iteration")).to_have_text("60")
    inside.get_by_test_id("step-back").click()
    expect(inside.get_by_test_id("scrub-said")).to_contain_text("iteration 59 of 60")
    assert errors == []


def test_the_page_s_button_saves_a_recording_that_plays(
    explorer: ExplorerPage, context: BrowserContext, tmp_path: Path
) -> None:
    explorer.open(dataset="iris", solver="bcd-ls", speed=1000)
    page = explorer.page
    page.get_by_test_id("step10-button").click()
    page.wait_for_function("window.__sparsescope.status.iteration >= 10")
    with page.expect_download() as saved:
        page.get_by_test_id("record-button").click()
    file = tmp_path / saved.value.suggested_filename
    saved.value.save_as(file)
    assert ss.load_recording(file).settings["dataset"] == "iris"
    page.get_by_test_id("open-file").set_input_files(file)  # the page goes on from it
    said = page.get_by_text("The run goes on from iteration")
    expect(said).to_contain_text("of the recording", timeout=60_000)
    replay = Replay(context.new_page(), context, file)
    assert replay.iteration() >= 10 and replay.errors == []


@pytest.mark.slow
def test_a_race_is_recorded_and_plays_without_the_server(
    page: Page, server: str, context: BrowserContext, tmp_path: Path
) -> None:
    page.goto(f"{server.rstrip('/')}/race?dataset=iris&lane3=none&lane4=none&budget=0.05")
    expect(page.get_by_test_id("race-status")).to_have_text("Done")
    with page.expect_download() as saved:
        page.get_by_test_id("record-button").click()
    file = tmp_path / saved.value.suggested_filename
    saved.value.save_as(file)
    context.set_offline(True)
    replay, asked, errors = context.new_page(), [], []  # type: ignore[var-annotated]
    replay.on("request", lambda request: asked.append(request.url))
    replay.on("pageerror", lambda error: errors.append(str(error)))
    replay.goto(file.as_uri())
    expect(replay.locator(".race-line")).to_have_count(2)
    expect(replay.get_by_test_id("race-status")).to_have_text("Recorded")
    expect(replay.get_by_test_id("race-again")).to_be_hidden()
    replay.get_by_test_id("race-axis").select_option("passes")
    expect(replay.get_by_test_id("race-plot")).to_contain_text("passes over the data")
    assert asked == [file.as_uri()] and errors == []
    context.set_offline(False)
    expect(page.locator(".race-line")).to_have_count(2)  # the page that asked still shows its race
    context.set_offline(False)
    page.get_by_test_id("race-again").click()
    page.get_by_test_id("open-file").set_input_files(file)  # shown as it was, whatever the page does meanwhile
    expect(page.get_by_test_id("race-status")).to_have_text("Recorded")
    expect(page.locator(".race-line")).to_have_count(2)
    page.get_by_test_id("race-again").click()  # begins anew with the recorded settings
    expect(page.get_by_test_id("race-status")).to_have_text("Done")
