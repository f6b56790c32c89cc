// Θ as a graph: features are nodes in fixed places, and an edge is a partial correlation that is not zero.

import { fitCanvas } from "../dom.js";
import { count, plural, short } from "./format.js";
import { CanvasChart } from "./chartbox.js";
import { fitText } from "./axes.js";
import { Zoom } from "./zoom.js";
import { FONT } from "./palette.js";

const RIM = 40; // pixels kept free around the nodes, for their names
const STRETCH = 1.6; // how much more one axis may be stretched than the other
const LONGEST = 108; // pixels of a name
const TOUCH = 16; // pixels from a node within which the pointer means it
const TOLD = 6; // partners that a tooltip names
const ALL_NAMED = 60; // with at most this many nodes those without edges have their names too

/** Pixels of the nodes: places (from −1 to 1) fitted into an area; `square` keeps the ratio of the axes. */
export function fitPlaces(places, area, square) {
  const axes = [0, 1].map((axis) => {
    const values = places.map((place) => place[axis]);
    const low = Math.min(...values);
    const high = Math.max(...values);
    return { middle: (low + high) / 2, half: Math.max((high - low) / 2, 1e-9) };
  });
  const room = [area.width / 2, area.height / 2];
  const scale = axes.map(({ half }, k) => room[k] / half);
  const most = Math.min(...scale) * (square ? 1 : STRETCH);
  const unit = scale.map((value) => Math.min(value, most));
  return places.map((place) => [
    area.left + room[0] + unit[0] * (place[0] - axes[0].middle),
    area.top + room[1] + unit[1] * (place[1] - axes[1].middle),
  ]);
}

/** The edges of a node as [partner, tie], the strongest first, of edges that come in this order. */
export function partnersOf(picture, node) {
  const found = [];
  for (let e = 0; e < picture.ties.length; e++) {
    const [i, j] = [picture.edges[2 * e], picture.edges[2 * e + 1]];
    if (i === node || j === node) found.push([i === node ? j : i, picture.ties[e]]);
  }
  return found;
}

/**
 * Where names go: for each of `items` ({x, y, radius, width}), the more important first, the first of the sides right,
 * left, above and below that is free (`below`: that one first); null where none is. `inside` tells whether a box is
 * within the picture.
 */
export function placeNames(items, nodes, inside, below = false, height = 13) {
  const taken = [];
  const free = (box) => inside(box)
    && !taken.some((other) => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom)
    && !nodes.some((node) => node.x + node.radius > box.left && node.x - node.radius < box.right && node.y + node.radius > box.top && node.y - node.radius < box.bottom);
  return items.map(({ x, y, radius, width }) => {
    const gap = radius + 3;
    const sides = [[gap, -height / 2], [-gap - width, -height / 2], [-width / 2, -gap - height], [-width / 2, gap]];
    if (below) sides.unshift(sides.pop());
    for (const [dx, dy] of sides) {
      const box = { left: x + dx, top: y + dy, right: x + dx + width, bottom: y + dy + height };
      if (!free(box)) continue;
      taken.push(box);
      return [box.left, box.top + height / 2];
    }
    return null;
  });
}

export class NetworkChart extends CanvasChart {
  constructor(spec, context, height) {
    super(spec, context, height);
    this.nodes = [];
    this.hot = null; // the node under the pointer
    this.zoom = new Zoom(this.box, () => this.context.requestDraw());
  }

  wish() {
    return {};
  }

  draw() {
    const { store, palette, selected } = this.context;
    const picture = store.picture;
    this.box.setEmpty(this.sentence(store, picture));
    const key = [picture && picture.version, store.problem && store.problem.epoch, this.box.width, this.box.height, palette.theme, selected, this.hot, this.zoom.key_of()].join();
    if (key === this.box.drawnKey) return;
    this.box.drawnKey = key;
    const context = fitCanvas(this.canvas, this.box.width, this.box.height);
    context.clearRect(0, 0, this.box.width, this.box.height);
    if (!picture || !store.problem.places) return;
    this.settle(picture, store.problem);
    const lit = this.hot ?? null;
    const near = lit === null ? null : new Set([lit, ...partnersOf(picture, lit).map(([node]) => node)]);
    this.drawEdges(context, picture, lit);
    this.drawNodes(context, picture, near);
    this.drawNames(context, picture, near);
    if (picture.ties.length) this.drawKey(context); // else the sentence stands there
    this.box.setNote(this.note(picture, store.problem));
  }

  sentence(store, picture) {
    if (!picture) return this.spec.empty;
    if (picture.ties.length) return "";
    return store.status && store.status.iteration > 0
      ? "No edges: at this λ no two features are tied. A smaller λ lets edges appear."
      : "The run starts with a diagonal Θ, which has no edges.";
  }

  note(picture, problem) {
    const edges = picture.ties.length + picture.hidden;
    const alone = problem.d - picture.nonzero;
    const parts = [plural(edges, "edge", "edges")];
    if (picture.hidden) parts[0] += `, the ${count(picture.ties.length)} strongest drawn`;
    if (edges) parts.push(plural(picture.components, "component", "components"));
    if (alone) parts.push(`${plural(alone, "feature", "features")} without`);
    return parts.join(" · ");
  }

  /** Pixels and sizes of the nodes. */
  settle(picture, problem) {
    const area = { left: RIM, top: 16, width: this.box.width - 2 * RIM, height: this.box.height - 16 - 44 };
    const key = [problem.epoch, area.width, area.height].join();
    if (key !== this.fittedKey) this.fitted = fitPlaces(problem.places, area, problem.grid);
    this.fittedKey = key;
    const room = Math.sqrt((area.width * area.height) / problem.d); // the side of the square that a node has for itself
    const top = Math.max(1, picture.degrees.reduce((a, b) => Math.max(a, b), 0));
    const most = Math.min(11, 0.24 * room);
    const least = Math.min(3, most);
    const larger = Math.sqrt(this.zoom.scale);
    this.nodes = this.fitted.map((place, j) => {
      const degree = picture.degrees[j];
      const [x, y] = this.zoom.of(place, this.box);
      return { x, y, degree, radius: larger * (degree ? least + (most - least) * Math.sqrt(degree / top) : Math.min(2, least)) };
    });
  }

  drawEdges(context, picture, lit) {
    const { palette } = this.context;
    const many = picture.ties.length > 600 ? 0.75 : 1;
    context.lineCap = "round";
    for (let e = picture.ties.length - 1; e >= 0; e--) { // the strongest last, on top
      const [i, j] = [picture.edges[2 * e], picture.edges[2 * e + 1]];
      const [from, to] = [this.nodes[i], this.nodes[j]];
      const size = Math.abs(picture.ties[e]);
      const mine = i === lit || j === lit;
      context.globalAlpha = lit === null ? many * Math.min(1, 0.45 + 1.4 * size) : mine ? 1 : 0.06;
      context.strokeStyle = palette.colour(picture.ties[e] < 0 ? "blue" : "vermillion");
      context.lineWidth = Math.min(6, 1 + 6.5 * size);
      const shaky = picture.shares && picture.shares[e] < picture.threshold; // fewer halves of the samples have it
      context.setLineDash(shaky ? [2, 4] : []);
      if (shaky && lit === null) context.globalAlpha *= 0.6;
      context.beginPath();
      context.moveTo(from.x, from.y);
      context.lineTo(to.x, to.y);
      context.stroke();
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  drawNodes(context, picture, near) {
    const { palette, selected } = this.context;
    this.nodes.forEach((node, j) => {
      context.globalAlpha = near && !near.has(j) ? 0.25 : 1;
      context.beginPath();
      context.arc(node.x, node.y, node.radius, 0, 2 * Math.PI);
      context.fillStyle = palette.colour(node.degree ? "muted" : "kept");
      context.fill();
      context.strokeStyle = palette.colour("paper");
      context.lineWidth = 1;
      if (node.degree) context.stroke();
      if (j !== selected) return;
      context.beginPath();
      context.arc(node.x, node.y, node.radius + 3, 0, 2 * Math.PI);
      context.strokeStyle = palette.colour("blue");
      context.lineWidth = 2;
      context.stroke();
    });
    context.globalAlpha = 1;
  }

  /** Names, of those with most edges first; of the node under the pointer and its partners always first. */
  drawNames(context, picture, near) {
    const { palette, names, selected } = this.context;
    context.font = "11px " + FONT;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    const rank = (j) => (j === this.hot ? 3 : j === selected ? 2 : 0) + (near && near.has(j) ? 1 : 0);
    const every = this.nodes.length <= ALL_NAMED;
    const shown = this.nodes.map((_, j) => j).filter((j) => (near ? near.has(j) : every || this.nodes[j].degree > 0 || j === selected));
    shown.sort((a, b) => rank(b) - rank(a) || this.nodes[b].degree - this.nodes[a].degree || a - b);
    const texts = shown.map((j) => fitText(context, names.of(j) || "", LONGEST));
    const items = shown.map((j, k) => ({ ...this.nodes[j], width: context.measureText(texts[k]).width }));
    const inside = (box) => box.left >= 2 && box.right <= this.box.width - 2 && box.top >= 0 && box.bottom <= this.box.height - 30;
    const others = this.nodes.filter((node, j) => node.degree > 0 && (!near || near.has(j)));
    placeNames(items, others, inside, this.context.store.problem.grid).forEach((at, k) => {
      if (!at || !texts[k]) return;
      context.strokeStyle = palette.colour("paper");
      context.lineWidth = 3;
      context.strokeText(texts[k], ...at);
      context.fillStyle = palette.colour(shown[k] === selected ? "blue" : items[k].degree ? "text" : "muted");
      context.fillText(texts[k], ...at);
    });
  }

  /** What the lines mean, below. */
  drawKey(context) {
    const { palette } = this.context;
    const y = this.box.height - 14;
    let x = 16;
    context.font = "11px " + FONT;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.lineCap = "butt";
    for (const [colour, text] of [["vermillion", "positive"], ["blue", "negative partial correlation"]]) {
      context.strokeStyle = palette.colour(colour);
      context.lineWidth = 3;
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x + 18, y);
      context.stroke();
      context.fillStyle = palette.colour("muted");
      context.fillText(text, x + 24, y);
      x += 24 + context.measureText(text).width + 16;
    }
    const shaky = this.context.store.picture.shares ? " · dotted: not stable" : "";
    const rest = "wider: stronger · larger node: more edges" + shaky;
    if (x + context.measureText(rest).width < this.box.width - 8) context.fillText(rest, x, y);
  }

  nodeAt(event) {
    let best = null;
    let nearest = TOUCH * TOUCH;
    this.nodes.forEach((node, j) => {
      const distance = (node.x - event.offsetX) ** 2 + (node.y - event.offsetY) ** 2;
      if (distance < nearest) [nearest, best] = [distance, j];
    });
    return best;
  }

  picked(event) {
    return this.zoom.moved ? null : this.nodeAt(event);
  }

  hover(event) {
    if (this.zoom.held) return;
    const { store, tooltip, names } = this.context;
    const node = this.nodeAt(event);
    if (node !== this.hot) {
      this.hot = node;
      this.context.requestDraw();
    }
    if (node === null || !store.picture) {
      tooltip.hide();
      return;
    }
    const name = (j) => names.of(j) || "feature " + j;
    const partners = partnersOf(store.picture, node);
    const degree = store.picture.degrees[node];
    const lines = partners.slice(0, TOLD).map(([j, tie]) => `${name(j)}  ${short(tie, 2)}`);
    if (degree > lines.length) lines.push(`and ${count(degree - lines.length)} more`);
    tooltip.show(event, [name(node), degree ? `${plural(degree, "edge", "edges")}; partial correlations:` : "no edges at present", ...lines]);
  }

  leave() {
    super.leave();
    if (this.hot === null) return;
    this.hot = null;
    this.context.requestDraw();
  }
}
