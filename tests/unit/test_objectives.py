"""Losses under the names of paper 3: they are what its equations say, and a wrong name is answered."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import sparsescope as ss

Z = np.array([[0.3, -0.2, 1.1], [2.0, 0.4, 0.9]])
Y = np.array([2, 1])
A = 1.0 + Z - Z[np.arange(2), Y][:, None]  # the paper's μ + φ(u)ᵀ(x_k − x_z), for k ≠ z
OFF = np.eye(3)[Y] == 0
# the sums over samples of Eq. 7, 19, 20 and 21 (Eq. 21 with the sign that makes z̃ = 1 the own class)
EXPECTED = {
    "hinge": np.maximum(np.where(OFF, A, 0.0).max(axis=1), 0.0).sum(),
    "square": (np.maximum(A, 0.0)[OFF] ** 2).sum(),
    "logit": np.log1p(np.where(OFF, np.exp(A), 0.0).sum(axis=1)).sum(),
    "one-vs-all": (np.maximum(1.0 - np.where(OFF, -1.0, 1.0) * Z, 0.0) ** 2).sum(),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_name_stands_for_the_papers_equation(name: str) -> None:
    # With X = I the scores are W itself; a tiny λ leaves the loss alone.
    problem = ss.Problem(np.eye(2), Y, class_names=["a", "b", "c"], loss=ss.objectives.loss(name), lam=1e-300)
    assert problem.objective(Z) * 2 == pytest.approx(EXPECTED[name], rel=1e-12)


def test_the_names_are_the_papers() -> None:
    assert ss.objectives.names() == list(EXPECTED)
    assert all(getattr(ss.objectives.loss(name), "margin", 1.0) == 1.0 for name in ss.objectives.names())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("logist", "did you mean 'logit'?"),
        ("one vs all", "'one-vs-all'"),
        (7, "known: hinge, square, logit, one-vs-all"),
    ],
)
def test_an_unknown_name_is_answered(given: str, words: str) -> None:
    with pytest.raises(ss.registry.UnknownName, match="unknown objective") as error:
        ss.objectives.loss(given)
    assert words in str(error.value)


def test_every_objective_is_on_the_page_of_parts() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "parts.md").read_text(encoding="utf-8")
    for objective in ss.objectives.OBJECTIVES:
        line = next(text for text in page.splitlines() if text.startswith(f"| `{objective.name}` |"))
        assert f"`{objective.registered}`" in line
        assert re.findall(r"Eq\. \d+", objective.equation)[0] in line
