"""Errors and simple facts of the conversions; that they are right is tested with the problems they convert to."""

from __future__ import annotations

from typing import Any

import pytest

from sparsescope.problems.scalings import NAMES, convert


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("libliner", {}, "unknown scaling 'libliner'; known: liblinear"),
        ("liblinear", {"C": 0.0}, "C is 0.0"),
        ("liblinear", {"C": float("nan")}, "positive"),
        ("lightning", {}, "positive alpha"),
        ("lightning", {"alpha": -1.0}, "positive alpha"),
        ("paper-3", {}, "positive lam3"),
        ("paper-3", {"lam3": 0}, "positive lam3"),
        ("paper-4", {"lam4": -0.5}, "must not be negative"),
    ],
)
def test_bad_weights_are_refused(name: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        convert(name, 10, **given)


def test_only_paper_four_speaks_of_an_elastic_net() -> None:
    weights: dict[str, Any] = {"alpha": 1.0, "lam3": 1.0}
    for name in NAMES:
        found = convert(name, 10, **weights)
        assert (found.rho is not None) == (name == "paper-4")
        assert found.lam * found.factor == pytest.approx({"lightning": 1.0, "paper-4": 1.0}.get(name, 1.0))
    assert convert("paper-4", 10, lam4=0.0).rho == 0.0
