"""For all unit tests."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def patient_effects(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page is told of a command when it has its effect, however long a busy machine compiles."""
    from sparsescope.live import effects

    monkeypatch.setattr(effects, "PATIENCE", 120.0)
