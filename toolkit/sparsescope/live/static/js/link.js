// The link to the explorer: messages up, credits, and the time from a knob to the first picture with its effect.

const LOOKS = new Set(["confusion", "misread", "spectrum", "rate", "recording"]); // questions whose answers may be errors
const PAUSE = 30; // ms after which a change of settings need not wait for others

export class Link {
  constructor(send, changing = () => {}) {
    this.sendRaw = send;
    this.changing = changing; // hears of changes of settings before they are made
    this.next = 1;
    this.prefix = Math.random().toString(36).slice(2, 8);
    this.sentAt = new Map(); // id -> time of a set or do whose effect has not been seen
    this.arrived = []; // ids whose effect is in the store but not yet painted
    this.latencies = [];
    this.asked = new Map(); // id -> a question without an answer, and who waits for that
    this.owed = 0;
    this.seq = 0;
    this.flushed = -Infinity; // when settings were sent last
    this.guest = false; // somebody else's run is shown: nothing that is asked here is asked of it
    this.pending = null; // settings waiting for the next animation frame: the last value of a key wins
  }

  post(message) {
    this.sendRaw(message);
  }

  newId() {
    return this.prefix + "-" + this.next++;
  }

  ready(version) {
    this.owed = 0;
    this.post({ type: "ready", version });
  }

  /**
   * Change settings. Called from sliders many times a second: the first change goes at once, later ones at most once in
   * an animation frame, the last value of each.
   */
  set(changes) {
    if (this.guest) return;
    this.changing(changes);
    if (this.pending) {
      Object.assign(this.pending.changes, changes);
      return;
    }
    const now = performance.now();
    this.pending = { changes: { ...changes }, at: now };
    if (now - this.flushed > PAUSE) this.flush();
    else requestAnimationFrame(() => this.flush());
  }

  flush() {
    if (!this.pending) return;
    const { changes, at } = this.pending;
    this.pending = null;
    this.flushed = performance.now();
    const id = this.newId();
    this.sentAt.set(id, at);
    this.post({ type: "set", id, changes });
  }

  do(action, extra = {}) {
    if (this.guest) return;
    this.flush(); // what was changed before the command counts before the command
    const id = this.newId();
    this.sentAt.set(id, performance.now());
    this.post({ type: "do", id, action, ...extra });
  }

  layout(message) {
    this.post({ type: "layout", ...message });
  }

  /** Ask a question; `then` gets the answer. */
  ask(kind, fields, then) {
    if (this.guest) {
      if (LOOKS.has(kind)) then({ kind, error: "Not while you watch another run: go on by yourself to ask this of your own.", detail: "" });
      return;
    }
    const message = { type: "ask", id: this.newId(), kind, ...fields };
    this.asked.set(message.id, { message, then });
    if (this.asked.size > 200) this.asked.delete(this.asked.keys().next().value); // never answered: dropped
    this.post(message);
  }

  answer(message) {
    const question = this.asked.get(message.id);
    this.asked.delete(message.id);
    if (question) question.then(message);
  }

  frameArrived(header) {
    // The connection broke and was renewed: what was on its way is lost, and an answer may have been.
    if (header.anew && !this.guest) for (const { message } of this.asked.values()) this.post(message);
    this.owed += 1;
    this.seq = header.seq;
    for (const id of header.applied) if (this.sentAt.has(id)) this.arrived.push(id);
  }

  /** Called after drawing: give the credits back and note how long the knobs took. */
  painted(milliseconds) {
    const now = performance.now();
    for (const id of this.arrived) {
      this.latencies.push(now - this.sentAt.get(id));
      this.sentAt.delete(id);
    }
    if (this.latencies.length > 200) this.latencies.splice(0, this.latencies.length - 200);
    this.arrived = [];
    if (!this.owed) return;
    const n = this.owed;
    this.owed = 0;
    this.post({ type: "credit", n, seq: this.seq, paint_ms: Math.round(milliseconds * 10) / 10 });
  }
}
