// The row above the charts: the problem in a line, and choices that only concern looking, which are kept in the settings too, so that a link shows the same.

import { disable, h, setAttribute, setText, show } from "./dom.js";
import { words } from "./charts/kinds.js";
import { openButton, recordButton } from "./record.js";
import { short } from "./charts/format.js";

export class ViewTools {
  constructor(page) {
    this.page = page;
    this.xSelect = h(
      "select", { "data-testid": "x-select", "aria-label": "x axis", title: "x axis", onchange: () => page.look({ x: this.xSelect.value }) },
      ...["iterations", "passes", "seconds"].map((x) => h("option", { value: x }, x)),
    );
    const toggle = (testid, text, key, title) => h("button", {
      type: "button", class: "toggle", "data-testid": testid, title, "aria-pressed": "false",
      onclick: () => page.look({ [key]: !page.store.settings[key] }),
    }, text);
    this.logx = toggle("logx-button", "log x", "xlog", "logarithmic x axis (x)");
    this.logy = toggle("logy-button", "log y", "ylog", "logarithmic y axis (y)");
    this.unzoom = h("button", { type: "button", hidden: true, onclick: () => page.zoomOut() }, "zoom out");
    this.facts = h("span", { class: "problem-line" });
    this.pinButton = h("button", { type: "button", "data-testid": "pin-button", title: "keep this run as faint lines (p)", onclick: () => page.pin() }, "Pin");
    this.unpinButton = h("button", { type: "button", "data-testid": "unpin-button", hidden: true, onclick: () => { page.ghosts = []; page.requestDraw(); } });
    this.recordButton = recordButton(page);
    this.openButton = openButton(page);
    this.element = h(
      "div", { class: "view-tools" }, this.facts, page.advice.element, page.status.message,
      h("label", { class: "inline" }, h("span", { class: "axis-label" }, "x axis "), this.xSelect), this.logx, this.logy, this.unzoom, this.pinButton, this.unpinButton, this.recordButton, this.openButton,
    );
  }

  draw() {
    const { store, axis } = this.page;
    const settings = store.settings;
    if (settings.x && this.xSelect.value !== settings.x) this.xSelect.value = settings.x;
    setAttribute(this.logx, "aria-pressed", String(Boolean(settings.xlog)));
    setAttribute(this.logy, "aria-pressed", String(settings.ylog !== false));
    disable(this.pinButton, !(store.n > 1));
    for (const one of [this.recordButton, this.openButton]) show(one, this.page.replay === null);
    show(this.unpinButton, this.page.ghosts.length > 0);
    setText(this.unpinButton, this.page.ghosts.length > 1 ? "Unpin both" : "Unpin");
    setAttribute(this.unpinButton, "title", this.page.ghosts.map((ghost) => ghost.name).join("; "));
    show(this.unzoom, Boolean(axis.zoom) || this.page.charts.some(({ chart }) => chart.zoomY || (chart.spec.x && chart.axis.zoom)));
    const p = store.problem;
    setText(this.facts, p ? `${p.name} · ${words(p).sizes(p)}${this.page.replay ? ` · λ ${short(store.lam)}` : ""}` : "");
    setText(this.page.inspector.sentence, words(p).inspect);
  }
}
