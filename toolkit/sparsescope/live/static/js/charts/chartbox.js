// What all charts have in common: a card with a title, tools at the right, a plot area and a sentence while it is empty.

import { h, setAttribute, setSymbols, setText, show } from "../dom.js";

// The same margins for every chart over time, so that they line up under each other.
export const MARGIN = { left: 72, right: 128, top: 10, bottom: 44, narrow: false };

export class ChartBox {
  constructor(id, title, height) {
    this.id = id;
    this.tools = h("div", { class: "chart-tools" });
    this.note = h("span", { class: "chart-note" });
    this.plot = h("div", { class: "chart-plot", style: `height:${height}px` });
    this.sentence = h("p", { class: "chart-empty", "data-testid": "chart-empty-" + id });
    this.element = h(
      "section", { class: "chart card", "data-testid": "chart-" + id, "aria-label": title },
      h("header", { class: "chart-head" }, h("h2", {}, title), this.note, this.tools),
      h("div", { class: "chart-body" }, this.plot, this.sentence),
    );
    this.said = this.inFull = ""; // in the note, and where it is pointed at
    this.waiting = false; // whether that has still to be written
    this.visible = true;
    this.width = 0;
    this.height = height;
    this.drawnKey = null;
  }

  /** Show the sentence (and hide the plot's inside), or, with "", show the plot. */
  setEmpty(sentence) {
    setSymbols(this.sentence, sentence);
    show(this.sentence, sentence !== "");
    this.plot.classList.toggle("is-empty", sentence !== "");
  }

  /** Write the note when all pictures are painted: text on a canvas makes the browser lay out what was changed before. */
  setNote(text, inFull = text) {
    if (text === this.said && inFull === this.inFull) return;
    if (!this.waiting) queueMicrotask(() => this.writeNote());
    [this.said, this.inFull, this.waiting] = [text, inFull, true];
  }

  writeNote() {
    this.waiting = false;
    setText(this.note, this.said);
    setAttribute(this.note, "title", this.inFull); // where there is no room for all of it
  }

  /** Read the size from the page. Only when something was resized: asking makes the browser lay everything out. */
  measure() {
    this.width = Math.floor(this.plot.clientWidth);
    this.height = this.plot.clientHeight || this.height;
  }
}

/** A chart of a spec, on a card; `context` is the page: { store, palette, axis, tooltip, requestDraw, … }. */
export class Chart {
  constructor(spec, context, height) {
    this.spec = spec;
    this.context = context;
    this.box = new ChartBox(spec.id, spec.title, height);
  }
}

/** A chart that is painted on a canvas. What is under the pointer is found by `hover(event)`, and by `picked(event)`: a row or null. */
export class CanvasChart extends Chart {
  constructor(spec, context, height) {
    super(spec, context, height);
    this.canvas = h("canvas", { role: "img", "aria-label": spec.title });
    this.box.plot.append(this.canvas);
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => this.leave());
    this.canvas.addEventListener("click", (event) => {
      const row = this.picked(event);
      if (row !== null) context.select(row);
    });
  }

  leave() {
    this.context.tooltip.hide();
  }
}
