// What of a line was measured: points, how each hangs on the one before, and the paths that show it. Nothing here draws.

export const LOWEST = 1e-17; // what a log axis still shows: below is rounding
export const FEW = 3; // a line crosses at most this many iterations at which nothing was measured; a longer way is a bridge
export const NONE = 0; // begins a piece
export const LINE = 1; // a line leads to the point
export const BRIDGE = 2; // nothing was measured on the way to the point
const DOT = 2; // radius of a marker
const DOT_ROOM = 7; // pixels a marker needs: where points are closer, the line itself shows them

const TENTHS = []; // texts of pixels, each made once: a frame of a long run writes thousands of them
const MOST_TENTHS = 40000;

/** A pixel with one decimal, as toFixed writes it. */
export function tenth(pixel) {
  const k = Math.round(10 * pixel);
  const half = Math.abs(10 * pixel - k) > 0.499999; // where the product may have been rounded to the other side
  if (half || !(k >= 0 && k < MOST_TENTHS)) return pixel.toFixed(1);
  return TENTHS[k] || (TENTHS[k] = (k / 10).toFixed(1));
}

/** Nothing yet of the points of a column, for :func:`track`. */
export function noPoints() {
  return { x: [], y: [], at: [], link: [], dense: true, next: 0, unknown: false };
}

/**
 * The known points of a column: {x, y, at, link, dense}. `at` is the position among the events, `link` how a point hangs
 * on the one before. A piece ends where `piece(i)` changes; `shown(value, x)` says what the axes can show. `found` are the
 * points of the first events, where those have not changed: what is new is put behind them.
 */
export function track(values, clock, index, piece, shown, found = noPoints()) {
  for (let i = found.next; i < values.length; i++) {
    if (Number.isNaN(values[i]) || Number.isNaN(clock[i])) {
      found.unknown = true;
      found.dense = false;
      continue;
    }
    if (!shown(values[i], clock[i])) continue;
    const last = found.at.length ? found.at[found.at.length - 1] : -1;
    const far = found.unknown && index[i] - index[last] - 1 > FEW;
    found.link.push(last < 0 || piece(i) !== piece(last) ? NONE : far ? BRIDGE : LINE);
    found.x.push(clock[i]);
    found.y.push(values[i]);
    found.at.push(i);
    found.unknown = false;
  }
  found.next = values.length;
  return found;
}

/** Nothing yet of the paths of a line, for :func:`paths`. */
export function noPaths() {
  return { line: "", bridge: "", places: [], lastX: NaN, lastY: NaN, next: 0 };
}

/**
 * Three paths of a tracked line: {line, bridge, dots}; `px`, `py` give pixels. `begun` are the paths of the first points,
 * where those have not changed.
 */
export function paths(tracked, px, py, width, begun = noPaths()) {
  const end = tracked.x.length - 1;
  for (; begun.next < end; begun.next++) lead(begun, tracked, begun.next, px, py);
  const drawn = { ...begun, places: begun.places.slice() }; // how the last point is drawn depends on those to come
  if (end >= 0) lead(drawn, tracked, end, px, py);
  return { line: drawn.line, bridge: drawn.bridge, dots: dots(drawn.places, width) };
}

/** Lead the paths to point k. */
function lead(drawn, { x, y, link, dense }, k, px, py) {
  const end = x.length - 1;
  const a = px(x[k]);
  const b = py(y[k]);
  if (Number.isNaN(a) || Number.isNaN(b)) {
    drawn.lastX = NaN;
    return;
  }
  const alone = link[k] !== LINE && (k === end || link[k + 1] !== LINE);
  if (!dense || alone) drawn.places.push([a, b, alone]);
  const { lastX, lastY } = drawn;
  const joined = !Number.isNaN(lastX);
  // points that fall on the last one's pixel add nothing
  if (link[k] === LINE && joined && k < end && link[k + 1] === LINE && Math.abs(a - lastX) < 0.6 && Math.abs(b - lastY) < 0.6) return;
  const here = tenth(a) + "," + tenth(b);
  if (link[k] === BRIDGE && joined) drawn.bridge += `M${tenth(lastX)},${tenth(lastY)}L${here}`;
  drawn.line += (link[k] === LINE && joined ? "L" : "M") + here;
  drawn.lastX = a;
  drawn.lastY = b;
}

/** Markers where something was measured; points that stand alone always have one. */
function dots(places, width) {
  const inside = places.filter(([a]) => a >= 0 && a <= width);
  const crowded = inside.length * DOT_ROOM > width;
  return inside.filter(([, , alone]) => alone || !crowded)
    .map(([a, b]) => `M${(a - DOT).toFixed(1)},${b.toFixed(1)}a${DOT},${DOT} 0 1,0 ${2 * DOT},0a${DOT},${DOT} 0 1,0 ${-2 * DOT},0`).join("");
}

/** The points of the upper side of an area between two columns: {x, y, at}. */
export function bandPoints(low, high, clock, shown) {
  const found = { x: [], y: [], at: [] };
  for (let i = 0; i < high.length; i++) {
    if (!shown(high[i], clock[i]) || Number.isNaN(low[i])) continue;
    found.x.push(clock[i]);
    found.y.push(high[i]);
    found.at.push(i);
  }
  return found;
}

/** The area between two columns as {area, edge, x, y}; the lower side ends at `foot` pixels where it is zero. */
export function band(low, high, clock, piece, shown, px, py, foot) {
  const found = { area: "", edge: "", ...bandPoints(low, high, clock, shown) };
  let upper = [];
  let lower = [];
  const close = () => {
    if (upper.length) {
      found.edge += "M" + upper.join("L");
      found.area += "M" + upper.join("L") + "L" + lower.reverse().join("L") + "Z";
    }
    upper = [];
    lower = [];
  };
  let last = -1;
  for (const i of found.at) {
    if (last >= 0 && piece(i) !== piece(last)) close();
    last = i;
    const a = tenth(px(clock[i]));
    const under = shown(low[i], clock[i]) ? Math.min(py(low[i]), foot) : foot;
    upper.push(a + "," + tenth(py(high[i])));
    lower.push(a + "," + tenth(under));
  }
  close();
  return found;
}
