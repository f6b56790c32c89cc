"""Verdicts on the paper's claims, on tables made by hand: each claim can hold, fail, and stay open."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from claim_cases import check_repeats, claim_tests, verdict
from paper1_tables import (
    BEST,
    BEST_ROWS,
    POINTS,
    eta0,
    everywhere,
    iterations,
    objectives,
    patterns,
    run_table,
    shrinking,
    slower_at_small,
    solvers,
    where,
    without_logistic,
)

from sparsescope.experiments import Case, Claim, Finding, Verdict, load_paper
from sparsescope.experiments.output import verdict_lines
from sparsescope.experiments.paper1 import protocol, reading
from sparsescope.experiments.paper1.comparison import complete
from sparsescope.experiments.paper1.objectives import table2
from sparsescope.experiments.verdicts import EXCEEDED, FAILS, HOLDS, OPEN, Time, frame, judge

PAPER = load_paper(1)
FISTA_AS_BCD = {"FISTA (LS)": 0.5, "SpaRSA": 0.5}
TRIVIAL = solvers(edit=everywhere(lam_max=1e-4))
UNKNOWN = solvers(edit=everywhere(dual=0.0))
BOTH_LAMS = (1e-3, 1e-5)

# claim -> (tables where it holds, tables where it does not, tables that cannot tell)
CASES: dict[str, tuple[Any, Any, Any]] = {
    "patterns": (patterns(), patterns(inside_percent=60.0), patterns(nonzero_rows_percent=0.0)),
    "bcd-ls-vs-cst": (solvers(), solvers({"BCD (CST)": 0.5}), UNKNOWN),
    "first-try": (solvers(), solvers(edit=where("BCD (LS)", trials=3.0)), solvers(edit=everywhere(trials=np.nan))),
    "small-lam": (solvers(edit=slower_at_small, lams=BOTH_LAMS), solvers(lams=BOTH_LAMS), solvers()),
    "two-phases": (solvers(), solvers(edit=where("BCD (LS)", nonzero_rows=lambda run: np.arange(len(run)))), TRIVIAL),
    "first-to-sparsity": (solvers(), solvers({"SpaRSA": 0.001}), solvers(edit=everywhere(best_rows=950))),
    "bcd-vs-fobos": (solvers(), solvers({"FOBOS": 0.2}), UNKNOWN),
    "eta0": (eta0([9.0, 7.0, 2.0, 1.1, 1.0, 1e9, np.nan]), eta0([0.9] * 7), {}),
    "fobos-dense": (solvers(), solvers(edit=where("FOBOS", nonzero_percent=5.0)),
                    solvers(edit=everywhere(nonzero_percent=60.0))),
    "bcd-vs-full-objective": (solvers(), solvers(FISTA_AS_BCD), TRIVIAL),
    "bcd-vs-full-accuracy": (solvers(), solvers(FISTA_AS_BCD), solvers(edit=everywhere(test_accuracy=0.1))),
    "fista-vs-sparsa": (solvers(), solvers({"SpaRSA": 2.0}), UNKNOWN),
    "fista-cst": (solvers(), solvers({"FISTA (CST)": 4.4}), TRIVIAL),
    "steps": (solvers(), solvers({"BCD (CST)": 10.0}), UNKNOWN),
    "early-progress": (solvers(edit=lambda t: t.assign(objective=np.where(
        t["solver"].str.contains("FISTA|SpaRSA") & (t["iteration"] <= 1), 2 * BEST, t["objective"]))),
        solvers(edit=where("FOBOS", objective=5 * BEST)), TRIVIAL),
    "rows-fall-slowly": (solvers(), solvers(edit=where("SpaRSA", nonzero_rows=BEST_ROWS)), UNKNOWN),
    "same-limit": (solvers(), solvers(edit=where("SpaRSA", nonzero_rows=200)),
                   solvers(edit=everywhere(objective=2 * BEST))),
    "shrinking": (shrinking(1.0, 1.2), shrinking(1.0, 4.0),
                  {"shrinking": shrinking(1.0, 1.0)["shrinking"].assign(gap=1.0)}),
    "accuracy-logistic": (objectives(), objectives(accuracy=(0.0, 0.0, 0.02)), without_logistic()),
    "time-logistic": (objectives(), objectives((1.0, 2.0, 1.5, 8.0)), {}),
    "iteration-logistic": (objectives(), objectives((9.0, 2.0, 5.0, 8.0)), {}),
    "logistic-without-ls": (objectives(), objectives((1.0, 2.0, 5.0, 3.0)), {}),
    "accuracy-multitask": (objectives(), objectives(accuracy=(0.0, 0.01, 0.0)), objectives(percent=100.0)),
    "rows-multitask": (objectives(percent=2.0), objectives(accuracy=(0.0, 0.0, 0.0), percent=0.5),
                       objectives(accuracy=(0.0, 0.0, 0.0))),
    "time-multitask": (objectives(), objectives((1.0, 0.5, 5.0, 8.0)), {}),
    "iterations-multitask": (iterations(73, 108), iterations(108, 73),
                             iterations(100, 50, ("iterations", "iterations"))),
}  # fmt: skip


def claim(name: str) -> Claim:
    return next(c for c in PAPER.claims if c.name == name)


test_every_claim_has_its_cases, test_a_claim_can_hold_fail_and_stay_open = claim_tests(PAPER, CASES)


@pytest.mark.parametrize("name", CASES)
def test_findings_name_their_case(name: str) -> None:
    assert all(f.case.data == ("hand",) for f in claim(name).judge(CASES[name][0]))


def test_iterations_that_did_not_end_count_for_what_they_show() -> None:
    found = judge([claim("iterations-multitask")], iterations(73, 200, ("criterion", "iterations")))[0]
    assert found.word == HOLDS and "more than 200" in found.findings[0].numbers
    found = judge([claim("iterations-multitask")], iterations(200, 73, ("iterations", "criterion")))[0]
    assert found.word == FAILS
    found = judge([claim("iterations-multitask")], iterations(50, 73, ("time", "criterion")))[0]
    assert found.word == OPEN


def test_an_unreached_level_gives_a_bound() -> None:
    table = solvers(
        {"FISTA (LS)": 4.0},
        edit=where("FISTA (LS)", objective=lambda run: BEST * np.maximum(1.05, run["objective"] / BEST)),
    )["solvers"]
    ratios = reading.speed_ratios(table, "BCD (LS)", "FISTA (LS)")
    last = table.loc[table["solver"] == "FISTA (LS)", "seconds"].max()
    assert ratios[1e-3] == pytest.approx(last / 3.0)


def test_levels_below_the_certificate_are_left_out() -> None:
    table = solvers(edit=everywhere(dual=BEST * (1 - 5e-3)))["solvers"]
    assert set(reading.speed_ratios(table, "BCD (LS)", "FISTA (LS)")) == {1e-1, 1e-2}


def test_rows_must_stay_near_the_optimums() -> None:
    run = run_table("BCD (LS)", 1.0).assign(nonzero_rows=[0, BEST_ROWS] + [400] * 10 + [BEST_ROWS + 4] * (POINTS - 12))
    assert reading.time_to_rows(run, run) == pytest.approx(0.2 * 12)
    assert reading.time_to_rows(run.iloc[:11], run) == reading.INFINITY


def test_curves_are_compared_at_equal_sparsity() -> None:
    a = pd.DataFrame({"nonzero_percent": [1.0, 10.0, 100.0], "test_accuracy": [0.5, 0.7, 0.9]})
    b = pd.DataFrame({"nonzero_percent": [10.0, 100.0, 1000.0], "test_accuracy": [0.6, 0.8, 1.0]})
    assert reading.curve_difference(a, b) == pytest.approx(0.1)
    assert np.isnan(reading.curve_difference(a, b.assign(nonzero_percent=b["nonzero_percent"] * 100)))
    assert reading.rows_for(a, 0.8) == pytest.approx(10**1.5)
    assert reading.rows_for(a, 0.95) == reading.INFINITY


def test_a_better_value_than_the_references_becomes_the_optimum() -> None:
    table = complete(run_table("BCD (LS)", 1.0).assign(best=2 * BEST))
    assert table["best"].iloc[0] == table["objective"].min()
    assert table["relative"].min() == 0.0
    assert table["gap"].iloc[0] == pytest.approx(1 - table["dual"].iloc[0] / table["objective"].min())


def test_table2_has_the_papers_layout() -> None:
    table = table2(objectives()["objectives"])
    assert table["seconds"].tolist() == ["minimum", "median", "maximum"]
    assert list(table.columns) == [
        "data",
        "seconds",
        protocol.MULTICLASS,
        protocol.MULTITASK,
        protocol.LOGISTIC,
        "logistic (LS)",
    ]
    assert table[protocol.MULTITASK].tolist() == pytest.approx([1.1, 2.1, 6.1])  # means of the splits first


def test_verdicts_add_up() -> None:
    some = claim("eta0")
    yes, no, open_ = (Finding(Case.on("a"), value, "1") for value in (True, False, None))
    assert Verdict(some, (yes, yes, open_)).word == HOLDS
    assert Verdict(some, (no, open_)).word == FAILS
    assert Verdict(some, (open_,)).word == OPEN
    assert Verdict(some, (yes, no, yes)).word == "holds in 2 of 3 cases"


def test_a_claim_that_is_exceeded_says_so() -> None:
    found = Verdict(claim("eta0"), (Finding(Case.on("a"), True, "12×", exceeded=True), Finding(Case.on("b"), None, "")))
    assert found.word == "holds, by more than claimed" and found.lines[0] == "a: holds, by more than claimed: 12×"
    assert Verdict(claim("eta0"), (Finding(Case.on("a"), False, "12×", exceeded=True),)).word == FAILS


def test_a_claim_that_is_judged_on_some_of_the_data_names_them() -> None:
    def on(*cases: tuple[Case, bool | None]) -> Verdict:
        return Verdict(claim("eta0"), tuple(Finding(case, holds, "1") for case, holds in cases))

    both = on((Case.on("wine", "λ = 1"), True), (Case(("digits", "wine")), True))
    assert both.data == ["wine", "digits"]
    assert both.lines == ["wine, λ = 1: holds: 1", "digits and wine: holds: 1"]
    one = Case.on("a, b.csv", "λ = 1")  # a name may hold what stands between
    some = on((one, None), (Case.on("digits", "λ = 1"), True), (Case.on("digits", "λ = 2"), False))
    assert some.data == ["digits"] and on((one, None)).data == ["a, b.csv"]
    everywhere, there = verdict_lines([both, some])
    assert everywhere.endswith(claim("eta0").text) and there.endswith(f"{claim('eta0').text} [here: digits]")
    assert verdict_lines([some])[0].endswith("[here: digits]"), "the paper's sentence may name other data"


def test_a_time_that_was_never_reached_has_no_spread() -> None:
    never = Time.of({"seconds": np.inf, "seconds_low": np.nan, "seconds_high": np.nan})
    assert str(never) == str(Time(np.nan, np.nan, np.nan)) == "never"
    assert str(Time(0.2, 0.1, 0.3)) == "200 ms (100 ms to 300 ms)" and str(Time(0.2, 0.2, 0.2)) == "200 ms"


def test_repeated_runs_that_disagree_decide_nothing() -> None:
    def tables(spread: float) -> dict[str, pd.DataFrame]:
        rows = [{"data": "d", "lam": 1e-3, "lam_max": 1.0, "gap": 1e-6, "solver": solver, "relative": level,
                 "seconds": s, "seconds_low": s / spread, "seconds_high": s * spread}
                for solver, unit in (("BCD (LS)", 1.0), ("BCD (CST)", 1.2))
                for level, s in ((1.0, unit), (1e-2, 2 * unit))]  # fmt: skip
        return {"solvers": pd.DataFrame(rows)}

    one = claim("bcd-ls-vs-cst")
    assert judge([one], tables(1.05))[0].word == HOLDS
    unsure = judge([one], tables(1.2))[0]
    assert unsure.word == OPEN and "in repeated runs): they disagree" in unsure.findings[0].numbers
    slower = tables(1.0)["solvers"]
    slower.loc[slower["solver"] == "BCD (CST)", ["seconds", "seconds_low", "seconds_high"]] *= 10.0
    assert judge([one], {"solvers": slower})[0].word == "holds, by more than claimed"


def test_what_was_not_measured_is_not_decided() -> None:
    found = judge(PAPER.claims, {})
    assert {v.word for v in found} == {OPEN}
    assert "not measured: solvers" in {f.numbers for v in found for f in v.findings}
    table = frame(found)
    assert len(table) == len(PAPER.claims) and set(table["finding"]) == {OPEN}


@pytest.mark.parametrize("name", ["time-logistic", "iteration-logistic", "time-multitask"])
def test_training_times_have_the_spread_of_repeated_runs(name: str) -> None:
    check_repeats(PAPER, CASES, name)


def test_training_that_is_faster_than_claimed_says_so() -> None:
    assert verdict(PAPER, "time-logistic", objectives((1.0, 2.0, 50.0, 80.0))).word == EXCEEDED
