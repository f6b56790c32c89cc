"""FOBOS: lazy rows are the eager ones, steps cost what the sample has, kinks are taken, bad step sizes are named."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import (
    PENALTIES,
    Kinked,
    digits,
    forms,
    hinge_program,
    interpreted,
    iris,
    loss_rows,
    random_point,
    text,
)
from sparsescope.inputs.design import Design
from sparsescope.jit.parts import part
from sparsescope.kernels import stochastic
from sparsescope.kernels.stochastic import (
    FINITE,
    READ,
    REPORT,
    STEP,
    TOUCHED,
    Lazy,
    begin_sweep,
    bring_up,
    forward_backward,
)
from sparsescope.registry import solvers
from sparsescope.runs.stopping import Iterations
from sparsescope.solvers.fobos import data_unit


def eager(problem: ss.Problem, coef: np.ndarray, order: np.ndarray, eta0: float, taken: int) -> np.ndarray:
    """The steps as they are written in the paper: the prox of every row after every sample."""
    d, m = problem.d, problem.m
    X = problem.design.matrix.toarray() if problem.design.is_sparse else problem.design.matrix
    coef = coef.astype(np.float64)
    for s, i in enumerate(order):
        eta = eta0 / np.sqrt(taken + s + 1.0)
        z = X[i].astype(np.float64) @ coef[:d] + (coef[d] if problem.intercept else 0.0)
        u = np.zeros(m)
        problem.loss.gradient(z, problem.y[i], 1.0, u, np.empty(m))
        coef[:d] -= eta * np.outer(X[i], u)
        coef[d:] -= eta * u
        for j in range(d):
            problem.penalty.prox(coef[j], problem.lam * eta, coef[j])
    return coef


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
@pytest.mark.parametrize(
    ("penalty", "form"),
    [
        pytest.param(
            *p.values,
            form,
            id=f"{p.id}-{form}",
            marks=()
            if (p.id, form) in (("l1/l2", "csr"), ("l1/l2", "dense"), ("sparse-group-rho=0.5", "csr"))
            else pytest.mark.slow,
        )
        for p in PENALTIES
        for form in ("dense", "csr")
    ],
)
def test_lazy_rows_are_the_eager_ones(penalty: Any, form: str, intercept: bool) -> None:
    matrix, y = text()
    problem = ss.Problem(dict(forms(matrix))[form], y, penalty=penalty, intercept=intercept)
    problem = problem.with_lam(0.1 * problem.lam_reference)
    solver = ss.solvers.FOBOS(eta0=5.0, order="permuted", seed=3)
    W, b = random_point(problem, scale=2.0)
    state = solver.init(problem, W, b)
    expected = state.coef.copy()
    rng = np.random.default_rng(3)
    for k in range(3):
        expected = eager(problem, expected, rng.permutation(problem.n), 5.0 * data_unit(problem), k * problem.n)
        solver.step(problem, state)
        np.testing.assert_allclose(state.coef, expected, rtol=1e-9, atol=1e-11)
        assert state.t == (k + 1) * problem.n
        np.testing.assert_allclose(state.Z, problem.scores(state.weights(), state.intercept()), atol=1e-12)
    # Rows that are zero must be so to the last bit in both; an entry at the edge may differ by rounding.
    assert np.count_nonzero((state.weights() != 0) != (expected[: problem.d] != 0)) <= 1


def test_rows_die_and_come_back_within_an_iteration() -> None:
    """The lazy bookkeeping is only tested where rows become zero between two samples that have their feature."""
    matrix, y = text()
    problem = ss.Problem(matrix, y, penalty="sparse-group", lam=0.02)
    X, sums = matrix.toarray(), np.zeros(2, dtype=int)
    coef = np.zeros((problem.d, problem.m))
    order = np.random.default_rng(0).integers(0, problem.n, 3 * problem.n)
    for s in range(order.size):
        before = coef.any(axis=1)
        coef = eager(problem, coef, order[s : s + 1], 5.0 * data_unit(problem), s)
        after = coef.any(axis=1)
        absent = X[order[s]] == 0.0
        sums += (np.count_nonzero(before & ~after & absent), np.count_nonzero(~before & after))
    assert sums[0] > 20 and sums[1] > 20
    lazy = np.zeros((problem.d, problem.m))
    run_kernels(COMPILED, problem, lazy, order, 5.0 * data_unit(problem), 0)
    np.testing.assert_allclose(lazy, coef, rtol=1e-9, atol=1e-12)


COMPILED = (begin_sweep, forward_backward, bring_up)
INTERPRETED = tuple(interpreted(kernel) for kernel in COMPILED)


def run_kernels(
    kernels: Any,
    problem: ss.Problem,
    coef: np.ndarray,
    order: np.ndarray,
    eta0: float,
    taken: int,
    penalty: Any = None,
    parts: int = 1,
) -> np.ndarray:
    """One sweep over the named samples, in parts; returns the report."""
    begin, steps, end = kernels
    report, (n, d) = np.zeros(REPORT), (order.size, problem.d)
    report[FINITE] = 1.0
    penalty = problem.penalty if penalty is None else penalty
    flags = np.zeros(d, np.uint8), np.zeros(d, np.uint8)
    lazy = Lazy(np.zeros(n), np.zeros(n + 1), np.zeros(d, np.intp), *flags)
    begin(coef, penalty, problem.lam, eta0, taken, lazy)
    cuts = np.linspace(0, n, parts + 1).astype(int)
    for first, last in itertools.pairwise(cuts):
        parted = (problem.design.samples, order, first, last, coef, problem.y, problem.loss)
        steps(*parted, penalty, d, eta0, taken, penalty.adds_up, lazy, report)
    cuts = np.linspace(0, d, parts + 1).astype(int)
    for first, last in itertools.pairwise(cuts):
        end(coef, penalty, penalty.adds_up, lazy, first, last, report)
    return report


@pytest.mark.parametrize("penalty", ["l1/l2", "sparse-group"])
def test_a_sweep_in_parts_is_the_same_in_every_bit(penalty: str) -> None:
    matrix, y = text()
    problem = ss.Problem(matrix, y, penalty=penalty, intercept=True, lam=0.01)
    order, ends = np.random.default_rng(1).integers(0, problem.n, 90), []
    for parts in (1, 7):
        coef = problem.coefficients(*random_point(problem))
        ends.append((coef, run_kernels(COMPILED, problem, coef, order, 2.0, 10, parts=parts)))
    for whole, parted in zip(*ends, strict=True):
        np.testing.assert_array_equal(whole, parted)


@pytest.mark.parametrize(
    ("penalty", "dtype"),
    [
        pytest.param(
            *p.values,
            dtype,
            id=f"{p.id}-{dtype}",
            marks=()
            if (p.id, dtype) in (("l1/l2", "float32"), ("sparse-group-rho=0.5", "float64"))
            else pytest.mark.slow,
        )
        for p in PENALTIES
        if p.id in ("l1/l2", "elastic-net-rho=0.5", "sparse-group-rho=0.5")
        for dtype in ("float64", "float32")
    ],
)
def test_compiled_steps_do_what_the_interpreted_ones_do(penalty: Any, dtype: str) -> None:
    matrix, y = text()
    problem = ss.Problem(matrix.astype(dtype), y, penalty=penalty, intercept=True, loss="logistic", lam=0.01)
    order = np.random.default_rng(1).integers(0, problem.n, 90)
    ends = []
    for kernels in (COMPILED, INTERPRETED):
        W, b = random_point(problem)
        coef = problem.coefficients(W, b)
        ends.append((coef, run_kernels(kernels, problem, coef, order, 2.0, 10)))
    tol = {"rtol": 1e-9, "atol": 1e-12} if dtype == "float64" else {"rtol": 1e-3, "atol": 1e-5}
    for compiled, plain in zip(*ends, strict=True):
        np.testing.assert_allclose(compiled, plain, **tol)
    matrix32 = eager(problem, problem.coefficients(*random_point(problem)), order, 2.0, 10)
    np.testing.assert_allclose(ends[0][0], matrix32, rtol=1e-3, atol=1e-4)


class Counted:
    """A penalty that counts how many rows are shrunk."""

    def __init__(self, penalty: Any) -> None:
        self.penalty, self.adds_up, self.calls = penalty, penalty.adds_up, 0

    def addend(self, tau: float) -> float:
        return float(self.penalty.addend(tau))

    def prox_added(self, v: np.ndarray, total: float, out: np.ndarray) -> None:
        self.calls += 1
        self.penalty.prox_added(v, total, out)


@pytest.mark.parametrize("name", ["l1/l2", "ridge"])
def test_a_step_touches_only_the_rows_of_its_sample(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stochastic, "catch_up", interpreted(stochastic.catch_up))
    rng = np.random.default_rng(0)
    X = sp.random_array((40, 3000), density=0.002, random_state=rng, format="csr")
    problem = ss.Problem(X, np.arange(40) % 3, loss="squared", penalty=name, lam=1e-6)
    counted = Counted(problem.penalty)
    coef = rng.standard_normal((problem.d, problem.m))
    report = run_kernels(INTERPRETED, problem, coef, np.arange(40), 0.1, 0, counted)
    assert counted.calls <= X.nnz + problem.d, "nnz(x_i) rows a step, and all rows once at the end"
    assert report[READ] == 2 * X.nnz and report[TOUCHED] == np.unique(X.tocoo().coords[1]).size
    assert report[STEP] == pytest.approx(0.1 / np.sqrt(40))


@pytest.mark.parametrize("intercept", [False, True], ids=["plain", "intercept"])
def test_events_say_what_a_step_cost(intercept: bool) -> None:
    matrix, y = text()
    problem = ss.Problem(matrix, y, loss="squared", lam=1e-3, intercept=intercept)
    solver = ss.solvers.FOBOS(eta0=2.0, order="cyclic")
    touched = np.count_nonzero(matrix.toarray().any(axis=0))
    events = list(ss.Run(problem, solver, stop=Iterations(3)))
    for k, event in enumerate(events[1:], 1):
        assert event.passes == pytest.approx(3.0 * k)  # scores, updates, and the scores of all samples at the end
        assert event.step_size == pytest.approx(2.0 * data_unit(problem) / np.sqrt(k * problem.n))
        assert event.working_set == touched + intercept and np.isnan(event.trials)


def test_the_unit_of_the_step_follows_the_data() -> None:
    X, y = iris()
    problem = ss.Problem(X, y)
    assert data_unit(problem) == pytest.approx(1.0 / (6.0 * (X**2).sum(axis=1).mean()))
    assert data_unit(ss.Problem(X, y, loss="squared", intercept=True)) == pytest.approx(
        1.0 / ((X**2).sum(axis=1).mean() + 1.0)
    )
    assert data_unit(ss.Problem(np.zeros((4, 2)), [0, 1, 0, 1])) == 1.0
    ends = []
    for scale in (1.0, 1000.0):  # the same problem in other units of X takes the same way
        scaled = ss.Problem(scale * X, y, penalty="l1", lam=0.05 * scale)
        state = ss.solvers.FOBOS().init(scaled)
        for _ in range(3):
            ss.solvers.FOBOS().step(scaled, state)
        ends.append(scale * state.weights())
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-9)
    plain = ss.solvers.FOBOS(unit="one", eta0=3.0 * data_unit(problem))
    a, b = (solver.init(problem) for solver in (plain, ss.solvers.FOBOS(eta0=3.0)))
    plain.step(problem, a)
    ss.solvers.FOBOS(eta0=3.0).step(problem, b)
    np.testing.assert_allclose(a.coef, b.coef, rtol=1e-12)


def test_losses_with_kinks_are_taken() -> None:
    X, y = iris()
    lam = 0.05
    problem = ss.Problem(X, y, loss=Kinked(), penalty="l1", lam=lam)
    solver = ss.solvers.FOBOS()
    assert solver.solves(problem) is None and data_unit(problem) == pytest.approx(1.0 / (X**2).sum(axis=1).mean())
    optimum, _, _ = hinge_program(X, y, lam, False)
    state = solver.init(problem)
    for _ in range(400):
        solver.step(problem, state)
    value = loss_values(problem, state.Z).mean() + lam * np.abs(state.coef).sum()
    assert optimum * (1 - 1e-9) <= value <= 1.02 * optimum


def loss_values(problem: ss.Problem, Z: np.ndarray) -> np.ndarray:
    """ℓ of every sample by the loss's own function of one row."""
    return np.array([problem.loss.value(z, k) for z, k in zip(Z, problem.y, strict=True)])


@part
class Mute(ss.losses.Loss):
    """A loss that offers its value only."""

    smooth = False
    title = "mute loss"

    def value(self, z, y):
        return 0.0


def test_a_loss_without_gradient_is_refused_in_words() -> None:
    problem = ss.Problem(*iris(), loss=Mute(), lam=0.1)
    with pytest.raises(ValueError, match=r"fobos needs a gradient or subgradient of the loss; the mute loss"):
        ss.Run(problem, "fobos")


@pytest.mark.parametrize(("loss", "penalty", "dtype", "form"), [
    ("multiclass-squared-hinge", "l1/l2", "float64", "csr"),
    ("multiclass-squared-hinge", "l1/l2", "float32", "dense"),
    pytest.param("squared", "l1/linf", "float64", "csr", marks=pytest.mark.slow),
    pytest.param("squared", "sparse-group", "float64", "csr", marks=pytest.mark.slow),
    pytest.param("multiclass-squared-hinge", "ridge", "float64", "csr", marks=pytest.mark.slow),
    pytest.param("multiclass-squared-hinge", "l1/linf", "float32", "dense", marks=pytest.mark.slow),
    pytest.param("squared", "l1/l2", "float32", "dense", marks=pytest.mark.slow),
])  # fmt: skip
def test_a_step_size_that_is_too_large_ends_in_a_clear_error(
    loss: str, penalty: str, dtype: str, form: str, recwarn: pytest.WarningsRecorder
) -> None:
    matrix, y = text()
    problem = ss.Problem(dict(forms(matrix))[form].astype(dtype), y, loss=loss, penalty=penalty, lam=1e-4)
    run = ss.Run(problem, ss.solvers.FOBOS(eta0=1e6), stop=Iterations(5))
    with pytest.raises(FloatingPointError, match=r"fobos diverged .*(eta0 = 1e\+06 is too large|objective is)"):
        list(run)
    assert not [w for w in recwarn if issubclass(w.category, RuntimeWarning)]
    if run.state.iteration == 0:  # found in the step itself: the weights are still those before it
        assert not run.state.coef.any() and not run.state.Z.any()


def test_a_step_size_for_small_numbers_is_not_refused_before_the_run() -> None:
    """Kernels are compiled on a tiny problem whose entries are ones."""
    X, y = iris()
    for dtype in (np.float32, np.float64):
        problem = ss.Problem((1e-12 * X).astype(dtype), y, penalty="l1/l2", lam=1e-14)
        events = list(ss.Run(problem, ss.solvers.FOBOS(unit="one", eta0=1e-2), stop=Iterations(2)))
        assert np.isfinite(events[-1].objective)


def test_a_session_with_a_diverging_step_says_so_and_shows_numbers() -> None:
    problem = ss.Problem(*text(), lam=1e-4)
    session = ss.Session(problem, ss.solvers.FOBOS(eta0=1e6))
    session.play()
    assert session.wait_idle(120.0)
    status = session.status()
    session.close()
    assert status.mode == "error" and "fobos diverged" in status.message and "eta0" in status.message
    assert np.isfinite(session.trace["objective"]).all()


# ---------------------------------------------------------------------------------------------------- the search for η₀
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_the_search_takes_the_best_on_held_out_data(form: str) -> None:
    matrix, y = text()
    X = dict(forms(matrix))[form]
    problem = ss.Problem(X, y, intercept=True, lam=1e-3)
    test = (X[::3], y[::3])
    found = ss.solvers.search_eta0(problem, test, candidates=(1e-3, 1.0, 1e6), iterations=2, order="cyclic")
    assert [row["eta0"] for row in found.table] == [1e-3, 1.0, 1e6]
    assert [row["diverged"] for row in found.table] == [False, False, True]
    assert found.eta0 == 1.0 and found.solver == ss.solvers.FOBOS(eta0=1.0, order="cyclic")
    for row in found.table[:2]:
        solver = ss.solvers.FOBOS(eta0=row["eta0"], order="cyclic")
        state = solver.init(problem)
        for _ in range(2):
            solver.step(problem, state)
        W, b = state.weights(), state.intercept()
        Z = problem.scores(W, b, test[0])
        assert row["accuracy"] == np.mean(problem.predict(W, b, test[0]) == test[1])
        assert row["loss"] == pytest.approx(loss_rows(problem.loss, Z, test[1]).mean(), rel=1e-10)
        assert row["objective"] == pytest.approx(problem.objective(W, b), rel=1e-10)
    shown = repr(found).splitlines()
    assert len(shown) == 4 and "← best" in shown[2] and "diverged" in shown[3]
    assert np.isnan(found.table[2]["loss"])


def test_without_held_out_data_a_share_of_every_class_is_set_aside() -> None:
    X, y = digits()
    problem = ss.Problem(X, y, lam=0.01)
    found = ss.solvers.search_eta0(problem, iterations=2)
    again = ss.solvers.search_eta0(problem, iterations=2)
    other = ss.solvers.search_eta0(problem, iterations=2, seed=1)
    assert len(found.table) == 7 and found == again and found != other
    by_loss = ss.solvers.search_eta0(problem, iterations=2, by="loss")
    losses_seen = {row["eta0"]: row["loss"] for row in by_loss.table if not row["diverged"]}
    assert by_loss.eta0 == min(losses_seen, key=lambda eta0: losses_seen[eta0])
    assert max(row["accuracy"] for row in found.table if not row["diverged"]) > 0.6
    rare = ss.Problem(np.vstack([X, X[:1]]), np.append(y, 10), lam=0.01)  # a class of one sample stays to be fitted
    assert ss.solvers.search_eta0(rare, iterations=1, candidates=(1.0,)).eta0 == 1.0


def test_the_search_refuses_what_it_cannot_use() -> None:
    X, y = iris()
    problem = ss.Problem(X, y)
    search = ss.solvers.search_eta0
    for settings, words in (
        ({"candidates": ()}, r"candidates is empty"),
        ({"candidates": (0.0,)}, r"eta0 is 0.0; allowed: 1e-06 to 1e\+06"),
        ({"iterations": 0}, r"iterations is 0; a whole number of at least 1"),
        ({"share": 1.0}, r"share is 1.0; allowed"),
        ({"by": "f1"}, r"by is 'f1'; allowed: 'accuracy', 'loss'"),
        ({"order": "sorted"}, r"order is 'sorted'"),
    ):
        with pytest.raises(ValueError, match=words):
            search(problem, **settings)
    with pytest.raises(TypeError, match=r"no parameter 'units'; did you mean 'unit'"):
        search(problem, units="one")
    with pytest.raises(ValueError, match=r"test X has 3 features, the problem 4"):
        search(problem, (X[:, :3], y))
    with pytest.raises(ValueError, match=r"test y has 5 labels, test X has 75 samples"):
        search(problem, (X, y[:5]))
    with pytest.raises(FloatingPointError, match=r"diverged with every eta0 of \[1000000.0\]"):
        search(problem, candidates=(1e6,))
    with pytest.raises(ValueError, match=r"no class has two samples"):
        search(ss.Problem(X[:3], [0, 1, 2]))


# --------------------------------------------------------------------------------------------------------- X by rows
def test_samples_are_the_rows_of_x() -> None:
    matrix, _ = text()
    for form, X in forms(matrix):
        design = Design(X)
        alone = design.nbytes
        assert design.samples is design.samples, "made once"
        assert alone < design.nbytes <= 2.1 * alone, "and counted"
        rows = np.zeros((60, 50))
        for i in range(60):
            for p in range(design.samples.start(i), design.samples.stop(i)):
                rows[i, design.samples.row(p, i)] += design.samples.entry(p, i)
        np.testing.assert_array_equal(rows, matrix.toarray())
        assert type(design.samples) is type(design.columns), form
    assert solvers.create("fobos").name == "fobos"


# ------------------------------------------------------------------------------------------------------- units of X
@pytest.mark.parametrize(("penalty", "power"), [("l1", 1), ("l1/l2", 1), ("ridge", 2)])
@pytest.mark.parametrize("exponent", [-30, 40])
def test_an_absolute_step_size_is_one_for_the_data_as_they_are_given(penalty: str, power: int, exponent: int) -> None:
    """X c with steps η₀/c² and λ c (c² for the ridge) takes the same way as X with η₀ and λ."""
    X, y = iris()
    c, eta0, lam = 2.0**exponent, 2.0**-4, 1e-3
    ways = []
    for scale in (1.0, c):
        solver = ss.solvers.FOBOS(unit="one", eta0=1.0)
        object.__setattr__(solver, "eta0", eta0 / scale**2)  # beyond the bounds of the setting, which are for people
        run = ss.Run(ss.Problem(scale * X, y, penalty=penalty, lam=lam * scale**power), solver, stop=Iterations(3))
        ways.append([event.objective for event in run])
    np.testing.assert_allclose(ways[1], ways[0], rtol=1e-9)
    assert ways[0][-1] < ways[0][0]
