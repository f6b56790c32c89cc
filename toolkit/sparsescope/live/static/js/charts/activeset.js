// Which rows of W are non-zero over time, kept as intervals: from the event where a row entered to the one where it left.

const STRIDE = 7; // slot, then start and end on the three clocks
const MANY = 200000; // intervals; beyond, the ones too short to be seen are forgotten

export class ActiveSet {
  constructor() {
    this.slotOf = new Map(); // row of W -> slot, in the order of first entry
    this.rowOf = [];
    this.open = new Map(); // slot -> [start on each clock]
    this.closed = new Float64Array(STRIDE * 1024);
    this.n = 0; // closed intervals
    this.now = [0, 0, 0];
    this.first = null;
    this.version = 0;
    this.forgotten = 0; // how often intervals were thrown away: the others have other places since
  }

  get size() {
    return this.rowOf.length;
  }

  /** Take the changes of some events: counts holds (entered, left) for each, clocks their three times. */
  take(counts, entered, left, clocks) {
    let e = 0;
    let l = 0;
    for (let k = 0; k < counts.length / 2; k++) {
      const at = clocks.map((clock) => clock[k]);
      if (this.first === null) this.first = at;
      for (let i = 0; i < counts[2 * k]; i++) this.enter(entered[e++], at);
      for (let i = 0; i < counts[2 * k + 1]; i++) this.leave(left[l++], at);
      this.now = at;
    }
    this.version += 1;
    if (this.n > MANY) this.forget();
  }

  enter(row, at) {
    let slot = this.slotOf.get(row);
    if (slot === undefined) {
      slot = this.rowOf.length;
      this.slotOf.set(row, slot);
      this.rowOf.push(row);
    }
    this.open.set(slot, at);
  }

  leave(row, at) {
    const slot = this.slotOf.get(row);
    const start = this.open.get(slot);
    if (start === undefined) return;
    this.open.delete(slot);
    if (STRIDE * (this.n + 1) > this.closed.length) {
      const larger = new Float64Array(2 * this.closed.length);
      larger.set(this.closed);
      this.closed = larger;
    }
    this.closed.set([slot, start[0], at[0], start[1], at[1], start[2], at[2]], STRIDE * this.n);
    this.n += 1;
  }

  forget() {
    const shortest = (this.now[0] - (this.first ? this.first[0] : 0)) / 2000;
    let kept = 0;
    for (let k = 0; k < this.n; k++) {
      const at = STRIDE * k;
      if (this.closed[at + 2] - this.closed[at + 1] < shortest) continue;
      this.closed.copyWithin(STRIDE * kept, at, at + STRIDE);
      kept += 1;
    }
    this.n = kept;
    this.forgotten += 1;
  }

  /** Call f(slot, start, end, ended) for every interval, on clock 0 (iterations), 1 (passes) or 2 (seconds). */
  each(clock, f) {
    this.eachClosed(clock, 0, f);
    this.eachOpen(clock, f);
  }

  /** The same for the intervals that have ended, from the `first` of them on. */
  eachClosed(clock, first, f) {
    const data = this.closed;
    for (let at = STRIDE * first; at < STRIDE * this.n; at += STRIDE) f(data[at], data[at + 1 + 2 * clock], data[at + 2 + 2 * clock], true);
  }

  /** The same for those that last. */
  eachOpen(clock, f) {
    for (const [slot, start] of this.open) f(slot, start[clock], this.now[clock], false);
  }

  /** Intervals of one row, for the words of a tooltip. */
  history(row, clock) {
    const slot = this.slotOf.get(row);
    const found = [];
    if (slot !== undefined) this.each(clock, (s, start, end, ended) => s === slot && found.push([start, end, ended]));
    return found.sort((a, b) => a[0] - b[0]);
  }
}
