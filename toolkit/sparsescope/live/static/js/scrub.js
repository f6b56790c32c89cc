// The bar under the charts that moves every view to an iteration of the past, and steps back and forward.

import { disable, h, setAttribute, setText, show } from "./dom.js";
import { readings } from "./charts/readout.js";
import { iterations } from "./charts/format.js";

const LEAST_PAST = 3; // events before there is a past

/** The position of the newest event up to `index` among the numbers of events; -1 without one. */
export function positionOf(index, events) {
  let low = 0;
  let high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (events[middle] <= index) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export class Scrubber {
  constructor(page) {
    this.page = page;
    this.player = page.replay; // of a recording, whose end the page need not have yet
    this.index = null; // number of the event that is looked at; null: the newest
    const button = (testid, label, title, action) => h("button", { type: "button", "data-testid": testid, title, "aria-label": title, onclick: action }, label);
    this.back = button("step-back", "‹", "one recorded iteration back (,)", () => this.step(-1));
    this.on = button("step-forward", "›", "one recorded iteration forward", () => this.step(1));
    this.range = h("input", { type: "range", min: 0, max: 1, step: 1, value: 1, "data-testid": "scrub", "aria-label": "iteration to look at", oninput: () => this.go(Number(this.range.value)) });
    this.said = h("span", { class: "scrub-said", "data-testid": "scrub-said" });
    this.live = h("button", { type: "button", "data-testid": "scrub-live", title: "back to the newest iteration (esc)", onclick: () => this.end() }, this.player ? "End" : "Newest");
    this.element = h("div", { class: "scrub card", role: "group", "aria-label": "look back", hidden: true }, this.back, this.range, this.on, this.said, this.live);
  }

  /** Whether there is something to look back to. */
  past(store) {
    return this.player ? store.n > 0 : store.n >= LEAST_PAST;
  }

  /** The position of the event that is looked at; -1: the newest is. */
  position(store) {
    if (!this.past(store)) this.index = null;
    const events = store.column("index");
    return this.index === null || !events ? -1 : positionOf(this.index, events);
  }

  /** To the next event of another iteration: a pause may record the present one a second time, with its certificate. */
  step(by) {
    const { store } = this.page;
    const iteration = store.column("iteration") || [];
    const looked = this.position(store);
    const at = looked < 0 ? store.n - 1 : looked;
    let next = at + by;
    while (next > 0 && next < store.n - 1 && iteration[next] === iteration[at]) next += by;
    this.go(next);
  }

  go(position) {
    const { store } = this.page;
    if (this.player && position >= store.n) {
      this.player.seek(position + 1);
      return;
    }
    if (!this.player && store.n < LEAST_PAST) return;
    if (position >= store.n - 1) {
      this.release();
      return;
    }
    this.index = store.column("index")[Math.max(0, position)];
    this.range.value = Math.max(0, position);
    this.page.requestDraw();
  }

  /** Go to the newest iteration, of a recording to its last one. */
  end() {
    if (this.player) this.player.seek(this.player.count);
    else this.release();
  }

  release() {
    if (this.index === null) return;
    this.index = null;
    this.range.value = this.page.store.n - 1; // before the next frame is drawn: a key pressed until then begins here
    this.page.cursorAt = -1;
    this.page.requestDraw();
  }

  /** What was measured at the iteration that is looked at. */
  sentence(store, at) {
    const iteration = store.column("iteration");
    const said = [`iteration ${iterations(iteration[at])} of ${iterations(iteration[store.n - 1])}`];
    const known = [
      { label: "F", column: "objective" }, { label: "gap", column: "relative_gap" }, { label: "rows", column: "nonzero_rows" },
      { label: "test", column: "test_accuracy" },
    ].filter(({ column }) => store.column(column));
    return [...said, ...readings(known, store, at)].join(" · ");
  }

  draw(store) {
    const past = this.past(store);
    show(this.element, past);
    if (!past) return;
    const at = this.position(store);
    const shown = at < 0 ? store.n - 1 : at;
    setAttribute(this.range, "max", (this.player ? this.player.count : store.n) - 1);
    if (Number(this.range.value) !== shown) this.range.value = shown;
    const iteration = store.column("iteration")[shown];
    setAttribute(this.range, "aria-valuetext", `iteration ${iterations(iteration)}`);
    setText(this.said, at < 0 ? `iteration ${iterations(iteration)}${this.last(store) ? `, the ${this.player ? "last" : "newest"}` : ""}` : this.sentence(store, at));
    show(this.live, at >= 0 || !this.last(store));
    disable(this.back, shown === 0);
    disable(this.on, at < 0 && this.last(store));
  }

  /** Whether the page has all events there are. */
  last(store) {
    return !this.player || store.n >= this.player.count;
  }
}
