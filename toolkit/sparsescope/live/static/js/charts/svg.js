// SVG elements, and the dashes of lines.

const SPACE = "http://www.w3.org/2000/svg";

/** An SVG element: s("path", {d: "…"}, child, "text"). */
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** The children of an SVG text with lowered words in it: `parts` are strings and elements made by :func:`lowered`. */
export function levelled(parts) {
  return parts.map((part, k) => (k && typeof part === "string" ? s("tspan", { dy: -3 }, part) : part));
}

/** A subscript in an SVG text. */
export function lowered(words) {
  return s("tspan", { dy: 3, "font-size": "82%" }, words);
}

/** plotly's names of dashes, which the views use, as SVG has them. */
export const DASHES = { solid: null, dot: "2 3", dash: "7 4", dashdot: "7 3 2 3", longdash: "12 4", longdashdot: "12 3 2 3" };
