"""Sweeps over the few rows that keep a gap from its aim."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from sparsescope.runs.stopping import Gap
from sparsescope.solvers.shared import polish
from sparsescope.solvers.shared.polish import DEAR, PAYS, REACH, SHARE, SWEEPS, Polish

AIM = 1e-4


def problem(**parts: Any) -> ss.Problem:
    return ss.Problem(ss.datasets.make_text(150, 300, 4, seed=1), lam_ratio=0.05, **parts)


def rows_for(over: np.ndarray, gap: float = 3 * AIM, cost: float = DEAR) -> np.ndarray | None:
    """Rows chosen after a Newton step of a cost, for violations in shares of λ; all rows have the same weights."""
    made, found = problem(), Polish()
    found.begin(cost)
    G = np.zeros((over.size, made.m))
    G[:, 0] = made.lam * (1.0 + over)
    found.certified(made, gap, AIM, G, np.ones((over.size, made.m)))
    return found.take()


def test_rows_that_stand_out_are_taken() -> None:
    over = np.full(100, 1e-6)
    over[[7, 31]] = 1e-3, 1.01 * SHARE * 1e-3
    rows = rows_for(over)
    assert rows is not None and rows.tolist() == [7, 31]


@pytest.mark.parametrize(
    ("over", "given"),
    [
        (np.full(100, 1e-3), {}),  # all alike
        (np.r_[1e-3, np.full(99, 1e-6)], {"gap": 2 * REACH * AIM}),
        (np.r_[1e-3, np.full(99, 1e-6)], {"gap": 0.5 * AIM}),
        (np.r_[1e-3, np.full(99, 1e-6)], {"cost": 0.5 * DEAR}),  # the next Newton step costs less than a gradient
        (np.full(100, -1e-3), {}),
    ],
)
def test_otherwise_none_are(over: np.ndarray, given: dict[str, float]) -> None:
    assert rows_for(over, **given) is None


def test_it_ends_where_the_gap_hardly_falls() -> None:
    made, found = problem(), Polish()
    found.begin(DEAR)
    G, W = np.zeros((100, made.m)), np.ones((100, made.m))
    G[:, 0] = made.lam * np.r_[1.001, np.ones(99)]
    for gap, goes_on in ((9 * AIM, True), (9 * AIM * PAYS, True), (9 * AIM * PAYS * 0.99, False)):
        found.certified(made, gap, AIM, G, W)
        assert (found.take() is not None) == found.on == goes_on


@pytest.mark.parametrize("parts", [{}, {"intercept": True}, {"loss": "logistic", "penalty": "l1/linf"}])
def test_one_row_that_is_off_is_mended_alone(parts: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polish, "EVENS", 1.0)  # few rows are in use, and one of them is much of their average
    made = problem(**parts)
    run: Any = ss.Run(made, "working-set", stop=Gap(1e-9))
    for _ in run:
        pass
    state, natural = run.state, run.problem.natural
    lengths = np.linalg.norm(state.coef[: natural.d], axis=1)
    used = np.flatnonzero(lengths)
    row = int(used[np.argsort(lengths[used])[used.size // 2]])
    state.coef[row] *= 0.999
    natural.design.matmul(state.coef, state.Z)
    state.moved()
    work, size = natural.workspace(False), len(state.coef)

    def gap() -> float:
        return float(run.solver.certificate(natural, state, work).relative_gap)

    state.aim, state.ready, state.chosen = 0.0, True, None
    before = gap()
    assert before > 1e-8, "or there is nothing to mend"
    state.aim = 0.9 * before
    state.polish.begin(DEAR)
    assert gap() == before and state.polish.rows is not None and row in state.polish.rows
    others = np.setdiff1d(np.arange(size), [*state.polish.rows, *range(natural.d, size)])
    held = state.coef[others].copy()
    steps = 0
    while state.polish.rows is not None or (state.polish.on and state.chosen is not None):
        run.solver.step(natural, state)
        steps += 1
    assert 1 <= steps <= SWEEPS and state.ready
    np.testing.assert_array_equal(state.coef[others], held)
    assert gap() < 0.5 * before, used.size
