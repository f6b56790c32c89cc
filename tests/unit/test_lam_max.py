"""λ_max of non-smooth losses: where the first weight comes in, for every penalty, with and without intercept."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from helpers import digits, in_turn, iris, tags
from sparsescope.problems import null_programs
from sparsescope.registry import losses, penalties

KINKED = [(name, kind) for name in losses if not losses[name].smooth for kind in losses[name].target_types]
FORCING = [name for name in penalties if penalties[name].zeroes_rows]


def problem_of(loss: str, kind: str, penalty: Any, intercept: bool, **lam: float) -> ss.Problem:
    X, y = tags() if kind == "sets" else iris()
    return ss.Problem(X, y, loss=loss, penalty=penalty, intercept=intercept, **lam)


@pytest.mark.parametrize(("loss", "kind", "penalty", "intercept"), in_turn(KINKED, FORCING, (False, True)))
def test_zero_is_optimal_at_lam_max_and_not_just_below(loss: str, kind: str, penalty: str, intercept: bool) -> None:
    problem = problem_of(loss, kind, penalty, intercept)
    assert 0.0 <= problem.lam_max_slack < 2e-3
    zero, b = np.zeros((problem.d, problem.m)), problem.null_intercept if intercept else None
    null = problem.objective(zero, b)
    above = ss.solve(problem.with_lam(problem.lam_max), "auto", tol=1e-7, max_iter=50_000, record=False)
    assert above.converged and above.dual >= null * (1 - 2e-7), "nothing is better than zero"
    # Just below, the optimum gains the square of what is missing to λ_max: more than the gap that is left.
    lam = 0.99 * (1 - problem.lam_max_slack) * problem.lam_max
    below = ss.solve(problem.with_lam(lam), "auto", tol=1e-7, max_iter=50_000, record=False)
    assert below.converged and below.W.any() and below.objective < null * (1 - 2e-7)


def test_the_first_bound_is_above_it_and_stays_where_the_programme_would_be_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exact = problem_of("crammer-singer", "classes", "l1/l2", False).lam_max
    monkeypatch.setattr(null_programs, "MOST_FLOWS", 10)
    rough = problem_of("crammer-singer", "classes", "l1/l2", False)
    assert rough.lam_max_slack == 1.0 and 1.1 * exact < rough.lam_max < 2.0 * exact


@pytest.mark.parametrize("penalty", ["l1", "l1/l2"])
def test_programmes_that_reach_their_limit_leave_valid_bounds(monkeypatch: pytest.MonkeyPatch, penalty: str) -> None:
    exact = problem_of("crammer-singer", "classes", penalty, True)
    monkeypatch.setattr(null_programs, "between", lambda *given: None)  # no path goes on where they end
    first = [null_programs.MOST_WORK, 400_000, 0]
    slacks = []
    for most in first:
        monkeypatch.setattr(null_programs, "MOST_WORK", most)
        problem = problem_of("crammer-singer", "classes", penalty, True)
        low = (1.0 - problem.lam_max_slack) * problem.lam_max
        assert low <= exact.lam_max * (1 + 1e-9) and exact.lam_max * (1 - exact.lam_max_slack) <= problem.lam_max
        zero = ss.certify(problem.with_lam(problem.lam_max), np.zeros((problem.d, problem.m)))
        assert zero.objective == pytest.approx(problem.null_objective, rel=1e-9)
        slacks.append(problem.lam_max_slack)
    assert slacks[0] < 2e-3 and slacks[0] <= slacks[1] <= slacks[2] == 1.0


def test_many_classes_end_at_the_limit_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8)) @ rng.standard_normal((8, 64)) + 0.1 * rng.standard_normal((60, 64))
    problem = ss.Problem(X, np.arange(60) % 50, loss="crammer-singer", penalty="l1/l2", intercept=True)
    steps = []
    solve = null_programs._Flows.solve

    def counted(flows: Any, cuts: Any, most: int) -> Any:
        found = solve(flows, cuts, most)
        steps.append(most if found is None else found[3])
        return found

    monkeypatch.setattr(null_programs._Flows, "solve", counted)
    monkeypatch.setattr(null_programs, "FEW_FLOWS", 10_000)  # programmes first
    monkeypatch.setattr(null_programs, "between", lambda *given: None)  # and no central path after them
    monkeypatch.setattr(null_programs, "MOST_WORK", 100_000_000)  # a seventh, for a quick test
    assert 0.0 < problem.lam_max_slack < 1.0 and len(steps) > 1 and sum(steps) <= 100_000_000 + null_programs.FIRST_WORK


@pytest.mark.parametrize(
    ("penalty", "intercept"), in_turn(["l1", "l1/linf", "sparse-group", ss.penalties.BlockL1L2(7)], (False, True))
)
def test_a_central_path_finds_what_linear_programmes_find(
    monkeypatch: pytest.MonkeyPatch, penalty: Any, intercept: bool
) -> None:
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(iris()[1]))
    weights[::9] = 0.0
    X = np.tile(iris()[0], (1, 7)) * np.random.default_rng(1).uniform(0.5, 1.5, (len(iris()[1]), 28))
    given: dict[str, Any] = {"loss": "crammer-singer", "penalty": penalty, "intercept": intercept}
    found = []
    for few in (10_000, 10):
        monkeypatch.setattr(null_programs, "FEW_FLOWS", few)
        found.append(ss.Problem(X, iris()[1], sample_weight=weights, **given))
    programme, path = found
    assert path.lam_max_slack < 1e-6
    assert path.lam_max <= programme.lam_max * (1 + 1e-6)
    assert path.lam_max >= programme.lam_max * (1 - programme.lam_max_slack) * (1 - 1e-6)
    above = ss.solve(path.with_lam(path.lam_max), "auto", tol=1e-6, max_iter=50_000, record=False)
    assert above.converged and above.dual >= path.null_objective * (1 - 2e-6), "nothing is better than zero"


@pytest.mark.parametrize("kind", ["most in one class", "label sets"])
def test_a_central_path_takes_the_faces_of_any_best_intercept(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    X, y = tags() if kind == "label sets" else iris()
    y = y if kind == "label sets" else np.where((y == 1) & (np.arange(len(y)) % 8 > 0), 0, y)
    values = []
    for few in (10_000, 10):
        monkeypatch.setattr(null_programs, "FEW_FLOWS", few)
        problem = ss.Problem(
            X, y, loss="separation-ranking" if kind == "label sets" else "crammer-singer", penalty="l1", intercept=True
        )
        values.append(problem.lam_max)
        assert problem.lam_max_slack < 1e-4
    assert values[0] > 1e-3 and values[1] == pytest.approx(values[0], rel=1e-4)


def test_smooth_losses_have_no_slack_and_dense_and_sparse_data_agree() -> None:
    assert ss.Problem(*iris(), loss="logistic").lam_max_slack == 0.0
    X, y = tags()
    sparse, dense = (ss.Problem(A, y, loss="separation-ranking", penalty="l1") for A in (X, X.toarray()))
    assert sparse.lam_max == pytest.approx(dense.lam_max, rel=1e-6)


def test_ten_classes_are_bounded_from_both_sides() -> None:
    problem = ss.Problem(*digits(), loss="crammer-singer", penalty="l1", intercept=True)
    assert problem.lam_max_slack < 1e-6
    weights = np.full((problem.d, problem.m), 2.0)
    weighted = ss.Problem(*digits(), loss="crammer-singer", penalty=ss.penalties.WeightedL1(weights), intercept=True)
    assert weighted.lam_max == pytest.approx(0.5 * problem.lam_max, rel=1e-6)


@pytest.mark.parametrize("loss", ["multiclass-squared-hinge", "logistic"])
def test_formulas_of_the_null_intercept_are_right_where_they_answer(loss: str) -> None:
    made, rng, answered = ss.registry.losses.create(loss), np.random.default_rng(0), 0
    draws = [rng.dirichlet(np.full(m, evenness)) for m in (2, 3, 7) for evenness in (0.3, 5.0) for _ in range(5)]
    draws += [np.array([0.5, 0.5, 0.0]), np.array([0.98, 0.01, 0.01])]
    for shares in draws:
        b = made.null_intercept(3.0 * shares)
        Z = np.tile(np.zeros(shares.size) if b is None else b, (shares.size, 1))
        slope = shares @ made.reference(Z, np.arange(shares.size))[1]
        if b is not None:
            answered += 1
            assert np.abs(slope).max() < 1e-14 and abs(b.sum()) < 1e-13
    assert 10 < answered < len(draws), "some shares have a formula, and some (an idle hinge, an empty class) have not"


def foretold(n: int, d: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Some features of which twenty predict the class, with errors."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    Z = X[:, :20] @ rng.standard_normal((20, m)) + rng.standard_normal((n, m))
    return X, Z.argmax(axis=1)


SHAPES = ((60, 20, 4), (150, 20, 8), (90, 40, 6), (300, 200, 10))


@pytest.mark.parametrize(
    ("loss", "penalty", "intercept", "shape"),
    [  # each loss with each penalty once, on each of the first shapes and without and with an intercept in turn
        pytest.param(
            *(loss, penalty, intercept, shape),
            id="-".join([loss, penalty, "intercept" if intercept else "plain", str(shape)]),
            marks=() if intercept == k and (k + at) % 2 == which else pytest.mark.slow,
        )
        for (k, loss), (at, penalty), intercept, (which, shape) in product(
            enumerate(("crammer-singer", "separation-ranking")),
            enumerate(("l1", "l1/l2", "l1/linf", "sparse-group")),
            (False, True),
            enumerate(SHAPES),
        )
    ],
)
def test_both_bounds_meet_for_round_penalties_too(
    loss: str, penalty: str, intercept: bool, shape: tuple[int, int, int]
) -> None:
    problem = ss.Problem(*foretold(*shape), loss=loss, penalty=penalty, intercept=intercept)
    assert problem.lam_max > 0.0 and problem.lam_max_slack <= 1e-5


@pytest.mark.parametrize("shape", [(300, 4, 3), (500, 20, 3)], ids=str)
@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
def test_labels_that_no_weights_explain_have_a_lam_max_of_zero(shape: tuple[int, int, int], intercept: bool) -> None:
    rng, (n, d, m) = np.random.default_rng(0), shape
    X, y = rng.standard_normal((n, d)), rng.integers(0, m, n)
    for penalty in ("l1", "l1/l2"):
        problem = ss.Problem(X, y, loss="crammer-singer", penalty=penalty, intercept=intercept)
        assert problem.lam_max == 0.0 and problem.lam_max_slack == 0.0
        with pytest.raises(ValueError, match="λ_max is 0: no feature separates the classes"):
            _ = problem.lam_reference
    zero = ss.certify(problem.with_lam(1e-3), np.zeros((d, m)))
    assert zero.objective == pytest.approx(problem.null_objective, rel=1e-12)
    better = ss.solve(problem.with_lam(1e-6), "fbpd", tol=1e-6, max_iter=20_000, record=False, certify_every=50)
    assert better.dual >= problem.null_objective * (1 - 1e-5), "nothing is better than zero, at a small λ too"


@pytest.mark.parametrize("penalty", ["l1", "l1/l2"])
def test_two_classes_of_one_size_leave_no_choice_of_subgradients(penalty: str) -> None:
    X = np.random.default_rng(0).standard_normal((40, 6))
    problem = ss.Problem(X, np.arange(40) % 2, loss="crammer-singer", penalty=penalty, intercept=True)
    sums = X[1::2].sum(axis=0) - X[::2].sum(axis=0)
    exact = np.abs(sums).max() * (1.0 if penalty == "l1" else np.sqrt(2.0)) / 40
    assert problem.lam_max == pytest.approx(exact, rel=1e-6) and problem.lam_max_slack <= 1e-5
