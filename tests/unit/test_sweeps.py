"""Sweeps: one table from all places, nothing computed twice, failures as rows, processes that are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_cli import run

import sparsescope as ss
from sparsescope import cli
from sparsescope.sweeps import folder as folders
from sparsescope.sweeps import places
from sparsescope.sweeps import run as runs
from sparsescope.sweeps.tasks import Given
from sparsescope.sweeps.work import failed, work
from waiting import until

TIMED = ["seconds"]  # of all columns the only one that a repetition changes


@pytest.fixture(scope="module")
def problems() -> dict[str, Any]:
    data = ss.datasets.load("iris")
    smooth = ss.Problem(data, penalty="l1/l2")
    return {"smooth": smooth, "kinks": smooth.with_(loss="crammer-singer")}


def asked(problems: Any, **options: Any) -> ss.SweepRun:
    """The same small sweep in all tests: 2 problems × 2 λ × (bcd-ls, fobos with 2 seeds); bcd-ls refuses kinks."""
    given = {"lam_ratio": [0.5, 0.1], "solvers": {"bcd": ss.solvers.BCD(), "fobos": "fobos"}, "seeds": 2}
    return ss.SweepRun(problems, **{**given, "max_iter": 60, "tol": 1e-4, **options})


def table(found: ss.Sweep) -> pd.DataFrame:
    return found.to_frame().drop(columns=TIMED)


def test_a_sweep_is_a_row_for_each_combination_and_agrees_with_solve(problems: dict[str, Any]) -> None:
    test = ss.datasets.load("iris").test
    found = ss.sweep(
        problems["smooth"], lam_ratio=[0.5, 0.1], solvers=["bcd-ls", "fista-ls"], seeds=[3], test=test, tol=1e-5
    )
    rows = found.to_frame()
    assert list(rows["solver"]) == ["bcd-ls", "fista-ls"] * 2 and found.complete and found.converged
    for row in found.rows:
        problem = problems["smooth"].with_(lam_ratio=row["lam_ratio"])
        settings = {} if row["seed"] is None else {"seed": row["seed"]}
        alone = ss.solve(problem, row["solver"], tol=1e-5, test=test, **settings)
        assert row["lam"] == problem.lam and row["objective"] == alone.objective
        assert row["relative_gap"] == alone.relative_gap and row["iterations"] == alone.iterations
        assert row["nonzero_rows"] == alone.support.size == (np.abs(alone.W).max(axis=1) > 0).sum()
        assert row["test_accuracy"] == alone.trace["test_accuracy"][-1]
    assert rows["seed"].dtype == "Int64" and rows["seed"].isna().tolist() == [False, True] * 2
    best = found.best()
    assert best is not None and best["test_accuracy"] == rows["test_accuracy"].max()
    assert found.best("objective")["lam_ratio"] == 0.1
    with pytest.raises(ValueError, match="no such column"):
        found.best("error")


def test_what_a_solver_refuses_is_a_row_with_its_sentence(problems: dict[str, Any], tmp_path: Path) -> None:
    found = asked(problems, folder=tmp_path).run()
    refused = [row for row in found.rows if row["problem"] == "kinks" and row["solver"] == "bcd"]
    assert refused and tuple(refused) == found.failures and not found.converged and found.complete
    assert all("smooth loss" in row["error"] and np.isnan(row["objective"]) for row in refused)
    again = asked(problems, folder=tmp_path).run()
    assert again.reused == again.total, "a refusal would be the same again"
    pd.testing.assert_frame_equal(found.to_frame(), again.to_frame())


def test_other_failures_are_tried_again(problems: dict[str, Any], tmp_path: Path, monkeypatch: Any) -> None:
    def out_of_memory(*given: Any, **options: Any) -> None:
        raise MemoryError("no room")

    with monkeypatch.context() as patched:
        patched.setattr("sparsescope.sweeps.work.solve", out_of_memory)
        found = asked(problems, folder=tmp_path).run()
    assert {row["error"] for row in found.rows} == {"MemoryError: no room"}
    again = asked(problems, folder=tmp_path).run()
    assert again.reused == 0 and any(not row["error"] for row in again.rows)


def test_a_worker_of_another_version_refuses(problems: dict[str, Any]) -> None:
    order = asked(problems).tasks[0].order
    other = type(order)(**{**{name: getattr(order, name) for name in vars(order)}, "version": "0.0.0"})
    outcome = work(Given(problems["smooth"]), other)
    assert outcome is not None and "install the same" in outcome["error"] and not outcome["final"]


def test_results_are_kept_by_content_and_nothing_is_done_twice(
    problems: dict[str, Any], tmp_path: Path, monkeypatch: Any
) -> None:
    done: list[str] = []

    def counted(given: Any, order: Any, between: Any) -> Any:
        done.append(order.key)
        return work(given, order, between)

    monkeypatch.setattr(places, "work", counted)
    first = asked(problems["smooth"], folder=tmp_path, lam_ratio=0.5).run()
    assert len(done) == first.total
    everything = asked(problems, folder=tmp_path).run()
    assert everything.reused == first.total and len(done) == everything.total == len(set(done))
    X, y = ss.datasets.load("iris").X.copy(), ss.datasets.load("iris").y
    for other in (
        {"tol": 2e-4},
        {"solvers": {"bcd": ss.solvers.BCD(backtrack=0.4), "fobos": ss.solvers.FOBOS(eta0=0.3)}},
        {"seeds": [7, 8]},
        {"test": (X, y)},
    ):
        assert asked(problems, **other, folder=tmp_path).done == 0, other
    X[0, 0] += 1e-9
    moved = ss.Problem(X, y).with_lam(problems["smooth"].lam)
    assert asked(moved, folder=tmp_path, lam_ratio=None, lam=[first.rows[0]["lam"]]).done == 0
    renamed = asked({"another name": problems["smooth"]}, folder=tmp_path)
    assert renamed.done == renamed.total, "a name is not content"


def test_damaged_results_are_computed_again(problems: dict[str, Any], tmp_path: Path) -> None:
    found = asked(problems, folder=tmp_path).run()
    files = sorted((tmp_path / folders.RESULTS).iterdir())
    files[0].write_bytes(files[0].read_bytes()[:40])
    files[1].write_text("[" * 100_000)
    files[2].write_text(json.dumps({"key": files[2].stem, "outcome": {"error": {"a": 1}}}))
    files[3].write_text(files[4].read_text())
    again = asked(problems, folder=tmp_path)
    assert again.done == again.total - 4
    pd.testing.assert_frame_equal(table(again.run()), table(found))
    assert ss.Sweep.load(tmp_path).complete
    (tmp_path / folders.PLAN).write_text('{"format": 99, "tasks": []}')
    with pytest.raises(ValueError, match="format 99"):
        ss.Sweep.load(tmp_path)
    with pytest.raises(ValueError, match="holds no sweep"):
        ss.Sweep.load(tmp_path / "nowhere")


def test_the_table_grows_and_an_interrupt_returns_what_is_there(
    problems: dict[str, Any], tmp_path: Path, monkeypatch: Any
) -> None:
    steps = asked(problems, folder=tmp_path)
    rows = iter(steps)
    for count in (1, 2, 3):
        next(rows)
        assert len(steps.result().rows) == len(ss.Sweep.load(tmp_path).rows) == count
    rows.close()

    def pressed(*given: Any) -> Any:
        return None  # what a task returns that Ctrl-C has ended

    with monkeypatch.context() as patched:
        patched.setattr(places, "work", pressed)
        found = asked(problems, folder=tmp_path).run()
    assert len(found.rows) == 3 and not found.complete and "3 of" in found.message and "goes on" in found.message
    assert asked(problems, folder=tmp_path).run().complete


def test_tasks_of_processes_that_end_are_tried_again_and_a_culprit_is_named(
    problems: dict[str, Any], monkeypatch: Any
) -> None:
    steps = asked(problems)
    orders = [task.order for task in steps.tasks]
    culprit, started = orders[2].key, []

    def broken(given: Any, todo: list[Any], n_jobs: Any, under_way: dict[str, None], between: Any) -> Iterator[Any]:
        started.append(len(todo))
        for at, order in enumerate(todo):
            under_way.update(dict.fromkeys(one.key for one in todo[at : at + 2]))  # two workers
            if culprit in under_way:
                raise BrokenProcessPool
            yield order.key, failed("done", final=True)

    monkeypatch.setattr(places, "_started", broken)
    found = dict(places.at_home({}, orders, 2))
    assert set(found) == {order.key for order in orders}
    assert [key for key, outcome in found.items() if outcome["error"] != "done"] == [culprit]
    assert "ended abruptly" in found[culprit]["error"] and not found[culprit]["final"]
    assert started[0] == len(orders) and set(started[1:4]) == {1}, "suspects are tried alone"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lam": 0.1, "lam_ratio": 0.1}, "both"),
        ({"lam_ratio": [0.1, 0.1]}, "asked for twice"),
        ({"lam_ratio": 0.0}, "above 0"),
        ({"solvers": "no-solver"}, "unknown solver"),
        ({"solvers": []}, "solvers is empty"),
        ({"seeds": 0}, "seeds"),
        ({"tol": -1.0}, "tol"),
        ({"test": {"other": (1, 2)}}, "test names other"),
        ({"client": "tcp://x:1", "n_jobs": 2}, "one of them"),
    ],
)
def test_wrong_arguments_get_a_sentence(problems: dict[str, Any], options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        asked(problems, **options)


def test_the_command_writes_what_python_finds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("sweep", "iris", "--lam-ratio", "0.5", "0.1", "--solver", "bcd-ls", "fista-ls", "--tol", "1e-5")
    out = tmp_path / "sweep.parquet"
    assert run(*given, "--folder", str(tmp_path / "kept"), "--out", str(out)) == cli.DONE
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 6 and "4 of 4" in said[-2] and said[-1].startswith("best: ")
    assert run(*given, "--folder", str(tmp_path / "kept"), "--json") == cli.DONE
    found = json.loads(capsys.readouterr().out)
    assert found["reused"] == found["total"] == len(found["rows"]) == 4
    data = ss.datasets.load("iris")
    expected = ss.sweep(
        ss.Problem(data), lam_ratio=[0.5, 0.1], solvers=["bcd-ls", "fista-ls"], tol=1e-5, test=data.test
    )
    assert [row["objective"] for row in found["rows"]] == [row["objective"] for row in expected.rows]
    assert found["best"]["key"] == expected.best()["key"]
    pd.testing.assert_frame_equal(
        pd.read_parquet(out).drop(columns=["problem", *TIMED]), table(expected).drop(columns="problem")
    )


def test_the_command_has_its_exit_codes(monkeypatch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    few = ("sweep", "iris", "--max-iter", "1")
    assert run(*few, "--solver", "ista") == cli.UNCERTIFIED
    assert run(*few, "--loss", "crammer-singer", "--solver", "bcd-ls") == cli.FAILED
    assert "smooth" in capsys.readouterr().out
    assert run(*few, "--solver", "nonsense") == cli.FAILED
    assert run(*few, "--jobs", "2", "--scheduler", "tcp://x:1") == cli.USAGE
    monkeypatch.setattr(places, "work", lambda *given: None)
    assert run(*few) == cli.INTERRUPTED
    assert "0 of 1" in capsys.readouterr().out


# -------------------------------------------------------------------------------------------- processes that are killed
DRIVER = """
import sys
import sparsescope as ss
from sparsescope.sweeps import SweepRun
problem = ss.Problem(ss.datasets.load("iris"))
for row in SweepRun(problem, lam_ratio=[0.5, 0.3, 0.2, 0.1], solvers="fista-ls", folder=sys.argv[1]):
    print(row["key"], flush=True)
    sys.stdin.readline()
"""


@pytest.mark.slow
def test_a_sweep_whose_driver_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    started = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert started.stdin is not None and started.stdout is not None
    seen = [started.stdout.readline().strip()]
    started.stdin.write("\n")
    started.stdin.flush()
    seen.append(started.stdout.readline().strip())
    started.kill()
    started.wait()
    kept = {path.stem for path in (tmp_path / folders.RESULTS).glob("*.json")}
    assert set(seen) == kept and len(kept) == 2
    problem = ss.Problem(ss.datasets.load("iris"))
    options: dict[str, Any] = {"lam_ratio": [0.5, 0.3, 0.2, 0.1], "solvers": "fista-ls"}
    resumed = ss.SweepRun(problem, **options, folder=tmp_path)
    assert resumed.reused == 2
    pd.testing.assert_frame_equal(table(resumed.run()), table(ss.sweep(problem, **options)))


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_in_a_terminal_keeps_what_is_done(jobs: str, tmp_path: Path) -> None:
    given = ["sweep", "digits", "--lam-ratio", "0.9", "0.01", "0.02", "--solver", "ista", "--tol", "1e-12"]
    given += ["--max-iter", "1000000", "--jobs", jobs, "--folder", str(tmp_path)]
    started = subprocess.Popen(
        [sys.executable, "-m", "sparsescope", *given],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert started.stdout is not None
    first = started.stdout.readline()
    os.killpg(started.pid, signal.SIGINT)  # as a terminal sends it: to the workers too
    said, wrong = started.communicate(timeout=120)
    assert first.startswith("digits") and started.returncode == cli.INTERRUPTED, wrong
    assert "interrupted: 1 of 3 tasks are done" in said and not wrong
    assert len(ss.Sweep.load(tmp_path).rows) == 1


def larger() -> Any:
    """A problem whose fits take long enough for a worker to be killed between them."""
    rng = np.random.default_rng(0)
    return ss.Problem(rng.standard_normal((400, 400)), rng.integers(0, 3, 400), penalty="l1/l2")


MANY: dict[str, Any] = {"lam_ratio": list(np.geomspace(0.9, 0.2, 12)), "solvers": "fista-ls", "tol": 1e-5}


@pytest.mark.slow
def test_a_killed_process_of_this_machine_changes_nothing() -> None:
    from psutil import Process

    problem = larger()
    steps = ss.SweepRun(problem, **MANY, n_jobs=2)
    rows = iter(steps)
    next(rows)
    workers = [child for child in Process().children(recursive=True) if "loky" in " ".join(child.cmdline())]
    workers = [child for child in workers if "resource_tracker" not in " ".join(child.cmdline())]
    assert workers
    workers[0].kill()
    for _ in rows:
        pass
    found = steps.result()
    assert found.complete and not found.failures
    pd.testing.assert_frame_equal(table(found), table(ss.sweep(problem, **MANY)))


@pytest.mark.slow
def test_a_killed_worker_of_a_cluster_changes_nothing_and_data_are_sent_once_a_worker() -> None:
    distributed = pytest.importorskip("distributed")
    problem = larger()
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(_count_arrivals)
        steps = ss.SweepRun(problem, **MANY, client=client)
        rows = iter(steps)
        next(rows)
        pids = client.run(os.getpid)
        assert list(client.run(_arrivals).values()) == [1, 1]
        os.kill(next(iter(pids.values())), signal.SIGKILL)
        for _ in rows:
            pass
        found = steps.result()
        until(lambda: len(client.scheduler_info()["workers"]) == 2)
        assert set(client.run(_kept).values()) == {0}, "the data are forgotten when the sweep has ended"
        by_address = ss.sweep(problem, **{**MANY, "lam_ratio": 0.5}, client=cluster.scheduler_address)
        assert by_address.converged
    assert found.complete and not found.failures
    pd.testing.assert_frame_equal(table(found), table(ss.sweep(problem, **MANY)))


@pytest.mark.slow
def test_cross_validation_on_a_cluster_has_the_same_scores() -> None:
    distributed, joblib = pytest.importorskip("distributed"), pytest.importorskip("joblib")
    data = ss.datasets.load("wine")
    here = ss.SparseClassifierCV(n_lams=5, cv=4).fit(data.X, data.y)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config(backend="dask"),
    ):
        there = ss.SparseClassifierCV(n_lams=5, cv=4).fit(data.X, data.y)
        seen = client.run(lambda dask_worker: len(dask_worker.state.log))
    assert any(seen.values())
    np.testing.assert_array_equal(there.scores_, here.scores_)
    assert there.lam_ == here.lam_


def _count_arrivals() -> None:
    from sparsescope.sweeps import cluster

    class Counted(dict):  # type: ignore[type-arg]
        arrivals = 0

        def __setitem__(self, key: Any, value: Any) -> None:
            self.arrivals += 1
            super().__setitem__(key, value)

    cluster._here = Counted()


def _arrivals() -> int:
    from sparsescope.sweeps import cluster

    return int(cluster._here.arrivals)  # type: ignore[attr-defined]


def _kept() -> int:
    from sparsescope.sweeps import cluster

    return len(cluster._here)


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_named(monkeypatch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = pytest.importorskip("sparsescope.sweeps.cluster")
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    assert run("sweep", "iris", "--scheduler", "tcp://127.0.0.1:9") == cli.FAILED
    assert "no dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err


def test_without_the_package_a_cluster_is_refused_with_the_command(problems: dict[str, Any], monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "sparsescope.sweeps.cluster", raising=False)
    monkeypatch.delattr("sparsescope.sweeps.cluster", raising=False)
    steps = runs.SweepRun(problems["smooth"], client="tcp://127.0.0.1:9")
    with pytest.raises(ImportError, match="distributed, which is not installed: pip install"):
        list(steps)
