"""Every lesson done as a student does it: answered, run, repeated elsewhere, broken, exercised, resumed, printed."""

from __future__ import annotations

from typing import Any

import pytest
from explorer_page import Network
from playwright.sync_api import Locator, Page, expect

from sparsescope import registry
from sparsescope.lessons.answers import Kind
from sparsescope.lessons.base import Exercise, Lesson, Part
from sparsescope.lessons.kinds import Choice, Order, Sketch, Slider

LESSONS: list[Lesson] = [registry.lessons[name] for name in registry.lessons]
PAGES = [pytest.param(lesson, page, id=place) for lesson in LESSONS
         for page, place in zip(lesson.pages, lesson.places, strict=True)]  # fmt: skip
BY_KEYBOARD = 4  # this one is done without a mouse
DRAWN = "() => window.__sparsescope && window.__sparsescope.received > 0"
FOCUSED = """(selector) => {
  let element = document.activeElement
  while (element && element.shadowRoot && element.shadowRoot.activeElement) element = element.shadowRoot.activeElement
  return Boolean(element && element.matches(selector))
}"""
MOST_TABS = 600


def named(testid: str) -> str:
    """Selector of an element of the page."""
    return f"[data-testid='{testid}']"


class Mouse:
    """A student's hand: the mouse, and a keyboard for numbers."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, selector: str) -> None:
        """Press a button, or choose an option."""
        self.page.locator(selector).first.click()

    def write(self, selector: str, text: str) -> None:
        """Write into a field."""
        self.page.locator(selector).fill(text)

    def draw(self, selector: str) -> None:
        """Draw a curve that falls."""
        box = self.page.locator(selector)
        box.scroll_into_view_if_needed()
        place = box.bounding_box()
        assert place is not None
        self.page.mouse.move(place["x"] + 20, place["y"] + 20)
        self.page.mouse.down()
        self.page.mouse.move(place["x"] + place["width"] - 20, place["y"] + place["height"] - 30, steps=15)
        self.page.mouse.up()


class Keyboard(Mouse):
    """The same by keys alone: every element is reached with Tab."""

    most = MOST_TABS

    def reach(self, selector: str) -> None:
        """Go there with Tab."""
        for _ in range(self.most):
            if self.page.evaluate(FOCUSED, selector):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{selector} is not reached with {self.most} tabs")

    def press(self, selector: str) -> None:
        """Press a button, or choose an option."""
        self.reach(selector)
        self.page.keyboard.press("Space")

    def write(self, selector: str, text: str) -> None:
        """Write into a field."""
        self.reach(selector)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)

    def draw(self, selector: str) -> None:
        """Draw a curve that falls."""
        self.reach(selector)
        for _ in range(12):
            self.page.keyboard.press("ArrowRight")
            self.page.keyboard.press("ArrowDown")


def answer(hand: Mouse, kind: Kind, name: str) -> None:
    """Answer a question, whatever the answer."""
    if isinstance(kind, Choice):
        hand.press(f"{named('step-' + name)} input[name='{name}']")
    elif isinstance(kind, Slider):
        hand.write(named(name + "-number"), f"{kind.guess():g}")
    elif isinstance(kind, Order):
        hand.press(named(f"{name}-down-{next(iter(kind.items))}"))
    else:
        assert isinstance(kind, Sketch)
        hand.draw(named(name + "-sketch"))


def predict(page: Page, hand: Mouse, lesson: Lesson, k: int, talk: bool) -> Locator:
    """Answer, lock in, run; return the reveal."""
    name = f"p{k}"
    answer(hand, lesson.predictions[k - 1].kind, name)
    hand.press(named(name + "-sure-1"))
    if talk:
        hand.press(named(name + "-talk"))
        expect(page.get_by_test_id(name + "-first")).to_contain_text("vote again")
    hand.press(named(name + "-lock"))
    reveal = page.get_by_test_id(name + "-reveal")
    expect(reveal).to_contain_text("Claim")
    return reveal


def typed(exercise: Exercise, value: Any) -> dict[str, str]:
    """An answer to an exercise as the texts of its inputs."""
    parts = value if isinstance(value, dict) else {exercise.inputs[0].name: value}
    return {key: ", ".join(map(str, v)) if isinstance(v, list | tuple) else str(v) for key, v in parts.items()}


def check(page: Page, hand: Mouse, letter: str, exercise: Exercise, value: Any, said: str) -> None:
    """Type an answer to an exercise and check it."""
    for part in exercise.inputs:
        text = typed(exercise, value)[part.name]
        field = named(f"exercise-{letter}-{part.name}")
        if part.kind == "choice":
            page.locator(field).select_option(text)
        else:
            hand.write(field, text)
    hand.press(named(f"exercise-{letter}-check"))
    expect(page.get_by_test_id(f"exercise-{letter}-said")).to_contain_text(said)


def opened(page: Page, address: str, opening: str) -> None:
    """Open a page of a lesson and wait for its first picture."""
    page.goto(address)
    page.wait_for_function(DRAWN)
    expect(page.get_by_test_id(f"run-{opening}")).to_have_text("Run again")


@pytest.mark.slow
@pytest.mark.parametrize(("lesson", "part"), PAGES)
def test_a_page_of_a_lesson_is_done_from_its_opening_to_its_last_sentence(
    page: Page, network: Network, server: str, lesson: Lesson, part: Part
) -> None:
    hand = (Keyboard if lesson.number == BY_KEYBOARD else Mouse)(page)
    opening = next(name for name, scene in lesson.scenes.items() if scene is part.opening)
    opened(page, f"{server.rstrip('/')}/lesson/{lesson.place}{part.letter}", opening)
    first, *_, last = part.predictions
    if lesson.before is not None:
        hand.press(named("run-card"))
        expect(page.get_by_test_id("run-card")).to_have_text("Run again")
    for k in part.predictions:
        assert k == last or page.get_by_test_id(f"step-p{k + 1}").is_hidden()
        predict(page, hand, lesson, k, talk=k == first)
        if k == first:
            hand.press(f"{named(f'step-p{k}')} .lesson-bets input")
            hand.press(named(f"p{k}-more"))
            expect(page.get_by_test_id(f"p{k}-elsewhere")).to_contain_text("you said")
            expect(page.get_by_test_id(f"p{k}-more")).to_be_hidden()
    for k in part.breaks:
        hand.press(named(f"run-break{k}"))
        expect(page.get_by_test_id(f"run-break{k}")).to_have_text("Run again")
    for letter in part.exercises:
        exercise = lesson.exercises[letter]
        if exercise.inputs:
            check(page, hand, letter, exercise, exercise.wrong(0), "Not yet.")
            check(page, hand, letter, exercise, exercise.right(0), "Passed.")
    hand.write(named("lesson-words"), "In my own words.")
    told = page.get_by_test_id("lesson-progress").inner_text()
    done, of = told.split()[:3:2]
    assert done == of, f"all that can be done here is done: {told}"
    resumed_and_printed(page, lesson, part, told)


def resumed_and_printed(page: Page, lesson: Lesson, part: Part, told: str) -> None:
    """Reload: the page goes on where it was left, and prints with the student's own curves."""
    curves = sum(isinstance(lesson.predictions[k - 1].kind, Sketch) for k in part.predictions)
    page.reload()
    page.wait_for_function(DRAWN)
    expect(page.get_by_test_id("lesson-progress")).to_have_text(told)
    expect(page.get_by_test_id("lesson-words")).to_have_value("In my own words.")
    assert page.locator(".lesson-reveal .lesson-pair").count() == len(part.predictions)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    paper = page.locator(".sparsescope-print .lesson")
    assert paper.locator(".lesson-reveal .lesson-pair").count() == len(part.predictions)
    assert paper.locator(".lesson-measured-curve").count() == curves
    assert paper.locator(".lesson-sketch path[stroke-dasharray]").count() == curves
    assert paper.locator("textarea").text_content() == "In my own words."
    page.evaluate("dispatchEvent(new Event('afterprint'))")


@pytest.mark.slow
def test_a_part_ends_and_the_next_one_begins_with_its_own_answers(page: Page, server: str) -> None:
    lesson = LESSONS[-1]
    assert [part.letter for part in lesson.parts] == ["a", "b"]
    before, after = (lesson.predictions[part.predictions[0] - 1] for part in lesson.parts)
    opened(page, server.rstrip("/") + "/lesson/10", "opening")
    assert page.url.endswith("/lesson/10a")
    assert page.get_by_test_id(f"step-p{lesson.parts[1].predictions[0]}").count() == 0
    page.get_by_test_id("lesson-all").click()
    page.get_by_test_id("lesson-words").fill("The end of part a.")
    page.get_by_test_id("lesson-next").click()
    page.wait_for_url("**/lesson/10b")
    expect(page.get_by_test_id("run-opening-b")).to_have_text("Run again")
    expect(page.get_by_test_id("lesson")).to_contain_text(after.question[:18])  # as far as nothing has a subscript
    expect(page.get_by_test_id("lesson")).not_to_contain_text(before.question[:18])
    expect(page.get_by_test_id("lesson-words")).to_have_value("")
    page.get_by_test_id("lesson-forget").click()
    opened(page, server.rstrip("/") + "/lesson/10a", "opening")
    expect(page.get_by_test_id("lesson-words")).to_have_value("The end of part a.")
