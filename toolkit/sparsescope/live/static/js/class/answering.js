// What a student sees of the class: questions to predict, nickname, question box. On the page of its own and in the strip.

import { h, show } from "../dom.js";
import { histogram } from "./bins.js";
import { addressOf } from "./link.js";
import { prediction } from "./predict.js";

/** The class as a student sees it, in one element. `link` sends. */
export class Answering {
  constructor(link) {
    this.link = link;
    this.drawn = new Map(); // of each question: the state that is drawn, and its card
    this.changing = new Set(); // questions whose prediction is being made anew
    this.who = h("p", { class: "muted", "data-testid": "class-who" });
    this.place = h("p", {});
    this.refused = h("p", { class: "refused", role: "alert", "data-testid": "class-refused" });
    this.list = h("div", { "data-testid": "class-questions" });
    this.none = h("p", { class: "card" }, "No question yet. When your teacher asks one, it appears here.");
    this.slips = h("ul", { class: "slips" });
    this.box = h("textarea", { maxlength: 280, "aria-label": "your question", placeholder: "What is unclear?", "data-testid": "class-box" });
    this.name = h("input", { type: "text", maxlength: 24, autocomplete: "off", "aria-label": "nickname", placeholder: "nickname (optional)", "data-testid": "class-name" });
    const drop = () => { if (this.box.value.trim() && link.say({ type: "box", text: this.box.value })) this.box.value = ""; };
    this.element = h(
      "div", {}, this.who, this.place, this.refused, this.none, this.list,
      h(
        "section", { class: "card" }, h("h2", {}, "Question box"),
        h("p", { class: "muted" }, "Your teacher reads what you write before anybody else sees it."), this.box,
        h("div", { class: "row" }, h("button", { type: "button", onclick: drop, "data-testid": "class-drop" }, "Put it in")), this.slips,
      ),
      h(
        "details", { class: "card" }, h("summary", {}, "Nickname"),
        h("p", { class: "muted" }, "Without one you are a number. Others see it when your teacher has let it through."), this.name,
        h("div", { class: "row" }, h("button", { type: "button", onclick: () => link.say({ type: "name", text: this.name.value.trim() }) }, "Use it")),
      ),
    );
  }

  /** How many questions wait for a prediction. */
  get open() {
    return (this.state?.questions ?? []).filter((question) => !question.locked && !question.revealed && question.mine[question.phase] === null).length;
  }

  refuse(text) {
    this.refused.textContent = text;
  }

  take(state) {
    this.state = state;
    this.refused.textContent = "";
    const waits = state.name_state === "waiting" ? ` (“${state.name}” waits for your teacher)` : "";
    this.who.textContent = `You are ${state.name_state === "shown" ? state.name : `student ${state.number}`}${waits}.`;
    this.place.replaceChildren(...(state.place ? [h("a", { href: addressOf(state.place) }, "Open the page that your teacher shows")] : []));
    show(this.none, !state.questions.length);
    const cards = [...state.questions].reverse().map((question) => this.card(question));
    if (cards.length !== this.list.children.length || cards.some((card, k) => card !== this.list.children[k])) this.list.replaceChildren(...cards);
    this.slips.replaceChildren(...state.box.map((slip) => h("li", {}, slip.text, slip.state === "waiting" ? h("span", { class: "muted" }, " (waits for your teacher)") : null)));
  }

  /** The card of a question; the one that is drawn, as long as nothing about it has changed. */
  card(question) {
    const text = JSON.stringify(question) + this.changing.has(question.id);
    const known = this.drawn.get(question.id);
    if (known?.text === text) return known.card;
    const card = h("section", { class: "card", "data-testid": "class-question", "aria-label": question.text }, h("h2", {}, question.text), ...this.body(question));
    this.drawn.set(question.id, { text, card });
    return card;
  }

  body(question) {
    const mine = question.mine[question.phase];
    if (question.revealed) return this.revealed(question);
    if (question.locked) return [h("p", { class: "say" }, mine ? "Your prediction is in. " : "", "No more predictions are taken.")];
    if (mine && !this.changing.has(question.id)) {
      const again = () => { this.changing.add(question.id); this.take(this.state); };
      return [h("p", { class: "say good", "data-testid": "class-in" }, "Your prediction is in."), h("button", { type: "button", onclick: again }, "Change it")];
    }
    const note = question.phase === "after" ? [h("p", { class: "say" }, "Talk with your neighbour for a minute, then predict again.")] : [];
    const send = (answer, confidence) => {
      if (this.link.say({ type: "answer", question: question.id, answer, confidence, phase: question.phase })) this.changing.delete(question.id);
    };
    return [...note, prediction(question, mine ?? question.mine.before, send)];
  }

  revealed(question) {
    const label = question.measured?.label;
    const said = question.right === undefined || question.right === null ? [] : [h(
      "p", { class: question.right ? "say good" : "say bad", "data-testid": "class-verdict" },
      question.right ? "Your prediction was right." : question.sentence || "Your prediction was another one.",
    )];
    const answer = label === undefined ? [] : [h("p", {}, "Answer: ", h("b", {}, label))];
    return [...answer, ...said, ...histogram(question.bins, label === undefined ? [] : [label], question.marked ? "answer" : "measured")];
  }
}
