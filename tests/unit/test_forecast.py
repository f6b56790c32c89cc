"""Forecasts of the gap by the violations of a sweep, and no certificate made twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.kernels.sweeps import Swept
from sparsescope.runs.run import warm_up
from sparsescope.runs.stopping import Gap
from sparsescope.solvers.shared.forecast import LENIENCE, LENIENCES, Forecast
from sparsescope.solvers.working_set import WorkingSet


def documents() -> tuple[Any, np.ndarray]:
    """300 × 400 with 5 % of non-zero entries, three classes."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = sp.random_array((300, 400), density=0.05, random_state=rng, format="csr")
    return X + 0.3 * sp.csr_array((np.ones(300), (np.arange(300), y)), shape=X.shape), y


def problem(penalty: str) -> ss.Problem:
    return ss.Problem(*documents(), loss="multiclass-squared-hinge", penalty=penalty, lam_ratio=0.1)


@pytest.mark.parametrize("penalty", ["elastic-net", "l1/l2"])
def test_a_forecast_follows_the_gap_over_many_orders(penalty: str) -> None:
    run = ss.Run(problem(penalty), WorkingSet(newton=False), stop=Gap(1e-8), certify_every=1)
    pairs = []
    for event in run:
        state: Any = run.state
        if state.forecast.guess == state.forecast.guess and event.iteration > 2:
            pairs.append((state.forecast.guess, event.relative_gap))
    guesses, gaps = np.array(pairs).T
    assert len(pairs) > 5 and gaps.max() > 1e3 * gaps.min()
    # Under a norm the guess holds for the rows of the sweep, and the others may have become worse.
    assert np.all(guesses < 300 * gaps) and np.all(gaps < (2 if penalty == "elastic-net" else 100) * guesses)


def test_a_ridge_makes_forecasts_of_squares() -> None:
    made, forecast, found = problem("elastic-net"), Forecast(), []
    for violation in (1e-2, 1e-3):
        swept = Swept(0.0, 4.0, 0.0, 4.0, violation, 4.0 * violation**2, 0.0, 0.0)  # type: ignore[call-arg]
        forecast.swept(made, swept, 2.0, 1.0)
        found.append(forecast.guess)
    terms = made.regulariser.entry_terms()
    assert terms is not None
    assert found == pytest.approx([4.0 * v**2 / (2.0 * made.lam * terms[1] * 2.0) for v in (1e-2, 1e-3)])


def test_what_a_certificate_shows_is_learnt() -> None:
    forecast = Forecast()
    forecast.guess = 1e-3
    assert forecast.ends(1e-3 / LENIENCE) and not forecast.ends(1e-3 / LENIENCE)  # stricter after the first
    forecast.learn(1e-4, 1e-6)
    assert forecast.lenience == pytest.approx(10.0) and forecast.ends(1.01e-4)
    forecast.learn(1e-30, 1e-29)
    assert forecast.lenience == pytest.approx(6.0), "it sufficed"
    forecast.learn(1e-30, 0.0)
    assert forecast.lenience == LENIENCES[1]
    forecast.learn(1e-4, 1e-6)
    forecast.guess = 1e-3
    forecast.learn(1e-4, 1e-6)
    forecast.begin(near=True)
    assert forecast.lenience == pytest.approx(20.0) and not forecast.ends(1.0)  # no sweep yet
    forecast.begin(near=False)
    assert forecast.lenience == LENIENCE
    forecast.guess = 1e-3
    assert forecast.is_far(1e-8) and not forecast.is_far(1e-5), "a few gradient steps do not get there"
    assert not forecast.ends_after_newton(False, 1.0) and not forecast.ends_after_newton(True, 1.0)
    forecast.guess = 1e-3
    forecast.forget()
    assert not forecast.is_far(1e-9) and not forecast.ends(1.0)


@pytest.mark.parametrize("solver", ["working-set", "newglmnet", "fbpd-constrained"])
def test_the_last_certificate_is_not_made_twice(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    budget = solver == "fbpd-constrained"
    X, y = documents()
    loss = "crammer-singer" if budget else "logistic"
    made = ss.Problem(X, y, loss=loss, penalty="l1", lam_ratio=0.3)
    warm_up(made, ss.registry.solvers.create(solver))
    kind, points = ss.registry.solvers[solver], []
    own = kind.certificate
    monkeypatch.setattr(kind, "certificate", lambda *args: points.append(1) or own(*args))
    found = ss.solve(made, solver, tol=1e-3)
    assert found.converged and found.trace is not None
    certified = int(np.isfinite(found.trace.since(0)["gap"]).sum())
    # The budget's solver puts a feasible point in the place of its own at the end: that one is certified, too.
    assert len(points) == certified if not budget else certified < len(points)
    assert found.gap == found.trace.since(0)["gap"][-1]
