// Which events to keep when there are more than a chart can show.

/**
 * Positions to keep of events with increasing trace indices `index`. The newer half of the places goes to the newest
 * events, untouched; older ones are thinned on a logarithmic grid, so the start of the curve stays. In a cell of the
 * grid an event whose gap or accuracy is known goes before one without. Events beside marks stay in any case.
 */
export function keepEvents(index, limit, known, markIndices) {
  const n = index.length;
  if (n <= limit) return Array.from({ length: n }, (_, i) => i);
  const recent = Math.floor(limit / 2);
  const old = n - recent;
  const pinned = new Set();
  for (const at of markIndices) {
    pinned.add(at);
    pinned.add(at - 1);
  }
  const places = Math.max(2, limit - recent);
  const low = Math.log(1 + index[0]);
  const span = Math.log(1 + index[old - 1]) - low || 1;
  const keep = [0];
  let cell = -1;
  let chosen = 0; // 0 is always kept: it is the start of the curve
  let chosenKnown = true;
  const close = () => {
    if (chosen > keep[keep.length - 1]) keep.push(chosen);
  };
  for (let i = 1; i < old; i++) {
    const here = Math.floor(((Math.log(1 + index[i]) - low) / span) * (places - 1));
    if (here !== cell) {
      close();
      cell = here;
      chosen = i;
      chosenKnown = known(i);
    } else if (known(i) || !chosenKnown) {
      chosen = i;
      chosenKnown = known(i);
    }
    if (pinned.has(index[i])) {
      close();
      if (i > keep[keep.length - 1]) keep.push(i);
      cell = -1;
    }
  }
  close();
  for (let i = old; i < n; i++) keep.push(i);
  return keep;
}
