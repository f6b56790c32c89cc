// Names of features that were not sent with the problem (there are too many): asked for when a pointer needs one.

export class Names {
  constructor(store, link, arrived) {
    this.store = store;
    this.link = link;
    this.arrived = arrived;
    this.asked = new Set();
  }

  /** The name of a row, or null while it is on its way. */
  of(row) {
    const name = this.store.featureName(row);
    if (name !== null && name !== undefined) return name;
    this.ask(row);
    return null;
  }

  ask(row) {
    const key = this.store.epoch + ":" + row;
    if (this.asked.has(key)) return;
    this.asked.add(key);
    const epoch = this.store.epoch;
    this.link.ask("names", { rows: [row] }, (answer) => {
      if (this.store.epoch !== epoch) return;
      answer.rows.forEach((j, k) => this.store.names.set(j, answer.names[k]));
      this.arrived();
    });
  }
}
