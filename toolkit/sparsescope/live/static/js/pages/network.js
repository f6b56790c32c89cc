// The network page: the graph at the chosen λ, its edges along λ, and how many halves of the samples have each of them.

import { h, setText } from "../dom.js";
import { s } from "../charts/svg.js";
import { count, known, linearTicks, logTicks, number, plural, scientific, short, tickTexts } from "../charts/format.js";
import { NetworkChart } from "../charts/network.js";
import { mountPage } from "./frame.js";
import { StudyBody } from "./study.js";

export const VERSION = "1";

const SIDE = { left: 44, right: 18, top: 10, bottom: 32 };
const TALL = 220; // pixels of the chart of edges
const DRAWN = 250; // edges that are lines
const SHOWN = 80; // edges in the list

export function mount(given) {
  return mountPage((page) => new NetworkBody(page), given);
}

class NetworkBody extends StudyBody {
  constructor(page) {
    super(page, "network", "Compute again", { task: "covariance" });
    this.store = { picture: null, problem: { epoch: 0, d: 0, places: null, grid: false }, status: { iteration: 1 }, settings: {} };
    this.chart = new NetworkChart({ id: "network", title: "Network", empty: "The network begins at λ_max, without edges." }, this.context(), 480);
    this.lines = s("svg", { class: "path-svg" });
    this.plot = this.figure("network-lines", "path-curves", this.lines);
    this.listTitle = h("h2", {}, "Edges at this λ");
    this.note = h("p", { class: "prox-saying", "data-testid": "network-stability" });
    this.list = h("div", { class: "path-list", role: "list", tabindex: "0", "aria-label": "edges at the chosen λ", "data-testid": "network-list" });
    this.element = this.layout("path network", [], this.chart.box.element,
      h("section", { class: "card path-side", "aria-label": "edges" }, h("h2", {}, "Edges along λ"), this.plot, this.listTitle, this.note, this.list));
    this.forget();
  }

  /** What the chart of the explorer asks of a page. */
  context() {
    const body = this;
    return {
      store: this.store,
      tooltip: this.tooltip,
      selected: null,
      names: { of: (j) => (body.begun ? body.begun.names[j] : "") },
      get palette() {
        return body.page.palette;
      },
      requestDraw: () => body.page.requestDraw(),
      select(node) {
        this.selected = this.selected === node ? null : node;
        body.page.requestDraw();
      },
    };
  }

  forget() {
    this.begun = null;
    this.points = [];
    this.shares = null;
    this.store.picture = null;
    this.chart.context.selected = null;
  }

  onBegin(message) {
    super.onBegin(message);
    this.store.problem = { epoch: message.epoch, d: message.p, places: message.places, grid: message.grid };
  }

  onPoints(message) {
    this.points.push(...message.points);
  }

  axis() {
    return { plot: this.plot, left: SIDE.left, wide: this.plot.clientWidth - SIDE.left - SIDE.right };
  }

  // ---------------------------------------------------------------------------------------------------------- drawing
  draw() {
    const k = this.at();
    const point = this.points[k];
    const shares = this.shares && this.shares.at === k ? this.shares : null;
    const version = [this.epoch, k, Boolean(point), shares && [shares.halves, shares.threshold]].join();
    if (version !== this.version) this.store.picture = point ? { ...point, version, hidden: point.count - point.ties.length, nonzero: point.degrees.filter((d) => d > 0).length, shares: this.counted(shares) ? shares.shares : null, threshold: shares && shares.threshold } : null;
    this.version = version;
    const { box } = this.chart;
    const height = Math.max(320, Math.min(760, window.innerHeight - 240)) + "px";
    if (box.plot.style.height !== height) box.plot.style.height = height;
    box.measure();
    if (this.begun) this.chart.draw();
    else box.setEmpty("");
    this.drawLines(k);
    this.drawFacts(k, point);
    this.drawList(k, point, shares);
  }

  /** The edges as lines: of each its partial correlation at every λ. */
  edges() {
    if (this.edgesOf === this.points.length && this.edgesEpoch === this.epoch) return this.found;
    const found = new Map();
    this.points.forEach((point, k) => point.ties.forEach((tie, e) => {
      const key = point.edges[2 * e] + "," + point.edges[2 * e + 1];
      if (!found.has(key)) found.set(key, { i: point.edges[2 * e], j: point.edges[2 * e + 1], values: new Array(this.points.length).fill(0), most: 0 });
      const edge = found.get(key);
      edge.values[k] = tie;
      edge.most = Math.max(edge.most, Math.abs(tie));
    }));
    [this.edgesOf, this.edgesEpoch] = [this.points.length, this.epoch];
    this.found = [...found.values()].sort((a, b) => b.most - a.most).slice(0, DRAWN);
    return this.found;
  }

  drawLines(k) {
    const width = Math.max(160, this.plot.clientWidth);
    this.lines.setAttribute("viewBox", `0 0 ${width} ${TALL}`);
    this.lines.setAttribute("height", TALL);
    if (!this.begun) return this.lines.replaceChildren();
    const { palette } = this.page;
    const { ratios } = this.begun;
    const [wide, high] = [width - SIDE.left - SIDE.right, TALL - SIDE.top - SIDE.bottom];
    const edges = this.edges();
    const all = edges.flatMap(({ values }) => values);
    const top = all.reduce((a, b) => Math.max(a, b), 0.05);
    const bottom = all.reduce((a, b) => Math.min(a, b), -0.05);
    const X = (at) => SIDE.left + (wide * at) / Math.max(1, ratios.length - 1);
    const Y = (value) => SIDE.top + (1 - (value - bottom) / (top - bottom)) * high;
    const nodes = linearTicks(bottom, top, 4).flatMap((tick) => [
      s("line", { x1: SIDE.left, x2: SIDE.left + wide, y1: Y(tick), y2: Y(tick), stroke: palette.colour(tick === 0 ? "axis" : "grid") }),
      s("text", { x: SIDE.left - 6, y: Y(tick) + 4, "text-anchor": "end", "font-size": 11, fill: palette.colour("muted") }, short(tick)),
    ]);
    const [low, most] = [Math.min(...ratios), Math.max(...ratios)];
    const marks = logTicks(low * 0.999, most * 1.001, 3);
    const texts = tickTexts(marks);
    marks.forEach((mark, at) => nodes.push(s("text", { x: SIDE.left + (wide * Math.log(most / mark)) / Math.log(most / low), y: TALL - SIDE.bottom + 14, "text-anchor": "middle", "font-size": 11, fill: palette.colour("muted") }, texts[at])));
    nodes.push(s("text", { x: SIDE.left + wide / 2, y: TALL - 4, "text-anchor": "middle", "font-size": 11, fill: palette.colour("muted") }, "λ/λ", s("tspan", { dy: 3, "font-size": 9 }, "max")));
    const { selected } = this.chart.context;
    const lit = this.chart.hot ?? selected;
    for (const { i, j, values } of edges.slice().reverse()) {
      const mine = lit === null || i === lit || j === lit;
      let path = "";
      values.forEach((value, at) => {
        if (value === 0 && !values[at - 1] && !values[at + 1]) return;
        path += `${path && (value || values[at - 1]) ? "L" : "M"}${X(at).toFixed(1)} ${Y(value).toFixed(1)}`;
      });
      const strongest = values.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a), 0);
      nodes.push(s("path", { d: path, fill: "none", stroke: palette.colour(strongest < 0 ? "blue" : "vermillion"), "stroke-width": mine && lit !== null ? 2 : 1, opacity: mine ? 0.75 : 0.12, class: "network-line" }));
    }
    nodes.push(s("line", { x1: X(k), x2: X(k), y1: 4, y2: TALL - SIDE.bottom, stroke: palette.colour("ink"), "stroke-width": 1.5 }), s("path", { d: `M${X(k) - 5} 0h10l-5 8z`, fill: palette.colour("ink") }));
    this.lines.replaceChildren(...nodes);
    this.plot.setAttribute("aria-label", `Partial correlations along λ, ${plural(edges.length, "edge", "edges")} drawn. ${this.facts.textContent} The arrow keys choose λ.`);
  }

  drawFacts(k, point) {
    if (!this.begun || !point) return setText(this.facts, "");
    const parts = [`λ = ${short(this.begun.lams[k])} = ${short(this.begun.ratios[k])} λ`];
    const rest = [plural(point.count, "edge", "edges"), `${count(point.degrees.filter((d) => d > 0).length)} of ${count(this.begun.p)} features with one`, plural(point.components, "component", "components"), `${point.converged ? "" : "not converged: "}gap ${scientific(point.gap)}`];
    this.facts.replaceChildren(parts[0], h("sub", {}, "max"), " · " + rest.join(" · "));
  }

  /** Stability is judged when all halves are counted: of one half of the samples every edge is in all or in none. */
  counted(shares) {
    return Boolean(shares) && shares.halves >= this.begun.resamples;
  }

  drawList(k, point, shares) {
    const names = this.begun ? this.begun.names : [];
    setText(this.listTitle, point ? `${plural(point.count, "edge", "edges")} at this λ` : "Edges at this λ");
    const judged = this.counted(shares);
    if (judged) {
      const useful = known(shares.bound) && shares.bound < shares.stable;
      setText(this.note, `${plural(shares.stable, "edge is", "edges are")} stable: in ${Math.round(100 * shares.threshold)} % or more of ${plural(shares.halves, "half", "halves")} of the samples, at this λ or a larger one (✓).` + (useful ? ` At most ${number(shares.bound, 2)} of them are expected to be there by chance, if pairs without a tie are exchangeable.` : ""));
    } else if (shares) {
      setText(this.note, `The shares are of ${shares.halves} of ${this.begun.resamples} halves of the samples; which edges are stable is said when all are counted.`);
    } else setText(this.note, this.begun && !this.begun.resamples ? "Without halves of the samples nothing is said about stability." : "");
    const { selected } = this.chart.context;
    const key = [this.version, selected, this.chart.hot].join("|");
    if (key === this.listKey) return;
    this.listKey = key;
    const lit = this.chart.hot ?? selected;
    const rows = (point ? point.ties : []).map((tie, e) => ({ tie, i: point.edges[2 * e], j: point.edges[2 * e + 1], share: shares ? shares.shares[e] : null })).filter(({ i, j }) => lit === null || i === lit || j === lit);
    this.list.replaceChildren(...rows.slice(0, SHOWN).map(({ tie, i, j, share }) => {
      const text = `${names[i]} – ${names[j]}`;
      const stable = judged && share !== null && share >= shares.threshold;
      return h("div", { class: "path-row network-row", role: "listitem" }, h("span", { class: "word-name", title: text }, text), h("span", { class: tie < 0 ? "network-minus" : "network-plus" }, short(tie, 2)), h("span", { class: "path-value", title: "share of the halves that have this edge at this λ" }, share === null ? "" : Math.round(100 * share) + " %"), h("span", { class: "path-stable" }, stable ? "✓" : ""));
    }), ...(rows.length > SHOWN ? [h("p", { class: "prox-saying" }, `and ${count(rows.length - SHOWN)} more`)] : []));
  }
}
