// The geometry page: contours of F on a plane of two weights, and the iterates of solvers from a start that is dragged.

import { drag, h, setText, show } from "../dom.js";
import { s } from "../charts/svg.js";
import { known, linearTicks, number, plural, scientific, short } from "../charts/format.js";
import { LANE_COLOURS, endLabels, logChart } from "../charts/lanes.js";
import { mountPage } from "./frame.js";

export const VERSION = "1";

const PAD = 34; // of the plane's picture, for the numbers at its axes
const STEP = 0.03; // of half the picture, for an arrow key
const OUTSIDE = 60; // half widths: a path is followed no farther
const MOST_FAR = 10; // bounds of the settings of the start

export function mount(given) {
  return mountPage((page) => new GeometryBody(page), given);
}

class GeometryBody {
  constructor(page) {
    this.page = page;
    this.asked = new Map(); // a start -> when it was asked for
    this.answers = []; // ms from a start to its iterates
    this.drawn = 0; // pictures that were painted
    this.svg = s("svg", { class: "plane-svg" });
    this.plot = h("div", { class: "plane-plot", tabindex: "0", role: "application", "data-testid": "plane" }, this.svg);
    this.status = h("p", { class: "plane-status", role: "status", "data-testid": "plane-status" });
    this.sentence = h("p", { class: "prox-saying", "data-testid": "plane-sentence" });
    this.key = h("p", { class: "plane-key" });
    this.table = h("table", { class: "race-table", "data-testid": "plane-table" });
    this.chartSvg = s("svg", { class: "race-svg", role: "img" });
    this.chart = h("div", { class: "race-plot", "data-testid": "plane-chart" }, this.chartSvg);
    this.note = h("p", { class: "prox-saying", "data-testid": "plane-note" });
    this.element = h(
      "div", { class: "plane-page" },
      h("section", { class: "card plane-card", "aria-label": "plane of two weights" }, this.plot, this.status, this.key, this.sentence),
      h("div", { class: "plane-beside" },
        h("section", { class: "card", "aria-label": "sub-optimality" }, this.chart, this.note),
        h("section", { class: "card race-card", "aria-label": "iterations", tabindex: "0" }, this.table)),
    );
    this.plot.addEventListener("pointerdown", (event) => this.grab(event));
    this.plot.addEventListener("keydown", (event) => this.press(event));
  }

  /** Whether everything that the settings ask for is on the page. */
  settled() {
    return Boolean(this.failed || (this.scene && this.paths && this.paths.done && !this.said && !this.asked.size));
  }

  take(message) {
    if (message.type === "scene") this.scene = message;
    else if (message.type === "paths") this.onPaths(message);
    else if (message.type === "status") {
      if (message.error) this.page.messages.showError(message.error, message.detail);
      this.said = message.error ? "" : message.text;
      this.failed = Boolean(message.error);
    }
    this.page.requestDraw();
  }

  onPaths(message) {
    this.paths = message;
    const name = message.wanted.join();
    if (this.asked.has(name)) {
      this.answers.push(performance.now() - this.asked.get(name));
      this.asked.clear(); // older starts were overtaken by this one
    }
  }

  // ---------------------------------------------------------------------------------------------------------- hands
  grab(event) {
    if (!this.scene || this.page.recorded) return;
    drag(this.plot, event, (next) => this.follow(next));
  }

  follow(event) {
    const box = this.svg.getBoundingClientRect();
    const { half, middle } = this.scene;
    const inner = this.size - 2 * PAD;
    const inside = (x) => Math.min(half, Math.max(-half, x));
    this.move([
      middle[0] + inside(((event.clientX - box.left - PAD) / inner) * 2 * half - half),
      middle[1] + inside(half - ((event.clientY - box.top - PAD) / inner) * 2 * half),
    ]);
  }

  press(event) {
    const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!way || !this.scene || !this.at() || this.page.recorded) return;
    event.preventDefault();
    const size = (event.shiftKey ? 5 : 1) * STEP * this.scene.half;
    const [a, b] = this.at();
    this.move([a + way[0] * size, b + way[1] * size]);
  }

  /** The start as somebody wants it now, which the iterates may not show yet. */
  at() {
    return this.wished || (this.paths && this.paths.start);
  }

  /** Move the start to a point of the plane. */
  move(point) {
    this.wished = point;
    const [start1, start2] = this.scene.to_start.map(([p, q]) => Number(Math.min(MOST_FAR, Math.max(-MOST_FAR, p * point[0] + q * point[1])).toFixed(4)));
    this.asked.set([start1, start2].join(), performance.now());
    this.page.set({ start1, start2 });
    this.page.requestDraw();
  }

  // ------------------------------------------------------------------------------------------------------- pictures
  draw() {
    setText(this.status, this.said || "");
    show(this.status, Boolean(this.said));
    this.plot.classList.toggle("is-waiting", Boolean(this.said && this.said.startsWith("Finding")) || Boolean(this.failed));
    if (!this.scene || !this.paths) return;
    this.drawn += 1;
    if (this.wished && !this.asked.size) this.wished = null; // the newest iterates are there
    this.drawPlane();
    this.drawChart();
    this.drawTable();
    setText(this.sentence, this.scene.sentence);
  }

  colour(name) {
    const at = (this.page.picture ? this.page.picture.lanes : []).indexOf(name);
    return this.page.palette.colour(LANE_COLOURS[Math.max(at, 0) % LANE_COLOURS.length]);
  }

  drawPlane() {
    const { scene, paths } = this;
    this.size = Math.max(240, this.plot.clientWidth);
    const { size } = this;
    const c = (name) => this.page.palette.colour(name);
    const inner = size - 2 * PAD;
    const scale = inner / (2 * scene.half);
    const X = (x) => PAD + (x - scene.middle[0] + scene.half) * scale;
    const Y = (y) => PAD + (scene.half - y + scene.middle[1]) * scale;
    const polygon = (flat) => {
      let d = "";
      for (let k = 0; k < flat.length; k += 2) d += `${k ? "L" : "M"}${X(flat[k]).toFixed(2)} ${Y(flat[k + 1]).toFixed(2)}`;
      return d + "Z";
    };
    this.svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
    const inside = s("g", { "clip-path": "url(#plane-clip)" });
    for (const curve of [...scene.contours].reverse()) {
      if (curve.points.length) inside.append(s("path", { d: polygon(curve.points), fill: c("blue"), "fill-opacity": 0.045, stroke: c("blue"), "stroke-opacity": 0.5, class: "plane-contour", "data-level": curve.level }));
    }
    inside.append(
      s("line", { x1: X(0), x2: X(0), y1: PAD, y2: size - PAD, stroke: c("axis"), "stroke-width": 0.75 }),
      s("line", { y1: Y(0), y2: Y(0), x1: PAD, x2: size - PAD, stroke: c("axis"), "stroke-width": 0.75 }),
    );
    for (const [x1, y1, x2, y2] of scene.kinks) inside.append(s("line", { x1: X(x1), y1: Y(y1), x2: X(x2), y2: Y(y2), stroke: c("ink"), "stroke-width": 1, "stroke-dasharray": "1 3", class: "plane-kink" }));
    if (scene.ball.length) inside.append(s("path", { d: polygon(scene.ball), fill: "none", stroke: c("muted"), "stroke-width": 1.5, "stroke-dasharray": "5 3", class: "plane-ball" }));
    const { model } = paths;
    if (model) inside.append(
      s("circle", { cx: X(model.centre[0]), cy: Y(model.centre[1]), r: model.radius * scale, fill: "none", stroke: c("muted"), "stroke-dasharray": "2 3", class: "plane-model" }),
      s("line", { x1: X(paths.start[0]), y1: Y(paths.start[1]), x2: X(model.centre[0]), y2: Y(model.centre[1]), stroke: c("muted"), "stroke-dasharray": "2 3" }),
    );
    const ends = [];
    for (const path of paths.paths) {
      const { line, dots, end } = trail(path.points, X, Y, OUTSIDE * size);
      if (!line) continue;
      const colour = this.colour(path.name);
      inside.append(
        s("path", { d: line, fill: "none", stroke: colour, "stroke-width": 1, "stroke-opacity": 0.7, "stroke-dasharray": path.projected ? "3 3" : null, class: "plane-line" }),
        s("path", { d: dots, fill: "none", stroke: colour, "stroke-width": 5, "stroke-linecap": "round", class: "plane-path", "data-lane": path.name }),
      );
      ends.push({ x: Math.min(size - PAD - 60, Math.max(PAD, end[0])), y: Math.min(size - PAD - 6, Math.max(PAD + 12, end[1])), colour, text: path.name });
    }
    const [ox, oy] = [X(scene.optimum[0]), Y(scene.optimum[1])];
    const [gx, gy] = this.at();
    inside.append(s("path", { d: `M${ox - 7} ${oy}H${ox + 7}M${ox} ${oy - 7}V${oy + 7}`, stroke: c("ink"), "stroke-width": 2.5, class: "plane-optimum" }));
    const nodes = [
      s("clipPath", { id: "plane-clip" }, s("rect", { x: PAD, y: PAD, width: inner, height: inner })),
      inside, ...this.frame(X, Y, size),
      ...endLabels(ends, 90),
      s("circle", { cx: X(gx), cy: Y(gy), r: 8, fill: c("paper"), stroke: c("ink"), "stroke-width": 2, class: "grip", "data-testid": "plane-grip" }),
      s("text", { x: X(gx), y: Y(gy) - 13, "text-anchor": "middle", "font-size": 12, "font-weight": 600, fill: c("ink") }, "start"),
    ];
    this.svg.replaceChildren(...nodes);
    this.plot.setAttribute("aria-label", this.described());
    const slice = scene.exact ? "the optimum" : "smallest F on this slice";
    setText(this.key, `+ ${slice} · dotted lines: kinks of Ω${scene.ball.length ? " · dashed: where Ω is as large as there" : ""}${this.paths.model ? " · circle: the model of the gradient step" : ""}`);
  }

  frame(X, Y, size) {
    const { half, middle, names } = this.scene;
    const c = (name) => this.page.palette.colour(name);
    const text = (attributes, words) => s("text", { "font-size": 11, fill: c("muted"), ...attributes }, words);
    const nodes = [s("rect", { x: PAD, y: PAD, width: size - 2 * PAD, height: size - 2 * PAD, fill: "none", stroke: c("grid") })];
    const ticks = (at) => linearTicks(at - half, at + half, size < 400 ? 4 : 6);
    for (const tick of ticks(middle[0])) nodes.push(text({ x: X(tick), y: size - PAD + 14, "text-anchor": "middle" }, short(tick)));
    for (const tick of ticks(middle[1])) nodes.push(text({ x: PAD - 5, y: Y(tick) + 4, "text-anchor": "end" }, short(tick)));
    nodes.push(
      text({ x: size - PAD, y: size - 4, "text-anchor": "end", "font-size": 12, fill: c("text") }, "weight of " + names[0] + " →"),
      text({ x: 4, y: PAD - 12, "font-size": 12, fill: c("text") }, "↑ weight of " + names[1]),
    );
    return nodes;
  }

  described() {
    const { scene, paths } = this;
    const point = ([a, b]) => `(${number(a, 3)}, ${number(b, 3)})`;
    const ends = paths.paths.filter((path) => path.points.length).map((path) => `${path.name} after ${plural(path.iterations, "iteration", "iterations")} at ${point(path.points.slice(-2))}, ${scientific(this.above(path))} above F*`);
    return `Plane of the weights of ${scene.names.join(" and ")}: start ${point(paths.start)}, smallest F at ${point(scene.optimum)}. ${ends.join("; ")}. Arrow keys move the start.`;
  }

  above(path) {
    return Math.max(path.objective[path.objective.length - 1] - this.scene.best, 0) / (Math.abs(this.scene.best) || 1);
  }

  drawChart() {
    const width = Math.max(280, this.chart.clientWidth);
    const height = 230;
    const { best, lower } = this.scene;
    const scale = Math.abs(best) || 1;
    const band = known(lower) ? Math.max(best - lower, 0) / scale : null;
    const lanes = this.paths.paths.map((path) => ({ name: path.name, colour: this.colour(path.name), points: path.objective.map((value, k) => [k, Math.max(value - best, 0) / scale]) }));
    this.chartSvg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.chartSvg.setAttribute("height", height);
    const chart = logChart({ lanes, far: this.paths.iterations, width, height, palette: this.page.palette, xTitle: "iterations", yTitle: "(F − F*)/|F*|", band });
    this.chartSvg.replaceChildren(...(chart ? chart.nodes : []));
    this.chartSvg.setAttribute("aria-label", "sub-optimality over the iterations: " + this.paths.paths.map((path) => `${path.name} ${scientific(this.above(path))}`).join(", "));
    setText(this.note, `F* = ${number(best, 6)}${band > 1e-9 ? `, known to ${scientific(band)}` : ", certified"}. λ = ${short(this.scene.lam)}.`);
  }

  drawTable() {
    const { levels } = this.scene;
    const cell = (path, k) => {
      const now = path.reached[k];
      const before = path.given ? path.given[k] : null;
      const shown = known(now) ? String(now) : "–";
      if (!path.given) return h("td", {}, shown);
      return h("td", {}, h("span", { class: now === before ? "" : "is-changed" }, shown), ` (${known(before) ? before : "–"})`);
    };
    const changed = this.paths.paths.some((path) => path.given);
    const note = (path) => [path.message, path.projected ? "projected: it leaves the plane" : ""].filter(Boolean).join("; ");
    this.table.replaceChildren(
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, changed ? "iterations (as given)" : "iterations until"), ...levels.map((level) => h("th", { scope: "col" }, scientific(level, 0))), h("th", { scope: "col" }, "remark"))),
      h("tbody", {}, ...this.paths.paths.map((path) => h("tr", {}, h("th", { scope: "row" }, path.name), ...levels.map((_, k) => cell(path, k)), h("td", { class: "race-end" }, note(path))))),
    );
  }
}

/** The iterates as an SVG path of thin lines, and one of dots; both end where the iterates are far away. */
function trail(flat, X, Y, far) {
  let line = "";
  let dots = "";
  let end = null;
  for (let k = 0; k < flat.length; k += 2) {
    const [x, y] = [X(flat[k]), Y(flat[k + 1])];
    if (!(Math.abs(x) < far && Math.abs(y) < far)) break;
    line += `${k ? "L" : "M"}${x.toFixed(2)} ${y.toFixed(2)}`;
    dots += `M${x.toFixed(2)} ${y.toFixed(2)}h0`;
    end = [x, y];
  }
  return { line, dots, end };
}
