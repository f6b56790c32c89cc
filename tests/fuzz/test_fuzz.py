"""Every door under cases that hypothesis makes up, and what once failed.

A hundred for each door in the quick tests, 10 s of them in the slow ones, an hour with `make fuzz`.

``SPARSESCOPE_FUZZ_SECONDS`` is the time for all doors together, ``SPARSESCOPE_FUZZ_SEED`` the first seed (0 here: the
same cases each time; `make fuzz` takes another one each time and prints it).
"""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import strategies
from doors import doors
from hypothesis import HealthCheck, Phase, given

CORPUS = Path(__file__).with_name("corpus.json")
SECONDS = float(os.environ.get("SPARSESCOPE_FUZZ_SECONDS", "10"))
SEED = int(os.environ.get("SPARSESCOPE_FUZZ_SEED", "0"))
BATCH = 100
NAMES = (
    "readers",
    "traces",
    "recordings",
    "settings",
    "addresses",
    "messages",
    "fragments",
    "hosts",
    "arguments",
    "commands",
)


def fuzz(door: Callable[[Any], None], cases: Any, seconds: float, seed: int) -> int:
    """Show cases to a door until the time is over, at least one batch; how many there were."""
    end, count = time.monotonic() + seconds, 0
    while True:

        @hypothesis.seed(seed)
        @hypothesis.settings(
            max_examples=BATCH,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
            print_blob=False,
        )
        @given(cases)
        def show(case: Any) -> None:
            nonlocal count
            count += 1
            door(case)

        show()
        seed += 1
        if time.monotonic() >= end:
            return count


@pytest.mark.parametrize("seconds", [0.0, pytest.param(SECONDS / len(NAMES), marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_at_a_door_does_harm(
    name: str, seconds: float, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    door, strategy = doors(tmp_path)[name]
    made = getattr(strategies, strategy)
    count = fuzz(door, made() if callable(made) else made, seconds, SEED)
    record_property("cases", count)
    print(f"fuzz: {name}: {count} cases from seed {SEED}")
    assert count >= BATCH


def corpus() -> list[Any]:
    """Cases that once failed: name, door, case (bytes as base64)."""
    return [pytest.param(case["door"], case["case"], id=case["name"]) for case in json.loads(CORPUS.read_text("utf-8"))]


def restored(case: Any) -> Any:
    """A case of the corpus with its bytes."""
    if isinstance(case, dict) and "file" in case:
        return case["file"], base64.b64decode(case["base64"])
    if isinstance(case, dict) and "base64" in case:
        return base64.b64decode(case["base64"])
    return case


@pytest.mark.parametrize(("name", "case"), corpus())
def test_what_once_failed_does_not_fail_again(name: str, case: Any, tmp_path: Path) -> None:
    doors(tmp_path)[name][0](restored(case))


def test_every_door_is_fuzzed(tmp_path: Path) -> None:
    assert set(doors(tmp_path)) == set(NAMES)
