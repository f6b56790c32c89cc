"""Computations on request, in threads: the spectrum of the data, and Theorem 1 of Agarwal et al. (2013) beside a run of
`gls`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..problems.spectrum import EXACT_EACH, LATE, spectrum, theorem1
from ..registry import losses
from ..runs.session import Session
from ..runs.solving import solve
from ..runs.trace import Trace
from .confusion import Confusion, refusal
from .jobs import Jobs
from .packer import plain
from .recordings.making import of_session
from .singular import spectrum_facts

FEW = 200  # singular values of data for which 1000 would take minutes
MAX_POINTS = 400  # points of the curves of Theorem 1
KINDS = ("spectrum", "rate", "confusion", "misread", "recording")
# W* of Theorem 1: to this relative gap, or as near as this number of seconds allows.
BEST_TOL, BEST_SECONDS, BEST_STEPS = 1e-12, 30.0, 5000

Message = dict[str, Any]


class Looks:
    """Answers to questions that take long. Each kind of question has its own thread; the newest one counts."""

    def __init__(self) -> None:
        self._jobs = {kind: Jobs(f"sparsescope-{kind}") for kind in KINDS}
        self._waiting: dict[str, list[str]] = {kind: [] for kind in KINDS}
        self._known: tuple[Any, Message] | None = None  # the data of the newest spectrum, and its answer
        self._best: tuple[Any, Any] | None = None  # a problem, and its solution
        self._judged: Confusion | None = None  # the newest

    def ask(
        self,
        kind: str,
        key: str,
        session: Session,
        cell: tuple[int, int] = (0, 0),
        known: tuple[Any, dict[str, Any]] = (None, {}),
    ) -> None:
        """Start to work at a question about the session's problem; :meth:`collect` brings the answer under ``key``.

        ``cell``: true and predicted class of the samples of the question ``misread``; ``known``: data and settings of
        the page, for a recording. ``ValueError`` for a question about X and a problem that has none.
        """
        work: Callable[[Session], Callable[[], Any]] = {
            "spectrum": self._spectrum,
            "rate": self._rate,
            "confusion": self._confusion,
            "misread": lambda session: self._misread(session, cell),
            "recording": lambda session: self._recording(session, *known),
        }[kind]
        if kind != "recording" and getattr(session.problem, "design", None) is None:
            raise ValueError("this problem has no X whose singular values could be shown")
        self._waiting[kind].append(key)
        self._jobs[kind].start(work(session))

    def collect(self) -> list[Message]:
        """Answers that are ready. An error is in their field ``error``, with ``detail``."""
        found = []
        for kind, jobs in self._jobs.items():
            outcome = jobs.collect()
            if outcome is None:
                continue
            said = {"error": outcome.error, "detail": outcome.detail, **(outcome.value or {})}
            found += [{"type": "answer", "id": key, "kind": kind, **said} for key in self._waiting[kind]]
            self._waiting[kind] = []
        return found

    def close(self) -> None:
        """Forget all questions."""
        for jobs in self._jobs.values():
            jobs.cancel()

    def _spectrum(self, session: Session) -> Callable[[], Message]:
        design = session.problem.design

        def work() -> Message:
            if self._known is None or self._known[0] is not design:
                few = min(design.n, design.d) > EXACT_EACH * LATE
                self._known = design, spectrum_facts(spectrum(design.plain(), FEW if few else LATE))
            return self._known[1]

        return work

    def _confusion(self, session: Session) -> Callable[[], Message]:
        def work() -> Message:
            reason = refusal(session.problem)
            if reason:
                return {"reason": reason}
            iteration, point = session.point()
            self._judged = Confusion(session.problem, point, session.test, iteration)
            return {"reason": "", **self._judged.facts()}

        return work

    def _misread(self, session: Session, cell: tuple[int, int]) -> Callable[[], Message]:
        def work() -> Message:
            judged = self._judged
            if judged is None or judged.problem.design is not session.problem.design:
                raise ValueError("the confusion matrix belongs to other data; compute it again")
            return judged.misread(*cell)

        return work

    def _recording(self, session: Session, source: Any, settings: dict[str, Any]) -> Callable[[], Message]:
        def work() -> Message:
            data, spectrum_of = self._known or (None, None)
            ours = data is not None and data is getattr(session.problem, "design", None)
            known = {"spectrum": spectrum_of} if ours else {}
            made = of_session(session, source=source, settings=settings, known_looks=known)
            return {"text": made.html(), "name": made.file_name}

        return work

    def _rate(self, session: Session) -> Callable[[], Message]:
        problem, solver, trace = session.problem, session.solver, session.trace

        def work() -> Message:
            reason = no_rate(problem, solver, trace)
            if reason:
                return {"reason": reason}
            if self._best is None or self._best[0] is not problem:
                best = solve(
                    problem, type(solver)(), tol=BEST_TOL, max_seconds=BEST_SECONDS, max_iter=BEST_STEPS, record=False
                )
                self._best = problem, best
            return rate_facts(problem, solver, trace, self._best[1])

        return work


def no_rate(problem: Any, solver: Any, trace: Trace) -> str:
    """Return why Theorem 1 cannot be compared with a run; empty if it can."""
    if solver.name != "gls":
        return "Theorem 1 applies to gls only; choose it as the method."
    if problem.intercept:
        return "Theorem 1 begins at W = 0 and has no intercept; switch the intercept off."
    if any(mark.kind in ("loss", "penalty", "lam", "solver") for mark in trace.marks):
        return "The problem or the method was changed during this run, and Theorem 1 begins at W = 0; reset the run."
    return "" if len(trace) > 1 else "No iteration has been recorded yet."


def rate_facts(problem: Any, solver: Any, trace: Trace, best: Any) -> Message:
    """F(W_t) − F(W*) of a run from W = 0, the bound of Theorem 1 for plain steps, and ‖W_t − W*‖² in the metric.

    ``contraction`` is by which factor an iteration shrinks that norm, over the later half of the snapshots of W.
    """
    size = len(trace)
    iteration, objective = trace["iteration"][:size], trace["objective"][:size]
    keep = np.unique(np.rint(np.linspace(0, size - 1, min(size, MAX_POINTS))).astype(np.int64))
    keep = keep[np.unique(iteration[keep], return_index=True)[1]]
    monotone = 1.0 if isinstance(problem.loss, losses["squared"]) else None  # of the identity link
    bound = theorem1(problem, best.W, iteration[keep], lipschitz=solver.constant(problem), monotone=monotone)
    distances = _distances(problem, solver, trace, best.W)
    return {
        "reason": "",
        "iteration": iteration[keep].astype(int).tolist(),
        "excess": [plain(max(v - best.objective, 0.0)) for v in objective[keep]],
        "bound": [plain(v) for v in bound],
        "distances": [[t, plain(v)] for t, v in distances],
        "contraction": plain(_contraction(distances)),
        "accelerated": bool(solver.accelerated),
        "known_to": plain(best.relative_gap),
        "linear": monotone is not None,
    }


def _distances(problem: Any, solver: Any, trace: Trace, best: np.ndarray) -> list[tuple[int, float]]:
    """(t, ‖W_t − W*‖²) with ‖W‖² = L⟨W, Σ̂W⟩ + λ‖W‖²_F, for the iterations whose W the trace kept."""
    L, found = solver.constant(problem), []
    for k, snapshot in enumerate(list(trace.snapshots)):
        away = np.asarray(trace.weights(k) - best, dtype=problem.dtype)
        away = problem.coefficients(away)
        Z = problem.design.matmul(away, np.empty((problem.n, problem.m), dtype=problem.dtype)).astype(np.float64)
        ridge = problem.lam * float((away.astype(np.float64) ** 2).sum())
        found.append((int(snapshot.iteration), L * float((Z**2).sum()) / problem.n + ridge))
    return found


def _contraction(distances: list[tuple[int, float]]) -> float:
    """The mean factor of ‖W_t − W*‖ an iteration over the later half of the snapshots above rounding; NaN if there are
    too few of them."""
    if not distances:
        return float("nan")
    floor = 1e-12 * max(value for _, value in distances)
    kept = [(t, value) for t, value in distances if value > floor]
    (t0, start), (t1, end) = (kept[len(kept) // 2], kept[-1]) if kept else ((0, 0.0), (0, 0.0))
    return float((end / start) ** (0.5 / (t1 - t0))) if t1 > t0 else float("nan")
