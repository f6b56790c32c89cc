// Looking back: which event is meant, what the keyboard reaches, and changes that are taken back and made again.
import assert from "node:assert/strict";
import { test } from "node:test";

const { positionOf } = await import(process.env.STATIC + "/scrub.js");
const { moved } = await import(process.env.STATIC + "/charts/keycursor.js");
const { Past } = await import(process.env.STATIC + "/past.js");

test("an event that was thinned out is looked at by the one before it", () => {
  assert.deepEqual([0, 1, 2, 3, 7, 99].map((index) => positionOf(index, [0, 1, 3, 8])), [0, 1, 1, 2, 2, 3]);
  assert.equal(positionOf(5, []), -1);
});

test("the keyboard's cursor stays inside the picture", () => {
  assert.deepEqual(moved(null, "ArrowDown", [4, 3]), [0, 0]);
  assert.deepEqual(moved([0, 0], "ArrowDown", [4, 3]), [1, 0]);
  assert.deepEqual(moved([3, 2], "ArrowDown", [4, 3]), [3, 2]);
  assert.deepEqual(moved([1, 1], "End", [4, 3]), [1, 2]);
  assert.deepEqual(moved([1, 1], "PageUp", [4, 3]), [0, 1]);
  assert.equal(moved([1, 1], "a", [4, 3]), null);
  assert.equal(moved([1, 1], "ArrowUp", null), null);
});

test("what was taken back can be made again, until something else is changed", () => {
  const past = new Past();
  const settings = { lam: 1, loss: "a" };
  const change = (changes, now) => {
    const began = past.note(settings, changes, now);
    Object.assign(settings, changes);
    return began;
  };
  assert.equal(change({ lam: 2 }, 0), true);
  assert.equal(change({ lam: 3 }, 100), false, "one gesture");
  assert.equal(change({ loss: "b" }, 5000), true);
  Object.assign(settings, past.undo(settings));
  Object.assign(settings, past.undo(settings));
  assert.deepEqual(settings, { lam: 1, loss: "a" });
  assert.equal(past.undo(settings), null);
  Object.assign(settings, past.redo(settings));
  assert.deepEqual(settings, { lam: 3, loss: "a" });
  Object.assign(settings, past.redo(settings));
  assert.deepEqual(settings, { lam: 3, loss: "b" });
  assert.equal(past.redo(settings), null);
  Object.assign(settings, past.undo(settings));
  change({ lam: 9 }, 9000);
  assert.equal(past.redo(settings), null, "another change came in between");
});

test("what is made again is the last value of its gesture, whatever the explorer has answered meanwhile", () => {
  const past = new Past();
  assert.ok(past.note({ lam_ratio: 0.1 }, { lam_ratio: 0.2 }, 0));
  assert.ok(!past.note({ lam_ratio: 0.1 }, { lam_ratio: 0.3 }, 100)); // the explorer has not answered yet
  assert.deepEqual(past.undo(), { lam_ratio: 0.1 });
  assert.deepEqual(past.redo(), { lam_ratio: 0.3 });
  assert.deepEqual(past.undo(), { lam_ratio: 0.1 });
});
