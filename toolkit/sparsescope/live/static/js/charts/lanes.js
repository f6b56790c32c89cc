// Lines of several solvers beside each other: their colours, a chart with a logarithmic axis, and labels at their ends.

import { s } from "./svg.js";
import { linearTicks, powerOfTen, short } from "./format.js";

export const LANE_COLOURS = ["blue", "vermillion", "green", "purple"];
const CHART_FLOOR = 1e-12; // a log axis has no zero; nobody knows F* better
const DIVERGED = 100; // times the first value
const LABEL_STEP = 16; // pixels between two labels
const LETTER = 7; // pixels of a letter of a label
const FARTHEST = 3 * LABEL_STEP; // from the end of a line to a place for its label that no line crosses
const CHART_EDGE = { left: 64, right: 132, top: 12, bottom: 44 };

export function laneColour(names, name) {
  return LANE_COLOURS[Math.max(names.indexOf(name), 0) % LANE_COLOURS.length];
}

/** Of lanes with one name, the runs of its seeds: thin lines, and the band between the smallest and the largest of them. */
export function seedBands(lanes) {
  const found = [];
  for (const name of new Set(lanes.map((lane) => lane.name))) {
    const own = lanes.filter((lane) => lane.name === name && lane.points.length);
    if (own.length < 2) {
      found.push(...own);
      continue;
    }
    // between two points a run stands where it was measured last, and after its end where it ended
    const places = [...new Set(own.flatMap((lane) => lane.points.map(([x]) => x)))].sort((a, b) => a - b);
    const every = Math.max(1, Math.floor(places.length / 400));
    const at = own.map(() => 0);
    const band = [];
    places.forEach((x, k) => {
      const values = own.map((lane, i) => {
        while (at[i] + 1 < lane.points.length && lane.points[at[i] + 1][0] <= x) at[i] += 1;
        return lane.points[at[i]][1];
      });
      if (k % every === 0 || k === places.length - 1) band.push([x, Math.min(...values), Math.max(...values)]);
    });
    own.forEach((lane, k) => found.push({ ...lane, thin: true, band: k ? null : band }));
  }
  return found;
}

/**
 * The nodes of a chart of measured values over a clock. `lanes`: [{name, colour, dash, points: [[x, y], …]}], y on a log
 * axis from 1e-9 on; `far`: the end of the x axis; `band`: a height below which nothing is known. Null: nothing to draw.
 */
export function logChart({ lanes, far, width, height, palette, xTitle, yTitle, band = null }) {
  const drawn = lanes.filter((lane) => lane.points.some(([, y]) => y > CHART_FLOOR));
  if (!drawn.length) return null;
  const values = drawn.flatMap((lane) => lane.points.map(([, y]) => y)).filter((y) => y > CHART_FLOOR);
  const first = drawn.reduce((most, lane) => Math.max(most, lane.points[0][1]), CHART_FLOOR);
  const most = values.reduce((a, b) => Math.max(a, b), CHART_FLOOR);
  const top = Math.ceil(Math.log10(Math.min(most, first * DIVERGED))); // a line that diverges leaves the picture
  const low = Math.max(-9, Math.floor(Math.log10(values.reduce((a, b) => Math.min(a, b), 1e-6))));
  const right = roomForLabels(width);
  const X = (x) => CHART_EDGE.left + (far > 0 ? x / far : 0) * (width - CHART_EDGE.left - right);
  const Y = (y) => CHART_EDGE.top + ((top - Math.log10(Math.max(y, 10 ** low))) / (top - low || 1)) * (height - CHART_EDGE.top - CHART_EDGE.bottom);
  const nodes = [...chartGrid(X, Y, { top, low, far, width, height, right, palette, xTitle, yTitle })];
  if (band > 10 ** low) nodes.push(s("rect", { x: CHART_EDGE.left, width: width - CHART_EDGE.left - right, y: Y(band), height: Y(10 ** low) - Y(band), fill: palette.colour("muted"), opacity: 0.18 }));
  const ends = new Map();
  const lines = [];
  for (const lane of drawn) {
    const points = lane.points.filter(([, y]) => y > CHART_FLOOR);
    lines.push(points.map(([x, y]) => [X(x), Y(y)]));
    if (lane.band) nodes.push(s("path", { d: stairs(lane.band, X, Y), fill: lane.colour, "fill-opacity": 0.16, class: "seed-band", "data-lane": lane.name }));
    nodes.push(s("path", { d: points.map(([x, y], k) => `${k ? "L" : "M"}${X(x).toFixed(1)} ${Y(y).toFixed(1)}`).join(""), fill: "none", stroke: lane.colour, "stroke-width": lane.thin ? 1 : 2, "stroke-dasharray": lane.dash, class: "race-line", "data-lane": lane.name }));
    if (lane.measured) nodes.push(dots(points.map(([x, y]) => [X(x), Y(y)]), lane.colour));
    else if (points.length <= 60) nodes.push(...points.map(([x, y]) => s("circle", { cx: X(x), cy: Y(y), r: 2, fill: lane.colour })));
    const [x, y] = points[points.length - 1];
    if (!ends.has(lane.name) || ends.get(lane.name).x < X(x)) ends.set(lane.name, { x: X(x), y: Math.max(Y(y), CHART_EDGE.top), colour: lane.colour, text: lane.name });
  }
  return { nodes: [...nodes, ...endLabels([...ends.values()], right, lines)], drawn, low: 10 ** low };
}

/** The outline of a band of steps: [x, low, high] holds until the next x. */
function stairs(band, X, Y) {
  const over = band.map(([x, , high], k) => `${k ? `H${X(x).toFixed(1)}V` : `M${X(x).toFixed(1)} `}${Y(Math.max(high, CHART_FLOOR)).toFixed(1)}`);
  const under = [...band].reverse().map(([x, low]) => `V${Y(Math.max(low, CHART_FLOOR)).toFixed(1)}H${X(x).toFixed(1)}`);
  return over.join("") + under.join("") + "Z";
}

const roomForLabels = (width) => (width < 560 ? 98 : CHART_EDGE.right);

/**
 * The same with a linear axis: values that close in on each other. Those far below the others leave the picture: dual values
 * may begin anywhere.
 */
export function closingChart({ lanes, ...options }) {
  const drawn = lanes.filter((lane) => lane.points.length);
  if (!drawn.length) return null;
  const last = drawn.map((lane) => lane.points[lane.points.length - 1][1]);
  const [best, worst] = [Math.max(...last), Math.min(...last)];
  const tops = drawn.flatMap((lane) => lane.points.map(([, y]) => y)).filter((y) => y >= best);
  const top = tops.length ? tops.sort((a, b) => a - b)[Math.floor(0.9 * (tops.length - 1))] : best;
  const span = Math.max(top - worst, 1e-12 * Math.abs(top)) || 1;
  return linearChart({ lanes: drawn, low: worst - 0.6 * span, high: top, room: 0.05 * span, ...options });
}

/** Measured values on a linear axis from `low` to `high`, with a little `room` above. */
export function linearChart({ lanes, far, low, high, room = 0, width, height, palette, xTitle, yTitle, tick = (y) => short(y, 4) }) {
  const drawn = lanes.filter((lane) => lane.points.length);
  if (!drawn.length) return null;
  const right = roomForLabels(width);
  const X = (x) => CHART_EDGE.left + (far > 0 ? x / far : 0) * (width - CHART_EDGE.left - right);
  const Y = (y) => CHART_EDGE.top + ((high + room - y) / (high + room - low || 1)) * (height - CHART_EDGE.top - CHART_EDGE.bottom);
  const { line, text } = drawing(palette);
  const nodes = [s("clipPath", { id: "closing-clip" }, s("rect", { x: CHART_EDGE.left - 4, y: CHART_EDGE.top - 4, width: width - CHART_EDGE.left - right + 8, height: height - CHART_EDGE.top - CHART_EDGE.bottom + 4 }))];
  for (const y of linearTicks(low, high, 5)) nodes.push(line({ x1: CHART_EDGE.left, x2: width - right, y1: Y(y), y2: Y(y) }), text({ x: CHART_EDGE.left - 8, y: Y(y) + 4, "text-anchor": "end" }, tick(y)));
  nodes.push(...clockAxis(X, { far, width, height, right, palette, xTitle, yTitle }));
  const inside = s("g", { "clip-path": "url(#closing-clip)" });
  const ends = new Map();
  const lines = [];
  for (const lane of drawn) {
    const places = lane.points.map(([x, y]) => [X(x), Math.min(Y(y), 4 * height)]);
    inside.append(
      s("path", { d: places.map(([x, y], k) => `${k ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join(""), fill: "none", stroke: lane.colour, "stroke-width": lane.thin ? 0.8 : 1.2, "stroke-dasharray": lane.dash, class: "closing-line", "data-lane": lane.name }),
      dots(places, lane.colour, lane.thin ? 3 : 4),
    );
    lines.push(places);
    const [x, y] = places[places.length - 1];
    if (!ends.has(lane.name) || ends.get(lane.name).x < x) ends.set(lane.name, { x, y: Math.min(y, height - CHART_EDGE.bottom), colour: lane.colour, text: lane.name });
  }
  return { nodes: [...nodes, inside, ...endLabels([...ends.values()], right, lines)], drawn };
}

const drawing = (palette) => ({
  line: (attributes) => s("line", { stroke: palette.colour("grid"), ...attributes }),
  text: (attributes, words) => s("text", { fill: palette.colour("muted"), "font-size": 11, ...attributes }, words),
});

/** Dots at measured points, as one element. */
export function dots(places, colour, size = 4) {
  return s("path", { d: places.map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join(""), fill: "none", stroke: colour, "stroke-width": size, "stroke-linecap": "round", class: "lane-dots" });
}

function* chartGrid(X, Y, { top, low, far, width, height, right, palette, xTitle, yTitle }) {
  const { line, text } = drawing(palette);
  const every = Math.max(1, Math.ceil((top - low) / (height < 280 ? 5 : 8)));
  for (let k = top; k >= low; k -= every) {
    yield line({ x1: CHART_EDGE.left, x2: width - right, y1: Y(10 ** k), y2: Y(10 ** k) });
    yield text({ x: CHART_EDGE.left - 8, y: Y(10 ** k) + 4, "text-anchor": "end" }, powerOfTen(k));
  }
  yield* clockAxis(X, { far, width, height, right, palette, xTitle, yTitle });
}

/** The axis of the clock, and what both axes mean. */
function* clockAxis(X, { far, width, height, right, palette, xTitle, yTitle }) {
  const { line, text } = drawing(palette);
  for (const x of linearTicks(0, far, Math.max(2, Math.floor(width / 140)))) {
    yield line({ x1: X(x), x2: X(x), y1: CHART_EDGE.top, y2: height - CHART_EDGE.bottom });
    yield text({ x: X(x), y: height - CHART_EDGE.bottom + 16, "text-anchor": "middle" }, short(x));
  }
  yield text({ x: (CHART_EDGE.left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, xTitle);
  yield text({ x: 14, y: (CHART_EDGE.top + height - CHART_EDGE.bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 14 ${(CHART_EDGE.top + height - CHART_EDGE.bottom) / 2})` }, yTitle);
}

/**
 * Labels at the ends of lines, moved to the nearest place where no two overlap and, where there is one, no line passes.
 * `lines`: [[[x, y], …], …] in pixels.
 */
export function endLabels(ends, wide, lines = []) {
  const placed = [];
  return ends.sort((a, b) => b.y - a.y).map((end) => {
    const heights = lines.flatMap((places) => heightsWithin(places, end.x + 6, end.x + 6 + LETTER * end.text.length));
    const apart = (y) => y >= LABEL_STEP - 4 && !placed.some((other) => Math.abs(other.x - end.x) < wide && Math.abs(other.y - y) < LABEL_STEP - 2);
    // The lowest is placed first: of two lines that end together the upper one has the upper name.
    const above = (y) => !placed.some((other) => Math.abs(other.x - end.x) < wide && other.y < y);
    const clear = (y) => apart(y) && above(y) && !heights.some(([high, low]) => low > y - LABEL_STEP + 4 && high < y + 3);
    const nearest = (free) => {
      let y = end.y + 4;
      for (let k = 1; k < 80 && !free(y); k++) y += (k % 2 ? -k : k) * (LABEL_STEP / 2); // up, down, further up, …
      return y;
    };
    const wished = nearest(clear);
    const y = Math.abs(wished - end.y) <= FARTHEST ? wished : nearest(apart);
    placed.push({ x: end.x, y });
    return s("text", { x: end.x + 6, y, fill: end.colour, "font-size": 12, "font-weight": 600, class: "race-label" }, end.text);
  });
}

/** The heights over which the pieces of a line pass between two x: [[high, low], …]. */
function heightsWithin(places, from, to) {
  const found = [];
  for (let k = 1; k < places.length; k++) {
    const [[x0, y0], [x1, y1]] = [places[k - 1], places[k]];
    if (x1 < from || x0 > to) continue;
    const at = (x) => (x1 > x0 ? y0 + ((y1 - y0) * (Math.min(Math.max(x, x0), x1) - x0)) / (x1 - x0) : y0);
    const [a, b] = x1 > x0 ? [at(from), at(to)] : [y0, y1];
    found.push([Math.min(a, b), Math.max(a, b)]);
  }
  return found;
}
