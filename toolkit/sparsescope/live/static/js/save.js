// Take a view along: its numbers as CSV, its picture as PNG or SVG.

import { h } from "./dom.js";
import { FONT } from "./charts/palette.js";
import { s } from "./charts/svg.js";

const FORMATS = ["CSV", "PNG", "SVG"];
const SHARP = 2; // pixels of a PNG for each of the page

/** Rows of cells as CSV; texts with commas, quotes or line ends are quoted, unknown numbers are empty. */
export function csvText(rows) {
  const cell = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return "";
    const text = String(value);
    return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** The measured points of the lines of a chart: one row an event, empty where nothing was measured. */
export function lineRows(entries, store) {
  const columns = ["iteration", "passes", "seconds", "segment", ...entries.flatMap((entry) => (entry.area ? [entry.low, entry.high] : [entry.column]))];
  const values = columns.map((name) => store.values(name));
  const rows = [columns];
  for (let i = 0; i < store.n; i++) rows.push(values.map((column) => (column ? column[i] : NaN)));
  return rows;
}

/** A menu that saves a chart in the formats it has. */
export function saveMenu(chart, store) {
  const formats = FORMATS.filter((format) => format !== "CSV" || chart.rows);
  const menu = h(
    "select", {
      class: "save", "aria-label": `save ${chart.spec.title}`, title: "save this view", "data-testid": "save-" + chart.spec.id,
      onchange: async () => {
        const format = menu.value;
        menu.selectedIndex = 0;
        await save(chart, format, store);
      },
    },
    h("option", { value: "" }, "save"), ...formats.map((format) => h("option", { value: format }, format)),
  );
  return menu;
}

async function save(chart, format, store) {
  const name = `${store.problem ? store.problem.name : "run"}-${chart.spec.id}`.replace(/[^\w.-]+/g, "-");
  if (format === "CSV") downloadRows(name + ".csv", chart.rows());
  else {
    const text = new XMLSerializer().serializeToString(pictureOf(chart));
    if (format === "SVG") download(name + ".svg", new Blob([text], { type: "image/svg+xml" }));
    else download(name + ".png", await pngOf(text, chart.box.width, chart.box.height));
  }
}

/** What a chart shows as one SVG: its lines and labels, or its canvas as an image. */
function pictureOf(chart) {
  const { palette } = chart.context;
  const { width, height } = chart.box;
  const picture = s("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    s("rect", { width, height, fill: palette.colour("paper") }));
  if (chart.svg) {
    picture.append(...Array.from(chart.svg.childNodes, (node) => node.cloneNode(true)));
    for (const node of chart.labelNodes) {
      const place = /translate\(([-\d.]+)px, ([-\d.]+)px\)/.exec(node.style.transform);
      if (node.style.visibility === "hidden" || !place) continue;
      picture.append(s("text", { x: place[1], y: Number(place[2]) + 11, "font-size": 11, "font-weight": 600, "font-family": FONT, fill: node.style.color }, node.textContent));
    }
  }
  const canvas = chart.canvas;
  if (canvas) picture.append(s("image", { href: canvas.toDataURL("image/png"), width, height }));
  return picture;
}

async function pngOf(text, width, height) {
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = h("canvas", { width: SHARP * width, height: SHARP * height });
    canvas.getContext("2d").drawImage(image, 0, 0, SHARP * width, SHARP * height);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

export function downloadRows(name, rows) {
  download(name, new Blob([csvText(rows)], { type: "text/csv" }));
}

export function download(name, blob) {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
