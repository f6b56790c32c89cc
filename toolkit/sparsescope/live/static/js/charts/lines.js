// Line charts: SVG paths over a frame. What was measured has markers or is a solid line; a long way without a measurement
// is thin and dotted (strokes.js). Labels at the ends of the lines and marks are elements over it.

import { h, setAttribute } from "../dom.js";
import { count, linearTicks, logTicks, tickTexts } from "./format.js";
import { Chart, MARGIN } from "./chartbox.js";
import { dragZoom } from "./dragzoom.js";
import { FONT } from "./palette.js";
import { placeLabels } from "./linelabels.js";
import { MarkLayer } from "./marks.js";
import { drawFrame } from "./plotframe.js";
import { between, decades, shares, span } from "./ranges.js";
import { Readout } from "./readout.js";
import { StageLayer } from "./stages.js";
import { lineRows } from "../save.js";
import { LOWEST, band, bandPoints, noPaths, noPoints, paths, track } from "./strokes.js";
import { DASHES, s } from "./svg.js";

export class LineChart extends Chart {
  constructor(spec, context, height) {
    super(spec, context, height);
    this.axis = context.axis;
    this.marks = new MarkLayer();
    this.stages = new StageLayer();
    this.labels = h("div", { class: "line-labels", "aria-hidden": "true" });
    this.frame = s("g");
    this.data = s("svg", { class: "line-data" });
    this.svg = s("svg", { class: "line-chart", "aria-hidden": "true" }, this.frame, this.data);
    this.zoomBox = h("div", { class: "zoom-box", hidden: true });
    this.box.plot.append(this.stages.element, this.svg, this.marks.element, this.labels, this.stages.label, this.zoomBox);
    this.readout = new Readout(this);
    this.makeParts();
    if (spec.choices) this.box.tools.append(this.makeChooser(spec.choices));
    this.frameKey = "";
    this.zoomY = null;
    this.lines = [];
    this.box.plot.addEventListener("pointermove", (event) => this.stages.hover(event.clientX - this.box.plot.getBoundingClientRect().left - this.area().left));
    this.box.plot.addEventListener("pointerleave", () => this.stages.leave());
    dragZoom(this);
    this.ranges = { left: [1e-3, 1], right: [0, 100] }; // fits both kinds of axis until there are points
  }

  /** What is drawn: areas first, so that lines lie over them. */
  get entries() {
    return [...(this.spec.bands || []).map((area) => ({ ...area, axis: "left", area: true })), ...this.spec.y];
  }

  /** Lines to compare with: across the whole chart, each with its name. */
  drawLevels() {
    const { palette } = this.context;
    const { width, height } = this.area();
    const levels = this.spec.levels || [];
    const key = JSON.stringify([levels, width, height, this.ranges.left, palette.theme]);
    if (key === this.levelKey) return;
    this.levelKey = key;
    const shown = levels
      .map((level) => ({ ...level, y: (1 - this.part(level.value, "left")) * height, stroke: palette.colour(level.colour) }))
      .filter(({ y }) => y >= 0 && y <= height);
    this.levels.replaceChildren(...shown.map(({ y, stroke }) => s("line", { x1: 0, x2: width, y1: y, y2: y, stroke, "stroke-dasharray": "2 3" })));
    const rim = { stroke: palette.colour("paper"), "stroke-width": 3, "stroke-linejoin": "round", "paint-order": "stroke" };
    const text = { x: width - 4, "text-anchor": "end", "font-size": 11, "font-family": FONT, ...rim };
    this.levelNames.replaceChildren(...shown.map(({ y, stroke, label }) => s("text", { ...text, y: y - 4, fill: stroke }, label)));
  }

  makeParts() {
    this.labelNodes = this.entries.map((line) => h("div", { class: "line-label" }, line.label));
    this.labels.replaceChildren(...this.labelNodes);
    this.strokes = this.entries.map((line) => (line.area
      ? { area: s("path", { class: "band-area" }), edge: s("path", { class: "band-edge", fill: "none" }) }
      : { line: s("path", { class: "line-path", fill: "none" }), bridge: s("path", { class: "bridge-path", fill: "none" }), dots: s("path", { class: "dots-path" }) }));
    this.levels = s("g");
    this.levelNames = s("g"); // over the lines
    this.ghosts = s("g");
    this.ghostKey = "";
    this.levelKey = "";
    this.data.replaceChildren(this.levels, this.ghosts, ...this.strokes.flatMap((parts) => Object.values(parts)), this.levelNames);
    this.styleKey = "";
    this.tracked = new Map(); // points of lines as the last frame left them
  }

  /** A menu of the quantities that this chart can show; one at a time, in the same number of lines. */
  makeChooser(choices) {
    const menu = h(
      "select", {
        "aria-label": "quantity", "data-testid": "choose-" + this.spec.id,
        onchange: () => this.choose(choices[menu.selectedIndex]),
      },
      ...choices.map((choice) => h("option", {}, choice.label)),
    );
    return menu;
  }

  choose(choice) {
    this.spec = { ...this.spec, y: choice.y, left: choice.left, right: choice.right || this.spec.right };
    this.makeParts();
    this.zoomY = null;
    this.context.requestDraw();
  }

  get leftLog() {
    return this.spec.left.log && this.context.store.settings.ylog !== false;
  }

  area() {
    const m = MARGIN;
    const width = Math.max(10, this.box.width - m.left - m.right);
    return { left: m.left, top: m.top, width, height: Math.max(10, this.box.height - m.top - m.bottom) };
  }

  pixelX(value) {
    return this.axis.part(value) * this.area().width;
  }

  style() {
    const { palette } = this.context;
    if (this.styleKey === palette.theme) return;
    this.styleKey = palette.theme;
    this.entries.forEach((line, k) => {
      const colour = palette.colour(line.colour);
      const { area, edge, bridge, dots, line: path } = this.strokes[k];
      if (line.area) {
        area.setAttribute("fill", colour);
        area.setAttribute("fill-opacity", "0.18");
        edge.setAttribute("stroke", colour);
        edge.setAttribute("stroke-width", "1");
        return;
      }
      path.setAttribute("stroke", colour);
      path.setAttribute("stroke-width", "1.8");
      if (DASHES[line.dash]) path.setAttribute("stroke-dasharray", DASHES[line.dash]);
      bridge.setAttribute("stroke", colour);
      bridge.setAttribute("stroke-width", "1");
      bridge.setAttribute("stroke-dasharray", "1 4");
      bridge.setAttribute("stroke-opacity", "0.75");
      dots.setAttribute("fill", colour);
    });
  }

  drawFrame() {
    const { axis, ranges, context } = this;
    const area = this.area();
    const key = JSON.stringify([area, this.box.width, axis.version, ranges, this.leftLog, context.palette.theme, this.hasRight(), this.spec.left.title]);
    if (key === this.frameKey) return;
    this.frameKey = key;
    for (const [name, value] of [["width", this.box.width], ["height", this.box.height]]) setAttribute(this.svg, name, value);
    for (const [name, value] of [["x", area.left], ["y", area.top - 3], ["width", area.width], ["height", area.height + 3], ["viewBox", `0 -3 ${area.width} ${area.height + 3}`]]) setAttribute(this.data, name, value);
    const xTicks = axis.ticks(area.width);
    const [low, high] = ranges.left;
    const wanted = Math.max(3, Math.min(7, Math.floor(area.height / 30)));
    const yTicks = this.leftLog ? logTicks(low, high, wanted) : linearTicks(low, high, wanted);
    const percent = (values) => values.map((value) => Math.round(100 * value) + "%");
    const rightTicks = linearTicks(...ranges.right, 5);
    const suffix = this.spec.right && /%/.test(this.spec.right.title) ? "%" : "";
    drawFrame(this.frame, area, {
      x: { title: axis.title, ticks: xTicks, texts: tickTexts(xTicks), part: (value) => axis.part(value) },
      y: { title: this.spec.left.title, ticks: yTicks, texts: this.isShare() ? percent(yTicks) : tickTexts(yTicks), part: (value) => this.part(value, "left") },
      right: this.spec.right && this.hasRight() ? { ticks: rightTicks, texts: tickTexts(rightTicks).map((text) => text + suffix), part: (value) => this.part(value, "right") } : null,
    }, context.palette);
  }

  /** An axis at the right is only drawn when there is something on it. */
  hasRight() {
    return this.entries.some((line, k) => line.axis === "right" && this.lines[k] && this.lines[k].x.length > 0);
  }

  isShare() {
    return this.spec.left.share === true;
  }

  /** What the axes can show of a side. */
  shown(side) {
    const log = side === "left" && this.leftLog;
    const xlog = this.axis.log;
    return (value, x) => !Number.isNaN(value) && !Number.isNaN(x) && !(log && !(value > LOWEST)) && !(xlog && !(x > 0));
  }

  /** What a piece of a line belongs to: lines of values break where the problem changes, those of the model do not. */
  pieces(spec, clock, segment) {
    const breaks = spec.axis === "left" && !this.isShare();
    return (i) => (breaks ? segment[i] : 0);
  }

  /** The points of a line: values that are known, in pieces. */
  line(spec, clock, segment) {
    const { store } = this.context;
    const values = store.values(spec.column);
    if (!values || !clock) return { x: [], y: [], at: [], link: [], dense: true };
    return track(values, clock, store.column("index"), this.pieces(spec, clock, segment), this.shown(spec.axis), this.pointsOf(spec));
  }

  /** The points of a line that the last frame found, where they hold: those of a long run are many. */
  pointsOf(spec) {
    const { store } = this.context;
    if (!store.grows(spec.column)) return noPoints();
    const key = [store.rewritten, this.axis.x, this.axis.log, this.leftLog].join();
    const kept = this.tracked.get(spec);
    if (kept && kept.key === key && kept.points.next <= store.n) return kept.points;
    const points = noPoints();
    this.tracked.set(spec, { key, points, pathKey: "", begun: null });
    return points;
  }

  /** The paths of a line, from where those of the last frame end. */
  pathsOf(spec, line, px, py) {
    const { width, height } = this.area();
    const kept = this.tracked.get(spec);
    if (!kept || kept.points !== line) return paths(line, px, py, width);
    const key = [this.axis.version, ...this.ranges[spec.axis], width, height, line.dense].join();
    if (key !== kept.pathKey) Object.assign(kept, { pathKey: key, begun: noPaths() });
    return paths(line, px, py, width, kept.begun);
  }

  bandOf(spec, clock, segment, drawn) {
    const { store } = this.context;
    const [low, high] = [store.values(spec.low), store.values(spec.high)];
    if (!low || !high || !clock) return { x: [], y: [], at: [], area: "", edge: "" };
    if (!drawn) return bandPoints(low, high, clock, this.shown("left"));
    const { height } = this.area();
    const py = (value) => (1 - this.part(value, "left")) * height;
    return band(low, high, clock, (i) => segment[i], this.shown("left"), (value) => this.pixelX(value), py, height);
  }

  fitRanges(lines) {
    const all = { left: [Infinity, -Infinity], right: [Infinity, -Infinity] };
    this.entries.forEach((line, k) => {
      const bounds = all[line.axis];
      for (const value of lines[k].y) {
        if (value < bounds[0]) bounds[0] = value;
        if (value > bounds[1]) bounds[1] = value;
      }
    });
    for (const { value } of this.spec.levels || []) all.left[0] = Math.min(all.left[0], value);
    this.ranges.left = this.zoomY || this.leftRange(all.left, lines);
    if (this.spec.right) this.ranges.right = this.spec.right.range || span(all.right);
  }

  leftRange(bounds, lines) {
    const pair = this.spec.left.between; // a value and its lower bound, by their columns
    if (pair) return between(...pair.map((column) => lines[this.entries.findIndex((line) => line.column === column)].y));
    if (this.leftLog) return this.calmDecades(decades(bounds));
    return this.isShare() ? shares(bounds) : span(bounds);
  }

  /** Decades that only grow: the smallest gap jumps about, and an axis that follows it would never rest. */
  calmDecades([low, high]) {
    const { store } = this.context;
    const key = store.epoch + "/" + store.stream;
    const old = this.calm && this.calm.key === key ? this.calm : { key, low, high };
    const settled = store.n < 4 ? { key, low, high } : { key, low: Math.min(low, old.low), high: Math.max(high, old.high) };
    if (low / settled.low > 1e4) settled.low = low; // a longer view than needed is calm; an empty half is not
    this.calm = settled;
    return [settled.low, settled.high];
  }

  clock(store) {
    return store.clock(this.axis.x);
  }

  draw() {
    const { store } = this.context;
    const { axis } = this;
    const clock = this.clock(store);
    const segment = store.column("segment");
    const { entries } = this;
    let lines = entries.map((spec) => (spec.area ? this.bandOf(spec, clock, segment, false) : this.line(spec, clock, segment)));
    const points = lines.reduce((sum, line) => sum + line.x.length, 0);
    this.box.setEmpty(points ? "" : this.emptySentence(clock));
    this.fitRanges(lines);
    // areas know their pixels only once the axis is fitted
    if (this.spec.bands) lines = entries.map((spec, k) => (spec.area ? this.bandOf(spec, clock, segment, true) : lines[k]));
    this.lines = lines;
    this.style();
    this.drawFrame();
    this.drawLevels();
    this.paintGhosts();
    this.paint(lines);
    this.box.setNote(this.countNote());
    placeLabels(this, lines);
    const area = this.area();
    const pixel = (value) => {
      const part = axis.part(value);
      return part >= 0 && part <= 1 ? part * area.width : null;
    };
    this.marks.draw(store.marks, area, (mark) => pixel(store.markAt(mark, axis.x)));
    this.stages.draw(store.stageEnds(), area, (end) => pixel(clock[end.at]), axis.x !== "iterations");
    this.readout.draw();
  }

  /** Runs that were pinned: their lines, faint. */
  paintGhosts() {
    const { ghosts, palette } = this.context;
    const key = JSON.stringify([ghosts.map((ghost) => [ghost.name, ghost.n]), this.frameKey]);
    if (key === this.ghostKey) return;
    this.ghostKey = key;
    const { width, height } = this.area();
    this.ghosts.replaceChildren(...ghosts.flatMap((ghost) => this.entries.map((spec) => {
      const values = ghost.values(spec.area ? spec.high : spec.column);
      const clock = this.clock(ghost);
      if (!values || !clock) return s("g");
      const segment = ghost.column("segment");
      const tracked = track(values, clock, ghost.column("index"), this.pieces(spec, clock, segment), this.shown(spec.axis));
      const drawn = paths(tracked, (value) => this.axis.part(value) * width, (value) => (1 - this.part(value, spec.axis)) * height, width);
      const path = s("path", { class: "ghost-path", d: drawn.line + drawn.bridge, fill: "none", stroke: palette.colour(spec.colour), "stroke-width": 1.2, "stroke-opacity": 0.4 }, s("title", {}, `${spec.label}, ${ghost.name}`));
      return path;
    })));
  }

  /** The points that were drawn, for a file. */
  rows() {
    return lineRows(this.entries, this.context.store);
  }

  paint(lines) {
    const { width, height } = this.area();
    const px = (value) => this.axis.part(value) * width;
    this.entries.forEach((spec, k) => {
      const py = (value) => (1 - this.part(value, spec.axis)) * height;
      const drawn = spec.area ? lines[k] : this.pathsOf(spec, lines[k], px, py);
      for (const [name, path] of Object.entries(this.strokes[k])) setAttribute(path, "d", drawn[name]);
    });
  }

  /** How often the quantity that is not measured at every iteration was measured. */
  countNote() {
    const { status } = this.context.store;
    const known = this.spec.count && status && status.measured ? status.measured[this.spec.count] : undefined;
    const all = this.context.store.total;
    return known === undefined || known === all || !all ? "" : `gap measured at ${count(known)} of ${count(all)} iterations`;
  }

  emptySentence(clock) {
    if (clock && clock.length) return "There are values, but none that these axes can show. Try the other axis (x, y).";
    return this.spec.empty;
  }

  part(value, axis) {
    const [low, high] = this.ranges[axis];
    if (axis === "left" && this.leftLog) return Math.log(value / low) / Math.log(high / low);
    return (value - low) / (high - low);
  }

  refresh() {
    this.frameKey = this.styleKey = "";
  }
}
