"""Gradient steps on a working set of dense X, by products with its columns, in place of sweeps."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import ROW_PENALTIES
from sparsescope.kernels.rows import row_violations
from sparsescope.pauses import pausing
from sparsescope.problems.certificate import Known
from sparsescope.registry import penalties
from sparsescope.runs.stopping import Gap
from sparsescope.solvers import WorkingSet
from sparsescope.solvers.shared import gradient_steps
from sparsescope.solvers.shared.gradient_steps import (
    FEW,
    FEW_DENSE,
    FEW_SAMPLES,
    GradientSteps,
    is_tangled,
    may_crowd,
    takes_part,
)

ZEROING = [name for name in ROW_PENALTIES if penalties[name].zeroes_rows]


@cache
def drawn(n: int = 200, d: int = 180) -> tuple[np.ndarray, np.ndarray]:
    """Dense samples of three classes, which one feature in twelve tells apart."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) + 0.3 * rng.standard_normal((n, 1))
    effects = rng.standard_normal((d, 3)) * (np.arange(d) % 12 == 0)[:, None]
    return X, (X @ effects + rng.gumbel(size=(n, 3))).argmax(axis=1)


def problem(share: float = 0.3, dtype: Any = np.float64, **parts: Any) -> ss.Problem:
    X, y = drawn()
    return ss.Problem(X.astype(dtype), y, lam_ratio=share, **({"loss": "logistic", "penalty": "l1/l2"} | parts))


def in_part(state: Any) -> bool:
    return state is not None and state.gradient is not None and state.gradient.part is not None


def begun(made: ss.Problem, solver: Any, steps: int = 1) -> Any:
    """A state in the midst of steps on a working set."""
    state: Any = solver.init(made)
    for _ in range(20):
        solver.step(made, state)
        steps -= in_part(state)
        if in_part(state) and steps <= 0:
            return state
    raise AssertionError("it never took such steps")


def test_where_they_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    made = problem()
    X, y = drawn()
    assert made.d > FEW and made.n >= FEW_SAMPLES
    assert takes_part(made, 50) and not takes_part(ss.Problem(sp.csr_array(X), y), 50)
    few = np.tile(X[: FEW_SAMPLES - 1], 3), y[: FEW_SAMPLES - 1]
    kept = {"loss": "logistic", "lam_ratio": 0.1}
    assert few[0].shape[1] > FEW_DENSE and takes_part(ss.Problem(few[0][:, :FEW_DENSE], few[1], **kept), 50)
    assert not takes_part(ss.Problem(*few, penalty="l1/l2", **kept), 50)
    assert takes_part(ss.Problem(*few, penalty="elastic-net", **kept), 50)
    apart = np.random.default_rng(0).standard_normal((FEW_SAMPLES - 28, 2 * FEW_DENSE))
    assert takes_part(ss.Problem(apart, few[1][: len(apart)], penalty="l1/l2", **kept), 50)
    monkeypatch.setattr(gradient_steps, "GATHERED_BYTES", 8 * made.n * 50)
    assert takes_part(made, made.d // 2) and not takes_part(made, made.d // 2 + 1), "copies of most of X have a limit"


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "squared", "multiclass-squared-hinge"])
@pytest.mark.parametrize("penalty", ZEROING)
def test_they_end_at_the_optimum(penalty: str, loss: str, intercept: bool) -> None:
    made = problem(loss=loss, penalty=penalty, intercept=intercept)
    met: list[bool] = []
    found = ss.solve(made, "working-set", tol=1e-7, callbacks=[lambda event: met.append(in_part(event.state))])
    assert any(met), "or the case says nothing"
    assert found.converged and found.relative_gap <= 1e-7
    other = ss.solve(made, "sparsa", tol=1e-7, max_iter=10**5)
    assert found.objective == pytest.approx(other.objective, rel=2e-7)


@pytest.mark.parametrize(
    "parts",
    [
        {"sample_weight": np.linspace(0.5, 2.0, 200)},
        {"feature_weights": np.where(np.arange(180) == 7, 0.0, 1.0 + np.arange(180) % 3)},
        {"dtype": np.float32},
        {"standardize": True, "intercept": True},
    ],
    ids=["samples", "features", "float32", "standardized"],
)
def test_weights_and_single_precision(parts: dict[str, Any]) -> None:
    made, tol = problem(**parts), 1e-4 if "dtype" in parts else 1e-7
    state = begun(made, WorkingSet(newton=False))
    assert state.gradient.part.dtype == made.dtype
    found = ss.solve(made, "working-set", tol=tol)
    other = ss.solve(made, "bcd-ls", tol=tol, max_iter=10**4)
    assert found.converged and found.objective == pytest.approx(other.objective, rel=2.0 * tol)


@pytest.mark.parametrize("intercept", [False, True])
def test_a_step_has_the_length_that_its_column_asks_for(intercept: bool) -> None:
    X, y = drawn()
    sizes = 10.0 ** np.random.default_rng(1).uniform(-2.5, 2.5, X.shape[1])
    sizes[4] = 0.0  # a column of zeros
    made = ss.Problem(X * sizes, y, loss="logistic", penalty="elastic-net", lam=1e-3, intercept=intercept)
    state = WorkingSet().init(made)
    steps = GradientSteps(made, state)
    squares = np.append((made.design.matrix**2).mean(axis=0), [1.0] * intercept)
    np.testing.assert_allclose((steps.inner.lengths * squares)[squares > 0.0], squares.max())
    assert np.isfinite(steps.inner.lengths).all() and (steps.inner.lengths > 0.0).all()
    part = GradientSteps(made, state, rows=np.arange(20, 60))
    np.testing.assert_array_equal(part.inner.lengths[:40], steps.inner.lengths[20:60])
    # α/length bounds the curvature of each row, so that the first step is not too long for any of them alone.
    assert (steps.alpha / steps.inner.lengths >= (1.0 - 1e-9) * made.block_constants("class-aware")).all()
    before = steps.objective
    steps.advance(made, state, 1)
    assert steps.objective < before


def test_text_and_blocks_keep_steps_of_one_length() -> None:
    X, y = drawn()
    words = ss.Problem(sp.csr_array(X * np.geomspace(0.1, 1.0, X.shape[1])), y, loss="logistic", lam_ratio=0.1)
    tied = ss.Problem(X * np.geomspace(0.1, 1.0, X.shape[1]), y, loss="logistic", penalty="block-l1/l2", lam_ratio=0.1)
    for made in (words, tied):
        steps = GradientSteps(made, WorkingSet().init(made))
        assert (steps.inner.lengths == 1.0).all()


@pytest.mark.parametrize("tangled", [True, False])
def test_columns_that_go_together_have_few_directions(tangled: bool) -> None:
    rng = np.random.default_rng(0)
    X, y = drawn()
    X = X * rng.uniform(0.1, 10.0, X.shape[1])
    if tangled:
        X /= X.std(axis=0)
        X += 3.0 * rng.standard_normal((len(X), 2)) @ rng.standard_normal((2, X.shape[1]))
    made = ss.Problem(X, y, loss="multiclass-squared-hinge", lam_ratio=0.1)
    cosines = X.T @ X / np.outer(*[np.linalg.norm(X, axis=0)] * 2)
    # The estimate takes pairs of different samples, and so leaves out what n samples add by chance.
    exact = X.shape[1] ** 2 / ((cosines**2).sum() - (0 if tangled else X.shape[1] ** 2 / len(X)))
    assert made.directions() == pytest.approx(min(exact, X.shape[1]), rel=0.35)
    assert is_tangled(made) == tangled and may_crowd(made) and takes_part(made, 50), "many scores"
    two = ss.Problem(X, y % 2, loss="binary-squared-hinge", lam_ratio=0.1)
    assert may_crowd(two) != tangled and takes_part(two, 50) != tangled
    assert takes_part(two.with_(penalty="elastic-net"), 50), "a ridge"
    assert may_crowd(two.with_(loss="binary-logistic")) and takes_part(two.with_(loss="binary-logistic"), 50), (
        "no hinges"
    )


def test_few_long_samples_are_few_in_effect() -> None:
    X, y = drawn()
    lengths = np.ones(len(X))
    lengths[::10] = 30.0
    scaled = np.random.default_rng(0).uniform(0.1, 10.0, X.shape[1])
    found = [ss.Problem(made, y, lam_ratio=0.1).even_samples() for made in (X, X * scaled, lengths[:, None] * X)]
    assert found[0] == pytest.approx(found[1]) and 0.9 * len(X) < found[0] <= len(X)
    assert 0.05 * len(X) < found[2] < 0.15 * len(X)
    assert ss.Problem(np.zeros((4, 2)), [0, 1, 0, 1], lam=1.0).even_samples() == 0.0


def test_the_scores_are_those_of_the_weights_after_every_kind_of_step() -> None:
    made, solver = problem(0.15, intercept=True), WorkingSet()
    state: Any = solver.init(made)
    kinds = set()
    for _ in range(25):
        solver.step(made, state)
        kinds.add(in_part(state))
        np.testing.assert_allclose(state.Z, made.design.matmul(state.coef, np.empty_like(state.Z)), atol=1e-11)
    assert kinds == {True, False}


def test_what_the_choice_of_rows_knows_is_taken_over() -> None:
    made, solver = problem(0.15), WorkingSet(newton=False)
    state = begun(made, solver)
    rows = state.gradient.at
    state.moved()
    seen = state.take_gradient(made, whole=True)
    known = Known(float(state.kept.values.sum()) / made.n, state.kept.U, seen.G[rows], 1.0)
    taken, fresh = (GradientSteps(made, state, given, None, rows) for given in (known, None))
    assert taken.objective == pytest.approx(fresh.objective, rel=1e-12)
    part = fresh.part
    assert part is not None and np.array_equal(part.design.matrix, made.design.matrix[:, rows])
    np.testing.assert_allclose(taken.inner.pulled, fresh.inner.pull(part), atol=1e-9)
    found, paper = np.empty((2, rows.size))
    row_violations(seen.G[rows], 1.0, state.coef[rows], made.lam, made.row_penalty, True, found, paper)
    np.testing.assert_allclose(fresh.violations(made), found, atol=1e-12)


def test_a_fork_goes_on_alike_and_by_itself() -> None:
    made, solver = problem(0.1), WorkingSet()
    state = begun(made, solver, 2)
    fork, X = state.copy(), made.design.matrix.copy()
    assert fork.gradient.part.design.matrix is state.gradient.part.design.matrix, "its columns never change"
    before = fork.coef.copy()
    for _ in range(6):
        solver.step(made, state)
    assert np.array_equal(fork.coef, before) and np.array_equal(made.design.matrix, X)
    for _ in range(6):
        solver.step(made, fork)
    assert np.array_equal(fork.coef, state.coef) and np.array_equal(fork.Z, state.Z)


def test_an_interrupted_run_is_the_same_in_every_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    def points(rest: Any) -> list[np.ndarray]:
        made, solver = problem(0.1, intercept=True), WorkingSet()
        state: Any = solver.init(made)
        found = []
        for _ in range(12):
            with pausing(rest):
                solver.step(made, state)
            found.append(state.coef.copy())
        return found

    rests: list[None] = []
    plain = points(lambda: None)
    monkeypatch.setattr(gradient_steps, "COPIED", 400)  # two columns at a time
    again = points(lambda: rests.append(None))
    assert len(rests) > 100
    assert all(np.array_equal(a, b) for a, b in zip(plain, again, strict=True))


@pytest.mark.parametrize(
    "change", [{"lam_ratio": 0.01}, {"lam_ratio": 0.6}, {"loss": "multiclass-squared-hinge"}, {"penalty": "l1"}]
)
def test_a_change_in_their_midst(change: dict[str, Any]) -> None:
    run: Any = ss.Run(problem(0.2), "working-set", stop=Gap(1e-7))
    while not in_part(run.state):
        run.advance()
    made = run.problem.with_(**change)
    run.change(**({"lam": made.lam} if "lam_ratio" in change else change))
    while not run.advance().message:
        pass
    assert run.observe(certify_now=True).relative_gap <= 1e-7 or run.message.startswith("certified")
    other = ss.solve(run.problem, "sparsa", tol=1e-7, max_iter=10**5)
    assert run.observe().objective == pytest.approx(other.objective, rel=2e-7)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("share", [1.01, 1.5])
def test_zero_weights_may_be_optimal(share: float, intercept: bool) -> None:
    """Then a working set has no rows; also after a change of λ in mid-run, and back."""
    made = problem(share, intercept=intercept)
    for stop in ({"tol": 1e-8}, {"tol": 0.0, "max_iter": 15}):
        found = ss.solve(made, "working-set", **stop)
        assert not found.W.any() and found.relative_gap <= 1e-8
    run: Any = ss.Run(problem(0.3, intercept=intercept), "working-set")
    while not in_part(run.state):
        run.advance()
    run.change(lam=share * run.problem.lam_max)
    for _ in range(60):
        last = run.advance()
    assert last.nonzero_rows == 0 and run.observe(certify_now=True).relative_gap <= 1e-8
    run.change(lam=0.3 * run.problem.lam_max)
    for _ in range(60):
        last = run.advance()
    assert last.nonzero_rows > 0 and run.observe(certify_now=True).relative_gap <= 1e-6


def test_a_working_set_is_left_once_it_is_solved() -> None:
    """Not before its violations are below the target that made it, and not for ever after."""
    made, solver = problem(0.1), WorkingSet(newton=False)
    state: Any = solver.init(made)
    left = 0
    for _ in range(60):
        steps, target = state.gradient, state.target
        solver.step(made, state)
        if steps is not None and steps.part is not None and state.gradient is steps:
            met = float(steps.violations(made).max())
            assert (state.chosen is None) is (met <= target)
            left += state.chosen is None
    assert left >= 2
