"""Page: a sweep while it grows, of the settings or of a folder that the server was started with."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from .. import registry
from ..registry import field
from ..runs.path_result import BEST_BY
from ..runs.run import as_solver, warm_up
from ..sweeps import Sweep, SweepRun
from ..sweeps.folder import Folder, NoSweep
from ..sweeps.table import Row, row_of
from ._names import DATASETS, LOSSES, PENALTIES, Names
from ._working import Work, WorkingPage
from .base import Message, number
from .race import NONE, SOLVERS, WITH_NONE

PENALTY_SETTINGS = ("penalty", "penalty2", "penalty3")
CHOSEN = ("solver1", "solver2", "solver3")
LAM_LOW = 1e-4
LOOK_SECONDS = 0.5  # between two looks into a folder
MOST_ROWS = 20_000  # that are sent
MOST_TEXT = 400  # characters of a sentence in a row
OPTIONAL_PENALTIES: Any = Names(registry.penalties, lambda: (NONE, *registry.penalties))


class SweepPage(WorkingPage):
    """Table of many fits that grows: progress, the best so far, failures."""

    name = "sweep"
    title = "Sweep"
    menu_order = 35
    watches = records = True
    doc = (
        "Penalties × λ × solvers × seeds on one data set, each fit to a certified gap. ss.sweep does the same from "
        "Python, also on a cluster."
    )

    dataset: ClassVar[Any] = field("digits", choices=DATASETS, doc="the data")
    loss: ClassVar[Any] = field("multiclass-squared-hinge", choices=LOSSES, doc="the loss")
    intercept: ClassVar[Any] = field(False, doc="an unpenalised intercept")
    penalty: ClassVar[Any] = field("l1/l2", choices=PENALTIES, doc="first penalty")
    penalty2: ClassVar[Any] = field(NONE, choices=OPTIONAL_PENALTIES, doc="second penalty")
    penalty3: ClassVar[Any] = field(NONE, choices=OPTIONAL_PENALTIES, doc="third penalty")
    lam_ratio: ClassVar[Any] = field(0.5, LAM_LOW, 1.0, "λ/λ_max: the largest λ", log=True)
    n_lams: ClassVar[Any] = field(5, 1, 20, "number of λ")
    ratio: ClassVar[Any] = field(0.1, 0.001, 0.9, "smallest λ divided by the largest", log=True)
    solver1: ClassVar[Any] = field("auto", choices=SOLVERS, doc="first solver")
    solver2: ClassVar[Any] = field("bcd-ls", choices=WITH_NONE, doc="second solver")
    solver3: ClassVar[Any] = field(NONE, choices=WITH_NONE, doc="third solver")
    seeds: ClassVar[Any] = field(1, 1, 10, "seeds of each solver that draws")
    tol: ClassVar[Any] = field(1e-6, 1e-10, 1e-2, "relative duality gap at which a task ends", log=True)
    seconds: ClassVar[Any] = field(2.0, 0.1, 60.0, "CPU seconds that a task may take", log=True)

    labels: ClassVar[dict[str, str]] = {
        "dataset": "data",
        "penalty": "penalty 1",
        "penalty2": "penalty 2",
        "penalty3": "penalty 3",
        "lam_ratio": "λ/λ_max",
        "n_lams": "λs",
        "ratio": "down to ×",
        "tol": "gap",
        "seconds": "limit (s)",
        **{name: f"solver {k + 1}" for k, name in enumerate(CHOSEN)},
    }

    # ----------------------------------------------------------------------------------------------------- computation
    def forget(self) -> None:
        """Begin another table."""
        self._table = _Table()
        self._doing = "Reading the folder …" if self._folder is not None else "Reading the data …"

    def forget_sent(self) -> None:
        self._sent: tuple[int, int, int] | None = None  # epoch of the table, its total, number of rows

    @property
    def _folder(self) -> Folder | None:
        """The folder that the server was started with; no address and no message names one."""
        return self.data if isinstance(self.data, Folder) else None

    def steps(self, work: Work) -> Iterator[None]:
        """Do the tasks, or look into the folder."""
        if self._folder is not None:
            yield from self._watch(work, self._folder)
            return
        table = self._table if work is self.work else _Table()  # of work that is begun anew nothing is shown
        run = SweepRun(**self._asked(work))
        run.between = work.pause
        places = {task.order.key: k for k, task in enumerate(run.tasks)}
        table.total = run.total
        yield
        try:
            for row in run:
                table.rows.append((places[row["key"]], row))
                table.doing = "Working"
                yield
        except KeyboardInterrupt:  # how a task ends that is stopped
            return
        table.doing = "Done"

    def _asked(self, work: Work) -> Message:
        """The arguments of the sweep; its kernels are compiled, without a turn."""
        chosen = self.settings
        data, first = self._loaded(chosen, "loss", "penalty", "intercept")
        penalties = dict.fromkeys(chosen[name] for name in PENALTY_SETTINGS if chosen[name] != NONE)
        problems = {penalty: first.with_(penalty=penalty) for penalty in penalties}
        solvers = list(dict.fromkeys(chosen[name] for name in CHOSEN if chosen[name] != NONE))
        self._doing = "Compiling the solvers …"
        with work.turn.aside():
            for problem in problems.values():
                for solver in solvers:
                    if not work.stopped and as_solver(solver, problem).solves(problem) is None:
                        warm_up(problem, as_solver(solver, problem))
        return {
            "problems": problems,
            "lam_ratio": list(chosen["lam_ratio"] * np.geomspace(1.0, chosen["ratio"], chosen["n_lams"])),
            "solvers": solvers,
            "seeds": chosen["seeds"],
            "tol": chosen["tol"],
            "max_seconds": chosen["seconds"],
            "test": getattr(data, "test", None),
        }

    def _watch(self, work: Work, folder: Folder) -> Iterator[None]:
        """Read the folder's rows as they come, until none is missing."""
        known: list[Row] = []
        there: set[str] = set()
        while not work.stopped and (not known or len(there) < len(known)):
            try:
                tasks = folder.tasks()
            except NoSweep as error:
                tasks, self._doing = [], f"Waiting: {_shown(error, folder)}"
            if tasks != known:
                known, there = tasks, set()
                if work is self.work:
                    self._table = _Table(len(tasks))
            found = [(k, task, folder.kept(task["key"])) for k, task in enumerate(known) if task["key"] not in there]
            fresh = [(k, row_of(task, outcome)) for k, task, outcome in found if outcome is not None]
            if work is self.work:
                self._table.rows += fresh
            there |= {row["key"] for _, row in fresh}
            if known:
                self._table.doing = "Done" if len(there) == len(known) else f"Watching {folder.path.name}"
            yield
            if len(there) < len(known) or not known:
                work.wait(LOOK_SECONDS)

    # --------------------------------------------------------------------------------------------------------- browser
    def picture(self) -> Message:
        """Return what the table is of; its rows follow as they come."""
        folder = self._folder
        return {"epoch": self._table.epoch, "folder": None if folder is None else folder.path.name}

    def controls(self) -> list[Message]:
        """Return the controls in groups; a folder has none."""
        if self._folder is not None:
            return []
        made = {c["id"]: {**c, "live": False} for c in super().controls()[0]["controls"]}
        groups = {
            "Problems": ("dataset", "loss", "intercept", *PENALTY_SETTINGS),
            "Grid": ("lam_ratio", "n_lams", "ratio"),
            "Solvers": (*CHOSEN, "seeds"),
            "A task ends": ("tol", "seconds"),
        }
        return [{"title": title, "controls": [made[name] for name in ids]} for title, ids in groups.items()]

    def look(self) -> list[tuple[Message, list[bytes]]]:
        """Return the rows since the last call, and the state of the work."""
        status = self.told_status(self._status())  # asked first: the rows that came before the end go before it
        table = self._table
        size, total = len(table.rows), table.total
        messages: list[tuple[Message, list[bytes]]] = []
        now = (table.epoch, total, size)
        if total and now != self._sent:
            sent = self._sent[2] if self._sent is not None and self._sent[0] == table.epoch else 0
            messages.append((_news(table, sent, size), []))
            self._sent = now
        return messages + status

    def _status(self) -> str:
        table = self._table
        if not table.total:
            return self._doing
        return f"{table.doing or self._doing}: {len(table.rows)} of {table.total}"


class _Table:
    """Rows of one sweep, each with its place in the order of the tasks; filled by a thread, read by the page."""

    _count = itertools.count(1)

    def __init__(self, total: int = 0) -> None:
        self.epoch = next(self._count)
        self.rows: list[tuple[int, Row]] = []
        self.total = total
        self.doing = ""


def _news(table: _Table, sent: int, size: int) -> Message:
    """Return the rows of a table from a number on, and what follows from all of them."""
    rows = table.rows[:size]
    found = Sweep(tuple(row for _, row in rows), table.total)
    best, measure = found.best(), _measure(found)
    return {
        "type": "rows",
        "epoch": table.epoch,
        "from": sent,
        "rows": [_sent(place, row, measure) for place, row in rows[sent:MOST_ROWS]],
        "done": size,
        "failed": len(found.failures),
        "total": table.total,
        "measure": measure.replace("_", " "),
        "best": None if best is None else next(place for place, row in rows if row is best),
    }


def _measure(found: Sweep) -> str:
    """The column that measures how good a model is: the first of the usual ones that a row has."""
    return next((name for name in BEST_BY if any(name in row for row in found.rows)), "")


def _sent(place: int, row: Row, measure: str) -> Message:
    return {
        "at": place,
        "problem": row["problem"],
        "solver": row["solver"],
        "seed": row["seed"],
        "lam": number(row["lam"], 6),
        "ratio": number(row["lam_ratio"], 4),
        "converged": row["converged"],
        "objective": number(row["objective"], 10),
        "gap": number(row["relative_gap"], 3),
        "rows": number(row["nonzero_rows"], 9),
        "seconds": number(row["seconds"], 4),
        "score": number(row.get(measure, float("nan")), 5),
        "said": (row["error"] or row["message"])[:MOST_TEXT],
        "failed": bool(row["error"]),
    }


def _shown(error: NoSweep, folder: Folder) -> str:
    """The sentence with the folder's name instead of its place on the server."""
    return str(error).replace(str(folder.path), folder.path.name)


registry.app_pages.add(SweepPage.name, SweepPage)
