// Copy the problem or the run as Python: the explorer writes the lines, the page copies them and shows them too.

import { h } from "./dom.js";

export function snippetButtons(page) {
  const button = (testid, of, text, title) => {
    const made = h("button", { type: "button", "data-testid": testid, title, onclick: () => page.link.ask("snippet", { of }, (answer) => offer(page, made, answer.text)) }, text);
    return made;
  };
  return [
    button("copy-python-button", "problem", "Copy problem", "a few lines of Python that solve this problem with this solver"),
    button("copy-run-button", "run", "Copy run", "Python that repeats this run: every change at its iteration, up to the same iteration"),
  ];
}

async function offer(page, button, text) {
  let copied = false;
  try {
    await navigator.clipboard.writeText(text);
    copied = true;
  } catch (refused) {
    copied = false; // no permission or no secure address: the text is shown and can be copied by hand
  }
  showText(page, text, copied);
  button.focus();
}

function showText(page, text, copied) {
  const old = page.root.querySelector(".snippet");
  if (old) old.remove();
  const close = h("button", { type: "button", class: "close", "aria-label": "close", onclick: () => box.remove() }, "×");
  const box = h(
    "div", { class: "snippet", role: "dialog", "aria-label": "Python for this run", "data-testid": "python-snippet" },
    close, h("h2", {}, copied ? "Copied to the clipboard" : "Copy these lines"), h("pre", { tabindex: "0" }, text),
  );
  page.root.append(box);
}
