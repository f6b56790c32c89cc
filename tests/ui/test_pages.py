"""The pages beside the explorer in a real browser: they draw, follow hands and keys, keep the address, ask nobody."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from explorer_page import Network, findings
from playwright.sync_api import Browser, Page, expect
from programs import start_explorer

from helpers import page_of_the_recipe
from sparsescope import app
from sparsescope.registry import app_pages

DRAWN = "() => window.__sparsescope && window.__sparsescope.received > 0"
# bodies that compute in a thread say when everything that was asked for is there
SETTLED = "() => { const { body } = window.__sparsescope.page; return !body.settled || body.settled() }"
NAMES = [n for n in app_pages if isinstance(app_pages[n], type) and issubclass(app_pages[n], app.Page)]
MOST_BYTES = 1_450_000  # of a first load on the wire: answers with their headers, and messages of all websockets
# small enough that a busy machine shows it soon; a page takes what it has
QUICK = {"dataset": "iris", "unit": "iterations", "budget": "20", "lane3": "none", "lane4": "none", "n_lams": "8"}
QUICK |= {"folds": "2", "resamples": "2", "features": "4"}


# The colour that is painted in the lower right corner of the window, where a short page has ended.
PAINTED_BELOW = """() => {
  const [x, y] = [innerWidth - 4, innerHeight - 4]
  let e = document.elementFromPoint(x, y)
  while (e.shadowRoot) {
    const inner = e.shadowRoot.elementFromPoint(x, y)
    if (!inner || inner === e) break
    e = inner
  }
  for (; e; e = e.parentElement || e.getRootNode().host) {
    const colour = getComputedStyle(e).backgroundColor
    if (colour !== "rgba(0, 0, 0, 0)") return colour
  }
}"""


def opened(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_function(DRAWN)


def quick(name: str) -> str:
    """The query of a page with little to compute."""
    known = {f.name for f in app_pages[name].fields}
    return "&".join(f"{key}={value}" for key, value in QUICK.items() if key in known)


def axe_finds_nothing(page: Page, name: str) -> None:
    """Neither in the light nor in the dark."""
    for theme in ("light", "dark"):
        if theme == "dark":
            page.get_by_label("Toggle theme").click()
        expect(page.get_by_test_id("page-root")).to_have_attribute("data-theme", theme)
        assert findings(page) == [], theme


def other(field: Any) -> Any:
    """A value of a setting that is not its default."""
    if field.kind == "bool":
        return not field.default
    if field.kind == "choice":
        return next(c for c in field.choices if c != field.default)
    low, high = field.low, field.high
    value = high if field.default == low else low
    return (type(field.default))(value if value is not None else field.default + 1)


def the_address_holds_every_setting(page: Page, name: str) -> None:
    given = parse_qs(urlparse(page.url).query)
    changes = {f.name: other(f) for f in app_pages[name].fields if f.name not in given}
    page.evaluate("(changes) => window.__sparsescope.page.set(changes)", changes)
    keys = list(changes)
    page.wait_for_function("(keys) => keys.every((key) => new URLSearchParams(location.search).has(key))", arg=keys)
    before = page.evaluate("window.__sparsescope.settings")
    opened(page, page.url)
    page.wait_for_function("(n) => Object.keys(window.__sparsescope.settings).length === n", arg=len(before))
    assert page.evaluate("window.__sparsescope.settings") == before
    assert {key: before[key] for key in changes} == changes


def links_to_other_pages_carry_what_they_know(page: Page, name: str) -> None:
    mine = set(parse_qs(urlparse(page.url).query))
    for to in app_pages:
        link = page.locator("nav a", has_text=app_pages.title(to)).first
        link.dispatch_event("pointerenter")
        query = set(parse_qs(urlparse(str(link.get_attribute("href"))).query))
        assert query == mine & set(app_pages[to].takes()), to


def every_picture_that_hands_move_is_moved_by_keys(page: Page, name: str) -> None:
    for picture in page.locator("[role=application]").all():
        assert picture.get_attribute("tabindex") == "0"
        assert picture.get_attribute("aria-label")
        before = page.evaluate("JSON.stringify(window.__sparsescope.settings)")
        for k in range(600):  # a picture that is still computed has nothing to move yet, one at its end only back
            for key in ("ArrowLeft", "ArrowUp") if k // 5 % 2 == 0 else ("ArrowRight", "ArrowDown"):
                picture.press(key)
            if page.evaluate("JSON.stringify(window.__sparsescope.settings)") != before:
                break
            page.wait_for_timeout(200)
        else:
            raise AssertionError("keys move nothing")


QUESTIONS = (
    axe_finds_nothing,
    links_to_other_pages_carry_what_they_know,
    every_picture_that_hands_move_is_moved_by_keys,
    the_address_holds_every_setting,
)


@pytest.mark.parametrize("name", NAMES)
def test_every_page_fits_the_screen_asks_nobody_outside_and_answers_one_question(
    newcomer: Page, counted: Any, name: str
) -> None:
    page = newcomer
    network = Network(page)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    before = counted.received
    for width, height in ((1280, 720), (390, 844), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        if width != 1440:  # a window that is drawn larger
            opened(page, f"{counted.url}{name}?{quick(name)}")
        page.wait_for_function(SETTLED)
        page.wait_for_function("(width) => innerWidth === width", arg=width)
        right, wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert right <= wide, width
        expect(page.get_by_test_id("copy-link")).to_be_in_viewport(ratio=0.9)
        ground = page.get_by_test_id("page-root").evaluate("(root) => getComputedStyle(root).backgroundColor")
        assert page.evaluate(PAINTED_BELOW) == ground, "the page ends with an edge"
        ends, begins = (part.bounding_box() for part in (page.locator("header .title"), page.locator("header nav")))
        assert ends and begins and ends["x"] + ends["width"] <= begins["x"], "the name lies over the list of pages"
        expect(page.locator("header nav a[aria-current]")).to_be_in_viewport()
        if width == 1280:
            assert 1_000_000 < counted.received - before <= MOST_BYTES
        expect(page.locator(".explorer .main").first).to_contain_text(re.compile(r"\w+(\s+\S+){10}"))
    # Every page is asked one of the questions here, where it is open anyway, and all of them by `make test-all`.
    QUESTIONS[NAMES.index(name) % len(QUESTIONS)](page, name)
    assert not errors and not network.outside


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_every_page_answers_every_question(
    page: Page, server: str, name: str, question: Callable[[Page, str], None]
) -> None:
    opened(page, f"{server.rstrip('/')}/{name}?{quick(name)}")
    page.wait_for_function(SETTLED)
    question(page, name)


@pytest.mark.slow
def test_the_start_on_the_plane_follows_the_pointer_and_every_dot_is_an_iterate(page: Page, server: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    opened(page, f"{server.rstrip('/')}/geometry?dataset=iris&iterations=20")
    page.wait_for_function(SETTLED)
    plot = page.get_by_test_id("plane")
    size = plot.evaluate("(node) => node.clientWidth")
    plot.hover(position={"x": 0.5 * size, "y": 0.5 * size})
    page.mouse.down()
    for share in (0.55, 0.6, 0.65, 0.7):
        plot.hover(position={"x": share * size, "y": 0.3 * size})
    page.mouse.up()
    page.wait_for_function(
        "() => { const { settings, page } = window.__sparsescope, { wanted } = page.body.paths;"
        " return wanted[0] === settings.start1 && wanted[1] === settings.start2 }"
    )
    page.wait_for_function(SETTLED)
    answers = page.evaluate("window.__sparsescope.page.body.answers.length")
    assert answers >= 1
    paths = page.evaluate("window.__sparsescope.page.body.paths")
    for path in paths["paths"]:
        dots = page.locator(f".plane-path[data-lane={path['name']}]").get_attribute("d")
        assert str(dots).count("M") == len(path["points"]) // 2 == path["iterations"] + 1
    page.get_by_label("stretch").press("ArrowRight")
    page.wait_for_function("() => window.__sparsescope.settings.stretch > 1")
    expect(page.get_by_test_id("plane-table")).to_contain_text("as given")


@pytest.mark.slow
def test_the_prox_page_follows_the_pointer_the_keys_and_the_address(page: Page, network: Network, server: str) -> None:
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


def test_a_race_draws_its_lanes_and_its_table_and_is_reached_with_the_explorers_settings(
    page: Page, server: str
) -> None:
    opened(page, server.rstrip("/") + "/race?dataset=iris&unit=iterations&budget=100&lane4=none")
    expect(page.get_by_test_id("race-status")).to_have_text("Done")
    table = page.get_by_test_id("race-table")
    expect(table.locator("tbody tr")).to_have_count(3)
    expect(page.locator(".race-line")).to_have_count(3)
    expect(page.locator(".race-label")).to_have_count(3)
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


def test_the_path_grows_and_a_click_chooses_lam_for_all_pages(page: Page, network: Network, server: str) -> None:
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
    expect(page.get_by_test_id("path-stability")).to_contain_text(
        "of 2 halves of the samples at this λ or a larger one (✓)"
    )
    body = "window.__sparsescope.page.body"
    names = page.locator(".path-name")
    names.first.evaluate(f"(name) => {{ name.textContent = {body}.fit('W'.repeat(40)) }}")
    beyond = "(name) => name.getBoundingClientRect().right - name.ownerSVGElement.getBoundingClientRect().right"
    assert names.first.evaluate(beyond) <= 0, "a name of wide letters ends inside the picture"
    page.evaluate(f"{body}.shares = {{ ...{body}.shares, halves: 1 }}; {body}.drawList()")
    expect(page.get_by_test_id("path-stability")).to_contain_text("1 of 2 halves of the samples are counted")
    assert "✓" not in str(page.locator(".path-side").first.text_content()), "nothing is called stable after one half"
    page.get_by_test_id("path-explorer").click()
    page.wait_for_function("() => window.__sparsescope && window.__sparsescope.settings.dataset === 'iris'")


@pytest.mark.slow
def test_the_table_of_a_sweep_is_sorted_by_its_heads_and_saved(
    page: Page, network: Network, server: str, tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    opened(page, server.rstrip("/") + "/sweep?dataset=iris&n_lams=4&loss=crammer-singer&solver1=ssnal&solver2=bcd-ls")
    page.wait_for_function(SETTLED)
    expect(page.get_by_test_id("sweep-progress")).to_have_attribute("aria-valuenow", "8")
    expect(page.get_by_test_id("sweep-key")).to_contain_text("4 failed")
    expect(page.get_by_test_id("sweep-failures")).to_contain_text("bcd-ls needs a smooth loss")
    expect(page.get_by_test_id("sweep-best")).to_contain_text("test accuracy")
    cells = "(table) => [...table.tBodies[0].rows].map((row) => Number(row.cells[5].textContent))"
    sorting = page.get_by_test_id("sweep-table").locator("th:has([data-testid=sweep-sort-objective])")
    page.get_by_test_id("sweep-sort-objective").click()
    expect(sorting).to_have_attribute("aria-sort", "ascending")  # it is drawn in the next frame
    known = page.get_by_test_id("sweep-table").evaluate(cells)[:4]
    assert known == sorted(known) and len(set(known)) == 4
    page.get_by_test_id("sweep-sort-objective").press("Enter")
    expect(sorting).to_have_attribute("aria-sort", "descending")
    assert page.get_by_test_id("sweep-table").evaluate(cells)[:4] == known[::-1]
    expect(page.get_by_test_id("sweep-sort-objective")).to_be_focused()
    with page.expect_download() as saved:
        page.get_by_test_id("sweep-csv").click()
    saved.value.save_as(tmp_path / "sweep.csv")
    lines = (tmp_path / "sweep.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 9 and lines[0].startswith("problem,lam,lam_ratio,solver,seed,test_accuracy")


@pytest.mark.slow
def test_the_page_of_the_recipe_is_drawn_by_being_there(page: Page, tmp_path: Path) -> None:
    name, files = page_of_the_recipe()
    root = Path(__file__).resolve().parents[2]
    shutil.copytree(root / "toolkit", tmp_path / "toolkit", ignore=shutil.ignore_patterns("__pycache__"))
    for place, code in files.items():
        (tmp_path / place).write_text(code, encoding="utf-8")
    program, address = start_explorer(PYTHONPATH=str(tmp_path / "toolkit"))
    try:
        opened(page, f"{address}{name}?frequency=3")
        path = page.locator("section.card path")
        before = path.get_attribute("d")
        assert str(before).count("L") == 199
        page.get_by_label("frequency").press("ArrowRight")
        page.wait_for_function("() => window.__sparsescope.settings.frequency > 3")
        page.wait_for_function("() => location.search.includes('frequency=3.')")
        expect(path).not_to_have_attribute("d", str(before))
        assert findings(page) == []
        page.get_by_role("link", name="Prox", exact=True).click()
        page.wait_for_url("**/prox*")
    finally:
        program.stop()


def test_a_file_is_uploaded_its_columns_get_roles_and_all_pages_of_this_browser_have_it(
    page: Page, network: Network, server: str, tmp_path: Path, browser: Browser
) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    lines = [f"{i},{i * 7 % 13},{'red' if i % 3 else 'blue'},<b>k{i % 2}</b>" for i in range(60)]
    file = tmp_path / "<i>mine.csv"
    file.write_text("\n".join(["id,x,colour,class", *lines]), encoding="utf-8")
    opened(page, server.rstrip("/") + "/data?dataset=iris")
    expect(page.get_by_test_id("data-facts")).to_contain_text("112")
    page.get_by_test_id("data-file").set_input_files(str(file))
    expect(page.get_by_test_id("data-title")).to_have_text("<i>mine.csv")
    expect(page.get_by_test_id("data-report")).to_contain_text("60 rows and 4 columns were read")
    assert page.get_by_test_id("data-role").evaluate_all("(all) => all.map((one) => one.value)") == [
        "ignored", "feature", "feature", "label",
    ]  # fmt: skip
    page.get_by_test_id("data-role").nth(0).select_option("label")
    expect(page.get_by_test_id("data-error")).to_contain_text("different values")
    page.get_by_test_id("data-role").nth(3).select_option("label")
    expect(page.get_by_test_id("data-error")).to_be_hidden()
    page.get_by_test_id("data-role").nth(2).select_option("ignored")
    expect(page.get_by_test_id("data-facts")).to_contain_text("45 for training, 15 held out")
    page.wait_for_function("() => location.search.includes('upload')")
    page.get_by_test_id("data-to-path").click()
    page.wait_for_function("() => window.__sparsescope?.page?.body?.points?.length > 3")
    address = page.url
    assert "upload" in address
    page.get_by_test_id("path-explorer").click()
    page.wait_for_function("() => window.__sparsescope?.settings?.dataset?.startsWith('upload:')")
    stranger = browser.new_page()
    opened(stranger, address)
    assert stranger.evaluate("window.__sparsescope.settings.dataset") == "pydocs"
    expect(stranger.locator(".box.notices")).to_contain_text("another browser")
    stranger.close()
    opened(page, server.rstrip("/") + "/data")
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK nonsense")
    page.get_by_test_id("data-file").set_input_files(str(broken))
    expect(page.get_by_test_id("data-state")).to_contain_text("broken.npz is not a readable .npz file")
    page.get_by_test_id("data-show").click()
    page.get_by_test_id("data-remove").click()
    expect(page.get_by_test_id("data-show")).to_have_count(0)
    assert page.locator("b").count() == 0


@pytest.mark.slow
def test_the_network_zooms_and_its_edges_follow_lam(page: Page, network: Network, server: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    opened(page, server.rstrip("/") + "/network?dataset=wine&n_lams=6&ratio=0.2&resamples=2&lam_ratio=1")
    page.wait_for_function(SETTLED)
    expect(page.get_by_test_id("network-facts")).to_contain_text("0 edges")
    page.get_by_test_id("network-lines").press("End")
    page.wait_for_function("() => location.search.includes('lam_ratio=0.2')")
    expect(page.get_by_test_id("network-list").get_by_role("listitem").first).to_contain_text("–")
    expect(page.get_by_test_id("network-stability")).to_contain_text("of 2 halves of the samples, at this λ")
    zoom = "window.__sparsescope.page.body.chart.zoom"
    places = "JSON.stringify(window.__sparsescope.page.body.chart.nodes.map(({ x, y }) => [x, y]))"
    whole = page.evaluate(places)
    page.get_by_test_id("zoom-in").click()
    page.wait_for_function(f"(whole) => {places} !== whole", arg=whole)
    plot = page.get_by_test_id("chart-network").locator(".chart-plot")
    plot.press("+")
    page.wait_for_function(f"() => {zoom}.scale > 1.9")
    x = page.evaluate(f"{zoom}.x")
    plot.press("ArrowLeft")
    assert page.evaluate(f"{zoom}.x") > x
    plot.press("0")
    page.wait_for_function(f"(whole) => {places} === whole", arg=whole)
    page.get_by_test_id("network-explorer").hover()
    link = str(page.get_by_test_id("network-explorer").get_attribute("href"))
    assert "task=covariance" in link and "dataset=wine" in link
