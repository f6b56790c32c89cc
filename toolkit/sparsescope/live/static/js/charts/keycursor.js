// A picture that the keyboard reaches: arrows move a cursor over its cells, and a sentence says what is there.

import { h, setText } from "../dom.js";

const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageUp: [-10, 0], PageDown: [10, 0], Home: [0, -Infinity], End: [0, Infinity] };

/** The cell a key leads to: [line, column] inside `shape`, or null for a key that moves nothing. */
export function moved(cell, key, shape) {
  const step = MOVES[key];
  if (!step || !shape || !(shape[0] > 0) || !(shape[1] > 0)) return null;
  const inside = (value, size) => Math.max(0, Math.min(size - 1, value));
  const [line, column] = cell || [0, 0];
  return cell ? [inside(line + step[0], shape[0]), inside(column + step[1], shape[1])] : [line, column];
}

/**
 * `chart` has `box` and `context`, and: `shape()` -> [lines, columns], `tell(cell)` -> sentences about a cell, `spot(cell)` ->
 * its place {left, top, width, height} in the plot, `pick(cell)`, what Enter does.
 */
export class KeyCursor {
  constructor(chart, does) {
    this.chart = chart;
    this.cell = null;
    this.ring = h("div", { class: "key-ring", hidden: true });
    this.said = h("p", { class: "sr-only", "aria-live": "polite" });
    const { plot } = chart.box;
    plot.append(this.ring, this.said);
    plot.tabIndex = 0;
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-label", `${chart.spec.title}: arrows move the cursor, enter ${does}`);
    plot.addEventListener("keydown", (event) => this.key(event));
    plot.addEventListener("blur", () => this.leave());
  }

  key(event) {
    const { chart } = this;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && this.cell) {
      event.preventDefault();
      chart.pick(this.cell);
      return;
    }
    const next = moved(this.cell, event.key, chart.shape());
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    this.cell = next;
    this.show();
  }

  /** Put the ring around the cell and say what is there. */
  show() {
    const { chart } = this;
    const spot = this.cell && chart.spot(this.cell);
    this.ring.hidden = !spot;
    if (!spot) return;
    Object.assign(this.ring.style, { left: spot.left - 2 + "px", top: spot.top - 2 + "px", width: Math.max(3, spot.width) + 4 + "px", height: Math.max(3, spot.height) + 4 + "px" });
    const lines = chart.tell(this.cell);
    setText(this.said, lines.join(", "));
    const box = this.ring.getBoundingClientRect();
    chart.context.tooltip.show({ clientX: box.right, clientY: box.bottom }, lines);
  }

  leave() {
    this.cell = null;
    this.ring.hidden = true;
    this.chart.context.tooltip.hide();
  }
}
