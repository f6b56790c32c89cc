// How many rows of each line of the raster are non-zero, enter or leave at each pixel. What was counted is kept: a frame
// only adds the intervals that ended since the last one, and those that last. Nothing here draws.

export class RasterCells {
  constructor() {
    this.key = null;
    this.counted = [];
  }

  /**
   * Count for `width` × `bins` pixels. `active` and `working` are sets of rows, `bin(row)` is the line of a row,
   * `pixel(value)` the place of a value of the clock; they belong to `key`, and with another one all is counted anew.
   *
   * `level` and `worked` (bins × (width + 1)) hold by how much the number of rows changes at a pixel; `entered` and
   * `left` (bins × width) are 1 where a row of the line did.
   */
  count(key, { active, working, clock, width, bins, bin, pixel }) {
    const whole = [key, clock, width, bins, active.forgotten, working.forgotten].join();
    const sets = [active, working];
    if (whole !== this.key || sets.some((rows, k) => rows !== this.counted[k].rows || rows.n < this.counted[k].n)) this.begin(whole, sets, width, bins);
    const { kept, now } = this;
    const add = (rows, counts, marks, each) => each((slot, start, end, ended) => {
      const x0 = pixel(start);
      const x1 = pixel(end);
      if (x1 < 0 || x0 >= width) return;
      const line = bin(rows.rowOf[slot]);
      const from = Math.max(0, x0);
      const to = Math.min(width - 1, Math.max(from, ended ? x1 - 1 : x1));
      counts[line * (width + 1) + from] += 1;
      counts[line * (width + 1) + to + 1] -= 1;
      if (!marks) return;
      if (x0 >= 0) marks.entered[line * width + x0] = 1;
      if (ended && x1 < width) marks.left[line * width + x1] = 1;
    });
    add(working, kept.worked, null, (f) => working.eachClosed(clock, this.counted[1].n, f));
    add(active, kept.level, kept, (f) => active.eachClosed(clock, this.counted[0].n, f));
    sets.forEach((rows, k) => { this.counted[k].n = rows.n; });
    for (const name of Object.keys(now)) now[name].set(kept[name]);
    add(working, now.worked, null, (f) => working.eachOpen(clock, f));
    add(active, now.level, now, (f) => active.eachOpen(clock, f));
    return now;
  }

  begin(key, sets, width, bins) {
    this.key = key;
    this.counted = sets.map((rows) => ({ rows, n: 0 }));
    const made = () => ({
      level: new Int32Array(bins * (width + 1)), worked: new Int32Array(bins * (width + 1)),
      entered: new Uint8Array(bins * width), left: new Uint8Array(bins * width),
    });
    const fits = this.now && this.now.level.length === bins * (width + 1) && this.now.entered.length === bins * width;
    if (!fits) [this.kept, this.now] = [made(), made()];
    else for (const counts of Object.values(this.kept)) counts.fill(0);
  }
}
