// Pictures of lessons: lines, bars, maps of weights and tables, as lessons/pictures.py makes them.

import { h, plainSymbols, symbols } from "../../dom.js";
import { levelled, lowered, s, DASHES } from "../../charts/svg.js";
import { known, linearTicks, number, powerOfTen, short } from "../../charts/format.js";

const COLOURS = ["blue", "vermillion", "green", "purple", "ink"];
const DASH = ["solid", "dash", "dot", "dashdot", "longdash"];
const ROOM = { left: 56, right: 12, top: 10, bottom: 40 };
const HIGH = 240;

/** The elements of a picture; `wide`: pixels that there are. */
export function drawPicture(palette, picture, wide) {
  const draw = { lines: drawLines, bars: drawBars, maps: drawMaps, table: drawTable }[picture && picture.draw];
  return draw ? draw(palette, picture, Math.max(260, wide)) : [];
}

function drawLines(palette, picture, wide) {
  const all = picture.lines.flatMap((line) => line.x.map((x, k) => [x, line.y[k]])).filter(([x, y]) => known(x) && known(y));
  if (!all.length) return [h("p", { class: "muted" }, "The line begins with the first numbers.")];
  const f = picture.log ? Math.log10 : (y) => y;
  const ys = [...all.map(([, y]) => f(y)), ...picture.marks.map((mark) => f(mark.y)).filter(known)];
  let [low, high] = [Math.min(...ys), Math.max(...ys)];
  if (picture.log) [low, high] = [Math.floor(low), Math.max(Math.ceil(high), Math.floor(low) + 1)];
  else if (low > 0 && low < 0.5 * high) low = 0;
  if (high === low) high = low + (Math.abs(low) || 1);
  const xs = all.map(([x]) => x);
  const [from, to] = [Math.min(...xs), Math.max(...xs, Math.min(...xs) + 1e-9)];
  const X = (x) => ROOM.left + ((x - from) / (to - from)) * (wide - ROOM.left - ROOM.right);
  const Y = (y) => ROOM.top + ((high - f(y)) / (high - low)) * (HIGH - ROOM.top - ROOM.bottom);
  const c = (name) => palette.colour(name);
  const text = (attributes, words) => s("text", { fill: c("muted"), "font-size": 11, ...attributes }, ...levelled(symbols(words, lowered)));
  const nodes = [];
  const ticks = picture.log ? decades(low, high) : linearTicks(low, high, 5);
  for (const t of ticks) {
    const y = Y(picture.log ? 10 ** t : t);
    nodes.push(s("line", { x1: ROOM.left, x2: wide - ROOM.right, y1: y, y2: y, stroke: c("grid") }), text({ x: ROOM.left - 6, y: y + 4, "text-anchor": "end" }, picture.log ? powerOfTen(t) : short(t)));
  }
  for (const t of linearTicks(from, to, Math.max(3, Math.floor(wide / 120)))) nodes.push(text({ x: X(t), y: HIGH - ROOM.bottom + 15, "text-anchor": "middle" }, short(t)));
  nodes.push(text({ x: (ROOM.left + wide) / 2, y: HIGH - 6, "text-anchor": "middle" }, picture.x));
  for (const mark of picture.marks) {
    if (!known(mark.y)) continue;
    nodes.push(s("line", { x1: ROOM.left, x2: wide - ROOM.right, y1: Y(mark.y), y2: Y(mark.y), stroke: c("muted"), "stroke-dasharray": "2 3" }), text({ x: wide - ROOM.right, y: Y(mark.y) - 4, "text-anchor": "end" }, mark.name));
  }
  picture.lines.forEach((line, k) => {
    const points = line.x.map((x, i) => [x, line.y[i]]).filter(([x, y]) => known(x) && known(y));
    if (!points.length) return;
    nodes.push(s("path", { d: points.map(([x, y], i) => `${i ? "L" : "M"}${X(x).toFixed(1)} ${Y(y).toFixed(1)}`).join(""), fill: "none", stroke: c(COLOURS[k % COLOURS.length]), "stroke-width": 2, "stroke-dasharray": DASHES[DASH[k % DASH.length]], class: "lesson-line" }));
    const [x, y] = points[points.length - 1];
    nodes.push(s("circle", { cx: X(x), cy: Y(y), r: 3, fill: c(COLOURS[k % COLOURS.length]) }));
  });
  const said = plainSymbols(`${picture.y} over ${picture.x}. ` + picture.lines.filter((line) => line.y.length).map((line) => `${line.name}: from ${number(line.y[0], 3)} to ${number(line.y[line.y.length - 1], 3)}`).join("; "));
  const svg = s("svg", { viewBox: `0 0 ${wide} ${HIGH}`, width: "100%", role: "img", "aria-label": said }, ...nodes);
  const legend = h("p", { class: "lesson-legend" }, ...picture.lines.map((line, k) => h("span", {}, lineKey(c(COLOURS[k % COLOURS.length]), DASH[k % DASH.length]), h("span", {}, ...symbols(line.name)))));
  return [h("p", { class: "lesson-axis" }, ...symbols(picture.y)), svg, legend];
}

function decades(low, high) {
  const every = Math.max(1, Math.ceil((high - low) / 6));
  return Array.from({ length: Math.floor((high - low) / every) + 1 }, (_, k) => low + k * every);
}

/** A piece of a line for legends. */
export function lineKey(colour, dash) {
  return s("svg", { width: 26, height: 10, "aria-hidden": "true" }, s("line", { x1: 1, x2: 25, y1: 5, y2: 5, stroke: colour, "stroke-width": 2.5, "stroke-dasharray": DASHES[dash] }));
}

function drawBars(palette, picture) {
  const top = Math.max(...picture.bars.map((bar) => Math.abs(bar.value ?? 0)), 0) || 1;
  const rows = picture.bars.map((bar) => h("tr", {},
    h("th", { scope: "row" }, ...symbols(bar.name)),
    h("td", {}, h("span", { class: "lesson-bar", style: `width: ${bar.value ? Math.max(1, (100 * Math.abs(bar.value)) / top) : 0}%` })),
    h("td", { class: "lesson-value" }, ...symbols(bar.text))));
  return [h("table", { class: "lesson-bars" }, h("caption", {}, ...symbols(picture.unit)), h("tbody", {}, ...rows))];
}

function drawTable(_palette, picture) {
  const head = h("tr", {}, ...picture.columns.map((text) => h("th", { scope: "col" }, ...symbols(text))));
  const body = picture.rows.map((row) => h("tr", {}, ...row.map((cell, k) => h(k ? "td" : "th", k ? {} : { scope: "row" }, ...symbols(cell)))));
  return [h("div", { class: "lesson-scroll", tabindex: 0, role: "group", "aria-label": "table" }, h("table", { class: "lesson-table" }, h("thead", {}, head), h("tbody", {}, ...body)))];
}

function drawMaps(palette, picture, wide) {
  const figures = picture.maps.map((map) => {
    const [rows, columns] = [map.cells.length, map.cells[0].length];
    const cell = Math.max(2, Math.min(9, Math.floor(320 / rows)));
    const across = Math.max(cell, Math.min(18, Math.floor(Math.min(150, wide / picture.maps.length - 12) / columns)));
    const canvas = h("canvas", { width: columns, height: rows, style: `width: ${columns * across}px; height: ${rows * cell}px`, role: "img", "aria-label": described(map, picture.rows) });
    const context = canvas.getContext("2d");
    const image = context.createImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    map.cells.forEach((row, j) => row.forEach((value, k) => { pixels[j * columns + k] = palette.pixel(Math.round(127 * (value ?? 0)) || Math.sign(value ?? 0), true); }));
    context.putImageData(image, 0, 0);
    return h("figure", { class: "lesson-map" }, canvas, h("figcaption", {}, h("strong", {}, ...symbols(map.name)), ...symbols(map.note ? " · " + map.note : "")));
  });
  return [h("div", { class: "lesson-maps" }, ...figures), h("p", { class: "lesson-axis" }, `${picture.rows} downwards, classes across; the paper's colour is exactly zero`)];
}

function described(map, rows) {
  const used = map.cells.filter((row) => row.some((value) => value !== 0));
  const zeros = used.reduce((sum, row) => sum + row.filter((value) => value === 0).length, 0);
  return `${map.name}: ${used.length} of ${map.cells.length} ${rows} in use, ${zeros} zeros inside them. ${map.note}`;
}
