"""The command line: help, sentences for errors, exit codes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from sparsescope import cli
from sparsescope.runs.trace import Trace
from sparsescope.version import __version__


def run(*arguments: str) -> int:
    """Exit code of a command, also where argparse leaves by SystemExit."""
    try:
        return cli.main(arguments)
    except SystemExit as end:
        return int(end.code or 0)


def test_help_names_all_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == cli.DONE
    text = capsys.readouterr().out
    assert all(command in text for command in ("explore", "solve", "paper", "datasets", "doctor"))


@pytest.mark.parametrize("command", ["explore", "solve", "paper", "datasets", "doctor"])
def test_each_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command, "--help") == cli.DONE
    assert f"sparsescope {command}" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--version") == cli.DONE
    assert __version__ in capsys.readouterr().out


def test_without_a_command_it_shows_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == cli.USAGE
    assert "COMMAND" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["explore", "--port", "99999"], "99999 is not a port; allowed: 0 to 65535"),
        (["explore", "--port", "http"], "'http' is not a whole number"),
        (["explore", "--max-sessions", "-1"], "-1 is negative"),
        (["solve", "digits", "--lam-ratio", "0"], "'0' is not a number above 0"),
        (["solve", "digits", "--tol", "small"], "'small' is not a number above 0"),
        (["solve"], "required"),
        (["explode"], "invalid choice"),
    ],
)
def test_wrong_arguments_are_explained(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*arguments) == cli.USAGE
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("command", ["solve", "explore"])
def test_unknown_data_gives_a_sentence_and_no_traceback(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [command, "digit"] if command == "solve" else [command, "--data", "digit", "--no-browser"]
    assert run(*arguments) == cli.FAILED
    error = capsys.readouterr().err
    assert "did you mean 'digits'" in error
    assert "Traceback" not in error


def test_unknown_parts_give_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("solve", "iris", "--loss", "logstic") == cli.FAILED
    assert "did you mean 'logistic'" in capsys.readouterr().err


def test_datasets_lists_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("datasets") == cli.DONE
    text = capsys.readouterr().out
    assert "digits" in text and "pydocs" in text and "SPARSESCOPE_DATA" in text


def test_doctor_finds_a_sound_installation(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("doctor") == cli.DONE
    text = capsys.readouterr().out
    assert all(word in text for word in ("numba", "panel", "cache", "browser", "pydocs can be read"))


def test_doctor_says_when_the_cache_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert run("doctor") == cli.FAILED
    assert "cannot be written" in capsys.readouterr().out


def test_solve_reaches_its_tolerance_and_keeps_the_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.npz"
    assert run("solve", "iris", "--tol", "1e-4", "--save", str(file)) == cli.DONE
    assert "rows used" in capsys.readouterr().out
    assert len(Trace.load(file)) > 1


def test_solve_says_by_its_exit_code_when_it_is_not_certified() -> None:
    assert run("solve", "digits", "--tol", "1e-12", "--max-iter", "1") == cli.UNCERTIFIED


# As `python -m sparsescope explore`, once for each port, in one process: loading the server takes most of the time.
EXPLORE = """
import sys
from sparsescope.__main__ import start
for port in sys.argv[1:]:
    sys.argv[1:] = ["explore", "--no-browser", "--port", port]
    print("exit code", start(), flush=True)
"""


def test_explore_refuses_a_taken_port_prints_its_address_and_ends_cleanly_on_sigterm() -> None:
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with subprocess.Popen(
            [sys.executable, "-c", EXPLORE, str(port), "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            assert process.stdout is not None
            try:
                _, refused, code = (process.stdout.readline() for _ in range(3))
                assert f"port {port} is taken by another program" in refused
                assert code == f"exit code {cli.FAILED}\n"
                lines = [process.stdout.readline() for _ in range(2)]
                assert "http://localhost:" in lines[1], lines
                process.send_signal(signal.SIGTERM)
                output, _ = process.communicate(timeout=120)
            finally:
                process.kill()
    assert output.splitlines() == ["Stopped.", f"exit code {cli.DONE}"] and process.returncode == 0
