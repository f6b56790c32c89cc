// What the cells of the weight picture stand for: blocks, classes, windows. Nothing here draws.

import { exact } from "./axes.js";
import { short } from "./format.js";

/** The name of a block, or its number. */
export function blockName(picture, block) {
  return (picture.block_names && picture.block_names[block]) || "block " + block;
}

/** What a hover says once the exact weight is known. */
export function answerLines(answer, className, binned) {
  const when = answer.iteration === null ? "" : ` (iteration ${answer.iteration})`;
  const lines = [`${answer.name || "row " + answer.row} → ${className}`, `weight ${exact(answer.value)}${when}`];
  if (binned) lines.push("the largest of those put together here");
  if (answer.block) lines.push(`${answer.block}: norm ${short(answer.block_norm, 4)} in this class`);
  return lines;
}

/** Stretches of equal numbers: [{block, start, stop}]. */
export function runs(blocks) {
  const found = [];
  for (let k = 0; k < blocks.length; k++) {
    if (k && blocks[k] === blocks[k - 1]) found[found.length - 1].stop = k + 1;
    else found.push({ block: blocks[k], start: k, stop: k + 1 });
  }
  return found;
}

/** The classes of column c of a picture, of those before m: [first, stop). */
export function classSpan(picture, c, m) {
  if (!picture.classes) return [c, c + 1];
  const first = picture.classes[c];
  if (picture.together <= 1) return [first, first + 1]; // classes without weights in between are left out
  return [first, c + 1 < picture.classes.length ? picture.classes[c + 1] : Math.max(m, first + 1)];
}

/** The window that lines l0 … l1 and columns c0 … c1 of a picture stand for: [row, stop, class, stop]. */
export function windowOf(picture, [l0, l1, c0, c1], zoom, m) {
  const row = zoom ? zoom[0] : 0;
  const end = zoom ? zoom[3] : m;
  const first = row + Math.floor(l0 * picture.binned);
  const classes = picture.classes
    ? [classSpan(picture, c0, end)[0], classSpan(picture, c1, end)[1]]
    : [c0, c1 + 1];
  return [first, Math.max(first + 1, row + Math.ceil((l1 + 1) * picture.binned)), ...classes];
}
