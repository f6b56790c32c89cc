// A view that could not be described or drawn: its error and traceback stand where it would be, and all others go on.

import { h } from "../dom.js";
import { ChartBox } from "./chartbox.js";

export class FailedChart {
  constructor(spec, context, height) {
    this.spec = spec;
    this.box = new ChartBox(spec.id, spec.title, height);
    this.box.plot.style.height = "auto";
    this.box.plot.append(h(
      "div", { class: "chart-failed", role: "alert" },
      h("p", {}, spec.error),
      h("details", { open: "" }, h("summary", {}, "Traceback"), h("pre", {}, spec.traceback)),
    ));
    this.box.setEmpty("");
  }

  draw() {}
}

/** The spec of a view whose chart ended in an error. */
export function failed(spec, problem) {
  return {
    id: spec.id, title: spec.title || spec.id, kind: "failed",
    error: `The view ${spec.id} cannot be drawn: ${problem.message}`, traceback: problem.stack || "",
  };
}
