// The form in which a teacher asks a new question.

import { h, show } from "../dom.js";

const HELP = "One answer a line. A * before a line marks the right one, and what stands after | is said to those who choose it.";
const KINDS = { choice: "one answer", several: "several answers", order: "an order (right: as written)", slider: "a number", sketch: "a sketch of a curve" };

/** What is written in the field of answers: texts, numbers of the right ones, sentences by answer. */
export function readChoices(text) {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  const choices = [], right = [], wrong = {};
  for (const line of lines) {
    const starred = line.startsWith("*");
    const [name, ...rest] = line.replace(/^\*\s*/, "").split("|").map((part) => part.trim());
    if (starred) right.push(choices.length);
    if (rest.join(" ")) wrong[name] = rest.join(" ");
    choices.push(name);
  }
  return { choices, right, wrong };
}

/** The message for a question: its kind, its text, the answers as written, and the numbers of a slider. */
export function questionOf(kind, text, written, { low, high, right }) {
  const question = { kind, text };
  if (kind === "sketch") return { type: "ask", question };
  if (kind === "slider") {
    const asked = { ...question, low: Number(low), high: Number(high) };
    return { type: "ask", question: asked, right: right === "" ? null : Number(right) };
  }
  const found = readChoices(written);
  const answer = { choice: found.right[0] ?? null, several: found.right.length ? found.right : null, order: found.choices.map((_, k) => k) };
  return { type: "ask", question: { ...question, choices: found.choices, wrong: found.wrong }, right: answer[kind] };
}

export function askForm(link) {
  const text = h("input", { type: "text", maxlength: 500, "aria-label": "question", placeholder: "What will happen if …?", "data-testid": "ask-text" });
  const kind = h("select", { "aria-label": "kind of answer", "data-testid": "ask-kind" }, ...Object.entries(KINDS).map(([value, name]) => h("option", { value }, name)));
  const answers = h("textarea", { "aria-label": "answers", placeholder: "*more rows\nfewer rows | λ is a price: a lower price buys more.\nas many", rows: 4, "data-testid": "ask-answers" });
  const field = (name, value) => h("input", { type: "text", inputmode: "decimal", value, "aria-label": name });
  const [low, high, right] = [field("lowest", "0"), field("highest", "100"), field("right answer", "")];
  const numbers = h("div", { hidden: true }, ...[["from", low], ["to", high], ["right answer (may stay empty)", right]].map(([name, input]) => h("label", { class: "field" }, name, input)));
  const choices = h("div", {}, h("p", { class: "muted" }, HELP), answers);
  kind.addEventListener("change", () => {
    show(numbers, kind.value === "slider");
    show(choices, !["slider", "sketch"].includes(kind.value));
  });
  const ask = () => {
    const message = questionOf(kind.value, text.value, answers.value, { low: low.value, high: high.value, right: right.value.trim() });
    if (link.say(message)) text.value = answers.value = "";
  };
  return h("div", {}, text, h("div", { class: "row" }, kind), choices, numbers, h("div", { class: "row" }, h("button", { type: "button", class: "primary", onclick: ask, "data-testid": "ask" }, "Ask the class")));
}
