"""Leaps to the fixed point of a piece, on maps whose fixed points are known, and inside the splitting methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import iris
from sparsescope.runs.stopping import Gap, Iterations
from sparsescope.solvers.shared import leap
from sparsescope.solvers.shared.leap import fixed_point


def same(w: np.ndarray) -> np.ndarray:
    return w


def hinge(penalty: str = "l1", share: float = 0.1) -> ss.Problem:
    X, y = iris()
    problem = ss.Problem(X, y, loss="crammer-singer", penalty=penalty, intercept=True)
    return problem.with_lam(share * problem.lam_max)


@pytest.mark.parametrize("kernel", [0, 3], ids=["one fixed point", "many fixed points"])
def test_a_contraction_is_left_behind_in_as_many_products_as_it_has_moving_directions(kernel: int) -> None:
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((12, 12)))[0]
    values = np.linspace(0.5, 0.999, 12)
    values[:kernel] = 1.0
    A, shift = Q * values @ Q.T, Q * (1.0 - values) @ rng.standard_normal(12)

    def image(v: np.ndarray) -> np.ndarray:
        return A @ v + shift

    here = 100.0 * rng.standard_normal(12)
    there, before, calls = fixed_point(image, here, same, 30)
    assert before == pytest.approx(np.linalg.norm(image(here) - here), rel=1e-12)
    assert np.linalg.norm(image(there) - there) <= 1e-5 * before
    assert calls <= 12 - kernel + 2
    if kernel:
        np.testing.assert_allclose(Q[:, :kernel].T @ there, Q[:, :kernel].T @ here, atol=1e-6)
    assert fixed_point(image, there, same, 1)[1] <= 1e-5 * before


def test_a_leap_beyond_its_own_size_is_none() -> None:
    here = np.ones(3)
    there, _, _ = fixed_point(lambda v: v + 1e-3 * (1000.0 - v), here, same, 3)
    np.testing.assert_array_equal(there, here)
    np.testing.assert_array_equal(fixed_point(same, here, same, 3)[0], here)


@pytest.mark.parametrize("solver", [ss.solvers.FBPD(), ss.solvers.FBPDConstrained(eta=0.5)], ids=["lam", "budget"])
def test_the_residual_is_the_distance_of_a_point_from_its_image_in_the_metric_of_leaps(solver: Any) -> None:
    problem = hinge()
    state = solver.init(problem)
    for _ in range(30):
        solver.step(problem, state)
    assert state.means is not None and state.scale != 1.0, "the intercept has a frame"
    before = np.concatenate([point.ravel() for _, point, _ in state.triples()[:3]])
    residual = solver.iterate(problem, state, leap.PLAIN)
    step = np.concatenate([point.ravel() for _, point, _ in state.triples()[:3]]) - before
    assert residual == pytest.approx(np.sqrt(step @ leap.lower(state, step)), rel=1e-9)
    np.testing.assert_allclose(state.VZ, problem.scores(state.V[:-1], state.V[-1]), atol=1e-12)


def test_leaps_that_are_not_taken_leave_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leap, "BETTER", -1.0)
    problem = hinge(share=0.05)
    runs = [ss.Run(problem, ss.solvers.FBPD(acceleration=name), stop=Iterations(400)) for name in ("leaps", "restarts")]
    for run in runs:
        list(run)
    tried, without = (run.state for run in runs)
    assert tried.passes > without.passes == 800.0 and tried.next_leap > 400
    for name in ("coef", "Z", "Y", "V", "VZ", "Q", "V0", "Q0"):
        np.testing.assert_array_equal(getattr(tried, name), getattr(without, name))


@pytest.mark.parametrize("form", ["lam", "budget"])
def test_near_the_optimum_one_leap_closes_the_gap(form: str) -> None:
    problem = hinge()
    kind, fields = (ss.solvers.FBPD, {}) if form == "lam" else (ss.solvers.FBPDConstrained, {"eta": 0.5})
    run = ss.Run(problem, kind(**fields), stop=Gap(1e-8) | Iterations(20_000), certify_every=10)
    before = list(run)[-1]
    assert "certified" in before.message
    leap.leap(kind(acceleration="leaps", **fields), problem, run.state)
    after = run.observe(certify_now=True)
    assert after.relative_gap <= leap.BETTER * before.relative_gap, "what a leap is taken for"
    assert after.passes - before.passes <= 0.1 * before.passes, "products of a leap are a share of the steps"


@pytest.mark.parametrize("form", ["lam", "budget"])
def test_leaps_reach_the_optimum(form: str) -> None:
    solver = (
        ss.solvers.FBPD(acceleration="leaps")
        if form == "lam"
        else (ss.solvers.FBPDConstrained(acceleration="leaps", eta=0.5))
    )
    last = list(ss.Run(hinge(), solver, stop=Gap(1e-8) | Iterations(20_000), certify_every=10))[-1]
    assert "certified" in last.message, last
