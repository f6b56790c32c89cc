"""The working-set solver: its choice of rows, its Newton steps, and what it does without second derivatives."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

import sparsescope as ss
from helpers import FEW_PAIRS, FirstOrder, digits, fitting, text
from sparsescope.inputs.design import Design
from sparsescope.problems import certificate
from sparsescope.registry import losses, penalties, solvers
from sparsescope.runs.run import warm_up
from sparsescope.runs.stopping import Gap, Iterations
from sparsescope.solvers import WorkingSet
from sparsescope.solvers.auto import choose
from sparsescope.solvers.shared.forecast import Forecast
from sparsescope.solvers.shared.gradient_steps import AT_ONCE, FEW, GradientSteps, fall_evenly
from sparsescope.solvers.shared.newton import Newton
from sparsescope.solvers.shared.pacing import ENOUGH, Naps, NewtonPacing, SearchPacing
from sparsescope.solvers.shared.support import Support
from sparsescope.solvers.working_set import LEAST_ROWS

few_pairs = pytest.mark.parametrize(("loss", "penalty"), FEW_PAIRS)


def on_digits(share: float = 0.1, sparse: bool = False, **parts: Any) -> ss.Problem:
    X, y = digits()
    y = fitting(parts.get("loss", "squared"), y)
    problem = ss.Problem(sp.csc_array(X) if sparse else X, y, **parts)
    return problem.with_lam(share * problem.lam_reference)


def events(problem: ss.Problem, solver: Any, count: int) -> list[Any]:
    found = list(ss.Run(problem, solver, stop=Iterations(count)))
    return [(e.objective, e.working_set, e.passes) for e in found[1:]]


# ------------------------------------------------------------------------------------------------------- Newton steps
def dense_hessian(problem: ss.Problem, Z: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """(1/n) Σ_i (x_i x_iᵀ) ⊗ ∇²ℓ(z_i) on the given rows, from the loss's row function: (s·m, s·m)."""
    X = problem.design.matrix[:, rows]
    X = X.toarray() if sp.issparse(X) else X
    if problem.intercept:
        X = np.column_stack([X, np.ones(problem.n)])
    m = problem.m
    H = np.zeros((X.shape[1] * m, X.shape[1] * m))
    for x, z, y in zip(X, Z, problem.y, strict=True):
        B = np.empty((m, m))
        for k in range(m):
            problem.loss.hessian_product(z, y, np.eye(m)[k], B[:, k])
        H += np.kron(np.outer(x, x), B)
    return H / problem.n


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize(("sparse", "block"), [(False, True), (True, True), (True, False)])
@pytest.mark.parametrize(("single", "tol"), [(False, 1e-12), (True, 2e-6)])
def test_hessian_products_are_those_of_the_written_out_matrix(
    sparse: bool, block: bool, single: bool, tol: float, intercept: bool
) -> None:
    X, y = text()
    X = X.toarray() if sp.issparse(X) else X
    problem = ss.Problem(sp.csc_array(X) if sparse else X, y, intercept=intercept)
    rng = np.random.default_rng(0)
    rows = np.sort(rng.choice(problem.d, 5, replace=False))
    Z = rng.standard_normal((problem.n, problem.m))
    support = Support(problem, rows, single, block)
    A, U, work = np.zeros_like(Z), np.zeros_like(Z), np.empty(problem.m)
    for z, label, u, a in zip(Z, problem.y, U, A, strict=True):
        problem.loss.derivatives(z, label, 1.0, u, a, work)
    H = support.bend(np.flatnonzero(A.any(axis=1)), A)
    exact = dense_hessian(problem, Z, rows)
    np.testing.assert_allclose(H.ravel(), np.diag(exact), rtol=tol, atol=tol)
    V = rng.standard_normal(H.shape).astype(support.dtype)
    out = np.empty_like(V)
    support.hessian_product(Z, U, V, out)
    np.testing.assert_allclose(out.ravel(), exact @ V.ravel(), rtol=tol, atol=tol * np.abs(exact @ V.ravel()).max())


@few_pairs
def test_a_newton_step_never_raises_the_objective_and_keeps_scores_and_zero_rows(loss: str, penalty: str) -> None:
    problem = on_digits(loss=loss, penalty=penalty)
    state = WorkingSet().init(problem)
    for _ in range(2):
        WorkingSet(newton=False).step(problem, state)
    before, zero = problem.objective(state.coef), ~state.coef.any(axis=1)
    done = Newton(problem, 30).step(problem, state)
    assert done is not None and done.taken and done.products > 0
    assert done.before == pytest.approx(before, rel=1e-12)
    assert done.after == pytest.approx(problem.objective(state.coef), rel=1e-12)
    assert done.after < done.before
    np.testing.assert_allclose(state.Z, problem.scores(state.coef), atol=1e-10)
    assert not state.coef[zero].any()


def test_near_the_solution_newton_steps_converge_faster_than_any_constant_factor() -> None:
    problem = on_digits(0.2, loss="logistic", penalty="elastic-net")
    start = ss.solve(problem, "bcd-ls", tol=1e-5, record=False)  # the rows in use are those of the solution
    state = WorkingSet().init(problem, start.W)
    newton = Newton(problem, 200)
    newton.damping = 1e-6
    optimum = ss.solve(problem, "bcd-ls", tol=1e-13, max_iter=50_000, record=False, certify_every=50).objective
    excess = [problem.objective(state.coef) - optimum]
    for _ in range(3):
        newton.step(problem, state)
        excess.append(max(problem.objective(state.coef) - optimum, 1e-16))
    assert excess[2] < 1e-2 * excess[0]
    assert excess[3] <= 1e-9


def test_a_newton_step_owes_what_sweeps_would_have_gained_less_what_it_gained(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = ss.Problem(ss.datasets.load("iris"), loss="logistic", lam_ratio=0.05)
    solver, steps = WorkingSet(), []
    step = Newton.step

    def noted(newton: Newton, *given: Any) -> Any:
        steps.append(step(newton, *given))
        return steps[-1]

    monkeypatch.setattr(Newton, "step", noted)
    state = solver.init(problem)
    for _ in range(3):
        WorkingSet(newton=False).step(problem, state)
    assert solver._newton(problem, state) and state.pacing.debt is not None
    (done,) = steps
    pacing = state.pacing
    assert done.work > done.read, "gathering the rows in use"
    q, least = pacing.ratio, done.work / (15.0 * pacing.cost)
    sweeps = [pacing.drop * q * (1.0 - q**k) / (1.0 - q) for k in (1.0, least + 1.0, done.work / pacing.cost + 1.0)]
    gain = done.before - done.after
    assert gain > 0.0 and sweeps[0] - gain <= pacing.debt <= sweeps[2] - gain


def test_no_row_in_use_means_no_newton_step() -> None:
    problem = on_digits()
    assert Newton(problem, 30).step(problem, WorkingSet().init(problem)) is None


# ------------------------------------------------------------------------------------------------------ working sets
def test_the_first_working_set_holds_the_largest_violations() -> None:
    rng = np.random.default_rng(0)
    problem = ss.Problem(rng.standard_normal((100, 900)), np.arange(100) % 3)  # with few columns there is no such set
    problem = problem.with_lam(0.3 * problem.lam_max)
    state = WorkingSet().init(problem)
    G = problem.gradient(np.zeros((problem.d, problem.m)))
    violated = np.flatnonzero(np.linalg.norm(G, axis=1) > problem.lam)
    WorkingSet().step(problem, state)
    assert set(np.flatnonzero(state.working)) <= set(violated)
    least = problem.d // 8
    assert LEAST_ROWS[0] < least < LEAST_ROWS[1] and violated.size > least
    assert state.working.sum() == least


def test_the_working_set_follows_the_support_and_is_smaller_than_all_rows() -> None:
    X = np.random.default_rng(0).standard_normal((200, 1500))
    W = np.zeros((1500, 3))
    W[:10] = 3 * np.random.default_rng(1).standard_normal((10, 3))
    problem = ss.Problem(X, (X @ W).argmax(axis=1))
    problem = problem.with_lam(0.2 * problem.lam_max)
    sizes, passes = [], []
    for event in ss.Run(problem, "working-set", stop=Gap(1e-8) | Iterations(300)):
        if event.iteration:
            sizes.append(event.working_set)
            passes.append(event.passes)
            inside = event.state.working
            assert inside[event.state.weights().any(axis=1)].all(), "rows in use belong to the working set"
    assert "certified" in event.message
    assert max(sizes) < 0.5 * problem.d
    plain = ss.solve(problem, "bcd-ls", tol=1e-8, record=False)
    assert passes[-1] < 0.5 * plain.passes


def test_an_empty_working_set_is_the_answer_above_lam_max() -> None:
    problem = on_digits(1.5)
    found = ss.solve(problem, "working-set", tol=1e-10)
    assert found.converged and not found.W.any()


def test_rows_come_back_when_lam_falls_in_mid_run() -> None:
    problem = on_digits(0.5)
    run = ss.Run(problem, "working-set", stop=Gap(1e-8))
    few = list(run)[-1].nonzero_rows
    run.change(problem=problem.with_lam(0.05 * problem.lam_max))
    many = list(run)[-1].nonzero_rows
    assert many > few
    fresh = ss.solve(run.problem, "bcd-ls", tol=1e-8, record=False)
    assert run.certificate().objective == pytest.approx(fresh.objective, rel=1e-7)


def test_without_newton_steps_it_is_coordinate_descent_on_the_working_set() -> None:
    problem = on_digits()
    found = ss.solve(problem, WorkingSet(newton=False), tol=1e-7, record=False)
    plain = ss.Run(problem, WorkingSet(newton=False), stop=Gap(1e-7))
    with_them = ss.Run(problem, "working-set", stop=Gap(1e-7))
    ends = [list(run)[-1] for run in (plain, with_them)]
    assert found.converged and all("certified" in end.message for end in ends)
    assert plain.state.newton is None and with_them.state.newton is not None
    assert ends[0].objective == pytest.approx(ends[1].objective, rel=2e-7)


def test_a_fork_goes_the_same_way() -> None:
    problem = on_digits()
    state = WorkingSet().init(problem)
    for _ in range(5):
        WorkingSet().step(problem, state)
    fork = state.copy()
    for one in (state, fork):
        for _ in range(5):
            WorkingSet().step(problem, one)
    np.testing.assert_array_equal(state.coef, fork.coef)


def test_warming_up_compiles_every_kernel_of_a_run() -> None:
    import sparsescope.kernels.newton as kernels

    problem = on_digits(sparse=True)
    warm_up(problem, solvers.create("working-set"))
    compiled = [getattr(kernels, name) for name in ("support_hessian_product", "hessian_rows", "moved_loss")]
    if not all(hasattr(k, "signatures") for k in compiled):
        pytest.skip("kernels are not compiled in this run")
    before = [len(k.signatures) for k in compiled]
    ss.solve(problem, "working-set", tol=1e-6, record=False)
    assert [len(k.signatures) for k in compiled] == before


# --------------------------------------------------------------------------------------------- parts without a Hessian
def test_a_loss_without_hessian_products_is_solved_by_sweeps_alone() -> None:
    problem = ss.Problem(*digits(), loss=FirstOrder())
    problem = problem.with_lam(0.3 * problem.lam_max)
    found = ss.solve(problem, "working-set", tol=1e-7, record=False)
    same = ss.solve(problem.with_(loss="squared"), "working-set", tol=1e-7, record=False)
    assert found.converged and found.objective == pytest.approx(same.objective, rel=1e-6)
    solver, reason = choose(problem)
    assert solver == WorkingSet(newton=False) and "second derivatives" in reason


# -------------------------------------------------------------------------------------------------------------- auto
@pytest.mark.parametrize("penalty", list(penalties))
@pytest.mark.parametrize("loss", [name for name in losses if losses.create(name).smooth])
def test_auto_chooses_a_solver_that_can_and_says_why(loss: str, penalty: str) -> None:
    solver, reason = choose(on_digits(loss=loss, penalty=penalty))
    assert solver.solves(on_digits(loss=loss, penalty=penalty)) is None
    assert len(reason.split()) >= 6


def test_newton_steps_without_descent_are_counted_while_f_stands_still() -> None:
    problem = on_digits()
    state = WorkingSet().init(problem)
    for objective, counted in ((1.0, 1), (1.0 - 1e-12, 2), (1.0 - 1e-11, 3), (0.9, 1), (0.9, 2)):
        state.failed(objective)
        assert state.failures == counted
    state.forget(problem)
    assert state.failures == 0


def test_auto_goes_on_with_ssnal_where_newton_steps_find_no_descent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples of one class weigh ten million times as much as those of the others.

    The intercept and the features then need steps of other lengths: with those there is nothing to hand over.
    """
    monkeypatch.setattr(GradientSteps, "_lengths", lambda self, problem: np.ones(problem.rows))
    X, y = make_blobs(centers=3, random_state=0, cluster_std=20)
    problem = ss.Problem(X[::2], y[::2], intercept=True, class_weight={0: 1000.0, 1: 1e-4, 2: 1e-4})
    found = ss.solve(problem.with_lam(0.1 * problem.lam_max), "auto", max_iter=1000)
    assert found.converged and "of which found no descent" in found.reason


def test_auto_does_what_its_choice_does_and_results_carry_the_reason() -> None:
    problem = on_digits()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert events(problem, "auto", 8) == events(problem, "working-set", 8)
    found = ss.solve(problem, "auto")
    assert found.reason.startswith("working-set: ") and "Newton" in found.reason
    assert ss.solve(problem, "bcd-ls").reason == ""


def test_a_newton_step_that_has_paid_comes_sooner_and_one_that_has_not_later() -> None:
    pacing = NewtonPacing()
    for drop in (8.0, 4.0):  # sweeps halve their gains
        pacing.swept(drop, 10.0)
    assert pacing.due and pacing.ratio == 0.5 and pacing.cost == 10.0
    pacing.stepped(5.0, 1.0)  # in the time of the step and the sweep after it, sweeps gain 2 and 1
    assert pacing.debt == pytest.approx(3.0 - 5.0)
    pacing.swept(-1.0, 10.0)
    assert pacing.patience == 1 and pacing.debt is None and pacing.drop == 0.0
    for patience in (2, 4, 8, 8):
        pacing.stepped(-1.0, 1.0)
        pacing.swept(0.0, 10.0)
        assert pacing.patience == patience


def test_the_first_newton_step_waits_while_gradient_steps_gain_fast() -> None:
    pacing = NewtonPacing()
    for drop in (8.0, 3.9):
        pacing.swept(drop, 10.0, batch=True)
    assert not pacing.due, "less than half as much as before: they are about to be done"
    pacing.swept(2.0, 10.0, batch=True)
    assert pacing.due, "half as much as before"
    pacing.stepped(1.0, 1.0)
    for drop in (1.0, 0.1):
        pacing.swept(drop, 10.0, batch=True)
    assert pacing.due, "after the first step they are judged instead"
    pacing.begin()
    for drop in (8.0, 3.9):
        pacing.swept(drop, 10.0)
    assert pacing.due, "sweeps do not wait"


@pytest.mark.parametrize(
    ("gain", "sweeps", "after", "paid"),
    [
        (7.0, 1.0, 1.0, True),  # what was left fell to an eighth; a batch takes it to a half
        (7.0, 12.0, 1.0, False),  # but not for the work of a dozen batches
        (1.0, 2.0, 7.0, False),  # it is the batch after it that gained
        (0.0, 1.0, 8.0, False),
        (-1.0, 1.0, 9.0, False),
    ],
)
def test_a_newton_step_among_gradient_steps_is_judged_by_what_they_gained_before(
    gain: float, sweeps: float, after: float, paid: bool
) -> None:
    pacing = NewtonPacing()
    for drop in (32.0, 16.0, 8.0):  # beside the 8 that are left, each halves what is missing
        pacing.swept(drop, 10.0, batch=True)
    pacing.stepped(gain, sweeps)
    pacing.swept(after, 10.0, batch=True)
    assert pacing.patience == (1 if paid else 4) and pacing.debt is None
    pacing.stepped(1.0, 1.0)
    pacing.swept(0.0, 10.0, batch=True)
    assert pacing.patience == (1 if paid else 2), "a step that gained all of what was left has paid"


def test_no_newton_step_is_taken_where_gradient_steps_end_for_about_its_cost() -> None:
    pacing = NewtonPacing()
    assert not pacing.ends_before(1e9), "nothing is known"
    for left in (9.0, 8.0, 6.0, 5.0, 3.0):
        pacing.swept(1.0, 10.0, batch=True)
        pacing.nears(left)
    # The last four: 8 to 3 in three batches, so that 1.8 more of ten each are left.
    assert pacing.ends_before(18.5 / ENOUGH) and not pacing.ends_before(17.5 / ENOUGH)
    pacing.nears(5.0)
    assert not pacing.ends_before(20.0 / ENOUGH), "they came nearer by 1 in three batches"
    pacing.nears(9.0)
    assert not pacing.ends_before(1e9), "they come no nearer"
    pacing.nears(float("nan"))
    assert not pacing.ends_before(1e9)
    pacing.stepped(1.0, 1.0)
    pacing.nears(1.0)
    assert not pacing.ends_before(1e9), "a Newton step begins the account anew"


def test_a_forecast_that_does_not_come_true_is_no_longer_believed() -> None:
    pacing = NewtonPacing()
    pacing.swept(1.0, 10.0, batch=True)
    left = [3.0, 2.0]  # one batch each: two more are named
    for each in left:
        pacing.nears(each)
    believed = []
    for _ in range(10):
        believed.append(pacing.ends_before(1e9))
        pacing.nears(pacing.left[-1] - 1e-3)
    assert believed == [True] * 7 + [False] * 3
    pacing.stepped(1.0, 1.0)
    for each in left:
        pacing.nears(each)
    assert pacing.ends_before(1e9), "a Newton step begins the account anew"


@pytest.mark.parametrize(("penalty", "known"), [("elastic-net", True), ("l1", False), ("ridge", False)])
def test_the_pace_of_gradient_steps_is_known_with_kinks_and_a_ridge(penalty: str, known: bool) -> None:
    problem = on_digits(penalty=penalty)
    solver = ss.solvers.WorkingSet(newton=False)
    state = solver.init(problem)
    state.aim = 1e-8
    for _ in range(3):
        solver.step(problem, state)
    assert len(state.pacing.left) == (3 if known else 0)
    if known:
        assert np.isfinite(state.pacing.left).all() and state.pacing.left[0] > 0.0


def test_several_scores_on_columns_that_do_not_go_together_come_nearer_evenly() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 40))
    y = (X[:, :3] + rng.gumbel(size=(300, 3))).argmax(axis=1)

    def evenly(X: Any, penalty: str = "l1", loss: str = "logistic") -> bool:
        return fall_evenly(ss.Problem(X, fitting(loss, y), loss=loss, penalty=penalty, lam_ratio=0.1))

    assert evenly(X) and evenly(X, "l1/l2")
    assert not evenly(X, "ridge"), "no kinks"
    assert not evenly(X, loss="binary-logistic"), "one score"
    assert not evenly(X + 5.0 * rng.standard_normal((300, 1)), "l1"), "the columns go together"
    assert not evenly(sp.csr_array(X)) and evenly(sp.csr_array(X), "elastic-net")


def test_the_first_gradient_steps_after_a_small_change_say_nothing_about_their_pace() -> None:
    for near in (True, False):
        pacing = NewtonPacing()
        if near:
            pacing.begin()
        for drop in (100.0, 1.0):
            pacing.swept(drop, 10.0, batch=True)
        pacing.stepped(0.5, 1.0)  # half of what was left, as the batch before
        pacing.swept(0.5, 10.0, batch=True)
        assert pacing.patience == (1 if near else 4)


def test_searches_draw_features_while_all_samples_move_and_gain() -> None:
    pacing = SearchPacing(opening=True)
    assert pacing.is_dear(4.1, 1.0) and not pacing.is_dear(4.0, 1.0)
    pacing.searched(np.ones(10), drew=True, first=True)
    assert pacing.opening and pacing.gained == 10.0
    pacing.searched(np.full(10, 0.6), drew=True, first=False)
    assert pacing.opening, "more than half of what the search before gained"
    pacing.searched(np.full(10, 0.3), drew=True, first=False)
    assert not pacing.opening, "half of it"
    pacing.searched(np.r_[np.zeros(1), np.full(9, 9.0)], drew=True, first=False)
    assert not pacing.opening, "nine in ten are not nearly all"
    pacing.searched(np.full(10, 99.0), drew=False, first=False)
    assert not pacing.opening, "an exact search"


def test_sweeps_without_a_search_end_with_their_share_of_the_work_or_when_they_do_not_pay() -> None:
    pacing = SearchPacing()
    pacing.searched(np.array([3.0, 5.0]), drew=False, first=True)
    assert pacing.goes_on(19.0, 10.0) and not pacing.goes_on(20.0, 10.0)
    assert pacing.has_paid(4.0, 5.0, 10.0) and not pacing.has_paid(3.9, 5.0, 10.0)  # 8 for 10 is 4 for 5
    assert pacing.is_most(7.0, 10.0) and not pacing.is_most(6.0, 10.0) and not pacing.is_most(10.0, 10.0)


def test_a_sample_that_stands_still_misses_more_searches_each_time() -> None:
    naps, seen = Naps(2), []
    for _ in range(40):
        awake = naps.awake()
        seen.append(0 in awake)
        naps.rest(awake, awake == 0)  # sample 1 always moves
        assert 1 in awake
    missed = np.diff(np.flatnonzero(seen)) - 1
    assert missed.tolist() == [1, 3, 7, 7, 7, 7]
    naps.wake_all()
    assert naps.awake().tolist() == [0, 1]


def test_a_certificate_leaves_its_product_to_the_next_choice_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = ss.Problem(ss.datasets.make_text(150, 300, 4, seed=1), lam_ratio=0.2)
    run = ss.Run(problem, "working-set", stop=ss.stopping.Gap(1e-6))
    for _ in run:
        pass
    monkeypatch.setattr(certificate, "WORTH_TRYING", -1.0)  # a point scaled sample by sample takes one more product
    design, products = type(problem.design), []
    pieces = design.rmatmul_blocks
    monkeypatch.setattr(design, "rmatmul_blocks", lambda *given: products.append(1) or pieces(*given))
    run.change(lam_ratio=0.15)
    run.observe(certify_now=True)
    run.solver._choose(run.problem.natural, run.state)
    assert products == [], "W, and so the gradient, is that of the last certificate"
    run.advance()
    run.certificate()
    assert len(products) <= 1, "a sweep moved W: one product, or one with the rows alone that may have moved past λ"
    found = run.certificate()
    fresh = run.problem.certificate(run.state.weights())
    assert found.objective == pytest.approx(fresh.objective, rel=1e-12)
    assert found.violation == pytest.approx(fresh.violation, rel=1e-6, abs=1e-12)


def test_dense_data_without_zero_rows_take_products_with_all_of_x(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 140)), np.arange(150) % 3
    X[:, 7] = 0.0  # a feature that is never in use
    known = ss.solve(ss.Problem(X, y, loss="logistic", penalty="ridge", lam=1e-2), "bcd-ls", tol=1e-9, max_iter=5000)
    assert known.converged

    def gathered(self: Any, *args: Any) -> None:
        raise AssertionError("columns were gathered")

    monkeypatch.setattr(Design, "rmatmul_rows", gathered)
    monkeypatch.setattr(Design, "matmul_rows", gathered)
    for intercept in (False, True):
        problem = ss.Problem(X, y, loss="logistic", penalty="ridge", lam=1e-2, intercept=intercept)
        run = ss.Run(problem, "working-set", stop=Gap(1e-9) | Iterations(200))
        event = list(run)[-1]
        state: Any = run.state
        assert event.relative_gap <= 1e-9 and state.gradient is not None
        assert intercept or event.objective == pytest.approx(known.objective, rel=1e-8)
    sparse = ss.Problem(sp.csc_array(X), y, loss="multiclass-squared-hinge", penalty="ridge", lam=1e-2)
    state = WorkingSet(newton=False).init(sparse)
    WorkingSet(newton=False).step(sparse, state)
    assert state.gradient is None, "columns of sparse data are walked along"


def test_gradient_steps_open_on_text_with_a_ridge_from_zero_weights_only() -> None:
    X, y = sp.random_array((80, 200), density=0.1, rng=np.random.default_rng(0), format="csc"), np.arange(80) % 4
    net = ss.Problem(X, y, loss="logistic", penalty="elastic-net", lam=0.001)
    assert net.design.is_sparse and net.d > FEW
    run: Any = ss.Run(net, "working-set")
    for _ in range(3):
        run.advance()
    assert run.state.gradient is not None and run.state.coef.any()
    run.change(lam=0.0008)
    for _ in range(2):
        run.advance()
    assert run.state.gradient is None, "sweeps go on from there"
    for parts in ({"penalty": ss.penalties.ElasticNet(rho=0.9)}, {"loss": "multiclass-squared-hinge"}):
        other: Any = ss.Run(net.with_(**parts), "working-set")
        other.advance(), other.advance()
        assert other.state.gradient is None and other.state.coef.any()


@pytest.mark.parametrize("penalty", ["l1/l2", "elastic-net"])
def test_gradient_steps_are_certified_one_by_one_and_go_on_as_without_certificates(penalty: str) -> None:
    problem = on_digits(loss="logistic", penalty=penalty)
    found = ss.solve(problem, "working-set", tol=1e-6)
    assert found.converged and np.isfinite(found.trace["gap"][1:]).all(), "each shares its gradient with the next step"
    weights = []
    for every in (1, 10**9):
        run: Any = ss.Run(problem, "working-set", certify_every=every)
        for _ in range(12):
            run.advance()
        weights.append(run.state.coef.copy())
    np.testing.assert_array_equal(*weights)


@pytest.mark.parametrize(("penalty", "rows"), [("l1/l2", None), ("elastic-net", np.arange(0, 60, 2))])
def test_a_batch_of_gradient_steps_may_be_cut(penalty: str, rows: np.ndarray | None) -> None:
    problem, found = on_digits(loss="logistic", penalty=penalty), []
    for cuts in (0, 4):
        state: Any = WorkingSet().init(problem)
        steps = GradientSteps(problem, state, rows=rows)
        for _ in range(2):
            for cut in range(cuts):
                steps.advance(problem, state, enough=lambda: True)
                assert steps.begun == cut + 1
            steps.advance(problem, state, enough=(lambda: False) if cuts else None)
            assert steps.begun == 0, "the rest of the batch"
        found.append(state.coef.copy())
    np.testing.assert_array_equal(*found)


def test_gradient_steps_end_when_the_gap_seems_reached_and_count_as_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = on_digits(loss="logistic", penalty="l1/l2")
    monkeypatch.setattr("sparsescope.solvers.working_set.LOOKS", 0)
    whole: Any = ss.Run(problem, WorkingSet(newton=False), stop=Gap(1e-9), certify_every=10**6)
    whole.advance(), whole.advance()
    monkeypatch.setattr(Forecast, "is_far", lambda self, aim: False)
    monkeypatch.setattr(Forecast, "ends", lambda self, aim: True)
    run: Any = ss.Run(problem, WorkingSet(newton=False), stop=Gap(1e-9), certify_every=10**6)
    run.advance()
    for done in range(AT_ONCE):
        assert run.state.pacing.sweeps == 0
        event = run.advance()
        assert event.certified, "it may be the last"
        assert done + 1 < AT_ONCE or event.iteration == AT_ONCE
    assert run.state.pacing.sweeps == whole.state.pacing.sweeps == 1
    assert run.state.pacing.drop == pytest.approx(whole.state.pacing.drop, rel=1e-12)
    np.testing.assert_array_equal(run.state.coef, whole.state.coef)


def test_another_lam_begins_a_batch() -> None:
    problem = on_digits(loss="logistic", penalty="l1/l2")
    state: Any = WorkingSet().init(problem)
    steps = GradientSteps(problem, state)
    steps.advance(problem, state, enough=lambda: True)
    assert steps.begun == 1
    steps.gained = steps.cost = 1.0
    steps.adapt(problem.with_lam(0.5 * problem.lam))
    assert steps.begun == 0 and steps.gained == steps.cost == 0.0, "what it gained was of another F"
