"""The page of the λ-path: its messages agree with `ss.path`, and λ is chosen without a new computation."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from sparsescope.app import Page
from sparsescope.registry import app_pages
from waiting import finish

QUICK = {"dataset": "iris", "n_lams": "6", "ratio": "0.05", "folds": "2", "resamples": "2"}


def opened(**settings: str) -> Page:
    page = app_pages["path"](None, {**QUICK, **settings})
    page.on_message({"type": "ready"})
    return page


def drawn(said: list[dict[str, Any]]) -> dict[str, list[float]]:
    """The lines as a browser builds them."""
    lines: list[tuple[str, list[float]]] = []
    for message in said:
        if message["type"] != "points":
            continue
        for values in message["values"]:
            for value, (_, line) in zip(values, lines, strict=False):
                line.append(value)
        for at, line in enumerate(message["lines"]):
            lines.append((line["name"], [past[at] for past in message["pasts"]]))
    return dict(lines)


def test_the_lines_are_the_norms_along_the_path() -> None:
    page = opened()
    said = finish(page)
    page.close()
    problem = ss.Problem(ss.datasets.load("iris"), loss="multiclass-squared-hinge", penalty="l1/l2")
    expected = ss.path(problem, n_lams=6, ratio=0.05, tol=1e-4)
    norms = np.array([np.linalg.norm(expected.weights(k), axis=1) for k in range(6)])
    lines = drawn(said)
    for j, name in enumerate(problem.feature_names or []):
        assert lines.get(name, [0.0] * 6) == pytest.approx(list(norms[:, j]), rel=1e-3, abs=1e-3)
    points = [point for m in said if m["type"] == "points" for point in m["points"]]
    assert [point["rows"] for point in points] == list(expected.nonzero_rows)
    kinds = {m["type"] for m in said}
    assert {"begin", "points", "scores", "shares", "stable"} <= kinds
    chosen = [m["chosen"] for m in said if m["type"] == "scores"][-1]
    assert chosen["one_se"] <= chosen["best"] < 6 and len(chosen["means"]) == 6
    shares = [m for m in said if m["type"] == "shares"][-1]
    assert shares["halves"] == 2 and shares["rows"], "the last table is of all halves"
    for row, counts in zip(shares["rows"], shares["counts"], strict=True):
        assert row["from"] + len(counts) == 6 and counts[0] > 0, "only zeros before the first λ are left out"


def test_another_lam_begins_nothing_anew_and_judges_stability_there() -> None:
    page = opened()
    said = finish(page)
    epoch = page.picture()["epoch"]
    work = page.work
    page.on_message({"type": "set", "changes": {"lam_ratio": 1.0}})
    after = [message for message, _ in page.poll()]
    assert page.work is work and page.picture() == {"epoch": epoch, "lam_ratio": 1.0}
    assert next(m for m in after if m["type"] == "stable")["at"] == 0
    assert next(m for m in said if m["type"] == "stable")["at"] > 0
    page.on_message({"type": "set", "changes": {"n_lams": 5}})
    assert page.work is not work and page.picture()["epoch"] == epoch + 1
    page.close()


def test_a_page_that_is_shown_again_gets_the_whole_path_again() -> None:
    page = opened()
    first = finish(page)
    page.on_message({"type": "ready"})
    again = [message for message, _ in page.poll()]
    page.close()
    assert drawn(again) == drawn(first)
    assert sum(m["type"] == "status" for m in again) == 1


def test_what_has_no_path_says_why() -> None:
    page = opened(dataset="planted-tags")
    status = [m for m in finish(page) if m["type"] == "status"][-1]
    assert "label sets" in status["error"] and not status["detail"]
    page.close()
    matrix = np.random.default_rng(0).normal(size=(20, 3))
    page = app_pages["path"](ss.CovarianceProblem.from_data(matrix), {})
    page.on_message({"type": "ready"})
    status = [m for m in finish(page) if m["type"] == "status"][-1]
    assert "networks" in status["error"] and not status["detail"]
    page.close()


def test_at_most_so_many_rows_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    from sparsescope.app import path

    monkeypatch.setattr(path, "MOST_LINES", 3)
    page = opened(folds="0", resamples="0", penalty="ridge")
    assert len(drawn(finish(page))) == 3
    page.close()


def test_the_work_rests_while_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    from sparsescope.app import _working

    monkeypatch.setattr(_working, "REST", 3600.0)  # however slow this machine is
    page = app_pages["path"](None, QUICK)
    steps = type(page).steps

    def rest_first(self: Any, work: Any) -> Any:
        work.rest()
        return steps(self, work)

    monkeypatch.setattr(type(page), "steps", rest_first)
    page.on_message({"type": "ready"})
    time.sleep(0.3)
    assert page.work.running and page._study is None
    page.work._rests_until = 0.0
    assert any(m["type"] == "points" for m in finish(page))
    page.close()
