// Keys, off while somebody types or holds a control, and the overlay that lists them.

import { h } from "./dom.js";

const KEYS = [
  ["space", "run or pause"], [".", "one iteration"], ["shift .", "ten iterations"], ["r", "reset: start again"], ["u", "undo: take the last change back"], [",", "look one iteration back"], ["p", "pin this run: it stays as a faint line"],
  ["x", "logarithmic or linear x axis"], ["y", "logarithmic or linear y axis"], ["?", "this list"], ["esc", "close"],
];

/** True while keys belong to the element that has the focus. */
export function isTyping(target) {
  if (!target || !target.tagName) return false;
  if (target.isContentEditable || target.tagName === "TEXTAREA" || target.tagName === "SELECT") return true;
  return target.tagName === "INPUT" && target.type !== "checkbox" && target.type !== "range";
}

export function bindKeys(root, actions) {
  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.composedPath()[0];
    if (isTyping(target)) return;
    // a focused button or checkbox is pressed by space itself
    const pressable = target && (target.tagName === "BUTTON" || target.tagName === "SUMMARY" || target.type === "checkbox");
    const name = event.key === " " ? (pressable ? null : "space") : event.key;
    const action = actions[name];
    if (!action) return;
    event.preventDefault();
    action();
  };
  root.addEventListener("keydown", onKey);
  return () => root.removeEventListener("keydown", onKey);
}

export class Help {
  constructor() {
    const rows = KEYS.flatMap(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)]);
    this.close = h("button", { type: "button", class: "close", "aria-label": "close", onclick: () => this.toggle(false) }, "×");
    this.element = h(
      "div", { class: "help", role: "dialog", "aria-modal": "false", "aria-label": "keys and how to read this page", "data-testid": "help-overlay", hidden: true },
      this.close, h("h2", {}, "Keys"), h("dl", { class: "keys" }, ...rows), h("h2", {}, "Reading the page"),
      h("p", {}, "Everything can be changed while the solver runs. The weights stay where they are (a warm start), and a labelled line marks the change in every chart over time."),
      h("p", {}, "The gap is a certificate: a dual point proves that F is no further than this above its minimum F*. F* itself is unknown; the blue band shows where F − F* is proved to lie, between the smallest F seen and the best certified bound. Dots are measurements; a thin dotted stretch was not measured."),
      h("p", {}, "Drag in a chart to zoom, double-click to zoom out. Click a row of W or of the active set to inspect it."),
    );
  }

  toggle(open = this.element.hidden) {
    const root = this.element.getRootNode();
    if (open) this.before = root.activeElement;
    this.element.hidden = !open;
    if (open) this.close.focus();
    else if (this.before && this.before.isConnected) this.before.focus();
  }
}
