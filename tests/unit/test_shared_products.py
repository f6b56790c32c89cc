"""A certificate leaves the product that it made to the step after it, and changes nothing of the run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import digits
from sparsescope.inputs.design import Design
from sparsescope.runs.stopping import Iterations


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csc"])
@pytest.mark.parametrize("solver", ["sparsa", "working-set"])
def test_a_certificate_leaves_its_product_to_the_next_step(
    solver: str, sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = digits()
    problem = ss.Problem(sp.csc_array(X) if sparse else X, y, lam_ratio=0.05)
    calls, product = [], Design.rmatmul_blocks

    def counted(design: Design, *args: Any) -> Any:
        calls.append(1)
        return product(design, *args)

    monkeypatch.setattr(Design, "rmatmul_blocks", counted)
    found = {}
    for every in (1, 10**9):
        run = ss.Run(problem, solver, stop=Iterations(20), certify_every=every)
        run.warm_up()
        calls.clear()
        event = list(run)[-1]
        assert run.state is not None
        found[every] = len(calls), run.state.weights(), event.objective
    # Its own product has a certificate at the end, and after each Newton step; how many of the steps those are is up to
    # the solver, but never all of the twenty: the first ones are sweeps.
    more = {"sparsa": 1, "working-set": 18}[solver]
    assert found[1][0] <= found[10**9][0] + more
    np.testing.assert_array_equal(found[1][1], found[10**9][1])
    known, own = problem.certificate(found[1][1]), run.certificate()
    for name in ("objective", "violation", "violation_sum", "paper_violation_sum"):
        assert getattr(own, name) == pytest.approx(getattr(known, name), rel=1e-9)
