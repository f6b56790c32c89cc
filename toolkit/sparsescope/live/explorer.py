"""The explorer: everything a page needs, without a page. Shells (Panel, anywidget) only carry its messages.

    page ── on_message ──▶ Explorer ── play/tweak ──▶ Session ──▶ Trace
    page ◀── poll ─────── packer, pictures ◀──────── reads by index

All methods are called from one thread (the shell's loop); loading and preparing happen in a thread of ``jobs``, solving
in the session's worker, and both are only ever *read* here.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import datasets
from ..session import Session
from . import controls, effects
from . import settings as st
from .credits import Credits
from .effects import Effects
from .jobs import Jobs, Outcome
from .preparing import Prepared, load, prepare
from .snippet import python_snippet
from .stage import Layout, Stage

FRAME_PERIOD = 0.045  # seconds between frames at least: the page and the solver share the machine
LATE_PERIOD = 0.2  # the same when the shell polls late
LATE = 0.12  # mean seconds between polls from which the server counts as busy
MAX_STEPS = 10_000
MAX_ASKED_NAMES = 1000

Message = dict[str, Any]
Sending = tuple[Message, list[bytes]]


class Explorer:
    """A live session behind plain messages.

    Parameters
    ----------
    data : a Dataset, a pair ``(X, y)``, or None to choose from the registered data sets
    settings : settings to start with, from anywhere: they are cleaned, and what was corrected is shown on the page
    allow_data_choice : False leaves only ``data``
    notices : further sentences for the page, such as those of :meth:`settings_from_query`
    clock : seconds; replaced in tests
    """

    def __init__(
        self,
        data: Any = None,
        settings: Mapping[str, Any] | None = None,
        allow_data_choice: bool = True,
        *,
        notices: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if data is None and not allow_data_choice:
            raise ValueError("without data there must be a choice of data: pass data or allow_data_choice=True")
        self.settings_changed: Callable[[dict[str, Any]], None] | None = None
        self._clock = clock
        self._given = data
        self._names = _data_names(data, allow_data_choice)
        self._title = "" if data is None else str(getattr(data, "title", "") or "your data")
        self._settings, corrected = st.clean(settings or {}, self._names)
        self.notices = [*notices, *corrected]
        self._jobs = Jobs()
        self._link = Credits(clock)
        self._layout = Layout()
        self._stage: Stage | None = None
        self._preparing: tuple[dict[str, Any], bool] | None = None  # settings of the job under way; fresh?
        self._message = ""
        self._run_wanted = False
        self._outbox: list[Message] = []
        self._failure: Message | None = None
        self._worker_error: str | None = None
        self._effects = Effects(clock)
        self._job_ids: list[str] = []  # commands whose effect the job under way will bring
        self._stream = self._seq = 0
        self._epoch = 0
        self._settings_version, self._shown_version = 1, 0
        self._shown: tuple[Any, ...] | None = None
        self._polled: float | None = None
        self._interval = 0.0
        self._closed = False

    # ------------------------------------------------------------------------------------------------------- the face
    @property
    def settings(self) -> dict[str, Any]:
        """The settings as they are, cleaned; a copy."""
        return dict(self._settings)

    @property
    def session(self) -> Session | None:
        """The session on the page, or None while the first problem is being prepared."""
        return None if self._stage is None else self._stage.session

    @staticmethod
    def settings_from_query(query: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
        """Settings of an address, and sentences on what was wrong in it."""
        return st.from_query(query)

    @staticmethod
    def query_from_settings(settings: Mapping[str, Any]) -> dict[str, str]:
        """Settings as the texts of an address."""
        return st.to_query(settings)

    def on_message(self, msg: Message) -> None:
        """Take a message of the page. What is wrong with it is answered on the page, not raised."""
        if self._closed:
            return
        try:
            if not isinstance(msg, dict):
                raise ValueError(f"a message is a JSON object; this is {type(msg).__name__}")
            kind = msg.get("type")
            handlers = {
                "ready": self._on_ready, "credit": self._on_credit, "set": self._on_set, "do": self._on_do,
                "ask": self._on_ask, "layout": self._on_layout,
            }
            if kind not in handlers:
                raise ValueError(f"unknown message {kind!r}; known: {', '.join(handlers)}")
            handlers[kind](msg)
        except (ValueError, TypeError) as problem:
            self._fail(str(problem))
            self._sync_controls()
        except Exception as problem:  # a bug of ours must reach the page too
            self._fail(f"{type(problem).__name__}: {problem}", traceback.format_exc())

    def poll(self) -> list[Sending]:
        """What may be sent now: rare messages at once, and at most one frame if the page has a credit."""
        if self._closed:
            return []
        try:
            self._watch_interval()
            self._collect_job()
            self._watch_worker()
            if not self._link.ready:
                return []
            sending: list[Sending] = [(message, []) for message in self._outbox]
            self._outbox = []
            frame = self._frame()
            return sending if frame is None else [*sending, frame]
        except Exception as problem:  # the shell's timer must go on, and the page must say what happened
            self._fail(f"{type(problem).__name__}: {problem}", traceback.format_exc())
            return []

    def close(self) -> None:
        """End the worker and forget the page. Safe to call twice."""
        self._closed = True
        self._link.stop()
        self._jobs.cancel()
        if self._stage is not None:
            self._stage.session.close(timeout=1.0)
            self._stage = None

    # --------------------------------------------------------------------------------------------- messages of the page
    def _on_ready(self, msg: Message) -> None:
        self._link.start()
        self._stream += 1
        self._shown, self._shown_version = None, 0
        self._outbox = []
        self._layout = Layout()
        if self._stage is not None:
            self._stage.restart()
            self._say_problem()
        self._sync_controls()
        if self.notices:
            self._outbox.append({"type": "notices", "notices": list(self.notices)})
        if self._failure is not None:
            self._outbox.append(self._failure)
        if self._stage is None and self._preparing is None:
            self._start_job(fresh=True)

    def _on_credit(self, msg: Message) -> None:
        self._link.give(_whole(msg.get("n", 1), "credit: n", 0, 100))

    def _on_layout(self, msg: Message) -> None:
        self._layout.update(msg)

    def _on_do(self, msg: Message) -> None:
        action = msg.get("action")
        if action not in ("run", "pause", "step", "reset"):
            raise ValueError(f"unknown action {action!r}; known: run, pause, step, reset")
        if self._stage is None or self._preparing is not None and self._preparing[1]:
            # the problem is still on its way: remember the wish to run, there is nothing to pause or step
            self._run_wanted = action == "run" or (self._run_wanted and action not in ("pause", "reset"))
            self._effects.done(_ids(msg))
            return
        session = self._stage.session
        condition = effects.of_command(session, action)
        if action == "run":
            session.play()
        elif action == "pause":
            session.pause()
        elif action == "step":
            session.step(_whole(msg.get("n", 1), "step: n", 1, MAX_STEPS))
        else:
            session.reset()
            self._failure = None
        self._effects.expect(_ids(msg), condition)

    def _on_ask(self, msg: Message) -> None:
        kind, key = msg.get("kind"), str(msg.get("id", ""))
        if kind == "snippet":
            self._outbox.append({"type": "answer", "id": key, "kind": kind, "text": python_snippet(self._settings)})
            return
        if self._stage is None:
            raise ValueError("there is no problem yet")
        problem = self._stage.prepared.problem
        if kind == "value":
            row, cls = msg.get("row"), msg.get("cls")
            if not isinstance(row, int) or not isinstance(cls, int):
                raise ValueError(f"a value is asked for by row and class numbers, not {row!r} and {cls!r}")
            self._stage.ask_value(key, row, cls)
        elif kind == "names":
            rows = msg.get("rows")
            if not isinstance(rows, list) or not all(isinstance(j, int) and 0 <= j < problem.d for j in rows):
                raise ValueError(f"names are asked for by row numbers from 0 to {problem.d - 1}")
            rows = rows[:MAX_ASKED_NAMES]
            names = [problem.feature_name(j) for j in rows]
            self._outbox.append({"type": "answer", "id": key, "kind": kind, "rows": rows, "names": names})
        else:
            raise ValueError(f"unknown question {kind!r}; known: value, names, snippet")

    def _on_set(self, msg: Message) -> None:
        changes = msg.get("changes")
        if not isinstance(changes, dict):
            raise ValueError("set: changes is missing; an object of settings is needed")
        old = self._settings
        new, notices = st.merge(old, changes, self._names)
        if notices:
            self._outbox.append({"type": "notices", "notices": notices})
        keys = st.changed(old, new)
        self._settings = new
        ids = _ids(msg)
        if keys & {"dataset", "intercept", "seed"}:
            self._job_ids += ids
            self._start_job(fresh=True)
        elif any(key.partition(".")[0] in st.PARTS for key in keys):
            self._job_ids += ids
            self._start_job(fresh=False)
        else:
            self._set_light(keys, ids)
        if keys:
            self._tell_settings()
        if notices or keys - {"lam_ratio"}:
            self._sync_controls()

    def _set_light(self, keys: set[str], ids: list[str]) -> None:
        """Settings that need no preparation: λ, speed, and how things are looked at."""
        stage = self._stage
        if stage is not None and self._preparing is None:
            condition = effects.of_nothing()
            if "lam_ratio" in keys:
                condition = effects.of_tweak(stage.session)
                _change(stage.session, lam=self._settings["lam_ratio"] * stage.prepared.lam_reference)
            if "speed" in keys:
                stage.session.set_speed(_rate(self._settings))
            self._effects.expect(ids, condition)
        elif self._preparing is not None:
            self._job_ids += ids  # the job's result is applied with the newest λ and speed
        else:
            self._effects.done(ids)

    # ------------------------------------------------------------------------------------------------------ preparing
    def _start_job(self, fresh: bool) -> None:
        """Prepare the problem of the present settings; ``fresh`` reads the data anew."""
        stage, settings = self._stage, dict(self._settings)
        fresh = fresh or stage is None or (self._preparing is not None and self._preparing[1])
        self._preparing = (settings, fresh)
        given = self._given if self._given is not None and settings["dataset"] == (self._names or [""])[0] else None
        if fresh:
            self._message = f"loading {self._title if given is not None else settings['dataset']} …"
            self._jobs.start(lambda: prepare(settings, load(settings) if given is None else given, None))
        else:
            assert stage is not None
            known = stage.prepared
            self._message = f"preparing {settings['loss']} × {settings['penalty']} for {settings['solver']} …"
            self._jobs.start(lambda: prepare(settings, known.source, known.problem))

    def _collect_job(self) -> None:
        outcome = self._jobs.collect()
        if outcome is None or self._preparing is None:
            return
        self._preparing = None
        if outcome.error:
            self._job_failed(outcome)
            return
        prepared: Prepared = outcome.value
        self._failure = None
        if prepared.notices:
            self._outbox.append({"type": "notices", "notices": prepared.notices})
        self._adopt_settings(prepared)
        if prepared.fresh:
            self._new_stage(prepared)
        else:
            self._tweak(prepared)
        self._say_problem()
        self._sync_controls()

    def _adopt_settings(self, prepared: Prepared) -> None:
        """A solver that had to be replaced changes the settings; view settings may have moved on meanwhile."""
        plain = {key: value for key, value in self._settings.items() if key in st.PLAIN and key not in ("intercept", "seed")}
        settled = {**prepared.settings, **plain}
        if settled != self._settings:
            self._settings = settled
            self._tell_settings()

    def _job_failed(self, outcome: Outcome) -> None:
        """Say what happened and go back to the settings of the problem that is still there."""
        self._fail(outcome.error, outcome.detail)
        self._effects.done(self._job_ids)
        self._job_ids, self._run_wanted = [], False
        if self._stage is not None:
            known = self._stage.prepared.settings
            plain = {key: value for key, value in self._settings.items() if key in st.PLAIN}
            self._settings = {**known, **plain, "intercept": known["intercept"], "seed": known["seed"]}
            self._tell_settings()
        self._sync_controls()

    def _new_stage(self, prepared: Prepared) -> None:
        old = self._stage
        self._epoch = 1 + (old.epoch if old is not None else self._epoch)
        if old is not None:
            old.session.close(timeout=0.0)  # its worker ends by itself after the step under way; nobody waits for it
        problem = prepared.problem.with_lam(self._settings["lam_ratio"] * prepared.lam_reference)
        session = Session(problem, prepared.solver, test=prepared.test, speed=_rate(self._settings))
        self._stage = Stage(prepared, session, self._epoch, self._clock)
        self._worker_error = None
        self._effects.give_up()
        ids, self._job_ids = self._job_ids, []
        self._effects.expect(ids, lambda: len(session.trace) > 0 or session.status().mode == "error")
        if self._run_wanted:
            self._run_wanted = False
            session.play()
        else:
            session.open()  # compiles, and shows the starting point

    def _tweak(self, prepared: Prepared) -> None:
        """Hand what changed to the running session; the weights stay."""
        stage = self._stage
        assert stage is not None
        keys = st.changed(stage.prepared.settings, prepared.settings)
        kinds = {key.partition(".")[0] for key in keys}
        parts: dict[str, Any] = {kind: getattr(prepared.problem, kind) for kind in ("loss", "penalty") if kind in kinds}
        if "solver" in kinds:
            parts["solver"] = prepared.solver
        lam = self._settings["lam_ratio"] * prepared.lam_reference
        if lam != stage.session.problem.lam:
            parts["lam"] = lam
        stage.prepared = prepared
        ids, self._job_ids = self._job_ids, []
        condition = effects.of_tweak(stage.session) if parts else effects.of_nothing()
        if parts:
            _change(stage.session, **parts)
        self._effects.expect(ids, condition)
        stage.session.set_speed(_rate(self._settings))

    # --------------------------------------------------------------------------------------------------------- frames
    def _frame(self) -> Sending | None:
        stage = self._stage
        if stage is not None:
            stage.follow_reset()
            self._epoch = stage.epoch
            stage.want_picture(self._layout, self._settings["sort"])
            self._outbox += stage.collect_picture()
            self._effects.settle()
        mode, message, rate, generation = self._mode()
        late = self._interval > LATE
        shown = (mode, message, self._settings_version, late, self._epoch)
        urgent = self._effects.pending or shown != self._shown
        if not self._link.may_send() or not (urgent or (stage is not None and stage.pending())):
            return None
        if not urgent and self._link.since_sent() < (LATE_PERIOD if late else FRAME_PERIOD):
            return None
        self._seq += 1
        header: Message = {
            "type": "frame", "seq": self._seq, "stream": self._stream, "epoch": self._epoch, "generation": generation,
            "clock": time.time(), "mode": mode, "message": message, "rate": rate, "late": late,
            "applied": self._effects.collect(), "settings": None, "lam": None, "start": 0, "count": 0, "total": 0, "columns": [],
            "best": [], "lower": [], "marks": [], "raster": None, "picture": None, "names": {}, "status": None,
        }
        if self._shown_version != self._settings_version:
            header["settings"] = self.settings
        self._shown, self._shown_version = shown, self._settings_version
        self._link.spend()
        if stage is None:
            return header, []
        header["lam"] = float(stage.session.problem.lam)
        return stage.frame(header)

    def _mode(self) -> tuple[str, str, float | None, int]:
        """Mode, sentence, iterations a second, generation."""
        generation = 0 if self._stage is None else self._stage.session.generation
        if self._preparing is not None and (self._preparing[1] or self._stage is None):
            return "loading", self._message, None, generation
        if self._stage is None:
            return "error", "no problem is loaded", None, generation
        status = self._stage.session.status()
        message = self._message if self._preparing is not None else status.message
        return status.mode, message or "", _finite(status.rate), generation

    def _watch_worker(self) -> None:
        """An exception in the solver's worker is shown with its traceback, once."""
        if self._stage is None:
            return
        status = self._stage.session.status()
        if status.error != self._worker_error:
            self._worker_error = status.error
            if status.error:
                self._fail(status.message or status.error.strip().splitlines()[-1], status.error)

    def _watch_interval(self) -> None:
        now = self._clock()
        if self._polled is not None:
            self._interval += 0.1 * (min(now - self._polled, 1.0) - self._interval)
        self._polled = now

    # ------------------------------------------------------------------------------------------------------- messages
    def _say_problem(self) -> None:
        assert self._stage is not None
        self._outbox.append({**self._stage.prepared.facts, "epoch": self._stage.epoch})

    def _sync_controls(self) -> None:
        """Send the controls as they are now."""
        prepared = None if self._stage is None else self._stage.prepared
        groups = controls.schema(
            self._settings,
            names=self._names,
            given=None if self._given is None or not self._names else (self._names[0], self._title),
            reasons=None if prepared is None else prepared.reasons,
            lam_reference=None if prepared is None else prepared.lam_reference,
            lam_finite=True if prepared is None else prepared.lam_finite,
        )
        self._outbox.append({"type": "controls", "groups": groups, "settings": self.settings})

    def _fail(self, text: str, detail: str = "") -> None:
        self._failure = {"type": "error", "text": text, "detail": detail}
        self._outbox.append(self._failure)

    def _tell_settings(self) -> None:
        self._settings_version += 1
        if self.settings_changed is not None:
            self.settings_changed(self.settings)


def _data_names(data: Any, allow_choice: bool) -> list[str] | None:
    """The data sets to choose from, the one that was handed over first; None: the registered ones."""
    if data is None:
        return None
    name = str(getattr(data, "name", "") or st.OWN)
    return [name, *(other for other in datasets.names() if other != name)] if allow_choice else [name]


def _change(session: Session, **parts: Any) -> None:
    """Tweak; a run that had finished goes on with the changed problem."""
    finished = session.status().mode == "finished"
    session.tweak(**parts)
    if finished:
        session.play()


def _rate(settings: Mapping[str, Any]) -> float | None:
    return None if settings["speed"] == st.MAX else float(settings["speed"])


def _finite(value: Any) -> float | None:
    return None if value is None or not value == value or value in (float("inf"), float("-inf")) else float(value)


def _ids(msg: Message) -> list[str]:
    return [str(msg["id"])] if msg.get("id") is not None else []


def _whole(value: Any, what: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise ValueError(f"{what} is {value!r}; a whole number is needed")
    if not low <= value <= high:
        raise ValueError(f"{what} is {value:g}; allowed: {low} to {high}")
    return int(value)
