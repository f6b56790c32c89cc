"""Settings of the explorer: defaults, cleaning of what comes from anywhere, and the way into an address and back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from sparsescope import datasets, registry
from sparsescope.live import controls
from sparsescope.live import settings as st
from sparsescope.live.setting import RUN, Setting
from sparsescope.live.snippet import python_snippet
from sparsescope.registry import field


def test_defaults_name_registered_parts_and_are_plain_json() -> None:
    chosen = st.defaults()
    assert json.loads(json.dumps(chosen)) == chosen
    assert chosen["dataset"] in datasets.names()
    for kind, parts in st.PARTS.items():
        assert chosen[kind] in parts.names()


@pytest.mark.parametrize("loss", registry.losses.names())
@pytest.mark.parametrize("penalty", registry.penalties.names())
def test_every_pair_survives_the_way_through_an_address(loss: str, penalty: str) -> None:
    for solver in registry.solvers.names():
        chosen, notices = st.clean({"loss": loss, "penalty": penalty, "solver": solver, "lam_ratio": 0.0123456789})
        assert notices == []
        again, notices = st.from_query(st.to_query(chosen))
        assert notices == []
        assert again == chosen


def test_fields_of_the_chosen_parts_are_settings() -> None:
    chosen, _ = st.clean({"penalty": "elastic-net"})
    assert chosen["penalty.rho"] == registry.penalties.fields("elastic-net")[0].default
    assert not any(key.startswith("penalty.") for key in st.clean({"penalty": "ridge"})[0])


@pytest.mark.parametrize(
    ("query", "key", "value", "words"),
    [
        ({"loss": "logstic"}, "loss", "multiclass-squared-hinge", "unknown loss 'logstic'"),
        ({"dataset": "/etc/passwd"}, "dataset", None, "unknown dataset"),
        ({"lam_ratio": "7"}, "lam_ratio", 1.0, "outside 0.0001 to 1"),
        ({"lam_ratio": "nan"}, "lam_ratio", 0.1, "not a number"),
        ({"lam_ratio": "-1"}, "lam_ratio", 1e-4, "using 0.0001"),
        ({"speed": "fast"}, "speed", 30.0, "not a number"),
        ({"speed": "1e9"}, "speed", 1000.0, "outside"),
        ({"seed": "1e99"}, "seed", st.SEED.field.high, "outside"),
        ({"intercept": "perhaps"}, "intercept", False, "allowed: yes or no"),
        ({"x": "hours"}, "x", "iterations", "allowed: iterations, passes"),
        ({"penalty": "elastic-net", "penalty.rho": "5"}, "penalty.rho", 1.0, "penalty.rho is 5"),
        ({"penalty": "l1", "penalty.rho": "0.5"}, "penalty", "l1", "does not apply to penalty 'l1'"),
        ({"solver.selection": "backwards"}, "solver.selection", "cyclic", "allowed: cyclic"),
        ({"bogus": "1"}, "loss", "multiclass-squared-hinge", "'bogus' is not known"),
        ({"_private": "1"}, "loss", "multiclass-squared-hinge", "'_private' is not known"),
        (
            {"data": "wine"},
            "loss",
            "multiclass-squared-hinge",
            "did you mean 'dataset'?",
        ),
        ({"version": "99"}, "version", 1, "version '99'"),
    ],
)
def test_bad_settings_are_corrected_and_said_in_words(query: dict, key: str, value: object, words: str) -> None:
    chosen, notices = st.from_query(query)
    assert len(notices) == 1
    assert words in notices[0]
    assert chosen[key] == (st.defaults()["dataset"] if key == "dataset" else value)


def test_speed_without_a_cap() -> None:
    chosen, notices = st.from_query({"speed": "max"})
    assert (chosen["speed"], notices) == (st.MAX, [])
    assert st.to_query(chosen)["speed"] == "max"


def test_another_part_starts_with_its_own_defaults() -> None:
    chosen, _ = st.clean({"penalty": "elastic-net", "penalty.rho": 0.9})
    changed, notices = st.merge(chosen, {"penalty": "sparse-group"})
    assert notices == []
    assert changed["penalty.rho"] == registry.penalties.fields("sparse-group")[0].default
    same, _ = st.merge(chosen, {"penalty": "elastic-net"})
    assert same["penalty.rho"] == 0.9


def test_a_penalty_over_blocks_brings_its_order_and_takes_it_away() -> None:
    chosen, _ = st.clean({})
    blocks, notices = st.merge(chosen, {"penalty": "block-l1/l2", "penalty.size": 7})
    assert notices == [] and (blocks["sort"], blocks["penalty.size"]) == ("block", 7)
    assert st.merge(blocks, {"penalty": "block-l1/linf"})[0]["sort"] == "block"
    assert st.merge(blocks, {"penalty": "l1"})[0]["sort"] == "norm"
    assert st.merge({**chosen, "sort": "name"}, {"penalty": "block-l1/l2"})[0]["sort"] == "name"
    assert st.merge(blocks, {"penalty": "l1", "sort": "name"})[0]["sort"] == "name"
    assert "create('block-l1/l2', size=7)" in python_snippet(blocks)


def test_data_of_ones_own_stays_out_of_the_address() -> None:
    chosen, notices = st.clean({}, [st.OWN])
    assert (chosen["dataset"], notices) == (st.OWN, [])
    assert "dataset" not in st.to_query(chosen)


# ----------------------------------------------------------------------------------------------------- declared once
STANDARDIZED = Setting(
    "standardized",
    field(False, doc="The penalty counts features by their deviations."),
    label="standardised features",
    formula="λ Σ_j s_j ‖W_j‖",
    argument="standardize",
)
SHARE = Setting("share", field(0.5, 0.1, 1.0, doc="A share."), effect=RUN, place="run")


@pytest.fixture
def wider(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The page of predictions with two more settings, declared in one place."""
    page = registry.pages["prediction"]
    monkeypatch.setattr(type(page), "settings", (*page.settings, STANDARDIZED, SHARE))
    return page


def test_a_setting_that_is_declared_once_has_default_correction_and_address(wider: Any) -> None:
    assert st.defaults()["standardized"] is False and st.defaults()["share"] == 0.5
    chosen, notices = st.clean({"standardized": "perhaps", "share": 7})
    assert (chosen["standardized"], chosen["share"]) == (False, 1.0)
    assert "allowed: yes or no" in notices[0] and "outside 0.1 to 1" in notices[1]
    chosen, _ = st.clean({"standardized": True, "share": 0.25})
    query = st.to_query(chosen)
    assert (query["standardized"], query["share"]) == ("1", "0.25")
    assert st.from_query(query) == (chosen, [])
    other, _ = st.clean({"task": "covariance"})
    assert "standardized" not in st.to_query(other), "settings of another page are left out where they say nothing"


def test_a_setting_that_is_declared_once_has_control_help_and_effect(wider: Any) -> None:
    chosen, _ = st.clean({"standardized": True})
    groups = {group["title"]: {c["id"]: c for c in group["controls"]} for group in controls.schema(chosen)}
    check, slider = groups["Problem"]["standardized"], groups["Run"]["share"]
    assert (check["kind"], check["value"], check["label"]) == ("check", True, "standardised features")
    assert (check["doc"], check["formula"]) == (STANDARDIZED.field.doc, STANDARDIZED.formula)
    assert (slider["kind"], slider["low"], slider["high"], slider["doc"]) == ("slider", 0.1, 1.0, "A share.")
    assert "standardized" in wider.fresh and "standardized" not in st.light(), "it makes a new problem"
    assert "share" in st.light() and "share" not in wider.fresh, "it asks for nothing but an order to the run"
    covariance, _ = st.clean({"task": "covariance"})
    ids = {c["id"] for group in controls.schema(covariance) for c in group["controls"]}
    assert not {"standardized", "share"} & ids, "other pages do not have it"


def test_a_setting_that_is_declared_once_reaches_problem_and_snippet(wider: Any) -> None:
    X = np.random.default_rng(0).normal(size=(12, 3)) * [1.0, 5.0, 0.2]
    chosen, _ = st.clean({"dataset": "own", "standardized": True}, ["own"])
    made, _ = wider.create((X, np.arange(12) % 3), chosen)
    assert made.standardize is True
    assert "    standardize=True," in python_snippet(chosen).splitlines()


def test_every_setting_is_declared_with_an_explanation_and_round_trips() -> None:
    for name, setting in st.declared().items():
        assert setting.name == name == setting.field.name
        assert setting.field.doc and setting.label
        assert setting.read(setting.default, notices := []) == setting.default and not notices
        shown = [page for page in st.pages() if setting.name in page.names]
        assert shown and (
            not setting.argument or any(setting.argument in page.arguments(st.defaults()) for page in shown)
        )


def test_the_known_settings_are_listed_once_beside_the_first_name_that_is_like_none() -> None:
    _, notices = st.clean({"xyzzy": 1, "qqqq": 2, "datset": "wine"})
    assert "known: balanced" in notices[0] and "dataset, " in notices[0] and "lam_ratio, " in notices[0]
    assert notices[1:] == [
        "the setting 'qqqq' is not known and was ignored",
        "the setting 'datset' is not known and was ignored; did you mean 'dataset'?",
    ]
