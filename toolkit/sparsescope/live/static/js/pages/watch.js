// The page of a watched fit: F and D, the certified gap, and the largest rows of W.

import { h, setText, show } from "../dom.js";
import { s } from "../charts/svg.js";
import { count, known, number, plural, scientific, short } from "../charts/format.js";
import { closingChart, logChart } from "../charts/lanes.js";
import { mountPage } from "./frame.js";

export const VERSION = "1";

const HEIGHT = 260;
const CELL = 16; // pixels

export function mount(given) {
  return mountPage((page) => new WatchBody(page), given);
}

class WatchBody {
  constructor(page) {
    this.page = page;
    this.points = [];
    this.status = h("p", { class: "race-status", role: "status", "data-testid": "watch-status" });
    this.gapSvg = s("svg", { class: "race-svg", role: "img" });
    this.gapPlot = h("div", { class: "race-plot", "data-testid": "watch-gap" }, this.gapSvg);
    this.gapNote = h("p", { class: "prox-saying", "data-testid": "watch-gap-note" });
    this.valueSvg = s("svg", { class: "race-svg", role: "img" });
    this.valuePlot = h("div", { class: "race-plot", "data-testid": "watch-values" }, this.valueSvg);
    this.canvas = h("canvas", { class: "watch-weights", role: "img", "data-testid": "watch-weights", style: "image-rendering:pixelated;display:block;margin:4px 12px" });
    this.weightsNote = h("p", { class: "prox-saying" });
    this.names = h("p", { class: "prox-saying" });
    this.element = h(
      "div", { class: "race duality watch" },
      h("div", { class: "race-bar" }, this.status),
      h("div", { class: "duality-grid" },
        h("section", { class: "card", "aria-label": "relative gap" }, h("h2", {}, "Certified relative gap, (F − D)/|F|"), this.gapPlot, this.gapNote),
        h("section", { class: "card", "aria-label": "objective and dual value" }, h("h2", {}, "F from above, D from below"), this.valuePlot),
        h("section", { class: "card", "aria-label": "weights" }, h("h2", {}, "Weights W: features × classes"), this.canvas, this.weightsNote, this.names)),
    );
  }

  /** Whether everything that is known is on the page. */
  settled() {
    return this.fit !== undefined;
  }

  take(message) {
    if (message.type !== "fit") return;
    if (message.from === 0) this.points = [];
    this.points.push(...message.points);
    this.fit = message;
    this.page.requestDraw();
  }

  draw() {
    const { fit } = this;
    if (!fit) return;
    const some = fit.number > 0;
    const state = some ? `Fit ${count(fit.number)} of ${count(fit.fits)}: ${fit.facts}. ${fit.running ? "Running" : "Ended"} after ${plural(Math.max(0, this.points.length - 1), "iteration", "iterations")}.` : fit.facts;
    setText(this.status, state);
    for (const part of [this.gapPlot, this.valuePlot, this.canvas]) show(part, some);
    if (!some) return;
    this.drawGap();
    this.drawValues();
    this.drawWeights(fit.weights);
  }

  drawGap() {
    const measured = this.points.filter(([, , , gap]) => known(gap));
    const width = Math.max(280, this.gapPlot.clientWidth);
    const far = Math.max(1, ...this.points.map(([x]) => x));
    const colour = this.page.palette.colour("blue");
    const lanes = [{ name: "gap", colour, dash: null, points: measured.map(([x, , , gap]) => [x, gap]) }];
    const drawn = logChart({ lanes, far, width, height: HEIGHT, palette: this.page.palette, xTitle: "iterations", yTitle: "relative gap" });
    this.place(this.gapSvg, width, drawn);
    const missing = this.points.length - measured.length;
    const last = measured[measured.length - 1];
    const said = last ? `${scientific(last[3])} after ${plural(last[0], "iteration", "iterations")}` : "No gap was measured";
    setText(this.gapNote, `${said}.${missing && last ? ` At ${plural(missing, "iteration", "iterations")} none was measured; nothing is drawn there.` : ""}`);
    this.gapSvg.setAttribute("aria-label", `relative gap: ${said}`);
  }

  drawValues() {
    const width = Math.max(280, this.valuePlot.clientWidth);
    const far = Math.max(1, ...this.points.map(([x]) => x));
    const line = (name, at, colour) => ({ name, colour: this.page.palette.colour(colour), dash: null, points: this.points.filter((p) => known(p[at])).map((p) => [p[0], p[at]]) });
    const lanes = [line("F", 1, "blue"), line("D", 2, "vermillion")];
    const drawn = closingChart({ lanes, far, width, height: HEIGHT, palette: this.page.palette, xTitle: "iterations", yTitle: "objective" });
    this.place(this.valueSvg, width, drawn);
    const last = this.points[this.points.length - 1];
    this.valueSvg.setAttribute("aria-label", last ? `F ${number(last[1], 6)}, D ${known(last[2]) ? number(last[2], 6) : "not measured"}` : "no value yet");
  }

  place(svg, width, drawn) {
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    svg.setAttribute("width", width);
    svg.setAttribute("height", HEIGHT);
    svg.replaceChildren(...(drawn ? drawn.nodes : []));
  }

  drawWeights(weights) {
    show(this.canvas, Boolean(weights && weights.rows.length));
    if (!weights) return setText(this.weightsNote, "No weights were shown.");
    const [d, m] = weights.all;
    setText(this.weightsNote, weights.rows.length ? `${plural(this.fit.rows, "row", "rows")} of ${count(d)} not zero; shown: the ${count(weights.rows.length)} largest, ${count(weights.columns.length)} of ${plural(m, "class", "classes")}. Strongest colour: ±${short(weights.largest)}.` : `All ${count(d)} rows are zero.`);
    setText(this.names, weights.rows.length ? `From left to right: ${weights.columns.join(", ")}. From top to bottom: ${weights.rows.join(", ")}.` : "");
    if (!weights.rows.length) return;
    const [high, wide] = [weights.rows.length, weights.columns.length];
    Object.assign(this.canvas, { width: wide, height: high });
    Object.assign(this.canvas.style, { width: `${Math.min(this.gapPlot.clientWidth - 24, wide * 2 * CELL)}px`, height: `${Math.min(HEIGHT + 40, high * CELL)}px` });
    const image = new ImageData(wide, high);
    const pixels = new Uint32Array(image.data.buffer);
    weights.cells.flat().forEach((cell, k) => { pixels[k] = this.page.palette.pixel(cell); });
    this.canvas.getContext("2d").putImageData(image, 0, 0);
    this.canvas.setAttribute("aria-label", `the ${high} largest rows of the weights, ${wide} classes`);
  }
}
