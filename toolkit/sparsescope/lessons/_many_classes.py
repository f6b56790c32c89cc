"""Generated text with many classes, and runs of PD-Sparse on it."""

from __future__ import annotations

import time
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
from .answers import is_number
from .base import Case, Finding, Mark, Message, Show
from .growing import Table
from .pictures import counted

GENERATED = {
    "20 classes": (3000, 20),
    "300 classes": (2000, 300),
    "600 classes": (2000, 600),
    "1000 classes": (6000, 1000),
}
OTHER_C = ", C = "
PASSES = 5  # iterations of PD-Sparse
FEW = 3  # iterations where costs are compared
LAM4 = 0.1
GROWN = (48, 12, 3)  # documents for each class, where the number of classes grows
TIMES = 16  # from the fewest classes to the most
WORK = 6  # times the work, at most
FULL = 4e6  # dual entries up to which FBPD, which keeps all of them, is measured beside
MEASURED_AT, ASKED_FOR = (500, 1000, 2000), 4000  # classes of exercise b
AT_THE_END = 10**6  # a certificate needs all margins, which PD-Sparse does without


@dataclass(frozen=True)
class Sparse:
    """Outcome of a run: W, active labels a document, work in entries read, processor seconds, and the gap."""

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
    for event in Run(problem, solver, stop=Iterations(passes), certify_every=AT_THE_END, clock=time.thread_time):
        active.append(event.dual_entries)
        total += entries_read(event)
        if show is not None:
            show(_active_lines(active))
    return Sparse(event.state.weights().copy(), active[-1], total, event.seconds, event.relative_gap)


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


# -------------------------------------------------------------------------------------------- more and more classes
def _dense_seconds(problem: Problem) -> float:
    """Return the processor time of a few iterations of FBPD, which keeps a dual entry of each document and class."""
    run = Run(problem, "fbpd", stop=Iterations(FEW), certify_every=AT_THE_END, clock=time.thread_time)
    return float([event.seconds for event in run][-1])


def growing(case: Case, show: Show) -> Finding:
    """Count the work of a few iterations while the number of classes grows and the documents stay as many."""
    size, _, ridge = case.data.partition(", ")
    documents = int(size.split()[0])
    table = Table(show, "classes", "entries read", "seconds", "k_A", "k_W", "seconds of FBPD")
    found: list[Sparse] = []
    dense: list[float] = []
    for share in GROWN:
        data = make_extreme(n=documents, d=documents, m=documents // share, seed=case.seed)
        problem = scaled(data, 0.0 if ridge else LAM4)
        found.append(solved(problem, case.seed, FEW))
        dense += [_dense_seconds(problem)] if problem.n * problem.m <= FULL else []
        last = found[-1]
        beside = f"{dense[-1]:.2f} s" if len(dense) == len(found) else "too many duals"
        read, took = f"{last.work / 1e6:.3g} million", f"{last.seconds:.2f} s"
        table.add(counted(problem.m), read, took, f"{last.active:.2f}", f"{last.word:.1f}", beside)
    rows = table.rows
    times, both = found[-1].work / found[0].work, len(dense) - 1
    said = (
        f"With {case.data}, from {rows[0][0]} to {rows[-1][0]} classes, {FEW} iterations read {times:.2g} times the "
        f"entries; k_A goes from {rows[0][3]} to {rows[-1][3]}. FBPD, which keeps a dual entry of each document and "
        f"class, takes {dense[both] / dense[0]:.2g} times the processor time from {rows[0][0]} to {rows[both][0]} "
        f"classes, and PD-Sparse {found[both].seconds / found[0].seconds:.2g} times."
    )
    return Finding(times, times < WORK, said, table.picture)


# ------------------------------------------------------------------------------------------------------- the exercises
@lru_cache(maxsize=16)
def active_with(classes: int, seed: int) -> float:
    """Return k_A of 3000 documents, given the number of classes."""
    data = make_extreme(n=3000, d=3000, m=classes, seed=seed)
    return solved(scaled(data, LAM4), seed, FEW).active


def extrapolated(seed: int) -> float:
    """Return what a straight line through three measurements says, both axes logarithmic."""
    x = np.log(MEASURED_AT)
    line = np.polyfit(x, np.log([active_with(m, seed) for m in MEASURED_AT]), 1)
    return float(np.exp(np.polyval(line, np.log(ASKED_FOR))))


def growth_check(value: Any, student: int) -> Mark:
    """Check a prediction of k_A for more classes than were measured."""
    if not is_number(value, 0, ASKED_FOR) or value == 0:
        return Mark(False, f"Give k_A as a number above 0 and up to {ASKED_FOR}.")
    found = active_with(ASKED_FOR, student % 3)
    off = 100.0 * (value / found - 1.0)
    passed = abs(off) <= 25.0
    measured = f"Measured k_A: {found:.2f}; your" if passed else "Your"
    return Mark(passed, f"{measured} prediction is off by {off:+.0f} %.")
