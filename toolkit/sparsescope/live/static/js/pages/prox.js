// The prox page: a panel for each penalty; v is dragged in any of them.

import { drag, formula, h, setSymbols, setText, show } from "../dom.js";
import { s } from "../charts/svg.js";
import { number } from "../charts/format.js";
import { mountPage } from "./frame.js";

export const VERSION = "1";

const SIZE = 260; // of a panel's picture, in its own units
const PAD = 14;
const STEP = 0.05; // of an arrow key
const BY_HAND = "by hand";
const NAMES = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"];

export function mount(given) {
  return mountPage((page) => new ProxBody(page), given);
}

const shown = (values) => "(" + values.map((x) => number(x, 3)).join(", ") + ")";
const path = (points) => points.map(([x, y], k) => `${k ? "L" : "M"}${x} ${y}`).join("") + "Z";

class ProxBody {
  constructor(page) {
    this.page = page;
    this.panels = new Map();
    this.yaw = -0.6; // of the pictures in space, in radians
    this.grid = h("div", { class: "prox-grid", "data-testid": "prox-grid" });
    this.note = h("p", { class: "page-doc", role: "status", hidden: true, "data-testid": "prox-note" });
    this.element = h("div", {}, this.note, this.grid);
  }

  draw(picture) {
    this.picture = picture;
    setSymbols(this.note, picture.note || "");
    show(this.note, Boolean(picture.note));
    const names = picture.panels.map((panel) => panel.name).join(" ");
    if (names !== this.names) {
      this.panels = new Map(picture.panels.map((panel) => [panel.name, new Panel(this, panel)]));
      this.grid.replaceChildren(...[...this.panels.values()].map((panel) => panel.element));
      this.names = names;
    }
    for (const panel of picture.panels) this.panels.get(panel.name).draw(panel, picture);
  }

  /** Whether v is a row of W. */
  ofData() {
    const { source } = this.page.store.settings;
    return source !== undefined && source !== BY_HAND;
  }

  /** Move entries of v: {0: 1.5, 1: 0.2}. */
  move(entries) {
    const { reach, v } = this.picture;
    const changes = {};
    if (this.ofData()) { // a hand takes the row as it stands
      Object.assign(changes, { source: BY_HAND, count: v.length });
      entries = { ...v, ...entries };
    }
    for (const [k, value] of Object.entries(entries)) changes[`v${Number(k) + 1}`] = Number(Math.min(reach, Math.max(-reach, value)).toFixed(3));
    this.page.set(changes);
  }
}

class Panel {
  constructor(body, panel) {
    this.body = body;
    this.title = h("h2", {}, panel.title);
    this.facts = h("p", { class: "prox-formula" });
    this.svg = s("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "prox-plot" });
    this.plot = h("div", { class: "chart-plot prox-frame", tabindex: "0", role: "application", "data-testid": "prox-" + panel.name }, this.svg);
    this.numbers = h("p", { class: "prox-numbers" });
    this.saying = h("p", { class: "prox-saying", "data-testid": "prox-saying-" + panel.name });
    this.element = h("section", { class: "card prox-panel", "aria-label": panel.title }, this.title, this.facts, this.plot, this.numbers, this.saying);
    this.entry = 0; // of v, that the arrow keys move where v has more than two
    this.plot.addEventListener("pointerdown", (event) => this.grab(event));
    this.plot.addEventListener("keydown", (event) => this.key(event));
  }

  // ------------------------------------------------------------------------------------------------------ hands
  grab(event) {
    if (this.picture.v.length > 2 && !this.picture.space) this.entry = this.column(event);
    drag(this.plot, event, (next) => this.follow(next));
  }

  follow(event) {
    const { reach, v, space } = this.picture;
    if (space) { // dragging turns all pictures; the sliders and the keys move v
      this.body.yaw += 0.01 * event.movementX;
      this.body.page.requestDraw();
      return;
    }
    if (this.body.page.recorded) return;
    const box = this.svg.getBoundingClientRect();
    const unit = SIZE / box.width;
    const x = (((event.clientX - box.left) * unit - PAD) / (SIZE - 2 * PAD)) * 2 * reach - reach;
    const y = reach - (((event.clientY - box.top) * unit - PAD) / (SIZE - 2 * PAD)) * 2 * reach;
    this.body.move(v.length === 2 ? { 0: x, 1: y } : { [this.entry]: y });
  }

  column(event) {
    const box = this.svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * SIZE;
    const count = this.picture.v.length;
    return Math.min(count - 1, Math.max(0, Math.floor(((at - PAD) / (SIZE - 2 * PAD)) * count)));
  }

  key(event) {
    const { v } = this.picture;
    const { settings } = this.body.page.store; // the newest wish, which the picture may not show yet
    const at = (k) => (this.body.ofData() ? v[k] : settings[`v${k + 1}`]);
    const size = event.shiftKey ? 5 * STEP : STEP;
    const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!way || this.body.page.recorded) return;
    event.preventDefault();
    if (v.length === 2) this.body.move(way[0] ? { 0: at(0) + way[0] * size } : { 1: at(1) + way[1] * size });
    else if (way[0]) {
      this.entry = (this.entry + way[0] + v.length) % v.length;
      this.body.draw(this.picture);
    } else this.body.move({ [this.entry]: at(this.entry) + way[1] * size });
  }

  // ---------------------------------------------------------------------------------------------------- pictures
  draw(panel, picture) {
    this.picture = picture;
    const blocks = panel.blocks.length ? ` The same for ${panel.blocks.join(", ")}, on a block of features in a class.` : "";
    const parameters = panel.parameters ? ` · ${panel.parameters}` : "";
    this.facts.replaceChildren(...formula(`prox = ${panel.prox_formula}`), parameters);
    this.facts.title = `Ω = ${panel.formula}.${blocks}`;
    setText(this.numbers, `${shown(picture.v)} → ${shown(panel.p)} · taken away ${shown(panel.taken)}`);
    setText(this.saying, panel.saying + blocks);
    this.plot.setAttribute("aria-label", this.described(panel, picture));
    this.svg.replaceChildren(...(picture.v.length === 2 ? this.plane(panel, picture) : picture.space ? this.space(panel, picture) : this.bars(panel, picture)));
  }

  described(panel, picture) {
    const how = picture.v.length === 2 ? "Arrow keys move v." : `Left and right choose an entry (now the ${NAMES[this.entry]}), up and down change it.`;
    return `${panel.title}: v ${shown(picture.v)}, prox ${shown(panel.p)}. ${panel.saying}${this.body.page.recorded ? "" : " " + how}`;
  }

  plane(panel, { v, reach }) {
    const { palette } = this.body.page;
    const c = (name) => palette.colour(name);
    const to = (x) => PAD + ((x + reach) / (2 * reach)) * (SIZE - 2 * PAD);
    const at = ([x, y]) => [to(x), to(-y)];
    const drawn = (points) => path(points.map(at));
    const [vx, vy] = at(v);
    const [px, py] = at(panel.p);
    const [qx, qy] = at(panel.taken);
    const [ox, oy] = at([0, 0]);
    const nodes = [
      s("line", { x1: PAD, x2: SIZE - PAD, y1: oy, y2: oy, stroke: c("grid") }),
      s("line", { y1: PAD, y2: SIZE - PAD, x1: ox, x2: ox, stroke: c("grid") }),
    ];
    if (panel.zero_set.length) nodes.push(s("path", { d: drawn(panel.zero_set), fill: c("blue"), "fill-opacity": 0.14, stroke: c("blue"), class: "zero-set" }));
    if (panel.level.length) nodes.push(s("path", { d: drawn(panel.level), fill: "none", stroke: c("muted"), "stroke-dasharray": "4 3" }));
    nodes.push(
      s("line", { x1: ox, y1: oy, x2: qx, y2: qy, stroke: c("blue"), "stroke-width": 1 }),
      s("line", { x1: vx, y1: vy, x2: px, y2: py, stroke: c("vermillion"), "stroke-width": 2 }),
      ...arrowHead(vx, vy, px, py, c("vermillion")),
      s("circle", { cx: qx, cy: qy, r: 3, fill: c("blue") }),
      s("circle", { cx: px, cy: py, r: 4.5, fill: c("vermillion") }),
      s("circle", { cx: vx, cy: vy, r: 7, fill: c("paper"), stroke: c("ink"), "stroke-width": 2, class: "grip" }),
      label(vx, vy - 11, "v", c("ink")), label(px, py + 17, "prox(v)", "var(--vermillion-text)"),
    );
    if (Math.hypot(qx - ox, qy - oy) > 14) {
      const near = Math.abs(px - qx) < 56 && Math.abs(py + 17 - (qy - 8)) < 14; // the two names would overlap
      nodes.push(near ? label(qx - (qx < ox ? -32 : 32), qy - 10, "v − prox", c("blue")) : label(qx, qy - 8, "v − prox", c("blue")));
    }
    return nodes;
  }

  /** Three entries in space, seen from above; the zero set by its cuts with the planes of two coordinates. */
  space(panel, { v, reach }) {
    const c = (name) => this.body.page.palette.colour(name);
    const [sin, cos] = [Math.sin(this.body.yaw), Math.cos(this.body.yaw)];
    const unit = (SIZE / 2 - PAD) / (1.05 * reach);
    const at = ([x, y, z]) => {
      const [a, b] = [cos * x - sin * y, sin * x + cos * y];
      return [SIZE / 2 + unit * a, SIZE / 2 + unit * (0.45 * b - 0.89 * z)];
    };
    const line = (from, to, attributes) => {
      const [[x1, y1], [x2, y2]] = [at(from), at(to)];
      return s("line", { x1, y1, x2, y2, ...attributes });
    };
    const nodes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].flatMap((way, k) => {
      const end = way.map((x) => 0.9 * x * reach);
      const [x, y] = at(end.map((e) => 1.12 * e));
      return [line(end.map((e) => -e), end, { stroke: c("grid") }), s("text", { x, y: y + 4, "text-anchor": "middle", "font-size": 11, fill: c("muted") }, String(k + 1))];
    });
    for (const section of panel.sections) nodes.push(s("path", { d: path(section.map(at)), fill: c("blue"), "fill-opacity": 0.1, stroke: c("blue"), class: "zero-set" }));
    for (const [point, colour] of [[v, "muted"], [panel.p, "vermillion"]]) {
      const foot = [point[0], point[1], 0];
      nodes.push(line(point, foot, { stroke: c(colour), "stroke-dasharray": "2 3" }), line(foot, [0, 0, 0], { stroke: c(colour), "stroke-dasharray": "2 3" }));
    }
    const [vx, vy] = at(v);
    const [px, py] = at(panel.p);
    nodes.push(
      line([0, 0, 0], panel.taken, { stroke: c("blue") }), line(v, panel.p, { stroke: c("vermillion"), "stroke-width": 2 }), ...arrowHead(vx, vy, px, py, c("vermillion")),
      s("circle", { cx: px, cy: py, r: 4.5, fill: c("vermillion"), class: "space-prox" }), s("circle", { cx: vx, cy: vy, r: 6, fill: c("paper"), stroke: c("ink"), "stroke-width": 2 }),
      label(vx, vy - 10, "v", c("ink")), label(px, py + 17, "prox(v)", "var(--vermillion-text)"),
    );
    return nodes;
  }

  bars(panel, { v, reach }) {
    const { palette } = this.body.page;
    const c = (name) => palette.colour(name);
    const inner = SIZE - 2 * PAD;
    const wide = inner / v.length;
    const up = (x) => PAD + ((reach - x) / (2 * reach)) * inner;
    const nodes = [s("line", { x1: PAD, x2: SIZE - PAD, y1: up(0), y2: up(0), stroke: c("axis") })];
    v.forEach((value, k) => {
      const x = PAD + (k + 0.5) * wide;
      const [p, thick] = [panel.p[k], wide * 0.5];
      nodes.push(
        s("rect", { x: x - thick / 2, width: thick, y: Math.min(up(0), up(p)), height: Math.abs(up(p) - up(0)), fill: c("vermillion") }),
        s("line", { x1: x, x2: x, y1: up(p), y2: up(value), stroke: c("blue"), "stroke-width": 2, "stroke-dasharray": "3 2" }),
        s("line", { x1: x - thick / 2, x2: x + thick / 2, y1: up(value), y2: up(value), stroke: c("ink"), "stroke-width": k === this.entry ? 4 : 2 }),
      );
      if (p === 0) nodes.push(s("circle", { cx: x, cy: up(0), r: 3.5, fill: c("paper"), stroke: c("vermillion"), "stroke-width": 2 }));
    });
    return nodes;
  }
}

function arrowHead(x1, y1, x2, y2, colour) {
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length < 16) return [];
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const [bx, by] = [x2 - 12 * ux, y2 - 12 * uy];
  return [s("path", { d: `M${x2 - 4 * ux} ${y2 - 4 * uy}L${bx - 4 * uy} ${by + 4 * ux}L${bx + 4 * uy} ${by - 4 * ux}Z`, fill: colour })];
}

function label(x, y, text, colour) {
  const near = Math.min(SIZE - 30, Math.max(30, x));
  return s("text", { x: near, y: Math.min(SIZE - 4, Math.max(12, y)), "text-anchor": "middle", "font-size": 11, fill: colour, "font-weight": 600 }, text);
}
