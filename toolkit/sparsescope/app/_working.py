"""Pages whose work goes on in a thread: one computation at a time, in turns with all others of the process."""

from __future__ import annotations

import contextlib
import contextvars
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from .. import datasets
from ..live.given import data_and_settings
from ..pauses import pausing
from ..problems.base import BaseProblem
from ..problems.prediction import Problem
from ..runs.turns import TURNS
from .base import Message, Page

REST = 1.0  # seconds for which work rests when its page is away; a server asks this often


class Work:
    """A computation in a separate thread.

    Parameters
    ----------
    steps
        called in the thread with this object; an iterator that rests at each of its yields if others wait.
    """

    def __init__(self, steps: Callable[[Work], Iterator[None]]) -> None:
        self.turn = TURNS.place()
        self.running = True
        self.error = self.detail = ""
        self._steps = steps
        self._stopped = threading.Event()
        self._rests_until = 0.0
        self._thread = threading.Thread(
            target=contextvars.copy_context().run, args=(self._work,), daemon=True, name="sparsescope-page"
        )

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def stopped(self) -> bool:
        """True if :meth:`stop` was called."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """End after the step that is under way."""
        self._stopped.set()
        self.turn.give_up()

    def rest(self) -> None:
        """Make no further step for a moment."""
        self._rests_until = time.monotonic() + REST

    @property
    def resting(self) -> bool:
        """True if no further step is made at present."""
        return time.monotonic() < self._rests_until

    def pause(self) -> None:
        """Let others have their turn within a long step; ``KeyboardInterrupt`` if the work is to end."""
        while not self.stopped and (self.resting or self.turn.over()):
            self.turn.give_back()
            try:
                if self.resting:
                    self._stopped.wait(0.1)
            finally:
                self.turn.take()
        if self.stopped:
            raise KeyboardInterrupt

    def wait(self, seconds: float) -> None:
        """Do nothing for a while, without a turn; shorter if the work is to end."""
        with self.turn.aside():
            self._stopped.wait(seconds)

    def _work(self) -> None:
        try:
            steps: Any = self._steps(self)
            with contextlib.closing(steps):  # what is to be done after a stop is done before it is said
                while not self.stopped:
                    if self.resting:
                        self._stopped.wait(0.1)
                    elif not self._take_a_turn(steps):
                        return
        except (ValueError, TypeError) as error:
            self.error = str(error)
        except Exception as error:  # whatever goes wrong is said on the page
            self.error, self.detail = f"{type(error).__name__}: {error}", traceback.format_exc()
        finally:
            self.running = False

    def _take_a_turn(self, steps: Iterator[None]) -> bool:
        """Make steps for one turn; whether there are more."""
        try:
            if self.turn.take():
                while not self.stopped and not self.resting and not self.turn.over():
                    with pausing(self.turn.rest):
                        ended = next(steps, self) is self
                    if ended:
                        return False
        finally:
            self.turn.give_back()
        return True


class WorkingPage(Page):
    """Base of pages with a computation that begins anew when a setting changes that is not in ``light``."""

    light: frozenset[str] = frozenset()  # settings that need no new computation

    def __init__(self, data: Any = None, settings: Any = None) -> None:
        if isinstance(data, Problem):
            data, own = data_and_settings(data)
            known = {f.name for f in type(self).fields}
            settings = {**{key: value for key, value in own.items() if key in known}, **(settings or {})}
        super().__init__(data, settings)
        self.work: Work | None = None
        self._said = ""
        self.forget()
        self.forget_sent()

    # ------------------------------------------------------------------------------------------------- for subclasses
    def steps(self, work: Work) -> Iterator[None]:
        """Do the work, in a thread; a yield is a point where it may rest. What it leaves is only read by the page."""
        raise TypeError(f"{type(self).__name__} does not define steps")

    def forget(self) -> None:
        """Forget what was sent and found: a computation begins anew."""

    def forget_sent(self) -> None:
        """Forget what was sent: the browser has nothing yet."""

    # ------------------------------------------------------------------------------------------------------- the work
    def start(self) -> None:
        """Begin the computation of the present settings."""
        self.end()
        self.forget()
        self.forget_sent()
        self._said = ""
        self.work = Work(self.steps)
        self.work.start()

    def shown_again(self) -> None:
        """Send everything that was found again."""
        self.forget_sent()
        self._said = ""

    def end(self) -> None:
        """End the computation."""
        if self.work is not None:
            self.work.stop()

    @property
    def running(self) -> bool:
        """True if the computation goes on."""
        return self.work is not None and self.work.running

    def suspend(self) -> None:
        """Let the computation rest while no browser is there; called repeatedly, and it goes on afterwards."""
        if self.work is not None:
            self.work.rest()

    def changed(self, names: set[str]) -> None:
        """Begin anew where the change requires it."""
        if names - self.light:
            self.start()

    def do(self, action: str) -> None:
        """``"again"`` begins anew, ``"stop"`` ends where it stands.

        Raises
        ------
        ValueError
            for another action.
        """
        if action == "again":
            self.start()
        elif action == "stop":
            self.end()
        else:
            raise ValueError(f"{self.title} can be started again or stopped; the actions are again and stop")

    def told_status(self, text: str) -> list[tuple[Message, list[bytes]]]:
        """Return the message about the state of the work, if it has changed."""
        work = self.work
        if work is None:
            return []
        text = "Stopped" if work.stopped and not work.error else text
        status = {"type": "status", "text": text, "running": work.running, "error": work.error, "detail": work.detail}
        if str(status) == self._said:
            return []
        self._said = str(status)
        return [(status, [])]

    @property
    def given(self) -> Any:
        """The data set, pair or problem that was handed over; ``None``: the settings name one."""
        return self.data

    def _loaded(self, chosen: Message, *names: str, **options: Any) -> tuple[Any, Problem]:
        """The data, given or named, and their problem with these settings; ``ValueError`` for data without classes."""
        data = self.given if self.given is not None else datasets.load(chosen["dataset"], **options)
        if reason := no_classes(data):
            raise ValueError(reason)
        parts = {name: chosen[name] for name in names}
        return data, Problem(*data, **parts) if isinstance(data, tuple) else Problem(data, **parts)


def no_classes(data: Any) -> str:
    """Return the reason why data have no classes to predict, or the empty text."""
    if isinstance(data, BaseProblem) and not isinstance(data, Problem):
        return "A covariance problem has no classes; the page of networks shows it."
    if isinstance(data, tuple) and len(data) > 1 and data[1] is None:
        return "These data have no labels, so there are no classes to predict; the page of networks shows them."
    return ""
