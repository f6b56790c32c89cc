// What charts compute before they draw: ticks, axes, marks, numbers.
import assert from "node:assert/strict";
import { test } from "node:test";

const format = await import(process.env.STATIC + "/charts/format.js");
const { TimeAxis } = await import(process.env.STATIC + "/charts/timeaxis.js");
const { groupMarks, mergeTexts } = await import(process.env.STATIC + "/charts/marks.js");
const { answerLines, blockName, classSpan, runs, windowOf } = await import(process.env.STATIC + "/charts/cells.js");
const { largest } = await import(process.env.STATIC + "/inspector.js");
const { endLabels, seedBands } = await import(process.env.STATIC + "/charts/lanes.js");
const { pushApart } = await import(process.env.STATIC + "/charts/linelabels.js");
const { plainSymbols } = await import(process.env.STATIC + "/dom.js");
const { Palette } = await import(process.env.STATIC + "/charts/palette.js");

test("sentences have real minus signs and lowered letters, and names stay as they are", () => {
  assert.equal(plainSymbols("breast_cancer at 0.1 λ_max, gap 1e-4, from -0.01 to 0.5"), "breast_cancer at 0.1 λmax, gap 1e−4, from −0.01 to 0.5");
  assert.equal(plainSymbols("bcd-ls: K_j of prox_{τΩ}, n_rows, (-2)"), "bcd-ls: Kj of proxτΩ, n_rows, (−2)");
});

test("the band over seeds holds every run at every time, and its steps hold until the next measurement", () => {
  const run = (points) => ({ name: "fobos", colour: "#000", points });
  const [first, second] = seedBands([run([[0, 8], [2, 4], [4, 1]]), run([[0, 8], [1, 2], [3, 3]])]);
  assert.ok(first.thin && second.thin && second.band === null, "one band for all seeds, drawn once");
  assert.deepEqual(first.band, [[0, 8, 8], [1, 2, 8], [2, 2, 4], [3, 3, 4], [4, 1, 3]]);
  for (const lane of [first, second]) {
    for (const [x, y] of lane.points) {
      const [, low, high] = first.band.filter(([at]) => at <= x).pop();
      assert.ok(low <= y && y <= high);
    }
  }
  const [alone] = seedBands([run([[0, 1], [1, 0.5]])]);
  assert.ok(!alone.thin && alone.band === undefined, "one seed is a line");
  const long = Array.from({ length: 2000 }, (_, k) => [k, 2000 - k]);
  const [thinned] = seedBands([run(long), run(long.map(([x, y]) => [x, 2 * y]))]);
  assert.ok(thinned.band.length <= 502);
  assert.deepEqual(thinned.band[thinned.band.length - 1], [1999, 1, 2], "the last place is never left out");
});

test("names at the ends of lines neither overlap nor leave the picture", () => {
  const made = [];
  globalThis.document = { createElementNS: () => ({ setAttribute(name, value) { this[name] = value; }, append() {} }) };
  made.push(...endLabels([30, 20, 16, 14, 12].map((y, k) => ({ x: 400, y, colour: "#000", text: "lane" + k })), 100).map((node) => Number(node.y)));
  assert.ok(made.every((y) => y >= 12), String(made));
  made.sort((a, b) => a - b).forEach((y, k) => assert.ok(!k || y - made[k - 1] >= 14, String(made)));
});

test("the name of a line that ended early does not lie over a line that goes on, where there is room", () => {
  globalThis.document = { createElementNS: () => ({ setAttribute(name, value) { this[name] = value; }, append() {} }) };
  const on = [[0, 90], [300, 100], [600, 104]];
  const label = (lines) => Number(endLabels([{ x: 200, y: 96, colour: "#000", text: "pd-sparse" }], 100, lines)[0].y);
  assert.equal(label([]), 100, "beside its end where nothing is in the way");
  const y = label([on]);
  assert.ok(y < 96 - 2 || y - 12 > 101, `moved off the line: ${y}`);
  assert.ok(Math.abs(y - 96) <= 48, "but not far from its end");
  const pair = endLabels([{ x: 200, y: 95, colour: "#000", text: "F" }, { x: 200, y: 96, colour: "#000", text: "D" }], 100, [on]);
  const [lower, upper] = pair.map((node) => Number(node.y));
  assert.ok(upper <= lower - 14, `the upper line has the upper name: ${upper}, ${lower}`);
  const full = Array.from({ length: 40 }, (_, k) => [[0, 8 * k], [600, 8 * k]]);
  assert.equal(label(full), 100, "where lines are everywhere it stays at its end");
});

test("numbers keep their width", () => {
  assert.equal(format.count(14203), "14\u202f203");
  assert.equal(format.count(NaN), "–");
  assert.equal(format.scientific(0.000213), "2.1e−4");
  assert.equal(format.number(0.41237123, 5), "0.41237");
  assert.equal(format.number(3.0085, 5), "3.0085");
  assert.equal(format.number(-12.5, 4), "−12.50");
  assert.equal(format.number(0, 3), "0");
  assert.equal(format.powerOfTen(-12), "10⁻¹²");
  assert.equal(format.seconds(2.379), "2.38\u202fs");
});

test("an iteration that is under way has decimals, and is never rounded up to the next", () => {
  assert.equal(format.iterations(14203), "14\u202f203");
  assert.equal(format.iterations(3.25), "3.25");
  assert.equal(format.iterations(0.998), "0.99");
  assert.equal(format.iterations(NaN), "–");
});

test("ticks lie inside, and no range makes a loop without end", () => {
  assert.deepEqual(format.linearTicks(0, 100, 5), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(format.logTicks(1e-6, 1, 7), [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1].map((v) => 10 ** Math.round(Math.log10(v))));
  assert.ok(format.logTicks(1e-15, 100, 7).length <= 7);
  assert.deepEqual(format.logTicks(2, 30, 8), [2, 5, 10, 20]);
  for (const [low, high] of [[0, 1], [-1, 1], [1, 1], [NaN, 1], [1, Infinity], [5, 2]]) {
    assert.deepEqual(format.logTicks(low, high, 5), []);
  }
  assert.deepEqual(format.linearTicks(1, 1, 5), []);
  assert.deepEqual(format.linearTicks(0, NaN, 5), []);
});

test("an axis reads the same way in one chart", () => {
  assert.deepEqual(format.tickTexts([1e-3, 1e-2, 0.1, 1]), ["10⁻³", "10⁻²", "10⁻¹", "1"]);
  assert.deepEqual(format.tickTexts([0.02, 0.05, 0.1]), ["0.02", "0.05", "0.1"]);
  assert.deepEqual(format.tickTexts([0, 50000]), ["0", "50k"]);
  assert.deepEqual(format.tickTexts([0.005, 0.01]), ["5·10⁻³", "0.01"]);
});

test("events within the first sweep have the room of one iteration", () => {
  const axis = new TimeAxis();
  axis.follow(Float64Array.from([0]));
  assert.deepEqual(axis.range, [0, 20]);
  axis.follow(Float64Array.from([0, 0.25, 0.5]));
  assert.deepEqual(axis.range, [0, 1]);
  axis.follow(Float64Array.from([0, 0.25, 0.5, 1, 1.25]));
  assert.deepEqual(axis.range, [0, format.roundUp(1.25)]);
  axis.follow(Float64Array.from([0, 1, 1.5]));
  assert.deepEqual(axis.range, [0, 20], "watched from a later iteration on");
});

test("the time axis grows in steps, follows a zoom and goes back", () => {
  const axis = new TimeAxis();
  axis.follow(Float64Array.from([0, 1, 33]));
  assert.deepEqual(axis.range, [0, 40]);
  const version = axis.version;
  axis.follow(Float64Array.from([0, 1, 39]));
  assert.equal(axis.version, version);
  axis.setZoom([10, 20]);
  axis.follow(Float64Array.from([0, 1, 80]));
  assert.deepEqual(axis.range, [10, 20]);
  assert.equal(axis.part(15), 0.5);
  axis.setZoom(null);
  axis.configure("iterations", true);
  axis.follow(Float64Array.from([0, 1, 100]));
  assert.deepEqual(axis.range, [1, 100]);
  assert.ok(Math.abs(axis.part(10) - 0.5) < 1e-12);
  assert.ok(Math.abs(axis.value(0.5) - 10) < 1e-9);
  axis.follow(null);
  assert.ok(axis.range[0] > 0);
});

test("marks that touch are put together, each line stays", () => {
  assert.equal(mergeTexts("λ 1e-2 → 9e-3", "λ 9e-3 → 3e-3"), "λ 1e-2 → 3e-3");
  assert.equal(mergeTexts("note", "note"), "note");
  const mark = (x, kind, text) => ({ x, kind, text });
  const marks = [mark(10, "lam", "λ 1 → 2"), mark(12, "lam", "λ 2 → 3"), mark(13, "solver", "solver a → b"), mark(200, "lam", "λ 3 → 4"), mark(-5, "lam", "gone")];
  const groups = groupMarks(marks, (m) => (m.x < 0 ? null : m.x));
  assert.deepEqual(groups.map((g) => g.text), ["λ 1 → 3, solver a → b", "λ 3 → 4"]);
  assert.deepEqual(groups[0].lines, [10, 12, 13]);
  assert.equal(marks[0].text, "λ 1 → 2"); // the marks themselves are not changed
});

test("a weight that is not zero never has the colour of zero", () => {
  for (const theme of ["light", "dark"]) {
    const palette = new Palette(theme);
    assert.notEqual(palette.pixel(1), palette.pixel(0));
    assert.notEqual(palette.pixel(-1), palette.pixel(0));
    assert.notEqual(palette.pixel(127), palette.pixel(-127));
    const step = (strong) => Math.abs((palette.pixel(2, strong) & 255) - (palette.pixel(0, strong) & 255));
    assert.ok(step(true) > 2 * step(false)); // where few cells are lit
  }
});

test("value axes are round, and empty charts have one too", async () => {
  const { decades, lastInView, shares, span } = await import(process.env.STATIC + "/charts/ranges.js");
  assert.deepEqual(decades([Infinity, -Infinity]), [1e-3, 1]);
  assert.deepEqual(decades([2e-5, 4]), [1e-6, 10]);
  assert.deepEqual(shares([Infinity]), [0, 1.02]);
  assert.ok(shares([0.83])[0] <= 0.83 && shares([0.83])[0] >= 0.7);
  assert.deepEqual(span([Infinity, -Infinity]), [0, 1]);
  assert.deepEqual(span([0.2, 3.5]), [0, 4]);
  assert.equal(lastInView({ x: [1, 2, 3], y: [5, 6, 7] }, 2.5), 6);
  assert.ok(Number.isNaN(lastInView({ x: [], y: [] }, 2.5)));
});

test("blocks that stand together are one stretch, and are called by their name or number", () => {
  assert.deepEqual(runs(Int32Array.of(4, 4, 0, 2, 2, 2)), [
    { block: 4, start: 0, stop: 2 }, { block: 0, start: 2, stop: 3 }, { block: 2, start: 3, stop: 6 },
  ]);
  assert.deepEqual(runs(Int32Array.of()), []);
  assert.equal(blockName({ block_names: { 2: "gene_" } }, 2), "gene_");
  assert.equal(blockName({ block_names: null }, 7), "block 7");
});

test("columns stand for classes, and a box that is drawn for rows and classes", () => {
  const all = { classes: null, binned: 1, together: 1 };
  assert.deepEqual(classSpan(all, 3, 20), [3, 4]);
  assert.deepEqual(windowOf(all, [2, 5, 0, 3], null, 20), [2, 6, 0, 4]);
  const shared = { classes: Int32Array.of(0, 7, 30), binned: 2.5, together: 4 };
  assert.deepEqual(classSpan(shared, 1, 90), [7, 30]);
  assert.deepEqual(classSpan(shared, 2, 90), [30, 90]);
  assert.deepEqual(windowOf(shared, [1, 2, 1, 1], null, 90), [2, 8, 7, 30]);
  assert.deepEqual(windowOf(shared, [0, 0, 2, 2], [10, 20, 0, 40], 90), [10, 13, 30, 40]);
  const chosen = { classes: Int32Array.of(4, 9), binned: 1, together: 1 }; // those between have no weights
  assert.deepEqual(windowOf(chosen, [0, 0, 0, 1], null, 90), [0, 1, 4, 10]);
});

test("what hovering says of a cell that stands for many weights", () => {
  const answer = { row: 3, name: "word", value: -0.5, iteration: 7, block: null };
  assert.deepEqual(answerLines(answer, "topic", true), ["word → topic", "weight −0.500000 (iteration 7)", "the largest of those put together here"]);
  assert.equal(answerLines({ ...answer, block: "genes", block_norm: 2 }, "topic", false)[2], "genes: norm 2 in this class");
});

test("the inspector lists few classes as they are, of many the largest weights and no zeros", () => {
  assert.deepEqual(largest([0, -1], null, 1, 2), { shown: [[0, 0], [-1, 1]], more: 0, zero: 0 });
  const found = largest([1, 0, -3, 2], [5, 6, 70, 80], 9, 1000, 2);
  assert.deepEqual(found, { shown: [[-3, 70], [2, 80]], more: 7, zero: 991 });
  assert.deepEqual(largest([], null, 0, 500), { shown: [], more: 0, zero: 500 });
});

test("names of lines that end in the corner stand above the numbers of the axis and do not touch", () => {
  const placed = [{ y: 200 }, { y: 199 }, { y: 40 }, { y: 198 }];
  pushApart(placed, 200);
  const ys = placed.map(({ y }) => y);
  assert.equal(ys[0], 40, "one with room stays where its line ends");
  assert.ok(Math.max(...ys) + 7.5 < 200 + 7, "half a name is above the number, which begins 7 pixels below the axis");
  for (let k = 1; k < ys.length; k++) assert.ok(ys[k] - ys[k - 1] >= 15);
});
