"""Pacing: how often a solver takes steps that are not part of every iteration, by counted work and never by a clock.

Three rules stand here. :class:`NewtonPacing` decides when a Newton step is due between sweeps, :class:`SearchPacing`
how a method searches for labels and how long it goes on without a search, and :class:`Naps` which samples of a dual
method may miss a search.
"""

from __future__ import annotations

import numpy as np

FIRST_PATIENCE, MOST_PATIENCE = 2, 8  # sweeps between two Newton steps
RATIOS = (0.5, 0.98)  # bounds for the convergence factor of sweeps, which is estimated from two of them
# Gradient steps gain in bursts. The first Newton step waits until a batch of them gains at least SLOW of what the one
# before did; steps are judged by the last WINDOW batches, and have paid with the share HINDSIGHT of their pace. Of the
# gain of a step, at least REST counts as still missing after it. Measured by the data read to gaps of 1e-2, 1e-4 and
# 1e-6, with the rule for all penalties: .92 of what the rule for sweeps reads on 168 dense problems, .93 on 96 others.
SLOW, WINDOW, HINDSIGHT, REST = 0.5, 3, 0.4, 0.1
# With a ridge, and with several scores on dense columns that do not go together, batches of gradient steps come nearer
# by about the same factor each. No Newton step is taken where they are likely to reach the gap for this multiple of
# what it costs. Seconds to gaps of 1e-2, 1e-4 and 1e-6 beside those without the rule: with elastic nets .94 on 84
# problems of seven data sets with 3 to 26 classes, without a ridge .93 on 13 drawn ones of 60 where it makes a
# difference (.69 to 1.3).
# A forecast is believed for LATE times the batches that it named at first.
ENOUGH, LATE = 3.0, 2.0
LONGEST_NAP = 7  # searches that a sample may miss if the last one did not move it
ROUND = 2.0  # sweeps without a search end when the iteration's work is this multiple of that of the sweep with a search
PACE = 1.0  # or when one gains less, for its work, than this share of the sweep with a search
# Searches that read more than DEAR times what their steps change draw features, until no more than NEARLY_ALL samples
# move by it or all of them gain less than FALLING times what the search before did: then exact ones pay (measured on
# generated documents of 1e4 and 1e5 classes).
DEAR, NEARLY_ALL, FALLING = 4.0, 0.9, 0.5


def pace(left: list[float]) -> float:
    """Return by how much a logarithm has fallen with each of the last iterations; ``left``: before them and after each,
    two numbers at least."""
    return (left[0] - left[-1]) / (len(left) - 1)


class NewtonPacing:
    """Account of sweeps against Newton steps.

    A Newton step is due after ``patience`` sweeps. It has paid if, together with the sweep after it, it gained at least
    what sweeps alone would have gained for the same work: with q the factor by which the gain of a sweep falls, and a
    step that costs as much as k sweeps, those are drop·(q + q² + … + q^(k+1)), the sweep after the step counting on
    both sides. What is still missing when the step is done is its ``debt``, which that sweep must gain. A step that has
    paid halves the patience (to 1 at the least), one that has not doubles it (to 8 at the most).

    Batches of gradient steps in place of sweeps gain much, then nothing, then much: q of two of them is noise. There F
    after the batch that follows a Newton step stands for the optimum. The logarithm of what was left before the step
    over what was left after it is compared with the mean of the batches before it, for the same work.

    drop : gain of the last sweep · ratio : q, estimated from the last two sweeps · cost : work of the last sweep
    drops : gains of the last batches since the last Newton step · gained, spent : by that step, and its cost in sweeps
    """

    def __init__(self, patience: int = FIRST_PATIENCE) -> None:
        self.sweeps = 0  # since the last Newton step
        self.patience = patience
        self.drop, self.ratio, self.cost = 0.0, RATIOS[1], 1.0
        self.debt: float | None = None
        self.drops: list[float] = []
        self.gained, self.spent = 0.0, 0.0
        self.falls = False  # whether gradient steps gain so fast that the first Newton step waits
        self.fresh = False  # whether the next batch is the first of a problem near the last
        self.left: list[float] = []  # logarithms of the gap over its aim after batches, since the last Newton step
        self.named: float | None = None  # batches that the first forecast since then named, less those since

    def begin(self) -> None:
        """Count afresh, for a problem near the last: the patience goes on."""
        self.sweeps, self.drop, self.ratio, self.debt = 0, 0.0, RATIOS[1], None
        self.drops, self.falls, self.fresh, self.left, self.named = [], False, True, [], None
        self.patience = min(self.patience, FIRST_PATIENCE)

    @property
    def due(self) -> bool:
        """True if the next step should be a Newton step."""
        return self.sweeps >= self.patience and not self.falls

    def swept(self, drop: float, cost: float, batch: bool = False) -> None:
        """Note the gain and the work of a sweep, or of a batch of gradient steps; right after a Newton step, judge that
        step."""
        gained = max(drop, 0.0)
        self.falls = batch and self.spent == 0.0 < self.drop and drop < SLOW * self.drop
        if self.debt is not None:
            paid = self._has_paid(gained) if batch else drop >= self.debt
            self.patience = max(1, self.patience // 2) if paid else min(2 * self.patience, MOST_PATIENCE)
            self.debt, self.drops = None, []
        elif self.drop > 0.0:
            self.ratio = min(max(drop / self.drop, RATIOS[0]), RATIOS[1])
        self.drop = gained
        # The first batch after a small change gains what any step would: it says nothing about the pace.
        self.drops = [] if self.fresh else [*self.drops, gained][-WINDOW:]
        self.fresh = False
        self.sweeps += 1
        self.cost = max(cost, 1.0)

    def nears(self, left: float) -> None:
        """Note by how much the gap is above its aim after a batch, as a logarithm."""
        self.left = [*self.left, left][-WINDOW - 1 :]
        if self.named is not None:
            self.named -= 1.0

    def ends_before(self, work: float) -> bool:
        """Return whether batches alone are likely to reach the aim for ENOUGH times this work, counted as theirs is."""
        if len(self.left) < 2:
            return False
        fall = pace(self.left)
        if not self.left[-1] * self.cost <= ENOUGH * work * fall:
            return False
        if self.named is None:
            self.named = LATE * (1.0 + max(self.left[-1] / fall, 0.0)) if fall > 0.0 else 0.0
        return self.named >= 0.0

    def _has_paid(self, after: float) -> bool:
        """Return whether the last Newton step has, by what the batches before it gained and the one ``after`` it."""
        if self.gained <= 0.0:
            return False
        left = max(after, REST * self.gained)
        fell, left = np.log1p(self.gained / left), left + self.gained
        paces = []
        for drop in reversed(self.drops):
            paces.append(np.log1p(drop / left))
            left += drop
        return not paces or bool(fell >= HINDSIGHT * self.spent * np.mean(paces))

    def stepped(self, gain: float, sweeps: float) -> None:
        """Note the gain of a Newton step that cost as much as ``sweeps`` sweeps."""
        q = self.ratio
        self.gained, self.spent, self.left, self.named = gain, sweeps, [], None
        self.debt = self.drop * q * (1.0 - q ** (sweeps + 1.0)) / (1.0 - q) - gain


class SearchPacing:
    """Account of searches for labels against the steps that they lead to.

    *Opening*: an exact search reads all features of a sample. Where that is more than DEAR times what the steps of the
    search change, searches draw some features instead. Drawing goes on as long as nearly all samples move by it and
    their gain does not fall fast. *Labels*: a search returns twice as many wherever searching was most of the work.
    *Rounds*: after a search come sweeps without one, until these were as much work as the sweep with the search, or one
    of them gains less for its work than that sweep did.

    opening : whether the next search may draw features · gained : sum of the gains of the last search
    """

    def __init__(self, opening: bool = False) -> None:
        self.opening, self.gained = opening, 0.0

    @staticmethod
    def is_dear(reading: float, changed: float) -> bool:
        """Return whether an exact search reads too much for what its steps change; both of one sample."""
        return reading > DEAR * changed

    @staticmethod
    def is_most(searched: float, work: float) -> bool:
        """Return whether searching was most of the work of a sweep."""
        return searched > 2.0 * (work - searched) > 0.0

    def searched(self, gains: np.ndarray, drew: bool, first: bool) -> None:
        """Note what a search gained for each of its samples; ``drew`` features, ``first`` of its run."""
        before, self.gained = self.gained, float(gains.sum())
        all_move = bool(np.count_nonzero(gains) > NEARLY_ALL * gains.size)
        self.opening = drew and all_move and (first or self.gained > FALLING * before)

    def goes_on(self, work: float, first: float) -> bool:
        """Return whether there is work left for sweeps without a search; ``first`` : that of the sweep with one."""
        return work < ROUND * first

    def has_paid(self, gain: float, work: float, first: float) -> bool:
        """Return whether a sweep without a search gained enough for its work."""
        return gain >= PACE * self.gained / first * work


class Naps:
    """Samples that a search leaves out: one that a search did not move misses the next, then three, at most seven.

    Nothing is lost by it, since every sample is searched again, and the gap is always that of all samples.
    """

    def __init__(self, n: int) -> None:
        self.lengths, self.missed = np.zeros((2, n), dtype=np.int8)  # of the last nap; searches still to be missed

    def wake_all(self) -> None:
        """Let all samples take part again, after a change of the problem."""
        self.lengths[:] = self.missed[:] = 0

    def awake(self) -> np.ndarray:
        """Return the samples of the next search; the others have then missed one more."""
        found = np.flatnonzero(self.missed == 0)
        self.missed[self.missed > 0] -= 1
        return found

    def rest(self, samples: np.ndarray, still: np.ndarray) -> None:
        """Leave those of ``samples`` that stood still (flags) out of the next searches, and the others in."""
        lengths = np.where(still, np.minimum(2 * self.lengths[samples] + 1, LONGEST_NAP), 0)
        self.lengths[samples] = lengths
        self.missed[samples] = lengths
