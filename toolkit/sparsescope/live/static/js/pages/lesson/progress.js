// What a student has done, kept in this browser only, lesson by lesson.

const PREFIX = "sparsescope-lesson-";
const FORMAT = 1;

function empty() {
  return { format: FORMAT, firsts: {}, reveals: {}, bets: {}, elsewhere: {}, scenes: {}, marks: {}, typed: {}, words: "", all: false };
}

/** Under which name the student's own words at the end of a part are kept, among what was typed. */
export function wordsOf(part) {
  return "part-" + part.letter;
}

export class Progress {
  /** `given`: what a recording holds; the browser's own answers are neither read nor changed then. */
  constructor(place, given = null) {
    this.name = PREFIX + place;
    this.given = given !== null;
    this.kept = { ...empty(), ...given };
    if (!this.given) this.read();
  }

  read() {
    try {
      const found = JSON.parse(localStorage.getItem(this.name) || "null");
      if (found && found.format === FORMAT) this.kept = { ...empty(), ...found };
    } catch {
      this.lost = true; // no storage, or a broken entry: the lesson begins anew and says so
    }
  }

  /** Change what is kept. A notebook shows each prediction in a cell: what others have kept meanwhile is read first. */
  change(edit) {
    if (!this.lost && !this.given) this.read();
    edit(this.kept);
    if (this.given) return;
    try {
      localStorage.setItem(this.name, JSON.stringify(this.kept));
    } catch {
      this.lost = true; // a private window without storage
    }
  }

  /** Keep one thing, such as the reveal of prediction 3. */
  put(part, key, value) {
    this.change((kept) => { kept[part][key] = value; });
  }

  /** Forget everything, all that belongs to one prediction, or to one part of the lesson. */
  forget(key = null, part = null) {
    const predictions = ["firsts", "reveals", "bets", "elsewhere"];
    const left = (kept, names, keys) => { for (const name of names) for (const one of keys) delete kept[name][one]; };
    this.change((kept) => {
      if (key !== null) left(kept, predictions, [key]);
      else if (!part) Object.assign(kept, empty());
      else {
        left(kept, predictions, part.predictions);
        left(kept, ["scenes"], [part.opening, ...part.breaks.map((k) => "break" + k)]);
        left(kept, ["marks", "typed"], [...part.exercises, wordsOf(part)]);
      }
    });
  }

  /** Answered predictions and passed exercises, of one part where it is given. */
  done(part = null) {
    const counted = (keys, wanted) => keys.filter((key) => !part || wanted(part).map(String).includes(key)).length;
    const passed = Object.keys(this.kept.marks).filter((letter) => this.kept.marks[letter].passed);
    return counted(Object.keys(this.kept.reveals), (one) => one.predictions) + counted(passed, (one) => one.exercises);
  }
}
