// The controls, made from the schema that the explorer sends. Native elements, each with a label and an
// explanation on hover and on focus. A control that somebody holds is not moved under their hands.

import { formula, h, setAttribute, setText } from "./dom.js";
import { scientific, short } from "./charts/format.js";

const HELD = 400; // ms after the last touch in which the explorer's value does not move a slider

export class Controls {
  constructor(context) {
    this.context = context;
    this.element = h("div", { class: "controls" });
    this.pinned = h("div", { class: "pinned" }); // controls that are always in sight
    this.nodes = new Map(); // id -> {control, row, input, ...}
    this.shape = "";
    this.unfolded = new Set();
    this.explain = h("div", { class: "explain", role: "note", hidden: true });
  }

  /** Take a schema: build anew if its shape changed, else update values, choices and reasons in place. */
  take(groups) {
    const shape = JSON.stringify(groups.map((g) => [g.title, g.controls.map((c) => [c.id, c.kind, c.label, c.low, c.high, (c.choices || []).map((o) => o.value)])]));
    if (shape !== this.shape) this.build(groups);
    this.shape = shape;
    for (const group of groups) for (const control of group.controls) this.update(control);
  }

  build(groups) {
    const focused = this.element.getRootNode().activeElement;
    const focusId = focused && focused.dataset ? focused.dataset.control : null;
    this.nodes = new Map();
    const pinned = [];
    const sections = groups.map((group) => {
      const made = group.controls.map((control) => this.make(control));
      const here = made.filter(({ control }) => control.place !== "bar").map(({ row }) => row);
      pinned.push(...made.filter(({ control }) => control.place === "bar").map(({ row }) => row));
      const first = group.fold ? here.slice(0, group.fold) : here;
      const more = here.slice(first.length);
      const id = "fold-" + group.title;
      const rest = more.length ? h("details", { class: "more", open: this.unfolded.has(id), ontoggle: (event) => this.unfolded[event.target.open ? "add" : "delete"](id) }, h("summary", {}, `more (${more.length})`), ...more) : null;
      return h("fieldset", { class: "group" }, h("legend", {}, group.title), ...first, rest);
    });
    this.element.replaceChildren(...sections);
    this.pinned.replaceChildren(...pinned);
    if (focusId && this.nodes.has(focusId)) this.nodes.get(focusId).input.focus();
  }

  make(control) {
    const id = "c-" + control.id.replace(/\W/g, "-");
    const node = { control, touched: -Infinity };
    const maker = { select: makeSelect, steps: makeSteps, slider: makeSlider, number: makeNumber, check: makeCheck }[control.kind];
    if (!maker) throw new Error("a control of unknown kind " + control.kind);
    maker(node, control, (value) => {
      this.context.touched(control.id);
      this.changed(node, value);
    });
    node.input.id = id;
    node.input.dataset.control = control.id;
    node.input.dataset.testid = testId(control);
    node.output = h("output", { class: "value", for: id, "data-testid": labelTestId(control) });
    const label = h("label", { for: id }, ...formula(control.label));
    node.row = h("div", { class: "control control-" + control.kind }, label, node.input, node.output);
    for (const type of ["pointerenter", "focusin"]) node.row.addEventListener(type, () => this.showExplanation(node));
    for (const type of ["pointerleave", "focusout"]) node.row.addEventListener(type, () => this.hideExplanation(node));
    this.nodes.set(control.id, node);
    return node;
  }

  changed(node, value) {
    node.touched = performance.now();
    node.control.value = value;
    node.show(value);
    this.context.link.set({ [node.control.id]: value });
    this.context.store.settings[node.control.id] = value; // seen at once
    this.context.requestDraw();
  }

  /** A value that was chosen elsewhere on the page. */
  put(id, value) {
    const node = this.nodes.get(id);
    node.put(value);
    this.changed(node, value);
  }

  update(control) {
    const node = this.nodes.get(control.id);
    node.control = control;
    if (node.refresh) node.refresh(control);
    node.input.disabled = control.disabled;
    node.input.title = control.reason;
    node.row.classList.toggle("is-disabled", control.disabled);
    this.value(control.id, control.value);
  }

  /** A value that was put back: shown at once, also under a hand. */
  show(id, value) {
    const node = this.nodes.get(id);
    if (node) node.touched = -Infinity;
    this.value(id, value);
  }

  /** The explorer's value of a setting: shown unless somebody is just holding the control. */
  value(id, value) {
    const node = this.nodes.get(id);
    if (!node || performance.now() - node.touched < HELD) return;
    node.control.value = value;
    node.put(value);
    node.show(value);
  }

  settings(settings) {
    for (const [key, value] of Object.entries(settings)) this.value(key, value);
  }

  showExplanation(node) {
    const control = node.control;
    const parts = [h("strong", {}, ...formula(control.label)), h("p", {}, ...formula(control.doc))];
    if (control.formula) parts.push(h("p", { class: "formula" }, ...formula(control.formula)));
    if (control.about) parts.push(h("p", {}, control.about));
    if (control.about_formula) parts.push(h("p", { class: "formula" }, ...formula(control.about_formula)));
    if (control.reason) parts.push(h("p", { class: "reason" }, control.reason));
    const chosen = (control.choices || []).find((choice) => choice.value === control.value);
    if (chosen && chosen.doc && chosen.doc !== control.about) parts.push(h("p", {}, ...formula(chosen.doc)));
    const impossible = (control.choices || []).filter((choice) => choice.disabled).length;
    if (impossible) parts.push(h("p", { class: "muted" }, `${impossible} of ${control.choices.length} do not fit the rest: point at one in the list to see why.`));
    this.explain.replaceChildren(...parts);
    this.explain.hidden = false;
    this.explained = node;
    const frame = this.explain.parentElement.getBoundingClientRect();
    const row = node.row.getBoundingClientRect();
    const top = Math.min(row.top - frame.top, Math.max(8, window.innerHeight - frame.top - this.explain.offsetHeight - 8));
    const beside = row.right - frame.left + 12;
    const fits = beside + this.explain.offsetWidth <= frame.width;
    this.explain.style.left = (fits ? beside : Math.max(8, row.left - frame.left)) + "px";
    this.explain.style.top = (fits ? top : row.bottom - frame.top + 4) + "px";
  }

  hideExplanation(node) {
    if (this.explained === node) this.explain.hidden = true;
  }
}

/** The name of a control in tests of the page: what was declared, else that of its setting. */
function testId(control) {
  return control.tag || "field-" + control.id;
}

function labelTestId(control) {
  return control.tag ? control.tag.replace(/-[a-z]+$/, "-label") : null;
}

function makeSelect(node, control, changed) {
  const options = control.choices.map((choice) => h("option", { value: choice.value }, choice.label));
  node.input = h("select", {}, ...options);
  node.input.addEventListener("change", () => changed(control.choices[node.input.selectedIndex].value));
  node.refresh = (now) => now.choices.forEach((choice, k) => {
    options[k].disabled = choice.disabled;
    options[k].title = choice.disabled ? choice.reason : choice.doc;
    setText(options[k], choice.disabled ? choice.label + " — not possible here" : choice.label);
  });
  node.put = (value) => {
    const at = control.choices.findIndex((choice) => choice.value === value);
    if (node.input.selectedIndex !== at) node.input.selectedIndex = at;
  };
  node.show = () => undefined;
}

/** A slider over a list of choices (the speed). */
function makeSteps(node, control, changed) {
  node.input = h("input", { type: "range", min: 0, max: control.choices.length - 1, step: 1 });
  node.input.addEventListener("input", () => changed(control.choices[Number(node.input.value)].value));
  const find = (value) => Math.max(0, control.choices.findIndex((choice) => choice.value === value));
  node.put = (value) => {
    node.input.value = String(find(value));
  };
  node.show = (value) => {
    const text = control.choices[find(value)].label;
    setText(node.output, text);
    setAttribute(node.input, "aria-valuetext", text);
    setAttribute(node.output, "data-value", value);
  };
}

function makeSlider(node, control, changed) {
  const log = control.log;
  const to = (value) => (log ? Math.log10(value) : value);
  const from = (position) => {
    const value = log ? 10 ** position : position;
    const bounded = Math.min(node.control.high, Math.max(node.control.low, value));
    return control.integer ? Math.round(bounded) : Number(bounded.toPrecision(4));
  };
  node.input = h("input", { type: "range", min: to(control.low), max: to(control.high), step: "any" });
  // steps of the keyboard: "any" would leave them to the browser, which takes too large ones
  const step = control.integer && !log ? 1 : control.step;
  node.input.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (!way) return;
    event.preventDefault();
    node.input.value = String(Number(node.input.value) + way * step);
    changed(from(Number(node.input.value)));
  });
  node.input.addEventListener("input", () => changed(from(Number(node.input.value))));
  node.put = (value) => {
    node.input.value = String(to(value));
  };
  node.show = (value) => {
    const scale = node.control.scale;
    const text = short(value, 3) + (typeof scale === "number" ? ` · ${scientific(value * scale, 2)}` : "");
    setText(node.output, text);
    setAttribute(node.output, "data-value", value);
    setAttribute(node.input, "aria-valuetext", text);
  };
}

function makeNumber(node, control, changed) {
  node.input = h("input", { type: "number", min: control.low, max: control.high, step: control.step });
  node.input.addEventListener("change", () => {
    const value = Number(node.input.value);
    if (node.input.value !== "" && Number.isFinite(value)) changed(control.integer ? Math.round(value) : value);
    else node.put(node.control.value);
  });
  node.put = (value) => {
    if (Number(node.input.value) !== value || node.input.value === "") node.input.value = String(value);
  };
  node.show = () => undefined;
}

function makeCheck(node, control, changed) {
  node.input = h("input", { type: "checkbox" });
  node.input.addEventListener("change", () => changed(node.input.checked));
  node.put = (value) => {
    node.input.checked = Boolean(value);
  };
  node.show = () => undefined;
}
