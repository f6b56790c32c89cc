// What a student has done, kept in this browser only, lesson by lesson.

const PREFIX = "sparsescope-lesson-";
const FORMAT = 1;

function empty() {
  return { format: FORMAT, firsts: {}, reveals: {}, bets: {}, elsewhere: {}, scenes: {}, marks: {}, typed: {}, words: "", all: false };
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

  /** Forget everything, or all that belongs to one prediction. */
  forget(key = null) {
    if (key === null) this.change((kept) => { Object.assign(kept, empty()); });
    else this.change((kept) => { for (const part of ["firsts", "reveals", "bets", "elsewhere"]) delete kept[part][key]; });
  }

  /** Answered predictions and passed exercises. */
  get done() {
    return Object.keys(this.kept.reveals).length + Object.values(this.kept.marks).filter((mark) => mark.passed).length;
  }
}
