"""Sweeps over the most violated rows alone, where these are what keeps a certificate from its aim.

A dual point is scaled until the most violated row is within λ, and the dual value pays for it as if every row in use
were as far off. After a Newton step, whose conjugate gradients make a sum of squares small, that row can be a hundred
times as far off as the others are on average. A few sweeps over the worst rows then cost less than the gradient after
them and even the violations out, so that the gap comes near what their average would make it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

REACH = 100.0  # times the aim: a larger gap needs a better point
DEAR = 2.0  # passes of a Newton step, which has to cost more than the gradient after such sweeps
EVENS = 4.0  # the largest violation after it, in averages (measured: 3 to 5 on 20 newsgroups)
SHARE = 0.25  # of the largest violation, from which on rows are taken
SWEEPS = 4  # over them, at most
PAYS = 0.9  # of the gap before: more of it left ends this


class Polish:
    """Choice of a working set of the most violated rows alone.

    on : it is · sweeps : over it · rows : the next one will be made of these
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self, cost: float = 0.0) -> None:
        """Forget the last certificate, for the point has moved otherwise: by a Newton step of ``cost`` passes."""
        self.on, self.sweeps, self.cost, self.gap = False, 0, cost, math.inf
        self.rows: np.ndarray | None = None

    def take(self) -> np.ndarray | None:
        """Return the rows of the next working set, or ``None`` if it is to be chosen among all."""
        rows, self.rows = self.rows, None
        self.on, self.sweeps = rows is not None, 0
        return rows

    def certified(self, problem: Any, gap: float, aim: float, G: np.ndarray, W: np.ndarray) -> None:
        """Decide whether it is likely to bring the gap below the aim.

        Parameters
        ----------
        problem
            the problem; its Ω is a norm.
        gap
            relative gap of the certificate of the present point.
        aim
            the one to reach.
        G
            rows of XᵀU/n, (r, m).
        W
            weights of these rows, (r, m).
        """
        if gap == self.gap:
            return  # the same point
        fell, self.gap = gap <= PAYS * self.gap, gap
        self.rows = None
        if not (fell and self.cost >= DEAR and aim < gap <= REACH * aim):
            return
        over = np.empty(len(G))
        problem.regulariser.levels(G, 1.0, over)
        over = np.maximum(over - problem.lam, 0.0)
        lengths, worst = np.linalg.norm(W, axis=1), float(over.max())
        size = float(lengths.sum()) * worst
        if size > 0.0 and EVENS * float(over @ lengths) / size * gap <= aim:
            self.rows = np.flatnonzero(over > SHARE * worst)

    @property
    def done(self) -> bool:
        """True after the last sweep over the rows."""
        return self.sweeps >= SWEEPS
