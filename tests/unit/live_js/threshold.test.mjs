// The threshold strip: where dots stand, what the axis shows, and the first minute.
import assert from "node:assert/strict";
import { test } from "node:test";

const { ThresholdChart, clearOfBar, crosses, levelRange, placeOfName, stand, stripSentence, tooNear } = await import(process.env.STATIC + "/charts/threshold.js");
const { suggestion } = await import(process.env.STATIC + "/advice.js");
const { ratioAt } = await import(process.env.STATIC + "/watch.js");

const strip = {
  features: Int32Array.from([2, 5, 9, 40]), levels: Float32Array.from([0.5, 0.1, 0.1, 0.02]),
  norms: Float32Array.from([0, 3, 1, 0]), states: Int8Array.from([0, 2, 2, 1]), counts: [1, 1, 2],
};
const area = { left: 10, top: 0, width: 400, height: 100 };
const part = (level) => Math.log10(level / 0.01) / 2;

test("a dot stands at its level, a row that is in is lifted above the bar by its norm", () => {
  const [open, strong, weak, out] = stand(strip, area, "index", part, 0.1);
  const at = (level) => 100 * (1 - part(level));
  assert.ok(Math.abs(open.y - at(0.5)) < 1e-4 && Math.abs(out.y - at(0.02)) < 1e-4);
  assert.equal(strong.foot, at(0.1));
  assert.ok(strong.y < weak.y && weak.y < at(0.1), "the larger norm is higher");
  assert.ok(Math.abs((at(0.1) - strong.y) - 3 * (at(0.1) - weak.y)) < 1e-9, "in proportion");
  assert.deepEqual([open.x, strong.x, weak.x, out.x], [60, 160, 260, 360]);
});

test("by level the dots fall from left to right", () => {
  const dots = stand({ ...strip, levels: Float32Array.from([0.02, 0.5, 0.1, 0.3]) }, area, "level", part, 0.1);
  assert.deepEqual(dots.map((dot) => dot.x), [360, 60, 260, 160]);
});

test("the axis holds λ, λ_max and most levels, and stays calm", () => {
  const [low, high] = levelRange([0.5, 0.1, 0.02, 0], 0.1, 0.6);
  assert.ok(low <= 0.02 && high > 0.6);
  assert.deepEqual(levelRange([0.5, 0.1, 0.0201, 0], 0.1, 0.6), [low, high]);
  assert.ok(levelRange([], 0.1, 1)[0] <= 0.05);
  assert.ok(levelRange([1e-30], 0.1, 1)[0] >= 1e-6, "rounding does not stretch it");
  assert.ok(levelRange([Infinity, 0.1], 0.1, null)[1] < 10, "a penalty without a λ_max");
});

test("no number of the axis lies under that of λ, which is 18 pixels high beside one of 11", () => {
  assert.deepEqual([80, 86, 100, 114, 120].map((y) => clearOfBar(y, 100)), [true, false, false, false, true]);
});

test("the words below the axis have the colour of words, whatever the last tick was", () => {
  for (const lam of [0.1, 0.99]) { // the second hides the number of the highest tick, whose line has another colour
    const written = {}, kept = [];
    const context = {
      save() { kept.push(this.fillStyle); }, restore() { this.fillStyle = kept.pop(); }, translate() {}, rotate() {}, fillRect() {},
      measureText: () => ({ width: 1 }),
      fillText(text) { written[text] = this.fillStyle; },
    };
    const palette = { colour: (name) => name };
    const store = { problem: { d: 4 }, strip: { binned: 1 } };
    const chart = { context: { palette, store }, range: [0.01, 1], part, order: "level" };
    ThresholdChart.prototype.drawAxis.call(chart, context, area, lam);
    assert.equal(written["features by level"], "muted");
  }
});

test("the strip says what is known", () => {
  assert.equal(stripSentence(strip), "2 in · 1 may enter · 1 proved out");
});

test("one suggestion at a time, taken back once it was followed", () => {
  const store = { status: { iteration: 0 }, problem: { kind: "prediction" }, marks: [] };
  assert.equal(suggestion(store, false), "");
  store.status.iteration = 3;
  assert.equal(suggestion({ ...store, mode: "running" }, false), "Try: drag λ while it runs.");
  assert.equal(suggestion({ ...store, mode: "finished" }, false), "Try: drag λ and run on.");
  assert.match(suggestion({ ...store, problem: { kind: "sequence" } }, false), /drag the ridge of a stage/); // it has no λ
  store.marks.push({ kind: "lam" });
  assert.match(suggestion(store, false), /another method/);
  store.marks.push({ kind: "solver" });
  assert.match(suggestion(store, false), /click a feature/);
  assert.equal(suggestion(store, true), "");
});

test("λ falls by the same factor in every second", () => {
  assert.equal(ratioAt(0), 1);
  assert.ok(Math.abs(ratioAt(0.5) ** 2 - ratioAt(1)) < 1e-12);
  assert.equal(ratioAt(2), ratioAt(1));
});

test("two names on one line keep a distance, and one above the other none", () => {
  const path = { left: 100, right: 130, y: 40 };
  const beside = (left, y = 40) => ({ left, right: left + 30, y });
  assert.ok(tooNear(path, beside(133)) && tooNear(beside(133), path), "a narrow gap reads as one word");
  assert.ok(tooNear(path, beside(67)) && tooNear(path, beside(110, 45)));
  assert.ok(!tooNear(path, beside(140)) && !tooNear(path, beside(60)) && !tooNear(path, beside(110, 54)));
});

test("a name stands off the lines of other dots where it can, and never over a dot or another name", () => {
  const dot = (k, x, y) => ({ k, x, y, foot: 80 });
  const own = dot(0, 100, 40);
  const place = (dots, taken = []) => placeOfName(own, 60, area, taken, [own, ...dots]);
  const at = (found) => [found.left, found.y];
  const [right, left, above] = [[108, 40], [32, 40], [70, 27]];
  assert.deepEqual(at(place([])), right);
  assert.deepEqual(at(place([dot(1, 140, 60)])), right, "a lower dot is not in the way");
  assert.ok(crosses({ left: 108, right: 168, y: 40 }, dot(1, 140, 30)), "the line of a higher one is");
  assert.deepEqual(at(place([dot(1, 140, 30)])), left);
  assert.deepEqual(at(place([dot(1, 140, 38), dot(2, 60, 38)])), above);
  assert.deepEqual(at(place([dot(1, 140, 10), dot(2, 60, 10), dot(3, 101, 10)])), right, "nowhere is free: over a line");
  assert.deepEqual(at(place([dot(1, 140, 40), dot(2, 60, 10), dot(3, 101, 10)])), left, "and never over a dot");
  assert.equal(place([dot(1, 140, 40), dot(2, 60, 40), dot(3, 101, 27)]), null);
  assert.deepEqual(at(place([], [{ left: 150, right: 200, y: 42 }])), left);
  assert.equal(place([], [{ left: 20, right: 200, y: 34 }]), null);
  assert.deepEqual(at(placeOfName({ ...own, x: 380 }, 60, area, [], [])), [312, 40], "inside the chart");
});
