"""Common parts of solvers of sequences of models: their state, its events, its start and its steps."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ...kernels.rows import loss_gradient, support_flags
from ...problems.base import Certificate
from ...problems.certificate import Workspace
from ...problems.prediction import Problem
from ...problems.sequence_model import Columns, SequenceModel
from ...registry import Column
from ..base import Solver, State
from .columns import FIXED_STEP_COLUMNS

NAN = float("nan")


class SequenceState(State):
    """State: the predictions Z (n, m) of the training samples, and the model that makes them.

    coef : (d, m) weights of the columns of X: of the whole model where its steps are linear in the columns, of its last
        least squares step where they are calibrated, zero where features are random
    model : the sequence so far · loss : what the predictions are of · features : how many different ones were made or
        taken so far: a column that comes again is not counted again · seen : (d,) columns that were taken
    """

    def __init__(self, problem: Problem) -> None:
        self.bare()
        self.d = problem.d
        self.coef = np.zeros((problem.d, problem.m), dtype=problem.dtype)
        start = problem.null_intercept if problem.intercept else np.zeros(problem.m)
        self.model = SequenceModel(start.astype(problem.dtype), problem.d)
        self.Z = np.tile(self.model.start, (problem.n, 1))
        self.U = np.empty_like(self.Z)
        self.loss = problem.loss
        self.features = 0.0
        self.seen = np.zeros(problem.d, dtype=bool)
        self.factor: Any = None  # of the metric of all columns, for solvers that keep one
        self.lam = NAN  # the λ that it was made with

    def point(self, problem: Any) -> tuple[float, float, int, int]:
        """Mean loss of the predictions, 0, and the columns and entries in use."""
        flags = np.empty(self.d, dtype=np.uint8)
        support_flags(self.coef, flags)
        return problem.mean_loss(self.Z), 0.0, int(flags.sum()), int(np.count_nonzero(self.coef))

    def take_residual(self, problem: Problem) -> np.ndarray:
        """U ← ∇ℓ at the predictions; for the squared loss Ŷ − Y."""
        loss_gradient(self.Z, *problem.terms, self.U)
        return self.U

    def intercept(self) -> None:
        """A sequence has none: its start is part of the model."""
        return None

    def follow(self, state: SequenceState) -> Any:
        """Take the predictions and the model of another state."""
        self.model, self.features = state.model.copy(), state.features
        self.seen[:] = state.seen
        self.Z[:] = state.Z
        return self

    def count(self, block: Any) -> None:
        """Count the features of a step: columns of X that were not taken before, and all random ones."""
        if isinstance(block, Columns):
            self.features += np.count_nonzero(~self.seen[block.numbers])
            self.seen[block.numbers] = True
        else:
            self.features += block.p

    def copy(self) -> Any:
        """An independent state; steps of the model, which never change, are shared."""
        shared: dict[int, Any] = {id(part): part for part in (*self.model.steps, self.factor)}
        return copy.deepcopy(self, shared)


class SequenceSolver(Solver):
    """Base of solvers whose model is a sequence."""

    kinds = ("sequence",)
    columns = (
        *FIXED_STEP_COLUMNS,
        Column("features", "different features that the steps were given so far", of_step=False, drawn=True),
    )
    takes_blocks = True  # nothing ties the columns
    remedy = "choose a larger λ"

    def refuses(self, problem: Any) -> str | None:
        return None

    def init(self, problem: Any, W: Any = None, b: Any = None) -> SequenceState:
        """A state without steps. ``ValueError`` for weights to begin with: a sequence goes on from a state only."""
        self.require(problem)
        if W is not None or b is not None:
            raise ValueError(
                f"{self.name} cannot begin at given weights: its model is a sequence of steps. Go on from "
                "a state (Run(state=…))"
            )
        return SequenceState(problem)

    def warm_start_from(self, problem: Any, state: Any) -> SequenceState:
        """Begin with the predictions of another sequence, if they are of the same loss; else with none."""
        if not isinstance(state, SequenceState) or state.loss != problem.loss:
            return SequenceState(problem)
        return SequenceState(problem).follow(state)

    def adapt(self, problem: Any, state: Any) -> SequenceState | None:
        return None if state.loss == problem.loss else self.warm_start_from(problem, state)

    def certificate(self, problem: Any, state: Any, work: Workspace) -> Certificate:
        """Return the certificate of a point: no bound is known. ``violation`` is the largest ‖x_jᵀU‖/n over the columns
        of X, U = ∇ℓ(Ŷ), the part of the residual that they could still explain linearly."""
        loss, _, rows, entries = state.point(problem)
        y, of_samples = problem.terms
        loss_gradient(state.Z, y, of_samples, work.U)
        top = total = 0.0
        for _, _, G in work.gradients(problem):
            norms = np.sqrt(np.einsum("ij,ij->i", G, G, dtype=np.float64)) / problem.n
            top, total = max(top, float(norms.max())), total + float(norms.sum())
        return Certificate(
            objective=loss,
            loss=loss,
            penalty=0.0,
            dual=NAN,
            gap=NAN,
            relative_gap=NAN,
            violation=top,
            violation_sum=total,
            paper_violation=NAN,
            paper_violation_sum=NAN,
            nonzero_rows=rows,
            nonzero_entries=entries,
        )

    def value(self, problem: Any, loss: float, penalty: float) -> float:
        return loss

    def target(self, problem: Any) -> tuple[Any, ...]:
        return tuple(problem.key[:-1])  # λ is no part of F
