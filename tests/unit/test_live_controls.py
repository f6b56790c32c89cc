"""The controls: made from the registries, impossible choices visible with their reason."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sparsescope import registry
from sparsescope.live import controls, kinds, knobs
from sparsescope.live import settings as st
from sparsescope.problems.prediction import Problem
from sparsescope.registry import Field


def all_controls(**chosen: object) -> dict[str, dict]:
    settings, _ = st.clean(chosen)
    return {c["id"]: c for group in controls.schema(settings) for c in group["controls"]}


def test_every_registered_part_is_a_choice_and_the_schema_is_json() -> None:
    found = all_controls()
    json.dumps(list(found.values()), allow_nan=False)
    for kind, parts in st.PARTS.items():
        offered = [c["value"] for c in found[kind]["choices"]]
        if kind == "solver":  # each in the menu of a task that it is made for
            offered += [c["value"] for c in all_controls(task="covariance")[kind]["choices"]]
        assert set(offered) == set(parts.names())


def test_every_control_has_a_label_and_a_meaning() -> None:
    for solver in registry.solvers.names():
        for penalty in registry.penalties.names():
            for control in all_controls(solver=solver, penalty=penalty).values():
                assert control["label"]
                assert control["doc"], control["id"]


@pytest.mark.parametrize("kind", list(st.PARTS))
def test_every_field_of_every_part_has_a_control_with_its_value(kind: str) -> None:
    for name in st.PARTS[kind].names():
        found = all_controls(**{kind: name})
        for field in st.fields_of(kind, name):
            control = found[f"{kind}.{field.name}"]
            assert control["value"] == field.default
            if control["kind"] == "slider":
                assert control["low"] <= field.default <= control["high"]


def test_the_kind_of_a_control_follows_from_the_field() -> None:
    def kind(field: Field) -> str:
        return knobs.field_control("solver", field, field.default)["kind"]

    assert kind(Field("a", 0.5, 0.0, 1.0)) == "slider"
    assert kind(Field("a", 0.5, 0.0, None)) == "number"
    assert kind(Field("a", 0, 0, 2**31, kind="int")) == "number"
    assert kind(Field("a", 3, 1, 10, kind="int")) == "slider"
    assert kind(Field("a", True, kind="bool")) == "check"
    assert kind(Field("a", "x", choices=("x", "y"), kind="choice")) == "select"


def test_help_says_what_is_allowed_and_where_a_control_begins() -> None:
    def said(field: Field) -> str:
        return knobs.field_control("solver", field, field.default)["formula"]

    assert said(Field("a", 0.5, 0.0, 1.0)) == "0 to 1; default 0.5"
    assert said(Field("a", True, kind="bool")) == "default yes"  # a box has two states


def test_an_end_that_is_not_allowed_is_not_on_the_slider() -> None:
    control = knobs.field_control("solver", Field("a", 0.5, 0.0, 1.0, open_low=True), 0.5)
    assert control["low"] > 0.0
    control = knobs.field_control("solver", Field("a", 1e-3, 0.0, 1.0, log=True, open_low=True), 1e-3)
    assert control["log"] and 0.0 < control["low"] < 1e-3


def test_impossible_choices_keep_their_place_and_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    solver_class = registry.solvers["ista"]
    monkeypatch.setattr(
        solver_class, "solves", lambda self, p: "ISTA is on holiday" if "Logistic" in repr(p.loss) else None
    )
    rng = np.random.default_rng(0)
    problem = Problem(rng.normal(size=(20, 4)), rng.integers(0, 3, 20), loss="logistic", lam=0.1)
    settings, _ = st.clean({"loss": "logistic"})
    reasons = kinds.of(settings).impossible(problem, settings)
    assert reasons["solver", "ista"] == "ISTA is on holiday"
    found = {c["id"]: c for g in controls.schema(settings, reasons=reasons) for c in g["controls"]}
    choice = next(c for c in found["solver"]["choices"] if c["value"] == "ista")
    assert choice["disabled"] and choice["reason"] == "ISTA is on holiday"
    settings, _ = st.clean({"solver": "ista", "loss": "squared"})
    reasons = kinds.of(settings).impossible(problem.with_(loss="squared"), settings)
    assert not any(name in ("logistic", "squared") for _, name in reasons), "another method takes it: it can be chosen"


def test_a_loss_that_no_method_takes_is_impossible(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in registry.solvers:
        monkeypatch.setattr(
            registry.solvers[name], "solves", lambda self, p: f"no {self.name}" if "Logistic" in repr(p.loss) else None
        )
    rng = np.random.default_rng(0)
    problem = Problem(rng.normal(size=(20, 4)), rng.integers(0, 3, 20), loss="squared", lam=0.1)
    settings, _ = st.clean({"solver": "ista", "loss": "squared"})
    assert kinds.of(settings).impossible(problem, settings)["loss", "logistic"] == "no ista"


def test_losses_that_do_not_take_the_labels_are_impossible_and_say_why() -> None:
    rng = np.random.default_rng(0)
    problem = Problem(rng.normal(size=(20, 4)), rng.integers(0, 2, (20, 3)), lam=0.1)
    settings, _ = st.clean({"loss": "label-ranking-squared-hinge"})
    found = kinds.of(settings).impossible(problem, settings)
    reasons = {name: reason for (kind, name), reason in found.items() if kind == "loss"}
    assert set(reasons) == {name for name in registry.losses if "sets" not in registry.losses[name].target_types}
    assert all("needs one class a sample, and y has label sets" in reason for reason in reasons.values())


def test_the_lambda_slider_knows_the_absolute_value_and_ridge() -> None:
    settings, _ = st.clean({"lam_ratio": 0.01})
    slider = knobs.lam_control(settings, 2.5, True)
    assert (slider["value"], slider["scale"], slider["log"]) == (0.01, 2.5, True)
    assert "no λ_max" in knobs.lam_control(settings, 2.5, False)["doc"]
    assert "only an upper bound" in knobs.lam_control(settings, 2.5, True, True)["doc"]


def test_a_speed_from_an_address_stays_reachable() -> None:
    found = all_controls(speed=17)
    values = [c["value"] for c in found["speed"]["choices"]]
    assert found["speed"]["value"] in values
    assert values[-1] == st.MAX


def test_data_handed_over_come_first_and_alone_if_there_is_no_choice() -> None:
    settings, _ = st.clean({}, ["own"])
    group = controls.schema(settings, names=["own"], given=("own", "my data"))[0]
    data = group["controls"][0]
    assert data["choices"] == [{"value": "own", "label": "my data", "doc": "", "disabled": False, "reason": ""}]
    assert data["disabled"] and data["reason"]
    assert "seed" not in [c["id"] for c in group["controls"]]


def test_a_parameter_is_called_by_its_name_and_its_symbol() -> None:
    labels = {key: c["label"] for key, c in all_controls(loss="crammer-singer", solver="fbpd-constrained").items()}
    assert labels["loss.margin"] == "margin μ" and labels["solver.eta"] == "eta η"
    assert labels["solver.balance"] == "balance √(σ/τ)" and labels["solver.threads"] == "threads"


def test_lam_stands_still_where_a_budget_takes_its_place() -> None:
    hinge = all_controls(loss="crammer-singer", solver="fbpd")["lam_ratio"]
    bound = all_controls(loss="crammer-singer", solver="fbpd-constrained")["lam_ratio"]
    assert not hinge["disabled"] and bound["disabled"] and "η" in bound["reason"]
