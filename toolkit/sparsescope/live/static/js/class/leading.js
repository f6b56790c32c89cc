// The teacher's buttons that move everybody: follow me, everyone to this state, other data set.

import { h } from "../dom.js";

/** `place()`: the address everybody is brought to. */
export class Leading {
  constructor(link, place, words) {
    this.follow = h("button", { type: "button", "aria-pressed": "false", title: "Pages of the class follow what you change in the explorer", "data-testid": "follow", onclick: () => {
      link.say({ type: "follow", on: this.follow.getAttribute("aria-pressed") !== "true" });
    } }, "Follow me");
    this.data = h("select", { "aria-label": "data set for everybody", "data-testid": "class-data" });
    this.data.addEventListener("change", () => {
      if (this.data.value) link.say({ type: "data", name: this.data.value });
      this.data.value = "";
    });
    this.everyone = h("button", { type: "button", "data-testid": "everyone", onclick: () => link.say({ type: "everyone", address: place() }) }, words);
    this.element = h("div", { class: "row" }, this.everyone, this.follow, this.data);
  }

  take(state) {
    this.follow.setAttribute("aria-pressed", String(state.follow));
    if (this.data.children.length !== state.datasets.length + 1) {
      this.data.replaceChildren(h("option", { value: "" }, "Other data set …"), ...state.datasets.map((name) => h("option", { value: name }, name)));
    }
  }
}
