"""Turns: the live sessions of one process compute one at a time, the earliest deadline first.

Workers whose kernels take microseconds ask for the interpreter's lock after each of them. Thirty of them form a convoy
in which the server's event loop stands last: answers then take seconds although one core is idle. With turns only one
worker at a time asks for the lock. A worker whose single step is long is inside a kernel, which does not hold the lock;
after :data:`LONG` seconds another one is let in beside it.

One worker may have a lease for some seconds (:meth:`Turns.lease`): every other turn is then its own, and longer than
those that all others share evenly.

A session that is alone takes a free turn and keeps it: it pays for one reading of the clock a step.
"""

from __future__ import annotations

import heapq
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SLICE = 0.008  # seconds of a turn at most; a longer step is simply one step
LEAST_SLICE = 0.0005
ALONE = 0.25  # seconds of a turn while nobody else waits; a worker looks in between whether its session is still held
PREFERENCE = 2.0  # seconds that somebody who asked something counts as having waited already
# Seconds of turns within which everybody who waits has had one: with many, turns get shorter. A round takes three or
# four times as long by the clock, since a step ends where it can and the event loop needs the interpreter in between.
ROUND = 0.02
LONG = 0.025  # seconds after which a turn counts as one long kernel
STUCK = 1.0  # seconds after which a turn is not waited for any more, however many there are
LOOK = 0.1  # seconds after which somebody who waits looks again at whether turns have become long
LATE = 0.01  # lateness of the event loop in seconds from which on the workers leave it more of the interpreter's time
LEAST_SHARE = 0.3  # of the time, for the workers of a server that is late
LEASE = 20.0  # seconds for which one worker may have every other turn
MOST_REST = 0.012  # seconds of rest after a turn at most


class Turns:
    """Decides which worker computes. One object for all sessions of a process (:data:`TURNS`).

    Parameters
    ----------
    most : long turns at a time, beside which no further one is given; the number of cores, and at least two
    clock, sleep : replaced in tests
    """

    def __init__(
        self,
        most: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.most = max(os.cpu_count() or 1, 2) if most is None else most
        self.clock, self.sleep = clock, sleep
        self.share = 1.0  # of the time that workers may use; less while the event loop is late
        self._lock = threading.Lock()
        self._count = itertools.count()
        self._queue: list[tuple[float, int, Turn]] = []
        self._holders: list[Turn] = []
        self._lessee: Turn | None = None
        self._lease_ends = 0.0
        self._last: Turn | None = None  # who was let in last

    def place(self) -> Turn:
        """A place for one worker."""
        return Turn(self)

    @property
    def waiting(self) -> int:
        """Number of workers that wait for a turn."""
        return sum(turn.queued == count for _, count, turn in list(self._queue))

    def slice_seconds(self) -> float:
        """Length of a turn: shorter the more workers wait."""
        return max(LEAST_SLICE, min(SLICE, ROUND / (1 + len(self._queue))))

    def loop_is_late(self, seconds: float) -> None:
        """Take note of how late the event loop is: workers rest so long after each turn that it can catch up."""
        self.share = min(1.0, max(LEAST_SHARE, LATE / seconds)) if seconds > LATE else 1.0

    # ---------------------------------------------------------------------------------------------------------- leases
    @property
    def lessee(self) -> Turn | None:
        """The worker that has a lease at present."""
        return self._lessee if self.clock() < self._lease_ends else None

    def lease(self, turn: Turn, seconds: float = LEASE) -> bool:
        """Give a worker every other turn for a while; False if another one has that."""
        with self._lock:
            if self.lessee not in (None, turn):
                return False
            self._lessee, self._lease_ends = turn, self.clock() + seconds
            return True

    def pass_lease(self, turn: Turn, heir: Turn | None) -> None:
        """Hand the rest of a worker's lease to another worker, or end it (None); nothing if it has none."""
        with self._lock:
            if self._lessee is turn:
                self._lessee = heir
                self._lease_ends = self._lease_ends if heir is not None else 0.0

    # ----------------------------------------------------------------------------------------- for turns, with the lock
    def _free(self, now: float) -> bool:
        """Return whether one more worker may compute now."""
        ages = [now - turn.began for turn in self._holders]
        if any(age < LONG for age in ages):
            return False
        return sum(age < STUCK for age in ages) < self.most

    def _next(self) -> Turn | None:
        """The worker in the queue whose deadline is the earliest."""
        while self._queue:
            _, count, turn = self._queue[0]
            if turn.queued == count:
                return turn
            heapq.heappop(self._queue)  # it was moved forward, or went away
        return None

    def _preferred(self) -> Turn | None:
        """The worker to let in: the one with a lease, unless it was the last and others wait; else the next."""
        first, lessee = self._next(), self.lessee
        if first is None or lessee is None or lessee.queued is None:
            return first
        if self._last is not lessee:
            return lessee
        others = [entry for entry in self._queue if entry[2] is not lessee and entry[2].queued == entry[1]]
        return min(others)[2] if others else lessee

    def _next_is(self, turn: Turn) -> bool:
        return bool(self._queue) and (self._queue[0][2] is turn or self._lessee is turn)

    def _admit(self) -> None:
        now = self.clock()
        while self._free(now):
            turn = self._preferred()
            if turn is None:
                return
            if self._queue[0][2] is turn:
                heapq.heappop(self._queue)
            else:  # one with a lease, or that waits behind it
                self._queue = [entry for entry in self._queue if entry[2] is not turn]
                heapq.heapify(self._queue)
            turn.queued = None
            turn.began = now
            self._last = turn
            self._holders.append(turn)
            if turn.gate.locked():
                turn.gate.release()


class Turn:
    """The place of one worker. ``take`` and ``give_back`` are called by this worker, the other methods by anybody; of
    these only ``abandon`` by a finalizer."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.began = 0.0
        self.queued: int | None = None  # its ticket in the queue
        self.gate = threading.Lock()  # open while not held; a semaphore would make a lock of its own at each wait
        self.gate.acquire()
        self.given_up = False

    def take(self, urgent: bool = False) -> bool:
        """Wait for a turn; False if :meth:`give_up` was called. Urgent ones are due before others."""
        turns = self.turns
        with turns._lock:
            now = turns.clock()
            if not turns._queue and turns._free(now):  # nobody else wants anything
                self.began = now
                turns._last = self
                turns._holders.append(self)
                return not self.given_up
            self._queue_up(now - PREFERENCE if urgent else now + ROUND)
            turns._admit()
        while not self.gate.acquire(timeout=LONG if turns._next_is(self) else LOOK):
            with turns._lock:
                if self.given_up and self.queued is not None:  # without a word to the queue: see `abandon`
                    self._queue_up(float("-inf"))
                turns._admit()
        return not self.given_up

    def give_back(self) -> None:
        """End the turn; while the event loop is late, after a rest in which nobody computes."""
        turns = self.turns
        if turns.share < 1.0:
            held = turns.clock() - self.began
            turns.sleep(min(held * (1.0 / turns.share - 1.0), MOST_REST))
        with turns._lock:
            turns._holders.remove(self)
            turns._admit()

    def over(self) -> bool:
        """Return whether the time of this turn is used up; it is long while nobody else waits."""
        turns = self.turns
        alone = not turns._queue and turns.share == 1.0
        most = ALONE if alone else SLICE if turns.lessee is self else turns.slice_seconds()
        return turns.clock() - self.began >= most

    def rest(self, urgent: bool = False) -> None:
        """Leave the turn to others in the middle of a step, if its time is used up, and go on when it comes again; that
        is soon where somebody waits for an answer of this worker."""
        if self.over() and self in self.turns._holders:  # not while it is aside
            self.give_back()
            self.take(urgent)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Give the turn back for something long, such as compiling, and take one again afterwards."""
        turns = self.turns
        with turns._lock:
            mine = self in turns._holders
            if mine:
                turns._holders.remove(self)
                turns._admit()
        try:
            yield
        finally:
            if mine:
                self.take(urgent=True)

    def hurry(self) -> None:
        """Somebody waits for an answer of this worker: if it is in the queue, it moves forward."""
        turns = self.turns
        if self.queued is None:
            return
        with turns._lock:
            if self.queued is not None:
                self._queue_up(turns.clock() - PREFERENCE)

    def give_up(self) -> None:
        """The worker is to end: it gets the next turn, which it does not use."""
        self.given_up = True
        with self.turns._lock:
            if self.queued is not None:
                self._queue_up(float("-inf"))
                self.turns._admit()

    def abandon(self) -> None:
        """Give up without a lock, for finalizers: garbage may be collected in a thread that holds the very lock. Who is
        in the queue finds it out within :data:`LOOK` seconds."""
        self.given_up = True

    def _queue_up(self, deadline: float) -> None:
        self.queued = next(self.turns._count)
        heapq.heappush(self.turns._queue, (deadline, self.queued, self))


TURNS = Turns()
