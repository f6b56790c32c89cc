// Forms in which a prediction is made: one for each kind of question. A form gives its value, or null while there is none.

import { h } from "../dom.js";

const STEPS = 200; // of a slider
const POINTS = 33; // of a sketch
const SHAPES = { "peak early": [0.2, 0.9, 0.5, 0.3, 0.2], "peak late": [0.1, 0.2, 0.4, 0.9, 0.3], rises: [0.1, 0.3, 0.5, 0.7, 0.9], falls: [0.9, 0.6, 0.4, 0.2, 0.1], flat: [0.5, 0.5, 0.5, 0.5, 0.5] };

let names = 0;

function choices(question, kind, given) {
  const name = `choice${(names += 1)}`;
  const inputs = question.choices.map((_, k) => h("input", { type: kind, name, value: k, checked: given.includes(k) }));
  const element = h("fieldset", { class: "answers", "aria-label": question.text }, ...question.choices.map((text, k) => h("label", {}, inputs[k], h("span", {}, text))));
  return { element, chosen: () => inputs.flatMap((input, k) => (input.checked ? [k] : [])) };
}

function choiceForm(question, given) {
  const form = choices(question, "radio", given === null ? [] : [given]);
  return { element: form.element, value: () => form.chosen()[0] ?? null };
}

function severalForm(question, given) {
  const form = choices(question, "checkbox", given ?? []);
  return { element: form.element, value: () => form.chosen() };
}

function orderForm(question, given) {
  const order = given ? [...given] : question.choices.map((_, k) => k);
  let moved = given !== null;
  const list = h("ol", { class: "order", "aria-label": question.text });
  const move = (at, by) => {
    [order[at], order[at + by]] = [order[at + by], order[at]];
    moved = true;
    draw();
    list.children[at + by].querySelectorAll("button")[by < 0 ? 0 : 1].focus();
  };
  const draw = () => list.replaceChildren(...order.map((k, at) => h(
    "li", {}, h("span", {}, `${at + 1}. ${question.choices[k]}`),
    h("button", { type: "button", "aria-label": `${question.choices[k]}: earlier`, disabled: at === 0, onclick: () => move(at, -1) }, "↑"),
    h("button", { type: "button", "aria-label": `${question.choices[k]}: later`, disabled: at === order.length - 1, onclick: () => move(at, 1) }, "↓"),
  )));
  draw();
  const keep = h("button", { type: "button", onclick: () => { moved = true; } }, "This order is my answer");
  return { element: h("div", {}, list, given === null ? keep : null), value: () => (moved ? [...order] : null) };
}

function sliderForm(question, given) {
  const { low, high, log } = question;
  const at = (share) => (log ? low * (high / low) ** share : low + share * (high - low));
  const share = (value) => (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
  let value = given;
  const text = () => (value === null ? "move the slider" : `${Number(value.toPrecision(3))} ${question.unit}`.trim());
  const shown = h("output", { class: "big" }, text());
  const input = h("input", { type: "range", min: 0, max: STEPS, step: 1, value: given === null ? STEPS / 2 : STEPS * share(given), "aria-label": question.text });
  input.addEventListener("input", () => {
    value = Math.min(high, Math.max(low, Number(at(input.valueAsNumber / STEPS).toPrecision(3))));
    shown.textContent = text();
    input.setAttribute("aria-valuetext", text());
  });
  return { element: h("div", {}, shown, input), value: () => value };
}

function sketchForm(question, given) {
  let points = given ?? [];
  const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  const plot = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  plot.setAttribute("viewBox", "0 0 2 1");
  plot.setAttribute("class", "sketch");
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", "your sketch; the buttons below draw common shapes");
  plot.append(line);
  const draw = () => line.setAttribute("points", points.map(([x, y]) => `${2 * x},${1 - y}`).join(" "));
  const heights = () => new Map(points.map(([x, y]) => [Math.round(x * (POINTS - 1)), y]));
  const follow = (event) => {
    const box = plot.getBoundingClientRect();
    const inside = (share) => Math.min(1, Math.max(0, share));
    const column = Math.round(inside((event.clientX - box.left) / box.width) * (POINTS - 1));
    const found = heights().set(column, Number(inside(1 - (event.clientY - box.top) / box.height).toFixed(3)));
    points = [...found].sort(([a], [b]) => a - b).map(([k, y]) => [k / (POINTS - 1), y]);
    draw();
  };
  plot.addEventListener("pointerdown", (event) => { plot.setPointerCapture(event.pointerId); follow(event); });
  plot.addEventListener("pointermove", (event) => { if (event.buttons) follow(event); });
  const shapes = Object.entries(SHAPES).map(([name, values]) => h("button", { type: "button", onclick: () => {
    points = values.map((y, k) => [k / (values.length - 1), y]);
    draw();
  } }, name));
  draw();
  const clear = h("button", { type: "button", onclick: () => { points = []; draw(); } }, "Clear");
  return { element: h("div", {}, plot, h("div", { class: "row" }, ...shapes, clear)), value: () => (points.length > 1 ? points : null) };
}

export const FORMS = { choice: choiceForm, several: severalForm, order: orderForm, slider: sliderForm, sketch: sketchForm };

/** A whole prediction: the form, how sure, and a button. `send(answer, confidence)` is called with a complete one. */
export function prediction(question, given, send) {
  const form = FORMS[question.kind](question, given === null ? null : given.answer);
  let sure = given?.confidence ?? 2;
  const missing = h("p", { class: "refused", role: "alert" });
  const buttons = ["A guess", "Fairly sure", "Sure"].map((text, k) => h("button", { type: "button", "aria-pressed": String(k + 1 === sure), onclick: () => {
    sure = k + 1;
    buttons.forEach((button, other) => button.setAttribute("aria-pressed", String(other === k)));
  } }, text));
  const press = () => {
    const value = form.value();
    missing.textContent = value === null ? "Give an answer first." : "";
    if (value !== null) send(value, sure);
  };
  return h(
    "div", {}, form.element, h("h3", {}, "How sure are you?"), h("div", { class: "sure", role: "group", "aria-label": "how sure" }, ...buttons), missing,
    h("div", { class: "row" }, h("button", { type: "button", class: "primary", onclick: press, "data-testid": "lock-in" }, "Lock in")),
  );
}
