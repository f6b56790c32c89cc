// Line charts. plotly draws axes, grid, lines and hover boxes, but to give it new data costs 20–40 ms a chart. So while
// points stream in we only write new path data into plotly's own line elements (2 ms), and hand plotly the data when the
// axes change, when the pointer comes (hover needs them) and when the run rests. Labels at the ends of the lines and marks
// are our own elements, because a change of plotly's layout costs as much again.

import { h } from "../dom.js";
import { logTicks, tickTexts } from "./format.js";
import { ChartBox, MARGIN } from "./chartbox.js";
import { placeLabels } from "./linelabels.js";
import { MarkLayer } from "./marks.js";
import { plotlyAxis, plotlyTitle } from "./axes.js";
import { FONT } from "./palette.js";
import { between, decades, shares, span } from "./ranges.js";
import { StageLayer } from "./stages.js";

const LOWEST = 1e-17; // what a log axis still shows: below is rounding
const REST = 400; // ms without new points after which plotly gets the data
const HOVER_SYNC = 500; // the same while the pointer moves over the chart, measured from the last time

export class LineChart {
  constructor(spec, context, height) {
    this.spec = spec;
    this.context = context; // { store, palette, axis, Plotly, requestDraw }
    this.box = new ChartBox(spec.id, spec.title, height);
    this.axis = context.axis;
    this.marks = new MarkLayer();
    this.stages = new StageLayer();
    this.labels = h("div", { class: "line-labels", "aria-hidden": "true" });
    this.target = h("div", { class: "plotly-target" });
    this.box.plot.append(this.stages.element, this.target, this.marks.element, this.labels, this.stages.label);
    this.makeLabels();
    if (spec.choices) this.box.tools.append(this.makeChooser(spec.choices));
    this.ready = false;
    this.layoutKey = "";
    this.zoomY = null;
    this.own = false; // true while we change the layout ourselves
    this.lines = [];
    this.stale = false; // plotly's data are older than its paths
    this.synced = 0;
    this.pointed = false;
    this.box.plot.addEventListener("pointerenter", () => this.point(true));
    this.box.plot.addEventListener("pointerleave", () => {
      this.point(false);
      this.stages.leave();
    });
    this.box.plot.addEventListener("pointermove", (event) => {
      this.pointer = { clientX: event.clientX, clientY: event.clientY };
      this.stages.hover(event.clientX - this.box.plot.getBoundingClientRect().left - this.area().left);
      if (performance.now() - this.synced > HOVER_SYNC) this.sync();
    });
    this.ranges = { left: [1e-3, 1], right: [0, 100] }; // fits both kinds of axis until there are points
  }

  makeLabels() {
    this.labelNodes = this.spec.y.map((line) => h("div", { class: "line-label" }, line.label));
    this.labels.replaceChildren(...this.labelNodes);
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
    this.makeLabels();
    this.zoomY = null;
    this.refresh();
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

  start() {
    const { Plotly } = this.context;
    this.box.measure();
    Plotly.newPlot(this.target, this.traces([]), this.layout(), {
      displayModeBar: false, doubleClick: false, responsive: false, scrollZoom: false, showTips: false,
    });
    this.ready = true;
    this.layoutKey = this.currentLayoutKey();
    this.target.on("plotly_relayout", (change) => this.onRelayout(change));
    this.target.on("plotly_doubleclick", () => {
      this.zoomY = null;
      this.axis.setZoom(null);
      this.context.requestDraw();
    });
  }

  point(inside) {
    this.pointed = inside;
    if (inside) this.sync();
  }

  /** Give plotly the data that its lines show already. */
  sync() {
    clearTimeout(this.resting);
    if (!this.ready || !this.stale) return;
    this.stale = false;
    this.synced = performance.now();
    this.own = true;
    this.forgetHover();
    this.context.Plotly.restyle(this.target, { x: this.lines.map((line) => line.x), y: this.lines.map((line) => line.y) });
    this.own = false;
    this.hoverAgain();
  }

  /** plotly would hover again with the last event, but in a shadow root an old event has lost its target. */
  forgetHover() {
    if (this.target._fullLayout) this.target._fullLayout._hoversubplot = null;
  }

  /** Drawing anew takes plotly's hover box away: put it back where the pointer is. */
  hoverAgain() {
    const target = this.pointed && this.pointer && this.target.querySelector(".nsewdrag"); // made anew by plotly at times
    if (!target) return;
    const box = target.getBoundingClientRect();
    const { clientX: x, clientY: y } = this.pointer;
    if (x < box.left || x > box.right || y < box.top || y > box.bottom) return;
    this.context.Plotly.Fx.hover(this.target, { ...this.pointer, target }, "xy");
  }

  /** Write the lines into plotly's path elements. False if an element is missing: then plotly has to draw. */
  paintPaths(lines) {
    const area = this.area();
    const paths = [];
    for (let k = 0; k < lines.length; k++) {
      const found = this.target.querySelectorAll(`.trace.scatter.trace${this.uid(k)} path.js-line`);
      const needed = lines[k].x.length > 1;
      if (found.length === 0 && needed) return false;
      if (found.length) paths.push([found, needed ? this.pathData(lines[k], this.spec.y[k].axis, area) : ""]);
    }
    for (const [found, data] of paths) {
      found[0].setAttribute("d", data);
      for (let i = 1; i < found.length; i++) found[i].setAttribute("d", ""); // one path holds all pieces of the line
    }
    return true;
  }

  uid(k) {
    return "line" + k;
  }

  pathData(line, side, area) {
    const axis = this.axis;
    const pieces = [];
    let pen = "M";
    let lastX = NaN;
    let lastY = NaN;
    const end = line.x.length - 1;
    for (let i = 0; i <= end; i++) {
      const x = axis.part(line.x[i]) * area.width;
      const y = (1 - this.part(line.y[i], side)) * area.height;
      if (Number.isNaN(x) || Number.isNaN(y)) {
        pen = "M";
        continue;
      }
      // points that fall on the last one's pixel add nothing
      if (pen === "L" && i < end && Math.abs(x - lastX) < 0.6 && Math.abs(y - lastY) < 0.6) continue;
      pieces.push(pen + x.toFixed(1) + "," + y.toFixed(1));
      pen = "L";
      lastX = x;
      lastY = y;
    }
    return pieces.join("");
  }

  onRelayout(change) {
    if (this.own) return;
    const axis = this.axis;
    const take = (name, log) => {
      const low = change[name + ".range[0]"];
      const high = change[name + ".range[1]"];
      if (low === undefined || high === undefined) return null;
      return log ? [10 ** low, 10 ** high] : [Number(low), Number(high)];
    };
    const x = take("xaxis", axis.log);
    const y = take("yaxis", this.leftLog);
    if (x) axis.setZoom(x);
    if (y) this.zoomY = y;
    if (x || y) this.context.requestDraw();
  }

  traces(lines) {
    const palette = this.context.palette;
    return this.spec.y.map((line, k) => ({
      type: "scatter",
      uid: this.uid(k),
      mode: lines[k] && lines[k].few ? "lines+markers" : "lines",
      name: line.label,
      x: lines[k] ? lines[k].x : [],
      y: lines[k] ? lines[k].y : [],
      yaxis: line.axis === "right" ? "y2" : "y",
      line: { color: palette.colour(line.colour), dash: line.dash, width: 1.8 },
      marker: { size: 4, color: palette.colour(line.colour) },
      hovertemplate: line.axis === "left" && this.isShare() ? "%{y:.1%}" : "%{y:.4~g}",
    }));
  }

  layout() {
    const { axis } = this;
    const { palette } = this.context;
    const base = plotlyAxis(palette);
    const colour = (name) => palette.colour(name);
    const title = (text, standoff) => plotlyTitle(text, standoff, palette);
    const log10 = (range) => range.map((v) => Math.log10(v));
    const m = MARGIN;
    const ticks = axis.ticks(this.area().width);
    const layout = {
      width: this.box.width, height: this.box.height, margin: { l: m.left, r: m.right, t: m.top, b: m.bottom, pad: 0 },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, hovermode: "x unified",
      hoverlabel: { bgcolor: colour("paper"), bordercolor: colour("axis"), font: { size: 12, color: colour("text"), family: FONT } },
      hoverdistance: 30, dragmode: "zoom", uirevision: "stay", font: { family: FONT, color: colour("text") },
      xaxis: {
        ...base, type: axis.log ? "log" : "linear", range: axis.log ? log10(axis.range) : axis.range.slice(),
        title: title(axis.title, 6), hoverformat: ",.5~g", tickmode: "array", tickvals: ticks, ticktext: tickTexts(ticks),
      },
      yaxis: {
        ...base, type: this.leftLog ? "log" : "linear",
        range: this.leftLog ? log10(this.ranges.left) : this.ranges.left.slice(), title: title(this.spec.left.title, 8),
        ...this.yTicks(),
      },
    };
    if (this.spec.right) {
      layout.yaxis2 = {
        ...base, type: "linear", overlaying: "y", side: "right", showgrid: false, range: this.ranges.right.slice(),
        tickmode: "linear", tick0: 0, dtick: 20, fixedrange: true, ticksuffix: /%/.test(this.spec.right.title) ? "%" : "",
        visible: this.hasRight(), title: { text: "" }, // the line's own label, at its end, stands where the title would
      };
    }
    return layout;
  }

  /** An axis at the right is only drawn when there is something on it. */
  hasRight() {
    return this.spec.y.some((line, k) => line.axis === "right" && this.lines[k] && this.lines[k].x.length > 0);
  }

  yTicks() {
    const [low, high] = this.ranges.left;
    if (!this.leftLog) return this.isShare() ? { tickformat: ".0%", nticks: 7 } : { nticks: 7, tickformat: ".4~g" };
    const ticks = logTicks(low, high, 7);
    return { tickmode: "array", tickvals: ticks, ticktext: tickTexts(ticks) };
  }

  isShare() {
    return this.spec.left.share === true;
  }

  currentLayoutKey() {
    const { axis } = this;
    const { palette } = this.context;
    return JSON.stringify([this.box.width, this.box.height, MARGIN, axis.version, this.ranges, this.leftLog, palette.theme, this.hasRight()]);
  }

  /** The points of a line: values that are known, broken where the problem changed. */
  line(spec, clock, segment) {
    const values = this.context.store.values(spec.column);
    if (!values || !clock) return { x: [], y: [], few: true };
    const log = spec.axis === "left" && this.leftLog;
    const breaks = spec.axis === "left" && !this.isShare();
    const xlog = this.axis.log;
    const x = [];
    const y = [];
    let before = -1;
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (Number.isNaN(value) || Number.isNaN(clock[i]) || (log && !(value > LOWEST)) || (xlog && !(clock[i] > 0))) continue;
      if ((breaks && before !== -1 && segment[i] !== before) || this.begins(clock, x, i)) {
        x.push(NaN);
        y.push(NaN);
      }
      before = segment[i];
      x.push(clock[i]);
      y.push(value);
    }
    return { x, y, few: x.length === 1 }; // a single point would be invisible without a dot
  }

  /** Whether another line begins at event i, before which x holds the clock of the points so far. */
  begins() {
    return false;
  }

  fitRanges(lines) {
    const all = { left: [Infinity, -Infinity, Infinity], right: [Infinity, -Infinity, Infinity] };
    this.spec.y.forEach((line, k) => {
      const bounds = all[line.axis];
      for (const value of lines[k].y) {
        if (value < bounds[0]) bounds[0] = value;
        if (value > bounds[1]) bounds[1] = value;
      }
    });
    this.ranges.left = this.zoomY || this.leftRange(all.left, lines);
    if (this.spec.right) this.ranges.right = this.spec.right.range || span(all.right);
  }

  leftRange(bounds, lines) {
    const pair = this.spec.left.between; // a value and its lower bound, by their columns
    if (pair) return between(...pair.map((column) => lines[this.spec.y.findIndex((line) => line.column === column)].y));
    if (this.leftLog) return this.calmDecades(decades(bounds));
    return this.isShare() ? shares(bounds) : span(bounds);
  }

  /** Decades that only grow: the lowest sub-optimality jumps about, and an axis that follows it would never rest. */
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
    const { store, Plotly } = this.context;
    const { axis } = this;
    if (!this.ready) return;
    const clock = this.clock(store);
    const segment = store.column("segment");
    const lines = this.spec.y.map((spec) => this.line(spec, clock, segment));
    const points = lines.reduce((sum, line) => sum + line.x.length, 0);
    this.box.setEmpty(points ? "" : this.emptySentence(clock));
    this.fitRanges(lines);
    this.lines = lines;
    const key = this.currentLayoutKey();
    const few = lines.map((line) => line.few).join();
    if (key !== this.layoutKey || few !== this.few || !this.paintPaths(lines)) {
      this.layoutKey = key;
      this.few = few;
      this.own = true;
      this.stale = false;
      clearTimeout(this.resting);
      this.forgetHover();
      Plotly.react(this.target, this.traces(lines), this.layout());
      this.own = false;
      this.hoverAgain();
    } else {
      this.stale = true;
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.sync(), REST);
    }
    placeLabels(this, lines);
    const area = this.area();
    const pixel = (value) => {
      const part = axis.part(value);
      return part >= 0 && part <= 1 ? part * area.width : null;
    };
    this.marks.draw(store.marks, area, (mark) => pixel(store.markAt(mark, axis.x)));
    this.stages.draw(store.stageEnds(), area, (end) => pixel(clock[end.at]), axis.x !== "iterations");
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
    this.layoutKey = "";
  }

  destroy() {
    clearTimeout(this.resting);
    if (this.ready) this.context.Plotly.purge(this.target);
  }
}
