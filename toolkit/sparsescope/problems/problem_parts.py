"""ProblemParts: loss, penalty and λ of a problem, checked, and its siblings with others."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any, Self

from ..losses import Loss
from ..penalties import ElasticNet, Penalty
from ..registry import losses, penalties
from . import natural, scalings
from .problem_point import ProblemPoint
from .regulariser import Regulariser

MOST_NAMES = 5  # classes that a message lists
DEFAULT_LAM = 1e-3


class ProblemParts(ProblemPoint):
    """Parts of a problem, and problems on the same data with other parts; see :class:`sparsescope.Problem`."""

    def _set(self, loss: Any, penalty: Any, lam: float | None, lam_ratio: float | None = None) -> None:
        self.loss = _part(losses, Loss, loss)
        self.penalty = _part(penalties, Penalty, penalty)
        self._check_targets()
        self.regulariser: Regulariser = self._regulariser(self.penalty)
        if self.feature_weights is not None and self.regulariser.free is not None and not self.loss.smooth:
            raise ValueError(
                f"a feature of weight 0 needs a smooth loss, and the {self.loss.title} loss is not smooth: "
                "what fits best without penalty is then not known exactly. Give it a small weight"
            )
        self._set_lam(lam, lam_ratio, DEFAULT_LAM)

    def _check_targets(self) -> None:
        kind, other = ("sets", "classes") if self.multilabel else ("classes", "sets")
        if kind not in self.loss.target_types:
            words = {"sets": "label sets", "classes": "one class a sample"}
            fitting = [name for name in losses if kind in getattr(losses[name], "target_types", ())]
            raise ValueError(
                f"the {self.loss.title} loss needs {words[other]}, and y has {words[kind]}; losses that "
                f"fit: {', '.join(fitting)}"
            )
        if self.loss.one_score and self.classes != 2:
            names = ", ".join(self.class_names[:MOST_NAMES]) + (", …" if self.classes > MOST_NAMES else "")
            raise ValueError(
                f"the {self.loss.title} loss has one score, which separates two classes, and y has "
                f"{self.classes} ({names}); choose two of them, or a loss with a score for each class"
            )

    # ------------------------------------------------------------------------------------------------------- siblings
    def with_(
        self, *, lam: float | None = None, lam_ratio: float | None = None, loss: Any = None, penalty: Any = None
    ) -> Self:
        """Return a problem on the same data with some parts replaced; data and cached constants are shared.

        Parameters
        ----------
        lam
            λ; ``None`` keeps the present one.
        lam_ratio
            λ as a multiple of the new problem's :attr:`lam_reference`, in place of ``lam``.
        loss, penalty
            registry names or parts; ``None`` keeps the present ones.

        Returns
        -------
        Problem
            the sibling.

        Raises
        ------
        ValueError
            for values that are not allowed.

        Examples
        --------
        >>> problem = ss.Problem(ss.datasets.load("iris"))
        >>> problem.with_(penalty="l1", lam_ratio=0.5).penalty
        L1(nonnegative=False)
        """
        sibling = object.__new__(type(self))
        sibling._data = self._data
        sibling._set(
            self.loss if loss is None else loss,
            self.penalty if penalty is None else penalty,
            self.lam if lam is None and lam_ratio is None else lam,
            lam_ratio,
        )
        return sibling

    def fresh(self) -> Self:
        """Return a sibling that shares the data and none of the constants that were computed from them.

        For measurements: the computation of constants, such as step constants, is then on the clock of the solver.

        Returns
        -------
        Problem
            the sibling.
        """
        sibling = self.with_()
        sibling._data = copy.copy(self._data)
        sibling._data.cache = {}
        return sibling

    def with_scaling(self, name: str, **parameters: Any) -> Self:
        """Return a sibling whose λ (and elastic net) follow another program's convention.

        Parameters
        ----------
        name
            name of the convention, see :func:`sparsescope.scalings.convert`.
        **parameters
            the other program's parameters.

        Returns
        -------
        Problem
            the sibling.
        """
        scaling = scalings.convert(name, self.total_weight, **parameters)
        if scaling.rho is None:
            return self.with_(lam=scaling.lam)
        return self.with_(lam=scaling.lam, penalty=ElasticNet(rho=scaling.rho))

    @property
    def natural(self) -> Self:  # type: ignore[override]
        return self if self._rescaled is None else self._rescaled

    @cached_property
    def _rescaled(self) -> Self | None:  # not the problem itself: what refers to itself is freed late, data and all
        return natural.rescaled(self)

    def in_units(self, unit: float, factor: float, penalty: Penalty, lam: float) -> Self:
        """Return the problem on ``unit``·X; weights are given and returned in the original units.

        Parameters
        ----------
        unit
            factor of X.
        factor
            factor of the objective.
        penalty
            the penalty in the new units.
        lam
            λ in the new units.

        Returns
        -------
        Problem
            the problem.
        """
        made = object.__new__(type(self))
        made._data = self._data.cached(("in units", unit), lambda: self._data.on(self.design.rescaled(unit)))
        made._set(self.loss, penalty, lam)
        made.units = (unit, factor)  # type: ignore[misc]
        return made


def _part(registry: Any, base: type, given: Any) -> Any:
    """A part from a registry name or a ready part; ``TypeError`` for anything else."""
    if isinstance(given, str):
        return registry.create(given)
    if isinstance(given, type) and issubclass(given, base):
        return given()
    if isinstance(given, base):
        return given
    raise TypeError(f"{given!r} is not a {registry.kind}; give a name ({', '.join(registry)}) or a part")
