// Stands in the explorer's place before the page's own modules, and plays a recording: the same messages, no solver.

import { cut } from "../decode.js";
import { positionOf } from "../scrub.js";
import { statusAt, stretch } from "./events.js";
import { Pack, arranged, pictureAt, weightOf } from "./weights.js";

const WHOLE_RUN = 10; // that a whole run takes at speed 1
const SLOWEST_REPLAY = 2; // events a second at speed 1, at least
const CALM_FRAMES = 500; // ms between two pictures for people who want little motion
const REPLAY_SPEEDS = [0.25, 0.5, 1, 2, 4];

const NOT_RECORDED = "It was not recorded here.";
const isPlace = (value) => Array.isArray(value) && typeof value[0] === "string";

export class Player {
  constructor(header, bytes) {
    this.header = header;
    this.bytes = bytes;
    this.count = header.run.count;
    this.columns = new Map(header.run.columns.map(([name, ...place]) => [name, cut(bytes, place)]));
    this.measured = Object.fromEntries(Object.entries(header.run.measured).map(([name, place]) => [name, cut(bytes, place)]));
    this.settings = { x: "iterations", xlog: false, ylog: true, sort: "norm", ...header.settings, speed: 1 };
    this.wish = { mode: "matrix", zoom: null, row: null, at: null };
    this.stream = 0;
    this.seq = 0;
    this.sent = 0; // events that the page has
    this.playing = false;
    this.pictured = "";
    this.receive = () => {};
    this.released = () => {}; // the page looks at the newest event again
  }

  /** Messages of the page; answers come after the call, as from a server. */
  take(message) {
    const handlers = { ready: () => this.open(), set: () => this.set(message), do: () => this.do(message), ask: () => this.answer(message), layout: () => this.look(message) };
    const handler = handlers[message.type];
    if (handler) queueMicrotask(handler);
  }

  open() {
    const { header } = this;
    this.stream += 1;
    this.receive(header.problem, []);
    this.receive({ type: "controls", groups: [{ title: "Replay", controls: [this.speedControl()] }], settings: this.settings }, []);
    this.fresh(this.count);
  }

  speedControl() {
    return {
      id: "speed", kind: "steps", label: "speed", doc: `How fast the run is played. At 1 all of it takes about ${WHOLE_RUN} seconds, whatever it took.`, formula: "",
      value: this.settings.speed, choices: REPLAY_SPEEDS.map((value) => ({ value, label: value + "×", doc: "", disabled: false, reason: "" })),
      place: "bar", disabled: false, reason: "", live: true, tag: "replay-speed",
    };
  }

  // ------------------------------------------------------------------------------------------------------ commands
  set({ id, changes }) {
    Object.assign(this.settings, changes);
    this.frame(this.sent, { settings: { ...this.settings }, applied: [id] });
    this.picture();
  }

  do({ id, action, n }) {
    const acts = { run: () => this.play(), pause: () => this.pause(), step: () => this.seek(this.sent + n), reset: () => this.seek(1) };
    if (acts[action]) acts[action]();
    this.frame(this.sent, { applied: [id] });
  }

  play() {
    if (this.playing) return;
    const looked = this.wish.at === null ? this.sent : positionOf(this.wish.at, this.columns.get("index")) + 1;
    if (looked >= this.count) this.seek(1);
    else if (looked < this.sent) this.seek(looked);
    this.playing = true;
    this.due = performance.now();
    this.position = this.sent;
    this.tick();
  }

  pause() {
    this.playing = false;
    cancelAnimationFrame(this.timer);
  }

  get rate() {
    return this.settings.speed * Math.max(SLOWEST_REPLAY, this.count / WHOLE_RUN);
  }

  tick() {
    const now = performance.now();
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const waits = calm && now - this.due < CALM_FRAMES;
    if (!waits) {
      this.position = Math.min(this.count, this.position + ((now - this.due) / 1000) * this.rate);
      this.due = now;
      const to = Math.floor(this.position);
      if (to >= this.count) this.playing = false;
      if (to > this.sent) this.frame(to);
    }
    if (this.playing) this.timer = requestAnimationFrame(() => this.tick());
  }

  /** Show the first `to` events; those that the page has are not sent again. */
  seek(to) {
    const wanted = Math.max(1, Math.min(this.count, to));
    this.position = wanted;
    this.released();
    this.wish = { ...this.wish, at: null };
    if (wanted < this.sent) this.fresh(wanted);
    else this.frame(wanted);
  }

  /** Begin anew with the first `to` events. */
  fresh(to) {
    this.stream += 1;
    this.sent = 0;
    this.pictured = "";
    this.frame(to, { settings: { ...this.settings }, names: this.header.names });
  }

  // -------------------------------------------------------------------------------------------------------- frames
  base() {
    const at = Math.max(0, this.sent - 1);
    const segment = this.columns.get("segment")[at];
    this.seq += 1;
    return {
      type: "frame", seq: this.seq, stream: this.stream, epoch: 1, generation: 0, clock: 0,
      mode: this.playing ? "running" : this.sent >= this.count ? "finished" : "paused", message: "", playing: this.playing,
      rate: null, late: false, applied: [], settings: null, lam: this.header.lams[segment] ?? null, names: {}, marks: [], bounds: [],
      start: this.sent, count: 0, total: this.sent ? this.columns.get("index")[at] + 1 : 0, columns: [], raster: null, working: null,
      picture: null, strip: null, preparing: null, goal: null, status: this.sent ? statusAt(this.columns, this.measured, at) : null,
    };
  }

  /** Send the events up to `to`, and what else is to be said. */
  frame(to, more = {}) {
    const part = to > this.sent ? stretch(this.header.run, this.bytes, this.sent, to) : {};
    this.sent = Math.max(this.sent, to);
    this.receive({ ...this.base(), ...part, ...more }, [this.bytes]);
    this.picture();
  }

  /** The newest recorded weights up to the event that is looked at, if the page has not got them. */
  picture() {
    const index = this.wish.at ?? this.columns.get("index")[Math.max(0, this.sent - 1)];
    const found = pictureAt(this.header.pictures, index);
    const key = JSON.stringify([this.stream, found && found.index, this.settings.sort, this.wish]);
    if (key === this.pictured || !found) return;
    this.pictured = key;
    this.shown = found;
    const pack = new Pack();
    const picture = arranged(found, this.bytes, this.wish, this.settings.sort, (row) => this.nameOf(row), pack);
    const strip = found.words ? this.strip(found, pack) : null;
    this.receive({ ...this.base(), picture, strip }, [pack.bytes()]);
  }

  /** The features that weigh most, and the newest recorded levels beside λ: each with its own iteration. */
  strip(found, pack) {
    const packed = (part) => Object.fromEntries(Object.entries(part).map(([name, place]) => [name, isPlace(place) ? pack.add(cut(this.bytes, place).slice()) : place]));
    const none = pack.add(new Float32Array(0));
    const empty = { lam: null, gap: null, features: none, levels: none, norms: none, states: none, counts: [0, 0, 0], binned: 1, reason: NOT_RECORDED };
    const levels = pictureAt(this.header.pictures.filter((picture) => picture.strip), found.index);
    return {
      ...(levels ? packed(levels.strip) : empty), ...packed(found.words),
      iteration: levels ? levels.iteration : found.iteration, words_iteration: found.iteration, word_rows: found.nonzero,
    };
  }

  look(message) {
    const { mode, zoom, row, at } = message;
    this.wish = { mode, zoom, row, at };
    this.picture();
  }

  // ----------------------------------------------------------------------------------------------------- questions
  nameOf(row) {
    const { feature_names: names, named } = this.header.problem;
    return (names && names[row]) || this.header.names[row] || (named ? `row ${row}` : `feature ${row}`);
  }

  answer({ id, kind, row, cls, rows, true: true_, found }) {
    const said = { type: "answer", id, kind };
    const { looks = {} } = this.header;
    if (kind === "confusion" || kind === "spectrum") this.receive({ ...said, ...(looks[kind] || { error: NOT_RECORDED }) }, []);
    if (kind === "rate") this.receive({ ...said, reason: NOT_RECORDED }, []);
    if (kind === "misread") {
      const cell = (looks.misread || []).find((each) => each.true === true_ && each.found === found);
      this.receive({ ...said, ...(cell || { error: "The samples of this cell were not recorded." }) }, []);
    }
    if (kind === "names") this.receive({ ...said, rows, names: rows.map((j) => this.nameOf(j)) }, []);
    if (kind !== "value" || !this.shown) return;
    const value = weightOf(this.shown, this.bytes, row, cls);
    if (value === null) return; // not recorded: the rounded colour is all that is known
    this.receive({ ...said, row, cls, value, name: this.nameOf(row), iteration: this.shown.iteration, block: null, block_norm: null }, []);
  }
}
