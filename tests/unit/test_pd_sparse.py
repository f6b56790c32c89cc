"""PD-Sparse as a solver: certified optima, the same as the splitting's, in every form of data; sparse all the way."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import digits, forms, iris, objective, tags, text
from sparsescope.kernels.frank_wolfe import SEARCHED
from sparsescope.problems import measuring
from sparsescope.problems.metrics import set_measures
from sparsescope.runs.stopping import Gap, Iterations
from sparsescope.solvers.pd_sparse import PDSparse, paper_scaling
from sparsescope.solvers.shared import hand_over, sparse_state

NET = ss.penalties.ElasticNet(rho=0.3)
LOSSES = ("crammer-singer", "separation-ranking")


@cache
def problem_on(
    name: str,
    loss: str = "crammer-singer",
    penalty: Any = NET,
    form: str = "csr",
    lam: float = 0.02,
    dtype: str = "float64",
) -> ss.Problem:
    X, y = {"iris": iris, "digits": digits, "text": text, "tags": tags}[name]()
    return ss.Problem(dict(forms(X))[form].astype(dtype), y, loss=loss, penalty=penalty, lam=lam)


@cache
def solved(problem: ss.Problem, solver: PDSparse, tol: float = 1e-8) -> ss.Result:
    return ss.solve(problem, solver, tol=tol, max_iter=4000, certify_every=5, test=None)


@cache
def split(penalty: Any) -> ss.Result:
    """The optimum on iris by the splitting: with one label a sample both losses are the same."""
    hinge = problem_on("iris", "crammer-singer", penalty, "dense")
    return ss.solve(hinge, "fbpd", tol=1e-8, max_iter=50_000, record=False, certify_every=50)


# Digits take ten times as long as a small text to a small gap.
small_and_large = pytest.mark.parametrize("name", ["text", pytest.param("digits", marks=pytest.mark.slow)])


# ------------------------------------------------------------------------------------------------------ what it solves
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", [NET, ss.penalties.Ridge()], ids=["net", "ridge"])
def test_the_optimum_is_certified_and_that_of_the_splitting(loss: str, penalty: Any) -> None:
    problem = problem_on("iris", loss, penalty, "dense")
    found = solved(problem, PDSparse())
    assert found.converged and sp.issparse(found.W) and found.b is None
    X, y = iris()
    assert found.objective == pytest.approx(objective(X, y, problem.loss, penalty, problem.lam, found.W.toarray()))
    known = split(penalty)
    assert known.converged and found.objective == pytest.approx(known.objective, rel=3e-8)
    assert found.dual <= known.objective * (1 + 1e-9)
    np.testing.assert_allclose(found.W.toarray(), known.W, atol=2e-3 * np.abs(known.W).max())


def test_the_first_searches_draw_features_where_they_are_most_of_the_work() -> None:
    data = ss.datasets.make_extreme(800, 800, 500, length=100.0, test_size=0.0)
    problem = ss.Problem(data.X, data.y, loss="crammer-singer", penalty=NET).with_scaling("paper-4", C=1.0, lam4=0.02)
    read, state = {}, None
    for opening in (True, False):
        solver = PDSparse(opening=opening, inner=0)
        known, state = state, solver.begin(problem)
        solver.step(problem, state)
        read[opening] = state.report[SEARCHED]
        for _ in range(60):
            solver.step(problem, state)
            if solver.certificate(problem, state).relative_gap < 1e-2:
                break
        else:
            raise AssertionError(f"no gap of 1e-2 with opening={opening}")
    assert known is not None and not known.pacing.opening, "near the end searches are exact"
    assert read[True] < 0.5 * read[False]
    assert not PDSparse().warm_start_from(problem, known).pacing.opening, "a known dual point is not searched roughly"


def test_a_change_of_the_problem_wakes_every_sample() -> None:
    problem = problem_on("iris", ss.losses.CrammerSinger(), NET, lam=0.02)
    state = PDSparse().begin(problem)
    for _ in range(2):  # the second nap is of three searches
        state.naps.rest(np.arange(problem.n), np.ones(problem.n, dtype=bool))
    assert not state.naps.awake().size
    state.take_scaling(problem.with_lam(0.01))
    assert state.naps.awake().size == problem.n


def test_the_margin_is_a_unit() -> None:
    wide = problem_on("iris", ss.losses.CrammerSinger(margin=4.0), ss.penalties.Ridge(), lam=0.02)
    plain = problem_on("iris", "crammer-singer", ss.penalties.Ridge(), lam=0.08)
    found, known = (solved(p, PDSparse(), 1e-9) for p in (wide, plain))
    np.testing.assert_allclose(found.W.toarray(), 4.0 * known.W.toarray(), atol=1e-3)


@pytest.mark.parametrize(("nu", "sampling", "inner"), [(1, False, 0), (3, False, 2), (3, True, 20)])
def test_every_search_reaches_the_optimum_of_label_sets(nu: int, sampling: bool, inner: int) -> None:
    problem = problem_on("tags", "separation-ranking")
    found = solved(problem, PDSparse(nu=nu, sampling=sampling, inner=inner), 1e-7)
    assert found.converged
    assert found.objective == pytest.approx(solved(problem, PDSparse()).objective, rel=2e-7)
    X, Y = tags()
    assert problem.objective(found.W) == pytest.approx(found.objective, rel=1e-12)
    rng = np.random.default_rng(0)
    for scale in (1e-3, 0.1, 1.0):  # a lower bound is below every point
        W = found.W.toarray() + scale * rng.standard_normal(found.W.shape)
        assert found.dual <= objective(X, Y, problem.loss, NET, problem.lam, W)


def test_dense_csr_and_csc_take_the_same_way_in_either_precision() -> None:
    ends = []
    for form, dtype in (("dense", "float64"), ("csr", "float64"), ("csc", "float64"), ("csr", "float32")):
        problem = problem_on("text", form=form, dtype=dtype)
        solver = PDSparse()
        state = solver.init(problem)
        for _ in range(5):
            solver.step(problem, state)
        assert state.weights().dtype == np.dtype(dtype) and state.weights().nnz > 0
        ends.append(state.weights().toarray())
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-12)
    np.testing.assert_array_equal(ends[2], ends[1])
    np.testing.assert_allclose(ends[3], ends[1], atol=1e-5)


def test_the_scaling_is_the_papers() -> None:
    problem = problem_on("digits").with_scaling("paper-4", C=0.6, lam4=0.25)
    assert paper_scaling(problem) == (pytest.approx(0.6), pytest.approx(0.25))
    found = ss.solve(problem, PDSparse(), tol=1e-3, max_iter=500, record=False)
    W, n = found.W.toarray(), problem.n
    loss = problem.certificate(found.W).loss
    paper = 0.5 * (W**2).sum() + 0.25 * np.abs(W).sum() + 0.6 * n * loss
    assert found.objective * n * 0.6 == pytest.approx(paper, rel=1e-9)
    assert paper_scaling(problem.with_(penalty="ridge")) == (pytest.approx(1 / (n * problem.lam)), 0.0)


# ----------------------------------------------------------------------------------------------------- runs and changes
def test_a_run_can_be_repeated_paused_and_copied() -> None:
    problem = problem_on("digits")
    solver = PDSparse(nu=2, sampling=True, seed=4)
    runs = [ss.Run(problem, solver, stop=Iterations(8), certify_every=k) for k in (1, 4)]
    ends = [list(run)[-1] for run in runs]
    assert ends[0].objective == ends[1].objective and ends[0].gap == ends[1].gap
    state = solver.init(problem)
    for _ in range(5):
        solver.step(problem, state)
    fork = state.copy()
    for s in (state, fork):
        for _ in range(3):
            solver.step(problem, s)
    np.testing.assert_array_equal(fork.weights().toarray(), state.weights().toarray())
    assert runs[0].state is not None
    np.testing.assert_array_equal(state.weights().toarray(), runs[0].state.weights().toarray())
    with pytest.raises(ValueError, match="read-only"):
        state.weights().data[0] = 1.0
    other = PDSparse(nu=2, sampling=True, seed=5)
    assert list(ss.Run(problem, other, stop=Iterations(8)))[-1].objective != ends[0].objective


@small_and_large
@pytest.mark.parametrize("lam", [0.005, 0.1])
def test_a_change_of_lam_goes_on_from_the_dual_point(lam: float, name: str) -> None:
    problem = problem_on(name)
    run = ss.Run(problem, PDSparse(), stop=Gap(1e-6) | Iterations(3000))
    list(run)
    other = problem.with_lam(lam)
    run.change(problem=other)
    warm = list(run)
    known = solved(other, PDSparse(), 1e-6)
    assert warm[-1].relative_gap <= 1e-6 and warm[-1].objective == pytest.approx(known.objective, rel=2e-6)
    cold = next(iter(ss.Run(other, PDSparse())))
    assert warm[0].gap < 0.5 * cold.gap


@small_and_large
def test_other_solvers_hand_over_their_dual_point_and_take_the_weights(name: str) -> None:
    problem = problem_on(name, form="dense")
    run = ss.Run(problem, "fbpd", stop=Gap(1e-4) | Iterations(5000))
    handed = list(run)[-1]
    run.change(solver=PDSparse())
    assert run.state is not None
    at = run.solver.certificate(problem, run.state, None)  # type: ignore[arg-type]
    assert at.relative_gap < 0.05 and at.dual == pytest.approx(handed.dual, rel=1e-2)
    run.stop = Gap(1e-6) | Iterations(3000)
    event = list(run)[-1]
    assert event.relative_gap <= 1e-6
    W = run.state.weights().toarray()
    run.change(solver=ss.solvers.FBPD())
    np.testing.assert_array_equal(run.state.weights(), W)


# --------------------------------------------------------------------------------------------- what observers are told
def test_events_traces_and_predictions_of_sparse_weights_are_those_of_dense_ones(tmp_path: Any) -> None:
    X, y = digits()
    problem = problem_on("digits")
    recorder = ss.Recorder()
    run = ss.Run(problem, PDSparse(), stop=Iterations(6), test=(X[:50], y[:50]), callbacks=[recorder])
    event = list(run)[-1]
    assert run.state is not None
    W = run.state.weights()
    dense = problem.certificate(W)
    assert (event.nonzero_rows, event.nonzero_entries) == (dense.nonzero_rows, dense.nonzero_entries)
    assert event.loss == pytest.approx(dense.loss) and event.penalty == pytest.approx(dense.penalty)
    assert event.dual_entries > 0 and 0 < event.search_share < 1 and 0 < event.active_share <= 1
    np.testing.assert_array_equal(problem.predict(W), problem.predict(W.toarray()))
    np.testing.assert_array_equal(problem.rank(W, k=3, X=X[:9]), problem.rank(W.toarray(), k=3, X=X[:9]))
    assert event.train_accuracy == (problem.predict(W) == y).mean()
    assert event.test_accuracy == (problem.predict(W, X=X[:50]) == y[:50]).mean()
    for trace in (recorder.trace, ss.Trace.load(recorder.trace.save(tmp_path / "run"))):
        np.testing.assert_array_equal(trace.support(), np.flatnonzero(np.diff(W.indptr)))
        assert sp.issparse(trace.weights()) and trace.weights().shape == W.shape
        np.testing.assert_array_equal(trace.weights().toarray(), W.toarray())
        assert len(trace.snapshots) > 2 and trace.snapshots[-1].nbytes < W.toarray().nbytes


def test_an_iteration_with_certificate_and_accuracy_reads_the_scores_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run = ss.Run(problem_on("digits"), PDSparse(), stop=Iterations(3))
    run.warm_up()
    calls, kernel = [], sparse_state.hinge_sum

    def counted(*args: Any) -> Any:
        calls.append("scores")
        return kernel(*args)

    def ranked(part: str, *args: Any) -> Any:
        raise AssertionError(f"the {part} scores were read again")

    monkeypatch.setattr(sparse_state, "hinge_sum", counted)
    monkeypatch.setattr(measuring, "ranked", ranked)
    events = list(run)
    assert len(events) == 4 and calls == ["scores"] * 4
    run.change(problem=run.problem.with_(loss=ss.losses.CrammerSinger(margin=2.0)))
    assert run.certificate().loss > events[-1].loss, "another margin, another sum"


def test_events_of_label_sets_carry_their_precision() -> None:
    X, Y = tags()
    problem = problem_on("tags", "separation-ranking")
    run = ss.Run(problem, PDSparse(), stop=Iterations(5), test=(X[:20], Y[:20]))
    event = list(run)[-1]
    assert run.state is not None
    W = run.state.weights()
    for k in (1, 3, 5):
        best = problem.rank(W.toarray(), k=k)
        assert getattr(event, f"train_precision_at_{k}") == pytest.approx(np.take_along_axis(Y, best, axis=1).mean())
    assert event.test_precision_at_5 == pytest.approx(Y[:20].mean())
    known = set_measures(problem.scores(W.toarray()), Y, problem.threshold_of(W))
    assert event.train_micro_f1 == pytest.approx(known.micro_f1) and np.isnan(event.train_accuracy)
    assert event.train_ranking_loss == pytest.approx(known.ranking_loss)


def test_many_labels_take_memory_for_what_is_used_only() -> None:
    import tracemalloc

    rng = np.random.default_rng(0)
    n, d, m = 300, 20_000, 30_000
    X = sp.random_array((n, d), density=20 / d, random_state=rng, format="csr")
    y = np.r_[np.arange(100), rng.integers(0, 100, n - 100)]
    problem = ss.Problem(
        X, y, loss="crammer-singer", penalty=ss.penalties.ElasticNet(rho=0.05), class_names=[str(k) for k in range(m)]
    ).with_scaling("paper-4", C=1.0, lam4=0.05)
    ss.solve(problem_on("text"), PDSparse(), max_iter=1, record=False)  # compiles
    tracemalloc.start()
    recorder = ss.Recorder()
    run = ss.Run(problem, PDSparse(), stop=Iterations(3), test=(X[:9], y[:9]), callbacks=[recorder])
    event = list(run)[-1]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.02 * d * m * 8, "an array of the size of W would be seen"
    assert 0.0 < event.gap < event.objective and event.train_accuracy > 0.5
    assert problem.predict(recorder.trace.weights()).shape == (n,)
    for ask in (lambda: problem.coefficients(), lambda: run.change(solver=ss.solvers.FOBOS())):
        with pytest.raises(ValueError, match=r"20000 × 30000 numbers would take 4\.8 GB, more than the 4 GB allowed"):
            ask()


# ----------------------------------------------------------------------------------------------------------- bad input
def test_what_it_does_not_solve_is_refused_with_the_reason() -> None:
    problem = problem_on("iris")
    solver = PDSparse()
    for other, words in (
        (problem.with_(loss="logistic"), "crammer-singer, separation-ranking.*and no other loss"),
        (problem.with_(penalty="l1/l2"), "elastic-net or ridge, not"),
        (problem.with_(penalty=ss.penalties.ElasticNet(rho=1.0)), "rho below 1"),
        (ss.Problem(*iris(), loss="crammer-singer", penalty="ridge", intercept=True), "no unpenalised intercept"),
    ):
        with pytest.raises(ValueError, match=words):
            ss.solve(other, solver)
    with pytest.raises(ValueError, match="cannot begin at given weights"):
        ss.solve(problem, solver, W=np.ones((problem.d, problem.m)))
    with pytest.raises(ValueError, match="nu is 0; allowed: 1 to 64"):
        PDSparse(nu=0)
    with pytest.raises(ValueError, match="C is 0"):
        problem.with_scaling("paper-4", C=0, lam4=0.1)


def test_labels_never_seen_and_samples_without_features_close_the_gap_too() -> None:
    X, y = text()  # sample 11 has no features
    problem = ss.Problem(X, y, loss="crammer-singer", penalty=NET, class_names=["a", "b", "c", "d", "never", "ever"])
    found = ss.solve(problem, PDSparse(), tol=1e-7, max_iter=3000, record=False)
    assert found.converged
    empty, full = np.zeros((2, 5), dtype=np.uint8), np.ones((2, 5), dtype=np.uint8)
    matrix, Y = tags()
    rest = sp.csr_array(np.random.default_rng(0).standard_normal((4, matrix.shape[1])))
    some = ss.Problem(matrix, Y, loss="separation-ranking", penalty=NET, lam=0.02)
    more = ss.Problem(
        sp.vstack([matrix, rest]),
        np.vstack([Y, empty, full]),
        loss="separation-ranking",
        penalty=NET,
        lam=0.02 * 60 / 64,
    )
    ends = [ss.solve(p, PDSparse(), tol=1e-8, max_iter=3000, record=False) for p in (some, more)]
    assert all(end.converged for end in ends)
    np.testing.assert_allclose(ends[1].W.toarray(), ends[0].W.toarray(), atol=1e-3 * np.abs(ends[0].W.data).max())


def test_the_weights_view_draws_sparse_snapshots_and_bins_many_classes() -> None:
    views = pytest.importorskip("sparsescope.views")
    problem = problem_on("digits")
    recorder = ss.Recorder()
    list(ss.Run(problem, PDSparse(), stop=Iterations(3), callbacks=[recorder]))
    trace = recorder.trace
    W = trace.weights().toarray()
    shown = np.asarray(views.draw("weights", trace, problem, picture="rows").data[0].z)
    strongest = np.lexsort((np.arange(len(W)), -np.linalg.norm(W, axis=1)))[: min(40, np.count_nonzero(W.any(axis=1)))]
    np.testing.assert_allclose(shown, W[strongest])
    shot = trace.snapshots[-1]
    places = 150 * shot.values.indices + 7
    wide = sp.csr_array((shot.values.data, places, shot.values.indptr), shape=(len(shot.rows), 1500))
    trace.snapshots[-1] = type(shot)(shot.index, shot.iteration, shot.rows, wide)
    heat = views.draw("weights", trace, picture="rows").data[0]
    assert np.asarray(heat.z).shape == (len(strongest), 600)
    np.testing.assert_allclose(np.asarray(heat.z)[:, [60 * c + 3 for c in range(10)]], W[strongest])
    row = int(np.flatnonzero(W[strongest, 1])[0])
    assert "157<br>" in heat.text[row][63]


@small_and_large
def test_a_path_goes_on_from_dual_points_and_keeps_sparse_weights(name: str, tmp_path: Any) -> None:
    problem = problem_on(name)
    found = ss.path(problem, solver=PDSparse(), lams=[0.05, 0.02, 0.01], tol=1e-6)
    assert found.converged.all()
    again = type(found).load(found.save(tmp_path / "path"))
    for k, lam in enumerate(found.lams):
        known = solved(problem.with_lam(float(lam)), PDSparse(), 1e-6)
        assert found["objective"][k] == pytest.approx(known.objective, rel=2e-6)
        W = found.weights(k)
        assert sp.issparse(W) and problem.with_lam(float(lam)).objective(W) == pytest.approx(found["objective"][k])
        np.testing.assert_array_equal(again.weights(k).toarray(), W.toarray())
    features, norms = found.norms()
    np.testing.assert_allclose(norms[-1], np.linalg.norm(found.weights(-1).toarray()[features], axis=1))


def test_the_post_solve_is_the_ridge_problem_on_the_support_and_the_active_labels() -> None:
    problem = problem_on("tags", "separation-ranking")
    solver = PDSparse()
    state = solver.init(problem)
    for _ in range(200):
        solver.step(problem, state)
    before = state.weights().toarray()
    W = solver.post_solve(problem, state, 3000).toarray()
    np.testing.assert_array_equal(state.weights().toarray(), before, err_msg="the state moved")
    support = before != 0
    assert not W[~support].any() and np.abs(W - before).max() > 0.1 * np.abs(before).max()
    X, Y = tags()
    Z, C = X @ W, state.C
    starts, sizes = state.active.head[:, 0], state.active.head[:, 1]
    active = [state.active.labels[a : a + k] for a, k in zip(starts, sizes, strict=True)]

    def primal(V: np.ndarray) -> float:
        scores = X @ V
        loss = sum(
            max(0.0, 1.0 + z[k].max() - z[y == 1].min()) for z, k, y in zip(scores, active, Y, strict=True) if len(k)
        )
        return float(0.5 * (V**2).sum() + C * loss)

    rng = np.random.default_rng(0)
    value = primal(W)
    assert value < primal(before)
    assert sum(len(k) > 0 for k in active) > 10 and np.isfinite(Z).all()
    for scale in (1e-3, 1e-2, 0.1):  # convex: where no direction goes down, it is the minimum
        for _ in range(60):
            assert primal(W + scale * support * rng.standard_normal(W.shape)) >= value * (1 - 1e-6)
    assert primal(W + 0.05 * (before - W)) >= value * (1 - 1e-6)
    with pytest.raises(ValueError, match="sweeps"):
        solver.post_solve(problem, state, 0)


def test_auto_takes_it_where_it_fits_and_hands_the_dual_point_on(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = problem_on("tags", "separation-ranking")
    monkeypatch.setattr(hand_over, "SPARSE_WORK", (np.inf, 0.0))
    found = ss.solve(sets, "auto", tol=1e-6, max_iter=2000, record=False)
    assert found.converged and found.reason.startswith("pd-sparse: ") and sp.issparse(found.W)
    monkeypatch.setattr(hand_over, "SPARSE_WORK", (0.0, 0.0))
    for problem in (sets, problem_on("digits", form="dense")):  # W is small
        run = ss.Run(problem, "auto", stop=Gap(1e-6) | Iterations(2000))
        reasons = [run.reason for _ in run]
        assert "certified" in run.message and reasons[0].startswith("pd-sparse: ")
        assert reasons[-1].startswith("ssnal: pd-sparse did not end in")
    given = ss.solve(sets, "auto", max_iter=2, W=np.full((40, 5), 0.1), record=False)
    assert given.reason.startswith("ssnal: "), "pd-sparse cannot begin at given weights"
    run = ss.Run(sets, "auto", stop=Gap(1e-5) | Iterations(2000))
    list(run)
    run.change(problem=sets.with_(penalty="l1"))
    assert run.reason.startswith("ssnal: ") and not run.state.sparse  # type: ignore[union-attr]
    run.change(problem=sets.with_lam(0.5 * sets.lam))
    assert run.reason.startswith("pd-sparse: ")
    assert run.advance().gap >= 0.0
