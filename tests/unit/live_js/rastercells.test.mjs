// The raster's counts: what is kept from frame to frame is what a new count gives.
import assert from "node:assert/strict";
import { test } from "node:test";

const { ActiveSet } = await import(process.env.STATIC + "/charts/activeset.js");
const { RasterCells } = await import(process.env.STATIC + "/charts/rastercells.js");

const WIDTH = 40;
const BINS = 6;

/** A row that comes or goes at each event, the same ones for the same seed. */
function* events(rows, seed) {
  let state = seed;
  const inside = new Set();
  for (let at = 0; ; at++) {
    state = (1103515245 * state + 12345) % 2147483648;
    const row = state % rows;
    const came = !inside.has(row);
    if (came) inside.add(row);
    else inside.delete(row);
    yield { at, row, came };
  }
}

function take(set, { at, row, came }) {
  set.take(came ? [1, 0] : [0, 1], came ? [row] : [], came ? [] : [row], [[at], [at], [at]]);
}

function counted(cells, active, working, end, key = "") {
  const shown = cells.count([key, end, active.size].join(), {
    active, working, clock: 0, width: WIDTH, bins: BINS,
    bin: (row) => row % BINS, pixel: (value) => Math.floor((value / end) * WIDTH),
  });
  return Object.fromEntries(Object.entries(shown).map(([name, values]) => [name, Array.from(values)]));
}

test("a frame that adds to the counts of the last one shows what a new count does", () => {
  const [active, working] = [new ActiveSet(), new ActiveSet()];
  const [coming, tried] = [events(30, 1), events(30, 7)];
  const cells = new RasterCells();
  let seen = 0;
  for (let frame = 0; frame < 60; frame++) {
    for (let k = 0; k < 5; k++) {
      take(active, coming.next().value);
      take(working, tried.next().value);
    }
    const end = frame < 30 ? 200 : 400; // the axis grows once
    const shown = counted(cells, active, working, end);
    assert.deepEqual(shown, counted(new RasterCells(), active, working, end), `frame ${frame}`);
    seen += shown.left.reduce((sum, one) => sum + one, 0);
  }
  assert.ok(seen > 0 && active.n > 50, "there was something to count");
});

test("a count begins anew where intervals were thrown away, and for another run", () => {
  const [active, working] = [new ActiveSet(), new ActiveSet()];
  const coming = events(30, 3);
  const cells = new RasterCells();
  for (let k = 0; k < 3000; k++) take(active, coming.next().value);
  counted(cells, active, working, 3000);
  active.first = [-1e5, -1e5, -1e5]; // the shortest that can be seen is longer
  active.forget();
  assert.deepEqual(counted(cells, active, working, 3000), counted(new RasterCells(), active, working, 3000));
  const other = new ActiveSet();
  take(other, { at: 1, row: 2, came: true });
  for (const row of active.rowOf) if (row !== 2) take(other, { at: 2, row, came: true });
  assert.deepEqual(counted(cells, other, working, 3000), counted(new RasterCells(), other, working, 3000));
});
