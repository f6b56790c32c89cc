// What was changed, to be taken back and made again: gestures, not single values.

const GESTURE_APART = 1000; // ms between two changes of the same settings that count as two gestures
const MOST_GESTURES = 200;

export class Past {
  constructor() {
    this.gestures = []; // [{before, after, keys, at}]
    this.taken = []; // gestures that were taken back, the last one at the end
  }

  /** Note the values before a change, unless it goes on with the last gesture; whether a gesture began. */
  note(settings, changes, now) {
    const keys = Object.keys(changes).sort().join();
    const last = this.gestures[this.gestures.length - 1];
    if (last && last.keys === keys && now - last.at < GESTURE_APART) {
      last.at = now;
      last.after = { ...changes };
      return false;
    }
    const before = Object.fromEntries(Object.keys(changes).map((key) => [key, settings[key]]));
    if (Object.entries(changes).every(([key, value]) => before[key] === value) || Object.values(before).includes(undefined)) return false;
    this.gestures.push({ before, after: { ...changes }, keys, at: now });
    this.taken = [];
    if (this.gestures.length > MOST_GESTURES) this.gestures.shift();
    return true;
  }

  /** The changes that take the last gesture back; null when there is none. */
  undo() {
    const last = this.gestures.pop();
    if (!last) return null;
    this.taken.push(last);
    return last.before;
  }

  /** The changes that make again what was taken back last; null when there is nothing. */
  redo() {
    const again = this.taken.pop();
    if (!again) return null;
    this.gestures.push({ ...again, at: -Infinity });
    return again.after;
  }

  get size() {
    return this.gestures.length;
  }
}
