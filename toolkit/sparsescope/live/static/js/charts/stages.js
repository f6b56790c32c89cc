// Stages of a sequence of models on the charts: a faint line where a stage ends, thinned where they are many, and the
// name of the one under the pointer.

import { h, setText, show } from "../dom.js";
import { count, plural } from "./format.js";

const APART = 12; // pixels between lines at least: with less room only every second, fifth, tenth, … is drawn
const NUMBERS = 48; // pixels between the numbers of stages on average
const LEAST = 24; // and at least
const CLOSE = 4; // pixels between lines at least where stages differ in length
const STRIDES = [1, 2, 5];

/**
 * The ends of stages among the events, one an iteration: [{at, number, text, features, used}]. `features` counts the
 * different ones used so far (from zero again where a new sequence begins); `steps` = {before, names: [[first number, text], …]} says how many
 * iterations there were before the sequence, and what its steps are called.
 */
export function stageEnds(features, iteration, steps) {
  const ends = [];
  const before = steps ? steps.before : 0;
  let last = NaN; // features at the event before
  let start = 0; // number of the first stage of the sequence, less one
  let known = NaN;
  for (let i = 0; i < features.length; i++) {
    if (features[i] < last) start = iteration[i - 1]; // a new sequence
    if ((iteration[i] > known || features[i] < last) && features[i] > 0) {
      const number = iteration[i] - start;
      const previous = features[i] >= last ? last : 0;
      const single = iteration[i] - known === 1; // else events were left out in between
      ends.push({ at: i, number, text: iteration[i] > before ? nameOf(number, steps) : "", features: single ? features[i] - previous : null, used: features[i] });
    }
    last = features[i];
    known = iteration[i];
  }
  return ends;
}

function nameOf(number, steps) {
  let text = "";
  for (const [first, name] of steps ? steps.names : []) if (first <= number) text = name;
  return text;
}

/** Of the lines over a width those that are drawn: every 1st, 2nd, 5th, 10th, … by number. */
export function everyWhich(total, width, apart = APART) {
  if (!(width > 0)) return Math.max(1, total); // no stride is wide enough
  for (let power = 1; ; power *= 10) {
    for (const step of STRIDES) if (total * apart <= width * step * power) return step * power;
  }
}

/** Pixels between the first and the last of some places from the left; those of the area where there is one place. */
export function widthOf(places, area) {
  if (places.length < 2) return area.width;
  let [low, high] = [Infinity, -Infinity];
  for (const { x } of places) [low, high] = [Math.min(low, x), Math.max(high, x)];
  return high - low;
}

/** What the pointer is told of a stage. */
export function sentence(end) {
  const made = end.text || (end.features ? plural(end.features, "feature", "features") : "");
  return [`stage ${count(end.number)}`, made, `${plural(end.used, "feature", "features")} so far`].filter(Boolean).join(" · ");
}

export class StageLayer {
  constructor() {
    this.element = h("div", { class: "stages", "aria-hidden": "true" });
    this.label = h("div", { class: "stage-label", "aria-hidden": "true", hidden: true });
    this.here = h("div", { class: "stage-here", hidden: true });
    this.drawn = "";
    this.places = []; // [{x, end}] in view
    this.area = null;
    this.pointed = null; // pixel under the pointer
  }

  /** Draw over an area; `at(end)` is the pixel or null when it is out of view, `numbered` writes numbers at some. */
  draw(ends, area, at, numbered) {
    this.area = area;
    this.places = [];
    for (const end of ends) {
      const x = at(end);
      if (x !== null) this.places.push({ x, end });
    }
    if (this.pointed !== null) this.hover(this.pointed); // names come later than events
    const wide = widthOf(this.places, area); // a new sequence begins further left again
    const step = everyWhich(Math.max(0, this.places.length - 1), wide);
    const key = JSON.stringify([area, step, numbered, this.places.map(({ x }) => Math.round(x))]);
    if (key === this.drawn) return;
    this.drawn = key;
    Object.assign(this.element.style, { left: area.left + "px", top: area.top + "px", width: area.width + "px", height: area.height + "px" });
    this.element.dataset.lines = "0";
    const nodes = [];
    let named = -Infinity;
    let lined = -Infinity;
    const numbers = everyWhich(Math.max(0, this.places.length - 1), wide, NUMBERS);
    for (const { x, end } of this.places) {
      if (end.number % step || x - lined < CLOSE) continue;
      lined = x;
      const line = h("div", { class: "stage-line" });
      line.style.left = Math.round(x) + "px";
      nodes.push(line);
      if (!numbered || end.number % numbers || x - named < LEAST || x > area.width - 16) continue;
      named = x;
      const number = h("div", { class: "stage-number" }, count(end.number));
      number.style.left = Math.round(x) + "px";
      nodes.push(number);
    }
    this.element.dataset.lines = String(nodes.filter((node) => node.className === "stage-line").length);
    this.element.replaceChildren(...nodes, this.here);
  }

  /** Name the stage whose end is nearest to the pointer, at pixel x of the area. */
  hover(x) {
    const { area } = this;
    this.pointed = x;
    const found = area && x >= 0 && x <= area.width ? this.nearest(x) : null;
    show(this.label, Boolean(found));
    show(this.here, Boolean(found));
    if (!found) return;
    setText(this.label, sentence(found.end));
    this.here.style.left = Math.round(found.x) + "px";
    this.label.style.top = area.top + area.height - 20 + "px";
    const left = Math.min(area.left + found.x + 4, area.left + area.width - this.label.offsetWidth - 2);
    this.label.style.left = Math.max(area.left, Math.round(left)) + "px";
  }

  nearest(x) {
    return this.places.reduce((best, place) => (best && Math.abs(best.x - x) <= Math.abs(place.x - x) ? best : place), null);
  }

  leave() {
    this.pointed = null;
    show(this.label, false);
    show(this.here, false);
  }
}
