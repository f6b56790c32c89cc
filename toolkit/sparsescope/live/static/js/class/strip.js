// The corner of a page that belongs to a class: questions for students; for the teacher the buttons that move everybody.

import { h, setText, show } from "../dom.js";
import { embedded } from "../embedded.js";
import { Answering } from "./answering.js";
import { askForm } from "./ask.js";
import { Leading } from "./leading.js";
import { addressOf, ClassLink, placeOf } from "./link.js";

export const VERSION = "1";

class Strip {
  constructor(root, page) {
    this.fold = h("button", { type: "button", class: "primary", "aria-expanded": "false", "data-testid": "class-fold", onclick: () => this.open(this.panel.hidden) }, "Class");
    this.panel = h("section", { class: "card panel", hidden: true, "aria-label": "class", "data-testid": "class-panel" });
    this.asked = 0;
    root.append(h("style", {}, embedded("css")), h("div", { class: "strip" }, this.panel, this.fold));
    this.watch = h("button", { type: "button", hidden: true, "data-testid": "watch-run", onclick: () => this.link.say({ type: "watch", on: true }) }, "Watch the run that is shown");
    this.link = new ClassLink(page, (message) => this.take(message));
  }

  open(on) {
    show(this.panel, on);
    this.fold.setAttribute("aria-expanded", String(on));
  }

  take(message) {
    if (message.type === "class") this.student(message);
    else if (message.type === "board") this.teacher(message);
    else if (message.type === "refused") this.refuse?.(message.text);
    else if (message.type === "go") location.assign(addressOf(message.address));
    else if (message.type === "offline") setText(this.fold, "Class (away)");
  }

  student(state) {
    if (!this.answering) {
      this.answering = new Answering(this.link);
      this.refuse = (text) => this.answering.refuse(text);
      this.panel.replaceChildren(this.watch, this.answering.element);
    }
    if (this.offer(state.show)) this.open(true);
    this.answering.take(state);
    const open = this.answering.open;
    setText(this.fold, open ? `Class: ${open === 1 ? "a question" : `${open} questions`} for you` : "Class");
    if (open > this.asked) this.open(true);
    this.asked = open;
  }

  /** A run that is shown can be watched, unless it is this page's own; returns whether this is new. */
  offer({ on, mine, watching }) {
    const offered = on && !mine && !watching, fresh = offered && this.watch.hidden;
    show(this.watch, offered);
    return fresh;
  }

  teacher(state) {
    if (!this.leading) {
      const refused = h("p", { class: "refused", role: "alert" });
      this.leading = new Leading(this.link, placeOf, "Everyone to this state");
      this.facts = h("p", { class: "muted" });
      this.refuse = (text) => setText(refused, text);
      this.panel.replaceChildren(
        h("p", {}, h("a", { href: addressOf("class"), target: "_blank" }, "Open the board")), this.facts, this.leading.element, this.watch, refused,
        h("details", {}, h("summary", { "data-testid": "ask-fold" }, "Ask a question"), askForm(this.link)),
      );
    }
    this.refuse("");
    this.leading.take(state);
    this.offer(state.show);
    setText(this.facts, `${state.connected} here, ${state.running.length} running`);
    setText(this.fold, state.follow ? "Teacher: everybody follows" : "Teacher");
  }
}

export function mount({ el, page }) {
  return new Strip(el.attachShadow({ mode: "open" }), page);
}

// The page's bar leaves the name of its page here before it loads this module.
queueMicrotask(() => {
  const el = document.createElement("div");
  el.addEventListener("keydown", (event) => event.stopPropagation()); // what is typed here are no commands of the page
  document.body.append(el);
  mount({ el, page: globalThis[Symbol.for("sparsescope.page")] ?? "" });
});
