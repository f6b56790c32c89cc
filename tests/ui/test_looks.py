"""Looks of the page, and its use without a mouse: dark mode, narrow windows, keys, the live region."""

from __future__ import annotations

import re
from typing import Any

import pytest
from explorer_page import UNHURRIED, ExplorerPage, findings
from playwright.sync_api import Browser, BrowserContext, expect

LUMINANCE = """(element) => {
  for (let e = element; e; e = e.parentElement || (e.getRootNode() && e.getRootNode().host)) {
    const colour = getComputedStyle(e).backgroundColor.match(/[\\d.]+/g).map(Number)
    if (colour.length < 4 || colour[3] > 0) return (colour[0] + colour[1] + colour[2]) / 765
  }
  return 1
}"""


def test_a_page_finds_nothing_of_the_tests_before(context: BrowserContext, profile: Any, server: str) -> None:
    left = "[document.cookie, localStorage.length, sessionStorage.length].join('|')"
    first = context.new_page()
    first.goto(server)
    first.evaluate("document.cookie = 'left=1'; localStorage.left = sessionStorage.left = 1")
    assert "left" in first.evaluate(left) and "left" in first.evaluate("Object.keys(localStorage).join()")
    context.set_offline(True)
    profile.forget()
    assert context.pages == [profile.tab] and context.cookies() == []
    second = context.new_page()
    second.goto(f"{server}static/js/none.js")  # of the same origin, and stores nothing
    assert second.evaluate(left) == "|0|0"


def toggled(explorer: ExplorerPage, theme: str) -> None:
    """The other theme, which the browser remembers from now on."""
    explorer.page.get_by_label("Toggle theme").click()
    expect(explorer.part("explorer-root")).to_have_attribute("data-theme", theme)
    explorer.page.wait_for_function(f"() => document.cookie.includes('sparsescope-theme={theme}')")


def test_a_page_is_as_dark_as_the_system_until_its_user_chooses_which_the_browser_remembers(
    explorer: ExplorerPage,
) -> None:
    explorer.page.emulate_media(color_scheme="dark")
    explorer.open(dataset="digits")
    explorer.run()
    expect(explorer.part("explorer-root")).to_have_attribute("data-theme", "dark")
    assert "sparsescope-theme" not in explorer.page.evaluate("document.cookie"), "a wish of the system is no choice"
    for testid in ("status-line", "chart-convergence", "chart-weights"):
        assert explorer.part(testid).evaluate(LUMINANCE) < 0.3, testid
    toggled(explorer, "light")
    assert explorer.part("status-line").evaluate(LUMINANCE) > 0.8
    explorer.open(dataset="iris")
    expect(explorer.part("explorer-root")).to_have_attribute("data-theme", "light")
    assert explorer.part("status-line").evaluate(LUMINANCE) > 0.8
    explorer.page.emulate_media(color_scheme="light")
    toggled(explorer, "dark")
    explorer.open(dataset="iris")
    expect(explorer.part("explorer-root")).to_have_attribute("data-theme", "dark")
    assert explorer.part("status-line").evaluate(LUMINANCE) < 0.3


@pytest.mark.parametrize("width", [390, *(pytest.param(width, marks=pytest.mark.slow) for width in (768, 853, 1024))])
def test_narrow_windows_have_no_sideways_scrolling(explorer: ExplorerPage, width: int) -> None:
    explorer.page.set_viewport_size({"width": width, "height": 844})
    explorer.open(dataset="digits")
    explorer.run()
    fits(explorer)


def fits(explorer: ExplorerPage) -> None:
    """Nothing of the page is wider than the window, and its last button is in sight."""
    scroll, inner = explorer.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert scroll <= inner
    right = explorer.part("explorer-root").evaluate("(root) => root.scrollWidth - root.clientWidth")
    assert right <= 0
    expect(explorer.part("copy-link")).to_be_in_viewport()


def test_keys_run_step_reset_and_help(explorer: ExplorerPage) -> None:
    explorer.open(**UNHURRIED)
    keyboard = explorer.page.keyboard
    explorer.part("explorer-root").focus()
    keyboard.press("Space")
    explorer.wait("s.points > 3")
    keyboard.press("Space")
    explorer.expect_mode("paused")
    before = explorer.debug("status.iteration")
    keyboard.press(".")
    explorer.wait("s.status.iteration === x", argument=before + 1)
    keyboard.press("?")
    expect(explorer.part("help-overlay")).to_be_visible()
    keyboard.press("Escape")
    expect(explorer.part("help-overlay")).to_be_hidden()
    keyboard.press("r")
    explorer.wait("s.status.iteration === 0")


# Controls that nothing names.
NAMELESS = """(root) => Array.from(
  root.querySelectorAll("button, select, input, summary, [role=slider], [role=group], [tabindex='0']"),
).filter((e) => !(e.getAttribute("aria-label") || (e.labels && e.labels.length && e.labels[0].textContent.trim())
  || (e.tagName !== "SELECT" && e.textContent.trim()))).map((e) => e.outerHTML.slice(0, 120))"""


def test_axe_finds_nothing_every_control_has_a_name_and_a_screen_reader_is_told_the_numbers(
    explorer: ExplorerPage,
) -> None:
    explorer.page.emulate_media(color_scheme="light")
    explorer.open(**UNHURRIED)
    expect(explorer.part("explorer-root")).to_have_attribute("data-theme", "light")
    assert findings(explorer.page) == []
    toggled(explorer, "dark")
    assert findings(explorer.page) == []
    explorer.run()
    explorer.pause()
    assert explorer.part("explorer-root").evaluate(NAMELESS) == []
    region = explorer.part("live-region")
    expect(region).to_have_attribute("aria-live", "polite")
    for word in ("paused", "iteration", "objective", "non-zero rows"):
        expect(region).to_contain_text(word)
    plot = explorer.part("chart-convergence").locator(".chart-plot")
    plot.focus()
    explorer.page.keyboard.press("End")
    said = plot.locator("p[aria-live]")
    last = int(explorer.number("status-iteration"))
    expect(said).to_contain_text(f"iteration {last}")
    explorer.page.keyboard.press("ArrowLeft")
    # A pause may certify the last point once more: then it stands there twice.
    expect(said).to_contain_text(re.compile(rf"iteration ({last - 1}|{last})\b"))
    expect(said).to_contain_text("F − F*")
    explorer.click("confusion-button")
    expect(explorer.part("confusion-matrix")).to_be_visible()
    explorer.click("step-back")
    expect(explorer.part("scrub-live")).to_be_visible()
    explorer.click("help-button")
    assert findings(explorer.page) == []
    explorer.page.keyboard.press("Escape")
    toggled(explorer, "light")
    explorer.click("help-button")
    assert findings(explorer.page) == []


def test_the_past_is_a_drag_away_and_back_takes_changes_back(explorer: ExplorerPage) -> None:
    explorer.open(**UNHURRIED)
    explorer.run()
    explorer.wait("s.points > 30")
    explorer.pause()
    newest = explorer.debug("status.iteration")
    # One iteration back is another iteration, also where the pause has recorded the newest a second time.
    explorer.click("step-back")
    expect(explorer.part("scrub-said")).to_contain_text(f"iteration {newest - 1} of {newest}")
    explorer.page.keyboard.press("Escape")
    # The bar is where it belongs before the next frame is drawn, from which a key would go on otherwise.
    assert (
        explorer.page.evaluate(
            "() => { const p = window.__sparsescope.page; p.scrub.step(-1); p.scrub.release();"
            " return Number(p.scrub.range.value) - p.store.n }"
        )
        == -1
    )
    explorer.part("scrub").focus()
    for _ in range(9):
        explorer.page.keyboard.press("ArrowLeft")
    explorer.click("step-back")
    # The weights are those of the very iteration, and the other charts point at it.
    events = explorer.page.evaluate("Array.from(window.__sparsescope.page.store.column('iteration'))")
    looked = events[-11]
    assert looked in (newest - 10, newest - 9)
    explorer.wait("s.page.store.picture.iteration === x", looked)
    expect(explorer.part("scrub-said")).to_contain_text(f"iteration {looked} of {newest}")
    at = explorer.page.evaluate(
        "() => { const p = window.__sparsescope.page; return p.store.column('iteration')[p.cursorAt] }"
    )
    assert at == looked
    explorer.page.keyboard.press("Escape")
    explorer.wait("s.page.store.picture.iteration === x", newest)
    explorer.choose("penalty-select", "l1")
    explorer.wait("s.settings.penalty === 'l1' && !s.page.store.preparing")
    explorer.page.go_back()
    explorer.wait("s.settings.penalty === 'l1/l2' && !s.page.store.preparing")
    explorer.page.go_forward()
    explorer.wait("s.settings.penalty === 'l1' && !s.page.store.preparing")
    explorer.click("undo-button")
    explorer.wait("s.settings.penalty === 'l1/l2'")
    plot = explorer.part("chart-weights").locator(".chart-plot")
    plot.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        explorer.page.keyboard.press(key)
    expect(plot.locator("p.sr-only")).to_contain_text("weight")
    assert not explorer.errors


def test_at_150_percent_everything_fits_and_lambda_is_in_sight(browser: Browser, server: str) -> None:
    context = browser.new_context(viewport={"width": 853, "height": 480}, device_scale_factor=1.5)
    try:
        explorer = ExplorerPage(context.new_page(), server).open(**UNHURRIED)
        assert explorer.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        for part in ("lam-slider", "run-button", "status-gap"):
            expect(explorer.part(part)).to_be_in_viewport()
        explorer.run()
        fits(explorer)
    finally:
        context.close()
