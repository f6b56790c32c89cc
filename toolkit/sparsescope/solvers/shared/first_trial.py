"""The curvature from which the line search of a row begins.

Blondel et al. (2013, Sec. 4.4.1) take L_j = ‖h_j‖_∞, the largest diagonal entry of the Hessian of row j. A loss of
differences of scores has ∇²ℓ·1 = 0, so the curvature along some direction is at least m/(m−1) times as large: for the
largest entry h_k and the direction e_k − 1/m it is h_k/(1 − 1/m). With two classes there is no other direction in which
a loss of differences changes, and the paper's first trial takes twice the best step.
"""

from __future__ import annotations

from typing import Any

from ...registry import field

CURVATURES = ("differences", "paper")


def curvature_field() -> Any:
    """Declare the setting of a solver whose rows have a line search."""
    return field(
        "differences",
        choices=CURVATURES,
        doc="L_j of the first trial: m/(m−1) times the largest diagonal entry of the Hessian for losses of differences "
        "of scores, or the entry alone, as printed",
    )


def widening(problem: Any, curvature: str) -> float:
    """The factor of the largest diagonal entry of the Hessian in the L_j of a first trial."""
    apply = curvature == "differences" and problem.loss.of_differences and problem.m > 1
    return problem.m / (problem.m - 1.0) if apply else 1.0
