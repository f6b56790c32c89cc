// The status line, the boxes for errors and notices, and what a screen reader is told.

import { h, setAttribute, setSymbols, setText, show, symbols } from "./dom.js";
import { compact, count, iterations, known, number, scientific, seconds, short } from "./charts/format.js";
import { words } from "./charts/kinds.js";

const MODES = {
  idle: "ready", loading: "loading", compiling: "compiling", running: "running", paused: "paused",
  finished: "finished", error: "error", closed: "closed",
};
const TURBO_SAYS = { mine: "full speed", taken: "another page has full speed, slowed" };
const BEGIN = "Nothing has begun: press Run, or the space bar.";
const SPEAK_EVERY = 5000; // ms between sentences of the live region while running

/** Whether the gap is as small as the chosen stop rule asks for. */
export function goalReached(store) {
  return known(store.goal) && store.proved() <= store.goal;
}

/** Whether the run waits at its start, where nobody has pressed anything. */
export function untouched(store) {
  return ["idle", "paused"].includes(store.mode) && Boolean(store.status) && store.status.iteration === 0 && !store.playing;
}

/** What is proved of the newest F, in a few words. */
export function proof(store) {
  const share = store.proved();
  if (!known(share)) return "";
  const { iteration, gap_iteration: at, relative_gap: gap } = store.status;
  const when = at === iteration ? "" : ` at ${iterations(at)}`;
  const least = scientific(Math.max(share, 0));
  if (goalReached(store)) return least === scientific(gap) ? "✓ proved" : `✓ proved to ${least}`; // the gap stands beside it
  if (share >= 1) return `F − F* ≤ ${number(share * Math.abs(store.status.objective), 3)} (proved${when})`;
  if (share >= 0.01) return `F ≤ ${number(1 / (1 - share), 3)} F* (proved${when})`;
  return `F − F* ≤ ${scientific(Math.max(share, 0))} F (proved${when})`;
}

export class StatusLine {
  /** `modes`: what modes are called, if not as in a live run. */
  constructor(modes = {}) {
    this.modes = { ...MODES, ...modes };
    this.recorded = Boolean(modes.finished);
    this.items = {};
    const item = (name, label, width) => {
      const value = h("b", { "data-testid": "status-" + name, style: `min-width:${width}ch` });
      this.items[name] = value;
      return h("span", { class: "status-item" }, h("span", { class: "status-label" }, label), value);
    };
    this.mode = h("span", { class: "mode", "data-testid": "mode" });
    this.tick = h("span", { class: "tick" });
    this.message = h("span", { class: "status-message", "data-testid": "status-message" });
    this.item = item;
    this.reported = h("span", { class: "status-reported" }); // what solvers report, as they declare it
    this.reportedKey = "";
    const gap = item("gap", "gap", 6);
    gap.append(this.tick);
    gap.classList.add("shrinks");
    this.element = h(
      "div", { class: "status", "data-testid": "status-line" },
      this.mode, item("iteration", "it", 4), item("rate", "it/s", 4), item("passes", "passes", 5), item("seconds", "time", 6),
      item("objective", "F", 8), gap, item("rows", "rows", 8), item("test", "test", 6), this.reported,
    );
    this.items.iteration.parentElement.title = "iteration";
    for (const name of ["rate", "passes", "seconds"]) this.items[name].parentElement.classList.add("minor");
    this.items.seconds.parentElement.title = "the solver's own time: drawing, certificates and waiting are not counted";
    this.live = h("div", { class: "sr-only", "aria-live": "polite", "data-testid": "live-region" });
    this.spoken = 0;
    this.saidMode = "";
  }

  draw(store) {
    const status = store.status || {};
    const value = (name, text, plain) => {
      setText(this.items[name], text);
      setAttribute(this.items[name], "data-value", known(plain) ? plain : "");
    };
    setText(this.mode, this.modeName(store));
    setAttribute(this.mode, "data-mode", store.mode);
    value("iteration", iterations(status.iteration), status.iteration);
    value("passes", known(status.passes) ? status.passes.toFixed(status.passes < 1000 ? 1 : 0) : "–", status.passes);
    value("seconds", seconds(status.seconds), status.seconds);
    value("objective", known(status.objective) ? number(status.objective, 6) : "–", status.objective);
    value("gap", scientific(status.relative_gap), status.relative_gap);
    this.drawTick(status, store);
    const rows = words(store.problem).rows;
    const [some, all] = store.problem ? rows.of(status, store.problem) : [null, null];
    const label = this.items.rows.parentElement;
    setText(label.firstChild, rows.label);
    setAttribute(label, "title", rows.title);
    value("rows", known(some) ? count(some) + (known(all) ? ` of ${count(all)}` : "") : "–", some);
    this.drawReported(store.problem ? store.problem.reported : [], status);
    const right = status.test_accuracy ?? status.test_precision_at_1;
    value("test", known(right) ? (100 * right).toFixed(1) + " %" : "–", right);
    show(this.items.test.parentElement, known(right));
    const moving = store.mode === "running";
    value("rate", moving && known(store.rate) ? number(store.rate, 3) : "–", moving ? store.rate : null);
    const said = store.mode === "error" ? "" : store.message; // the box above says what went wrong
    setSymbols(this.message, said || TURBO_SAYS[store.turbo] || (store.late ? "shared server, slowed" : this.waits(store) ? BEGIN : ""));
    this.speak(store, status);
  }

  waits(store) {
    return !this.recorded && untouched(store);
  }

  modeName(store) {
    return this.waits(store) ? "not begun" : this.modes[store.mode] || store.mode;
  }

  /** The newest numbers that the solver reports beside the common ones; those it does not report are hidden. */
  drawReported(columns, status) {
    const key = JSON.stringify(columns);
    if (key !== this.reportedKey) {
      this.reportedKey = key;
      this.reported.replaceChildren(...columns.map((column) => {
        const node = this.item(column.name, column.status, 4);
        node.classList.add("minor");
        node.title = column.doc;
        return node;
      }));
    }
    for (const { name, unit } of columns) {
      const value = status[name];
      const node = this.items[name];
      setText(node, !known(value) ? "–" : unit === "share" ? `${short(100 * value, 3)} %` : Math.abs(value) < 1000 ? short(value, 3) : compact(value));
      setAttribute(node, "data-value", known(value) ? value : "");
      show(node.parentElement, known(value));
    }
  }

  drawTick(status, store) {
    const certified = known(status.relative_gap);
    const reached = goalReached(store);
    // a non-smooth loss, and a solver without its own dual point
    const loose = store.problem && store.problem.kinks && !known(status.dual_entries);
    setText(this.tick, certified ? proof(store) : known(status.iteration) ? words(store.problem).noGap || "no certificate yet" : "");
    this.tick.classList.toggle("good", reached);
    setAttribute(this.tick, "title", certified
      ? `A dual point proves that F is at most ${scientific(store.proved())} (relative) above its minimum; the gap is that of iteration ${iterations(status.gap_iteration)}.${reached ? " The stop rule asks for no more." : ""}${loose ? " The loss has kinks and this method keeps no dual point: the bound is true, but it does not close." : ""}`
      : "The duality gap has not been evaluated for this problem yet, or this problem has none.");
  }

  speak(store, status) {
    const now = performance.now();
    const turned = store.mode !== this.saidMode;
    if (!turned && (store.mode !== "running" || now - this.spoken < SPEAK_EVERY)) return;
    this.saidMode = store.mode;
    this.spoken = now;
    const said = [this.modeName(store)];
    if (store.message) said.push(store.message);
    else if (this.waits(store)) said.push(BEGIN.slice(0, -1));
    if (known(status.iteration)) {
      said.push(`iteration ${iterations(status.iteration)}`, `objective ${number(status.objective, 5)}`);
      if (known(status.relative_gap)) said.push(`relative gap ${scientific(status.relative_gap)}`);
      const rows = words(store.problem).rows;
      if (store.problem && known(rows.of(status, store.problem)[0])) said.push(`${rows.of(status, store.problem)[0]} ${rows.said}`);
    }
    setText(this.live, said.join(", ") + ".");
  }
}

export class Messages {
  constructor() {
    this.errorText = h("p", {});
    this.errorDetail = h("pre", {});
    this.details = h("details", {}, h("summary", {}, "details"), this.errorDetail);
    this.error = h(
      "div", { class: "box error", role: "alert", "data-testid": "error-box", hidden: true },
      this.errorText, this.details, closer(() => show(this.error, false), "dismiss the error"),
    );
    this.list = h("ul", {});
    this.notices = h(
      "div", { class: "box notices", role: "status", "data-testid": "notices", hidden: true },
      this.list, closer(() => this.clearNotices(), "dismiss the notices"),
    );
    this.element = h("div", { class: "messages" }, this.error, this.notices);
  }

  showError(text, detail) {
    setSymbols(this.errorText, text);
    setText(this.errorDetail, detail || "");
    show(this.details, Boolean(detail));
    show(this.error, true);
  }

  clearError() {
    show(this.error, false);
  }

  addNotices(notices) {
    for (const text of notices) {
      if (Array.from(this.list.children).some((item) => item.dataset.said === text)) continue;
      this.list.append(h("li", { "data-said": text }, ...symbols(text)));
    }
    while (this.list.children.length > 8) this.list.firstChild.remove();
    show(this.notices, this.list.children.length > 0);
  }

  clearNotices() {
    this.list.replaceChildren();
    show(this.notices, false);
  }
}

function closer(action, label) {
  return h("button", { type: "button", class: "close", "aria-label": label, onclick: action }, "×");
}
