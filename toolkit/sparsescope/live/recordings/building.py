"""Recording of a trace: the measurements, thinned to the resolution of a page and the size of a file.

The parts are those of the messages to a live page (``live/protocol.md``): the problem, one frame with every event, and
pictures of the weights at the events whose W the trace kept. Nothing between two of them is made up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ... import views as _views  # noqa: F401  (registers the views)
from ...registry import Registry, losses, penalties, problems, solvers
from ...runs.problem_keys import data_key
from ...runs.stopping import rounding_gap
from ...version import __version__
from ...views import style
from .. import kinds
from .. import picture as pictures
from ..packer import Block, Packer
from ..preparing import MAX_NAMES, facts, reported, specs
from ..thresholds import squares, words_of
from .looks import Looks
from .packing import FORMAT, KIND, finite

LIMIT = 1_500_000  # bytes of a file, page and numbers together
ALL_ZERO = "All rows of W are zero here."
MOST_NAMED = 4000  # rows whose names are kept where there are more features than that
MOST_START = 60_000  # of the last weights; with more, a run does not go on from the recording
PLAYED = ("lines", "raster", "matrix", "theta", "network", "words")  # kinds of charts that need no data
RECORDED = "It was not recorded here."
SAID = {"confusion": "Confusion matrix with the misclassified samples, of the last recorded weights."}
# Events, pictures of W, their rows and columns: tried in this order until the file is small enough.
PLANS = (
    (1000, 80, 200, 200),
    (1000, 40, 120, 120),
    (800, 20, 80, 80),
    (500, 10, 40, 60),
    (300, 4, 24, 40),
    (120, 1, 12, 20),
)

NUMBERS = re.compile(r"(\w+)=(-?\d[\d.]*(?:e[+-]?\d+)?)\b")  # of a part's settings as Python writes them

Point = tuple[Any, Any, int]  # W, b and the iteration that they are of


class Remembered:
    """Facts that a trace remembers of its problem, as far as views and pages ask for it."""

    class_shares = None
    regulariser = None

    def __init__(self, trace: Any) -> None:
        info = trace.info
        of = problems[info["kind"]]
        self.kind, self.proves, self.samples, self.stages = of.kind, of.proves, of.samples, of.stages
        self.n = None if info.get("n") is None else int(info["n"])
        self.d, self.m = int(info["d"]), int(info["m"])
        self.name, self.lam = str(info.get("dataset") or ""), float(info["lam"])
        self.feature_names, self.score_names = info.get("feature_names"), info["class_names"]
        shape = info.get("image_shape")
        self.image_shape = None if shape is None else tuple(shape)
        self.intercept = bool(info.get("intercept"))
        self.least_scale = float(info.get("least_scale", 0.0))
        self.multilabel = bool(np.isfinite(trace["train_precision_at_1"]).any())
        self.lam_max = self.lam_reference = float("nan")

    def feature_name(self, row: int) -> str:
        """Return the name of a feature."""
        return f"feature {row}" if self.feature_names is None else str(self.feature_names[row])

    def facts(self) -> dict[str, Any]:
        """Return the message ``problem``, with ``None`` for what a trace does not hold."""
        names, kind = self.feature_names, kinds.of_problem(self)
        return {
            "type": "problem", "kind": self.kind, "letters": list(kind.letters), "name": self.name or "your data",
            "title": self.name or "your data", "description": "", "source": "", "n": self.n, "d": self.d, "m": self.m,
            "p": self.d, "all_features": self.d, "class_names": [str(c) for c in self.score_names],
            "all_classes": [str(c) for c in self.score_names], "class_sizes": [], "pairs": [],
            "feature_names": [str(s) for s in names] if names is not None and self.d <= MAX_NAMES else None,
            "named": names is not None, "image_shape": None if self.image_shape is None else list(self.image_shape),
            "lam_max": None, "lam_max_is_bound": False, "lam_reference": None, "intercept": self.intercept,
            "views": specs(self), "reported": reported(self.kind), "multilabel": self.multilabel, "kinks": False,
            "palette": {"themes": style.THEMES, "diverging": style.DIVERGING}, "objective0": None,
            "least_scale": self.least_scale, "test_n": 0, "places": None,
        }  # fmt: skip


def build(
    trace: Any,
    problem: Any = None,
    *,
    source: Any = None,
    settings: dict[str, Any] | None = None,
    point: Point | None = None,
    title: str = "",
    plan: tuple[int, int, int, int] = PLANS[0],
    looks: Looks | None = None,
) -> tuple[dict[str, Any], bytes]:
    """Return the header and the block of a recording.

    Parameters
    ----------
    trace
        what was recorded.
    problem
        the problem of its last segment; ``None``: what the trace remembers.
    source
        the Dataset, for its description.
    settings
        the explorer's settings, by which another one makes the same problem.
    point
        W, b and their iteration, from which another run goes on.
    title
        of the page.
    plan
        how many events, pictures of the weights, and rows and columns of these.
    looks
        what is shown of the data; ``None``: what follows from the other arguments.
    """
    size = len(trace)
    if not size:
        raise ValueError("this trace has no events yet, so there is nothing to record; run it first")
    shown: Any = Remembered(trace) if problem is None else problem
    known = shown.facts() if problem is None else facts(problem, source)
    block, d = Block(), int(shown.d)
    packer = Packer(trace, d, kinds.of_problem(shown).columns(shown), most=plan[0])
    run = packer.columns(block)
    events = np.frombuffer(b"".join(block.buffers()), np.float64, run["count"], 0).astype(int)  # the first column
    run["measured"] = {"relative_gap": block.add(_so_far(trace["relative_gap"][:size], events))}
    run["proved"] = {name: block.add(values[events]) for name, values in _proved(trace, size).items()}
    taken = _pictures(trace, shown, block, plan)
    looks = Looks(trace, problem, point) if looks is None else looks
    strips = looks.strips([picture["index"] for picture in taken], plan[1] / PLANS[0][1])
    for picture in taken:
        if picture["index"] in strips:
            parts = strips[picture["index"]].header(block.add)
            picture["strip"] = {name: part for name, part in parts.items() if not name.startswith("word")}
    asked = looks.facts()
    played = (*(PLAYED if taken else PLAYED[:2]), *(["threshold"] if strips else []), *asked)
    known["views"] = [_playable(spec) for spec in known["views"] if spec["kind"] in played]
    left_out = [spec["title"] for spec in _specs_of(problem) if spec["kind"] not in played]
    header = {
        "kind": KIND, "format": FORMAT, "version": __version__, "title": title or known["title"],
        "said": said(trace, shown), "problem": {**known, "epoch": 1, "rounding_gap": rounding_gap(shown.n or 1)},
        "settings": dict(settings or {}), "run": {**run, "marks": packer.new_marks()},
        "lams": list(trace.lams) or [finite(shown.lam)],
        "names": _names(trace, shown, taken, packer.first_order), "pictures": taken, "left_out": left_out,
        "looks": asked,
        "data": None if problem is None else data_key(problem), "start": _start(point, block, shown),
        "solver": str(trace.info.get("solver", "")), "message": "",
    }  # fmt: skip
    packed = b"".join(block.buffers())
    plain: dict[str, Any] = json.loads(json.dumps({**header, "bytes": len(packed)}, allow_nan=False))
    return plain, packed


def _so_far(values: np.ndarray, events: np.ndarray) -> np.ndarray:
    """Number of times that a column was measured up to each of some events, those that are not kept included."""
    return np.cumsum(np.isfinite(values))[events].astype(np.float64)


def _proved(trace: Any, size: int) -> dict[str, np.ndarray]:
    """Return the smallest objective and the largest certified lower bound of each segment up to each event: a page that
    plays shows no more of F* than was known then."""
    segment = trace["segment"][:size].astype(int)
    best, lower = np.full(size, np.nan), np.full(size, np.nan)
    for s in range(int(segment[-1]) + 1):
        of = np.flatnonzero(segment == s)
        # with a budget or in single precision an objective may lie below what is proved of the optimum
        best[of] = np.fmax(np.fmin.accumulate(trace["objective"][of]), trace.best(s))
        lower[of] = np.fmax.accumulate(trace["dual"][of])
    return {"best": best, "lower": lower}


def said(trace: Any, shown: Any) -> str:
    """Return the parts of the run in one line, with the names of the menus."""
    loss, penalty = (_called(parts, str(trace.info.get(parts.kind) or "")) for parts in (losses, penalties))
    solver = _called(solvers, str(trace.info.get("solver") or "").partition("(")[0])
    sizes = ", ".join(f"{name} {getattr(shown, name)}" for name in ("n", "d", "m") if getattr(shown, name) is not None)
    return " · ".join(part for part in (sizes, " × ".join(name for name in (loss, penalty) if name), solver) if part)


def _called(parts: Registry, written: str) -> str:
    """Return the title of a part that is written as Python writes it, and its settings that are numbers, not zero."""
    name, _, settings = written.rstrip(")").partition("(")
    made = {parts[key].__name__: parts[key].title for key in reversed(list(parts))}
    # A compiled part's class has a digest at the end of its name.
    title = next((title for known, title in made.items() if name and name in (known, known.rpartition("_")[0])), name)
    return ", ".join([title, *(f"{key} {value}" for key, value in NUMBERS.findall(settings) if float(value))])


def _specs_of(problem: Any) -> list[dict[str, Any]]:
    return [] if problem is None else specs(problem)


def _playable(spec: dict[str, Any]) -> dict[str, Any]:
    """A spec with those ways of sorting that need nothing beyond the picture, and without advice: nothing can be
    changed in a recording."""
    if "sorts" in spec:
        return {**spec, "sorts": [s for s in spec["sorts"] if s != "first"]}
    if spec["kind"] == "words":
        return {**spec, "empty": ALL_ZERO, "start": ALL_ZERO}
    if spec["kind"] == "threshold":
        return {**spec, "empty": RECORDED}
    return {**spec, "empty": SAID.get(spec["kind"], spec.get("empty", ""))}


def _pictures(trace: Any, shown: Any, block: Block, plan: tuple[int, int, int, int]) -> list[dict[str, Any]]:
    """The weights at the events whose W is kept, evenly chosen among them, the first and the last in any case."""
    _, most, rows, columns = plan
    kind, found = kinds.of_problem(shown), []
    events = [snapshot.index for snapshot in trace.snapshots]
    last = trace.weights_at(len(trace) - 1)
    if not events or last is None:
        return []
    events = sorted({*events, len(trace) - 1})
    for index in [
        events[k] for k in np.unique(np.rint(np.linspace(len(events) - 1, 0, min(most, len(events)))).astype(int))
    ]:
        kept = trace.weights_at(index)
        if kept is None:
            continue
        iteration, weights = kept
        modes = ("matrix", "images") if shown.image_shape is not None else ("matrix",)
        taken: dict[str, Any] = {}
        for mode in modes:
            wish = pictures.Wish(rows=rows, columns=columns, kind=mode)
            shot = kind.take_past(shown, weights, wish)
            if shot is not None:
                taken[mode] = {**shot.header(block.add), "values": _values(shot, weights, block)}
        if not taken:
            return []
        norms = np.sqrt(squares(weights))
        words = {name: block.add(values) for name, values in words_of(weights, norms).items()}
        found.append(
            {
                "index": index,
                "iteration": iteration,
                "kinds": taken,
                "words": words if any(look["kind"] == "words" for look in kind.looks) else None,
                "nonzero": int(np.count_nonzero(norms)),
            }
        )
    return found


def _values(shot: Any, weights: Any, block: Block) -> Any:
    """The exact weights behind the cells, where each cell is one weight."""
    if shot.kind != "matrix" or shot.binned > 1 or shot.together > 1:
        return None
    rows = weights[shot.rows]
    chosen = rows.toarray() if sp.issparse(rows) else np.asarray(rows)
    return block.add((chosen if shot.classes is None else chosen[:, shot.classes]).astype(np.float32))


def _names(trace: Any, shown: Any, taken: Iterable[dict[str, Any]], order: list[int]) -> dict[str, str]:
    """Names of the rows that a page can ask about, where not all features have theirs in the facts."""
    if shown.feature_names is None or shown.d <= MAX_NAMES:
        return {}
    last = trace.support().tolist()
    rows = list(dict.fromkeys([*last, *order]))[:MOST_NAMED]
    return {str(j): str(shown.feature_names[j]) for j in rows}


def _start(point: Point | None, block: Block, shown: Any) -> dict[str, Any] | None:
    """The last weights in full precision, if they are few enough."""
    if point is None or shown.stages or not shown.samples:
        return None
    W, b, iteration = point
    full = W.toarray() if sp.issparse(W) else np.asarray(W)
    rows = np.flatnonzero(np.abs(full).sum(axis=1))
    if rows.size * full.shape[1] > MOST_START:
        return None
    return {
        "iteration": int(iteration),
        "rows": block.add(rows.astype(np.int32)),
        "values": block.add(full[rows].astype(np.float64)),
        "b": None if b is None else block.add(np.asarray(b, dtype=np.float64)),
    }


def smallest_that_fits(make: Callable[[tuple[int, int, int, int]], str], limit: int) -> str:
    """Return the text of the first plan that is within the limit in UTF-8.

    Raises
    ------
    ValueError
        if even the smallest one is not.
    """
    size = 0
    for plan in PLANS:
        text = make(plan)
        size = len(text.encode())
        if size <= limit:
            return text
    raise ValueError(
        f"the smallest recording of this run has {size} bytes, more than the limit of {limit}; the page itself takes "
        "about 300 kB. Allow more with limit="
    )
