"""lhac and newglmnet: their models of the Hessian, working sets, counters; weights of single entries; bad input."""

from __future__ import annotations

import inspect
import types
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import digits, fitting, interpreted, iris, text
from sparsescope.experiments.peers import lasso_arguments
from sparsescope.inputs.design import Design
from sparsescope.kernels.conjugate import conjugate_descent
from sparsescope.kernels.coordinates import (
    FLOPS,
    REPORT,
    STEPS,
    SWEEP,
    SWEEPS,
    exact_descent,
    lowrank_descent,
    strong_excess,
    walk,
)
from sparsescope.problems import free_duals
from sparsescope.problems.certificate import certify
from sparsescope.problems.linear_algebra import inner
from sparsescope.runs.stopping import Gap, Iterations, Violation
from sparsescope.solvers import auto, newglmnet
from sparsescope.solvers.lhac import LHACState
from sparsescope.solvers.shared import exact_model, newton
from sparsescope.solvers.shared.entries import Entries
from sparsescope.solvers.shared.exact_model import ExactModel


def binary(data: Any = text, share: float = 0.1, **parts: Any) -> ss.Problem:
    """A problem with the binary logistic loss: the first class against the others."""
    X, y = data()
    problem = ss.Problem(X, np.minimum(y, 1), loss="binary-logistic", **{"penalty": "l1", **parts})
    return problem.with_lam(share * problem.lam_max)


def flowers() -> tuple[Any, np.ndarray]:
    """iris, stored by columns like the other data here: each form of data compiles the methods once more."""
    X, y = iris()
    return sp.csc_array(X), y


# ------------------------------------------------------------------------------------------------------ one score
def test_one_score_tells_two_classes_apart_by_their_names() -> None:
    X, y = flowers()
    words = np.where(y == 0, "no", "yes")
    problem = ss.Problem(X, words, loss="binary-logistic", penalty="l1", intercept=True)
    problem = problem.with_lam(0.05 * problem.lam_max)
    assert (problem.m, problem.classes, problem.class_names, problem.score_names) == (1, 2, ["no", "yes"], ["yes"])
    found = ss.solve(problem, "newglmnet", tol=1e-8, test=(X[:9], words[:9]))
    assert found.converged and found.W.shape == (4, 1) and found.b.shape == (1,)
    scores = problem.scores(found.W, found.b)[:, 0]
    assert scores[y == 1].mean() > 0 > scores[y == 0].mean(), "positive scores speak for the second class"
    np.testing.assert_array_equal(problem.predict(found.W, found.b), scores > 0)
    np.testing.assert_array_equal(problem.rank(found.W, found.b)[:, 0], scores > 0)
    np.testing.assert_array_equal(problem.predict(sp.csr_array(found.W), found.b), scores > 0)
    last = found.trace
    assert last["train_accuracy"][-1] == np.mean((scores > 0) == (y > 0)) and last["test_accuracy"][-1] == 1.0
    assert last.info["class_names"] == ["yes"] and last.info["m"] == 1


def test_the_loss_agrees_with_liblinear() -> None:
    from sklearn.linear_model import LogisticRegression

    problem = binary(text, 0.05)
    peer = LogisticRegression(
        **lasso_arguments(),
        solver="liblinear",
        C=1.0 / (problem.n * problem.lam),
        tol=1e-10,
        fit_intercept=False,
        max_iter=10_000,
    ).fit(problem.design.matrix, problem.y)
    ours = ss.solve(problem, "newglmnet", tol=1e-12, record=False)
    assert problem.objective(peer.coef_.T) == pytest.approx(ours.objective, rel=1e-9)


def test_labels_and_changes_that_do_not_fit_one_score_are_refused() -> None:
    X, y = flowers()
    with pytest.raises(ValueError, match=r"one score, which separates two classes, and y has 3 \(0, 1, 2\)"):
        ss.Problem(X, y, loss="binary-logistic")
    with pytest.raises(ValueError, match="one class only"):
        ss.Problem(X, np.ones_like(y), loss="binary-logistic")
    with pytest.raises(ValueError, match="needs one class a sample"):
        ss.Problem(X, np.eye(3)[y], loss="binary-logistic")
    problem = binary()
    run = ss.Run(problem, "lhac", stop=Iterations(2))
    list(run)
    with pytest.raises(ValueError, match="keeps the shape of W"):
        run.change(problem=problem.with_(loss="logistic"))


# --------------------------------------------------------------------------------------------------- weights of entries
def weighted(weights: Any, **parts: Any) -> ss.Problem:
    return ss.Problem(*flowers(), **{"loss": "logistic", **parts}, penalty=ss.penalties.WeightedL1(weights), lam=0.02)


@pytest.mark.parametrize("solver", ["newglmnet", "lhac"])
def test_equal_weights_are_the_lasso_and_others_scale_the_columns(solver: str) -> None:
    X, y = flowers()
    plain = ss.Problem(X, y, loss="logistic", penalty="l1", lam=0.02)
    same = ss.solve(weighted(np.ones((4, 3))), solver, tol=1e-9, record=False)
    assert same.converged
    assert same.objective == pytest.approx(ss.solve(plain, solver, tol=1e-9, record=False).objective, rel=1e-8)
    c = np.array([0.5, 2.0, 1.0, 4.0])  # c|w| of x is |v| of x/c with v = c·w
    scaled = ss.solve(ss.Problem(X / c, y, loss="logistic", penalty="l1", lam=0.02), solver, tol=1e-9, record=False)
    found = ss.solve(weighted(c), solver, tol=1e-9, record=False)
    assert found.converged and found.objective == pytest.approx(scaled.objective, rel=1e-8)
    assert weighted(c).lam_max == pytest.approx(ss.Problem(X / c, y, loss="logistic", penalty="l1").lam_max)


@pytest.mark.parametrize("intercept", [False, True])
def test_entries_of_weight_zero_are_free(intercept: bool) -> None:
    c = np.ones((4, 3))
    c[0] = 0.0
    problem = weighted(c, intercept=intercept, loss="squared")
    X, y = iris()[0], flowers()[1]
    free = np.column_stack([X[:, :1], np.ones(len(y))]) if intercept else X[:, :1]
    fit = free @ np.linalg.lstsq(free, np.eye(3)[y], rcond=None)[0]
    assert problem.lam_max == pytest.approx(np.abs(X[:, 1:].T @ (fit - np.eye(3)[y])).max() / len(y), rel=1e-7)
    above, below = problem.with_lam(1.001 * problem.lam_max), problem.with_lam(0.95 * problem.lam_max)
    for solver in ("newglmnet", "lhac"):
        ends = [ss.solve(p, solver, tol=0, stop=Violation(1e-9), max_iter=2000, record=False) for p in (above, below)]
        assert ends[0].W[0].all() and not ends[0].W[1:].any() and ends[1].W[1:].any()
        at = above.certificate(ends[0].W, ends[0].b)
        assert at.violation <= 1e-8 and abs(at.gap) <= 1e-8 * at.objective, (
            "the dual point is orthogonal to free entries"
        )
    with pytest.raises(ValueError, match=r"has a weight for each\. Solvers that fit: .*lhac, newglmnet"):
        ss.solve(problem, "bcd-ls")
    assert ss.solve(problem, "auto", max_iter=2, record=False).reason.startswith("newglmnet: ")


def test_weights_change_the_violation_and_the_prox_entry_by_entry() -> None:
    rng = np.random.default_rng(0)
    c = rng.choice([0.5, 1.0, 3.0], (4, 3))
    problem = weighted(c)
    W = rng.standard_normal((4, 3)) * (rng.random((4, 3)) < 0.5)
    G, t = problem.gradient(W), problem.lam * c
    off = np.where(W != 0, G + t * np.sign(W), np.maximum(np.abs(G) - t, 0))
    assert problem.violation(W) == pytest.approx(np.linalg.norm(off, axis=1).max())
    assert problem.regulariser.value(W)[0] == pytest.approx(float((c * np.abs(W)).sum()))
    out = np.empty_like(W)
    problem.regulariser.prox(W, 0.3, out)
    np.testing.assert_allclose(out, np.sign(W) * np.maximum(np.abs(W) - 0.3 * c, 0.0))
    part = problem.restricted(np.array([1, 3]))
    np.testing.assert_array_equal(part.regulariser.weights, c[[1, 3]])
    assert problem.penalty == ss.penalties.WeightedL1(c) != ss.penalties.WeightedL1(c + 1.0)
    assert problem.key != problem.with_(penalty=ss.penalties.WeightedL1(c + 1.0)).key


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -2.0], "weight at 1 is -2"),
        ([[1.0, np.nan]], r"weight at \(0, 1\) is nan"),
        ([np.inf], "finite"),
        ([0.0, 0.0], "all weights are 0"),
        (np.ones((2, 2, 2)), "shape"),
        ([], "shape"),
    ],
)
def test_bad_weights_are_refused(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"WeightedL1.*{message}"):
        ss.penalties.WeightedL1(weights)


def test_weights_that_are_no_numbers_or_do_not_fit_are_refused() -> None:
    with pytest.raises(TypeError, match="numbers ≥ 0"):
        ss.penalties.WeightedL1(["a"])
    for shape in ((3,), (4, 2)):
        with pytest.raises(ValueError, match="W is 4 × 3"):
            weighted(np.ones(shape))


# ------------------------------------------------------------------------------------------------------------ LHAC
def test_the_compact_form_is_the_bfgs_matrix_of_its_pairs() -> None:
    problem = binary(text)
    state = LHACState(problem, problem.coefficients(), 3)
    rng = np.random.default_rng(1)
    A = rng.standard_normal((problem.d, problem.d))
    A = A @ A.T + np.eye(problem.d)
    pairs = []
    for _ in range(5):
        s = rng.standard_normal(problem.d)
        state.before = rng.standard_normal(problem.d)
        state.G[:] = (state.before + A @ s)[:, None]
        state.move = np.arange(problem.d), s
        state.learn(damp=False)
        pairs.append((s, A @ s))
    s, t = pairs[-1]
    assert state.model.gamma == pytest.approx(float(t @ t) / float(s @ t))
    B = state.model.gamma * np.eye(problem.d)
    for s, t in pairs[-3:]:  # the textbook's update, from the oldest pair that is kept
        B = B - np.outer(B @ s, B @ s) / float(s @ B @ s) + np.outer(t, t) / float(s @ t)
    model = state.model
    Q = np.vstack([model.gamma * model.S, model.T]).T
    np.testing.assert_allclose(model.gamma * np.eye(problem.d) - Q @ model.R @ Q.T, B, atol=1e-8 * np.abs(B).max())


def test_pairs_without_curvature_are_damped_or_left_out() -> None:
    problem = ss.Problem(flowers()[0], fitting("binary-logistic", flowers()[1]), loss="binary-logistic", penalty="l1")
    for damp, kept in ((False, 1), (True, 2)):
        state = LHACState(problem, problem.coefficients(), 5)
        for s, t in (([1.0, 0, 0, 0], [2.0, 1, 0, 0]), ([1.0, 1, 0, 0], [-1.0, 0, 0, 0])):
            state.before, state.move = np.zeros(4), (np.arange(4), np.array(s))
            state.G[:] = np.array(t)[:, None]
            state.learn(damp)
        assert len(state.model.S) == kept
        Q = np.vstack([state.model.gamma * state.model.S, state.model.T]).T
        assert np.linalg.eigvalsh(state.model.gamma * np.eye(4) - Q @ state.model.R @ Q.T)[0] > 0


def test_working_sets_hold_the_support_and_the_largest_violations() -> None:
    problem = binary(text, 0.02)
    solver = ss.solvers.LHAC(greed=0.2)
    state: Any = solver.init(problem)
    for _ in range(6):
        before = state.weights()[:, 0].copy()
        G = problem.gradient(before[:, None])[:, 0]
        off = np.where(before == 0.0, np.maximum(np.abs(G) - problem.lam, 0.0), 0.0)
        violated = int((off > 0).sum())
        solver.step(problem, state)
        count = min(max(int(np.ceil(0.2 * violated)), 8), violated)
        expected = set(np.flatnonzero(before)) | set(np.argsort(-off, kind="stable")[:count])
        assert set(np.flatnonzero(state.working)) == expected and state.working_set == len(expected)


def test_a_coordinate_step_of_lhac_costs_the_same_whatever_the_problem() -> None:
    flops = {}
    for data, copies in ((flowers, 1), (text, 1), (text, 5)):
        X, y = data()
        X = sp.vstack([sp.csr_array(X)] * copies, format="csr")
        problem = ss.Problem(X, np.tile(fitting("binary-logistic", y), copies), loss="binary-logistic", penalty="l1")
        events = list(ss.Run(problem.with_lam(0.02 * problem.lam_max), ss.solvers.LHAC(memory=4), stop=Iterations(12)))
        flops[problem.n, problem.d] = events[-1].step_flops
        assert all(e.inner_sweeps >= 1 and e.coordinate_steps == e.inner_sweeps * e.working_set for e in events[1:])
        assert np.isnan(events[0].step_flops)
    bound = 2 * (2 * 4) + 12 + 2 * (2 * 4) + 1  # a look and a move with Q of 2·memory columns
    assert all(2 * (2 * 4) + 12 <= found <= bound for found in flops.values()), flops


# ------------------------------------------------------------------------------------------------------- newGLMNET
@pytest.mark.parametrize("solver", [ss.solvers.NewGLMNET(opening=False), ss.solvers.LHAC()], ids=str)
def test_a_step_and_the_certificate_before_it_share_one_product(solver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = digits()
    problem = ss.Problem(sp.csc_array(X), y, loss="logistic", penalty="l1", lam_ratio=0.1)
    run = ss.Run(problem, solver)
    run.warm_up()
    products = []
    for method in ("rmatmul", "rmatmul_blocks", "rmatmul_rows"):
        kept = getattr(Design, method)
        monkeypatch.setattr(Design, method, lambda *given, _kept=kept: (products.append(1), _kept(*given))[1])
    for _ in range(6):
        run.advance(certify_now=True)
    assert len(products) == 6, "one for each point"
    # Another λ moves no point: thresholds and certificate are those of the gradient that is there.
    run.change(lam=problem.lam * 0.9)
    run.advance(certify_now=True)
    assert len(products) == 7


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weights", [False, True])
def test_a_certificate_of_a_known_gradient_is_the_same(intercept: bool, weights: bool) -> None:
    X, y = text()
    cost = np.linspace(0.5, 2.0, X.shape[1]) if weights else None
    problem = ss.Problem(
        X, y, loss="logistic", penalty="l1", intercept=intercept, feature_weights=cost, lam_ratio=0.2
    ).natural
    solver = ss.solvers.NewGLMNET()
    state = solver.init(problem)
    for _ in range(3):
        solver.step(problem, state)
    known = solver.certificate(problem, state, problem.workspace(False))
    fresh = certify(problem, state.coef, state.Z, problem.workspace(False))
    for name in ("objective", "dual", "gap", "violation", "violation_sum", "paper_violation"):
        np.testing.assert_allclose(getattr(known, name), getattr(fresh, name), rtol=1e-9, atol=1e-12, err_msg=name)


def test_a_path_asks_for_a_certificate_where_the_solver_expects_one_to_hold() -> None:
    run = ss.PathRun(binary(text), "newglmnet", n_lams=6, ratio=0.1, tol=1e-6, certify_every=1000)
    seen = {True: 0, False: 0}
    for event in run:
        assert run.state.aim == 1e-6 or not event.iteration
        here = event.iteration - run._began[0]
        if here and not event.message:
            assert event.certified == run.state.ready
            seen[event.certified] += 1
    assert seen[True] and seen[False] and run.path.converged.all()


def test_a_path_does_no_more_than_its_tolerance_asks_for() -> None:
    """Certificates tell how far the violation of a first sweep may lie above the one of the goal; a working set whose
    certificate did not suffice once no longer makes all that follow stricter for good."""
    data = ss.datasets.load("digits")
    problem = ss.Problem(data, loss="logistic", penalty="l1")
    path = ss.path(problem, "newglmnet", n_lams=20, ratio=0.1, tol=0.1, certify_every=None)
    assert path.relative_gap.max() <= 0.1
    assert np.median(path.relative_gap[1:]) > 2e-3  # 9e-4 were left of a goal of 1e-1 when it was forgotten


def test_certificates_that_do_not_suffice_make_a_solver_less_lenient() -> None:
    problem, solver = binary(), ss.registry.solvers.create("newglmnet")
    state = solver.init(problem)
    before = state.lenience
    state.aim = 1e-9
    for _ in range(200):
        solver.step(problem, state)
        if state.ready and state.by_goal:
            break
    solver.step(problem, state)  # the run went on: no certificate had ended it
    assert 1.0 <= state.lenience < before
    solver.adapt(problem.with_lam(0.9 * problem.lam), state)
    assert state.lenience > 1.0


def test_sweeps_along_a_path_to_a_loose_goal_end_where_certificates_still_suffice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = ss.datasets.load("digits")
    problem = ss.Problem(data, loss="logistic", penalty="l1")
    solve = newglmnet.NewGLMNET._solve
    counted: list[float] = []

    def counting(solver: Any, problem: Any, state: Any, *rest: Any) -> None:
        solve(solver, problem, state, *rest)
        counted.append(state.report[STEPS])

    monkeypatch.setattr(newglmnet.NewGLMNET, "_solve", counting)
    steps = []
    for loose in (newglmnet.LOOSE, np.inf):
        monkeypatch.setattr(newglmnet, "LOOSE", loose)
        counted.clear()
        path = ss.path(problem, "newglmnet", n_lams=30, ratio=0.05, tol=0.3)
        assert path.relative_gap.max() <= 0.3
        steps.append(sum(counted))
    assert steps[0] < 0.8 * steps[1]


def test_the_slack_of_sweeps_follows_the_certificates() -> None:
    state = ss.registry.solvers.create("newglmnet").init(binary())
    state.aim = 0.1
    state.certified(0.01)
    assert state.slack == newglmnet.MORE_SLACK, "far below the goal"
    state.certified(0.05)
    assert state.slack == newglmnet.MORE_SLACK, "at the margin"
    state.certified(0.2)
    assert state.slack == 1.0, "above the goal"
    for _ in range(3):
        state.certified(0.0)
    assert state.slack == 1.0, "what failed once is not tried again"


@pytest.mark.parametrize("intercept", [False, True])
def test_gradient_steps_open_where_features_are_few_and_classes_three_or_more(intercept: bool) -> None:
    X, y = iris()
    problem = ss.Problem(X, y, loss="logistic", penalty="l1", lam=0.01, intercept=intercept)
    for opening in (True, False):
        run = ss.Run(problem, ss.solvers.NewGLMNET(opening=opening), stop=Gap(1e-9), certify_every=1)
        first, second = run.advance(), run.advance()
        assert (second.info["inner_sweeps"] == 0.0) is opening and second.objective < first.objective
        assert second.info["working_set"] == 4 + intercept
        while not run.advance().message:
            pass
        assert run.observe().relative_gap <= 1e-9
    begun = ss.solve(problem, "newglmnet", max_iter=20, record=False)
    solver = ss.registry.solvers.create("newglmnet")
    assert solver.init(problem, begun.W, begun.b).opened, "not from weights that are given"
    wide = ss.Problem(np.tile(X, (1, 40)), y, loss="logistic", penalty="l1", lam=0.01)
    two = ss.Problem(X, np.minimum(y, 1), loss="logistic", penalty="l1", lam=0.01)
    assert solver.variant(problem) == (True, False)
    assert not any(solver.variant(other)[0] for other in (wide, two))


@pytest.mark.parametrize(("penalty", "intercept"), [("l1", False), ("l1", True), ("elastic-net", False)])
def test_sweeps_over_rows_open_where_x_is_sparse_and_classes_are_many(penalty: str, intercept: bool) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(240) % 8
    X = sp.random_array((240, 200), density=0.05, random_state=rng, format="csr")
    X = sp.csr_array(X + sp.csr_array((np.ones(240), (np.arange(240), y)), shape=X.shape))
    kept: dict[str, Any] = {"loss": "logistic", "penalty": penalty, "lam_ratio": 0.05, "intercept": intercept}
    problem, begun = ss.Problem(X, y, **kept), {}
    for opening in (True, False):
        run = ss.Run(problem, ss.solvers.NewGLMNET(opening=opening), stop=Gap(1e-9))
        first, second = run.advance(), run.advance()
        assert (second.info["inner_sweeps"] == 0.0) is opening and second.objective < first.objective
        while not run.advance().message:
            scores = problem.design.matmul(run.state.coef, np.empty_like(run.state.Z))
            assert np.allclose(scores, run.state.Z, atol=1e-12)
        begun[opening] = run.observe(certify_now=True)
        assert begun[opening].relative_gap <= 1e-9
    assert begun[True].objective == pytest.approx(begun[False].objective, rel=1e-8)
    solver = ss.registry.solvers.create("newglmnet")
    assert solver.variant(problem) == (False, True)
    others = [(X.toarray(), y), (X, y % 5), (X[:, :100], y)]  # dense, few classes, few features
    assert not any(solver.variant(ss.Problem(*data, **kept))[1] for data in others)
    # A change in the middle of the opening goes on from the weights that are there.
    run = ss.Run(problem, "newglmnet", stop=Gap(1e-6))
    for _ in range(3):
        run.advance()
    run.change(lam=0.5 * problem.lam, loss="multiclass-squared-hinge")
    while not (last := run.advance()).message:
        pass
    assert last.message.startswith("certified")


@pytest.mark.parametrize(("aim", "by_goal"), [(0.0, False), (1e-9, False), (0.5, True)])
def test_a_working_set_that_still_grows_is_left_where_the_goal_is_met(aim: float, by_goal: bool) -> None:
    problem, solver = binary(), ss.registry.solvers.create("newglmnet")
    state = solver.init(problem.with_lam(0.3 * problem.lam_max))
    for _ in range(2):
        solver.step(problem, state)
    state.aim, state.ready = aim, True
    solver.adapt(problem.with_lam(0.05 * problem.lam_max), state)
    solver.step(problem.with_lam(0.05 * problem.lam_max), state)
    assert state.part.at.size < state.coef.size and state.violation.max() > 0.2 * state.part.t.max()
    assert state.by_goal is by_goal
    assert bool(state.floor > 0.1001 * state.violation.max()) is by_goal


def test_auto_takes_newton_steps_on_entries_where_the_penalty_sums_them(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = iris()
    for penalty, chosen in (("l1", "newglmnet"), ("elastic-net", "newglmnet"), ("ridge", "newton-cg")):
        problem = ss.Problem(X, y, loss="logistic", penalty=penalty, lam=0.01)
        assert ss.solve(problem, tol=1e-4, record=False).reason.startswith(f"{chosen}: ")
    monkeypatch.setattr("sparsescope.solvers.newglmnet.MOST_BYTES", 0)
    problem = ss.Problem(X, y, loss="logistic", penalty="l1", lam=0.01)
    assert ss.solve(problem, tol=1e-4, record=False).reason.startswith("working-set: ")


@pytest.mark.parametrize(
    ("n", "d", "m", "with_l1", "with_ridge"),
    [
        (3000, 16, 26, "working-set", "working-set"),  # letters
        (1348, 64, 7, "newglmnet", "newglmnet"),
        (6000, 64, 7, "newglmnet", "working-set"),
        (300, 1000, 26, "newglmnet", "newglmnet"),  # genes
        (3000, 16, 4, "newglmnet", "newglmnet"),
    ],
)
def test_auto_sweeps_over_rows_of_text_where_classes_are_many_and_features_few(
    n: int, d: int, m: int, with_l1: str, with_ridge: str
) -> None:
    X = sp.csr_array(np.eye(n, d))
    for penalty, chosen in (("l1", with_l1), ("elastic-net", "working-set" if m >= 8 else with_ridge)):
        problem = ss.Problem(X, np.arange(n) % m, loss="logistic", penalty=penalty, lam=1.0)
        assert auto.choose(problem)[0].name == chosen


@pytest.mark.parametrize("loss", ["logistic", "multiclass-squared-hinge"])
@pytest.mark.parametrize(
    ("n", "d", "m", "changed", "with_l1", "with_ridge"),
    [
        (2000, 60, 10, "", "working-set", "working-set"),
        (2000, 60, 3, "", "newglmnet", "working-set"),
        (200, 8, 3, "", "newglmnet", "newglmnet"),
        (1200, 60, 10, "tangled columns", "newglmnet", "newglmnet"),
        (2000, 60, 10, "long samples", "newglmnet", "working-set"),
        (2000, 60, 10, "rare classes", "newglmnet", "working-set"),
        (50, 400, 10, "", "newglmnet", "newglmnet"),  # more features than samples
        (3000, 16, 26, "tangled columns", "by its Hessians", "by its Hessians"),
    ],
)
def test_auto_takes_products_with_dense_x_where_classes_are_several_and_columns_differ(
    n: int, d: int, m: int, changed: str, with_l1: str, with_ridge: str, loss: str
) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, d)), np.arange(n) % m
    if changed == "tangled columns":
        X += 5.0 * rng.standard_normal((n, 1))
    elif changed == "long samples":
        X[::20] *= 12.0
    elif changed == "rare classes":
        y = np.where(np.arange(n) % 50, y % 3, y)
    for penalty, chosen in (("l1", with_l1), ("elastic-net", with_ridge)):
        problem = ss.Problem(X, y, loss=loss, penalty=penalty, lam=1.0)
        if chosen == "by its Hessians":  # many classes cost a loss with factors of them little
            chosen = "newglmnet" if problem.loss.factored else "working-set"
        assert auto.choose(problem)[0].name == chosen


def test_auto_with_a_ridge_takes_one_least_squares_step_or_newton_steps() -> None:
    rng = np.random.default_rng(0)
    for loss, (n, d), make, chosen in (
        ("squared", (60, 20), np.asarray, "gls"),
        ("squared", (60, 20), sp.csc_array, "newton-cg"),
        ("squared", (400, 1001), np.asarray, "newton-cg"),
        ("logistic", (20, 200), sp.csc_array, "newton-cg"),
        ("crammer-singer", (20, 200), sp.csc_array, "dual-cd"),
    ):  # the row space: test_row_space.py
        X, y = make(rng.standard_normal((n, d))), np.arange(n) % 3
        problem = ss.Problem(X, y, loss=loss, penalty="ridge", lam=0.1)
        assert auto.choose(problem)[0].name == chosen, (loss, n, d)
        if loss != "logistic":
            found = ss.solve(problem, tol=1e-6, record=False)
            assert found.converged and found.reason.startswith(chosen)
        if chosen == "gls":
            assert found.iterations <= 2
        weights = np.linspace(1.0, 2.0, d)  # of features: other curvatures along them
        other = ss.Problem(X, y, loss=loss, penalty="ridge", lam=0.1, feature_weights=weights)
        assert auto.choose(other)[0].name in ("working-set", "dual-cd", "fbpd")


def test_the_model_is_solved_with_the_exact_hessian() -> None:
    X, y = digits()
    problem = ss.Problem(sp.csc_array(X), y, loss="logistic", penalty="elastic-net")
    problem = problem.with_lam(0.1 * problem.lam_max)
    exact = ss.solve(problem, "newglmnet", tol=1e-12, record=False)
    start = exact.W + 1e-4 * (exact.W != 0)
    gaps = [e.relative_gap for e in ss.Run(problem, ss.solvers.NewGLMNET(sweeps=1000), W=start, stop=Iterations(6))]
    assert exact.converged and min(gaps) < 1e-9, "a few iterations near the solution do"


def quadratic_model(n: int, s: int = 12, m: int = 2) -> tuple[np.ndarray, ...]:
    """Rows, classes, w, thresholds, ridge, C and gradients of the samples, of a model of s entries, the last of them
    of the intercept."""
    rng = np.random.default_rng(0)
    rows, classes = np.append(np.arange(3, 2 + s), -1), rng.integers(0, m, s)
    w, t = rng.standard_normal(s) * (rng.random(s) < 0.5), rng.random(s) * 0.05
    C = rng.random((n, m, m)) * 0.01
    U = 0.1 * rng.standard_normal((n, m))
    return rows, classes, w, t, np.full(s, 0.01), C + C.transpose(0, 2, 1) + 0.05 * np.eye(m), U


def test_flops_of_the_exact_descent_are_those_of_its_looks_and_moves() -> None:
    design, (rows, classes, w, t, ridge, C, U) = binary(text).design, quadratic_model(60)
    report = np.zeros(REPORT)
    run = interpreted(exact_descent)
    at = walk(w.size, 7), 10**9, report
    run(design.columns, design.ones, rows, classes, t, ridge, C, U, w.copy(), 3, 0.0, 0.0, -1.0, *at)
    lengths = np.append(np.diff(design.matrix.indptr)[rows[:-1]], 60)
    assert report[STEPS] == 3 * rows.size, "none is left out"
    looks, moves = 3 * (10.0 + 2.0 * lengths).sum(), 3 * (lengths * (1.0 + 2.0 * 2)).sum()
    curvatures = 3.0 * lengths.sum()  # each is taken once
    assert looks < report[FLOPS] <= looks + moves + curvatures


def dense_model(design: Any, rows: np.ndarray, classes: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The columns of the entries as vectors over samples and classes (n·m, s), and the Hessian of the model (s, s)."""
    n, m, _ = C.shape
    X = np.hstack([design.matrix.toarray(), np.ones((n, 1))])
    J = np.zeros((n, m, rows.size))
    for a, (j, k) in enumerate(zip(rows, classes, strict=True)):
        J[:, k, a] = X[:, j]  # −1 is the column of ones
    H = np.einsum("ika,ikl,ilb->ab", J, C, J)
    return J.reshape(n * m, -1), H


def test_sweeps_and_conjugate_gradients_solve_the_model_of_the_samples() -> None:
    problem = binary(text)
    design, (rows, classes, w, t, ridge, C, U) = problem.design, quadratic_model(60)
    J, H = dense_model(design, rows, classes, C)
    g, R, new, report = J.T @ U.ravel(), U.copy(), w.copy(), np.zeros(REPORT)
    data = (design.columns, design.ones, rows, classes)
    assert exact_descent(*data, t, ridge, C, R, new, 2000, 1e-13, 0.0, 0.01, walk(w.size, 7), 10**9, report)
    slope = g + H @ (new - w) + ridge * new
    np.testing.assert_allclose(
        R.ravel(), U.ravel() + np.einsum("ikl,il->ik", C, (J @ (new - w)).reshape(60, 2)).ravel()
    )
    inside = np.maximum(np.abs(slope) - t, 0.0)
    wrong = np.where(new != 0.0, np.abs(slope + t * np.sign(new)), inside)
    assert wrong.max() < 1e-12 and (new != 0.0).any() and (new == 0.0).any()
    # From entries of the right signs, conjugate gradients find the same point.
    start = np.where(new != 0.0, new * 1.01, 0.0)
    R = U + np.einsum("ikl,il->ik", C, (J @ (start - w)).reshape(60, 2))
    conjugate(problem, Entries(rows, rows, classes, w, t, ridge), C, R, start, 50, 1e-12, report)
    np.testing.assert_allclose(start, new, rtol=1e-8, atol=1e-12)


def conjugate(problem: ss.Problem, part: Entries, C: np.ndarray, R: np.ndarray, *how: Any) -> None:
    """Conjugate gradients on a model that is given."""
    model = ExactModel(problem)
    model.C, model.R = C, R
    model.conjugate(problem, part, *how)


@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("dense", [False, True])
def test_sweeps_over_the_gram_matrix_solve_the_model(dense: bool, m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = text()
    loss = "binary-logistic" if m == 1 else "logistic"
    made = ss.Problem(X.toarray() if dense else X, np.minimum(y, 1), loss=loss, penalty="l1")
    rows, classes, w, t, ridge, C, U = quadratic_model(made.n, m=m)
    t[3], w[4], new = 0.0, 0.0, w.copy()  # an entry without a threshold; one that stays as it is
    model, report = ExactModel(made), np.zeros(REPORT)
    model.C, model.R = C, U.copy()
    monkeypatch.setattr(exact_model, "BLOCK", 12 * 16)
    monkeypatch.setattr(exact_model, "LEAST_SAMPLES", 16)  # several blocks, and the last one is shorter
    assert made.n % 16 and made.n > 32
    at = exact_model.moving(Entries(rows, rows, classes, w, t, ridge), new)
    assert 3 in at and 4 not in at and at.size < rows.size
    matrix = sp.csc_array(made.design.matrix) if not dense else sp.csc_array(made.design.columns.XT.T)
    J, H = dense_model(types.SimpleNamespace(matrix=matrix), rows, classes, C)
    by_class = np.argsort(classes, kind="stable")
    gram = model._gram(made, rows[by_class], classes[by_class])
    np.testing.assert_allclose(gram, H[np.ix_(by_class, by_class)], rtol=1e-12, atol=1e-15)
    part = Entries(rows, rows, classes, w, t, ridge)
    seed = model.descend_on_gram(made, part, new, 1e-12, 7, report)
    slope = J.T @ U.ravel() + H @ (new - w) + ridge * new
    inside = np.maximum(np.abs(slope) - t, 0.0)
    wrong = np.where(new != 0.0, np.abs(slope + t * np.sign(new)), inside)
    assert wrong[at].max() < 1e-11 and new[4] == 0.0 and (new[at] != w[at]).all()
    assert seed != 7 and report[SWEEPS] > 1 and report[STEPS] == report[SWEEPS] * at.size
    stuck = np.zeros(REPORT)
    model.R[:] = U
    model.descend_on_gram(made, part, w.copy(), 0.0, 7, stuck)  # rounding never gets there
    assert stuck[SWEEPS] <= exact_model.GRAM_SWEEPS
    nothing = Entries(*(values[:0] for values in (rows, rows, classes, w, t, ridge)))
    assert model.descend_on_gram(made, nothing, w[:0], 1e-12, 7, report) == 7
    model.made[:] = 1
    assert np.isfinite(model.gram_cost(made, part, new))
    model.made[0] = 0  # C is not known where no column reaches
    assert np.isinf(model.gram_cost(made, part, new)) == (m > 1)


def test_the_gram_matrix_is_made_where_it_costs_less_than_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    common_part = rng.standard_normal((2000, 1))
    X = sp.csc_array(common_part + 0.3 * rng.standard_normal((2000, 20)))  # correlated: sweeps alone take long
    y = (X @ rng.standard_normal(20) + rng.standard_normal(2000) > 0).astype(int)
    problem = ss.Problem(X, y, loss="binary-logistic", penalty="l1")
    problem = problem.with_lam(0.02 * problem.lam_max)
    made: list[float] = []
    descend = ExactModel.descend_on_gram

    def noted(model: ExactModel, problem: ss.Problem, part: Entries, new: np.ndarray, *how: Any) -> int:
        if problem.n == 2000:  # not the tiny one on which kernels are compiled
            made.append(model.gram_cost(problem, part, new))
        return descend(model, problem, part, new, *how)

    monkeypatch.setattr(ExactModel, "descend_on_gram", noted)
    found = ss.solve(problem, "newglmnet", tol=1e-10, record=False)
    assert made and max(made) <= newglmnet.ONE_SCORE[0], "twenty full columns cost less than a sweep over them"
    made.clear()
    other = ss.solve(problem, "newglmnet", gram=False, tol=1e-10, record=False)
    assert not made
    np.testing.assert_allclose(found.W, other.W, atol=1e-6)
    # Columns of few entries: the product takes n flops for each pair of them all the same.
    rare = ss.Problem(sp.random_array((400, 60), density=0.02, rng=rng), y=np.arange(400) % 2, loss="binary-logistic")
    at, ones = np.arange(60), np.ones(60)
    part = Entries(at, at, 0 * at, ones, ones, 0 * ones)
    assert ExactModel(rare).gram_cost(rare, part, ones) > max(newglmnet.ONE_SCORE)


def test_sweeps_to_come_are_foretold_from_the_last_one() -> None:
    assert newglmnet.sweeps_left(0.1) == 0.0 == newglmnet.sweeps_left(0.01), "the share is reached"
    assert newglmnet.sweeps_left(0.5) == pytest.approx(np.log(0.2) / np.log(0.5))
    assert newglmnet.sweeps_left(1.0) == np.inf == newglmnet.sweeps_left(1.3), "there is no end in sight"


@pytest.mark.parametrize("penalty", ["l1", "elastic-net"])
def test_several_scores_end_at_the_same_point_with_a_gram_matrix_and_without(
    penalty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = digits()
    problem = ss.Problem(sp.csc_array(X), y, loss="logistic", penalty=penalty)
    problem = problem.with_lam(0.02 * problem.lam_max)
    calls = []
    descend = ExactModel.descend_on_gram
    monkeypatch.setattr(ExactModel, "descend_on_gram", lambda *how: calls.append(1) or descend(*how))
    monkeypatch.setattr(newglmnet, "SEVERAL_SCORES", (1e3, 1e3))  # whenever a sweep does not suffice
    with_it = ss.solve(problem, "newglmnet", tol=1e-10, record=False)
    assert with_it.converged and calls
    calls.clear()
    without = ss.solve(problem, "newglmnet", gram=False, tol=1e-10, record=False)
    assert without.converged and not calls
    np.testing.assert_allclose(with_it.W, without.W, atol=1e-5)


def test_conjugate_gradients_that_were_cut_at_once_take_fewer_steps_the_next_time_and_those_without_end_more() -> None:
    state = ss.registry.solvers.create("newglmnet").init(binary(text))
    assert state.cg_allowed == 1.0

    def allowed(*ends: tuple[float, bool]) -> list[float]:
        found = []
        for share, ended in ends:
            state.conjugated(share, ended)
            found.append(state.cg_allowed)
        return found

    assert allowed(*((share, True) for share in (0.05, 1e-7, 0.0, 0.0, 0.0, 0.3))) == [0.5, 0.25, 0.125, 0.1, 0.1, 1.0]
    whole = (1.0, False)
    assert allowed(whole, (1.0, True), *[whole] * 4, (0.3, False)) == [2.0, 2.0, 4.0, 8.0, 16.0, 16.0, 16.0]
    assert allowed((0.0, False), whole) == [8.0, 16.0]


def test_the_steps_that_are_allowed_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 1)) + 0.3 * rng.standard_normal((200, 300))
    y = (X[:, 0] + rng.standard_normal(200) > 0).astype(int)
    problem = ss.Problem(X, y, loss="binary-squared-hinge", penalty="l1", lam_ratio=1e-3)
    solver = ss.registry.solvers.create("newglmnet", gram=False, shrinking=False, cg_steps=10)
    state, taken = solver.init(problem), []

    def conjugate(model: Any, problem: Any, part: Any, new: Any, steps: int, share: float, report: Any) -> float:
        taken.append(steps)
        return 1.0

    monkeypatch.setattr(ExactModel, "conjugate", conjugate)
    for _ in range(200):
        allowed, calls = state.cg_allowed, len(taken)
        solver.step(problem, state)
        assert len(taken) == calls or taken[-1] == round(10 * allowed)
    assert taken and state.cg_allowed == 1.0  # as none of the steps ran into the end of them


def test_conjugate_gradients_stop_at_the_first_zero() -> None:
    problem, (rows, classes, w, t, ridge, C, U) = binary(text), quadratic_model(60)
    w = np.where(w == 0.0, 0.0, np.sign(w) * 1e-3)  # so small that the full step changes signs
    new = w.copy()
    part = Entries(rows, rows, classes, w, t, ridge)
    conjugate(problem, part, C, U.copy(), new, 50, 1e-10, np.zeros(REPORT))
    assert (new * w >= 0.0).all() and ((new == 0.0) & (w != 0.0)).sum() == 1


def test_a_descent_that_stops_and_goes_on_is_the_same_in_every_bit() -> None:
    problem, s = binary(text), 12
    rows, classes, w, t, ridge, C, U = quadratic_model(problem.n)
    rng = np.random.default_rng(1)
    Q, Qhat, g = rng.standard_normal((s, 4)), 0.01 * rng.standard_normal((s, 4)), rng.standard_normal(s)
    data = (problem.design.columns, problem.design.ones, rows, classes)
    ends: dict[str, list[tuple[Any, ...]]] = {"exact": [], "lowrank": [], "conjugate": [], "conjugate, by class": []}
    stops = []
    for most in (10**9, 100, 1):
        R, new, report, at, calls = U.copy(), w.copy(), np.zeros(REPORT), walk(s, 7), 1
        while not exact_descent(*data, t, ridge, C, R, new, 6, 0.0, 0.0, 0.01, at, most, report):
            calls += 1
        ends["exact"].append((R, new, report, at.at[3]))
        stops.append(calls)
        new, report, at, calls = w.copy(), np.zeros(REPORT), walk(0, kept=4), 1
        while not lowrank_descent(Q, Qhat, 1.0, np.ones(s), g, w, t, ridge, new, 4, 0.0, at, most, report):
            calls += 1
        ends["lowrank"].append((new, report, at.kept))
        stops.append(calls)
        for name, order in (("conjugate", "C"), ("conjugate, by class", "F")):
            space, report, at, calls = [np.zeros(s) for _ in range(4)], np.zeros(REPORT), walk(0), 1
            bent = [np.array(one, order=order) for one in (C, U)]
            model = *data, t, ridge, *bent, w, 5, 0.0, 0.0, np.empty_like(bent[1]), *space
            while not conjugate_descent(*model, at, most, report):
                calls += 1
            assert report[SWEEPS] == 5
            ends[name].append((*space, report))
            stops.append(calls)
    R, new, report, at = U.copy(), w.copy(), np.zeros(REPORT), walk(s, 7)
    for sweeps in (1, 2, 6):  # more sweeps are allowed
        assert exact_descent(*data, t, ridge, C, R, new, sweeps, 0.0, 0.0, 0.01, at, 10**9, report)
    ends["exact"].append((R, new, report, at.at[3]))
    assert at.at[SWEEP] == 6, "it is not solved"
    assert stops[:4] == [1] * 4 and min(stops[4:]) > 5
    for whole, *others in ends.values():
        for other in others:
            for one, two in zip(whole, other, strict=True):
                np.testing.assert_array_equal(one, two)


def test_conjugate_steps_follow_those_of_a_matrix() -> None:
    """Preconditioned conjugate gradients as they are printed, on the Hessian of the model as an array."""
    problem, (rows, classes, w, t, ridge, C, U) = binary(text), quadratic_model(60)
    J, H = dense_model(problem.design, rows, classes, C)
    H += np.diag(ridge)
    x, r = np.zeros_like(w), -(J.T @ U.ravel() + ridge * w + t * np.sign(w))
    p = r / np.diag(H)
    for _ in range(4):
        before, size = r @ (r / np.diag(H)), r @ (r / np.diag(H)) / (p @ H @ p)
        x, r = x + size * p, r - size * (H @ p)
        p = r / np.diag(H) + r @ (r / np.diag(H)) / before * p
    space, report = [np.zeros(w.size) for _ in range(4)], np.zeros(REPORT)
    data = problem.design.columns, problem.design.ones, rows, classes, t, ridge, C, U, w
    assert conjugate_descent(*data, 4, 0.0, 0.0, np.empty_like(U), *space, walk(0), 10**9, report)
    for found, expected in zip(space, (p, r, np.diag(H), x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())
    lengths = np.append(np.diff(problem.design.matrix.indptr)[rows[:-1]], 60)
    assert report[FLOPS] == 5 * lengths.sum() + 4 * (4 * lengths.sum() + 60 * 2 * 6 + 10 * w.size)


@pytest.mark.parametrize("single", [False, True])
def test_the_strong_rule_finds_what_a_smaller_lam_would_bring_in(single: bool) -> None:
    rng = np.random.default_rng(3)
    G, W = rng.standard_normal(150), rng.standard_normal(150) * (rng.random(150) < 0.3)
    t = np.array([1.2]) if single else rng.random(150) * 2.0
    found = np.empty_like(G)
    strong_excess(G, W, t, 0.3, 0.2, found)
    np.testing.assert_allclose(
        found, np.where(W == 0.0, np.maximum(np.abs(G) - t + np.minimum(0.3, 0.2 * t), 0.0), 0.0)
    )
    assert 0 < np.count_nonzero(found) < np.count_nonzero(W == 0.0)


def test_compiled_descents_do_what_the_interpreted_ones_do() -> None:
    problem = binary(text)
    n, s = problem.n, 12
    rows, classes, w, t, ridge, C, U = quadratic_model(n)
    rng = np.random.default_rng(1)
    g = 0.1 * rng.standard_normal(s)
    ends = []
    for run in (exact_descent, interpreted(exact_descent)):
        R, new, report = U.copy(), w.copy(), np.zeros(REPORT)
        design = problem.design
        at = walk(s, 7), 10**9, report
        run(design.columns, design.ones, rows, classes, t, ridge, C, R, new, 3, 0.0, 0.0, 0.01, *at)
        ends.append((R, new, report))
    Q, Qhat = rng.standard_normal((s, 4)), 0.01 * rng.standard_normal((s, 4))
    for run in (lowrank_descent, interpreted(lowrank_descent)):
        new, report = w.copy(), np.zeros(REPORT)
        run(Q, Qhat, 1.0, np.ones(s), g, w, t, ridge, new, 3, 0.0, walk(0, kept=4), 10**9, report)
        ends.append((new, report))
    for compiled, plain in (*zip(ends[0], ends[1], strict=True), *zip(ends[2], ends[3], strict=True)):
        np.testing.assert_allclose(compiled, plain, rtol=1e-12, atol=1e-14)
    assert ends[0][2][STEPS] > 0 < ends[2][1][FLOPS] and (ends[0][1] != w).any()


def test_what_these_methods_cannot_do_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = flowers()
    grouped = ss.Problem(X, y, penalty="l1/l2")
    assert "ties the entries of a row: choose l1 or elastic-net" in str(ss.solvers.LHAC().solves(grouped))
    monkeypatch.setattr("sparsescope.solvers.newglmnet.MOST_BYTES", 75 * 9 * 8 - 1)
    assert "Hessian for every sample" in str(ss.solvers.NewGLMNET().solves(ss.Problem(X, y, penalty="l1")))
    weights = ss.penalties.WeightedL1(np.ones(4))
    found = ss.solve(ss.Problem(X, y, penalty=weights, lam=0.1), "auto", tol=1e-6, record=False)
    assert found.converged and found.reason.startswith("lhac: ")


def test_the_page_starts_anew_where_w_gets_another_shape() -> None:
    from sparsescope.live import settings
    from sparsescope.live.preparing import prepare

    data = ss.datasets.load("breast_cancer")
    before, after = (
        settings.clean({"dataset": "breast_cancer", "loss": loss, "penalty": "l1"})[0]
        for loss in ("squared", "binary-logistic")
    )
    problem = ss.Problem(data, loss="squared", penalty="l1")
    assert not prepare(before, data, problem).fresh
    made = prepare(after, data, problem)
    assert made.fresh and made.facts["m"] == 1
    assert made.facts["all_classes"] == problem.class_names and made.facts["class_names"] == problem.class_names[1:]
    assert len(made.facts["class_sizes"]) == 2 and ("loss", "binary-logistic") not in made.reasons


def test_inner_products_are_those_of_numpy_and_need_no_threads() -> None:
    """np.vdot of more than 10 000 doubles waits for the threads of OpenBLAS at every conjugate-gradient step."""
    rng = np.random.default_rng(0)
    for dtype, tolerance in ((np.float64, 1e-13), (np.float32, 1e-5)):
        A, B = rng.standard_normal((2, 600, 20)).astype(dtype)
        scale = float(np.linalg.norm(A) * np.linalg.norm(B))
        assert abs(inner(A, B) - float(np.vdot(A.astype(float), B.astype(float)))) <= tolerance * scale
    for module in (newton, free_duals):
        assert "np.vdot" not in inspect.getsource(module) and "np.dot" not in inspect.getsource(module)


@pytest.mark.parametrize(
    ("loss", "penalty", "classes", "sparse", "chosen"),
    [
        ("logistic", "elastic-net", 16, True, "working-set"),
        ("multiclass-squared-hinge", "l1", 16, True, "newglmnet"),
        ("logistic", "l1", 16, True, "newglmnet"),
        ("logistic", "elastic-net", 4, False, "newglmnet"),
        ("logistic", "elastic-net", 4, True, "newglmnet"),
        ("binary-logistic", "elastic-net", 2, True, "newglmnet"),
    ],
)
def test_auto_sweeps_over_rows_of_words_where_hessians_of_samples_cost_more_than_they_gain(
    loss: str, penalty: str, classes: int, sparse: bool, chosen: str
) -> None:
    X, _ = text()
    y = np.arange(X.shape[0]) % classes
    problem = ss.Problem(X if sparse else X.toarray(), y, loss=loss, penalty=penalty, lam_ratio=0.2)
    found = ss.solve(problem, tol=1e-6)
    assert found.reason.startswith(f"{chosen}: ") and found.converged
    other = ss.solve(problem, "newglmnet" if chosen == "working-set" else "bcd-ls", tol=1e-6, record=False)
    assert found.objective == pytest.approx(other.objective, rel=2e-6)


def test_a_certificate_may_follow_a_costly_iteration_on_a_working_set_that_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(newglmnet, "DEAR", 0.0)
    monkeypatch.setattr(newglmnet, "LOWERED", np.inf)
    problem, solver = binary(digits, 0.02), newglmnet.NewGLMNET(opening=False)
    state, kept = solver.init(problem), 0
    state.aim = 1e-9
    for _ in range(30):
        solver.step(problem, state)
        if state.ready and not state.solved:
            here = state.part
            solver.step(problem, state)
            assert state.part is here
            kept += 1
    assert kept, "or the case says nothing"
    early = ss.solve(problem, solver, tol=1e-6)
    monkeypatch.setattr(newglmnet, "LOWERED", 0.0)
    late = ss.solve(problem, solver, tol=1e-6)
    assert early.converged and late.converged and early.iterations <= late.iterations  # of the same sequence
