"""The threshold strip: for every feature the λ at which it enters, beside the λ in force, and what is proved of it.

A row of W that is zero stays zero while λ is at least the *level* of its gradient: the dual norm of ∇_j L, and for
penalties over blocks or single entries that of the block or of the largest entry. At an optimum the non-zero rows stand
exactly at λ. A feature is *safely inactive* if no point of the ball that the duality gap draws around the dual optimum
brings its level up to λ (Ndiaye et al. 2017): the ball around the dual point U of the certificate has radius
√(2·n·L·gap), where L bounds the curvature of the loss of a sample.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..problems.certificate import Workspace
from .picture import Place

OPEN, SAFE, ACTIVE = 0, 1, 2  # states of a feature
MOST_FEATURES = 1500  # with more, neighbours that are zero share a dot, and the largest level is shown
MOST_ACTIVE = 400  # dots of non-zero rows, those of the largest norm
MOST_WORDS = 24


@dataclass(frozen=True)
class Strip:
    """Data of the strip: ``features`` (k,) int32 with their ``levels``, ``norms`` of their rows of W and ``states``;
    ``binned``: number of features that share a dot that is not active; ``counts``: number of open, safe and active
    features.

    ``words`` are the features of largest norm, with ``word_norms``, the class of their largest weight and that weight.
    ``lam``: λ in force; ``gap``: relative gap of this point (NaN: not certified); ``reason``: why there is nothing.
    """

    features: np.ndarray
    levels: np.ndarray
    norms: np.ndarray
    states: np.ndarray
    words: np.ndarray
    word_norms: np.ndarray
    word_classes: np.ndarray
    word_values: np.ndarray
    counts: tuple[int, int, int]
    binned: float
    lam: float
    gap: float
    cost: float
    reason: str = ""

    def header(self, add: Callable[[np.ndarray], Place]) -> dict[str, Any]:
        """The header field ``strip`` of a frame; arrays go through ``add``."""
        found: dict[str, Any] = {}
        for name in (f.name for f in fields(self) if f.name != "cost"):
            value = getattr(self, name)
            if isinstance(value, np.ndarray):
                found[name] = add(value)
            elif isinstance(value, float):
                found[name] = value if math.isfinite(value) else None
            else:
                found[name] = list(value) if isinstance(value, tuple) else value
        return found


def measure(problem: Any, state: Any, solver: Any, work: Workspace | None, columns: int) -> Strip:
    """The strip of a state; ``columns``: dots there is room for. ``work``: a workspace with levels, made once a run."""
    began = time.perf_counter()
    weights = state.weights()
    norms = np.sqrt(squares(weights))
    words = words_of(weights, norms)
    if work is None or not solver.follows_lam:
        reason = (
            "This method keeps a budget on the loss instead of λ."
            if work is not None
            else "This method keeps no scores of all samples, so the gradient is not known."
        )
        none = np.zeros(0, np.float32)
        return Strip(
            features=np.zeros(0, np.int32),
            levels=none,
            norms=none,
            states=np.zeros(0, np.int8),
            **words,
            counts=(0, 0, int((norms > 0).sum())),
            binned=1.0,
            lam=float(problem.lam),
            gap=math.nan,
            cost=time.perf_counter() - began,
            reason=reason,
        )
    assert work.levels is not None
    work.levels[:] = work.dual_levels[:] = work.gap = math.nan
    found = solver.certificate(problem, state, work)
    levels = work.levels
    states = np.where(norms > 0, ACTIVE, np.where(inactive(problem, work, work.gap), SAFE, OPEN)).astype(np.int8)
    counts = np.bincount(states, minlength=3)
    shown, binned = choose(levels, norms, states, columns)
    return Strip(
        features=shown.astype(np.int32),
        levels=levels[shown].astype(np.float32),
        norms=norms[shown].astype(np.float32),
        states=states[shown],
        **words,
        counts=(int(counts[OPEN]), int(counts[SAFE]), int(counts[ACTIVE])),
        binned=binned,
        lam=float(problem.lam),
        gap=float(found.relative_gap),
        cost=time.perf_counter() - began,
    )


def inactive(problem: Any, work: Workspace, gap: float) -> np.ndarray:
    """Flag the rows that are zero at every optimum, as proved by the certificate in ``work``: (d,) bool."""
    curvature = problem.loss.curvature(problem.m) if problem.loss.smooth else math.inf
    if problem.sample_weight is not None:
        curvature *= float(problem.sample_weight.max())
    spread = problem.regulariser.spread()
    if not (math.isfinite(gap) and math.isfinite(curvature)) or not np.isfinite(spread).any():
        return np.zeros(problem.d, dtype=bool)
    radius = math.sqrt(2.0 * problem.n * curvature * max(gap, 0.0))
    reach = problem.regulariser.joined(np.sqrt(problem.design.squared_norms)) * radius / problem.n
    with np.errstate(invalid="ignore"):  # ∞ · 0 of a feature without entries
        return np.asarray(work.scale * work.dual_levels + spread * reach < problem.lam)


def choose(levels: np.ndarray, norms: np.ndarray, states: np.ndarray, columns: int) -> tuple[np.ndarray, float]:
    """The features that have a dot, sorted, and how many share one: all, or with more than :data:`MOST_FEATURES` the
    strongest active ones, and of each stretch of neighbours the one of the highest level."""
    d = levels.size
    if d <= MOST_FEATURES:
        return np.arange(d), 1.0
    active = np.flatnonzero(states == ACTIVE)
    if active.size > MOST_ACTIVE:
        active = active[np.argsort(-norms[active], kind="stable")[:MOST_ACTIVE]]
    bins = min(max(columns, 50), MOST_FEATURES)
    starts = (np.arange(bins) * d) // bins
    quiet = np.where(states == ACTIVE, -1.0, np.nan_to_num(levels, nan=-1.0))
    tops = np.repeat(np.maximum.reduceat(quiet, starts), np.diff(np.append(starts, d)))
    first = np.flatnonzero((quiet == tops) & (quiet >= 0.0))
    bin_of = np.searchsorted(starts, first, side="right")
    first = first[np.concatenate([[True], np.diff(bin_of) > 0])] if first.size else first
    return np.union1d(active, first), d / bins


def words_of(weights: Any, norms: np.ndarray) -> dict[str, Any]:
    """The features of largest norm, their norms, the class of the largest weight and that weight."""
    most = min(MOST_WORDS, int(np.count_nonzero(norms)))
    order = np.argpartition(-norms, most - 1)[:most] if most else np.zeros(0, dtype=np.int64)
    order = order[np.argsort(-norms[order], kind="stable")]
    rows = weights[order].toarray() if sp.issparse(weights) else np.asarray(weights[order])
    best = np.argmax(np.abs(rows), axis=1) if most else order
    values = rows[np.arange(most), best]
    return {
        "words": order.astype(np.int32),
        "word_norms": norms[order].astype(np.float32),
        "word_classes": best.astype(np.int32),
        "word_values": values.astype(np.float32),
    }


def squares(weights: Any) -> np.ndarray:
    """‖W_j‖² of every row, (d,)."""
    if sp.issparse(weights):
        return np.asarray(weights.multiply(weights).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", weights, weights)
