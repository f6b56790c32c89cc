"""Interior points: optima of linear programmes, weights, label sets, zeros, forks, and what is never handed back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import hinge_program, in_turn, tags
from sparsescope.problems import null_programs
from sparsescope.problems.interior_cones import Orthant, SecondOrder
from sparsescope.problems.interior_systems import ByClass, ByWeights, Joint, factored
from sparsescope.registry import penalties, solvers
from sparsescope.runs.stopping import Iterations
from sparsescope.solvers.shared.augmented import Lagrangian
from sparsescope.solvers.shared.hand_over import CLASS_WORK, PATH_WORK, SPLIT_SHARE, SPLIT_STEP, overdue
from sparsescope.solvers.shared.interior_point import ROOM, InteriorPoint, factoring
from sparsescope.solvers.shared.interior_point import suits as takes_interior_points

HINGE = "crammer-singer"


def wide(n: int = 12, d: int = 210, m: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Correlated features of different sizes, and labels that nothing predicts."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, 4)) @ rng.standard_normal((4, d)) + 0.1 * rng.standard_normal((n, d))
    return X * np.exp(rng.standard_normal(d)), np.arange(n) % m


def unit(problem: ss.Problem) -> float:
    """The first bound on λ_max, which is as good a unit of λ here and takes no programmes."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(null_programs, "MOST_FLOWS", 0)
        return problem.lam_reference


def at(share: float, of_lam_max: bool = False, **given: Any) -> ss.Problem:
    X, y = wide()
    problem = ss.Problem(X, y, loss=HINGE, **given)
    problem = problem.with_lam(share * (problem.lam_reference if of_lam_max else unit(problem)))
    assert takes_interior_points(problem)
    return problem


def solved(problem: ss.Problem, tol: float = 1e-8) -> Any:
    found = ss.solve(problem, "ssnal", tol=tol, max_iter=60, record=False)
    assert found.converged, found
    assert problem.objective(found.W, found.b) == pytest.approx(found.objective, rel=1e-12)
    return found


every_penalty = pytest.mark.parametrize(
    "penalty",
    [
        *penalties,
        pytest.param(ss.penalties.L1L2(nonnegative=False), marks=pytest.mark.slow),  # what l1/l2 is by its name
        ss.penalties.BlockL1L2(7),
    ],
)


@every_penalty
def test_every_penalty_is_certified_in_tens_of_steps(penalty: Any) -> None:
    solved(at(0.002, penalty=penalty, intercept=True))


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
def test_the_optimum_is_that_of_a_linear_program(intercept: bool) -> None:
    problem = at(0.05, penalty="l1", intercept=intercept)
    X, y = wide()
    value, _, _ = hinge_program(X, y, problem.lam, intercept)
    found = solved(problem, 1e-9)
    assert found.objective == pytest.approx(value, rel=2e-9) and found.dual <= value * (1 + 1e-10)


def test_unused_weights_are_zero_and_not_small() -> None:
    found = solved(at(0.05, penalty="l1/l2"))
    rows = np.linalg.norm(found.W, axis=1)
    assert 0 < np.count_nonzero(rows) <= 36, "no more rows than slacks can be tight"
    assert rows[rows > 0].min() > 1e-6 * rows.max()


def test_a_margin_scales_the_weights() -> None:
    problem = at(0.05, penalty="sparse-group")
    other = problem.with_(loss=ss.losses.CrammerSinger(margin=2.5))
    assert other.lam == problem.lam
    assert solved(other).objective == pytest.approx(2.5 * solved(problem).objective, rel=3e-8)


@pytest.mark.parametrize("penalty", ["l1", "sparse-group", "block-l1/linf"])
def test_weights_of_samples_are_repetitions_and_those_of_features_scales(penalty: str) -> None:
    X, y = wide()
    rng = np.random.default_rng(0)
    times, c = rng.integers(1, 4, len(y)), np.repeat(rng.uniform(0.5, 2.0, 42), 5)
    given: dict[str, Any] = {"loss": HINGE, "penalty": penalty, "lam": 0.02, "intercept": True}
    weighted = ss.Problem(X, y, sample_weight=times, feature_weights=c, **given)
    repeated = ss.Problem(np.repeat(X, times, axis=0) / c, np.repeat(y, times), **given)
    assert takes_interior_points(weighted) and takes_interior_points(repeated)
    assert solved(weighted).objective == pytest.approx(solved(repeated).objective, rel=3e-8)


@pytest.mark.parametrize("penalty", ["l1/linf", "l1/l2"])
def test_label_sets_with_empty_and_full_ones(penalty: str) -> None:
    X, Y = tags()
    X, Y = np.tile(X.toarray()[:24], (1, 6)), Y[:24]
    X = X * np.random.default_rng(1).uniform(0.5, 1.5, X.shape)
    problem = ss.Problem(X, Y, loss="separation-ranking", penalty=penalty, intercept=True, lam=0.001)
    assert takes_interior_points(problem) and not Y[0].any() and Y[2].all()
    solved(problem)


def test_a_point_is_never_worse_than_the_one_it_starts_from() -> None:
    problem = at(0.05, penalty="l1/l2", intercept=True)
    best = solved(problem)
    for event in ss.Run(problem, "ssnal", W=best.W, b=best.b, stop=Iterations(4)):
        assert event.objective <= best.objective * (1 + 1e-12)


def test_a_fork_goes_on_by_itself() -> None:
    problem = at(0.05, penalty="sparse-group", intercept=True)
    core = InteriorPoint(problem, np.zeros((problem.rows, problem.m)), problem.null_duals)
    for _ in range(5):
        core.step(1)
    fork = core.__deepcopy__({})
    for _ in range(3):
        fork.step(1)
    reached = core.product()
    again = core.__deepcopy__({})
    for _ in range(3):
        again.step(1)
    assert core.product() == reached and again.product() == fork.product() < reached


@pytest.mark.parametrize(
    ("penalty", "intercept"), in_turn(["l1", "l1/linf", "sparse-group", ss.penalties.BlockL1L2(7)], (False, True))
)
def test_all_systems_give_the_same_step(penalty: Any, intercept: bool) -> None:
    problem = at(0.05, penalty=penalty, intercept=intercept)
    core = InteriorPoint(problem, np.zeros((problem.rows, problem.m)), problem.null_duals)
    for _ in range(6):
        core.step(1)
    for cone in [core.hinges.slack, *(piece.cone for piece in core.pieces)]:
        cone.scale()
    core._factor()
    r = np.random.default_rng(0).standard_normal((problem.rows, problem.m))
    r[problem.d :] -= r[problem.d :].mean(axis=1, keepdims=True)  # a shift of all intercepts changes nothing
    found = [kind(core.X, core.system.curvature, core.hinges).solve(r, 6) for kind in (Joint, ByClass, ByWeights)]
    W, y = found[0]
    Z = core.X @ W
    for other, same in found[1:]:
        np.testing.assert_allclose(same, y, atol=1e-8 * np.abs(y).max())
        off = Z - core.X @ other
        off -= off.mean(axis=1, keepdims=True)  # scores count up to a shift of a sample's
        assert np.abs(off).max() <= 1e-7 * np.abs(Z).max()
        np.testing.assert_allclose(other[: problem.d], W[: problem.d], atol=1e-7 * np.abs(W).max())


@pytest.mark.parametrize("penalty", ["l1", "l1/linf", "sparse-group", ss.penalties.BlockL1Linf(8)], ids=str)
def test_many_classes_are_solved_class_by_class(penalty: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 4)) @ rng.standard_normal((4, 80)), np.arange(20) % 16
    problem = ss.Problem(X, y, loss=HINGE, penalty=penalty, intercept=True)
    problem = problem.with_lam(0.01 * unit(problem))
    core = InteriorPoint(problem, np.zeros((problem.rows, problem.m)), problem.null_duals)
    core.step(1)
    assert isinstance(core.system, ByClass) and not takes_interior_points(problem.with_(loss="logistic"))
    solved(problem, 1e-8)


def test_a_step_that_is_not_finite_is_not_taken() -> None:
    problem = at(0.05, penalty="l1", intercept=True)
    core = InteriorPoint(problem, np.zeros((problem.rows, problem.m)), problem.null_duals)
    core.step(1)
    shown = core.shown.copy()
    core.hinges.slack.s = np.zeros_like(core.hinges.slack.s)
    assert not core.step(1) and core.stuck and not core.step(1)
    np.testing.assert_array_equal(core.shown, shown)


def test_a_system_that_is_not_quite_positive_is_factored_and_one_that_is_not_at_all_refused() -> None:
    S = np.array([[1.0, 1.0 + 1e-7], [1.0 + 1e-7, 1.0]])
    np.testing.assert_allclose(S @ factored(S.copy()).solve(np.ones(2)), np.ones(2), rtol=1e-4)
    with pytest.raises(np.linalg.LinAlgError):
        factored(np.array([[1.0, 9.0], [9.0, 1.0]]))


def test_a_scaling_maps_slacks_and_duals_to_one_point() -> None:
    rng = np.random.default_rng(0)
    tails = rng.standard_normal((2, 5, 3))
    s, z = (np.column_stack([1.1 * np.linalg.norm(v, axis=1), v]) for v in tails)
    cone = SecondOrder(s, z)
    cone.scale()
    np.testing.assert_allclose(cone.times(s), z, rtol=1e-10)
    size = cone.longest(-s + 0.5 * z, None)
    edge = s + size * (0.5 * z - s)
    assert np.abs(edge[:, 0] - np.linalg.norm(edge[:, 1:], axis=1)).min() <= 1e-12
    flat = Orthant(np.ones(3), np.full(3, 2.0))
    assert flat.longest(np.array([-0.5, 1.0, 0.0]), None) == 2.0


def test_a_centred_pair_has_the_product_asked_for_and_the_same_difference() -> None:
    rng = np.random.default_rng(0)
    tails, units = rng.standard_normal((2, 5, 3)), rng.uniform(0.1, 10.0, (5, 1))
    s, z = (np.column_stack([np.linalg.norm(v, axis=1), v]) for v in tails)  # on the boundary
    s[0], z[1] = 0.0, 0.0
    for cone, unit in ((SecondOrder(s.copy(), z.copy()), units), (Orthant(s[:, 0], z[:, 0]), units[:, 0])):
        away = cone.s - unit * cone.z
        cone.centre(unit, 1e-3)
        np.testing.assert_allclose(cone.s - unit * cone.z, away, rtol=1e-12, atol=1e-12)
        if isinstance(cone, SecondOrder):  # s∘z is the product times the unit of the cone
            np.testing.assert_allclose((cone.s * cone.z).sum(axis=1), 1e-3, rtol=1e-9)
            cross = cone.s[:, :1] * cone.z[:, 1:] + cone.z[:, :1] * cone.s[:, 1:]
            np.testing.assert_allclose(cross, 0.0, atol=1e-12)
            assert (cone.s[:, 0] > np.linalg.norm(cone.s[:, 1:], axis=1)).all()
        else:
            np.testing.assert_allclose(cone.s * cone.z, 1e-3, rtol=1e-9)
            assert (cone.s > 0).all() and (cone.z > 0).all()


@every_penalty
def test_a_point_that_is_given_is_where_the_method_begins(penalty: Any) -> None:
    problem = at(0.05, of_lam_max=True, penalty=penalty, intercept=True)
    problem = problem.with_(loss=ss.losses.CrammerSinger(margin=2.5))
    run = ss.Run(problem, "ssnal")
    while run.advance().relative_gap > 1e-6:
        assert run.state.iteration < 60
    near = problem.with_lam(0.98 * problem.lam)
    core = InteriorPoint(near, run.state.coef, run.state.U)
    gap = core.reached - near.n * core.proved
    assert 0 < gap < 0.1 * core.reached
    assert core.margin * core.product() == pytest.approx(ROOM * gap)
    away = np.abs(core.W * core.margin - core.shown).max()
    assert away <= 1e-12 * np.abs(core.shown).max()
    for _ in range(10):  # 14 to 20 from zero weights
        core.step(1)
    assert core.reached - near.n * core.proved <= 1e-4 * core.reached


def test_zero_weights_that_are_optimal_are_a_point_to_begin_at() -> None:
    problem = at(1.5, of_lam_max=True, penalty="sparse-group")
    core = InteriorPoint(problem, np.zeros((problem.rows, problem.m)), problem.null_duals)
    for _ in range(3):
        assert core.step(1)
    assert core.reached - problem.n * core.proved <= 1e-8 * core.reached and not core.shown.any()


def test_where_rounding_ends_its_steps_the_lagrangian_goes_on() -> None:
    """At λ_max slacks are zero together with their duals, and here several intercepts are optimal."""
    X, y = tags()
    problem = ss.Problem(X, y, loss="separation-ranking", penalty="block-l1/l2", intercept=True)
    problem = problem.with_lam(problem.lam_max)
    run = ss.Run(problem, "ssnal")
    kinds = []
    while run.advance().relative_gap > 1e-9:
        kinds.append(type(run.state.core))
        assert len(kinds) < 100
    assert sorted(set(kinds), key=kinds.index) == [type(None), InteriorPoint, Lagrangian]
    solved(problem, 1e-9)


@pytest.mark.parametrize("penalty", ["l1", "l1/l2", "block-l1/linf"])
@pytest.mark.parametrize("shape", [(20, 40, 16), (200, 20, 4)], ids=str)
def test_few_weights_of_few_and_of_many_samples(shape: tuple[int, int, int], penalty: str) -> None:
    n, d, m = shape
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = (X[:, :m] + rng.standard_normal((n, m))).argmax(axis=1)
    y[:m] = np.arange(m)
    problem = ss.Problem(X, y, loss=HINGE, penalty=penalty, intercept=True)
    problem = problem.with_lam(0.01 * unit(problem))
    assert takes_interior_points(problem)
    core = InteriorPoint(problem, np.zeros((problem.rows, problem.m)), problem.null_duals)
    core.step(1)
    assert isinstance(core.system, ByWeights) == (n > d)
    solved(problem)


def test_auto_hands_on_after_a_share_of_the_work_of_interior_points() -> None:
    problem = at(0.002, penalty="l1", intercept=True)
    run = ss.Run(problem, "auto")
    least, names = SPLIT_SHARE * (PATH_WORK + CLASS_WORK * problem.m + factoring(problem)), []
    while run.advance().relative_gap > 1e-8:
        names.append(run.state.delegate.name)
    before = names.count("fbpd")
    assert 0 < before < len(names) and set(names[before:]) == {"ssnal"}
    each = SPLIT_STEP + problem.design.nnz * problem.m
    assert (before - 2) * each <= least < (before + 1) * each
    X, y = wide()
    many = ss.Problem(np.tile(X, (80, 6)), np.tile(y, 80), loss=HINGE, penalty="l1", lam=0.1)
    state = solvers.create("auto").init(many)
    assert state.delegate.name == "fbpd" and not overdue(many, state, 10**9), "no interior points there"
