"""Sequences of models on the explorer's page: chosen by their solvers, with stages, pictures, and a way back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from test_live_explorer import Page, X, Y

from sparsescope.live import Explorer, controls, python_snippet, steps
from sparsescope.live import settings as st
from sparsescope.live.pages.sequences import RIDGE
from sparsescope.live.preparing import prepare

FOURIER = {"solver": "stagewise", "loss": "squared", "solver.generator": "fourier", "solver.features": 5}


@contextmanager
def page_of(settings: dict[str, Any], data: Any = (X, Y)) -> Iterator[Page]:
    explorer = Explorer(data, {"speed": "max", **settings}, allow_data_choice=False)
    yield Page(explorer).start()
    explorer.close()


def stepped(page: Page, n: int) -> dict[str, Any]:
    """The last frame after n more steps."""
    at = page.last()["status"]["iteration"] + n
    page.applied(page.send("do", action="step", n=n))
    page.until(lambda: page.last()["status"]["iteration"] == at, f"{n} steps")
    return page.last()


def picture(page: Page, **layout: Any) -> tuple[dict[str, Any], Any]:
    """The newest picture for a layout, and the state it was taken of; the run has to rest."""
    page.send("layout", rows=100, columns=100, visible=True, **layout)
    state = page.explorer.session.run.state

    def newest() -> Any:
        shown = [f["picture"] for f in page.frames() if f["picture"]][-1:]
        fits = shown and shown[0]["iteration"] == state.iteration and shown[0]["part"] == layout.get("part", "stage")
        return shown[0] if fits and (shown[0]["row"] == layout.get("row") or shown[0]["reason"]) else None

    return page.until(newest, "a picture"), state


def notices(page: Page) -> str:
    return " ".join(text for message in page.of("notices") for text in message["notices"])


# -------------------------------------------------------------------------------------------------------- the problem
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("solver", ["cls", "stagewise"])
def test_choosing_a_solver_of_sequences_makes_their_problem(solver: str, form: Any) -> None:
    with page_of({"solver": solver, "loss": "squared", "ridge": 1e-3}, (form(X), Y)) as page:
        facts, frame = page.of("problem")[-1], stepped(page, 3)
        assert facts["kind"] == "sequence" and facts["lam_max"] is None
        assert [view["id"] for view in facts["views"]] == [
            "convergence",
            "accuracy",
            "features",
            "weights",
            "confusion",
            "spectrum",
        ]
        assert facts["objective0"] == pytest.approx(0.5)  # ½ ‖0 − e_y‖²
        problem = page.explorer.session.problem
        assert problem.kind == "sequence" and problem.lam == 1e-3 == frame["lam"] and frame["total"] == 4
        status = frame["status"]
        assert status["features"] == 8 and status["gap"] is None and 0 < status["objective"] < 0.5
        assert "features" in [name for name, *_ in frame["columns"]] or frame["count"] == 0
        page.applied(page.send("set", changes={"ridge": 1e-2}))
        assert page.explorer.session.problem.lam == 1e-2 and page.marks()[-1]["kind"] == "lam"
        json_settings = page.of("controls")[-1]["settings"]
        assert json_settings["ridge"] == 1e-3  # a slider that moves needs no new controls


def test_there_and_back_in_mid_run_and_what_is_not_carried_over_is_said() -> None:
    with page_of({"lam_ratio": 0.2}) as page:
        stepped(page, 2)
        first = page.explorer.session
        epoch = page.last()["epoch"]
        page.applied(page.send("set", changes={"speed": 30, **FOURIER, "loss": "multiclass-squared-hinge"}))
        page.applied(page.send("do", action="run"))
        page.until(lambda: page.last()["status"]["iteration"] > 2, "stages")
        second = page.explorer.session
        assert second is not first and second.problem.kind == "sequence" and page.last()["epoch"] > epoch
        assert second.problem.design is first.problem.design, "the data are the same"
        assert "begins without the weights found so far. The penalty (l1/l2) and λ/λ_max" in notices(page)
        page.applied(page.send("set", changes={"solver.calibrated": True}))
        assert page.explorer.session is second and page.marks()[-1]["text"] == "stagewise: calibrated False → True"
        page.applied(page.send("set", changes={"solver": "bcd-ls"}))
        third = page.explorer.session
        assert third.problem.kind == "prediction" and third.problem.design is first.problem.design
        assert third.problem.penalty == first.problem.penalty and third.problem.lam == pytest.approx(first.problem.lam)
        page.until(
            lambda: (
                (page.last()["status"]["iteration"] > 0 and page.last()["playing"]) or page.last()["mode"] == "finished"
            ),
            "it goes on running",
        )
        assert "the sequence of stages is not carried over. It begins at W = 0" in notices(page)
        assert [m["kind"] for m in page.of("problem")] == ["prediction", "sequence", "prediction"]


def test_a_loss_that_does_not_fit_is_replaced_and_that_is_said() -> None:
    first = prepare(st.clean({"solver": "auto"})[0], (X, Y), None)
    cls = prepare(st.clean({**first.settings, "solver": "cls"})[0], (X, Y), first.problem)
    assert (cls.settings["loss"], cls.problem.kind, cls.fresh) == ("squared", "sequence", True)
    assert "Choose squared, or stagewise. Using squared" in cls.notices[-1] and "(l1/l2)" in cls.notices[0]
    stages = prepare(st.merge(cls.settings, {"loss": first.settings["loss"]})[0], (X, Y), cls.problem)
    assert stages.settings["solver"] == "stagewise" and "Using stagewise" in stages.notices[0] and not stages.fresh
    assert "another loss begins a new sequence" in stages.notices[-1]
    kinks = prepare(st.clean({"loss": "crammer-singer", "solver": "stagewise"})[0], (X, Y), None)
    assert kinks.settings["loss"] == "squared" and "not smooth" in kinks.notices[0]
    sets = np.column_stack([Y > 0, Y > 1, Y == 0]).astype(int)
    labels = prepare(st.clean({"solver": "stagewise", "loss": "squared"})[0], (X, sets), None)
    assert not labels.notices and labels.facts["multilabel"]
    assert next(view for view in labels.facts["views"] if view["id"] == "features")["left"]["title"].endswith("wrong]")


# -------------------------------------------------------------------------------------------------------- the picture
def test_the_picture_shows_the_last_stage_its_calibration_or_all_stages() -> None:
    with page_of({**FOURIER, "solver.calibrated": True}) as page:
        stepped(page, 3)
        found, state = picture(page, row=8 + 2, part="stage")
        V = state.model.steps[-1].V
        assert found["shape"] == [5, 3] and found["total"] == 5
        assert found["said"] == "stage 3: 5 random Fourier features, calibrated"
        assert found["steps"] == {"before": 0, "names": [[1, "5 random Fourier features, calibrated"]]}
        np.testing.assert_allclose(found["row_values"], V[2])
        names = {key: name for frame in page.frames() for key, name in frame["names"].items()}
        assert names == {str(8 + k): f"random {k + 1}" for k in range(5)}
        key = page.send("ask", kind="value", row=8 + 4, cls=1)
        answer = page.until(lambda: next((a for a in page.of("answer") if a["id"] == key), None), "the exact value")
        assert answer["value"] == V[4, 1] and answer["name"] == "random 5"
        found, _ = picture(page, row=8 + steps.MOST_RANDOM + 1, part="calibration")
        assert found["shape"] == [3, 3] and "coefficients of the predictions" in found["said"]
        np.testing.assert_allclose(found["row_values"], V[6])
        found, _ = picture(page, part="model")
        assert found["shape"][0] == 0 and found["reason"].startswith("Random features have no weights")
        page.send("layout", part="everything")
        page.until(lambda: page.of("error"), "the error")
        assert "allowed: 'stage', 'calibration', 'model'" in page.of("error")[-1]["text"]
    with page_of({"solver": "stagewise", "loss": "squared", "solver.features": 3}) as page:
        stepped(page, 2)
        found, state = picture(page, row=5, part="model")
        assert found["shape"] == [6, 3] and found["nonzero"] == 6 and found["total"] == 8
        found, state = picture(page, part="stage", row=None)
        block = state.model.steps[-1].block
        assert found["said"] == "stage 2: 3 columns" and found["shape"] == [3, 3] and block.p == 3
        assert picture(page, part="calibration")[0]["reason"].startswith("These stages are not calibrated")
    with page_of({"solver": "cls", "loss": "squared"}) as page:
        assert picture(page, part="stage")[0]["reason"] == "No stage has been fitted yet."
        stepped(page, 1)
        found, state = picture(page, part="calibration", row=8 + steps.MOST_RANDOM + 4)
        assert found["shape"] == [9, 3] and found["said"].startswith("stage 1: least squares on 8 columns, then calib")
        np.testing.assert_allclose(found["row_values"], state.model.steps[0].C[4])
        assert steps.row_name(page.explorer.session.problem, 8 + steps.MOST_RANDOM + 4) == "ŷ² of 1"


def test_a_new_sequence_says_how_many_iterations_there_were_before() -> None:
    with page_of(FOURIER) as page:
        stepped(page, 3)
        page.applied(page.send("set", changes={"loss": "logistic", "solver.inner": 5}))
        stepped(page, 1)
        page.applied(page.send("set", changes={"solver.features": 7}))
        frame = stepped(page, 1)
        assert frame["status"]["features"] == 12
        assert picture(page)[0]["steps"] == {
            "before": 3,
            "names": [[1, "5 random Fourier features"], [2, "7 random Fourier features"]],
        }


# ---------------------------------------------------------------------------------------------- settings and controls
def test_wrong_values_are_corrected_with_a_notice() -> None:
    clean, said = st.clean(
        {
            "solver": "stagewise",
            "solver.features": "50000",
            "solver.generator": "sine",
            "solver.inner": 0,
            "ridge": -1,
            "stop": "gap",
            "solver.basis": "cube",
        }
    )
    assert clean["solver.features"] == 4000 and clean["solver.generator"] == "columns" and clean["solver.inner"] == 1
    assert clean["ridge"] == RIDGE.field.low and clean["stop"] == "precision"
    text = "; ".join(said)
    for words in (
        "solver.features is 50000, outside 1 to 4000",
        "allowed: columns, gradient, fourier",
        "ridge is -1",
        "no gap is known of a sequence",
        "solver.basis does not apply to solver 'stagewise'",
    ):
        assert words in text
    assert st.clean({"solver": "bcd-ls", "stop": "gap"})[0]["stop"] == "gap"
    again, said = st.from_query(st.to_query(clean))
    assert again == clean and not said
    assert "ridge" not in st.to_query(st.defaults())


def test_the_controls_are_those_of_sequences() -> None:
    settings = st.clean({**FOURIER, "ridge": 1e-5})[0]
    prepared = prepare(settings, (X, Y), None)
    groups = controls.schema(
        settings, reasons=prepared.reasons, lam_reference=prepared.lam_reference, lam_finite=prepared.lam_finite
    )
    found = {control["id"]: control for group in groups for control in group["controls"]}
    assert not {"penalty", "lam_ratio"} & set(found)
    assert found["ridge"]["value"] == 1e-5 and found["ridge"]["log"] and "come back" in found["ridge"]["doc"]
    assert found["solver.features"]["high"] == 4000
    assert found["solver.inner"]["disabled"] and "one least squares step" in found["solver.inner"]["reason"]
    assert not found["solver.width"]["disabled"] and not found["solver.seed"]["disabled"]
    columns = prepare(st.merge(settings, {"solver.generator": "gradient"})[0], (X, Y), prepared.problem).reasons
    assert "no width" in columns["solver.width", ""] and ("solver.seed", "") in columns
    stops = {entry["value"]: entry for entry in found["stop"]["choices"]}
    assert stops["gap"]["disabled"] and "no gap" in stops["gap"]["reason"] and "settled" in stops["precision"]["label"]
    losses = {entry["value"]: entry for entry in found["loss"]["choices"]}
    assert "not smooth" in losses["crammer-singer"]["reason"] and not losses["logistic"]["disabled"]
    methods = {entry["value"]: entry for entry in found["solver"]["choices"]}
    assert not methods["bcd-ls"]["disabled"] and not methods["cls"]["disabled"] and "quic" not in methods


@pytest.mark.parametrize("chosen", [{**FOURIER, "solver.calibrated": True}, {"solver": "cls", "loss": "squared"}])
def test_the_snippet_reproduces_the_run(chosen: dict[str, Any]) -> None:
    with page_of({**chosen, "ridge": 1e-4}) as page:
        text = python_snippet(page.explorer.settings)
        made: dict[str, Any] = {"X": X, "y": Y}
        exec(text.replace("max_iter=100", "max_iter=4"), made)
        stepped(page, 4)
        assert made["result"].objective == pytest.approx(page.last()["status"]["objective"], rel=1e-9)
        assert len(made["result"].model) == 4 and made["problem"].lam == 1e-4


def test_data_too_large_for_one_method_go_to_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparsescope.solvers.cls.too_large", lambda name, _: f"{name} would need too much memory")
    prepared = prepare(st.clean({"solver": "cls", "loss": "logistic"})[0], (X, Y), None)
    assert (prepared.settings["solver"], prepared.settings["loss"]) == ("stagewise", "logistic")
    assert prepared.notices[-1].endswith("Using stagewise")
    squared = prepare(st.clean({"solver": "stagewise", "loss": "squared"})[0], (X, Y), None)
    assert squared.reasons["solver", "cls"] == "cls would need too much memory"
    ordinary = prepare(st.clean({"solver": "bcd-ls", "loss": "logistic"})[0], (X, Y), None)
    assert ("solver", "cls") in ordinary.reasons and ("solver", "stagewise") not in ordinary.reasons


def test_a_run_that_settles_ends() -> None:
    with page_of({"solver": "stagewise", "loss": "squared"}) as page:  # one stage takes all 8 columns
        page.applied(page.send("do", action="run"))
        page.until(lambda: page.last()["mode"] == "finished", "the end")
        assert page.last()["message"].startswith("settled: F fell by less than")
