// Zoom of a picture without axes: buttons, + − 0 and the arrow keys, the wheel while the picture has the focus, and a drag.

import { h } from "../dom.js";

const CLOSEST = 12;
const CLOSER = 1.4;
const SHIFT = 40; // pixels of an arrow key
const DRAGGED = 4; // pixels from which on a press is a drag

export class Zoom {
  constructor(box, changed) {
    this.changed = changed;
    this.plot = box.plot;
    this.reset();
    this.held = null;
    this.moved = false;
    const button = (text, title, act) => h("button", { type: "button", title, "aria-label": title, "data-testid": `zoom-${title.split(" ")[1]}`, onclick: act }, text);
    box.tools.append(button("+", "zoom in", () => this.by(CLOSER)), button("−", "zoom out", () => this.by(1 / CLOSER)), button("whole", "zoom whole picture", () => this.whole()));
    box.plot.setAttribute("tabindex", "0");
    box.plot.setAttribute("role", "group");
    box.plot.setAttribute("aria-label", `${box.element.getAttribute("aria-label")}: plus and minus zoom, 0 shows the whole, arrows move`);
    box.plot.addEventListener("keydown", (event) => this.key(event));
    box.plot.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    box.plot.addEventListener("pointerdown", (event) => this.press(event));
    box.plot.addEventListener("pointermove", (event) => this.drag(event));
    for (const type of ["pointerup", "pointercancel"]) box.plot.addEventListener(type, () => (this.held = null));
    box.plot.addEventListener("dblclick", () => this.whole());
  }

  reset() {
    this.scale = 1;
    this.x = this.y = 0; // pixels
  }

  key_of() {
    return [this.scale, this.x, this.y].join();
  }

  /** The pixels of a place of the whole picture. */
  of([x, y], { width, height }) {
    return [width / 2 + this.scale * (x - width / 2) + this.x, height / 2 + this.scale * (y - height / 2) + this.y];
  }

  whole() {
    this.reset();
    this.changed();
  }

  /** Zoom about a point, given in pixels from the middle. */
  by(factor, [px, py] = [0, 0]) {
    const scale = Math.min(CLOSEST, Math.max(1, this.scale * factor));
    const real = scale / this.scale;
    this.x = px - real * (px - this.x);
    this.y = py - real * (py - this.y);
    this.scale = scale;
    if (scale === 1) this.reset();
    this.keep();
  }

  /** The picture stays within reach: at most so far that its edge is in the middle. */
  keep() {
    const [w, g] = [this.plot.clientWidth, this.plot.clientHeight].map((size) => ((this.scale - 1) * size) / 2);
    this.x = Math.min(w, Math.max(-w, this.x));
    this.y = Math.min(g, Math.max(-g, this.y));
    this.changed();
  }

  move(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.keep();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const way = { ArrowLeft: [SHIFT, 0], ArrowRight: [-SHIFT, 0], ArrowUp: [0, SHIFT], ArrowDown: [0, -SHIFT] }[event.key];
    const factor = { "+": CLOSER, "=": CLOSER, "-": 1 / CLOSER }[event.key];
    if (factor) this.by(factor);
    else if (event.key === "0") this.whole();
    else if (way && this.scale > 1) this.move(...way);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  wheel(event) {
    const focused = this.plot.getRootNode().activeElement === this.plot;
    if (!focused && !event.ctrlKey) return; // the page scrolls
    event.preventDefault();
    const box = this.plot.getBoundingClientRect();
    this.by(Math.exp(-event.deltaY / 300), [event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2]);
  }

  press(event) {
    this.moved = false;
    if (event.button !== 0 || this.scale === 1) return;
    this.held = [event.clientX, event.clientY];
    this.plot.setPointerCapture(event.pointerId);
  }

  drag(event) {
    if (!this.held) return;
    const [dx, dy] = [event.clientX - this.held[0], event.clientY - this.held[1]];
    if (!this.moved && Math.hypot(dx, dy) < DRAGGED) return;
    this.moved = true;
    this.held = [event.clientX, event.clientY];
    this.move(dx, dy);
  }
}
