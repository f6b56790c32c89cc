// The grid of charts: which there are, where they stand, which of them can be seen, and drawing these.

import { h } from "../dom.js";
import { MARGIN } from "./chartbox.js";
import { entryOf, failedChart, isKnown } from "./making.js";
import { LineChart } from "./lines.js";
import { MatrixChart } from "./matrix.js";

export class ChartGrid {
  /** `seen` is called when other charts can be seen than before. */
  constructor(page, resizer, seen) {
    this.page = page;
    this.resizer = resizer;
    this.element = h("div", { class: "grid" });
    this.entries = []; // {chart, visible, label}
    this.specs = "";
    this.labelWidth = 0;
    this.resized = false;
    this.observer = new IntersectionObserver((entries) => this.onVisible(entries, seen), { rootMargin: "80px" });
  }

  get charts() {
    return this.entries.map(({ chart }) => chart);
  }

  /** Make the charts of these specs, with the inspector after them, unless they are there already. */
  show(specs, inspector) {
    const text = JSON.stringify(specs);
    if (text === this.specs) return;
    this.specs = text;
    for (const chart of this.charts) {
      if (chart.destroy) chart.destroy();
      this.resizer.unobserve(chart.box.plot);
    }
    this.observer.disconnect();
    this.entries = specs.filter(isKnown).map((spec) => entryOf(spec, this.page));
    inspector.style.gridArea = "inspector";
    this.resized = true;
    this.element.replaceChildren(...this.charts.map((chart) => chart.box.element), inspector);
    for (const chart of this.charts) {
      this.observer.observe(chart.box.element);
      if (this.page.compact) this.resizer.observe(chart.box.plot); // it has what the bars above and below leave
    }
    this.labelWidth = Math.max(0, ...this.entries.map(({ label }) => label));
  }

  /** Show an error instead of a chart. */
  fail(entry, problem) {
    const before = entry.chart.box.element;
    if (entry.chart.destroy) entry.chart.destroy();
    this.observer.unobserve(before);
    entry.chart = failedChart(entry.chart.spec, problem, this.page);
    before.replaceWith(entry.chart.box.element);
    this.observer.observe(entry.chart.box.element);
    this.resized = true;
  }

  onVisible(changes, seen) {
    for (const change of changes) {
      const found = this.entries.find(({ chart }) => chart.box.element === change.target);
      if (found) found.visible = change.isIntersecting;
    }
    seen();
  }

  /** Show whole axes again. */
  zoomOut() {
    for (const chart of this.charts) {
      chart.zoomY = null;
      if (chart.spec.x) chart.axis.setZoom(null);
    }
  }

  /** Show whole pictures of weights again: the next ones are those of another problem. */
  zoomOutPictures() {
    for (const chart of this.charts) if (chart instanceof MatrixChart) chart.setZoom(null);
  }

  refresh() {
    for (const chart of this.charts) if (chart.refresh) chart.refresh();
  }

  measure() {
    for (const chart of this.charts) chart.box.measure();
  }

  /** Measure the charts again where the room for them has changed, and set the margins of the time charts. */
  fit() {
    if (this.resized) this.measure();
    this.resized = false;
    const first = this.charts.find((chart) => chart instanceof LineChart);
    if (!first) return;
    // Room at the right for the names of the lines: the same for all, so that they line up.
    const narrow = first.box.width < 560;
    MARGIN.narrow = narrow; // lines then have their short names
    MARGIN.right = narrow ? 96 : Math.min(200, Math.max(104, Math.ceil(this.labelWidth) + 12));
    MARGIN.left = narrow ? 60 : 72;
  }

  /** What the pictures of weights and the strip need of the explorer; null where there are none. */
  wishes() {
    const wishes = this.entries.filter(({ chart }) => chart.wish).map(({ chart, visible }) => ({ wish: chart.wish(), visible }));
    if (!wishes.length) return null;
    const pictures = wishes.filter(({ wish }) => !wish.strip);
    const strip = wishes.find(({ wish, visible }) => wish.strip && visible && !document.hidden);
    return {
      ...Object.assign({}, ...pictures.map(({ wish }) => wish)),
      visible: pictures.some(({ visible }) => visible), strip: strip ? strip.wish.strip : 0,
    };
  }

  /** Draw those of the charts that can be seen. */
  draw(which) {
    for (const entry of this.entries) {
      const { chart, visible } = entry;
      if (!which(chart) || !visible) continue;
      if (!chart.box.width) continue; // not laid out yet
      try {
        chart.draw();
      } catch (problem) { // the other charts go on
        this.fail(entry, problem);
      }
    }
  }

  destroy() {
    this.observer.disconnect();
    for (const chart of this.charts) if (chart.destroy) chart.destroy();
  }
}
