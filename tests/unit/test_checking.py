"""``ss.check``: right parts pass, and wrong ones get the sentence that names what is wrong."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import numpy as np
import plotly.graph_objects as go
import pytest

import sparsescope as ss
from sparsescope import registry
from sparsescope.checking import penalties as checking
from sparsescope.losses.multitask_squared_hinge import MultitaskSquaredHinge
from sparsescope.losses.squared import Squared
from sparsescope.penalties.l1 import L1
from sparsescope.solvers.base import settings
from sparsescope.solvers.ista import ISTA
from sparsescope.views.base import View

checked = cache(ss.check)  # a report is not changed, and several tests read the same


def faults(part: Any) -> list[str]:
    """Sentences about a part that fails."""
    report = checked(part)
    assert not report.passed and report.faults
    return report.faults


def said(part: Any, *words: str) -> None:
    """One of the sentences has all of these words."""
    found = faults(part)
    assert any(all(word in line for word in words) for line in found), found


# --------------------------------------------------------------------------------------------------------- right parts
@pytest.mark.parametrize("name", [*registry.losses, *registry.penalties])
def test_registered_losses_and_penalties_pass(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "COUNT", 5)  # the contract of penalties has the same checks, with more rows
    report = ss.check(name)
    assert report.passed, report
    assert len(report.lines) >= 6


@pytest.mark.parametrize("name", ["ista", "bcd-ls"])
def test_registered_solvers_pass(name: str) -> None:
    report = ss.check(name)
    assert report.passed, report


@pytest.mark.parametrize("name", list(registry.views))
def test_registered_views_pass(name: str) -> None:
    report = ss.check(name)
    assert report.passed, report


def test_a_class_an_instance_and_a_name_are_the_same_part() -> None:
    assert ss.check(L1).lines == ss.check(L1()).lines == checked("l1").lines


# ---------------------------------------------------------------------------------------------------------- wrong parts
@ss.part
class LowConjugate(Squared):
    def conjugate(self, u, y):
        total = 0.0
        for k in range(u.size):
            total += 0.5 * u[k] * u[k] + (u[k] if k == y else 0.0)
        return total - 0.3


@ss.part
class WrongSign(Squared):
    def gradient(self, z, y, x, g, work):
        total = 0.0
        for k in range(z.size):
            rest = z[k] - (1.0 if k == y else 0.0)
            g[k] -= x * rest
            total += 0.5 * rest * rest
        return total


@ss.part
class LowCurvature(MultitaskSquaredHinge):
    def curvature(self, m):
        return 0.5


@ss.part
class Failing(Squared):
    def conjugate(self, u, y):
        raise ArithmeticError("no conjugate today")


@ss.part
class LongProx(L1):
    def prox(self, v, tau, out):
        for k in range(v.size):
            out[k] = 1.1 * np.sign(v[k]) * max(abs(v[k]) - tau, 0.0)


@ss.part
class HalfDualNorm(L1):
    def dual_norm(self, v):
        return 0.5 * np.abs(v).max()


@ss.part
class DoubleDualNorm(L1):
    def dual_norm(self, v):
        return 2.0 * np.abs(v).max()


@ss.part
class HighConjugate(L1):
    def conjugate(self, v):
        return 0.3


@ss.part
class LowThreshold(L1):
    def zero_threshold(self, g):
        return 0.9 * np.abs(g).max()


@ss.part
class Satisfied(L1):
    def violation(self, g, w, lam):
        return 0.0


class Undecorated(L1.__mro__[1]):  # type: ignore[misc]
    pass


def test_a_conjugate_that_is_too_small_is_named_with_the_amount() -> None:
    said(LowConjugate, "your conjugate is 0.3 below", "at z = [")


def test_a_gradient_with_a_wrong_sign_is_named_with_both_numbers() -> None:
    said(WrongSign, "of your gradient is", "differences of the value give", "at z = [")


def test_a_curvature_that_does_not_bound_is_named() -> None:
    said(LowCurvature, "your curvature(2) is 0.5", "steps would be too long")


def test_an_error_in_a_part_is_a_sentence_with_its_line() -> None:
    said(Failing, "conjugate", "ArithmeticError: no conjugate today", "test_checking.py:")


def test_a_prox_that_is_off_by_a_factor_is_named_with_the_minimiser() -> None:
    said(LongProx, "your prox gives", "numerical minimisation", "less")


@pytest.mark.parametrize(("part", "words"), [
    (HalfDualNorm, ("your dual_norm is", "inside the domain")),
    (DoubleDualNorm, ("your dual_norm is", "lies in the domain")),
    (HighConjugate, ("your conjugate is 0.3 above",)),
    (LowThreshold, ("your zero_threshold is", "too small")),
    (Satisfied, ("your violation is 0", "a step of your prox goes")),
], ids=lambda value: getattr(value, "plain_name", ""))  # fmt: skip
def test_each_function_of_a_penalty_is_named(part: Any, words: tuple[str, ...]) -> None:
    said(part, *words)


def test_a_class_without_the_decorator_is_told_so() -> None:
    said(Undecorated, "not decorated with @ss.part")


@settings
class Flattering(ISTA):
    """Reports half of its objective."""

    def value(self, problem: Any, loss: float, penalty: float) -> float:
        return 0.5 * (loss + problem.lam * penalty)


@settings
class Forgetful(ISTA):
    """Counts its steps outside of the state."""

    contract_iterations: ClassVar[int] = 300  # it comes to no optimum

    def step(self, problem: Any, state: Any) -> None:
        super().step(problem, state)
        COUNT.append(1)
        state.coef *= 1.0 - 1e-3 / len(COUNT)
        problem.design.matmul(state.coef, state.Z)


COUNT: list[int] = []


def test_a_solver_that_reports_a_wrong_objective_is_named() -> None:
    said(Flattering, "your solver reports the objective", "and that of its weights is")


def test_a_solver_that_keeps_something_outside_of_its_state_is_named() -> None:
    said(Forgetful, "two runs with the same settings give different weights")


@settings
class Restless(ISTA):
    """Leaves every point that it is given."""

    def start(self, problem: Any, coef: np.ndarray) -> Any:
        return super().start(problem, coef + 0.1)


@settings
class Greedy(ISTA):
    """Cannot be run with its own setting."""

    depth: int = ss.field(1, 1, 3, "how deep it goes")

    def step(self, problem: Any, state: Any) -> None:
        if self.depth == 3:
            raise IndexError("too deep")
        super().step(problem, state)


def test_a_solver_that_leaves_the_optimum_is_named() -> None:
    said(Restless, "begun at the optimum", "above it at iteration")


def test_a_setting_that_fails_is_named() -> None:
    said(Greedy, "the setting depth=3 ends in IndexError: too deep")


class Silent(View):
    """Draws nothing, and does not say why."""

    name, title, doc, needs, empty = "silent", "silent", "Nothing.", "nothing", "There is nothing yet."

    def _draw(self, trace: Any, problem: Any) -> Any:
        return go.Figure()

    def spec(self, problem: Any) -> dict[str, Any]:
        return {"id": "silent", "title": "silent", "kind": "lines", "empty": float("nan")}


def test_a_view_that_stays_blank_is_named() -> None:
    said(Silent, "is blank and does not say why")
    said(Silent, "the figure of an empty trace does not say 'There is nothing yet.'")
    said(Silent, "spec: ends in ValueError")


# -------------------------------------------------------------------------------------------------------------- report
def test_a_report_is_text_and_escaped_html() -> None:
    report = checked(LowConjugate)
    assert repr(report).startswith("loss LowConjugate: ") and "✗ conjugate" in repr(report)
    assert all(line[0] in "✓✗–" for line in report.lines)
    page = report._repr_html_()
    assert page.count("<tr>") == len(report.findings) and "your conjugate is 0.3 below" in page
    odd = checked(Failing)
    assert "<ss" not in odd._repr_html_()


def test_what_is_no_part_is_refused_in_a_sentence() -> None:
    with pytest.raises(registry.NotAllowed, match="int is none of the parts"):
        ss.check(3)
    with pytest.raises(registry.UnknownName, match="registered as 'l7'"):
        ss.check("l7")
