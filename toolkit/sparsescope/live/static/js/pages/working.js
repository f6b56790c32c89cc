// What the pages with a computation behind them have in common: begin again, stop, and its state in a sentence.

import { h, setText } from "../dom.js";

export class WorkingBody {
  /** `name`: of the page; `again`: the words of its first button. */
  constructor(page, name, again) {
    this.page = page;
    this.again = h("button", { type: "button", class: "act primary", "data-testid": name + "-again", onclick: () => page.link.do("again") }, again);
    this.stopping = h("button", { type: "button", class: "act", "data-testid": name + "-stop", onclick: () => page.link.do("stop") }, "Stop");
    this.status = h("span", { class: "race-status", role: "status", "data-testid": name + "-status" });
  }

  /** The buttons, further tools, and the state. */
  bar(...tools) {
    return h("div", { class: "race-bar" }, this.again, this.stopping, ...tools, this.status);
  }

  onStatus({ text, running, error, detail }) {
    setText(this.status, error ? "" : text);
    if (error) this.page.messages.showError(error, detail);
    this.running = running;
    this.stopping.disabled = !running;
  }

  /** Whether all that was asked for is there. */
  settled() {
    return this.running === false;
  }
}
