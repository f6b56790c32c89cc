// The notebook shell: what is said of a kernel that does not answer, and when.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mock, test } from "node:test";

const shell = readFileSync(new URL(process.env.STATIC + "/../../../widgets/shell.js"), "utf8");
const { watchKernel } = await import("data:text/javascript," + encodeURIComponent(shell + "\nexport { watchKernel }"));

function notebook() {
  const box = { dataset: {}, style: {}, hidden: true, textContent: "", setAttribute() {} };
  globalThis.document = { createElement: () => box };
  const heard = new Map();
  const model = { sent: 0, deaf: false, send() { if (this.deaf) throw new Error("no comm"); this.sent += 1; }, on: (name, take) => heard.set(name, take), off: (name) => heard.delete(name) };
  const root = { style: {}, before() {} };
  return { box, model, root, heard, watch: watchKernel(model, root, () => 79) };
}

/** Let time pass; a clock that is moved by hand stands at the end of its move while the timers on its way are run. */
function wait(ms) {
  for (let k = 0; k < ms; k += 100) mock.timers.tick(100);
}

function timed(work) {
  return () => {
    mock.timers.enable({ apis: ["setInterval", "Date"] });
    try {
      work();
    } finally {
      mock.timers.reset();
    }
  };
}

test("a silent kernel is said within two seconds and veiled after six", timed(() => {
  const { box, root, watch } = notebook();
  wait(2000);
  assert.match(box.textContent, /not answered for 2 s.*iteration 79/);
  assert.ok(!box.hidden && !root.style.opacity, "said, and not yet veiled: it may be busy");
  wait(6000);
  assert.equal(root.style.opacity, "0.4");
  watch.heard();
  assert.ok(box.hidden && !root.style.opacity);
  watch.end();
}));

test("a kernel that answers slowly, but answers, is never called silent", timed(() => {
  const { box, model, watch } = notebook();
  for (let k = 0; k < 20; k++) {
    wait(1400);
    watch.heard();
    assert.ok(box.hidden, `after ${k + 1} answers`);
  }
  assert.ok(model.sent >= 20);
  watch.end();
}));

test("a restarted kernel is said at once, as the notebook tells it", timed(() => {
  const { box, heard, root, watch } = notebook();
  heard.get("comm_live_update")();
  assert.match(box.textContent, /restarted or has ended.*iteration 79/);
  assert.equal(root.style.opacity, "0.4");
  watch.heard();
  assert.ok(box.hidden);
  watch.end();
  assert.equal(heard.size, 0);
}));

test("without a way to the kernel it counts as gone", timed(() => {
  const { box, model, watch } = notebook();
  model.deaf = true;
  wait(500);
  assert.match(box.textContent, /has ended/);
  watch.end();
}));
