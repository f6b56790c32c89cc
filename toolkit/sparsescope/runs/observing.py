"""RunObserving: how a run looks at its present state: events, certificates, callbacks and stop rules."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..problems.base import Certificate
from ..problems.natural import as_given
from .bounds import Bounds
from .event import MEASURED_NAMES, Event, event_of, own_numbers
from .run_changes import RunChanges

CLOCK: Callable[[], float] = time.perf_counter
CPU_CLOCK: Callable[[], float] = time.thread_time  # what certificates cost, whatever else the machine does


class RunObserving(RunChanges):
    """Events of a run, each the numbers of its present state; see :class:`sparsescope.Run`.

    What they cost is not charged to the solver. The state is not changed, but where the run ends: then the solver may
    put the point in its place that is to be handed back.
    """

    callbacks: list[Callable[[Event], Any]]
    certify_every: int | None
    _measuring: Any  # of predictions
    _work: Any  # arrays for certificates
    _bounds: Bounds
    _certified: tuple[Any, Certificate] | None = None  # what the last event's certificate is of, and that

    @property
    def iteration(self) -> float:
        """Iterations done, with the share of the rows of a sweep under way."""
        done = 0 if self.state is None else self.state.iteration
        return done + self._visited if self._visited else done

    def _event(self, certify_now: bool) -> Event:
        state, problem = self.state, self.problem
        assert state is not None
        facts: dict[str, Any]
        if certify_now or (not self._visited and self._due(state.iteration)):
            began = CPU_CLOCK()
            try:
                found = self.certificate()
            except FloatingPointError as error:
                raise FloatingPointError(self._diverged(str(error))) from None
            self._certified = (problem, self.solver, state), found
            facts = vars(found) | self._measuring.measures(problem.natural, state)
            self._schedule.took(state.iteration, CPU_CLOCK() - began, CLOCK())
        else:
            self._certified = None
            loss, omega, rows, entries = state.point(problem.natural)
            facts = {
                "objective": self._in_units(problem, self.solver, loss, omega),
                "loss": loss,
                "penalty": omega * problem.natural.units[1],
                "nonzero_rows": rows,
                "nonzero_entries": entries,
            }
        own = own_numbers(self.solver, state, problem.natural.units[0])
        facts = {name: value for name, value in facts.items() if name in MEASURED_NAMES or name in own}
        numbers = {
            "iteration": self.iteration,
            "passes": state.passes,
            "seconds": self.seconds,
            "lam": problem.lam,
            **own,
            **facts,
        }
        event = event_of(numbers, problem=problem, solver=self.solver, state=state)
        if not np.isfinite(event.objective):
            raise FloatingPointError(self._diverged(f"the objective is {event.objective}"))
        self._objective = event.objective
        if not self._visited:
            self._met.note(problem, self.solver, event.objective, state)
        return event

    def measure(self) -> dict[str, float]:
        """Return the quality of the present predictions; it is not charged to the solver's clock.

        Returns
        -------
        dict
            the measures by the names of an event's fields; empty before the first step, and for a problem that predicts
            nothing.
        """
        return {} if self.state is None else self._measuring.measures(self.problem.natural, self.state)

    def observe(self, certify_now: bool = False) -> Event:
        """Return the event of the current state; its evaluation is not charged to the solver's clock.

        Parameters
        ----------
        certify_now
            evaluate a certificate in any case.

        Returns
        -------
        Event
            the event.
        """
        event = self._event(certify_now)
        reason = self._reason(event)  # asked once an iterate: rules count what they are shown
        if reason and not event.certified:
            event = self._event(True)  # the last event always carries a certificate
        if reason and self.conclude():
            event = self._event(True)
            reason = self._reason(event)  # rounding may have cost what was certified: then the run goes on
        if reason:
            reason = self._finish(reason, event)
        if reason:
            assert self.state is not None
            steps = self.solver.describe_steps(self.problem.natural, self.state)
            reason = self.ending(f"{reason}; {steps}" if steps else reason)
            self.message = reason
            object.__setattr__(event, "message", reason)
        return self._shown(event)

    def _shown(self, event: Event) -> Event:
        """The event, after the callbacks have seen it."""
        for callback in self.callbacks:
            if callback(event) is True and not event.message:
                self.message = "stopped by a callback"
                object.__setattr__(event, "message", self.message)
        return event

    def conclude(self) -> bool:
        """Let the solver replace its weights by those to be handed back.

        Returns
        -------
        bool
            whether that changed them.
        """
        changed = self.state is not None and self.solver.conclude(self.problem.natural, self.state)
        if changed:
            self._certified = None
        return changed

    def _diverged(self, what: str) -> str:
        """Say what is wrong with a point that is not finite, and the way out."""
        assert self.state is not None
        if not self.state.iteration:
            return (
                f"the starting point is out of range: {what}. Start from smaller W and b, or leave them out to "
                "start from zero"
            )
        return (
            f"{self.solver.name} diverged at iteration {self.state.iteration}: {what}. Reset, and {self.solver.remedy}"
        )

    def certificate(self) -> Certificate:
        """Evaluate the certificate of the current state, with the best dual value seen for this problem.

        Returns
        -------
        Certificate
            the certificate.
        """
        assert self.state is not None
        if self._work is None:
            self._work = self.problem.natural.workspace(self.state.sparse)
        if hasattr(self._work, "goal"):  # not all problems have better dual points to look for
            self._work.goal = self._enough()
        inner = self.problem.natural
        found = self.solver.certificate(inner, self.state, self._work)
        return self.improved(as_given(inner, found, budget=not self.solver.follows_lam))

    def concluding_certificate(self) -> Certificate:
        """Return the certificate of the last event if it is one of the current state, else evaluate it.

        Returns
        -------
        Certificate
            the certificate.
        """
        if self._certified is not None:
            of, found = self._certified
            if all(kept is now for kept, now in zip(of, (self.problem, self.solver, self.state), strict=True)):
                return found
        return self.certificate()

    def _enough(self) -> float:
        """Return the relative gap for which no better dual point has to be looked for; 0.0: show the best."""
        return 0.0

    def improved(self, found: Certificate) -> Certificate:
        """Return the certificate with the best dual value that the run has seen for this problem.

        Parameters
        ----------
        found
            a certificate of the current state.

        Returns
        -------
        Certificate
            the certificate, its dual value and gap replaced where an earlier dual value is larger.
        """
        return self._bounds.improve(found, self.problem, self.solver)

    def _due(self, iteration: int) -> bool:
        if self.certify_every is None:
            return self._schedule.due(iteration, CLOCK())
        return iteration % self.certify_every == 0 or self._ready() is True

    def _ready(self) -> bool | None:
        """Return whether the solver expects that a certificate ends the run; ``None`` where it does not know."""
        return self.state.ready if self.state is not None and self.state.aim else None

    def _reason(self, event: Event) -> str:
        return (self._stop.check(event) or "") if self._stop is not None else ""

    def _finish(self, reason: str, event: Event) -> str:
        """The message with which the run ends, now that its rule gave a reason; empty if it goes on (a path does)."""
        return reason
