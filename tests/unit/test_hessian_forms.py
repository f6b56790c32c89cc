"""Short forms of Hessians in the exact model, diagonals and factors: steps on it are those with whole ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import first_model, whole_hessians
from sparsescope.kernels.coordinates import FLOPS, REPORT
from sparsescope.runs.stopping import Gap
from sparsescope.solvers.shared import exact_model
from sparsescope.solvers.shared.exact_model import ExactModel
from sparsescope.solvers.shared.rows_or_entries import prefers_rows

SEPARABLE = ("squared", "multitask-squared-hinge")
CLASSES = exact_model.FACTORED_FROM + 1
WIDTHS = {"squared": 1, "multitask-squared-hinge": 1, "logistic": 2, "multiclass-squared-hinge": CLASSES}


def made(dense: bool, loss: str = "squared", share: float = 0.1, **parts: Any) -> ss.Problem:
    rng = np.random.default_rng(4)
    y = np.arange(90) % CLASSES
    X = rng.poisson(np.exp(rng.normal(-1.0, 0.7, (CLASSES, 25)))[y]).astype(float)
    parts = {"penalty": "l1", "intercept": True} | parts
    return ss.Problem(X if dense else sp.csc_array(X), y, loss=loss, lam_ratio=share, **parts)


def pair(problem: ss.Problem) -> tuple[Any, list[ExactModel]]:
    """A working set of all entries after a step, and two models there: with the short form of Hessians, of samples with
    random weights, and with whole matrices."""
    state, _, part = first_model(problem)
    rng = np.random.default_rng(5)
    weights = rng.uniform(0.5, 2.0, (problem.n, 1))
    state.model.C[:, :, 0] *= weights
    state.model.C[:, :, 1:] *= np.sqrt(weights[:, :, None])
    whole = ExactModel(problem)
    whole.C = np.array(whole_hessians(state.model.C), order="C" if problem.design.is_sparse else "F")
    whole.R, whole.made = state.model.R.copy(order="K"), state.model.made.copy()
    return part, [state.model, whole]


def follow(model: ExactModel, problem: ss.Problem, part: Any, monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """Sweeps, conjugate gradients and sweeps over Gram matrices, each from where the sweeps end."""
    monkeypatch.setattr(type(problem.loss), "separable", model.C.shape[2] == 1)
    new, report = part.w.copy(), np.zeros(REPORT)
    place = model.walk(problem, part, 7)
    model.sweep(problem, part, new, report, sweeps=4, share=0.0, floor=1e-13, margin=0.01, place=place)
    found = [new.copy(), model.R.copy()]
    for step in ("conjugate", "gram"):
        at = new.copy()
        if step == "conjugate":
            model.conjugate(problem, part, at, 12, 1e-10, report)
        else:
            model.descend_on_gram(problem, part, at, 1e-10, 3, report)
        found.append(at)
    return found


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("penalty", ["l1", "elastic-net"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_short_forms_lead_where_whole_hessians_do(
    dense: bool, intercept: bool, penalty: str, loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = made(dense, loss, intercept=intercept, penalty=penalty)
    part, models = pair(problem)
    assert models[0].C.shape == (90, CLASSES, WIDTHS[loss])
    apart, whole = (follow(model, problem, part, monkeypatch) for model in models)
    assert np.abs(apart[0] - part.w).max() > 1e-3, "sweeps move it"
    for one, other in zip(apart, whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)


def test_a_move_costs_its_column_once() -> None:
    problem = made(False, intercept=False)
    part, models = pair(problem)
    spent = []
    for model in models:
        new, report = part.w.copy(), np.zeros(REPORT)
        place = model.walk(problem, part, 7)
        model.sweep(problem, part, new, report, sweeps=1, share=0.0, floor=0.0, margin=-1.0, place=place)
        spent.append(report[FLOPS])
    moves = np.diff(problem.design.matrix.indptr).max() * part.at.size
    assert 0 < spent[1] - spent[0] <= 2.0 * (CLASSES - 1) * moves, "each of the other scores takes two flops a number"


@pytest.mark.parametrize("loss", SEPARABLE)
@pytest.mark.parametrize("dense", [False, True])
def test_gram_matrices_of_single_scores_cost_less_than_one_of_all(loss: str, dense: bool) -> None:
    problem = made(dense, loss)
    part, (apart, whole) = pair(problem)
    costs = [model.gram_cost(problem, part, part.w) for model in (apart, whole)]
    calls = exact_model.CALL * CLASSES / (exact_model.DENSE_ENTRY if dense else exact_model.SPARSE_ENTRY)
    assert 0.0 < costs[0] < costs[1] < np.inf, "a part of the flops, and no products of pairs of scores"
    read = part.reads(problem.design)[exact_model.moving(part, part.w)].sum()
    assert costs[0] > calls / read, "a matrix for each of them"


@pytest.mark.parametrize("loss", WIDTHS)
@pytest.mark.parametrize("dense", [False, True])
def test_it_ends_where_sweeps_over_rows_do(loss: str, dense: bool) -> None:
    problem = made(dense, loss, 0.03)
    found = ss.solve(problem, "newglmnet", tol=1e-9, max_iter=1000)
    other = ss.solve(problem, "bcd-ls", tol=1e-9, max_iter=10**5)
    assert found.converged and other.converged
    assert found.objective == pytest.approx(other.objective, rel=1e-8)


@pytest.mark.parametrize("dense", [False, True])
def test_the_loss_may_change_from_a_sum_over_scores_to_another_and_back(dense: bool) -> None:
    run = ss.Run(made(dense), "newglmnet", stop=Gap(1e-8))
    widths = []
    for loss in WIDTHS:
        run.change(loss=loss)
        for event in run:
            last = event
        assert last.relative_gap <= 1e-8
        widths.append(run.state.model.C.shape[2])
    assert widths == list(WIDTHS.values())


def test_rows_are_for_hinges_without_an_intercept_where_x_is_sparse() -> None:
    """Measured on 45 problems: elsewhere single entries are up to eight times as fast."""
    rng = np.random.default_rng(0)
    X, y = sp.csc_array(rng.poisson(0.1, (1500, 900)).astype(float)), np.arange(1500) % 20

    def rows(loss: str, intercept: bool, penalty: str = "elastic-net") -> bool:
        return prefers_rows(ss.Problem(X, y, loss=loss, penalty=penalty, lam=0.01, intercept=intercept))

    assert rows("multitask-squared-hinge", False) and rows("multiclass-squared-hinge", True)
    assert not rows("multitask-squared-hinge", True)
    assert not rows("squared", False) and not rows("squared", True)


def test_a_weak_ridge_keeps_the_logistic_loss_on_words_with_single_entries() -> None:
    rng = np.random.default_rng(0)
    X, y = sp.csc_array(rng.poisson(0.1, (1500, 900)).astype(float)), np.arange(1500) % 20
    for loss, rho, rows in (
        ("logistic", 0.8, False),
        ("logistic", 0.5, True),
        ("logistic", 1.0, False),
        ("multiclass-squared-hinge", 0.8, True),
    ):
        penalty = ss.penalties.ElasticNet(rho=rho)
        assert prefers_rows(ss.Problem(X, y, loss=loss, penalty=penalty, lam=0.01)) == rows


@pytest.mark.parametrize(
    ("loss", "penalty", "few", "many"),
    [
        ("multiclass-squared-hinge", "elastic-net", 1200, 1600),
        ("multiclass-squared-hinge", "l1", 2000, 3000),
        ("logistic", "elastic-net", 600, 1100),
    ],
)
def test_few_scores_of_words_are_for_single_entries(loss: str, penalty: str, few: int, many: int) -> None:
    """20 classes and 3000 words: more samples make passes over rows worth while."""
    for n, rows in ((few, False), (many, True)):
        X = sp.csr_array(sp.random(n, 3000, 0.005, random_state=0))
        assert prefers_rows(ss.Problem(X, np.arange(n) % 20, loss=loss, penalty=penalty, lam=0.01)) is rows


def test_with_many_classes_dense_columns_that_go_together_are_for_single_entries() -> None:
    rng = np.random.default_rng(1)
    factors = rng.standard_normal((600, 3)) @ rng.standard_normal((3, 40))
    X, y = factors + 0.1 * rng.standard_normal(factors.shape), np.arange(600) % 30
    for loss, found in (("multitask-squared-hinge", False), ("logistic", False), ("multiclass-squared-hinge", True)):
        assert prefers_rows(ss.Problem(X, y, loss=loss, penalty="l1", lam_ratio=0.1)) == found
