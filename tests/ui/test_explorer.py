"""The explorer's page in a browser: run, change while it runs, pause, step, reload, share, and whom it asks."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import pytest
from explorer_page import UNHURRIED, ExplorerPage, Network
from playwright.sync_api import BrowserContext, Page, expect
from programs import start_explorer


def test_the_first_screen_shows_the_problem_and_one_obvious_button(explorer: ExplorerPage) -> None:
    explorer.open(dataset="digits")
    expect(explorer.part("problem-card")).to_be_visible()
    expect(explorer.part("start-button")).to_be_enabled()
    expect(explorer.part("dataset-summary")).to_contain_text("digits")
    expect(explorer.part("chart-empty-words")).to_contain_text("Run it")  # and not: pull λ down, before any iteration
    assert explorer.debug("points") <= 1
    for name in ("convergence", "accuracy", "active-set", "weights"):
        expect(explorer.part(f"chart-{name}")).to_be_visible()
        sentence = explorer.part(f"chart-empty-{name}")
        if sentence.is_visible():
            assert len(sentence.inner_text().split()) > 3
    explorer.click("start-button")
    explorer.wait("s.points > 3")
    assert explorer.errors == []


def test_lambda_solver_loss_and_penalty_are_changed_during_a_run_and_each_leaves_a_mark(
    explorer: ExplorerPage,
) -> None:
    explorer.open(dataset="digits", speed=60, lam_ratio=0.3)
    explorer.run()
    explorer.slide("lam-slider", 0.25)
    explorer.wait("s.marks.some(m => m.kind === 'lam')")
    ratio = explorer.debug("settings.lam_ratio")
    assert 1e-4 < ratio < 0.1
    assert math.isclose(explorer.number("lam-label"), ratio, rel_tol=1e-9)
    explorer.page.wait_for_url(f"**lam_ratio={ratio!r}**")
    mark = next(mark for mark in explorer.debug("marks") if mark["kind"] == "lam")
    assert mark["text"].startswith("λ")
    assert mark["iteration"] > 0
    expect(explorer.part("chart-convergence")).to_contain_text("λ")
    explorer.expect_mode("running")
    explorer.choose("solver-select", "fista-ls")
    explorer.wait("s.marks.some(m => m.kind === 'solver')")
    points = explorer.debug("points")
    explorer.wait("s.points > x + 3", points)
    assert explorer.debug("settings.solver") == "fista-ls"
    text = next(mark["text"] for mark in explorer.debug("marks") if mark["kind"] == "solver")
    assert "bcd-ls" in text and "fista-ls" in text
    explorer.choose("penalty-select", "l1")
    explorer.wait("s.marks.some(m => m.kind === 'penalty')")
    explorer.choose("loss-select", "logistic")
    explorer.wait("s.marks.some(m => m.kind === 'loss')")
    points = explorer.debug("points")
    explorer.wait("s.points > x + 3 || s.status.mode === 'finished'", points)
    expect(explorer.part("error-box")).to_be_hidden()
    assert explorer.errors == []


# Texts painted by a frame without news, and the charts that look different when nothing of the last frames is kept.
DRAWN_ANEW = """() => {
  const { page } = window.__sparsescope
  const pictures = () => page.charts.filter(({ chart }) => chart.canvas || chart.svg)
    .map(({ chart }) => [chart.spec.id, chart.canvas ? chart.canvas.toDataURL() : chart.svg.innerHTML])
  page.charts.forEach((entry) => { entry.visible = true })
  page.draw()
  const kept = pictures()
  const { fillText } = CanvasRenderingContext2D.prototype
  let texts = 0
  CanvasRenderingContext2D.prototype.fillText = function (...all) { texts += 1; return fillText.apply(this, all) }
  page.draw()
  CanvasRenderingContext2D.prototype.fillText = fillText
  page.store.rewritten += 1
  for (const { chart } of page.charts) {
    if (chart.refresh) chart.refresh()
    if (chart.cells) chart.cells.key = null
  }
  page.draw()
  const anew = pictures()
  const other = kept.filter(([, picture], k) => picture !== anew[k][1]).map(([id]) => id)
  return { texts, charts: kept.length, other }
}"""


def test_a_run_draws_points_as_they_come_pauses_and_steps_one_iteration_and_asks_nobody_outside(
    explorer: ExplorerPage, network: Network
) -> None:
    explorer.open(**UNHURRIED)
    explorer.run()
    explorer.expect_mode("running")
    frames, points = explorer.debug("frames"), explorer.debug("points")
    explorer.wait("s.frames > x[0] + 3 && s.points > x[1] + 3", argument=[frames, points])
    expect(explorer.part("chart-convergence").locator("path.line-path").first).to_be_attached()
    assert explorer.number("status-iteration") > 3
    assert math.isfinite(explorer.number("status-objective"))
    explorer.pause()
    before = explorer.debug("status.iteration")
    explorer.page.wait_for_timeout(400)
    explorer.expect_iteration(before)
    for button, steps in (("step-button", 1), ("step10-button", 11)):
        explorer.click(button)
        explorer.wait("s.status.iteration >= x && s.status.mode === 'paused'", argument=before + steps)
        assert explorer.debug("status.iteration") == before + steps
        explorer.expect_iteration(before + steps)
    drawn = explorer.page.evaluate(DRAWN_ANEW)
    assert drawn.pop("charts") >= 5 and drawn == {"texts": 0, "other": []}
    explorer.click("reset-button")
    explorer.wait("s.status.iteration === 0 && s.points <= 1")
    assert len(network.all) > 5
    assert any(url.startswith("ws://localhost") for url in network.all)
    assert network.outside == [] and explorer.errors == []


def test_a_reload_of_the_address_finds_the_same_settings_and_its_link_is_copied(explorer: ExplorerPage) -> None:
    explorer.open(dataset="wine")
    explorer.choose("penalty-select", "elastic-net")
    explorer.wait("s.settings.penalty === 'elastic-net'")
    explorer.choose("solver-select", "fista-cst")
    explorer.wait("s.settings.solver === 'fista-cst'")
    before = explorer.debug("settings")
    explorer.slide("lam-slider", 0.4)
    explorer.slide("field-penalty.rho", 0.75)
    explorer.choose("x-select", "passes")
    for name in ("lam_ratio", "penalty.rho"):
        explorer.wait(
            f"s.settings['{name}'] !== x['{name}'] && "
            f"Number(new URLSearchParams(location.search).get('{name}')) === s.settings['{name}']",
            before,
        )
    explorer.page.wait_for_url("**x=passes**")
    settings = explorer.debug("settings")
    assert settings["x"] == "passes"
    explorer.page.reload()
    explorer.wait_ready()
    assert explorer.debug("settings") == settings
    assert explorer.part("penalty-select").input_value() == "elastic-net"
    assert explorer.part("solver-select").input_value() == "fista-cst"
    assert math.isclose(explorer.number("lam-label"), settings["lam_ratio"], rel_tol=1e-9)
    button = explorer.part("copy-link")
    button.click()
    expect(button).to_have_text("Copied")
    assert explorer.page.evaluate("navigator.clipboard.readText()") == explorer.page.url
    expect(button).to_have_text("Copy link")


def test_a_wrong_address_is_mended_and_said(explorer: ExplorerPage) -> None:
    explorer.open(dataset="iris", loss="logstic", lam_ratio=50, evil="<b>x</b>")
    notices = explorer.part("notices")
    expect(notices).to_contain_text("logstic")
    expect(notices).to_contain_text("lam_ratio is 50")
    expect(notices).to_contain_text("evil")
    assert explorer.debug("settings.lam_ratio") == 1.0


def test_a_budget_out_of_reach_is_explained_in_one_place(explorer: ExplorerPage) -> None:
    explorer.open(dataset="iris", loss="crammer-singer", solver="fbpd-constrained", speed=1000, **{"solver.eta": 0.2})
    explorer.click("run-button")
    box = explorer.part("error-box")
    expect(box).to_contain_text("Choose eta of at least 0.289")
    assert "ValueError" not in box.locator("p").inner_text()
    expect(explorer.part("status-message")).to_have_text("")
    assert explorer.errors == []


@pytest.fixture(scope="module")
def failing_parts() -> Iterator[str]:
    """Address of a server with parts of a user that fail."""
    program, address = start_explorer(script="parts_server.py")
    yield address
    program.stop()


def test_an_error_of_the_worker_is_shown_with_its_traceback(page: Page, failing_parts: str) -> None:
    explorer = ExplorerPage(page, failing_parts)
    explorer.open(dataset="iris", solver="failing", lam_ratio=0.01, speed=30)
    explorer.click("run-button")
    box = explorer.part("error-box")
    expect(box).to_be_visible()
    expect(box).to_contain_text("this step fails on purpose")
    expect(box.locator("details")).to_contain_text("Traceback")
    explorer.expect_mode("error")
    explorer.click("reset-button")
    explorer.wait("s.status.mode !== 'error'")


def test_a_view_of_a_user_that_fails_ends_alone_with_its_traceback(page: Page, failing_parts: str) -> None:
    explorer = ExplorerPage(page, failing_parts)
    explorer.open(dataset="iris", solver="ista", lam_ratio=0.001, speed=60)
    failed = explorer.part("chart-undescribed")
    expect(failed.get_by_role("alert")).to_contain_text("ZeroDivisionError: this spec fails on purpose")
    expect(failed.locator("pre")).to_contain_text("parts_server.py")
    expect(explorer.part("chart-undrawable").get_by_role("alert")).to_contain_text("cannot be drawn")
    explorer.run()
    explorer.part("chart-steps").scroll_into_view_if_needed()  # what is out of sight is not drawn
    expect(explorer.part("chart-steps").locator(".line-label", has_text="step size")).to_be_visible()
    explorer.part("chart-convergence").scroll_into_view_if_needed()
    expect(explorer.part("chart-convergence").locator(".line-label").first).to_be_visible()
    expect(explorer.part("error-box")).to_be_hidden()
    assert explorer.errors == []


def test_two_pages_do_not_disturb_each_other(explorer: ExplorerPage, context: BrowserContext, server: str) -> None:
    explorer.open(dataset="digits", lam_ratio=0.02, speed=30)
    other = ExplorerPage(context.new_page(), server).open(dataset="iris", lam_ratio=0.5)
    explorer.run()
    assert other.debug("points") <= 1
    assert other.debug("settings.dataset") == "iris"
    assert explorer.debug("settings.dataset") == "digits"


def test_label_sets_show_their_measures_in_the_place_of_accuracy(explorer: ExplorerPage) -> None:
    explorer.open(dataset="planted-tags", loss="label-ranking-squared-hinge", speed=60)
    expect(explorer.part("problem-card")).to_contain_text("labels m")
    expect(explorer.part("problem-card")).to_contain_text("samples with each label")
    expect(explorer.part("loss-select").locator("option[value=logistic]")).to_be_disabled()
    explorer.run()
    chart = explorer.part("chart-accuracy")
    expect(chart.locator(".line-label", has_text="test precision@1")).to_be_visible()
    expect(chart).to_contain_text("best label correct")
    explorer.choose("choose-accuracy", "ranking loss")
    expect(chart.locator(".line-label", has_text="test ranking loss")).to_be_visible()
    expect(chart).to_contain_text("pairs out of order")
    path = chart.locator("path.line-path").first
    explorer.wait("s.points > 12")
    assert len(path.get_attribute("d") or "") > 10
    assert explorer.errors == []


def test_a_loss_with_kinks_is_met_by_a_method_that_takes_it_and_impossible_ones_say_why(explorer: ExplorerPage) -> None:
    explorer.open(dataset="iris", speed=60)
    explorer.choose("loss-select", "crammer-singer")
    explorer.wait("s.settings.loss === 'crammer-singer' && s.settings.solver !== 'bcd-ls'")
    expect(explorer.part("notices")).to_contain_text("needs a smooth loss")
    expect(explorer.part("notices")).not_to_contain_text("stays open")
    expect(explorer.part("solver-select").locator("option[value=bcd-ls]")).to_be_disabled()
    untold = explorer.part("solver-select").evaluate(
        "(select) => [...select.options].filter((one) => one.disabled && !one.title).map((one) => one.value)"
    )
    assert untold == [], "a disabled choice says why"
    explorer.choose("solver-select", "fobos")
    expect(explorer.part("notices")).to_contain_text("with fobos it is true but stays open")
    explorer.choose("solver-select", "fbpd")
    explorer.run()
    explorer.wait("s.points > 12")
    explorer.page.set_viewport_size({"width": 1720, "height": 900})  # the bar has room for it
    expect(explorer.part("status-dual_entries")).to_be_visible()
    chart = explorer.part("chart-duality")
    chart.scroll_into_view_if_needed()  # what is out of sight is not drawn
    for name in ("objective F", "dual value D", "active samples", "dual non-zeros"):
        expect(chart.locator(".line-label", has_text=name)).to_be_visible()
    assert explorer.errors == []


def test_a_penalty_over_blocks_shows_its_blocks(explorer: ExplorerPage) -> None:
    explorer.open(dataset="wine", speed=60, lam_ratio=0.001)
    explorer.choose("penalty-select", "block-l1/l2")
    explorer.wait("s.settings.penalty === 'block-l1/l2' && s.settings.solver === 'auto'")
    expect(explorer.part("notices")).to_contain_text("ties the rows of a block. Solvers that fit: ista")
    expect(explorer.part("field-penalty.size")).to_be_visible()
    explorer.run()
    canvas = explorer.part("chart-weights").locator("canvas")
    canvas.scroll_into_view_if_needed()  # pictures are sent of what is seen only
    expect(explorer.part("sort-select")).to_have_value("block")
    explorer.point(canvas, 0.4, 0.1, explorer.page.locator(".tooltip", has_text="block 0: norm"))
    assert explorer.errors == []


def test_sequences_of_models_have_stages_and_the_spectrum_opens_on_a_click(explorer: ExplorerPage) -> None:
    explorer.open(
        dataset="digits",
        loss="squared",
        solver="stagewise",
        speed=60,
        **{"solver.generator": "fourier", "solver.features": 20},
    )
    explorer.run()
    explorer.wait("s.status.features >= 200")
    explorer.pause()
    errors = explorer.part("chart-features")
    expect(errors.locator(".stage-line").nth(3)).to_be_attached()
    explorer.point(errors, 0.3, 0.5, errors.locator(".stage-label"))
    expect(errors.locator(".stage-label")).to_have_text(re.compile(r"^stage \d+ · 20 random Fourier features · "))
    expect(explorer.part("status-rows")).not_to_contain_text("of")
    explorer.choose("part-select", "model")
    expect(explorer.part("chart-empty-weights")).to_contain_text("Random features have no weights")
    assert explorer.part("spectrum-words").text_content() == ""
    explorer.click("spectrum-button")
    expect(explorer.part("spectrum-words")).to_contain_text("64 of 64 singular values")
    explorer.choose("solver-select", "bcd-ls")
    expect(explorer.part("chart-active-set")).to_be_visible()
    expect(explorer.part("notices")).to_contain_text("looks for weights W")
    assert explorer.errors == []


def test_the_features_are_shown_as_a_network(explorer: ExplorerPage) -> None:
    explorer.open(dataset="wine", task="covariance", lam_ratio=0.3)
    expect(explorer.part("problem-card")).to_contain_text("strongest correlations")
    expect(explorer.part("chart-empty-network")).to_contain_text("diagonal")
    assert explorer.part("loss-select").count() == explorer.part("chart-accuracy").count() == 0
    explorer.click("run-button")
    explorer.expect_mode("finished")
    edges = explorer.number("status-rows")
    assert 0 < edges < 78
    expect(explorer.part("chart-network")).to_contain_text(f"{edges:.0f} edges")
    expect(explorer.part("inspector")).to_contain_text("partner")
    x, y = explorer.debug("page.charts.find(({ chart }) => chart.nodes).chart.nodes.map((n) => [n.x, n.y])[0]")
    explorer.part("chart-network").locator("canvas").hover(position={"x": x, "y": y})
    expect(explorer.page.locator(".tooltip")).to_contain_text("alcohol")
    explorer.choose("order-select", "component")
    explorer.wait("s.page.store.picture.sort === 'component'")
    explorer.slide("lam-slider", 1.0)
    expect(explorer.part("chart-empty-network")).to_contain_text("No edges")
    explorer.choose("task-select", "classes")
    expect(explorer.part("chart-accuracy")).to_be_visible()
    expect(explorer.part("loss-select")).to_be_visible()
    assert explorer.errors == []


def test_the_bar_of_the_strip_moves_lambda_by_hand_and_by_key_and_undo_takes_it_back(explorer: ExplorerPage) -> None:
    explorer.open(dataset="digits", speed=60, lam_ratio=0.3, solver="fista-ls")
    explorer.run()
    explorer.wait("s.page.store.strip && s.page.store.strip.features.length === 64")
    bar = explorer.part("lam-bar")
    box = bar.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 3, box["y"] + box["height"] / 2
    explorer.page.mouse.move(x, y)
    explorer.page.mouse.down()
    explorer.page.mouse.move(x, y + 30, steps=4)
    explorer.page.mouse.up()
    explorer.wait("s.settings.lam_ratio < 0.3 && s.marks.filter(m => m.kind === 'lam').length >= 1")
    explorer.wait("Math.abs(s.lam / s.page.store.problem.lam_reference - s.settings.lam_ratio) < 1e-9")
    explorer.page.wait_for_timeout(1100)  # another gesture
    moved = explorer.debug("settings.lam_ratio")  # read at rest: the hand's last move may still have been under way
    bar.press("ArrowUp")
    explorer.wait("s.settings.lam_ratio > x", argument=moved)
    explorer.click("undo-button")
    explorer.wait("s.settings.lam_ratio === x", argument=moved)
    explorer.click("undo-button")
    explorer.wait("s.settings.lam_ratio === 0.3")
    explorer.wait("s.page.store.strip.counts.reduce((a, b) => a + b) === 64")
    assert explorer.errors == []


def test_watching_lets_lambda_fall_until_a_hand_takes_it(explorer: ExplorerPage) -> None:
    explorer.open(dataset="digits", solver="fista-ls")
    explorer.click("watch-button")
    explorer.wait("s.settings.lam_ratio < 0.9 && s.points > 3")
    explorer.wait("s.page.store.strip.words.length > 0")
    explorer.slide("lam-slider", 0.5)
    explorer.wait("Number(new URLSearchParams(location.search).get('lam_ratio')) === s.settings.lam_ratio")
    explorer.page.wait_for_timeout(600)  # a step of the fall that was on its way has arrived
    ratio = explorer.debug("settings.lam_ratio")
    explorer.page.wait_for_timeout(600)
    assert explorer.debug("settings.lam_ratio") == ratio
    assert explorer.errors == []


def test_a_pinned_run_stays_beside_the_next_and_views_are_saved(explorer: ExplorerPage) -> None:
    explorer.open(dataset="iris", speed=60, solver="fista-ls", lam_ratio=0.001)
    explorer.run()
    explorer.pause()
    explorer.click("pin-button")
    expect(explorer.part("unpin-button")).to_have_attribute("title", re.compile("fista-ls"))
    expect(explorer.part("chart-convergence").locator(".ghost-path").first).to_be_attached()
    for kind in ("CSV", "PNG", "SVG"):
        with explorer.page.expect_download() as download:
            explorer.choose("save-convergence", kind)
        assert download.value.suggested_filename == f"iris-convergence.{kind.lower()}"
        text = download.value.path().read_bytes()
        starts = {"CSV": b"iteration,passes,seconds", "PNG": b"\x89PNG", "SVG": b"<svg"}
        assert text.startswith(starts[kind])
    explorer.click("unpin-button")
    expect(explorer.part("chart-convergence").locator(".ghost-path")).to_have_count(0)
    assert explorer.errors == []


# Shown and measured at once: the next frame of the page hides the button again.
WITH_TURBO = """(gap) => {
  gap.getRootNode().querySelector("[data-testid=turbo-button]").hidden = false; // more beside the figures
  return [gap.getBoundingClientRect().left + gap.scrollWidth, gap.nextElementSibling.getBoundingClientRect().left];
}"""


def test_the_bar_with_lambda_and_the_first_two_rows_are_in_sight(explorer: ExplorerPage) -> None:
    explorer.page.set_viewport_size({"width": 1280, "height": 720})
    explorer.open(dataset="digits", speed=30, lam_ratio=0.2)
    explorer.run()
    for name in ("lam-slider", "run-button", "status-objective", "solver-select", "chart-threshold", "chart-words"):
        expect(explorer.part(name)).to_be_in_viewport(ratio=1)
    for name in ("chart-convergence", "chart-accuracy"):
        expect(explorer.part(name)).to_be_in_viewport(ratio=0.9)
    top = "(element) => element.getBoundingClientRect().top"
    before = explorer.part("chart-threshold").evaluate(top)
    explorer.part("pin-button").click()
    explorer.slide("speed-slider", 1)
    explorer.wait("s.status.mode === 'finished'")
    expect(explorer.part("status-message")).to_contain_text("certified")
    assert explorer.part("chart-threshold").evaluate(top) == before, "what is said at the end moves no chart"
    gap, proof = explorer.part("status-gap").evaluate(WITH_TURBO)
    assert gap <= proof, "the gap's figure lies over the words beside it"
    explorer.part("chart-spectrum").scroll_into_view_if_needed()
    expect(explorer.part("lam-slider")).to_be_in_viewport(ratio=1)
    explorer.page.set_viewport_size({"width": 390, "height": 844})
    explorer.part("settings-fold").scroll_into_view_if_needed()  # the page scrolls inside its frame
    expect(explorer.part("lam-slider")).to_be_in_viewport(ratio=1)
    expect(explorer.part("chart-threshold")).to_be_in_viewport()
    assert explorer.part("chart-weights").evaluate(top) < explorer.part("chart-convergence").evaluate(top)
