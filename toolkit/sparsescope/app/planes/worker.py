"""The thread that computes what the geometry page shows, in turns with all others; the newest settings win."""

from __future__ import annotations

import contextvars
import threading
import time
import traceback
from typing import Any

import numpy as np

from ... import datasets, registry
from ...pauses import pausing
from ...runs.turns import TURNS
from ...runs.watching import is_warm, warm_up
from ...solvers.base import Solver
from .._working import no_classes
from ..base import Message, number
from ..race import LANES, NONE
from .paths import LEVELS, Paths
from .scene import Scene, Window, full_problem

FIRST = 0.02  # seconds of iterations before the first answer
LATER = 0.1  # and between later ones
AS_GIVEN = {"turn": 0.0, "stretch": 1.0, "whiten": False}
OF_DATA = ("dataset", "loss", "penalty", "lam_ratio", "plane")
OF_SCENE = (*OF_DATA, "feature1", "feature2", "class1", "class2", "hold", *AS_GIVEN)
DIGITS = 7  # of coordinates


class Worker:
    """Computes scenes and iterates in a thread, and keeps the newest of each kind of message for the page.

    Parameters
    ----------
    data : a data set or (X, y); ``None``: that of the settings
    """

    def __init__(self, data: Any) -> None:
        self._data = data
        self._wake = threading.Condition()
        self.turn = TURNS.place()
        self._wanted: Message | None = None
        self._number = 0  # of the newest settings
        self._closed = False
        self._messages: dict[str, Message] = {}  # the newest of each type
        self._told: dict[str, Message] = {}  # what look() has handed out
        self.scene: Scene | None = None
        self._given: Scene | None = None
        self._keys: dict[str, Any] = {}
        self._full: Any = None
        self._thread = threading.Thread(
            target=contextvars.copy_context().run, args=(self._work,), daemon=True, name="sparsescope-geometry"
        )
        self._thread.start()

    # ------------------------------------------------------------------------------------------------- for the page
    def want(self, settings: Message) -> None:
        """Compute what belongs to these settings, in place of what was asked for before."""
        with self._wake:
            self._wanted = dict(settings)
            self._number += 1
            self._wake.notify()

    def close(self) -> None:
        """End the thread after the step that is under way."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self.turn.give_up()

    def news(self) -> list[Message]:
        """Return the messages that were not handed out yet."""
        with self._wake:
            found = [message for name, message in self._messages.items() if self._told.get(name) is not message]
            self._told = dict(self._messages)
        return found

    def again(self) -> None:
        """Hand everything out again."""
        self._told = {}

    # --------------------------------------------------------------------------------------------------- the thread
    def _say(self, message: Message) -> None:
        with self._wake:
            self._messages[message["type"]] = message

    def _work(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._wanted is not None or self._closed)
                if self._closed:
                    return
                settings, self._wanted = self._wanted, None
                asked = self._number
            assert settings is not None
            try:
                self._in_a_turn(settings, asked)
            except (ValueError, TypeError) as error:
                self._keys.clear()
                self._say({"type": "status", "text": "", "error": str(error), "detail": ""})
            except Exception as error:  # whatever goes wrong is said on the page
                self._keys.clear()
                detail = traceback.format_exc()
                self._say({"type": "status", "text": "", "error": f"{type(error).__name__}: {error}", "detail": detail})

    def _in_a_turn(self, settings: Message, asked: int) -> None:
        try:
            if self.turn.take(urgent=True):  # somebody drags and waits
                with pausing(self.turn.rest):
                    self._follow(settings, asked)
        finally:
            self.turn.give_back()

    def _newest(self, asked: int) -> bool:
        """Return whether these settings are still the newest; a point where the turn goes to others who wait."""
        if self.turn.over():
            self.turn.give_back()
            self.turn.take()
        return asked == self._number and not self._closed

    def _status(self, text: str) -> None:
        self._say({"type": "status", "text": text, "error": "", "detail": ""})

    def _changed(self, name: str, key: Any) -> bool:
        if self._keys.get(name) == key:
            return False
        self._keys.pop(name, None)
        return True

    def _follow(self, settings: Message, asked: int) -> None:
        data_key = tuple(settings[name] for name in OF_DATA)
        if self._changed("data", data_key):
            self._status("Reading the data …")
            with self.turn.aside():
                data = self._data if self._data is not None else datasets.load(settings["dataset"])
                if reason := no_classes(data):
                    raise ValueError(reason)
                self._full = full_problem(data, settings)
            self._keys["data"] = data_key
        scene_key = tuple(settings[name] for name in OF_SCENE)
        if self._changed("scene", scene_key):
            self._keys.pop("curves", None)
            self._status("Finding F* …")
            with self.turn.aside():  # F* has another thread and other turns
                self.scene = Scene(self._full, settings)
                same = all(settings[name] == value for name, value in AS_GIVEN.items())
                self._given = self.scene if same else Scene(self._full, {**settings, **AS_GIVEN})
            self._keys["scene"] = scene_key
        assert self.scene is not None and self._given is not None
        solvers, reasons = self._solvers(settings)
        start = self._start(settings)
        window = self.scene.window(start) if "curves" not in self._keys else self._keys["curves"][1]
        curves_key = (scene_key, window)
        if not self._newest(asked):
            return
        if self._changed("curves", curves_key):
            self._scene_message(window, reasons, asked)
            if not self._newest(asked):
                return
            self._keys["curves"] = curves_key
        elif reasons != self._messages["scene"]["reasons"]:
            self._say({**self._messages["scene"], "reasons": reasons})
        self._iterate(settings, solvers, start, asked)

    def _solvers(self, settings: Message) -> tuple[dict[str, Solver], dict[str, str]]:
        """Return the solvers of the lanes that take the problem, compiled; and why others do not."""
        assert self.scene is not None
        problem = self.scene.problem
        found: dict[str, Solver] = {}
        reasons = {}
        for name in registry.solvers:
            reasons[name] = registry.solvers.create(name).solves(problem) or ""
        for lane in LANES:
            name = settings[lane]
            if name == NONE or reasons.get(name):
                continue
            fields = {f.name for f in registry.solvers.fields(name)}
            wishes = {"step_length": settings["step_length"], "momentum": settings["momentum"]}
            constant = getattr(registry.solvers.create(name), "line_search", None) is False
            solver = registry.solvers.create(
                name,
                **{key: value for key, value in wishes.items() if key in fields and (constant or key == "momentum")},
            )
            if not is_warm(problem, solver):
                self._status(f"Compiling {name} …")
                with self.turn.aside():
                    warm_up(problem, solver)
            found[name] = solver
        return found, reasons

    def _start(self, settings: Message) -> tuple[float, float]:
        """Return the start in the coordinates of the plane; settings hold it in units of the plane as given."""
        assert self.scene is not None and self._given is not None
        given = self._given.unit * np.array([settings["start1"], settings["start2"]])
        a, b = np.linalg.solve(self.scene.A, given)
        return float(a), float(b)

    def _scene_message(self, window: Window, reasons: dict[str, str], asked: int) -> None:
        scene = self.scene
        assert scene is not None and self._given is not None
        self._status("Drawing the contours of F …")
        drawn = scene.drawing(window, lambda: self._newest(asked))
        if drawn is None:
            return
        problem, reference = scene.problem, scene.reference
        self._say(
            {
                "type": "scene",
                "names": scene.names(),
                "middle": [number(x, DIGITS) for x in window[:2]],
                "half": number(window[2], DIGITS),
                "contours": [{"level": number(c["level"], 6), "points": _flat(c["points"])} for c in drawn["contours"]],
                "kinks": [[number(x, DIGITS) for x in ends] for ends in drawn["kinks"]],
                "ball": _flat(drawn["ball"]),
                "optimum": [number(x, DIGITS) for x in scene.centre],
                "exact": scene.exact,
                "best": number(reference.objective, 12),
                "lower": number(reference.dual, 12),
                "lam": number(problem.lam, 6),
                "sentence": scene.sentence(),
                "to_start": (scene.A / self._given.unit).tolist(),
                "features": [[j, scene.full.feature_name(j)] for j in _listed(scene)],
                "classes": [[k, str(name)] for k, name in enumerate(scene.full.class_names[:100])],
                "chosen": [*scene.choice.features, *scene.choice.classes],
                "levels": list(LEVELS),
                "reasons": reasons,
                "sizes": [problem.n, problem.d, problem.m],
            }
        )

    def _iterate(self, settings: Message, solvers: dict[str, Solver], start: tuple[float, float], asked: int) -> None:
        scene, given = self.scene, self._given
        assert scene is not None and given is not None
        began = time.perf_counter()
        paths = Paths(solvers, scene.plane, start, settings["iterations"])
        plain = None
        if given is not scene:
            there = tuple(float(x) for x in given.unit * np.array([settings["start1"], settings["start2"]]))
            plain = Paths(solvers, given.plane, (there[0], there[1]), settings["iterations"])
        model = scene.model(start, settings["step_length"])
        seconds = FIRST
        while self._newest(asked):
            self._advance(paths, seconds, asked)
            if plain is not None and paths.done:
                self._advance(plain, seconds, asked)
            done = paths.done and (plain is None or plain.done)
            message = self._paths_message(settings, paths, plain, start, done)
            self._say({**message, "model": model, "ms": number(1e3 * (time.perf_counter() - began), 3)})
            if done:
                break
            seconds = LATER
        self._status("")

    def _advance(self, paths: Paths, seconds: float, asked: int) -> None:
        """Make iterations for about so long, a turn at a time."""
        until = time.perf_counter() + seconds
        while not paths.done and time.perf_counter() < until and self._newest(asked):
            paths.advance(min(seconds, TURNS.slice_seconds()))

    def _paths_message(
        self, settings: Message, paths: Paths, plain: Paths | None, start: tuple[float, float], done: bool
    ) -> Message:
        scene, given = self.scene, self._given
        assert scene is not None and given is not None
        facts = paths.facts(scene.reference.objective, scene.reference.dual)
        before = None if plain is None else plain.facts(given.reference.objective, given.reference.dual)
        for k, (path, fact) in enumerate(zip(paths.paths, facts, strict=True)):
            fact["points"] = [number(x, DIGITS) for point in path.points for x in point]
            fact["objective"] = [number(x, 12) for x in path.objective]
            fact["given"] = None if before is None else before[k]["reached"]
        return {
            "type": "paths",
            "wanted": [settings["start1"], settings["start2"]],
            "start": [number(x, DIGITS) for x in start],
            "paths": facts,
            "iterations": settings["iterations"],
            "done": done,
        }


def _flat(points: np.ndarray) -> list[float | None]:
    return [number(float(x), DIGITS) for x in points.ravel()]


def _listed(scene: Scene) -> list[int]:
    """Return the features that a menu offers: the strongest, and those that are chosen."""
    return [*scene.choice.order, *(j for j in scene.choice.features if j not in scene.choice.order)]
