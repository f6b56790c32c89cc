"""CLS: least squares on the residual, then on functions of the predictions (Agarwal et al. 2013, Alg. 2).

Σ̂ ← XᵀX/n;  M ← Σ̂ + λI, factored once;  Ŷ ← 0
repeat:
    W ← M⁻¹Xᵀ(Y − Ŷ)/n;   Ỹ ← Ŷ + XW                       fit the residual (Eq. 18)
    C ← argmin ‖Y − G(Ỹ) C‖²                                calibrate, G(ỹ) = [ỹ, ỹ², ỹ³] (Eq. 19)
    Ŷ ← the nearest point of the simplex to G(Ỹ) C, row by row; for label sets of the box [0, 1]^m
The model is the sequence of (W, C): predictions of other samples replay it. X is not read to calibrate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from ..problems.sequence_model import Calibration, Columns
from ..registry import field, losses, solvers
from .base import settings
from .shared.metric import metric_factor, too_large
from .shared.sequence import SequenceSolver, SequenceState

POWERS = {"identity": 1, "square": 2, "cube": 3}
# Predictions that sum to one are tied to each other, so the functions of them are nearly dependent: directions this far
# below the largest are left out of the calibration.
CUT = 1e-11


@settings
class CLS(SequenceSolver):
    """Calibrated least squares (Agarwal et al. 2013, Alg. 2): link and weights are fitted in turns. F never rises.

    The basis always contains the predictions themselves; ``square`` and ``cube`` add their powers. For another basis
    inherit and define ``expand(self, Y)``. The cost is that of ``gls``: a d × d matrix, factored once, and two products
    with X per step.
    """

    basis: str = field("cube", choices=tuple(POWERS), doc="G: the predictions, and their powers up to this one")

    title = "calibrated least squares"
    menu_order = 150
    remark = (
        "For sequences (`SequenceProblem`) with the loss `squared`; predictions are projected on the simplex, "
        "or on the box for label sets."
    )
    contract_settings = ({"basis": "identity"}, {"basis": "square"})
    doc = "Least squares on the residual, then on powers of the predictions; the link is learned with the weights."
    source = "Agarwal et al. 2013, Alg. 2"

    def refuses(self, problem: Any) -> str | None:
        if not isinstance(problem.loss, losses["squared"]):
            return (
                f"{self.name} fits the indicators of classes or labels by least squares; the {problem.loss.title} "
                "loss is of scores. Choose squared, or stagewise"
            )
        return too_large(self.name, problem)

    def expand(self, Y: np.ndarray) -> np.ndarray:
        """Evaluate the functions G of predictions.

        Parameters
        ----------
        Y
            predictions (k, m).

        Returns
        -------
        np.ndarray
            G (k, q), the first m columns Y itself.
        """
        return np.hstack([Y**power for power in range(1, POWERS[self.basis] + 1)])

    def step(self, problem: Any, state: SequenceState) -> None:
        design, n = problem.design, problem.n
        if state.lam != problem.lam:
            state.factor = metric_factor(problem.second_moment()[: problem.d, : problem.d], 1.0, problem.lam, problem.d)
            state.lam = problem.lam
        G = design.rmatmul(state.take_residual(problem), np.empty((problem.d, problem.m), dtype=problem.dtype))
        G *= -1.0 / n
        W = np.ascontiguousarray(scipy.linalg.cho_solve(state.factor, G, overwrite_b=True, check_finite=False))
        moved = design.matmul(W, np.empty_like(state.Z))
        moved += state.Z
        functions = self.expand(moved)
        if functions.ndim != 2 or functions.shape[0] != n or not np.isfinite(functions).all():
            raise ValueError(
                f"{self.name}: expand gave an array of shape {np.shape(functions)}; finite numbers of "
                f"shape ({n}, q) are needed"
            )
        C = self._fit(problem, functions)
        made = Calibration(W, C, self.expand, problem.multilabel)
        state.Z[:] = made.calibrated(moved)
        state.coef[:] = W
        state.model.steps.append(made)
        state.iteration += 1
        state.passes += 2.0
        state.count(Columns(np.arange(problem.d)))
        state.working_set = float(problem.d)
        state.step_size = 1.0

    @staticmethod
    def _fit(problem: Any, functions: np.ndarray) -> np.ndarray:
        """C (q, m): least squares of Y on the functions, of least norm where they are dependent."""
        A = functions.astype(np.float64, copy=False)
        size = np.sqrt((A * A).mean(axis=0))
        size[size == 0.0] = 1.0
        A = A / size
        C = np.linalg.lstsq(A.T @ A, A.T @ problem.indicator(), rcond=CUT)[0]
        return (C / size[:, None]).astype(problem.dtype)


solvers.add("cls", CLS)
