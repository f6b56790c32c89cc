"""Stop rules that judge what is proved of a point, or how far it is from the conditions of an optimum."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..problems.base import Certificate
from ..registry import check_whole
from ..solvers.base import Solver
from .event import Event
from .stop_rule import Stop, positive

EPS = float(np.finfo(np.float64).eps)
PRECISION_ENDS = "precision: "  # how the message of that rule begins


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
        positive("Gap", "tol", self.tol, zero=True)
        positive("Gap", "of_null", self.of_null, zero=True)

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
        positive("Precision", "ulps", self.ulps)
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
        positive("Violation", "tol", self.tol, zero=True)
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
        positive("PaperViolation", "tol", self.tol, zero=True)
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
