"""Event: what an iterate tells an observer."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from ..solvers.base import Solver, State

NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Event:
    """What an iterate tells an observer. Numbers are NaN when they were not evaluated at this iteration.

    iteration : outer iterations so far (0: the starting point)
    passes : data passes; of a covariance problem factorisations of Θ
    seconds : solver seconds, without compilation and without observers
    objective = loss + λ·penalty · dual : certified lower bound · gap, relative_gap = gap/|objective|
    violation, paper_violation (and their sums over rows) : MATH §3
    seen_violation, seen_violation_sum : the latter criterion as the paper has it, over the rows that this iteration
        visited, each at the moment of its visit (Blondel et al. 2013, Eq. 9 and 10); only solvers that sweep over rows
    nonzero_rows, nonzero_entries of W; of Θ the features with an edge, and entries · working_set : rows touched; of Θ
        the entries on and above the diagonal · step_size, trials : of this iteration
    train_accuracy, test_accuracy : in [0, 1], for one class a sample; the other train_… and test_… for label sets, see
        :class:`sparsescope.problems.metrics.SetMeasures` · lam : λ in force
    search_share : share of an iteration's work that went into searches for what to work on; NaN where there is none
    inner_sweeps, coordinate_steps, step_flops : sweeps of this iteration over its working set (κ_i of Tang and
        Scheinberg 2013, Eq. 28, where κ_o is ``iteration``), coordinates looked at in them and flops for each; NaN for
        solvers without an inner problem
    search_seconds, update_seconds : CPU seconds so far of passes that search, and of those over what is active already;
        NaN where there is no search
    features : of a sequence of models, the features its steps were given so far, each time they were; NaN for others
    active_share : share of the samples whose hinge is active (above 1e-6 of the margin) · dual_entries : mean number of
        non-zeros of a dual row off the true class; both NaN for solvers without a dual point
    excess : for a budget on the mean loss, how far it is overdrawn (0 if it is kept) · equivalent_lam : the λ of the
        problem without a budget that has the same solution, as the dual point has it; both NaN without a budget
    problem, solver, state : for observers that look closer; ``state`` must not be changed
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
    violation_sum: float = NAN
    paper_violation: float = NAN
    paper_violation_sum: float = NAN
    seen_violation: float = NAN
    seen_violation_sum: float = NAN
    working_set: float = NAN
    step_size: float = NAN
    trials: float = NAN
    train_accuracy: float = NAN
    test_accuracy: float = NAN
    train_precision_at_1: float = NAN
    train_precision_at_3: float = NAN
    train_precision_at_5: float = NAN
    train_micro_f1: float = NAN
    train_macro_f1: float = NAN
    train_ranking_loss: float = NAN
    test_precision_at_1: float = NAN
    test_precision_at_3: float = NAN
    test_precision_at_5: float = NAN
    test_micro_f1: float = NAN
    test_macro_f1: float = NAN
    test_ranking_loss: float = NAN
    active_share: float = NAN
    dual_entries: float = NAN
    excess: float = NAN
    equivalent_lam: float = NAN
    search_share: float = NAN
    inner_sweeps: float = NAN
    coordinate_steps: float = NAN
    step_flops: float = NAN
    search_seconds: float = NAN
    update_seconds: float = NAN
    features: float = NAN
    message: str = ""

    @property
    def certified(self) -> bool:
        """Whether this event carries a certificate."""
        return self.violation == self.violation


NUMBERS = tuple(f.name for f in fields(Event) if f.name not in ("problem", "solver", "state", "message"))
