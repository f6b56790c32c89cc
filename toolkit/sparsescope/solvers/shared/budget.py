"""Budget on the hinge: its certificate, and the smallest possible mean hinge.

    minimise Ω(W) over all W (and b) whose mean hinge is at most η                                            (MATH §4)

**Lower bound.** For flows q ≥ 0 off the true class with Σ_r q_ir ≤ t for every sample, U = q − (q1)∘onehot and V = XᵀU,
every W that keeps the budget has Ω(W) ≥ max over s ≥ 0 of s(μΣq − ntη) − Ω*(−sV). The dual iterate gives q and t.
While it swings, t may fall to 0, where it proves nothing; so the best bound so far is kept. With s, q and t fixed it is
a line in η, so it stays a bound when η moves, and its slope −nts = −1/λ gives the λ with the same solution.
**Upper bound.** The iterates violate the constraint by a little until the end. A feasible point is made from them: s·W
with the smallest s > 1 that is feasible, or the mixture with an earlier point that had slack; as the hinge and Ω are
convex, the values of that point are enough for a bound. When a run ends, its weights become this feasible point
(:func:`keep_budget`), and the certificate is evaluated again there: what is handed back satisfies the constraint.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernels.rows import loss_sum, repair_dual
from ...kernels.splitting import hinge_along, hinge_facts, limit_flows
from ...pauses import pause
from ...problems.base import Certificate
from ...problems.certificate import Workspace, double_scores, is_double, require_finite
from ...problems.prediction import Problem
from .smallest_hinge import smallest_hinge

# A lower bound of Ω this many times μ/λ_max (what one margin costs) makes one suspect that no weights keep the budget.
SUSPICIOUS, MORE = 100.0, 30.0
RAY_PASSES = 30  # Newton steps along s·W: the mean hinge is convex and piecewise linear in s, so they end by themselves
NUDGES = 12  # times that a point is moved further into the feasible set, each time by twice as much, for rounding
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


@dataclass
class Known:
    """Known bounds of the smallest Ω for any budget η, for one loss and penalty.

    hinge, omega, coef : of the point with room in the budget that bounds it best from above, and the point itself
    height, price : it is at least ``height − price·η``, the line of the best dual point so far
    """

    of: Any = None
    hinge: float = math.inf
    omega: float = math.inf
    coef: np.ndarray | None = None
    height: float = 0.0
    price: float = 0.0

    def share(self, hinge: float, eta: float) -> float:
        """The share of the kept point in the mixture with one of this mean hinge that keeps the budget; NaN: none."""
        if hinge <= eta:
            return 0.0
        return (hinge - eta) / (hinge - self.hinge) if self.hinge < eta else math.nan

    def upper(self, hinge: float, omega: float, eta: float) -> float:
        """Ω of a mixture of the kept point and one with these values, such that the budget is kept; +inf: none."""
        share = self.share(hinge, eta)
        if share != share:
            return math.inf
        return (1.0 - share) * omega + share * self.omega if share else omega

    def offer(self, hinge: float, omega: float, eta: float, coef: np.ndarray, factor: float = 1.0) -> None:
        """Keep the point ``factor·coef`` if it has room and is better than the one that is kept: a smaller Ω for its
        room."""
        if hinge < eta:
            kept = self.omega / (eta - self.hinge) if self.hinge < eta else math.inf
            if omega / (eta - hinge) < kept:
                self.hinge, self.omega, self.coef = hinge, omega, coef * coef.dtype.type(factor)

    def lower(self, eta: float) -> float:
        """The bound from below at η."""
        return max(self.height - self.price * eta, 0.0)

    def support(self, lower: float, price: float, eta: float) -> None:
        """Keep the line through (η, ``lower``) if it is the best bound at η."""
        if math.isfinite(lower) and lower > self.lower(eta):
            self.height, self.price = lower + price * eta, price


def certify_budget(problem: Problem, state: Any, eta: float, work: Workspace) -> Certificate:
    """The certificate of a state of ``fbpd-constrained`` or ``fbpd-linear``: see the top of this file.

    ``objective`` is Ω(W), ``gap`` the upper less the lower bound (NaN as long as no feasible point is known); W itself
    satisfies the constraint where ``excess`` is 0, as it does at the end of a run (:func:`keep_budget`).
    ``violation`` the distance of −V from ∂Ω(W) at the dual iterate.
    """
    n, d, regulariser, margin = problem.n, problem.d, problem.regulariser, problem.loss.margin
    coef = state.coef.astype(np.float64, copy=False)
    W, Z = coef[:d], state.Z if is_double(problem) else double_scores(problem, coef, work.Z)
    work.U[:] = state.Y
    if not is_double(problem):
        work.U[np.arange(n), problem.y] = 0.0
        work.U[np.arange(n), problem.y] = -work.U.sum(axis=1)
    total, active, entries = hinge_facts(Z, work.U, problem.y, problem.loss, 1e-6 * margin)
    pause()
    hinge = total / n
    omega, rows, nonzeros = regulariser.value(W)
    require_finite(weights=coef, scores=Z, duals=work.U)
    # A t above all row sums only costs; below them, rows are scaled down to it.
    level = min(state.level, float(-work.U.min()))
    flows = limit_flows(work.U, problem.y, level)
    for start, stop, G in work.gradients(problem):
        regulariser.violations(G, 1.0, W[start:stop], 1.0, work.violation[start:stop], work.paper[start:stop])
    pause()
    worst = float(work.violation.max())
    if problem.intercept:
        worst = max(worst, float(np.linalg.norm(work.U.sum(axis=0, dtype=np.float64))))
        repair_dual(work.U, *problem.terms)
        flows = limit_flows(work.U, problem.y, level)
    lower, factor = _lower(problem, work, margin * flows - n * level * eta)
    price = n * level * factor
    known = knowledge(problem, state)
    known.support(lower, price, eta)
    if lower < known.lower(eta):
        lower, price = known.lower(eta), known.price
    upper = _upper(problem, state, eta, hinge, omega, Z)
    if not math.isfinite(upper) and lower > state.suspicion:
        _complain_if_out_of_reach(problem, eta)
        state.suspicion *= MORE
    gap = max(upper, omega) - lower if math.isfinite(upper) else math.nan
    lam = 1.0 / price if price > 0.0 else math.inf
    return Certificate(
        objective=omega,
        loss=hinge,
        penalty=omega,
        dual=lower,
        gap=gap,
        relative_gap=gap / problem.scale(omega),
        violation=worst,
        violation_sum=float(work.violation.sum()),
        paper_violation=float(work.paper.max()),
        paper_violation_sum=float(work.paper.sum()),
        nonzero_rows=rows,
        nonzero_entries=nonzeros,
        active_share=active / n,
        dual_entries=entries / n,
        excess=max(hinge - eta, 0.0),
        equivalent_lam=lam,
    )


def knowledge(problem: Problem, state: Any) -> Known:
    """Return the bounds that the state's run found so far; none if they were for another loss or penalty."""
    of = (problem.loss, problem.penalty)
    if state.known.of != of:
        state.known = Known(of)
    found: Known = state.known
    return found


def first_suspicion(problem: Problem, unit: float) -> float:
    """The lower bound of Ω at which a run first checks whether its budget is feasible; ``unit`` : the scale of λ."""
    return SUSPICIOUS * problem.loss.margin / unit


def _complain_if_out_of_reach(problem: Problem, eta: float) -> None:
    found = smallest_hinge(problem, tol=1e-3, above=eta)
    if found.lower > eta:
        found = smallest_hinge(problem, tol=1e-3)
        raise ValueError(
            f"eta is {eta:g}, and no weights keep that budget: the smallest mean hinge on these data is between "
            f"{found.lower:.6g} and {found.reached:.6g}. Choose eta of at least {found.reached:.6g}, or fewer samples, "
            "more features, an intercept"
        )


def _lower(problem: Problem, work: Workspace, gain: float) -> tuple[float, float]:
    """max over s ≥ 0 of s·gain − Ω*(−sXᵀU), and the s where it is (1 if the maximum is the trivial bound 0)."""
    if gain <= 0.0:
        return 0.0, 1.0
    top, conjugate = 0.0, 0.0
    for _, _, G in work.gradients(problem):
        norm, star = problem.regulariser.duals(G, 1.0, 1.0)
        top, conjugate = max(top, norm), conjugate + star
    if top > 0.0 and conjugate == 0.0:
        return gain / top, 1.0 / top
    G = np.concatenate([rows.copy() for _, _, rows in work.gradients(problem)])

    def value(s: float) -> float:
        pause()
        return s * gain - problem.regulariser.duals(G, s, 1.0)[1]

    if not G.any():
        return math.inf, math.inf  # a ray: no W keeps the budget
    if conjugate > 0.0 and math.isclose(problem.regulariser.duals(G, 2.0, 1.0)[1], 4.0 * conjugate, rel_tol=1e-9):
        best = gain / (2.0 * conjugate)  # Ω* is quadratic
        return value(best), best
    low, high = 0.0, 1.0
    while value(2.0 * high) > value(high):
        high *= 2.0
    high *= 2.0
    a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    fa, fb = value(a), value(b)
    for _ in range(45):
        if fa > fb:
            high, b, fb = b, a, fa
            a = high - GOLDEN * (high - low)
            fa = value(a)
        else:
            low, a, fa = a, b, fb
            b = low + GOLDEN * (high - low)
            fb = value(b)
    return (fa, a) if fa > fb else (fb, b)


def _upper(problem: Problem, state: Any, eta: float, hinge: float, omega: float, Z: np.ndarray) -> float:
    """A bound from above of the smallest Ω, from the state's weights and the point with room; +inf: none is known."""
    state.known.offer(hinge, omega, eta, state.coef)
    found = state.known.upper(hinge, omega, eta)
    if hinge > eta and omega > 0.0:
        factor, reached = _along(problem, Z, eta)
        if reached <= eta:
            value = problem.regulariser.value(factor * state.coef[: problem.d])[0]
            state.known.offer(reached, value, eta, state.coef, factor)
            found = min(found, value)
    return found


def keep_budget(problem: Problem, state: Any, eta: float) -> bool:
    """Make the weights of the state the feasible point of its certificate.

    Of s·W and the mixture with the kept point, the one with the smaller Ω. The state is left as it is (False) if its
    weights are feasible already, or if no feasible point is known.
    """
    Z = double_scores(problem, state.coef, np.empty((problem.n, problem.m)))
    hinge = loss_sum(Z, *problem.terms) / problem.n
    if hinge <= eta:
        return False
    kind, ulp = state.coef.dtype.type, float(np.finfo(problem.dtype).eps)
    nudges = [ulp * 2.0**power for power in range(NUDGES)]  # what rounding takes from the budget is given back
    known = knowledge(problem, state)
    factor, reached = _along(problem, Z, eta)
    longer = (kind(factor * (1.0 + nudge)) * state.coef for nudge in nudges if reached <= eta)
    share = known.share(hinge, eta)
    shares = (min(share + nudge, 1.0) for nudge in (*nudges, 1.0) if known.coef is not None and share == share)
    mixtures = (kind(1.0 - share) * state.coef + kind(share) * known.coef for share in shares)
    found = [point for way in (longer, mixtures) if (point := _first_feasible(problem, way, eta)) is not None]
    if not found:
        return False
    _, state.coef[:], state.Z = min(found, key=lambda point: point[0])
    return True


def _first_feasible(
    problem: Problem, points: Iterable[np.ndarray], eta: float
) -> tuple[float, np.ndarray, np.ndarray] | None:
    """Ω, weights and scores of the first of these points that is feasible; ``None`` if none is."""
    for coef in points:
        Z = double_scores(problem, coef, np.empty((problem.n, problem.m)))
        if loss_sum(Z, *problem.terms) / problem.n <= eta:
            return problem.regulariser.value(coef[: problem.d])[0], coef, Z.astype(problem.dtype, copy=False)
    return None


def _along(problem: Problem, Z: np.ndarray, eta: float) -> tuple[float, float]:
    """The smallest factor > 1 at which the mean hinge of factor·Z is at most η, and the mean hinge there; a larger mean
    hinge shows that there is none."""
    n, margin = problem.n, problem.loss.margin
    factor = 1.0
    total, slope = hinge_along(Z, problem.y, margin, factor)
    for _ in range(RAY_PASSES):
        pause()
        if total <= n * eta or slope >= 0.0:
            break
        factor += (total - n * eta) / -slope * (1.0 + 1e-9)
        total, slope = hinge_along(Z, problem.y, margin, factor)
    return factor, total / n
