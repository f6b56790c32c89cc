# ruff: noqa: E402  (the thread counts must be set before numpy is imported)
"""Common ground of the measurements: one thread, clocks, machine and versions in every result, storing and showing.

Times are seconds of processor time of the measuring process (:func:`clock`): on a shared machine they repeat far better
than wall time, which is stored beside them. Only where threads are the subject is wall time the answer.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before numpy is imported: the subject is the solvers, not the thread pools

import argparse
import json
import platform
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

import figures

import sparsescope
from sparsescope.experiments.output import processor

HERE = Path(__file__).resolve().parent
RESULTS = figures.RESULTS
PACKAGES = ("sparsescope", "numpy", "scipy", "numba", "scikit-learn", "panel", "bokeh", "plotly", "anywidget")
clock: Callable[[], float] = time.process_time
UNKNOWN = "unknown"  # commit of a measurement
STARTED = time.perf_counter()
BUSY = 0.15  # share of all cores that others may use before a measurement is called noisy


def machine() -> dict[str, Any]:
    """Processor, cores, memory, system, Python and package versions."""
    found = {}
    for name in PACKAGES:
        try:
            # of this package the version that runs, which an installation in place may have outgrown
            found[name] = sparsescope.__version__ if name == "sparsescope" else version(name)
        except PackageNotFoundError:
            continue
    return {
        "cpu": processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": sys.version.split()[0],
        "versions": found,
        "threads": os.environ["OPENBLAS_NUM_THREADS"],
    }


def commit() -> str:
    """The newest commit that changed the toolkit, which is what is measured; "unknown" without git.

    "changed" stands behind it where toolkit or measurements differ from what is committed.
    """
    git = shutil.which("git")
    if git is None:
        return UNKNOWN
    asked = [git, "-C", str(HERE.parent)]
    newest = [*asked, "log", "-1", "--format=%h", "--abbrev=8", "--", "toolkit"]
    found = subprocess.run(newest, capture_output=True, text=True, check=False)
    if found.returncode or not found.stdout.strip():
        return UNKNOWN
    paths = ["toolkit", "benchmarks/*.py", "benchmarks/peers"]
    same = subprocess.run([*asked, "diff", "--quiet", "HEAD", "--", *paths], capture_output=True, check=False)
    return found.stdout.strip() + (" changed" if same.returncode else "")


# ------------------------------------------------------------------------------------------------------- command lines
FLAGS = {
    "fresh": "do not go on with an interrupted measurement",
    "print": "measure nothing, print what is stored",
}
NUMBERS = {
    "repeats": "of each measurement",
    "turns": "of each measurement",
    "limit": "processor seconds of a run at most",
    "seed": "of what is random",
}


def parser(doc: str | None, *flags: str, quick: str = "", **numbers: float) -> argparse.ArgumentParser:
    """A command line with flags and numbers that many measurements have, and their defaults.

    flags : out of ``fresh`` and ``print`` · quick : what ``--quick`` measures, if there is one
    """
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in numbers.items():
        made.add_argument(f"--{name}", type=type(value), default=value, help=f"{NUMBERS[name]} (default: {value:g})")
    for name in flags:
        made.add_argument(f"--{name}", action="store_true", help=FLAGS[name])
    if quick:
        made.add_argument("--quick", action="store_true", help=quick.replace("%", "%%"))
    return made


# ---------------------------------------------------------------------------------------------------------- measuring
class OtherLoad:
    """Share of the machine that others used between its creation and :meth:`share`: 0 (quiet) to 1 (all cores).

    Reads /proc/stat; NaN on systems without it. This process and the children it waited for do not count.
    """

    def __init__(self) -> None:
        self._wall, self._busy, self._own = time.perf_counter(), _busy_seconds(), _own_seconds()

    def share(self) -> float:
        """Mean share of all cores since creation."""
        wall = time.perf_counter() - self._wall
        busy, own = _busy_seconds() - self._busy, _own_seconds() - self._own
        return max(0.0, (busy - own) / (wall * (os.cpu_count() or 1)))


def _busy_seconds() -> float:
    stat = Path("/proc/stat")
    if not stat.exists():
        return float("nan")
    user, nice, system, _, _, irq, softirq, steal = map(float, stat.read_text().split("\n", 1)[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def quiet(seconds: float = 1.0, say: bool = True) -> float:
    """Look at the machine for a moment: the share of it that others use. Says so if that spoils measurements."""
    load = OtherLoad()
    time.sleep(seconds)
    share = load.share()
    if say and share > BUSY:
        print(f"The machine is busy: others use {share:.0%} of it. Processor times are shown, and still less certain.")
    return share


def timed(function: Callable[[], Any], repeats: int = 3, timer: Callable[[], float] = clock) -> float:
    """Median seconds of a function's calls; the first call before them (compilation, caches) does not count."""
    function()
    return interleaved({"it": function}, repeats, warm=False, timer=timer)["it"]


def cpu(work: Callable[[], Any]) -> float:
    """Processor seconds of this thread in one call."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def interleaved(
    functions: dict[str, Callable[[], Any]], repeats: int = 3, warm: bool = True, timer: Callable[[], float] = clock
) -> dict[str, float]:
    """Median seconds of several functions, called in turn, so that a machine that drifts slows all alike."""
    if warm:
        for function in functions.values():
            function()
    spent: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            began = timer()
            function()
            spent[name].append(timer() - began)
    return {name: median(times) for name, times in spent.items()}


# -------------------------------------------------------------------------------------------------- storing and showing
def peak() -> float:
    """The largest resident memory of this process so far, GB."""
    status = Path("/proc/self/status")  # what the system reports of a child's usage begins with its parent's
    if status.exists():
        found = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return float(found.split()[1]) / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def store(
    name: str,
    rows: list[dict[str, Any]],
    say: bool = True,
    kept: bool = False,
    commits: Iterable[str] = (),
    before: float = 0.0,
    **summary: Any,
) -> Path:
    """Write rows and a summary to ``results/<name>.json`` with machine, date, commits and wall seconds of all of it.

    kept : rows that were stored under this name are among these · commits, before : of an interrupted part of this
    measurement, and its seconds
    """
    earlier = (stored(name) or {}) if kept else {}
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    content = {
        "benchmark": name,
        "date": time.strftime("%Y-%m-%d"),
        "commits": sorted({*commits, commit(), *(earlier.get("commits", [UNKNOWN]) if kept else [])}),
        "took": round(max(before + time.perf_counter() - STARTED, earlier.get("took", 0.0))),
        "machine": machine(),
        "summary": summary,
        "rows": rows,
    }
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    if say:
        print(f"\nstored in benchmarks/results/{path.name}")
    return path


def stored(name: str) -> dict[str, Any] | None:
    """Return what :func:`store` wrote under this name, or ``None``."""
    return figures.load(name, RESULTS)


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows that :func:`store` wrote under this name; none if nothing is stored."""
    return figures.rows_of(name, RESULTS)


class Missing(FileNotFoundError):
    """Error for data that are not here; the message says which file and where it was looked for."""


def there(names: Iterable[str], load: Callable[[str], Any]) -> Iterator[tuple[str, Any]]:
    """Each name with its data, where these are here; of the others it is said that they are left out."""
    for name in names:
        try:
            yield name, load(name)
        except Missing as reason:
            print(f"{name} is left out: {reason}")


class Rows:
    """Rows of a long measurement, each under a name, written down as they come.

    An interrupted measurement goes on where it was if it is started again with the same options within half a day;
    :meth:`finish` puts the rows into ``results/<name>.json``, where rows of other names stay as they are.
    """

    def __init__(self, name: str, options: dict[str, Any], fresh: bool = False) -> None:
        self.name, self.options = name, options
        self.path = RESULTS / "unfinished" / f"{name}.json"
        self.rows: dict[str, dict[str, Any]] = {}
        self.commits, self.before = {commit()}, 0.0  # seconds before an interruption
        if fresh or not self.path.exists() or time.time() - self.path.stat().st_mtime > 12 * 3600:
            return
        found = json.loads(self.path.read_text(encoding="utf-8"))
        if found["options"] == options:
            self.rows = found["rows"]
            self.commits |= set(found.get("commits", [UNKNOWN]))
            self.before = found.get("took", 0.0)
            print(f"Going on with {name}: {', '.join(self.rows)} measured already (--fresh begins anew)")

    def __contains__(self, key: str) -> bool:
        return key in self.rows

    def keep(self, key: str, row: dict[str, Any]) -> None:
        """Write down one row."""
        self.rows[key] = row
        self.path.parent.mkdir(parents=True, exist_ok=True)
        content = {
            "options": self.options,
            "commits": sorted(self.commits),
            "took": self.before + time.perf_counter() - STARTED,
            "rows": self.rows,
        }
        self.path.write_text(json.dumps(content, indent=1, ensure_ascii=False))

    def measure(
        self, jobs: Mapping[str, Callable[[], dict[str, Any]]], wanted: Callable[[str], bool] = lambda case: True
    ) -> None:
        """Do the jobs that are wanted and not done yet, and write down their rows; those without data are left out."""
        began = time.perf_counter()
        for case, job in jobs.items():
            if case in self or not wanted(case):
                continue
            print(f"{case} ({time.perf_counter() - began:.0f} s so far)", flush=True)
            try:
                self.keep(case, {"case": case, **job()})
            except Missing as reason:
                print(f"  left out: {reason}")

    def finish(
        self,
        order: Iterable[str],
        by: str = "case",
        summary: Callable[[list[dict[str, Any]]], dict[str, Any]] = lambda rows: {},
        quick: bool = False,
    ) -> list[dict[str, Any]]:
        """Store all rows, those of earlier measurements too, in the given order of names; gives them back. Rows of
        another processor than this one say so (``cpu``).

        quick : nothing is stored, and these rows alone are given back
        """
        if quick:
            self.path.unlink(missing_ok=True)
            print("(--quick: not stored)")
            return list(self.rows.values())
        before, here = stored(self.name) or {}, machine()["cpu"]
        earlier = {row[by]: {"cpu": before["machine"]["cpu"], **row} for row in before.get("rows", [])}
        for row in earlier.values():
            if row["cpu"] == here:
                del row["cpu"]
        merged = {**earlier, **self.rows}
        rows = [merged[key] for key in order if key in merged]
        kept = any(row[by] not in self.rows for row in rows)
        store(self.name, rows, kept=kept, commits=self.commits, before=self.before, **summary(rows))
        self.path.unlink(missing_ok=True)
        return rows


def show(rows: list[dict[str, Any]]) -> None:
    """Print rows as an aligned table."""
    if not rows:
        print("(no rows)")
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_text(row.get(name)) for name in names] for row in rows]
    widths = [max(len(name), *(len(line[k]) for line in cells)) for k, name in enumerate(names)]
    for line in [names, *cells]:
        print("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)))


def bar(what: str, value: float | None, limit: float, at_least: bool = False, unit: str = "") -> bool | None:
    """Print a bar with what was measured and whether it was met; ``None`` if there is nothing to compare."""
    sign = "≥" if at_least else "≤"
    if value is None or value != value:
        print(f"  not measured  {what} (bar {sign} {limit:g}{unit})")
        return None
    met = value >= limit if at_least else value <= limit
    print(f"  {'met   ' if met else 'MISSED'}        {what}: {value:.3g}{unit} (bar {sign} {limit:g}{unit})")
    return met


def judged(what: str, value: float | None, limit: float, at_least: bool = False, unit: str = "") -> dict[str, Any]:
    """:func:`bar`, and the row that is stored of it; ``met`` is ``None`` where nothing was measured."""
    met = bar(what, value, limit, at_least, unit)
    return {"bar": what, "measured": value, "sign": "≥" if at_least else "≤", "limit": limit, "unit": unit, "met": met}


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return "–" if value is None else str(value)


# ----------------------------------------------------------------------------------------------------------------- data
def data_folders() -> list[Path]:
    """The folders of ``SPARSESCOPE_DATA``, then ``../shared/data`` beside the checkout; those that exist."""
    named = os.environ.get("SPARSESCOPE_DATA", "").split(os.pathsep)
    return [Path(f) for f in [*named, str(HERE.parents[1] / "shared" / "data")] if f and Path(f).is_dir()]


def shared_data() -> Path | None:
    """The first folder of ``SPARSESCOPE_DATA`` (or ``../shared/data``) that exists, or ``None``."""
    return next(iter(data_folders()), None)
