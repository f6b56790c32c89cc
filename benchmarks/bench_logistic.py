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
from typing import Any

import problems
import race

from sparsescope.registry import solvers

NAME = "logistic"
OURS = ("bcd-ls", "working-set")
RIVALS = ("glmnet", "lightning")
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
    """The table, and whether we were faster than each peer."""
    race.judge(rows, dict.fromkeys(RIVALS, "not faster than"), OURS)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of the bars, for the stored file."""
    return race.gains(rows, RIVALS, OURS)


def main() -> None:
    """Measure, or print what is stored."""
    race.main(NAME, __doc__, problems.LOGISTIC, (problems.LOGISTIC[0].name,), contestants, report, summary)


if __name__ == "__main__":
    main()
