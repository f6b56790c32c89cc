// Lines show what was measured, and nothing else.
import assert from "node:assert/strict";
import { test } from "node:test";

const { BRIDGE, FEW, LINE, NONE, band, noPaths, noPoints, paths, tenth, track } = await import(process.env.STATIC + "/charts/strokes.js");
const { knownAt, nearest, readings } = await import(process.env.STATIC + "/charts/readout.js");

const all = () => true;
const same = () => 0;
const range = (n) => Float64Array.from({ length: n }, (_, i) => i);

function sparse(n, known) {
  const values = new Float64Array(n).fill(NaN);
  for (const [i, value] of Object.entries(known)) values[i] = value;
  return values;
}

test("4507 iterations with three gaps are no line", () => {
  const values = sparse(4507, { 0: 1, 1: 0.9, 5: 0.5, 432: 0.1, 4506: 1e-6 });
  const found = track(values, range(4507), range(4507), same, all);
  assert.deepEqual(found.at, [0, 1, 5, 432, 4506]);
  assert.deepEqual(found.link, [NONE, LINE, LINE, BRIDGE, BRIDGE]);
  const drawn = paths(found, (x) => x / 10, (y) => 100 * (1 - y), 450);
  assert.equal(drawn.line.match(/M/g).length, 3, "pieces: 0 … 5, 432, 4506");
  assert.equal(drawn.bridge.match(/L/g).length, 2);
  assert.equal(drawn.dots.match(/M/g).length >= 3, true, "a measurement that stands alone has a marker");
});

test("a few iterations without a measurement are crossed by the line", () => {
  for (const [missing, link] of [[FEW, LINE], [FEW + 1, BRIDGE]]) {
    const found = track(sparse(missing + 2, { 0: 1, [missing + 1]: 2 }), range(missing + 2), range(missing + 2), same, all);
    assert.deepEqual(found.link, [NONE, link]);
  }
});

test("events that were left out to save room are no missing measurements", () => {
  const found = track(Float64Array.from([3, 2, 1]), range(3), Float64Array.from([0, 500, 1000]), same, all);
  assert.deepEqual(found.link, [NONE, LINE, LINE]);
  assert.equal(found.dense, true);
  assert.equal(paths(found, (x) => 10 * x, (y) => y, 100).dots, "");
});

test("a line ends where the problem changes", () => {
  const found = track(range(4), range(4), range(4), (i) => (i < 2 ? 0 : 1), all);
  assert.deepEqual(found.link, [NONE, LINE, NONE, LINE]);
  assert.deepEqual(paths(found, (x) => 10 * x, (y) => y, 40).line.match(/[ML]/g), ["M", "L", "M", "L"]);
});

test("markers give way to the line where they would touch, but not those that stand alone", () => {
  const every = (step, n) => sparse(n, Object.fromEntries(Array.from({ length: n / step }, (_, i) => [step * i, 1])));
  const joined = track(every(4, 400), range(400), range(400), same, all);
  assert.equal(paths(joined, (x) => x, (y) => y, 400).dots, "");
  assert.equal(paths(joined, (x) => 3 * x, (y) => y, 1200).dots.match(/M/g).length, 100);
  const alone = track(every(5, 500), range(500), range(500), same, all);
  assert.equal(paths(alone, (x) => x, (y) => y, 500).dots.match(/M/g).length, 100);
});

test("a line that goes on from the last frame is the line drawn anew", () => {
  let state = 1;
  const random = () => (state = (1103515245 * state + 12345) % 2147483648) / 2147483648;
  const n = 600;
  const values = Float64Array.from({ length: n }, () => (random() < 0.3 ? NaN : random() < 0.02 ? -1 : random()));
  const clock = Float64Array.from({ length: n }, (_, i) => (random() < 0.05 ? NaN : i / 7));
  const piece = (i) => Math.floor(i / 150);
  const shown = (value) => value > 0;
  const [px, py] = [(x) => 3 * x, (y) => 40 * y];
  const [points, begun] = [noPoints(), noPaths()];
  for (let seen = 0; seen <= n; seen += Math.ceil(9 * random())) {
    const here = [values.subarray(0, seen), clock.subarray(0, seen), range(seen), piece, shown];
    const [going, anew] = [track(...here, points), track(...here)];
    assert.deepEqual(going, anew);
    if (points.dense) continue; // markers come with the first event that was not measured: all is drawn anew
    assert.deepEqual(paths(going, px, py, 260, begun), paths(anew, px, py, 260), `after ${seen} events`);
  }
  assert.ok(points.link.includes(BRIDGE) && points.link.includes(LINE) && begun.next > 300);
});

test("pixels are written as toFixed writes them, halves too", () => {
  for (let k = -2000; k < 20000; k++) for (const pixel of [k / 80, k * 2.6875, k / 20, k * 0.0499999]) assert.equal(Number(tenth(pixel)), Number(pixel.toFixed(1)) + 0, String(pixel));
  assert.equal(tenth(1e6), "1000000.0");
});

test("the band reaches the foot of a log axis where the lower side is zero, and ends with the problem", () => {
  const shown = (value) => value > 1e-17;
  const found = band(Float64Array.from([2, 0, 1]), Float64Array.from([4, 3, 2]), range(3), (i) => (i < 2 ? 0 : 1), shown, (x) => x, (y) => 10 - y, 10);
  assert.deepEqual(found.y, [4, 3, 2]);
  assert.equal(found.area, "M0.0,6.0L1.0,7.0L1.0,10.0L0.0,8.0ZM2.0,8.0L2.0,9.0Z");
  assert.equal(found.edge, "M0.0,6.0L1.0,7.0M2.0,8.0");
  const unknown = band(Float64Array.from([1]), Float64Array.from([NaN]), range(1), same, (v) => v > 0, (x) => x, (y) => y, 1);
  assert.equal(unknown.area, "");
});

test("the cursor reads what was measured, and says when", () => {
  const columns = { gap: sparse(6, { 1: 0.5 }), F: range(6), iteration: range(6), segment: Float64Array.from([0, 0, 0, 0, 1, 1]) };
  const store = { column: (name) => columns[name], values: (name) => columns[name] || null };
  assert.deepEqual(knownAt(columns.gap, columns.segment, 3), [0.5, 1]);
  assert.equal(knownAt(columns.gap, columns.segment, 5), null, "nothing was measured of this problem yet");
  assert.equal(nearest(columns.F, 2.4), 2);
  const entries = [{ label: "F", column: "F" }, { label: "gap", column: "gap" }, { label: "x", column: "none" }];
  assert.deepEqual(readings(entries, store, 3), ["F 3", "gap 0.5 (at 1)"]);
  assert.deepEqual(readings(entries, store, 5), ["F 5"]);
});
