// Unpacks what stands in a recording's file, and hands it to what plays it.

import { h } from "../dom.js";

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

/** Play the file: `play(room, header, bytes, theme)` fills the page and returns what follows the choice of light or dark. */
export async function beginReplay(play) {
  const room = document.getElementById("run");
  try {
    const header = JSON.parse(document.getElementById("sparsescope-recording").textContent);
    const bytes = await unpacked(document.getElementById("sparsescope-arrays").textContent, header.bytes);
    let theme = wishedTheme();
    let handle = null;
    const dress = () => { document.documentElement.dataset.theme = theme; };
    room.replaceChildren(head(header, () => {
      theme = theme === "dark" ? "light" : "dark";
      dress();
      handle.setTheme(theme);
    }));
    dress();
    handle = play(room, header, bytes, theme);
  } catch (problem) {
    room.replaceChildren(h("p", { role: "alert", class: "replay-error" }, `This recording cannot be played: ${problem.message}`));
  }
}
