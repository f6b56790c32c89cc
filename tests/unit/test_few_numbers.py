"""`auto` on problems of few numbers: sweeps begin, and another solver goes on where they do not end soon."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.registry import solvers
from sparsescope.runs.stopping import Gap, Iterations
from sparsescope.solvers.auto import choose
from sparsescope.solvers.shared.few_numbers import EACH, FAR, FEW, MORE, SWEEPS


def problem(n: int = 100, d: int = 5, m: int = 3, **settings: object) -> ss.Problem:
    """Features that go together, so that sweeps take long at a small λ."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) + 3.0 * rng.standard_normal((n, 1))
    return ss.Problem(X, np.arange(n) % m, **{"loss": "logistic", "lam_ratio": 0.1, **settings})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("n", "d", "m", "share"),
    [(FEW // 12, 4, 3, 0.001), (MORE // 12, 4, 3, 2.0 * FAR)],
)
def test_sweeps_begin_where_numbers_are_few_dense_or_sparse(n: int, d: int, m: int, share: float) -> None:
    few = problem(n, d, m, lam_ratio=share)
    assert choose(few)[0].name == "bcd-ls"
    sparse = ss.Problem(sp.csr_array(few.design.matrix), few.y, loss="logistic", lam=few.lam)
    assert choose(sparse)[0].name == "bcd-ls"


@pytest.mark.parametrize(
    ("n", "d", "m", "settings"),
    [
        (MORE // 12 + 10, 4, 3, {}),
        (MORE // 12, 4, 3, {"lam_ratio": 0.5 * FAR}),
        (20, 20 // EACH + 1, 3, {}),
        (100, 5, 3, {"loss": "squared", "penalty": "ridge"}),
        (100, 5, 3, {"loss": "crammer-singer", "penalty": "ridge", "lam_ratio": None, "lam": 0.1}),
    ],
)
def test_others_begin_elsewhere(n: int, d: int, m: int, settings: dict[str, object]) -> None:
    assert choose(problem(n, d, m, **settings))[0].name != "bcd-ls"


def test_another_solver_goes_on_where_sweeps_do_not_end_soon() -> None:
    slow = problem(lam_ratio=1e-3)
    usual = choose(slow, swept=True)[0]
    assert usual.name != "bcd-ls"
    run = ss.Run(slow, "auto", stop=Gap(1e-9) | Iterations(500))
    seen = []
    for event in run:
        seen.append((event.iteration, run.state.delegate.name))
    assert {name for k, name in seen if k <= SWEEPS} == {"bcd-ls"}
    assert seen[-1][1] == usual.name and event.relative_gap <= 1e-9
    assert "sweeps did not end" in run.state.reason


@pytest.mark.parametrize("share", [0.5, 0.7])
def test_from_given_weights_and_along_a_path_the_others_go_on(share: float) -> None:
    few = problem(lam_ratio=share)
    usual = choose(few, swept=True)[0].name
    found = ss.solve(few, tol=1e-6, record=False)
    assert found.reason.startswith("bcd-ls: ")
    again = ss.solve(few, W=found.W, tol=1e-8, record=False)
    assert again.reason.startswith(f"{usual}: ")
    auto = solvers.create("auto")
    assert auto.warm_start_from(few.with_(lam=0.8 * few.lam), auto.init(few)).delegate.name == usual
