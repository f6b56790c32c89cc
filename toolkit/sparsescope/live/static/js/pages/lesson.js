// The page of the lessons: predict, run, compare; one body for all lessons, and a list of them.

import { focusedIn, h, plainSymbols, setText, show, symbols } from "../dom.js";
import { mountPage } from "./frame.js";
import { ExerciseStep, LastStep, SceneStep } from "./lesson/steps.js";
import { PredictionStep } from "./lesson/predicting.js";
import { Frames } from "./lesson/frames.js";
import { onPaper } from "./lesson/print.js";
import { Progress } from "./lesson/progress.js";

export const VERSION = "1";
const [AGAIN, FORGET] = ["Start again", "Forget my answers?"];
const THINK = 5000; // ms until that question is withdrawn

export function mount(given) {
  return mountPage((page) => new LessonBody(page), given);
}

/** Where another lesson is: beside this one, or on the same page with another setting. */
function addressOf(place) {
  return /\/lesson\/\d+[a-z]?\/?$/.test(location.pathname) ? "./" + place : "?lesson=" + place;
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
    const shown = lesson ? `${lesson.place}${lesson.part}/${lesson.student}/${lesson.alone}` : "index";
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
    const cards = index.map(({ place, title, minutes, asks, pages }) => {
      const done = new Progress(place).done();
      const parts = pages.map((page) => h("a", { href: addressOf(page.place), "data-testid": "lesson-link-" + page.place }, ...symbols(pages.length > 1 ? `Part ${page.letter}: ${page.title}` : `${Number(place)}. ${title}`)));
      return h("li", {}, h("section", { class: "card lesson-card" },
        h("h2", {}, ...(pages.length > 1 ? symbols(`${Number(place)}. ${title}`) : parts)),
        h("p", {}, ...symbols(asks)), pages.length > 1 ? h("p", { class: "lesson-parts" }, ...parts) : "",
        h("p", { class: "muted" }, `${minutes} minutes${done ? ` · ${done} answered` : ""}`)));
    });
    this.element.replaceChildren(h("ol", { class: "lesson-index" }, ...cards));
  }

  open({ lesson, index }) {
    this.lesson = lesson;
    const { recorded } = this.page;
    this.progress = new Progress(lesson.place, recorded ? this.given || {} : null);
    this.terms = lesson.terms.map((term) => ({ ...term, pattern: new RegExp(`(?<![\\w])(?:${term.words})(?![\\w])`, "i") }));
    if (lesson.alone) {
      this.steps = [new PredictionStep(this, lesson.predictions[lesson.alone - 1], lesson.alone)];
      this.element.replaceChildren(this.steps[0].element);
      this.steps[0].begin();
      return;
    }
    this.part = lesson.part ? lesson.pages.find((page) => page.letter === lesson.part) : null;
    this.steps = (this.part ? [this.part] : lesson.pages).flatMap((page) => this.stepsOf(page));
    this.steps.push(new LastStep(this));
    const asked = this.steps.filter((step) => step instanceof PredictionStep || (step instanceof ExerciseStep && step.button)); // the others are Python
    this.bar = h("progress", { max: asked.length, value: 0, "aria-label": "answered" });
    this.told = h("span", { class: "muted", role: "status", "data-testid": "lesson-progress" });
    this.all = h("button", { type: "button", "data-testid": "lesson-all", onclick: () => this.showAll() }, "Show all steps");
    const again = h("button", { type: "button", hidden: recorded, "data-testid": "lesson-forget", onclick: () => this.startAgain(again) }, AGAIN);
    const print = h("button", { type: "button", onclick: () => window.print() }, "Print");
    const { title, asks } = this.part ? { title: `${lesson.title}. Part ${this.part.letter}: ${this.part.title}`, asks: this.part.asks } : lesson;
    this.element.replaceChildren(
      h("header", { class: "lesson-head" }, h("h2", { tabindex: -1 }, ...symbols(`${lesson.number}. ${title}`)), h("p", { class: "lesson-asks" }, ...symbols(asks)),
        h("p", { class: "lesson-tools" }, this.bar, this.told, this.all, again, print, recorded ? "" : h("a", { href: addressOf("index") === "?lesson=index" ? "?" : "../lesson" }, "all lessons"))),
      ...this.steps.map((step) => step.element),
      h("details", { class: "card lesson-terms" }, h("summary", {}, "Terms of this lesson"), h("ul", {}, ...lesson.terms.map((term) => h("li", {}, ...symbols(term.meaning))))),
      recorded ? "" : this.next(index),
    );
    this.update();
    for (const step of this.steps) if (step.begin) step.begin();
  }

  /** What is on a page of the lesson, in its order. */
  stepsOf(page) {
    const { scenes, predictions, exercises } = this.lesson;
    const card = scenes.card && page.opening === "opening" ? [new SceneStep(this, "card", "Before you begin")] : [];
    return [
      ...card,
      new SceneStep(this, page.opening, "Look"),
      ...page.predictions.map((k) => new PredictionStep(this, predictions[k - 1], k)),
      ...page.breaks.map((k) => new SceneStep(this, "break" + k, "Break it")),
      ...exercises.filter(({ letter }) => page.exercises.includes(letter)).map((exercise) => new ExerciseStep(this, exercise)),
    ];
  }

  /** A link to the next part or the next lesson. */
  next(index) {
    const { pages, number } = this.lesson;
    const part = this.part && pages[pages.indexOf(this.part) + 1];
    const lesson = index.find((other) => Number(other.place) > number);
    const to = part ? { place: part.place, title: `Part ${part.letter}, ${part.title}` } : lesson && { place: lesson.pages[0].place, title: lesson.title };
    if (!to) return "";
    const rest = part ? h("span", { class: "muted" }, "This part ends here, and its answers are kept in this browser: go on now or another day. ") : "";
    return h("p", { class: "lesson-next" }, rest, h("a", { href: addressOf(to.place), "data-testid": "lesson-next" }, ...symbols(`Next: ${to.title} →`)));
  }

  showAll() {
    this.progress.change((kept) => { kept.all = !kept.all; });
    this.update();
  }

  /** Forget the answers, where there are some at the second click only: they are half an hour of work. */
  startAgain(button) {
    if (!this.progress.done(this.part) || button.textContent === FORGET) {
      this.forget();
      return;
    }
    button.textContent = FORGET;
    setTimeout(() => { button.textContent = AGAIN; }, THINK);
  }

  /** Begin the lesson again, the part of it that is shown, or one prediction. */
  forget(k = null) {
    const focused = focusedIn(this.element);
    this.progress.forget(k, this.part);
    this.open(this.page.picture);
    if (focused) this.element.querySelector("h2, h3").focus(); // what had the focus is gone
  }

  /** Show the steps up to the first question without an answer. */
  update() {
    if (this.lesson.alone) return;
    const { kept } = this.progress;
    const done = this.progress.done(this.part);
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

  /** End the run that is under way. */
  stop() {
    this.page.link.do("stop", {});
  }

  /** Ask for a run; one at a time. */
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
