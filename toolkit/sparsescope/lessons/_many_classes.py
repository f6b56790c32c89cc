"""Generated text with many classes, and runs of PD-Sparse on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import registry
from ..datasets.base import Dataset
from ..datasets.extreme import make_extreme
from ..problems.prediction import Problem
from ..runs.event import Event
from ..runs.run import Run
from ..runs.stopping import Iterations
from ..solvers.pd_sparse import PDSparseState, work
from . import pictures
from ._runs import load
from .base import Case, Message, Show

GENERATED = {
    "20 classes": (3000, 20),
    "300 classes": (2000, 300),
    "600 classes": (2000, 600),
    "1000 classes": (6000, 1000),
}
OTHER_C = ", C = "
PASSES = 5  # iterations of PD-Sparse
AT_THE_END = 10**6  # a certificate needs all margins, which PD-Sparse does without


@dataclass(frozen=True)
class Sparse:
    """Outcome of a run: W, active labels a document, work in entries read, seconds of the processor, and the gap."""

    W: sp.csr_array
    active: float
    work: float
    seconds: float
    gap: float

    @property
    def word(self) -> float:
        """Weights a word, k_W."""
        return float(self.W.nnz / self.W.shape[0])


def seeds_of(name: str) -> tuple[Case, ...]:
    """Return the cases of a name with spaces."""
    return tuple(Case(name, seed) for seed in (0, 1, 2))


@lru_cache(maxsize=8)
def text_of_classes(name: str, seed: int) -> Dataset:
    """Return a data set of the package, or generated text with as many classes as the name says."""
    if name not in GENERATED:
        return load(name, seed)
    documents, classes = GENERATED[name]
    return make_extreme(n=documents, d=documents, m=classes, seed=seed)


def scaled(data: Dataset, lam4: float, C: float = 1.0) -> Problem:
    """Return the problem ½‖W‖² + λ₄‖W‖₁ + C × the sum of the hinges."""
    problem = Problem(data, loss="crammer-singer", penalty="elastic-net")
    return problem.with_scaling("paper-4", C=C, lam4=lam4)


def entries_read(event: Event) -> float:
    """Return the work of an iteration of PD-Sparse, in entries read; none before the first."""
    return work(event.state) if event.iteration and isinstance(event.state, PDSparseState) else 0.0


def solved(problem: Problem, seed: int, passes: int, show: Show | None = None) -> Sparse:
    """Run PD-Sparse, and show its active labels after each iteration."""
    solver = registry.solvers.create("pd-sparse", seed=seed)
    active: list[float] = []
    total = 0.0
    for event in Run(problem, solver, stop=Iterations(passes), certify_every=AT_THE_END):
        active.append(event.dual_entries)
        total += entries_read(event)
        if show is not None:
            show(_active_lines(active))
    return Sparse(
        event.state.weights().copy(), active[-1], total, event.search_seconds + event.update_seconds, event.relative_gap
    )


def _active_lines(active: list[float]) -> Message:
    return pictures.lines({"k_A": (range(len(active)), active)}, "iterations", "active classes a document")


@lru_cache(maxsize=12)
def fitted(name: str, seed: int, lam4: float) -> Sparse:
    """Return the model for a data set, or for one with another C (``iris, C = 0.001``)."""
    name, _, C = name.partition(OTHER_C)
    return solved(scaled(text_of_classes(name, seed), lam4, float(C or 1.0)), seed, PASSES)


def hits_of(problem: Problem, W: Any, data: Dataset) -> np.ndarray:
    """Return which documents of the test part are predicted right."""
    return np.asarray(problem.predictor.predict(W, X=data.X_test) == data.y_test)


def percent(hits: np.ndarray) -> float:
    """Return the share of hits in percent."""
    return 100.0 * float(np.mean(hits))
