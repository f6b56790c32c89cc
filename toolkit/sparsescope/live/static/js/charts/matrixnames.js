// The names of rows and classes beside the picture of W.

import { fitText } from "./axes.js";
import { FONT } from "./palette.js";

export const LEFT = 124; // room for feature names
export const LABEL_STEP = 13; // pixels between names
const CLASS_ROOM = 78; // pixels of a name that is turned

/** Names of rows: [{y, name, selected}]; `ticks`: each stands for more rows than its own. */
export function drawRowNames(context, palette, area, named, ticks) {
  context.font = "11px " + FONT;
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const { y, name, selected } of named) {
    context.fillStyle = palette.colour(selected ? "blue" : "text");
    context.fillText(fitText(context, name, LEFT - 16), area.left - 8, y);
    if (ticks) context.fillRect(area.left - 5, Math.round(y), 4, 1);
  }
}

/** Names of classes under their columns, `turned` by 90 degrees where they have no room. */
export function drawClassNames(context, palette, area, names, turned) {
  const width = area.width / names.length;
  const bottom = area.top + area.height;
  context.font = "11px " + FONT;
  context.fillStyle = palette.colour("text");
  const step = turned ? Math.max(1, Math.ceil(LABEL_STEP / width)) : 1;
  for (let c = 0; c < names.length; c += step) {
    const x = area.left + (c + 0.5) * width;
    if (turned) {
      context.save();
      context.translate(x, bottom + 6);
      context.rotate(-Math.PI / 2);
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.fillText(fitText(context, names[c], CLASS_ROOM), 0, 0);
      context.restore();
    } else {
      context.textAlign = "center";
      context.textBaseline = "top";
      context.fillText(fitText(context, names[c], width - 4), x, bottom + 8);
    }
  }
}
