"""Lessons by keys alone: every element is reached forwards, and the focus is always somewhere and can be seen."""

from __future__ import annotations

from typing import Any

import pytest
from explorer_page import findings
from playwright.sync_api import Page, expect
from test_lessons_done import LESSONS, Keyboard, answer, named, opened, typed

from sparsescope.lessons.base import Lesson
from sparsescope.lessons.kinds import Choice, Order, Sketch, Slider

DONE = [lesson for lesson in LESSONS
        if {type(p.kind) for p in lesson.predictions} == {Choice, Order, Sketch, Slider}]  # fmt: skip
NEAR = 40  # tabs from one element to the next that is needed
FOCUS = """() => {
  let element = document.activeElement
  while (element && element.shadowRoot && element.shadowRoot.activeElement) element = element.shadowRoot.activeElement
  if (!element || element === document.body || element.shadowRoot) return null
  const [style, step] = [getComputedStyle(element), element.closest("[data-testid^='step-']")]
  return {
    name: element.dataset.testid || "", classes: element.className, step: step ? step.dataset.testid : "",
    tag: element.tagName, seen: element.matches(":focus-visible") && style.outlineStyle !== "none",
  }
}"""


class Forwards(Keyboard):
    """Keys of somebody who never goes back: Tab leads on from what was done last."""

    most = NEAR

    def focus(self) -> dict[str, Any]:
        """Return the element that has the focus; it has to be there and to be seen."""
        found = self.page.evaluate(FOCUS)
        assert found is not None, "the focus is lost"
        assert found["seen"], f"the focus cannot be seen on {found}"
        return dict(found)


def answered(page: Page, hand: Forwards, lesson: Lesson, k: int) -> None:
    """Answer a prediction by keys, lock it in and wait for what was measured."""
    name, kind = f"p{k}", lesson.predictions[k - 1].kind
    if isinstance(kind, Slider):
        hand.reach(named(name + "-range"))
        page.keyboard.press("ArrowRight")
        expect(page.get_by_test_id(name + "-number")).not_to_have_value("")
    answer(hand, kind, name)
    if isinstance(kind, Order):
        assert hand.focus()["name"].endswith(next(iter(kind.items))), "the focus goes along with what was moved"
    hand.press(named(name + "-sure-1"))
    page.keyboard.press("ArrowRight")
    expect(page.get_by_test_id(name + "-sure-2")).to_be_checked()
    hand.press(named(name + "-lock"))
    assert hand.focus()["step"] == f"step-{name}", "while it runs"
    expect(page.get_by_test_id(name + "-reveal")).to_contain_text("Claim")
    here = hand.focus()
    assert here["step"] == f"step-{name}" and "lesson-verdict" in here["classes"], "where the answer begins"


@pytest.mark.slow
@pytest.mark.parametrize("lesson", DONE[:2], ids=lambda lesson: lesson.place)
def test_a_lesson_is_done_by_keys_and_the_focus_is_never_lost(page: Page, server: str, lesson: Lesson) -> None:
    hand = Forwards(page)
    opened(page, f"{server.rstrip('/')}/lesson/{lesson.place}", "opening")
    for k in range(1, len(lesson.predictions) + 1):
        answered(page, hand, lesson, k)
        if k > 1:
            continue
        hand.press(f"{named('step-p1')} .lesson-bets input")
        hand.press(named("p1-more"))
        assert hand.focus()["step"] == "step-p1", "while it runs elsewhere"
        expect(page.get_by_test_id("p1-more")).to_be_hidden()
        assert "lesson-scroll" in hand.focus()["classes"], "at what was found elsewhere"
    for k in range(1, len(lesson.breaks) + 1):
        hand.press(named(f"run-break{k}"))
        assert hand.focus()["name"] == f"run-break{k}"
        expect(page.get_by_test_id(f"run-break{k}")).to_have_text("Run again")
        assert hand.focus()["name"] == f"run-break{k}"
    for letter, exercise in lesson.exercises.items():
        if not exercise.inputs:
            continue
        for part in exercise.inputs:
            field = named(f"exercise-{letter}-{part.name}")
            if part.kind == "choice":
                hand.reach(field)
                page.keyboard.press("ArrowDown")
            else:
                hand.write(field, typed(exercise, exercise.wrong(0))[part.name])
        hand.press(named(f"exercise-{letter}-check"))
        assert hand.focus()["name"] == f"exercise-{letter}-check"
        expect(page.get_by_test_id(f"exercise-{letter}-said")).to_contain_text("Not yet.")
        assert hand.focus()["name"] == f"exercise-{letter}-check"
    hand.write(named("lesson-words"), "By keys.")
    hand.reach(named("lesson-next"))
    hand.focus()
    assert findings(page) == []


@pytest.mark.slow
def test_a_run_elsewhere_is_stopped_and_a_lesson_begun_again_by_keys(page: Page, server: str) -> None:
    lesson, hand = LESSONS[6], Forwards(page)  # its first prediction takes seconds on each of the other data
    page.emulate_media(color_scheme="dark")
    opened(page, f"{server.rstrip('/')}/lesson/{lesson.place}", "opening")
    answered(page, hand, lesson, 1)
    assert findings(page) == []
    hand.press(named("p1-more"))
    hand.press(named("p1-stop"))
    expect(page.get_by_test_id("p1-elsewhere")).to_contain_text("Stopped.")
    assert hand.focus()["name"] == "p1-more"
    hand.most = 600  # the head of the page comes after its end
    for _ in range(2):  # the second time it is meant
        hand.press(named("lesson-forget"))
    assert hand.focus()["tag"] == "H2"
    expect(page.get_by_test_id("step-p2")).to_be_hidden()


def test_a_page_that_is_loaded_again_during_a_run_shows_it_in_the_end(page: Page, server: str) -> None:
    page.goto(f"{server.rstrip('/')}/lesson/04")
    expect(page.get_by_test_id("run-opening")).to_be_visible()
    page.reload()
    expect(page.get_by_test_id("run-opening")).to_have_text("Run again")
    expect(page.locator(".box.error")).to_be_hidden()
