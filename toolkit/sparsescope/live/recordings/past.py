"""The past that a recording keeps, as a trace that a run can go on from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...runs.continuing import Point
from ...runs.event import MEASURED, solver_columns
from ...runs.snapshots import Snapshot
from ...runs.trace import COMMON, FORMAT, SNAPSHOT_BYTES, Mark, Trace
from .packing import BadRecording, array

SAME = 1e-9  # relative difference of F at the kept weights up to which the run goes on with the same problem
MOST_DENSE = 1_000_000  # weights; a larger W is kept sparse
LONGEST_MARK = 200
MARK_KINDS = ("lam", "loss", "penalty", "solver", "note")
ENDS = "end of the recording"

Arrays = dict[str, np.ndarray]


def past_of(header: Mapping[str, Any], block: bytes, W: Any, b: Any, problem: Any, solver: Any) -> tuple[Trace, Point]:
    """Return the trace of a recording, with a mark at its end, and the point where its run stood.

    Parameters
    ----------
    header, block
        of a recording that was checked.
    W, b
        its last weights.
    problem, solver
        with which the run goes on.

    Raises
    ------
    BadRecording
        if its segments, bounds or marks are damaged.
    """
    run = header["run"]
    columns = {name: array(block, place, name) for name, *place in run["columns"]}
    if not run["count"]:
        raise BadRecording("a recording without events has no past")
    table = _table(columns, header["lams"])
    keys = [f"recorded {k}" for k in range(int(table["segment"][-1]) + 1)]
    if _goes_on(table, W, b, problem):
        keys[-1] = repr(solver.target(problem))
    arrays: Arrays = {"table": np.vstack(list(table.values()))}
    for part, came, went in (("raster", "entered", "left"), ("working", "taken", "dropped")):
        arrays |= _rows(run.get(part), block, run["count"], came, went)
    snapshots = _snapshots(header["pictures"], block, columns["index"], problem)
    arrays["snapshot_rows_sizes"] = np.array([s.rows.size for s in snapshots], np.int64)
    arrays["snapshot_rows"] = np.concatenate([np.zeros(0, np.int32), *(s.rows for s in snapshots)])
    for k, snapshot in enumerate(snapshots):
        arrays |= snapshot.arrays(f"snapshot_{k}")
    declared = solver_columns()
    parts = {
        "format": FORMAT,
        "info": {**problem.metadata, "solver": header.get("solver", "")},
        "columns": list(table),
        "reported": [asdict(declared[name]) for name in table if name in declared],
        "marks": [asdict(_mark(mark, columns["index"])) for mark in run["marks"]],
        "keys": keys,
        "lams": [_number(lam) for lam in header["lams"][: len(keys)]],
        **_proved(run["bounds"], keys),
        "snapshots": [[s.index, s.iteration] for s in snapshots],
        "snapshot_bytes": SNAPSHOT_BYTES,
        "next_snapshot": run["count"],
    }
    trace = Trace.of_parts(parts, arrays)
    trace.mark(ENDS)
    iteration, passes, seconds = (float(table[name][-1]) for name in ("iteration", "passes", "seconds"))
    reached = int((header.get("start") or {}).get("iteration", 0))
    return trace, Point(max(int(iteration), reached), passes, seconds, W, b)


def _number(value: Any) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if known else math.nan


def _table(columns: Arrays, lams: list[Any]) -> Arrays:
    """The columns of a trace, NaN where nothing is kept; of other columns those that are known by name."""
    count = columns["index"].size
    known = {*solver_columns(), *(column.name for column in MEASURED)}
    kept = {name: columns.get(name, np.full(count, np.nan)).astype(np.float64) for name in COMMON}
    kept |= {name: v.astype(np.float64) for name, v in columns.items() if name in known and np.isfinite(v).any()}
    segment = kept["segment"]
    whole = np.isfinite(segment).all() and segment[0] == 0 and np.isin(np.diff(segment), (0, 1)).all()
    if not whole or segment[-1] >= len(lams):
        raise BadRecording("a recording is damaged: its segments are not those of its λ")
    kept["lam"] = np.array([_number(lam) for lam in lams])[segment.astype(int)]
    return kept


def _rows(part: Any, block: bytes, count: int, came: str, went: str) -> Arrays:
    """The changes of a set of rows; a set that is not kept never changed."""
    found: Arrays = {}
    for k, (side, name) in enumerate((("entered", came), ("left", went))):
        if part is None:
            found |= {name: np.zeros(0, np.int32), f"{name}_sizes": np.zeros(count, np.int64)}
        else:
            sizes = array(block, part["counts"], "counts").astype(np.int64)[k::2]
            found |= {name: array(block, part[side], side).astype(np.int32), f"{name}_sizes": sizes}
    return found


def _goes_on(table: Arrays, W: Any, b: Any, problem: Any) -> bool:
    """Return whether the last events are of this problem: F at the kept weights is their last or their smallest."""
    now = float(problem.objective(W) if b is None else problem.objective(W, b))
    then = table["objective"][table["segment"] == table["segment"][-1]]
    said = [float(then[-1]), float(np.fmin.reduce(then))]
    return any(math.isclose(now, value, rel_tol=SAME, abs_tol=SAME * problem.least_scale) for value in said)


def _proved(bounds: list[Any], keys: list[str]) -> dict[str, Any]:
    """Bounds of F* that were proved in each segment."""
    best, lower, optima = {}, {}, {}
    for entry in bounds:
        inside = isinstance(entry, list) and len(entry) >= 3 and type(entry[0]) is int and 0 <= entry[0] < len(keys)
        if not inside:
            raise BadRecording("a recording is damaged: a bound belongs to no segment")
        key, known = keys[entry[0]], [_number(value) for value in entry[1:]]
        if math.isfinite(known[0]):
            best[key] = known[0]
        if math.isfinite(known[1]):
            lower[key] = known[1]
        if len(known) == 4 and -math.inf < known[2] <= known[3] < math.inf:
            optima[key] = (known[2], known[3])
    return {"best": best, "lower": lower, "optima": optima}


def _snapshots(pictures: list[Any], block: bytes, events: np.ndarray, problem: Any) -> list[Snapshot]:
    """W at the events whose picture has every weight of it."""
    found = []
    for picture in pictures:
        shown, place = picture["kinds"].get("matrix"), int(np.searchsorted(events, picture["index"]))
        if shown is None or place >= events.size or not isinstance(shown.get("values"), list):
            continue
        k, q = shown["shape"]
        classes = shown.get("classes")
        if picture.get("nonzero") != k or (classes is None and q != problem.m):
            continue
        rows = array(block, shown["rows"], "rows of a picture").astype(np.int32)
        values = array(block, shown["values"], "weights of a picture", k * q).reshape(k, q).astype(np.float64)
        iteration = _number(picture.get("iteration"))
        if not (np.isfinite(values).all() and math.isfinite(iteration)):
            raise BadRecording("a recording is damaged: a picture's weights or iteration are not finite")
        found.append(Snapshot(place, iteration, rows, _full(values, classes, block, problem)))
    return found


def _full(values: np.ndarray, classes: Any, block: bytes, problem: Any) -> Any:
    """Weights of all classes: dense where the whole of W may be."""
    large = problem.d * problem.m > MOST_DENSE
    if classes is None:
        return sp.csr_array(values) if large else values
    k, q = values.shape
    chosen = array(block, classes, "classes of a picture", q)
    at = np.repeat(np.arange(k), q), np.tile(chosen, k)
    full = sp.csr_array((values.ravel(), at), shape=(k, problem.m))
    return full if large else full.toarray()


def _mark(mark: Any, events: np.ndarray) -> Mark:
    if not isinstance(mark, dict) or mark.get("kind") not in MARK_KINDS or not isinstance(mark.get("text"), str):
        raise BadRecording("a recording is damaged: a mark has no text or is of no kind")
    at = [_number(mark.get(name)) for name in ("index", "iteration", "passes", "seconds", "clock")]
    if not all(map(math.isfinite, at)):
        raise BadRecording("a recording is damaged: a mark stands nowhere")
    place = int(np.searchsorted(events, at[0]))
    return Mark(place, int(at[1]), at[2], at[3], mark["text"][:LONGEST_MARK], mark["kind"], at[4])
