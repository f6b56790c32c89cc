// What is said over the table of classes that are taken for each other.
import assert from "node:assert/strict";
import { test } from "node:test";

const { reasonsOf, verdictOf } = await import(process.env.STATIC + "/charts/confusion.js");

test("the sentence says how many are right, of which samples, and at which iteration", () => {
  const found = { error: "", reason: "", right: 90, total: 100, of: "held-out", iteration: 12 };
  assert.match(verdictOf(found), /^90 of 100 held-out samples right \(90 %\), at iteration 12\./);
  assert.match(verdictOf({ error: "", reason: "nothing is predicted here" }), /There is no confusion matrix: nothing/);
  assert.match(verdictOf({ error: "memory" }), /could not be computed: memory/);
});

test("a sample says what spoke for the wrong class", () => {
  assert.equal(reasonsOf({ reasons: [["socket", 0.41], ["chip", 0.2]] }), "socket 0.41 · chip 0.2");
  assert.match(reasonsOf({ reasons: [] }), /no feature/);
});
