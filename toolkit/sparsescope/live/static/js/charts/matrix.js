// The weights: rows × classes in the diverging palette, or one image a class where features are pixels.

import { fitCanvas, h, show } from "../dom.js";
import { count, iterations, short } from "./format.js";
import { CanvasChart } from "./chartbox.js";
import { fitText } from "./axes.js";
import { KeyCursor } from "./keycursor.js";
import { FONT } from "./palette.js";
import { Kept, paintCells, paintScale } from "./paint.js";
import { BRACKETS, drawBlocks } from "./blocks.js";
import { answerLines, blockName, windowOf } from "./cells.js";
import { LABEL_STEP, LEFT, drawClassNames, drawRowNames } from "./matrixnames.js";

const SORT_LABELS = { norm: "norm", name: "name", first: "first entry", block: "index" };
const RIGHT = 76; // room for the colour scale
const TOP = 10;
const CELL = 3; // pixels of a cell in both directions where classes have to share columns
const SPARSE = 0.2; // with fewer lit cells than this share, small weights get a stronger colour
const DRAG = 6; // pixels the pointer has to move for a zoom
const ASK_DELAY = 70; // ms the pointer has to rest before the exact value is asked for

export class MatrixChart extends CanvasChart {
  constructor(spec, context, height) {
    super(spec, context, height);
    this.kind = spec.images ? "images" : "matrix";
    this.part = "stage"; // of a sequence of models
    this.sortSelect = h(
      "select", { "data-testid": "sort-select", "aria-label": "sort the rows by", onchange: () => this.chooseSort() },
      ...spec.sorts.map((name) => h("option", { value: name }, SORT_LABELS[name] || name)),
    );
    this.sortLabel = h("label", { class: "inline" }, "sort by ", this.sortSelect);
    this.kindButton = h("button", { type: "button", "data-testid": "images-button", onclick: () => this.toggleKind() });
    this.zoom = null; // [row, stop, class, stop]: which of the non-zero rows and of the classes are shown
    this.unzoom = h("button", { type: "button", "data-testid": "unzoom-weights", hidden: true, onclick: () => this.setZoom(null) }, "zoom out");
    this.zoomBox = h("div", { class: "zoom-box", hidden: true });
    this.box.plot.append(this.zoomBox);
    this.box.tools.append(this.unzoom, this.sortLabel, ...(spec.images ? [this.kindButton] : []));
    this.nameTools();
    this.places = null; // geometry of what is on the canvas, for the pointer
    this.rowNames = new Kept();
    this.around = new Kept(); // names of classes, and the scale of colours
    this.hovered = "";
    this.cursor = new KeyCursor(this, "inspects the row");
    this.canvas.addEventListener("pointerdown", (event) => this.beginDrag(event));
    this.canvas.addEventListener("pointerup", (event) => this.endDrag(event));
    this.canvas.addEventListener("dblclick", () => this.setZoom(null));
  }

  // ---------------------------------------------------------------------------------------------------------- zoom
  setZoom(zoom) {
    this.zoom = zoom;
    show(this.unzoom, zoom !== null);
    this.context.sendLayout();
  }

  beginDrag(event) {
    this.dragged = false;
    if (event.button !== 0 || !this.places || this.places.kind !== "matrix") return;
    this.drag = { x: event.offsetX, y: event.offsetY };
    this.canvas.setPointerCapture(event.pointerId);
  }

  /** The box from where the drag began to the pointer, inside the matrix; null for less than a few pixels. */
  dragBox(event) {
    const { area } = this.places;
    const inside = (value, low, size) => Math.min(low + size, Math.max(low, value));
    const xs = [this.drag.x, event.offsetX].map((x) => inside(x, area.left, area.width)).sort((a, b) => a - b);
    const ys = [this.drag.y, event.offsetY].map((y) => inside(y, area.top, area.height)).sort((a, b) => a - b);
    return Math.max(xs[1] - xs[0], ys[1] - ys[0]) < DRAG ? null : { xs, ys };
  }

  showDrag(event) {
    const box = this.places && this.places.kind === "matrix" ? this.dragBox(event) : null;
    show(this.zoomBox, box !== null);
    if (!box) return;
    Object.assign(this.zoomBox.style, {
      left: box.xs[0] + "px", top: box.ys[0] + "px", width: box.xs[1] - box.xs[0] + "px", height: box.ys[1] - box.ys[0] + "px",
    });
  }

  endDrag(event) {
    const { places } = this;
    const picture = this.context.store.picture;
    const box = this.drag && places && places.kind === "matrix" && picture ? this.dragBox(event) : null;
    this.drag = null;
    show(this.zoomBox, false);
    if (!box) return;
    this.dragged = true; // the click that follows is none
    const { area, m, k, rowHeight } = places;
    const at = (value, size, many) => Math.min(many - 1, Math.max(0, Math.floor(value / size)));
    const columns = box.xs.map((x) => at(x - area.left, area.width / m, m));
    const lines = box.ys.map((y) => at(y - area.top, rowHeight, k));
    this.setZoom(windowOf(picture, [...lines, ...columns], this.zoom, this.context.store.problem.m));
  }

  nameTools() {
    this.kindButton.textContent = this.kind === "images" ? "rows × classes" : "images";
    this.kindButton.title = this.kind === "images" ? "show W as a matrix" : "show the weights of each class as an image";
    show(this.sortLabel, this.kind === "matrix");
  }

  chooseSort() {
    this.context.link.set({ sort: this.sortSelect.value });
  }

  toggleKind() {
    this.kind = this.kind === "images" ? "matrix" : "images";
    this.nameTools();
    this.context.sendLayout();
  }

  wish() {
    return { rows: this.pixelRows(), columns: this.pixelColumns(), zoom: this.zoom, mode: this.kind, part: this.part };
  }

  /** Rows of pixels there are for the matrix. */
  pixelRows() {
    const pixels = this.box.height - TOP - this.bottom();
    const problem = this.context.store.problem;
    const crowded = problem !== null && problem.m > this.pixelColumns();
    return Math.max(8, Math.floor(pixels / (crowded ? CELL : 1)));
  }

  /** Columns of the matrix that can be told apart; more classes than that share them. */
  pixelColumns() {
    return Math.max(8, Math.floor((this.box.width - LEFT - this.right()) / CELL));
  }

  /** Room at the right of the matrix: for the colour scale, and for blocks where they stand together. */
  right() {
    return RIGHT + (this.bracketed(this.context.store.picture) ? BRACKETS : 0);
  }

  bracketed(picture) {
    return Boolean(picture && picture.blocks && picture.kind === "matrix" && picture.sort === "block");
  }

  /** Letters of the longest class name, at most 16. */
  longestName(problem) {
    if (this.namesOf !== problem) this.longest = Math.min(16, problem.class_names.reduce((most, name) => Math.max(most, name.length), 0));
    this.namesOf = problem;
    return this.longest;
  }

  bottom() {
    const { problem, picture } = this.context.store;
    const m = picture && picture.kind === "matrix" && picture.classes ? picture.classes.length : problem ? problem.m : 1;
    const cell = (this.box.width - LEFT - this.right()) / m;
    this.turned = problem ? cell < 7 * this.longestName(problem) : false;
    return this.turned ? 86 : 26;
  }

  draw() {
    const { store, palette } = this.context;
    const picture = store.picture;
    const sort = this.spec.sorts.includes(store.settings.sort) ? store.settings.sort : this.spec.sorts[this.spec.sorts.length - 1];
    if (this.sortSelect.value !== sort) this.sortSelect.value = sort;
    const key = [store.rewritten, picture && picture.version, this.box.width, this.box.height, palette.theme, store.names.size, this.context.selected].join();
    const order = picture && picture.blocks ? "block" : SORT_LABELS.block;
    for (const option of this.sortSelect.options) if (option.value === "block" && option.textContent !== order) option.textContent = order;
    const sentence = this.sentence(store, picture);
    this.box.setEmpty(sentence);
    if (key === this.box.drawnKey && !sentence) return;
    this.box.drawnKey = key;
    const context = fitCanvas(this.canvas, this.box.width, this.box.height);
    context.clearRect(0, 0, this.box.width, this.box.height);
    this.places = null;
    if (sentence) {
      this.box.setNote("");
      return;
    }
    const [k, m] = picture.shape;
    this.strong = picture.kind === "matrix" && picture.cells.reduce((sum, cell) => sum + (cell !== 0), 0) < SPARSE * picture.cells.length;
    if (picture.kind === "images") {
      this.drawImages(context, picture, m);
      this.drawScale(context, picture);
    } else this.drawMatrix(context, picture, k, m);
    this.box.setNote(this.noteOf(picture));
  }

  /** What is shown, in the words that stand beside the title. */
  noteOf(picture) {
    const { store } = this.context;
    const d = count(store.problem.d);
    let note = `${count(picture.nonzero)} of ${d} rows ${picture.nonzero === 1 ? "is" : "are"} non-zero`;
    if (picture.classes) note = `${count(picture.nonzero)} of ${d} rows, ${count(picture.used)} of ${count(store.problem.m)} classes`;
    if (this.zoom) note += `; shown: from ${count(this.zoom[0] + 1)} to ${count(Math.min(this.zoom[1], picture.nonzero))}`;
    if (picture.binned > 1 || picture.together > 1) {
      const cell = [short(picture.binned, 2), ...(picture.together > 1 ? [short(picture.together, 2)] : [])].join(" × ");
      note += picture.classes ? `; a cell: the largest of ${cell}` : `; ${cell} to a line, the largest shown`;
    }
    return `${note} · iteration ${iterations(picture.iteration)}`;
  }

  sentence(store, picture) {
    if (!store.n) return "Nothing to draw yet: no iteration has been recorded.";
    if (!picture) return "The weights are on their way.";
    if (!picture.nonzero && !(store.status.iteration > 0)) return "The run starts at W = 0. Run it, and the rows that enter appear here.";
    if (!picture.nonzero) return "All rows of W are zero. A smaller λ lets features enter.";
    return "";
  }

  drawMatrix(context, picture, k, m) {
    const { palette, names, store } = this.context;
    const bottom = this.bottom();
    const area = { left: LEFT, top: TOP, width: this.box.width - LEFT - this.right(), height: this.box.height - TOP - bottom };
    const rowHeight = Math.min(28, area.height / k);
    area.height = rowHeight * k;
    paintCells(context, m, k, area, (i) => palette.pixel(picture.cells[i], this.strong));
    context.strokeStyle = palette.colour("axis");
    context.lineWidth = 1;
    context.strokeRect(area.left - 0.5, area.top - 0.5, area.width + 1, area.height + 1);
    const step = Math.max(1, Math.ceil(LABEL_STEP / rowHeight));
    const named = [];
    for (let i = 0; i < k; i += step) named.push({ y: area.top + (i + 0.5) * rowHeight, name: names.of(picture.rows[i]) || "row " + picture.rows[i], selected: picture.rows[i] === this.context.selected });
    this.rowNames.show(context, this.box, JSON.stringify([named, step, palette.theme]), (own) => drawRowNames(own, palette, area, named, step > 1));
    if (this.bracketed(picture)) drawBlocks(context, area, picture, rowHeight, palette);
    const classes = Array.from({ length: m }, (_, c) => store.problem.class_names[picture.classes ? picture.classes[c] : c]);
    this.around.show(context, this.box, JSON.stringify([classes, area, this.turned, picture.scale, this.strong, palette.theme]), (own) => {
      drawClassNames(own, palette, area, classes, this.turned);
      this.drawScale(own, picture);
    });
    this.drawSelection(context, area, picture, rowHeight);
    this.places = { kind: "matrix", area, rowHeight, m, k };
  }

  /** The colours are others now. */
  refresh() {
    this.rowNames.key = this.around.key = this.box.drawnKey = null;
  }

  drawSelection(context, area, picture, rowHeight) {
    const at = picture.rows.indexOf(this.context.selected ?? -1);
    if (at < 0) return;
    context.strokeStyle = this.context.palette.colour("blue");
    context.lineWidth = 2;
    context.strokeRect(area.left - 1, area.top + at * rowHeight - 1, area.width + 2, Math.max(3, rowHeight) + 2);
  }

  drawImages(context, picture, m) {
    const { store, palette } = this.context;
    const [high, wide] = store.problem.image_shape;
    const space = { width: this.box.width - RIGHT - 16, height: this.box.height - 8 };
    const label = 20;
    let best = null;
    for (let across = 1; across <= m; across++) {
      const down = Math.ceil(m / across);
      const size = Math.min((space.width / across - 8) / wide, (space.height / down - label - 6) / high);
      if (!best || size > best.size) best = { size, across, down };
    }
    const { size, across } = best;
    const tile = { width: Math.floor(size * wide), height: Math.floor(size * high) };
    const tiles = [];
    context.font = "11px " + FONT;
    for (let c = 0; c < m; c++) {
      const left = 8 + (c % across) * (tile.width + 8);
      const top = label + Math.floor(c / across) * (tile.height + label + 6);
      const area = { left, top, width: tile.width, height: tile.height };
      paintCells(context, wide, high, area, (i) => palette.pixel(picture.cells[i * m + c]));
      context.strokeStyle = palette.colour("grid");
      context.strokeRect(left - 0.5, top - 0.5, tile.width + 1, tile.height + 1);
      context.fillStyle = palette.colour("text");
      context.textAlign = "left";
      context.textBaseline = "bottom";
      context.fillText(fitText(context, store.problem.class_names[c], tile.width), left, top - 4);
      tiles.push(area);
    }
    this.places = { kind: "images", tiles, high, wide, m };
  }

  drawScale(context, picture) {
    const place = { left: this.box.width - RIGHT + 16, top: TOP + 8, height: Math.min(140, this.box.height - 60) };
    paintScale(context, this.context.palette, place, picture.scale, this.strong);
  }

  /** The weight under the pointer: {row, cls, cell, bin}. */
  cellAt(event) {
    const places = this.places;
    const picture = this.context.store.picture;
    if (!places || !picture) return null;
    const { offsetX: x, offsetY: y } = event;
    if (places.kind === "matrix") {
      const { area, m, k } = places;
      const cls = Math.floor(((x - area.left) / area.width) * m);
      const line = Math.floor((y - area.top) / places.rowHeight);
      // names at the left belong to their rows too
      if (line < 0 || line >= k || cls >= m || x > area.left + area.width) return null;
      const block = picture.blocks ? picture.blocks[line] : null;
      if (cls < 0) return { row: picture.rows[line], cls: null, cell: null, block };
      const first = picture.classes ? picture.classes[cls] : cls;
      const binned = picture.binned > 1 || picture.together > 1;
      return { row: picture.rows[line], cls: first, cell: picture.cells[line * m + cls], binned, block, line, column: cls };
    }
    const cls = places.tiles.findIndex((t) => x >= t.left && x < t.left + t.width && y >= t.top && y < t.top + t.height);
    if (cls < 0) return null;
    const tile = places.tiles[cls];
    const column = Math.floor(((x - tile.left) / tile.width) * places.wide);
    const line = Math.floor(((y - tile.top) / tile.height) * places.high);
    const row = line * places.wide + column;
    const block = picture.blocks ? picture.blocks[row] : null;
    return { row, cls, cell: picture.cells[row * places.m + cls], binned: false, block };
  }

  picked(event) {
    const cell = this.dragged ? null : this.cellAt(event);
    this.dragged = false;
    return cell ? cell.row : null;
  }

  hover(event) {
    if (this.drag) this.showDrag(event);
    const cell = this.cellAt(event);
    if (!cell) {
      this.leave();
      return;
    }
    this.context.tooltip.show(event, this.about(cell, (lines) => this.context.tooltip.show(event, lines)));
  }

  /** What is known of a cell; the exact weight is asked for, and `then` gets the sentences with it. */
  about(cell, then) {
    const { store, names, link } = this.context;
    const name = names.of(cell.row) || "row " + cell.row;
    if (cell.cls === null) {
      this.hovered = "";
      const about = cell.block === null ? "" : blockName(store.picture, cell.block) + ", ";
      return [name, `${about}row ${cell.row}; click to inspect`];
    }
    const value = store.picture.scale * (cell.cell / 127);
    const key = `${cell.row},${cell.cls},${cell.line}`;
    const known = this.exactKey === key && this.exactVersion === store.picture.version;
    let lines = known ? this.exactLines : [`${name} → ${store.problem.class_names[cell.cls]}`, "weight ≈ " + short(value, 2)];
    if (!known && cell.binned) lines = cell.cell === 0 ? ["all weights here are zero"] : ["weight ≈ " + short(value, 2), "(the largest of those put together here)"];
    else if (!known && cell.block !== null) lines.push(blockName(store.picture, cell.block));
    if (this.hovered === key && this.exactVersion === store.picture.version) return lines;
    this.hovered = key;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.hovered !== key || (cell.binned && cell.cell === 0)) return;
      const [kind, question] = cell.binned ? ["cell", { line: cell.line, column: cell.column }] : ["value", { row: cell.row, cls: cell.cls }];
      link.ask(kind, question, (answer) => {
        if (this.hovered !== key) return;
        this.exactKey = key;
        this.exactVersion = this.context.store.picture ? this.context.store.picture.version : 0;
        this.exactLines = answerLines(answer, this.context.store.problem.class_names[answer.cls], cell.binned);
        then(this.exactLines);
      });
    }, ASK_DELAY);
    return lines;
  }

  /** Lines by columns that the keyboard moves over: rows by classes, or the pixels of all images side by side. */
  shape() {
    const { places } = this;
    if (!places) return null;
    return places.kind === "matrix" ? [places.k, places.m] : [places.high, places.wide * places.m];
  }

  spot([line, column]) {
    const { places } = this;
    if (!places) return null;
    if (places.kind === "matrix") {
      const { area, m, rowHeight } = places;
      return { left: area.left + (column * area.width) / m, top: area.top + line * rowHeight, width: area.width / m, height: rowHeight };
    }
    const tile = places.tiles[Math.floor(column / places.wide)];
    const [width, height] = [tile.width / places.wide, tile.height / places.high];
    return { left: tile.left + (column % places.wide) * width, top: tile.top + line * height, width, height };
  }

  under(cell) {
    const { left, top, width, height } = this.spot(cell);
    return this.cellAt({ offsetX: left + width / 2, offsetY: top + height / 2 });
  }

  tell(cell) {
    const found = this.under(cell);
    return found ? this.about(found, () => this.cursor.show()) : [];
  }

  pick(cell) {
    const found = this.under(cell);
    if (found) this.context.select(found.row);
  }

  leave() {
    this.hovered = "";
    clearTimeout(this.timer);
    super.leave();
  }
}
