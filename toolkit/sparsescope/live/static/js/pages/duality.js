// The duality page: margins of the samples, F and D closing, the dual row of a sample, misread samples and their words.

import { h, setText, show } from "../dom.js";
import { s } from "../charts/svg.js";
import { count, known, linearTicks, number, plural, scientific, short } from "../charts/format.js";
import { reasonsOf, sampleImage } from "../charts/confusion.js";
import { closingChart, laneColour, logChart } from "../charts/lanes.js";
import { mountPage } from "./frame.js";
import { WorkingBody } from "./working.js";

export const VERSION = "1";

const HIST = { left: 48, right: 12, top: 16, bottom: 40, height: 236 };
const GRADIENT_COLOUR = "purple";

export function mount(given) {
  return mountPage((page) => new DualityBody(page), given);
}

class DualityBody extends WorkingBody {
  constructor(page) {
    super(page, "duality", "Run again");
    this.lanes = [];
    this.svg = s("svg", { class: "race-svg" });
    this.plot = h("div", { class: "race-plot margins-plot", tabindex: "0", role: "group", "data-testid": "margins" }, this.svg);
    this.note = h("p", { class: "prox-saying", "data-testid": "margins-note", "aria-live": "polite" });
    this.chips = h("div", { class: "duality-chips", "data-testid": "bin-samples" });
    this.what = h("select", { "data-testid": "duality-what", "aria-label": "what the lines show", onchange: () => page.requestDraw() },
      h("option", { value: "values" }, "F and D"), h("option", { value: "gap" }, "(F − D)/|F|"));
    this.linesSvg = s("svg", { class: "race-svg", role: "img" });
    this.lines = h("div", { class: "race-plot", "data-testid": "duality-lines" }, this.linesSvg);
    this.facts = h("table", { class: "race-table", "data-testid": "duality-facts" });
    this.sample = h("div", { class: "duality-sample", "data-testid": "duality-sample", "aria-live": "polite" });
    this.verdict = h("p", { class: "prox-saying", "data-testid": "duality-verdict" });
    this.matrix = h("div", { class: "confusion-table" });
    this.misread = h("div", { class: "misread", "data-testid": "duality-misread", "aria-live": "polite" });
    this.element = h(
      "div", { class: "duality" },
      this.bar(),
      h("div", { class: "duality-grid" },
        h("section", { class: "card", "aria-label": "margins" }, h("h2", {}, "Margins of the training samples"), this.plot, this.note, this.chips),
        h("section", { class: "card", "aria-label": "primal and dual values" }, h("div", { class: "path-head" }, h("h2", {}, "F from above, D from below"), this.what), this.lines, h("div", { class: "race-card", tabindex: "0", role: "region", "aria-label": "values" }, this.facts)),
        h("section", { class: "card", "aria-label": "sample" }, h("h2", {}, "A sample and its dual row"), this.sample),
        h("section", { class: "card", "aria-label": "misread samples" }, h("h2", {}, "Taken for each other"), this.verdict, h("div", { class: "confusion confusion-parts" }, this.matrix, this.misread))),
    );
    this.plot.addEventListener("click", (event) => this.pickAt(event));
    this.plot.addEventListener("keydown", (event) => this.press(event));
  }

  /** Whether everything that the settings ask for is on the page. */
  settled() {
    return super.settled() && (this.failed || Boolean(this.margins));
  }

  take(message) {
    const handlers = { lines: "onLines", margins: "onMargins", sample: "onSample", confusion: "onConfusion", misread: "onMisread", status: "onStatus" };
    this[handlers[message.type]](message);
    this.page.requestDraw();
  }

  onStatus(message) {
    super.onStatus(message);
    this.failed = Boolean(message.error);
  }

  onLines({ lanes, gradient }) {
    if (lanes.every((lane) => lane.from === 0)) this.lanes = [];
    const join = (old, part) => {
      const joined = Object.assign({}, part);
      for (const key of ["seconds", "iterations", "objective", "dual"]) joined[key] = [...(old && part.from ? old[key].slice(0, part.from) : []), ...part[key]];
      return joined;
    };
    this.lanes = lanes.map((lane, k) => join(this.lanes[k], lane));
    this.gradient = gradient ? join(gradient.from ? this.gradient : null, gradient) : null;
  }

  onMargins(message) {
    this.margins = message;
    if (this.bin === undefined || this.bin >= message.pushing.length) this.bin = null;
  }

  onSample(message) {
    this.chosen = message.sample < 0 ? null : message;
    this.fillSample();
  }

  onConfusion(message) {
    this.confusion = message;
    const share = message.total ? ` (${short((100 * message.right) / message.total, 4)} %)` : "";
    setText(this.verdict, `${count(message.right)} of ${plural(message.total, `${message.of} sample`, `${message.of} samples`)} read right${share}. Rows: the true class; columns: what it is taken for.`);
    this.fillMatrix();
  }

  onMisread(answer) {
    const { names } = this.confusion;
    this.misread.replaceChildren(
      h("h3", {}, `${names[answer.true]} taken for ${names[answer.found]}: ${plural(answer.number, "sample", "samples")}`),
      ...answer.samples.slice(0, 6).map((sample) => h("div", { class: "misread-sample" }, ...(answer.shape ? [sampleImage(sample.pixels, answer.shape)] : []), h("p", {}, h("b", {}, `sample ${count(sample.sample)}`), " " + reasonsOf(sample)))),
      ...(answer.number > 6 ? [h("p", { class: "card-hint" }, `and ${count(answer.number - 6)} more`)] : []),
    );
    this.cell = [answer.true, answer.found];
    this.fillMatrix();
  }

  // ---------------------------------------------------------------------------------------------------------- hands
  pickAt(event) {
    if (!this.margins) return;
    const box = this.svg.getBoundingClientRect();
    const inner = box.width - HIST.left - HIST.right;
    const bins = this.margins.pushing.length;
    this.choose(Math.min(bins - 1, Math.max(0, Math.floor(((event.clientX - box.left - HIST.left) / inner) * bins))));
  }

  choose(bin) {
    this.bin = bin;
    const samples = this.margins.samples[bin];
    if (samples.length) this.page.set({ sample: samples[0][0] });
    this.page.requestDraw();
  }

  press(event) {
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!way || !this.margins) return;
    event.preventDefault();
    const { samples } = this.margins;
    let bin = this.bin === null ? (way > 0 ? -1 : samples.length) : this.bin;
    do bin += way; while (bin >= 0 && bin < samples.length && !samples[bin].length);
    if (bin >= 0 && bin < samples.length) this.choose(bin);
  }

  // ------------------------------------------------------------------------------------------------------- pictures
  draw() {
    if (this.margins) this.drawMargins();
    if (this.lanes.length) this.drawLines();
    show(this.chips, this.bin !== null && Boolean(this.margins));
    if (!this.chosen) this.sample.replaceChildren(h("p", { class: "card-hint" }, "Click a bar of the margins, or focus them and use the arrow keys."));
  }

  drawMargins() {
    const { margins } = this;
    const c = (name) => this.page.palette.colour(name);
    const width = Math.max(280, this.plot.clientWidth);
    const { edges, pushing, resting } = margins;
    const [low, high] = [edges[0], edges[edges.length - 1]];
    const X = (x) => HIST.left + ((x - low) / (high - low)) * (width - HIST.left - HIST.right);
    const most = pushing.reduce((top, n, k) => Math.max(top, n + resting[k]), 1);
    const floor = HIST.height - HIST.bottom;
    const Y = (n) => floor - (Math.sqrt(n / most)) * (floor - HIST.top);
    const nodes = [];
    const text = (attributes, words) => s("text", { "font-size": 11, fill: c("muted"), ...attributes }, words);
    if (known(margins.corner)) {
      nodes.push(s("rect", { x: X(0), width: X(margins.corner) - X(0), y: HIST.top, height: floor - HIST.top, fill: c("worked"), opacity: 0.55, class: "margins-band" }));
      if (X(margins.corner) - X(0) > 130) nodes.push(text({ x: X(margins.corner / 2), y: HIST.top - 4, "text-anchor": "middle" }, "right, within the margin"));
    }
    for (const n of linearTicks(0, Math.sqrt(most), 3).map((root) => Math.round(root * root)).filter((n, k, all) => n && all.indexOf(n) === k)) {
      nodes.push(s("line", { x1: HIST.left, x2: width - HIST.right, y1: Y(n), y2: Y(n), stroke: c("grid") }), text({ x: HIST.left - 6, y: Y(n) + 4, "text-anchor": "end" }, count(n)));
    }
    pushing.forEach((n, k) => {
      const [x1, x2] = [X(edges[k]), X(edges[k + 1])];
      const all = n + resting[k];
      if (!all) return;
      const bar = { x: x1 + 0.5, width: Math.max(x2 - x1 - 1, 0.5) };
      nodes.push(s("rect", { ...bar, y: Y(all), height: floor - Y(all), fill: c("kept") }));
      if (n) nodes.push(s("rect", { ...bar, y: floor - (floor - Y(all)) * (n / all), height: (floor - Y(all)) * (n / all), fill: edges[k + 1] <= 0 ? c("vermillion") : c("blue"), class: "margins-bar" }));
      if (k === this.bin) nodes.push(s("rect", { x: x1 - 1, width: x2 - x1 + 2, y: Y(all) - 2, height: floor - Y(all) + 2, fill: "none", stroke: c("ink"), "stroke-width": 2 }));
    });
    for (const x of linearTicks(low, high, 7)) nodes.push(text({ x: X(x), y: floor + 16, "text-anchor": "middle" }, short(x)));
    if (known(margins.corner)) nodes.push(s("line", { x1: X(margins.corner), x2: X(margins.corner), y1: HIST.top - 12, y2: floor, stroke: c("ink"), "stroke-width": 1.5, "stroke-dasharray": "4 3", class: "margins-corner" }), text({ x: X(margins.corner) + 5, y: HIST.top - 4, fill: c("text") }, "corner"));
    nodes.push(text({ x: (HIST.left + width - HIST.right) / 2, y: HIST.height - 6, "text-anchor": "middle" }, "margin: score of the true class minus the largest other one"));
    this.svg.setAttribute("viewBox", `0 0 ${width} ${HIST.height}`);
    this.svg.setAttribute("height", HIST.height);
    this.svg.replaceChildren(...nodes);
    const said = this.said();
    this.plot.setAttribute("aria-label", `Margins of ${margins.n} samples. ${said} Left and right choose a bar.`);
    setText(this.note, said);
    this.drawChips();
  }

  said() {
    const m = this.margins;
    const corner = known(m.corner) ? ` ${count(m.in_corner)} stand in the corner, ${count(m.pushing_in_corner)} of them with a force; ${count(m.pushing_without_loss)} push without any loss.` : "";
    const whose = m.own ? "the solver's own dual point" : "the gradient of the loss";
    return `${m.lane}, iteration ${count(m.iteration)}: ${count(m.all_pushing)} of ${count(m.n)} samples push (coloured), ${count(m.misread)} are misread.${corner} ${short(m.entries)} dual entries a sample of ${m.classes - 1}, from ${whose}. Heights grow as the root of the number.`;
  }

  drawChips() {
    if (this.bin === null) return;
    const { edges, samples, pushing, resting } = this.margins;
    const current = this.page.store.settings.sample;
    const all = pushing[this.bin] + resting[this.bin];
    this.chips.replaceChildren(
      h("span", { class: "card-hint" }, `${plural(all, "sample", "samples")} from ${number(edges[this.bin], 3)} to ${number(edges[this.bin + 1], 3)}${all > samples[this.bin].length ? ", the largest forces" : ""}: `),
      ...samples[this.bin].slice(0, 14).map(([i]) => h("button", { type: "button", class: "quiet", "aria-pressed": String(i === current), onclick: () => this.page.set({ sample: i }) }, String(i))),
    );
  }

  drawLines() {
    const width = Math.max(280, this.lines.clientWidth);
    const height = 236;
    const { palette } = this.page;
    const names = this.lanes.map((lane) => lane.name);
    const gap = this.what.value === "gap";
    const far = this.lanes.reduce((most, lane) => Math.max(most, ...lane.seconds.slice(-1)), 0);
    const lanes = [];
    for (const lane of [...this.lanes, ...(this.gradient ? [this.gradient] : [])]) {
      const own = lane !== this.gradient;
      const colour = palette.colour(own ? laneColour(names, lane.name) : GRADIENT_COLOUR);
      const points = (values) => lane.seconds.map((x, k) => [x, values(k)]).filter(([, y]) => known(y));
      const short_ = own ? lane.name : "gradient";
      if (gap) lanes.push({ name: short_, colour, measured: true, points: points((k) => Math.max(lane.objective[k] - lane.dual[k], 0) / (Math.abs(lane.objective[k]) || 1)) });
      else {
        if (own) lanes.push({ name: "F " + short_, colour, points: points((k) => lane.objective[k]) });
        lanes.push({ name: "D " + short_, colour, dash: "5 3", points: points((k) => lane.dual[k]) });
      }
    }
    const options = { lanes, far, width, height, palette, xTitle: "CPU seconds of the solver", yTitle: gap ? "(F − D)/|F|" : "F, D" };
    const chart = gap ? logChart(options) : closingChart(options);
    this.linesSvg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.linesSvg.setAttribute("height", height);
    this.linesSvg.replaceChildren(...(chart ? chart.nodes : []));
    const last = (values) => values[values.length - 1];
    this.linesSvg.setAttribute("aria-label", this.lanes.map((lane) => `${lane.name}: F ${number(last(lane.objective), 6)}, D ${number(last(lane.dual), 6)}`).join("; "));
    const row = (lane, own) => h("tr", {}, h("th", { scope: "row" }, lane.name),
      h("td", {}, number(last(lane.objective), 6)), h("td", {}, number(last(lane.dual), 6)),
      h("td", {}, scientific((last(lane.objective) - last(lane.dual)) / (Math.abs(last(lane.objective)) || 1))),
      h("td", {}, own && known(lane.dual_entries) ? short(lane.dual_entries) : "–"), h("td", {}, own && known(lane.active_share) ? `${number(100 * lane.active_share, 3)} %` : "–"));
    this.facts.replaceChildren(
      h("thead", {}, h("tr", {}, ...["", "F", "D", "gap", "dual entries", "pushing"].map((name, k) => h(k ? "th" : "td", k ? { scope: "col" } : {}, name)))),
      h("tbody", {}, ...this.lanes.filter((lane) => lane.dual.length).map((lane) => row(lane, true)), ...(this.gradient && this.gradient.dual.length ? [row(this.gradient, false)] : [])),
    );
  }

  fillSample() {
    const { chosen } = this;
    if (!chosen) return;
    const most = Math.max(...chosen.rivals.map((rival) => Math.abs(rival.dual)), 1e-9);
    const words = (list) => (list.length ? list.map(([name, share]) => `${name} ${number(share, 2)}`).join(" · ") : "none");
    this.sample.replaceChildren(
      h("div", { class: "duality-facts" }, ...(chosen.pixels ? [sampleImage(chosen.pixels, chosen.shape)] : []),
        h("p", {}, h("b", {}, `sample ${count(chosen.sample)}`), ` of ${chosen.true}: margin ${number(chosen.margin, 3)}, loss ${number(chosen.loss, 3)}, force ${number(chosen.force, 3)}`)),
      h("table", { class: "duality-rivals", "data-testid": "rivals" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "rival"), h("th", { scope: "col" }, `behind ${chosen.true}`), h("th", { scope: "col" }, "dual entry"))),
        h("tbody", {}, ...chosen.rivals.map((rival) => h("tr", { class: rival.dual ? "" : "is-idle" }, h("th", { scope: "row" }, rival.name), h("td", {}, number(rival.behind, 3)),
          h("td", { class: "duality-bar" }, h("i", { style: `width:${Math.round((70 * Math.abs(rival.dual)) / most)}px` }), rival.dual ? number(rival.dual, 3) : "0"))))),
      h("p", { class: "card-hint" }, h("b", {}, `For ${chosen.true} against ${chosen.rival}: `), words(chosen.words.for)),
      h("p", { class: "card-hint" }, h("b", {}, "Against: "), words(chosen.words.against)),
    );
  }

  fillMatrix() {
    const { names, counts, pairs } = this.confusion;
    const most = pairs.length ? pairs[0][2] : 1;
    const here = (a, b) => Boolean(this.cell && this.cell[0] === a && this.cell[1] === b);
    const set = (a, b) => this.page.set({ true: a, found: b });
    const label = (a, b, n) => `${names[a]} taken for ${names[b]}: ${count(n)}`;
    if (!counts || names.length > 12) {
      this.matrix.replaceChildren(h("ol", { class: "duality-pairs" }, ...pairs.slice(0, 10).map(([a, b, n]) => h("li", {}, h("button", { type: "button", class: "quiet", "aria-pressed": String(here(a, b)), onclick: () => set(a, b) }, label(a, b, n))))));
      return;
    }
    const cell = (a, b, n) => {
      if (!n || a === b) return h("td", { class: a === b ? "right" : null }, n ? count(n) : "·");
      const node = h("td", {}, h("button", { type: "button", class: "quiet", "aria-label": label(a, b, n), "aria-pressed": String(here(a, b)), onclick: () => set(a, b) }, count(n)));
      node.style.background = `color-mix(in srgb, var(--vermillion) ${Math.round(10 + (30 * n) / most)}%, var(--paper))`;
      return node;
    };
    this.matrix.replaceChildren(h("div", { class: "scrolls", tabindex: "0", role: "region", "aria-label": "confusion matrix" }, h("table", { "data-testid": "duality-matrix", class: names.some((name) => name.length > 3) ? "long-names" : null },
      h("thead", {}, h("tr", {}, h("td", {}), ...names.map((name) => h("th", { scope: "col", title: name }, h("span", {}, name))))),
      h("tbody", {}, ...counts.map((row, a) => h("tr", {}, h("th", { scope: "row", title: names[a] }, h("span", {}, names[a])), ...row.map((n, b) => cell(a, b, n))))))));
  }
}
