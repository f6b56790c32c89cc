// The active set over time, on a canvas: one line of pixels a row of W (or a bin of rows), in time from left to right.

import { fitCanvas, h } from "../dom.js";
import { count, plural, short } from "./format.js";
import { ChartBox, MARGIN } from "./chartbox.js";
import { words } from "./kinds.js";
import { drawSideTitle, drawTimeAxis, fitText } from "./axes.js";
import { MarkLayer } from "./marks.js";
import { KeyCursor } from "./keycursor.js";
import { pack, rgb } from "./palette.js";
import { RasterLines } from "./rasterlines.js";

const NAME_ROOM = 11; // pixels of a line that has its name beside it
const CLOCK = { iterations: 0, passes: 1, seconds: 2 };

export class RasterChart {
  constructor(spec, context, height) {
    this.spec = spec;
    this.context = context;
    this.box = new ChartBox(spec.id, spec.title, height);
    this.canvas = h("canvas", { role: "img", "aria-label": spec.title });
    this.marks = new MarkLayer();
    this.legend = h("div", { class: "raster-legend", "aria-hidden": "true" });
    this.box.plot.append(this.canvas, this.marks.element, this.legend);
    this.off = document.createElement("canvas");
    this.lines = new RasterLines(context.store.active, context.store.working, 0, 0);
    this.cursor = new KeyCursor(this, "inspects the row");
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => this.context.tooltip.hide());
    this.canvas.addEventListener("click", (event) => {
      const row = this.rowAt(event);
      if (row !== null) this.context.select(row);
    });
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
    drawTimeAxis(context, area, axis, palette);
    const sentence = this.sentence(store, active);
    this.box.setEmpty(sentence);
    if (!sentence) {
      this.drawRows(context, area);
      if (area.height / this.lines.bins < NAME_ROOM) drawSideTitle(context, area, words(store.problem).raster[this.lines.byIndex ? "side" : "first"], palette);
      this.drawScale(context, area);
      this.drawSweep(context, area);
      this.drawCursor(context, area);
    }
    this.drawLegend(area, sentence === "");
    this.marks.draw(store.marks, area, (mark) => {
      const part = axis.part(store.markAt(mark, axis.x));
      return part >= 0 && part <= 1 ? part * area.width : null;
    });
  }

  sentence(store, active) {
    if (!store.n) return this.spec.empty;
    if (store.working.size) return "";
    if (!active.size && !(store.status.iteration > 0)) return words(store.problem).raster.begin;
    if (!active.size) return words(store.problem).raster.none(plural(store.status.iteration, "iteration", "iterations"));
    return "";
  }

  /** Count, for each pixel, how many rows of the bin are non-zero, enter or leave; then colour. */
  drawRows(context, area) {
    const { store, axis, palette } = this.context;
    const width = Math.round(area.width);
    const { bins } = this.lines;
    const level = new Int32Array(bins * (width + 1));
    const worked = new Int32Array(bins * (width + 1));
    const entered = new Uint8Array(bins * width);
    const left = new Uint8Array(bins * width);
    const sizes = this.lines.sizes();
    const pixel = (value) => Math.floor(axis.part(value) * width);
    const count = (rows, counts, ends) => rows.each(CLOCK[axis.x], (slot, start, end, ended) => {
      const bin = this.lines.bin(rows.rowOf[slot]);
      const x0 = pixel(start);
      const x1 = pixel(end);
      if (x1 < 0 || x0 >= width) return;
      const from = Math.max(0, x0);
      const to = Math.min(width - 1, Math.max(from, ended ? x1 - 1 : x1));
      counts[bin * (width + 1) + from] += 1;
      counts[bin * (width + 1) + to + 1] -= 1;
      if (ends) ends(bin * width, x0, ended ? x1 : -1);
    });
    count(store.working, worked, null);
    count(store.active, level, (at, x0, x1) => {
      if (x0 >= 0) entered[at + x0] = 1;
      if (x1 >= 0 && x1 < width) left[at + x1] = 1;
    });
    const colours = {
      kept: rgb(palette.colour("kept")), paper: rgb(palette.colour("paper")),
      worked: pack(rgb(palette.colour("worked"))),
      entered: pack(rgb(palette.colour("blue"))), left: pack(rgb(palette.colour("vermillion"))),
    };
    const image = new ImageData(width, bins);
    const pixels = new Uint32Array(image.data.buffer);
    const spread = Math.max(1, Math.min(3, Math.round(width / 400))); // an entry is seen even when pixels are small
    let shades = null; // bins differ by at most one row, so the table is seldom made again
    for (let bin = 0; bin < bins; bin++) {
      if (!shades || shades.length !== sizes[bin] + 1) shades = shadeTable(colours, sizes[bin]);
      let sum = 0;
      let tried = 0;
      let fresh = 0;
      let gone = 0;
      for (let x = 0; x < width; x++) {
        sum += level[bin * (width + 1) + x];
        tried += worked[bin * (width + 1) + x];
        fresh = entered[bin * width + x] ? spread : fresh - 1;
        gone = left[bin * width + x] ? spread : gone - 1;
        const calm = sum === 0 && tried > 0 ? colours.worked : shades[Math.min(sum, sizes[bin])];
        pixels[bin * width + x] = fresh > 0 && sum > 0 ? colours.entered : gone > 0 ? colours.left : calm;
      }
    }
    this.off.width = width;
    this.off.height = bins;
    this.off.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.off, area.left, area.top, area.width, area.height);
  }

  drawScale(context, area) {
    const palette = this.context.palette;
    context.fillStyle = palette.colour("muted");
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "top";
    const { byIndex, ever, top, bins, lines } = this.lines;
    if (area.height / bins >= NAME_ROOM) {
      this.drawNames(context, area, bins);
      return;
    }
    context.fillText(byIndex ? "0" : "1", area.left - 8, area.top - 2);
    context.textBaseline = "bottom";
    context.fillText(count(byIndex ? lines - 1 : lines), area.left - 8, area.top + area.height + 2);
    if (top === bins) return;
    // above the line: rows that were ever non-zero; below: rows that were tried and never used
    const y = Math.round(area.top + (area.height * top) / bins);
    context.fillStyle = palette.colour("axis");
    context.fillRect(area.left - 5, y, area.width + 5, 1);
    context.fillStyle = palette.colour("muted");
    context.textBaseline = "middle";
    if (y > area.top + 16 && y < area.top + area.height - 16) context.fillText(count(ever), area.left - 8, y);
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
