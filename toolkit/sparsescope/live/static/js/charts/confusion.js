// Which classes are taken for which: a table of counts, and the misread samples of a cell. Computed when it is opened.

import { h, setText } from "../dom.js";
import { count, iterations, plural, short } from "./format.js";
import { Chart } from "./chartbox.js";

const FOLDED = 56; // pixels while nothing was asked for
const LISTED_PAIRS = 24; // listed where there are too many classes for a table

/** The sentence over the table. */
export function verdictOf(found) {
  if (found.error) return "It could not be computed: " + found.error;
  if (found.reason) return `There is no confusion matrix: ${found.reason}.`;
  const share = found.total ? ` (${short((100 * found.right) / found.total, 4)} %)` : "";
  return `${count(found.right)} of ${plural(found.total, `${found.of} sample`, `${found.of} samples`)} right${share}, at iteration ${iterations(found.iteration)}. Rows: the true class; columns: what it is taken for.`;
}

/** What is said of a misread sample. */
export function reasonsOf(sample) {
  return sample.reasons.length ? sample.reasons.map(([name, share]) => `${name} ${short(share, 2)}`).join(" · ") : "no feature of it has a weight that says why";
}

export class ConfusionChart extends Chart {
  constructor(spec, context) {
    super(spec, context, FOLDED);
    this.button = h("button", { type: "button", "data-testid": "confusion-button", onclick: () => this.ask() }, this.verb());
    this.box.tools.append(this.button);
    this.words = h("p", { class: "card-hint said", role: "status", "data-testid": "confusion-words" });
    this.table = h("div", { class: "confusion-table" });
    this.samples = h("div", { class: "misread", "data-testid": "misread", "aria-live": "polite" });
    this.body = h("div", { class: "confusion", hidden: true }, this.words, h("div", { class: "confusion-parts" }, this.table, this.samples));
    this.box.plot.append(this.body);
    this.box.plot.classList.add("grows");
    this.found = null;
    this.problem = "";
  }

  /** What the button does: a recording has the answer. */
  verb() {
    return this.context.replay ? "show" : "compute";
  }

  ask() {
    setText(this.button, "computing …");
    this.button.disabled = true;
    this.context.link.ask("confusion", {}, (answer) => {
      this.found = answer;
      this.problem = this.problemKey();
      this.picked = null;
      this.button.disabled = false;
      setText(this.button, this.context.replay ? "shown" : "again");
      this.button.hidden = Boolean(this.context.replay);
      this.fill();
      this.context.resized = true;
      this.context.requestDraw();
    });
  }

  problemKey() {
    const { store } = this.context;
    return `${store.epoch}/${store.stream}`;
  }

  draw() {
    if (this.found && this.problem !== this.problemKey()) {
      this.found = null; // of other data, or of a run that was reset
      this.body.hidden = true;
      this.button.hidden = false;
      setText(this.button, this.verb());
    }
    this.box.plot.style.height = this.found ? "auto" : FOLDED + "px";
    this.box.setEmpty(this.found ? "" : this.spec.empty);
    if (!this.found) return;
    const late = this.context.store.status && this.context.store.status.iteration > this.found.iteration;
    this.box.setNote(this.found.iteration === undefined ? "" : late ? `of iteration ${iterations(this.found.iteration)}: older than the other pictures` : `iteration ${iterations(this.found.iteration)}`);
  }

  fill() {
    const { found } = this;
    this.body.hidden = false;
    setText(this.words, verdictOf(found));
    this.samples.replaceChildren();
    this.table.replaceChildren();
    if (found.error || found.reason) return;
    this.table.append(found.counts ? this.matrix(found) : this.list(found));
    if (found.pairs.length) this.pick(found.pairs[0][0], found.pairs[0][1]);
  }

  cell(true_, taken, number, most) {
    const same = true_ === taken;
    if (!number) return h("td", { class: same ? "right" : null }, "·");
    const { names } = this.found;
    const label = `${names[true_]} taken for ${names[taken]}: ${number}`;
    if (same) return h("td", { class: "right", title: `${names[true_]}: ${number} right` }, count(number));
    const cell = h("td", { title: label }, h("button", { type: "button", class: "quiet", "aria-label": label, onclick: () => this.pick(true_, taken) }, count(number)));
    cell.style.background = `color-mix(in srgb, var(--vermillion) ${Math.round(10 + (40 * number) / most)}%, var(--paper))`;
    return cell;
  }

  matrix({ names, counts, pairs }) {
    const most = pairs.length ? pairs[0][2] : 1;
    const head = h("tr", {}, h("td", {}), ...names.map((name) => h("th", { scope: "col", title: name }, h("span", {}, name))));
    const rows = counts.map((row, k) => h("tr", {}, h("th", { scope: "row", title: names[k] }, h("span", {}, names[k])), ...row.map((number, c) => this.cell(k, c, number, most))));
    return h("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": "confusion matrix" }, h("table", { "data-testid": "confusion-matrix", class: names.some((name) => name.length > 3) ? "long-names" : null }, h("thead", {}, head), h("tbody", {}, ...rows)));
  }

  list({ names, pairs }) {
    return h("ol", {}, ...pairs.slice(0, LISTED_PAIRS).map(([a, b, number]) => h("li", {}, h("button", { type: "button", class: "quiet", onclick: () => this.pick(a, b) }, `${names[a]} taken for ${names[b]}: ${count(number)}`))));
  }

  pick(true_, taken) {
    this.context.link.ask("misread", { true: true_, found: taken }, (answer) => this.tell(answer));
  }

  tell(answer) {
    if (answer.error) {
      this.samples.replaceChildren(h("p", { class: "card-hint" }, answer.error));
      return;
    }
    const { names } = this.found;
    const title = `${names[answer.true]} taken for ${names[answer.found]}: ${plural(answer.number, "sample", "samples")}`;
    this.samples.replaceChildren(
      h("h3", {}, title),
      ...answer.samples.map((sample) => h("div", { class: "misread-sample" }, ...(answer.shape ? [sampleImage(sample.pixels, answer.shape)] : []), h("p", {}, h("b", {}, `sample ${count(sample.sample)}`), " " + reasonsOf(sample)))),
      ...(answer.number > answer.samples.length ? [h("p", { class: "card-hint" }, `and ${count(answer.number - answer.samples.length)} more`)] : []),
    );
    this.context.resized = true;
    this.context.requestDraw();
  }
}

/** A sample whose features are pixels. */
export function sampleImage(pixels, [high, wide]) {
  const canvas = h("canvas", { role: "img", "aria-label": "the sample", width: wide, height: high });
  const image = new ImageData(wide, high);
  pixels.forEach((value, k) => image.data.set([255 - value, 255 - value, 255 - value, 255], 4 * k));
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}
