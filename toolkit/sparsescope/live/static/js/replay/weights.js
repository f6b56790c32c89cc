// Recorded pictures of W as the page wishes to see them: sorted, cut to a window, with the row of the inspector. Only what
// was recorded is shown; a weight that was not recorded is not answered.

import { cut } from "../decode.js";

/** Arrays of one message, each at a multiple of 8 bytes. */
export class Pack {
  constructor() {
    this.parts = [];
    this.size = 0;
  }

  add(array) {
    const place = [array.constructor.name.replace("Array", "").toLowerCase(), this.size, array.length];
    this.parts.push([this.size, array]);
    this.size += Math.ceil(array.byteLength / 8) * 8;
    return place;
  }

  bytes() {
    const block = new Uint8Array(this.size);
    for (const [at, array] of this.parts) block.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    return block;
  }
}

/** The newest picture up to the event of this number; null without one. */
export function pictureAt(pictures, index) {
  let found = null;
  for (const picture of pictures) if (picture.index <= index) found = picture;
  return found;
}

/** The exact weight of a row in a class, or null where it was not recorded. */
export function weightOf(picture, bytes, row, cls) {
  const values = rowOf(picture, bytes, row);
  if (!values) return null;
  const at = values.classes ? values.classes.indexOf(cls) : cls;
  return at < 0 ? 0 : values.list[at] ?? null;
}

/** The weights of a row: {list, classes (null: all)}; null where they were not recorded. */
function rowOf(picture, bytes, row) {
  const shown = picture.kinds.matrix;
  if (!shown || !shown.values) return null;
  const [k, q] = shown.shape;
  const line = cut(bytes, shown.rows).indexOf(row);
  const classes = shown.classes ? Array.from(cut(bytes, shown.classes)) : null;
  if (line < 0) return shown.nonzero === k ? { list: classes ? [] : new Array(q).fill(0), classes: classes ? [] : null } : null;
  return { list: Array.from(cut(bytes, shown.values).subarray(line * q, (line + 1) * q)), classes };
}

/** Lines of a picture in the wished order. */
function sortedLines(shown, bytes, sort, nameOf) {
  const rows = cut(bytes, shown.rows);
  const lines = Array.from(rows, (_, k) => k);
  if (shown.binned > 1 || sort === "norm") return lines;
  if (sort === "name") return lines.sort((a, b) => (nameOf(rows[a]) < nameOf(rows[b]) ? -1 : 1));
  const blocks = shown.blocks ? cut(bytes, shown.blocks) : null;
  return lines.sort((a, b) => (blocks ? blocks[a] - blocks[b] : 0) || rows[a] - rows[b]);
}

/** Columns of a picture inside a window of classes. */
function windowColumns(shown, bytes, zoom) {
  const [, q] = shown.shape;
  const classes = shown.classes ? cut(bytes, shown.classes) : null;
  const inside = Array.from({ length: q }, (_, c) => c).filter((c) => !zoom || ((classes ? classes[c] : c) >= zoom[2] && (classes ? classes[c] : c) < zoom[3]));
  return { inside: inside.length ? inside : [0], classes };
}

/** The part `picture` of a frame, with its arrays in `pack`; null where this kind of picture was not recorded. */
export function arranged(picture, bytes, wish, sort, nameOf, pack) {
  const shown = picture.kinds[wish.mode] || picture.kinds.matrix;
  if (!shown) return null;
  const plain = { ...shown, iteration: picture.iteration, ...inspectedRow(picture, bytes, wish.row) };
  delete plain.values;
  if (shown.kind !== "matrix") {
    const places = Object.entries(plain).filter(([, place]) => Array.isArray(place) && typeof place[0] === "string");
    return { ...plain, ...Object.fromEntries(places.map(([name, place]) => [name, pack.add(cut(bytes, place).slice())])) };
  }
  const [, q] = shown.shape;
  const zoom = wish.zoom;
  const lines = sortedLines(shown, bytes, sort, nameOf).slice(...(zoom ? [Math.floor(zoom[0] / shown.binned), Math.max(Math.ceil(zoom[1] / shown.binned), 1)] : [0]));
  const { inside, classes } = windowColumns(shown, bytes, zoom);
  const cells = cut(bytes, shown.cells);
  const chosen = new Int8Array(lines.length * inside.length);
  lines.forEach((line, k) => inside.forEach((c, j) => { chosen[k * inside.length + j] = cells[line * q + c]; }));
  const pick = (place, Type) => pack.add(Type.from(lines, (line) => cut(bytes, place)[line]));
  const some = classes || inside.length < q ? pack.add(Int32Array.from(inside, (c) => (classes ? classes[c] : c))) : null;
  return {
    ...plain, sort, shape: [lines.length, inside.length], cells: pack.add(chosen),
    rows: pick(shown.rows, Int32Array), norms: pick(shown.norms, Float32Array), classes: some,
    used: some ? inside.length : shown.used, blocks: shown.blocks ? pick(shown.blocks, Int32Array) : null,
  };
}

/** What the inspector shows of a row, where it was recorded. */
function inspectedRow(picture, bytes, row) {
  const none = { row: null, row_values: null, row_classes: null, row_nonzero: 0, row_norm: 0 };
  const found = row === null || row === undefined ? null : rowOf(picture, bytes, row);
  if (!found) return none;
  const lit = found.list.filter((value) => value !== 0);
  return { row, row_values: found.list, row_classes: found.classes, row_nonzero: lit.length, row_norm: Math.hypot(...lit) };
}
