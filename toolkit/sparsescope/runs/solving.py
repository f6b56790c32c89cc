"""``solve``: a run from its start to the tolerance, in one call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from ..problems.base import BaseProblem, Certificate
from ..problems.judging import certify
from ..solvers.base import Solver
from .arguments import as_functions, as_problem, as_solver
from .event import Event
from .keeping import Interrupted, Interrupts
from .result import Result, point_of
from .run import Run
from .stop_rule import parts
from .stopping import SETTLED, Gap, Iterations, Precision, Seconds, Settled, Stop
from .trace import Recorder, Trace

__all__ = ["solve"]


def solve(
    problem: BaseProblem,
    solver: str | Solver | None = None,
    *,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    max_seconds: float | None = None,
    stop: Stop | None = None,
    callbacks: Iterable[Callable[[Event], Any]] = (),
    W: Any = None,
    b: Any = None,
    certify_every: int | None = 5,
    test: Any = None,
    record: bool = True,
    clock: Callable[[], float] | None = None,
    every: str | None = None,
    **settings: Any,
) -> Result:
    """Solve a problem until the relative duality gap is at most ``tol``.

    A sequence problem has no gap: it ends when the objective has fallen by less than ``tol`` of itself in each of
    several iterations in a row. The run also ends after ``max_iter`` iterations, after ``max_seconds`` solver seconds,
    when ``stop`` gives a reason, or when a callback returns True.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        if a limit of iterations or seconds ended the run before ``tol`` was reached (not with ``tol=0``).

    Parameters
    ----------
    problem
        a Problem, SequenceProblem or CovarianceProblem.
    solver
        registry name, class or Solver; ``None`` takes the default of the kind of problem (``auto``).
    tol
        relative duality gap to reach; 0 runs to the limits.
    max_iter
        largest number of iterations.
    max_seconds
        largest number of solver seconds; ``None``: no limit.
    stop
        a further stopping rule.
    callbacks
        functions of an event; one that returns True ends the run.
    W, b
        starting point, (d, m) and (m,).
    certify_every
        evaluate certificates at every k-th iteration; ``None`` as in :class:`Run`.
    test
        held-out data (X, y).
    record
        keep the events as ``result.trace``.
    clock
        function that solver seconds are counted with, see :class:`Run`.
    every
        ``"rows:64"``: an event after every 64 rows of a sweep too, see :class:`Run`.
    **settings
        settings of the solver: ``solve(problem, "bcd-ls", selection="greedy")``.

    Returns
    -------
    Result
        weights, objective, gap and the trace.

    Raises
    ------
    ValueError, TypeError
        for arguments that are not allowed, or if the solver cannot solve the problem.
    Interrupted
        on Ctrl-C, after the current step; a ``KeyboardInterrupt`` whose ``result`` holds the point reached. A
        second Ctrl-C interrupts at once.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), loss="logistic", penalty="l1/l2", lam_ratio=0.1)
    >>> result = ss.solve(problem, tol=1e-6)
    >>> result.converged
    True
    """
    end, limits = _rules(problem, tol, max_iter, max_seconds)
    rule = end | limits if stop is None else end | limits | stop
    observers = as_functions(callbacks)
    recorder = Recorder() if record else None
    if recorder is not None:
        observers.append(recorder)
    run = Run(
        problem,
        as_solver(solver, as_problem(problem), **settings),
        stop=rule,
        callbacks=observers,
        W=W,
        b=b,
        certify_every=certify_every,
        test=test,
        clock=clock,
        every=every,
    )
    last, start, interrupted = _to_the_end(run, given=W is not None)
    result = _handed_back(run, last, start, tol, None if recorder is None else recorder.trace)
    if interrupted:
        raise Interrupted(result)
    if not result.converged and tol > 0 and last.message.startswith(limits.check(last) or "\n"):
        from sklearn.exceptions import ConvergenceWarning  # only here: it takes a moment to load

        warnings.warn(
            f"{run.solver.name} ended before the tolerance {tol:g} was reached: {run.message}, relative gap "
            f"{result.relative_gap:.1e}; allow more iterations (max_iter) or a larger tol",
            ConvergenceWarning,
            stacklevel=2,
        )
    return result


def _rules(problem: Any, tol: float, max_iter: int, max_seconds: float | None) -> tuple[Stop, Stop]:
    """Stop rule of the tolerance and the limits."""
    end: Stop = Gap(tol) if getattr(problem, "proves", True) else Settled(tol)
    limits: Stop = Iterations(max_iter) if tol == 0 else Precision() | Iterations(max_iter)
    return end, limits if max_seconds is None else limits | Seconds(max_seconds)


def _to_the_end(run: Run, given: bool) -> tuple[Event, tuple[Certificate, dict[str, Any]] | None, bool]:
    """Advance a run to its end, or until Ctrl-C: the last event, a given start with its certificate, whether it was
    interrupted."""
    with Interrupts() as interrupts:  # the compiler, too, would lose an interrupt that is raised within it
        last = run.advance()
        # From a point that was given the run may only lead to a better one; with a budget it need not be feasible.
        start = (run.certificate(), point_of(run)) if given and run.solver.follows_lam else None
        while not last.message and not interrupts.seen:
            last = run.advance()
    if not last.message:
        run.message = f"interrupted after {last.iteration} iterations"
    return last, start, interrupts.seen


def _handed_back(
    run: Run, last: Event, start: tuple[Certificate, dict[str, Any]] | None, tol: float, trace: Trace | None
) -> Result:
    """The result of a run that has ended: its point, or the given start if that has a smaller F."""
    run.conclude()
    found, point = run.concluding_certificate(), point_of(run)
    message = run.message
    if run.best is not run.state:  # the point that is handed back is not the present one: its own figures
        found = run.improved(certify(run.problem, point["W"], point["b"]))
    if start is not None and start[0].objective < found.objective:
        found, point = run.improved(start[0]), start[1]
        message += "; the starting point has a smaller F and is handed back"
    # A gap that the caller's own rule asks for counts like ``tol``: a run that it ended is not called unfinished.
    asked = [Gap(tol), *(rule for rule in parts(run.stop or Stop()) if isinstance(rule, Gap))]
    proved = found.gap == found.gap and any(rule.verdict(found, run.problem, run.solver) for rule in asked)
    return Result(
        **point,
        objective=found.objective,
        dual=found.dual,
        gap=found.gap,
        relative_gap=found.relative_gap,
        violation=found.violation,
        message=message,
        converged=proved or message.startswith(SETTLED),
        seconds=run.seconds,
        iterations=int(last.iteration),
        passes=last.passes,
        trace=trace,
        reason=run.reason,
        sparsity=run.problem.describe_sparsity(found.nonzero_rows, found.nonzero_entries),
        excess=found.excess,
    )
