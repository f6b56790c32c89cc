// The words that count most, with a bar for the norm of their row of W and the class of their largest weight.

import { h, setAttribute, setText } from "../dom.js";
import { count, number, ofIteration, plural } from "./format.js";
import { Chart } from "./chartbox.js";

export class WordList extends Chart {
  constructor(spec, context, height) {
    super(spec, context, height);
    this.list = h("div", { class: "words", role: "list" });
    this.box.plot.append(this.list);
    this.key = "";
    this.lines = [];
    this.features = []; // in the lines
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
    const [rows, of] = [strip.word_rows ?? strip.counts[2], ofIteration({ iteration: strip.words_iteration ?? strip.iteration }, store)];
    this.box.setNote(`${count(rows)} by norm${of.replace("iteration", "it")}`, `${plural(rows, "row", "rows")} in, by norm${of}`);
    const key = [store.rewritten, strip.version, store.names.size, palette.theme, selected, this.box.width].join();
    if (key === this.key) return;
    this.key = key;
    this.features = strip.words;
    const most = strip.word_norms[0] || 1;
    while (this.lines.length < strip.words.length) this.lines.push(this.line(this.lines.length));
    while (this.list.children.length > strip.words.length) this.list.lastChild.remove();
    strip.words.forEach((feature, k) => {
      const { item, button, name, fill, of } = this.lines[k];
      if (item.parentNode !== this.list) this.list.append(item);
      const [weight, norm, said] = [strip.word_values[k], strip.word_norms[k], names.of(feature) || "…"];
      fill.style.transform = `scaleX(${norm / most})`; // which, unlike a width, lays nothing out
      fill.style.background = palette.colour(weight > 0 ? "vermillion" : "blue");
      button.classList.toggle("is-selected", feature === selected);
      setAttribute(button, "title", `${said}: norm ${number(norm, 4)}, largest weight ${number(weight, 4)}`);
      setText(name, said);
      setText(of, `${weight > 0 ? "for" : "against"} ${problem.class_names[strip.word_classes[k]]}`);
    });
  }

  /** The elements of one line; they serve each word that comes to its place. */
  line(k) {
    const [name, fill, of] = [h("span", { class: "word-name" }), h("i", {}), h("span", { class: "word-class" })];
    const button = h("button", { type: "button", class: "word-row", onclick: () => this.context.select(this.features[k]) }, name, h("span", { class: "bar" }, fill), of);
    return { item: h("div", { role: "listitem" }, button), button, name, fill, of };
  }
}
