// The page's store: frames in, columns, derived quantities and the active set out.
import assert from "node:assert/strict";
import { test } from "node:test";

const { Store } = await import(process.env.STATIC + "/store.js");
const { goalReached, proof } = await import(process.env.STATIC + "/status.js");
const { veilOf } = await import(process.env.STATIC + "/veil.js");
const { Past } = await import(process.env.STATIC + "/past.js");
const { csvText, lineRows } = await import(process.env.STATIC + "/save.js");
const { keepEvents } = await import(process.env.STATIC + "/charts/thinning.js");
const { ActiveSet } = await import(process.env.STATIC + "/charts/activeset.js");
const { RasterLines } = await import(process.env.STATIC + "/charts/rasterlines.js");
const { alignedBytes, cut } = await import(process.env.STATIC + "/decode.js");

let seq = 0;

test("F − F* is drawn where a reference gives F*, down to the reference's own gap", () => {
  const store = new Store();
  store.takeProblem({ epoch: 1 });
  store.takeFrame(...frame({ iteration: [0, 1, 2], index: [0, 1, 2], passes: [0, 1, 2], seconds: [0, 1, 2], objective: [4, 2, 1 + 1e-12], segment: [0, 0, 0] }));
  assert.equal(store.values("known_excess"), null);
  store.takeFrame(...frame({}, { header: { bounds: [[0, 1, 0.5, 1 - 1e-9, 1]] } }));
  const [first, second, last] = store.values("known_excess");
  assert.deepEqual([first, second], [0.75, 0.5]);
  assert.ok(Number.isNaN(last), "nearer than F* is known");
});

test("the first frame of another run drops the points, also where its numbers are those of the run before", () => {
  const store = new Store();
  const one = (objective, header = {}) => frame({ iteration: [0], index: [0], passes: [0], seconds: [0], objective: [objective], segment: [0] }, { header });
  store.takeProblem({ epoch: 1, name: "mine" });
  store.takeFrame(...one(4));
  store.forget();
  assert.deepEqual([store.n, store.problem.name, store.status], [0, "mine", null]);
  store.takeProblem({ epoch: 1, name: "theirs" });
  store.takeFrame(...one(3, { anew: true }));
  store.takeFrame(...one(2));
  assert.deepEqual([...store.column("objective")], [3, 2]);
  store.takeFrame(...one(1, { anew: true }));
  assert.deepEqual([...store.column("objective")], [1]);
});

test("a run that rests because its page is away is veiled, and says so", () => {
  const store = new Store();
  store.away = "Your teacher's page is away.";
  assert.equal(veilOf(store), null);
  store.takeProblem({ epoch: 1 });
  store.takeFrame(...frame({ iteration: [0], index: [0], passes: [0], seconds: [0], objective: [1], segment: [0] }));
  assert.equal(veilOf(store).text, "Your teacher's page is away.");
  assert.equal(veilOf(store).cancel, false);
});

/** A frame as the explorer packs it: arrays one after the other, each at a multiple of 8. */
function frame(columns, extra = {}) {
  const parts = [];
  let size = 0;
  const place = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const at = size;
    parts.push([at, bytes]);
    size += Math.ceil(bytes.length / 8) * 8;
    const dtype = { Float64Array: "float64", Float32Array: "float32", Int32Array: "int32", Int8Array: "int8" }[array.constructor.name];
    return [dtype, at, array.length];
  };
  const table = Object.entries(columns).map(([name, values]) => [name, ...place(Float64Array.from(values))]);
  const changes = (part) => (part ? Object.fromEntries(Object.entries(part).map(([k, v]) => [k, place(Int32Array.from(v))])) : null);
  const [raster, working] = [changes(extra.raster), changes(extra.working)];
  const block = new Uint8Array(size + 3).subarray(3); // not aligned, as shells hand it over
  for (const [at, bytes] of parts) block.set(bytes, at);
  const count = columns.iteration ? columns.iteration.length : 0;
  const header = {
    type: "frame", seq: ++seq, stream: 1, epoch: 1, mode: "running", message: "", rate: 1, late: false, playing: true,
    applied: [], settings: null, lam: 0.1, start: 0, count, total: extra.total ?? count, columns: table,
    bounds: (extra.best ?? [0]).map((best, k) => [k, best, (extra.lower ?? [])[k] ?? null]), marks: extra.marks ?? [], picture: null, names: extra.names ?? {}, status: extra.status ?? null,
    ...(extra.header ?? {}), raster, working,
  };
  return [header, [block]];
}

const events = (iteration, more = {}) => ({
  index: iteration, iteration, passes: iteration, seconds: iteration.map((i) => i / 10), segment: iteration.map(() => 0),
  objective: iteration.map((i) => 1 + 1e-13 * (1000 - i)), nonzero_rows: iteration.map(() => 5), ...more,
});

test("unaligned blocks are read", () => {
  const bytes = alignedBytes([new Uint8Array(new ArrayBuffer(40), 3, 16)]);
  assert.equal(bytes.byteOffset % 8, 0);
  assert.equal(cut(bytes, ["float64", 8, 1]).length, 1);
  assert.throws(() => cut(bytes, ["complex128", 0, 1]), /unknown type complex128/);
  assert.equal(alignedBytes([]).length, 0);
});

test("frames are appended and a new epoch or stream starts afresh", () => {
  const store = new Store();
  store.takeFrame(...frame(events([0, 1, 2])));
  store.takeFrame(...frame(events([3, 4]), { total: 5, marks: [{ index: 3, iteration: 2, passes: 2, seconds: 0.2, text: "λ", kind: "lam" }] }));
  assert.deepEqual(Array.from(store.clock("iterations")), [0, 1, 2, 3, 4]);
  assert.equal(store.total, 5);
  assert.equal(store.marks.length, 1);
  store.takeFrame(...frame(events([0]), { header: { epoch: 2 } }));
  assert.deepEqual(Array.from(store.clock("seconds")), [0]);
  assert.equal(store.marks.length, 0);
  store.takeFrame(...frame(events([0, 1]), { header: { epoch: 2, stream: 2 } }));
  assert.equal(store.n, 2);
});

test("F − F* lies between two bounds, which keep differences of 1e-13 and belong to segments", () => {
  const store = new Store();
  store.takeFrame(...frame(events([0, 500, 1000], { segment: [0, 0, 1] }), { best: [1, 0.5], lower: [0.25, null] }));
  const [low, high] = [store.values("least_excess"), store.values("most_excess")];
  assert.ok(Math.abs(low[1] - 5e-11) < 1e-15);
  assert.ok(Math.abs(high[0] - 0.75) < 1e-9);
  assert.ok(Math.abs(low[2] - 0.5) < 1e-12); // measured against the other segment's best
  assert.ok(Number.isNaN(high[2])); // nothing is proved there yet
  store.best = [null];
  assert.ok(Number.isNaN(store.values("least_excess")[0]));
});

test("the bound has the denominator of the relative gap, so it never lies under what it bounds", () => {
  const store = new Store();
  const objective = [8, 2, 1];
  store.takeFrame(...frame(events([0, 1, 2], { objective, relative_gap: objective.map((F) => (F - 0.9) / F) }), { best: [1], lower: [0.9] }));
  const gap = store.values("relative_gap");
  for (let i = 0; i < 3; i++) assert.ok(gap[i] >= store.values("least_excess")[i]);
  assert.deepEqual(Array.from(store.values("most_excess")).map((v) => v.toFixed(12)), Array.from(gap).map((v) => v.toFixed(12)));
});

test("a covariance problem, whose F may be near zero, divides by no less than its kind asks for", () => {
  const store = new Store();
  store.problem = { least_scale: 1 };
  store.takeFrame(...frame(events([0, 1], { objective: [4, -0.01] }), { best: [-0.01], lower: [-0.02] }));
  assert.deepEqual(Array.from(store.values("most_excess")).map((v) => v.toFixed(12)), [(4.02 / 4).toFixed(12), (0.01).toFixed(12)]);
});

test("a band once drawn is never contradicted: new knowledge only narrows it", () => {
  const store = new Store();
  store.takeFrame(...frame(events([0, 1], { objective: [8, 4] }), { best: [4], lower: [1] }));
  const before = [Array.from(store.values("least_excess")), Array.from(store.values("most_excess"))];
  store.takeFrame(...frame(events([2], { objective: [2] }), { best: [2], lower: [1.5] }));
  const after = [store.values("least_excess"), store.values("most_excess")];
  for (const i of [0, 1]) {
    assert.ok(after[0][i] >= before[0][i]);
    assert.ok(after[1][i] <= before[1][i]);
  }
});

test("the tick stands only at the chosen goal", () => {
  const store = new Store();
  const status = { iteration: 9, gap_iteration: 5, segment: 0, objective: 2, relative_gap: 0.81 };
  const show = (lower, goal) => {
    store.takeFrame(...frame(events([9]), { status: { ...status }, best: [2], lower: [lower], header: { goal } }));
    return [proof(store), goalReached(store)];
  };
  assert.deepEqual(show(0.5, 1e-6), ["F ≤ 4.00 F* (proved at 5)", false]);
  assert.deepEqual(show(2 * (1 - 2e-4), 1e-6), ["F − F* ≤ 2.0e−4 F (proved at 5)", false]);
  assert.deepEqual(show(-1, 1e-6), ["F − F* ≤ 3.00 (proved at 5)", false]);
  assert.deepEqual(show(2 * (1 - 5e-7), 1e-6), ["✓ proved to 5.0e−7", true]);
  assert.equal(show(2 * (1 - 5e-7), null)[1], false); // the run has another goal
  assert.equal(show(null, 1e-6)[1], false);
});

test("no gap below the rounding of certificates is called proved", () => {
  const store = new Store();
  store.problem = { rounding_gap: 1e-14 };
  const status = { iteration: 9, gap_iteration: 9, segment: 0, objective: 2, relative_gap: 1e-16 };
  store.takeFrame(...frame(events([9]), { status, best: [2], lower: [2 - 5e-16], header: { goal: 1e-9 } }));
  assert.equal(store.proved(), 1e-14);
  assert.equal(proof(store), "✓ proved to 1.0e−14");
  store.takeFrame(...frame(events([10]), { status: { ...status, iteration: 10, gap_iteration: 10, relative_gap: 1e-14 }, best: [2], lower: [2 - 5e-16], header: { goal: 1e-9 } }));
  assert.equal(proof(store), "✓ proved"); // of the gap that stands beside it
});

test("old pictures are veiled while another problem is on its way", () => {
  const store = new Store();
  const preparing = { text: "preparing logistic × l1 …", shown: "squared × l1/l2 with fista", cancel: true };
  assert.equal(veilOf(store), null);
  store.takeFrame(...frame(events([79]), { status: { iteration: 79 }, header: { preparing } }));
  const veil = veilOf(store);
  assert.equal(veil.text, preparing.text);
  assert.equal(veil.shown, "What you see is still squared × l1/l2 with fista at iteration 79.");
  assert.equal(veil.cancel, true);
  store.takeFrame(...frame({}, { header: { preparing: null } }));
  assert.equal(veilOf(store), null);
});

test("the share of non-zero rows needs the problem", () => {
  const store = new Store();
  store.problem = { d: 50, feature_names: null, named: true, epoch: 1 };
  store.takeFrame(...frame(events([0])));
  assert.equal(store.values("nonzero_percent")[0], 10);
  assert.equal(store.featureName(3), null);
  store.names.set(3, "socket");
  assert.equal(store.featureName(3), "socket");
});

test("a long run is thinned: start, marks and recent events stay", () => {
  const store = new Store();
  for (let at = 0; at < 20000; at += 50) {
    const its = Array.from({ length: 50 }, (_, k) => at + k);
    store.takeFrame(...frame(events(its), { marks: at === 5000 ? [{ index: 5000, iteration: 4999, passes: 1, seconds: 1, text: "", kind: "lam" }] : [] }));
  }
  const kept = Array.from(store.column("index"));
  assert.ok(kept.length <= 2600, String(kept.length));
  assert.equal(kept[0], 0);
  assert.equal(kept[kept.length - 1], 19999);
  assert.ok(kept.includes(5000) && kept.includes(4999));
  assert.ok(kept.filter((i) => i < 100).length > 40, "the start of the curve is there");
  assert.ok(kept.every((v, k) => k === 0 || v > kept[k - 1]));
});

test("thinning prefers events with a known gap", () => {
  const index = Float64Array.from({ length: 10000 }, (_, i) => i);
  const kept = keepEvents(index, 500, (i) => i % 10 === 0, []);
  const old = kept.filter((i) => i > 100 && i < 9750);
  assert.ok(old.filter((i) => i % 10 === 0).length > 0.8 * old.length);
  assert.deepEqual(keepEvents(index.subarray(0, 5), 500, () => false, []), [0, 1, 2, 3, 4]);
});

test("the active set is kept as intervals on the three clocks", () => {
  const set = new ActiveSet();
  const clocks = [[0, 1, 2, 3], [0, 10, 20, 30], [0, 0.1, 0.2, 0.3]];
  set.take([0, 0, 2, 0, 0, 1, 1, 0], [7, 4, 7], [7], clocks);
  assert.deepEqual(set.rowOf, [7, 4]);
  assert.deepEqual(set.history(7, 0), [[1, 2, true], [3, 3, false]]);
  assert.deepEqual(set.history(4, 1), [[10, 30, false]]);
  assert.deepEqual(set.history(99, 0), []);
});

test("the raster of a frame reaches the active set", () => {
  const store = new Store();
  store.takeFrame(...frame(events([0, 1, 2]), { raster: { entered: [5, 6], left: [5], counts: [0, 0, 2, 0, 0, 1] } }));
  assert.equal(store.active.size, 2);
  assert.deepEqual(store.active.history(5, 0), [[1, 2, true]]);
});

test("the working set is followed beside the active set, and its size is a column", () => {
  const store = new Store();
  store.takeFrame(...frame(events([0, 1])));
  store.takeFrame(...frame(events([2, 3]), { working: { entered: [5, 6, 8], left: [6, 8], counts: [3, 0, 0, 2] } }));
  store.takeFrame(...frame(events([4, 5]), { working: { entered: [], left: [5], counts: [0, 0, 0, 1] } }));
  store.problem = { d: 50 };
  assert.deepEqual(store.working.history(6, 0), [[2, 3, true]]);
  assert.deepEqual(store.working.history(5, 0), [[2, 5, true]]);
  assert.equal(store.active.size, 0);
  assert.deepEqual(Array.from(store.values("working_percent")), [NaN, NaN, 6, 2, 2, NaN]);
});

test("time goes on for rows that do not change", () => {
  const store = new Store();
  store.takeFrame(...frame(events([0, 1]), { raster: { entered: [5], left: [], counts: [0, 0, 1, 0] } }));
  store.takeFrame(...frame(events([2, 3, 4])));
  assert.deepEqual(store.active.history(5, 0), [[1, 4, false]]);
});

/** Rows that came in the order given. */
function cameInOrder(rows) {
  const set = new ActiveSet();
  set.take([rows.length, 0], rows, [], [[0], [0], [0]]);
  return set;
}

test("with few features each row of the raster has its place", () => {
  const lines = new RasterLines(cameInOrder([3]), cameInOrder([1]), 10, 100);
  assert.equal(lines.byIndex, true);
  assert.equal(lines.bins, 10);
  for (let row = 0; row < 10; row++) {
    assert.equal(lines.bin(row), row);
    assert.equal(lines.row((row + 0.5) / 10), row);
  }
  assert.equal(lines.row(1), null);
  assert.equal(lines.row(-0.01), null);
});

test("the row of a sweep has a height where it has a line", () => {
  const all = new RasterLines(cameInOrder([3]), cameInOrder([1]), 10, 100);
  assert.deepEqual([0, 9, 10, null, NaN, undefined].map((row) => all.height(row)), [0.05, 0.95, null, null, null, null]);
  const some = new RasterLines(cameInOrder([70, 20]), cameInOrder([20, 500, 70, 501]), 1000, 100);
  assert.deepEqual([70, 501, 3].map((row) => some.height(row)), [0.125, 0.875, null]);
});

test("with many features the rows that were only worked on stand below those that were used", () => {
  const lines = new RasterLines(cameInOrder([70, 20]), cameInOrder([20, 500, 70, 501]), 1000, 100);
  assert.deepEqual([lines.byIndex, lines.top, lines.bottom], [false, 2, 2]);
  assert.deepEqual([70, 20, 500, 501].map((row) => lines.bin(row)), [0, 1, 2, 3]);
  assert.deepEqual([0.1, 0.3, 0.6, 0.9].map((part) => lines.row(part)), [70, 20, 500, 501]);
  assert.equal(lines.bin(999), undefined);
  const used = Array.from({ length: 400 }, (_, k) => 1000 + k);
  const tried = Array.from({ length: 900 }, (_, k) => 5000 + k);
  const many = new RasterLines(cameInOrder(used), cameInOrder([...used, ...tried]), 10000, 100);
  assert.deepEqual([many.top, many.bottom, many.bins, many.lines], [75, 25, 100, 1300]);
  assert.equal(many.sizes().reduce((a, b) => a + b), 1300);
  assert.deepEqual([many.bin(1000), many.bin(1399), many.bin(5000), many.bin(5899)], [0, 74, 75, 99]);
  for (const row of [1000, 1200, 1399, 5000, 5899]) {
    const found = many.row((many.bin(row) + 0.5) / many.bins);
    assert.equal(many.bin(found), many.bin(row));
  }
});

test("320 changes of λ in one gesture are one mark, and another gesture is another", () => {
  const store = new Store();
  const mark = (k, clock, kind = "lam") => ({ index: k, iteration: k, passes: k, seconds: k, text: `λ ${k} → ${k + 1}`, kind, clock });
  for (let k = 0; k < 320; k++) store.takeFrame(...frame({}, { marks: [mark(k, 100 + 0.03 * k)] }));
  assert.deepEqual(store.marks.map(({ text, index }) => [text, index]), [["λ 0 → 320", 319]]);
  store.takeFrame(...frame({}, { marks: [mark(400, 120), { ...mark(401, 120.1, "solver"), text: "solver a → b" }, mark(402, 120.2)] }));
  assert.deepEqual(store.marks.map(({ text }) => text), ["λ 0 → 320", "λ 400 → 401", "solver a → b", "λ 402 → 403"]);
  const old = new Store();
  old.takeFrame(...frame({}, { marks: [mark(0, 0), mark(1, 0)] }));
  assert.equal(old.marks.length, 2, "files of earlier versions do not say when");
});

test("bounds come only for segments whose bounds changed", () => {
  const store = new Store();
  store.takeFrame(...frame(events([0]), { best: [4, 3], lower: [1, null] }));
  store.takeFrame(...frame({}, { header: { bounds: [[1, 2, 0.5]] } }));
  assert.deepEqual([store.best, store.lower], [[4, 2], [1, 0.5]]);
});

test("undo takes gestures back, the last first", () => {
  const past = new Past();
  const settings = { lam_ratio: 0.1, solver: "fista" };
  for (let k = 1; k <= 50; k++) past.note(settings, { lam_ratio: 0.1 + k / 100 }, 30 * k);
  past.note({ ...settings, lam_ratio: 0.6 }, { solver: "bcd" }, 5000);
  past.note({ ...settings, lam_ratio: 0.6 }, { lam_ratio: 0.6 }, 9000); // no change at all
  past.note({ ...settings }, { unknown: 1 }, 9500);
  assert.equal(past.size, 2);
  assert.deepEqual(past.undo(), { solver: "fista" });
  assert.deepEqual(past.undo(), { lam_ratio: 0.1 });
  assert.equal(past.undo(), null);
});

test("a pinned run does not move with the one that goes on", () => {
  const store = new Store();
  store.takeFrame(...frame(events([0, 1], { objective: [4, 3] }), { best: [3], lower: [2] }));
  const ghost = store.pinned("fista");
  store.takeFrame(...frame(events([2], { objective: [2.5] }), { best: [2.5], lower: [2] }));
  assert.deepEqual(Array.from(ghost.values("objective")), [4, 3]);
  assert.deepEqual(Array.from(ghost.values("least_excess")), [0.25, 0]);
  assert.equal(store.n, 3);
});

test("a view's numbers are saved as they were measured", () => {
  const store = new Store();
  store.takeFrame(...frame(events([0, 1], { gap: [0.5, NaN] }), { best: [1] }));
  const rows = lineRows([{ column: "gap" }, { area: true, low: "least_excess", high: "most_excess" }], store);
  assert.deepEqual(rows[0], ["iteration", "passes", "seconds", "segment", "gap", "least_excess", "most_excess"]);
  assert.equal(csvText([["a,b", 'c"d', NaN, 0.1]]), '"a,b","c""d",,0.1\r\n');
  assert.equal(csvText(rows).split("\r\n")[2].split(",")[4], "", "nothing is written where nothing was measured");
});

test("a share that a solver reports is drawn in percent, whatever its name", () => {
  const store = new Store();
  const [header, bytes] = frame({ index: [0, 1], iteration: [0, 1], passes: [0, 1], seconds: [0, 1], objective: [2, 1], longer_share: [0.25, 0.5] });
  store.takeFrame(header, bytes);
  assert.deepEqual([...store.values("100*longer_share")], [25, 50]);
  assert.equal(store.values("100*unknown_share"), null);
});
