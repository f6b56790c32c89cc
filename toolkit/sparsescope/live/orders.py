"""Orders to a session that follow from the settings of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..runs.session import Session
from . import kinds
from . import settings as st


def change(session: Session, wants_run: bool, **parts: Any) -> None:
    """Change the problem or the solver; a run that had finished, or ends just now and was wanted, goes on."""
    mode = session.status().mode
    session.change(play=mode == "finished" or (wants_run and mode != "error"), **parts)


def set_stop(session: Session, settings: Mapping[str, Any]) -> None:
    """Set the stop rule of the settings; a run that had ended by another one can go on."""
    session.set_stop(kinds.of_problem(session.problem).stop(settings["stop"]))


def rate(settings: Mapping[str, Any]) -> float | None:
    """Return the largest number of iterations a second, or ``None``."""
    return None if settings["speed"] == st.MAX else float(settings["speed"])


def every(settings: Mapping[str, Any]) -> str | None:
    """Return when there are events within an iteration, or ``None``."""
    wanted = str(settings["every"])
    return None if wanted == st.EVERY.default else wanted
