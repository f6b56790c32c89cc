// Pictures of what is about to be replaced are veiled, and a line says what they show and what is on its way.

import { h, setText, show } from "./dom.js";
import { count, known } from "./charts/format.js";

/** What stands over veiled pictures: {text, shown, cancel}, or null where nothing is veiled. */
export function veilOf(store) {
  const coming = store.preparing;
  if (!(coming || store.away) || !store.n) return null;
  const at = store.status && known(store.status.iteration) ? ` at iteration ${count(store.status.iteration)}` : "";
  if (store.away) return { text: store.away, shown: `What you see is the run as it was${at}.`, cancel: false };
  return { text: coming.text, shown: `What you see is still ${coming.shown}${at}.`, cancel: coming.cancel };
}

export class Veil {
  constructor(link, grid) {
    this.grid = grid;
    this.text = h("strong", {});
    this.shown = h("span", {});
    this.cancel = h("button", { type: "button", "data-testid": "cancel-button", onclick: () => link.do("cancel") }, "Cancel");
    this.element = h("div", { class: "veil-line", role: "status", "data-testid": "veil", hidden: true }, this.text, this.shown, this.cancel);
  }

  draw(store) {
    const said = veilOf(store);
    show(this.element, said !== null);
    this.grid.classList.toggle("veiled", said !== null);
    if (!said) return;
    setText(this.text, said.text);
    setText(this.shown, said.shown);
    show(this.cancel, said.cancel);
  }
}
