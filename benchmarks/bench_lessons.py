"""Lessons: processor time of each prediction's own run, and whether its claim holds where no lesson has looked.

The seconds are those of a fresh process whose kernels are compiled already, as on a server that has been used before: a
first process runs every prediction, a second one is measured. The claims are repeated on data that no lesson lists:
three real sets of the data folders (left out without them), a generated one, and three further seeds of each
prediction's own data. What a lesson says of its data is in its file; this says how far it reaches.

    python benchmarks/bench_lessons.py
    python benchmarks/bench_lessons.py --quick      the first lesson only, nothing is stored
    python benchmarks/bench_lessons.py --seconds    the seconds alone, as JSON
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np
from common import bar, clock
from problems import file_of
from sklearn.datasets import make_classification

from sparsescope import registry
from sparsescope.lessons import Case, Lesson, Prediction
from sparsescope.lessons.base import no_show

REAL = ("vowel", "vehicle", "glass")
MADE = "made"  # 300 samples, 20 features, 8 of them informative and 4 mixtures of these, 5 classes
SEEDS = (3, 4, 5)  # lessons list 0, 1 and 2
MOST_SECONDS = 5.0  # of a prediction's own run
LIMIT = 60.0  # processor seconds of a run elsewhere


def predictions(quick: bool = False) -> Iterator[tuple[str, Prediction]]:
    """Every prediction with its name: ``4.2`` is the second one of lesson 4."""
    for name in registry.lessons:
        lesson: Lesson = registry.lessons[name]
        if not quick or lesson.number == 1:
            yield from ((f"{lesson.number}.{k}", p) for k, p in enumerate(lesson.predictions, 1))


def own_seconds(quick: bool) -> dict[str, float]:
    """Processor seconds of each prediction's own run, in the order of the course."""
    spent = {}
    for name, p in predictions(quick):
        began = clock()
        p.run(p.home, no_show)
        spent[name] = clock() - began
    return spent


def seconds_when_compiled(quick: bool) -> dict[str, float]:
    """The same in a separate process, the second one of two: the first one compiles."""
    command = [sys.executable, __file__, "--seconds", *(["--quick"] if quick else [])]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError when so much processor time is spent."""

    def over(*_: Any) -> None:
        raise TimeoutError(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def verdict(name: str, p: Prediction, where: str, case: Case) -> bool | None:
    """Return whether the claim of a prediction holds on a case; ``None``: it cannot be run in the time there is."""
    try:
        with limited(LIMIT):
            found = p.run(case, no_show)
    except (ValueError, TimeoutError) as reason:
        print(f"{name} on {where}: not run, {reason}", flush=True)
        return None
    print(f"{name} on {where}: {'holds' if found.holds else 'does not hold'}. {found.said}", flush=True)
    return bool(found.holds)


def files(folder: Path) -> dict[str, str]:
    """The data that no lesson lists: files by name."""
    found = {name: str(path) for name, path in common.there(REAL, lambda name: file_of(f"{name}.npz"))}
    X, y = make_classification(300, 20, n_informative=8, n_redundant=4, n_classes=5, random_state=3)
    path = folder / f"{MADE}.npz"
    np.savez(path, X=X, y=y)
    return {**found, MADE: str(path)}


def row(name: str, p: Prediction, spent: float, elsewhere: dict[str, str]) -> dict[str, Any]:
    """Seconds and verdicts of a prediction."""
    seeds = [verdict(name, p, f"seed {seed}", Case(p.home.data, seed)) for seed in SEEDS]
    found = {where: verdict(name, p, where, Case(path)) if p.takes_data else None for where, path in elsewhere.items()}
    return {"prediction": name, "seconds": spent, "seeds": sum(map(bool, seeds)), "of": len(seeds), **found}


def main() -> None:
    """Measure and store the table."""
    parser = common.parser(__doc__, quick="the first lesson only, nothing is stored")
    parser.add_argument("--seconds", action="store_true", help="print the seconds as JSON, and do nothing else")
    options = parser.parse_args()
    if options.seconds:
        print(json.dumps(own_seconds(options.quick)))
        return
    spent = seconds_when_compiled(options.quick)
    with tempfile.TemporaryDirectory() as folder:
        elsewhere = files(Path(folder))
        rows = [row(name, p, spent[name], elsewhere) for name, p in predictions(options.quick)]
    common.show(rows)
    longest = max(rows, key=lambda one: float(one["seconds"]))
    met = bar(f"the longest run ({longest['prediction']})", longest["seconds"], MOST_SECONDS, unit=" s")
    if not options.quick:
        common.store("lessons", rows, bar=MOST_SECONDS, met=met, seeds=SEEDS, data=list(elsewhere))


if __name__ == "__main__":
    main()
