// The students' page of a class: made for phones.

import { h } from "../dom.js";
import { embedded } from "../embedded.js";
import { Answering } from "./answering.js";
import { addressOf, begin, ClassLink } from "./link.js";

export const VERSION = "1";

export function mount({ el }) {
  const root = el.attachShadow({ mode: "open" });
  let answering = null;
  const away = h("p", { class: "refused", role: "status", "data-testid": "class-away" });
  const link = new ClassLink("class", (message) => {
    if (message.type === "class") answering.take(message);
    else if (message.type === "refused") answering.refuse(message.text);
    else if (message.type === "board") location.reload(); // this browser has become the teacher's
    away.textContent = message.type === "offline" ? "The connection is lost; it comes back by itself." : "";
  });
  answering = new Answering(link);
  root.append(h("style", {}, embedded("css")), h(
    "main", { class: "class-page" },
    h(
      "div", { class: "class-narrow" },
      h("div", { class: "head" }, h("h1", { class: "grow" }, "Class"), h("a", { class: "button", href: addressOf("") }, "Open the explorer")), away, answering.element,
    ),
  ));
}

begin(mount);
