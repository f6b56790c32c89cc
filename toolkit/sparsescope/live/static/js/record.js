// Take the run along: the explorer writes one file that plays it without Python and without a network.

import { h, setText } from "./dom.js";
import { download } from "./save.js";

export function recordButton(page) {
  const button = h("button", {
    type: "button", "data-testid": "record-button", title: "one file that replays this run in any browser, offline",
    onclick: () => {
      button.disabled = true;
      setText(button, "Recording …");
      page.link.ask("recording", {}, (answer) => {
        button.disabled = false;
        setText(button, "Record");
        if (answer.error) page.messages.showError(answer.error, answer.detail);
        else download(answer.name, new Blob([withMessages(answer.text, page.body?.kept ? page.body.kept() : [])], { type: "text/html" }));
      });
    },
  }, "Record");
  return button;
}

const HEADER = 'type="application/json" id="sparsescope-recording">';
const HEADER_END = "<" + "/script>"; // in one piece it would end the element that a recording holds this module in

/** A recording's text with further messages for its page: what only this browser has. */
export function withMessages(text, messages) {
  if (!messages.length) return text;
  const from = text.indexOf(HEADER) + HEADER.length;
  const to = text.indexOf(HEADER_END, from);
  const header = JSON.parse(text.slice(from, to));
  header.messages.push(...messages);
  return text.slice(0, from) + JSON.stringify(header).replaceAll("<", "\\u003c") + text.slice(to);
}

const OPENED_PIECE = 120_000; // characters of a message
const MOST_OPENED = 4 * 2 ** 20; // bytes of a file that the explorer reads

/** Open a recording's file: the explorer makes its problem and goes on from where the run ended. */
export function openButton(page, take = null) {
  const input = h("input", { type: "file", accept: ".html,text/html", hidden: true, "data-testid": "open-file", tabindex: "-1", "aria-hidden": "true", "aria-label": "file of a recording" });
  input.addEventListener("change", async () => {
    const file = input.files[0];
    input.value = "";
    if (!file) return;
    if (file.size > MOST_OPENED) page.messages.showError(`${file.name} is larger than ${MOST_OPENED >> 20} MiB, which no recording is`, "");
    else if (take) await take(file);
    else sendRecording(page.link, file.name, encodedBytes(new Uint8Array(await file.arrayBuffer())));
  });
  const button = h("button", { type: "button", "data-testid": "open-button", title: take ? "show a recording of this page" : "go on with the run of a recording", onclick: () => input.click() }, "Open …");
  return h("span", { class: "inline" }, button, input);
}

export function sendRecording(link, name, text) {
  const count = Math.max(1, Math.ceil(text.length / OPENED_PIECE));
  for (let k = 0; k < count; k += 1) {
    link.post({ type: "open", id: link.newId(), name, piece: text.slice(k * OPENED_PIECE, (k + 1) * OPENED_PIECE), first: k === 0, last: k === count - 1 });
  }
}

function encodedBytes(bytes) {
  let text = "";
  for (let k = 0; k < bytes.length; k += 0x8000) text += String.fromCharCode(...bytes.subarray(k, k + 0x8000));
  return btoa(text);
}
