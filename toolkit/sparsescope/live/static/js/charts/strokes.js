// What of a line was measured: points, how each hangs on the one before, and the paths that show it. Nothing here draws.

export const LOWEST = 1e-17; // what a log axis still shows: below is rounding
export const FEW = 3; // a line crosses at most so many iterations at which nothing was measured; a longer way is a bridge
export const NONE = 0; // begins a piece
export const LINE = 1; // a line leads to the point
export const BRIDGE = 2; // nothing was measured on the way to the point
const DOT = 2; // radius of a marker
const DOT_ROOM = 7; // pixels a marker needs: where points are closer, the line itself shows them

/**
 * The known points of a column: {x, y, at, link, dense}. `at` is the position among the events, `link` how a point hangs
 * on the one before. A piece ends where `piece(i)` changes; `shown(value, x)` says what the axes can show.
 */
export function track(values, clock, index, piece, shown) {
  const found = { x: [], y: [], at: [], link: [], dense: true };
  let last = -1; // position of the last point
  let unknown = false; // whether an event without a value came after it
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i]) || Number.isNaN(clock[i])) {
      unknown = true;
      found.dense = false;
      continue;
    }
    if (!shown(values[i], clock[i])) continue;
    const far = unknown && index[i] - index[last] - 1 > FEW;
    found.link.push(last < 0 || piece(i) !== piece(last) ? NONE : far ? BRIDGE : LINE);
    found.x.push(clock[i]);
    found.y.push(values[i]);
    found.at.push(i);
    last = i;
    unknown = false;
  }
  return found;
}

/** Three paths of a tracked line: {line, bridge, dots}; `px`, `py` give pixels. */
export function paths(tracked, px, py, width) {
  const { x, y, link, dense } = tracked;
  const line = [];
  const bridge = [];
  const places = [];
  let lastX = NaN;
  let lastY = NaN;
  const end = x.length - 1;
  for (let k = 0; k <= end; k++) {
    const a = px(x[k]);
    const b = py(y[k]);
    if (Number.isNaN(a) || Number.isNaN(b)) {
      lastX = NaN;
      continue;
    }
    const here = a.toFixed(1) + "," + b.toFixed(1);
    const alone = link[k] !== LINE && (k === end || link[k + 1] !== LINE);
    if (!dense || alone) places.push([a, b, alone]);
    const joined = !Number.isNaN(lastX);
    if (link[k] === BRIDGE && joined) bridge.push(`M${lastX.toFixed(1)},${lastY.toFixed(1)}L${here}`);
    // points that fall on the last one's pixel add nothing
    if (link[k] === LINE && joined && k < end && link[k + 1] === LINE && Math.abs(a - lastX) < 0.6 && Math.abs(b - lastY) < 0.6) continue;
    line.push((link[k] === LINE && joined ? "L" : "M") + here);
    lastX = a;
    lastY = b;
  }
  return { line: line.join(""), bridge: bridge.join(""), dots: dots(places, width) };
}

/** Markers where something was measured; points that stand alone always have one. */
function dots(places, width) {
  const inside = places.filter(([a]) => a >= 0 && a <= width);
  const crowded = inside.length * DOT_ROOM > width;
  return inside.filter(([, , alone]) => alone || !crowded)
    .map(([a, b]) => `M${(a - DOT).toFixed(1)},${b.toFixed(1)}a${DOT},${DOT} 0 1,0 ${2 * DOT},0a${DOT},${DOT} 0 1,0 ${-2 * DOT},0`).join("");
}

/** The area between two columns as {area, edge, x, y}; the lower side ends at `foot` pixels where it is zero. */
export function band(low, high, clock, piece, shown, px, py, foot) {
  const found = { area: "", edge: "", x: [], y: [], at: [] };
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
  for (let i = 0; i < high.length; i++) {
    if (!shown(high[i], clock[i]) || Number.isNaN(low[i])) continue;
    if (last >= 0 && piece(i) !== piece(last)) close();
    last = i;
    const a = px(clock[i]);
    const under = shown(low[i], clock[i]) ? Math.min(py(low[i]), foot) : foot;
    found.x.push(clock[i]);
    found.y.push(high[i]);
    found.at.push(i);
    upper.push(a.toFixed(1) + "," + py(high[i]).toFixed(1));
    lower.push(a.toFixed(1) + "," + under.toFixed(1));
  }
  close();
  return found;
}
