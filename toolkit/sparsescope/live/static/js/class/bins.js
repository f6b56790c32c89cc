// A histogram of predictions: grey before talking, coloured after it, darker where people were sure.

import { h } from "../dom.js";

const SURE = ["guessed", "fairly sure", "sure"];
const sum = (counts) => counts.reduce((total, count) => total + count, 0);

function bar(phase, counts, most) {
  const parts = counts.map((count, k) => {
    const part = h("span", { class: "c" + (k + 1), title: `${count} ${phase} talking, ${SURE[k]}` });
    part.style.width = `${(85 * count) / most}%`;
    return part;
  });
  return h("div", { class: `bar ${phase}` }, ...parts, h("i", {}, String(sum(counts))));
}

/** Rows of a histogram. `marked`: labels of the answer, and the word for it. */
export function histogram(bins, marked = [], word = "measured") {
  const most = Math.max(1, ...bins.flatMap((bin) => [sum(bin.before), sum(bin.after)]));
  const talked = bins.some((bin) => sum(bin.after));
  return bins.map((bin) => {
    const found = marked.includes(bin.label);
    return h(
      "div", { class: found ? "bin measured" : "bin", "data-label": bin.label },
      h("div", { class: "name" }, bin.label, found ? h("b", {}, ` ◀ ${word}`) : null),
      h("div", {}, bar("before", bin.before, most), talked ? bar("after", bin.after, most) : null),
    );
  });
}
