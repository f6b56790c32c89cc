"""Stop rules: when they stop, what they say, how they combine."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from sparsescope.runs.stopping import (
    AnyOf,
    Gap,
    HeldOut,
    Iterations,
    Objective,
    PaperViolation,
    Passes,
    Precision,
    Seconds,
    Stop,
    Violation,
)

NAN = float("nan")


def event(**values: Any) -> Any:
    """An event with the fields that rules look at; NaN where none is given."""
    fields = (
        "gap",
        "relative_gap",
        "violation",
        "violation_sum",
        "paper_violation",
        "paper_violation_sum",
        "objective",
        "seen_violation",
        "seen_violation_sum",
    )
    values.setdefault("gap", values.get("relative_gap", NAN))
    problem = SimpleNamespace(n=100, null_objective=1.0, dtype=np.dtype(values.pop("dtype", "float64")))
    return SimpleNamespace(
        **{
            **dict.fromkeys(fields, NAN),
            "iteration": 0,
            "passes": 0.0,
            "seconds": 0.0,
            "solver": ss.solvers.ISTA(),
            "problem": problem,
            **values,
        }
    )


@pytest.mark.parametrize(
    ("rule", "short_of", "reached", "words"),
    [
        (Gap(1e-3), {"relative_gap": 1.1e-3}, {"relative_gap": 1e-3}, "certified: relative gap 1.0e-03 ≤ 1.0e-03"),
        (Gap(1e-9), {"relative_gap": 1.1e-9}, {"relative_gap": -4e-17}, "certified: relative gap 3.6e-15 ≤ 1.0e-09"),
        (
            Gap(1e-6),
            {"relative_gap": 1.0, "gap": 1.1e-8},
            {"relative_gap": 1.0, "gap": 0.9e-8},
            "certified: gap 9.0e-09 ≤ 1.0e-08, that is 1.0e-08 of F at W = 0",
        ),
        (Iterations(3), {"iteration": 2}, {"iteration": 3}, "limit of 3 iterations"),
        (Iterations(0), {"iteration": -1}, {"iteration": 0}, "limit of 0 iterations"),
        (Passes(2.5), {"passes": 2.4}, {"passes": 2.5}, "limit of 2.5 data passes"),
        (Seconds(0.5), {"seconds": 0.4}, {"seconds": 0.5}, "limit of 0.5 solver seconds"),
        (Objective(1.0), {"objective": 1.1}, {"objective": 1.0}, "objective 1 ≤ 1"),
        (Violation(0.1, relative=False), {"violation": 0.2}, {"violation": 0.1}, "violation 1.0e-01 ≤ 1.0e-01"),
        (
            Violation(0.1, relative=False, paper=True, over="sum"),
            {"violation": 0.0, "paper_violation_sum": 0.2},
            {"paper_violation_sum": 0.05},
            "paper violation sum 5.0e-02",
        ),
    ],
)
def test_a_rule_stops_at_its_limit_and_says_why(rule: Stop, short_of: Any, reached: Any, words: str) -> None:
    assert rule.check(event(**short_of)) is None
    assert words in (rule.check(event(**reached)) or "")


def test_a_gap_of_rounding_certifies_no_tolerance_below_it() -> None:
    for tol in (0.0, 1e-16):
        assert Gap(tol).check(event(relative_gap=-1e-17)) is None


@pytest.mark.parametrize(
    ("dtype", "gap", "words"),
    [
        ("float32", 3e-6, "as far as float32 carries; data in float64 carry further"),
        ("float64", 9e-15, "as far as float64 carries"),
    ],
)
def test_the_end_of_the_precision_is_said_in_words(dtype: str, gap: float, words: str) -> None:
    rule = Precision(patience=10)
    assert rule.check(event(relative_gap=gap, dtype=dtype)) is None
    for k in range(1, 10):
        assert rule.check(event(relative_gap=gap * (1 + 0.01 * k), iteration=k, dtype=dtype)) is None
    assert words in (rule.check(event(relative_gap=gap, iteration=10, dtype=dtype)) or "")
    rule.reset()
    assert rule.check(event(relative_gap=gap, iteration=11, dtype=dtype)) is None


def test_progress_and_gaps_above_the_precision_go_on() -> None:
    falling, large = Precision(patience=5), Precision(patience=5)
    for k in range(100):
        assert falling.check(event(relative_gap=1e-5 * 0.97**k, iteration=k, dtype="float32")) is None
        assert large.check(event(relative_gap=1e-2, iteration=k, dtype="float32")) is None


@pytest.mark.parametrize(
    "rule",
    [
        Gap(1.0),
        Violation(1.0),
        Violation(1.0, paper=True),
        Violation(9.0, relative=False),
        Objective(1.0),
        PaperViolation(1.0),
    ],
)
def test_numbers_that_were_not_evaluated_stop_nothing(rule: Stop) -> None:
    assert rule.check(event()) is None


def test_the_papers_rule_compares_with_the_first_iteration_that_has_a_violation() -> None:
    rule = Violation(1e-2, paper=True, over="sum")
    assert rule.check(event()) is None
    assert rule.check(event(paper_violation_sum=50.0)) is None
    assert rule.check(event(paper_violation_sum=0.51)) is None
    assert "of the first" in (rule.check(event(paper_violation_sum=0.5)) or "")
    rule.reset()
    assert rule.check(event(paper_violation_sum=0.5)) is None, "after a reset the next one is the first"


def test_the_papers_criterion_looks_at_what_the_selection_asks_for() -> None:
    for selection, over in (("cyclic", "sum"), ("permuted", "sum"), ("random", "max"), ("greedy", "max")):
        solver = ss.solvers.BCD(selection=selection)
        for forced in (None, "sum", "max"):
            rule = PaperViolation(1e-2, over=forced)
            looked, other = ("seen_violation_sum", "seen_violation")[:: 1 if (forced or over) == "sum" else -1]
            assert rule.check(event(solver=solver, **{looked: 50.0, other: 1.0})) is None
            assert rule.check(event(solver=solver, **{looked: 0.51, other: 0.0})) is None
            assert f"{forced or over} of the violations" in (
                rule.check(event(solver=solver, **{looked: 0.5, other: 9.0})) or ""
            )
            rule.reset()
            assert rule.check(event(solver=solver, **{looked: 0.5, other: 0.0})) is None


def test_rules_combine_to_the_first_that_stops() -> None:
    rule = Gap(1e-6) | Iterations(10) | Seconds(5.0)
    assert isinstance(rule, AnyOf) and len(rule.rules) == 3
    assert rule.check(event(iteration=9, seconds=4.0, relative_gap=1.0)) is None
    assert "iterations" in (rule.check(event(iteration=10)) or "")
    assert "seconds" in (rule.check(event(seconds=6.0)) or "")
    assert "certified" in (rule.check(event(relative_gap=0.0, iteration=10)) or ""), "in the order they were written"
    both = Violation(0.5) | (Violation(0.1) | Iterations(3))
    assert len(both.rules) == 3  # type: ignore[attr-defined]
    both.check(event(violation=8.0))
    both.reset()
    assert both.check(event(violation=2.0)) is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: Gap(-1e-9),
        lambda: Gap(NAN),
        lambda: Violation(-1.0),
        lambda: Violation(over="mean"),
        lambda: PaperViolation(-1e-9),
        lambda: PaperViolation(over="mean"),
        lambda: Iterations(-1),
        lambda: Passes(0),
        lambda: Seconds(-2.0),
        lambda: Seconds(NAN),
    ],
)
def test_impossible_limits_are_refused(make: Any) -> None:
    with pytest.raises(ValueError, match=r"must be|allowed|needed"):
        make()


def test_a_rule_without_check_says_so() -> None:
    with pytest.raises(TypeError, match="does not define check"):
        Stop().check(event())


def test_held_out_accuracy_that_does_not_rise_ends_a_run() -> None:
    rule = HeldOut(2)
    for column in ("test_accuracy", "test_precision_at_1"):
        rule.reset()
        given = {"test_accuracy": NAN, "test_precision_at_1": NAN}
        said = [rule.check(event(**{**given, column: value})) for value in (0.3, 0.5, 0.4, NAN, 0.6, 0.6, NAN, 0.5)]
        assert said[:-1] == [None] * 7 and "not above 0.6 for 2 evaluations" in str(said[-1])
    with pytest.raises(ValueError, match="patience"):
        HeldOut(0)


def test_a_result_has_converged_where_the_gap_that_was_asked_for_is_certified() -> None:
    problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    coarse = ss.solve(problem, tol=0, stop=Gap(1e-2))
    assert coarse.message.startswith("certified") and coarse.converged and repr(coarse).startswith("Result(converged")
    limited = ss.solve(problem, tol=0, stop=Gap(1e-12) | Iterations(1))
    assert not limited.converged and limited.iterations == 1
