"""Columns that a solver declares in its file: events, traces, charts and the page's newest values follow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import PREDICTING, digits
from sparsescope import registry, views
from sparsescope.checking.solvers import problems_for
from sparsescope.live.packer import Block, Packer
from sparsescope.live.preparing import reported
from sparsescope.registry import Column
from sparsescope.runs.event import MEASURED_NAMES, own_numbers
from sparsescope.runs.event import reported as declared
from sparsescope.runs.trace import Recorder
from sparsescope.solvers import ISTA
from sparsescope.solvers.base import settings

PACKAGE = Path(ss.__file__).parent
LONGER = Column(
    "longer_share",
    "share of the steps so far that were longer than the one before",
    "share",
    drawn=True,
    label="longer steps",
    short="longer",
    status="longer steps",
    colour="blue",
    dash="dash",
    absent="this solver does not count longer steps",
)


@settings
class Counting(ISTA):
    """ISTA that counts how many of its steps were longer than the one before."""

    columns = (LONGER,)

    def step(self, problem: Any, state: Any) -> None:
        before = state.step_size
        super().step(problem, state)
        state.longer = getattr(state, "longer", 0) + (state.step_size > before)
        state.longer_share = state.longer / (state.iteration + 1)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[type]:
    """The solver, registered as a file of solvers/ would be."""
    monkeypatch.setattr(registry.solvers, "_known", dict(registry.solvers._entries))
    registry.solvers.add("counting", Counting)
    yield Counting


def test_a_column_that_is_declared_once_is_drawn_and_said(counting: type) -> None:
    problem, recorder = ss.Problem(*digits(), lam=0.3), Recorder()
    run = ss.Run(problem, Counting(line_search=True), callbacks=[recorder])
    for _ in range(6):
        run.advance()
    trace = recorder.trace
    assert trace[LONGER.name][-1] > 0
    spec = views.Duality(show="sparsity").spec(problem)
    assert {"column": "100*longer_share", "label": "longer steps", "short": "longer", "colour": "blue", "dash": "dash",
            "axis": "right"} in spec["y"]  # fmt: skip
    figure = views.draw("duality", trace, problem, show="sparsity")
    line = next(line for line in figure.data if line.name == "longer steps")
    assert np.nanmax(np.asarray(line.y, dtype=float)) == pytest.approx(100 * np.nanmax(trace[LONGER.name]))
    assert "this solver does not count longer steps" in str(
        views.draw("duality", recorder_of("bcd-ls", problem), problem, show="sparsity").to_json()
    )


@pytest.mark.parametrize("name", [name for name in registry.solvers if name not in PREDICTING])
def test_solvers_of_other_kinds_of_problems_declare_what_they_report(name: str) -> None:
    problem = problems_for(registry.solvers.create(name))[0]
    run = ss.Run(problem, name)
    for event in (run.advance() for _ in range(3)):
        known = {column.name for column in declared(event.solver, event.state)} | MEASURED_NAMES
        assert {key for key, value in event.info.items() if value == value} <= known


def test_a_number_in_units_of_a_gradient_is_that_of_the_data_as_given(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, solver = ss.Problem(*digits(), lam=0.3), Counting(line_search=True)
    monkeypatch.setattr(Counting, "columns", (LONGER, Column("steepest", "largest gradient", of_gradient=True)))
    state = solver.start(problem, np.zeros((problem.rows, problem.m)))
    state.longer_share, state.steepest = 0.5, 6.0
    assert own_numbers(solver, state, 2.0) | {"longer_share": 0.5, "steepest": 3.0} == own_numbers(solver, state, 2.0)
    assert own_numbers(solver, state)["steepest"] == 6.0


def recorder_of(solver: str, problem: Any) -> Any:
    recorder = Recorder()
    run = ss.Run(problem, solver, callbacks=[recorder])
    run.advance(), run.advance()
    return recorder.trace


def test_the_page_gets_it_at_every_event_and_as_a_newest_value(counting: type) -> None:
    problem, recorder = ss.Problem(*digits(), lam=0.3), Recorder()
    run = ss.Run(problem, Counting(line_search=True), callbacks=[recorder])
    for _ in range(4):
        run.advance()
    packer = Packer(recorder.trace, problem.d)
    header = packer.columns(Block())
    assert LONGER.name in [name for name, *_ in header["columns"]]
    assert packer.status()[LONGER.name] == recorder.trace[LONGER.name][-1]
    said = {"name": LONGER.name, "status": "longer steps", "doc": LONGER.doc, "unit": "share"}
    assert said in reported("prediction") and said not in reported("covariance")


def test_the_page_shows_what_a_step_did_and_no_older_one() -> None:
    problem, recorder = ss.Problem(*digits(), lam=0.3), Recorder()
    run = ss.Run(problem, "bcd-ls", callbacks=[recorder])
    for _ in range(3):
        run.advance()
    packer, trace, of_step = Packer(recorder.trace, problem.d), recorder.trace, ("working_set", "step_size", "trials")
    sent = [name for name, *_ in packer.columns(Block())["columns"]]
    assert set(of_step) <= set(sent) and len(set(sent)) == len(sent), "a view of a user's may draw them"
    assert {name: packer.status()[name] for name in of_step} == {name: trace[name][-1] for name in of_step}
    run.change(solver="bcd-cst")
    run.advance()
    packer.columns(Block())
    assert packer.status()["step_size"] == trace["step_size"][-1]
    assert packer.status()["trials"] is None, "constant steps have no line search"


def test_no_view_and_no_page_names_what_one_solver_reports() -> None:
    shared = (PACKAGE / "solvers" / "shared" / "columns.py").read_text(encoding="utf-8")
    found = []
    for name in registry.solvers:
        for column in vars(registry.solvers[name]).get("columns", ()):
            if f'"{column.name}"' in shared or column.name in ("excess", "equivalent_lam"):  # budgets: certificates
                continue
            for path in (*PACKAGE.glob("views/**/*.py"), *PACKAGE.glob("live/**/*.py"), *PACKAGE.glob("live/**/*.js")):
                if column.name in path.read_text(encoding="utf-8"):
                    found.append(f"{path.relative_to(PACKAGE)}: {column.name}")
    assert not found, "\n".join(found)


def test_columns_that_are_drawn_say_how() -> None:
    for name in registry.solvers:
        for column in registry.solvers[name].columns:
            assert not column.colour or (column.drawn and column.label and column.short and column.absent), column
            assert len(column.short) <= 9, column
