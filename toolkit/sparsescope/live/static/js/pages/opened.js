// A recording that is opened on its page: it stands where the server's pictures stood until somebody changes a setting or
// begins anew, which the server then does with the recorded settings.

const SAID = new Set(["error", "notices", "answer"]); // what the server is heard with while a recording is shown

/** The header of a recording's file, or an error that says what is wrong with it. */
export function recordedPage(text, name) {
  const found = /type="application\/json" id="sparsescope-recording">([^<]*)</.exec(text);
  let header = null;
  try {
    header = JSON.parse(found ? found[1] : "null");
  } catch { /* said below */ }
  if (!header || header.kind !== "sparsescope recording") throw new Error("this file is no recording of sparsescope, or is damaged");
  if (!header.page) throw new Error("this is the recording of a run; open it on the explorer's page");
  if (header.page !== name) throw new Error(`this is a recording of the page ${String(header.page).slice(0, 40)}; open it there`);
  if (!Array.isArray(header.messages) || !header.messages.every((message) => message && typeof message.type === "string")) throw new Error("this recording is damaged: it holds no messages");
  return header;
}

export class Opened {
  constructor(page, send) {
    this.page = page;
    this.send = send;
    this.header = null; // of the recording that is shown
  }

  /** Whether a message of the server has to wait outside. */
  stops(message) {
    return this.header !== null && !this.telling && !SAID.has(message.type);
  }

  show(header) {
    this.header = header;
    this.tell(header.messages.filter(({ type }) => type !== "page"));
    const settings = header.settings || {};
    for (const [key, value] of Object.entries(settings)) this.page.controls.show(key, value);
    Object.assign(this.page.store.settings, settings);
  }

  tell(messages) {
    this.telling = true;
    for (const message of messages) this.page.receive(message, []);
    this.telling = false;
  }

  /** Messages to the server: what the recording can follow stays here, what changes more ends its showing. */
  post(message) {
    const { header } = this;
    if (!header || !["set", "do"].includes(message.type)) return this.send(message);
    if (message.type === "do" && message.action === "stop") return undefined;
    const { replayed = [], settings = {}, messages } = header;
    const changes = message.changes || {};
    if (message.type === "set" && Object.keys(changes).every((key) => replayed.includes(key))) {
      const picture = messages.find(({ type }) => type === "picture") || { type: "picture" };
      queueMicrotask(() => this.tell([{ ...picture, ...changes, id: message.id }]));
      return undefined;
    }
    this.header = null;
    this.send({ type: "set", id: message.id, changes: { ...settings, ...changes } });
    if (this.page.body.again) this.send({ type: "do", id: this.page.link.newId(), action: "again" });
    return undefined;
  }
}
