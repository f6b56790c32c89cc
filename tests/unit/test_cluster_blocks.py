"""Blocks of rows in the workers of a dask cluster: the optimum of one matrix, also when a worker is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from test_live_explorer import Page

import sparsescope as ss
from sparsescope.live import Explorer
from sparsescope.solvers.shared import by_passes
from waiting import until

distributed = pytest.importorskip("distributed")
BLOCKS = 16


def text(n: int = 6000, d: int = 12_000, m: int = 10) -> tuple[Any, np.ndarray]:
    """Generated in the shape of RCV1: tf-idf rows of length 1, some 75 words each, words as frequent as Zipf has it."""
    data = ss.datasets.make_text(n=n, d=d, m=m, length=75, seed=0)
    return sp.csr_array(data.X), np.asarray(data.y)


def cut(X: Any, y: np.ndarray, blocks: int = BLOCKS) -> Iterator[tuple[Any, np.ndarray]]:
    for rows in np.array_split(np.arange(X.shape[0]), blocks):
        yield X[rows[0] : rows[-1] + 1], y[rows]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as made,
        distributed.Client(made, set_as_default=False) as client,
    ):
        yield client


def test_blocks_on_a_cluster_in_this_process_give_the_same_numbers(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = sp.random_array((60, 30), density=0.3, format="csr", random_state=rng), rng.permutation(np.arange(60) % 3)
    parts = [X for X, _ in cut(X, y, 3)]
    ss.datasets.write_partitions(tmp_path / "p", cut(X, y, 3))
    here = ss.Problem(parts, y, lam_ratio=0.3)
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None, set_as_default=False
    ) as client:
        there = ss.Problem(parts, y, lam_ratio=0.3, client=client)
        U, W = rng.standard_normal((60, 3)), rng.standard_normal((30, 3))
        for one, other in (
            (here.design.products(U)[0], there.design.products(U)[0]),
            (here.design.matmul(W, np.empty((60, 3))), there.design.matmul(W, np.empty((60, 3)))),
            (here.design.take(np.array([3, 5])).toarray(), there.design.take(np.array([3, 5])).toarray()),
        ):
            np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)
        assert there.design._engine.count == 3 and there.lam == pytest.approx(here.lam, rel=1e-14)
        mapped = ss.Problem(ss.datasets.open(tmp_path / "p", client=client), lam=here.lam)
        found = ss.solve(mapped, "working-set", tol=1e-8)
        held = ss.Problem([client.submit(lambda part=part: part) for part in parts], y, lam=here.lam)
        assert held.design._engine.count == 3, "futures bring their client along"
    near = ss.solve(ss.Problem(X, y, lam=here.lam), "sparsa", tol=1e-8)
    assert found.converged and found.objective == pytest.approx(near.objective, rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("given", ["blocks", "folder", "dask"])
def test_sixteen_blocks_on_two_workers_have_the_optimum_of_one_matrix(cluster: Any, tmp_path: Path, given: str) -> None:
    X, y = text()
    near = ss.solve(ss.Problem(X, y, lam_ratio=0.1), tol=1e-10)
    if given == "folder":
        ss.datasets.write_partitions(tmp_path / "p", cut(X, y))
        problem = ss.Problem(ss.datasets.open(tmp_path / "p", client=cluster), lam_ratio=0.1)
    else:
        dask = pytest.importorskip("dask")
        parts = [dask.delayed(part) if given == "dask" else part for part, _ in cut(X, y)]
        problem = ss.Problem(parts, y, lam_ratio=0.1, client=cluster)
    assert problem.design.parts == BLOCKS
    far = ss.solve(problem, tol=1e-10)
    assert far.converged and far.reason.startswith("working-set")
    assert abs(far.objective - near.objective) <= 1e-8 * near.objective
    assert far.passes < 15


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["working-set", "sparsa"])
def test_a_worker_that_is_killed_in_mid_run_changes_nothing(cluster: Any, solver: str) -> None:
    X, y = text()
    tol = 1e-9 if solver == "working-set" else 1e-4
    near = ss.solve(ss.Problem(X, y, lam_ratio=0.1), tol=1e-10)
    problem = ss.Problem([part for part, _ in cut(X, y)], y, lam_ratio=0.1, client=cluster)
    run = ss.Run(problem, solver, stop=ss.stopping.Gap(tol))
    before = cluster.run(os.getpid)
    run.advance()
    run.advance()
    victim = next(iter(before.values()))
    os.kill(victim, signal.SIGKILL)
    last = list(run)[-1]
    assert last.relative_gap <= tol
    assert abs(last.objective - near.objective) <= max(tol, 1e-8) * near.objective
    until(lambda: len(cluster.scheduler_info(n_workers=-1)["workers"]) == 2)
    assert victim not in cluster.run(os.getpid).values(), "another worker took its place"
    # The sums do not depend on who works: with all workers there again they are the same to the last bit.
    U = np.ones((problem.n, 2))
    again = ss.Problem([part for part, _ in cut(X, y)], y, lam=problem.lam, client=cluster)
    np.testing.assert_array_equal(problem.design.products(U)[0], again.design.products(U)[0])


@pytest.mark.slow
def test_the_explorer_watches_a_run_on_a_cluster(cluster: Any) -> None:
    X, y = text(n=600, d=800, m=4)
    problem = ss.Problem([part for part, _ in cut(X, y, 4)], y, lam_ratio=0.3, client=cluster)
    near = ss.solve(ss.Problem(X, y, lam_ratio=0.3), tol=1e-8)
    explorer = Explorer(problem, {"solver": "auto"})
    page = Page(explorer)
    try:
        page.start()
        page.send("do", action="run")
        page.until(lambda: page.last()["mode"] == "finished", "the optimum")
        assert page.last()["status"]["objective"] == pytest.approx(near.objective, rel=1e-7)
        assert "certified" in page.last()["message"]
    finally:
        explorer.close()


@pytest.mark.slow
def test_columns_that_do_not_fit_into_this_process_stay_on_the_workers(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = text(n=600, d=800, m=4)
    near = ss.solve(ss.Problem(X, y, lam_ratio=0.3), tol=1e-6)
    monkeypatch.setattr(by_passes, "MOST_BYTES", 100)
    problem = ss.Problem([part for part, _ in cut(X, y, 4)], y, lam_ratio=0.3, client=cluster)
    far = ss.solve(problem, "working-set", tol=1e-4, max_iter=40)
    assert far.converged and far.objective == pytest.approx(near.objective, rel=1e-4)
