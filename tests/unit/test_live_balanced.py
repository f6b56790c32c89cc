"""The explorer's choice of classes of equal weight."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sparsescope.live import controls
from sparsescope.live import settings as st
from sparsescope.live.pages.predictions import Predictions
from sparsescope.live.pages.sequences import Sequences

X = np.random.default_rng(0).standard_normal((12, 3))
Y = np.repeat([0, 1, 2], [8, 3, 1])


def chosen(**changes: Any) -> dict[str, Any]:
    return st.clean({"dataset": "iris", **changes})[0]


def shown(settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {control["id"]: control for group in controls.schema(settings) for control in group["controls"]}


def test_balanced_classes_weigh_the_same() -> None:
    assert chosen()["balanced"] is False
    plain, notices = Predictions().create((X, Y), chosen())
    assert plain.sample_weight is None and not notices
    problem, notices = Predictions().create((X, Y), chosen(balanced="true"))
    assert not notices and problem.loss == plain.loss
    np.testing.assert_allclose(problem.weighted_shares, np.full(3, 1 / 3))
    np.testing.assert_allclose(problem.class_shares, np.array([8, 3, 1]) / 12)  # the page counts samples


def test_label_sets_are_not_balanced() -> None:
    settings = chosen(balanced=True, loss="label-ranking-squared-hinge")
    sets = (np.random.default_rng(1).random((12, 4)) < 0.5).astype(np.uint8)
    problem, notices = Predictions().create((X, sets), settings)
    assert problem.sample_weight is None and settings["balanced"] is False
    assert any("no single class" in notice for notice in notices)


def test_the_control_makes_a_new_problem() -> None:
    kind = Predictions()
    control = shown(chosen(balanced=True))["balanced"]
    assert control["kind"] == "check" and control["value"] is True and control["doc"]
    assert "balanced" in kind.fresh and "balanced" not in st.light()
    assert "    class_weight='balanced'," in kind.snippet(chosen(balanced=True), "X, y")
    assert not any("class_weight" in line for line in kind.snippet(chosen(), "X, y"))


def test_sequences_have_no_such_control_and_refuse_weights() -> None:
    assert "balanced" not in shown(chosen(solver="cls"))
    weighted, _ = Predictions().create((X, Y), chosen(balanced=True, loss="squared"))
    with pytest.raises(ValueError, match="every sample the same weight"):
        Sequences().cross(weighted, chosen(balanced=True, loss="squared", solver="cls"))
