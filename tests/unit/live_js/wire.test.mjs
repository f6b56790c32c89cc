// The page's own websocket beside Bokeh's channel: what is said where, and what happens to words for a closing socket.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

// Nothing here waits for the page's time limits, so the program need not either: it ended ten seconds after its tests.
const later = globalThis.setTimeout;
globalThis.setTimeout = (...given) => later(...given).unref();

const shell = readFileSync(new URL(process.env.STATIC + "/../../../dashboard/shell.js"), "utf8");
const { lineOf } = await import("data:text/javascript," + encodeURIComponent(shell + "\nexport { lineOf }"));

/** A line on its own websocket, with what was sent over it, over Bokeh's channel, and how often the page began anew. */
function wired() {
  const told = { wire: [], bokeh: [], begun: 0 };
  globalThis.WebSocket = class {
    readyState = 1;
    send(text) {
      assert.equal(this.readyState, 1, "a browser refuses words for a closing socket, with an error in its console");
      told.wire.push(JSON.parse(text));
    }
    close() {
      this.readyState = 2;
    }
  };
  let socket = null;
  const Made = globalThis.WebSocket;
  globalThis.WebSocket = class extends Made {
    constructor() {
      super();
      socket = this;
    }
  };
  const line = lineOf({ send_msg: (message) => told.bokeh.push(message) }, () => {}, () => told.begun++);
  line.begin("ws://here/wire", "secret");
  socket.onopen();
  line.turn();
  socket.onmessage({ data: '{"type": "open"}' });
  told.wire.length = told.bokeh.length = 0;
  return { line, socket, told };
}

test("messages go over the page's own websocket once it is open", () => {
  const { line, told } = wired();
  line.send({ type: "set", changes: { lam_ratio: 0.1 } });
  assert.deepEqual([told.wire.length, told.bokeh.length, told.begun, line.state()], [1, 0, 0, "wire"]);
});

test("a command for a closing socket goes over Bokeh's channel, after the page began anew, once", () => {
  const { line, socket, told } = wired();
  socket.readyState = 2; // closing: its end is told later
  line.send({ type: "credit", n: 1 });
  line.send({ type: "set", changes: { lam_ratio: 0.1 } });
  socket.onclose();
  assert.deepEqual(told.bokeh, [{ type: "set", changes: { lam_ratio: 0.1 } }]);
  assert.deepEqual([told.wire.length, told.begun, line.state()], [0, 1, "bokeh"]);
});

test("a command that finds the socket closing is not lost either when it is the first to find it", () => {
  const { line, socket, told } = wired();
  socket.readyState = 3;
  line.send({ type: "do", action: "run" });
  socket.onclose();
  assert.deepEqual([told.bokeh, told.begun], [[{ type: "do", action: "run" }], 1]);
});
