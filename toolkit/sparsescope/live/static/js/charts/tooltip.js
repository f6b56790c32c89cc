// One tooltip for the canvas charts.

import { h } from "../dom.js";

export class Tooltip {
  constructor() {
    this.element = h("div", { class: "tooltip", hidden: true });
  }

  /** Show lines of text beside the pointer; the first is the heading. */
  show(event, lines) {
    const frame = this.element.parentElement.getBoundingClientRect();
    this.element.replaceChildren(...lines.map((line, k) => h(k === 0 ? "strong" : "span", {}, line)));
    this.element.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const x = event.clientX - frame.left;
    const y = event.clientY - frame.top;
    const left = x + 14 + width > frame.width ? x - width - 10 : x + 14;
    const top = Math.max(4, Math.min(frame.height - height - 4, y + 14));
    this.element.style.transform = `translate(${Math.max(4, Math.round(left))}px, ${Math.round(top)}px)`;
  }

  hide() {
    this.element.hidden = true;
  }
}
