// What pages beside the explorer have in common: controls at the left, boxes for errors, a head and the page's own body.

import { h, setAttribute, setText } from "../dom.js";
import { embedded } from "../embedded.js";
import { Controls } from "../controls.js";
import { Link } from "../link.js";
import { Messages } from "../status.js";
import { Palette } from "../charts/palette.js";
import { Opened, recordedPage } from "./opened.js";
import { openButton, recordButton } from "../record.js";

const CARRIED = ["dataset", "loss", "penalty", "lam_ratio", "intercept", "seed", "features", "correlation", "diagonal"]; // settings that all pages know
const NARROW = 900; // pixels; below, settings are folded

/**
 * A page. `body` makes what the page draws: an object with `element`, and `draw(picture)`, called whenever a picture has
 * come, the theme or the size has changed; `begin(picture)` (once a picture), `take(message)` (all others) and `failed()` (an error
 * was shown) and `end()` if it has them.
 */
export class SimplePage {
  constructor(host, send, theme, body, options = {}) {
    this.host = host;
    this.options = options; // of the shell
    this.root = host.attachShadow({ mode: "open" });
    this.store = { settings: {} };
    this.palette = new Palette(theme);
    this.opened = new Opened(this, send);
    this.link = new Link((message) => this.opened.post(message));
    this.messages = new Messages();
    this.controls = new Controls(this);
    this.received = 0;
    this.picture = null;
    this.latencies = []; // ms from a change to its picture
    this.scheduled = false;
    this.body = body(this);
    this.head = h("p", { class: "page-doc" });
    this.title = h("h1", { class: "sr-only" });
    this.recordButton = recordButton(this);
    this.openButton = openButton(this, (file) => this.open(file));
    this.recordButton.hidden = this.openButton.hidden = true; // until the page says that it can be recorded
    this.fold = h("details", { class: "side", open: true }, h("summary", { "data-testid": "settings-fold" }, "Settings"), this.controls.element);
    this.frame = h(
      "div", { class: "explorer simple" + (options.compact ? " small" : "") + (this.recorded ? " replay" : ""), tabindex: "-1", "data-testid": "page-root" },
      this.title, h("aside", { class: "left", "aria-label": "settings" }, this.fold),
      h("div", { class: "main" }, this.messages.element, h("div", { class: "page-head" }, this.head, this.recordButton, this.openButton), this.body.element), this.controls.explain,
    );
    this.root.append(h("style", {}, embedded("css")), h("div", { class: "shell" }, this.frame));
    this.applyTheme();
    this.resizer = new ResizeObserver(() => {
      const narrow = Boolean(options.compact) || this.frame.clientWidth < NARROW;
      if (narrow !== this.narrow) this.fold.open = !narrow;
      this.narrow = narrow;
      this.requestDraw();
    });
    this.resizer.observe(this.frame);
  }

  /** Change settings: at most one change is under way, the last value of each wins. */
  set(changes) {
    Object.assign(this.store.settings, changes);
    for (const [key, value] of Object.entries(changes)) this.controls.show(key, value);
    this.link.set(changes);
  }

  touched() {}

  /** Whether a file shows this page, so that nothing can be computed anew. */
  get recorded() {
    return this.options.shell === "recording";
  }

  /** A link to another page that takes the settings along; hidden where no server has the pages. Call `renew` when they change; `also`: further settings. */
  opener(place, text, testid, also = {}) {
    const address = place === "./" ? this.options.home || place : place;
    const link = h("a", { class: "opener", "data-testid": testid, hidden: this.options.shell !== "panel" }, text);
    link.renew = () => {
      const query = new URLSearchParams(Object.entries(this.store.settings).filter(([key]) => CARRIED.includes(key)).map(([key, value]) => [key, String(value)]));
      for (const [key, value] of Object.entries(also)) query.set(key, value);
      setAttribute(link, "href", address + "?" + query);
    };
    for (const type of ["pointerenter", "pointerdown", "focus"]) link.addEventListener(type, link.renew);
    return link;
  }

  /** Show a recording of this page, as it was when it was made. */
  async open(file) {
    try {
      this.opened.show(recordedPage(await file.text(), this.name));
      this.messages.clearError();
    } catch (problem) {
      this.messages.showError(`${file.name}: ${problem.message}`, "");
    }
  }

  receive(header, buffers) {
    if (this.opened.stops(header)) return;
    const handlers = {
      page: () => this.onPage(header),
      controls: () => this.onControls(header),
      settings: () => this.onSettings(header.settings),
      picture: () => this.onPicture(header),
      notices: () => this.messages.addNotices(header.notices),
      answer: () => this.link.answer(header),
      error: () => {
        this.messages.showError(header.text, header.detail);
        if (this.body.failed) this.body.failed();
      },
    };
    const handler = handlers[header.type] || (() => this.body.take && this.body.take(header, buffers));
    try {
      handler();
    } catch (problem) {
      this.messages.showError("The page could not take a message: " + problem.message, problem.stack);
    }
  }

  onPage(message) {
    this.palette.use(message.palette);
    setText(this.head, message.doc);
    this.recordButton.hidden = !message.records || this.recorded;
    this.openButton.hidden = this.recordButton.hidden || Boolean(this.body.kept); // a lesson has its past in the browser
    this.name = message.name;
    setText(this.title, message.title);
    this.applyTheme();
  }

  onControls(message) {
    Object.assign(this.store.settings, message.settings);
    this.controls.take(message.groups);
  }

  onSettings(settings) {
    Object.assign(this.store.settings, settings);
    this.controls.settings(settings);
  }

  onPicture(message) {
    this.received += 1;
    this.picture = message;
    if (this.link.sentAt.has(message.id)) {
      this.latencies.push(performance.now() - this.link.sentAt.get(message.id));
      this.link.sentAt.clear(); // older changes were overtaken by this one
    }
    if (this.body.begin) this.body.begin(message);
    this.messages.clearError();
    this.requestDraw();
  }

  requestDraw() {
    if (this.scheduled || this.gone) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      if (this.gone || !this.picture) return;
      this.body.draw(this.picture);
    });
  }

  applyTheme() {
    for (const element of [this.host, this.frame]) setAttribute(element, "data-theme", this.palette.theme);
    for (const [name, colour] of Object.entries(this.palette.colours)) this.host.style.setProperty("--" + name, colour);
  }

  setTheme(name) {
    this.palette.setTheme(name);
    this.applyTheme();
    this.requestDraw();
  }

  destroy() {
    this.gone = true;
    if (this.body.end) this.body.end();
    this.resizer.disconnect();
  }
}

/** The face of a page's module, as the explorer has it: mount({el, send, theme, options}) -> {receive, setTheme, destroy}. */
export function mountPage(body, { el, send, theme = "light", options = {} }) {
  const host = h("div", { class: "sparsescope-host" });
  host.style.display = "block";
  if (options.height) Object.assign(host.style, { height: options.height + "px", overflow: "auto" });
  el.append(host);
  const page = new SimplePage(host, send, theme, body, options);
  const debug = { page, get settings() { return { ...page.store.settings }; }, get received() { return page.received; }, get latencies() { return page.latencies.slice(); }, get picture() { return page.picture; } };
  window.__sparsescope = debug;
  page.link.ready("1");
  return {
    receive: (header, buffers) => page.receive(header, buffers),
    setTheme: (name) => page.setTheme(name),
    destroy() {
      page.destroy();
      host.remove();
      if (window.__sparsescope === debug) delete window.__sparsescope;
    },
  };
}
