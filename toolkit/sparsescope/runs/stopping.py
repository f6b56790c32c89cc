"""Stop rules: objects that look at an event and answer ``None`` or the reason to stop. ``|`` combines them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from ..problems.base import Certificate
from ..registry import check_whole
from ..solvers.base import Solver
from .event import Event

EPS = float(np.finfo(np.float64).eps)
PRECISION_ENDS = "precision: "  # how the message of that rule begins


class Stop:
    """Base of all stopping rules.

    Rules may have a memory (those of Blondel et al. compare with the first iteration): use a new rule, or call
    :meth:`reset`, for each run.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> class Few(ss.stopping.Stop):
    ...     def check(self, event):
    ...         return "three rows are in use" if event.nonzero_rows >= 3 else None
    >>> ss.solve(problem, "bcd-ls", tol=0, stop=Few()).message.startswith("three rows")
    True
    """

    def check(self, event: Event) -> str | None:
        """Return the reason to stop after this event, or ``None``.

        Parameters
        ----------
        event
            the event to judge.

        Returns
        -------
        str | None
            one sentence, or ``None`` to go on.

        Raises
        ------
        TypeError
            if the class does not define the rule.
        """
        raise TypeError(f"{type(self).__name__} does not define check")

    def reset(self) -> None:
        """Forget what was seen."""

    @property
    def aim(self) -> float:
        """Relative gap at which the rule stops a run, so that a solver need not go on far beyond it; 0: at none."""
        return 0.0

    def __or__(self, other: Stop) -> Stop:
        if not isinstance(other, Stop):
            raise TypeError(f"{other!r} is not a stop rule; rules are objects such as sparsescope.stopping.Gap(1e-6)")
        return AnyOf((*_parts(self), *_parts(other)))


def _parts(rule: Stop) -> tuple[Stop, ...]:
    return rule.rules if isinstance(rule, AnyOf) else (rule,)


@dataclass
class AnyOf(Stop):
    """Stop as soon as one of the rules does.

    Parameters
    ----------
    rules
        the rules, asked in this order.

    Examples
    --------
    >>> rule = ss.stopping.Gap(1e-6) | ss.stopping.Iterations(100)
    >>> type(rule).__name__
    'AnyOf'
    """

    rules: tuple[Stop, ...]

    def check(self, event: Event) -> str | None:
        for rule in self.rules:
            reason = rule.check(event)
            if reason is not None:
                return reason
        return None

    def reset(self) -> None:
        for rule in self.rules:
            rule.reset()

    @property
    def aim(self) -> float:
        """Largest of the rules' aims."""
        return max((rule.aim for rule in self.rules), default=0.0)


def _positive(owner: str, name: str, value: float, zero: bool = False) -> None:
    if not (isinstance(value, Real) and (value > 0 or (zero and value == 0))):
        raise ValueError(f"{owner}: {name} is {value!r}; it must be a number {'of at least 0' if zero else 'above 0'}")


def rounding_gap(n: int) -> float:
    """Return the relative gap that certificates of n samples, summed in double precision, cannot tell from zero.

    Parameters
    ----------
    n
        number of samples.

    Returns
    -------
    float
        the relative gap.

    Examples
    --------
    >>> ss.stopping.rounding_gap(100) < ss.stopping.rounding_gap(10_000) < 1e-13
    True
    """
    return EPS * max(16.0, math.sqrt(n))


@dataclass
class Gap(Stop):
    """Certified: the relative duality gap ``(F − D)/|F|`` is at most ``tol``, D the best dual value seen.

    Where λ is so small that F* is far below F(0), the objective of zero weights, the gap need not be small against F*:
    it is enough that it is at most ``of_null``·``tol``·F(0). Gaps at rounding level count as that level
    (:func:`rounding_gap`), so a ``tol`` below it (0, say) certifies nothing. Only events that carry a gap are judged.

    Parameters
    ----------
    tol
        relative gap to reach.
    of_null
        share of ``tol``·F(0) that is enough as well.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> ss.solve(problem, stop=ss.stopping.Gap(1e-3)).relative_gap <= 1e-3
    True
    """

    tol: float = 1e-6
    of_null: float = 1e-2

    def __post_init__(self) -> None:
        _positive("Gap", "tol", self.tol, zero=True)
        _positive("Gap", "of_null", self.of_null, zero=True)

    @property
    def aim(self) -> float:
        """Its ``tol``."""
        return self.tol

    def check(self, event: Event) -> str | None:
        return self.verdict(event, event.problem, event.solver) if event.gap == event.gap else None

    def verdict(self, found: Event | Certificate, problem: Any, solver: Solver) -> str | None:
        """Return the reason to stop at a point with this certificate, or ``None``.

        Parameters
        ----------
        found
            an event or a certificate.
        problem
            the problem.
        solver
            the solver, which defines the target.

        Returns
        -------
        str | None
            one sentence, or ``None``.
        """
        level = rounding_gap(problem.n)
        relative = max(found.relative_gap, level)
        if relative <= self.tol:
            return f"certified: relative gap {relative:.1e} ≤ {self.tol:.1e}"
        if self.of_null and self.tol and solver.follows_lam:
            null = abs(problem.null_objective)
            gap, bound = max(found.gap, level * null), self.tol * self.of_null * null
            if gap <= bound:
                return f"certified: gap {gap:.1e} ≤ {bound:.1e}, that is {self.tol * self.of_null:.1e} of F at W = 0"
        return None


@dataclass
class Precision(Stop):
    """Stop at the precision of the data's type, where no further progress is possible.

    The relative gap is below ``ulps`` units in the last place of the type, and it has not fallen by a tenth for
    ``patience`` iterations and half of all iterations so far.

    Parameters
    ----------
    ulps
        units in the last place.
    patience
        iterations without progress.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> ss.solve(problem, tol=0, stop=ss.stopping.Precision()).relative_gap < 1e-12
    True
    """

    ulps: float = 100.0
    patience: int = 100
    _best: float = field(default=math.inf, init=False, repr=False)
    _since: int = field(default=0, init=False, repr=False)

    def __post_init__(self) -> None:
        _positive("Precision", "ulps", self.ulps)
        self.patience = check_whole("Precision: patience", self.patience, 1)

    def check(self, event: Event) -> str | None:
        gap = event.relative_gap
        if gap != gap:
            return None
        if gap < 0.9 * self._best:
            self._best, self._since = gap, int(event.iteration)
        dtype = event.problem.dtype
        waited = int(event.iteration) - self._since
        if gap > self.ulps * float(np.finfo(dtype).eps) or waited < max(self.patience, event.iteration // 2):
            return None
        further = "" if dtype == np.float64 else "; data in float64 carry further"
        best = max(self._best, rounding_gap(event.problem.n))
        return (
            f"{PRECISION_ENDS}relative gap {best:.1e}, which has not fallen for {waited} iterations: that is as "
            f"far as {dtype} carries{further}"
        )

    def reset(self) -> None:
        self._best, self._since = math.inf, 0


@dataclass
class Violation(Stop):
    """Stop when the optimality violation is small.

    Parameters
    ----------
    tol
        bound of the violation.
    paper
        True takes the violation of Blondel et al. (2013, Eq. 9), False the exact one.
    over
        ``"max"`` or ``"sum"`` over the rows.
    relative
        compare with the first event that has a violation (their Eq. 10: sum for cyclic, max for random selection).
    _first
        the violation of that event; set by the rule.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> ss.solve(problem, tol=0, stop=ss.stopping.Violation(1e-4, relative=False)).violation <= 1e-4
    True
    """

    tol: float = 1e-6
    paper: bool = False
    over: str = "max"
    relative: bool = True
    _first: float | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        _positive("Violation", "tol", self.tol, zero=True)
        if self.over not in ("max", "sum"):
            raise ValueError(f"Violation: over is {self.over!r}; allowed: 'max', 'sum'")

    def check(self, event: Event) -> str | None:
        name = ("paper_" if self.paper else "") + "violation" + ("_sum" if self.over == "sum" else "")
        value = getattr(event, name)
        if value != value:
            return None
        if self._first is None:
            self._first = value
        scale = self._first if self.relative else 1.0
        if value <= self.tol * scale:
            return f"{name.replace('_', ' ')} {value:.1e} ≤ {self.tol:.1e}" + (" of the first" if self.relative else "")
        return None

    def reset(self) -> None:
        self._first = None


@dataclass
class PaperViolation(Stop):
    """Stopping criterion of Blondel et al. (2013, Eq. 9 and 10), as in their Alg. 1.

    The violation of Eq. 9 is taken when a row is visited, before it moves, so it costs nothing. Its sum (cyclic and
    permuted selection) or maximum (random and greedy selection) over the rows of this outer iteration, relative to the
    first outer iteration's, must be at most ``tol``. It is no certificate, see :class:`Violation` and :class:`Gap`.
    Solvers that do not sweep over rows, and penalties that are no norms, report no such violation: the rule never stops
    them.

    Parameters
    ----------
    tol
        bound of the ratio.
    over
        ``"sum"`` or ``"max"``; ``None``: by the selection of the solver.
    _first
        the violation of the first outer iteration; set by the rule.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> result = ss.solve(problem, "bcd-ls", stop=ss.stopping.PaperViolation(1e-2))
    >>> "violation" in result.message
    True
    """

    tol: float = 1e-3
    over: str | None = None
    _first: float | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        _positive("PaperViolation", "tol", self.tol, zero=True)
        if self.over not in (None, "max", "sum"):
            raise ValueError(f"PaperViolation: over is {self.over!r}; allowed: 'max', 'sum', None (by the selection)")

    def check(self, event: Event) -> str | None:
        over = self.over
        if over is None:
            over = "max" if getattr(event.solver, "selection", "cyclic") in ("random", "greedy") else "sum"
        value = event.seen_violation_sum if over == "sum" else event.seen_violation
        if value != value:
            return None
        if self._first is None:
            self._first = value
        if value <= self.tol * self._first:
            return f"{over} of the violations seen {value:.1e} ≤ {self.tol:.1e} of the first iteration's (Eq. 10)"
        return None

    def reset(self) -> None:
        self._first = None


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
        _positive("Passes", "limit", self.limit)

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
        _positive("Seconds", "limit", self.limit)

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
        _positive("Settled", "rel", self.rel)
        self.patience = check_whole("Settled: patience", self.patience, 1)
        _positive("Settled", "of_null", self.of_null, zero=True)

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
