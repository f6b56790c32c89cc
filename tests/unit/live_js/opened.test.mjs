// A recording that is opened on its page: shown in the server's place until something is changed.
import assert from "node:assert/strict";
import { test } from "node:test";

const { Opened, recordedPage } = await import(process.env.STATIC + "/pages/opened.js");

const HEADER = {
  kind: "sparsescope recording", page: "path", settings: { dataset: "iris", lam_ratio: 0.1 }, replayed: ["lam_ratio"],
  messages: [{ type: "page", name: "path" }, { type: "picture", epoch: 3, lam_ratio: 0.1 }, { type: "points" }],
};
const file = (header) => `<p>x</p><script type="application/json" id="sparsescope-recording">${JSON.stringify(header).replaceAll("<", "\\u003c")}</script>`;

function made() {
  const sent = [];
  const told = [];
  const page = { controls: { show: (key, value) => told.push([key, value]) }, store: { settings: {} }, body: { again: {} }, link: { newId: () => "n" } };
  const opened = new Opened(page, (message) => sent.push(message));
  page.receive = (message) => { if (!opened.stops(message)) told.push(message.type); };
  return { sent, told, page, opened };
}

test("a file is read for what it is, or it is said what is wrong", () => {
  assert.deepEqual(recordedPage(file({ ...HEADER, said: "<b>" }), "path").said, "<b>");
  for (const [text, said] of [["<p>", /no recording/], [file({ kind: "other" }), /no recording/], [file(HEADER).slice(0, -40), /no recording/], [file({ ...HEADER, page: undefined }), /explorer's page/], [file({ ...HEADER, page: "race" }), /page race/], [file({ ...HEADER, messages: [3] }), /no messages/]]) {
    assert.throws(() => recordedPage(text, "path"), said);
  }
});

test("it is shown in the server's place, with its settings", () => {
  const { told, page, opened } = made();
  opened.show(HEADER);
  assert.deepEqual(told, ["picture", "points", ["dataset", "iris"], ["lam_ratio", 0.1]]);
  for (const type of ["points", "picture", "status", "controls"]) page.receive({ type });
  assert.equal(told.length, 4);
  page.receive({ type: "error" });
  assert.equal(told.at(-1), "error");
});

test("what the recording can follow stays here; another change begins anew with the recorded settings", async () => {
  const { sent, told, page, opened } = made();
  opened.show(HEADER);
  opened.post({ type: "set", id: "a", changes: { lam_ratio: 0.2 } });
  await null;
  assert.deepEqual([sent.length, told.at(-1)], [0, "picture"]);
  opened.post({ type: "do", action: "stop" });
  opened.post({ type: "ask", kind: "recording" });
  assert.deepEqual(sent.map(({ type }) => type), ["ask"]);
  opened.post({ type: "do", id: "b", action: "again" });
  assert.deepEqual(sent.slice(1), [{ type: "set", id: "b", changes: HEADER.settings }, { type: "do", id: "n", action: "again" }]);
  page.receive({ type: "points" });
  assert.equal(told.at(-1), "points");
  opened.post({ type: "set", id: "c", changes: { dataset: "wine" } });
  assert.deepEqual(sent.at(-1), { type: "set", id: "c", changes: { dataset: "wine" } });
});
