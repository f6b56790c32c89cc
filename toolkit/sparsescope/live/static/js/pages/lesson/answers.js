// What a student answers with: options, a slider, an order, a sketch. Each has element, value(), set(value), lock() and
// compare(reveal), which draws the measured answer beside the student's own.

import { drag, h, plainSymbols, setSymbols, setText, symbols } from "../../dom.js";
import { s } from "../../charts/svg.js";
import { count, known, short } from "../../charts/format.js";
import { lineKey } from "./pictures.js";

/** Whole numbers to the last digit, as the sentences beside them have it: 3034, not 3030. */
const exact = (value) => (Number.isInteger(value) && value >= 0 && value < 1e5 ? count(value) : short(value));

export function makeAnswer(page, question, name) {
  const Kind = { choice: ChoiceAnswer, slider: SliderAnswer, order: OrderAnswer, sketch: SketchAnswer }[question.kind];
  return new Kind(page, question, name);
}

class ChoiceAnswer {
  constructor(_page, question, name) {
    this.question = question;
    this.inputs = question.options.map((option) => h("input", { type: question.several ? "checkbox" : "radio", name, value: option.key }));
    this.notes = question.options.map(() => h("span", { class: "lesson-beside" }));
    const labels = question.options.map((option, k) => h("label", { class: "lesson-option" }, this.inputs[k], h("span", {}, ...symbols(option.text)), this.notes[k]));
    this.element = h("fieldset", { class: "lesson-answer" }, h("legend", {}, question.several ? "Choose all that apply" : "Choose one"), ...labels);
  }

  value() {
    const chosen = this.inputs.filter((input) => input.checked).map((input) => input.value);
    return this.question.several ? chosen : chosen.length ? chosen[0] : null;
  }

  set(value) {
    const chosen = this.question.several ? value : [value];
    for (const input of this.inputs) input.checked = chosen.includes(input.value);
  }

  lock(locked) {
    this.element.disabled = locked;
  }

  compare({ measured, answer }) {
    const right = this.question.several ? measured : [measured];
    const mine = this.question.several ? answer : [answer];
    this.inputs.forEach((input, k) => {
      const [is, was] = [right.includes(input.value), mine.includes(input.value)];
      setText(this.notes[k], is ? (was ? "measured · you said so" : "measured") : was ? "your answer" : "");
      this.notes[k].className = "lesson-beside" + (is ? " is-measured" : was ? " is-yours" : "");
    });
  }
}

class SliderAnswer {
  constructor(page, question, name) {
    this.page = page;
    this.question = question;
    const { low, high, whole, unit } = question;
    this.unit = h("span", {}, ...symbols(unit));
    this.range = h("input", { type: "range", min: 0, max: 1, step: 0.001, "aria-label": `your answer, ${plainSymbols(unit)}`, "data-testid": name + "-range", oninput: () => this.show(this.fromRange()) });
    this.number = h("input", { type: "number", min: low, max: high, step: whole ? 1 : "any", "aria-label": `your answer as a number, ${plainSymbols(unit)}`, "data-testid": name + "-number", oninput: () => this.number.value !== "" && this.show(Number(this.number.value), false) });
    this.line = h("div", { class: "lesson-numberline" });
    this.fields = h("fieldset", { class: "lesson-answer" }, h("legend", {}, ...symbols(`From ${exact(low)} to ${exact(high)} ${unit}; ${question.scored}`)), h("div", { class: "lesson-slider" }, this.range, this.number, this.unit));
    this.element = h("div", {}, this.fields, this.line);
    this.range.value = 0.5;
    this.touched = false;
    this.range.setAttribute("aria-valuetext", "not chosen yet");
  }

  at(value) {
    const { low, high, log } = this.question;
    const f = log && low > 0 ? Math.log : (x) => x;
    return Math.min(1, Math.max(0, (f(value) - f(low)) / (f(high) - f(low))));
  }

  fromRange() {
    const { low, high, log, whole } = this.question;
    const t = Number(this.range.value);
    const value = log && low > 0 ? low * (high / low) ** t : low + t * (high - low);
    return whole ? Math.round(value) : Number(value.toPrecision(3));
  }

  show(value, write = true) {
    this.touched = true;
    if (write) this.number.value = value;
    this.range.value = this.at(value);
    const unit = value === 1 ? this.question.one || this.question.unit : this.question.unit;
    setSymbols(this.unit, unit);
    this.range.setAttribute("aria-valuetext", plainSymbols(`${exact(value)} ${unit}`));
  }

  value() {
    return this.touched && this.number.value !== "" ? Number(this.number.value) : null;
  }

  set(value) {
    this.show(value);
  }

  lock(locked) {
    this.fields.disabled = locked;
  }

  compare({ measured, answer }) {
    const { palette } = this.page;
    const [wide, y] = [Math.min(600, Math.max(260, this.line.clientWidth || 600)), 30]; // narrow screens would shrink the words
    const X = (value) => 30 + this.at(value) * (wide - 60);
    const c = (name) => palette.colour(name);
    const mark = (value, text, colour, ink, up) => [
      s("circle", { cx: X(value), cy: y, r: 7, fill: up ? c("paper") : colour, stroke: colour, "stroke-width": 3 }),
      s("text", { x: Math.min(wide - 70, Math.max(70, X(value))), y: up ? y - 14 : y + 24, "text-anchor": "middle", "font-size": 13, "font-weight": 600, fill: ink }, `${text} ${exact(value)}`),
    ];
    const nodes = [s("line", { x1: 30, x2: wide - 30, y1: y, y2: y, stroke: c("axis"), "stroke-width": 2 }), ...mark(answer, "you", c("blue"), c("blue"), true)];
    if (known(measured)) nodes.push(...mark(measured, "measured", c("vermillion"), "var(--vermillion-text)", false));
    this.line.replaceChildren(s("svg", { viewBox: `0 0 ${wide} 62`, width: "100%", role: "img", "aria-label": `you ${exact(answer)}, measured ${exact(measured)}` }, ...nodes));
  }
}

class OrderAnswer {
  constructor(_page, question, name) {
    this.question = question;
    this.name = name;
    this.keys = question.items.map((item) => item.key);
    this.list = h("ol", { class: "lesson-order" });
    this.said = h("p", { class: "sr-only", role: "status" });
    this.beside = h("div");
    this.fields = h("fieldset", { class: "lesson-answer" }, h("legend", {}, "Put them in order with the arrows"), h("p", { class: "muted" }, ...symbols("First: " + question.first)), this.list, h("p", { class: "muted" }, ...symbols("Last: " + question.last)));
    this.element = h("div", { class: "lesson-orders" }, this.fields, this.beside, this.said);
    this.draw();
  }

  text(key) {
    return this.question.items.find((item) => item.key === key).text;
  }

  draw(focus) {
    const move = (k, by) => {
      const [one] = this.keys.splice(k, 1);
      this.keys.splice(k + by, 0, one);
      setText(this.said, `${this.text(one)} is now number ${k + by + 1}`);
      this.draw([one, by]);
    };
    this.list.replaceChildren(...this.keys.map((key, k) => h("li", {},
      h("span", {}, ...symbols(this.text(key))),
      h("button", { type: "button", "aria-label": `${plainSymbols(this.text(key))} up`, disabled: k === 0, "data-testid": `${this.name}-up-${key}`, onclick: () => move(k, -1) }, "↑"),
      h("button", { type: "button", "aria-label": `${plainSymbols(this.text(key))} down`, disabled: k === this.keys.length - 1, "data-testid": `${this.name}-down-${key}`, onclick: () => move(k, 1) }, "↓"))));
    if (!focus) return;
    const buttons = [...this.list.children[this.keys.indexOf(focus[0])].querySelectorAll("button")];
    const wanted = buttons[focus[1] < 0 ? 0 : 1];
    (wanted.disabled ? buttons.find((button) => !button.disabled) : wanted).focus();
  }

  value() {
    return this.keys.slice();
  }

  set(value) {
    this.keys = value.slice();
    this.draw();
  }

  lock(locked) {
    this.fields.disabled = locked;
  }

  compare({ measured }) {
    const value = (key) => (known(measured[key]) ? (this.question.falling ? -measured[key] : measured[key]) : Infinity);
    const order = this.keys.slice().sort((a, b) => value(a) - value(b) || 0);
    const line = (key) => h("li", {}, h("span", {}, ...symbols(this.text(key))), h("span", { class: "lesson-value" }, known(measured[key]) ? exact(measured[key]) : "never"));
    this.beside.replaceChildren(h("div", { class: "lesson-answer" }, h("p", { class: "lesson-measured" }, "Measured"), h("ol", { class: "lesson-order" }, ...order.map(line))));
  }
}

const [SKETCH_WIDE, SKETCH_HIGH, SKETCH_PAD] = [480, 220, 14];

class SketchAnswer {
  constructor(page, question, name) {
    this.page = page;
    this.question = question;
    this.heights = null;
    this.at = 0;
    this.open = null; // first and last place that a first stroke has reached: what lies beyond goes along with its ends
    this.measured = null;
    this.svg = s("svg", { viewBox: `0 0 ${SKETCH_WIDE} ${SKETCH_HIGH}`, class: "lesson-sketch" });
    this.plot = h("div", { class: "chart-plot lesson-sketch-frame", tabindex: 0, role: "application", "data-testid": name + "-sketch" }, this.svg);
    this.said = h("p", { class: "sr-only", role: "status" });
    const forms = question.forms.map((form) => h("button", { type: "button", "data-testid": `${name}-form-${form.key}`, onclick: () => this.set(form.example) }, ...symbols(form.text)));
    this.legend = h("p", { class: "lesson-legend" });
    this.fields = h("fieldset", { class: "lesson-answer" },
      h("legend", {}, "Draw with the pointer or a finger; with the keyboard: left and right move, up and down draw"),
      h("p", { class: "lesson-axis" }, ...symbols(question.y)), this.plot,
      h("p", { class: "lesson-ends" }, ...[question.low, question.x, question.high].map((text) => h("span", {}, ...symbols(text)))),
      this.legend, h("p", { class: "lesson-forms" }, "or begin with: ", ...forms), this.said);
    this.element = this.fields;
    this.plot.addEventListener("pointerdown", (event) => this.grab(event));
    this.plot.addEventListener("keydown", (event) => this.press(event));
    this.draw();
  }

  start() {
    if (!this.heights) this.heights = Array(this.question.knots).fill(0.5);
  }

  grab(event) {
    if (this.fields.disabled) return;
    if (!this.heights) this.open = [this.question.knots, -1];
    this.start();
    this.last = null;
    drag(this.plot, event, (next) => this.follow(next), () => (this.open = null));
  }

  follow(event) {
    const box = this.svg.getBoundingClientRect();
    const clamp = (t) => Math.min(1, Math.max(0, t));
    const t = clamp((((event.clientX - box.left) / box.width) * SKETCH_WIDE - SKETCH_PAD) / (SKETCH_WIDE - 2 * SKETCH_PAD));
    const y = clamp(1 - (((event.clientY - box.top) / box.height) * SKETCH_HIGH - SKETCH_PAD) / (SKETCH_HIGH - 2 * SKETCH_PAD));
    const k = Math.round(t * (this.question.knots - 1));
    const [from, was] = this.last || [k, y];
    const steps = Math.abs(k - from);
    for (let i = 0; i <= steps; i++) this.heights[from + Math.sign(k - from) * i] = steps ? was + ((y - was) * i) / steps : y;
    if (this.open) {
      this.open = [Math.min(this.open[0], k), Math.max(this.open[1], k)];
      this.heights.fill(this.heights[this.open[0]], 0, this.open[0]).fill(this.heights[this.open[1]], this.open[1] + 1);
    }
    this.last = [k, y];
    this.at = k;
    this.draw();
  }

  press(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 0.05], ArrowDown: [0, -0.05] }[event.key];
    if (!way || this.fields.disabled) return;
    event.preventDefault();
    this.start();
    const before = this.at;
    this.at = Math.min(this.question.knots - 1, Math.max(0, this.at + way[0]));
    if (way[1]) {
      const y = Math.min(1, Math.max(0, this.heights[this.at] + way[1]));
      for (let k = this.at; k < this.question.knots; k++) this.heights[k] = y; // what follows goes along: a curve is drawn from the left
    }
    if (before !== this.at || way[1]) setText(this.said, `place ${this.at + 1} of ${this.question.knots}, height ${Math.round(100 * this.heights[this.at])} percent`);
    this.draw();
  }

  value() {
    return this.heights ? this.heights.map((y) => Number(y.toFixed(3))) : null;
  }

  set(heights) {
    if (this.fields.disabled && this.measured) return;
    this.heights = heights.slice();
    this.draw();
  }

  lock(locked) {
    this.fields.disabled = locked;
  }

  compare({ curve, yours, theirs }) {
    this.measured = curve.length ? curve : null;
    const { palette } = this.page;
    this.legend.replaceChildren(h("span", {}, lineKey(palette.colour("blue"), "dash"), ...symbols("you: " + yours)), h("span", {}, lineKey(palette.colour("vermillion"), "solid"), ...symbols("measured: " + theirs)));
    this.draw();
  }

  draw() {
    const c = (name) => this.page.palette.colour(name);
    const X = (k, n) => SKETCH_PAD + (k / (n - 1)) * (SKETCH_WIDE - 2 * SKETCH_PAD);
    const Y = (y) => SKETCH_PAD + (1 - y) * (SKETCH_HIGH - 2 * SKETCH_PAD);
    const path = (heights, attributes) => s("path", { d: heights.map((y, k) => `${k ? "L" : "M"}${X(k, heights.length).toFixed(1)} ${Y(y).toFixed(1)}`).join(""), fill: "none", "stroke-width": 3, ...attributes });
    const nodes = [s("path", { d: `M${SKETCH_PAD} ${SKETCH_PAD}V${SKETCH_HIGH - SKETCH_PAD}H${SKETCH_WIDE - SKETCH_PAD}`, fill: "none", stroke: c("axis") })];
    if (this.measured) nodes.push(path(this.measured, { stroke: c("vermillion"), class: "lesson-measured-curve" }));
    if (this.heights) nodes.push(path(this.heights, { stroke: c("blue"), "stroke-dasharray": this.measured ? "7 4" : null }), s("circle", { cx: X(this.at, this.question.knots), cy: Y(this.heights[this.at]), r: 5, fill: c("blue") }));
    else nodes.push(s("text", { x: SKETCH_WIDE / 2, y: SKETCH_HIGH / 2, "text-anchor": "middle", fill: c("muted"), "font-size": 15 }, "draw your curve here"));
    this.svg.replaceChildren(...nodes);
    this.plot.setAttribute("aria-label", `${plainSymbols(this.question.y)} over ${plainSymbols(this.question.x)}: ${this.heights ? "your curve is drawn" : "nothing drawn yet"}. Left and right move, up and down draw; the buttons below begin with a form.`);
  }
}
