"""The losses under the names that papers compare them by: ``hinge``, ``square``, ``logit`` and ``one-vs-all``.

Chierchia et al. (2015, Sec. 4.1) fit one model with four losses, all with the margin μ = 1. The registry has these
losses under names that say what they are, and some with other defaults; :func:`loss` gives the paper's:

>>> problem = ss.Problem(X, y, loss=ss.objectives.loss("logit"))
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import Any

from ..losses import Loss
from ..registry import UnknownName, losses


@dataclass(frozen=True)
class Objective:
    """Loss under the name of a paper.

    Parameters
    ----------
    name
        name in the paper.
    registered
        name in ``registry.losses``.
    formula, equation
        those of the paper, for a sample with scores z and class y.
    doc
        description.
    parameters
        parameters of the registered loss.
    """

    name: str
    registered: str
    formula: str
    equation: str
    doc: str
    parameters: dict[str, Any] = field(default_factory=dict)

    def loss(self) -> Loss:
        """Return the loss itself.

        Returns
        -------
        Loss
            the loss.
        """
        made: Loss = losses.create(self.registered, **self.parameters)
        return made


CHIERCHIA = "Chierchia et al. 2015"
OBJECTIVES = (
    Objective("hinge", "crammer-singer", "max_r (z_r − z_y + [r ≠ y])", f"{CHIERCHIA}, Eq. 7 and 8",
              "The multiclass hinge itself: only the wrong class that comes closest to the true one counts, and it "
              "counts linearly. It is not smooth.", {"margin": 1.0}),
    Objective("square", "multiclass-squared-hinge", "Σ_{r≠y} max(0, 1 + z_r − z_y)²", f"{CHIERCHIA}, Eq. 19",
              "Every wrong class that comes closer to the true one than the margin counts, with its square."),
    Objective("logit", "logistic", "log(1 + Σ_{r≠y} exp(1 + z_r − z_y))", f"{CHIERCHIA}, Eq. 20",
              "Softmax regression with the margin inside: every wrong class counts, and none ever stops counting.",
              {"margin": 1.0}),
    Objective("one-vs-all", "multitask-squared-hinge", "Σ_r max(0, 1 − s_r z_r)², s_y = 1, else s_r = −1",
              f"{CHIERCHIA}, Eq. 21 with its sign mended",
              "A squared hinge for each class against the rest; scores of different classes are not compared."),
)  # fmt: skip


def names() -> list[str]:
    """Return the names, in the paper's order.

    Returns
    -------
    list[str]
        the names.

    Examples
    --------
    >>> "multiclass-squared-hinge+l1/l2" in ss.objectives.names() or len(ss.objectives.names()) > 3
    True
    """
    return [objective.name for objective in OBJECTIVES]


def get(name: str) -> Objective:
    """Return the objective of a name.

    Parameters
    ----------
    name
        name in the paper.

    Returns
    -------
    Objective
        the objective.

    Raises
    ------
    UnknownName
        (a ValueError and KeyError) for an unknown name; suggests the nearest one.

    Examples
    --------
    >>> name = ss.objectives.names()[0]
    >>> ss.objectives.get(name).name == name
    True
    """
    for objective in OBJECTIVES:
        if objective.name == name:
            return objective
    near = difflib.get_close_matches(str(name), names(), 1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ";"
    raise UnknownName(f"unknown objective {name!r}{hint} known: {', '.join(names())}")


def loss(name: str) -> Loss:
    """Return the loss that a paper means by a name, with the paper's margin.

    Parameters
    ----------
    name
        name in the paper.

    Returns
    -------
    Loss
        the loss.

    Raises
    ------
    UnknownName
        for an unknown name.
    """
    return get(name).loss()
