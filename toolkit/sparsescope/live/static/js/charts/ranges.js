// Ranges of value axes, and where a line leaves them.

import { linearTicks, roundUp } from "./format.js";

/** The last value of a line at or before x = high: where it leaves the view. NaN if it is not in view at all. */
export function lastInView(line, high) {
  for (let i = line.x.length - 1; i >= 0; i--) if (line.x[i] <= high) return line.y[i];
  return NaN;
}

/** Whole decades around the values of a log axis. */
export function decades([low, high]) {
  if (!(low > 0) || !Number.isFinite(high)) return [1e-3, 1];
  // in steps of three decades, so that a converging run moves its axis five times and not fifteen
  const bottom = 10 ** (3 * Math.floor((Math.log10(low) - 0.02) / 3));
  let top = 10 ** Math.ceil(Math.log10(high) + 0.02);
  if (top / bottom < 99) top = bottom * 100;
  return [bottom, top];
}

/** Around the values of a log axis whose values lie close together: to 1, 2 or 5 times a power of ten. */
export function steps([low, high]) {
  if (!(low > 0) || !Number.isFinite(high)) return [1, 100];
  const grid = (value, up) => {
    const power = 10 ** Math.floor(Math.log10(value) + 1e-12);
    const at = [1, 2, 5, 10].map((k) => k * power);
    return up ? at.find((v) => v >= value * 1.02) || 20 * power : at.reverse().find((v) => v <= value / 1.02) || power / 2;
  };
  const [bottom, top] = [grid(low, false), grid(high, true)];
  return top / bottom < 4 ? [bottom / 2, top] : [bottom, top];
}

/** A range of shares from a round value below the lowest up to 1, with a little air. */
export function shares([low]) {
  if (!Number.isFinite(low)) return [0, 1.02];
  const bottom = Math.max(0, Math.min(0.9, Math.floor(low * 20 - 0.4) / 20));
  return [bottom, 1 + 0.02 * (1 - bottom)];
}

/** A round range of a linear axis; it starts at 0 unless the values are far from it. */
export function span([low, high]) {
  if (!Number.isFinite(low)) return [0, 1];
  const top = roundUp(Math.max(high, 1e-300));
  const bottom = low < 0 ? -roundUp(-low) : low > 0.6 * top ? linearTicks(0, low, 5).pop() || 0 : 0;
  return [bottom, top];
}

/** A range for a value that falls and a bound that rises to it: all values, and the bounds that are near them. */
export function between(values, bounds) {
  const inside = (list) => list.filter((v) => Number.isFinite(v));
  const upper = inside(values);
  const lower = inside(bounds);
  if (!upper.length) return [0, 1];
  const top = [...upper, ...lower].reduce((a, b) => Math.max(a, b)); // under a budget the bound may be above
  const least = upper.reduce((a, b) => Math.min(a, b));
  const reach = lower.length ? Math.min(least, lower.reduce((a, b) => Math.max(a, b))) : least;
  const width = Math.max(top - reach, 1e-12 * Math.abs(top)) || 1; // nothing but zeros: any range that can be drawn
  const low = lower.length ? Math.max(lower.reduce((a, b) => Math.min(a, b)), reach - 1.5 * width) : least;
  const bottom = Math.min(low, least);
  const pad = 0.05 * (top - bottom || width);
  return [bottom - pad, top + pad];
}
