"""Stop rules: objects that look at an event and answer ``None`` or the reason to stop. ``|`` combines them.

Those that judge certificates and violations stand in :mod:`.proof_rules`; here are all others: budgets, and rules that
watch an objective or an accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..registry import check_whole
from .event import Event
from .proof_rules import PRECISION_ENDS, Gap, PaperViolation, Precision, Violation, rounding_gap
from .stop_rule import AnyOf, Stop, positive

__all__ = [
    "PRECISION_ENDS",
    "SETTLED",
    "AnyOf",
    "Gap",
    "HeldOut",
    "Iterations",
    "Objective",
    "PaperViolation",
    "Passes",
    "Precision",
    "Seconds",
    "Settled",
    "Stop",
    "Violation",
    "rounding_gap",
]


@dataclass
class Iterations(Stop):
    """Stop after this number of iterations.

    Parameters
    ----------
    limit
        largest number of iterations.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> ss.solve(problem, "bcd-ls", stop=ss.stopping.Iterations(3)).iterations
    3
    """

    limit: int

    def __post_init__(self) -> None:
        self.limit = check_whole("Iterations: limit", self.limit, 0)

    def check(self, event: Event) -> str | None:
        return f"limit of {self.limit} iterations" if event.iteration >= self.limit else None


@dataclass
class Passes(Stop):
    """Stop after this number of passes over the data.

    Parameters
    ----------
    limit
        largest number of passes.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> ss.solve(problem, "fista-ls", stop=ss.stopping.Passes(10)).passes >= 10
    True
    """

    limit: float

    def __post_init__(self) -> None:
        positive("Passes", "limit", self.limit)

    def check(self, event: Event) -> str | None:
        return f"limit of {self.limit:g} data passes" if event.passes >= self.limit else None


@dataclass
class Seconds(Stop):
    """Stop after this number of solver seconds (observers' time does not count).

    Parameters
    ----------
    limit
        largest number of seconds.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> ss.solve(problem, "ista", stop=ss.stopping.Seconds(0.01)).seconds < 10
    True
    """

    limit: float

    def __post_init__(self) -> None:
        positive("Seconds", "limit", self.limit)

    def check(self, event: Event) -> str | None:
        return f"limit of {self.limit:g} solver seconds" if event.seconds >= self.limit else None


@dataclass
class Objective(Stop):
    """Stop when the objective is at most ``target``.

    Parameters
    ----------
    target
        the objective to reach.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> best = ss.reference(problem).objective
    >>> ss.solve(problem, stop=ss.stopping.Objective(1.01 * best)).objective <= 1.01 * best
    True
    """

    target: float

    def check(self, event: Event) -> str | None:
        return f"objective {event.objective:.6g} ≤ {self.target:.6g}" if event.objective <= self.target else None


@dataclass
class HeldOut(Stop):
    """Stop when predictions on held-out data have not improved for several events.

    The measure is the test accuracy, or for label sets the precision at 1 (early stopping as in Yen et al. 2016, Sec.
    5, with a patience of three). A run without test data is never stopped.

    Parameters
    ----------
    patience
        number of events in a row, among those that carry the measure.

    Examples
    --------
    >>> data = ss.datasets.load("iris")
    >>> problem = ss.Problem(data, lam_ratio=0.1)
    >>> result = ss.solve(problem, "fista-ls", tol=0, stop=ss.stopping.HeldOut(3), test=data.test)
    >>> result.iterations < 1000
    True
    """

    patience: int = 3
    _best: float = field(default=float("-inf"), init=False, repr=False)
    _waited: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        self.patience = check_whole("HeldOut: patience", self.patience, 1)

    def check(self, event: Event) -> str | None:
        of_sets = event.test_accuracy != event.test_accuracy
        value = event.test_precision_at_1 if of_sets else event.test_accuracy
        if value != value:
            return None
        self._waited = 0 if value > self._best else self._waited + 1
        self._best = max(self._best, value)
        if self._waited >= self.patience:
            what = "precision at 1" if of_sets else "accuracy"
            return f"held-out {what} not above {self._best:.4g} for {self._waited} evaluations"
        return None

    def reset(self) -> None:
        self._best, self._waited = float("-inf"), 0


SETTLED = "settled: "  # how the message of that rule begins


@dataclass
class Settled(Stop):
    """Stop when the objective barely falls, for methods without a gap.

    The objective has fallen by less than ``rel`` of itself in each of ``patience`` iterations in a row. This proves
    nothing about an optimum. Where F falls towards zero, its decreases stay large relative to F itself: a decrease
    counts as small too if it is less than ``of_null``·``rel``·F(0), as in :class:`Gap`.

    Parameters
    ----------
    rel
        relative decrease.
    patience
        number of iterations in a row.
    of_null
        see above.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> result = ss.solve(problem, "fista-ls", tol=0, stop=ss.stopping.Settled(1e-6))
    >>> result.iterations < 1000 and result.relative_gap < 1e-2
    True
    """

    rel: float = 1e-6
    patience: int = 3
    of_null: float = 1e-2
    _last: float = field(default=float("nan"), init=False, repr=False)
    _waited: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        positive("Settled", "rel", self.rel)
        self.patience = check_whole("Settled: patience", self.patience, 1)
        positive("Settled", "of_null", self.of_null, zero=True)

    def check(self, event: Event) -> str | None:
        fell = self._last - event.objective
        null = abs(event.problem.null_objective) if self.of_null else 0.0
        rounding = self.of_null * null if null == null else 0.0
        slow = fell < self.rel * max(abs(self._last), rounding)  # not on the first event, when nothing is known
        self._waited = self._waited + 1 if slow else 0
        before, self._last = self._last, event.objective
        if self._waited < self.patience:
            return None
        share = f"{self.rel:.1e} of itself"
        if abs(before) < rounding:
            share = f"{self.rel * self.of_null:.1e} of F before the first fit"
        return f"{SETTLED}F fell by less than {share} in each of {self._waited} iterations"

    def reset(self) -> None:
        self._last, self._waited = float("nan"), 0
