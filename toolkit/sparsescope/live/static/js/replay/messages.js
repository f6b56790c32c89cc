// Plays a page beside the explorer: it gets what it was sent, and answers to changes that need no server.

import { beginReplay } from "./begin.js";

/** `mount` is that of the page's module. */
export function beginMessages(mount) {
  beginReplay((room, header, bytes, theme) => {
    let handle = null;
    const tell = (message) => handle.receive(message, []);
    const picture = header.messages.find((message) => message.type === "picture") || {};
    const answers = {
      ready: () => header.messages.forEach(tell),
      // what only chooses among what is here (λ of a path, say) can be changed; everything else is as it was recorded
      set: ({ id, changes }) => tell({ ...picture, ...Object.fromEntries(Object.entries(changes).filter(([key]) => header.replayed.includes(key))), id }),
    };
    const send = (message) => { if (answers[message.type]) queueMicrotask(() => answers[message.type](message)); };
    handle = mount({ el: room, send, theme, options: { shell: "recording" } });
    return handle;
  });
}
