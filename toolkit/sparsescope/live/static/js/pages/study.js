// What the pages of studies along λ have in common: buttons, the λ that hands and keys choose, messages as they come.

import { h } from "../dom.js";
import { Tooltip } from "../charts/tooltip.js";
import { WorkingBody } from "./working.js";

const LAM_KEYS = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5, Home: -1e9, End: 1e9 };

/**
 * Body of such a page. A subclass has `forget()`, which empties it; `axis()`, which says where λ stands in its charts ({plot, left,
 * wide}, or null); `draw(picture)`; and a method `onPoints`, `onShares`, … for each type of message.
 */
export class StudyBody extends WorkingBody {
  /** `name`: of the page; `again`: the words of its button; `also`: settings that the link to the explorer adds. */
  constructor(page, name, again, also = {}) {
    super(page, name, again);
    this.tooltip = new Tooltip();
    this.explorer = page.opener("./", "Open in the explorer", name + "-explorer", also);
    this.facts = h("p", { class: "path-facts", "data-testid": name + "-facts", "aria-live": "polite" });
  }

  /** The page: its bar of buttons, the facts at the chosen λ, and two columns. */
  layout(kind, buttons, ...columns) {
    return h(
      "div", { class: kind },
      this.bar(...buttons, this.explorer),
      this.facts, h("div", { class: "path-columns" }, ...columns), this.tooltip.element,
    );
  }

  /** A chart: the pointer and the arrow keys move λ. */
  figure(testid, name, ...children) {
    const node = h("div", { class: "chart-plot " + name, tabindex: "0", role: "application", "data-testid": testid }, ...children);
    node.addEventListener("keydown", (event) => this.key(event));
    node.addEventListener("pointerdown", (event) => {
      node.setPointerCapture(event.pointerId);
      this.held = true;
      this.point(event);
    });
    node.addEventListener("pointermove", (event) => (this.held ? this.point(event) : this.hover(event)));
    for (const type of ["pointerup", "pointercancel"]) node.addEventListener(type, () => (this.held = false));
    node.addEventListener("pointerleave", () => this.leave());
    return node;
  }

  hover() {}

  leave() {}

  // -------------------------------------------------------------------------------------------------------- messages
  begin(picture) {
    if (picture.epoch !== this.epoch) this.forget();
    this.epoch = picture.epoch;
    this.ratio = picture.lam_ratio;
    this.explorer.renew();
  }

  take(message) {
    const taker = "on" + message.type[0].toUpperCase() + message.type.slice(1);
    if (this[taker]) this[taker](message);
    this.page.requestDraw();
  }

  onBegin(message) {
    this.forget();
    this.begun = message;
  }

  onShares(message) {
    this.shares = message;
  }

  // ------------------------------------------------------------------------------------------------------------ hands
  /** The number of the λ of the path that is nearest to the chosen one. */
  at() {
    if (!this.begun) return 0;
    const far = this.begun.ratios.map((ratio) => Math.abs(Math.log(ratio / this.ratio)));
    return far.indexOf(Math.min(...far));
  }

  choose(k) {
    if (!this.begun) return;
    this.ratio = Math.min(1, this.begun.ratios[Math.min(this.begun.ratios.length - 1, Math.max(0, k))]);
    this.page.set({ lam_ratio: this.ratio });
    this.explorer.renew();
    this.page.requestDraw();
  }

  key(event) {
    const step = LAM_KEYS[event.key];
    if (!step) return;
    event.preventDefault();
    this.choose(this.at() + step);
  }

  /** The number of the λ under the pointer. */
  under(event) {
    const { plot, left, wide } = this.axis();
    return Math.round(((event.clientX - plot.getBoundingClientRect().left - left) / wide) * (this.begun.ratios.length - 1));
  }

  point(event) {
    if (this.begun && this.axis()) this.choose(this.under(event));
  }
}
