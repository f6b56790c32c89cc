// Names at the ends of the lines of a chart.

import { setText } from "../dom.js";
import { textWidth } from "./axes.js";
import { lastInView } from "./ranges.js";

const LABEL_HEIGHT = 15;
const CLEAR = 2; // middle of a name above the x axis: the number of the last tick reaches beyond the corner

/** Move names (their middles `y`) apart where they would touch, and all of them clear of the x axis at `bottom`. */
export function pushApart(placed, bottom) {
  placed.sort((a, b) => a.y - b.y);
  for (let k = 1; k < placed.length; k++) placed[k].y = Math.max(placed[k].y, placed[k - 1].y + LABEL_HEIGHT);
  let limit = bottom - CLEAR;
  for (let k = placed.length - 1; k >= 0; k--) {
    placed[k].y = Math.min(placed[k].y, limit);
    limit = placed[k].y - LABEL_HEIGHT;
  }
}

/** Put the names of a line chart's lines to their ends, pushed apart where they would touch. */
export function placeLabels(chart, lines) {
  const area = chart.area();
  const { palette } = chart.context;
  const placed = [];
  chart.entries.forEach((spec, k) => {
    const node = chart.labelNodes[k];
    const part = chart.part(lastInView(lines[k], chart.axis.range[1]), spec.axis);
    const inView = part >= -0.02 && part <= 1.02;
    node.style.visibility = inView ? "visible" : "hidden";
    if (inView) placed.push({ node, y: area.top + area.height * (1 - part), colour: palette.colour(spec.colour) });
  });
  pushApart(placed, area.top + area.height);
  const left = area.left + area.width + (chart.spec.right ? 44 : 6);
  const room = chart.box.width - left - 4;
  chart.entries.forEach((spec, k) => setText(chart.labelNodes[k], textWidth(spec.label) > room ? spec.short || spec.label : spec.label));
  for (const { node, y, colour } of placed) {
    node.style.transform = `translate(${left}px, ${Math.round(y - LABEL_HEIGHT / 2)}px)`;
    node.style.color = colour;
    node.style.maxWidth = room + "px";
  }
}
