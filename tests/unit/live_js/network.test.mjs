// Where the nodes and the names of a network go.
import assert from "node:assert/strict";
import { test } from "node:test";

const { fitPlaces, partnersOf, placeNames } = await import(process.env.STATIC + "/charts/network.js");
const { compact } = await import(process.env.STATIC + "/charts/format.js");
const { words } = await import(process.env.STATIC + "/charts/kinds.js");

test("places fill the area, and a grid keeps its ratio", () => {
  const area = { left: 10, top: 20, width: 400, height: 100 };
  const wide = fitPlaces([[-1, -1], [1, 1], [0, 0]], area, false);
  assert.deepEqual(wide.map(([x]) => x), [130, 290, 210]); // stretched by 1.6 only
  assert.deepEqual(wide.map(([, y]) => y), [20, 120, 70]);
  const square = fitPlaces([[0, 0], [7, 7]], area, true);
  assert.deepEqual(square, [[160, 20], [260, 120]]);
  assert.deepEqual(fitPlaces([[3, 3]], area, false), [[210, 70]]);
});

test("partners come with the strongest first", () => {
  const picture = { edges: Int32Array.from([0, 2, 2, 4]), ties: Float32Array.from([0.5, -0.25]) };
  assert.deepEqual(partnersOf(picture, 2), [[0, 0.5], [4, -0.25]]);
  assert.deepEqual(partnersOf(picture, 1), []);
});

test("names cover neither nodes nor each other", () => {
  const node = (x, y) => ({ x, y, radius: 5, width: 30 });
  const anywhere = () => true;
  assert.deepEqual(placeNames([node(50, 50)], [], anywhere), [[58, 50]]);
  assert.deepEqual(placeNames([node(50, 50)], [node(70, 50)], anywhere), [[12, 50]], "to the left of a neighbour");
  assert.deepEqual(placeNames([node(50, 50)], [], (box) => box.right < 60 && box.left > 20), [null]);
  assert.deepEqual(placeNames([node(50, 50)], [], anywhere, true), [[35, 64.5]], "below first");
  const both = placeNames([node(50, 50), node(52, 50)], [], anywhere);
  assert.ok(both[0] && both[1] && both[0][0] !== both[1][0]);
});

test("what the page says follows the kind of problem", () => {
  assert.equal(words(null).start, "W = 0");
  const network = words({ kind: "covariance" });
  assert.deepEqual(network.rows.of({ nonzero_entries: 9 }, { d: 5 }), [2, 10]);
  assert.equal(network.sizes({ n: 0, d: 5, all_features: 7 }), "p 5 of 7");
  assert.deepEqual([compact(950), compact(21318), compact(2.5e6), compact(NaN)], ["950", "21.3k", "2.5M", "–"]);
});
