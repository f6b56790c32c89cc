"""Parts of a recording that need the data while it is made: threshold strips, confusion, the spectrum."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from ...problems.certificate import Workspace, certify
from ...problems.prediction import Problem
from ...problems.spectrum import spectrum
from ...runs.trace import Trace
from ...solvers.base import State
from .. import thresholds
from ..confusion import Confusion, refusal
from ..singular import spectrum_facts

STRIP_BYTES = 250_000  # of all strips together, before they are packed
DOT_BYTES = 13  # feature, level, norm and state
COLUMNS = 500  # dots that neighbours which are zero may share
MOST_SCORES = 30_000_000  # n × m; beyond, no workspace of that size is made
SAME = 1e-5  # relative difference of F at the last weights from which on the problem is another one
MISREAD_TEXT = 120_000  # characters of all misread samples
FEW_VALUES, FEW_ENTRIES = 1000, 4_000_000  # min(n, d) and n × d up to which a spectrum is computed for a file
OF_PARTS = ("loss", "penalty")  # marks that end the reach of a problem's parts

Message = dict[str, Any]


class Looks:
    """Pictures and facts that a recording has of the data, each computed once.

    Parameters
    ----------
    trace
        the run.
    problem
        the problem of its last segment; ``None``: only the trace is there, and nothing is shown.
    point
        W, b and iteration of its end, or ``None``.
    test
        (X, y) held out, or ``None``.
    known
        answers that a page has computed already: ``spectrum``.
    """

    def __init__(self, trace: Trace, problem: Any, point: Any = None, test: Any = None, known: Any = None) -> None:
        self._trace, self._point, self._test, self._known = trace, point, test, known or {}
        self._problem = problem if isinstance(problem, Problem) and not problem.stages else None
        self._strips: dict[int, thresholds.Strip] = {}
        self._work: Workspace | None = None
        self._facts: Message | None = None
        marks = [mark.index for mark in trace.marks if mark.kind in OF_PARTS]
        self._since = max(marks, default=0)
        self._same: bool | None = None

    # --------------------------------------------------------------------------------------------------------- strips
    def strips(self, events: list[int], share: float) -> dict[int, thresholds.Strip]:
        """Return strips at some of the events, evenly chosen, the last one in any case.

        Parameters
        ----------
        events
            numbers of the events whose weights are kept.
        share
            of the bytes that strips may take.
        """
        able = [k for k in events if self._reaches(k)] if self._is_of_the_run() else []
        if not able:
            return {}
        assert self._problem is not None
        dots = min(self._problem.d, thresholds.MOST_FEATURES)
        room = max(1, int(share * STRIP_BYTES / (DOT_BYTES * dots)))
        chosen = [able[k] for k in np.unique(np.rint(np.linspace(len(able) - 1, 0, min(room, len(able)))).astype(int))]
        return {k: self._strip(k) for k in chosen}

    def _reaches(self, event: int) -> bool:
        """Return whether the gradient at an event is known; with an intercept, which none keeps, only at the last."""
        assert self._problem is not None
        last = event == len(self._trace) - 1
        return event >= self._since and (not self._problem.intercept or (last and self._point is not None))

    def _is_of_the_run(self) -> bool:
        """Return whether F at the last kept weights is that of the run; else the problem handed over is another one."""
        problem, trace = self._problem, self._trace
        if problem is None or problem.n * problem.m > MOST_SCORES:
            return False
        if self._same is None:
            W, b = self._weights(len(trace) - 1)
            then, now = float(trace["objective"][-1]), math.nan
            if W is not None and W.shape == (problem.d, problem.m) and (b is not None) == bool(problem.intercept):
                now = float(problem.objective(W) if b is None else problem.objective(W, b))
            self._same = math.isclose(now, then, rel_tol=SAME, abs_tol=SAME * problem.least_scale)
        return self._same

    def _weights(self, event: int) -> tuple[Any, Any]:
        if event == len(self._trace) - 1 and self._point is not None:
            W, b, _ = self._point
        else:
            kept = self._trace.weights_at(event)
            W, b = (None if kept is None else kept[1]), None
        return (W.toarray() if hasattr(W, "toarray") else W), b

    def _strip(self, event: int) -> thresholds.Strip:
        if event not in self._strips:
            assert self._problem is not None
            problem = self._problem.with_lam(float(self._trace["lam"][event]))
            if self._work is None:
                self._work = Workspace(problem, levels=True)
            state = State(problem, problem.coefficients(*self._weights(event)))
            self._strips[event] = thresholds.measure(problem, state, _Certifier(), self._work, COLUMNS)
        return self._strips[event]

    # ---------------------------------------------------------------------------------------------------------- facts
    def facts(self) -> Message:
        """Return the answers to the questions ``confusion``, ``misread`` and ``spectrum``, those that are there."""
        if self._facts is None:
            self._facts = {**self._confusion(), **self._spectrum()}
        return self._facts

    def _confusion(self) -> Message:
        problem, point = self._problem, self._point
        if problem is None or point is None:
            return {}
        if reason := refusal(problem):
            return {"confusion": {"reason": reason}}
        W, b, iteration = point
        judged = Confusion(problem, {"W": W, "b": b, "model": None}, self._test, int(iteration))
        facts = judged.facts()
        misread: list[Message] = []
        size = 0
        for true, found, _ in facts["pairs"]:
            said = judged.misread(true, found)
            size += len(json.dumps(said))
            if size > MISREAD_TEXT:
                break
            misread.append(said)
        return {"confusion": {"reason": "", **facts}, "misread": misread}

    def _spectrum(self) -> Message:
        if "spectrum" in self._known:
            return {"spectrum": self._known["spectrum"]}
        problem = self._problem
        if problem is None or min(problem.n, problem.d) > FEW_VALUES or problem.n * problem.d > FEW_ENTRIES:
            return {}
        return {"spectrum": spectrum_facts(spectrum(problem.design.plain()))}


class _Certifier:
    """Certificates of weights alone, whichever solver found them."""

    follows_lam = True

    def certificate(self, problem: Any, state: Any, work: Any) -> Any:
        """Return the certificate of the state's weights, with the dual point of their loss."""
        return certify(problem, state.coef, state.Z, work, None)
