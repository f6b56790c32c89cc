"""`sparsescope solve`: what a run reached is kept, and gone on with after Ctrl-C, a crash or a limit."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope import cli
from sparsescope.runs import continuing


def run(*arguments: str) -> int:
    return cli.main(list(arguments))


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    capsys.readouterr()
    assert run(*arguments, "--json") in (cli.DONE, cli.UNCERTIFIED)
    (line,) = capsys.readouterr().out.splitlines()
    found: dict[str, object] = json.loads(line)
    return found


@pytest.mark.parametrize(
    ("data", "extra"),
    [("iris", ["--solver", "fista-ls"]), ("iris", ["--intercept", "--solver", "bcd-ls", "--lam-ratio", "0.01"]),
     ("pydocs", ["--lam-ratio", "0.1"])],
)  # fmt: skip
def test_a_run_goes_on_where_it_stands(
    data: str, extra: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.npz"
    arguments = ["solve", data, "--tol", "1e-3", *extra]
    first = answer(capsys, *arguments, "--max-iter", "3", "--save", str(file))
    assert first["iterations"] == 3 and not first["converged"]
    second = answer(capsys, *arguments, "--resume", str(file))
    assert second["converged"] and second["objective"] <= first["objective"]
    trace = ss.Trace.load(file)
    iterations = trace["iteration"]
    assert iterations[-1] == second["iterations"] and (np.diff(iterations) > 0).all()  # counted on, nothing twice
    assert (np.diff(trace["seconds"]) >= 0).all()
    assert [mark.text for mark in trace.marks] == ["resumed at iteration 3"]
    before = trace["objective"][iterations <= 3][-1]
    assert trace["objective"][iterations > 3][0] <= before * (1 + 1e-9)  # from that point, and not from zero


def test_a_solver_that_begins_at_a_dual_point_says_that_it_cannot_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.npz"
    arguments = ["solve", "wine", "--solver", "pd-sparse", "--loss", "crammer-singer", "--penalty", "elastic-net"]
    assert run(*arguments, "--tol", "1e-12", "--max-iter", "3", "--save", str(file)) == cli.UNCERTIFIED
    content = file.read_bytes()
    assert run(*arguments, "--resume", str(file)) == cli.FAILED
    assert "pd-sparse cannot begin at given weights" in capsys.readouterr().err
    assert file.read_bytes() == content
    assert run(*arguments[:2], "--solver", "auto", *arguments[4:], "--resume", str(file)) == cli.DONE  # another one can


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (["iris", "--penalty", "l1"], "with penalty L1L2"),
        (["iris", "--lam-ratio", "0.2"], "with lam "),
        (["wine"], "with dataset iris, and the arguments say wine"),
        (["iris", "--intercept"], "with intercept False"),
    ],
)
def test_a_run_of_another_problem_is_refused_and_left_as_it_was(
    changed: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.npz"
    run("solve", "iris", "--max-iter", "2", "--save", str(file))
    content = file.read_bytes()
    capsys.readouterr()
    assert run("solve", *changed, "--resume", str(file)) == cli.FAILED
    out, err = capsys.readouterr()
    assert words in err and "give the same data and arguments" in err and not out
    assert file.read_bytes() == content


def test_files_that_cannot_be_gone_on_with_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = ss.solve(ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1), max_iter=2, tol=0)
    assert result.trace is not None
    result.trace.save(tmp_path / "trace.npz")
    (tmp_path / "noise.npz").write_bytes(b"PK\x03\x04 noise")
    for name, words in (
        ("trace.npz", "without the point where the run stands"),
        ("noise.npz", "is not a trace saved by sparsescope"),
        ("nothing.npz", "nothing.npz"),
    ):
        assert run("solve", "iris", "--resume", str(tmp_path / name)) == cli.FAILED
        assert words in capsys.readouterr().err
    assert run("solve", "iris", "--resume", "a", "--save", "b") == cli.FAILED
    assert "--save or --resume, not both" in capsys.readouterr().err


def test_a_damaged_point_is_refused() -> None:
    W = sp.random(5, 3, density=0.4, format="csr", random_state=np.random.default_rng(0))
    good = {"point_at": np.array([3.0, 3.0, 0.1]), "point_shape": np.array([5, 3]), "point_data": W.data,
            "point_indices": W.indices, "point_indptr": W.indptr}  # fmt: skip
    found = continuing.point_in(good)
    assert found is not None and found.iteration == 3 and (found.W != W).nnz == 0
    assert continuing.point_in({"table": np.zeros(3)}) is None
    for name, value in (
        ("point_at", np.array([1.0])),
        ("point_at", np.array([np.nan, 1.0, 1.0])),
        ("point_shape", np.array([5])),
        ("point_indices", W.indices + 100),
        ("point_indptr", W.indptr[:-1]),
        ("point_data", W.data * np.inf),
        ("point_b", np.zeros(7)),
    ):
        with pytest.raises(ValueError, match="point that is kept in the file is damaged"):
            continuing.point_in(good | {name: value})


def test_standard_input_a_label_column_and_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = "kind,a,b\n" + "".join(f"{'xyz'[k % 3]},{k % 3 + k / 50},{(k * 7) % 5}\n" for k in range(40))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(table.encode())))
    found = answer(capsys, "solve", "-", "--target", "kind", "--tol", "1e-4")
    assert found["converged"] and found["d"] == 2 and set(found["support"]) <= {"a", "b"}  # type: ignore[call-overload]


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent as a POSIX signal")
def test_ctrl_c_keeps_the_run_and_it_goes_on(tmp_path: Path) -> None:
    # A program inherits that Ctrl-C is ignored, as it is where these tests run in the background of a shell.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    file = tmp_path / "run.npz"
    arguments = ["solve", "digits", "--lam-ratio", "0.001", "--solver", "ista"]
    endless = [*arguments, "--tol", "1e-12", "--max-iter", "10000000", "--save", str(file)]
    process = subprocess.Popen(
        [sys.executable, "-m", "sparsescope", *endless], stdout=subprocess.PIPE, text=True, env={**os.environ}
    )
    signal.signal(signal.SIGINT, before)
    assert process.stdout is not None
    for line in process.stdout:
        if line.split()[:1] == ["10"]:
            break
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == cli.INTERRUPTED and "interrupted after" in out
    reached = int(ss.Trace.load(file)["iteration"][-1])
    assert reached >= 10
    assert run(*arguments, "--tol", "0.5", "--max-iter", "20", "--resume", str(file)) in (cli.DONE, cli.UNCERTIFIED)
    assert ss.Trace.load(file)["iteration"][-1] > reached
