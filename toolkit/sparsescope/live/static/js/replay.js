// The entry of a recording's file: unpacks what stands in the file and hands it to the page's own modules.

import { h } from "./dom.js";
import { mount } from "./main.js";
import { Player } from "./replay/player.js";

/** The block of numbers: base64 of a zlib stream, as long as the header says. */
async function unpacked(text, size) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  if (bytes.byteLength !== size) throw new Error(`the file holds ${bytes.byteLength} bytes of numbers where ${size} are announced`);
  return bytes;
}

function wishedTheme() {
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** What is recorded, and the choice of light or dark, above the page. */
function head(header, turn) {
  const theme = h("button", { type: "button", "data-testid": "theme-button", onclick: () => turn() }, "Light or dark");
  return h("header", { class: "replay-head" }, h("h1", { "data-testid": "replay-title" }, header.title), h("p", { "data-testid": "replay-said", title: header.said }, header.said), theme);
}

async function startReplay() {
  const room = document.getElementById("run");
  try {
    const header = JSON.parse(document.getElementById("sparsescope-recording").textContent);
    const bytes = await unpacked(document.getElementById("sparsescope-arrays").textContent, header.bytes);
    const player = new Player(header, bytes);
    let theme = wishedTheme();
    const dress = () => { document.documentElement.dataset.theme = theme; };
    const top = head(header, () => {
      theme = theme === "dark" ? "light" : "dark";
      dress();
      handle.setTheme(theme);
    });
    dress();
    room.replaceChildren(top);
    const handle = mount({ el: room, send: (message) => player.take(message), theme, options: { shell: "recording", replay: player } });
    player.receive = (message, buffers) => handle.receive(message, buffers);
  } catch (problem) {
    room.replaceChildren(h("p", { role: "alert", class: "replay-error" }, `This recording cannot be played: ${problem.message}`));
  }
}

startReplay();
