"""The contract of problems and solvers with label sets: every loss that takes them, with everything else."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import PREDICTING, ROW_PENALTIES, dense, forms, gradient, objective, random_point, solve_or_skip, tags
from sparsescope.inputs.design import Design
from sparsescope.problems.constants import INFLATE, block_constants
from sparsescope.problems.metrics import WATCHED
from sparsescope.registry import losses, penalties, solvers
from sparsescope.runs.stopping import Gap, Iterations

TAKING = [name for name in losses if "sets" in losses[name].target_types]
SMOOTH = [name for name in TAKING if losses[name].smooth]
# As in test_solvers.py: what methods may need for a relative gap of 1e-8.
TOL = 1e-8

every_loss = pytest.mark.parametrize("loss", TAKING)
smooth_loss = pytest.mark.parametrize("loss", SMOOTH)
each_intercept = pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
every_solver = pytest.mark.parametrize("name", PREDICTING)
exact_solver = pytest.mark.parametrize("name", [name for name in PREDICTING if solvers[name].converges])
# Every penalty with label ranking (most of them in `make test-all`), the other losses with the group lasso. What the
# squared loss does is met with classes already: what goes over solvers leaves it to `make test-all` too.
RANKING = "label-ranking-squared-hinge"
SOLVED = [pytest.param(loss, marks=pytest.mark.slow if loss == "squared" else ()) for loss in SMOOTH]
solved_loss = pytest.mark.parametrize("loss", SOLVED)
PAIRS = [
    *(
        pytest.param(RANKING, penalty, marks=() if penalty == "l1/l2" else pytest.mark.slow)
        for penalty in ROW_PENALTIES
    ),
    *(pytest.param(*case.values, "l1/l2", marks=case.marks) for case in SOLVED if case.values[0] != RANKING),
]


@cache
def problem_on(
    loss: str,
    penalty: str = "l1/l2",
    *,
    form: str = "dense",
    intercept: bool = False,
    share: float = 0.2,
    dtype: str = "float64",
) -> ss.Problem:
    matrix, Y = tags()
    X = dict(forms(matrix))[form]
    lam = share * ss.Problem(X, Y, loss=loss, penalty=penalty, intercept=intercept).lam_reference
    return ss.Problem(X.astype(dtype), Y, loss=loss, penalty=penalty, intercept=intercept, lam=lam)


@cache
def best(problem: ss.Problem) -> ss.Result:
    found = ss.solve(problem, "bcd-ls", tol=1e-10, max_iter=50_000, record=False, certify_every=10)
    assert found.converged, found
    return found


def test_there_are_losses_for_label_sets() -> None:
    assert {RANKING, "multitask-squared-hinge"} <= set(TAKING)


# ------------------------------------------------------------------------------------------------------------- problems
@every_loss
@each_intercept
def test_objective_and_gradient_follow_the_formula_for_every_form_of_data(loss: str, intercept: bool) -> None:
    matrix, Y = tags()
    part, penalty = losses.create(loss), penalties.create("l1/l2")
    for _, X in forms(matrix):
        problem = ss.Problem(X, Y, loss=loss, lam=0.02, intercept=intercept)
        assert problem.multilabel and problem.y.dtype == np.uint8 and problem.y.flags.c_contiguous
        for seed in range(2):
            W, b = random_point(problem, seed)
            shift = 0.0 if b is None else b
            assert problem.objective(W, b) == pytest.approx(objective(X, Y, part, penalty, 0.02, W, shift), rel=1e-12)
            G, g_b = gradient(X, Y, part, W, shift)
            found = problem.gradient(W, b)
            np.testing.assert_allclose(found[0] if intercept else found, G, atol=1e-12)
            if intercept:
                np.testing.assert_allclose(found[1], g_b, atol=1e-12)


@pytest.mark.parametrize(("loss", "penalty"), PAIRS)
@each_intercept
def test_gap_is_above_the_distance_to_the_optimum_and_closes_there(loss: str, penalty: str, intercept: bool) -> None:
    problem = problem_on(loss, penalty, intercept=intercept)
    known = best(problem)
    rounding = 1e-12 * abs(known.objective)
    assert known.gap >= -rounding
    rng = np.random.default_rng(0)
    for scale in (0.0, 1e-6, 1e-3, 0.1, 1.0, 10.0):
        W = known.W + scale * rng.standard_normal(known.W.shape)
        b = known.b + scale * rng.standard_normal(known.b.shape) if intercept else None
        at = problem.certificate(W, b)
        assert at.gap >= at.objective - known.objective - rounding, "the gap may not promise too much"
        assert at.dual <= known.objective + rounding, "the dual value has to be a lower bound"


@smooth_loss
def test_certificates_hold_with_labels_that_all_samples_have_or_none(loss: str) -> None:
    matrix, Y = tags()
    rng = np.random.default_rng(0)
    for keep, column in ((slice(2, None), 0), (slice(None), 4), (slice(3, None), None)):
        labels = Y.copy()
        if column is not None:
            labels[:, column] = column == 0
        problem = ss.Problem(matrix[keep], labels[keep], loss=loss, intercept=True)
        problem = problem.with_lam(0.2 * problem.lam_max)
        known = best(problem)
        for scale in (1e-3, 0.3, 3.0):
            W, b = known.W + scale * rng.standard_normal(known.W.shape), known.b + scale * rng.standard_normal(5)
            assert problem.certificate(W, b).dual <= known.objective * (1 + 1e-12)


def test_a_certificate_with_an_intercept_stays_true_where_no_flow_can_balance() -> None:
    # Label 0 implies label 1: no sample has 0 and lacks 1, so what 0 receives from 1 can never be sent back.
    rng = np.random.default_rng(0)
    Y = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 0], [0, 1, 0], [1, 1, 0]])
    X = rng.standard_normal((8, 4))
    problem = ss.Problem(X, Y, intercept=True)
    problem = problem.with_lam(0.1 * problem.lam_max)
    found = ss.solve(problem, tol=1e-14, max_iter=3000, record=False)
    for scale in (0.0, 0.1, 1.0):
        at = problem.certificate(found.W + scale * rng.standard_normal((4, 3)), found.b)
        assert 0.0 <= at.dual <= found.objective * (1 + 1e-12)


@smooth_loss
@each_intercept
def test_zero_solves_the_problem_above_lam_max_and_not_below(loss: str, intercept: bool) -> None:
    problem = problem_on(loss, intercept=intercept)
    zero = np.zeros((problem.d, problem.m))
    b = problem.null_intercept if intercept else None
    above, below = problem.with_lam(1.0001 * problem.lam_max), problem.with_lam(0.99 * problem.lam_max)
    assert above.violation(zero, b) <= 1e-6 * problem.lam_max
    assert above.gap(zero, b) <= 1e-6 * above.objective(zero, b)
    assert below.violation(zero, b) > 1e-4 * problem.lam_max


@smooth_loss
def test_null_intercept_is_the_best_one_without_weights(loss: str) -> None:
    problem = problem_on(loss, intercept=True)
    zero, b = np.zeros((problem.d, problem.m)), problem.null_intercept
    assert np.abs(gradient(problem.design.matrix, problem.y, problem.loss, zero, b)[1]).max() <= 1e-6
    rng = np.random.default_rng(0)
    for scale in (1e-3, 0.1, 1.0):
        assert problem.objective(zero, b + scale * rng.standard_normal(problem.m)) >= problem.objective(zero, b) - 1e-12


# ------------------------------------------------------------------------------------------------------------ constants
@smooth_loss
@each_intercept
@pytest.mark.parametrize("wide", [False, True], ids=["tall", "wide"])
def test_constants_bound_the_gradient_and_are_ordered(loss: str, intercept: bool, wide: bool) -> None:
    matrix, Y = tags()
    X = dense(matrix)[:12] if wide else dense(matrix)
    problem = ss.Problem(X, Y[: len(X)], loss=loss, intercept=intercept)
    whole = [problem.full_constant(kind) for kind in ("class-aware", "tight", "paper")]
    assert whole[0] <= whole[1] * (1 + 1e-9) and whole[1] <= whole[2] * (1 + 1e-9)
    blocks = [problem.block_constants(kind) for kind in ("class-aware", "tight", "paper")]
    assert (blocks[0] <= blocks[1] * (1 + 1e-12)).all() and (blocks[1] <= blocks[2] * (1 + 1e-12)).all()
    for seed in range(8):
        scale = 10.0 ** (seed % 4 - 3)
        (W, b), (V, c) = random_point(problem, seed, scale), random_point(problem, seed + 100, scale)
        b, c = (np.zeros(5), np.zeros(5)) if b is None else (b, c)
        G, H = (gradient(X, problem.y, problem.loss, *point) for point in ((W, b), (V, c)))
        change = np.hypot(np.linalg.norm(G[0] - H[0]), np.linalg.norm(G[1] - H[1]) * intercept)
        assert change <= whole[0] * np.hypot(np.linalg.norm(W - V), np.linalg.norm(b - c)) * (1 + 1e-9)
        j = seed % problem.d  # and of one block
        one = V.copy()
        one[j] = W[j]
        G, H = (gradient(X, problem.y, problem.loss, at, c) for at in (one, V))
        assert np.linalg.norm(G[0][j] - H[0][j]) <= blocks[0][j] * np.linalg.norm(one[j] - V[j]) * (1 + 1e-9)


def test_class_aware_constants_of_label_ranking_are_those_of_the_graph_of_pairs() -> None:
    matrix, Y = tags()
    X, n, m = dense(matrix), 60, 5
    loss = losses.create(RANKING)
    laplacians = []
    for labels in Y.astype(float):
        pairs = np.outer(labels, 1 - labels)
        edges = pairs + pairs.T
        laplacians.append(np.diag(edges.sum(axis=1)) - edges)
    whole = sum(np.kron(np.outer(x, x), L) for x, L in zip(X, laplacians, strict=True))
    problem = ss.Problem(matrix, Y, loss=loss)
    assert problem.full_constant() == pytest.approx(INFLATE * 2 * np.linalg.eigvalsh(whole)[-1] / n, rel=1e-4)
    blocks = block_constants(Design(matrix), Y, m, loss, False, "class-aware")
    tight = block_constants(Design(matrix), Y, m, loss, False, "tight")
    for j in range(X.shape[1]):
        exact = 2 * np.linalg.eigvalsh(sum(x**2 * L for x, L in zip(X[:, j], laplacians, strict=True)))[-1] / n
        assert exact <= blocks[j] * (1 + 1e-12)
    assert blocks.sum() < 0.95 * tight.sum()


# -------------------------------------------------------------------------------------------------------------- solvers
@pytest.mark.parametrize(("loss", "penalty"), PAIRS)
@exact_solver
def test_reaches_a_certified_optimum_and_agrees_with_the_others(name: str, loss: str, penalty: str) -> None:
    problem = problem_on(loss, penalty)
    found = solve_or_skip(problem, name)
    assert found.converged, found
    assert found.objective == pytest.approx(best(problem).objective, rel=1e-6)
    near = 1e-12 * abs(found.objective)
    if solvers[name].splits:  # its dual point is its own: a better one than the gradient at W, or none
        assert found.gap <= problem.gap(found.W) + near
        assert found.dual <= best(problem).objective + near
    else:
        assert problem.gap(found.W) == pytest.approx(found.gap, abs=near)


# Dense data are met without an intercept above, and beside sparse data below.
@solved_loss
@pytest.mark.parametrize(
    ("form", "share"), [("csr", 0.4), *(pytest.param(form, 0.2, marks=pytest.mark.slow) for form in ("dense", "csr"))]
)
@exact_solver
def test_handles_an_intercept(name: str, loss: str, form: str, share: float) -> None:
    problem = problem_on(loss, form=form, intercept=True, share=share)
    found = solve_or_skip(problem, name)
    assert found.converged, found
    known = best(problem_on(loss, intercept=True, share=share))
    assert found.objective == pytest.approx(known.objective, rel=1e-6)
    assert not found.W[7].any(), "the column is empty"


@solved_loss
@every_solver
def test_dense_csr_and_csc_take_the_same_way(name: str, loss: str) -> None:
    ends = []
    for form in ("dense", "csr", "csc"):
        problem = problem_on(loss, form=form)
        solver = solvers.create(name)
        if solver.solves(problem) is not None:
            pytest.skip(str(solver.solves(problem)))
        state = solver.init(problem)
        for _ in range(4):
            solver.step(problem, state)
        ends.append(state.coef.copy())
    assert np.abs(ends[0]).max() > 0
    # Sums are made in another order: rounding is a share of the largest weights.
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-9, atol=2e-9 * np.abs(ends[0]).max())
    np.testing.assert_array_equal(ends[2], ends[1])


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("fista-ls", "multitask-squared-hinge"),
        pytest.param("bcd-ls", "multitask-squared-hinge", marks=pytest.mark.slow),
        pytest.param("bcd-ls", RANKING, marks=pytest.mark.slow),
        pytest.param("fista-ls", RANKING, marks=pytest.mark.slow),
    ],
)
def test_single_precision_reaches_a_gap_of_single_precision(loss: str, name: str) -> None:
    problem = problem_on(loss, form="csr", dtype="float32", share=0.3)
    found = solve_or_skip(problem, name, tol=2e-5)
    assert found.converged and found.W.dtype == np.float32
    exact = problem_on(loss, form="csr", share=0.3)
    assert exact.objective(found.W) == pytest.approx(best(exact).objective, rel=1e-4)


def test_a_loss_can_be_changed_for_another_that_takes_label_sets_but_for_no_other() -> None:
    problem = problem_on(RANKING)
    run = ss.Run(problem, "bcd-ls", stop=Iterations(3))
    list(run)
    other = problem.with_(loss="multitask-squared-hinge")
    run.change(problem=other)
    run.stop = Gap(1e-7) | Iterations(2000)
    assert "certified" in list(run)[-1].message
    for loss in losses:
        if loss not in TAKING:
            with pytest.raises(ValueError, match=r"needs one class a sample, and y has label sets.*label-ranking"):
                problem.with_(loss=loss)


# ------------------------------------------------------------------------------------------------ prediction and events
@smooth_loss
@each_intercept
def test_predictions_are_the_labels_above_the_threshold(loss: str, intercept: bool) -> None:
    matrix, _ = tags()
    problem = problem_on(loss, intercept=intercept)
    W, b = random_point(problem)
    Z = problem.scores(W, b)
    cut = problem.threshold(Z)
    if losses[loss].threshold is not None:
        assert cut == losses[loss].threshold
    np.testing.assert_array_equal(problem.predict(W, b), cut < Z)
    np.testing.assert_array_equal(problem.predict(W, b, matrix[:7]), cut < Z[:7])
    assert problem.predict(W, b).dtype == np.uint8
    order = problem.rank(W, b)
    assert (np.diff(np.take_along_axis(Z, order, axis=1), axis=1) <= 0).all()
    np.testing.assert_array_equal(problem.rank(W, b, matrix[:3], k=2), order[:3, :2])


@pytest.mark.parametrize("loss", TAKING)
def test_events_carry_the_measures_of_label_sets(loss: str) -> None:
    from sklearn.metrics import f1_score, label_ranking_loss

    matrix, Y = tags()
    problem = problem_on(loss, form="csr")
    name = next(name for name in solvers if solvers.create(name).solves(problem) is None)
    recorder = ss.Recorder()
    list(
        ss.Run(
            problem,
            name,
            stop=Iterations(6),
            certify_every=3,
            test=(matrix[:20], sp.csr_array(Y[:20])),
            callbacks=[recorder],
        )
    )
    trace = recorder.trace
    for part, measure in product(("train", "test"), WATCHED):
        column = trace[f"{part}_{measure}"]
        np.testing.assert_array_equal(np.isfinite(column), [True, False, False, True, False, False, True])
        assert ((column[::3] >= 0) & (column[::3] <= 1)).all()
    assert np.isnan(trace["train_accuracy"]).all() and np.isnan(trace["test_accuracy"]).all()
    W = trace.weights()
    Z, predicted = problem.scores(W), problem.predict(W)
    assert trace["train_micro_f1"][-1] == pytest.approx(f1_score(Y, predicted, average="micro"))
    assert trace["test_macro_f1"][-1] == pytest.approx(
        f1_score(Y[:20], predicted[:20], average="macro", zero_division=0)
    )
    assert trace["train_ranking_loss"][-1] == pytest.approx(label_ranking_loss(Y, Z))
    best_labels = problem.rank(W, k=3)
    assert trace["train_precision_at_3"][-1] == pytest.approx(np.take_along_axis(Y, best_labels, axis=1).mean())
    assert trace["test_precision_at_1"][-1] == pytest.approx(Y[np.arange(20), best_labels[:20, 0]].mean())


def test_events_of_classes_carry_none_of_them(tmp_path: Any) -> None:
    problem = ss.Problem(np.eye(4), [0, 1, 0, 1], lam=0.1)
    recorder = ss.Recorder()
    list(ss.Run(problem, stop=Iterations(2), callbacks=[recorder]))
    path = recorder.trace.save(tmp_path / "run")
    for trace in (recorder.trace, ss.Trace.load(path)):
        assert all(np.isnan(trace[f"{part}_{measure}"]).all() for part in ("train", "test") for measure in WATCHED)
        assert np.isfinite(trace["train_accuracy"]).all()
