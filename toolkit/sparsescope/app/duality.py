"""Page: primal and dual beside each other: margins, the dual row of a sample, F and D closing, misread samples."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from .. import registry
from ..live.confusion import Confusion, refusal
from ..problems.prediction import Problem
from ..registry import NotAllowed, field
from ..runs.run import Run
from ..runs.watching import warm_up
from ._duals import Point
from ._names import DATASETS, LOSSES, PENALTIES
from ._working import Work, WorkingPage
from .base import Message, number
from .race import LAM_LOW, NONE, SOLVERS, WITH_NONE, solvers_of_classes

LANES = ("lane1", "lane2", "lane3")
SHOWN = ("first", "second", "third")
SLICE = 0.02  # CPU seconds of a lane before the next one has its turn
LOOK_SECONDS = 0.4  # between two looks at the points of a run
GROWTH = 1.25  # of the iterations between two certificates of the scaled gradient
MOST_SCORES = 20_000_000
FAR = 10_000_000


class _Lane:
    """One solver, what it has reached, and what the browser has of it."""

    def __init__(self, name: str, problem: Problem, test: Any, of_gradient: bool) -> None:
        self.name, self.problem, self._test = name, problem, test
        self.run = Run(problem, name, certify_every=None, clock=time.thread_time)
        self.series: list[tuple[float, int, float, float]] = []  # seconds, iteration, F, D where D was measured
        self.gradient: list[tuple[float, int, float, float]] = []  # the same with the dual point made of the gradient
        self.facts: Message = {}
        self.point: Point | None = None
        self.confusion: Confusion | None = None
        self.ended = ""
        self._of_gradient = of_gradient
        self._next = 0.0

    def advance(self, goal: float, budget: float) -> None:
        """Make iterations for a slice of time."""
        until = self.run.seconds + SLICE
        while not self.ended and self.run.seconds < until:
            try:
                event = self.run.advance()
            except FloatingPointError as error:
                self.ended = str(error)
                return
            if np.isfinite(event.dual):
                self._note(event)
            if event.relative_gap <= goal:
                self.ended = f"relative gap {event.relative_gap:.1e}"
            elif self.run.seconds >= budget:
                self._last()
                self.ended = f"{budget:g} s spent"

    def _last(self) -> None:
        self._note(self.run.observe(certify_now=True))

    def _note(self, event: Any) -> None:
        at = (self.run.seconds, int(event.iteration))
        self.series.append((*at, float(event.objective), float(event.dual)))
        self.facts = {
            "active_share": number(float(event.info.get("active_share", np.nan)), 4),
            "dual_entries": number(float(event.info.get("dual_entries", np.nan)), 4),
            "gap": number(float(event.relative_gap), 3),
            "rows": int(event.nonzero_rows),
        }
        if self._of_gradient and event.iteration >= self._next:
            self._next = event.iteration * GROWTH + 1.0
            assert self.run.state is not None
            found = self.problem.certificate(self.run.state.weights(), self.run.state.intercept())
            self.gradient.append((*at, float(found.objective), float(found.dual)))

    def look(self) -> None:
        """Keep the present point for the pictures."""
        self.point = Point.of(self.run)
        self.confusion = self.point.confusion(self._test)


class DualityPage(WorkingPage):
    """Margins and dual rows of the samples, while F falls and D rises."""

    name = "duality"
    records = True
    title = "Duality"
    menu_order = 60
    doc = "Margins and dual rows of the samples. Click a bar of the margins, then a sample."
    recorded_doc = "Margins and dual rows of the samples."
    light = frozenset({"shown", "sample", "true", "found"})

    dataset: ClassVar[Any] = field("pydocs", choices=DATASETS, doc="the data")
    loss: ClassVar[Any] = field("crammer-singer", choices=LOSSES, doc="the loss")
    penalty: ClassVar[Any] = field("elastic-net", choices=PENALTIES, doc="the penalty")
    lam_ratio: ClassVar[Any] = field(0.05, LAM_LOW, 1.0, "λ/λ_max: share of the smallest λ with W = 0", log=True)
    lane1: ClassVar[Any] = field("fbpd", choices=SOLVERS, doc="first solver")
    lane2: ClassVar[Any] = field("pd-sparse", choices=WITH_NONE, doc="second solver")
    lane3: ClassVar[Any] = field(NONE, choices=WITH_NONE, doc="third solver")
    tol: ClassVar[Any] = field(1e-4, 1e-8, 0.1, "relative gap at which a solver ends", log=True)
    budget: ClassVar[Any] = field(20.0, 0.1, 600.0, "CPU seconds that each solver may spend", log=True)
    shown: ClassVar[Any] = field("first", choices=SHOWN, doc="solver whose point the margins and samples belong to")
    sample: ClassVar[Any] = field(-1, -1, FAR, "number of the sample that is shown; −1: none")
    true: ClassVar[Any] = field(-1, -1, FAR, "true class of the misread samples that are listed; −1: the largest cell")
    found: ClassVar[Any] = field(-1, -1, FAR, "class they are taken for")

    labels: ClassVar[dict[str, str]] = {
        "dataset": "data",
        "lam_ratio": "λ/λ_max",
        "tol": "until gap",
        "budget": "seconds",
        "shown": "show",
        **{lane: f"solver {k + 1}" for k, lane in enumerate(LANES)},
    }
    groups: ClassVar[dict[str, tuple[str, ...]]] = {
        "Problem": ("dataset", "loss", "penalty", "lam_ratio"),
        "Solvers": (*LANES, "tol", "budget"),
        "Point": ("shown",),
    }

    # ----------------------------------------------------------------------------------------------------- computation
    def forget(self) -> None:
        """Forget the runs."""
        self._lanes: list[_Lane] = []
        self._problem: Problem | None = None
        self._doing = "Reading the data …"
        self._reasons: dict[str, str] = {}

    def forget_sent(self) -> None:
        self._sent: dict[str, Any] = {}

    def steps(self, work: Work) -> Iterator[None]:
        """Read the data, then let the solvers take turns."""
        problem, test = self._read()
        reasons = {name: registry.solvers.create(name).solves(problem) or "" for name in solvers_of_classes()}
        wanted = list(dict.fromkeys(self.settings[lane] for lane in LANES if self.settings[lane] != NONE))
        names = [name for name in wanted if not reasons[name]]
        if work is self.work:
            self._problem, self._reasons = problem, reasons
        if not names:
            raise ValueError("; ".join(reasons[name] for name in wanted))
        self._doing = "Compiling the solvers …"
        yield
        lanes = []
        with work.turn.aside():
            for k, name in enumerate(names):
                warm_up(problem, registry.solvers.create(name))
                lanes.append(_Lane(name, problem, test, of_gradient=k == 0 and not problem.loss.smooth))
        if work is self.work:
            self._lanes = lanes
        yield from self._race(lanes)

    def _read(self) -> tuple[Problem, Any]:
        data, problem = self._loaded(self.settings, "loss", "penalty", "lam_ratio")
        if reason := refusal(problem):
            raise ValueError(f"There are no margins to draw: {reason}.")
        if problem.n * problem.m > MOST_SCORES:
            raise NotAllowed(
                f"{problem.n} samples × {problem.m} classes are too many for this page (at most {MOST_SCORES} scores); "
                "the explorer takes them"
            )
        return problem, getattr(data, "test", None)

    def _race(self, lanes: list[_Lane]) -> Iterator[None]:
        seen = 0.0
        while any(not lane.ended for lane in lanes):
            for lane in lanes:
                lane.advance(self.settings["tol"], self.settings["budget"])
                yield
            if time.monotonic() - seen >= LOOK_SECONDS:
                for lane in lanes:
                    lane.look()
                seen = time.monotonic()
        for lane in lanes:
            lane.look()

    # --------------------------------------------------------------------------------------------------------- browser
    def picture(self) -> Message:
        """Return the chosen sample and cell; the rest follows as it is measured."""
        return {name: self.settings[name] for name in sorted(self.light)}

    def controls(self) -> list[Message]:
        """Return the controls; solvers that do not take the problem say why."""
        made = {c["id"]: c for group in super().controls() for c in group["controls"]}
        for lane in LANES:
            for choice in made[lane]["choices"]:
                reason = self._reasons.get(choice["value"], "")
                choice.update(disabled=bool(reason), reason=reason)
        return [{"title": title, "controls": [made[n] for n in names]} for title, names in self.groups.items()]

    def look(self) -> list[tuple[Message, list[bytes]]]:
        """Return what was measured since the last call."""
        messages: list[Message] = []
        status = self.told_status(self._status())  # asked first: whatever was measured before the end goes before it
        if self._problem is not None and not self._sent.get("reasons"):
            self._sent["reasons"] = True
            self._say_controls()
        if self._lanes:
            messages += [*self._lines(), *self._point()]
        return [(message, []) for message in messages] + status

    def _status(self) -> str:
        if not self._lanes:
            return self._doing
        if self.work is not None and self.work.running:
            return "Running"
        return "; ".join(f"{lane.name}: {lane.ended}" for lane in self._lanes)

    def _lines(self) -> Iterator[Message]:
        sizes = [(len(lane.series), len(lane.gradient), lane.ended) for lane in self._lanes]
        if self._sent.get("sizes") == sizes:
            return
        before = self._sent.get("sizes") or [(0, 0, "")] * len(sizes)
        self._sent["sizes"] = sizes
        lanes = []
        for lane, (first, _, _), (last, _, ended) in zip(self._lanes, before, sizes, strict=True):
            lanes.append({"name": lane.name, "from": first, **_columns(lane.series[first:last]), **lane.facts,
                          "ended": ended})  # fmt: skip
        head = self._lanes[0]
        first, last = before[0][1], sizes[0][1]
        gradient = {"name": f"gradient at {head.name}'s W", "from": first, **_columns(head.gradient[first:last])}
        yield {"type": "lines", "lanes": lanes, "gradient": gradient if head.gradient else None}

    def _point(self) -> Iterator[Message]:
        lane = self._lanes[min(SHOWN.index(self.settings["shown"]), len(self._lanes) - 1)]
        point, confusion = lane.point, lane.confusion
        if point is None or confusion is None:
            return
        problem = point.problem
        sent: Any = self._sent.get("point")
        if sent is not point:
            self._sent |= {"point": point, "sample": None, "cell": None}
            yield {"type": "margins", "lane": lane.name, **point.histogram()}
            yield {"type": "confusion", **confusion.facts()}
        i = self.settings["sample"]
        if self._sent["sample"] != i:
            self._sent["sample"] = i
            found = point.sample(i) if 0 <= i < problem.n else {"sample": -1, "n": problem.n}
            yield {"type": "sample", **found}
        cell = self._cell(confusion)
        if cell is not None and self._sent["cell"] != cell:
            self._sent["cell"] = cell
            answer = confusion.misread(*cell)
            for sample in answer["samples"]:
                sample["reasons"] = [[name, number(share, 3)] for name, share in sample["reasons"]]
            yield {"type": "misread", **answer}

    def _cell(self, confusion: Confusion) -> tuple[int, int] | None:
        true, found = self.settings["true"], self.settings["found"]
        classes = len(confusion.problem.class_names)
        if 0 <= true < classes and 0 <= found < classes and true != found:
            return true, found
        pairs = confusion.facts()["pairs"] if true < 0 or found < 0 else []
        return (pairs[0][0], pairs[0][1]) if pairs else None


def _columns(series: list[tuple[float, int, float, float]]) -> dict[str, list[float | None]]:
    names = ("seconds", "iterations", "objective", "dual")
    digits = (6, 9, 12, 12)
    return {name: [number(row[k], digits[k]) for row in series] for k, name in enumerate(names)}


registry.app_pages.add(DualityPage.name, DualityPage)
