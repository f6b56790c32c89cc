// The inspector: which row it shows until somebody chooses one.
import assert from "node:assert/strict";
import { test } from "node:test";

const { heaviest, isGone } = await import(process.env.STATIC + "/inspector.js");

test("the row of the largest norm is shown first, of a network the feature with most ties, and nothing of zero weights", () => {
  assert.equal(heaviest({ nonzero: 3, rows: [4, 7, 9], norms: [1, 3, 2] }), 7);
  assert.equal(heaviest({ nonzero: 3, rows: [4], degrees: [0, 1, 5] }), 2);
  assert.equal(heaviest({ nonzero: 0, rows: [4], norms: [0] }), null);
});

test("a row that has left W is gone, and so is one of another stage, but not one whose weights are not here yet", () => {
  assert.equal(isGone({ row: 4, row_nonzero: 0, rows: [4, 7] }, 4), true);
  assert.equal(isGone({ row: 4, row_nonzero: 2, rows: [4, 7] }, 4), false);
  assert.equal(isGone({ row: 7, row_nonzero: 0, rows: [4, 7] }, 4), false);
  assert.equal(isGone({ row: 4, row_nonzero: 1, rows: [7], steps: 2 }, 4), true);
  assert.equal(isGone({ row: 4, row_nonzero: 1, rows: [7] }, 4), false);
});
