// Axes of the canvas charts, drawn to look like those of the line charts.

import { number, tickTexts } from "./format.js";
import { FONT } from "./palette.js";

/** The x axis of the time charts under `area`, with the same ticks whatever the chart. */
export function drawTimeAxis(context, area, axis, palette) {
  const bottom = area.top + area.height;
  context.strokeStyle = palette.colour("axis");
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(area.left - 0.5, area.top);
  context.lineTo(area.left - 0.5, bottom + 0.5);
  context.lineTo(area.left + area.width, bottom + 0.5);
  context.stroke();
  context.font = "11px " + FONT;
  context.fillStyle = palette.colour("muted");
  context.textAlign = "center";
  context.textBaseline = "top";
  const ticks = axis.ticks(area.width);
  const texts = tickTexts(ticks);
  for (const [k, tick] of ticks.entries()) {
    const x = Math.round(area.left + axis.part(tick) * area.width) - 0.5;
    context.beginPath();
    context.moveTo(x, bottom);
    context.lineTo(x, bottom + 4);
    context.stroke();
    context.fillText(texts[k], x, bottom + 7);
  }
  context.font = "12px " + FONT;
  context.fillText(axis.title, area.left + area.width / 2, bottom + 25);
}

/** A title turned by 90 degrees at the left of `area`. */
export function drawSideTitle(context, area, text, palette) {
  context.save();
  context.translate(14, area.top + area.height / 2);
  context.rotate(-Math.PI / 2);
  context.font = "12px " + FONT;
  context.fillStyle = palette.colour("muted");
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, 0, 0);
  context.restore();
}

const widths = new Map();

/** Width of a line's name. */
export function textWidth(text) {
  if (!widths.has(text)) {
    const context = document.createElement("canvas").getContext("2d");
    context.font = "600 11px " + FONT;
    widths.set(text, context.measureText(text).width);
  }
  return widths.get(text);
}

/** Text cut to a width, with an ellipsis. */
export function fitText(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(text.slice(0, middle) + "…").width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? text.slice(0, low) + "…" : "";
}

export function exact(value) {
  return number(value, 6);
}
