"""The duality page: dual rows of solvers, margins with their corner, F and D that close, samples and their rivals."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from sparsescope.app._duals import CORNER, Point
from sparsescope.registry import app_pages
from waiting import finish


def problem_of(name: str = "iris", loss: str = "crammer-singer", penalty: str = "elastic-net") -> ss.Problem:
    return ss.Problem(ss.datasets.load(name), loss=loss, penalty=penalty, lam_ratio=0.05)


def run_of(problem: ss.Problem, solver: str, tol: float = 1e-6) -> ss.Run:
    run = ss.Run(problem, solver, stop=ss.stopping.Gap(tol) | ss.stopping.Iterations(20_000), certify_every=5)
    for _ in run:
        pass
    return run


@pytest.mark.parametrize("solver", ["fbpd", "pd-sparse", "ssnal"])
def test_own_dual_rows_prove_the_solvers_own_bound(solver: str) -> None:
    problem = problem_of()
    run = run_of(problem, solver)
    U = np.zeros((problem.n, problem.m))
    assert run.state.dual_rows(U)
    rows = np.arange(problem.n)
    off = U.copy()
    off[rows, problem.y] = 0.0
    assert off.min() >= -1e-9 and np.abs(U.sum(axis=1)).max() < 1e-9 and off.sum(axis=1).max() <= 1.0 + 1e-9
    # D = −(1/n) Σ ℓ*(u_i) − λ Ω*(−Xᵀu/(nλ)), with ℓ*(u) = −μ·mass and Ω* of the elastic net
    v = -problem.design.plain().matrix.T @ U / problem.n / problem.lam
    rho = problem.penalty.rho
    conjugate = float((np.maximum(np.abs(v) - rho, 0.0) ** 2).sum()) / (2.0 * (1.0 - rho))
    dual = off.sum() / problem.n - problem.lam * conjugate
    assert dual == pytest.approx(run.certificate().dual, abs=2e-5 * abs(dual))


def test_the_histogram_counts_every_sample_once_and_has_a_bin_at_the_corner() -> None:
    point = Point.of(run_of(problem_of("wine", penalty="l1/l2"), "fbpd"))
    found = point.histogram()
    assert sum(found["pushing"]) + sum(found["resting"]) == point.problem.n == found["n"]
    edges = np.array(found["edges"])
    middles = 0.5 * (edges[1:] + edges[:-1])
    assert np.abs(middles - found["corner"]).min() < 1e-4
    for k, samples in enumerate(found["samples"]):
        forces = [force for _, force in samples]
        assert forces == sorted(forces, reverse=True)
        inside = [point.margins[i] for i, _ in samples]
        if 0 < k < len(middles) - 1 and inside:
            assert edges[k] - 1e-5 <= min(inside) and max(inside) <= edges[k + 1] + 1e-5
    assert found["misread"] == int((point.margins < 0).sum())


def test_samples_in_the_corner_of_the_exact_hinge_push_without_loss_and_those_of_the_squared_hinge_do_not() -> None:
    exact = Point.of(run_of(problem_of("wine", penalty="l1/l2"), "ssnal", 1e-9)).histogram()
    assert exact["own"] and exact["pushing_in_corner"] > 0 and exact["pushing_without_loss"] > 0
    smooth = Point.of(run_of(problem_of("wine", "multiclass-squared-hinge", "l1/l2"), "working-set", 1e-9)).histogram()
    assert not smooth["own"] and smooth["pushing_without_loss"] == 0
    none = Point.of(run_of(problem_of("wine", "logistic", "l1/l2"), "working-set")).histogram()
    assert none["corner"] is None and none["all_pushing"] == none["n"]
    assert 0 < CORNER < 0.1


def test_a_sample_names_its_rivals_in_order_and_its_words_add_up() -> None:
    point = Point.of(run_of(problem_of("pydocs"), "pd-sparse", 1e-3))
    names = [str(name) for name in point.problem.class_names]
    for i in (5, 100, 900):
        told = point.sample(i)
        y = int(point.problem.y[i])
        behind = [rival["behind"] for rival in told["rivals"][:8]]
        assert (
            behind == sorted(behind)
            and told["true"] == names[y]
            and told["margin"] == pytest.approx(behind[0], abs=1e-4)
        )
        for rival in told["rivals"]:
            assert rival["dual"] == pytest.approx(point.U[i, names.index(rival["name"])], abs=1e-4)
        assert told["force"] == pytest.approx(sum(r["dual"] for r in told["rivals"]), abs=2e-3)
        rival = names.index(told["rival"])
        x = np.asarray(point.problem.design.plain().matrix[[i]].todense()).ravel()
        share = x * np.asarray((point.W[:, [y]] - point.W[:, [rival]]).todense()).ravel()
        words = {point.problem.feature_name(j): share[j] for j in np.flatnonzero(share)}
        for name, value in told["words"]["for"]:
            assert value > 0 and words[name] == pytest.approx(value, rel=2e-2)
        for name, value in told["words"]["against"]:
            assert value < 0 and words[name] == pytest.approx(value, rel=2e-2)


def shown(page: Any) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """All messages until the work has ended, and the newest of each type."""
    said = finish(page)
    return said, {m["type"]: m for m in said}


def test_lines_are_what_was_measured_and_close_around_the_optimum() -> None:
    # The seconds of a lane hold the compilation of its kernels, which a busy machine can spend 20 on.
    page = app_pages["duality"](None, {"dataset": "iris", "tol": "1e-5", "budget": "600"})
    page.on_message({"type": "ready"})
    said, last = shown(page)
    problem = problem_of()
    best = ss.reference(problem)
    joined: dict[str, list[float]] = {}
    for message in (m for m in said if m["type"] == "lines"):
        for lane in [*message["lanes"], *([message["gradient"]] if message["gradient"] else [])]:
            columns = joined.setdefault(lane["name"], [])
            assert len(columns) == lane["from"], "every value is sent once"
            columns += zip(lane["objective"], lane["dual"], strict=True)
    assert set(joined) == {"fbpd", "pd-sparse", "gradient at fbpd's W"}
    for name, values in joined.items():
        upper, lower = np.array(values).T
        assert upper.min() >= best.dual - 1e-9 and lower.max() <= best.objective + 1e-9, name
    closed = {name: values[-1][0] - values[-1][1] for name, values in joined.items()}
    assert closed["fbpd"] <= 1e-5 * best.objective and closed["pd-sparse"] <= 1e-5 * best.objective
    assert closed["gradient at fbpd's W"] > 10.0 * closed["fbpd"], (
        "a corner has many slopes, and W alone does not know which"
    )
    assert last["margins"]["lane"] == "fbpd" and last["confusion"]["total"] > 0
    page.on_message({"type": "set", "changes": {"shown": "second", "sample": 3}})
    _, last = shown_again(page)
    assert last["margins"]["lane"] == "pd-sparse" and last["sample"]["sample"] == 3 and last["misread"]["number"] > 0
    page.close()


def shown_again(page: Any) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    said = [json.loads(json.dumps(header, allow_nan=False)) for header, _ in page.poll()]
    return said, {m["type"]: m for m in said}


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"loss": "multiclass-squared-hinge"}, "another solver"),
        ({"dataset": "planted-tags", "loss": "separation-ranking"}, "set of labels"),
        ({"loss": "logistic", "lane1": "working-set", "dataset": "planted-tags"}, "loss"),
    ],
)
def test_what_has_no_margins_or_no_solver_is_refused_in_words(wrong: dict[str, str], words: str) -> None:
    page = app_pages["duality"](None, {"dataset": "iris", "lane2": "none", **wrong})
    page.on_message({"type": "ready"})
    status = shown(page)[1]["status"]
    assert words in status["error"] and not status["detail"]
    page.close()


def test_a_smooth_loss_is_drawn_with_the_gradient_as_its_dual_point() -> None:
    page = app_pages["duality"](None, {"dataset": "breast_cancer", "loss": "binary-logistic", "lane1": "working-set",
                                       "lane2": "none", "penalty": "l1", "sample": "2"})  # fmt: skip
    page.on_message({"type": "ready"})
    _, last = shown(page)
    assert last["lines"]["gradient"] is None and not last["margins"]["own"] and last["margins"]["classes"] == 2
    assert len(last["sample"]["rivals"]) == 1
    page.close()
