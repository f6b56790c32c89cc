// Θ as a matrix: features by features in one order, colours from the entries off the diagonal. A pair has the colour that
// its edge has in the graph, by the sign of the partial correlation −Θ_ij/√(Θ_iiΘ_jj).

import { fitCanvas, h } from "../dom.js";
import { count, plural, short } from "./format.js";
import { CanvasChart } from "./chartbox.js";
import { exact, fitText } from "./axes.js";
import { paintCells, paintScale } from "./paint.js";
import { FONT, pack, rgb } from "./palette.js";

const ORDER_LABELS = { given: "as given", degree: "degree", component: "component", name: "name" };
const SIDE = 116; // room for names at the left
const UNDER = 84; // and below
const OVER = 10;
const BESIDE = 92; // room for the scale and what it means
const NAME_STEP = 12; // pixels between names
const FEW_LIT = 0.2; // with fewer lit cells than this share, small entries get a stronger colour
const REST_DELAY = 70; // ms the pointer has to rest before the exact value is asked for

export class ThetaChart extends CanvasChart {
  constructor(spec, context, height) {
    super(spec, context, height);
    this.orderSelect = h(
      "select", { "data-testid": "order-select", "aria-label": "order of the features", onchange: () => this.context.link.set({ order: this.orderSelect.value }) },
      ...spec.orders.map((name) => h("option", { value: name }, ORDER_LABELS[name] || name)),
    );
    this.box.tools.append(h("label", { class: "inline" }, "order by ", this.orderSelect));
    this.places = null;
    this.hovered = "";
  }

  /** What the explorer needs to know: how many lines can be told apart. */
  wish() {
    const lines = Math.max(8, Math.floor(this.side()));
    return { rows: lines, columns: lines };
  }

  side() {
    return Math.max(40, Math.min(this.box.width - SIDE - BESIDE, this.box.height - OVER - UNDER));
  }

  draw() {
    const { store, palette } = this.context;
    const picture = store.picture;
    if (store.settings.order && this.orderSelect.value !== store.settings.order) this.orderSelect.value = store.settings.order;
    const sentence = picture ? "" : this.spec.empty;
    this.box.setEmpty(sentence);
    const key = [picture && picture.version, this.box.width, this.box.height, palette.theme, this.context.selected].join();
    if (key === this.box.drawnKey) return;
    this.box.drawnKey = key;
    const context = fitCanvas(this.canvas, this.box.width, this.box.height);
    context.clearRect(0, 0, this.box.width, this.box.height);
    this.places = null;
    if (sentence) return;
    this.drawMatrix(context, picture);
    const edges = picture.ties.length + picture.hidden;
    this.box.setNote(
      (edges ? `${plural(edges, "pair", "pairs")} of features with Θ_ij ≠ 0`.replace("Θ_ij", "Θᵢⱼ") : "diagonal: no two features are tied") +
      (picture.binned > 1 ? `; a cell: the largest of ${short(picture.binned, 2)} × ${short(picture.binned, 2)}` : "") +
      ` · iteration ${count(picture.iteration)}`,
    );
  }

  drawMatrix(context, picture) {
    const { palette } = this.context;
    const k = picture.shape[0];
    const side = Math.min(this.side(), 48 * k);
    const area = { left: SIDE, top: OVER, width: side, height: side };
    const strong = picture.cells.reduce((sum, cell) => sum + (cell !== 0), 0) < FEW_LIT * picture.cells.length;
    const diagonal = pack(rgb(palette.colour("kept")));
    paintCells(context, k, k, area, (i) => (i % (k + 1) === 0 ? diagonal : palette.pixel(-picture.cells[i], strong)));
    context.strokeStyle = palette.colour("axis");
    context.lineWidth = 1;
    context.strokeRect(area.left - 0.5, area.top - 0.5, side + 1, side + 1);
    if (picture.parts) this.drawParts(context, picture, area, k);
    this.drawNames(context, picture, area, k);
    this.drawChosen(context, picture, area, k);
    this.drawLegend(context, picture, area, strong);
    this.places = { area, k };
  }

  /** Squares around the components, where they stand together. */
  drawParts(context, picture, area, k) {
    const cell = area.width / k;
    context.strokeStyle = this.context.palette.colour("axis");
    context.lineWidth = 1;
    let start = 0;
    for (let i = 1; i <= k; i++) {
      if (i < k && picture.parts[i] === picture.parts[start]) continue;
      if (i - start > 1) {
        const at = Math.round(area.left + start * cell) - 0.5;
        const top = Math.round(area.top + start * cell) - 0.5;
        context.strokeRect(at, top, Math.round((i - start) * cell) + 1, Math.round((i - start) * cell) + 1);
      }
      start = i;
    }
  }

  drawNames(context, picture, area, k) {
    const { palette, names, selected } = this.context;
    const cell = area.width / k;
    const step = Math.max(1, Math.ceil(NAME_STEP / cell));
    context.font = "11px " + FONT;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (let i = 0; i < k; i += step) {
      const name = names.of(picture.rows[i]) || "";
      const middle = (i + 0.5) * cell;
      context.fillStyle = palette.colour(picture.rows[i] === selected ? "blue" : "text");
      context.fillText(fitText(context, name, SIDE - 14), area.left - 7, area.top + middle);
      context.save();
      context.translate(area.left + middle, area.top + area.height + 7);
      context.rotate(-Math.PI / 2);
      context.fillText(fitText(context, name, UNDER - 12), 0, 0);
      context.restore();
      if (step === 1) continue;
      context.fillStyle = palette.colour("axis");
      context.fillRect(area.left - 4, Math.round(area.top + middle), 4, 1);
      context.fillRect(Math.round(area.left + middle), area.top + area.height, 1, 4);
    }
  }

  drawChosen(context, picture, area, k) {
    const at = picture.binned > 1 ? -1 : picture.rows.indexOf(this.context.selected ?? -1);
    if (at < 0) return;
    const cell = area.width / k;
    context.strokeStyle = this.context.palette.colour("blue");
    context.lineWidth = 1.5;
    context.strokeRect(area.left - 1, area.top + at * cell - 1, area.width + 2, Math.max(3, cell) + 2);
    context.strokeRect(area.left + at * cell - 1, area.top - 1, Math.max(3, cell) + 2, area.height + 2);
  }

  drawLegend(context, picture, area, strong) {
    const { palette } = this.context;
    const left = area.left + area.width + 16;
    context.font = "11px " + FONT;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillStyle = palette.colour("text");
    context.fillText("Θᵢⱼ, i ≠ j", left, area.top + 6);
    const height = Math.max(40, Math.min(140, area.height - 90));
    paintScale(context, palette, { left, top: area.top + 24, height }, -picture.scale, strong);
    const low = area.top + 24 + height + 24;
    context.fillStyle = palette.colour("kept");
    context.fillRect(left, low - 5, 10, 10);
    context.fillStyle = palette.colour("text");
    context.fillText("diagonal", left + 16, low);
    context.fillStyle = palette.colour("muted");
    const [least, most] = [Math.min(...picture.diagonal), Math.max(...picture.diagonal)];
    context.fillText(`${short(least, 2)} to ${short(most, 2)}`, left, low + 16);
  }

  /** Under the pointer: {row, column, cell, line, across}; over the names of one axis only that one is known. */
  cellAt(event) {
    const picture = this.context.store.picture;
    if (!this.places || !picture) return null;
    const { area, k } = this.places;
    const line = Math.floor(((event.offsetY - area.top) / area.height) * k);
    const across = Math.floor(((event.offsetX - area.left) / area.width) * k);
    const inside = [line, across].map((at) => at >= 0 && at < k);
    if (across < 0 && inside[0]) return { row: picture.rows[line], column: null };
    if (line >= k && inside[1]) return { row: null, column: picture.rows[across] };
    if (!inside[0] || !inside[1]) return null;
    return { row: picture.rows[line], column: picture.rows[across], cell: picture.cells[line * k + across], line, across };
  }

  picked(event) {
    const cell = this.cellAt(event);
    return cell ? cell.row ?? cell.column : null;
  }

  hover(event) {
    const cell = this.cellAt(event);
    const { store, tooltip, names } = this.context;
    if (!cell) {
      this.leave();
      return;
    }
    const picture = store.picture;
    const name = (j) => names.of(j) || "feature " + j;
    const one = cell.row === cell.column ? cell.row : cell.row === null ? cell.column : cell.column === null ? cell.row : null;
    if (picture.binned > 1 && one === null) {
      const value = (picture.scale * cell.cell) / 127;
      tooltip.show(event, [`from ${name(cell.row)} and ${name(cell.column)} on`, cell.cell ? `largest entry ≈ ${short(value, 2)}` : "all entries here are zero"]);
      return;
    }
    if (one !== null) {
      this.hovered = "";
      tooltip.show(event, [name(one), `${plural(picture.degrees[one], "partner", "partners")} · Θⱼⱼ = ${exact(picture.diagonal[one])}`, "click to inspect"]);
      return;
    }
    this.hoverPair(event, cell, [`${name(cell.row)} – ${name(cell.column)}`]);
  }

  hoverPair(event, cell, lines) {
    const { store, tooltip, link } = this.context;
    const picture = store.picture;
    if (cell.cell === 0) {
      this.hovered = "";
      tooltip.show(event, [...lines, "not tied: Θᵢⱼ = 0"]);
      return;
    }
    const key = `${cell.row},${cell.column}`;
    const said = (value, sign) => {
      const tie = -value / Math.sqrt(picture.diagonal[cell.row] * picture.diagonal[cell.column]);
      return [...lines, `Θᵢⱼ ${sign} ${sign === "=" ? exact(value) : short(value, 2)}`, `partial correlation ${short(tie, 3)}`];
    };
    const known = this.exact && this.exact.key === key && this.exact.version === picture.version;
    tooltip.show(event, known ? this.exact.lines : said((picture.scale * cell.cell) / 127, "≈"));
    if (known || this.hovered === key) return;
    this.hovered = key;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.hovered !== key) return;
      link.ask("value", { row: cell.row, cls: cell.column }, (answer) => {
        if (this.hovered !== key || !store.picture) return;
        this.exact = { key, version: store.picture.version, lines: said(answer.value, "=") };
        tooltip.show(event, this.exact.lines);
      });
    }, REST_DELAY);
  }

  leave() {
    this.hovered = "";
    clearTimeout(this.timer);
    super.leave();
  }
}
