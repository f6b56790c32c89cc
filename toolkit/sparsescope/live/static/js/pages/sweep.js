// The sweep page: a table of fits that grows, with progress, the best so far and what failed.

import { h, setAttribute, setText, symbols } from "../dom.js";
import { count, known, number, scientific, short } from "../charts/format.js";
import { downloadRows } from "../save.js";
import { mountPage } from "./frame.js";
import { WorkingBody } from "./working.js";

export const VERSION = "1";

const SHOWN = 300; // rows of the table at a time
const LISTED = 50; // sentences about failures

export function mount(given) {
  return mountPage((page) => new SweepBody(page), given);
}

const percent = (value) => (known(value) ? `${number(100 * value, 4)} %` : "–");
const lamText = (row) => (known(row.ratio) ? short(row.ratio) : short(row.lam));

class SweepBody extends WorkingBody {
  constructor(page) {
    super(page, "sweep", "Sweep again");
    this.csv = h("button", { type: "button", "data-testid": "sweep-csv", onclick: () => this.save() }, "CSV");
    this.good = h("i", { class: "sweep-good" });
    this.open = h("i", { class: "sweep-open" });
    this.bad = h("i", { class: "sweep-bad" });
    this.progress = h("div", { class: "sweep-progress", role: "progressbar", "aria-label": "tasks that are done", "aria-valuemin": "0", "data-testid": "sweep-progress" }, this.good, this.open, this.bad);
    this.key = h("p", { class: "prox-saying", "data-testid": "sweep-key" });
    this.best = h("p", { class: "sweep-best", "aria-live": "polite", "data-testid": "sweep-best" });
    this.note = h("p", { class: "prox-saying", "data-testid": "sweep-note" });
    this.table = h("table", { class: "race-table sweep-table", "data-testid": "sweep-table" });
    this.failures = h("section", { class: "card sweep-failures", "aria-label": "failures", "data-testid": "sweep-failures", hidden: true });
    this.element = h(
      "div", { class: "race sweep" },
      this.bar(this.csv),
      h("section", { class: "card sweep-head", "aria-label": "progress" }, this.progress, this.key, this.best),
      this.failures,
      h("section", { class: "card race-card", "aria-label": "results", tabindex: "0" }, this.note, this.table),
    );
    this.sorting = { by: "at", down: false };
    this.forget();
  }

  forget() {
    this.rows = [];
    this.done = this.failed = this.total = 0;
    this.measure = "";
    this.bestAt = null;
  }

  begin(picture) {
    if (picture.epoch !== this.epoch) this.forget();
    this.epoch = picture.epoch;
    setText(this.again, picture.folder === null ? "Sweep again" : "Look again");
  }

  take(message) {
    if (message.type === "rows") this.onRows(message);
    else if (message.type === "status") this.onStatus(message);
    this.page.requestDraw();
  }

  onRows(message) {
    if (message.epoch !== this.epoch || message.from === 0) this.forget();
    this.epoch = message.epoch;
    this.rows.push(...message.rows);
    Object.assign(this, { done: message.done, failed: message.failed, total: message.total, measure: message.measure, bestAt: message.best });
  }

  // ---------------------------------------------------------------------------------------------------------- drawing
  draw() {
    this.drawProgress();
    this.drawBest();
    this.drawFailures();
    this.drawTable();
  }

  drawProgress() {
    const reached = this.rows.filter((row) => row.converged).length;
    const part = (share) => `width:${(100 * (this.total ? share / this.total : 0)).toFixed(2)}%`;
    this.good.style = part(reached);
    this.open.style = part(this.done - reached - this.failed);
    this.bad.style = part(this.failed);
    setAttribute(this.progress, "aria-valuemax", String(Math.max(1, this.total)));
    setAttribute(this.progress, "aria-valuenow", String(this.done));
    const said = [`${count(reached)} reached the gap`, `${count(this.done - reached - this.failed)} ended at a limit`, `${count(this.failed)} failed`, `${count(this.total - this.done)} to come`];
    setText(this.key, this.total ? said.join(" · ") : "");
  }

  drawBest() {
    const row = this.rows.find(({ at }) => at === this.bestAt);
    if (!row) return setText(this.best, this.total ? "No result yet." : "");
    const value = this.measure ? `${this.measure} ${percent(row.score)}` : `objective ${short(row.objective, 6)}`;
    this.best.replaceChildren(...symbols(`Best so far: ${value} with ${row.problem}, ${known(row.ratio) ? "λ/λ_max" : "λ"} = ${lamText(row)}, ${known(row.rows) ? count(row.rows) + " rows, " : ""}${row.solver} (${short(row.seconds)} s)`));
  }

  drawFailures() {
    const failed = this.rows.filter((row) => row.failed);
    this.failures.hidden = !failed.length;
    const groups = new Map(); // a sentence -> the tasks that it is about
    for (const row of failed) groups.set(row.said, [...(groups.get(row.said) || []), row]);
    const name = (row) => `${row.problem}, ${row.solver}`;
    this.failures.replaceChildren(h("h2", {}, "Failed"), h("ul", {}, ...[...groups].slice(0, LISTED).map(([said, rows]) => h("li", {}, h("b", {}, [...new Set(rows.map(name))].slice(0, 4).join("; ")), ` (${count(rows.length)}): ${said}`))));
  }

  columns() {
    return [
      { key: "problem", title: "problem", text: (row) => row.problem },
      { key: "lam", title: this.rows.some((row) => known(row.ratio)) ? "λ/λ_max" : "λ", text: lamText },
      { key: "solver", title: "solver", text: (row) => row.solver + (known(row.seed) ? `, seed ${row.seed}` : "") },
      ...(this.measure ? [{ key: "score", title: this.measure, text: (row) => percent(row.score) }] : []),
      { key: "rows", title: "rows", text: (row) => (known(row.rows) ? count(row.rows) : "–") },
      { key: "objective", title: "F", text: (row) => (known(row.objective) ? short(row.objective, 6) : "–") },
      { key: "gap", title: "relative gap", text: (row) => (known(row.gap) ? scientific(row.gap) : "–") },
      { key: "seconds", title: "CPU s", text: (row) => (known(row.seconds) ? short(row.seconds) : "–") },
      { key: "said", title: "ended", text: (row) => row.said, end: true },
    ];
  }

  sorted() {
    const { by, down } = this.sorting;
    const value = (row) => row[by];
    const order = (a, b) => {
      if (!known(value(a)) || !known(value(b))) return Number(!known(value(a))) - Number(!known(value(b))); // unknown ones last
      const apart = typeof value(a) === "string" ? value(a).localeCompare(value(b)) : value(a) - value(b);
      return (down ? -apart : apart) || a.at - b.at;
    };
    const words = ["problem", "solver", "said"].includes(by);
    const compare = words ? (a, b) => (down ? -1 : 1) * String(value(a)).localeCompare(String(value(b))) || a.at - b.at : order;
    return this.rows.slice().sort(compare);
  }

  sort(key) {
    this.sorting = { by: key, down: this.sorting.by === key ? !this.sorting.down : key === "score" };
    this.page.requestDraw();
  }

  drawTable() {
    const columns = this.columns();
    const rows = this.sorted();
    setText(this.note, rows.length > SHOWN ? `The first ${SHOWN} of ${count(rows.length)} rows in this order; CSV has all of them.` : "");
    this.note.hidden = rows.length <= SHOWN;
    if (!rows.length) return this.table.replaceChildren();
    const { by, down } = this.sorting;
    const focus = this.page.root.activeElement?.dataset?.sort;
    const head = h("tr", {}, ...columns.map(({ key, title }) => h("th", { scope: "col", "aria-sort": key === by ? (down ? "descending" : "ascending") : "none" },
      h("button", { type: "button", class: "sweep-sort", "data-sort": key, "data-testid": "sweep-sort-" + key, onclick: () => this.sort(key) }, ...symbols(title), h("span", { "aria-hidden": "true" }, key === by ? (down ? " ↓" : " ↑") : "")))));
    const cells = (row) => columns.map(({ text, end }, k) => h(k ? "td" : "th", { class: end ? "race-end" : "", ...(k ? {} : { scope: "row" }) }, text(row)));
    this.table.replaceChildren(h("thead", {}, head), h("tbody", {}, ...rows.slice(0, SHOWN).map((row) => h("tr", { class: row.failed ? "is-failed" : row.at === this.bestAt ? "is-chosen" : "" }, ...cells(row)))));
    if (focus) this.table.querySelector(`[data-sort="${focus}"]`)?.focus();
  }

  save() {
    const head = ["problem", "lam", "lam_ratio", "solver", "seed", this.measure.replaceAll(" ", "_") || "score", "rows", "objective", "relative_gap", "seconds", "converged", "message"];
    const rows = this.rows.slice().sort((a, b) => a.at - b.at).map((row) => [row.problem, row.lam, row.ratio, row.solver, row.seed, row.score, row.rows, row.objective, row.gap, row.seconds, row.converged, row.said]);
    downloadRows("sweep.csv", [head, ...rows]);
  }
}
