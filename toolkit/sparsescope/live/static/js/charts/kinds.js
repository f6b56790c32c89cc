// What the page calls things, kind of problem by kind of problem. Nothing here draws.

import { count, known, number, plural } from "./format.js";

const MOST_BARS = 24; // classes, or pairs of features, on the first screen

const PREDICTION = {
  lever: "λ",
  watch: true, // λ falls from λ_max, and features come in
  question: (p) => `Which few of ${count(p.d)} ${p.image_shape ? "pixels" : "features"} tell ${count(p.all_classes.length)} ${p.multilabel ? "labels" : "classes"} apart?`,
  start: "W = 0",
  sizes: (p) => `n ${count(p.n)} · d ${count(p.d)} · m ${count(p.m)}`,
  rows: { label: "rows", title: "rows of W that are not zero", of: (status, p) => [status.nonzero_rows, p.d], said: "non-zero rows" },
  raster: {
    side: "rows of W", first: "rows, by first entry", kept: "non-zero",
    begin: "The run starts at W = 0: no row is non-zero yet.",
    none: (after) => `After ${after} all rows of W are still zero: λ is too large for any feature to enter.`,
  },
  inspect: "Click a row of W or of the active set to see its weights here.",
  inspector: {
    note: (name, row, picture) => `${name} · row ${row} · norm ${number(picture.row_norm, 6)}`,
    zeros: true, never: "This row has been zero all the time.", in: "Non-zero", out: "Zero", values: "",
  },
  facts: (p) => [
    ["samples n", count(p.n) + (p.test_n ? ` (and ${count(p.test_n)} for testing)` : "")],
    ["features d", count(p.d) + (p.storage === "sparse" ? `, ${number(100 * p.density, 2)} % of X non-zero` : "")],
    [p.multilabel ? "labels m (sets of them)" : "classes m", count(p.all_classes.length)],
    ["F at W = 0", number(p.objective0, 6), "problem-F0"],
  ],
  noLamMax: "λ_ref (this penalty has no λ_max)",
  bars: (p) => ({
    title: p.multilabel ? "samples with each label" : "class sizes",
    rows: p.all_classes.slice(0, MOST_BARS).map((name, c) => [name, p.class_sizes[c], count(p.class_sizes[c])]),
    more: p.all_classes.length - MOST_BARS,
  }),
};

const COVARIANCE = {
  lever: "λ",
  question: (p) => `Which of ${count(p.d)} features are tied directly, when all others are known?`,
  start: "a diagonal Θ",
  sizes: (p) => (p.n ? `n ${count(p.n)} · ` : "") + `p ${count(p.d)}` + (p.all_features > p.d ? ` of ${count(p.all_features)}` : ""),
  rows: {
    label: "edges", title: "pairs of features with Θ_ij ≠ 0",
    of: (status, p) => [known(status.nonzero_entries) ? (status.nonzero_entries - p.d) / 2 : null, (p.d * (p.d - 1)) / 2],
    said: "edges",
  },
  raster: {
    side: "features", first: "features, by first edge", kept: "has edges",
    begin: "The run starts at a diagonal Θ: no feature has an edge yet.",
    none: (after) => `After ${after} no feature has an edge: a smaller λ lets edges appear.`,
  },
  inspect: "Click a feature to see its partners here.",
  inspector: {
    note: (name, row, picture) => `${name} · ${plural(picture.row_nonzero, "partner", "partners")}`,
    zeros: false, never: "This feature has had no edges all the time.", in: "With edges", out: "Without edges", values: " Partial correlations:",
  },
  facts: (p) => [
    ...(p.n ? [["samples n", count(p.n)]] : []),
    ["features p", count(p.d) + (p.all_features > p.d ? ` of ${count(p.all_features)}, those that vary most` : "")],
    ["S holds", p.correlation ? "correlations" : "covariances"],
    ["F at the best diagonal Θ", number(p.objective0, 6), "problem-F0"],
  ],
  noLamMax: "λ_ref (some pairs are not penalised)",
  bars: (p) => ({
    title: `strongest ${p.correlation ? "correlations" : "covariances"}`,
    rows: p.pairs.slice(0, MOST_BARS).map(([i, j, value]) => [`${p.class_names[i]} – ${p.class_names[j]}`, Math.abs(value), number(value, 3)]),
    more: 0,
  }),
};

const SEQUENCE = {
  ...PREDICTION,
  lever: "the ridge of a stage",
  watch: false,
  question: (p) => `How well do small fits, one after the other, tell ${count(p.all_classes.length)} classes apart?`,
  start: "no stage",
  rows: { label: "features", title: "features that stages were given so far, each time they were", of: (status) => [status.features, null], said: "features used" },
  noGap: "no gap is known",
  inspector: {
    ...PREDICTION.inspector, silent: true,
    note: (name, row, picture, p) => `${name}${row < p.d ? ` · row ${row}` : ""} · norm ${number(picture.row_norm, 6)}`,
  },
  inspect: "Click a row of the coefficients to see it here. A feature that the stage shown does not have is not listed.",
  facts: (p) => [
    ...PREDICTION.facts(p).filter(([name]) => name !== "F at W = 0"),
    ["F before the first stage", number(p.objective0, 6), "problem-F0"],
  ],
  noLamMax: "mean of the diagonal of XᵀX/n",
};

const WORDS = { prediction: PREDICTION, sequence: SEQUENCE, covariance: COVARIANCE };

/** The words for a problem; those of predictions until there is one. */
export function words(problem) {
  return (problem && WORDS[problem.kind]) || PREDICTION;
}
