"""The explorer: everything a page needs, without a page. Shells (Panel, anywidget) only carry its messages.

    page ── on_message ──▶ Explorer ──▶ Director ── play/tweak ──▶ Session ──▶ Trace
    page ◀── poll ──────── frames ◀──── Stage: packer, pictures ◀──── reads by index

All methods are called from one thread (the shell's loop); preparing happens in a thread of ``jobs``, solving in the
session's worker, and both are only ever *read* here.
"""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from .. import datasets
from ..problems.prediction import Problem
from ..runs.session import Session
from . import controls, kinds
from . import settings as st
from .assets import ENTRY
from .beat import Beat
from .credits import Credits
from .director import Director
from .frames import without_news
from .given import data_and_settings
from .opening import Opening
from .page_messages import Message, answer, changes_of, hand_over, ids, whole
from .recordings.recording import Recording
from .recordings.resuming import Past
from .saying import brief
from .spectra import Looks
from .stage import Layout, Stage
from .turbo import Turbo

LOOK_AGAIN = 0.004  # seconds after which it is worth while to look whether a picture has come
WATCHED_PERIOD = 0.2  # the time between frames while others watch and the page itself draws nothing (a hidden tab)
MAX_STEPS = 10_000
# Settings that pages of the app have in common: a link from one to another carries them along.
SHARED = ("dataset", "loss", "penalty", "lam_ratio", "intercept", "seed")
ACTIONS = ("run", "pause", "step", "reset", "cancel")

Sending = tuple[Message, list[bytes]]


class Explorer:
    """A live session behind plain messages.

    Parameters
    ----------
    data : a Dataset, a pair ``(X, y)`` (y may be None: then there are no classes, only a network of features), a
        CovarianceProblem, a Recording or a Past, from whose end the run goes on, or None to choose from the registered
        data sets
    settings : settings to start with, from anywhere (an address too): they are cleaned, and what was corrected is shown
        on the page
    allow_data_choice : False leaves only ``data``
    references : compute the certified optimum F* of what is on the page in the background, and draw F − F*
    clock : seconds; replaced in tests

    Raises
    ------
    ValueError
        without data and without a choice of data
    """

    def __init__(
        self,
        data: Any = None,
        settings: Mapping[str, Any] | None = None,
        allow_data_choice: bool = True,
        *,
        references: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if data is None and not allow_data_choice:
            raise ValueError("without data there must be a choice of data: pass data or allow_data_choice=True")
        recording = data if isinstance(data, Recording | Past) else None
        if recording is not None:
            data, settings = recording.source, {**recording.settings, **(settings or {})}
        if isinstance(data, Problem):
            data, own = data_and_settings(data)
            settings = {**own, **(settings or {})}
        self.settings_changed: Callable[[dict[str, Any]], None] | None = None
        self._names = _data_names(data, allow_data_choice)
        self._title = "" if data is None else str(getattr(data, "title", "") or "your data")
        clean, self.notices = st.clean({**kinds.starting(data), **(settings or {})}, self._names)
        self._outbox: list[Message] = []
        self._director = Director(
            data, self._names, self._title, clean, self._outbox.append, self._sync_controls, clock, references
        )
        self._director.recording = recording
        self._looks = Looks()
        self._opening = Opening()
        self._link = Credits(clock)
        self._beat = Beat(clock)
        self._layout = Layout()
        self._clock = clock
        self._stream = self._seq = 0
        self._told_version = self._director.version  # of the settings, to the shell
        self._sent_version = 0  # of the settings, to the page
        self._shown: tuple[Any, ...] | None = None  # content of the last frame besides numbers
        self._suspended = False
        self._closed = False
        self._turbo = Turbo()
        self.crowded = False  # whether other pages share the server; the shell says so
        self.relay: Any = None  # what the shell has put there for pages that watch this run
        self.watched = False  # whether there are such pages

    script: ClassVar[str] = ENTRY  # the first file of the page's module

    @staticmethod
    def takes() -> tuple[str, ...]:
        """Return the settings that the explorer goes on with when somebody comes from another page."""
        return SHARED

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as they are, cleaned; a copy."""
        return dict(self._director.settings)

    @property
    def running(self) -> bool:
        """True if the run is going on."""
        session = self.session
        return session is not None and session.status().mode == "running"

    @property
    def session(self) -> Session | None:
        """The session on the page, or None while the first problem is being prepared."""
        stage = self._director.stage
        return None if stage is None else stage.session

    @staticmethod
    def settings_from_query(query: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
        """Settings of an address, and sentences on what was wrong in it."""
        return st.from_query(query)

    @staticmethod
    def query_from_settings(settings: Mapping[str, Any]) -> dict[str, str]:
        """Settings as the texts of an address."""
        return st.to_query(settings)

    def on_message(self, msg: Message) -> None:
        """Take a message of the page. Errors in it are shown on the page, not raised."""
        if self._closed:
            return
        try:
            handlers = {
                "ready": self._on_ready,
                "credit": self._on_credit,
                "set": self._on_set,
                "do": self._on_do,
                "ask": self._on_ask,
                "layout": self._layout.update,
                "turbo": self._on_turbo,
                "open": self._on_open,
            }
            hand_over(msg, handlers)
            self._tell_shell()
        except (ValueError, TypeError) as error:
            self._director.fail(str(error))
            self._sync_controls()
        except Exception as error:  # a bug of ours must reach the page too
            self._director.fail(f"{type(error).__name__}: {error}", traceback.format_exc())

    def poll(self) -> list[Sending]:
        """Return the messages to send now: rare messages at once, and at most one frame if the page has a credit."""
        if self._closed:
            return []
        try:
            self._beat.crowded = self.crowded
            self._beat.polled()
            self._director.look()
            self._tell_shell()
            if not self._link.ready:
                return []
            self._outbox += self._looks.collect()
            frame = self._frame()
            sending: list[Sending] = [(message, []) for message in self._outbox]
            self._outbox.clear()
            return sending if frame is None else [*sending, frame]
        except Exception as error:  # the shell's timer must go on, and the page must say what happened
            text = f"{type(error).__name__}: {error}"
            if self._director.failure is None or self._director.failure["text"] != text:
                self._director.fail(text, traceback.format_exc())
            return [(self._outbox.pop(0), []) for _ in list(self._outbox)] if self._link.ready else []

    def loop_is_late(self, seconds: float) -> None:
        """Take note of the mean delay of the server's event loop."""
        self._beat.lateness = seconds

    def soon(self) -> float:
        """Seconds after which it is worth while to call :meth:`poll` again; a shell may call earlier or later."""
        stage = self._director.stage
        if self._closed or stage is None or not self._may_send(False):
            return math.inf
        wait = self._beat.wait()
        if wait > 0:
            return wait - stage.lead if wait > stage.lead else wait
        return LOOK_AGAIN if stage.awaiting else math.inf

    def tell(self, notice: str) -> None:
        """Show a sentence on the page."""
        self._outbox.append({"type": "notices", "notices": [notice]})

    def suspend(self) -> None:
        """Rest while no page is there to look."""
        if not self._suspended and not self._closed:
            self._suspended = self._director.suspend()

    def resume(self) -> None:
        """Go on after :meth:`suspend`."""
        if self._suspended and not self._closed:
            self._suspended = False
            self._director.resume()

    def close(self) -> None:
        """End the worker and forget the page. Safe to call twice."""
        self._closed = True
        self._link.stop()
        self._turbo.end()
        self._looks.close()
        self._director.close()

    # --------------------------------------------------------------------------------------------- messages of the page
    def _on_ready(self, msg: Message) -> None:
        director = self._director
        self._link.start()
        self._beat.start()
        self._stream += 1
        self._shown, self._sent_version = None, 0
        self._layout = Layout()
        self._outbox.clear()
        if director.stage is not None:
            director.stage.restart()
            director.say_problem()
        self._sync_controls()
        if self.notices:
            self._outbox.append({"type": "notices", "notices": list(self.notices)})
        if director.failure is not None:
            self._outbox.append(director.failure)
        director.start()
        self.resume()

    def _on_credit(self, msg: Message) -> None:
        self._link.give(whole(msg.get("n", 1), "credit: n", 0, 100))

    def _on_set(self, msg: Message) -> None:
        changes = changes_of(msg)
        if self._director.change(changes, ids(msg)):
            self._sync_controls()

    def _on_do(self, msg: Message) -> None:
        action = msg.get("action")
        if not isinstance(action, str) or action not in ACTIONS:
            raise ValueError(f"unknown action {brief(action)}; known: {', '.join(ACTIONS)}")
        self._director.command(action, whole(msg.get("n", 1), f"{action}: n", 1, MAX_STEPS), ids(msg))

    def _on_turbo(self, msg: Message) -> None:
        session = self.session
        if refusal := self._turbo.take(msg, None if session is None else session.turn):
            self.tell(refusal)

    def _on_open(self, msg: Message) -> None:
        recording = self._opening.take(msg)
        if recording is not None:
            self._director.open(recording, ids(msg))
            self._sync_controls()

    def _on_ask(self, msg: Message) -> None:
        found = answer(msg, self._director.stage, self.settings, self._looks)
        if found is not None:
            self._outbox.append(found)

    # ---------------------------------------------------------------------------------------------------------- frames
    def _frame(self) -> Sending | None:
        """The next frame, if there is something to say and the page can take it."""
        director = self._director
        stage = director.stage
        state = self._state()
        shown = (*(value for name, value in state.items() if name != "rate"), director.version, director.epoch)
        answer = director.effects.pending
        urgent = answer or shown != self._shown
        if stage is not None:
            due = self._may_send(bool(answer)) and (urgent or self._beat.wait() <= stage.lead)
            if due or stage.asked:
                stage.want_picture(self._layout.for_others() if self.watched else self._layout, director.settings)
            self._outbox += stage.collect_picture()
        if not self._may_send(answer) or not (urgent or (stage is not None and stage.pending())):
            return None
        if not urgent and (self._beat.wait() > 0 or (stage is not None and stage.awaiting)):
            return None
        self._seq += 1
        header = self._header(state)
        header["anew"] = self._shown is None
        header["applied"] = director.effects.collect()
        if self._sent_version != director.version:
            header["settings"] = self.settings
        self._shown, self._sent_version = shown, director.version
        self._link.spend()
        self._beat.sent()
        return (header, []) if stage is None else self._complete(header, stage, whole=bool(urgent))

    def _state(self) -> Message:
        """Return the state of the run, as it stands in every frame."""
        director, stage = self._director, self._director.stage
        mode, message, rate = director.mode()
        return {
            "mode": mode,
            "message": message,
            "playing": director.playing(mode),
            "rate": rate,
            "late": self._beat.late,
            "turbo": None if stage is None else self._turbo.state(stage.session.turn, self.crowded),
            "preparing": director.preparing(),
            "goal": director.goal(),
        }

    def _header(self, state: Message) -> Message:
        stage = self._director.stage
        generation = 0 if stage is None else stage.session.generation
        return without_news(self._seq, self._stream, self._director.epoch, generation, state)

    def _may_send(self, answer: bool) -> bool:
        """Return whether a frame may go out: by credits, those of watchers too, unless the page draws nothing."""
        hidden = self.watched and self._link.silent
        return self._link.may_send(answer) or (hidden and self._link.since_sent() >= WATCHED_PERIOD)

    def so_far(self) -> list[Sending]:
        """Return the messages that bring another page to what this one was sent so far.

        From there on that page can take the messages of :meth:`poll` that this page gets: the same ones for all who
        watch a run.
        """
        director = self._director
        told = [message for message in (director.problem_facts(), self._controls(), director.failure) if message]
        frame: Sending = ({**self._header(self._state()), "anew": True, "settings": self.settings}, [])
        if director.stage is not None:
            frame[0]["lam"] = float(director.stage.session.problem.lam)
            frame = director.stage.so_far(frame[0])
        return [*((message, []) for message in told), frame]

    def _complete(self, header: Message, stage: Stage, whole: bool) -> Sending:
        header["lam"] = float(stage.session.problem.lam)
        return stage.frame(header, whole)

    def _sync_controls(self) -> None:
        self._outbox.append(self._controls())

    def _controls(self) -> Message:
        """Return the message with the controls as they are now."""
        stage = self._director.stage
        prepared = None if stage is None else stage.prepared
        groups = controls.schema(
            self._director.settings,
            names=self._names,
            given=(self._names[0], self._title) if self._names else None,
            reasons=None if prepared is None else prepared.reasons,
            chosen="" if prepared is None else prepared.chosen,
            lam_reference=None if prepared is None else prepared.lam_reference,
            lam_finite=True if prepared is None else prepared.lam_finite,
            lam_bound=False if prepared is None else prepared.lam_bound,
        )
        return {"type": "controls", "groups": groups, "settings": self.settings}

    def _tell_shell(self) -> None:
        """The shell may keep the settings somewhere (an address): it hears of each change once."""
        if self._told_version != self._director.version:
            self._told_version = self._director.version
            if self.settings_changed is not None:
                self.settings_changed(self.settings)


def _data_names(data: Any, allow_choice: bool) -> list[str] | None:
    """The data sets to choose from, the one that was handed over first; None: the registered ones."""
    if data is None:
        return None
    name = str(getattr(data, "name", "") or st.OWN)
    return [name, *(other for other in datasets.names() if other != name)] if allow_choice else [name]
