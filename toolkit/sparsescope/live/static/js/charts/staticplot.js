// A log-log chart that is drawn once: lines with names in a corner.

import { logTicks, tickTexts } from "./format.js";
import { FONT } from "./palette.js";
import { drawFrame } from "./plotframe.js";
import { LINE, NONE, paths } from "./strokes.js";
import { DASHES, s } from "./svg.js";

const MARGINS = { left: 72, right: 24, top: 12, bottom: 48 };

/** An SVG of `lines` [{x, y, name, colour, dash, dots}] between the ranges `xs` and `ys`, with two titles. */
export function logPlot({ width, height, xs, ys, titles, lines, palette }) {
  const area = { left: MARGINS.left, top: MARGINS.top, width: width - MARGINS.left - MARGINS.right, height: height - MARGINS.top - MARGINS.bottom };
  const axis = (title, [low, high], wanted) => {
    const ticks = logTicks(low, high, wanted);
    return { title, ticks, texts: tickTexts(ticks), part: (value) => Math.log(value / low) / Math.log(high / low) };
  };
  const [x, y] = [axis(titles[0], xs, 8), axis(titles[1], ys, 7)];
  const frame = s("g");
  drawFrame(frame, area, { x, y }, palette);
  const data = s("svg", { x: area.left, y: area.top, width: area.width, height: area.height });
  const names = [];
  lines.forEach((line, k) => {
    const tracked = { x: line.x, y: line.y, link: line.x.map((_, i) => (i ? LINE : NONE)), dense: !line.dots };
    const drawn = paths(tracked, (v) => x.part(v) * area.width, (v) => (1 - y.part(v)) * area.height, area.width);
    const stroke = palette.colour(line.colour);
    data.append(
      s("path", { class: "line-path", d: drawn.line, fill: "none", stroke, "stroke-width": 1.8, "stroke-dasharray": DASHES[line.dash] }),
      s("path", { d: drawn.dots, fill: stroke }),
    );
    if (lines.length > 1) names.push(s("text", { x: area.left + 8, y: area.top + area.height - 10 - 16 * (lines.length - 1 - k), "font-size": 11, "font-weight": 600, "font-family": FONT, fill: stroke }, line.name));
  });
  return s("svg", { width, height, role: "img", "aria-label": titles[1] }, frame, data, ...names);
}
