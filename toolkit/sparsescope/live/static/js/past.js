// What was changed, to be taken back: gestures, not single values.

const GESTURE_APART = 1000; // ms between two changes of the same settings that count as two gestures
const MOST_GESTURES = 200;

export class Past {
  constructor() {
    this.gestures = []; // [{before, keys, at}]
  }

  /** Note the values before a change, unless it goes on with the last gesture. */
  note(settings, changes, now) {
    const keys = Object.keys(changes).sort().join();
    const last = this.gestures[this.gestures.length - 1];
    if (last && last.keys === keys && now - last.at < GESTURE_APART) {
      last.at = now;
      return;
    }
    const before = Object.fromEntries(Object.keys(changes).map((key) => [key, settings[key]]));
    if (Object.entries(changes).every(([key, value]) => before[key] === value) || Object.values(before).includes(undefined)) return;
    this.gestures.push({ before, keys, at: now });
    if (this.gestures.length > MOST_GESTURES) this.gestures.shift();
  }

  /** The changes that take the last gesture back; null when there is none. */
  undo() {
    const last = this.gestures.pop();
    return last ? last.before : null;
  }

  get size() {
    return this.gestures.length;
  }
}
