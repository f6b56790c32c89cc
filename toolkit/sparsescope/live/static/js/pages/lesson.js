// The page of the lessons: predict, run, compare; one body for all lessons, and a list of them.

import { h, plainSymbols, setText, show, symbols } from "../dom.js";
import { mountPage } from "./frame.js";
import { ExerciseStep, LastStep, SceneStep } from "./lesson/steps.js";
import { PredictionStep } from "./lesson/predicting.js";
import { Frames } from "./lesson/frames.js";
import { onPaper } from "./lesson/print.js";
import { Progress } from "./lesson/progress.js";

export const VERSION = "1";

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
    this.frames = new Frames();
    this.end = onPaper(this);
  }

  redraw() {
    if (this.steps) this.steps.forEach((step) => step.redraw());
  }

  draw(picture) {
    const { lesson } = picture;
    const shown = lesson ? `${lesson.place}/${lesson.student}/${lesson.alone}` : "index";
    if (shown !== this.shown) {
      this.shown = shown;
      this.waiting = [];
      this.page.frame.classList.toggle("alone", Boolean(lesson && lesson.alone));
      if (lesson) this.open(picture);
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
    const { recorded } = this.page;
    this.progress = new Progress(lesson.place, recorded ? this.given || {} : null);
    this.terms = lesson.terms.map((term) => ({ ...term, pattern: new RegExp(`(?<![\\w])(?:${term.words})(?![\\w])`, "i") }));
    const { scenes, predictions, exercises } = lesson;
    this.steps = [];
    if (lesson.alone) {
      this.steps.push(new PredictionStep(this, predictions[lesson.alone - 1], lesson.alone));
      this.element.replaceChildren(this.steps[0].element);
      this.steps[0].begin();
      return;
    }
    if (scenes.card) this.steps.push(new SceneStep(this, "card", "Before you begin"));
    this.steps.push(new SceneStep(this, "opening", "Look"));
    predictions.forEach((question, k) => this.steps.push(new PredictionStep(this, question, k + 1)));
    for (let k = 1; k <= lesson.breaks; k++) this.steps.push(new SceneStep(this, "break" + k, "Break it"));
    exercises.forEach((exercise) => this.steps.push(new ExerciseStep(this, exercise)));
    this.steps.push(new LastStep(this));
    this.bar = h("progress", { max: predictions.length + exercises.length, value: 0, "aria-label": "answered" });
    this.told = h("span", { class: "muted", role: "status", "data-testid": "lesson-progress" });
    this.all = h("button", { type: "button", "data-testid": "lesson-all", onclick: () => this.showAll() }, "Show all steps");
    const again = h("button", { type: "button", hidden: recorded, "data-testid": "lesson-forget", onclick: () => this.forget() }, "Start again");
    const print = h("button", { type: "button", onclick: () => window.print() }, "Print");
    const next = index.find((other) => Number(other.place) > lesson.number);
    this.element.replaceChildren(
      h("header", { class: "lesson-head" }, h("h2", {}, ...symbols(`${lesson.number}. ${lesson.title}`)), h("p", { class: "lesson-idea" }, ...symbols(lesson.idea)),
        h("p", { class: "lesson-tools" }, this.bar, this.told, this.all, again, print, recorded ? "" : h("a", { href: addressOf("index") === "?lesson=index" ? "?" : "../lesson" }, "all lessons"))),
      ...this.steps.map((step) => step.element),
      h("details", { class: "card lesson-terms" }, h("summary", {}, "Terms of this lesson"), h("ul", {}, ...lesson.terms.map((term) => h("li", {}, ...symbols(term.meaning))))),
      next && !recorded ? h("p", { class: "lesson-next" }, h("a", { href: addressOf(next.place) }, ...symbols(`Next: ${next.title} →`))) : "",
    );
    this.update();
    for (const step of this.steps) if (step.begin) step.begin();
  }

  showAll() {
    this.progress.change((kept) => { kept.all = !kept.all; });
    this.update();
  }

  /** Begin the lesson again, or one prediction of it. */
  forget(k = null) {
    this.progress.forget(k);
    this.open(this.page.picture);
  }

  /** Show the steps up to the first question without an answer. */
  update() {
    if (this.lesson.alone) return;
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

  /** What a recording of this lesson needs beside the lesson: answers, results, and the pictures of the runs. */
  kept() {
    return this.lesson ? [{ type: "kept", kept: this.progress.kept, frames: this.frames.all() }] : [];
  }

  /** Ask for a run; one at a time. */
  /** End the run that is under way. */
  stop() {
    this.page.link.do("stop", {});
  }

  run(action, message) {
    this.frames.begin(message.k);
    if (this.running) {
      this.waiting.push([action, message]);
      return;
    }
    this.running = true;
    this.page.link.do(action, message);
  }

  take(message) {
    if (message.type === "kept") {
      this.given = message.kept;
      this.frames = new Frames(message.frames);
      if (this.page.picture.lesson) this.open(this.page.picture);
      return;
    }
    if (message.type === "frame") this.frames.take(message);
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
