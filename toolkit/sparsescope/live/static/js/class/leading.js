// The teacher's buttons that move everybody: follow me, everyone to this state, other data set.

import { h, setText } from "../dom.js";

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
    this.showing = h("button", { type: "button", "aria-pressed": "false", title: "Students see your explorer's own run, and nothing they do reaches it; those who follow see it at once", "data-testid": "show-run", onclick: () => {
      link.say({ type: "show", on: this.showing.getAttribute("aria-pressed") !== "true" });
    } }, "Show my run");
    this.watchers = h("p", { class: "muted", "data-testid": "watchers" });
    this.element = h("div", {}, h("div", { class: "row" }, this.everyone, this.follow, this.showing, this.data), this.watchers);
  }

  take(state) {
    this.follow.setAttribute("aria-pressed", String(state.follow));
    const { on, watchers, away } = state.show;
    this.showing.setAttribute("aria-pressed", String(on));
    setText(this.watchers, on ? `${watchers === 1 ? "1 page watches" : `${watchers} pages watch`} your run${away ? "; its page is away" : ""}.` : "");
    if (this.data.children.length !== state.datasets.length + 1) {
      this.data.replaceChildren(h("option", { value: "" }, "Other data set …"), ...state.datasets.map((name) => h("option", { value: name }, name)));
    }
  }
}
