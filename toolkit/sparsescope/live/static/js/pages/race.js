// The race page: (F − F*)/|F*| of every lane over the clock, a table of who was how far when, and a replay.

import { h, setText } from "../dom.js";
import { s } from "../charts/svg.js";
import { count, known, number, plural, scientific, short } from "../charts/format.js";
import { laneColour, linearChart, logChart, seedBands } from "../charts/lanes.js";
import { downloadRows } from "../save.js";
import { mountPage } from "./frame.js";
import { WorkingBody } from "./working.js";

export const VERSION = "1";

const CLOCKS = { seconds: "CPU seconds of the solver", passes: "passes over the data", iterations: "iterations" };
const REPLAY = 6000; // ms that a replay takes
const SHOWS = { excess: "(F − F*)/|F*|", accuracy: "accuracy", rows: "rows in use" };

export function mount(given) {
  return mountPage((page) => new RaceBody(page), given);
}

class RaceBody extends WorkingBody {
  constructor(page) {
    super(page, "race", "Race again");
    this.lanes = new Map(); // number -> {name, seed, seconds, passes, iterations, objective, rows}
    this.until = null; // part of the clock that is shown, 0 to 1; null: all
    this.replaying = h("button", { type: "button", class: "act", "data-testid": "race-replay", title: "watch the measured points come again, in slow motion", onclick: () => this.replay() }, "Replay");
    this.axis = h("select", { "data-testid": "race-axis", "aria-label": "x axis", onchange: () => page.requestDraw() },
      ...["seconds", "passes", "iterations"].map((unit) => h("option", { value: unit }, unit)));
    this.what = h("select", { "data-testid": "race-shows", "aria-label": "what the lines show", onchange: () => page.requestDraw() },
      ...Object.entries(SHOWS).map(([key, text]) => h("option", { value: key }, text)));
    this.csv = h("button", { type: "button", "data-testid": "race-csv", onclick: () => this.save() }, "CSV");
    this.scrub = h("input", { type: "range", min: 0, max: 1, step: "any", value: 1, class: "race-scrub", "aria-label": "time of the race that is shown", "data-testid": "race-scrub", oninput: () => this.look(Number(this.scrub.value)) });
    this.svg = s("svg", { class: "race-svg", role: "img" });
    this.plot = h("div", { class: "race-plot", "data-testid": "race-plot" }, this.svg);
    this.note = h("p", { class: "prox-saying", "data-testid": "race-note" });
    this.table = h("table", { class: "race-table", "data-testid": "race-table" });
    this.parts = h("section", { class: "card race-parts", "aria-label": "where the time goes", "data-testid": "race-parts" });
    this.element = h(
      "div", { class: "race" },
      this.bar(this.replaying, this.scrub, h("label", { class: "inline" }, "y ", this.what), h("label", { class: "inline" }, "x ", this.axis), this.csv),
      h("section", { class: "card", "aria-label": "lines" }, this.plot, this.note),
      h("section", { class: "card race-card", "aria-label": "times", tabindex: "0" }, this.table),
      this.parts,
    );
  }

  /** Whether everything that the settings ask for is on the page. */
  settled() {
    return super.settled() && this.table.rows.length > 0;
  }

  /** A message beside the picture. */
  take(message) {
    if (message.type === "points") this.onPoints(message);
    else if (message.type === "status") this.onStatus(message);
    else if (message.type === "table") this.drawTable(message);
  }

  onPoints({ lanes, best, lower }) {
    this.best = best;
    this.width = known(lower) ? Math.max(best - lower, 0) / (Math.abs(best) || 1) : null;
    for (const part of lanes) {
      if (part.from === 0) this.lanes.set(part.lane, { name: part.name, seed: part.seed, seconds: [], passes: [], iterations: [], objective: [], rows: [], looks: { seconds: [], passes: [], iterations: [], accuracy: [] } });
      const lane = this.lanes.get(part.lane);
      for (const key of ["seconds", "passes", "iterations", "objective", "rows"]) lane[key].push(...part[key]);
      for (const key of Object.keys(part.looks || {})) lane.looks[key].push(...part.looks[key]);
    }
    this.page.requestDraw();
  }

  onStatus(message) {
    super.onStatus(message);
    this.replaying.disabled = message.running;
    this.page.requestDraw();
  }

  /** The lanes of a race that begins. */
  begin(picture) {
    this.picture = picture;
    this.lanes = new Map();
    this.table.replaceChildren();
    this.parts.replaceChildren();
    this.axis.value = picture.unit;
    this.look(1, false);
  }

  draw() {
    this.drawLines();
  }

  look(part, draw = true) {
    this.until = part;
    this.scrub.value = String(part);
    if (draw) this.page.requestDraw();
  }

  replay() {
    const began = performance.now();
    const step = (now) => {
      const part = Math.min(1, (now - began) / REPLAY);
      if (this.page.gone || this.running) return;
      this.look(part);
      if (part < 1 && this.replayFrom === began) requestAnimationFrame(step);
    };
    this.replayFrom = began;
    requestAnimationFrame(step);
  }

  // -------------------------------------------------------------------------------------------------------- picture
  /** The lanes as they are shown: x, y up to the chosen time. */
  shown() {
    const unit = this.axis.value;
    // of all objectives, the smallest is the best that is known of F*
    const best = Math.min(this.best ?? Infinity, ...[...this.lanes.values()].map((lane) => lane.objective.reduce((a, b) => (known(b) ? Math.min(a, b) : a), Infinity)));
    const scale = Math.abs(best) || 1;
    const all = [...this.lanes.values()];
    const far = all.reduce((most, lane) => Math.max(most, lane[unit][lane[unit].length - 1] || 0), 0);
    const names = [...new Set(this.picture ? this.picture.lanes : [])];
    const limit = far * (this.until ?? 1);
    return {
      far, best, unit,
      lanes: all.map((lane) => {
        const points = [];
        lane[unit].forEach((x, k) => {
          if (x <= limit || k === 0) points.push([x, Math.max((lane.objective[k] - best) / scale, 0), lane.rows[k]]);
        });
        return { ...lane, points, colour: this.page.palette.colour(laneColour(names, lane.name)) };
      }),
    };
  }

  drawLines() {
    const width = Math.max(280, this.plot.clientWidth);
    const height = Math.max(220, Math.min(420, Math.round(window.innerHeight * 0.46)));
    const { palette } = this.page;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("height", height);
    const { lanes, far, unit } = this.shown();
    if (this.what.value !== "excess") return this.drawOther(lanes, { far, width, height, palette, xTitle: CLOCKS[unit], yTitle: SHOWS[this.what.value] }, unit);
    const chart = logChart({ lanes: seedBands(lanes), far, width, height, palette, xTitle: CLOCKS[unit], yTitle: SHOWS.excess, band: this.width });
    if (!chart) {
      this.svg.replaceChildren(s("text", { x: width / 2, y: height / 2, "text-anchor": "middle", fill: palette.colour("muted"), "font-size": 13 }, "The lines begin when F* is known."));
      setText(this.note, "");
      return;
    }
    this.svg.replaceChildren(...chart.nodes);
    this.svg.setAttribute("aria-label", this.said(chart.drawn, unit));
    setText(this.note, known(this.width) ? `F* is known to ${scientific(this.width)}${this.width > chart.low ? ": the grey band" : ""}.` : "F* is not certified.");
  }

  /** Accuracy or rows over the clock, on a linear axis. */
  drawOther(lanes, options, unit) {
    const rows = this.what.value === "rows";
    const limit = options.far * (this.until ?? 1);
    const other = lanes.map((lane) => ({ ...lane, thin: lanes.filter(({ name }) => name === lane.name).length > 1, points: rows ? lane.points.map(([x, , y]) => [x, y]) : lane.looks[unit].map((x, k) => [x, lane.looks.accuracy[k]]).filter(([x, y]) => known(y) && x <= limit) }));
    const values = other.flatMap(({ points }) => points.slice(rows || points.length < 2 ? 0 : 1).map(([, y]) => y)); // that of W = 0 says nothing
    const least = values.reduce((a, b) => Math.min(a, b), 1);
    const [low, high] = rows ? [0, values.reduce((a, b) => Math.max(a, b), 1)] : [Math.floor(10 * least) / 10, 1];
    const chart = linearChart({ lanes: other, low, high, ...options, tick: rows ? count : (y) => `${short(100 * y, 3)} %` });
    this.svg.replaceChildren(...(chart ? chart.nodes : [s("text", { x: options.width / 2, y: options.height / 2, "text-anchor": "middle", fill: options.palette.colour("muted"), "font-size": 13 }, "Nothing is measured yet.")]));
    const last = (points) => points[points.length - 1][1];
    this.svg.setAttribute("aria-label", chart ? `${SHOWS[this.what.value]}: ` + chart.drawn.map(({ name, points }) => `${name} ends at ${rows ? count(last(points)) : `${number(100 * last(points), 3)} %`}`).join("; ") : "");
    setText(this.note, rows ? "" : "Accuracy on held-out samples where there are any, measured at the dots; it is not on the clock.");
  }

  said(lanes, unit) {
    return "Race: " + lanes.map(({ name, points }) => {
      const [x, y, rows] = points[points.length - 1];
      return `${name} at ${short(x)} ${unit}: ${scientific(y)} above the optimum, ${plural(rows, "row", "rows")}`;
    }).join("; ");
  }

  // ---------------------------------------------------------------------------------------------------------- table
  drawTable({ rows, unit, levels, width, parts }) {
    const head = h("tr", {}, h("th", { scope: "col" }, `${unit} to (F − F*)/|F*| ≤`), ...levels.map((level) => h("th", { scope: "col" }, scientific(level, 0))), h("th", { scope: "col" }, "rows"), h("th", { scope: "col" }, "accuracy"), h("th", { scope: "col", title: "median CPU time of an iteration" }, "an iteration"), h("th", { scope: "col" }, "not on the clock"), h("th", { scope: "col" }, "ended"));
    const best = levels.map((_, k) => Math.min(...rows.map((row) => row.times[k] ?? Infinity)));
    const cell = (row, k) => {
      const time = row.times[k];
      if (!known(time)) return h("td", { title: width > 0.1 * levels[k] ? "F* is not known well enough for this level" : "not reached within the budget" }, "–");
      const [low, high] = row.spread[k];
      const text = short(time, 3) + (known(low) && low !== high ? ` (${short(low, 2)}–${short(high, 2)})` : "");
      return h("td", { class: time === best[k] ? "is-best" : "" }, text);
    };
    this.drawParts(parts || {});
    this.table.replaceChildren(h("thead", {}, head), h("tbody", {}, ...rows.map((row) => h("tr", {},
      h("th", { scope: "row" }, row.name), ...levels.map((_, k) => cell(row, k)), h("td", {}, known(row.rows) ? String(row.rows) : "–"), h("td", {}, known(row.accuracy) ? `${number(100 * row.accuracy, 3)} %` : "–"), h("td", {}, known(row.iteration_ms) ? `${short(row.iteration_ms, 3)} ms` : "–"), h("td", {}, `${number(row.observing, 2)} s`), h("td", { class: "race-end" }, row.message)))));
  }

  /** What iterations spend their time on: a bar for each solver, its parts named. */
  drawParts(parts) {
    const tones = [0.95, 0.7, 0.5, 0.34, 0.2];
    const bars = Object.entries(parts).filter(([, found]) => found.length).map(([name, found]) => h("div", { class: "race-parts-row" },
      h("b", {}, name),
      h("span", { class: "race-parts-bar", "aria-hidden": "true" }, ...found.map(([, share], k) => h("i", { style: `width:${(100 * share).toFixed(1)}%; opacity:${tones[k] || 0.15}` }))),
      h("span", { class: "race-parts-words" }, found.map(([part, share]) => `${part} ${number(100 * share, 2)} %`).join(" · "))));
    this.parts.replaceChildren(...(bars.length ? [h("h2", {}, "Where an iteration's time goes"), ...bars, h("p", { class: "card-hint" }, "Further iterations from the last point, under Python's profiler, which makes Python's share larger than it is.")] : []));
  }

  save() {
    const rows = [["solver", "seed", "iterations", "passes", "seconds", "objective", "rows"]];
    for (const lane of this.lanes.values()) lane.iterations.forEach((_, k) => rows.push([lane.name, lane.seed, lane.iterations[k], lane.passes[k], lane.seconds[k], lane.objective[k], lane.rows[k]]));
    downloadRows("race.csv", rows);
  }
}
