// The charts of the explorer: which class draws a spec, and where on the page it stands.

import { textWidth } from "./axes.js";
import { ConfusionChart } from "./confusion.js";
import { FailedChart, failed } from "./failed.js";
import { FeaturesChart } from "./featureschart.js";
import { LineChart } from "./lines.js";
import { MatrixChart } from "./matrix.js";
import { NetworkChart } from "./network.js";
import { RasterChart } from "./raster.js";
import { SpectrumChart } from "./spectrum.js";
import { StageMatrix } from "./stagematrix.js";
import { ThetaChart } from "./theta.js";
import { ThresholdChart } from "./threshold.js";
import { WordList } from "./words.js";
import { saveMenu } from "../save.js";

const RIGHT_AXIS = 44; // pixels for the numbers of an axis at the right
const HEIGHT = 320; // of a chart without a height below
const HEIGHTS = { convergence: 224, accuracy: 224, "active-set": 224, duality: 224, features: 288, weights: 320, network: 584, entries: 232, theta: 540, threshold: 176, words: 176 };
const PLACED = new Set([...Object.keys(HEIGHTS), "confusion", "spectrum"]); // the areas of the page's grid
const CHARTS = {
  lines: LineChart, raster: RasterChart, matrix: MatrixChart, stages: StageMatrix, spectrum: SpectrumChart, theta: ThetaChart, network: NetworkChart,
  threshold: ThresholdChart, words: WordList, confusion: ConfusionChart, failed: FailedChart,
};

/** Whether there is a chart for a spec. */
export function isKnown(spec) {
  return Boolean(CHARTS[spec.kind]);
}

/** The chart of a spec as an entry of the page's list; of a user's view that fails, its error: the others are shown all the same. */
export function entryOf(spec, page) {
  try {
    return entry(spec, page);
  } catch (problem) {
    return entry(failed(spec, problem), page);
  }
}

/** A chart that shows an error in the place of another. */
export function failedChart(spec, problem, page) {
  return placed(new FailedChart(failed(spec, problem), page, HEIGHT));
}

function entry(spec, page) {
  const Chart = spec.x ? FeaturesChart : CHARTS[spec.kind];
  const chart = placed(new Chart(spec, page, HEIGHTS[spec.id] || HEIGHT));
  if (chart.svg || chart.canvas || chart.rows) chart.box.tools.append(saveMenu(chart, page.store));
  return { chart, visible: true, drawn: -1, label: widestLabel(spec) };
}

/** Width of the longest name at the end of a line, with the axis that may stand before it. */
function widestLabel(spec) {
  if (spec.kind !== "lines") return 0;
  return Math.max(0, ...spec.y.map((line) => textWidth(line.label) + (spec.right ? RIGHT_AXIS : 0)));
}

/** The chart, put to its place on the page; one without a place gets a row. */
function placed(chart) {
  const { style } = chart.box.element;
  if (PLACED.has(chart.box.id)) style.gridArea = chart.box.id;
  else style.gridColumn = "1 / -1";
  return chart;
}
