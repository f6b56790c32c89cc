// What the page knows of the run: columns of events, marks, the active set, the newest status and weight picture.
// Nothing here draws.

import { alignedBytes, cut } from "./decode.js";
import { ActiveSet } from "./charts/activeset.js";
import { stageEnds } from "./charts/stages.js";
import { mergeTexts } from "./charts/marks.js";
import { keepEvents } from "./charts/thinning.js";

const LIMIT = 2000; // events kept; thinning starts at a quarter more
const GESTURE = 1; // seconds between two changes of λ that are parts of one gesture
const OF_BOUNDS = ["known_excess", "least_excess", "most_excess"]; // quantities that every better bound changes
const PERCENT = "100*"; // before the name of a column: the share in percent
const CLOCKS = { iterations: "iteration", passes: "passes", seconds: "seconds" };

export class Store {
  constructor() {
    this.problem = null;
    this.settings = {};
    this.mode = "loading";
    this.message = "";
    this.playing = false; // runs, or will as soon as loading and compiling are done
    this.rate = null;
    this.late = false;
    this.turbo = null; // who has every other turn of a shared server: "free", "mine", "taken"
    this.preparing = null; // {text, shown, cancel} while another problem is on its way
    this.away = ""; // why somebody else's run rests that is shown here
    this.goal = null; // relative gap at which the run is done, if that is its goal
    this.names = new Map();
    this.stream = -1;
    this.version = 0; // grows with every change, so that charts know whether to draw
    this.rewritten = 0; // grows where events are no longer what they were: until then new ones only follow them
    this.reset(0);
  }

  reset(epoch) {
    this.epoch = epoch;
    this.n = 0;
    this.total = 0;
    this.columns = new Map();
    this.capacity = 0;
    this.best = [];
    this.lower = [];
    this.optima = []; // [lower, upper] of F* from a reference, by segment
    this.marks = [];
    this.status = null;
    this.picture = null;
    this.strip = null; // levels of features beside λ
    this.lam = null;
    this.steps = null; // of a sequence of models: what its steps are called
    this.active = new ActiveSet(); // rows of W that are non-zero
    this.inWorking = 0; // how many of them there are now
    this.working = new ActiveSet(); // rows that the solver works on; none: it works on all
    this.version += 1;
    this.rewritten += 1;
  }

  /** Nothing is known any more: another run is shown from now on. */
  forget() {
    if (this.problem) this.problem = { ...this.problem, epoch: -1 };
    this.stream = -1;
    this.preparing = null;
    this.reset(-1);
  }

  takeProblem(message) {
    const other = !this.problem || message.epoch !== this.problem.epoch;
    this.problem = message;
    this.rewritten += 1; // shares are those of its sizes
    if (other) {
      this.names = new Map();
      this.picture = null; // of another problem
      this.strip = null;
    }
    this.version += 1;
  }

  takeFrame(header, buffers) {
    if (header.anew || header.epoch !== this.epoch || header.stream !== this.stream) {
      this.stream = header.stream;
      this.reset(header.epoch);
    }
    const bytes = alignedBytes(buffers);
    this.mode = header.mode;
    this.message = header.message;
    this.playing = header.playing;
    this.rate = header.rate;
    this.late = header.late;
    this.turbo = header.turbo || null;
    this.preparing = header.preparing || null;
    this.goal = header.goal ?? null;
    if (header.settings) this.settings = header.settings;
    if (header.lam !== null) this.lam = header.lam;
    for (const [row, name] of Object.entries(header.names)) this.names.set(Number(row), name);
    for (const mark of header.marks) addMark(this.marks, mark);
    if (header.count) {
      this.append(header, bytes);
    }
    for (const [segment, best, lower, ...optimum] of header.bounds) {
      [this.best[segment], this.lower[segment]] = [best, lower];
      this.optima[segment] = typeof optimum[0] === "number" ? optimum : null;
    }
    this.total = header.total;
    if (header.status) this.status = header.status;
    if (header.picture) this.takePicture(header.picture, bytes);
    if (header.strip) this.strip = taken(header.strip, bytes, this.strip);
    this.version += 1;
  }

  append(header, bytes) {
    const before = this.n;
    this.grow(before + header.count);
    for (const [name, ...place] of header.columns) {
      let column = this.columns.get(name);
      if (!column) {
        column = new Float64Array(this.capacity).fill(NaN);
        this.columns.set(name, column);
      }
      column.set(cut(bytes, place), before);
    }
    this.n = before + header.count;
    const clocks = Object.values(CLOCKS).map((name) => this.columns.get(name).subarray(before, this.n));
    const none = new Int32Array(2 * header.count); // no changes, but time goes on
    for (const [rows, part] of [[this.active, header.raster], [this.working, header.working]]) {
      if (part) rows.take(cut(bytes, part.counts), cut(bytes, part.entered), cut(bytes, part.left), clocks);
      else rows.take(none, none, none, clocks);
    }
    this.countWorking(before, header.working ? cut(bytes, header.working.counts) : none);
    if (this.n > LIMIT * 1.25) this.thin();
  }

  /** The size of the working set after each new event, as a column; none (NaN) where the solver works on all rows. */
  countWorking(before, counts) {
    if (!this.columns.has("working_rows")) this.columns.set("working_rows", new Float64Array(this.capacity).fill(NaN));
    const column = this.columns.get("working_rows");
    for (let k = 0; k < counts.length / 2; k++) {
      this.inWorking += counts[2 * k] - counts[2 * k + 1];
      column[before + k] = this.inWorking || NaN;
    }
  }

  grow(needed) {
    if (needed <= this.capacity) return;
    this.capacity = Math.max(needed, 2 * this.capacity, 512);
    for (const [name, old] of this.columns) {
      const column = new Float64Array(this.capacity).fill(NaN);
      column.set(old.subarray(0, this.n));
      this.columns.set(name, column);
    }
  }

  thin() {
    const columns = ["relative_gap", "train_accuracy"].map((name) => this.columns.get(name)).filter(Boolean);
    const known = (i) => columns.some((column) => !Number.isNaN(column[i]));
    const index = this.columns.get("index");
    const keep = keepEvents(index.subarray(0, this.n), LIMIT, known, this.marks.map((mark) => mark.index));
    for (const column of this.columns.values()) {
      for (let k = 0; k < keep.length; k++) column[k] = column[keep[k]];
      column.fill(NaN, keep.length, this.n);
    }
    this.n = keep.length;
    this.rewritten += 1;
  }

  takePicture(picture, bytes) {
    if (picture.steps) this.steps = picture.steps;
    this.picture = taken(picture, bytes, this.picture);
  }

  column(name) {
    const column = this.columns.get(name);
    return column ? column.subarray(0, this.n) : null;
  }

  clock(x) {
    return this.column(x === "features" ? "features" : CLOCKS[x] || "iteration");
  }

  /** The position of a mark on a clock. */
  markAt(mark, x) {
    if (x === "features") {
      const index = this.column("index");
      let at = this.n - 1;
      while (at > 0 && index[at] >= mark.index) at -= 1;
      return this.n ? this.clock(x)[at] : NaN;
    }
    return mark[CLOCKS[x] || "iteration"];
  }

  /** Where steps of a sequence of models end, and what each of them is: [{at, number, text, features, used}]. */
  stageEnds() {
    const features = this.column("features");
    if (!features || !this.problem || this.problem.kind !== "sequence") return [];
    const key = this.version;
    if (!this.ends || this.endsVersion !== key) this.ends = stageEnds(features, this.column("iteration"), this.steps);
    this.endsVersion = key;
    return this.ends;
  }

  /** Whether the values of a quantity at earlier events stay what they are. */
  grows(name) {
    return !OF_BOUNDS.includes(name);
  }

  /** Values of a quantity, with those that are derived here. */
  values(name) {
    if (name === "known_excess") return this.knownExcess();
    if (name === "least_excess" || name === "most_excess") return this.excess(name === "least_excess" ? this.best : this.lower);
    if (name === "nonzero_percent" || name === "working_percent") {
      const rows = this.column(name === "nonzero_percent" ? "nonzero_rows" : "working_rows");
      const d = this.problem ? this.problem.d : NaN;
      return rows ? rows.map((value) => (100 * value) / d) : null;
    }
    if (name === "train_error" || name === "test_error") {
      const measure = this.problem && this.problem.multilabel ? "_precision_at_1" : "_accuracy";
      const right = this.column(name.replace("_error", measure));
      return right ? right.map((value) => 100 * (1 - value)) : null;
    }
    if (name.startsWith(PERCENT)) {
      const share = this.column(name.slice(PERCENT.length));
      return share ? share.map((value) => 100 * value) : null;
    }
    if (name === "dual_percent") {
      const entries = this.column("dual_entries");
      const whole = this.problem ? this.problem.m - 1 : NaN;
      return entries ? entries.map((value) => (100 * value) / whole) : null;
    }
    if (name === "working_entries") return this.column("working_set");
    if (name === "used_entries") {
      const entries = this.column("nonzero_entries");
      return entries && this.problem ? entries.map((value) => (value + this.problem.d) / 2) : null;
    }
    if (name === "weights_per_feature") {
      const entries = this.column("nonzero_entries");
      const d = this.problem ? this.problem.d : NaN;
      return entries ? entries.map((value) => value / d) : null;
    }
    return this.column(name);
  }

  /**
   * (F − bound)/|F| at each event, for a bound of F* in each segment: the smallest objective seen or the largest
   * certified lower bound. The relative gap has the same denominator, so no bound lies under what it bounds.
   */
  excess(bounds) {
    const objective = this.column("objective");
    const segment = this.column("segment");
    if (!objective || !segment) return null;
    return objective.map((value, i) => {
      const bound = bounds[segment[i]];
      return typeof bound === "number" ? Math.max(0, value - bound) / this.scale(value) : NaN;
    });
  }

  /** (F − F*)/|F| where a reference gives F*; what is nearer to it than the reference's own gap is not known. */
  knownExcess() {
    const objective = this.column("objective");
    const segment = this.column("segment");
    if (!objective || !segment || !this.optima.some(Boolean)) return null;
    return objective.map((value, i) => {
      const [lower, upper] = this.optima[segment[i]] || [NaN, NaN];
      return value - upper > upper - lower ? (value - upper) / this.scale(value) : NaN;
    });
  }

  /** The proved (F − F*)/|F| of the newest weights at most; NaN without a certificate. */
  proved() {
    const { status } = this;
    const lower = status ? this.lower[status.segment] : null;
    if (typeof lower !== "number" || typeof status.objective !== "number") return NaN;
    if (typeof status.excess === "number") return typeof status.relative_gap === "number" ? status.relative_gap : NaN; // a budget
    // certificates are sums in double precision: no smaller gap than their rounding is proved
    const rounding = (this.problem && this.problem.rounding_gap) || 0;
    return Math.max((status.objective - lower) / this.scale(status.objective), rounding);
  }

  /** What differences to this objective are divided by: |F|, and no less than what the problem's kind asks for. */
  scale(objective) {
    return Math.max(Math.abs(objective), (this.problem && this.problem.least_scale) || 0) || 1;
  }

  /** This run as it is now, for comparison: columns that do not move any more. */
  pinned(name) {
    const ghost = new Store();
    Object.assign(ghost, { n: this.n, problem: this.problem, best: this.best.slice(), lower: this.lower.slice(), optima: this.optima.slice(), name });
    for (const [column] of this.columns) ghost.columns.set(column, this.column(column).slice());
    return ghost;
  }

  featureName(row) {
    const names = this.problem && this.problem.feature_names;
    if (names && row < names.length) return names[row];
    if (this.names.has(row)) return this.names.get(row);
    return this.problem && this.problem.named ? null : "feature " + row;
  }
}

/** A part of a frame with its arrays, and a version that grows from `before` on. */
function taken(part, bytes, before) {
  const arrays = Object.entries(part).filter(([, place]) => Array.isArray(place) && typeof place[0] === "string");
  return { ...part, ...Object.fromEntries(arrays.map(([name, place]) => [name, cut(bytes, place).slice()])), version: (before ? before.version : 0) + 1 };
}

/** Add a mark; a change of λ that goes on with the gesture of the last one takes its place. */
export function addMark(marks, mark) {
  const last = marks[marks.length - 1];
  const goesOn = last && mark.kind === "lam" && last.kind === "lam" && mark.clock > 0 && mark.clock - last.clock < GESTURE;
  if (goesOn) marks[marks.length - 1] = { ...mark, text: mergeTexts(last.text, mark.text) };
  else marks.push(mark);
}
