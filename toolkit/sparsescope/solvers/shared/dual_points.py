"""Common parts of solvers of hinges whose weights are a function of a dual point."""

from __future__ import annotations

import math
from typing import Any

from ...problems.base import Certificate
from ...problems.prediction import Problem
from ...registry import losses, penalties


def refuses_hinge(solver: Any, problem: Problem) -> str | None:
    """Return why a solver that keeps W as a function of its dual point cannot solve a problem.

    Parameters
    ----------
    solver
        the solver; its ``losses`` and ``only_penalties`` name what it is for.
    problem
        the problem.

    Returns
    -------
    str | None
        one sentence, or ``None`` if it can.
    """
    if (blocks := solver.refuses_blocks(problem)) is not None:
        return str(blocks)
    if not any(isinstance(problem.loss, losses[name]) for name in solver.losses):
        return (
            f"{solver.name} solves {'the hinges' if len(solver.losses) > 1 else 'the hinge'} of the worst pair "
            f"({', '.join(solver.losses)}) and no other loss; the {problem.loss.title} loss is for other solvers, such "
            "as auto"
        )
    if not any(isinstance(problem.penalty, penalties[name]) for name in solver.only_penalties):
        return (
            f"{solver.name} needs the squared norm in the penalty, which makes W a function of the dual point: "
            f"{' or '.join(solver.only_penalties)}, not {problem.penalty.title}"
        )
    if getattr(problem.penalty, "rho", 0.0) >= 1.0:
        return f"{solver.name} needs an elastic net with rho below 1 (λ₄ = ρ/(1−ρ) is infinite at 1); rho is 1"
    if problem.regulariser.entry_terms() is None:
        return f"{solver.name} has weights of either sign, and the penalty keeps them non-negative: choose fbpd"
    if problem.intercept:
        return (
            f"{solver.name} has no unpenalised intercept: it would tie the dual points of all samples. Leave it "
            "out, or add a column of ones to X"
        )
    return None


def certificate_of_duals(
    problem: Problem,
    dual: float,
    loss: float,
    omega: float,
    unit: float,
    counts: tuple[int, int, int, int],
) -> Certificate:
    """Return the certificate of weights that are a function of a dual point with the value ``dual``.

    Where (unit/2)‖W‖² is in the objective, it lies unit/2·‖W − W*‖² above its minimum: ``violation`` is the bound of
    unit·‖W − W*‖_F from the gap.

    Parameters
    ----------
    problem
        the problem.
    dual
        the dual value.
    loss
        mean loss of the weights.
    omega
        Ω of the weights.
    unit
        factor of half the squared norm in the objective: λ(1−ρ).
    counts
        non-zero rows and entries of W, samples with an active hinge, entries of the dual rows that push a label down.

    Returns
    -------
    Certificate
        the certificate.
    """
    objective = loss + problem.lam * omega
    gap = objective - dual
    distance = math.sqrt(2.0 * unit * max(gap, 0.0))
    rows, entries, active, positive = counts
    return Certificate(
        objective=objective,
        loss=loss,
        penalty=omega,
        dual=dual,
        gap=gap,
        relative_gap=gap / problem.scale(objective),
        violation=distance,
        violation_sum=distance,
        paper_violation=math.nan,
        paper_violation_sum=math.nan,
        nonzero_rows=rows,
        nonzero_entries=entries,
        active_share=active / problem.n,
        dual_entries=positive / problem.n,
    )
