// The first screen: what the problem is, and one obvious button.

import { formula, h, show } from "./dom.js";
import { count, number } from "./charts/format.js";
import { words } from "./charts/kinds.js";

export class ProblemCard {
  constructor(link, watch) {
    this.link = link;
    this.title = h("h2", {});
    this.text = h("p", { class: "card-text" });
    this.facts = h("dl", { class: "facts" });
    this.classes = h("div", { class: "class-sizes", role: "list", "aria-label": "sizes", tabindex: "0" });
    this.button = h("button", { type: "button", class: "act primary large", "data-testid": "start-button", onclick: () => link.do("run") }, "Run");
    this.watch = h("button", { type: "button", class: "act large", "data-testid": "watch-button", onclick: watch }, "Watch features come in");
    this.hint = h("p", { class: "card-hint" }, "Run: space. Change anything while it runs.");
    this.question = h("p", { class: "question", "data-testid": "question" });
    this.element = h(
      "section", { class: "problem-card card", "data-testid": "problem-card", "aria-label": "the problem" },
      h("div", { class: "card-main" }, this.question, h("div", { class: "card-action" }, this.button, this.watch, this.hint), this.facts, h("details", { class: "about-data" }, h("summary", {}, "about the data"), this.title, this.text)),
      h("div", { class: "card-side" }, (this.sizes = h("h2", { class: "minor" }, "class sizes")), this.classes),
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
      this.question.textContent = store.message || "loading …";
      this.title.textContent = "";
      this.text.textContent = "";
      this.facts.replaceChildren();
      this.classes.replaceChildren();
      return;
    }
    this.title.textContent = problem.title;
    this.question.textContent = words(problem).question(problem);
    show(this.watch, Boolean(words(problem).watch));
    this.text.textContent = problem.description;
    const fact = (name, value, testid) => [h("dt", {}, ...formula(name)), h("dd", { "data-testid": testid }, value)];
    const plain = problem.lam_max !== null;
    const lamMax = problem.lam_max_is_bound ? "λ_max (an upper bound)" : "λ_max";
    const said = words(problem);
    this.facts.replaceChildren(
      ...said.facts(problem).flatMap(([name, value, testid]) => fact(name, value, testid)),
      ...fact(plain ? lamMax : said.noLamMax, number(plain ? problem.lam_max : problem.lam_reference, 4), "problem-lam-max"),
    );
    this.drawBars(said.bars(problem));
  }

  drawBars({ title, rows, more }) {
    this.sizes.textContent = more > 0 ? `${title}: ${rows.length} of ${count(rows.length + more)}` : title;
    this.classes.classList.toggle("many", rows.length > 12);
    const top = Math.max(...rows.map(([, size]) => size));
    const lines = rows.map(([name, size, text]) => {
      const bar = h("i", {});
      bar.style.width = (100 * size) / top + "%";
      return h("div", { class: "class-row", role: "listitem" }, h("span", { title: name }, name), h("span", { class: "bar" }, bar), h("span", {}, text));
    });
    this.classes.replaceChildren(...lines);
  }
}
