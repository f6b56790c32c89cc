"""The page of a kind of problem: how the problem is made, what is asked of it, what is shown and said.

The rest of ``live`` uses the page instead of testing the kind of a problem. Every file of ``pages/`` adds one, which
has no state; ``kinds.of(settings)`` is the one that settings mean, ``kinds.of_problem(problem)`` that of a problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from ..registry import solvers, views
from ..runs.session_work import finish_gap
from ..runs.stopping import Gap, HeldOut, Stop
from . import knobs
from . import settings as st
from .setting import PROBLEM, Setting

Settings = dict[str, Any]


class Kind:
    """Base of the pages. ``problem`` is the class of its problems, ``task`` the value of that setting it belongs to;
    the first page of a task ``offer``s it in the menu: label and explanation. Pages of one task stand in the order of
    ``menu_order``."""

    problem: ClassVar[Any]
    task: ClassVar[str]
    offer: ClassVar[tuple[str, str]]
    settings: ClassVar[tuple[Setting, ...]] = ()  # of this page alone
    looks: ClassVar[tuple[dict[str, Any], ...]] = ()  # what is drawn beside the views
    takes: ClassVar[tuple[str, ...]]  # kinds of problems whose solvers can be chosen
    parts: ClassVar[tuple[str, ...]]  # settings of the problem's parts, which may change while it runs
    letters: ClassVar[tuple[str, ...]] = ("n", "d", "m")  # fields of the message `problem` that sum the data up
    sorting: ClassVar[str] = "sort"  # the setting that orders its rows
    lam_setting: ClassVar[str] = "lam_ratio"  # the setting that λ comes from
    stops: ClassVar[Mapping[str, tuple[str, str]]] = {}  # stop rules that are called otherwise, and their meaning
    # stop rules that it does not have: what stands in, and why
    stops_instead: ClassVar[Mapping[str, tuple[str, str]]] = {}
    words: ClassVar[knobs.Words] = {}  # what controls mean here, if not what was declared: explanation and formula

    @property
    def name(self) -> str:
        """The kind of its problems."""
        return str(self.problem.kind)

    @property
    def default_solver(self) -> str:
        """The solver of a first visit: that of a run that names none."""
        return str(self.problem.default_solver)

    @property
    def all_settings(self) -> tuple[Setting, ...]:
        """Return the settings of the page besides data and parts; names of stop rules are those of the page."""
        common = [
            replace(setting, menu={**setting.menu, **self.stops}) if setting is st.STOP and setting.menu else setting
            for setting in st.OF_ALL
        ]
        return (st.task_setting(), *self.settings, *common)

    @property
    def names(self) -> frozenset[str]:
        """Keys of settings that mean something here."""
        return frozenset({"solver", *self.parts, *(setting.name for setting in self.all_settings)})

    @property
    def fresh(self) -> frozenset[str]:
        """Settings whose change makes a new problem from the data."""
        return frozenset({"dataset"} | {setting.name for setting in self.all_settings if setting.effect == PROBLEM})

    def arguments(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of the problem that settings of this page stand for."""
        return {s.argument: s.passes(settings[s.name]) for s in self.settings if s.argument}

    def argument_lines(self, settings: Mapping[str, Any]) -> list[str]:
        """The same as lines of Python."""
        said = self.arguments(settings)
        return [f"    {name}={value!r}," for name, value in said.items() if value is not None]

    @property
    def views(self) -> tuple[str, ...]:
        """The views on its page, in the order of a narrow one: those that say they are for this kind."""
        return tuple(name for name in views if self.name in getattr(views[name], "kinds", ()))

    # --------------------------------------------------------------------------------------------------- the problem
    def create(self, source: Any, settings: Settings) -> tuple[Any, list[str]]:
        """A problem on new data with any λ, and notices. ``settings`` are changed where they do not fit the data."""
        raise TypeError(f"{type(self).__name__} does not define create")

    def sibling(self, problem: Any, settings: Settings) -> Any:
        """The problem with the parts of ``settings``, on the same data."""
        raise TypeError(f"{type(self).__name__} does not define sibling")

    def cross(self, problem: Any, settings: Settings) -> tuple[Any, list[str]]:
        """The problem of ``settings`` on the data of one of another kind with the same task, and notices. ``settings``
        are changed where they do not fit."""
        raise TypeError(f"{type(self).__name__} does not define cross")

    def lam(self, settings: Mapping[str, Any], reference: float) -> float:
        """λ; ``reference`` is the unit of the slider."""
        return float(settings["lam_ratio"]) * reference

    def stop(self, name: str) -> Stop | None:
        """The stop rule of a setting's value; ``None``: at full precision."""
        rules: dict[str, Stop | None] = {"precision": None, "gap": Gap(1e-6), "held-out": HeldOut()}
        return rules[name]

    def goal(self, name: str, problem: Any) -> float | None:
        """The relative gap at which a run with this stop rule is done; ``None``: it has another goal."""
        rule = self.stop(name)
        return finish_gap() if rule is None else getattr(rule, "tol", None)

    def changes(self, problem: Any, keys: set[str]) -> dict[str, Any]:
        """Parts for ``Session.change``, of those settings that changed."""
        return {
            part: getattr(problem, part) for part in self.parts if any(key.partition(".")[0] == part for key in keys)
        }

    def notices(self, problem: Any, solver: Any, old: Any, before: str) -> list[str]:
        """Return notices about a problem and its solver that follow ``old`` and the solver ``before``."""
        return []

    def test(self, source: Any) -> tuple[Any, Any] | None:
        """Held-out samples of the data, if the kind has a use for them."""
        return None

    def bound(self, problem: Any) -> bool:
        """Return whether λ_max is only an upper bound."""
        return False

    @property
    def flat(self) -> str:
        """Return the message for λ_max = 0."""
        return "λ_max is zero, so there is nothing to fit"

    # ------------------------------------------------------------------------------------------------------ the page
    def facts(self, problem: Any, source: Any) -> dict[str, Any]:
        """Its own fields of the message ``problem``."""
        raise TypeError(f"{type(self).__name__} does not define facts")

    def controls(self, settings: Mapping[str, Any], reasons: knobs.Reasons) -> list[dict[str, Any]]:
        """Controls of the problem's parts."""
        return []

    def lam_control(
        self, settings: Mapping[str, Any], reference: float | None, finite: bool, bound: bool
    ) -> dict[str, Any]:
        """The slider of λ."""
        return knobs.lam_control(settings, reference, finite, bound, words=self.words)

    def solver_names(self) -> list[str]:
        """Return the names in the menu of solvers, without solvers of other kinds of problems."""
        return [name for name in solvers.names() if set(solvers[name].kinds) & set(self.takes)]

    def impossible(self, problem: Any, settings: Mapping[str, Any]) -> dict[tuple[str, str], str]:
        """Reasons for each (setting, value) that does not fit: here for the solvers, and with the value "" for
        settings of the chosen one that have no effect."""
        solver = st.make_part(settings, "solver")
        found = {(f"solver.{name}", ""): why for name, why in solver.idle(problem).items()}
        for name in self.solver_names():
            chosen = name == settings["solver"]
            solver = st.make_part(settings, "solver") if chosen else solvers.create(name)
            reason = self.refusal(solver, name, problem, settings)
            if reason is not None:
                found["solver", name] = str(reason)
        return found

    def refusal(self, solver: Any, name: str, problem: Any, settings: Mapping[str, Any]) -> str | None:
        """Return why a solver of this name cannot be combined with the other settings; ``None`` if it can."""
        reason: str | None = solver.solves(problem)
        return reason

    def title(self, settings: Mapping[str, Any]) -> str:
        """Describe the problem that is being prepared or solved."""
        raise TypeError(f"{type(self).__name__} does not define title")

    def columns(self, problem: Any) -> tuple[str, ...]:
        """Columns of the trace that the page gets beside those of all kinds."""
        return ()

    def take(self, problem: Any, state: Any, wish: Any) -> Any:
        """The picture of the weights that the page wishes; runs in the solver's worker."""
        raise TypeError(f"{type(self).__name__} does not define take")

    def take_past(self, problem: Any, weights: Any, wish: Any) -> Any:
        """The picture of weights that the trace kept; ``None``: of this kind none are kept. Runs as :meth:`take`."""
        return None

    def strip(self, problem: Any, state: Any, solver: Any, work: Any, columns: int) -> Any:
        """The threshold strip; ``None``: this kind has none. Runs in the solver's worker, as :meth:`take`."""
        return None

    def row_name(self, problem: Any, row: int) -> str | None:
        """Return the name of a row of the picture; ``None`` if there is no such row."""
        return str(problem.feature_name(row)) if 0 <= row < problem.d else None

    def solution(self, settings: Mapping[str, Any]) -> list[str]:
        """Lines of Python that solve ``problem`` and print the result."""
        return [
            f"problem = problem.with_lam({settings['lam_ratio']!r} * problem.lam_reference)",
            f"result = ss.solve(problem, solver={st.part_text(settings, 'solver', 'solvers')}, tol=1e-6)",
            "print(result)",
        ]

    def parts_of(self, problem: Any) -> dict[str, Any]:
        """Return the parts of a problem that may change while it runs, as ``problem.with_`` takes them."""
        return {name: getattr(problem, name) for name in self.parts}

    def snippet(self, settings: Mapping[str, Any], data: str) -> list[str]:
        """Lines of Python that make ``problem`` from the expression ``data``."""
        raise TypeError(f"{type(self).__name__} does not define snippet")
