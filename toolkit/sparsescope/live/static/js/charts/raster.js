// The active set over time, on a canvas: one line of pixels a row of W (or a bin of rows), in time from left to right.

import { fitCanvas, h } from "../dom.js";
import { count, plural, short } from "./format.js";
import { CanvasChart, MARGIN } from "./chartbox.js";
import { words } from "./kinds.js";
import { drawSideTitle, drawTimeAxis, fitText } from "./axes.js";
import { MarkLayer } from "./marks.js";
import { KeyCursor } from "./keycursor.js";
import { Kept } from "./paint.js";
import { pack, rgb } from "./palette.js";
import { RasterCells } from "./rastercells.js";
import { RasterLines } from "./rasterlines.js";

const NAME_ROOM = 11; // pixels of a line that has its name beside it
const CLOCK = { iterations: 0, passes: 1, seconds: 2 };

export class RasterChart extends CanvasChart {
  constructor(spec, context, height) {
    super(spec, context, height);
    this.marks = new MarkLayer();
    this.legend = h("div", { class: "raster-legend", "aria-hidden": "true" });
    this.box.plot.append(this.marks.element, this.legend);
    this.off = document.createElement("canvas");
    this.around = new Kept(); // the axis, the title and the numbers or names at the left
    this.cells = new RasterCells();
    this.image = null;
    this.shades = new Map(); // tables of colours by the size of a bin, for the colours `shadesOf`
    this.lines = new RasterLines(context.store.active, context.store.working, 0, 0);
    this.cursor = new KeyCursor(this, "inspects the row");
  }

  area() {
    const width = Math.max(10, this.box.width - MARGIN.left - MARGIN.right);
    return { left: MARGIN.left, top: MARGIN.top, width, height: Math.max(10, this.box.height - MARGIN.top - MARGIN.bottom) };
  }

  draw() {
    const { store, axis, palette } = this.context;
    const area = this.area();
    const active = store.active;
    const d = store.problem ? store.problem.d : 0;
    this.lines = new RasterLines(active, store.working, d, area.height);
    const context = fitCanvas(this.canvas, this.box.width, this.box.height);
    context.clearRect(0, 0, this.box.width, this.box.height);
    const sentence = this.sentence(store, active);
    this.box.setEmpty(sentence);
    this.around.show(context, this.box, this.aroundKey(area, sentence), (own) => {
      drawTimeAxis(own, area, axis, palette);
      if (!sentence) this.drawSide(own, area);
    });
    if (!sentence) {
      this.drawRows(context, area);
      this.drawDivide(context, area);
      this.drawSweep(context, area);
      this.drawCursor(context, area);
    }
    this.drawLegend(area, sentence === "");
    this.marks.draw(store.marks, area, (mark) => {
      const part = axis.part(store.markAt(mark, axis.x));
      return part >= 0 && part <= 1 ? part * area.width : null;
    });
  }

  /** The colours are others now. */
  refresh() {
    this.around.key = null;
  }

  sentence(store, active) {
    if (!store.n) return this.spec.empty;
    if (store.working.size) return "";
    if (!active.size && !(store.status.iteration > 0)) return words(store.problem).raster.begin;
    if (!active.size) return words(store.problem).raster.none(plural(store.status.iteration, "iteration", "iterations"));
    return "";
  }

  /** What the picture around the rows depends on. */
  aroundKey(area, sentence) {
    const { axis, palette, store, selected } = this.context;
    const { byIndex, ever, top, bins, lines } = this.lines;
    const names = this.named(area) ? [store.names.size, selected, store.rewritten, byIndex ? "" : store.active.version] : [];
    return JSON.stringify([area, axis.version, axis.title, palette.theme, sentence !== "", byIndex, ever, top, bins, lines, store.problem && store.problem.kind, ...names]);
  }

  /** Colour each pixel by how many rows of its bin are non-zero, enter or leave. */
  drawRows(context, area) {
    const { store, axis, palette } = this.context;
    const width = Math.round(area.width);
    const { bins, byIndex, ever, top, tried } = this.lines;
    const sizes = this.lines.sizes();
    const key = [axis.version, axis.x, byIndex, ever, top, tried.length].join();
    const { level, worked, entered, left } = this.cells.count(key, {
      active: store.active, working: store.working, clock: CLOCK[axis.x], width, bins,
      bin: (row) => this.lines.bin(row), pixel: (value) => Math.floor(axis.part(value) * width),
    });
    const colours = {
      kept: rgb(palette.colour("kept")), paper: rgb(palette.colour("paper")),
      worked: pack(rgb(palette.colour("worked"))),
      entered: pack(rgb(palette.colour("blue"))), left: pack(rgb(palette.colour("vermillion"))),
    };
    if (!this.image || this.image.width !== width || this.image.height !== bins) this.image = new ImageData(width, bins);
    const pixels = new Uint32Array(this.image.data.buffer);
    const spread = Math.max(1, Math.min(3, Math.round(width / 400))); // an entry is seen even when pixels are small
    for (let bin = 0; bin < bins; bin++) {
      const shades = this.shadesOf(colours, sizes[bin]);
      let sum = 0;
      let tries = 0;
      let fresh = 0;
      let gone = 0;
      for (let x = 0, at = bin * width, by = bin * (width + 1); x < width; x++, at++, by++) {
        sum += level[by];
        tries += worked[by];
        fresh = entered[at] ? spread : fresh - 1;
        gone = left[at] ? spread : gone - 1;
        const calm = sum === 0 && tries > 0 ? colours.worked : shades[Math.min(sum, sizes[bin])];
        pixels[at] = fresh > 0 && sum > 0 ? colours.entered : gone > 0 ? colours.left : calm;
      }
    }
    if (this.off.width !== width || this.off.height !== bins) Object.assign(this.off, { width, height: bins });
    this.off.getContext("2d").putImageData(this.image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.off, area.left, area.top, area.width, area.height);
  }

  /** Colours of a bin of this many rows, made once for each size. */
  shadesOf(colours, size) {
    const of = [...colours.paper, ...colours.kept].join();
    if (of !== this.shadeKey) this.shades.clear();
    this.shadeKey = of;
    if (!this.shades.has(size)) this.shades.set(size, shadeTable(colours, size));
    return this.shades.get(size);
  }

  /** Whether each line has its name beside it. */
  named(area) {
    return area.height / this.lines.bins >= NAME_ROOM;
  }

  /** At the left: a title and how many rows there are, or their names. */
  drawSide(context, area) {
    const { palette, store } = this.context;
    const { byIndex, ever, top, bins, lines } = this.lines;
    if (!this.named(area)) drawSideTitle(context, area, words(store.problem).raster[byIndex ? "side" : "first"], palette);
    context.fillStyle = palette.colour("muted");
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "top";
    if (this.named(area)) {
      this.drawNames(context, area, bins);
      return;
    }
    context.fillText(byIndex ? "0" : "1", area.left - 8, area.top - 2);
    context.textBaseline = "bottom";
    context.fillText(count(byIndex ? lines - 1 : lines), area.left - 8, area.top + area.height + 2);
    if (top === bins) return;
    const y = this.divide(area);
    context.textBaseline = "middle";
    if (y > area.top + 16 && y < area.top + area.height - 16) context.fillText(count(ever), area.left - 8, y);
  }

  divide(area) {
    return Math.round(area.top + (area.height * this.lines.top) / this.lines.bins);
  }

  /** Above the line: rows that were ever non-zero; below: rows that were tried and never used. */
  drawDivide(context, area) {
    if (this.named(area) || this.lines.top === this.lines.bins) return;
    context.fillStyle = this.context.palette.colour("axis");
    context.fillRect(area.left - 5, this.divide(area), area.width + 5, 1);
  }

  /** Few lines: each has its name. */
  drawNames(context, area, bins) {
    const { names, palette, selected } = this.context;
    context.textBaseline = "middle";
    for (let k = 0; k < bins; k++) {
      const row = this.lines.row((k + 0.5) / bins);
      if (row === null || row === undefined) continue;
      context.fillStyle = palette.colour(row === selected ? "blue" : "muted");
      context.fillText(fitText(context, names.of(row) || "row " + row, area.left - 12), area.left - 8, area.top + ((k + 0.5) * area.height) / bins);
    }
  }

  drawLegend(area, visible) {
    const { palette, store } = this.context;
    const key = [palette.theme, visible, area.left + area.width, store.status && store.status.nonzero_rows, store.active.size, store.working.size, store.working.open.size, this.sweep() !== null].join();
    if (key === this.legendKey) return;
    this.legendKey = key;
    this.legend.style.left = area.left + area.width + 8 + "px";
    this.legend.style.top = area.top + "px";
    this.legend.style.visibility = visible ? "visible" : "hidden";
    const entry = (colour, text) => {
      const swatch = h("i", {});
      swatch.style.background = palette.colour(colour);
      return h("span", {}, swatch, text);
    };
    const status = store.status;
    this.legend.replaceChildren(
      entry("blue", "entered"), entry("kept", words(store.problem).raster.kept), entry("vermillion", "left"),
      ...(store.working.size ? [entry("worked", "worked on")] : []),
      ...(this.sweep() !== null ? [entry("purple", "sweep is here")] : []),
      h("span", { class: "legend-note" }, `now ${status ? count(status.nonzero_rows) : 0}`),
      h("span", { class: "legend-note" }, `ever ${count(store.active.size)}`),
      ...(store.working.open.size ? [h("span", { class: "legend-note" }, `working ${count(store.working.open.size)}`)] : []),
    );
  }

  /** The iteration under the cursor of the other charts. */
  drawCursor(context, area) {
    const { store, axis, palette, cursorAt } = this.context;
    const clock = store.clock(axis.x);
    const part = cursorAt >= 0 && clock && cursorAt < clock.length ? axis.part(clock[cursorAt]) : -1;
    if (!(part >= 0 && part <= 1)) return;
    context.fillStyle = palette.colour("text");
    context.fillRect(Math.round(area.left + part * area.width), area.top, 1, area.height);
  }

  /** The height of the row that the sweep under way visited last; null between sweeps. */
  sweep() {
    const { status } = this.context.store;
    return this.lines.height(status ? status.row_cursor : null);
  }

  /** That row: a line with an arrow within the picture, for the legend stands beside it. */
  drawSweep(context, area) {
    const at = this.sweep();
    if (at === null) return;
    const y = Math.round(area.top + at * area.height);
    const right = area.left + area.width;
    context.fillStyle = this.context.palette.colour("purple");
    context.fillRect(area.left, y, area.width, 1);
    context.beginPath();
    context.moveTo(right - 7, y + 0.5);
    context.lineTo(right, y - 4);
    context.lineTo(right, y + 5);
    context.fill();
  }

  /** Lines by events, for the keyboard. */
  shape() {
    return [this.lines.bins, this.context.store.n];
  }

  spot([line, at]) {
    const { store, axis } = this.context;
    const area = this.area();
    const part = axis.part(store.clock(axis.x)[at]);
    const height = area.height / this.lines.bins;
    return part >= 0 && part <= 1 ? { left: area.left + part * area.width, top: area.top + line * height, width: 1, height } : null;
  }

  tell([line, at]) {
    const { store, axis } = this.context;
    const row = this.lines.row((line + 0.5) / this.lines.bins);
    return row === null || row === undefined ? [] : this.about(row, store.clock(axis.x)[at]);
  }

  pick([line]) {
    const row = this.lines.row((line + 0.5) / this.lines.bins);
    if (row !== null && row !== undefined) this.context.select(row);
  }

  rowAt(event) {
    const { store } = this.context;
    const area = this.area();
    const y = (event.offsetY - area.top) / area.height;
    const x = (event.offsetX - area.left) / area.width;
    if (x < 0 || x > 1 || !store.n) return null;
    return this.lines.row(y) ?? null;
  }

  picked(event) {
    return this.rowAt(event);
  }

  hover(event) {
    const { axis, tooltip } = this.context;
    const row = this.rowAt(event);
    if (row === null) tooltip.hide();
    else tooltip.show(event, this.about(row, axis.value((event.offsetX - this.area().left) / this.area().width)));
  }

  /** What is known of a row at a value of the clock. */
  about(row, at) {
    const { store, axis, names } = this.context;
    const inside = ([start, end, ended]) => at >= start && (at < end || !ended);
    const spans = store.active.history(row, CLOCK[axis.x]);
    const here = spans.find(inside);
    const unit = axis.x === "seconds" ? " s" : "";
    const lines = [names.of(row) || `row ${row}`, `row ${row}`];
    if (here) lines.push(`non-zero from ${short(here[0], 5)}${unit}` + (here[2] ? ` to ${short(here[1], 5)}${unit}` : " until now"));
    else lines.push(spans.length ? `zero at ${short(at, 4)}${unit}; entered ${spans.length}×` : "never non-zero");
    if (store.working.size) lines.push(store.working.history(row, CLOCK[axis.x]).some(inside) ? "in the working set here" : "not worked on here");
    return lines;
  }
}

/** Colours of a pixel that stands for `size` rows of which k are non-zero: any is visible, more is stronger. */
function shadeTable(colours, size) {
  const table = new Uint32Array(size + 1);
  table[0] = pack(colours.paper);
  for (let k = 1; k <= size; k++) {
    const part = size === 1 ? 1 : 0.35 + (0.65 * k) / size;
    table[k] = pack(colours.paper.map((c, i) => Math.round(c + part * (colours.kept[i] - c))));
  }
  return table;
}
