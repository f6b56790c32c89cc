"""Multinomial logistic loss + ℓ1/ℓ2: seconds to relative sub-optimality 1e-2, 1e-4, 1e-6, beside glmnet and lightning.

glmnet (R) solves the same problem with type.multinomial="grouped", standardize=FALSE, intercept=FALSE; it is run at a
series of thresholds, for λ alone and along a path. All objectives are evaluated by the same code, so that the problems
are the same shows in the "lowest" sub-optimality each one reached (stored with the results). The line search of
lightning's FISTA is left out: for this loss it ends at a wrong point. docs/benchmarks.md says more.

    python benchmarks/bench_logistic.py [--only news20] [--quick] [--repeats 3] [--limit 40] [--fresh] [--print]
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from statistics import median
from typing import Any

import common
import problems
import race

from sparsescope.registry import solvers

NAME = "logistic"
OURS = ("bcd-ls", "working-set")
THRESHOLDS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
# For this loss lightning's default is the constant step (max_steps=0); its line search is faster on some problems.
LIGHTNING = (
    {"method": "cd", "max_steps": 30, "shrinking": False, "tol": 0.0},
    {"method": "cd", "max_steps": 30, "shrinking": True, "tol": 1e-1},
    {"method": "cd", "max_steps": 30, "shrinking": True, "tol": 1e-2},
    {"method": "cd", "max_steps": 30, "shrinking": True, "tol": 1e-3},
    {"method": "cd", "max_steps": 30, "shrinking": True, "tol": 1e-4},
    {"method": "cd", "max_steps": 0, "shrinking": False, "tol": 0.0},
    {"method": "cd", "max_steps": 0, "shrinking": True, "tol": 1e-2},
    {"method": "cd", "max_steps": 0, "shrinking": True, "tol": 1e-3},
    {"method": "cd", "max_steps": 0, "shrinking": True, "tol": 1e-4},
    {"method": "fista", "max_steps": 0},
)


def glmnet() -> race.Contestant | None:
    """R's glmnet, if it is here."""
    ask = 'quit(status = !requireNamespace("glmnet", quietly = TRUE))'
    r = shutil.which("Rscript")
    if r is None or subprocess.run([r, "-e", ask], capture_output=True, check=False).returncode != 0:
        print("glmnet is not here and left out: apt-get install --no-install-recommends r-base-core r-cran-glmnet")
        return None
    settings = tuple({"lambdas": count, "thresh": value} for count in (1, 8) for value in THRESHOLDS)
    return race.Contestant("glmnet", (sys.executable, str(race.PEERS / "glmnet_worker.py")), settings)


def contestants() -> list[race.Contestant]:
    """Our solvers, and the peers that are here."""
    ours = [race.own(name, {"solver": name}) for name in OURS if name in solvers]
    return [*ours, *(peer for peer in (glmnet(), race.lightning(*LIGHTNING)) if peer is not None)]


def report(rows: list[dict[str, Any]]) -> None:
    """The table, and whether we were faster than each peer wherever it got to the same objective."""
    print()
    common.show(race.table(rows))
    print()
    for peer in ("glmnet", "lightning"):
        lost, wins = losses(rows, peer)
        where = f" ({'; '.join(lost)})" if lost else ""
        common.bar(
            f"problems × levels where our best is not faster than {peer}{where}",
            float(len(lost)) if wins else None,
            0.0,
        )
        if wins:
            print(f"                {peer} ÷ our best: median {median(wins):.3g}, {min(wins):.3g} to {max(wins):.3g}")


def losses(rows: list[dict[str, Any]], peer: str, own: tuple[str, ...] = OURS) -> tuple[list[str], list[float]]:
    """Return where a peer was at least as fast as our best solver, and all ratios, at the levels that it reached."""
    lost, wins = [], []
    for row in rows:
        for level in race.SHOWN:
            theirs = race.seconds(row, peer, level)
            ours = [t for t in (race.seconds(row, name, level) for name in own) if t is not None]
            if theirs is None:
                continue
            wins.append(theirs / min(ours) if ours else 0.0)
            if wins[-1] <= 1.0:
                lost.append(f"{row['case']} at {level:.0e}")
    return lost, wins


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of the bars, for the stored file."""
    found = {}
    for peer in ("glmnet", "lightning"):
        lost, wins = losses(rows, peer)
        if wins:
            found[peer] = {"median ratio": median(wins), "least ratio": min(wins), "not faster": lost}
    return found


def main() -> None:
    """Measure, or print what is stored."""
    quick = (problems.LOGISTIC[0].name,)
    args = race.options(__doc__, quick[0])
    if args.print:
        report(common.rows_of(NAME))
    else:
        race.measure(NAME, problems.LOGISTIC, quick, contestants(), args, report, summary)


if __name__ == "__main__":
    main()
