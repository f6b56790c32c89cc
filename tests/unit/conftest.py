"""For all unit tests."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

import sparsescope as ss
from helpers import iris


@pytest.fixture(autouse=True)
def patient_effects(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page is told of a command when it has its effect, however long a busy machine compiles."""
    from sparsescope.live import effects

    monkeypatch.setattr(effects, "PATIENCE", 120.0)


@pytest.fixture
def problem() -> ss.Problem:
    """Iris, with a λ at which some of its features are in use."""
    return ss.Problem(*iris(), lam=0.3)


@pytest.fixture
def page_client(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The page without a browser that the measurements use."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "benchmarks"))
    yield importlib.import_module("page_client").PageClient
    sys.modules.pop("page_client", None)
