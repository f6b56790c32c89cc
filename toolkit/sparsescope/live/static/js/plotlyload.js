// plotly is carried as text and evaluated once, whatever the number of explorers on the page. A plotly that the page
// has already (a notebook, Panel) is left as it is.

import { embedded } from "./embedded.js";

const KEY = "__sparsescope_plotly";
const STYLE_ID = "plotly.js-style-global"; // plotly puts its own rules into the document's head under this id

export function loadPlotly() {
  const slot = KEY + "_" + embedded("plotlyVersion");
  if (!globalThis[slot]) globalThis[slot] = evaluate(embedded("plotlySource"));
  return globalThis[slot];
}

async function evaluate(source) {
  const before = window.Plotly;
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    await import(/* webpackIgnore: true */ address);
    return window.Plotly;
  } finally {
    URL.revokeObjectURL(address);
    if (before === undefined) delete window.Plotly;
    else window.Plotly = before;
  }
}

/** Rules in the head do not reach into a shadow root: copy plotly's there. */
export function adoptPlotlyStyle(root) {
  const source = document.getElementById(STYLE_ID);
  if (!source || !source.sheet) return;
  const style = document.createElement("style");
  style.textContent = Array.from(source.sheet.cssRules, (rule) => rule.cssText).join("\n");
  root.append(style);
}
