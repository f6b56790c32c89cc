// What takes the place of the weights where the model is a sequence: the coefficients of the last stage, those of the
// predictions in it, or the weights of all stages on the columns of X.

import { h, show } from "../dom.js";
import { count, short } from "./format.js";
import { MatrixChart } from "./matrix.js";

const SEQUENCE_PARTS = { stage: "last stage", calibration: "predictions", model: "all stages" };

export class StageMatrix extends MatrixChart {
  constructor(spec, context, height) {
    super(spec, context, height);
    this.part = spec.parts[0];
    this.kind = "matrix";
    this.partSelect = h(
      "select", { "data-testid": "part-select", "aria-label": "what is shown", onchange: () => this.choosePart() },
      ...spec.parts.map((part) => h("option", { value: part }, SEQUENCE_PARTS[part])),
    );
    this.box.tools.prepend(this.partSelect);
    this.nameTools();
  }

  choosePart() {
    this.part = this.partSelect.value;
    this.kind = this.part === "model" && this.spec.images ? "images" : "matrix";
    this.zoom = null;
    this.nameTools();
    this.setZoom(null);
  }

  nameTools() {
    super.nameTools();
    show(this.kindButton, this.spec.images && this.part === "model");
  }

  sentence(store, picture) {
    if (!store.n) return this.spec.empty;
    if (!picture) return "The coefficients are on their way.";
    if (picture.reason) return picture.reason;
    return picture.nonzero ? "" : "All coefficients are zero.";
  }

  noteOf(picture) {
    const many = picture.total === null ? "" : ` · ${count(picture.total)} rows`;
    const shared = picture.binned > 1 ? `, ${short(picture.binned, 2)} to a line, the largest shown` : "";
    return picture.said + many + shared;
  }
}
