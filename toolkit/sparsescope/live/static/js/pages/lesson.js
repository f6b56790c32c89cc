// The page of the lessons: predict, run, compare; one body for all lessons, and a list of them.

import { h, plainSymbols, setSymbols, setText, show, symbols } from "../dom.js";
import { mountPage } from "./frame.js";
import { makeAnswer } from "./lesson/answers.js";
import { drawPicture } from "./lesson/pictures.js";
import { onPaper } from "./lesson/print.js";
import { Progress } from "./lesson/progress.js";

export const VERSION = "1";

const SURE = [[1, "a guess"], [2, "rather sure"], [3, "certain"]];

export function mount(given) {
  return mountPage((page) => new LessonBody(page), given);
}

/** Where another lesson is: beside this one, or on the same page with another setting. */
function addressOf(place) {
  return /\/lesson\/\d+\/?$/.test(location.pathname) ? "./" + place : "?lesson=" + place;
}

class LessonBody {
  constructor(page) {
    this.page = page;
    this.element = h("article", { class: "lesson", "data-testid": "lesson" });
    this.running = false;
    this.waiting = []; // runs that were asked for while another one is under way
    this.end = onPaper(this);
  }

  redraw() {
    if (this.steps) this.steps.forEach((step) => step.redraw());
  }

  draw(picture) {
    const shown = picture.lesson ? `${picture.lesson.place}/${picture.lesson.student}` : "index";
    if (shown !== this.shown) {
      this.shown = shown;
      this.waiting = [];
      if (picture.lesson) this.open(picture);
      else this.list(picture);
    }
    this.redraw();
  }

  list({ index }) {
    this.steps = null;
    const cards = index.map((lesson) => {
      const done = new Progress(lesson.place).done;
      return h("li", {}, h("section", { class: "card lesson-card" },
        h("h2", {}, h("a", { href: addressOf(lesson.place), "data-testid": "lesson-link-" + lesson.place }, ...symbols(`${Number(lesson.place)}. ${lesson.title}`))),
        h("p", {}, ...symbols(lesson.idea)), h("p", { class: "muted" }, `${lesson.minutes} minutes${done ? ` · ${done} answered` : ""}`)));
    });
    this.element.replaceChildren(h("ol", { class: "lesson-index" }, ...cards));
  }

  open({ lesson, index }) {
    this.lesson = lesson;
    this.progress = new Progress(lesson.place);
    this.terms = lesson.terms.map((term) => ({ ...term, pattern: new RegExp(`(?<![\\w])(?:${term.words})(?![\\w])`, "i") }));
    const { scenes, predictions, exercises } = lesson;
    this.steps = [];
    if (scenes.card) this.steps.push(new SceneStep(this, "card", "Before you begin"));
    this.steps.push(new SceneStep(this, "opening", "Look"));
    predictions.forEach((question, k) => this.steps.push(new PredictionStep(this, question, k + 1)));
    for (let k = 1; k <= lesson.breaks; k++) this.steps.push(new SceneStep(this, "break" + k, "Break it"));
    exercises.forEach((exercise) => this.steps.push(new ExerciseStep(this, exercise)));
    this.steps.push(new LastStep(this));
    this.bar = h("progress", { max: predictions.length + exercises.length, value: 0, "aria-label": "answered" });
    this.told = h("span", { class: "muted", role: "status", "data-testid": "lesson-progress" });
    this.all = h("button", { type: "button", "data-testid": "lesson-all", onclick: () => this.showAll() }, "Show all steps");
    const again = h("button", { type: "button", "data-testid": "lesson-forget", onclick: () => this.forget() }, "Start again");
    const print = h("button", { type: "button", onclick: () => window.print() }, "Print");
    const next = index.find((other) => Number(other.place) > lesson.number);
    this.element.replaceChildren(
      h("header", { class: "lesson-head" }, h("h2", {}, ...symbols(`${lesson.number}. ${lesson.title}`)), h("p", { class: "lesson-idea" }, ...symbols(lesson.idea)),
        h("p", { class: "lesson-tools" }, this.bar, this.told, this.all, again, print, h("a", { href: addressOf("index") === "?lesson=index" ? "?" : "../lesson" }, "all lessons"))),
      ...this.steps.map((step) => step.element),
      h("details", { class: "card lesson-terms" }, h("summary", {}, "Terms of this lesson"), h("ul", {}, ...lesson.terms.map((term) => h("li", {}, ...symbols(term.meaning))))),
      next ? h("p", { class: "lesson-next" }, h("a", { href: addressOf(next.place) }, ...symbols(`Next: ${next.title} →`))) : "",
    );
    this.update();
    for (const step of this.steps) if (step.begin) step.begin();
  }

  showAll() {
    this.progress.kept.all = !this.progress.kept.all;
    this.progress.save();
    this.update();
  }

  forget() {
    this.progress.forget();
    this.open(this.page.picture);
  }

  /** Show the steps up to the first question without an answer. */
  update() {
    const { kept, done } = this.progress;
    let open = true;
    for (const step of this.steps) {
      show(step.element, open || Boolean(kept.all));
      if (step.awaited && step.awaited()) open = false;
    }
    this.bar.value = done;
    setText(this.told, `${done} of ${this.bar.max} answered${this.progress.lost ? "; this browser keeps no answers" : ""}`);
    setText(this.all, kept.all ? "One step at a time" : "Show all steps");
  }

  /** Ask for a run; one at a time. */
  run(action, message) {
    if (this.running) {
      this.waiting.push([action, message]);
      return;
    }
    this.running = true;
    this.page.link.do(action, message);
  }

  take(message) {
    if (message.type === "running") {
      this.running = message.running;
      if (!message.running) {
        this.steps?.forEach((step) => step.rest && step.rest());
        const next = this.waiting.shift();
        if (next) this.run(...next);
      }
      return;
    }
    for (const step of this.steps || []) if (step.take(message)) return;
  }

  /** What was sent was refused: nothing is under way. */
  failed() {
    this.running = false;
    this.waiting = [];
    this.steps?.forEach((step) => step.rest && step.rest());
  }

  /** A text whose terms explain themselves under the pointer, each once. */
  worded(text) {
    let nodes = [text];
    for (const term of this.terms) {
      for (let k = 0; k < nodes.length; k++) {
        const found = typeof nodes[k] === "string" && term.pattern.exec(nodes[k]);
        if (!found) continue;
        const [before, after] = [nodes[k].slice(0, found.index), nodes[k].slice(found.index + found[0].length)];
        nodes.splice(k, 1, before, h("abbr", { title: plainSymbols(term.meaning) }, ...symbols(found[0])), after);
        break;
      }
    }
    return nodes.flatMap((node) => (typeof node === "string" ? symbols(node) : [node]));
  }

  paragraph(text, attributes = {}) {
    return h("p", attributes, ...this.worded(text));
  }
}

class Step {
  constructor(body, title, name) {
    this.body = body;
    this.title = h("h3", { tabindex: -1 }, ...symbols(title));
    this.plot = h("div", { class: "lesson-picture" });
    this.element = h("section", { class: "card lesson-step", "aria-label": plainSymbols(title), "data-testid": "step-" + name }, this.title);
    this.picture = null;
  }

  redraw() {
    const wide = this.element.clientWidth - 36; // without its padding
    if (this.picture && wide > 0) this.plot.replaceChildren(...drawPicture(this.body.page.palette, this.picture, wide));
  }

  display(picture) {
    this.picture = picture;
    this.redraw();
    this.body.page.requestDraw();
  }

  take() {
    return false;
  }
}

class SceneStep extends Step {
  constructor(body, name, kind) {
    const scene = body.lesson.scenes[name];
    super(body, `${kind}: ${scene.title}`, name);
    this.name = name;
    this.said = h("p", { class: "lesson-said", role: "status" });
    this.button = h("button", { type: "button", class: "act primary", "data-testid": "run-" + name, onclick: () => this.run() }, "Run it");
    this.element.append(body.paragraph(scene.text), this.button, this.plot, this.said);
    if (scene.question) this.element.append(body.paragraph(scene.question, { class: "lesson-question" }));
  }

  begin() {
    const kept = this.body.progress.kept.scenes[this.name];
    if (kept) this.found(kept);
    else if (this.name === "opening") this.run();
  }

  run() {
    this.button.disabled = true;
    setSymbols(this.said, "Running …");
    this.body.run("scene", { k: this.name });
  }

  rest() {
    if (!this.body.waiting.some(([, message]) => message.k === this.name)) this.button.disabled = false;
    if (this.said.textContent === "Running …" && !this.button.disabled) setSymbols(this.said, "");
  }

  found({ picture, said }) {
    this.button.textContent = "Run again";
    this.button.disabled = false;
    setSymbols(this.said, said);
    this.display(picture);
  }

  take(message) {
    if (message.k !== this.name) return false;
    if (message.type === "frame") this.display(message.picture);
    else {
      this.body.progress.kept.scenes[this.name] = { picture: message.picture, said: message.said };
      this.body.progress.save();
      this.found(message);
    }
    return true;
  }
}

class PredictionStep extends Step {
  redraw() {
    super.redraw();
    const kept = this.body.progress.kept.reveals[this.k];
    if (kept) this.answer.compare(kept);
  }

  constructor(body, question, k) {
    super(body, `Prediction ${k}`, "p" + k);
    this.k = k;
    const name = `p${k}`;
    this.answer = makeAnswer(body.page, question, name);
    this.sure = SURE.map(([value, text]) => [value, h("input", { type: "radio", name: name + "-sure", value, "data-testid": `${name}-sure-${value}` }), text]);
    this.sureness = h("fieldset", { class: "lesson-sure" }, h("legend", {}, "How sure are you?"), ...this.sure.map(([, input, text]) => h("label", {}, input, text)));
    this.lock = h("button", { type: "button", class: "act primary", "data-testid": name + "-lock", onclick: () => this.send() }, "Lock in and run");
    this.note = h("p", { class: "lesson-note", role: "alert", "data-testid": name + "-note" });
    this.reveal = h("div", { class: "lesson-reveal", role: "status", "data-testid": name + "-reveal" });
    this.others = h("div", { role: "status", "data-testid": name + "-elsewhere" });
    this.more = h("button", { type: "button", "data-testid": name + "-more", hidden: true, onclick: () => this.askElsewhere() }, "Does it hold elsewhere?");
    this.element.append(body.paragraph(question.question, { class: "lesson-question" }), this.answer.element, this.sureness, this.lock, this.note, this.plot, this.reveal, this.more, this.others);
  }

  begin() {
    const { reveals, elsewhere } = this.body.progress.kept;
    if (reveals[this.k]) this.found(reveals[this.k]);
    if (elsewhere[this.k]) this.drawElsewhere(elsewhere[this.k], true);
  }

  awaited() {
    return !this.body.progress.kept.reveals[this.k];
  }

  send() {
    const answer = this.answer.value();
    const sure = this.sure.find(([, input]) => input.checked);
    if (answer === null) return setText(this.note, "Answer first: the run comes afterwards.");
    if (!sure) return setText(this.note, "Say how sure you are.");
    setText(this.note, "");
    this.answer.lock(true);
    this.sureness.disabled = this.lock.disabled = true;
    this.lock.textContent = "Running …";
    this.body.run("predict", { k: this.k, answer, sure: sure[0] });
  }

  /** Nothing is under way any more: unlock what got no answer. */
  rest() {
    this.more.disabled = false;
    if (!this.awaited() || this.body.waiting.some(([, message]) => message.k === this.k)) return;
    this.answer.lock(false);
    this.sureness.disabled = this.lock.disabled = false;
    this.lock.textContent = "Lock in and run";
  }

  found(message) {
    this.answer.set(message.answer);
    this.answer.lock(true);
    this.answer.compare(message);
    for (const [value, input] of this.sure) input.checked = value === message.sure;
    this.sureness.disabled = true;
    show(this.lock, false);
    const verdict = message.right ? "As you said." : message.distance ? `Measured otherwise: ${message.distance}.` : "Measured otherwise.";
    const { body } = this;
    const lines = [
      h("p", { class: "lesson-verdict" + (message.right ? " is-right" : "") }, ...symbols(verdict)),
      h("dl", { class: "lesson-pair" }, h("dt", {}, "you"), h("dd", {}, ...symbols(message.yours)), h("dt", {}, "measured"), h("dd", { class: "is-measured" }, ...symbols(message.theirs))),
      h("p", {}, ...symbols(message.said)), ...message.sentences.map((text) => body.paragraph(text, { class: "lesson-sentence" })),
      body.paragraph(`Claim: ${message.claim} ${message.holds ? "It holds" : "It does not hold"} in this run (${message.case}). Where: ${message.condition}`, { class: "muted" }),
    ];
    this.reveal.replaceChildren(...lines);
    show(this.more, true);
    this.display(message.picture);
  }

  askElsewhere() {
    this.more.disabled = true;
    this.others.replaceChildren(h("p", { class: "muted" }, "Running on other data …"));
    this.body.run("elsewhere", { k: this.k });
  }

  drawElsewhere(rows, done) {
    const line = (row) => h("tr", {}, h("th", { scope: "row" }, row.case), h("td", { class: row.holds ? "is-good" : "is-not" }, row.holds ? "holds" : "does not hold"), h("td", {}, ...symbols(row.measured)), h("td", {}, ...symbols(row.said)));
    const head = h("tr", {}, ...["where", "the claim", "measured", ""].map((text) => h("th", { scope: "col" }, text)));
    this.others.replaceChildren(h("div", { class: "lesson-scroll", tabindex: 0, role: "group", "aria-label": "other data" }, h("table", { class: "lesson-table lesson-elsewhere" }, h("thead", {}, head), h("tbody", {}, ...rows.map(line)))), done ? "" : h("p", { class: "muted" }, "and more …"));
    show(this.more, !done);
  }

  take(message) {
    const { body } = this;
    if (message.k !== this.k) return false;
    if (message.type === "frame") this.display(message.picture);
    else if (message.type === "reveal") {
      body.progress.kept.reveals[this.k] = message;
      body.progress.save();
      this.found(message);
      body.update();
      this.body.page.requestDraw();
    } else if (message.type === "elsewhere") {
      if (message.done) {
        body.progress.kept.elsewhere[this.k] = message.rows;
        body.progress.save();
      }
      this.drawElsewhere(message.rows, message.done);
    }
    return true;
  }
}

class ExerciseStep extends Step {
  constructor(body, exercise) {
    super(body, `Exercise ${exercise.letter}`, "exercise-" + exercise.letter);
    this.letter = exercise.letter;
    this.inputs = exercise.inputs.map((input) => [input.name, this.input(input)]);
    this.said = h("p", { class: "lesson-verdict", role: "status", "data-testid": `exercise-${exercise.letter}-said` });
    this.element.append(body.paragraph(exercise.task, { class: "lesson-question" }));
    if (!exercise.inputs.length) {
      this.element.append(h("p", { class: "muted" }, `This one is Python: in notebooks/${body.lesson.notebook}, or anywhere:`), h("pre", { tabindex: 0 }, `import sparsescope as ss\n\nlesson = ss.lesson(${body.lesson.number}, student=${body.lesson.student})\n${exercise.code}`));
      return;
    }
    this.button = h("button", { type: "submit", class: "act primary", "data-testid": `exercise-${exercise.letter}-check` }, "Check");
    const form = h("form", { class: "lesson-form", onsubmit: (event) => { event.preventDefault(); this.send(); } }, ...exercise.inputs.map((input, k) => h("label", {}, h("span", {}, ...symbols(input.label)), this.inputs[k][1])), this.button);
    this.element.append(form, this.said);
  }

  input({ name, kind, choices }) {
    const kept = (this.body.progress.kept.typed[this.letter] || {})[name] || "";
    const given = { "data-testid": `exercise-${this.letter}-${name}` };
    if (kind === "choice") {
      const select = h("select", given, ...choices.map((text) => h("option", { value: text }, text)));
      if (kept) select.value = kept;
      return select;
    }
    return h("input", { type: "text", value: kept, inputmode: kind === "number" ? "decimal" : null, ...given });
  }

  begin() {
    const kept = this.body.progress.kept.marks[this.letter];
    if (kept && (kept.student === this.body.lesson.student || kept.passed)) this.found(kept);
  }

  send() {
    const answer = Object.fromEntries(this.inputs.map(([name, input]) => [name, input.value]));
    this.body.progress.kept.typed[this.letter] = answer;
    this.body.progress.save();
    this.button.disabled = true;
    setSymbols(this.said, "Checking …");
    this.body.run("check", { k: this.letter, answer });
  }

  rest() {
    if (!this.button) return;
    this.button.disabled = false;
    if (this.said.textContent === "Checking …") setSymbols(this.said, "");
  }

  found({ passed, said }) {
    setSymbols(this.said, (passed ? "Passed. " : "Not yet. ") + said);
    this.said.classList.toggle("is-right", passed);
  }

  take(message) {
    if (message.type !== "mark" || message.k !== this.letter) return false;
    const { progress } = this.body;
    if (message.passed || !(progress.kept.marks[this.letter] || {}).passed) progress.kept.marks[this.letter] = message;
    progress.save();
    this.found(message);
    this.body.update();
    return true;
  }
}

class LastStep extends Step {
  constructor(body) {
    super(body, "Say it", "last");
    const { lesson, progress } = body;
    this.words = h("textarea", { rows: 3, "aria-label": "in your own words", "data-testid": "lesson-words", oninput: () => { progress.kept.words = this.words.value; progress.save(); } });
    this.words.value = progress.kept.words;
    const sources = lesson.sources.map((source) => h("li", {}, `${source.paper}: ${source.section}${source.files.length ? ` (${source.files.join(", ")})` : ""}`));
    this.element.append(
      h("p", {}, "Tell it to somebody, or write it down; then compare."), this.words,
      h("details", {}, h("summary", {}, "Three sentences"), h("ul", {}, ...lesson.afterwards.map((text) => h("li", {}, ...body.worded(text))))),
      h("h4", {}, "Where to read on"), h("ul", {}, ...sources),
    );
  }
}
