"""A lesson in a real browser: predicted with the keyboard, compared, resumed after a reload, drawn, printed."""

from __future__ import annotations

import re

import pytest
from explorer_page import Network, findings
from playwright.sync_api import Page, expect

DRAWN = "() => window.__sparsescope && window.__sparsescope.received > 0"


def opened(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_function(DRAWN)


def test_a_lesson_is_done_with_the_keyboard_and_goes_on_after_a_reload(
    page: Page, network: Network, server: str
) -> None:
    opened(page, server.rstrip("/") + "/lesson/1")
    assert page.url == server.rstrip("/") + "/lesson/01", "the short address leads to the lesson"
    expect(page.get_by_test_id("step-opening")).to_contain_text("test accuracy")
    expect(page.get_by_test_id("step-p2")).to_be_hidden()
    page.get_by_test_id("p1-lock").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("p1-note")).to_contain_text("how sure")
    for _ in range(3):  # ℓ1 from the last place to the first
        page.get_by_test_id("p1-up-l1").focus()
        page.keyboard.press("Enter")
    page.get_by_test_id("p1-sure-2").focus()
    page.keyboard.press("Space")
    page.get_by_test_id("p1-talk").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("p1-first")).to_contain_text("vote again")
    expect(page.get_by_test_id("p1-reveal")).to_be_empty()
    page.get_by_test_id("p1-down-l1").focus()
    page.keyboard.press("Enter")
    page.get_by_test_id("p1-lock").focus()
    page.keyboard.press("Enter")
    reveal = page.get_by_test_id("p1-reveal")
    expect(reveal).to_contain_text("Claim")
    expect(reveal).to_have_attribute("role", "status")
    expect(reveal).to_contain_text("you after talking")
    expect(reveal.locator(".lesson-verdict")).to_be_focused()
    assert findings(page) == []
    expect(page.get_by_test_id("step-p1").locator(".lesson-line")).to_have_count(4)
    first = page.get_by_role("radiogroup").first
    first.get_by_label("holds", exact=True).check()
    page.get_by_test_id("p1-more").click()
    expect(page.get_by_test_id("p1-elsewhere")).to_contain_text("you said")
    expect(page.get_by_test_id("p1-more")).to_be_hidden()
    expect(page.get_by_test_id("step-p2")).to_be_visible()
    page.reload()
    page.wait_for_function(DRAWN)
    expect(page.get_by_test_id("p1-reveal")).to_contain_text("Claim")
    expect(page.get_by_test_id("lesson-progress")).to_contain_text("1 of")
    page.get_by_test_id("lesson-all").click()
    everything = page.get_by_test_id("lesson")
    expect(everything).to_contain_text("λmax")  # with a subscript
    expect(everything).not_to_contain_text("λ_max")
    page.get_by_test_id("p3-number").fill("30")
    page.get_by_test_id("p3-sure-1").check()
    page.get_by_test_id("p3-lock").click()
    expect(page.get_by_test_id("p3-reveal")).to_contain_text("too low")
    page.get_by_test_id("exercise-a-tau").fill("many")
    page.get_by_test_id("exercise-a-check").click()
    expect(page.get_by_role("alert").filter(has_text="a number is needed")).to_be_visible()
    page.get_by_test_id("exercise-a-tau").fill("0")
    page.get_by_test_id("exercise-a-check").click()
    expect(page.get_by_test_id("exercise-a-said")).to_contain_text("Not yet")
    page.set_viewport_size({"width": 390, "height": 844})
    right, wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert right <= wide


@pytest.mark.slow
def test_on_paper_a_lesson_is_not_cut_at_the_screen(page: Page, server: str) -> None:
    opened(page, server.rstrip("/") + "/lesson/01")
    page.get_by_test_id("lesson-all").click()
    expect(page.get_by_test_id("step-last")).to_be_visible()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    paper = page.locator(".sparsescope-print .lesson")
    expect(paper.get_by_text("Where to read on")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollHeight") > 3 * page.evaluate("innerHeight")
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(paper).to_have_count(0)


def test_a_curve_is_drawn_with_a_finger(page: Page, server: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, server.rstrip("/") + "/lesson/05")
    expect(page.get_by_test_id("run-opening")).to_have_text("Run again")
    sketch = page.get_by_test_id("p1-sketch")
    sketch.scroll_into_view_if_needed()
    place = sketch.bounding_box()
    assert place is not None
    touch = page.context.new_cdp_session(page)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    for k in range(16):
        point = {
            "x": place["x"] + 20 + k * (place["width"] - 40) / 15,
            "y": place["y"] + 20 + k * (place["height"] - 40) / 15,
        }
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove" if k else "touchStart", "touchPoints": [point]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    expect(sketch).to_have_attribute("aria-label", re.compile("your curve is drawn"))
    after = sketch.bounding_box()
    assert after is not None and after["y"] == place["y"], "the page stays where it is while the finger draws"
    page.get_by_test_id("p1-sure-1").click()
    page.get_by_test_id("p1-lock").click()
    expect(page.get_by_test_id("p1-reveal").locator("dd").first).to_have_text("falls steadily")


def test_the_list_of_lessons_leads_to_each_of_them(page: Page, server: str) -> None:
    opened(page, server.rstrip("/") + "/lesson")
    page.get_by_test_id("lesson-link-01").click()
    expect(page.get_by_test_id("step-opening")).to_be_visible()
    page.get_by_role("link", name="Explorer").click()
    page.wait_for_url(server.rstrip("/") + "/")


@pytest.mark.slow
def test_other_data_are_named_while_they_run_and_the_run_can_be_stopped(page: Page, server: str) -> None:
    page.goto(server + "lesson/07")
    page.wait_for_function(DRAWN)
    page.get_by_test_id("step-p1").get_by_role("radio").first.check()
    page.get_by_test_id("p1-sure-2").check()
    page.get_by_test_id("p1-lock").click()
    expect(page.get_by_test_id("p1-reveal")).to_contain_text("Claim")
    page.get_by_test_id("p1-more").click()
    others = page.get_by_test_id("p1-elsewhere")
    expect(others).to_contain_text("(2 of ")
    page.get_by_test_id("p1-stop").click()
    expect(others).to_contain_text("Stopped.")
    assert others.get_by_role("row").count() in (2, 3)  # the head, and what was found before
    expect(page.get_by_test_id("p1-more")).to_be_enabled()
