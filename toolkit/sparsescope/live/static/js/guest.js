// The page shows somebody else's run: a line says whose, and what would change a run cannot be used.

import { h, setText, show } from "./dom.js";

const NOTHING = "Everybody who watches sees the same. What you do here changes nothing.";

export class Guest {
  constructor(page) {
    this.page = page;
    this.on = false;
    this.text = h("strong", {});
    this.leave = h("button", { type: "button", "data-testid": "leave-button", title: "your own run, from these settings", onclick: () => page.link.post({ type: "watch", on: false }) }, "Go on by myself");
    this.element = h("div", { class: "guest-line", role: "status", "data-testid": "watching", hidden: true }, this.text, this.leave, h("span", { class: "card-hint" }, NOTHING));
  }

  /** Another run than before comes: nothing of the one that was shown belongs to it. */
  take({ on, whose, away }) {
    const { page } = this;
    const turned = on !== this.on;
    this.on = page.link.guest = on;
    page.store.away = on ? away : "";
    setText(this.text, on ? `You watch the run of ${whose}.` : "");
    show(this.element, on);
    for (const part of [page.fold, page.controls.pinned, page.buttons, page.viewTools.recordButton, page.viewTools.openButton, page.card.element]) part.inert = on;
    page.frame.classList.toggle("guest", on);
    if (turned) page.forget();
    page.requestDraw();
  }
}
