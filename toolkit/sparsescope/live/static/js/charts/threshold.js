// The threshold strip: a dot for every feature at the λ at which it enters, and a bar at the λ in force, to be dragged.

import { fitCanvas, h, setAttribute, setText, show } from "../dom.js";
import { count, logTicks, ofIteration, number, scientific, short, tickTexts } from "./format.js";
import { CanvasChart } from "./chartbox.js";
import { drawSideTitle, fitText } from "./axes.js";
import { FONT } from "./palette.js";

const STRIP_LEFT = 94; // room for λ beside its bar, off the dots
const STRIP_RIGHT = 14;
const STRIP_TOP = 12;
const STRIP_BOTTOM = 22;
const NEAR_DOT = 12; // pixels from which a dot is pointed at
const LIFT = 0.3; // of the height: how far the largest row is lifted above the bar
const NAMED = 7; // the largest rows have their names beside them
const NAME_GAP = 8; // pixels between two names on one line, which otherwise read as one
const NAME_HEIGHT = 13;
const NAME_BESIDE = 8; // pixels from a dot to its name
const OFF_DOTS = 4; // pixels between a name and another dot, or the line below it
const TAG_NEAR = 15; // pixels from the bar within which a number of the axis would lie under λ
const MAY_ENTER = 0;
const PROVED_OUT = 1;
const IS_IN = 2;
const BAR_KEYS = { ArrowUp: 0.04, ArrowRight: 0.04, ArrowDown: -0.04, ArrowLeft: -0.04, PageUp: 0.4, PageDown: -0.4 };

/** The λ axis: from below the lowest λ and most levels to above the highest; as powers of ten, in calm steps. */
export function levelRange(levels, lam, lamMax) {
  let top = Math.max(lam, lamMax || 0);
  for (const level of levels) if (level > top && Number.isFinite(level)) top = level;
  const positive = Array.from(levels).filter((level) => level > 0).sort((a, b) => a - b);
  const low = positive.length ? positive[Math.floor(positive.length / 10)] : lam;
  const bottom = Math.max(Math.min(low, lam / 2), 1e-5 * top);
  return [10 ** (Math.floor(4 * Math.log10(bottom)) / 4), 10 ** (Math.ceil(4 * Math.log10(top * 1.6)) / 4)];
}

/** Where each dot stands, side by side: [{feature, x, y, foot, state}]; `part(level)` is 0 at the foot, 1 at the top. */
export function stand(strip, area, order, part, lam) {
  const most = Math.max(1e-300, ...strip.norms);
  const ranks = order === "level" ? ranked(strip.levels) : null;
  const height = (level) => area.top + area.height * (1 - Math.max(0, Math.min(1, part(level))));
  const bar = height(lam);
  return Array.from(strip.features, (feature, k) => {
    const share = ((ranks ? ranks[k] : k) + 0.5) / strip.features.length;
    const x = area.left + share * area.width;
    const foot = height(strip.levels[k]);
    const active = strip.states[k] === IS_IN;
    const y = active ? Math.max(area.top, bar - LIFT * area.height * (strip.norms[k] / most)) : foot;
    return { k, feature, x, y, foot: active ? bar : foot, state: strip.states[k] };
  });
}

function ranked(levels) {
  const order = Array.from(levels.keys()).sort((a, b) => levels[b] - levels[a] || a - b);
  const rank = new Int32Array(levels.length);
  order.forEach((k, at) => { rank[k] = at; });
  return rank;
}

/** What the strip shows, in a sentence. */
export function stripSentence(strip) {
  const [open, safe, active] = strip.counts;
  return `${count(active)} in · ${count(open)} may enter · ${count(safe)} proved out`;
}

/** Whether two names (`left`, `right`, and the middle `y`) would touch, or read as one. */
export function tooNear(one, other) {
  const beside = one.left < other.right + NAME_GAP && one.right > other.left - NAME_GAP;
  return beside && Math.abs(one.y - other.y) < NAME_HEIGHT;
}

/** Whether a name lies over another dot. */
export function hides(name, dot) {
  return isUnder(name, dot) && Math.abs(name.y - dot.y) < NAME_HEIGHT / 2 + OFF_DOTS;
}

/** Whether a name lies over the line below another dot. */
export function crosses(name, dot) {
  return isUnder(name, dot) && name.y > dot.y && name.y < dot.foot + NAME_HEIGHT / 2;
}

function isUnder(name, dot) {
  return dot.x > name.left - OFF_DOTS && dot.x < name.right + OFF_DOTS;
}

/**
 * Where the name of a dot stands: right of it, left of it or above it, off the lines of other dots if that can be, and
 * never over a dot or another name; null if there is no such place.
 */
export function placeOfName(dot, width, area, taken, dots) {
  const corners = [[dot.x + NAME_BESIDE, dot.y], [dot.x - NAME_BESIDE - width, dot.y], [dot.x - width / 2, dot.y - NAME_HEIGHT]];
  const others = dots.filter((other) => other.k !== dot.k);
  const free = corners
    .map(([left, y]) => ({ left, right: left + width, y }))
    .filter((name) => name.left >= area.left && name.right <= area.left + area.width && name.y >= 0)
    .filter((name) => !taken.some((other) => tooNear(name, other)) && !others.some((other) => hides(name, other)));
  return free.find((name) => !others.some((other) => crosses(name, other))) ?? free[0] ?? null;
}

/** Whether a number of the axis at height `y` stands clear of λ, which has its own number on the axis at the bar. */
export function clearOfBar(y, bar) {
  return Math.abs(y - bar) >= TAG_NEAR;
}

export class ThresholdChart extends CanvasChart {
  constructor(spec, context, height) {
    super(spec, context, height);
    this.bar = h("div", {
      class: "lam-bar", role: "slider", tabindex: "0", "data-testid": "lam-bar", "aria-label": "λ, the bar of the threshold strip",
      "aria-orientation": "vertical",
    }, h("span", { class: "lam-grip", "aria-hidden": "true" }));
    this.tag = this.bar.firstChild;
    this.order = "index";
    this.orderSelect = h(
      "select", { "aria-label": "order of the features", "data-testid": "strip-order", onchange: () => this.setOrder() },
      h("option", { value: "index" }, "by number"), h("option", { value: "level" }, "by level"),
    );
    this.box.tools.append(this.orderSelect);
    this.box.plot.append(this.bar);
    if (context.replay) { // nothing can be changed there
      this.bar.setAttribute("role", "img");
      this.bar.removeAttribute("tabindex");
    }
    this.places = [];
    this.drawnKey = "";
    this.bar.addEventListener("pointerdown", (event) => this.grab(event));
    this.bar.addEventListener("pointermove", (event) => this.drag(event));
    for (const type of ["pointerup", "pointercancel"]) this.bar.addEventListener(type, () => { this.held = false; });
    this.bar.addEventListener("keydown", (event) => this.key(event));
  }

  /** The dots as rows of a file. */
  rows() {
    const { strip } = this.context.store;
    const said = ["may enter", "proved out", "in"];
    return [["feature", "level", "norm", "state", "lam", "iteration"], ...Array.from(strip ? strip.features : [], (j, k) => [j, strip.levels[k], strip.norms[k], said[strip.states[k]], strip.lam, strip.iteration])];
  }

  setOrder() {
    this.order = this.orderSelect.value;
    this.context.requestDraw();
  }

  wish() {
    return { strip: Math.max(50, Math.floor(this.box.width - STRIP_LEFT - STRIP_RIGHT)) };
  }

  area() {
    return { left: STRIP_LEFT, top: STRIP_TOP, width: Math.max(10, this.box.width - STRIP_LEFT - STRIP_RIGHT), height: Math.max(10, this.box.height - STRIP_TOP - STRIP_BOTTOM) };
  }

  /** λ as the hand has it: the bar does not wait for the solver. */
  lam() {
    const { store } = this.context;
    if (this.context.replay) return store.strip && store.strip.lam !== null ? store.strip.lam : store.lam;
    const ratio = store.settings.lam_ratio;
    return store.problem && ratio ? ratio * store.problem.lam_reference : store.lam;
  }

  part(level) {
    const [low, high] = this.range;
    return Math.log(level / low) / Math.log(high / low);
  }

  draw() {
    const { store, palette } = this.context;
    const { strip, problem } = store;
    const sentence = !strip ? this.spec.empty : strip.reason;
    this.box.setEmpty(sentence);
    show(this.bar, !sentence);
    this.box.setNote(sentence || !strip ? "" : stripSentence(strip) + ofIteration(strip, store));
    const lam = this.lam();
    // a strip comes less often than a frame
    const key = sentence || !problem ? "" : [store.rewritten, strip.version, lam, store.settings.lam_ratio, problem.lam_max, this.box.width, this.box.height, window.devicePixelRatio, palette.theme, store.names.size, this.context.selected, this.order, this.held].join();
    if (key !== "" && key === this.drawnKey) return;
    this.drawnKey = key;
    const context = fitCanvas(this.canvas, this.box.width, this.box.height);
    context.clearRect(0, 0, this.box.width, this.box.height);
    this.places = [];
    if (key === "") return;
    const area = this.area();
    if (!this.held) this.range = levelRange(strip.levels, lam, problem.lam_max);
    this.drawAxis(context, area, lam);
    this.places = stand(strip, area, this.order, (level) => this.part(level), lam);
    this.drawDots(context, lam);
    this.drawBar(context, area, lam, palette);
    this.drawNames(context, area);
  }

  /** The colours are others now. */
  refresh() {
    this.drawnKey = "";
  }

  drawAxis(context, area, lam) {
    const { palette } = this.context;
    const ticks = logTicks(...this.range, Math.max(3, Math.floor(area.height / 28)));
    context.font = "11px " + FONT;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const height = (level) => Math.round(area.top + area.height * (1 - this.part(level)));
    tickTexts(ticks).forEach((text, k) => {
      const y = height(ticks[k]) - 0.5;
      context.fillStyle = palette.colour("grid");
      context.fillRect(area.left, y, area.width, 1);
      if (!clearOfBar(y, height(lam))) return;
      context.fillStyle = palette.colour("muted");
      context.fillText(text, area.left - 8, y);
    });
    drawSideTitle(context, area, "‖∇L‖ and λ", palette);
    context.textAlign = "center";
    context.textBaseline = "alphabetic";
    const { problem, strip } = this.context.store;
    const what = this.order === "level" ? "features by level" : `${count(problem.d)} features by number`;
    const shared = short(strip.binned, 2);
    const notes = strip.binned > 1 ? [`; a dot that is out stands for ${shared} neighbours, the highest`, `; one dot for ${shared} that are out`, ""] : [""];
    context.fillStyle = palette.colour("muted"); // the last tick may have left that of its line
    const note = notes.find((text) => context.measureText(what + text).width <= area.width) ?? "";
    context.fillText(what + note, area.left + area.width / 2, area.top + area.height + 16);
  }

  drawDots(context, lam) {
    const { palette, store, selected } = this.context;
    const colours = { [MAY_ENTER]: palette.colour("ink"), [PROVED_OUT]: palette.colour("kept"), [IS_IN]: palette.colour("vermillion") };
    const small = this.places.length > 400 ? 1.5 : 2.5;
    for (const kind of [PROVED_OUT, MAY_ENTER, IS_IN]) {
      for (const dot of this.places) {
        if (dot.state !== kind) continue;
        const entering = kind !== IS_IN && store.strip.levels[dot.k] > lam * (1 + 1e-6);
        context.fillStyle = entering ? palette.colour("blue") : colours[kind];
        context.strokeStyle = context.fillStyle;
        if (kind === IS_IN) {
          context.beginPath();
          context.moveTo(dot.x, dot.foot);
          context.lineTo(dot.x, dot.y);
          context.stroke();
        }
        context.beginPath();
        context.arc(dot.x, dot.y, kind === IS_IN || entering ? small + 1.5 : small, 0, 2 * Math.PI);
        context.fill();
        if (dot.feature === selected) {
          context.strokeStyle = palette.colour("blue");
          context.lineWidth = 2;
          context.beginPath();
          context.arc(dot.x, dot.y, small + 5, 0, 2 * Math.PI);
          context.stroke();
          context.lineWidth = 1;
        }
      }
    }
  }

  drawBar(context, area, lam, palette) {
    const y = Math.round(area.top + area.height * (1 - this.part(lam)));
    context.fillStyle = palette.colour("blue");
    context.fillRect(area.left, y - 1, area.width, 2);
    Object.assign(this.bar.style, { left: area.left + "px", width: area.width + "px", top: y - 10 + "px" });
    const { store } = this.context;
    const ratio = store.settings.lam_ratio;
    setText(this.tag, `λ ${scientific(lam, 2)}`);
    for (const [name, value] of [["aria-valuenow", ratio], ["aria-valuemin", 1e-4], ["aria-valuemax", 1], ["aria-valuetext", `λ is ${short(ratio, 3)} of its largest value; ${stripSentence(store.strip)}`]]) setAttribute(this.bar, name, value);
  }

  /** The rows of largest norm have their names beside their dots, where there is room. */
  drawNames(context, area) {
    const { palette, names, store } = this.context;
    const dots = new Map(this.places.map((dot) => [dot.feature, dot]));
    const taken = [];
    context.font = "600 11px " + FONT;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.lineJoin = "round";
    for (const feature of Array.from(store.strip.words).slice(0, NAMED)) {
      const dot = dots.get(feature);
      if (!dot) continue;
      const text = fitText(context, names.of(feature) || "", 110);
      const place = placeOfName(dot, context.measureText(text).width, area, taken, this.places);
      if (!place) continue;
      taken.push(place);
      context.lineWidth = 3; // a rim of paper: legible over lines
      context.strokeStyle = palette.colour("paper");
      context.strokeText(text, place.left, place.y);
      context.fillStyle = palette.colour("text");
      context.fillText(text, place.left, place.y);
    }
    context.lineWidth = 1;
  }

  // ------------------------------------------------------------------------------------------------------------ the bar
  grab(event) {
    if (event.button !== 0) return;
    this.held = true;
    this.bar.setPointerCapture(event.pointerId);
    event.preventDefault();
    this.bar.focus({ preventScroll: true });
  }

  drag(event) {
    if (!this.held) return;
    const area = this.area();
    const y = event.clientY - this.box.plot.getBoundingClientRect().top;
    const [low, high] = this.range;
    this.move(low * (high / low) ** (1 - (y - area.top) / area.height));
  }

  key(event) {
    const step = BAR_KEYS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.move(this.lam() * Math.exp(step));
  }

  move(lam) {
    const { store } = this.context;
    if (store.problem) this.context.setLam(lam / store.problem.lam_reference);
  }

  // --------------------------------------------------------------------------------------------------------- the pointer
  at(event) {
    let best = null;
    for (const dot of this.places) {
      const far = Math.hypot(dot.x - event.offsetX, dot.y - event.offsetY) - (dot.state === IS_IN ? 3 : 0);
      if (far < NEAR_DOT && (!best || far < best.far)) best = { ...dot, far };
    }
    return best;
  }

  picked(event) {
    const found = this.at(event);
    return found ? found.feature : null;
  }

  hover(event) {
    const { store, tooltip, names } = this.context;
    const dot = this.at(event);
    if (!dot) {
      tooltip.hide();
      return;
    }
    const { strip } = store;
    const level = strip.levels[dot.k];
    const state = ["may still enter", "proved to stay out at this λ", `in: norm ${number(strip.norms[dot.k], 4)}`][dot.state];
    const lines = [names.of(dot.feature) || `feature ${dot.feature}`, `enters below λ = ${number(level, 6)}`, `${short(level / strip.lam, 3)} of the λ in force`, state];
    tooltip.show(event, dot.state === IS_IN ? [lines[0], `‖∇L‖ = ${number(level, 6)}`, state] : lines);
  }
}
