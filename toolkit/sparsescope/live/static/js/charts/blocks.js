// Blocks of rows on the picture of W: where one ends, and what it is called.

import { fitText } from "./axes.js";
import { blockName, runs } from "./cells.js";
import { FONT } from "./palette.js";

export const BRACKETS = 84; // room for the brackets of blocks and their names
const LEAST_BLOCK = 4; // pixels of a block on average, for lines between blocks
const BLOCK_STEP = 13; // pixels between names

/** A line between blocks, and at the right a bracket for each with its name. */
export function drawBlocks(context, area, picture, rowHeight, palette) {
  const right = area.left + area.width;
  context.font = "11px " + FONT;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.lineWidth = 1;
  let named = -Infinity;
  const found = runs(picture.blocks);
  const fine = area.height / found.length >= LEAST_BLOCK; // else there would be lines only
  for (const { block, start, stop } of found) {
    const top = Math.round(area.top + start * rowHeight);
    const bottom = Math.round(area.top + stop * rowHeight);
    context.fillStyle = palette.colour("axis");
    if (fine) {
      if (start > 0) context.fillRect(area.left, top, area.width, 1);
      context.strokeStyle = palette.colour("muted");
      context.beginPath();
      context.moveTo(right + 4.5, top + 1.5);
      context.lineTo(right + 8.5, top + 1.5);
      context.lineTo(right + 8.5, bottom - 0.5);
      context.lineTo(right + 4.5, bottom - 0.5);
      context.stroke();
    }
    const middle = (top + bottom) / 2;
    if (middle - named < BLOCK_STEP) continue;
    named = middle;
    context.fillStyle = palette.colour("text");
    context.fillText(fitText(context, blockName(picture, block), BRACKETS - 16), right + 13, middle);
  }
}
