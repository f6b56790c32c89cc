"""The way between problems that look for weights W and those whose model is a sequence, on the same data."""

from __future__ import annotations

from typing import Any

from ..problems.prediction import Problem
from ..problems.sequence import SequenceProblem
from ..registry import losses
from . import settings as st

SMOOTH = ("squared", "logistic")  # what takes the place of a loss that sequences do not take, the first that fits


def take_loss(settings: dict[str, Any], name: str) -> None:
    """Write another loss, with its usual parameters, into ``settings``."""
    fresh, _ = st.merge(settings, {"loss": name}, [settings["dataset"]])
    settings.clear()
    settings.update(fresh)


def sequence_of(problem: Problem, settings: dict[str, Any]) -> tuple[SequenceProblem, list[str]]:
    """The problem of ``settings`` on the data of ``problem``, of whatever kind that is.

    A loss that sequences, or the solver of ``settings``, do not take is replaced, in ``settings`` too, with a
    notice; a solver that takes the data with no loss is the caller's to replace. ``ValueError`` if no loss fits.
    """
    refused, solver, rest = "", st.make_part(settings, "solver"), None
    for name in (settings["loss"], *SMOOTH):
        loss = st.make_part(settings, "loss") if name == settings["loss"] else losses.create(name)
        try:
            made = beside(problem, settings["ridge"], loss)
            rest = rest or (name, made)
            solver.require(made)
        except ValueError as error:
            refused = refused or str(error)
            continue
        if name == settings["loss"]:
            return made, []
        take_loss(settings, name)
        return made, [f"{refused}. Using {name}"]
    if rest is None:
        raise ValueError(refused)
    if rest[0] != settings["loss"]:
        take_loss(settings, rest[0])
    return rest[1], []


def beside(problem: Problem, lam: float, loss: Any) -> SequenceProblem:
    """A SequenceProblem on the data of a problem; ``ValueError`` for a non-smooth loss."""
    return SequenceProblem.of(problem.with_(loss=loss), lam=lam)


def weights_of(problem: Problem, settings: dict[str, Any]) -> Problem:
    """The problem of ``settings`` on the data of ``problem``, of whatever kind that is: a loss and a penalty of W."""
    parts = {part: st.make_part(settings, part) for part in ("loss", "penalty")}
    if isinstance(problem, SequenceProblem):
        return problem.of_weights(**parts)
    return problem.with_(**parts)
