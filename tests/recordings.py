"""Traces with known contents for tests of what reads them, and what to ask of a figure."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import numpy as np

import sparsescope as ss
from sparsescope import registry
from sparsescope.problems.metrics import WATCHED
from sparsescope.runs.event import event_of
from sparsescope.runs.trace import Trace
from sparsescope.solvers.base import State


def make_problem(d: int = 12, m: int = 3, **options: Any) -> ss.Problem:
    """A small problem; what is drawn does not depend on its numbers."""
    rng = np.random.default_rng(0)
    return ss.Problem(rng.standard_normal((20, d)), np.arange(20) % m, lam=0.1, **options)


def state_of(problem: ss.Problem, W: np.ndarray, working: np.ndarray | None) -> State:
    """A state with these weights, as a solver would show it."""
    state = State(problem, W.copy())
    state.working = working
    return state


@dataclasses.dataclass
class Recording:
    """A trace with known contents: what was written is also kept here."""

    trace: Trace
    problem: ss.Problem
    supports: list[set[int]]
    objectives: np.ndarray


def record(n: int, problem: ss.Problem | None = None, *, gap: bool = True, test: bool = True, changes: tuple = (),
           accuracy: bool = True, empty: bool = False, seed: int = 0, working: bool = False) -> Recording:  # fmt: skip
    """A real trace of ``n`` events with an objective that falls, rows that come and go, and a λ halved at ``changes``.

    Gap and accuracies are evaluated at every third event only, as live runs do it. With ``working`` the solver has a
    working set: the non-zero rows and two others, which move on at every fifth event.
    """
    problem = make_problem() if problem is None else problem
    rng, trace = np.random.default_rng(seed), Trace()
    W = np.zeros((problem.d, problem.m))
    supports, objectives, since = [], [], 0
    for i in range(n):
        if i in changes:
            trace.mark(f"λ {problem.lam:.1e} → {problem.lam / 2:.1e}", "lam")
            problem, since = problem.with_lam(problem.lam / 2), i
        if i and not empty:
            row = int(rng.integers(problem.d))
            W[row] = 0.0 if W[row].any() and i % 2 else rng.standard_normal(problem.m)
        flags = np.zeros(problem.d, dtype=np.uint8)
        flags[[i // 5 % problem.d, (i // 5 + 1) % problem.d]] = 1
        flags[W.any(axis=1)] = 1
        objective, due = problem.lam * (1.0 + 0.9 ** (i - since)), i % 3 == 0
        numbers = dict(
            iteration=i, passes=1.5 * i, seconds=0.01 * i, objective=objective, loss=0.5, penalty=0.5,
            nonzero_rows=int(W.any(axis=1).sum()), nonzero_entries=int(np.count_nonzero(W)), lam=problem.lam,
            working_set=float(flags.sum()) if working else float(problem.d),
            dual=problem.lam * 0.99 if gap and due else np.nan,
            relative_gap=0.8 ** (i - since) if gap and due else np.nan, violation=0.7 ** (i - since) if due else np.nan,
            features=3.0 * i if problem.kind == "sequence" else np.nan,
            train_accuracy=0.9 if accuracy and due and not problem.multilabel else np.nan,
            test_accuracy=0.8 if accuracy and test and due and not problem.multilabel else np.nan,
            **{f"{part}_{measure}": value if accuracy and due and (test or part == "train") else np.nan
               for part, value in (("train", 0.7), ("test", 0.6)) for measure in WATCHED * problem.multilabel},
        )  # fmt: skip
        event = event_of(
            numbers,
            problem=problem,
            solver=registry.solvers.create("bcd-ls"),
            state=state_of(problem, W, flags if working else None),
        )
        trace.append(event)
        supports.append(set(np.flatnonzero(W.any(axis=1)).tolist()))
        objectives.append(objective)
    return Recording(trace, problem, supports, np.array(objectives))


def sets() -> ss.Problem:
    """A problem with label sets."""
    rng = np.random.default_rng(0)
    return ss.Problem(rng.standard_normal((20, 12)), rng.integers(0, 2, (20, 3)))


def sequence() -> ss.SequenceProblem:
    """A problem whose model is a sequence."""
    rng = np.random.default_rng(0)
    return ss.SequenceProblem(rng.standard_normal((20, 12)), np.arange(20) % 3, lam=0.1)


def images() -> ss.Problem:
    """A problem whose features are the pixels of 3×4 images."""
    rng = np.random.default_rng(0)
    data = SimpleNamespace(X=rng.standard_normal((20, 12)), y=np.arange(20) % 3, name="tiny", image_shape=(3, 4),
                           class_names=["a", "b", "c"], feature_names=[f"pixel {j}" for j in range(12)])  # fmt: skip
    return ss.Problem(data, lam=0.1)


def annotations(fig: Any, name: str) -> list[str]:
    """The texts of the annotations a view calls ``name``: ``sentence``, ``note`` or ``mark``."""
    return [a.text.replace("<br>", " ") for a in fig.layout.annotations if a.name == name]


def lines(fig: Any) -> dict[str, Any]:
    """The drawn lines of a figure, by column."""
    return {t.meta: t for t in fig.data if t.type == "scatter" and t.meta}


def has_ink(fig: Any) -> bool:
    """Return whether the figure shows at least one value."""
    for trace in fig.data:
        values = trace.z if trace.type == "heatmap" else trace.y
        if values is not None and np.isfinite(np.asarray(values, dtype=float)).any():
            return True
    return False
