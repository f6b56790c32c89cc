"""Carries out the requests of the page: reads data, prepares problems (in a thread), owns the stage and its session."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ..runs.changes import part_name
from ..runs.session import Session
from ..runs.stopping import rounding_gap
from . import effects, kinds, orders
from . import settings as st
from .effects import Effects
from .jobs import Jobs, Outcome
from .optimum import Optimum
from .preparing import Prepared, load, prepare
from .recordings.resuming import going_on
from .stage import Stage

Tell = Callable[[dict[str, Any]], None]


class Director:
    """Settings and what follows from them.

    Parameters
    ----------
    given : data handed over in Python, or None; it goes by the first of ``names``
    names : data sets to choose from, or None for the registered ones
    title : of the given data
    settings : clean settings
    tell : takes messages for the page (``problem``, ``notices``, ``error``)
    settled : called when settings or the choices changed, so that the controls have to be sent
    references : find the optimum of the problem in the background
    """

    def __init__(
        self,
        given: Any,
        names: list[str] | None,
        title: str,
        settings: dict[str, Any],
        tell: Tell,
        settled: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
        references: bool = False,
    ) -> None:
        self.settings = settings
        self.version = 1  # grows when the settings change
        self.stage: Stage | None = None
        self.effects = Effects(clock)
        self.wants_run = False
        self.failure: dict[str, Any] | None = None
        self._given, self._names, self._title = given, names, title
        self._tell, self._settled, self._clock = tell, settled, clock
        self._jobs = Jobs()
        self._optimum = Optimum(clock) if references else None
        self._under_way: tuple[dict[str, Any], bool] | None = None  # settings of the job, and whether it reads data
        self._solvers: dict[str, dict[str, Any]] = {}  # what each task left behind had chosen
        self._ids: list[str] = []  # commands whose effect the job will bring
        self._message = ""
        self._goal: tuple[Any, str, float | None] = (None, "", None)  # of this problem with this rule
        self._epoch = 0
        self._worker_error: str | None = None
        self.recording: Any = None  # the first problem's run goes on from its end

    # --------------------------------------------------------------------------------------------------- what is there
    @property
    def epoch(self) -> int:
        """Counts problems and resets; the page starts afresh when it grows."""
        return self._epoch if self.stage is None else self.stage.epoch

    @property
    def loading(self) -> bool:
        """True if the problem on the page is about to be replaced (or has not come yet)."""
        return self._under_way is not None and (self._under_way[1] or self.stage is None)

    def mode(self) -> tuple[str, str, float | None]:
        """Mode, sentence and iterations a second."""
        if self.loading:
            return "loading", self._message, None
        if self.stage is None:
            return "error", "no problem is loaded", None
        status = self.stage.session.status()
        message = self._message if self._under_way is not None else status.message or ""
        return status.mode, message, float(status.rate) if status.rate == status.rate else None

    def preparing(self) -> dict[str, Any] | None:
        """Describe the problem being prepared while the page still shows another one: ``text``, what is ``shown``, and
        whether it can be cancelled (``cancel``). ``None``: the page shows the problem of the settings."""
        if self.stage is None:
            return None
        session = self.stage.session
        compiling = session.status().mode == "compiling"
        if self._under_way is None and not compiling:
            return None
        parts = " × ".join(part_name(part) for part in session.problem.parts.values())
        return {
            "text": self._message if self._under_way is not None else session.status().message,
            "shown": f"{parts} with {session.solver.name}",
            "cancel": self._under_way is not None,
        }

    def goal(self) -> float | None:
        """The relative gap at which the run is done, if its goal is one."""
        if self.stage is None:
            return None
        problem, stop = self.stage.session.problem, self.settings["stop"]
        if self._goal[:2] != (problem, stop):  # asked for at every look
            self._goal = problem, stop, kinds.of_problem(problem).goal(stop, problem)
        return self._goal[2]

    def playing(self, mode: str) -> bool:
        """Return whether it runs, or will as soon as loading and compiling are done."""
        return mode == "running" or (self.wants_run and mode in ("loading", "compiling", "idle"))

    # -------------------------------------------------------------------------------------------------------- commands
    def change(self, changes: Mapping[str, Any], ids: list[str]) -> bool:
        """Change settings; whether the controls have to be sent again. Wrong values are corrected, with a notice."""
        kind = kinds.of(self.settings)
        changes, told = self._with_solver(changes)
        new, notices = st.merge(self.settings, changes, self._names)
        notices = told + notices
        keys = st.changed(self.settings, new)
        self._say_notices(notices)
        if keys:
            self.settings = new
            self.version += 1
        if keys <= st.light():
            self._change_light(keys, ids)
        else:
            self._ids += ids
            self.prepare(fresh=bool(keys & kinds.of(new).fresh) or kinds.of(new).task != kind.task)
        return bool(notices) or not keys <= {page.lam_setting for page in st.pages()}

    def open(self, recording: Any, ids: list[str]) -> None:
        """Make the problem of a recording; its run goes on from where it ended, paused, if the data are the same.

        ``ValueError``, and nothing changes, if neither a registered set nor the page has its data.
        """
        here = self.stage is not None and recording.belongs_to(self.stage.prepared.problem)
        if "dataset" not in recording.settings and not here:
            raise ValueError(
                f"the data of {recording.title} are not here, so the run cannot go on; the file plays by itself in any "
                "browser. Give the page its data first (Data, or sparsescope explore --data), then open the recording"
            )
        new, notices = st.merge(self.settings, recording.settings, self._names)
        self._say_notices(notices)
        if st.changed(self.settings, new):
            self.settings = new
            self.version += 1
        self.recording, self.wants_run = recording, False
        self._ids += ids
        self.prepare(fresh=True)

    def _with_solver(self, changes: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[str]]:
        """Take the solver that another task had before, or one that applies to it, with a notice."""
        before, task = self.settings["task"], changes.get("task")
        page = st.page_of_task(task)
        if page is None or task == before or "solver" in changes:
            return changes, []
        mine = {key: value for key, value in self.settings.items() if key.partition(".")[0] == "solver"}
        self._solvers[before] = mine
        if task in self._solvers:
            return {**self._solvers[task], **changes}, []
        old, new = self.settings["solver"], page.default_solver
        if old == new:
            return changes, []
        notice = f"{old} does not apply to this task; using {new}. Your choice is restored when you switch back"
        return {**changes, "solver": new}, [notice]

    def command(self, action: str, n: int, ids: list[str]) -> None:
        """``run``, ``pause``, ``step`` (n times), ``reset`` or ``cancel``."""
        if action == "cancel":
            self.cancel(ids)
            return
        if self.stage is None or self.loading:
            # the problem is still on its way: remember the wish to run; there is nothing to pause or to step yet
            self.wants_run = action == "run" or (self.wants_run and action == "step")
            self.effects.done(ids)
            return
        self.wants_run = action == "run"
        session = self.stage.session
        condition = effects.of_command(session, action)
        if action == "run":
            session.play()
        elif action == "pause":
            session.pause()
        elif action == "step":
            session.step(n)
        else:
            session.reset()
            self.failure = None
        self.effects.expect(ids, condition)

    def cancel(self, ids: list[str]) -> None:
        """Call off what is being prepared, and go back to the settings of the problem that is there."""
        self.effects.done(ids)
        if self._under_way is None or self.stage is None:
            return
        self._jobs.cancel()
        self._under_way = None
        self.effects.done(self._take_ids())
        self._restore()
        self._settled()

    def _restore(self) -> None:
        """The settings of the problem that is still there."""
        if self.stage is not None:
            self.recording = None
            self.settings = {**self.stage.prepared.settings, **{key: self.settings[key] for key in st.light()}}
            self.version += 1

    def _change_light(self, keys: set[str], ids: list[str]) -> None:
        """λ, speed, and how things are looked at: no preparation is needed."""
        if self._under_way is not None:
            self._ids += ids  # the job's result is applied with the newest λ and speed
            return
        stage = self.stage
        condition = effects.of_nothing()
        if stage is not None and stage.kind.lam_setting in keys:
            condition = effects.of_tweak(stage.session)
            orders.change(stage.session, self.wants_run, lam=self._lam(stage.prepared))
        if stage is not None and "speed" in keys:
            stage.session.set_speed(orders.rate(self.settings))
        if stage is not None and "every" in keys:
            stage.session.set_every(orders.every(self.settings))
        if stage is not None and "stop" in keys:
            orders.set_stop(stage.session, self.settings)
        self.effects.expect(ids, condition)

    def _lam(self, prepared: Prepared) -> float:
        return kinds.of_problem(prepared.problem).lam(self.settings, prepared.lam_reference)

    # ------------------------------------------------------------------------------------------------------- preparing
    def prepare(self, fresh: bool) -> None:
        """Prepare the problem of the present settings in the thread; ``fresh`` reads the data anew."""
        stage, settings = self.stage, dict(self.settings)
        fresh = fresh or stage is None or (self._under_way is not None and self._under_way[1])
        self._under_way = (settings, fresh)
        given = self._given if self._names and settings["dataset"] == self._names[0] else None
        if fresh:
            self.wants_run = False  # a new problem starts with its first screen
            self._message = f"loading {settings['dataset'] if given is None else self._title} …"
            self._jobs.start(lambda: prepare(settings, load(settings) if given is None else given, None))
        else:
            assert stage is not None
            known = stage.prepared
            self._message = f"preparing {kinds.of(settings).title(settings)} for {settings['solver']} …"
            self._jobs.start(lambda: prepare(settings, known.source, known.problem, known.solver.name))

    def start(self) -> None:
        """The page is there for the first time (or again): prepare the problem unless that is under way or done."""
        if self.stage is None and self._under_way is None:
            self.prepare(fresh=True)

    def look(self) -> None:
        """Take over what the thread has prepared, and look at the state of the worker; to be called often."""
        outcome = self._jobs.collect()
        if outcome is not None and self._under_way is not None:
            self._under_way = None
            if outcome.error:
                self._job_failed(outcome)
            else:
                self._adopt(outcome.value)
            self._settled()
        if self.stage is not None:
            self.stage.follow_reset()
            self.effects.settle()
            self._watch_worker(self.stage.session)
            if self._optimum is not None:
                self._optimum.look(self.stage.session)

    def _adopt(self, prepared: Prepared) -> None:
        self.failure = None
        self._say_notices(prepared.notices)
        # a solver that had to be replaced changes the settings; what needs no job may have moved on meanwhile
        settled = {**prepared.settings, **{key: self.settings[key] for key in st.light()}}
        if settled != self.settings:
            self.settings = settled
            self.version += 1
        old = None if self.stage is None else self.stage.prepared
        if prepared.fresh:
            self._new_stage(prepared)
        else:
            self._change_stage(prepared)
        if old is None or prepared.fresh or prepared.facts != old.facts:
            self.say_problem()

    def _new_stage(self, prepared: Prepared) -> None:
        self._epoch = self.epoch + 1
        if self.stage is not None:
            self.stage.session.close(timeout=0.0)  # its worker ends after the step under way; nobody waits for it
        problem = prepared.problem.with_lam(self._lam(prepared))
        began, self.recording = self.recording, None
        options, notice = ({}, "") if began is None else going_on(began, problem, prepared.solver)
        self._say_notices([notice] if notice else [])
        session = Session(
            problem,
            prepared.solver,
            test=prepared.test,
            speed=orders.rate(self.settings),
            every=orders.every(self.settings),
            **options,
        )
        orders.set_stop(session, self.settings)
        self.stage = Stage(prepared, session, self._epoch, self._clock)
        self._worker_error = None
        self.effects.give_up()
        self.effects.expect(self._take_ids(), lambda: len(session.trace) > 0 or session.status().mode == "error")
        if self.wants_run:
            session.play()
        else:
            session.open()  # compiles, and shows the starting point

    def _change_stage(self, prepared: Prepared) -> None:
        """Hand what changed to the session; the weights stay."""
        stage = self.stage
        assert stage is not None
        keys = st.changed(stage.prepared.settings, prepared.settings)
        parts = kinds.of_problem(prepared.problem).changes(prepared.problem, keys)
        if any(key.partition(".")[0] == "solver" for key in keys):
            parts["solver"] = prepared.solver
        lam = self._lam(prepared)
        if lam != stage.session.target[0].lam:
            parts["lam"] = lam
        before, stage.prepared = stage.prepared.settings, prepared
        self.effects.expect(self._take_ids(), effects.of_tweak(stage.session) if parts else effects.of_nothing())
        if parts:
            orders.change(stage.session, self.wants_run, **parts)
        stage.session.set_speed(orders.rate(self.settings))
        if self.settings["every"] != before["every"]:
            stage.session.set_every(orders.every(self.settings))
        if self.settings["stop"] != before["stop"]:
            orders.set_stop(stage.session, self.settings)

    def _job_failed(self, outcome: Outcome) -> None:
        """Say what happened, and go back to the settings of the problem that is still there."""
        self.fail(outcome.error, outcome.detail)
        self.effects.done(self._take_ids())
        self._restore()

    def _take_ids(self) -> list[str]:
        ids, self._ids = self._ids, []
        return ids

    # -------------------------------------------------------------------------------------------------------- messages
    def problem_facts(self) -> dict[str, Any] | None:
        """Return the message with the facts of the problem; None while there is none."""
        if self.stage is None:
            return None
        rounding = rounding_gap(self.stage.prepared.problem.n)
        return {**self.stage.prepared.facts, "epoch": self.stage.epoch, "rounding_gap": rounding}

    def say_problem(self) -> None:
        """Send the facts of the problem."""
        if (facts := self.problem_facts()) is not None:
            self._tell(facts)

    def fail(self, text: str, detail: str = "") -> None:
        """Show an error on the page; it is shown again to a page that comes later."""
        self.failure = {"type": "error", "text": text, "detail": detail}
        self._tell(self.failure)

    def _say_notices(self, notices: list[str]) -> None:
        if notices:
            self._tell({"type": "notices", "notices": notices})

    def _watch_worker(self, session: Session) -> None:
        """An exception in the solver's worker is shown with its traceback, once."""
        status = session.status()
        if status.error == self._worker_error:
            return
        self._worker_error = status.error
        if status.error:
            self.fail(status.message or status.error.strip().splitlines()[-1], status.error)

    def suspend(self) -> bool:
        """Pause a run; whether there was one."""
        running = self.stage is not None and self.stage.session.status().mode == "running"
        if running and self.stage is not None:
            self.stage.session.pause()
        return running

    def resume(self) -> None:
        """Let the run go on that :meth:`suspend` paused."""
        if self.stage is not None:
            self.stage.session.play()

    def close(self) -> None:
        """End everything; the worker ends after the step under way, which nobody waits for."""
        self._jobs.cancel()
        if self._optimum is not None:
            self._optimum.close()
        if self.stage is not None:
            self.stage.session.close(timeout=0.0)
            self.stage = None
