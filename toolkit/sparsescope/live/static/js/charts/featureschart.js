// Lines over the features that a sequence of models was given: no clock of the run, so the x axis is the chart's own.

import { plural } from "./format.js";
import { LineChart } from "./lines.js";
import { steps } from "./ranges.js";
import { noPoints } from "./strokes.js";
import { TimeAxis } from "./timeaxis.js";

export class FeaturesChart extends LineChart {
  constructor(spec, context, height) {
    super(spec, context, height);
    this.axis = new TimeAxis();
    this.axis.configure(spec.x, false);
  }

  clock(store) {
    this.axis.configure(this.spec.x, Boolean(store.settings.xlog));
    const clock = super.clock(store);
    this.axis.follow(clock);
    return clock;
  }

  draw() {
    super.draw();
    this.box.setNote(this.leftLog ? this.zeros() : "");
  }

  /** Before the first stage there is nothing to judge. */
  line(spec, clock, segment) {
    const found = super.line(spec, clock && clock.map((value) => (value > 0 ? value : NaN)), segment);
    if (this.leftLog && this.zeroSince(spec) >= 0) {
      found.x.push(clock[clock.length - 1]); // the line ends here, and so does its name
      found.y.push(NaN);
      found.link.push(0);
    }
    return found;
  }

  /** Its clock begins again with each sequence. */
  pointsOf() {
    return noPoints();
  }

  emptySentence(clock) {
    return clock && clock.some((value) => value > 0) ? super.emptySentence(clock) : this.spec.empty;
  }

  /** A new sequence counts from zero again: another line. */
  pieces(spec, clock) {
    const number = new Int32Array(clock.length);
    let top = NaN;
    for (let i = 0; i < clock.length; i++) {
      number[i] = (i ? number[i - 1] : 0) + (clock[i] < top ? 1 : 0);
      if (!Number.isNaN(clock[i])) top = clock[i];
    }
    return (i) => number[i];
  }

  leftRange(bounds, lines) {
    return this.leftLog ? steps(bounds) : super.leftRange(bounds, lines);
  }

  /** From which event on a line is zero, where a log axis ends; -1 if it is not. */
  zeroSince(spec) {
    const values = this.context.store.values(spec.column) || [];
    let at = values.length - 1;
    while (at >= 0 && Number.isNaN(values[at])) at -= 1;
    if (at < 0 || values[at] !== 0) return -1;
    while (at > 0 && (values[at - 1] === 0 || Number.isNaN(values[at - 1]))) at -= 1;
    return at;
  }

  zeros() {
    const clock = this.clock(this.context.store);
    const since = this.spec.y.map((spec) => [spec.label, this.zeroSince(spec)]).filter(([, at]) => at >= 0);
    return since.map(([label, at]) => `${label} is 0 from ${plural(clock[at], "feature", "features")} on, which a log axis cannot show`).join("; ");
  }
}
