"""The stopwatch of every contestant, ours and the peers': levels of sub-optimality, and when they were reached.

Needs only numpy and scipy, of any age, because the peers' environments are old. The objective is evaluated here, for
all contestants with the same code, after each of their outer iterations, and the clocks stand still meanwhile.

A task is a dictionary with: data (file written by race.export), loss, lam, best (the certified optimum), levels, limit
(seconds of processor time), rivals (level -> seconds of the best contestant so far, may be empty), setting.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import scipy.sparse as sp

# A setting that still lacks a level which another one reached this many times faster is given up: it is not the best.
GIVE_UP = 3.0
GRACE = 0.25  # seconds that are always granted, so that a slow first iteration decides nothing


def read_task():
    """The task on standard input."""
    return json.loads(sys.stdin.read())


def read_data(path):
    """(X, y) of a file written by race.export: X dense in Fortran order or CSC, float64; y int32."""
    with np.load(path) as z:
        if "X" in z:
            return np.asfortranarray(z["X"]), z["y"]
        return sp.csc_matrix((z["data"], z["indices"], z["indptr"]), shape=tuple(z["shape"])), z["y"]


def objective(X, y, W, lam, loss):
    """F(W) = (1/n) sum of losses + lam * sum of row norms; W (d, m). With one column that is the lasso."""
    rows = np.flatnonzero(W.any(axis=1))
    Z = X[:, rows] @ W[rows] if 2 * len(rows) < W.shape[0] else X @ W
    here = np.arange(len(y))
    if loss == "logistic":
        top = Z.max(axis=1)
        value = (np.log(np.exp(Z - top[:, None]).sum(axis=1)) + top - Z[here, y]).sum()
    elif loss == "binary-logistic":
        value = np.logaddexp(0.0, (1.0 - 2.0 * y) * Z[:, 0]).sum()
    elif loss == "multiclass-squared-hinge":
        Z += 1.0 - Z[here, y][:, None]
        Z[here, y] = 0.0
        np.maximum(Z, 0.0, out=Z)
        value = np.einsum("ik,ik->", Z, Z)
    else:
        raise ValueError(
            f"no objective for the loss {loss!r} here; there are: logistic, binary-logistic, multiclass-squared-hinge"
        )
    return float(value / len(y) + lam * np.sqrt((W[rows] ** 2).sum(axis=1)).sum())


def report_end(task, X, y, W, cpu, wall, ended="by itself", **more):
    """Write the result of a call that shows nothing while it works: the one point at its end, W (d, m)."""
    value = objective(X, y, np.ascontiguousarray(W), task["lam"], task["loss"])
    relative = (value - task["best"]) / abs(task["best"])
    levels = sorted(task["levels"], reverse=True) if ended == "by itself" else []
    reached = [[level, cpu, wall, 1] for level in levels if relative <= level]
    found = {"reached": reached, "looks": 1, "lowest": relative, "cpu": cpu, "wall": wall, "ended": ended}
    print(json.dumps({**found, **more}))


class Watch:
    """Clocks that run between :meth:`start` and the end, except inside :meth:`look`."""

    def __init__(self, task, X, y):
        self.task, self.X, self.y = task, X, y
        self.levels = sorted(task["levels"], reverse=True)
        self.rivals = {float(level): seconds for level, seconds in task.get("rivals", {}).items()}
        self.reached = []  # [level, processor seconds, wall seconds, looks]
        self.looks = 0
        self.relative = self.lowest = float("inf")
        self.cpu = self.wall = 0.0
        self.ended = "by itself"

    def start(self):
        """Let the clocks run."""
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def look(self, W):
        """Stop the clocks, evaluate W (d, m), let them run again. True: there is no need to go on."""
        self.cpu += time.process_time() - self._cpu
        self.wall += time.perf_counter() - self._wall
        self.looks += 1
        value = objective(self.X, self.y, W, self.task["lam"], self.task["loss"])
        self.relative = (value - self.task["best"]) / abs(self.task["best"])
        self.lowest = min(self.lowest, self.relative)
        while len(self.reached) < len(self.levels) and self.relative <= self.levels[len(self.reached)]:
            self.reached.append([self.levels[len(self.reached)], self.cpu, self.wall, self.looks])
        done = self._done()
        self.start()
        return done

    def _done(self):
        missing = self.levels[len(self.reached) :]
        if not missing:
            self.ended = "all levels reached"
        elif self.cpu > self.task["limit"]:
            self.ended = "time limit"
        elif any(self.cpu > GIVE_UP * self.rivals[m] + GRACE for m in missing if m in self.rivals):
            self.ended = "given up: another setting is much faster"
        else:
            return False
        return True

    def report(self, **more):
        """Write what was seen to standard output, as the last line."""
        print(
            json.dumps(
                {
                    "reached": self.reached,
                    "looks": self.looks,
                    "relative": self.relative,
                    "lowest": self.lowest,
                    "cpu": self.cpu,
                    "wall": self.wall,
                    "ended": self.ended,
                    **more,
                }
            )
        )
