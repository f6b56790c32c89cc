// Steps of a lesson: a scene with its run, an exercise, and the end.

import { h, holdButton, isHeld, plainSymbols, setSymbols, show, symbols } from "../../dom.js";
import { drawPicture } from "./pictures.js";
import { wordsOf } from "./progress.js";

const PLAY_PERIOD = 60; // ms that each picture of a recorded run is shown

export class Step {
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

  /** Show the pictures of a run again, and then its result. */
  play(frames, last, button) {
    if (isHeld(button)) return;
    holdButton(button, true);
    const showNext = (k) => {
      if (!this.element.isConnected) return;
      this.display(k < frames.length ? frames[k] : last);
      if (k < frames.length) setTimeout(() => showNext(k + 1), PLAY_PERIOD);
      else holdButton(button, false);
    };
    showNext(0);
  }

  /** In a recording: a button that plays a run, where its pictures are in the file. */
  playButton(name, last) {
    const frames = this.body.frames.of(name);
    if (frames.length < 2) return "";
    const button = h("button", { type: "button", class: "act", "data-testid": `play-${name}`, onclick: () => this.play(frames, last, button) }, "Play the run");
    return button;
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

export class SceneStep extends Step {
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
    const { recorded } = this.body.page;
    show(this.button, !recorded);
    if (kept) this.found(kept);
    else if (this.name.startsWith("opening") && !recorded && !this.element.hidden) this.run();
    if (kept && recorded) this.button.after(this.playButton(this.name, kept.picture));
  }

  run() {
    if (isHeld(this.button)) return;
    holdButton(this.button, true);
    setSymbols(this.said, "Running …");
    this.body.run("scene", { k: this.name });
  }

  rest() {
    if (!this.body.waiting.some(([, message]) => message.k === this.name)) holdButton(this.button, false);
    if (this.said.textContent === "Running …" && !isHeld(this.button)) setSymbols(this.said, "");
  }

  found({ picture, said }) {
    this.button.textContent = "Run again";
    holdButton(this.button, false);
    setSymbols(this.said, said);
    this.display(picture);
  }

  take(message) {
    if (message.k !== this.name) return false;
    if (message.type === "frame") this.display(message.picture);
    else {
      this.body.progress.put("scenes", this.name, { picture: message.picture, said: message.said });
      this.found(message);
    }
    return true;
  }
}

export class ExerciseStep extends Step {
  constructor(body, exercise) {
    super(body, `Exercise ${exercise.letter}`, "exercise-" + exercise.letter);
    this.letter = exercise.letter;
    this.inputs = exercise.inputs.map((input) => [input.name, this.input(input)]);
    this.said = h("p", { class: "lesson-verdict", role: "status", "data-testid": `exercise-${exercise.letter}-said` });
    this.element.append(body.paragraph(exercise.task, { class: "lesson-question" }));
    const code = h("pre", { tabindex: 0 }, `import sparsescope as ss\n\nlesson = ss.lesson(${body.lesson.number}, student=${body.lesson.student})\n${exercise.code}`);
    if (!exercise.inputs.length) {
      this.element.append(h("p", { class: "muted" }, `This one is Python: in notebooks/${body.lesson.notebook}, or anywhere:`), code);
      return;
    }
    this.button = h("button", { type: "submit", class: "act primary", hidden: this.body.page.recorded, "data-testid": `exercise-${exercise.letter}-check` }, "Check");
    const form = h("form", { class: "lesson-form", onsubmit: (event) => { event.preventDefault(); this.send(); } }, ...exercise.inputs.map((input, k) => h("label", {}, h("span", {}, ...symbols(input.label)), this.inputs[k][1])), this.button);
    const python = exercise.code.split("\n").length > 2 ? h("details", { class: "muted" }, h("summary", {}, "Where to begin in Python"), code) : "";
    this.element.append(form, python, this.said);
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
    if (isHeld(this.button)) return;
    const answer = Object.fromEntries(this.inputs.map(([name, input]) => [name, input.value]));
    this.body.progress.put("typed", this.letter, answer);
    holdButton(this.button, true);
    setSymbols(this.said, "Checking …");
    this.body.run("check", { k: this.letter, answer });
  }

  rest() {
    if (!this.button) return;
    holdButton(this.button, false);
    if (this.said.textContent === "Checking …") setSymbols(this.said, "");
  }

  found({ passed, said }) {
    setSymbols(this.said, (passed ? "Passed. " : "Not yet. ") + said);
    this.said.classList.toggle("is-right", passed);
  }

  take(message) {
    if (message.type !== "mark" || message.k !== this.letter) return false;
    const { progress } = this.body;
    if (message.passed || !(progress.kept.marks[this.letter] || {}).passed) progress.put("marks", this.letter, message);
    this.found(message);
    this.body.update();
    return true;
  }
}

const HOW_MANY = ["", "One sentence", "Two sentences", "Three sentences"];

export class LastStep extends Step {
  constructor(body) {
    super(body, "Say it", "last");
    const { lesson, part } = body;
    this.words = h("textarea", { rows: 3, "aria-label": "in your own words", "data-testid": "lesson-words", oninput: () => this.keep() });
    this.words.value = this.kept();
    const sources = lesson.sources.map((source) => h("li", {}, `${source.paper}: ${source.section}${source.files.length ? ` (${source.files.join(", ")})` : ""}`));
    const afterwards = part ? part.afterwards.map((k) => lesson.afterwards[k - 1]) : lesson.afterwards;
    const idea = part && part !== lesson.pages[lesson.pages.length - 1] ? "" : h("p", {}, ...body.worded(lesson.idea)); // of all of the lesson
    this.element.append(
      h("p", {}, "Tell it to somebody, or write it down; then compare."), this.words,
      h("details", {}, h("summary", {}, HOW_MANY[afterwards.length]), idea, h("ul", {}, ...afterwards.map((text) => h("li", {}, ...body.worded(text))))),
      h("h4", {}, "Where to read on"), h("ul", {}, ...sources),
    );
  }

  kept() {
    const { part, progress } = this.body;
    return part ? (progress.kept.typed[wordsOf(part)] || { words: "" }).words : progress.kept.words;
  }

  keep() {
    const { part, progress } = this.body;
    if (part) progress.put("typed", wordsOf(part), { words: this.words.value });
    else progress.change((kept) => { kept.words = this.words.value; });
  }
}
