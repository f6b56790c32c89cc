// Take the run along: the explorer writes one file that plays it without Python and without a network.

import { h, setText } from "./dom.js";
import { download } from "./save.js";

export function recordButton(page) {
  const button = h("button", {
    type: "button", "data-testid": "record-button", title: "one file that replays this run in any browser, offline",
    onclick: () => {
      button.disabled = true;
      setText(button, "Recording …");
      page.link.ask("recording", {}, (answer) => {
        button.disabled = false;
        setText(button, "Record");
        if (answer.error) page.messages.showError(answer.error, answer.detail);
        else download(answer.name, new Blob([answer.text], { type: "text/html" }));
      });
    },
  }, "Record");
  return button;
}
