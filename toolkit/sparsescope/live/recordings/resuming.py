"""A run that goes on from where a recording ended, if the data are those of the recorded run."""

from __future__ import annotations

import functools
from typing import Any

from ...runs.run import Run
from .packing import BadRecording


def going_on(recording: Any, problem: Any) -> tuple[dict[str, Any], str]:
    """Return further arguments of a session, and a sentence for the page: whether the run goes on, or why not.

    Parameters
    ----------
    recording
        the recording.
    problem
        the problem that the page has made of the recording's settings.
    """
    try:
        W, b = recording.weights()
    except BadRecording as error:
        return {}, f"The run begins at zero: {error}"
    if not recording.belongs_to(problem):
        return {}, "The run begins at zero: these data are not those of the recording, as their digest tells"
    if W.shape != (problem.d, problem.m) or (b is None) == bool(problem.intercept):
        return {}, "The run begins at zero: W or the intercept has another shape here than in the recording"
    last = int(recording.columns["iteration"][-1])
    return {"make_run": functools.partial(Run, W=W, b=b)}, f"The run goes on from iteration {last} of the recording."
