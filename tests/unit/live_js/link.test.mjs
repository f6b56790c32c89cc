// Credits, the last value of a slider, and the time from a knob to its effect.
import assert from "node:assert/strict";
import { test } from "node:test";

let frames = [];
globalThis.requestAnimationFrame = (f) => frames.push(f);
const draw = () => { const now = frames; frames = []; now.forEach((f) => f()); };

const { Link } = await import(process.env.STATIC + "/link.js");

test("a credit is given back for each frame after drawing, not before", () => {
  const sent = [];
  const link = new Link((m) => sent.push(m));
  link.ready("1");
  link.frameArrived({ seq: 4, applied: [] });
  link.frameArrived({ seq: 5, applied: [] });
  assert.deepEqual(sent.map((m) => m.type), ["ready"]);
  link.painted(3.14159);
  assert.deepEqual(sent[1], { type: "credit", n: 2, seq: 5, paint_ms: 3.1 });
  link.painted(1);
  assert.equal(sent.length, 2);
});

test("a slider sends its first value at once, then one message an animation frame: the last value", () => {
  const sent = [];
  const link = new Link((m) => sent.push(m));
  link.set({ lam_ratio: 0.05 });
  assert.deepEqual(sent[0].changes, { lam_ratio: 0.05 });
  link.set({ lam_ratio: 0.1 });
  link.set({ lam_ratio: 0.2, x: "passes" });
  link.set({ lam_ratio: 0.3 });
  assert.equal(sent.length, 1);
  draw();
  assert.equal(sent.length, 2);
  assert.deepEqual(sent[1].changes, { lam_ratio: 0.3, x: "passes" });
});

test("a command goes after what was changed before it", () => {
  const sent = [];
  const link = new Link((m) => sent.push(m));
  link.set({ lam_ratio: 0.1 });
  link.set({ lam_ratio: 0.2 });
  link.do("step", { n: 10 });
  assert.deepEqual(sent.map((m) => m.type), ["set", "set", "do"]);
  assert.equal(sent[2].n, 10);
  draw();
  assert.equal(sent.length, 3);
});

test("latency is from the knob to the painted frame that carries its effect", () => {
  const sent = [];
  const link = new Link((m) => sent.push(m));
  link.do("run");
  link.frameArrived({ seq: 1, applied: [] });
  link.painted(1);
  assert.equal(link.latencies.length, 0);
  link.frameArrived({ seq: 2, applied: [sent[0].id, "of somebody else"] });
  assert.equal(link.latencies.length, 0);
  link.painted(1);
  assert.equal(link.latencies.length, 1);
});

test("answers find their questions", () => {
  const link = new Link(() => undefined);
  let heard = null;
  let id = null;
  link.sendRaw = (m) => { id = m.id; };
  link.ask("value", { row: 1, cls: 2 }, (answer) => { heard = answer.value; });
  link.answer({ id: "unknown", value: 1 });
  assert.equal(heard, null);
  link.answer({ id, value: 7 });
  assert.equal(heard, 7);
});
