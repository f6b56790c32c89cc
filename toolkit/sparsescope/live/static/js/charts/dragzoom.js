// Zoom of a line chart: drag a box, double-click to see all again.

import { show } from "../dom.js";

const FARTHER = 6; // pixels the pointer has to move

export function dragZoom(chart) {
  const { plot } = chart.box;
  let from = null;
  const place = (event) => {
    const box = plot.getBoundingClientRect();
    const area = chart.area();
    const inside = (value, low, size) => Math.min(low + size, Math.max(low, value));
    return [inside(event.clientX - box.left, area.left, area.width), inside(event.clientY - box.top, area.top, area.height)];
  };
  const corners = (event) => {
    const to = place(event);
    const [xs, ys] = [0, 1].map((k) => [from[k], to[k]].sort((a, b) => a - b));
    return Math.max(xs[1] - xs[0], ys[1] - ys[0]) < FARTHER ? null : { xs, ys };
  };
  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return; // a finger scrolls
    from = place(event);
    plot.setPointerCapture(event.pointerId);
  });
  plot.addEventListener("pointermove", (event) => {
    const box = from && corners(event);
    show(chart.zoomBox, Boolean(box));
    if (!box) return;
    const { xs, ys } = box;
    Object.assign(chart.zoomBox.style, { left: xs[0] + "px", top: ys[0] + "px", width: xs[1] - xs[0] + "px", height: ys[1] - ys[0] + "px" });
  });
  plot.addEventListener("pointerup", (event) => {
    const box = from && corners(event);
    from = null;
    show(chart.zoomBox, false);
    if (!box) return;
    const area = chart.area();
    chart.axis.setZoom(box.xs.map((x) => chart.axis.value((x - area.left) / area.width)));
    const [low, high] = chart.ranges.left;
    const value = (y) => {
      const part = 1 - (y - area.top) / area.height;
      return chart.leftLog ? low * (high / low) ** part : low + part * (high - low);
    };
    if (box.ys[1] - box.ys[0] >= FARTHER) chart.zoomY = [value(box.ys[1]), value(box.ys[0])];
    chart.context.requestDraw();
  });
  plot.addEventListener("dblclick", () => {
    chart.zoomY = null;
    chart.axis.setZoom(null);
    chart.context.requestDraw();
  });
}
