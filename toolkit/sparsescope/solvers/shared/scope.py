"""Scope of a solver: the problems that it takes, and the sentences that refuse the others and name who takes them."""

from __future__ import annotations

from typing import Any, ClassVar

from ...problems.prediction import Problem
from ...registry import NotAllowed, problems, solvers


class SolverScope:
    """Problems that a solver takes; see :class:`sparsescope.solvers.Solver`."""

    kinds: ClassVar[tuple[str, ...]] = (Problem.kind,)  # the kinds of problems it is for, of registry.problems
    losses: ClassVar[
        tuple[str, ...]
    ] = ()  # registry names of the only losses it is for; none: whatever refuses() takes
    takes_weights: ClassVar[bool] = False  # whether it solves penalties with weights of single entries
    two_classes: ClassVar[bool] = False  # whether it is for two classes with a score for each, and nothing else
    only_penalties: ClassVar[tuple[str, ...]] = ()  # registry names of the only penalties it is for; none: all
    takes_sample_weights: ClassVar[bool] = False  # whether it weighs samples: kernels are given *problem.terms
    takes_feature_weights: ClassVar[bool] = False  # whether it weighs features: kernels are given problem.row_penalty
    takes_intercept: ClassVar[bool] = True
    takes_partitions: ClassVar[bool] = False  # whether sums over blocks of rows are all that it needs of X
    takes_blocks: ClassVar[bool] = False  # whether it solves penalties over blocks of features (problem.regulariser)
    pauses: ClassVar[bool] = False  # whether step_in_parts pauses within an iteration
    delegates: ClassVar[bool] = False  # True: it has no steps, and chooses a solver that has

    @property
    def name(self) -> str:
        """Registry name, or the class's name for a solver that is not registered."""
        return solvers.name_of(self) or type(self).__name__

    def solves(self, problem: Any) -> str | None:
        """Return why this solver cannot solve a problem, which may be of any kind.

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        str | None
            one sentence, or ``None`` if it can.
        """
        if problem.kind not in self.kinds:
            fitting = [name for name in solvers if problem.kind in getattr(solvers[name], "kinds", ())]
            return (
                f"{self.name} is for {' and '.join(problems.title(kind) for kind in self.kinds)}; for "
                f"{problems.title(problem.kind)} there are {', '.join(fitting) or 'no solvers'}"
            )
        if not self.takes_sample_weights and getattr(problem, "sample_weight", None) is not None:
            return (
                f"{self.name} gives every sample the same weight, and this problem has weights of samples or "
                f"classes. Solvers that weigh samples: {self._weighing(problem, 'takes_sample_weights')}"
            )
        if not self.takes_feature_weights and getattr(problem, "feature_weights", None) is not None:
            return (
                f"{self.name} penalises all features alike, and this problem has weights of features. Solvers that "
                f"weigh features: {self._weighing(problem, 'takes_feature_weights')}"
            )
        if not self.takes_partitions and getattr(problem, "partitioned", False):
            return (
                f"{self.name} needs X as one matrix, and this problem has it in blocks of rows. Solvers that work on "
                f"blocks: {self._weighing(problem, 'takes_partitions')}"
            )
        return self.refuses(problem)

    def refuses_parts(self) -> str | None:
        """Return why this solver cannot report events within an iteration.

        Returns
        -------
        str | None
            one sentence, or ``None`` if it can.
        """
        if self.pauses or self.delegates:
            return None
        fitting = ", ".join(name for name in solvers if solvers[name].pauses)
        return (
            f"{self.name} has no sweeps over rows, so there are no events within them. Solvers with sweeps: {fitting}"
        )

    def refuses(self, problem: Problem) -> str | None:
        """Return why this solver cannot solve a problem of a kind that it is for.

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        str | None
            one sentence, or ``None`` if it can.
        """
        if not problem.loss.smooth:
            return (
                f"{self.name} needs a smooth loss; the {problem.loss.title} loss is not smooth. "
                "Choose a smooth loss or a solver for non-smooth ones"
            )
        return self.refuses_blocks(problem)

    def refuses_all_but_ridge(self, problem: Problem) -> str | None:
        """Return why the solver cannot handle the penalty, if that is not ½‖W‖².

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        str | None
            one sentence, or ``None`` if it can.
        """
        if problem.penalty.entry_terms() == (0.0, 1.0):
            return None
        return (
            f"{self.name} needs the ridge penalty, whose curvature is the same everywhere; the "
            f"{problem.penalty.title} penalty is not smooth, or absent. Choose ridge"
        )

    def refuses_blocks(self, problem: Problem) -> str | None:
        """Return why the solver cannot handle the penalty's blocks or weights of single entries.

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        str | None
            one sentence, or ``None`` if it can.
        """
        if problem.regulariser.weights is not None:
            return (
                None
                if self.takes_weights
                else (
                    f"{self.name} has one penalty for all entries of W, and the {problem.penalty.title} penalty has a "
                    f"weight for each. Solvers that fit: {self._others(problem, 'takes_weights')}"
                )
            )
        if self.takes_blocks or problem.regulariser.blocks is None:
            return None
        return (
            f"{self.name} works on single rows of W, and the {problem.penalty.title} penalty ties the rows of a "
            f"block. Solvers that fit: {self._others(problem, 'takes_blocks')}"
        )

    @staticmethod
    def _weighing(problem: Any, able: str) -> str:
        """The solvers of problems of this kind that take such weights."""
        fitting = [
            name for name in solvers if getattr(solvers[name], able, False) and problem.kind in solvers[name].kinds
        ]
        return ", ".join(fitting) or "none"

    @staticmethod
    def _others(problem: Problem, able: str) -> str:
        fitting = [
            name
            for name in solvers
            if getattr(solvers[name], able, False) and solvers.create(name).solves(problem) is None
        ]
        return ", ".join(fitting) or "none for this loss"

    def idle(self, problem: Any) -> dict[str, str]:
        """Return the settings of this solver that have no effect on this problem.

        Parameters
        ----------
        problem
            the problem.

        Returns
        -------
        dict[str, str]
            the reason for each of them, by name.
        """
        return {}

    def require(self, problem: Any) -> None:
        """Raise an error if the problem cannot be solved.

        Parameters
        ----------
        problem
            the problem.

        Raises
        ------
        NotAllowed
            with the reason.
        """
        reason = self.solves(problem)
        if reason is not None:
            raise NotAllowed(reason)
