// One suggestion at a time, taken back once it was followed.

import { h, setText, show } from "./dom.js";
import { words } from "./charts/kinds.js";

/** What to try next: a sentence, or "" when everything was tried. `looked`: whether a row was chosen by hand. */
export function suggestion(store, looked) {
  if (!store.status || !(store.status.iteration > 0) || !store.problem) return "";
  const changed = (kind) => store.marks.some((mark) => mark.kind === kind);
  const lever = words(store.problem).lever;
  const when = store.mode === "running" ? "while it runs" : "and run on";
  if (!changed("lam")) return `Try: drag ${lever} ${when}.`;
  if (!changed("solver")) return `Try: another method ${when}; the weights stay.`;
  if (!looked) return "Try: click a feature to see its weights by class.";
  return "";
}

export class Advice {
  constructor() {
    this.text = h("span", {});
    this.done = new Set();
    this.close = h("button", { type: "button", class: "quiet", "aria-label": "no more suggestions", onclick: () => { this.off = true; show(this.element, false); } }, "×");
    this.element = h("span", { class: "advice", "data-testid": "advice", hidden: true }, this.text, this.close);
  }

  /** `guest`: somebody else's run is shown, of which nothing can be tried. */
  draw(store, looked, guest = false) {
    const text = this.off || guest ? "" : suggestion(store, looked);
    show(this.element, text !== "");
    setText(this.text, text);
  }
}
