// Axes, grid, ticks and titles of a chart in SVG.

import { FONT } from "./palette.js";
import { s } from "./svg.js";

/**
 * Fill `group` with the frame around `area`. `x`, `y` and, if there is one, `right` are {title, ticks, texts, part}: the
 * values of the ticks, their texts, and the part of the way (0 … 1) that a value stands at.
 */
export function drawFrame(group, area, { x, y, right }, palette) {
  const colour = (name) => palette.colour(name);
  const bottom = area.top + area.height;
  const end = area.left + area.width;
  const nodes = [];
  const line = (x1, y1, x2, y2, name) => nodes.push(s("line", { x1, y1, x2, y2, stroke: colour(name), "stroke-width": 1 }));
  const text = (words, at, anchor, size = 11) => nodes.push(s("text", { ...at, "text-anchor": anchor, "font-size": size, "font-family": FONT, fill: colour("muted") }, words));
  const half = (value) => Math.round(value) - 0.5;
  x.ticks.forEach((tick, k) => {
    const at = half(area.left + x.part(tick) * area.width);
    if (at < area.left - 1 || at > end + 1) return;
    line(at, area.top, at, bottom, "grid");
    line(at, bottom, at, bottom + 4, "axis");
    text(x.texts[k], { x: at, y: bottom + 16 }, "middle");
  });
  y.ticks.forEach((tick, k) => {
    const at = half(bottom - y.part(tick) * area.height);
    if (at < area.top - 1 || at > bottom + 1) return;
    line(area.left, at, end, at, "grid");
    line(area.left - 4, at, area.left, at, "axis");
    text(y.texts[k], { x: area.left - 7, y: at + 4 }, "end");
  });
  if (right) {
    right.ticks.forEach((tick, k) => {
      const at = half(bottom - right.part(tick) * area.height);
      line(end, at, end + 4, at, "axis");
      text(right.texts[k], { x: end + 7, y: at + 4 }, "start");
    });
    line(end + 0.5, area.top, end + 0.5, bottom, "axis");
  }
  line(area.left - 0.5, area.top, area.left - 0.5, bottom + 0.5, "axis");
  line(area.left - 0.5, bottom - 0.5, end, bottom - 0.5, "axis");
  text(x.title, { x: area.left + area.width / 2, y: bottom + 34 }, "middle", 12);
  if (y.title) {
    const middle = area.top + area.height / 2;
    text(y.title, { transform: `translate(14 ${middle}) rotate(-90)` }, "middle", 12);
  }
  group.replaceChildren(...nodes);
}
