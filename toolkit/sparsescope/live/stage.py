"""One problem on the stage: its session, what the page has seen of it, and the picture of its weights."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..problems.certificate import Workspace
from . import kinds
from . import picture as pictures
from .packer import Block, Packer, plain
from .preparing import MAX_NAMES, Prepared
from .saying import brief
from .steps import PARTS

MAX_PICTURE_ROWS = 600
MAX_PICTURE_COLUMNS = 1000
MAX_STRIP = 1500
MOST_SCORES = 30_000_000  # n × m; beyond, no workspace of that size is made for the strip
PICTURE_SHARE = 8.0  # a picture may cost the worker at most about 1/8 of its time
TOGETHER = 0.2  # seconds for which a frame waits for the picture that belongs to it
PICTURE_PERIOD = 0.025  # seconds between two pictures at least; frames come less often
LEAD = 0.05  # seconds before a frame is due from which its picture may be asked for
EARLY = 0.002  # seconds that it should be there before
PICTURE_RATE = 1e6  # cells a second at most: many classes or large images come less often
PICTURE_PATIENCE = 2.0  # seconds after which an unanswered wish is asked again


class Layout:
    """Layout of the page's weight picture."""

    def __init__(self) -> None:
        self.rows = 200
        self.columns = MAX_PICTURE_COLUMNS
        self.zoom: tuple[int, int, int, int] | None = None
        self.kind = "matrix"
        self.visible = True
        self.row: int | None = None
        self.part = PARTS[0]
        self.strip = 0
        self.at: int | None = None
        self._strip_room = 0  # the newest one that was not 0

    def update(self, message: dict[str, Any]) -> None:
        """Take over a ``layout`` message; ``ValueError`` for fields of the wrong kind."""
        part = message.get("part", self.part)
        rows, kind, row = message.get("rows", self.rows), message.get("mode", self.kind), message.get("row")
        columns, zoom = message.get("columns", self.columns), message.get("zoom")
        strip = message.get("strip", 0)
        for name, room in (("rows", rows), ("columns", columns), ("strip", strip)):
            if not isinstance(room, int | float) or isinstance(room, bool) or room != room:
                raise ValueError(f"layout: {name} is {brief(room)}; a number of pixels is needed")
        if zoom is not None and not (
            isinstance(zoom, list)
            and len(zoom) == 4
            and all(type(v) is int and 0 <= v < 2**31 for v in zoom)
            and zoom[0] < zoom[1]
            and zoom[2] < zoom[3]
        ):
            raise ValueError(
                f"layout: zoom is {brief(zoom)}; null or first and stop of rows and classes are needed, "
                "such as [0, 40, 100, 200]"
            )
        if not isinstance(kind, str) or kind not in ("matrix", "images"):
            raise ValueError(f"layout: mode is {brief(kind)}; allowed: 'matrix', 'images'")
        if part not in PARTS:
            raise ValueError(f"layout: part is {brief(part)}; allowed: {', '.join(map(repr, PARTS))}")
        if row is not None and (isinstance(row, bool) or not isinstance(row, int) or abs(row) >= 2**31):
            raise ValueError(f"layout: row is {brief(row)}; a row number or null is needed")
        at = message.get("at")
        if at is not None and (type(at) is not int or not 0 <= at < 2**53):
            raise ValueError(f"layout: at is {brief(at)}; the number of an event or null is needed")
        self.at = at
        self.rows = int(min(max(rows, 8), MAX_PICTURE_ROWS))
        self.columns = int(min(max(columns, 8), MAX_PICTURE_COLUMNS))
        self.zoom = None if zoom is None else (zoom[0], zoom[1], zoom[2], zoom[3])
        self.kind, self.row, self.part = kind, row, part
        self.strip = int(min(max(strip, 0), MAX_STRIP))
        self._strip_room = self.strip or self._strip_room
        self.visible = bool(message.get("visible", True))

    def for_others(self) -> Layout:
        """Return this layout with everything in sight: others who watch the run have scrolled elsewhere."""
        seen = copy.copy(self)
        seen.visible, seen.strip = True, self._strip_room
        return seen

    def key(self) -> tuple[Any, ...]:
        """Return the key of an old picture: it is still correct if the key is equal."""
        return self.rows, self.columns, self.zoom, self.kind, self.visible, self.row, self.part, self.strip, self.at


class Stage:
    """Session, packer and weight picture of one problem. ``epoch`` grows when the page has to start afresh."""

    def __init__(
        self, prepared: Prepared, session: Any, epoch: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.prepared = prepared
        self.session = session
        self.epoch = epoch
        self.kind = kinds.of_problem(prepared.problem)
        self.packer = self._new_packer()
        self._clock = clock
        self._asked: tuple[Any, ...] | None = None  # what the last picture was asked for
        self._asked_at = -1e9
        self._answered = 0  # pictures of the session that were seen here
        self._pending = False
        self._period = PICTURE_PERIOD
        self._answer_took = 0.0  # mean seconds from a wish to its picture
        self._shot_at = -1e9  # the worker's: when it had made the last picture
        self._shot: Any = None  # a picture of the kind
        self._shot_iteration = 0
        self._shot_past = False  # it shows an iteration of the past
        self._strip: Any = None
        self._strip_due = -1e9  # when the next one may be measured
        self._strip_owed = False  # the last picture came without one, which is wanted and was not due
        self._work: tuple[Any, Any] | None = None  # the worker's: a problem's shape and its workspace
        self._asks: list[tuple[str, int, int]] = []
        self._cells: list[tuple[str, int, int]] = []

    def _new_packer(self) -> Packer:
        problem = self.prepared.problem
        return Packer(self.session.trace, problem.d, self.kind.columns(problem))

    def restart(self) -> None:
        """The page starts from nothing: everything is sent again."""
        self.packer = self._new_packer()
        self._asked = self._shot = self._strip = None
        self._strip_due = -1e9
        self._pending = False

    def follow_reset(self) -> bool:
        """Notice that the session threw its trace away; True if so."""
        if self.session.trace is self.packer.trace:
            return False
        self.epoch += 1
        self.restart()
        return True

    def ask_value(self, key: str, row: int, cls: int) -> None:
        """An exact weight is wanted; the answer comes from the worker."""
        problem = self.prepared.problem
        if self.kind.row_name(problem, row) is None or not 0 <= cls < problem.m:
            raise ValueError(f"there is no weight ({row}, {cls}); W is {problem.d} × {problem.m}")
        self._asks.append((key, row, cls))
        self._asked = None

    def ask_cell(self, key: str, line: int, column: int) -> None:
        """The largest weight behind a cell of the picture is wanted; a cell that is not there has no answer."""
        self._cells.append((key, line, column))
        self._asked = None

    def want_picture(self, layout: Layout, settings: Mapping[str, Any]) -> None:
        """Ask the worker for a picture if there is something new to see and the last one has come."""
        now = self._clock()
        if self._pending and now - self._asked_at < PICTURE_PATIENCE:
            return
        if now - self._asked_at < self._period and self._asked is not None:
            return
        trace, sort = self.session.trace, settings[self.kind.sorting]
        key = (len(trace), len(trace.marks), sort, *layout.key())
        strip = layout.strip if now >= self._strip_due else 0
        if key == self._asked and not (self._strip_owed and strip):
            return
        rank: np.ndarray | None = None
        if sort == "name":
            rank = self.prepared.name_rank
        elif sort == "first":
            rank = pictures.first_rank(self.packer.first_order, self.prepared.problem.d)
        wish = pictures.Wish(
            layout.rows,
            layout.columns,
            layout.zoom,
            layout.kind,
            sort,
            rank,
            layout.row,
            tuple(self._asks),
            tuple(self._cells),
            layout.visible,
            layout.part,
            strip,
            layout.at,
        )
        self._asks, self._cells = [], []
        self._strip_owed = strip < layout.strip
        self._asked, self._asked_at, self._pending = key, now, True
        self.session.request(lambda problem, state: self._shoot(problem, state, wish))

    def _shoot(self, problem: Any, state: Any, wish: pictures.Wish) -> tuple[Any, Any, int | None]:
        """The picture, the strip if it is wanted, and the picture's iteration if that is one of the past. Runs in the
        solver's worker."""
        try:
            return self._made(problem, state, wish)
        finally:
            self._shot_at = self._clock()

    def _made(self, problem: Any, state: Any, wish: pictures.Wish) -> tuple[Any, Any, int | None]:
        if wish.at is not None:
            kept = self.session.trace.weights_at(wish.at)
            shot = None if kept is None else self.kind.take_past(problem, kept[1], wish)
            if kept is not None and shot is not None:
                return shot, None, kept[0]
        shot = self.kind.take(problem, state, wish)
        if not wish.strip:
            return shot, None, None
        work = self._workspace(problem, state)
        return shot, self.kind.strip(problem, state, self.session.solver, work, wish.strip), None

    def _workspace(self, problem: Any, state: Any) -> Workspace | None:
        """Arrays for the levels of features, made once; none where the solver avoids arrays of that size too."""
        shape = (problem.n, problem.d, problem.m)
        if state.sparse or problem.n * problem.m > MOST_SCORES:
            return None
        if self._work is None or self._work[0] != shape:
            self._work = shape, Workspace(problem, levels=True)
        found: Workspace = self._work[1]
        return found

    def collect_picture(self) -> list[dict[str, Any]]:
        """Look for a finished picture; answers to exact questions that came with it."""
        found = self.session.picture()
        if found.count == self._answered or found.value is None:
            return []
        shot, strip, past = found.value
        self._answer_took += 0.2 * (max(0.0, self._shot_at - self._asked_at) - self._answer_took)
        self._answered, self._pending = found.count, False
        if strip is not None:
            self._strip, self._strip_iteration = strip, found.iteration
            self._strip_due = self._clock() + max(PICTURE_PERIOD, PICTURE_SHARE * strip.cost)
        self._period = max(PICTURE_PERIOD, PICTURE_SHARE * shot.cost, shot.cells.size / PICTURE_RATE)
        self._shot, self._shot_past = shot, past is not None
        self._shot_iteration = found.iteration if past is None else past
        problem = self.prepared.problem
        return [
            {
                "type": "answer",
                "id": key,
                "kind": "value",
                "row": row,
                "cls": cls,
                "value": plain(value),
                "name": self.kind.row_name(problem, row),
                "iteration": self._shot_iteration,
                "block": block,
                "block_norm": None if norm is None else plain(norm),
            }
            for key, row, cls, value, block, norm in shot.answers
        ]

    def pending(self) -> bool:
        """Return whether the page lacks something."""
        return self.packer.pending() or self._shot is not None or self._strip is not None

    @property
    def asked(self) -> bool:
        """True if somebody asked for weights, which come with a picture."""
        return bool(self._asks or self._cells)

    @property
    def lead(self) -> float:
        """Seconds before a frame is due at which its picture is asked for: it then comes in time, and is no older than
        it has to be."""
        return min(self._answer_took + EARLY, LEAD)

    @property
    def awaiting(self) -> bool:
        """True if a picture is about to come: charts and pictures then go into one frame, of one iteration."""
        return self._pending and self._shot is None and self._clock() - self._asked_at < TOGETHER

    def frame(self, header: dict[str, Any], whole: bool = True) -> tuple[dict[str, Any], list[bytes]]:
        """Complete ``header`` with everything that is new, and the block of bytes. Unless ``whole``, the charts of a
        frame with a picture end at the picture's iteration."""
        block, packer, problem = Block(), self.packer, self.prepared.problem
        header["marks"] = packer.new_marks()
        alone = whole or self._shot is None or self._shot_past
        header.update(packer.columns(block, math.inf if alone else self._shot_iteration))
        header["status"] = packer.status()
        header["picture"], header["names"] = None, {}
        shot, self._shot = self._shot, None
        if shot is not None:
            header["picture"] = {**shot.header(block.add), "iteration": self._shot_iteration}
            if problem.d > MAX_NAMES and shot.kind == "matrix":
                header["names"] = packer.names([j for j in shot.rows.tolist() if j < problem.d], problem.feature_names)
            header["names"] |= getattr(shot, "names", None) or {}
        strip, self._strip = self._strip, None
        if strip is not None:
            header["strip"] = {**strip.header(block.add), "iteration": self._strip_iteration}
            if problem.d > MAX_NAMES:
                header["names"] |= packer.names(strip.words.tolist(), problem.feature_names)
        return header, block.buffers()

    def so_far(self, header: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        """Complete ``header`` with all that the page was sent before, for another page that goes on with the page's
        own frames. The pictures come with the next of these, made anew for all."""
        sent, problem = self.packer, self.prepared.problem
        block, again = Block(), Packer(sent.trace, problem.d, self.kind.columns(problem))
        header["marks"] = again.new_marks(sent.marks)
        header.update(again.columns(block, stop=sent.sent))
        header["status"] = again.status()
        header["names"] = again.names(sent.named, problem.feature_names)
        self._asked, self._strip_due = None, -1e9
        return header, block.buffers()
