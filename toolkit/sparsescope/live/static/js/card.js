// The first screen: what the problem is, and one obvious button.

import { formula, h, show } from "./dom.js";
import { count, number } from "./format.js";

const MOST_CLASSES = 24;

export class ProblemCard {
  constructor(link) {
    this.link = link;
    this.title = h("h2", {});
    this.text = h("p", { class: "card-text" });
    this.facts = h("dl", { class: "facts" });
    this.classes = h("div", { class: "class-sizes", role: "list", "aria-label": "class sizes" });
    this.button = h("button", { type: "button", class: "act primary large", "data-testid": "start-button", onclick: () => link.do("run") }, "Run");
    this.hint = h("p", { class: "card-hint" }, "or press space; step with the full stop. Change anything while it runs.");
    this.element = h(
      "section", { class: "problem-card card", "data-testid": "problem-card", "aria-label": "the problem" },
      h("div", { class: "card-main" }, this.title, this.text, this.facts, h("div", { class: "card-action" }, this.button, this.hint)),
      h("div", { class: "card-side" }, (this.sizes = h("h3", {}, "class sizes")), this.classes),
    );
    this.shown = null;
  }

  draw(store) {
    const problem = store.problem;
    const begun = store.status && store.status.iteration > 0;
    show(this.element, !begun);
    if (begun) return;
    this.button.disabled = store.playing;
    const key = JSON.stringify([problem && problem.epoch, problem && problem.objective0, problem && problem.lam_reference, store.mode === "loading", store.message]);
    if (key === this.shown) return;
    this.shown = key;
    if (!problem || store.mode === "loading") {
      this.title.textContent = store.message || "loading …";
      this.text.textContent = "";
      this.facts.replaceChildren();
      this.classes.replaceChildren();
      return;
    }
    this.title.textContent = problem.title;
    this.text.textContent = problem.description;
    const fact = (name, value, testid) => [h("dt", {}, ...formula(name)), h("dd", { "data-testid": testid }, value)];
    const plain = problem.lam_max !== null;
    const lamMax = problem.lam_max_is_bound ? "λ_max (an upper bound)" : "λ_max";
    this.sizes.textContent = problem.multilabel ? "samples with each label" : "class sizes";
    this.facts.replaceChildren(
      ...fact("samples n", count(problem.n) + (problem.test_n ? ` (and ${count(problem.test_n)} for testing)` : "")),
      ...fact("features d", count(problem.d) + (problem.storage === "sparse" ? `, ${number(100 * problem.density, 2)} % of X non-zero` : "")),
      ...fact(problem.multilabel ? "labels m (sets of them)" : "classes m", count(problem.all_classes.length)),
      ...fact("F at W = 0", number(problem.objective0, 6), "problem-F0"),
      ...fact(plain ? lamMax : "λ_ref (this penalty has no λ_max)", number(plain ? problem.lam_max : problem.lam_reference, 4), "problem-lam-max"),
    );
    this.drawClasses(problem);
  }

  drawClasses(problem) {
    const top = Math.max(...problem.class_sizes);
    const shown = problem.all_classes.slice(0, MOST_CLASSES);
    const rows = shown.map((name, c) => {
      const bar = h("i", {});
      bar.style.width = (100 * problem.class_sizes[c]) / top + "%";
      return h("div", { class: "class-row", role: "listitem" }, h("span", { title: name }, name), h("span", { class: "bar" }, bar), h("span", {}, count(problem.class_sizes[c])));
    });
    const more = problem.all_classes.length - MOST_CLASSES;
    if (more > 0) rows.push(h("p", { class: "card-hint" }, `and ${more} more`));
    this.classes.replaceChildren(...rows);
  }
}
