"""Helpers of the tests of the core: cases from the registries, small data, and formulas in plain numpy.

The formulas are the plain numpy ones on the classes of losses and penalties. A new part is run by the contract tests
as soon as its file is there.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import sparsescope.losses
import sparsescope.penalties
import sparsescope.solvers
from sparsescope.checking.points import values_of
from sparsescope.jit.parts import part
from sparsescope.losses.squared import Squared
from sparsescope.penalties.block import BlockPenalty
from sparsescope.problems.prediction import Problem
from sparsescope.registry import Registry, losses, penalties, solvers
from sparsescope.runs.result import Result
from sparsescope.runs.solving import solve
from sparsescope.solvers.newglmnet import NewGLMNET


# -------------------------------------------------------------------------------------------------- cases of registries
def cases(registry: Registry, names: list[str] | None = None) -> list[Any]:
    """pytest parameters: every registered part (or those of ``names``), with several values of its parameters."""
    found = []
    for name in registry if names is None else names:
        fields = registry.fields(name)
        for values in product(*(values_of(f) for f in fields)):
            chosen = dict(zip((f.name for f in fields), values, strict=True))
            label = "-".join([name, *(f"{k}={v:g}" for k, v in chosen.items())])
            found.append(pytest.param(registry.create(name, **chosen), id=label))
    return found


def usual(part: Any) -> bool:
    """Tell whether the numbers that a part is made with are the defaults; flags and choices may be any."""
    return all(getattr(part, f.name) == f.default for f in part.fields if f.kind not in ("bool", "choice"))


def in_turn(*axes: Iterable[Any]) -> list[Any]:
    """Parameters of all combinations, of which the fast tests take each second one, as the white squares of a board.

    So every value is met with one of two neighbours on each other axis. Tuples on an axis are several parameters.
    """
    found = []
    for placed in product(*(enumerate(axis) for axis in axes)):
        values = [v for _, value in placed for v in (value if isinstance(value, tuple) else (value,))]
        slow = sum(at for at, _ in placed) % 2 == 1
        found.append(pytest.param(*values, id="-".join(map(str, values)), marks=pytest.mark.slow if slow else ()))
    return found


def solvers_for(kind: str) -> list[str]:
    """The solvers of a kind of problems (``Problem.kind``), in the order of the registry."""
    return [name for name in solvers if kind in solvers[name].kinds]


PREDICTING = solvers_for(Problem.kind)
# Penalties that are sums over the rows of W, whose functions of one row are tested, and those over blocks of features.
BLOCK_PENALTIES = [name for name in penalties if issubclass(penalties[name], BlockPenalty)]
ROW_PENALTIES = [name for name in penalties if name not in BLOCK_PENALTIES]
LOSSES = cases(losses)
PENALTIES = cases(penalties, ROW_PENALTIES)
# Pairs for methods that follow gradients, with a score for each class; a loss with one score has other pairs.
SMOOTH = [name for name in losses if losses[name].smooth and not losses[name].one_score]
ONE_SCORE = [pytest.param(name, "l1", id=f"{name}+l1") for name in losses if losses[name].one_score]
SMOOTH_LOSSES = [case for case in LOSSES if case.values[0].smooth]
# Every part is met at least once by these pairs, and every pair by the last list. What a pair costs is mostly its
# compilation, for each solver and form of the data: tests that go over those take the core, as do all tests of one
# solver (the parts beyond it are met by its tests of reaching an optimum); the rest is left to `make test-all`.
COVER = [
    (loss, penalty)
    for k, (loss, penalty) in enumerate(product(SMOOTH, ROW_PENALTIES))
    if k // len(ROW_PENALTIES) == (k % len(ROW_PENALTIES)) % len(SMOOTH)
] + [case.values for case in ONE_SCORE]
CORE = [("multiclass-squared-hinge", "l1/l2"), ("logistic", "sparse-group"), ONE_SCORE[0].values]


def _pairs(given: Iterable[tuple[str, str]], fast: list[Any]) -> list[Any]:
    return [pytest.param(*pair, id="+".join(pair), marks=() if pair in fast else pytest.mark.slow) for pair in given]


FEW_PAIRS = _pairs(COVER, CORE)
PAIRS = _pairs(product([*SMOOTH, *(case.values[0] for case in ONE_SCORE)], ROW_PENALTIES), COVER)


def fitting(loss: Any, y: np.ndarray) -> np.ndarray:
    """Classes y for a loss (a name or a part): a loss with one score takes the first class against the others."""
    return np.minimum(y, 1) if (losses[loss] if isinstance(loss, str) else loss).one_score else y


def interpreted(kernel: Any) -> Callable[..., Any]:
    """The plain Python function of a kernel."""
    return getattr(kernel, "py_func", kernel)


# ------------------------------------------------------------------------------- formulas in plain numpy, by rows
def members(penalty: Any, d: int) -> list[np.ndarray]:
    """The features of every block of a block penalty that is given by a size, sizes or feature numbers."""
    if penalty.blocks is None:
        return [np.arange(start, min(start + penalty.size, d)) for start in range(0, d, penalty.size)]
    if isinstance(penalty.blocks[0], int):
        return list(np.split(np.arange(d), np.cumsum(penalty.blocks)[:-1]))
    return [np.array(block) for block in penalty.blocks]


def block_prox(penalty: Any, V: np.ndarray, tau: float) -> np.ndarray:
    """prox_{τΩ}(V) of a block penalty, by the prox of one vector (which has another contract)."""
    out = np.array(V, dtype=np.float64)
    for block, k in product(members(penalty, len(V)), range(V.shape[1])):
        vector = out[block, k]
        penalty.row.prox(vector.copy(), tau, vector)
        out[block, k] = vector
    return out


def omega(penalty: Any, W: np.ndarray) -> float:
    """Ω(W), from the formula."""
    if isinstance(penalty, BlockPenalty):
        return sum(
            float(penalty.row.reference(W[block, k][None])[0])
            for block in members(penalty, len(W))
            for k in range(W.shape[1])
        )
    return float(penalty_rows(penalty, W).sum())


def loss_rows(loss: Any, Z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """ℓ(z_i, y_i) for all rows, from the formula."""
    return loss.reference(Z, y)[0]


def gradient_rows(loss: Any, Z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """∇ℓ(z_i, y_i) for all rows, from the formula."""
    return loss.reference(Z, y)[1]


def penalty_rows(penalty: Any, W: np.ndarray) -> np.ndarray:
    """Ω(W_j) for all rows, from the formula."""
    return penalty.reference(W)


def dense(X: Any) -> np.ndarray:
    """Any matrix as a float64 array."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def objective(X: Any, y: np.ndarray, loss: Any, penalty: Any, lam: float, W: np.ndarray, b: Any = 0.0) -> float:
    """F(W, b) of MATH §1."""
    Z = dense(X) @ np.asarray(W, dtype=np.float64) + b
    return float(loss_rows(loss, Z, y).mean() + lam * omega(penalty, np.asarray(W, dtype=np.float64)))


def gradient(X: Any, y: np.ndarray, loss: Any, W: np.ndarray, b: Any = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Gradient of the loss part with respect to W and to b."""
    A = dense(X)
    U = gradient_rows(loss, A @ np.asarray(W, dtype=np.float64) + b, y)
    return A.T @ U / len(y), U.mean(axis=0)


# ---------------------------------------------------------------------------------------------------- small data
@cache
def iris() -> tuple[np.ndarray, np.ndarray]:
    """Every second flower of iris, columns standardised: (75, 4), three classes."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    X, y = X[::2], y[::2]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    """120 digits with pixels in 0…1: (120, 64), ten classes, some columns empty."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X[:120] / 16.0, y[:120]


@cache
def factors() -> tuple[np.ndarray, np.ndarray]:
    """Correlated features, eight factors and a little noise, of very different sizes: (300, 64), ten classes."""
    rng = np.random.default_rng(0)
    F = rng.standard_normal((300, 8)) @ rng.standard_normal((8, 64)) + 0.1 * rng.standard_normal((300, 64))
    X = F * np.exp(rng.standard_normal(64))
    T = rng.standard_normal((64, 10)) * (rng.random((64, 1)) < 0.3)
    return X, (X @ T + 0.1 * rng.standard_normal((300, 10))).argmax(axis=1)


@cache
def text() -> tuple[sp.csr_array, np.ndarray]:
    """A small matrix like tf-idf: (60, 50), four classes, one entry in six set, a column and a row empty."""
    rng = np.random.default_rng(5)
    y = np.arange(60) % 4
    topics = rng.gamma(0.3, size=(4, 50))
    counts = rng.poisson(topics[y]).astype(float)
    counts[:, 7] = 0.0
    counts[11] = 0.0
    norms = np.linalg.norm(counts, axis=1, keepdims=True)
    return sp.csr_array(counts / np.where(norms > 0, norms, 1.0)), y


@cache
def tags() -> tuple[sp.csr_array, np.ndarray]:
    """The same kind of matrix with label sets: (60, 40), five labels, two empty sets and a full one."""
    rng = np.random.default_rng(6)
    Y = (rng.random((60, 5)) < (0.5, 0.35, 0.3, 0.2, 0.1)).astype(np.uint8)
    Y[:2], Y[2] = 0, 1
    topics = rng.gamma(0.25, size=(5, 40))
    counts = rng.poisson(Y @ topics + 0.1 * topics.mean(axis=0)).astype(float)
    counts[:, 7] = 0.0
    counts[11] = 0.0
    norms = np.linalg.norm(counts, axis=1, keepdims=True)
    return sp.csr_array(counts / np.where(norms > 0, norms, 1.0)), Y


@part
class Kinked(sparsescope.losses.Loss):
    """max(0, 1 − z_y + max of the others): a non-smooth loss."""

    smooth = False
    title = "kinked hinge"

    def value(self, z, y):
        top = -np.inf
        for r in range(z.size):
            if r != y:
                top = max(top, z[r])
        return max(0.0, 1.0 - z[y] + top)

    def gradient(self, z, y, x, g, work):  # a subgradient, for the solvers that do with one
        best = y
        for r in range(z.size):
            if r != y and z[r] + 1.0 > z[best] + (0.0 if best == y else 1.0):
                best = r
        g[best] += x
        g[y] -= x
        return self.value(z, y)


@part
class FirstOrder(sparsescope.losses.Loss):
    """The squared loss without second derivatives."""

    title = "squared, first order only"
    value, gradient, derivatives = (vars(Squared)[k] for k in ("value", "gradient", "derivatives"))
    conjugate, repair, curvature = (vars(Squared)[k] for k in ("conjugate", "repair", "curvature"))


def hinge_program(
    X: np.ndarray, y: np.ndarray, lam: float, intercept: bool, margin: float = 1.0
) -> tuple[float, Any, Any]:
    """The smallest F of the Crammer–Singer hinge with the ℓ1 penalty, and where:
    min Σξ/n + λ Σ(w⁺ + w⁻), ξ_i ≥ z_ir − z_iy + μ, ξ ≥ 0."""
    n, d = X.shape
    m = int(y.max()) + 1
    rows, right = [], []
    for i in range(n):
        for r in range(m):
            if r != y[i]:
                w, b, xi = np.zeros((d, m)), np.zeros(m), np.zeros(n)
                w[:, r], w[:, y[i]], xi[i] = X[i], -X[i], -1.0
                b[r], b[y[i]] = 1.0, -1.0
                rows.append(np.concatenate([w.ravel(), -w.ravel(), intercept * b, xi]))
                right.append(-margin)
    cost = np.concatenate([np.full(2 * d * m, lam), np.zeros(m), np.full(n, 1.0 / n)])
    bounds = [(0, None)] * (2 * d * m) + [(None, None)] * m + [(0, None)] * n
    found = linprog(cost, A_ub=np.array(rows), b_ub=np.array(right), bounds=bounds)
    assert found.success
    W = (found.x[: d * m] - found.x[d * m : 2 * d * m]).reshape(d, m)
    return float(found.fun), W, (found.x[2 * d * m : 2 * d * m + m] if intercept else None)


def first_model(problem: Problem) -> tuple[Any, Any, Any]:
    """A state of `newglmnet` after a step, its exact model there, and the working set of all entries."""
    solver: Any = NewGLMNET(opening=False)
    state: Any = solver.init(problem)
    solver.step(problem, state)
    state.look(problem)
    part = state.entries(problem, np.arange(state.coef.size))
    state.take_samples(problem)
    state.model.take(problem, part, state.Z, state.U)
    return state, state.model, part


def whole_hessians(C: np.ndarray) -> np.ndarray:
    """Hessians of samples (n, m, m), of their diagonals (n, m, 1) or factors (n, m, 2) as `newglmnet` keeps them."""
    m, width = C.shape[1:]
    if width == m:
        return C
    whole = np.zeros((*C.shape[:2], m), C.dtype)
    whole[:, np.arange(m), np.arange(m)] = C[:, :, 0]
    return whole if width == 1 else whole - C[:, :, 1, None] * C[:, None, :, 1]


def forms(X: Any) -> Iterator[tuple[str, Any]]:
    """The same matrix dense, as CSR and as CSC."""
    yield "dense", X.toarray() if sp.issparse(X) else X
    yield "csr", sp.csr_array(X)
    yield "csc", sp.csc_array(X)


def random_point(problem: Any, seed: int = 0, scale: float = 0.5) -> tuple[np.ndarray, Any]:
    """Row-sparse random weights, and an intercept where there is one."""
    rng = np.random.default_rng(seed)
    W = scale * rng.standard_normal((problem.d, problem.m)) * (rng.random((problem.d, 1)) < 0.6)
    return W, (scale * rng.standard_normal(problem.m) if problem.intercept else None)


def solve_or_skip(problem: Problem, name: str, tol: float = 1e-8, within: float = 1.0) -> Result:
    """The solution by a solver of this name, within a share of the iterations that it is granted; a test of one that
    does not take the problem is skipped."""
    solver = solvers.create(name)
    reason = solver.solves(problem)
    if reason is not None:
        assert len(reason) > 20, "a refusal needs a reason in words"
        pytest.skip(reason)
    limit = int(within * solver.contract_iterations)
    return solve(problem, solver, tol=tol, max_iter=limit, record=False, certify_every=10)


def run_interpreted(file: str, marks: str) -> None:
    """Run the tests of a file that have these marks in a process without a compiler."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", file, "-q", "-x", "-p", "no:cacheprovider", "-m", marks],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]


def page_of_the_recipe() -> tuple[str, dict[str, str]]:
    """The name of the page of docs/adding-a-page.md, and its two files by their places in the project."""
    text = (Path(__file__).resolve().parents[1] / "docs" / "adding-a-page.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"```(python|js)\n(.*?)```", text, re.DOTALL))
    name = re.findall(r'^    name = "([^"]+)"$', blocks["python"], re.MULTILINE)[0]
    places = {"python": "toolkit/sparsescope/app/{}.py", "js": "toolkit/sparsescope/live/static/js/pages/{}.js"}
    for place in places.values():
        assert place.format("<name>") in text, f"the recipe does not say where its file goes: {place}"
    return name, {place.format(name): blocks[language] for language, place in places.items()}


def import_nbformat() -> Any:
    """Return nbformat, imported without the grammars of addresses: jsonschema compiles them for seconds, and no
    notebook is checked by them."""
    known = "rfc3987_syntax" in sys.modules
    if not known:
        sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # an import of it fails, as where it is not
    try:
        import nbformat
    finally:
        if not known:
            del sys.modules["rfc3987_syntax"]
    return nbformat
