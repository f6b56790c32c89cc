// The cursor of a chart over time: a line at one event and what was measured there, for the pointer and for the keyboard.

import { h, setText, show } from "../dom.js";
import { count, short } from "./format.js";

const CURSOR_STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

/** The position of the event whose clock is nearest to `value`; -1 without events. */
export function nearest(clock, value) {
  let best = -1;
  for (let i = 0; i < clock.length; i++) if (!Number.isNaN(clock[i]) && (best < 0 || Math.abs(clock[i] - value) < Math.abs(clock[best] - value))) best = i;
  return best;
}

/** The newest known value of a column at or before an event of its segment: [value, position], or null. */
export function knownAt(values, segment, at) {
  for (let i = at; i >= 0 && segment[i] === segment[at]; i--) if (!Number.isNaN(values[i])) return [values[i], i];
  return null;
}

/** What a chart shows at an event, line by line. A value that was measured earlier says when. */
export function readings(entries, store, at) {
  const [segment, iteration] = [store.column("segment"), store.column("iteration")];
  const lines = [];
  for (const entry of entries) {
    const columns = entry.area ? [entry.low, entry.high] : [entry.column];
    const found = columns.map((name) => store.values(name)).map((values) => values && knownAt(values, segment, at));
    if (found.some((one) => !one)) continue;
    const percent = /_accuracy$|_precision_|_f1$/.test(entry.column || "");
    const text = found.map(([value]) => (percent ? short(100 * value, 4) + " %" : short(value, 4))).join(" … ");
    const when = iteration[found[0][1]];
    lines.push(`${entry.label} ${text}` + (found[0][1] === at ? "" : ` (at ${count(when)})`));
  }
  return lines;
}

export class Readout {
  constructor(chart) {
    this.chart = chart;
    this.line = h("div", { class: "cursor-line", hidden: true });
    this.said = h("p", { class: "sr-only", "aria-live": "polite" });
    const { plot } = chart.box;
    plot.append(this.line, this.said);
    Object.assign(plot, { tabIndex: 0 });
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-label", `${chart.spec.title}: left and right move the cursor`);
    plot.addEventListener("pointermove", (event) => this.point(event));
    plot.addEventListener("pointerleave", () => this.leave());
    plot.addEventListener("blur", () => this.leave());
    plot.addEventListener("keydown", (event) => this.key(event));
  }

  /** The position of the event under the cursor, the same in all charts; -1: there is no cursor. */
  get at() {
    return this.chart.context.cursorAt;
  }

  set at(position) {
    if (this.chart.context.cursorAt !== position) this.chart.context.requestDraw();
    this.chart.context.cursorAt = position;
  }

  point(event) {
    const { chart } = this;
    const { tooltip, store } = chart.context;
    const area = chart.area();
    const box = chart.box.plot.getBoundingClientRect();
    const part = (event.clientX - box.left - area.left) / area.width;
    const clock = chart.clock(store);
    if (part < 0 || part > 1 || !clock || !clock.length) {
      this.leave();
      return;
    }
    this.at = nearest(clock, chart.axis.value(part));
    this.draw();
    tooltip.show(event, this.lines());
  }

  key(event) {
    const { store, tooltip } = this.chart.context;
    const step = CURSOR_STEPS[event.key];
    if (step === undefined || !store.n) return;
    event.preventDefault();
    event.stopPropagation();
    this.at = Math.max(0, Math.min(store.n - 1, (this.at < 0 ? store.n - 1 : this.at) + step));
    this.draw();
    const lines = this.lines();
    setText(this.said, lines.join(", "));
    const box = this.line.getBoundingClientRect();
    tooltip.show({ clientX: box.left, clientY: box.top + 12 }, lines);
  }

  lines() {
    const { store } = this.chart.context;
    const { axis, entries } = this.chart;
    const where = axis.x === "iterations" ? "" : `, ${short(this.chart.clock(store)[this.at], 4)} ${axis.x}`;
    return [`iteration ${count(store.column("iteration")[this.at])}${where}`, ...readings(entries, store, this.at)];
  }

  draw() {
    const { chart } = this;
    const clock = chart.clock(chart.context.store);
    if (clock && this.at >= clock.length) this.at = -1;
    const part = this.at < 0 || !clock ? -1 : chart.axis.part(clock[this.at]);
    show(this.line, part >= 0 && part <= 1);
    if (!(part >= 0 && part <= 1)) return;
    const area = chart.area();
    Object.assign(this.line.style, { left: Math.round(area.left + part * area.width) + "px", top: area.top + "px", height: area.height + "px" });
  }

  leave() {
    this.at = -1; // while somebody looks back the page puts it to that iteration again
    show(this.line, false);
    this.chart.context.tooltip.hide();
  }
}
