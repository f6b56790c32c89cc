"""The explorer on data in blocks: it watches the passes, and λ can be changed on the page."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from test_live_explorer import Page

import sparsescope as ss
from sparsescope.live import Explorer


def test_the_explorer_watches_a_run_by_passes_and_changes_lam() -> None:
    rng = np.random.default_rng(3)
    X = sp.random_array((120, 40), density=0.2, format="csr", random_state=rng)
    y = (X @ rng.standard_normal((40, 3))).argmax(axis=1)
    problem = ss.Problem([X[:50], X[50:]], y, lam_ratio=0.3)
    explorer = Explorer(problem, {"solver": "auto"})
    page = Page(explorer)
    try:
        page.start()
        assert explorer.session.problem.partitioned
        assert explorer.session.problem.lam == pytest.approx(problem.lam)
        for ratio in (0.3, 0.2):
            page.send("set", changes={"lam_ratio": ratio})
            page.send("do", action="run")
            page.rest("finished")
            assert page.last()["lam"] == pytest.approx(ratio * problem.lam_max)
            near = ss.solve(ss.Problem(X, y, lam_ratio=ratio), "sparsa", tol=1e-8)
            assert page.last()["status"]["objective"] == pytest.approx(near.objective, rel=1e-7)
            assert page.last()["status"]["passes"] < 30.0
        page.send("ask", kind="spectrum")
        page.until(lambda: page.of("answer"), "an answer")
        assert "blocks of rows" in json.dumps(page.of("answer")[-1]), "what needs one matrix says so"
    finally:
        explorer.close()
