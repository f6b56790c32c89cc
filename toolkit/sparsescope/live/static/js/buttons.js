// Run, pause, step, step ×10 and reset.

import { disable, h, setAttribute, setText, show } from "./dom.js";

const LIVE_WORDS = { run: "Run", on: "Run on", runs: "run", reset: "Reset" };
const REPLAY_WORDS = { run: "Play", on: "Play", runs: "play", reset: "Start" };

const TURBO_TITLE = "20 seconds at full speed; the other pages of this server are slower meanwhile, and are told";

export class Buttons {
  constructor(link, undo, replay = false) {
    this.link = link;
    this.words = replay ? REPLAY_WORDS : LIVE_WORDS;
    this.running = false;
    const button = (testid, label, title, action) =>
      h("button", { type: "button", class: "act", "data-testid": testid, title, onclick: action }, label);
    this.run = button("run-button", this.words.run, `${this.words.runs} (space)`, () => link.do("run"));
    this.run.classList.add("primary");
    this.pause = button("pause-button", "Pause", "pause (space)", () => link.do("pause"));
    this.step = button("step-button", "Step", "one iteration (.)", () => link.do("step", { n: 1 }));
    this.step10 = button("step10-button", "×10", "ten iterations (shift and .)", () => link.do("step", { n: 10 }));
    this.step10.setAttribute("aria-label", "×10: ten steps");
    this.reset = button("reset-button", this.words.reset, "start again (r)", () => link.do("reset"));
    this.replay = replay;
    this.undo = button("undo-button", "Undo", "take the last change back (u)", () => undo());
    this.undo.hidden = replay; // nothing is changed in a recording
    this.turbo = button("turbo-button", "Turbo", TURBO_TITLE, () => link.post({ type: "turbo", on: this.turbo.getAttribute("aria-pressed") !== "true" }));
    this.turbo.hidden = true; // only a server with other pages has somebody to be asked for patience
    this.element = h("div", { class: "buttons", role: "group", "aria-label": this.words.runs }, this.run, this.pause, this.step, this.step10, this.reset, this.undo, this.turbo);
  }

  toggle() {
    this.link.do(this.running ? "pause" : "run");
  }

  draw(mode, playing, start, undoable, turbo = null) {
    show(this.turbo, Boolean(turbo));
    disable(this.turbo, turbo === "taken");
    setAttribute(this.turbo, "aria-pressed", String(turbo === "mine"));
    this.turbo.classList.toggle("primary", turbo === "mine");
    disable(this.undo, !undoable);
    setAttribute(this.reset, "title", `start again from ${start} (r)`);
    this.running = playing;
    setAttribute(this.run, "aria-pressed", String(this.running));
    this.run.classList.toggle("primary", !this.running);
    this.pause.classList.toggle("primary", this.running);
    setText(this.run, mode === "finished" ? this.words.on : this.words.run);
    disable(this.run, this.running);
    disable(this.pause, !this.running);
    for (const one of [this.step, this.step10]) disable(one, this.running || mode === "loading");
    disable(this.reset, mode === "loading");
  }
}
