// A lesson on paper: a copy beside the page, in the light theme, for as long as the browser prints. The page itself scrolls
// inside a frame, of which a printer would only see what is in sight.

import { h } from "../../dom.js";
import { embedded } from "../../embedded.js";

const ONLY = "@media print { body > :not(.sparsescope-print) { display: none !important; } html, body { height: auto !important; overflow: visible !important; background: #fff !important; } } @media screen { .sparsescope-print { display: none; } }";

/** Make copies of `body.element` whenever the browser prints; returns the function that ends this. */
export function onPaper(body) {
  let copy = null;
  const before = () => {
    after();
    if (!body.steps || !body.element.isConnected) return;
    const { page } = body;
    const { theme } = page.palette;
    page.palette.setTheme("light");
    body.redraw();
    copy = h("div", { class: "sparsescope-print" }, h("style", {}, ONLY));
    const host = h("div", { "data-theme": "light" });
    for (const [name, colour] of Object.entries(page.palette.colours)) host.style.setProperty("--" + name, colour);
    const root = host.attachShadow({ mode: "open" });
    root.append(h("style", {}, embedded("css")), h("div", { class: "shell" }, h("div", { class: "explorer simple" }, written(body.element))));
    copy.append(host);
    document.body.append(copy);
    page.palette.setTheme(theme);
    body.redraw();
  };
  const after = () => {
    if (copy) copy.remove();
    copy = null;
  };
  addEventListener("beforeprint", before);
  addEventListener("afterprint", after);
  return () => {
    removeEventListener("beforeprint", before);
    removeEventListener("afterprint", after);
    after();
  };
}

/** A copy of an element with what was typed, chosen and painted. */
function written(element) {
  const made = element.cloneNode(true);
  const pairs = (selector) => [...made.querySelectorAll(selector)].map((node, k) => [node, element.querySelectorAll(selector)[k]]);
  for (const [node, old] of pairs("input")) {
    node.toggleAttribute("checked", old.checked);
    node.setAttribute("value", old.value);
  }
  for (const [node, old] of pairs("textarea")) node.textContent = old.value;
  for (const [node, old] of pairs("canvas")) {
    const image = h("img", { src: old.toDataURL(), style: old.getAttribute("style"), alt: old.getAttribute("aria-label") });
    node.replaceWith(image);
  }
  for (const node of made.querySelectorAll("details")) node.open = true;
  return made;
}
