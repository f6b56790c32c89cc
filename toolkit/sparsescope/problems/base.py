"""Base of all kinds of problems: the interface that a run, a trace, a path and a session use."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

from ..registry import NotAllowed
from .measuring import Nothing


@dataclass(frozen=True)
class Certificate:
    """Objective, duality gap and optimality violations at a point (W, b).

    ``objective`` = ``loss`` + λ·``penalty``, and ``gap`` = ``objective`` − ``dual``.

    Parameters
    ----------
    objective, loss, penalty
        F, mean loss and Ω(W).
    dual
        a proved lower bound of the smallest objective.
    gap, relative_gap
        F − dual, and that divided by :meth:`BaseProblem.scale` of the objective.
    violation, violation_sum
        maximum (also over the intercept) and sum of the rows' optimality violations; over the blocks for a penalty
        over blocks of features.
    paper_violation, paper_violation_sum
        the same for Blondel et al. (2013, Eq. 9).
    nonzero_rows, nonzero_entries
        of W.
    active_share, dual_entries
        of a dual iterate; NaN without one.
    excess, equivalent_lam
        of a budget on the loss; NaN without one.
    """

    objective: float
    loss: float
    penalty: float
    dual: float
    gap: float
    relative_gap: float
    violation: float
    violation_sum: float
    paper_violation: float
    paper_violation_sum: float
    nonzero_rows: int
    nonzero_entries: int
    active_share: float = float("nan")
    dual_entries: float = float("nan")
    excess: float = float("nan")
    equivalent_lam: float = float("nan")


def positive(name: str, value: Any) -> float:
    """Return a value as a float.

    Parameters
    ----------
    name
        name of the argument, for the message.
    value
        the value to check.

    Returns
    -------
    float
        the number.

    Raises
    ------
    NotAllowed
        unless it is a positive, finite number.
    """
    try:
        number = float(value)
    except OverflowError:  # its digits are more than anybody reads
        raise NotAllowed(f"{name} is a whole number beyond 1e308; a positive, finite number is needed") from None
    except (TypeError, ValueError):
        raise NotAllowed(f"{name} is {value!r}; a positive number is needed") from None
    if not 0.0 < number < float("inf"):
        raise NotAllowed(f"{name} is {value!r}; it must be positive and finite (there is no solution path at λ = 0)")
    return number


class BaseProblem:
    """Base of all kinds of problems. A problem does not change; :meth:`with_` gives a sibling that shares the data.

    A subclass has ``lam``, ``d`` and ``m`` (the shape of its weights), ``n`` samples, ``dtype``, ``intercept``,
    ``name``, ``feature_names``, ``score_names`` (of the columns of its weights) and ``image_shape``.
    """

    kind: ClassVar[str] = ""  # its name in registry.problems, by which solvers, views and pages say what they are for
    title: ClassVar[str] = ""  # as it reads after "is for"
    default_solver: ClassVar[str] = "auto"  # of a run that names none
    samples: ClassVar[bool] = True  # whether the objective is a mean over samples with targets
    stages: ClassVar[bool] = False  # True: the model is a sequence of fits, whose weights stand by stages
    proves: ClassVar[bool] = True  # False: no bound of the optimum is known, so there is no gap
    least_scale: ClassVar[float] = 0.0  # differences of objectives are divided by no less than this
    lam: float

    def __deepcopy__(self, memo: Any) -> Any:  # copies of states go on with the same data
        return self

    def scale(self, objective: float) -> float:
        """Return the divisor of differences to an objective: ``|F|`` itself, and 1 where F is 0.

        Parameters
        ----------
        objective
            F.

        Returns
        -------
        float
            the divisor.
        """
        return max(abs(objective), self.least_scale) or 1.0

    @property
    def null_objective(self) -> float:
        """F of zero weights (with the best intercept); NaN where it is not known."""
        return float("nan")

    def with_lam(self, lam: float) -> Any:
        """Return a sibling with another λ.

        Parameters
        ----------
        lam
            λ.

        Returns
        -------
        Any
            the sibling.
        """
        return self.with_(lam=lam)

    def _set_lam(self, lam: Any, lam_ratio: Any, default: float) -> None:
        """Set λ from itself or from its ratio to ``lam_reference``, which needs all other parts to be set."""
        self.lam = default
        if lam_ratio is not None:
            if lam is not None:
                raise ValueError(f"lam = {lam!r} and lam_ratio = {lam_ratio!r} are given; give one of them")
            reference: float = getattr(self, "lam_reference")  # noqa: B009
            lam = positive("lam_ratio", lam_ratio) * reference
        if lam is not None:
            self.lam = positive("lam", lam)

    def fresh(self) -> Any:
        """Return the same problem without constants that were computed from the data; itself if it keeps none.

        Returns
        -------
        Any
            the sibling.
        """
        return self

    def with_(self, *, lam: float | None = None, lam_ratio: float | None = None) -> Any:
        """Return a problem on the same data with some parts replaced.

        Parameters
        ----------
        lam
            λ; ``None`` keeps the present one.
        lam_ratio
            λ as a multiple of ``lam_reference``, in place of ``lam``.

        Returns
        -------
        Any
            the sibling.

        Raises
        ------
        TypeError
            if the kind of problem does not define it.
        """
        raise TypeError(f"{type(self).__name__} does not define with_")

    units: ClassVar[tuple[float, float]] = (1.0, 1.0)

    @property
    def natural(self) -> Any:
        """The same problem in the units that solvers are given; see :mod:`sparsescope.problems.natural`."""
        return self

    @property
    def key(self) -> tuple[Any, ...]:
        """Key of the problem among its siblings; λ is the last entry."""
        return (self.lam,)

    @property
    def parts(self) -> dict[str, Any]:
        """Parts of the objective besides λ by name; a part may be a string."""
        return {}

    @property
    def facts(self) -> dict[str, Any]:
        """Deprecated name of :attr:`metadata`; it will be removed in version 0.3."""
        warnings.warn("the facts of a problem are now its metadata", DeprecationWarning, stacklevel=2)
        return self.metadata

    @property
    def metadata(self) -> dict[str, Any]:
        """Sizes, names and parts, as traces and paths keep them (JSON)."""
        of: Any = self
        parts = {name: part if isinstance(part, str) else repr(part) for name, part in of.parts.items()}
        return {
            "kind": of.kind,
            "dataset": of.name,
            "n": of.n,
            "d": of.d,
            "m": of.m,
            "lam": of.lam,
            "intercept": of.intercept,
            "least_scale": of.least_scale,
            **parts,
            "class_names": list(of.score_names),
            "feature_names": None if of.feature_names is None else list(of.feature_names),
            "image_shape": None if of.image_shape is None else list(of.image_shape),
        }

    # -------------------------------------------------------------------------------------------------------- in a run
    @property
    def kernel_types(self) -> tuple[Any, ...]:
        """Return the key of the kernels that a run needs."""
        return (type(self),)

    def feature_name(self, j: int) -> str:
        """Return the name of a feature.

        Parameters
        ----------
        j
            number of the feature.

        Returns
        -------
        str
            its name, or ``feature j``.
        """
        of: Any = self
        names = of.feature_names
        return str(names[j]) if names is not None else f"feature {j}"

    def tiny_sibling(self) -> Any:
        """Return a tiny problem that needs the same kernels: a run compiles them on it before its clock starts.

        Returns
        -------
        Any
            the tiny problem.

        Raises
        ------
        TypeError
            if the kind of problem does not define it.
        """
        raise TypeError(f"{type(self).__name__} does not define tiny_sibling")

    def workspace(self, sparse: bool) -> Any:
        """Return arrays that the certificates of a run share, if they are worth keeping.

        Parameters
        ----------
        sparse
            whether the state's weights are sparse.

        Returns
        -------
        Any
            the arrays, or ``None``.
        """
        return None

    def measuring(self, test: Any = None) -> Any:
        """Return what measures the states of a run beside their certificates.

        Parameters
        ----------
        test
            held-out samples (X, y), or ``None``.

        Returns
        -------
        Any
            an object whose ``measures(problem, state)`` returns numbers by the names of their columns.

        Raises
        ------
        ValueError
            for held-out samples that do not fit.
        """
        if test is not None:
            raise ValueError(f"test is given, and a {self.kind} problem predicts no labels; leave test out")
        return Nothing()

    def describe_sparsity(self, rows: int, entries: int) -> str:
        """Describe the sparsity of weights.

        Parameters
        ----------
        rows
            non-zero rows.
        entries
            non-zero entries.

        Returns
        -------
        str
            the description.
        """
        of: Any = self
        return f"{rows} of {of.d} rows"

    def incompatibility_reason(self, other: Any) -> str | None:
        """Return why a run on this problem cannot continue on another one.

        Parameters
        ----------
        other
            the other problem.

        Returns
        -------
        str | None
            one sentence, or ``None`` if it can.
        """
        return "a live change keeps the data; start a new run for other data"
