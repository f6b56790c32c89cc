"""Event: what an iterate tells an observer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

from ..problems.metrics import WATCHED
from ..registry import Column, solvers
from ..solvers.base import Solver, State

NAN = float("nan")
# What is measured of a state beside the common numbers, whichever solver made it.
MEASURED = (
    Column("violation_sum", "sum of the optimality violations over rows", of_step=False),
    Column("paper_violation", "largest violation as Eq. 9 of Blondel et al. (2013) has it", of_step=False),
    Column("paper_violation_sum", "sum of these violations over rows", of_step=False),
    *(
        Column(f"{part}_{measure}", f"{measure.replace('_', ' ')} on {part} data", "share", of_step=False)
        for part in ("train", "test")
        for measure in ("accuracy", *WATCHED)
    ),
)


@dataclass(frozen=True, slots=True)
class Event:
    """What an iterate tells an observer. Numbers are NaN when they were not evaluated at this iteration.

    iteration : outer iterations so far (0: the starting point)
    passes : data passes; of a covariance problem factorisations of Θ
    seconds : solver seconds, without compilation and without observers
    objective = loss + λ·penalty · dual : certified lower bound · gap, relative_gap = gap/|objective|
    violation : MATH §3 · nonzero_rows, nonzero_entries of W; of Θ the features with an edge, and entries
    working_set : rows touched; of Θ the entries on and above the diagonal · step_size, trials : of this iteration
    lam : λ in force · problem, solver, state : for observers that look closer; ``state`` must not be changed
    info : all other numbers by their names: what is measured (:data:`MEASURED`: sums of violations, accuracies or, for
        label sets, the measures of :class:`sparsescope.problems.metrics.SetMeasures`) and what the solver reports
        (``solver.columns``)

    Every number of ``info`` is an attribute as well; one that another solver reports, or that was not measured, is NaN.
    """

    iteration: int
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
    dual: float = NAN
    gap: float = NAN
    relative_gap: float = NAN
    violation: float = NAN
    working_set: float = NAN
    step_size: float = NAN
    trials: float = NAN
    message: str = ""
    info: Mapping[str, float] = field(default_factory=dict)

    @property
    def certified(self) -> bool:
        """Whether this event carries a certificate."""
        return self.violation == self.violation

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
    """Return an event of numbers by their names, common ones and others, and its other fields."""
    own = {name: numbers[name] for name in NUMBERS if name in numbers}
    return Event(**own, **others, info={name: float(value) for name, value in numbers.items() if name not in own})


def reported(solver: Solver, state: State) -> tuple[Column, ...]:
    """Return what the events of a solver carry beside what is measured; of ``auto`` what its choice reports."""
    return (state.delegate or solver).columns


@cache
def _of_solvers(names: tuple[str, ...], classes: tuple[Any, ...]) -> dict[str, Column]:
    return {column.name: column for cls in classes for column in getattr(cls, "columns", ())}


def solver_columns() -> dict[str, Column]:
    """Return the columns that registered solvers report, by name."""
    names = tuple(solvers)
    return _of_solvers(names, tuple(solvers[name] for name in names))


def known_columns() -> dict[str, Column]:
    """Return what is measured and what registered solvers report, by name."""
    return {column.name: column for column in MEASURED} | solver_columns()
