// The words that count most, with a bar for the norm of their row of W and the class of their largest weight.

import { h } from "../dom.js";
import { number, ofIteration, plural } from "./format.js";
import { ChartBox } from "./chartbox.js";

export class WordList {
  constructor(spec, context, height) {
    this.spec = spec;
    this.context = context;
    this.box = new ChartBox(spec.id, spec.title, height);
    this.list = h("div", { class: "words", role: "list" });
    this.box.plot.append(this.list);
    this.key = "";
  }

  /** The list as rows of a file. */
  rows() {
    const { store, names } = this.context;
    const { strip, problem } = store;
    return [["feature", "name", "norm", "class", "weight"], ...Array.from(strip ? strip.words : [], (j, k) => [j, names.of(j), strip.word_norms[k], problem.class_names[strip.word_classes[k]], strip.word_values[k]])];
  }

  draw() {
    const { store, names, palette, selected } = this.context;
    const { strip, problem } = store;
    const started = store.status && store.status.iteration > 0; // before, no λ lets a feature in
    this.box.setEmpty(strip && strip.words.length ? "" : started ? this.spec.empty : this.spec.start);
    if (!strip || !problem) return;
    this.box.setNote(`${plural(strip.word_rows ?? strip.counts[2], "row", "rows")} in, by norm${ofIteration({ iteration: strip.words_iteration ?? strip.iteration }, store)}`);
    const key = [strip.version, store.names.size, palette.theme, selected, this.box.width].join();
    if (key === this.key) return;
    this.key = key;
    const most = strip.word_norms[0] || 1;
    this.list.replaceChildren(...Array.from(strip.words, (feature, k) => {
      const fill = h("i", {});
      fill.style.width = (100 * strip.word_norms[k]) / most + "%";
      fill.style.background = palette.colour(strip.word_values[k] > 0 ? "vermillion" : "blue");
      const sign = strip.word_values[k] > 0 ? "for" : "against";
      const name = names.of(feature) || "…";
      return h("div", { role: "listitem" }, h(
        "button", { type: "button", class: "word-row" + (feature === selected ? " is-selected" : ""), title: `${name}: norm ${number(strip.word_norms[k], 4)}, largest weight ${number(strip.word_values[k], 4)}`, onclick: () => this.context.select(feature) },
        h("span", { class: "word-name" }, name), h("span", { class: "bar" }, fill), h("span", { class: "word-class" }, `${sign} ${problem.class_names[strip.word_classes[k]]}`),
      ));
    }));
  }
}
