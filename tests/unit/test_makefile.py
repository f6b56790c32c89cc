"""`make test` runs all its parts, whatever fails first, and says at the end what failed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = """#!/bin/sh
echo "$(basename "$0") $*" >> "$CALLS"
case "$(basename "$0") $*" in *"$FAILS"*) exit 1;; esac
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize(
    ("fails", "part"),
    [("ruff", "lint"), ("mypy", "types"), ("-m not ui", "unit"), ("-m ui", "pages"), ("nothing", None)],
)
def test_all_parts_run_and_what_failed_is_said_at_the_end(fails: str, part: str | None, tmp_path: Path) -> None:
    for name in ("python", "ruff", "mypy", "ready"):
        (tmp_path / name).write_text(TOOL)
        (tmp_path / name).chmod(0o755)
    calls = tmp_path / "calls"
    done = subprocess.run(
        ["make", "-C", str(ROOT), "test", f"BIN={tmp_path}", f"READY_DEV={tmp_path / 'ready'}",
         f"TYPED={tmp_path / 'typed'}"],
        capture_output=True, text=True, timeout=120,
        env={**os.environ, "CALLS": str(calls), "FAILS": fails, "SPARSESCOPE_CHROMIUM": "a browser"},
    )  # fmt: skip
    seen = calls.read_text()
    named = [line.split()[0] for line in seen.splitlines()]
    ruffs = ["ruff"] * (1 if part == "lint" else 2)
    # ruff first, then mypy (on the package and a user's program) beside the tests
    assert named[: len(ruffs)] == ruffs and sorted(named) == sorted([*ruffs, "mypy", "python", "python"])
    assert f"mypy --cache-dir {tmp_path / 'typed'} toolkit/sparsescope tests/strict_program.py" in seen
    assert "not ui and not slow" in seen and "-m ui and not slow" in seen
    assert (done.returncode == 0) == (part is None)
    assert part is None or f"FAILED: {part}\n" in done.stderr
