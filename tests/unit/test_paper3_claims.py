"""Verdicts on the claims of paper 3, and its figures, on tables made by hand: each claim can hold, fail, stay open."""

from __future__ import annotations

from functools import partial
from typing import Any

import claim_cases
import numpy as np
import pandas as pd
import pytest
from paper3_tables import AS_CLAIMED, distances, genes, quadratic, sweep, times, where

from sparsescope.experiments import load_paper
from sparsescope.experiments.paper3 import figures, protocol, reading
from sparsescope.experiments.paper3.accuracy import best_alphas, table1
from sparsescope.experiments.verdicts import FAILS, HOLDS, OPEN

PAPER = load_paper(3)
HINGE, SQUARE, RIDGE = protocol.HINGE, protocol.SQUARE, protocol.RIDGE
ONE, TWO = protocol.ONE, protocol.TWO
WORSE = where(error_percent=30.0)(objective=HINGE)
LOOSE = where(gap=0.5)(objective=HINGE)
UNSETTLED = where(settled=False)()
SAME_SETS = {**quadratic(), **sweep("images", where(zero_percent=90.0)())}

# claim -> (tables where it holds, tables where it does not, tables that cannot tell)
CASES: dict[str, tuple[Any, Any, Any]] = {
    "hinge-square-genes": (genes(), genes(where(errors=9)(objective=HINGE)), genes(where(errors=1)())),
    "sparse-genes": (genes(), genes(lambda t: t.assign(errors=np.where(t["penalty"] == RIDGE, 0, 4))),
                     genes(where(errors=1)())),
    "few-genes": (genes(), genes(where(zero_percent=60.0)(penalty="l1")), genes(where(features=13)())),
    "errors-table1": (genes(), genes(where(errors=5)()), genes(where(tests=45)())),
    "accurate-images": (sweep("images"), sweep("images", WORSE), sweep("images", LOOSE)),
    "sparse-images": (sweep("images"), sweep("images", where(zero_percent=10.0)(objective=HINGE)),
                      sweep("images", LOOSE)),
    "accurate-text": (sweep("text"), sweep("text", WORSE), sweep("text", LOOSE)),
    "robust-text": (sweep("text"), sweep("text", lambda t: t.assign(error_percent=t["error_percent"]
                                                     + 20.0 * ((t["objective"] == HINGE) & (t["alpha"] != 1.0)))),
                    sweep("text", where(error_percent=20.0)())),
    "sparse-text": (sweep("text", where(zero_percent=75.0)(objective=SQUARE)),
                    sweep("text", where(zero_percent=60.0)(objective=HINGE)), sweep("text", LOOSE)),
    "change-times": (times(), times(where(seconds=0.1)(method=protocol.LINEAR)),
                     times(lambda t: t[t["method"] != TWO])),
    "faster-linear": (distances(), distances({protocol.LINEAR: 1.5}), distances(edit=UNSETTLED)),
    "faster-logit": (distances(), distances({protocol.FORWARD: 1.5}), distances(edit=UNSETTLED)),
    "comparable-square": (distances(), distances({protocol.FISTA: 0.5}), distances(edit=UNSETTLED)),
    "two-before-one": (distances(), distances({TWO: 3.0}), distances(edit=UNSETTLED)),
    "competitive-few": (quadratic(1.5), quadratic(5.0), quadratic(sizes=(100,))),
    "not-many": (quadratic(1.5), quadratic(0.1), quadratic(edit=where(near_seconds=np.nan)())),
    "quadratic-dense": (SAME_SETS, {**SAME_SETS, **sweep("images", where(zero_percent=20.0)())},
                        {**quadratic(), **sweep("images", where(data="other")())}),
}  # fmt: skip


verdict = partial(claim_cases.verdict, PAPER)


test_every_claim_has_its_cases, test_a_claim_can_hold_fail_and_stay_open = claim_cases.claim_tests(PAPER, CASES)


@pytest.mark.parametrize(
    "name",
    [
        "change-times",
        "faster-linear",
        "faster-logit",
        "comparable-square",
        "two-before-one",
        "competitive-few",
        "not-many",
    ],
)
def test_repeated_runs_decide_claims_on_times(name: str) -> None:
    claim_cases.check_repeats(PAPER, CASES, name)


def test_a_method_that_is_not_at_rest_counts_for_what_it_shows() -> None:
    """It is slower than what settled in less time than it had; nothing else is known."""
    stuck = where(settled=False)(method=protocol.LINEAR)
    found = verdict("faster-linear", distances({protocol.LINEAR: 9.0}, stuck))
    assert found.word == HOLDS and "over 18 s" in found.findings[0].numbers
    assert verdict("faster-linear", distances({protocol.LINEAR: 0.5}, stuck)).word == OPEN
    assert verdict("two-before-one", distances({TWO: 4.0}, where(settled=False)(method=TWO))).word == FAILS


def test_the_time_near_x_is_that_after_which_a_run_stays() -> None:
    run = pd.DataFrame({"seconds": [0.0, 1.0, 2.0, 3.0], "distance": [1.0, 1e-4, 1e-2, 0.0], "settled": True})
    assert reading.time_near(run).middle == 3.0 and reading.time_near(run, 0.1).middle == 1.0


def test_decades_are_read_between_the_values_of_alpha() -> None:
    curve = pd.DataFrame({"alpha": [100.0, 10.0, 1.0, 0.1], "error_percent": [30.0, 10.0, 11.0, 15.0]})
    assert reading.decades(curve) == pytest.approx(0.1 + 1.0 + 0.25)


def test_table1_takes_the_best_alpha_and_the_fewest_weights() -> None:
    table = genes(where(errors=0)(penalty="l1"))["genes"]
    chosen = best_alphas(table)
    assert len(chosen) == 16 and set(chosen.loc[chosen["penalty"] == "l1", "nonzero_entries"]) == {30}
    made = table1(table)
    assert made["penalty"].tolist() == list(protocol.TABLE1_PENALTIES)
    first = made.iloc[0]
    assert first["hinge: errors"] == "1/34" and first["square: non-zeros"] == "7129+7129+7129"
    assert first["logit: α"] == "1"


TABLES = {**genes(), **sweep("images"), **sweep("text"), **times(), **distances(), **quadratic()}


@pytest.mark.parametrize("experiment", PAPER.experiments, ids=lambda e: e.name)
def test_figures_draw_whole_and_half_tables(experiment: Any) -> None:
    """Half a table is what an interruption leaves."""
    table = TABLES[experiment.table]
    names = claim_cases.check_look(experiment.draw({experiment.table: table}))
    column = "method" if "method" in table else "objective"
    looks = figures.METHODS if column == "method" else figures.OBJECTIVES
    assert names == [name for name in looks if name in set(table[column])]
    half = table[table[column] == table[column].iloc[0]]
    assert experiment.draw({experiment.table: half}).data


def test_figures_say_what_did_not_come_to_its_end() -> None:
    words = [a.text for a in figures.distances(distances(edit=where(settled=False)(method=TWO))).layout.annotations]
    assert any(f"x∞ is not theirs: {TWO}" in text.replace("<br>", " ") for text in words)
    words = [a.text for a in figures.sweep(sweep("images", LOOSE), "images", "t").layout.annotations]
    assert any("6 of 30 fits ended with a relative gap above 0.01" in text.replace("<br>", " ") for text in words)


def test_the_methods_are_those_of_the_paper() -> None:
    assert set(AS_CLAIMED) == set(protocol.METHODS)
    assert protocol.DRAWN == {"images": (3, 5, 10), "text": (5, 10, 50)} and protocol.CHANGE == 1e-5
    full = protocol.FULL
    assert (full.draws, full.race_draws, protocol.TEXT_DRAWS, full.quadratic) == (25, 10, 10, (3, 5, 10, 50, 100, 500))
