"""A teacher and two students in real browsers: questions, talking, moderation, everyone to one state, a restart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from explorer_page import Network
from playwright.sync_api import Browser, Page, expect
from programs import Program, free_port, start_class

import sparsescope

NASTY = "<img src=x onerror=\"document.title='hacked'\"> Why?"
LATE = 120_000  # ms
# The link to the class looks from time to time whether its tab has another explorer; on this page it never does, as on
# one where somebody presses a button before the first look.
LINK = Path(sparsescope.__file__).parent / "live" / "static" / "js" / "class" / "link.js"
LOOK = re.findall(r"const LOOK = (\d+);", LINK.read_text(encoding="utf-8"))
NO_LOOK = f"""
const every = setInterval;
window.setInterval = (call, ms, ...more) => (ms === {LOOK[0]} ? 0 : every(call, ms, ...more));
"""
NEVER_WIDER = "document.documentElement.scrollWidth <= innerWidth"


class Server:
    """A class that is kept in a file, so that it can be started again."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "class.sqlite"
        self.port = free_port()
        self.program: Program
        self.link = ""

    def start(self) -> None:
        self.program, self.link = start_class("--port", str(self.port), "--keep", str(self.file), "--linger", "1")

    def end(self) -> None:
        assert self.program.stop() == 0
        said = "".join(self.program.lines)
        assert "Traceback" not in said, said

    @property
    def root(self) -> str:
        return f"http://localhost:{self.port}"


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    server.start()
    yield server
    server.end()


def visitor(browser: Browser, width: int, height: int, dark: bool = False) -> Page:
    """A page of a separate browser, with its cookies."""
    scheme = "dark" if dark else "light"
    page = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme).new_page()
    page.set_default_timeout(LATE)
    return page


def test_a_class_predicts_talks_asks_follows_and_outlives_its_server(browser: Browser, room: Server) -> None:
    teacher, phone, desk = visitor(browser, 1280, 800), visitor(browser, 390, 844, True), visitor(browser, 1280, 720)
    networks = [Network(page) for page in (teacher, phone, desk)]
    faults: list[str] = []
    for page in (teacher, phone, desk):
        page.on("pageerror", lambda error: faults.append(str(error)))
    teacher.goto(room.link)
    assert "key=" not in teacher.url
    phone.goto(room.root + "/class")
    desk.goto(room.root + "/?dataset=iris")
    expect(teacher.get_by_test_id("board-count")).to_contain_text("2 here now")

    # A question, two predictions, one of them in the corner of the explorer.
    teacher.get_by_test_id("ask-text").fill("More rows or fewer?")
    teacher.get_by_test_id("ask-answers").fill("*more rows\nfewer rows | λ is a price.\n<b>bold</b>")
    teacher.get_by_test_id("ask").click()
    phone.get_by_label("fewer rows", exact=True).check()
    phone.get_by_role("button", name="Sure", exact=True).click()
    phone.get_by_test_id("lock-in").click()
    expect(phone.get_by_test_id("class-in")).to_be_visible()
    desk.get_by_test_id("class-panel").get_by_label("more rows", exact=True).check()
    desk.get_by_test_id("lock-in").click()
    tile = teacher.get_by_test_id("tile")
    expect(tile.get_by_test_id("tile-facts")).to_contain_text("2 of 2 in")
    expect(tile.get_by_test_id("talk")).to_be_visible()
    expect(tile).not_to_contain_text("λ is a price.")
    expect(tile.locator(".measured")).to_have_count(0)
    expect(tile.locator("[data-label='<b>bold</b>']")).to_be_visible()
    tile.get_by_test_id("measured").click()
    expect(tile.locator(".measured")).to_contain_text("more rows")
    expect(tile).to_contain_text("λ is a price.")
    assert phone.get_by_text("λ is a price.").count() == 0

    # What a student types is text, and waits.
    phone.get_by_test_id("class-box").fill(NASTY)
    phone.get_by_test_id("class-drop").click()
    expect(teacher.get_by_test_id("waiting-head")).to_contain_text("1 question,")
    assert NASTY not in desk.get_by_test_id("class-panel").inner_text()
    teacher.get_by_test_id("waiting-head").click()
    expect(teacher.get_by_test_id("waiting")).to_contain_text(NASTY)
    teacher.get_by_role("button", name="Show to all").click()
    expect(teacher.get_by_test_id("box-shown")).to_contain_text(NASTY)
    expect(desk.get_by_test_id("class-panel")).to_contain_text(NASTY)
    assert teacher.title() == "sparsescope: the class" and "hacked" not in phone.title() + desk.title()

    # The server is started again in the middle; every page comes back by itself.
    room.end()
    lost = [teacher.get_by_test_id("board-refused"), phone.get_by_test_id("class-away")]
    for line in lost:
        expect(line).to_contain_text("connection is lost")
    room.start()
    for line in lost:
        expect(line).to_have_text("")
    expect(teacher.get_by_test_id("board-count")).to_contain_text("2 here now")
    expect(tile.get_by_test_id("tile-facts")).to_contain_text("2 of 2 in")
    tile.get_by_test_id("vote").click()
    phone.get_by_label("more rows", exact=True).check()
    phone.get_by_test_id("lock-in").click()
    expect(tile.get_by_test_id("tile-facts")).to_contain_text("1 again after talking")
    tile.get_by_test_id("reveal").click()
    expect(phone.get_by_test_id("class-verdict")).to_have_text("Your prediction was right.")

    # Everybody to what the teacher sees; then pages follow.
    shown = teacher.context.new_page()
    shown.set_default_timeout(LATE)
    shown.add_init_script(NO_LOOK)
    shown.goto(room.root + "/?dataset=wine&lam_ratio=0.25")
    shown.wait_for_function("() => window.__sparsescope?.settings.dataset === 'wine'")
    shown.get_by_test_id("class-fold").click()
    desk.wait_for_function("() => window.__sparsescope?.settings.dataset === 'iris'")
    shown.get_by_test_id("everyone").click()
    desk.wait_for_function(
        "() => { const s = window.__sparsescope?.settings; return s && s.dataset === 'wine' && s.lam_ratio === 0.25 }"
    )
    shown.get_by_test_id("follow").click()
    expect(shown.get_by_test_id("follow")).to_have_attribute("aria-pressed", "true")
    shown.get_by_test_id("class-data").select_option("digits")
    desk.wait_for_function("() => window.__sparsescope?.settings.dataset === 'digits'")

    # The teacher's own run on the student's page, which leaves it again.
    shown.get_by_test_id("show-run").click()
    expect(desk.get_by_test_id("watching")).to_contain_text("You watch the run of your teacher.")
    expect(shown.get_by_test_id("watchers")).to_contain_text("1 page watches your run")
    shown.get_by_test_id("step10-button").click()
    desk.wait_for_function("() => window.__sparsescope.status.iteration === 10 && window.__sparsescope.points === 11")
    assert desk.get_by_test_id("run-button").evaluate("button => button.closest('[inert]') !== null")
    desk.keyboard.press("r")
    desk.get_by_test_id("leave-button").click()
    expect(desk.get_by_test_id("watching")).to_be_hidden()
    desk.wait_for_function("() => window.__sparsescope.status.iteration === 0")
    assert shown.evaluate("() => window.__sparsescope.status.iteration") == 10
    expect(desk.get_by_test_id("watch-run")).to_be_visible()

    table = teacher.request.get(room.root + "/class/answers.csv").text()
    assert table.count("More rows or fewer?") == 3 and phone.request.get(room.root + "/class/answers.csv").status == 403
    for page in (teacher, phone, desk):
        assert page.evaluate(NEVER_WIDER)
    assert not faults and not [outside for network in networks for outside in network.outside]
    for page in (teacher, phone, desk):
        page.context.close()


@pytest.mark.slow
def test_every_kind_of_prediction_is_made_with_the_keyboard(browser: Browser, room: Server) -> None:
    teacher, phone = visitor(browser, 1280, 800), visitor(browser, 390, 844)
    teacher.goto(room.link)
    phone.goto(room.root + "/class")
    for kind, text in (
        ("several", "Which?"),
        ("order", "In which order?"),
        ("slider", "How many?"),
        ("sketch", "Draw"),
    ):
        teacher.get_by_test_id("ask-kind").select_option(kind)
        teacher.get_by_test_id("ask-text").fill(text)
        if teacher.get_by_test_id("ask-answers").is_visible():
            teacher.get_by_test_id("ask-answers").fill("*ridge\n*lasso\ngroup")
        teacher.get_by_test_id("ask").click()
        card = phone.get_by_test_id("class-question").filter(has_text=text)
        expect(card).to_be_visible()
        if kind == "several":
            card.get_by_label("ridge").press("Space")
            card.get_by_label("lasso").press("Space")
        elif kind == "order":
            card.get_by_label("group: earlier").press("Enter")
        elif kind == "slider":
            card.get_by_role("slider").press("End")
        else:
            card.get_by_role("button", name="peak early").press("Enter")
        card.get_by_test_id("lock-in").press("Enter")
        expect(card.get_by_test_id("class-in")).to_be_visible()
    tiles = teacher.get_by_test_id("tile")
    expect(tiles).to_have_count(4)
    for label in ("ridge + lasso", "ridge → group → lasso", "87.5 – 100", "peak early"):
        expect(tiles.locator(f"[data-label='{label}'] .before i")).to_have_text("1")
    for page in (teacher, phone):
        page.context.close()
