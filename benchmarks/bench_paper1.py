"""ℓ1/ℓ2 multiclass squared hinge: seconds to relative sub-optimality 1e-2, 1e-4 and 1e-6, beside lightning.

Nine problems (problems.py), each solver in a separate process on one thread, processor time, medians of three taken
in turns; F* is certified by our own duality gap. lightning gets the best of its settings at each level.
docs/benchmarks.md says what was taken care of.

    python benchmarks/bench_paper1.py [--only news20 letter] [--quick] [--repeats 3] [--limit 40] [--fresh] [--print]
"""

from __future__ import annotations

import argparse
from statistics import median
from typing import Any

import common
import problems
import race

from sparsescope.registry import solvers

NAME = "paper1"
QUICK = ("digits 30 %", "MNIST-10k 1 %")
# What lightning can be told. It stops by itself at "tol" (of the first pass's violations); shrinking reinstates
# features only then, so it is tried at a series of tolerances, loose to tight, and with tol=0.
LIGHTNING = (
    {"method": "cd", "shrinking": False, "tol": 0.0},
    {"method": "cd", "shrinking": True, "tol": 1e-1},
    {"method": "cd", "shrinking": True, "tol": 1e-2},
    {"method": "cd", "shrinking": True, "tol": 1e-3},
    {"method": "cd", "shrinking": True, "tol": 1e-4},
    {"method": "cd", "shrinking": True, "tol": 0.0},
    {"method": "cd", "shrinking": True, "tol": 0.0, "max_steps": 0},
    {"method": "fista"},
    {"method": "fista", "C": "1/n"},
)
CERTIFIED = (("MNIST-10k 5 %", 3.0), ("news20 0.9 %", 5.0))  # seconds to a relative gap of 1e-9
BARS = {1e-2: 2.0, 1e-4: 5.0, 1e-6: 10.0}  # working-set against lightning, in the median
TIE = 1.05  # times that differ by less than this are equal


def contestants() -> list[race.Contestant]:
    """Our solvers, and lightning if it is here."""
    ours = [race.own("bcd-ls", {"solver": "bcd-ls"})]
    if any(f.name == "shrinking" for f in solvers.fields("bcd-ls")):
        ours.append(race.own("bcd-ls, shrinking", {"solver": "bcd-ls", "shrinking": True}))
    if "working-set" in solvers:
        ours.append(race.own("working-set", {"solver": "working-set"}))
    peer = race.lightning(*LIGHTNING)
    return ours if peer is None else [*ours, peer]


def certified(case: problems.Case, args: argparse.Namespace) -> dict[str, Any]:
    """Time to a relative gap of 1e-9, for the cases that have a bar on it."""
    if "working-set" not in solvers or case.name not in dict(CERTIFIED):
        return {}
    return {"certified": race.to_gap(case, "working-set", 1e-9, args.repeats, args.limit)}


def ratios(rows: list[dict[str, Any]], name: str, level: float) -> list[float]:
    """lightning's time ÷ ours in each case (see :func:`race.ratio`)."""
    return [r for r in (race.ratio(row, "lightning", name, level) for row in rows) if r is not None]


def _median(values: list[float]) -> float | None:
    return median(values) if values else None


def slower(rows: list[dict[str, Any]], than: str = "bcd-ls", name: str = "working-set") -> list[str]:
    """Return where one of our solvers took longer than another one of ours."""
    worse = []
    for row in rows:
        for level in race.SHOWN:
            a, b = race.seconds(row, than, level), race.seconds(row, name, level)
            if a is not None and (b is None or b > TIE * a):
                worse.append(f"{row['case']} at {level:.0e}: " + ("not reached" if b is None else f"{b / a:.2f} times"))
    return worse


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of the bars, for the stored file."""
    found: dict[str, Any] = {}
    for name in ("bcd-ls", "bcd-ls, shrinking", "working-set"):
        medians = {f"{level:.0e}": _median(ratios(rows, name, level)) for level in race.SHOWN}
        if any(value is not None for value in medians.values()):
            found[f"lightning's best ÷ {name}, medians"] = medians
    if any("working-set" in row["contestants"] for row in rows):
        found["working-set slower than bcd-ls"] = slower(rows)
    return found


def report(rows: list[dict[str, Any]]) -> None:
    """The table, and every bar with met or missed."""
    print()
    common.show(race.table(rows))
    limits = ", ".join(sorted({f"{row['limit']:g} s" for row in rows}))
    print(f"\nSeconds of processor time; – : not reached within the limit ({limits}).")
    print(
        f"\nlightning's best time ÷ ours, medians over {len(rows)} problems (where lightning never got there, its "
        "limit ÷ ours):"
    )
    for name in ("bcd-ls", "bcd-ls, shrinking"):
        for level in race.SHOWN:
            if ratios(rows, name, level):
                print(f"                {name} at {level:.0e}: {median(ratios(rows, name, level)):.3g}")
    plain = [r for level in race.SHOWN for r in ratios(rows, "bcd-ls", level)]
    common.bar("plain bcd-ls, all levels together", _median(plain), 2.0, at_least=True)
    for level, limit in BARS.items():
        values = ratios(rows, "working-set", level)
        common.bar(f"working-set at {level:.0e}", _median(values), limit, at_least=True)
    if any("working-set" in row["contestants"] for row in rows):
        worse = slower(rows)
        where = f" ({'; '.join(worse)})" if worse else ""
        common.bar(f"problems × levels where working-set is slower than bcd-ls{where}", float(len(worse)), 0.0)
    for name, limit in CERTIFIED:
        found = next((row["certified"] for row in rows if row["case"] == name and "certified" in row), None)
        spent = None if found is None else (found["cpu"] if found["cpu"] is not None else float("inf"))
        common.bar(f"working-set to a relative gap of 1e-9, {name}", spent, limit, unit=" s")


def main() -> None:
    """Measure, or print what is stored."""
    race.main(NAME, __doc__, problems.PAPER1, QUICK, contestants, report, summary, certified)


if __name__ == "__main__":
    main()
