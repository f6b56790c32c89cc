// The x axis that all time charts share: clock, log or linear, and the zoom.

import { linearTicks, logTicks, roundUp } from "./format.js";

const TITLES = { iterations: "iterations", passes: "passes over the data", seconds: "solver time [s]", features: "features used" };

export class TimeAxis {
  constructor() {
    this.x = "iterations";
    this.log = false;
    this.zoom = null; // [low, high] in data units while somebody has zoomed
    this.range = [0, 10];
    this.version = 0;
  }

  get title() {
    return TITLES[this.x];
  }

  configure(x, log) {
    if (x === this.x && log === this.log) return;
    this.x = x;
    this.log = log;
    this.zoom = null;
    this.version += 1;
  }

  setZoom(range) {
    this.zoom = range;
    this.version += 1;
  }

  /** The end of an axis on which little has happened. Events within the first iteration get the room of one. */
  least(clock) {
    if (this.x === "seconds") return 0.02;
    return this.x === "iterations" && clock && firstPositive(clock) % 1 > 0 ? 1 : 20;
  }

  /** Follow the data. The end grows in round steps, so axes stand still most of the time. */
  follow(clock, others = []) {
    let low = 0;
    let high = this.least(clock);
    if (clock && clock.length) {
      const last = this.x === "features" ? greatest(clock) : clock[clock.length - 1];
      if (Number.isFinite(last)) high = Math.max(high, roundUp(last));
      if (this.log) low = firstPositive(clock) || high / 10;
    } else if (this.log) low = high / 10;
    for (const other of others) if (other && other.length && other[other.length - 1] > high) high = roundUp(other[other.length - 1]);
    if (this.log && !(low < high)) low = high / 10;
    const range = this.zoom || [low, high];
    if (range[0] !== this.range[0] || range[1] !== this.range[1]) {
      this.range = range;
      this.version += 1;
    }
  }

  /** Part of the way from left to right, 0 … 1 inside the range. */
  part(value) {
    const [low, high] = this.range;
    if (this.log) {
      if (!(value > 0)) return -1;
      return Math.log(value / low) / Math.log(high / low);
    }
    return (value - low) / (high - low);
  }

  /** The same ticks for every chart of this width. */
  ticks(width) {
    const wanted = Math.max(2, Math.min(8, Math.floor(width / 56)));
    return this.log ? logTicks(...this.range, wanted) : linearTicks(...this.range, wanted);
  }

  /** The value at a part of the way. */
  value(part) {
    const [low, high] = this.range;
    return this.log ? low * (high / low) ** part : low + part * (high - low);
  }
}

/** Features are counted from zero again where a new sequence begins. */
function greatest(clock) {
  let top = NaN;
  for (const value of clock) if (!(value <= top) && !Number.isNaN(value)) top = value;
  return top;
}

function firstPositive(clock) {
  for (const value of clock) if (value > 0) return value;
  return 0;
}
