// The page: puts the parts together, draws at most once in an animation frame, and only what can be seen.

import { h, setAttribute } from "./dom.js";
import { embedded } from "./embedded.js";
import { words } from "./charts/kinds.js";
import { Advice } from "./advice.js";
import { Buttons } from "./buttons.js";
import { ChartGrid } from "./charts/chartgrid.js";
import { Controls } from "./controls.js";
import { Guest } from "./guest.js";
import { Help } from "./keyboard.js";
import { heaviest, Inspector, isGone } from "./inspector.js";
import { Link } from "./link.js";
import { Messages, StatusLine } from "./status.js";
import { Names } from "./names.js";
import { Palette } from "./charts/palette.js";
import { Past } from "./past.js";
import { ProblemCard } from "./card.js";
import { Scrubber } from "./scrub.js";
import { Store } from "./store.js";
import { TimeAxis } from "./charts/timeaxis.js";
import { Tooltip } from "./charts/tooltip.js";
import { Watch } from "./watch.js";
import { Veil } from "./veil.js";
import { ViewTools } from "./viewtools.js";
import { short } from "./charts/format.js";
import { snippetButtons } from "./snippet.js";

const MOST_PINNED = 2;
const NARROW = 900; // pixels; below, settings are folded

export class Page {
  constructor(host, send, theme, options = {}) {
    this.history = options.history || null; // of the browser: {push, back}
    this.replay = options.replay || null; // a recording's player in the explorer's place
    this.host = host;
    this.root = host.attachShadow({ mode: "open" });
    this.store = new Store();
    this.palette = new Palette(theme);
    this.axis = new TimeAxis();
    this.past = new Past();
    this.noting = (changes) => {
      if (this.past.note(this.confirmed, changes, performance.now()) && this.history) this.history.push();
      Object.assign(this.confirmed, changes); // the explorer's answer may take a moment
    };
    this.link = new Link(send, this.noting);
    this.confirmed = {}; // settings as the explorer or the last change left them
    this.tooltip = new Tooltip();
    this.names = new Names(this.store, this.link, () => this.requestDraw());
    this.selected = null;
    this.ghosts = []; // pinned runs
    this.cursorAt = -1; // event under the cursor of the charts over time
    this.chosen = false;
    this.received = 0;
    this.frames = 0;
    this.paintMs = 0;
    this.lastFrame = 0;
    this.layoutSent = "";
    this.scheduled = false;
    this.destroyed = false;
    this.build(options);
  }

  build(options = {}) {
    this.status = new StatusLine(this.replay ? { running: "playing", finished: "recorded", paused: "paused" } : {});
    this.messages = new Messages();
    this.help = new Help();
    this.card = new ProblemCard(this.link, () => this.watch.start());
    this.inspector = new Inspector(this);
    this.actions = new Buttons(this.link, () => this.goBack(), this.replay !== null);
    this.scrub = new Scrubber(this);
    this.buttons = this.actions.element;
    this.controls = new Controls(this);
    this.advice = new Advice();
    this.watch = new Watch(this);
    this.viewTools = new ViewTools(this);
    this.resizer = new ResizeObserver(() => this.onResize());
    this.grid = new ChartGrid(this, this.resizer, () => {
      this.sendLayout();
      this.requestDraw();
    });
    this.veil = new Veil(this.link, this.grid.element);
    this.fold = h("details", { class: "side", open: true }, h("summary", { "data-testid": "settings-fold" }, "Data, loss, penalty, method"), this.controls.element, this.foot());
    const left = h("aside", { class: "left", "aria-label": "settings" }, this.fold);
    this.bar = h("div", { class: "bar-top", role: "region", "aria-label": "λ, run and state" }, this.controls.pinned, this.buttons, this.status.element);
    this.guest = new Guest(this);
    const main = h("div", { class: "main" }, this.messages.element, this.guest.element, this.veil.element, this.card.element, this.viewTools.element, this.grid.element, this.scrub.element);
    this.frame = h(
      "div", { class: "explorer", "data-testid": "explorer-root", tabindex: "-1" },
      h("h1", { class: "sr-only" }, "Explorer: sparse models while they are fitted"), this.bar, left, main, this.tooltip.element, this.controls.explain, this.status.live,
    );
    this.root.append(h("style", {}, embedded("css")), h("div", { class: "shell" }, this.frame), this.help.element);
    this.compact = Boolean(options.compact);
    this.frame.classList.toggle("compact", this.compact);
    if (this.compact) this.status.element.append(this.status.message); // the line that has it otherwise is not shown
    this.frame.classList.toggle("replay", this.replay !== null);
    if (this.replay) {
      this.replay.released = () => this.scrub.release();
      this.card.element.hidden = this.advice.off = true;
      const { left_out: missing } = this.replay.header;
      if (missing.length) main.append(h("p", { class: "replay-foot", "data-testid": "left-out" }, `Not recorded, because they need the data: ${missing.join(", ")}.`));
    }
    this.applyTheme();
    this.resizer.observe(this.frame);
  }

  /** The charts with whether each can be seen. */
  get charts() {
    return this.grid.entries;
  }

  onResize() {
    // what stands above the explorer (a page's head) is not free for the column that stays in sight
    if (window.scrollY === 0) this.host.style.setProperty("--above", Math.max(0, Math.min(160, this.host.getBoundingClientRect().top)) + "px");
    this.grid.resized = true;
    const narrow = this.frame.clientWidth < NARROW;
    if (narrow !== this.narrow) this.fold.open = !narrow;
    this.narrow = narrow;
    this.requestDraw();
  }

  foot() {
    const help = h("button", { type: "button", "data-testid": "help-button", title: "keys and how to read this page (?)", onclick: () => this.help.toggle() }, "Help");
    return h("div", { class: "side-foot" }, ...snippetButtons(this), help);
  }

  /** λ as a share of its largest value, from the slider or the bar: at once on the page, then for the solver. */
  setLam(ratio, byHand = true) {
    if (byHand) this.watch.stop();
    const node = this.controls.nodes.get("lam_ratio");
    if (!node || node.control.disabled) return;
    const kept = Math.min(node.control.high, Math.max(node.control.low, Number(ratio.toPrecision(4))));
    this.controls.put("lam_ratio", kept);
    this.requestDraw();
  }

  /** A control is in somebody's hand. */
  touched(id) {
    if (id === "lam_ratio") this.watch.stop();
  }

  zoomOut() {
    this.axis.setZoom(null);
    this.grid.zoomOut();
    this.requestDraw();
  }

  /** Take the last gesture back: settings as they were before it. */
  undo() {
    return this.apply(this.past.undo());
  }

  /** Make again what was taken back. */
  redo() {
    return this.apply(this.past.redo());
  }

  /** Undo by the browser's history where there is one, so that both stay in step. */
  goBack() {
    if (this.history && this.past.size) this.history.back();
    else this.undo();
  }

  /** Change settings without a new gesture; whether there was something to change. */
  apply(changes) {
    if (!changes) return false;
    this.watch.stop();
    this.link.changing = () => {};
    Object.assign(this.store.settings, changes);
    for (const [key, value] of Object.entries(changes)) this.controls.show(key, value);
    this.link.set(changes);
    this.link.changing = this.noting;
    Object.assign(this.confirmed, changes);
    this.requestDraw();
    return true;
  }

  /** Keep this run as faint lines beside those to come; the third one pushes the first out. */
  pin() {
    const { store } = this;
    if (!(store.n > 1)) return;
    const { settings } = store;
    const penalty = settings.penalty ? ` · ${settings.penalty}` : "";
    this.ghosts = [...this.ghosts, store.pinned(`${settings.solver}${penalty} · λ ${short(settings.lam_ratio, 2)}`)].slice(-MOST_PINNED);
    this.requestDraw();
  }

  look(changes) {
    this.link.set(changes);
    Object.assign(this.store.settings, changes); // seen at once; the explorer only keeps it
    this.requestDraw();
  }

  applyTheme() {
    for (const element of [this.host, this.frame]) setAttribute(element, "data-theme", this.palette.theme);
    const colours = this.palette.colours;
    for (const name of ["paper", "grid", "axis", "text", "muted", "blue", "vermillion", "green", "kept"]) {
      if (colours[name]) this.host.style.setProperty("--" + name, colours[name]);
    }
    this.grid.refresh();
  }

  setTheme(theme) {
    this.palette.setTheme(theme);
    this.applyTheme();
    this.requestDraw();
  }

  // ---------------------------------------------------------------------------------------------------- messages
  receive(header, buffers) {
    if (this.destroyed) return;
    const handlers = {
      problem: () => this.onProblem(header),
      controls: () => this.onControls(header),
      frame: () => this.onFrame(header, buffers),
      notices: () => this.messages.addNotices(header.notices),
      error: () => this.messages.showError(header.text, header.detail),
      answer: () => this.link.answer(header),
      watching: () => this.guest.take(header),
    };
    const handler = handlers[header && header.type];
    if (!handler) return; // a newer explorer may say more than this page understands
    try {
      handler();
    } catch (problem) {
      this.messages.showError("The page could not take a message: " + problem.message, problem.stack);
      if (header.type === "frame") this.link.painted(0); // keep the stream alive
    }
  }

  /** What comes next is another run: of somebody else, or the page's own again. */
  forget() {
    this.store.forget();
    this.layoutSent = "";
    this.names.asked.clear();
    this.scrub.release();
  }

  onProblem(message) {
    if (this.store.problem && message.epoch !== this.store.problem.epoch) {
      this.selected = null;
      this.chosen = false;
      this.ghosts = this.ghosts.filter((ghost) => ghost.problem.name === message.name);
      this.messages.clearError();
      this.grid.zoomOutPictures();
    }
    this.store.takeProblem(message);
    this.grid.element.dataset.kind = message.kind;
    this.palette.use(message.palette);
    this.applyTheme();
    this.grid.show(message.views, this.inspector.element);
    this.grid.measure(); // the layout below needs the height of the weights
    this.sendLayout();
    this.requestDraw();
  }

  onControls(message) {
    this.store.settings = message.settings;
    this.confirmed = { ...message.settings };
    this.controls.take(message.groups);
    this.requestDraw();
  }

  onFrame(header, buffers) {
    this.received += 1;
    this.lastFrame = performance.now();
    const epoch = this.store.epoch;
    this.link.frameArrived(header);
    this.store.takeFrame(header, buffers);
    if (header.settings) {
      this.controls.settings(header.settings);
      this.confirmed = { ...header.settings };
    }
    if (header.mode !== "error" && epoch !== header.epoch) this.messages.clearError();
    this.chooseFirst();
    this.requestDraw();
  }

  /** Tell the explorer what the weight picture needs. */
  sendLayout() {
    const wishes = this.grid.wishes();
    if (!wishes || !this.store.problem) return;
    const message = {
      rows: 200, columns: 200, zoom: null, mode: "matrix", ...wishes, row: this.selected, stream: this.store.stream, at: this.scrub.index,
    };
    const key = JSON.stringify(message);
    if (key === this.layoutSent) return;
    this.layoutSent = key;
    this.link.layout(message);
  }

  /** Until somebody chooses, the inspector shows a row that is in W. */
  chooseFirst() {
    const { picture } = this.store;
    const row = picture && (!this.chosen || (this.auto && isGone(picture, this.selected))) ? heaviest(picture) : null;
    if (row !== null) this.select(row, true);
  }

  select(row, auto = false) {
    this.chosen = true;
    this.auto = auto;
    this.selected = row;
    this.sendLayout();
    this.requestDraw();
  }

  // ----------------------------------------------------------------------------------------------------- drawing
  requestDraw() {
    if (this.scheduled || this.destroyed) return;
    this.scheduled = true;
    requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.scheduled = false;
    if (this.destroyed) return;
    const began = performance.now();
    try {
      this.drawParts();
    } catch (problem) {
      this.messages.showError("A chart could not be drawn: " + problem.message, problem.stack);
    }
    this.paintMs = performance.now() - began;
    if (this.link.owed) this.frames += 1;
    this.link.painted(this.paintMs);
  }

  drawParts() {
    const { store, axis } = this;
    this.grid.fit();
    setAttribute(this.frame, "data-mode", store.mode);
    const settings = store.settings;
    axis.configure(settings.x || "iterations", Boolean(settings.xlog));
    axis.follow(store.clock(axis.x), this.ghosts.map((ghost) => ghost.clock(axis.x)));
    const looked = this.scrub.position(store);
    if (looked >= 0) this.cursorAt = looked;
    // Pictures first: text on a canvas makes the browser lay out all that was changed before it.
    this.grid.draw((chart) => chart.canvas);
    this.viewTools.draw();
    this.status.draw(store);
    this.actions.draw(store.mode, store.playing, words(store.problem).start, this.past.size > 0, store.turbo);
    if (!this.replay) this.card.draw(store);
    this.veil.draw(store);
    this.scrub.draw(store);
    this.grid.element.classList.toggle("scrubbed", looked >= 0);
    this.watch.follow(store);
    this.advice.draw(store, this.chosen && !this.auto, this.guest.on);
    this.grid.draw((chart) => !chart.canvas);
    this.inspector.draw();
    this.sendLayout();
  }

  destroy() {
    this.destroyed = true;
    this.resizer.disconnect();
    this.grid.destroy();
    this.root.replaceChildren();
  }
}
