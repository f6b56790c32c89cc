"""The first step size of FOBOS, chosen on held-out data (Blondel et al. 2013, Sec. 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...inputs.design import Design
from ...kernels.rows import loss_sum, penalty_sum
from ...problems.prediction import Problem
from ...registry import solvers
from ..fobos import FOBOS

CANDIDATES = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)
CRITERIA = ("accuracy", "loss")


@dataclass(frozen=True)
class Eta0Search:
    """Result of :func:`search_eta0`.

    eta0 : the best candidate · solver : FOBOS with it · by : the criterion
    table : a dict for each candidate, in the order given, with ``eta0``; ``accuracy`` (share of held-out samples whose
    best class is right; for label sets: is in the set) and ``loss`` (mean) on held-out data; ``objective`` on the data
    that were fitted; ``diverged`` (then the others are NaN)
    """

    eta0: float
    solver: FOBOS
    by: str
    table: tuple[dict[str, Any], ...]

    def __repr__(self) -> str:
        lines = [f"{'eta0':>8}  {'accuracy':>8}  {'loss':>10}  {'objective':>10}"]
        for row in self.table:
            mark = "  ← best" if row["eta0"] == self.eta0 else ""
            shown = f"{row['accuracy']:8.4f}  {row['loss']:10.4g}  {row['objective']:10.4g}"
            lines.append(f"{row['eta0']:8g}  " + ("diverged" if row["diverged"] else shown) + mark)
        return "\n".join(lines)


def search_eta0(
    problem: Problem,
    test: Any = None,
    *,
    candidates: Sequence[float] = CANDIDATES,
    iterations: int = 3,
    share: float = 0.2,
    by: str = "accuracy",
    seed: int = 0,
    **settings: Any,
) -> Eta0Search:
    """Try FOBOS with several first steps η₀ for a few passes, and return the best on held-out data.

    Parameters
    ----------
    problem
        loss, penalty, λ and intercept, and the data to fit.
    test
        held-out data (X, y); ``None`` sets a share of the problem's samples aside, class by class.
    candidates
        values of η₀, in the unit of the solver (its setting ``unit``).
    iterations
        outer iterations (passes over the samples) of each candidate.
    share
        part of the samples that is set aside, in (0, 1).
    by
        ``"accuracy"`` (ties: the smaller loss) or ``"loss"`` on held-out data.
    seed
        of the split and of the solver.
    **settings
        other settings of FOBOS.

    Returns
    -------
    Eta0Search
        the best solver and the numbers of every candidate.

    Raises
    ------
    ValueError, TypeError
        for arguments that are not allowed.
    FloatingPointError
        if every candidate diverges.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> found = ss.solvers.search_eta0(problem, candidates=(0.1, 1.0), iterations=1)
    >>> found.solver.eta0 in (0.1, 1.0)
    True
    """
    _check(candidates, iterations, share, by)
    tried = [solvers.create("fobos", eta0=eta0, seed=seed, **settings) for eta0 in candidates]
    for solver in tried:
        solver.require(problem)
    fitted, design, y = _split(problem, share, seed) if test is None else _given(problem, test)
    table = tuple(_tried(fitted, solver, iterations, design, y) for solver in tried)
    left = [k for k, row in enumerate(table) if not row["diverged"]]
    if not left:
        raise FloatingPointError(f"FOBOS diverged with every eta0 of {list(candidates)}; try smaller ones")
    best = min(left, key=lambda k: (-table[k]["accuracy"] if by == "accuracy" else 0.0, table[k]["loss"]))
    return Eta0Search(table[best]["eta0"], tried[best], by, table)


def _check(candidates: Sequence[float], iterations: int, share: float, by: str) -> None:
    if len(candidates) == 0:
        raise ValueError("candidates is empty; at least one eta0 is needed")
    if int(iterations) != iterations or iterations < 1:
        raise ValueError(f"iterations is {iterations!r}; a whole number of at least 1 is needed")
    if not 0.0 < share < 1.0:
        raise ValueError(f"share is {share!r}; allowed: between 0 and 1")
    if by not in CRITERIA:
        raise ValueError(f"by is {by!r}; allowed: {', '.join(map(repr, CRITERIA))}")


def _tried(fitted: Problem, solver: FOBOS, iterations: int, design: Design, y: np.ndarray) -> dict[str, Any]:
    """One line of the table."""
    row = {"eta0": solver.eta0, "accuracy": np.nan, "loss": np.nan, "objective": np.nan, "diverged": True}
    state: Any = solver.init(fitted)
    try:
        for _ in range(iterations):
            solver.step(fitted, state)
    except FloatingPointError:
        return row
    objective = (
        loss_sum(state.Z, *fitted.terms) / fitted.n
        + fitted.lam * penalty_sum(state.coef[: fitted.d], fitted.penalty)[0]
    )
    coef = state.coefficients().astype(design.dtype, copy=False)
    Z = design.matmul(coef, np.empty((design.n, fitted.m), dtype=design.dtype))
    loss = loss_sum(Z, y, fitted.loss) / design.n
    if not (np.isfinite(objective) and np.isfinite(loss)):
        return row
    top = fitted.class_scores(Z).argmax(axis=1)
    right = y[np.arange(y.shape[0]), top] if fitted.multilabel else top == y
    return {
        **row,
        "accuracy": float(np.mean(right)),
        "loss": float(loss),
        "objective": float(objective),
        "diverged": False,
    }


def _given(problem: Problem, test: Any) -> tuple[Problem, Design, np.ndarray]:
    X, y = test
    design = X.plain() if isinstance(X, Design) else Design(X)
    if design.d != problem.d:
        raise ValueError(f"test X has {design.d} features, the problem {problem.d}")
    labels = problem.encode(y)
    if labels.shape[0] != design.n:
        raise ValueError(f"test y has {labels.shape[0]} labels, test X has {design.n} samples; they must be equal")
    return problem, design, labels


def _split(problem: Problem, share: float, seed: int) -> tuple[Problem, Design, np.ndarray]:
    """A problem on the larger part of the samples, and the rest. Every class keeps a sample to be fitted."""
    rng = np.random.default_rng(seed)
    held = np.zeros(problem.n, dtype=bool)
    classes = np.zeros(problem.n, dtype=int) if problem.multilabel else problem.y
    for members in (np.flatnonzero(classes == c) for c in range(problem.classes)):
        count = min(int(np.ceil(share * members.size)), members.size - 1)
        held[rng.permutation(members)[: max(count, 0)]] = True
    if not held.any():
        raise ValueError("no class has two samples, so none can be set aside; give held-out data as test=(X, y)")
    given = problem.design.plain()
    matrix = given.matrix.tocsr() if given.is_sparse else given.matrix
    fitted = Problem(
        matrix[~held],
        problem.y[~held],
        loss=problem.loss,
        penalty=problem.penalty,
        lam=problem.lam,
        intercept=problem.intercept,
        standardize=problem.standardize,
        class_names=problem.class_names,
        sample_weight=None if problem.sample_weight is None else problem.sample_weight[~held],
    )
    return fitted, Design(matrix[held]), problem.y[held]
