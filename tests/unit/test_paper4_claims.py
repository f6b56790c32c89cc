"""Verdicts on the claims of paper 4, and its figures, on tables made by hand: each claim can hold, fail, stay open."""

from __future__ import annotations

from functools import partial
from typing import Any

import claim_cases
import numpy as np
import pytest
from paper3_tables import where
from paper4_tables import growth, models, searches, sparsity

from sparsescope.experiments import load_paper
from sparsescope.experiments.paper4 import claims, figures, protocol
from sparsescope.experiments.paper4.models import tables12
from sparsescope.experiments.paper4.protocol import MULTI, ONE_L1, ONE_LOGISTIC, ONE_SVM, PD, POST, VW
from sparsescope.experiments.paper4.sparsity import choose, table3
from sparsescope.experiments.verdicts import OPEN

PAPER = load_paper(4)
ABSENT = where(chosen=False)()
FEW = where(classes=20)()


def without(*names: str) -> Any:
    return lambda t: t[~t["method"].isin(names)]


# claim -> (tables where it holds, tables where it does not, tables that cannot tell)
CASES: dict[str, tuple[Any, Any, Any]] = {
    "competitive-accuracy": (models(), models(where(p_at_1=0.7)(method=ONE_L1)), models(ABSENT)),
    "vw-accuracy": (models(), models(where(p_at_1=0.7)(method=VW)), models(without(VW))),
    "bibtex-accuracy": (models(), models(where(p_at_1=0.63)()), models(where(features=500)())),
    "post-solve": (models(), models(where(p_at_1=0.6)(method=POST)), models(where(p_at_1=0.6)())),
    "small-model": (models(), models(where(bytes=4e5)(method=POST)), models(without(ONE_SVM))),
    "sparse-as-l1": (models(), models(where(nonzeros=1000)(method=ONE_L1)), models(without(ONE_L1))),
    "train-l1": (models(), models(where(train_seconds=4.0)(method=ONE_L1)), models(ABSENT)),
    "train-logistic": (models(), models(where(train_seconds=4.0)(method=ONE_LOGISTIC)), models(ABSENT)),
    "train-time": (models(), models(where(train_seconds=7.0)(method=POST)), models(FEW)),
    "predict-time": (models(), models(where(predict_seconds=0.001)(method=ONE_SVM)), models(without(ONE_SVM))),
    "few-duals": (sparsity(), sparsity(where(k_a=40.0)()), sparsity(FEW)),
    "table3-bibtex": (sparsity(), sparsity(where(k_w=0.9)()), sparsity(where(features=500)())),
    "search": (searches(), searches(where(gap=0.5)(search=protocol.SAMPLED)), searches(where(k_w=1.0)())),
    "growth-train": (growth(), growth(power=1.2), growth(where(classes=100)())),
    "growth-predict": (growth(), growth(power=1.2), growth(without(PD))),
    "growth-size": (growth(), growth(power=1.2), growth(without(PD))),
    "growth-standard": (growth(), growth(where(iteration_seconds=1.0)(method=MULTI)), growth(without(MULTI))),
}  # fmt: skip


verdict = partial(claim_cases.verdict, PAPER)


test_every_claim_has_its_cases, test_a_claim_can_hold_fail_and_stay_open = claim_cases.claim_tests(PAPER, CASES)


@pytest.mark.parametrize("name", ["train-l1", "train-logistic", "train-time", "predict-time", "search"])
def test_repeated_runs_decide_claims_on_times(name: str) -> None:
    claim_cases.check_repeats(PAPER, CASES, name)


def test_what_is_not_there_is_said() -> None:
    table = models(
        lambda t: t.assign(
            p_at_1=np.where(t["method"] == VW, np.nan, t["p_at_1"]),
            note=np.where(t["method"] == VW, "it is not installed", ""),
        )
    )
    assert "VW (oaa): it is not installed" in verdict("vw-accuracy", table).findings[0].numbers
    some = models(where(trained=40)(method=ONE_L1))
    assert "extrapolated from 40 of 159 classes" in verdict("train-l1", some).findings[0].numbers
    assert verdict("search", searches(where(gap=0.5)())).word == OPEN, "neither search got there"


def test_the_best_lambda_is_chosen_on_held_out_data_by_either_form() -> None:
    assert choose(sparsity()["sparsity"])["lam4"] == 0.1
    assert choose(sparsity(where(held_out_post=0.9)(lam4=1.0))["sparsity"])["lam4"] == 1.0
    assert choose(sparsity(where(held_out=0.9)())["sparsity"])["lam4"] == 1.0, "of several the largest"


def test_tables_have_the_papers_layout() -> None:
    made = tables12(models(where(p_at_1=float("nan"), trained=10)(method=ONE_L1))["models"])
    assert list(made.columns) == ["data", "", *protocol.METHODS] and made["data"].iloc[0] == "hand (K = 159)"
    lines = made.set_index("")
    assert lines.loc["train time [s]", ONE_L1] == "≈14" and lines.loc["test accuracy [%]", ONE_L1] == "–"
    assert lines.loc["test accuracy [%]", POST] == "64.5" and lines.loc["model size [MB]", PD] == "0.068"
    third = table3(sparsity()["sparsity"]).iloc[0]
    assert (third["K"], third["λ"], third["k_A"], third["k_W of the paper"]) == (159, 0.1, 18.17, 1.94)
    assert np.isnan(table3(sparsity(where(classes=100)())["sparsity"]).iloc[0]["k_A of the paper"])


def test_exponents_are_those_of_powers() -> None:
    part = growth(power=0.4)["growth"]
    assert claims.exponent(part[part["method"] == PD], "bytes") == pytest.approx(0.4)
    assert np.isnan(claims.exponent(part[part["classes"] == 100], "bytes"))


TABLES = {**models(), **sparsity(), **searches(), **growth()}
LOOKS = {"models": figures.METHODS, "growth": figures.METHODS, "searches": figures.SEARCHES}


@pytest.mark.parametrize("experiment", PAPER.experiments, ids=lambda e: e.name)
def test_figures_draw_whole_and_half_tables(experiment: Any) -> None:
    """Half a table is what an interruption leaves."""
    table = TABLES[experiment.table]
    names = claim_cases.check_look(experiment.draw({experiment.table: table}))
    if experiment.table in LOOKS:
        column = "search" if "search" in table else "method"
        assert set(table[column]) <= set(names)
    assert experiment.draw({experiment.table: table.iloc[: max(1, len(table) // 3)]}).data


def test_models_without_an_accuracy_are_not_drawn() -> None:
    assert figures.models(models(where(p_at_1=float("nan"))())) is None
    drawn = figures.models(models(where(p_at_1=float("nan"), note="too large")(method=ONE_SVM)))
    assert drawn is not None and ONE_SVM not in {t.name for t in drawn.data}
    assert any("have no accuracy" in a.text.replace("<br>", " ") for a in drawn.layout.annotations)


def test_the_numbers_are_those_of_the_paper() -> None:
    assert (protocol.C, protocol.LAM4, protocol.NU, protocol.PATIENCE) == (1.0, (0.01, 0.1, 1.0, 10.0), 3, 3)
    assert claims.BIBTEX_ACCURACY == 0.6455 and claims.PAPER_BIBTEX == (18.17, 1.94)
    assert protocol.FULL.growth_m[0] == 100 and protocol.FULL.growth_m[-1] == 100_000
