"""Menus of parts: titles as on the explorer, and settings that have no effect are off."""

from __future__ import annotations

import pytest

import sparsescope as ss
from sparsescope import app, registry  # noqa: F401  (registers the pages)
from sparsescope.lessons.pictures import counted


@pytest.mark.parametrize(
    ("page", "setting", "parts"),
    [
        ("race", "lane3", "solvers"),
        ("path", "penalty", "penalties"),
        ("sweep", "loss", "losses"),
        ("data", "dataset", "datasets"),
    ],
)
def test_parts_have_their_titles_in_the_menus_of_all_pages(page: str, setting: str, parts: str) -> None:
    groups = registry.app_pages[page]().controls()
    control = next(c for group in groups for c in group["controls"] if c["id"] == setting)
    known = getattr(registry, parts)
    shown = {choice["value"]: choice["label"] for choice in control["choices"]}
    assert shown.pop("none", "none") == "none"
    own = {name for name in shown if name not in known}  # files of one's own go by their names
    assert shown == {name: name if name in own else known.title(name) for name in shown} and len(shown) > 3
    assert not own or parts == "datasets"


def test_a_seed_is_off_where_nothing_is_drawn() -> None:
    problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    make = registry.solvers.create
    assert "seed" in make("bcd-ls").idle(problem) and "greedy_batch" in make("bcd-ls").idle(problem)
    for order in ("permuted", "random"):
        assert "seed" not in make("bcd-ls", selection=order).idle(problem)
    assert list(make("bcd-cst", selection="greedy").idle(problem)) == ["seed"]


def test_lessons_write_whole_numbers_as_the_pages_do() -> None:
    assert [counted(number) for number in (7, 1234, 178444)] == ["7", "1\u202f234", "178\u202f444"]


def test_a_loss_that_is_registered_later_stands_in_the_menus_of_all_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry.losses, "_known", dict(registry.losses._entries))
    registry.losses.add("own-loss", registry.losses["squared"], title="squared, again")
    for page in ("race", "path", "geometry", "duality", "sweep"):
        made = registry.app_pages[page](settings={"loss": "own-loss"})
        assert made.settings["loss"] == "own-loss", made.notices
        control = next(c for group in made.controls() for c in group["controls"] if c["id"] == "loss")
        assert ("own-loss", "squared, again") in [(c["value"], c["label"]) for c in control["choices"]], page
