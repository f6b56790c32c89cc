// The spectrum of the data, and Theorem 1 beside a run of gls. Both cost time, so nothing is asked for until somebody
// opens the card.

import { formula, h, setAttribute, setText, show } from "../dom.js";
import { count, known, number, scientific, short } from "./format.js";
import { Chart } from "./chartbox.js";
import { decades } from "./ranges.js";
import { logPlot } from "./staticplot.js";

const CLOSED = 56; // pixels of the closed card
const AGAIN = 2000; // ms between two looks at a run under way

/** What the values of a spectrum mean, in sentences. */
export function meaning(found) {
  const said = [`${count(found.count)} of ${count(found.bound)} singular values` + (found.rank < found.count ? `, ${count(found.count - found.rank)} of them zero` : "")];
  if (known(found.proxy)) said.push(`σ_2 / σ_${found.last} = ${short(found.proxy, 3)} (the paper's proxy of a condition number: 2nd over 1000th${found.last < 1000 ? ", or the last" : ""})`);
  if (known(found.condition)) said.push(`σ_1 / σ_${found.rank} = ${short(found.condition, 3)}`);
  const share = found.shares.find(([k]) => k === 10);
  if (share && found.count > 10) said.push(`the first 10 have ${number(100 * share[1], 2)} % of the sum`);
  return said;
}

/** What Theorem 1 says of a run and what the run did, in sentences. */
export function verdict(found) {
  if (found.reason) return [found.reason];
  const said = [
    found.linear ? "bound: ½((κ − 1)/(κ + 1))^t ‖W*‖², which is zero for the identity link: one step is the solution" : "bound: 2‖W*‖²/(t + 4), in the norm of LΣ̂ + λI",
  ];
  if (found.accelerated) said.push("the theorem applies to plain steps; this run is accelerated");
  if (known(found.contraction)) said.push(`measured: an iteration shrinks ‖W − W*‖ to ${number(found.contraction, 3)} of itself`);
  if (known(found.known_to)) said.push(`F* is known to a gap of ${scientific(Math.max(found.known_to, 0))}`);
  return said;
}

export class SpectrumChart extends Chart {
  constructor(spec, context) {
    super(spec, context, CLOSED);
    this.height = 288;
    this.open = false;
    this.button = h("button", { type: "button", "data-testid": "spectrum-button", "aria-expanded": "false", onclick: () => this.toggle() }, context.replay ? "show" : "compute");
    this.box.tools.append(this.button);
    this.parts = { spectrum: part("spectrum"), rate: part("rate") };
    this.box.plot.classList.add("pair");
    this.box.plot.append(...Object.values(this.parts).map(({ element }) => element));
    this.found = { spectrum: null, rate: null };
    this.asked = { spectrum: "", rate: "" };
    this.again = 0;
    this.drawn = "";
  }

  toggle() {
    this.open = !this.open;
    setText(this.button, this.open ? "close" : this.context.replay ? "show" : "compute");
    setAttribute(this.button, "aria-expanded", String(this.open));
    this.context.resized = true;
    this.refresh();
    this.context.requestDraw();
  }

  /** Ask for what is lacking, or old: the spectrum once a problem, the rate again and again while the run goes on. */
  ask() {
    const { store, link } = this.context;
    const problem = `${store.epoch}/${store.stream}/${store.problem.d}/${store.problem.n}`;
    this.question("spectrum", problem, link);
    if (!this.wantsRate()) return;
    const run = `${problem}/${store.total}/${store.marks.length}`;
    if (run === this.asked.rate) return;
    const wait = this.again - performance.now();
    if (wait > 0) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.context.requestDraw(), wait + 10);
      return;
    }
    this.again = Infinity; // until the answer is there
    this.question("rate", run, link, () => {
      this.again = performance.now() + AGAIN;
    });
  }

  question(kind, key, link, then = () => {}) {
    if (this.asked[kind] === key) return;
    this.asked[kind] = key;
    if (kind === "spectrum") this.found = { spectrum: null, rate: null };
    link.ask(kind, {}, (answer) => {
      then();
      if (kind === "rate" ? !this.asked.rate.startsWith(this.asked.spectrum) : this.asked.spectrum !== key) return;
      this.found[kind] = answer;
      this.refresh();
      this.context.requestDraw();
    });
  }

  wantsRate() {
    return this.context.store.settings.solver === "gls";
  }

  draw() {
    const { store, palette } = this.context;
    const { spectrum, rate } = this.parts;
    this.box.plot.style.height = this.open ? "" : CLOSED + "px";
    this.box.setEmpty(this.open || !store.problem ? "" : this.spec.empty);
    show(spectrum.element, this.open);
    show(rate.element, this.open && this.wantsRate());
    if (!this.open || !store.problem) return;
    this.ask();
    const width = this.box.width;
    const key = [width, palette.theme, this.wantsRate(), this.asked.spectrum, this.version].join();
    if (key === this.drawn) return;
    this.drawn = key;
    this.box.plot.classList.toggle("stacked", width < 760);
    const wide = this.wantsRate() && width >= 760 ? Math.floor(width / 2) : width;
    this.drawSpectrum(spectrum, this.found.spectrum, wide);
    if (this.wantsRate()) this.drawRate(rate, this.found.rate, wide);
  }

  drawSpectrum(where, found, width) {
    if (!this.says(where, found, "Computing the singular values …", meaning)) return;
    const kept = found.values.map((value, k) => [found.number[k], value]).filter(([k]) => k <= found.rank);
    this.plot(where, width, "number of the singular value", "singular value σ of X", [
      { x: kept.map(([k]) => k), y: kept.map(([, value]) => value), name: "σ", colour: "blue", dash: "solid", dots: kept.length < 120 },
    ]);
  }

  drawRate(where, found, width) {
    if (!this.says(where, found, "Solving to full precision, to know F(W*) …", verdict) || found.reason) return;
    const from1 = (values) => [found.iteration.filter((t, k) => t > 0 && values[k] > 1e-16), values.filter((v, k) => found.iteration[k] > 0 && v > 1e-16)];
    const [tx, ty] = from1(found.excess);
    const [bx, by] = from1(found.bound);
    const distances = found.distances.filter(([t, v]) => t > 0 && v > 1e-16);
    this.plot(where, width, "iterations", "F − F* · squared distance", [
      { x: bx, y: by, name: "Theorem 1", colour: "vermillion", dash: "dash" },
      { x: tx, y: ty, name: "F(W) − F(W*)", colour: "blue", dash: "solid", dots: tx.length < 3 },
      { x: distances.map(([t]) => t), y: distances.map(([, v]) => v), name: "‖W − W*‖²", colour: "green", dash: "dot", dots: distances.length < 60 },
    ]);
  }

  /** The sentences of a part; false when there is nothing to plot yet. */
  says(where, found, waiting, words) {
    const lines = !found ? [waiting] : found.error ? ["It could not be computed: " + found.error] : words(found);
    where.words.replaceChildren(...lines.map((line) => h("span", {}, ...formula(line))));
    where.words.classList.toggle("bad", Boolean(found && found.error));
    const plotted = Boolean(found) && !found.error && !found.reason;
    show(where.target, plotted);
    return plotted;
  }

  plot(where, width, xTitle, yTitle, lines) {
    const xs = tight(lines.flatMap((line) => line.x));
    const ys = tight(lines.flatMap((line) => line.y));
    where.target.replaceChildren(logPlot({ width, height: this.height, xs, ys, titles: [xTitle, yTitle], lines, palette: this.context.palette }));
  }

  refresh() {
    this.version = (this.version || 0) + 1;
  }

  destroy() {
    clearTimeout(this.timer);
  }
}

/** One of the two pictures, and what is said of it. */
function part(name) {
  const words = h("p", { class: "card-hint said", role: "status", "data-testid": name + "-words" });
  const target = h("div", { class: "pair-plot", "data-testid": name + "-plot" });
  return { words, target, element: h("div", { class: "pair-part" }, words, target) };
}

/** A log range with a little air around the values; whole decades where they span many. */
function tight(values) {
  const positive = values.filter((value) => value > 0);
  if (!positive.length) return [1, 10];
  const low = positive.reduce((a, b) => Math.min(a, b));
  const high = positive.reduce((a, b) => Math.max(a, b));
  return high / low > 1e9 ? decades([low, high]) : [low / 1.15, high * 1.15];
}
