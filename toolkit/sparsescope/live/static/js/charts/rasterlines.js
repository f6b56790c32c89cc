// Which line of pixels of the raster a row of W has, and which row a height stands for.

/**
 * Few features: every row has its place, by index. Many: first the rows that were ever non-zero, in the order of their
 * first entry, then those that the solver worked on but never used; each group is put into bins where it has more rows
 * than pixels. The second group takes a quarter of the height at most, unless the first leaves more.
 */
export class RasterLines {
  constructor(active, working, d, height) {
    const pixels = Math.max(2, Math.floor(height));
    this.active = active;
    this.byIndex = d > 0 && d <= pixels;
    this.tried = this.byIndex ? [] : working.rowOf.filter((row) => !active.slotOf.has(row));
    this.ever = this.byIndex ? d : active.size;
    this.bottom = Math.min(this.tried.length, Math.max(Math.floor(pixels / 4), pixels - this.ever));
    this.top = Math.min(this.ever, pixels - this.bottom);
    this.bins = this.top + this.bottom;
    this.lines = this.ever + this.tried.length;
    this.place = new Map(this.tried.map((row, k) => [row, k]));
  }

  /** The bin of a row; undefined for a row that has no line. */
  bin(row) {
    const first = this.byIndex ? row : this.active.slotOf.get(row);
    if (first !== undefined) return Math.floor((first * this.top) / this.ever);
    const k = this.place.get(row);
    return k === undefined ? undefined : this.top + Math.floor((k * this.bottom) / this.tried.length);
  }

  /** The height (0 … 1, from above) at which a sweep stands that visited `row` last; null where that row has no line. */
  height(row) {
    const bin = Number.isInteger(row) ? this.bin(row) : undefined;
    return bin === undefined || bin >= this.bins ? null : (bin + 0.5) / this.bins;
  }

  /** How many rows each bin stands for. */
  sizes() {
    const sizes = new Int32Array(this.bins);
    for (let k = 0; k < this.ever; k++) sizes[Math.floor((k * this.top) / this.ever)] += 1;
    for (let k = 0; k < this.tried.length; k++) sizes[this.top + Math.floor((k * this.bottom) / this.tried.length)] += 1;
    return sizes;
  }

  /** The row at a part (0 … 1, from above) of the height, or null. */
  row(part) {
    const at = part * this.bins;
    if (!(at >= 0 && at < this.bins)) return null;
    if (at >= this.top) return this.tried[Math.floor(((at - this.top) / this.bottom) * this.tried.length)];
    const line = Math.floor((at / this.top) * this.ever);
    return this.byIndex ? line : this.active.rowOf[line];
  }
}
