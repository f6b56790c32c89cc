// The inspector: the weights of one chosen row of W, by class, as bars.

import { h, setAttribute, setText, show } from "./dom.js";
import { count, known } from "./charts/format.js";
import { exact } from "./charts/axes.js";
import { words } from "./charts/kinds.js";

const MOST = 40; // classes shown, the largest by magnitude

/** Of a row's weights the largest, as [value, class], and how many others there are: {shown, more, zero}. */
export function largest(values, classes, nonzero, m, most = MOST) {
  const all = values.map((value, k) => [value, classes ? classes[k] : k]).filter(([value]) => known(value));
  if (m <= most) return { shown: all, more: 0, zero: 0 }; // few classes: each has its place
  const lit = all.filter(([value]) => value !== 0).sort((a, b) => Math.abs(b[0]) - Math.abs(a[0]) || a[1] - b[1]);
  const shown = lit.slice(0, most);
  return { shown, more: nonzero - shown.length, zero: m - nonzero };
}

/** The row of the largest norm in a picture of W, or the feature with most ties; null if W is zero. */
export function heaviest(picture) {
  if (!picture.nonzero) return null;
  const sizes = picture.norms || picture.degrees; // of the rows shown, or of all features of a network
  let best = 0;
  for (let k = 1; k < sizes.length; k++) if (sizes[k] > sizes[best]) best = k;
  return picture.norms ? picture.rows[best] : best;
}

/** Whether a row has become zero, or belongs to another stage than the rows of the picture. */
export function isGone(picture, row) {
  return (picture.row === row && picture.row_nonzero === 0) || (Boolean(picture.steps) && !picture.rows.includes(row));
}

export class Inspector {
  constructor(context) {
    this.context = context;
    this.note = h("span", { class: "chart-note" });
    this.close = h("button", { type: "button", onclick: () => context.select(null) }, "clear");
    this.list = h("div", { class: "bars" });
    this.past = h("p", { class: "card-hint" });
    this.rest = h("p", { class: "card-hint", "data-testid": "inspector-rest" });
    this.sentence = h("p", { class: "chart-empty" }, "Click a row of W or of the active set to see its weights here.");
    this.element = h(
      "section", { class: "chart card", "data-testid": "inspector", "aria-label": "Inspector" },
      h("header", { class: "chart-head" }, h("h2", {}, "Inspector"), this.note, h("div", { class: "chart-tools" }, this.close)),
      h("div", { class: "chart-body inspector-body" }, this.past, this.list, this.rest, this.sentence),
    );
    this.key = "";
  }

  draw() {
    const { store, palette, names, selected } = this.context;
    const picture = store.picture;
    const values = picture && picture.row === selected && selected !== null ? picture.row_values : null;
    show(this.sentence, !values);
    show(this.list, Boolean(values));
    show(this.past, Boolean(values));
    show(this.rest, Boolean(values));
    show(this.close, selected !== null);
    if (!values) {
      setText(this.note, selected === null ? "" : names.of(selected) || "row " + selected);
      this.key = "";
      return;
    }
    const key = [picture.version, palette.theme, selected, names.of(selected)].join();
    if (key === this.key) return;
    this.key = key;
    const said = words(store.problem).inspector;
    setText(this.note, said.note(names.of(selected) || "row", selected, picture, store.problem));
    setText(this.past, said.silent ? "" : past(store.active.history(selected, 0), said));
    const whole = said.zeros ? store.problem.m : picture.row_nonzero; // of a network those without a tie are not told
    const { shown, more, zero } = largest(values, picture.row_classes, picture.row_nonzero, whole);
    this.drawBars(shown);
    setText(this.rest, rest(more, zero));
  }

  drawBars(shown) {
    const { store, palette } = this.context;
    const top = Math.max(...shown.map(([value]) => Math.abs(value))) || 1;
    while (this.list.children.length < shown.length) {
      this.list.append(h("div", { class: "bar-row" }, h("span", { class: "bar-name" }), h("span", { class: "bar" }, h("i")), h("span", { class: "bar-value" })));
    }
    while (this.list.children.length > shown.length) this.list.lastChild.remove();
    shown.forEach(([value, c], k) => {
      const row = this.list.children[k];
      const [name, track, text] = row.children;
      setText(name, store.problem.class_names[c]);
      setAttribute(name, "title", store.problem.class_names[c]);
      setText(text, exact(value));
      const bar = track.firstChild;
      bar.style.transform = `scaleX(${value / top})`; // from the middle; lays nothing out
      bar.style.background = palette.colour(value < 0 ? "blue" : "vermillion");
    });
  }
}

/** Text about what the list leaves out. */
function rest(more, zero) {
  const smaller = more ? `${count(more)} smaller` : "";
  const none = zero ? `${count(zero)} with zero` : "";
  return more || zero ? `and ${[smaller, none].filter(Boolean).join(", ")}` : "";
}

/** Text about when a row was non-zero. */
function past(spans, said) {
  if (!spans.length) return said.never;
  const [start, end, ended] = spans[spans.length - 1];
  const times = spans.length > 1 ? ` It entered ${spans.length} times.` : "";
  return `${ended ? said.out : said.in} since iteration ${count(ended ? end : start)}.${times}${said.values}`;
}
