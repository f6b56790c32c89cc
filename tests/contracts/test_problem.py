"""The contract of problems: every loss × penalty × intercept × form of data against formulas in plain numpy."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import (
    FEW_PAIRS,
    LOSSES,
    PAIRS,
    PENALTIES,
    SMOOTH_LOSSES,
    fitting,
    forms,
    gradient,
    iris,
    loss_rows,
    objective,
    random_point,
    text,
)
from sparsescope.registry import losses, penalties

every_pair = pytest.mark.parametrize(("loss", "penalty"), PAIRS)
few_pairs = pytest.mark.parametrize(("loss", "penalty"), FEW_PAIRS)
each_intercept = pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
# Every loss with the group lasso and every penalty with the multiclass hinge: value and gap are sums of a loss part and
# a penalty part, so all values of all fields are met without all their combinations.
FIELDS = [pytest.param(c.values[0], penalties.create("l1/l2"), id=c.id) for c in SMOOTH_LOSSES]
FIELDS += [pytest.param(losses.create("multiclass-squared-hinge"), c.values[0], id=c.id) for c in PENALTIES]
KINKED = [pytest.param(c.values[0], penalties.create("l1/l2"), id=c.id) for c in LOSSES if not c.values[0].smooth]
every_field = pytest.mark.parametrize(("loss", "penalty"), FIELDS)


@cache
def optimum(loss: Any, penalty: Any, intercept: bool, share: float = 0.1) -> tuple[ss.Problem, ss.Result]:
    """A problem on iris and its solution, certified to 1e-10."""
    X, y = iris()
    problem = ss.Problem(X, fitting(loss, y), loss=loss, penalty=penalty, intercept=intercept)
    problem = problem.with_lam(share * problem.lam_reference)
    found = ss.solve(problem, "auto", tol=1e-10, max_iter=1000, record=False)
    assert found.converged, found
    return problem, found


@pytest.mark.parametrize(("loss", "penalty"), FIELDS + KINKED)
@each_intercept
def test_objective_and_gradient_follow_the_formula_for_every_form_of_data(
    loss: Any, penalty: Any, intercept: bool
) -> None:
    matrix, y = text()
    y = fitting(loss, y)
    for _, X in forms(matrix):
        problem = ss.Problem(X, y, loss=loss, penalty=penalty, lam=0.02, intercept=intercept)
        for seed in range(2):
            W, b = random_point(problem, seed)
            shift = 0.0 if b is None else b
            assert problem.objective(W, b) == pytest.approx(objective(X, y, loss, penalty, 0.02, W, shift), rel=1e-12)
            G, g_b = gradient(X, y, loss, W, shift)
            if intercept:
                np.testing.assert_allclose(problem.gradient(W, b)[0], G, atol=1e-12)
                np.testing.assert_allclose(problem.gradient(W, b)[1], g_b, atol=1e-12)
            else:
                np.testing.assert_allclose(problem.gradient(W, b), G, atol=1e-12)
            np.testing.assert_allclose(problem.scores(W, b), matrix @ W + shift, atol=1e-13)


@pytest.mark.parametrize(("loss", "penalty"), [("multiclass-squared-hinge", "l1/l2"), ("logistic", "sparse-group")])
@each_intercept
def test_single_precision_gives_the_same_to_single_precision(loss: str, penalty: str, intercept: bool) -> None:
    matrix, y = text()
    exact = ss.Problem(matrix, y, loss=loss, penalty=penalty, lam=0.02, intercept=intercept)
    W, b = random_point(exact)
    for _, X in forms(matrix.astype(np.float32)):
        problem = ss.Problem(X, y, loss=loss, penalty=penalty, lam=0.02, intercept=intercept)
        assert problem.dtype == np.float32
        assert problem.objective(W, b) == pytest.approx(exact.objective(W, b), rel=1e-5)
        assert problem.gap(W, b) == pytest.approx(exact.gap(W, b), rel=1e-4)
        assert problem.violation(W, b) == pytest.approx(exact.violation(W, b), rel=1e-4)
        assert problem.lam_max == pytest.approx(exact.lam_max, rel=1e-5)


@every_pair
@each_intercept
def test_gap_is_above_the_distance_to_the_optimum_and_closes_there(loss: str, penalty: str, intercept: bool) -> None:
    problem, best = optimum(losses.create(loss), penalties.create(penalty), intercept)
    assert best.relative_gap <= 1e-10
    assert problem.gap(best.W, best.b) == pytest.approx(best.gap, abs=1e-14)
    rounding = 1e-13 * abs(best.objective)
    assert best.gap >= -rounding
    assert problem.violation(best.W, best.b) <= 1e-4 * problem.lam_reference
    rng = np.random.default_rng(0)
    for scale in (0.0, 1e-6, 1e-3, 0.1, 1.0, 10.0):
        W = best.W + scale * rng.standard_normal(best.W.shape)
        b = best.b + scale * rng.standard_normal(best.b.shape) if intercept else None
        at = problem.certificate(W, b)
        assert at.gap >= at.objective - best.objective - rounding, "the gap may not promise too much"
        assert at.dual <= best.objective + rounding, "the dual value has to be a lower bound"
        assert at.objective >= best.dual - rounding


@every_field
@each_intercept
def test_gap_holds_for_all_values_of_the_fields(loss: Any, penalty: Any, intercept: bool) -> None:
    problem, best = optimum(loss, penalty, intercept)
    for seed in range(3):
        W, b = random_point(problem, seed, scale=1.0)
        at = problem.certificate(W, b)
        assert at.gap >= at.objective - best.objective - 1e-13
        assert at.objective == pytest.approx(at.loss + problem.lam * at.penalty, rel=1e-14)
        assert at.gap == pytest.approx(at.objective - at.dual, rel=1e-14)
        assert at.nonzero_rows == np.count_nonzero(W.any(axis=1)) and at.nonzero_entries == np.count_nonzero(W)


@few_pairs
@each_intercept
def test_certificates_do_not_depend_on_the_form_of_the_data(loss: str, penalty: str, intercept: bool) -> None:
    matrix, y = text()
    y = fitting(loss, y)
    found = []
    for _, X in forms(matrix):
        problem = ss.Problem(X, y, loss=loss, penalty=penalty, lam=0.01, intercept=intercept)
        W, b = random_point(problem)
        c = problem.certificate(W, b)
        found.append([c.objective, c.dual, c.violation, c.violation_sum, c.paper_violation, c.paper_violation_sum])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-11)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-11)


def test_certificates_of_wide_sparse_data_are_made_in_blocks() -> None:
    # More columns than one block of gradient rows: the pieces have to fit together.
    rng = np.random.default_rng(0)
    X = sp.random_array((30, 1300), density=0.02, random_state=rng, format="csc")
    y = np.arange(30) % 3
    for intercept in (False, True):
        narrow, wide = (ss.Problem(A, y, lam=0.01, intercept=intercept) for A in (X.toarray(), X))
        W, b = random_point(wide)
        a, c = narrow.certificate(W, b), wide.certificate(W, b)
        assert (c.gap, c.violation_sum) == pytest.approx((a.gap, a.violation_sum), rel=1e-11)
        assert wide.lam_max == pytest.approx(narrow.lam_max, rel=1e-12)


# -------------------------------------------------------------------------------------------------------------- lam_max
@every_field
@each_intercept
def test_zero_solves_the_problem_above_lam_max_and_not_below(loss: Any, penalty: Any, intercept: bool) -> None:
    X, y = iris()
    # Unequal classes: the intercept at zero weights is not zero.
    y = fitting(loss, np.where(np.arange(y.size) < 20, 0, y))
    problem = ss.Problem(X, y, loss=loss, penalty=penalty, intercept=intercept)
    zero = np.zeros((problem.d, problem.m))
    b = problem.null_intercept if intercept else None
    if np.isinf(problem.lam_max):
        assert np.isfinite(problem.lam_reference) and problem.lam_reference > 0
        assert problem.with_lam(1e4).violation(zero, b) > 1e-3, "infinite means: zero is no solution for any λ"
        return
    assert problem.lam_reference == problem.lam_max
    above, below = problem.with_lam(1.0001 * problem.lam_max), problem.with_lam(0.99 * problem.lam_max)
    assert above.violation(zero, b) <= 1e-7 * problem.lam_max
    assert above.gap(zero, b) <= 1e-7 * above.objective(zero, b)
    assert below.violation(zero, b) > 1e-4 * problem.lam_max
    W, start = random_point(problem)
    if getattr(penalty, "nonnegative", False):
        W = np.abs(W)
    found = ss.solve(above, W=W, b=start, tol=1e-12, max_iter=5000, record=False, certify_every=10)
    # F rises by (λ − λ_max)Ω(W) at least: a point that is no further above the optimum than its gap has no larger W.
    weighed = (above.lam - problem.lam_max) * above.regulariser.value(found.W)[0]
    assert found.converged and weighed <= found.gap + 1e-14 * found.objective
    assert ss.solve(below, tol=1e-8, max_iter=5000, record=False, certify_every=10).W.any()


@pytest.mark.parametrize("loss", LOSSES)
def test_null_intercept_is_the_best_one_without_weights(loss: Any) -> None:
    X, y = iris()
    y = fitting(loss, np.where(np.arange(y.size) < 20, 0, y))
    problem = ss.Problem(X, y, loss=loss, intercept=True)
    zero = np.zeros((problem.d, problem.m))
    _, g_b = gradient(X, y, loss, zero, problem.null_intercept)
    assert not loss.smooth or np.abs(g_b).max() <= 1e-7
    best = problem.objective(zero, problem.null_intercept)
    rng = np.random.default_rng(0)
    for scale in (1e-3, 0.1, 1.0):
        assert problem.objective(zero, problem.null_intercept + scale * rng.standard_normal(problem.m)) >= best - 1e-12
    assert not ss.Problem(X, y, loss=loss).null_intercept.any()


# ----------------------------------------------------------------------------------------------------- the paper's rule
def test_the_papers_violation_is_blind_to_a_wrong_direction() -> None:
    # One feature, squared loss: the gradient is a·w − c. Eq. 9 holds on the whole circle ‖a·w − c‖ = λ, the optimality
    # condition at one point of it only (MATH §3).
    x = np.array([1.0, 2.0, -1.0, 0.5])
    y = np.array([0, 0, 1, 1])
    lam = 0.1
    problem = ss.Problem(x[:, None], y, loss="squared", penalty="l1/l2", lam=lam)
    a = float((x**2).mean())
    c = np.array([x[y == k].sum() for k in range(2)]) / len(y)
    best = c * (1 - lam / np.linalg.norm(c)) / a
    for angle in np.linspace(0, 2 * np.pi, 9)[:-1]:
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        w = (c - lam * turn @ c / np.linalg.norm(c)) / a
        assert problem.violation(w[None], paper=True) <= 1e-12
        exact = problem.violation(w[None])
        if angle == 0.0:
            np.testing.assert_allclose(w, best)
            assert exact <= 1e-12
        else:
            assert exact > 0.02 and problem.objective(w[None]) > problem.objective(best[None]) + 1e-3


def test_paper_violation_is_only_defined_for_norms() -> None:
    X, y = iris()
    for name in penalties:
        problem = ss.Problem(X, y, penalty=name, lam=0.1)
        W, _ = random_point(problem)
        assert np.isnan(problem.violation(W, paper=True)) != problem.penalty.is_norm


@every_field
def test_violation_of_the_problem_is_the_largest_distance_over_rows_and_intercept(loss: Any, penalty: Any) -> None:
    X, y = iris()
    y = fitting(loss, y)
    problem = ss.Problem(X, y, loss=loss, penalty=penalty, lam=0.05, intercept=True)
    W, b = random_point(problem)
    G, g_b = gradient(X, y, loss, W, b)
    rows = [penalty.violation(g, w, 0.05) for g, w in zip(G, W, strict=True)]
    assert problem.violation(W, b) == pytest.approx(max(*rows, float(np.linalg.norm(g_b))), rel=1e-10)
    assert problem.certificate(W, b).violation_sum == pytest.approx(sum(rows), rel=1e-10)


# ----------------------------------------------------------------------------------------------- other people's scaling
def test_liblinear_scaling_matches_linear_svc() -> None:
    from sklearn.svm import LinearSVC

    X, y = iris()
    for penalty, name, C in (("l2", "ridge", 0.5), ("l1", "l1", 0.2)):
        peer = LinearSVC(
            penalty=penalty,
            loss="squared_hinge",
            dual=False,
            C=C,
            fit_intercept=False,
            tol=1e-10,
            max_iter=100_000,
            random_state=0,
        ).fit(X, y)
        problem = ss.Problem(X, y, loss="multitask-squared-hinge", penalty=name).with_scaling("liblinear", C=C)
        ours = ss.solve(problem, tol=1e-12, max_iter=20_000, record=False)
        assert problem.objective(peer.coef_.T) == pytest.approx(ours.objective, rel=1e-6)
        np.testing.assert_allclose(peer.coef_.T, ours.W, atol=1e-4)


@each_intercept
def test_liblinear_scaling_matches_logistic_regression(intercept: bool) -> None:
    from sklearn.linear_model import LogisticRegression

    X, y = iris()
    peer = LogisticRegression(C=0.7, fit_intercept=intercept, tol=1e-12, max_iter=10_000).fit(X, y)
    problem = ss.Problem(X, y, loss="logistic", penalty="ridge", intercept=intercept).with_scaling("liblinear", C=0.7)
    ours = ss.solve(problem, tol=1e-12, max_iter=20_000, record=False)
    b = peer.intercept_ if intercept else None
    assert problem.objective(peer.coef_.T, b) == pytest.approx(ours.objective, rel=1e-9)
    np.testing.assert_allclose(peer.coef_.T, ours.W, atol=1e-5)


@each_intercept
def test_squared_loss_matches_the_lasso_of_scikit_learn(intercept: bool) -> None:
    from sklearn.linear_model import Lasso, MultiTaskLasso

    X, y = iris()
    for peer_class, penalty in ((Lasso, "l1"), (MultiTaskLasso, "l1/l2")):
        peer = peer_class(alpha=0.05, fit_intercept=intercept, tol=1e-12, max_iter=100_000).fit(X, np.eye(3)[y])
        problem = ss.Problem(X, y, loss="squared", penalty=penalty, lam=0.05, intercept=intercept)
        ours = ss.solve(problem, tol=1e-13, max_iter=20_000, record=False)
        np.testing.assert_allclose(peer.coef_.T, ours.W, atol=1e-6)
        if intercept:
            np.testing.assert_allclose(peer.intercept_, ours.b, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "given", "theirs"),
    [
        ("liblinear", {"C": 0.3}, lambda W, loss: np.abs(W).sum() + 0.3 * loss),
        ("lightning", {"C": 0.5, "alpha": 2.0}, lambda W, loss: 2.0 * np.abs(W).sum() + 0.5 * loss),
        ("paper-3", {"lam3": 0.2}, lambda W, loss: np.abs(W).sum() + 0.2 * loss),
        ("paper-3", {"lam3": 0.2, "ridge": True}, lambda W, loss: (W**2).sum() + 0.2 * loss),
        ("paper-4", {"C": 0.4, "lam4": 3.0}, lambda W, loss: 0.5 * (W**2).sum() + 3.0 * np.abs(W).sum() + 0.4 * loss),
    ],
)
def test_scalings_are_multiples_of_our_objective(name: str, given: dict[str, Any], theirs: Any) -> None:
    X, y = iris()
    start = ss.Problem(X, y, penalty="ridge" if given.get("ridge") else "l1")
    problem = start.with_scaling(name, **given)
    factor = ss.scalings.convert(name, problem.n, **given).factor
    for seed in range(3):
        W, _ = random_point(problem, seed)
        total = float(loss_rows(problem.loss, X @ W, y).sum())
        assert factor * problem.objective(W) == pytest.approx(float(theirs(W, total)), rel=1e-12)


# ---------------------------------------------------------------------------------------------- siblings, names, labels
def test_siblings_share_the_data_and_check_their_parts() -> None:
    X, y = iris()
    problem = ss.Problem(X, y)
    other = problem.with_(lam=0.5, loss="logistic", penalty=ss.penalties.ElasticNet(rho=0.2))
    assert other.design is problem.design and other.y is problem.y
    assert (problem.lam, other.lam) == (1e-3, 0.5)
    assert problem.key != other.key and problem.key == ss.Problem(X, y).key
    assert other.with_(penalty=ss.penalties.ElasticNet).penalty == ss.penalties.ElasticNet()
    assert "Logistic" in repr(other) and "n=75" in repr(other)
    with pytest.raises(ValueError, match="did you mean 'logistic'"):
        problem.with_(loss="logstic")
    with pytest.raises(ValueError, match="positive"):
        problem.with_lam(-1.0)


def test_names_come_from_data_frames_words_and_data_sets() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = iris()
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    frame = pandas.DataFrame(X, columns=["sl", "sw", "pl", "pw"])
    problem = ss.Problem(frame, pandas.Series(words))
    assert problem.feature_names == ["sl", "sw", "pl", "pw"] and problem.feature_name(2) == "pl"
    assert problem.class_names == ["setosa", "versicolor", "virginica"]
    np.testing.assert_array_equal(problem.y, y)
    assert ss.Problem(X, y).feature_name(3) == "feature 3" and ss.Problem(X, y).class_names == ["0", "1", "2"]
    data = ss.datasets.load("digits")
    problem = ss.Problem(data)
    assert (problem.name, problem.image_shape, problem.m) == ("digits", (8, 8), 10)
    assert problem.feature_names == data.feature_names and problem.class_names == data.class_names
    named = ss.Problem(X, y, class_names=["a", "b", "c", "d"], feature_names="wxyz")
    assert named.m == 4 and named.feature_names == ["w", "x", "y", "z"]


def test_labels_that_are_not_numbered_from_zero_are_numbered_in_order() -> None:
    X = np.eye(4)
    for labels, names in (
        ([3, 7, 3, 9], ["3", "7", "9"]),
        ([-1, 1, 1, -1], ["-1", "1"]),
        ([5.0, 20.0, 20.0, 5.0], ["5", "20"]),
        ([True, False, True, True], ["False", "True"]),
        (["b", "a", "b", "c"], ["a", "b", "c"]),
        ([[0], [1], [1], [2]], ["0", "1", "2"]),
        ([0.0, 1.0, 2.0, 1.0], ["0", "1", "2"]),
    ):
        problem = ss.Problem(X, labels)
        assert problem.class_names == names
        assert problem.y.dtype == np.int64
        np.testing.assert_array_equal(problem.encode(labels), problem.y)
        np.testing.assert_array_equal(problem.encode(labels[:1]), problem.y[:1])  # one class will do here


def test_held_out_labels_are_read_as_the_training_labels_were() -> None:
    X = np.eye(4)
    shifted = ss.Problem(X, [1, 2, 3, 3])
    np.testing.assert_array_equal(shifted.encode([1, 2, 2]), [0, 1, 1])
    words = ss.Problem(X, ["b", "a", "b", "c"])
    np.testing.assert_array_equal(words.encode(np.array(["c", "a"])), [2, 0])
    named = ss.Problem(X, [0, 1, 1, 0], class_names=["no", "yes"])
    np.testing.assert_array_equal(named.encode(["yes", "no"]), [1, 0])
    for problem, strange in ((shifted, [0]), (words, ["d"]), (words, [0]), (named, [2]), (named, [-1]), (named, ["?"])):
        with pytest.raises(ValueError, match="none of the classes"):
            problem.encode(strange)


# ------------------------------------------------------------------------------------------------------------ bad input
GOOD = np.arange(8.0).reshape(4, 2)


def spoiled(value: float) -> np.ndarray:
    X = GOOD.copy()
    X[2, 1] = value
    return X


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (spoiled(np.nan), "sample 2, feature 1"),
        (spoiled(np.inf), "not finite"),
        (sp.csr_array(spoiled(-np.inf)), "sample 2, feature 1"),
        (np.empty((0, 2)), "empty"),
        (np.empty((4, 0)), "empty"),
        (sp.csr_array((4, 0)), "empty"),
        (np.arange(4.0), "1 dimension"),
        (np.zeros((4, 2, 1)), "3 dimension"),
        (3.0, "dimension"),
        (np.ma.masked_greater(GOOD, 3), "masked"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_data_is_refused(X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ss.Problem(X, [0, 1, 0, 1])


@pytest.mark.parametrize(
    "X",
    [GOOD.astype(complex), GOOD.astype(str), GOOD.astype(object), "words", None, sp.csr_array(GOOD).astype(complex)],
    ids=lambda X: type(X).__name__,
)
def test_data_that_are_not_real_numbers_are_refused(X: Any) -> None:
    with pytest.raises(TypeError, match="real numbers"):
        ss.Problem(X, [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 0], "3 labels, X has 4"),
        ([0, 1, 0, 1, 0], "5 labels"),
        ([1, 1, 1, 1], "one class only"),
        ([0, 1, np.nan, 1], "not finite"),
        (["a", None, "b", "a"], "missing"),
        (np.array(["a", np.nan, "b", "a"], dtype=object), "sample 1"),
        (np.array([1, "a", 2, 3], dtype=object), "different kinds"),
        (np.zeros((4, 2, 2)), "one class label a sample"),
        ([0, 1j, 0, 1], "complex"),
        (None, "y is missing"),
    ],
)
def test_bad_labels_are_refused(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ss.Problem(GOOD, y)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"lam": 0.0}, ValueError, "positive"),
        ({"lam": -1e-3}, ValueError, "positive"),
        ({"lam": np.nan}, ValueError, "positive"),
        ({"lam": np.inf}, ValueError, "finite"),
        ({"lam": "much"}, ValueError, "positive number"),
        ({"loss": "logstic"}, ValueError, "did you mean 'logistic'"),
        ({"penalty": "l1/l3"}, ValueError, "did you mean 'l1/l"),
        ({"penalty": "nothing like it"}, KeyError, "known: "),
        ({"loss": 3}, TypeError, "not a loss"),
        ({"penalty": "l1"[:0]}, ValueError, "unknown penalty"),
        ({"loss": ss.penalties.Ridge()}, TypeError, "not a loss"),
        ({"penalty": ss.losses.Squared}, TypeError, "not a penalty"),
        ({"class_names": ["a"]}, ValueError, "1 class names"),
        ({"feature_names": ["a"]}, ValueError, "1 feature names for 2"),
    ],
)
def test_bad_settings_are_refused(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ss.Problem(GOOD, [0, 1, 0, 1], **given)


def test_labels_outside_the_named_classes_are_refused() -> None:
    for y in ([0, 1, 2, 0], [-1, 0, 1, 0], ["a", "b", "a", "b"]):
        with pytest.raises(ValueError, match=r"0…1"):
            ss.Problem(GOOD, y, class_names=["a", "b"])


def test_labels_beside_a_data_set_are_refused() -> None:
    data = ss.datasets.load("iris")
    with pytest.raises(ValueError, match="carries its labels"):
        ss.Problem(data, data.y)


def test_bad_points_are_refused() -> None:
    problem = ss.Problem(GOOD, [0, 1, 0, 1])
    fitted = ss.Problem(GOOD, [0, 1, 0, 1], intercept=True)
    with pytest.raises(ValueError, match=r"W has shape \(3, 2\)"):
        problem.objective(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="not finite"):
        problem.gap(np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="no intercept"):
        problem.objective(np.zeros((2, 2)), np.zeros(2))
    with pytest.raises(ValueError, match=r"b has shape \(3,\)"):
        fitted.violation(np.zeros((2, 2)), np.zeros(3))
    with pytest.raises(ValueError, match="3 features, the problem 2"):
        problem.predict(np.zeros((2, 2)), X=np.zeros((5, 3)))


def test_prediction_takes_the_largest_score_of_any_samples() -> None:
    problem = ss.Problem(GOOD, [0, 1, 0, 1], intercept=True)
    W, b = np.array([[1.0, -1.0], [0.0, 2.0]]), np.array([0.5, 0.0])
    other = np.array([[1.0, 0.0], [0.0, 1.0], [5.0, 1.0]], dtype=np.float32)
    np.testing.assert_array_equal(problem.predict(W, b, other), [0, 1, 0])
    np.testing.assert_array_equal(problem.predict(W, b, sp.csr_array(other)), [0, 1, 0])
    np.testing.assert_allclose(problem.scores(W, b, other), other @ W + b)
