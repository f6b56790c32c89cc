"""Experiments without their claims: data in one pool, runs as tables, what stays in the folder, the command."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
import scipy.sparse as sp

import helpers
import sparsescope as ss
from sparsescope import cli
from sparsescope.experiments import (
    PAPERS,
    Case,
    Claim,
    Experiment,
    Finding,
    Measurement,
    Paper,
    Settings,
    Verdict,
    command,
    load_data,
    output,
    peers,
    runs,
)
from sparsescope.experiments import load_paper as load
from sparsescope.experiments.base import EVERYWHERE
from sparsescope.experiments.conduct import conduct, measure
from sparsescope.experiments.paper1 import protocol
from sparsescope.experiments.paper1.objectives import compare_objectives
from sparsescope.experiments.pools import Pool, pool
from sparsescope.experiments.progress import Report, gather
from sparsescope.experiments.verdicts import Results, Time, number, points, seconds, slower, times
from sparsescope.runs.stopping import Iterations

DOCS = Path(__file__).resolve().parents[2] / "docs"
TINY = Settings(quick=True, seconds=0.02, splits=1)


@pytest.fixture
def flowers() -> Pool:
    return load_data("iris")


# ------------------------------------------------------------------------------------------------------------- pools
def test_both_parts_of_a_data_set_are_put_together(tmp_path: Path) -> None:
    X, y = helpers.digits()
    np.savez(tmp_path / "own.npz", X_train=X[:90], y_train=y[:90], X_test=X[90:], y_test=y[90:])
    found = load_data(str(tmp_path / "own.npz"))
    assert found.X.shape == X.shape and sorted(found.y) == sorted(y)


def test_splits_are_stratified_and_repeatable(flowers: Pool) -> None:
    split = flowers.split(3, 0.2)
    assert split.problem.n == 120 and np.bincount(split.y_test).tolist() == [10, 10, 10]
    assert flowers.split(3, 0.2) is split
    again = load_data("iris").split(3, 0.2)
    assert (again.y_test == split.y_test).all()
    other = flowers.split(4, 0.2)
    assert not np.array_equal(other.problem.scores(np.ones((4, 3))), split.problem.scores(np.ones((4, 3))))


def test_the_inner_split_uses_the_training_part_only(flowers: Pool) -> None:
    split = flowers.split(0, 0.2)
    inner = split.inner(0, 0.2)
    assert inner.problem.n == 96 and inner.y_test.size == 24
    rows = {tuple(row) for row in split.X}
    assert {tuple(row) for row in inner.X} <= rows


def test_dense_data_with_few_entries_become_sparse() -> None:
    X = np.zeros((40, 10))
    X[:, 0] = 1.0
    few = pool(ss.datasets.from_arrays(X, np.arange(40) % 2))
    many = pool(ss.datasets.from_arrays(X + 1.0, np.arange(40) % 2))
    assert sp.issparse(few.X) and not sp.issparse(many.X)
    assert few.facts["storage"] == "sparse" and few.facts["nonzero_percent"] == pytest.approx(10.0)
    assert few.split(0).problem.design.is_sparse


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="too few samples to set a share of"):
        pool(ss.datasets.from_arrays(np.eye(2), [0, 1])).split(0, 0.2)


# -------------------------------------------------------------------------------------------------------------- runs
def test_a_run_becomes_a_tidy_table(flowers: Pool) -> None:
    split = flowers.split()
    problem = split.problem.with_lam(0.01)
    table = runs.follow(split, problem, "bcd-ls", Iterations(40), {"data": "iris", "solver": "x"})
    assert list(table.columns[:2]) == ["data", "solver"]
    assert table["iteration"].iloc[0] == 0 and table["iteration"].iloc[-1] == 40
    assert table["seconds"].is_monotonic_increasing and table["objective"].is_monotonic_decreasing
    assert table["test_accuracy"].between(0, 1).all() and (table["message"] == "limit of 40 iterations").all()
    assert table["nonzero_percent"].max() <= 100.0
    W = ss.solve(problem, "bcd-ls", stop=Iterations(40), tol=0.0).W
    assert table["objective"].iloc[-1] == pytest.approx(problem.objective(W), rel=1e-12)
    assert table["test_accuracy"].iloc[-1] == split.accuracy(problem, W)


def test_short_runs_are_repeated_and_their_spread_is_kept(flowers: Pool) -> None:
    table = pd.DataFrame({"iteration": [0, 2, 5], "seconds": [0.0, 0.02, 0.05]})
    others = iter(
        [{0: 0.0, 2: 0.01, 5: 0.03}, {0: 0.0, 2: 0.04, 5: 0.06}, {0: 0.0, 2: 0.03}, {0: 0.0, 2: 0.05, 5: 0.07}]
    )
    runs.repeat_times(table, lambda: next(others))
    assert table["seconds"].tolist() == [0.0, 0.03, 0.05], "medians; a run that ended early counts with its last time"
    assert table["seconds_low"].tolist() == [0.0, 0.02, 0.03] and table["seconds_high"].tolist() == [0.0, 0.04, 0.06]
    long = pd.DataFrame({"iteration": [0, 1], "seconds": [0.0, 2 * runs.SHORT]})
    runs.repeat_times(long, lambda: next(iter(())))
    assert long["seconds_low"].equals(long["seconds"]) and long["seconds_high"].equals(long["seconds"])
    split = flowers.split()
    found = runs.follow(split, split.problem.with_lam(0.01), "bcd-ls", Iterations(40), {})
    assert (found["seconds_low"] <= found["seconds"]).all() and (found["seconds"] <= found["seconds_high"]).all()
    assert (found["seconds_low"] < found["seconds_high"]).any()


def test_times_of_other_programs_are_medians_of_repeated_fits() -> None:
    times = iter([0.05, 0.01, 0.02, 0.03, 0.04, 9.0])
    made = peers.repeated(lambda: peers.Fit(None, next(times), np.arange(2)))
    assert made.seconds == 0.03 and next(times) == 9.0, f"{runs.REPEATS} fits"
    assert made.columns("train_") == {"train_seconds": 0.03, "train_seconds_low": 0.02, "train_seconds_high": 0.04}
    assert peers.repeated(lambda: peers.Fit(None, 2.0, np.arange(2))).seconds == 2.0


def test_ratios_of_times_have_the_spread_of_both() -> None:
    fast, slow = Time(1.0, 0.5, 2.0), Time(4.0, 4.0, 8.0)
    never = Time(np.inf, np.inf, np.inf)
    assert slow.over(fast) == (4.0, 2.0, 16.0) and str(fast) == "1 s (500 ms to 2 s)"
    assert slower(slow, fast) and slower(slow, fast, 3.0) is None
    assert slower(fast, slow) is False and slower(never, fast)
    assert slower(fast, never) is False and slower(never, never) is False


def test_points_get_rarer(flowers: Pool) -> None:
    class At:
        message = ""
        state = ss.solvers.BCD().init(flowers.split().problem)
        problem = flowers.split().problem

        def __init__(self, k: int) -> None:
            self.iteration, self.seconds = k, float(k)

        def __getattr__(self, name: str) -> float:
            return 0.0

    recorder = runs.Recorder(flowers.split(), growth=2.0)
    for k in range(101):
        recorder(At(k))  # type: ignore[arg-type]
    assert [p["iteration"] for p in recorder.points] == [*range(runs.FIRST_POINTS), 22, 44, 88]


def test_a_method_that_diverges_is_a_result(flowers: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(self: Any, problem: Any, state: Any) -> None:
        state.iteration += 1
        if state.iteration == 3:
            state.Z[:] = np.nan

    monkeypatch.setattr(ss.solvers.BCD, "step", explode)
    split = flowers.split()
    table = runs.follow(split, split.problem, ss.solvers.BCD(), Iterations(9), {})
    assert len(table) == 3 and table["message"].str.contains("diverged at iteration 3").all()


def test_the_reference_is_certified_and_remembered(flowers: Pool) -> None:
    split = flowers.split()
    problem = split.problem.with_lam(0.05)
    best = runs.reference(split, problem, tol=1e-6, seconds=20.0)
    assert best.gap <= 1e-6 and best.dual <= best.objective and best.usable_rows == 4
    assert runs.reference(split, problem, tol=1e-6, seconds=20.0) is best


def test_time_limits_and_splits_of_the_settings_count() -> None:
    assert protocol.limits(Settings()).splits == 3 and protocol.limits(Settings()).lams == 10
    assert protocol.limits(Settings(splits=2)).splits == 2
    limit = protocol.limits(Settings(quick=True, seconds=1.2))
    assert limit.seconds == 1.2 and limit.reference_seconds == pytest.approx(8.0)


def test_lams_of_sector_are_the_papers() -> None:
    assert protocol.lam_range("sector_partial") == (1e-2, 1e-4)
    assert protocol.lam_range("news20") == (1e-3, 1e-5)


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"seed": -1}, "seed is -1"), ({"seconds": 0.0}, "seconds is 0"), ({"splits": 0}, "splits is 0")],
)
def test_settings_are_checked(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Settings(**changes)


# ---------------------------------------------------------------------------------------------------------- progress
def test_jobs_are_reported_and_their_parts_kept(capsys: pytest.CaptureFixture[str]) -> None:
    parts = [("one", lambda: pd.DataFrame({"a": [1]})), ("two", lambda: pd.DataFrame({"a": [2]}))]
    report = Report(shown=True)
    report.begin("counting")
    table = gather(parts, report)
    report.end()
    assert table["a"].tolist() == [1, 2] and len(report.parts) == 2
    assert capsys.readouterr().err.splitlines() == ["counting"], "no bar in a log file"


def test_a_terminal_gets_bars(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    report = Report(shown=True)
    report.begin("counting")
    gather([("one", lambda: pd.DataFrame({"a": [1]}))], report)
    report.end()
    shown = capsys.readouterr().err
    assert "counting" in shown and "1/1" in shown


# --------------------------------------------------------------------------------------- output, with a paper by hand
def made_paper(run: Callable[..., pd.DataFrame]) -> Paper:
    """A paper with one measurement that only counts, one figure and one claim on it."""

    def judged(tables: Any) -> list[Finding]:
        top = int(tables["counts"]["k"].max())
        return [Finding(Case.on("hand"), top > 1, f"up to {top}")]

    return Paper(
        number=9, title="Counting <to> two", question="does it count?", reference="nobody", data=("iris",),
        measurements=(Measurement("counting", "counts", run, lambda t: t.assign(finished=True)),),
        experiments=(
            Experiment("fig1", "Fig. 1", "a line", ("counting",), "counts",
                       lambda tables: go.Figure(go.Scatter(y=tables["counts"]["k"]))),
            Experiment("table1", "Table 1", "sums", ("counting",), "counts",
                       tabulate=lambda tables: tables["counts"].groupby("data", as_index=False)["k"].sum()),
        ),
        claims=(Claim("two", "Sec. 1", "It counts to two.", ("counts",), judged),), differences=("It is made up.",),
    )  # fmt: skip


def count(data: Pool, settings: Settings, report: Report) -> pd.DataFrame:
    jobs = [(str(k), lambda k=k: pd.DataFrame({"data": [data.name], "k": [k]})) for k in (1, 2)]
    return gather(jobs, report).assign(finished=True)


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_jobs_side_by_side_make_the_same_table(flowers: Pool, backend: str) -> None:
    alone, together = Report(), Report()
    together.n_jobs = 2
    with joblib.parallel_config(backend=backend):
        found = count(flowers, Settings(), together)
    pd.testing.assert_frame_equal(found, count(flowers, Settings(), alone))
    assert [part["k"].tolist() for part in together.parts] == [[1], [2]], "each part is kept as it comes, in order"


@pytest.mark.slow
def test_a_paper_on_a_cluster_has_the_table_of_this_machine(flowers: Pool) -> None:
    distributed = pytest.importorskip("distributed")
    here = objectives_on(flowers, Report())
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        command._workers(1, cluster.scheduler_address) as n_jobs,
    ):
        report = Report()
        report.n_jobs = n_jobs
        there = objectives_on(flowers, report)
    assert len(here) > 3
    times = [name for name in here if name.startswith("seconds")]  # of a short run with the quartiles of its repeats
    pd.testing.assert_frame_equal(there.drop(columns=times), here.drop(columns=times))
    with command._workers(0, None) as n_jobs:
        assert n_jobs == -1


def objectives_on(pool: Pool, report: Report) -> pd.DataFrame:
    """A measurement of paper 1."""
    return compare_objectives(pool, Settings(quick=True), report)


def test_everything_is_in_the_folder(flowers: Pool, tmp_path: Path) -> None:
    paper = made_paper(count)
    folder = output.Folder(tmp_path / "deep" / "out")
    results = conduct(paper, [flowers], Settings(quick=True), folder, paper.choose(None), Report())
    assert not results.interrupted
    names = {p.name for p in folder.path.iterdir()}
    assert {
        "counts.csv",
        "table1.csv",
        "verdicts.csv",
        "data.csv",
        "fig1.html",
        "plotly.min.js",
        "index.html",
        "summary.md",
        "about.json",
    } <= names
    assert not any(name.endswith(".part") for name in names)
    assert pd.read_csv(folder.path / "counts.csv")["k"].tolist() == [1, 2]
    text = (folder.path / "summary.md").read_text()
    assert "- **holds**: It counts to two. (Sec. 1)" in text and "hand: holds: up to 2" in text
    assert "Paper 9 asks: does it count?" in text and "Of 1 claim 1 holds." in text
    assert re.search(r"^ *iris +3$", text, re.MULTILINE) and "It is made up." in text and "--quick" in text
    page = (folder.path / "index.html").read_text()
    assert "Counting &lt;to&gt; two" in page and "plotly.min.js" in page
    about = json.loads((folder.path / "about.json").read_text())
    assert about["settings"]["quick"] is True and about["data"][0]["n"] == 150 and "numpy" in about["versions"]


def test_figures_need_no_network(flowers: Pool, tmp_path: Path) -> None:
    paper = made_paper(count)
    folder = output.Folder(tmp_path)
    conduct(paper, [flowers], Settings(), folder, paper.choose(["fig1"]), Report())
    for name in ("fig1.html", "index.html"):
        text = (tmp_path / name).read_text()
        assert 'src="plotly.min.js"' in text.replace("'", '"')
        assert 'src="http' not in text.replace("'", '"')


def test_an_interruption_leaves_what_is_finished(flowers: Pool, tmp_path: Path) -> None:
    def interrupted(data: Pool, settings: Settings, report: Report) -> pd.DataFrame:
        def stop() -> pd.DataFrame:
            raise KeyboardInterrupt

        return gather([("1", lambda: pd.DataFrame({"data": [data.name], "k": [1]})), ("2", stop)], report)

    paper = made_paper(interrupted)
    results = conduct(paper, [flowers, flowers], Settings(), output.Folder(tmp_path), paper.choose(None), Report())
    assert results.interrupted and results.tables["counts"]["k"].tolist() == [1]
    assert results.tables["counts"]["finished"].all(), "the columns that need all parts are completed as well"
    assert results.verdicts[0].word == "does not hold here"
    assert "Interrupted" in (tmp_path / "summary.md").read_text()


def test_an_interruption_before_anything_is_finished(flowers: Pool, tmp_path: Path) -> None:
    def interrupted(data: Pool, settings: Settings, report: Report) -> pd.DataFrame:
        raise KeyboardInterrupt

    paper = made_paper(interrupted)
    results = conduct(paper, [flowers], Settings(), output.Folder(tmp_path), paper.choose(None), Report())
    assert results.interrupted and results.verdicts[0].word == "not decided"
    assert not (tmp_path / "fig1.html").exists() and (tmp_path / "index.html").exists()


def test_an_interrupted_measurement_is_measured_again_and_a_finished_one_is_not(flowers: Pool) -> None:
    calls: list[int] = []

    def once_interrupted(data: Pool, settings: Settings, report: Report) -> pd.DataFrame:
        def second() -> pd.DataFrame:
            calls.append(len(calls))
            if len(calls) == 1:
                raise KeyboardInterrupt
            return pd.DataFrame({"data": [data.name], "k": [2]})

        jobs = [("1", lambda: pd.DataFrame({"data": [data.name], "k": [1]})), ("2", second)]
        return gather(jobs, report).assign(finished=True)

    results, wanted = Results(), made_paper(once_interrupted).measurements
    with pytest.raises(KeyboardInterrupt):
        list(measure(results, wanted, [flowers], Settings(), Report()))
    assert results.tables["counts"]["k"].tolist() == [1] and results.tables["counts"]["finished"].all()
    for _ in range(2):
        list(measure(results, wanted, [flowers], Settings(), Report()))
        assert results.tables["counts"]["k"].tolist() == [1, 2] and len(calls) == 2


def test_missing_optional_packages_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output.importlib.util, "find_spec", lambda name: None)
    folder = output.Folder(tmp_path)
    assert "install pyarrow" in folder.notes[0] and "install kaleido" in folder.notes[1]
    folder.table("t", pd.DataFrame({"a": [1]}))
    assert not (tmp_path / "t.parquet").exists()


def test_parquet_is_written_where_it_can_be(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    output.Folder(tmp_path).table("t", pd.DataFrame({"a": [1.5]}))
    assert pd.read_parquet(tmp_path / "t.parquet")["a"].tolist() == [1.5]


def test_a_png_that_fails_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("no browser\nlong story")

    monkeypatch.setattr(go.Figure, "write_image", fail)
    folder = output.Folder(tmp_path)
    folder.png, folder.notes = True, []
    for name in ("a", "b"):
        folder.figure(name, go.Figure())
    assert folder.notes == ["No PNG: kaleido failed (no browser)."] and (tmp_path / "b.html").exists()


def test_numbers_in_words() -> None:
    assert (number(0.12345), number(float("inf"))) == ("0.123", "never")
    assert (seconds(0.0123), seconds(12.34), seconds(float("inf"))) == ("12.3 ms", "12.3 s", "never")
    assert (times(2.345), times(345.6), points(0.0123)) == ("2.3×", "346×", "+1.2 points")
    assert [output.digits(v) for v in (12345.6, 0.12345, 7.0)] == ["12346", "0.123", "7"]


def test_the_opening_counts_the_claims() -> None:
    paper, facts = load(1), pd.DataFrame([{"data": "made", "n": 3, "d": 2, "classes": 2}])
    cases = [[True], [True, False], [False], [False], [None]]
    verdicts = [
        Verdict(claim, tuple(Finding(EVERYWHERE, holds, "") for holds in case))
        for claim, case in zip(paper.claims, cases, strict=False)
    ]
    *_, data, total = output.opening(paper, facts, verdicts)
    assert data == "Data: made (3 × 2, 2 classes)."
    assert total == "Of 5 claims 1 holds, 1 holds in part, 2 do not hold here, 1 is not decided."
    assert output.opening(paper, facts, verdicts[:1])[-1] == "Of 1 claim 1 holds."
    assert output.opening(paper, facts, [])[-1] == "No claim of the paper rests on these experiments."


def test_only_the_words_that_occur_are_explained() -> None:
    paper = load(1)
    claims = {claim.name: claim for claim in paper.claims}
    assert not output.word_lines(paper, [claims["patterns"]])
    lines = output.word_lines(paper, [claims["fista-vs-sparsa"]])
    assert [line.split("  ")[1] for line in lines] == ["LS, CST", "FISTA, SpaRSA"]


# ----------------------------------------------------------------------------------------------------------- command
def run(*arguments: str) -> int:
    """Exit code of the command, also where argparse leaves by SystemExit."""
    try:
        return cli.main(["paper", *arguments])
    except SystemExit as end:
        return int(end.code or 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["7"], "there are no experiments of paper 7; known: 1"),
        (["one"], "'one' is not a whole number"),
        (["1", "--only", "fig1,fig9,fig10"], "'fig9', 'fig10' are no experiments of paper 1; known: fig1, fig2"),
        (["1", "--only", ","], "no experiment is named; known: fig1"),
        (["1", "--seed", "-1"], "-1 is negative"),
        (["1", "--seconds", "0"], "'0' is not a number above 0"),
        (["1", "--splits", "0"], "splits is 0; at least 1 is needed"),
        ([], "required"),
    ],
)
def test_wrong_arguments_are_explained(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == cli.USAGE
    error = capsys.readouterr().err
    assert words in error and "Traceback" not in error
    assert not any(tmp_path.iterdir()), "nothing is written before the arguments are known to be right"


@pytest.mark.parametrize(
    ("data", "words"), [("digit", "did you mean 'digits'"), ("/nowhere/x.npz", "no data set or file '/nowhere/x.npz'")]
)
def test_unknown_data_are_told_as_by_every_command(
    data: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("1", "--data", data) == cli.FAILED
    error = capsys.readouterr().err
    assert words in error and "Traceback" not in error
    assert not any(tmp_path.iterdir()), "nothing is written before the data are known"


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert run("1", "--data", "iris", "--out", str(tmp_path / "file")) == cli.FAILED
    assert f"cannot write into {tmp_path / 'file'}" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o500)
    assert run("1", "--data", "iris", "--out", str(tmp_path)) == cli.FAILED
    assert "cannot write into" in capsys.readouterr().err


@pytest.mark.parametrize("number", PAPERS)
def test_the_list_names_experiments_and_claims(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(str(number), "--list") == cli.DONE
    text = capsys.readouterr().out
    paper = load(number)
    assert all(e.name in text for e in paper.experiments) and all(c.text in text for c in paper.claims)


@pytest.mark.parametrize("number", PAPERS)
def test_every_experiment_and_claim_is_documented(number: int) -> None:
    page = (DOCS / "papers.md").read_text(encoding="utf-8").split(f"## Paper {number}")[1].split("\n## Paper")[0]
    paper = load(number)
    missing = [item.name for item in (*paper.experiments, *paper.claims) if f"| `{item.name}` |" not in page]  # type: ignore[attr-defined]
    assert not missing, f"docs/papers.md lacks {missing}"


@pytest.mark.parametrize("number", PAPERS)
def test_differences_are_documented(number: int) -> None:
    marks = [f"<!-- differences of paper {number}: {word} -->" for word in ("begin", "end")]
    text = (DOCS / "papers.md").read_text(encoding="utf-8").split(marks[0])[1].split(marks[1])[0]
    expected = "".join(f"- {line}\n" for line in load(number).differences)
    assert text.strip() == expected.strip(), "docs/papers.md: write these lines:\n" + expected


@pytest.mark.parametrize("number", PAPERS)
def test_papers_are_sound(number: int) -> None:
    paper = load(number)
    tables = {m.table for m in paper.measurements}
    names = {m.name for m in paper.measurements}
    assert paper.number == number and paper.differences
    assert paper.words and len(output.word_lines(paper, paper.claims)) == len(paper.words), "each is in a claim"
    for experiment in paper.experiments:
        assert set(experiment.needs) <= names and experiment.table in tables, experiment.name
        assert (experiment.draw or experiment.tabulate) is not None
    for claim in paper.claims:
        assert set(claim.needs) <= tables, claim.name
    assert all(name in ss.datasets.names() for name in paper.data)
    assert not tables & {e.name for e in paper.experiments if e.tabulate}, "a made table would replace a measured one"


def test_the_parser_loads_no_heavy_package() -> None:
    import subprocess
    import sys

    code = "import sys; from sparsescope import cli; cli.make_parser(); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert not {"pandas", "plotly", "numba", "tqdm"} & set(done.stdout.split())


# --------------------------------------------------------------------------------------- paper 1, on tiny data
@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path, str]:
    """Exit code, folder and printed text of the whole of paper 1 on iris, with hardly any time for each run."""
    import contextlib
    import io

    folder = tmp_path_factory.mktemp("paper1")
    said = io.StringIO()
    with contextlib.redirect_stdout(said), pytest.MonkeyPatch.context() as patched:
        patched.setattr(runs, "REPEATS", 2)  # five times took most of the time; how repeats are made is tested above
        code = run("1", "--quick", "--data", "iris", "--seconds", "0.02", "--seed", "3", "--out", str(folder))
    return code, folder, said.getvalue()


def test_the_command_makes_everything(small: tuple[int, Path, str]) -> None:
    code, folder, said = small
    assert code == cli.DONE
    names = {p.name for p in folder.iterdir()}
    paper = load(1)
    assert {f"{e.name}.html" for e in paper.experiments if e.draw} <= names
    assert {f"{m.table}.csv" for m in paper.measurements} | {"table2.csv", "summary.md", "index.html"} <= names
    lines = said.splitlines()
    assert lines[0] == f"Paper 1 asks: {paper.question}" and lines[1].startswith("Data: iris (150 × 4, 3 classes)")
    assert lines[2].startswith(f"Of {len(paper.claims)} claims ") and lines[3] == ""
    told = lines[4 : 4 + len(paper.claims)]
    assert all(claim.text in line for claim, line in zip(paper.claims, told, strict=True)), "one line a claim"
    counted = sum(int(number) for number in re.findall(r"(\d+) (?:hold|do not|are not)", lines[2]))
    assert counted == len(paper.claims) and lines[4 + len(told)] == ""
    assert "index.html" in said.splitlines()[-1]
    assert json.loads((folder / "about.json").read_text())["settings"]["seed"] == 3


def test_all_solvers_ran_with_the_papers_settings(small: tuple[int, Path, str]) -> None:
    table = pd.read_csv(small[1] / "solvers.csv")
    assert set(table["solver"]) == set(protocol.SOLVERS) and set(table["lam"]) == {1e-3, 1e-5}
    assert (table["relative"] >= 0).all() and (table["samples"] == 120).all()
    runs_ = table.groupby(["lam", "solver"])
    assert (runs_["iteration"].first() == 0).all() and (runs_["iteration"].last() > 0).all()
    eta0 = pd.read_csv(small[1] / "eta0.csv")
    assert eta0.groupby("lam")["chosen"].sum().tolist() == [1, 1] and set(eta0["eta0"]) == set(protocol.ETA0)


def test_objectives_stop_by_the_papers_rule(small: tuple[int, Path, str]) -> None:
    table = pd.read_csv(small[1] / "objectives.csv")
    assert len(table) == 4 * 4 and (table["iterations"] <= protocol.K).all()
    assert set(table["stopped"]) <= {"criterion", "iterations", "time"} and "criterion" in set(table["stopped"])
    logistic = table[table["loss"] == protocol.LOGISTIC]
    assert set(logistic["solver"]) == {"BCD (CST)", "BCD (LS)"}
    counts = pd.read_csv(small[1] / "iterations.csv")
    last = counts[counts["stopped"] == "criterion"].groupby("loss")["criterion"].last()
    assert len(last) and (last <= protocol.TAU).all()


def test_shrinking_is_compared_with_itself(small: tuple[int, Path, str]) -> None:
    table = pd.read_csv(small[1] / "shrinking.csv")
    assert table.groupby(["lam", "solver", "shrinking"]).ngroups == 2 * 2 * 2


def test_the_solvers_are_the_papers() -> None:
    made = {name: protocol.make_solver(name, seed=4) for name in protocol.SOLVERS}
    assert made["BCD (LS)"] == ss.solvers.BCD(selection="cyclic", seed=4, curvature="paper")
    assert made["BCD (CST)"] == ss.solvers.BCDConstant(selection="random", constants="paper", seed=4)
    assert made["FISTA (CST)"] == ss.solvers.FISTA(line_search=False, constants="paper")
    assert getattr(made["FOBOS"], "unit", "") == "one"


def test_without_quick_the_protocol_is_the_papers() -> None:
    full = protocol.FULL
    assert (full.lams, full.splits, protocol.K, protocol.TAU, protocol.LAMS) == (10, 3, 200, 1e-3, (1e-3, 1e-5))


def test_figures_of_the_command_are_readable(small: tuple[int, Path, str]) -> None:
    for name in ("fig1", "fig2", "fig5"):
        text = (small[1] / f"{name}.html").read_text(encoding="utf-8")
        assert "Plotly.newPlot" in text and len(text) < 2_000_000, "plotly itself lies beside the figures"
