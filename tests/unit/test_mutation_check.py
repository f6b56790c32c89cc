"""The check by mutants goes on where it was interrupted; whether tests notice mutants is for `make mutants`."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program on three mutants and two groups of tests, with nothing copied and its results in a folder apart."""
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "mutation"))
    program = importlib.import_module("check")
    mutant = importlib.import_module("mutate").Mutant
    drawn = [mutant("runs/run.py", k, k + 1, "<", "<=", 1, f"f{k}") for k in range(3)]
    monkeypatch.setattr(program, "draw", lambda *_: drawn)
    monkeypatch.setattr(program, "copy", lambda target: None)
    monkeypatch.setattr(program, "groups", lambda: [["a.py"], ["b.py"]])
    monkeypatch.setattr(program, "sources", lambda: "now")
    monkeypatch.setattr(program, "KEPT", tmp_path)
    monkeypatch.setattr("sys.argv", ["check.py", "--only", "run.py", "--jobs", "1"])
    return program


def test_an_interrupted_check_goes_on_where_it_stopped(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    reaches: list[set[str]] = []

    def measure(_: Path, files: list[str]) -> dict[str, Any]:
        done.append(files[0])
        return {files[0]: {"seconds": 0.1, "runs": ["runs/run.py::f0"], "failed": False}}

    def judge(mutant: Any, _: Path, reach: dict[str, Any]) -> dict[str, Any]:
        if mutant.function == "f1" and "interrupted" not in done:
            done.append("interrupted")
            raise KeyboardInterrupt
        done.append(mutant.function)
        reaches.append(set(reach))
        return {"mutant": mutant.key, "tests": 2, "noticed": True, "by": "a test"}

    monkeypatch.setattr(check, "measure", measure)
    monkeypatch.setattr(check, "judge", judge)
    with pytest.raises(KeyboardInterrupt):
        check.main()
    before = set(done)
    done.append("again")
    assert check.main() == 0
    after = done[done.index("again") + 1 :]
    assert {"a.py", "b.py", "f0"} <= before
    assert sorted(after) == sorted({"f0", "f1", "f2"} - before), "what was measured and judged is not done again"
    assert all(reach == {"a.py", "b.py"} for reach in reaches)
    monkeypatch.setattr(check, "sources", lambda: "edited")
    assert check.main() == 0
    assert done[-5:] == ["a.py", "b.py", "f0", "f1", "f2"], "other sources are measured anew"


def test_every_file_of_tests_is_measured_or_left_out_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "mutation"))
    check = importlib.import_module("check")
    measured = [name for group in check.groups() for name in group]
    assert len(measured) == len(set(measured)) and all((ROOT / name).is_file() for name in measured)
    tests = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    left = {name.removeprefix("tests/") for name in tests - set(measured)}
    assert all(name in check.LEFT_OUT or name.split("/")[0] in check.LEFT_OUT for name in left)
