"""“Copy run”: the lines repeat the run of the page, with its changes at their iterations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_live_explorer import Page

from sparsescope.live import Explorer
from sparsescope.registry import losses, penalties, solvers

rng = np.random.default_rng(4)
X = rng.normal(size=(40, 7))
Y = np.argmax(X[:, :3] + 0.5 * rng.normal(size=(40, 3)), axis=1)
TWO = (X, (Y == 1).astype(int))
SETS = (X, np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 2] > 0]).astype(np.uint8))
QUICK = ("bcd-ls", "fista-ls", "fbpd", "stagewise", "quic", "fbpd-constrained")


def step(page: Page, n: int) -> None:
    page.applied(page.send("do", action="step", n=n))
    session = page.explorer.session
    assert session is not None and session.wait_idle(120.0)


def change(page: Page, **changes: Any) -> None:
    page.applied(page.send("set", changes=changes))
    session = page.explorer.session
    assert session is not None and session.wait_idle(120.0)


def repeated(page: Page, data: tuple[Any, Any] = (X, Y)) -> tuple[str, dict[str, Any]]:
    """Execute the lines, and compare where they lead with where the page is."""
    key = page.send("ask", kind="snippet", of="run")
    answer = page.until(lambda: next((a for a in page.of("answer") if a["id"] == key), None), "the snippet")
    space: dict[str, Any] = {"X": data[0], "y": data[1]}
    exec(answer["text"], space)
    session = page.explorer.session
    assert session is not None
    event, trace = space["event"], session.trace
    assert event.iteration == session.status().iteration == trace["iteration"][-1], answer["text"]
    assert event.objective == pytest.approx(trace["objective"][-1], rel=1e-9, abs=1e-12), answer["text"]
    assert space["run"].problem.key == session.problem.key and space["run"].solver == session.solver
    return answer["text"], space


def page_of(data: Any = (X, Y), **settings: Any) -> Page:
    return Page(Explorer(data, settings, allow_data_choice=False)).start()


def methods() -> list[Any]:
    """Every solver, with the first loss and penalty that it takes."""
    return [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in solvers]


def combination(name: str) -> tuple[Any, dict[str, Any]] | None:
    """Data and settings that a solver takes on the page."""
    if "covariance" in solvers[name].kinds and name != "auto":
        return (X, Y), {"task": "covariance", "solver": name, "lam_ratio": 0.2}
    for data in ((X, Y), TWO, SETS):
        for loss in losses:
            for penalty in penalties:
                chosen = {"loss": loss, "penalty": penalty, "solver": name, "lam_ratio": 0.1}
                if name in ("cls", "stagewise"):
                    chosen |= {"loss": "squared", "ridge": 1e-2}
                try:
                    from sparsescope import Problem

                    fits = name in ("cls", "stagewise") or solvers.create(name).solves(
                        Problem(*data, loss=loss, penalty=penalty, lam=0.1)
                    )
                except ValueError:
                    continue
                if fits is None or fits is True:
                    return data, chosen
    return None


@pytest.mark.parametrize("name", methods())
def test_every_method_repeats_its_run_with_a_change_of_lambda(name: str) -> None:
    found = combination(name)
    assert found is not None, f"no problem of the page is for {name}"
    data, chosen = found
    page = page_of(data, **chosen)
    step(page, 3)
    key = "ridge" if name in ("cls", "stagewise") else "lam_ratio"
    if not getattr(solvers[name], "follows_lam", True):
        key = "solver.eta"
        value: Any = page.explorer.settings[key] * 1.5
    else:
        value = 0.5 * page.explorer.settings[key]
    change(page, **{key: value})
    step(page, 4)
    text, _ = repeated(page, data)
    assert "(3, dict(" in text
    page.explorer.close()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "logistic" else pytest.mark.slow) for name in losses]
)
def test_every_loss_repeats_its_run(name: str) -> None:
    kind = losses[name]
    data = TWO if kind.one_score else SETS if "label" in name or "multitask" in name else (X, Y)
    solver, penalty = ("auto", "l1") if not kind.smooth or kind.one_score else ("bcd-ls", "l1/l2")
    page = page_of(data, loss=name, solver=solver, penalty=penalty, lam_ratio=0.1)
    assert page.explorer.settings["loss"] == name
    step(page, 4)
    repeated(page, data)
    page.explorer.close()


def test_changes_of_all_parts_are_repeated_at_their_iterations_and_the_end_too() -> None:
    page = page_of(solver="ista", lam_ratio=0.5, intercept=True)
    change(page, lam_ratio=0.3)  # before the first iteration
    step(page, 5)
    change(page, penalty="elastic-net")
    change(page, lam_ratio=0.05)
    step(page, 2)
    change(page, solver="fista-ls")
    step(page, 6)
    change(page, loss="logistic")
    change(page, stop="gap", speed="max")
    page.send("do", action="run")
    page.until(lambda: page.last()["mode"] == "finished", "the end")
    text, space = repeated(page)
    assert text.count("dict(") == 5 and "certified" in text and space["event"].relative_gap <= 1e-6
    page.explorer.close()


def test_a_reset_begins_the_lines_anew() -> None:
    page = page_of(solver="ista", lam_ratio=0.5)
    step(page, 2)
    change(page, lam_ratio=0.1)
    page.applied(page.send("do", action="reset"))
    step(page, 3)
    text, _ = repeated(page)
    assert "changes" not in text
    page.explorer.close()
