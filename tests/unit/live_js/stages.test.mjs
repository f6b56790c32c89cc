// Stages of a sequence of models: where they end, what they are called, which of many are drawn.
import assert from "node:assert/strict";
import { test } from "node:test";

const { everyWhich, sentence, stageEnds, widthOf } = await import(process.env.STATIC + "/charts/stages.js");
const { meaning, verdict } = await import(process.env.STATIC + "/charts/spectrum.js");

const steps = { before: 0, names: [[1, "300 columns"], [3, "64 random Fourier features"]] };

test("a stage ends where features were used, and has its name", () => {
  const ends = stageEnds([0, 300, 300, 600, 664], [0, 1, 1, 2, 3], steps);
  assert.deepEqual(ends.map((end) => [end.at, end.number, end.used]), [[1, 1, 300], [3, 2, 600], [4, 3, 664]]);
  assert.equal(sentence(ends[2]), "stage 3 · 64 random Fourier features · 664 features so far");
  assert.equal(sentence(stageEnds([0, 300], [0, 1], null)[0]), "stage 1 · 300 features · 300 features so far");
  assert.deepEqual(stageEnds([NaN, NaN], [0, 1], null), []);
});

test("a stage whose columns were all taken before ends too", () => {
  const ends = stageEnds([0, 40, 64, 64, 64], [0, 1, 2, 2, 3], null);
  assert.deepEqual(ends.map((end) => [end.at, end.number, end.used]), [[1, 1, 40], [2, 2, 64], [4, 3, 64]]);
  assert.equal(sentence(ends[2]), "stage 3 · 64 features so far");
});

test("a new sequence counts from one again", () => {
  const ends = stageEnds([0, 10, 20, 0, 10], [0, 1, 2, 2, 3], { before: 2, names: [[1, "10 columns"]] });
  assert.deepEqual(ends.map((end) => [end.at, end.number, end.text]), [[1, 1, ""], [2, 2, ""], [4, 1, "10 columns"]]);
});

test("events that were thinned leave the number of features of a stage open", () => {
  const ends = stageEnds([0, 300, 1200], [0, 1, 4], null);
  assert.equal(ends[1].features, null);
  assert.equal(sentence(ends[1]), "stage 4 · 1\u202f200 features so far");
});

test("lines stay apart", () => {
  assert.equal(everyWhich(10, 600, 9), 1);
  assert.equal(everyWhich(100, 600, 9), 2);
  assert.equal(everyWhich(1000, 600, 9), 20);
  assert.equal(everyWhich(0, 0, 9), 1);
  // a new sequence may end left of where the one before began: the search for a stride must end all the same
  for (const width of [0, -120, NaN]) assert.equal(everyWhich(3, width, 9), 3);
  assert.equal(widthOf([{ x: 300 }, { x: 410 }, { x: 20 }], { width: 600 }), 390);
  assert.equal(widthOf([{ x: 300 }], { width: 600 }), 600);
});

test("what a spectrum and a rate mean, in sentences", () => {
  const found = { count: 64, bound: 64, rank: 61, proxy: 36.7, first: 2, last: 61, condition: 120, shares: [[1, 0.3], [10, 0.755]] };
  assert.deepEqual(meaning(found)[0], "64 of 64 singular values, 3 of them zero");
  assert.match(meaning(found)[1], /^σ_2 \/ σ_61 = 36.7 /);
  assert.match(meaning(found)[3], /first 10 have 76 % of the sum/);
  assert.deepEqual(verdict({ reason: "Reset the run." }), ["Reset the run."]);
  assert.match(verdict({ reason: "", linear: false, accelerated: true, contraction: 0.91, known_to: 1e-13 }).join(), /accelerated,measured: an iteration shrinks/);
});
