"""Rows of a gradient that are proved to have no part in a certificate are left out, and nothing else changes."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from sparsescope.inputs.design import Design
from sparsescope.problems.certificate import Workspace, certify
from sparsescope.problems.screened_gradient import ScreenedGradient
from sparsescope.runs.stopping import Iterations

DATA = ss.datasets.make_text(80, 400, 4, seed=1)


def text(**settings: Any) -> ss.Problem:
    """Words of four classes, most of them of no use."""
    return ss.Problem(DATA, **{"lam_ratio": 0.2, **settings})


def test_rows_left_out_have_a_level_below_lam() -> None:
    problem, screen, rng = text(), ScreenedGradient(), np.random.default_rng(0)
    U, X = rng.standard_normal((problem.n, problem.m)), problem.design.matrix
    problem = problem.with_lam(float(np.median(np.linalg.norm(X.T @ U, axis=1))) / problem.n)
    nothing = np.zeros(problem.d, dtype=bool)
    assert not screen.learns(problem) and screen.learns(problem), "who looks once pays nothing"
    assert screen.worth(problem, U, nothing) is None
    problem.regulariser.levels(X.T @ U, 1.0 / problem.n, screen.levels)
    screen.know(U)
    for size in (1e-6, 1e-3, 0.1, 10.0):
        V = U + size * rng.standard_normal(U.shape)
        rows = screen.rows(problem, V, nothing)
        assert rows is not None
        levels = np.linalg.norm(X.T @ V, axis=1) / problem.n
        assert np.isin(np.flatnonzero(levels > problem.lam), rows).all()
        np.testing.assert_allclose(screen.product(V, rows), (X.T @ V)[rows], atol=1e-12)
        if size == 1e-6:
            assert rows.size < 0.7 * problem.d
    assert screen.rows(text(penalty="l1/linf"), U) is None, "levels of another penalty"


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("loss", "penalty"), [("logistic", "elastic-net"), ("multiclass-squared-hinge", "l1/l2")])
def test_certificates_along_a_run_are_those_of_their_points(loss: str, penalty: str, intercept: bool) -> None:
    problem = text(loss=loss, penalty=penalty, intercept=intercept)
    best = ss.solve(problem, tol=1e-8)
    rng, work, skipped = np.random.default_rng(1), Workspace(problem), 0
    for size in np.geomspace(1e-1, 1e-6, 8):
        coef = problem.coefficients(best.W * (1.0 + size * rng.standard_normal(best.W.shape)), best.b)
        Z = problem.design.matmul(coef, np.empty((problem.n, problem.m)))
        found, alone = certify(problem, coef, Z, work), certify(problem, coef, Z, Workspace(problem))
        for part in fields(found):
            known = getattr(alone, part.name)
            assert getattr(found, part.name) == pytest.approx(known, rel=1e-9, abs=1e-13, nan_ok=True), part.name
        rows = work.screen.rows(problem, work.U)
        skipped += rows is not None and rows.size < problem.d
    assert skipped, "some rows were left out"


def test_a_watched_run_reads_few_columns_and_is_the_run_that_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, read, product = text(lam_ratio=0.1), [], Design.rmatmul_blocks

    def counted(design: Design, *given: Any) -> Any:
        read.append(1)
        return product(design, *given)

    monkeypatch.setattr(Design, "rmatmul_blocks", counted)
    found = []
    for every in (1, 10**9):
        run = ss.Run(problem, "working-set", stop=Iterations(25), certify_every=every)
        run.warm_up()
        read.clear()
        last = list(run)[-1]
        assert run.state is not None
        found.append(run.state.weights())
        if every == 1:
            assert len(read) <= 15, "certificates of 26 points took whole products"
    np.testing.assert_array_equal(*found)
    for penalty in ("l1/linf", "l1/l2"):  # what is known belongs to one penalty
        run.change(penalty=penalty)
        run.advance()
    run.change(lam_ratio=0.05)
    known, own = run.problem.certificate(run.state.weights()), run.observe(certify_now=True)
    assert last.certified
    for name in ("violation", "violation_sum", "dual"):
        assert getattr(own, name) == pytest.approx(getattr(known, name), rel=1e-9)
