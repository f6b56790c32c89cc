// What a student has done, kept in this browser only, lesson by lesson.

const PREFIX = "sparsescope-lesson-";
const FORMAT = 1;

function empty() {
  return { format: FORMAT, reveals: {}, elsewhere: {}, scenes: {}, marks: {}, typed: {}, words: "", all: false };
}

export class Progress {
  constructor(place) {
    this.name = PREFIX + place;
    this.kept = empty();
    try {
      const found = JSON.parse(localStorage.getItem(this.name) || "null");
      if (found && found.format === FORMAT) this.kept = { ...empty(), ...found };
    } catch {
      this.lost = true; // no storage, or a broken entry: the lesson begins anew and says so
    }
  }

  save() {
    try {
      localStorage.setItem(this.name, JSON.stringify(this.kept));
    } catch {
      this.lost = true; // a private window without storage
    }
  }

  forget() {
    this.kept = empty();
    this.save();
  }

  /** Answered predictions and passed exercises. */
  get done() {
    return Object.keys(this.kept.reveals).length + Object.values(this.kept.marks).filter((mark) => mark.passed).length;
  }
}
