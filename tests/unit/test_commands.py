"""The commands of sparsescope/commands: tables as text, JSON and files, standard input, interrupts, help."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from test_cli import run

import sparsescope as ss
from sparsescope import cli, commands
from sparsescope.runs import keeping

FEW = ("--n-lams", "4", "--ratio", "0.1")


@pytest.fixture
def table() -> str:
    """Iris as a CSV table."""
    from sklearn.datasets import load_iris

    data = load_iris(as_frame=True)
    return data.frame.assign(target=np.array(["a", "b", "c"])[data.target]).to_csv(index=False)


def given(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Put a text on standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


@pytest.mark.parametrize("name", commands.names())
def test_help_shows_examples_that_parse(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(name, "--help") == cli.DONE
    text = capsys.readouterr().out
    examples = re.findall(r"sparsescope (\w+ [^|>#\n]*)", text.split("examples:")[1])
    assert examples
    for line in examples:
        assert cli.make_parser().parse_args(line.split()).command == name


@pytest.mark.parametrize(
    "arguments",
    [("path",), ("path", "iris", "--out", "table.txt"), ("race", "iris"), ("path", "iris", "--ratio", "none")],
)
def test_wrong_use_has_its_exit_code(arguments: tuple[str, ...]) -> None:
    assert run(*arguments) == cli.USAGE


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("path", "nowhere"), "nowhere"),
        (("path", "iris", "--n-lams", "1"), "n_lams"),
        (("path", "iris", "--out", "no-such-folder/table.csv"), "there is no folder"),
        (("race", "iris", "no-solver"), "unknown solver"),
    ],
)
def test_wrong_data_get_a_sentence(arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*arguments) == cli.FAILED
    said = capsys.readouterr()
    assert words in said.err and len(said.err.splitlines()) == 1 and not said.out


def test_a_path_is_told_as_text_without_a_bar_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("path", "iris", *FEW) == cli.DONE
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[0].split()[:2] == ["lam", "nonzero_rows"] and len(lines) == 6 and "path done" in lines[-1]
    assert said.err == "" and "\x1b" not in said.out


def test_a_path_is_written_as_json_and_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, kept = tmp_path / "path.csv", tmp_path / "path.npz"
    assert run("path", "iris", *FEW, "--json", "--out", str(out), "--save", str(kept)) == cli.DONE
    found = json.loads(capsys.readouterr().out)
    read = pd.read_csv(out)
    assert [row["lam"] for row in found["rows"]] == pytest.approx(read["lam"].tolist())
    assert found["rows"][0]["test_precision_at_1"] is None, "NaN is no JSON"
    np.testing.assert_allclose(ss.Path.load(kept).lams, read["lam"])
    pytest.importorskip("pyarrow")
    assert run("path", "iris", *FEW, "--out", str(tmp_path / "path.parquet")) == cli.DONE
    np.testing.assert_allclose(pd.read_parquet(tmp_path / "path.parquet")["lam"], read["lam"])


def test_standard_input_is_a_table_or_svmlight(
    table: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given(monkeypatch, table)
    assert run("path", "-", "--target", "target", "--intercept", *FEW, "--json") == cli.DONE
    info = json.loads(capsys.readouterr().out)["info"]
    assert info["class_names"] == ["a", "b", "c"] and info["d"] == 4 and info["intercept"]
    given(monkeypatch, "".join(f"{k % 2} 1:{k % 2 + 0.1 * k:g} 3:1\n" for k in range(20)))
    assert run("path", "-", *FEW, "--json") == cli.DONE
    assert json.loads(capsys.readouterr().out)["info"]["m"] == 2
    given(monkeypatch, " \n")
    assert run("path", "-") == cli.FAILED
    assert "standard input is empty" in capsys.readouterr().err


def test_a_path_that_is_not_solved_says_so_by_its_exit_code() -> None:
    assert run("path", "iris", *FEW, "--tol", "1e-14", "--max-iter", "1", "--solver", "fista-cst") == cli.UNCERTIFIED


class Pressed(keeping.Interrupts):
    """Ctrl-C, pressed when it is asked for the third time."""

    asked = 0

    @property
    def seen(self) -> bool:  # type: ignore[override]
        Pressed.asked += 1
        return Pressed.asked > 3

    @seen.setter
    def seen(self, value: bool) -> None: ...


@pytest.mark.parametrize(
    "arguments", [("path", "iris", *FEW), ("race", "iris", "ista", "fista-cst", "--unit", "iterations")]
)
def test_an_interrupt_keeps_what_was_done(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(keeping, "Interrupts", Pressed)
    monkeypatch.setattr(Pressed, "asked", 0)
    out = tmp_path / "table.csv"
    assert run(*arguments, "--out", str(out)) == cli.INTERRUPTED
    assert len(pd.read_csv(out)) >= 1 and capsys.readouterr().out


def test_a_race_tells_when_each_solver_was_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given: tuple[Any, ...] = ("race", "iris", "bcd-ls", "fista-ls", "--unit", "iterations", "--budget", "200")
    assert run(*given) == cli.DONE
    lines = capsys.readouterr().out.splitlines()
    assert "iterations" in lines[0] and {line.split()[0] for line in lines[2:]} == {"bcd-ls", "fista-ls"}
    assert run(*given, "--json", "--out", str(tmp_path / "race.csv")) == cli.DONE
    found = json.loads(capsys.readouterr().out)
    assert found["times"]["bcd-ls"]["1e-04"] >= found["times"]["bcd-ls"]["1e-02"]
    assert set(pd.read_csv(tmp_path / "race.csv")["solver"]) == {"bcd-ls", "fista-ls"}


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "wanted"), [(["so"], "solve"), (["race", "--uni"], "--unit"), (["datasets", "--fe"], "--fetch")]
)
def test_bash_completes_commands_and_options(
    words: list[str], wanted: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("completion", "bash") == cli.DONE
    script = tmp_path / "completion.bash"
    script.write_text(capsys.readouterr().out)
    line = f"source {script}; COMP_WORDS=(sparsescope {' '.join(words)}); COMP_CWORD={len(words)}; _shtab_sparsescope"
    done = subprocess.run(
        ["bash", "-c", f"{line}; echo ${{COMPREPLY[@]}}"], capture_output=True, text=True, timeout=300
    )
    assert wanted in done.stdout.split(), done.stderr
