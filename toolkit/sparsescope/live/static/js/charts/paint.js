// Cells as pixels, and the scale of colours beside them: what the pictures of W and of Θ have in common.

import { fitCanvas } from "../dom.js";
import { short } from "./format.js";
import { FONT } from "./palette.js";

let scratch = null;
let image = null; // pixels of the last picture, whose memory serves the next one of its size

/** A part of a canvas that seldom changes, such as its texts, which take longer than all cells: painted once, then copied. */
export class Kept {
  constructor() {
    this.canvas = null;
    this.key = null;
  }

  /** Copy the part to a canvas of the size `box`; `paint(context)` makes it where `key` is not that of the last time. */
  show(context, box, key, paint) {
    const whole = [key, box.width, box.height, window.devicePixelRatio].join();
    if (whole !== this.key) {
      this.key = whole;
      this.canvas = this.canvas || document.createElement("canvas");
      const own = fitCanvas(this.canvas, box.width, box.height);
      own.clearRect(0, 0, box.width, box.height);
      paint(own);
    }
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.canvas, 0, 0);
    context.restore();
  }
}

/** Paint width × height cells into an area of a canvas; `pixel(i)` is the colour of cell i, row by row. */
export function paintCells(context, width, height, area, pixel) {
  if (!image || image.width !== width || image.height !== height) image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) pixels[i] = pixel(i);
  scratch = scratch || document.createElement("canvas");
  scratch.width = width;
  scratch.height = height;
  scratch.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(scratch, area.left, area.top, area.width, area.height);
}

/** A column of all colours from that of the largest cell, `scale`, down to −`scale`, with its numbers at the right. */
export function paintScale(context, palette, place, scale, strong) {
  const { left, top, height } = place;
  const column = new Int8Array(255).map((_, k) => 127 - k);
  paintCells(context, 1, 255, { left, top, width: 10, height }, (i) => palette.pixel(column[i], strong));
  context.fillStyle = palette.colour("muted");
  context.font = "11px " + FONT;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(short(scale, 2), left + 14, top);
  context.fillText("0", left + 14, top + height / 2);
  context.fillText(short(-scale, 2), left + 14, top + height);
}
