// Marks: a labelled vertical line on every time chart where something was changed.

import { h, setText } from "../dom.js";

const NEAR = 14; // pixels; labels closer than this are put together

/** One text for changes of one kind in a row: "λ 1e-2 → 9e-3", "λ 9e-3 → 3e-3" become "λ 1e-2 → 3e-3". */
export function mergeTexts(first, last) {
  const arrow = " → ";
  const from = first.split(arrow);
  const to = last.split(arrow);
  if (from.length < 2 || to.length < 2) return first === last ? first : first + ", " + last;
  return from[0] + arrow + to[to.length - 1];
}

/** Groups of marks for pixels: [{x, text, count}]; `at` gives the pixel of a mark or null when it is out of view. */
export function groupMarks(marks, at) {
  const groups = [];
  for (const mark of marks) {
    const x = at(mark);
    if (x === null) continue;
    const last = groups[groups.length - 1];
    if (last && x - last.x < NEAR) {
      const same = last.parts.find((part) => part.kind === mark.kind);
      if (same) same.text = mergeTexts(same.text, mark.text);
      else last.parts.push({ kind: mark.kind, text: mark.text });
      last.lines.push(x);
    } else {
      groups.push({ x, lines: [x], parts: [{ kind: mark.kind, text: mark.text }] });
    }
  }
  return groups.map((group) => ({ ...group, text: group.parts.map((part) => part.text).join(", ") }));
}

/** The layer of lines and labels over a chart's plot area. Elements are reused: a still picture costs nothing. */
export class MarkLayer {
  constructor() {
    this.element = h("div", { class: "marks", "aria-hidden": "true" });
    this.drawn = "";
  }

  draw(marks, box, at) {
    const groups = groupMarks(marks, at);
    const key = JSON.stringify([box, groups]);
    if (key === this.drawn) return;
    this.drawn = key;
    Object.assign(this.element.style, {
      left: box.left + "px", top: box.top + "px", width: box.width + "px", height: box.height + "px",
    });
    const nodes = [];
    for (const group of groups) {
      for (const x of group.lines) {
        const line = h("div", { class: "mark-line" });
        line.style.left = Math.round(x) + "px";
        nodes.push(line);
      }
      const label = h("div", { class: "mark-label" });
      setText(label, group.text);
      // a label stands right of its line, but left of it at the right end, where it would leave the plot
      label.style.left = Math.round(group.x > box.width - 18 ? group.x - 17 : group.x + 1) + "px";
      label.style.maxHeight = box.height + "px";
      nodes.push(label);
    }
    this.element.replaceChildren(...nodes);
  }
}
