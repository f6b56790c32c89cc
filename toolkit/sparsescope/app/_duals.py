"""Margins and dual rows of a point: what each sample contributes, and against which classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..kernels.rows import loss_gradient, loss_sum
from ..live.confusion import MOST_REASONS, Confusion
from ..problems.prediction import Problem
from ..runs.run import Run
from .base import Message, number

BINS = 61  # of the histogram, one of them about the corner
LISTED = 40  # samples of a bin that are sent
RIVALS = 8
CORNER = 1e-3  # of the margin: a sample nearer to the corner than this stands in it
FORCE = 1e-6  # of the largest dual row: a smaller one is no force
TAILS = (0.5, 99.5)  # percentiles of the margins that the histogram shows at least


@dataclass
class Point:
    """A point of a run, with all that is shown of it.

    Attributes
    ----------
    W : weights (d, m)
    Z : scores of the classes (n, m)
    U : dual rows (n, m); of a solver without its own, the gradients of the loss
    own : whether the dual point is the solver's
    iteration : of the run
    """

    problem: Problem
    W: Any
    Z: np.ndarray
    U: np.ndarray
    own: bool
    iteration: int

    @classmethod
    def of(cls, run: Run) -> Point:
        """Take the present point of a run.

        Parameters
        ----------
        run : a run that has begun
        """
        problem, state = run.problem, run.state
        assert state is not None
        W = state.weights()
        Z = problem.scores(W, state.intercept())
        U = np.zeros(Z.shape)
        own = bool(state.dual_rows(U))
        if not own:
            loss_gradient(np.ascontiguousarray(Z, dtype=np.float64), problem.y, problem.loss, U)
        if problem.m == 1:  # one score, of the second class
            Z, U = (np.column_stack([np.zeros(len(A)), A[:, 0]]) for A in (Z, U))
            U[:, 0] = -U[:, 1]
        return cls(problem, W.copy(), Z, U, own, int(state.iteration))

    @property
    def margins(self) -> np.ndarray:
        """Score of the true class minus the largest other one, (n,)."""
        rows = np.arange(len(self.Z))
        others = self.Z.copy()
        others[rows, self.problem.y] = -np.inf
        return np.asarray(self.Z[rows, self.problem.y] - others.max(axis=1))

    @property
    def forces(self) -> np.ndarray:
        """Size of each sample's dual row: half the sum of its entries' sizes, (n,)."""
        return np.asarray(0.5 * np.abs(self.U).sum(axis=1))

    @property
    def corner(self) -> float | None:
        """The margin at which the loss bends; ``None`` for a loss that does not end."""
        loss = self.problem.loss
        return float(getattr(loss, "margin", 1.0)) if loss.hinges else None

    # ----------------------------------------------------------------------------------------------------- what is sent
    def histogram(self) -> Message:
        """Return the margins in bins, with the samples of each, those with the largest forces first."""
        margins, forces, corner = self.margins, self.forces, self.corner
        least = FORCE * max(float(forces.max()), 1e-300)
        pushes = forces > least
        low, high = np.percentile(margins, TAILS)
        low, high = min(float(low), -0.1), max(float(high), 1.2 * (corner or 1.0))
        width = (high - low) / (BINS - 1)
        middle = corner if corner is not None else 0.0
        first = middle - width * (np.floor((middle - low) / width) + 0.5)  # so that a bin has its middle at the corner
        edges = first + width * np.arange(BINS + 1)
        bins = np.clip(np.floor((margins - first) / width).astype(int), 0, BINS - 1)
        samples = []
        for k in range(BINS):
            inside = np.flatnonzero(bins == k)
            order = np.argsort(-forces[inside], kind="stable")[:LISTED]
            samples.append([[int(i), number(forces[i], 3)] for i in inside[order]])
        near = np.abs(margins - (corner or 0.0)) <= CORNER * abs(corner or 1.0)
        lossless = margins >= (np.inf if corner is None else corner * (1.0 - CORNER))
        return {
            "edges": [number(x, 6) for x in edges],
            "pushing": np.bincount(bins[pushes], minlength=BINS).tolist(),
            "resting": np.bincount(bins[~pushes], minlength=BINS).tolist(),
            "samples": samples,
            "corner": number(corner, 6) if corner is not None else None,
            "in_corner": int(near.sum()) if corner is not None else 0,
            "pushing_in_corner": int((near & pushes).sum()) if corner is not None else 0,
            "pushing_without_loss": int((lossless & pushes).sum()),
            "misread": int((margins < 0).sum()),
            "n": len(margins),
            "all_pushing": int(pushes.sum()),
            "entries": number(float(np.count_nonzero(least < self.U)) / len(margins), 4),
            "classes": self.Z.shape[1],
            "own": self.own,
            "iteration": self.iteration,
        }

    def sample(self, i: int) -> Message:
        """Return a sample: its scores, its dual row against the nearest classes, and the features that pull.

        Parameters
        ----------
        i : number of the sample
        """
        problem, z, u = self.problem, self.Z[i], self.U[i]
        true = int(problem.y[i])
        behind = z - z[true]
        order = [int(k) for k in np.argsort(-behind, kind="stable") if k != true]
        chosen = order[:RIVALS] + [k for k in order[RIVALS:] if abs(u[k]) > FORCE][:RIVALS]
        names = [str(name) for name in problem.class_names]
        top = order[0]
        message: Message = {
            "sample": i,
            "true": names[true],
            "margin": number(-float(behind[top]), 5),
            "loss": number(float(loss_sum(self._scores(z)[None].astype(np.float64), *self._terms(i))), 5),
            "force": number(float(self.forces[i]), 4),
            "rivals": [{"name": names[k], "behind": number(-float(behind[k]), 4), "dual": number(float(u[k]), 4)}
                       for k in chosen],
            "words": self._words(i, true, top),
            "rival": names[top],
        }  # fmt: skip
        if problem.image_shape is not None:
            message |= {"pixels": self._pixels(i), "shape": list(problem.image_shape)}
        return message

    def _scores(self, z: np.ndarray) -> np.ndarray:
        return z[1:] if self.problem.m == 1 else z

    def _terms(self, i: int) -> tuple[np.ndarray, Any]:
        return self.problem.y[i : i + 1], self.problem.loss

    def _features(self, i: int) -> np.ndarray:
        row = self.problem.design.plain().matrix[[i]]
        return np.asarray(row.toarray() if sp.issparse(row) else row, dtype=np.float64).ravel()

    def _pixels(self, i: int) -> list[int]:
        x = self._features(i)
        return np.rint(255 * np.clip(x / (float(np.abs(x).max()) or 1.0), 0.0, 1.0)).astype(int).tolist()

    def _words(self, i: int, true: int, rival: int) -> dict[str, list[list[Any]]]:
        """Return the features that speak most for the true class against the nearest rival, and those against it."""
        columns = self.W[:, [true, rival]] if self.problem.m > 1 else self.W[:, [0, 0]]
        columns = columns.toarray() if sp.issparse(columns) else np.asarray(columns)
        gain = columns[:, 0] - columns[:, 1] if self.problem.m > 1 else columns[:, 0] * (1.0 if true == 1 else -1.0)
        share = self._features(i) * gain
        named = self.problem.feature_name
        found = {}
        for name, sign in (("for", 1.0), ("against", -1.0)):
            order = np.argsort(-sign * share, kind="stable")[:MOST_REASONS]
            found[name] = [[named(int(j)), number(float(share[j]), 3)] for j in order if sign * share[j] > 0]
        return found

    def confusion(self, test: Any) -> Confusion:
        """Return which classes are taken for which.

        Parameters
        ----------
        test : held-out data (X, y), or ``None`` for the training data
        """
        b = None
        return Confusion(self.problem, {"W": self.W, "b": b, "model": None}, test, self.iteration)
