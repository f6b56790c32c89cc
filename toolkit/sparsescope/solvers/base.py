"""Base class of solvers: settings in a frozen Solver, everything that moves in a State.

The loop is not here: :class:`sparsescope.Run` owns it, and the clock. A solver offers ``init`` and ``step``; a step
is one outer iteration. After a step, the weights of the state are the point whose objective, gap and sparsity are
shown.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, ClassVar, TypeVar, dataclass_transform

import numpy as np

from ..problems.base import Certificate
from ..problems.certificate import certify
from ..problems.prediction import Problem
from ..registry import LAST, Column, Field, collect_fields, documented, field
from .shared.scope import SolverScope
from .shared.state import Solution as Solution
from .shared.state import State as State

T = TypeVar("T", bound="type[Solver]")


class Solver(SolverScope):
    """Base of all solvers. Subclasses are decorated with :func:`settings` and declare their fields.

    A subclass implements :meth:`start` (make its state) and :meth:`step`; and, if its state depends on the problem's
    parts, :meth:`adapt`.
    """

    fields: ClassVar[tuple[Field, ...]] = ()
    title: ClassVar[str] = ""
    doc: ClassVar[str] = ""
    source: ClassVar[str] = ""
    remark: ClassVar[str] = ""  # what docs/parts.md says beside ``doc``
    sparse: ClassVar[bool] = False  # True: weights as of State.sparse; it begins at a dual point, not at given W
    follows_lam: ClassVar[bool] = True  # False: its problem has no λ (a budget on the loss instead)
    converges: ClassVar[bool] = True  # False: steps like 1/√t, which come near an optimum and never certify it
    online: ClassVar[bool] = False  # whether it goes from sample to sample: a state counts its steps (t), and goes on
    menu_order: ClassVar[float] = LAST
    # What the contract tests need to know: whether the objective never rises, by construction; the iterations that a
    # relative gap of 1e-9 may take on their small problems; and settings that are worth a run (None: every field at
    # each of its choices, at its bounds and in between).
    monotone: ClassVar[bool] = False
    eliminates_intercept: ClassVar[bool] = False  # True: with sparse X, so that its steps are others than on dense X
    splits: ClassVar[bool] = False  # True: it keeps copies of W that agree in the limit only, so F may rise at first
    contract_iterations: ClassVar[int] = 5000
    contract_settings: ClassVar[tuple[dict[str, Any], ...] | None] = None
    columns: ClassVar[tuple[Column, ...]] = ()  # what its events carry beside the common numbers
    remedy: ClassVar[str] = "choose a larger λ, another solver or other constants"  # against divergence

    def describe_steps(self, problem: Problem, state: State) -> str:
        """Describe the step sizes in use, for the message with which a run ends.

        Parameters
        ----------
        problem
            the problem.
        state
            the state.

        Returns
        -------
        str
            the description; empty if there is nothing to say.
        """
        return ""

    def init(self, problem: Problem, W: Any = None, b: Any = None) -> State:
        """Return a state at given weights; by default at zero, with the best intercept for zero weights.

        Parameters
        ----------
        problem
            the problem.
        W
            weights (d, m).
        b
            intercept (m,).

        Returns
        -------
        State
            the state.

        Raises
        ------
        ValueError
            if the solver cannot solve the problem.
        """
        self.require(problem)
        if b is None and problem.intercept and W is None:
            b = problem.null_intercept
        return self.start(problem, problem.coefficients(W, b))

    def start(self, problem: Problem, coef: np.ndarray) -> State:
        """Make the solver's state around a coefficient array.

        Parameters
        ----------
        problem
            the problem.
        coef
            coefficients (rows, m); the state may keep the array.

        Returns
        -------
        State
            the state.
        """
        return State(problem, coef)

    def step(self, problem: Problem, state: Any) -> None:
        """Do one outer iteration, in place.

        Parameters
        ----------
        problem
            the problem.
        state
            the state.

        Raises
        ------
        TypeError
            if the class does not define it.
        """
        raise TypeError(f"{type(self).__name__} does not define step")

    def step_in_parts(self, problem: Problem, state: Any, rows: int | None) -> Iterator[tuple[int, int]]:
        """Do one outer iteration like :meth:`step`, in parts; between them the state is the point reached so far.

        Solvers that sweep over rows pause (``pauses``); all others do the iteration at once.

        Parameters
        ----------
        problem
            the problem.
        state
            the state.
        rows
            rows to visit between two pauses; ``None``: no pause.

        Yields
        ------
        tuple[int, int]
            number of rows visited, and of all rows of the sweep.
        """
        self.step(problem, state)
        yield from ()

    def successor(self, problem: Any, state: Any) -> tuple[Solver, str] | None:
        """Return the solver that should go on from a state, where this one chooses among others.

        Parameters
        ----------
        problem
            the problem.
        state
            the state after a step.

        Returns
        -------
        tuple[Solver, str] | None
            the solver and the reason; ``None`` to go on as before.
        """
        return None

    def warm_start_from(self, problem: Any, state: State) -> State:
        """Return a state that continues from the weights of another solver, or of this one with other settings.

        A solver that keeps more than weights may take that over too, if the state has it.

        Parameters
        ----------
        problem
            the problem.
        state
            the other solver's state.

        Returns
        -------
        State
            a new state.
        """
        return self.start(problem, state.dense(problem))

    def value(self, problem: Problem, loss: float, penalty: float) -> float:
        """Return the objective at a point.

        Parameters
        ----------
        problem
            the problem.
        loss
            its mean loss.
        penalty
            its Ω(W).

        Returns
        -------
        float
            the objective.
        """
        return loss + problem.lam * penalty

    def target(self, problem: Problem) -> tuple[Any, ...]:
        """Return all that the objective depends on: values of runs with the same target can be compared.

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        tuple[Any, ...]
            a hashable key.
        """
        return problem.key

    def certificate(self, problem: Problem, state: Any, work: Any) -> Certificate:
        """Evaluate the certificate of the state's weights, with its dual point if it has one.

        Parameters
        ----------
        problem
            the problem.
        state
            the state.
        work
            a Workspace, made once per run; ``None`` for states with sparse weights.

        Returns
        -------
        Certificate
            the certificate.
        """
        found = certify(problem, state.coef, state.Z, work, state.dual_rows)
        facts = state.dual_facts(problem)
        return dataclasses.replace(found, **facts) if facts else found

    def conclude(self, problem: Any, state: Any) -> bool:
        """Prepare the weights of a state to be handed back, at the end of a run.

        A solver whose iterates are infeasible replaces them by the feasible point of its certificate.

        Parameters
        ----------
        problem
            the problem.
        state
            the state, changed in place.

        Returns
        -------
        bool
            whether that changed the state.
        """
        return False

    def adapt(self, problem: Any, state: Any) -> State | None:
        """Adapt a state after loss, penalty or λ have changed (warm start); called once per change.

        Parameters
        ----------
        problem
            the new problem.
        state
            the state, changed in place.

        Returns
        -------
        State | None
            a state to continue with instead, at the same weights; ``None`` keeps this one.
        """
        return None

    def lead(self, problem: Any, state: State, earlier: Solution, length: float) -> bool:
        """Move a state along the line through two solutions of a path, where that lowers the objective.

        Parameters
        ----------
        problem
            the problem at the new λ; the state is adapted to it.
        state
            the state at the solution of the last λ, changed in place.
        earlier
            the solution of the λ before that.
        length
            length of the step, in units of that between the two solutions.

        Returns
        -------
        bool
            whether the state has moved.
        """
        return False

    def variant(self, problem: Problem) -> Any:
        """Return what else decides, besides the types of the parts, which kernels a run on this problem needs.

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        Any
            a hashable key, or ``None``.
        """
        return None

    def precompile(self, tiny: Problem, problem: Problem) -> State:
        """Compile every kernel that a run may need, on a tiny problem of the same types.

        One step does that for most solvers; a solver whose first step does not call all its kernels extends this
        method.

        Parameters
        ----------
        tiny
            the tiny problem.
        problem
            the problem to be solved.

        Returns
        -------
        State
            a state of the tiny problem.
        """
        state = self.init(tiny)
        self.step(tiny, state)
        return state

    def __repr__(self) -> str:
        shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in self.fields)
        return f"{type(self).__name__}({shown})"


@dataclass_transform(field_specifiers=(field,), frozen_default=True, kw_only_default=True)
def settings(cls: T) -> T:
    """Make a solver class with declared fields a frozen dataclass that checks its settings.

    Fields of a base class that is decorated itself are inherited; one that is declared again takes its place.
    """
    own = collect_fields(cls)
    fields = tuple({f.name: f for f in (*cls.fields, *own)}.values())
    for f in own:
        setattr(cls, f.name, f.default)

    def check(self: Any) -> None:
        for f in fields:
            object.__setattr__(self, f.name, f.check(getattr(self, f.name), cls.__name__))

    cls.fields = fields
    cls.__doc__ = documented(cls.__doc__, fields)
    cls.__post_init__ = check  # type: ignore[attr-defined]
    made: T = dataclasses.dataclass(frozen=True, kw_only=True, repr=False)(cls)  # type: ignore[assignment]
    return made
