"""The pages beside the explorer in a real browser: they draw, follow hands and keys, keep the address, ask nobody."""

from __future__ import annotations

from explorer_page import Network
from playwright.sync_api import Page, expect

DRAWN = "() => window.__sparsescope && window.__sparsescope.received > 0"


def opened(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_function(DRAWN)


def test_the_prox_page_follows_the_pointer_the_keys_and_the_address(page: Page, server: str) -> None:
    network = Network(page)
    page.set_viewport_size({"width": 1280, "height": 720})
    opened(page, server.rstrip("/") + "/prox?tau=0.5")
    plot = page.get_by_test_id("prox-l1/l2")
    plot.hover()  # waits until it stays where it is
    page.mouse.down()
    size = plot.evaluate("(node) => node.clientWidth")
    plot.hover(position={"x": 0.9 * size, "y": 0.3 * size})
    page.mouse.up()
    page.wait_for_function("() => window.__sparsescope.settings.v1 > 1.5 && window.__sparsescope.settings.v2 > 0.5")
    page.wait_for_function("() => window.__sparsescope.picture.v[0] === window.__sparsescope.settings.v1")
    before = page.evaluate("window.__sparsescope.settings.v1")
    plot.press("ArrowLeft")
    page.wait_for_function("(x) => window.__sparsescope.picture.v[0] < x", arg=before)
    page.wait_for_function("() => location.search.includes('tau=0.5') && location.search.includes('v1=')")
    assert plot.evaluate("(node) => node.querySelectorAll('path, circle, line').length") > 5
    expect(page.get_by_test_id("prox-saying-ridge")).to_contain_text("no τ sends it to zero")
    right, wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert right <= wide
    assert not network.outside, network.outside


def test_a_race_draws_its_lanes_and_its_table_and_is_reached_with_the_explorers_settings(
    page: Page, server: str
) -> None:
    opened(page, server.rstrip("/") + "/race?dataset=iris&unit=iterations&budget=100&lane4=none")
    expect(page.get_by_test_id("race-status")).to_have_text("Done")
    table = page.get_by_test_id("race-table")
    expect(table.locator("tbody tr")).to_have_count(3)
    assert page.locator(".race-line").count() == 3
    assert {node.text_content() for node in page.locator(".race-label").all()} == {"bcd-ls", "fista-ls", "working-set"}
    page.get_by_test_id("race-axis").select_option("passes")
    expect(page.get_by_test_id("race-plot")).to_contain_text("passes over the data")
    page.get_by_test_id("race-scrub").focus()
    page.keyboard.press("Home")
    assert page.locator(".race-line").count() <= 3
    page.set_viewport_size({"width": 390, "height": 844})
    right, wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert right <= wide
    page.get_by_role("link", name="Explorer").hover()
    assert "dataset=iris" in str(page.get_by_role("link", name="Explorer").get_attribute("href"))


def test_the_path_grows_and_a_click_chooses_lam_for_all_pages(page: Page, server: str) -> None:
    network = Network(page)
    page.set_viewport_size({"width": 1280, "height": 720})
    opened(page, server.rstrip("/") + "/path?dataset=iris&n_lams=8&ratio=0.05&folds=2&resamples=2&lam_ratio=0.5")
    expect(page.get_by_test_id("path-status")).to_have_text("Done.")
    assert page.evaluate("window.__sparsescope.page.body.lines.length") >= 2
    expect(page.get_by_test_id("path-curves").locator(".path-band")).to_have_count(1)
    page.get_by_test_id("path-plot").press("End")
    page.wait_for_function("() => location.search.includes('lam_ratio=0.05')")
    expect(page.get_by_test_id("path-facts")).to_contain_text("0.05")
    page.get_by_test_id("path-explorer").hover()
    link = str(page.get_by_test_id("path-explorer").get_attribute("href"))
    assert "dataset=iris" in link and "lam_ratio=0.05" in link
    page.get_by_test_id("path-best").click()
    page.get_by_test_id("path-what").select_option("share")
    expect(page.get_by_test_id("path-stability")).to_contain_text("stable")
    page.get_by_test_id("path-explorer").click()
    page.wait_for_function("() => window.__sparsescope && window.__sparsescope.settings.dataset === 'iris'")
    assert not network.outside, network.outside
