// A recording plays what was recorded: stretches of events, the newest known values, weights as they were kept.
import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.performance ??= { now: () => 0 };
const { Pack, arranged, pictureAt, weightOf } = await import(process.env.STATIC + "/replay/weights.js");
const { statusAt, stretch } = await import(process.env.STATIC + "/replay/events.js");
const { Player } = await import(process.env.STATIC + "/replay/player.js");
const { Store } = await import(process.env.STATIC + "/store.js");

/** A recording of four events in two segments, with weights at the first and the third. */
function recorded() {
  const pack = new Pack();
  const column = (name, values, Type = Float64Array) => [name, ...pack.add(Type.from(values))];
  const columns = [
    column("index", [0, 1, 5, 6]), column("iteration", [0, 1, 5, 6]), column("passes", [0, 1, 5, 6]), column("seconds", [0, 1, 5, 6]),
    column("objective", [4, 3, 2, 1]), column("segment", [0, 0, 0, 1], Int32Array), column("relative_gap", [0.5, NaN, 0.25, NaN], Float32Array),
    column("gap", [2, NaN, 0.5, NaN], Float32Array),
  ];
  const rows = (values) => pack.add(Int32Array.from(values));
  const raster = { counts: rows([0, 0, 2, 0, 1, 1, 0, 0]), entered: rows([3, 1, 2]), left: rows([3]) };
  const proved = { best: pack.add(Float64Array.of(4, 3, 2, 1)), lower: pack.add(Float64Array.of(2, 2, 1.5, NaN)) };
  const measured = { relative_gap: pack.add(Float64Array.of(1, 2, 3, 3)) };
  const kinds = (cells, values, shown) => ({
    matrix: { kind: "matrix", sort: "norm", scale: 1, shape: [2, 2], cells: pack.add(Int8Array.from(cells)), rows: rows(shown), norms: pack.add(Float32Array.of(2, 1)), values: pack.add(Float32Array.from(values)), nonzero: 2, binned: 1, blocks: null, classes: null, used: 0, together: 1 },
  });
  const words = () => ({ words: rows([1]), word_norms: pack.add(Float32Array.of(2)), word_classes: rows([0]), word_values: pack.add(Float32Array.of(2)) });
  const pictures = [
    { index: 0, iteration: 0, kinds: kinds([1, 2, 3, 4], [1, 2, 3, 4], [1, 3]), words: words(), nonzero: 2 },
    { index: 5, iteration: 5, strip: { features: rows([0, 1]), levels: pack.add(Float32Array.of(0.5, 0.1)), norms: pack.add(Float32Array.of(1, 0)), states: pack.add(Int8Array.of(2, 0)), counts: [1, 0, 1], binned: 1, lam: 0.25, gap: 1e-3, reason: "" }, kinds: kinds([5, 6, 7, 8], [5, 6, 7, 8], [2, 1]), words: words(), nonzero: 2 },
  ];
  const marks = [{ index: 3, iteration: 3, passes: 3, seconds: 3, text: "λ", kind: "lam", clock: 0 }];
  const run = { count: 4, total: 7, columns, raster, working: null, bounds: [[0, 2, 1.5, 1.6, 1.7], [1, 1, null, null, null]], marks, proved, measured };
  const header = {
    title: "t", said: "s", left_out: [], lams: [0.5, 0.25], names: {}, settings: {}, run, pictures,
    looks: { confusion: { reason: "", right: 3 }, misread: [{ true: 0, found: 1, samples: [] }] },
    problem: { type: "problem", epoch: 1, kind: "prediction", d: 5, m: 2, named: true, feature_names: ["e", "d", "c", "b", "a"], reported: [] },
  };
  return { header, bytes: pack.bytes() };
}

function listening(player) {
  const said = [];
  player.receive = (message) => said.push(message);
  return said;
}

globalThis.window = { matchMedia: () => ({ matches: false }) };
globalThis.cancelAnimationFrame = () => {};

test("stretches of events put together are the whole run", () => {
  const { header, bytes } = recorded();
  for (const cuts of [[0, 4], [0, 1, 4], [0, 2, 3, 4], [0, 1, 2, 3, 4]]) {
    const store = new Store();
    for (let k = 1; k < cuts.length; k++) {
      store.takeFrame({ ...new Player(header, bytes).base(), epoch: 1, stream: 1, ...stretch(header.run, bytes, cuts[k - 1], cuts[k]) }, [bytes]);
    }
    assert.deepEqual(Array.from(store.column("objective")), [4, 3, 2, 1]);
    assert.deepEqual(store.active.rowOf, [3, 1, 2]);
    assert.deepEqual(Array.from(store.active.open.keys()), [1, 2], "row 3 has left");
    assert.equal(store.marks.length, 1);
    assert.deepEqual([store.best, store.lower], [[2, 1], [1.5, null]]);
    assert.equal(store.total, 7);
  }
});

test("no more is proved than was known at the event", () => {
  const { header, bytes } = recorded();
  assert.deepEqual(stretch(header.run, bytes, 0, 2).bounds, [[0, 3, 2, 1.6, 1.7]]);
  assert.deepEqual(stretch(header.run, bytes, 2, 4).bounds, [[0, 2, 1.5, 1.6, 1.7], [1, 1, null, null, null]]);
});

test("values that were not measured are the newest known ones of their segment", () => {
  const { header, bytes } = recorded();
  const player = new Player(header, bytes);
  const status = (at) => statusAt(player.columns, player.measured, at);
  assert.deepEqual([status(1).relative_gap, status(1).gap_iteration, status(1).measured.relative_gap], [0.5, 0, 2]);
  assert.deepEqual([status(2).relative_gap, status(2).gap_iteration], [0.25, 5]);
  assert.deepEqual([status(3).relative_gap, status(3).gap_iteration, status(3).segment], [null, null, 1]);
});

test("weights are those of the newest recorded picture, exact where they were kept", () => {
  const { header, bytes } = recorded();
  assert.deepEqual([0, 4, 5, 9].map((index) => pictureAt(header.pictures, index).iteration), [0, 0, 5, 5]);
  const [, second] = header.pictures;
  assert.deepEqual([weightOf(second, bytes, 2, 1), weightOf(second, bytes, 1, 0), weightOf(second, bytes, 4, 0)], [6, 7, 0]);
  const without = { ...second, kinds: { matrix: { ...second.kinds.matrix, values: null } } };
  assert.equal(weightOf(without, bytes, 2, 1), null, "not recorded");
});

test("a picture is sorted, cut to a window, and shows the row of the inspector", () => {
  const { header, bytes } = recorded();
  const names = header.problem.feature_names;
  const shown = (wish, sort) => {
    const pack = new Pack();
    const picture = arranged(header.pictures[1], bytes, { mode: "matrix", zoom: null, row: null, ...wish }, sort, (row) => names[row], pack);
    const block = pack.bytes();
    return { ...picture, cells: Array.from(new Int8Array(block.buffer, picture.cells[1], picture.cells[2])), rows: Array.from(new Int32Array(block.buffer, picture.rows[1], picture.rows[2])) };
  };
  assert.deepEqual(shown({}, "norm").rows, [2, 1]);
  assert.deepEqual(shown({}, "block").cells, [7, 8, 5, 6]);
  assert.deepEqual(shown({}, "name").rows, [2, 1]);
  assert.deepEqual(shown({ zoom: [1, 2, 1, 2] }, "norm").cells, [8]);
  const seen = shown({ row: 1 }, "norm");
  assert.deepEqual([seen.row_values, seen.row_nonzero, seen.row_norm], [[7, 8], 2, Math.hypot(7, 8)]);
  assert.deepEqual(shown({ row: 0 }, "norm").row_values, [0, 0]);
});

test("a recording opens at its end, goes back and forward, and starts again", () => {
  const { header, bytes } = recorded();
  const player = new Player(header, bytes);
  const said = listening(player);
  player.open();
  const frames = () => said.filter((message) => message.type === "frame" && message.count);
  assert.deepEqual(said.map((message) => message.type).slice(0, 2), ["problem", "controls"]);
  assert.deepEqual([frames()[0].count, frames()[0].mode, frames()[0].lam], [4, "finished", 0.25]);
  player.do({ id: "1", action: "reset" });
  assert.deepEqual([player.sent, frames()[1].count, frames()[1].lam], [1, 1, 0.5]);
  assert.ok(frames()[1].stream > frames()[0].stream, "the page forgets what it had");
  player.do({ id: "2", action: "step", n: 2 });
  assert.deepEqual([player.sent, frames()[2].start, frames()[2].count], [3, 1, 2]);
  player.do({ id: "3", action: "step", n: 10 });
  assert.equal(player.sent, 4);
  player.look({ mode: "matrix", zoom: null, row: null, at: 1 });
  assert.equal(said.at(-1).picture.iteration, 0);
  globalThis.requestAnimationFrame = () => 0;
  player.do({ id: "4", action: "run" });
  assert.deepEqual([player.playing, player.sent], [true, 2], "plays on from where one looks");
  player.do({ id: "5", action: "pause" });
  assert.equal(player.playing, false);
});

test("the strip that was recorded is shown with its own iteration, and none before it", () => {
  const { header, bytes } = recorded();
  const player = new Player(header, bytes);
  const said = listening(player);
  player.open();
  const strip = () => said.filter((message) => message.strip).at(-1).strip;
  assert.deepEqual([strip().iteration, strip().words_iteration, strip().lam, strip().counts], [5, 5, 0.25, [1, 0, 1]]);
  player.seek(1);
  assert.deepEqual([strip().words_iteration, strip().reason], [0, "It was not recorded here."]);
});

test("questions about the data are answered from the file, or it says that they cannot be", () => {
  const { header, bytes } = recorded();
  const player = new Player(header, bytes);
  const said = listening(player);
  player.answer({ id: "a", kind: "confusion" });
  player.answer({ id: "b", kind: "spectrum" });
  player.answer({ id: "c", kind: "misread", true: 0, found: 1 });
  player.answer({ id: "d", kind: "misread", true: 1, found: 0 });
  assert.equal(said[0].right, 3);
  assert.match(said[1].error, /not recorded/);
  assert.deepEqual(said[2].samples, []);
  assert.match(said[3].error, /were not recorded/);
});
