"""Event: the numbers of an iterate, as observers receive them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ..inputs.html import facts_table
from ..problems.metrics import WATCHED
from ..registry import Column, solvers
from ..solvers.base import Solver, State

NAN = float("nan")
# What is measured of a state beside the common numbers, whichever solver made it.
MEASURED = (
    Column("dual", "certified lower bound of the smallest objective", of_step=False, drawn=True),
    Column("violation", "largest optimality violation over rows", of_step=False, drawn=True),
    Column("violation_sum", "sum of the optimality violations over rows", of_step=False),
    Column("paper_violation", "largest violation as Eq. 9 of Blondel et al. (2013) has it", of_step=False, drawn=True),
    Column("paper_violation_sum", "sum of these violations over rows", of_step=False),
    *(
        Column(
            f"{part}_{measure}",
            f"{measure.replace('_', ' ')} on {part} data",
            "share",
            of_step=False,
            drawn=measure == "accuracy",  # those of label sets are drawn for problems with label sets only
        )
        for part in ("train", "test")
        for measure in ("accuracy", *WATCHED)
    ),
)


@dataclass(frozen=True, slots=True)
class Event:
    """Numbers of one iterate, as observers receive them; NaN where a number was not evaluated.

    Parameters
    ----------
    iteration
        outer iterations so far (0: the starting point); within a sweep (``Run(every=…)``) with the share of its rows.
    passes
        data passes; for a covariance problem factorisations of Θ.
    seconds
        solver seconds, without compilation and without observers.
    objective
        F = loss + λ·penalty.
    loss
        mean loss.
    penalty
        Ω(W).
    nonzero_rows, nonzero_entries
        of W; of Θ the features with an edge, and the entries.
    lam
        λ in force.
    problem, solver, state
        for observers that need more; ``state`` must not be changed.
    gap, relative_gap
        F − D for the certified lower bound D, and that divided by ``|F|``.
    message
        reason to stop; empty while the run goes on.
    info
        all other numbers by their names: measured ones (:data:`MEASURED`: the lower bound ``dual``, the largest
        ``violation`` (docs/mathematics.md, section 3) and the sums, accuracies or, for label sets, the measures of
        :class:`sparsescope.problems.metrics.SetMeasures`) and those that the solver reports (``solver.columns``), such
        as ``working_set``, ``step_size`` and ``trials`` of its step.

    Notes
    -----
    Every number of ``info`` is also an attribute; one that another solver reports, or that was not measured, is NaN.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> event = next(iter(ss.Run(problem, "bcd-ls")))
    >>> event.iteration, event.nonzero_rows, event.certified
    (0, 0, True)
    >>> bool(event.dual == event.info["dual"] <= event.objective)
    True
    """

    iteration: float
    passes: float
    seconds: float
    objective: float
    loss: float
    penalty: float
    nonzero_rows: int
    nonzero_entries: int
    lam: float
    problem: Any
    solver: Solver
    state: State
    gap: float = NAN
    relative_gap: float = NAN
    message: str = ""
    info: Mapping[str, float] = field(default_factory=dict)

    @property
    def certified(self) -> bool:
        """True if this event carries a certificate."""
        violation = self.info.get("violation", NAN)
        return violation == violation

    def _repr_html_(self) -> str:
        rows = [(name, getattr(self, name)) for name in NUMBERS]
        return facts_table(f"Event of {self.solver.name}", [*rows, *self.info.items()], self.message)

    def __getattr__(self, name: str) -> float:
        if not name.startswith("_") and name != "info":
            if name in self.info:
                return self.info[name]
            if name in known_columns():
                return NAN
        raise AttributeError(f"an event has no number {name!r}; it has {', '.join((*NUMBERS, *self.info))}")


NUMBERS = tuple(f.name for f in fields(Event) if f.name not in ("problem", "solver", "state", "message", "info"))

MEASURED_NAMES = frozenset({*NUMBERS, *(column.name for column in MEASURED)})


def event_of(numbers: Mapping[str, Any], **others: Any) -> Event:
    """Return an event made of numbers by their names.

    Parameters
    ----------
    numbers
        common numbers and others, by name.
    **others
        the other fields of the event.

    Returns
    -------
    Event
        the event.
    """
    own = {name: numbers[name] for name in NUMBERS if name in numbers}
    return Event(**own, **others, info={name: float(value) for name, value in numbers.items() if name not in own})


def reported(solver: Solver, state: State) -> tuple[Column, ...]:
    """Return the columns that events of a solver carry besides the measured ones; for ``auto`` those of its choice.

    Parameters
    ----------
    solver
        the solver.
    state
        its state.

    Returns
    -------
    tuple[Column, ...]
        the columns.
    """
    return (state.delegate or solver).columns


def declared(event: Event, names: Iterable[str]) -> dict[str, Column]:
    """Return the declarations of some numbers of an event that its solver or another one reports.

    Parameters
    ----------
    event
        the event.
    names
        names of its numbers.

    Returns
    -------
    dict[str, Column]
        the columns by their names, without those that are measured of every state.
    """
    known = solver_columns() | {column.name: column for column in reported(event.solver, event.state)}
    return {name: known[name] for name in names if name in known}


def own_numbers(solver: Solver, state: State, unit: float = 1.0) -> dict[str, Any]:
    """Return what a solver reports of a state, by name.

    A solver declares it; a state may also have one of the known columns without that.

    Parameters
    ----------
    solver
        the solver.
    state
        its state.
    unit
        gradients of the data that the solver works on, over those of the data as they were given.

    Returns
    -------
    dict[str, Any]
        the numbers; NaN for a declared one that the state does not have yet.
    """
    known, declared = solver_columns(), reported(solver, state)
    found = {column.name: getattr(state, column.name, NAN) for column in declared}
    for name, value in vars(state).items():
        if name in known:
            found.setdefault(name, value)
    if unit != 1.0:
        columns = known | {column.name: column for column in declared}
        found = {name: value / unit if columns[name].of_gradient else value for name, value in found.items()}
    return found


# The parts that columns were collected from, the solvers' columns, and these with the measured ones.
_columns: tuple[Any, dict[str, Column], dict[str, Column]] = (None, {}, {})


def _collected() -> tuple[Any, dict[str, Column], dict[str, Column]]:
    """Columns as they are now; asked for at every event, so they are collected once for each set of solvers."""
    global _columns
    parts = solvers.parts
    if _columns[0] is not parts:
        found = {column.name: column for part in parts.values() for column in getattr(part.make, "columns", ())}
        _columns = (parts, found, {column.name: column for column in MEASURED} | found)
    return _columns


def solver_columns() -> dict[str, Column]:
    """Return the columns that registered solvers report, by name.

    Returns
    -------
    dict[str, Column]
        the columns.
    """
    return _collected()[1]


def known_columns() -> dict[str, Column]:
    """Return the measured columns and those that registered solvers report, by name.

    Returns
    -------
    dict[str, Column]
        the columns.
    """
    return _collected()[2]
