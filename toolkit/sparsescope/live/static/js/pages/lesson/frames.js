// The pictures of a lesson's runs as they came, thinned, so that a recording of the lesson plays them.

const MOST_FRAMES = 80; // of a run
const MOST_TEXT = 700_000; // characters of all of them in a file

export class Frames {
  constructor(given = {}) {
    this.runs = new Map(Object.entries(given).map(([name, list]) => [name, { list, every: 1, count: list.length }]));
  }

  /** A run begins: the pictures of the one before are forgotten. */
  begin(name) {
    this.runs.delete(String(name));
  }

  take({ k, picture }) {
    const name = String(k);
    if (!this.runs.has(name)) this.runs.set(name, { list: [], every: 1, count: 0 });
    const run = this.runs.get(name);
    if (run.count % run.every === 0) run.list.push(picture);
    run.count += 1;
    if (run.list.length <= MOST_FRAMES) return;
    run.list = halved(run.list);
    run.every *= 2;
  }

  of(name) {
    const run = this.runs.get(String(name));
    return run ? run.list : [];
  }

  /** {name of a run: its pictures}, few enough for a file. */
  all() {
    let found = Object.fromEntries(Array.from(this.runs, ([name, { list }]) => [name, list]));
    while (JSON.stringify(found).length > MOST_TEXT && Object.values(found).some((list) => list.length)) {
      found = Object.fromEntries(Object.entries(found).map(([name, list]) => [name, list.length > 1 ? halved(list) : []]));
    }
    return found;
  }
}

/** Every second entry, the last one in any case. */
function halved(list) {
  return list.filter((_, k) => (list.length - 1 - k) % 2 === 0);
}
