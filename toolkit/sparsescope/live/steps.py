"""Steps of a sequence of models, as descriptions and as rows of coefficients: for the explorer's picture."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..problems.sequence_model import Calibration, Columns, SequenceModel
from ..views.weights import PARTS
from . import picture as pictures

__all__ = ["PARTS", "names_of_steps", "part_of_model", "row_name", "take"]
KINDS = {"fourier": "random Fourier features", "logits": "random logits", "products": "random products"}
# Rows of the picture that are no columns of X have separate numbers, from d on: random features of a stage, then
# functions of predictions.
MOST_RANDOM = 20_000
FUNCTIONS = ("ŷ", "ŷ²", "ŷ³")


def name_of(step: Any) -> str:
    """Describe a step of a sequence."""
    if isinstance(step, Calibration):
        return f"least squares on {step.W.shape[0]} columns, then calibrated"
    block = step.block
    what = ("column" if block.p == 1 else "columns") if isinstance(block, Columns) else KINDS[block.kind]
    return f"{block.p} {what}{', calibrated' if step.own else ''}"


def names_of_steps(model: SequenceModel, iteration: int) -> dict[str, Any]:
    """``before``: iterations before the sequence began; ``names``: [[number of the first step, its name], …], one entry
    for each change of the name."""
    names: list[list[Any]] = []
    for k, step in enumerate(list(model.steps)):
        name = name_of(step)
        if not names or names[-1][1] != name:
            names.append([k + 1, name])
    return {"before": iteration - len(model.steps), "names": names}


def part_of_model(problem: Any, state: Any, part: str) -> tuple[np.ndarray, np.ndarray, str, str]:
    """(rows (k, m), their numbers (k,), what they are, why there are none) of a part of the sequence."""
    d, m = problem.d, problem.m
    none = np.zeros((0, m)), np.zeros(0, dtype=np.int64)
    steps = state.model.steps
    if not steps:
        return *none, "", "No stage has been fitted yet."
    last, number = steps[-1], len(steps)
    said = f"stage {number}: {name_of(last)}"
    if part == "model":
        if not state.coef.any():
            return *none, said, "Random features have no weights on the columns of X. Look at the last stage."
        about = (
            "of the last step alone, since calibration is not linear"
            if isinstance(last, Calibration)
            else f"of all {number} stages together"
        )
        return state.coef, np.arange(d), f"weights of the columns of X, {about}", ""
    if part == "calibration":
        rows = last.C if isinstance(last, Calibration) else last.V[last.block.p :]
        if not rows.shape[0]:
            return *none, said, "These stages are not calibrated: predictions are no features of them."
        return rows, d + MOST_RANDOM + np.arange(rows.shape[0]), f"{said}; coefficients of the predictions", ""
    if isinstance(last, Calibration):
        return last.W, np.arange(d), said, ""
    block = last.block
    numbers = block.numbers if isinstance(block, Columns) else d + np.arange(block.p)
    return last.V[: block.p], numbers, said, ""


def row_name(problem: Any, row: int) -> str | None:
    """Return the name of a row of the picture; ``None`` if there is no such row."""
    if row < problem.d:
        return str(problem.feature_name(row)) if row >= 0 else None
    row -= problem.d
    if row < MOST_RANDOM:
        return f"random {row + 1}"
    power, c = divmod(row - MOST_RANDOM, problem.m)
    return f"{FUNCTIONS[power]} of {problem.score_names[c]}" if power < len(FUNCTIONS) else None


def take(problem: Any, state: Any, wish: pictures.Wish) -> pictures.Picture:
    """The picture of a part of the sequence: rows are features, columns of X or not, and their numbers say which."""
    part = "model" if wish.kind == "images" else wish.part
    rows, numbers, said, reason = part_of_model(problem, state, part)
    if wish.kind == "images" and not rows.shape[0]:
        wish = replace(wish, kind="matrix")
    at = {int(number): k for k, number in enumerate(numbers.tolist())}
    local = replace(
        wish,
        row=at.get(wish.row, -1) if wish.row is not None else None,
        rank=numbers,
        asks=tuple((key, at[j], c) for key, j, c in wish.asks if j in at),
    )
    found = pictures.take(np.asarray(rows), local)
    shown = numbers[found.rows].astype(np.int32) if found.rows.size else found.rows
    asked = tuple((key, int(numbers[j]), c, value, None, None) for key, j, c, value, *_ in found.answers)
    return replace(
        found,
        rows=shown,
        row=wish.row if found.row is not None else None,
        answers=asked,
        part=part,
        said=said,
        reason=reason,
        names={str(j): str(row_name(problem, int(j))) for j in shown if j >= problem.d},
        steps=names_of_steps(state.model, state.iteration),
        total=int(rows.shape[0]),
    )
