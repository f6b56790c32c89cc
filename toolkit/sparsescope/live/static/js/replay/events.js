// A stretch of the recorded events as the frame that a live page would have got. The arrays stay where they are in the
// block: only their places are moved.

import { cut } from "../decode.js";

const ITEM_BYTES = { float64: 8, float32: 4, int32: 4, int8: 1 };

/** A column or counts from entry `from` on, `length` of them. */
function shifted([type, offset, whole], from, length) {
  return [type, offset + from * ITEM_BYTES[type], Math.min(length, whole - from)];
}

/** The changes of a set of rows over the events from `a` to `b`. */
function rowChanges(part, bytes, a, b) {
  if (!part) return null;
  const counts = cut(bytes, part.counts);
  const sum = (side, from, to) => {
    let total = 0;
    for (let k = from; k < to; k++) total += counts[2 * k + side];
    return total;
  };
  return {
    counts: shifted(part.counts, 2 * a, 2 * (b - a)),
    entered: shifted(part.entered, sum(0, 0, a), sum(0, a, b)),
    left: shifted(part.left, sum(1, 0, a), sum(1, a, b)),
  };
}

/** What is proved of F* in the segments of some events, as it was known at the last of them in each. */
function boundsAt(run, bytes, a, b) {
  const segment = cut(bytes, run.columns.find(([name]) => name === "segment").slice(1));
  const [best, lower] = ["best", "lower"].map((name) => cut(bytes, run.proved[name]));
  const found = new Map();
  for (let k = a; k < b; k++) found.set(segment[k], k);
  const plain = (value) => (Number.isFinite(value) ? value : null);
  return Array.from(found, ([s, k]) => {
    const known = run.bounds.find(([number]) => number === s) || [];
    return [s, plain(best[k]), plain(lower[k]), known[3] ?? null, known[4] ?? null]; // a reference holds at any time
  });
}

/** Columns, changes of rows and marks of the events from `a` to `b`. */
export function stretch(run, bytes, a, b) {
  const index = cut(bytes, run.columns.find(([name]) => name === "index").slice(1));
  const first = a ? index[a - 1] : -1;
  const last = b === run.count ? Infinity : index[b - 1];
  return {
    start: a,
    count: b - a,
    total: b ? index[b - 1] + 1 : 0,
    columns: run.columns.map(([name, ...place]) => [name, ...shifted(place, a, b - a)]),
    raster: rowChanges(run.raster, bytes, a, b),
    working: rowChanges(run.working, bytes, a, b),
    marks: run.marks.filter((mark) => mark.index > first && mark.index <= last),
    bounds: boundsAt(run, bytes, a, b),
  };
}

/** The newest values at event `at` (`measured`: how often up to each event, by column): of columns that are not measured at every event those known last in its segment. */
export function statusAt(columns, measured, at) {
  const segment = columns.get("segment")[at];
  const status = { measured: Object.fromEntries(Object.entries(measured).map(([name, counts]) => [name, counts[at]])) };
  for (const [name, values] of columns) {
    let k = at;
    while (k > 0 && Number.isNaN(values[k]) && columns.get("segment")[k - 1] === segment) k -= 1;
    status[name] = Number.isNaN(values[k]) ? null : values[k];
    if (name === "gap") status.gap_iteration = status.gap === null ? null : columns.get("iteration")[k];
  }
  return status;
}
