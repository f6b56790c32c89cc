"""Page: several solvers on one problem, in turns on one clock, against one certified optimum."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import Any, ClassVar

import numpy as np

from .. import registry
from ..problems.prediction import Problem
from ..races.lanes import UNITS, Lane
from ..races.run import RaceRun
from ..races.table import COLUMN, LEVELS, Race
from ..registry import field
from ._names import DATASETS, LOSSES, PENALTIES, Names
from ._working import Work, WorkingPage
from .base import Message, number

NONE = "none"
LANES = ("lane1", "lane2", "lane3", "lane4")
MOST_POINTS = 1500  # of a lane that are sent: more cannot be told apart
LAM_LOW = 1e-4
POINTS_PERIOD = 0.055  # seconds between two messages at least: packing and painting take time from the lanes
MOST_PARTS = 4  # of an iteration that are named


def solvers_of_classes() -> tuple[str, ...]:
    """Return the solvers of problems with classes, in the order of menus."""
    return tuple(name for name in registry.solvers if {Problem.kind} & set(registry.solvers[name].kinds))


SOLVERS: Any = Names(registry.solvers, solvers_of_classes)
WITH_NONE: Any = Names(registry.solvers, lambda: (NONE, *solvers_of_classes()))


class RacePage(WorkingPage):
    """Two to four solvers beside each other: who is how far when."""

    name = "race"
    records = True
    title = "Race"
    menu_order = 20
    doc = (
        "All solvers start at W = 0 and take turns on one clock. The lines are (F − F*)/|F*|, measured at every "
        "iteration against one certified optimum; compiling, a rehearsed iteration, certificates and drawing are not "
        "on the clock."
    )

    dataset: ClassVar[Any] = field("digits", choices=DATASETS, doc="the data")
    loss: ClassVar[Any] = field("multiclass-squared-hinge", choices=LOSSES, doc="the loss")
    penalty: ClassVar[Any] = field("l1/l2", choices=PENALTIES, doc="the penalty")
    lam_ratio: ClassVar[Any] = field(0.1, LAM_LOW, 1.0, "λ/λ_max: share of the smallest λ with W = 0", log=True)
    intercept: ClassVar[Any] = field(False, doc="an unpenalised intercept")
    lane1: ClassVar[Any] = field("bcd-ls", choices=SOLVERS, doc="first solver")
    lane2: ClassVar[Any] = field("fista-ls", choices=SOLVERS, doc="second solver")
    lane3: ClassVar[Any] = field("working-set", choices=WITH_NONE, doc="third solver")
    lane4: ClassVar[Any] = field("ista", choices=WITH_NONE, doc="fourth solver")
    unit: ClassVar[Any] = field(
        "seconds", choices=UNITS, doc="the clock: CPU seconds, passes over the data, or iterations"
    )
    budget: ClassVar[Any] = field(3.0, 0.01, 10_000.0, "what each solver may spend of the clock", log=True)
    seeds: ClassVar[Any] = field(1, 1, 10, "runs of each randomised solver, one a seed")

    labels: ClassVar[dict[str, str]] = {
        "dataset": "data",
        "lam_ratio": "λ/λ_max",
        "unit": "counts",
        **{lane: f"lane {k + 1}" for k, lane in enumerate(LANES)},
    }

    # ----------------------------------------------------------------------------------------------------- computation
    def forget(self) -> None:
        """Forget the race."""
        self.problem: Problem | None = None
        self.run: RaceRun | None = None
        self.parts: dict[str, list[tuple[str, float]]] = {}  # of an iteration of each solver
        self._doing = "Reading the data …"

    def forget_sent(self) -> None:
        self._told: dict[int, int] = {}  # events of each lane
        self._looks: dict[int, int] = {}  # accuracies of each lane
        self._reasons_said = False
        self._points_due = 0.0  # seconds of the clock

    def steps(self, work: Work) -> Iterator[None]:
        """Read the data, compile, find F*, then let the lanes take turns."""
        run = yield from self._prepared(work)
        try:
            while run.step() is not None:
                yield
        finally:
            run.end("stopped")
        self._doing = "Looking where the time goes"
        parts: dict[str, list[tuple[str, float]]] = {}
        for lane in run.lanes:
            if lane.name not in parts:
                yield
                parts[lane.name] = lane.profile()
        if work is self.work:
            self.parts = parts
        self._doing = "Done"

    def _prepared(self, work: Work) -> Generator[None, None, RaceRun]:
        chosen = self.settings
        with work.turn.aside():
            data, problem = self._loaded(chosen, "loss", "penalty", "lam_ratio", "intercept")
        if work is self.work:
            self.problem = problem
        solvers = list(dict.fromkeys(chosen[lane] for lane in LANES if chosen[lane] != NONE))
        options = {name: chosen[name] for name in ("unit", "budget", "seeds")}
        run = RaceRun(problem, solvers, test=getattr(data, "test", None), looks=True, **options)
        self._doing = "Compiling the solvers and finding F* …"
        yield
        with work.turn.aside():
            run.prepare(in_turns=True)
        if work is self.work:
            self.run, self._doing = run, "Racing"
        yield
        return run

    # --------------------------------------------------------------------------------------------------------- browser
    def picture(self) -> Message:
        """Return the names of the lanes; their points follow as they are measured."""
        chosen = [self.settings[lane] for lane in LANES if self.settings[lane] != NONE]
        return {"lanes": list(dict.fromkeys(chosen)), "unit": self.settings["unit"], "levels": list(LEVELS)}

    def controls(self) -> list[Message]:
        """Return the controls; solvers that do not take the problem say why."""
        groups = super().controls()
        problem = self.problem
        for control in groups[0]["controls"]:
            control["live"] = False  # a race is run anew when a slider is let go
            if control["id"] not in LANES or problem is None:
                continue
            for choice in control["choices"]:
                reason = None if choice["value"] == NONE else registry.solvers.create(choice["value"]).solves(problem)
                choice.update(disabled=reason is not None, reason=reason or "")
        titles = {"Problem": ("dataset", "loss", "penalty", "lam_ratio", "intercept"), "Lanes": LANES}
        made = {c["id"]: c for c in groups[0]["controls"]}
        rest = [name for name in made if not any(name in ids for ids in titles.values())]
        return [
            {"title": title, "controls": [made[name] for name in ids]}
            for title, ids in {**titles, "Clock": tuple(rest)}.items()
        ]

    def look(self) -> list[tuple[Message, list[bytes]]]:
        """Return what was measured since the last call, and what the race is doing."""
        if self.problem is not None and not self._reasons_said:
            self._reasons_said = True
            self._say_controls()  # the reasons are known now
        status = self.told_status(self._doing)  # asked first: whatever was measured before the end goes before it
        ends = any(not message["running"] for message, _ in status)
        points = self._new_points() if ends or time.monotonic() >= self._points_due else []
        if points:
            self._points_due = time.monotonic() + POINTS_PERIOD
        messages: list[tuple[Message, list[bytes]]] = []
        if points:
            messages.append(({"type": "points", "lanes": points, **self._optimum()}, []))
        messages += status
        ended = [message for message, _ in status if not message["running"] and not message["error"]]
        if ended and self.run is not None:
            parts = {name: _largest(found) for name, found in self.parts.items()}
            messages.append(({"type": "table", **table(self.run.result()), "parts": parts}, []))
        return messages

    def _new_points(self) -> list[Message]:
        run = self.run
        if run is None or run.reference is None:
            return []
        found = []
        for k, lane in enumerate(run.lanes):
            size, begun = len(lane.trace), self._told.get(k, 0)
            if size == begun:
                continue
            self._told[k] = size
            looks = [look for look in lane.looks[self._looks.get(k, 0) :] if look[0] < size]
            self._looks[k] = self._looks.get(k, 0) + len(looks)
            found.append(
                {
                    "lane": k,
                    "name": lane.name,
                    "seed": lane.seed,
                    "from": begun,
                    **_points(lane, begun, size),
                    "looks": _looked(lane, looks),
                }
            )
        return found

    def _optimum(self) -> Message:
        assert self.run is not None and self.run.reference is not None
        reference = self.run.reference
        return {"best": number(reference.objective, 15), "lower": number(reference.dual, 15)}


def _largest(parts: list[tuple[str, float]]) -> list[list[Any]]:
    """Return the largest parts of an iteration, and the others together."""
    shown: list[list[Any]] = [[name, number(share, 3)] for name, share in parts[:MOST_PARTS]]
    rest = sum(share for _, share in parts[MOST_PARTS:])
    return [*shown, ["other", number(rest, 3)]] if rest > 0.0 else shown


def _points(lane: Lane, begun: int, size: int) -> Message:
    """Return the events of a lane between two numbers, thinned to what can be seen: clocks, objective, rows."""
    chosen = np.unique(np.linspace(begun, size - 1, min(size - begun, MOST_POINTS)).astype(int))
    columns = {"objective": "objective", "rows": "nonzero_rows", **COLUMN}
    return {
        key: [number(float(x), 15 if key == "objective" else 7) for x in lane.trace[column][:size][chosen]]
        for key, column in columns.items()
    }


def _looked(lane: Lane, looks: list[tuple[int, float]]) -> Message:
    """Return accuracies with the clocks of their events."""
    at = [event for event, _ in looks]
    made: Message = {key: [number(float(lane.trace[column][k]), 7) for k in at] for key, column in COLUMN.items()}
    return {**made, "accuracy": [number(value, 5) for _, value in looks]}


def table(race: Race) -> Message:
    """Return what each solver had spent within each level of the optimum, the spread over seeds, and how it ended."""
    rows = []
    for name in race.names:
        times = race.times().loc[name]
        spread = [race.spread(name, level) for level in LEVELS]
        ends = [entry for entry in race.entries if entry.name == name]
        rows.append(
            {
                "name": name,
                "times": [number(float(x), 4) for x in times],
                "spread": [[number(low, 4), number(high, 4)] for low, high in spread],
                "message": "; ".join(dict.fromkeys(entry.message for entry in ends)),
                "observing": number(sum(entry.observing for entry in ends), 3),
                "rows": int(ends[0].trace["nonzero_rows"][-1]) if len(ends[0].trace) else None,
                "accuracy": number(_accuracy(ends[0].trace), 4),
                "iteration_ms": number(_per_iteration(ends[0].trace), 3),
            }
        )
    return {
        "rows": rows,
        "unit": race.unit,
        "levels": list(LEVELS),
        "width": number(race.width, 2),
        "best": number(race.best, 10),
    }


def _accuracy(trace: Any) -> float:
    """Return the accuracy at the last point: of held-out samples where there are any."""
    for column in ("test_accuracy", "train_accuracy"):
        if len(trace) and trace[column][-1] == trace[column][-1]:
            return float(trace[column][-1])
    return float("nan")


def _per_iteration(trace: Any) -> float:
    """Return the median CPU milliseconds of an iteration."""
    seconds = np.diff(trace["seconds"])
    return 1e3 * float(np.median(seconds)) if seconds.size else float("nan")


registry.app_pages.add(RacePage.name, RacePage)
