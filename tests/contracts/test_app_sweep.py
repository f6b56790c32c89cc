"""The page of sweeps: its table is that of ss.sweep, failures say why, a folder is watched, and no client names one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from sparsescope import cli
from sparsescope.app._working import Work
from sparsescope.commands._data import site_of
from sparsescope.registry import app_pages
from sparsescope.sweeps.folder import Folder
from waiting import Said, ended, told, told_until

SETTINGS = {
    "dataset": "iris",
    "n_lams": "3",
    "solver1": "bcd-ls",
    "solver2": "fista-ls",
    "tol": "1e-5",
    "seconds": "60",
}
PATIENCE = 240.0


@pytest.fixture
def shown() -> Iterator[Callable[..., Any]]:
    """Makes pages that a browser shows, and closes them."""
    pages: list[Any] = []

    def make(data: Any = None, **settings: Any) -> Any:
        page = app_pages["sweep"](data, settings)
        pages.append(page)
        page.on_message({"type": "ready"})
        return page

    yield make
    for page in pages:
        page.close()


def rows_of(said: Said) -> Said:
    """The rows that a browser has after these messages."""
    rows: Said = []
    for message in said:
        if message["type"] == "rows":
            rows = rows[: message["from"]] + message["rows"]
    return sorted(rows, key=lambda row: row["at"])


def test_the_table_is_that_of_python(shown: Callable[..., Any]) -> None:
    page = shown(**SETTINGS)
    said = told_until(page, ended)
    data = ss.datasets.load("iris")
    expected = ss.sweep(
        ss.Problem(data, loss="multiclass-squared-hinge", penalty="l1/l2"),
        lam_ratio=list(0.5 * np.geomspace(1.0, 0.1, 3)),
        solvers=["bcd-ls", "fista-ls"],
        tol=1e-5,
        max_seconds=60.0,
        test=data.test,
    )
    rows, last = rows_of(said), [m for m in said if m["type"] == "rows"][-1]
    assert last["done"] == last["total"] == len(rows) == expected.total and last["failed"] == 0
    for row, wanted in zip(rows, expected.rows, strict=True):
        assert (row["solver"], row["rows"]) == (wanted["solver"], wanted["nonzero_rows"])
        assert row["objective"] == pytest.approx(wanted["objective"], rel=1e-8)
        assert row["score"] == pytest.approx(wanted["test_accuracy"], abs=1e-5)
    best = expected.best()
    assert best is not None and last["measure"] == "test accuracy"
    assert expected.rows[last["best"]]["key"] == best["key"]
    page.on_message({"type": "ready"})  # another browser, or the same one again
    assert rows_of(told(page)) == rows


def test_what_cannot_be_solved_is_a_row_that_says_why(shown: Callable[..., Any]) -> None:
    said = told_until(shown(**{**SETTINGS, "loss": "crammer-singer", "n_lams": "1", "solver2": "none"}), ended)
    (row,) = rows_of(said)
    assert row["failed"] and "smooth" in row["said"] and row["objective"] is None


def test_a_sweep_is_stopped_within_a_task_and_can_be_begun_again(
    shown: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    paused, pause = threading.Event(), Work.pause

    def wait_for_the_end(work: Work) -> None:
        paused.set()
        assert work._stopped.wait(PATIENCE)
        pause(work)

    with monkeypatch.context() as patched:
        patched.setattr(Work, "pause", wait_for_the_end)
        page = shown(**SETTINGS)
        assert paused.wait(PATIENCE), "a task is under way"
        page.on_message({"type": "do", "action": "stop"})
        said = told_until(page, ended)
    assert [m for m in said if m["type"] == "status"][-1]["text"] == "Stopped"
    assert rows_of(said) == []
    page.on_message({"type": "set", "changes": {"solver1": "bcd-ls", "n_lams": 1, "tol": 1e-4}})
    assert len(rows_of(told_until(page, lambda said: any(m.get("done") == 2 for m in said)))) == 2


def test_a_folder_that_the_server_was_started_with_is_watched(shown: Callable[..., Any], tmp_path: Path) -> None:
    problem = ss.Problem(ss.datasets.load("iris"))
    folder = tmp_path / "kept"
    page = shown(site_of(None, 0, str(folder)).folder)
    waiting = told_until(page, lambda said: any("Waiting" in m.get("text", "") for m in said))
    assert str(tmp_path) not in json.dumps(waiting), "the place on the server is nobody's business"
    assert page.controls() == []
    steps = ss.SweepRun(problem, lam_ratio=[0.5, 0.1], solvers="bcd-ls", tol=1e-4, folder=folder)
    rows = iter(steps)
    next(rows)
    said = told_until(page, lambda said: any(m.get("done") == 1 for m in said))
    assert [m["total"] for m in said if m["type"] == "rows"][-1] == 2
    list(rows)
    said += told_until(page, ended)
    objectives = [row["objective"] for row in rows_of(said)]
    assert objectives == pytest.approx([row["objective"] for row in steps.result().rows], rel=1e-8)


def test_no_client_names_a_folder(shown: Callable[..., Any], tmp_path: Path) -> None:
    ss.sweep(ss.Problem(ss.datasets.load("iris")), lam_ratio=0.5, max_iter=1, folder=tmp_path)
    page = shown(None, folder=str(tmp_path), **SETTINGS)
    assert any("folder" in notice for notice in page.notices)
    assert page.picture()["folder"] is None and page._folder is None
    page.on_message({"type": "set", "changes": {"folder": str(tmp_path)}})
    assert any(m["type"] == "error" and "folder" in m["text"] for m in told(page))
    watching = app_pages["sweep"](Folder(tmp_path), {"folder": "/", "dataset": "iris"})
    assert watching._folder.path == tmp_path
    watching.close()


def test_the_commands_take_the_folder() -> None:
    for command in ("explore", "serve"):
        assert cli.make_parser().parse_args([command, "--sweep", "results"]).sweep == "results"
