// Numbers as people read them. Widths stay calm: tabular figures and a fixed number of digits.

const THIN = "\u202f"; // narrow, and no line ends at it
const MINUS = "\u2212";
const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

export function known(value) {
  return typeof value === "number" && Number.isFinite(value);
}

/** 14203 -> "14 203" */
export function count(value) {
  if (!known(value)) return "–";
  return String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, THIN);
}

/** Iterations: 14203 -> "14 203", and within a sweep 3.25 -> "3.25", which never reaches the next one. */
export function iterations(value) {
  if (!known(value) || Number.isInteger(value)) return count(value);
  const whole = Math.floor(value);
  return count(whole) + Math.min(value - whole, 0.99).toFixed(2).slice(1);
}

/** Of which iteration a part of a picture is, where that is not the one that the status line names. */
export function ofIteration(part, store) {
  const same = store.status && store.status.iteration === part.iteration;
  return same ? "" : ` · iteration ${iterations(part.iteration)}`;
}

/** 0.000213 -> "2.1e-4": always the same number of digits. */
export function scientific(value, digits = 1) {
  if (!known(value)) return "–";
  if (value === 0) return "0";
  return value.toExponential(digits).replace("e+", "e").replace("-", MINUS).replace("e-", "e" + MINUS);
}

/** A number with this many significant digits, in plain form where that is short. */
export function number(value, digits = 5) {
  if (!known(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e7) return scientific(value, digits - 1);
  const places = size >= 1 ? Math.max(0, digits - 1 - Math.floor(Math.log10(size))) : digits;
  return value.toFixed(places).replace("-", MINUS);
}

/** Short form for sliders and lists: 0.1, 30, 2.5e-4. */
export function short(value, digits = 3) {
  if (!known(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return scientific(value, digits - 1);
  return String(Number(value.toPrecision(digits))).replace("-", MINUS);
}

export function seconds(value) {
  if (!known(value)) return "–";
  if (value < 10) return value.toFixed(2) + THIN + "s";
  return value.toFixed(1) + THIN + "s";
}

/** 10^k as text, for axes. */
export function powerOfTen(k) {
  if (k === 0) return "1";
  if (k === 1) return "10";
  return "10" + String(k).split("").map((c) => RAISED[c]).join("");
}

/** 21318 -> "21.3k": where there is little room. */
export function compact(value) {
  if (!known(value) || value < 1e4) return count(value);
  const [size, unit] = value < 1e6 ? [1e3, "k"] : value < 1e9 ? [1e6, "M"] : [1e9, "G"];
  return String(Number((value / size).toPrecision(3))) + unit;
}

export function plural(n, one, many) {
  return count(n) + " " + (n === 1 ? one : many);
}

const STEPS = [1, 1.4, 2, 3, 4, 6, 8, 10];

/** The next round number at or above value: axes that grow in steps stay still most of the time. */
export function roundUp(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of STEPS) if (step * power >= value * (1 - 1e-9)) return step * power;
  return 10 * power;
}

/** About `wanted` round ticks inside [low, high]. */
export function linearTicks(low, high, wanted) {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [];
  const raw = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw * (1 - 1e-9));
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

/** Whole decades inside [low, high] (both positive), thinned to about `wanted`; 2 and 5 between them if they are few. */
export function logTicks(low, high, wanted) {
  if (!(low > 0) || !(high > low) || !Number.isFinite(high)) return [];
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / wanted));
  const ticks = [];
  if (last - first + 1 > 2) {
    for (let k = last; k >= first; k -= step) ticks.push(10 ** k);
    return ticks.reverse();
  }
  const multiples = last - first < 0 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : [1, 2, 5];
  for (let k = first - 1; k <= last; k++) {
    for (const multiple of multiples) {
      const tick = multiple * 10 ** k;
      if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push(tick);
    }
  }
  return ticks;
}

/** The texts of an axis: powers of ten throughout where the ticks are whole decades over a long way. */
export function tickTexts(ticks) {
  const decades = ticks.map((tick) => Math.log10(tick));
  const whole = decades.every((k) => Math.abs(k - Math.round(k)) < 1e-9);
  if (ticks.length > 2 && whole && Math.round(decades[decades.length - 1] - decades[0]) > 2) {
    return decades.map((k) => powerOfTen(Math.round(k)));
  }
  return ticks.map(tickText);
}

/** The text of a tick: plain numbers where they are short, powers of ten elsewhere. */
export function tickText(value) {
  const size = Math.abs(value);
  const exponent = Math.log10(size);
  if (size !== 0 && (size < 1e-2 || size >= 1e5)) {
    if (Math.abs(exponent - Math.round(exponent)) < 1e-9) return powerOfTen(Math.round(exponent));
    return scientific(value, 0).replace("e", "·10").replace(/10(−?)(\d+)$/, (_, sign, k) => powerOfTen(Number((sign ? "-" : "") + k)));
  }
  if (size >= 10000) return Number((value / 1000).toPrecision(6)) + "k";
  return String(Number(value.toPrecision(6))).replace("-", MINUS);
}
