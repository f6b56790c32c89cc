// The path page: ‖W_j‖ against λ while the path grows, accuracy and rows beneath it, and the rows at the chosen λ beside.

import { fitCanvas, formula, h, setText, show, symbols } from "../dom.js";
import { fitText } from "../charts/axes.js";
import { levelled, lowered, s } from "../charts/svg.js";
import { count, known, linearTicks, logTicks, number, plural, roundUp, scientific, short, tickTexts } from "../charts/format.js";
import { FONT } from "../charts/palette.js";
import { mountPage } from "./frame.js";
import { StudyBody } from "./study.js";

export const VERSION = "1";

const EDGE = { left: 56, right: 108, top: 12, bottom: 20 };
const HUES = ["blue", "vermillion", "green", "purple", "orange", "sky"];
const LABELS = 10; // rows that are named at their lines
const LINE = 14; // pixels between two names
const NEAR = 12; // pixels within which the pointer means a line
const LISTED = 60; // rows in the list

export function mount(given) {
  return mountPage((page) => new PathBody(page), given);
}

const percent = (value, digits = 1) => (known(value) ? (100 * value).toFixed(digits) + " %" : "–");

class PathBody extends StudyBody {
  constructor(page) {
    super(page, "path", "Grow again");
    this.best = this.jump("best", "best λ", "the λ of the largest mean score of the folds");
    this.oneSe = this.jump("one-se", "one-s.e. λ", "the largest λ whose mean score is within one standard error of the best");
    this.what = h("select", { "data-testid": "path-what", "aria-label": "what the lines show", onchange: () => page.requestDraw() },
      h("option", { value: "norm" }, "‖Wⱼ‖"), h("option", { value: "share" }, "share of halves"));
    this.canvas = h("canvas", {});
    this.over = s("svg", { class: "path-over" });
    this.plot = this.figure("path-plot", "path-lines", this.canvas, this.over);
    this.curves = s("svg", { class: "path-svg" });
    this.curvePlot = this.figure("path-curves", "path-curves", this.curves);
    this.sizes = s("svg", { class: "path-svg" });
    this.sizePlot = this.figure("path-rows", "path-rows", this.sizes);
    this.note = h("p", { class: "prox-saying", "data-testid": "path-note" });
    this.list = h("div", { class: "path-list", role: "list", tabindex: "0", "aria-label": "rows at the chosen λ", "data-testid": "path-list" });
    this.listNote = h("p", { class: "prox-saying", "data-testid": "path-stability" });
    const head = h("div", { class: "path-head" }, h("h2", {}, "Weights along λ"), h("label", { class: "inline" }, "lines ", this.what), this.note);
    this.element = this.layout("path", [this.best, this.oneSe],
      h("section", { class: "card path-charts", "aria-label": "path" }, head, this.plot, this.curvePlot, this.sizePlot),
      h("section", { class: "card path-side", "aria-label": "rows" }, this.listTitle = h("h2", {}, "Rows at this λ"), this.listNote, this.list));
    this.forget();
  }

  jump(key, text, title) {
    return h("button", { type: "button", class: "act", disabled: true, title, "data-testid": "path-" + key, onclick: () => this.choose(this.chosen[key === "best" ? "best" : "one_se"]) }, text);
  }

  forget() {
    this.begun = null; // what the study is of
    this.points = [];
    this.lines = []; // {row, name, values}
    this.head = null;
    this.folds = [];
    this.chosen = null;
    this.shares = null;
    this.stable = null;
    this.hot = null;
    this.best.disabled = this.oneSe.disabled = true;
  }

  // -------------------------------------------------------------------------------------------------------- messages
  onPoints(message) {
    message.values.forEach((values) => values.forEach((value, at) => this.lines[at].values.push(value)));
    message.lines.forEach((line, at) => this.lines.push({ ...line, values: message.pasts.map((past) => past[at]) }));
    this.points.push(...message.points);
    this.head = null;
  }

  onHead(message) {
    if (message.k === this.points.length) this.head = message;
  }

  onScores(message) {
    this.folds = message.folds;
    this.chosen = message.chosen;
    this.best.disabled = this.oneSe.disabled = !this.chosen;
  }

  onStable(message) {
    this.stable = message;
  }

  // ------------------------------------------------------------------------------------------------------------ hands
  axis() {
    return this.frame && { plot: this.plot, left: EDGE.left, wide: this.frame.wide };
  }

  hover(event) {
    if (!this.frame || event.currentTarget !== this.plot) return;
    const y = event.clientY - this.plot.getBoundingClientRect().top;
    const k = this.under(event);
    let [found, least] = [null, NEAR];
    for (const line of this.shown()) {
      const value = line.values[k];
      const away = known(value) ? Math.abs(this.frame.Y(value) - y) : Infinity;
      if (away < least && (value > 0 || line.values.some((v, i) => v > 0 && Math.abs(i - k) < 2))) [found, least] = [line, away];
    }
    if (found === null) this.tooltip.hide();
    else this.tooltip.show(event, [found.name, `λ = ${short(this.begun.ratios[k])} ${this.begun.unit}: ${this.what.value === "share" ? percent(found.values[k], 0) + " of the halves" : number(found.values[k], 3)}`]);
    this.light(found && found.row);
  }

  light(row) {
    if (row === this.hot) return;
    this.hot = row;
    this.page.requestDraw();
  }

  leave() {
    this.tooltip.hide();
    this.light(null);
  }

  // ---------------------------------------------------------------------------------------------------------- drawing
  /** The lines: norms, or shares of the halves. */
  shown() {
    if (this.what.value === "norm") return this.lines;
    if (!this.shares) return [];
    const { rows, counts, halves } = this.shares;
    // Zeros before the first λ that selects a row are not sent.
    return rows.map((row, at) => ({ ...row, values: [...Array(row.from || 0).fill(0), ...counts[at]].map((value) => value / halves) }));
  }

  draw() {
    this.painted = (this.painted || 0) + 1;
    const wide = Math.max(180, this.plot.clientWidth - EDGE.left - this.right());
    const ratios = this.begun ? this.begun.ratios : [1, 0.01];
    const X = (k) => EDGE.left + (wide * k) / Math.max(1, ratios.length - 1);
    this.drawLines(wide, X);
    this.drawCurves(wide, X);
    this.drawRows(wide, X);
    this.drawFacts();
    this.drawList();
  }

  right() {
    return this.plot.clientWidth < 520 ? 84 : EDGE.right;
  }

  drawLines(wide, X) {
    const width = this.plot.clientWidth;
    const height = Math.max(170, Math.min(420, window.innerHeight - 452));
    this.plot.style.height = height + "px";
    const context = fitCanvas(this.canvas, width, height);
    context.clearRect(0, 0, width, height);
    this.over.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const lines = this.shown();
    const share = this.what.value === "share";
    const values = this.head && !share ? this.head.values : [];
    const biggest = share ? 1 : roundUp(1.02 * lines.reduce((most, line) => line.values.reduce((a, b) => Math.max(a, b), most), values.reduce((a, b) => Math.max(a, b), 0)));
    const Y = (value) => EDGE.top + (1 - value / biggest) * (height - EDGE.top - EDGE.bottom);
    this.frame = { wide, X, Y, height };
    const { palette } = this.page;
    const order = lines.map((line, at) => ({ line, at, most: line.values.reduce((a, b) => Math.max(a, b), 0) })).sort((a, b) => b.most - a.most);
    const named = new Map(order.slice(0, share ? 0 : LABELS).map(({ line }, k) => [line.row, HUES[k % HUES.length]]));
    const chosen = this.stable && share ? new Set(this.stable.rows.map(({ row }) => row)) : null;
    for (const { line, at } of order.reverse()) {
      const hot = line.row === this.hot;
      const hue = named.get(line.row) || (chosen && chosen.has(line.row) ? "green" : null);
      context.strokeStyle = palette.colour(hot ? "ink" : hue || "kept");
      context.lineWidth = hot ? 3 : hue ? 1.6 : 1;
      context.beginPath();
      let begun = false;
      line.values.forEach((value, k) => {
        const near = value > 0 || line.values[k - 1] > 0 || line.values[k + 1] > 0;
        if (!near) return (begun = false);
        if (begun) context.lineTo(X(k), Y(value));
        else context.moveTo(X(k), Y(value));
        begun = true;
      });
      context.stroke();
      if (!share && this.head && known(values[at]) && values[at] > 0) this.drawHead(context, line, values[at], X, Y, palette.colour(hue || "kept"));
    }
    const size = lines.length ? lines[0].values.length : 0;
    const area = { width, height, wide, top: EDGE.top, bottom: EDGE.bottom };
    this.over.replaceChildren(
      ...this.grid(area, X, Y, linearTicks(0, biggest, 4), (tick) => (share ? percent(tick, 0) : short(tick))),
      ...(share && this.stable ? [this.level(Y(this.stable.threshold), wide, "green", "4 3")] : []),
      ...this.cursor(X, height),
      ...(share ? this.names(this.shareNames(lines, size), X, Y) : this.names(order.reverse().slice(0, LABELS).map(({ line }) => ({ line, colour: palette.colour(named.get(line.row)) })), X, Y)),
      ...(lines.length ? [] : [this.words(width, height, share && this.begun ? (this.begun.resamples ? "The shares come with the first half of the samples." : "No halves are drawn: set their number at the left.") : "The path begins at λ_max, where all weights are zero.")]),
    );
    this.plot.setAttribute("aria-label", this.said());
  }

  drawHead(context, line, value, X, Y, colour) {
    const k = this.head.k;
    context.save();
    context.setLineDash([2, 3]);
    context.strokeStyle = context.fillStyle = colour;
    context.beginPath();
    context.moveTo(X(k - 1), Y(line.values[k - 1] || 0));
    context.lineTo(X(k), Y(value));
    context.stroke();
    context.beginPath();
    context.arc(X(k), Y(value), 2.2, 0, 2 * Math.PI);
    context.fill();
    context.restore();
  }

  shareNames(lines, size) {
    const stable = new Set((this.stable ? this.stable.rows : []).map(({ row }) => row));
    const end = (line) => line.values[size - 1] || 0;
    return lines.filter(({ row }) => stable.has(row)).sort((a, b) => end(b) - end(a)).slice(0, LABELS).map((line) => ({ line, colour: this.page.palette.colour("green") }));
  }

  /** Names at the ends of lines, pushed apart where they would touch. */
  names(entries, X, Y) {
    const placed = entries.filter(({ line }) => line.values.length).map(({ line, colour }) => {
      const k = line.values.length - 1;
      return { text: line.name, row: line.row, x: X(k) + 6, y: Y(line.values[k]) + 4, colour };
    }).sort((a, b) => a.y - b.y);
    placed.forEach((end, k) => (end.y = Math.max(end.y, k ? placed[k - 1].y + LINE : EDGE.top + 6)));
    let limit = this.frame.height - EDGE.bottom + 4;
    for (const end of placed.slice().reverse()) {
      end.y = Math.min(end.y, limit);
      limit = end.y - LINE;
    }
    return placed.map(({ text, row, x, y, colour }) => s("text", { x, y, fill: colour, "font-size": 12, "font-weight": row === this.hot ? 700 : 600, class: "path-name" }, this.fit(text)));
  }

  /** A name as far as there is room beside the charts. */
  fit(text) {
    this.ruler ??= document.createElement("canvas").getContext("2d");
    this.ruler.font = "700 12px " + FONT; // that of the line under the pointer is the widest
    return fitText(this.ruler, text, this.right() - 10);
  }

  *grid({ width, height, wide, top, bottom }, X, Y, ticks, text) {
    const { palette } = this.page;
    for (const tick of ticks) {
      yield this.level(Y(tick), wide, "grid");
      yield s("text", { x: EDGE.left - 8, y: Y(tick) + 4, "text-anchor": "end", "font-size": 11, fill: palette.colour("muted") }, text(tick));
    }
    const ratios = this.begun ? this.begun.ratios : [];
    if (ratios.length < 2) return;
    const [low, high] = [Math.min(...ratios), Math.max(...ratios)];
    const marks = logTicks(low * 0.999, high * 1.001, Math.max(3, Math.floor(wide / 90)));
    const texts = tickTexts(marks);
    for (const [at, mark] of marks.entries()) {
      const x = EDGE.left + (wide * Math.log(high / mark)) / Math.log(high / low);
      yield s("line", { x1: x, x2: x, y1: top, y2: height - bottom, stroke: palette.colour("grid") });
      yield s("text", { x, y: height - bottom + 14, "text-anchor": "middle", "font-size": 11, fill: palette.colour("muted") }, texts[at]);
    }
    const [letter, sub] = this.begun.unit.split("_");
    yield s("text", { x: EDGE.left + wide + 24, y: height - bottom + 14, "font-size": 11, fill: palette.colour("muted") }, "λ/" + letter, s("tspan", { dy: 3, "font-size": 9 }, sub));
  }

  level(y, wide, colour, dashes = null) {
    return s("line", { x1: EDGE.left, x2: EDGE.left + wide, y1: y, y2: y, stroke: this.page.palette.colour(colour), "stroke-dasharray": dashes });
  }

  /** The chosen λ in all charts, and the λ that the folds choose. */
  *cursor(X, height) {
    if (!this.begun) return;
    const { palette } = this.page;
    const line = (k, colour, dashes, wide) => s("line", { x1: X(k), x2: X(k), y1: 4, y2: height - EDGE.bottom, stroke: palette.colour(colour), "stroke-width": wide, "stroke-dasharray": dashes });
    if (this.chosen) {
      yield line(this.chosen.best, "green", "2 3", 1.5);
      yield line(this.chosen.one_se, "purple", "6 3", 1.5);
    }
    yield line(this.at(), "ink", null, 1.5);
    yield s("path", { d: `M${X(this.at()) - 5} 0h10l-5 8z`, fill: palette.colour("ink") });
  }

  words(width, height, text) {
    return s("text", { x: width / 2, y: height / 2, "text-anchor": "middle", fill: this.page.palette.colour("muted"), "font-size": 13 }, ...levelled(symbols(text, lowered)));
  }

  drawCurves(wide, X) {
    const height = 132;
    const width = this.curvePlot.clientWidth;
    this.curves.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.curves.setAttribute("height", height);
    const { palette } = this.page;
    const series = [["train", "training", "muted", "5 3"], ["test", "held out", "blue", null]].map(([key, label, colour, dashes]) => ({ label, colour, dashes, values: this.points.map((point) => point[key]) }));
    const chance = this.begun ? this.begun.chance : null;
    const all = [...series.flatMap(({ values }) => values), ...this.folds.flat(), chance].filter(known);
    if (!all.length) {
      this.curves.replaceChildren(this.words(width, height, "Accuracies are measured at each λ."));
      return;
    }
    const low = Math.max(0, Math.floor(20 * Math.min(...all)) / 20);
    const high = Math.min(1, Math.ceil(20 * Math.max(...all)) / 20);
    const area = { width, height, wide, top: 8, bottom: EDGE.bottom };
    const Y = (value) => area.top + (1 - (value - low) / (high - low || 1)) * (height - area.top - area.bottom);
    const path = (values) => values.map((value, k) => (known(value) ? [X(k), Y(value)] : null)).filter(Boolean).map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
    const nodes = [...this.grid(area, X, Y, linearTicks(low, high, 3), (tick) => percent(tick, 0))];
    if (known(chance) && chance >= low) nodes.push(this.level(Y(chance), wide, "axis", "1 3"));
    const ends = [];
    if (known(chance)) ends.push({ text: "one class", y: Y(chance), colour: palette.colour("muted") });
    if (this.chosen) {
      const { means, errors } = this.chosen;
      const up = means.map((mean, k) => [X(k), Y(Math.min(high, mean + errors[k]))]);
      const down = means.map((mean, k) => [X(k), Y(Math.max(low, mean - errors[k]))]).reverse();
      nodes.push(s("path", { d: [...up, ...down].map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("") + "Z", fill: palette.colour("vermillion"), opacity: 0.2, class: "path-band" }));
      nodes.push(s("path", { d: path(means), fill: "none", stroke: palette.colour("vermillion"), "stroke-width": 2, class: "path-cv" }));
      ends.push({ text: `${this.folds.length} folds ± s.e.`, y: Y(means[means.length - 1]), colour: palette.colour("vermillion") });
    } else nodes.push(...this.folds.map((fold) => s("path", { d: path(fold), fill: "none", stroke: palette.colour("vermillion"), opacity: 0.45, class: "path-fold" })));
    for (const { label, values, colour, dashes } of series) {
      if (!values.some(known)) continue;
      nodes.push(s("path", { d: path(values), fill: "none", stroke: palette.colour(colour), "stroke-width": 2, "stroke-dasharray": dashes }));
      ends.push({ text: label, y: Y(values[values.length - 1]), colour: palette.colour(colour) });
    }
    ends.sort((a, b) => a.y - b.y).forEach((end, k) => (end.y = Math.max(end.y, k ? ends[k - 1].y + LINE : 12)));
    let limit = height - 6;
    for (const end of ends.slice().reverse()) {
      end.y = Math.min(end.y, limit);
      limit = end.y - LINE;
    }
    nodes.push(...ends.map(({ text, y, colour }) => s("text", { x: EDGE.left + wide + 6, y: y + 4, fill: colour, "font-size": 12, "font-weight": 600 }, this.fit(text))));
    this.curves.replaceChildren(...nodes, ...this.cursor(X, height));
    this.curvePlot.setAttribute("aria-label", `${this.begun.measure} along λ. ${this.facts.textContent} The arrow keys choose λ.`);
  }

  drawRows(wide, X) {
    const height = 84;
    const width = this.sizePlot.clientWidth;
    this.sizes.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.sizes.setAttribute("height", height);
    const { palette } = this.page;
    const top = roundUp(Math.max(1, ...this.points.map((point) => point.rows)));
    const area = { width, height, wide, top: 8, bottom: EDGE.bottom };
    const Y = (value) => area.top + (1 - value / top) * (height - area.top - area.bottom);
    const step = this.points.map((point, k) => `${k ? "L" : "M"}${X(k).toFixed(1)} ${Y(point.rows).toFixed(1)}`).join("");
    const last = this.points[this.points.length - 1];
    this.sizes.replaceChildren(
      ...this.grid(area, X, Y, linearTicks(0, top, 2), (tick) => count(tick)),
      s("path", { d: step, fill: "none", stroke: palette.colour("green"), "stroke-width": 2 }),
      s("text", { x: EDGE.left + wide + 6, y: Math.min(height - 24, (last ? Y(last.rows) : Y(0)) + 4), fill: palette.colour("green"), "font-size": 12, "font-weight": 600 }, "rows in use"),
      ...this.cursor(X, height),
    );
    this.sizePlot.setAttribute("aria-label", `rows in use along λ${last ? `: ${count(last.rows)} at the smallest λ so far` : ""}. The arrow keys choose λ.`);
  }

  // ------------------------------------------------------------------------------------------------------------ words
  drawFacts() {
    const k = this.at();
    const point = this.points[k];
    if (!this.begun || !point) {
      this.told = "";
      setText(this.facts, "");
      setText(this.note, "");
      return;
    }
    const parts = [`λ = ${short(this.begun.lams[k])} = ${short(this.begun.ratios[k])} ${this.begun.unit}`, `${count(point.rows)} of ${count(this.begun.d)} rows`, `training ${this.begun.measure} ${percent(point.train)}`];
    if (known(point.test)) parts.push(`held out ${percent(point.test)}`);
    if (this.chosen && known(this.chosen.means[k])) parts.push(`folds ${percent(this.chosen.means[k])} ± ${percent(this.chosen.errors[k])}`);
    parts.push(point.converged ? `gap ${scientific(point.gap)}` : `not converged: gap ${scientific(point.gap)}`);
    const most = Math.max(...this.points.map(({ rows }) => rows));
    const drawn = this.lines.length;
    const unfinished = this.points.filter(({ converged }) => !converged).length;
    const said = [drawn < most ? `${count(drawn)} of ${count(most)} rows are drawn, the largest at each λ` : "", unfinished ? `${unfinished} λ not converged` : ""];
    setText(this.note, said.filter(Boolean).join(" · "));
    const text = parts.join(" · ");
    if (text === this.told) return;
    this.told = text;
    this.facts.replaceChildren(...formula(text));
  }

  drawList() {
    const k = this.at();
    const { stable, shares } = this;
    // Judged when all halves are counted: of one half of the samples every row is in all or in none.
    const judged = Boolean(stable && shares && shares.halves >= this.begun.resamples);
    const shareOf = new Map((judged ? stable.rows : []).map(({ row, share }) => [row, share]));
    const rows = this.lines.map((line) => ({ ...line, value: line.values[k] || 0 })).filter(({ value }) => value > 0).sort((a, b) => b.value - a.value);
    setText(this.listTitle, this.points[k] ? `${plural(this.points[k].rows, "row", "rows")} at this λ` : "Rows at this λ");
    if (judged) {
      const useful = known(stable.bound) && stable.bound < stable.count;
      const bound = useful ? ` At most ${number(stable.bound, 2)} of them are expected to be there by chance, if rows without effect are exchangeable.` : " So many rows are selected that the bound on those there by chance says nothing.";
      setText(this.listNote, `${count(stable.count)} stable: in ${percent(stable.threshold, 0)} or more of ${plural(shares.halves, "half", "halves")} of the samples at this λ or a larger one (✓).${bound}`);
    } else if (stable && shares) {
      setText(this.listNote, `${shares.halves} of ${plural(this.begun.resamples, "half", "halves")} of the samples are counted; which rows are stable is said when all are.`);
    } else setText(this.listNote, this.begun && !this.points[k] ? "The path has not come to this λ yet." : "");
    const key = JSON.stringify([k, this.points.length > k, this.epoch, this.hot, rows.length, stable && [stable.at, stable.count, stable.threshold, stable.rows.length], this.shares && this.shares.halves]);
    if (key === this.listKey) return;
    this.listKey = key;
    const top = rows.length ? rows[0].value : 1;
    this.list.replaceChildren(...rows.slice(0, LISTED).map(({ row, name, value }) => {
      const bar = h("i", {});
      bar.style.width = (100 * value) / top + "%";
      const mark = shareOf.has(row) ? h("span", { class: "path-stable", title: `selected by ${percent(shareOf.get(row), 0)} of the halves` }, "✓") : h("span", {});
      return h("div", { class: "path-row" + (row === this.hot ? " is-hot" : ""), role: "listitem", onpointerenter: () => this.light(row), onpointerleave: () => this.light(null) },
        h("span", { class: "word-name", title: name }, name), h("span", { class: "bar" }, bar), h("span", { class: "path-value" }, number(value, 2)), mark);
    }), ...(rows.length > LISTED ? [h("p", { class: "prox-saying" }, `and ${count(rows.length - LISTED)} more`)] : []));
    show(this.list, rows.length > 0);
  }

  said() {
    const names = this.lines.slice().sort((a, b) => b.values[b.values.length - 1] - a.values[a.values.length - 1]).slice(0, 5).map(({ name }) => name);
    return `Norms of the rows along λ, ${this.points.length} λ done. Largest: ${names.join(", ") || "none yet"}. ${this.facts.textContent} The arrow keys choose λ.`;
  }
}
