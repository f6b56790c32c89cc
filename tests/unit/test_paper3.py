"""Paper 3 on tiny data: samples and features, models along α, races, the command's folder."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.experiments import Settings, load_paper, output, paper3, runs
from sparsescope.experiments.conduct import conduct
from sparsescope.experiments.paper3 import fitting, protocol, quadratic, races, samples
from sparsescope.experiments.pools import Pool, pool
from sparsescope.experiments.progress import Report

TINY = Settings(quick=True, seconds=0.05, seed=1)
LIMIT = protocol.limits(TINY)


@pytest.fixture(scope="module")
def images() -> Pool:
    """Three digits, 60 training and 30 other test images."""
    X, y = ss.datasets.load("digits", test_size=0.0)
    some = np.flatnonzero(y < 3)[:90]
    return pool(ss.datasets.from_arrays(X[some[:60]], y[some[:60]], X_test=X[some[60:]], y_test=y[some[60:]],
                                        image_shape=(8, 8), name="some digits"))  # fmt: skip


@pytest.fixture(scope="module")
def text() -> Pool:
    """Forty documents of twenty words, two classes."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = (rng.random((40, 20)) < 0.15 + 0.4 * (np.arange(20) // 10 == y[:, None])) * 1.0
    return pool(ss.datasets.from_arrays(sp.csr_array(X), y, name="some words"))


# ----------------------------------------------------------------------------------------------------------- samples
def test_subsets_are_drawn_from_the_training_part_and_tested_on_all_the_rest(images: Pool) -> None:
    split = samples.draw(images, samples.PIXELS, 4, 7)
    assert np.bincount(split.problem.y).tolist() == [4, 4, 4] and split.problem.intercept
    assert split.test.n == 30 and (split.y_test == images.y[60:]).all()
    training = {row.tobytes() for row in np.ascontiguousarray(images.X[:60])}
    assert all(np.ascontiguousarray(row).tobytes() in training for row in split.X)
    assert samples.draw(images, samples.PIXELS, 4, 7) is split
    assert not np.array_equal(samples.draw(images, samples.PIXELS, 4, 8).X, split.X)
    assert samples.draw(images, samples.PIXELS, 500, 7).problem.n == 60, "classes with fewer samples give all of theirs"


def test_data_without_a_test_part_hold_a_quarter_out(text: Pool) -> None:
    train, test = text.parts(samples.HELD_OUT)
    assert (len(train), len(test)) == (30, 10) and not set(train) & set(test)
    assert samples.draw(text, "terms", 3, 0).problem.design.is_sparse


def test_kinds_of_data(images: Pool, text: Pool) -> None:
    assert [samples.kind(p) for p in (images, text, samples.load("wine"))] == ["images", "text", "table"]
    refused = {m.name for m in load_paper(3).measurements if m.refuses(text)}
    assert refused == {m.name for m in load_paper(3).measurements} - {"Fig. 2"}


def test_blocks_are_patches_of_pixels_and_channels_of_a_position(images: Pool) -> None:
    groups = samples.blocks(images, samples.PIXELS)["blocks"]
    assert groups[0] == [0, 1, 8, 9] and len(groups) == 16
    assert sorted(k for group in groups for k in group) == list(range(64))
    assert samples.blocks(images, samples.FILTERS) == {"size": 16}
    assert samples.draw(images, samples.FILTERS, 2, 0).problem.d == 16 * 16


def test_random_filters_are_what_they_say() -> None:
    X = np.random.default_rng(0).random((3, 49))
    found = samples.filtered(X, (7, 7)).reshape(3, 4, 4, 16)
    np.testing.assert_allclose(found[1, 0, 1, 0], X[1].reshape(7, 7)[:2, 2:4].mean())
    assert (found >= 0.0).all()
    np.testing.assert_allclose(samples.filtered(2 * X, (7, 7)), 2 * found.reshape(3, -1))
    flat = samples.filtered(np.ones((1, 49)), (7, 7)).reshape(4, 4, 16)
    np.testing.assert_allclose(flat[1, 1, 1:], 0.0, atol=1e-12)  # filters do not see brightness away from the border


def test_microarray_intensities_are_standardised_by_samples(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values, y = rng.integers(-100, 30_000, (12, 40)), np.arange(12) % 3
    np.savez(tmp_path / "genes.npz", X_train=values[:9], y_train=y[:9], X_test=values[9:], y_test=y[9:])
    found = samples.load(str(tmp_path / "genes.npz"))
    assert found.training == 9 and found.scaling == "each sample standardised" and found.facts["n"] == 12
    np.testing.assert_allclose(found.X.mean(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(found.X.std(axis=1), 1.0)
    np.savez(tmp_path / "small.npz", X_train=values[:9] / 1e5, y_train=y[:9])
    assert samples.load(str(tmp_path / "small.npz")).scaling != "each sample standardised"


# ----------------------------------------------------------------------------------------------------------- fitting
def test_alpha_is_the_papers(images: Pool) -> None:
    """g(W) + (1/α) Σℓ, with ‖W‖² for its ℓ2: n λ Ω = α g."""
    base = samples.draw(images, samples.PIXELS, 4, 0).problem
    W = np.random.default_rng(0).standard_normal((64, 3))
    for name, g in (("ridge", (W**2).sum()), ("l1", np.abs(W).sum())):
        problem = protocol.with_alpha(base.with_(loss=protocol.loss("hinge"), penalty=name), 0.3)
        loss = problem.objective(W) - problem.objective(0 * W) + 1.0 - problem.lam * problem.regulariser.value(W)[0]
        assert problem.n * problem.objective(W) == pytest.approx(0.3 * g + problem.n * loss)


def test_models_along_alpha(images: Pool) -> None:
    split = samples.draw(images, samples.PIXELS, 4, 0)
    limit = dataclasses.replace(LIMIT, seconds=120.0, iterations=20_000, tol=1e-2)
    alphas = fitting.sparse_alphas(split, "l1", limit)
    assert len(alphas) == 3 and alphas == sorted(alphas, reverse=True) and alphas[0] / alphas[-1] == pytest.approx(100)
    table = fitting.fit_along(split, "hinge", "l1", alphas, limit, {"data": "x"})
    assert table["alpha"].tolist() == alphas and (table["gap"] <= limit.tol).all() and set(table["stopped"]) == {"gap"}
    assert table["zero_percent"].is_monotonic_decreasing and table["hinge"].is_monotonic_decreasing
    row = table.iloc[-1]
    assert row["errors"] == round(row["error_percent"] * 30 / 100) and row["lam"] == pytest.approx(alphas[-1] / 12)
    assert sum(map(int, row["nonzeros"].split("+"))) == row["nonzero_entries"]
    kept = fitting.fit_along(split, protocol.CONSTRAINED, "l1", [0.5], limit, {})
    assert kept["hinge"].iloc[0] == pytest.approx(0.5, rel=0.05)


def test_a_budget_that_cannot_be_kept_is_a_row_with_its_reason() -> None:
    """Two samples of different classes on one spot: the mean hinge is 1 whatever W is."""
    made = pool(ss.datasets.from_arrays(np.ones((8, 3)), np.arange(8) % 2, name="spot"))
    table = fitting.fit_along(samples.draw(made, samples.PIXELS, 3, 0), protocol.CONSTRAINED, "l1", [0.5, 0.2],
                              dataclasses.replace(LIMIT, seconds=120.0, iterations=20_000), {})  # fmt: skip
    assert len(table) == 1 and table["error_percent"].isna().all()
    assert "failed: eta is 0.5, and no weights keep that budget" in table["stopped"].iloc[0]


def test_the_mean_hinge_is_the_loss_of_the_problem(images: Pool) -> None:
    problem = samples.draw(images, samples.PIXELS, 4, 0).problem.with_(loss=protocol.loss("hinge"))
    W, b = np.random.default_rng(0).standard_normal((64, 3)), np.array([0.1, -0.3, 0.2])
    assert fitting.mean_hinge(problem, W, b) == pytest.approx(problem.certificate(W, b).loss)


# ------------------------------------------------------------------------------------------------------------- races
class At:
    """An event of a run whose weights are given."""

    def __init__(self, k: int, value: float) -> None:
        self.iteration, self.seconds, self.message = k, float(k), ""
        self.state = type("", (), {"coef": np.array([[value]])})()


def test_a_path_notes_when_iterates_come_to_rest() -> None:
    path = races.Path(1e-2, 1e-4)
    values = [0.0, 0.0, *(1.0 - 0.1**k for k in range(1, 9))]
    ends = [path(At(k, value)) for k, value in enumerate(values)]  # type: ignore[arg-type]
    assert path.reached == (4.0, 4), "|0.999 − 0.99|/0.999 is the first below 1e-2; zeros at the start are no rest"
    assert ends.index(True) == 6 and path.last < 1e-4
    np.testing.assert_allclose(path.distances()[:4], [1.0, 1.0, 0.1, 0.01], rtol=1e-3)
    assert path.distances()[-1] == 0.0


def test_a_path_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(races, "WEIGHTS", 40)
    path = races.Path(1e-2, 1e-12)
    for k in range(400):
        path(At(k, 1.0 + 1.0 / (k + 1)))  # type: ignore[arg-type]
    assert len(path.points) <= 40 and path.iterations[: races.FIRST_POINTS] == list(range(races.FIRST_POINTS))
    assert path.seconds == sorted(path.seconds) and len(path.seconds) == len(path.iterations) == len(path.points)


def test_liblinear_solves_the_same_problem(images: Pool) -> None:
    for classes in (3, 2):
        rows = images.y[:60] < classes
        problem = ss.Problem(
            images.X[:60][rows], images.y[:60][rows], loss=protocol.loss("hinge"), penalty="ridge", lam=0.05
        )
        W, seconds, stopped = quadratic.liblinear(images.X[:60][rows], problem, tol=1e-7)
        best = ss.solve(problem, "fbpd", tol=1e-7, max_iter=50_000)
        assert problem.objective(W) == pytest.approx(best.objective, rel=1e-5) and stopped == "tol" and seconds >= 0.0


# ------------------------------------------------------------------------------------------------------- the command
@pytest.fixture(scope="module")
def made(images: Pool, text: Pool, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """All of paper 3 on tiny data, with hardly any time for each run."""
    folder = output.Folder(tmp_path_factory.mktemp("paper3"))
    patch = pytest.MonkeyPatch()
    patch.setattr(protocol, "QUICK", dataclasses.replace(protocol.QUICK, images=(3,), text=(3,), quadratic=(3,)))
    patch.setattr(runs, "REPEATS", 2)  # medians of two runs are medians, too
    paper = load_paper(3)
    table = pool(ss.datasets.load("iris", test_size=0.0))
    try:
        results = conduct(paper, [table, images, text], TINY, folder, paper.choose(None), Report())
    finally:
        patch.undo()
    return folder.path, results


def test_the_folder_holds_everything(made: tuple[Path, Any]) -> None:
    folder, results = made
    paper = load_paper(3)
    names = {p.name for p in folder.iterdir()}
    assert {f"{e.name}.html" for e in paper.experiments} <= names and "table1.csv" in names
    assert {f"{m.table}.csv" for m in paper.measurements} <= names and not results.interrupted
    assert {v.claim.name for v in results.verdicts} == {c.name for c in paper.claims}
    summary = (folder / "summary.md").read_text(encoding="utf-8")
    assert "Fig. 2 is not measured on iris: it is for sparse data (texts)." in summary
    assert all(claim.text in summary for claim in paper.claims)


def test_every_loss_and_method_is_in_the_tables(made: tuple[Path, Any]) -> None:
    folder, _ = made
    read = {name: pd.read_csv(folder / f"{name}.csv") for name in ("genes", "images", "text", "times", "distances",
                                                                   "quadratic")}  # fmt: skip
    assert set(read["genes"]["objective"]) == set(protocol.OBJECTIVES)
    assert set(read["genes"]["penalty"]) == {"ridge", "block-l1/linf"} < set(protocol.FULL.penalties)
    for name in ("images", "text"):
        assert set(read[name]["objective"]) == {*protocol.OBJECTIVES, protocol.CONSTRAINED}
        assert read[name]["error_percent"].between(0, 100).all()
    for name in ("times", "distances"):
        table = read[name]
        assert set(table["method"]) == set(protocol.METHODS)
        bounded = table["method"].isin(protocol.BOUNDED)
        assert table.loc[bounded, "eta"].between(0, 1.01).all() and table.loc[~bounded, "eta"].isna().all()
    assert (read["distances"].groupby("method")["distance"].last() == 0.0).all()
    # Quick: the same runs, which end where their time is over; short ones have the medians of repeated runs.
    ends = read["distances"].groupby("method")["gap"].last()
    pd.testing.assert_series_equal(read["times"].set_index("method")["gap"].sort_index(), ends, rtol=1e-9)
    for name in ("times", "distances"):
        known = read[name].dropna(subset=["seconds"])
        if "seconds_low" not in known:  # on a slow machine no run may have settled, and none was repeated
            continue
        assert (known["seconds_low"] <= known["seconds"]).all() and (known["seconds"] <= known["seconds_high"]).all()
    assert set(read["quadratic"]["method"]) == set(quadratic.METHODS) and (read["quadratic"]["off"] > -1e-3).all()


def test_each_measurement_is_a_function_of_its_own() -> None:
    assert set(paper3.__all__) >= {"fit_table1", "fit_images", "fit_text", "time_methods", "follow_methods",
                                   "compare_quadratic", "table1"}  # fmt: skip
