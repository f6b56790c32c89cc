"""Seconds of the first use of a loss × solver, with an empty kernel cache and from the cache.

Each pair runs in a fresh process: a small problem is made and solved for a few iterations, after the imports. Cold: the
kernel cache is an empty folder. Cached: the same again in a second process. Reported are processor seconds
beyond a third use in the same process, which is negligible. All losses × solvers with the group lasso; every other
penalty with each solver and the first loss; CSC, float32 and an intercept for the first solver.

    python benchmarks/bench_compile.py [--only bcd-ls] [--quick] [--kernels multiclass-squared-hinge/l1/l2/bcd-ls]

``--kernels`` shows for one combination where the time goes: seconds in the compiler by kernel.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any, NamedTuple

import common

from sparsescope.registry import losses, penalties, solvers

COLD, CACHED = 10.0, 0.5  # bars
FIRST_LOSS, FIRST_PENALTY = "multiclass-squared-hinge", "l1/l2"

PROGRAM = """
import json, sys, time
began = time.process_time()
import numpy as np, scipy.sparse as sp
import sparsescope as ss
import sparsescope.run, sparsescope.jit
from sparsescope.registry import losses, penalties, solvers
imports = time.process_time() - began
loss, penalty, solver, variant, kernels = json.loads(sys.argv[1])
rng = np.random.default_rng(0)
X, y = rng.standard_normal((40, 12)), np.arange(40) % 4
X = X.astype(np.float32) if variant == "float32" else sp.csc_matrix(X) if variant == "csc" else X
spent = {}
if kernels:
    import numba.core.event as event
    class Listener(event.Listener):
        stack = []
        def on_start(self, e):
            self.stack.append([e.data["dispatcher"].py_func.__qualname__, time.process_time(), 0.0])
        def on_end(self, e):
            name, began, inner = self.stack.pop()
            took = time.process_time() - began
            if self.stack:
                self.stack[-1][2] += took
            calls, own = spent.get(name, (0, 0.0))
            spent[name] = (calls + 1, own + took - inner)
    event.register("numba:compile", Listener())
def use():
    began = time.process_time()
    try:
        problem = ss.Problem(X, y, loss=loss, penalty=penalty, intercept=variant == "intercept")
        ss.solve(problem.with_lam(0.1 * problem.lam_reference), solver, max_iter=3)
    except ValueError as reason:
        print(json.dumps({"refused": str(reason)}))
        sys.exit()
    return time.process_time() - began
first, second = use(), use()
print(json.dumps({"first": first - second, "imports": imports, "spent": spent}))
"""


class Combination(NamedTuple):
    """Loss, penalty, solver and data that kernels are compiled for."""

    loss: str
    penalty: str
    solver: str
    variant: str = "dense"

    def __str__(self) -> str:
        more = "" if self.variant == "dense" else f" ({self.variant})"
        return f"{self.loss} × {self.penalty} × {self.solver}{more}"


def combinations() -> list[Combination]:
    """All pairs of loss and solver, and samples of the rest."""
    found = [Combination(loss, FIRST_PENALTY, solver) for solver in solvers for loss in losses]
    found += [
        Combination(FIRST_LOSS, penalty, solver)
        for solver in solvers
        for penalty in penalties
        if penalty != FIRST_PENALTY
    ]
    found += [Combination(FIRST_LOSS, FIRST_PENALTY, "bcd-ls", variant) for variant in ("csc", "float32", "intercept")]
    return found


def process(combination: Combination, folder: str, kernels: bool = False) -> dict[str, Any]:
    """First use in a fresh process with a cache folder; ``refused`` if the solver does not take the problem."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps([*combination, kernels])],
        capture_output=True,
        text=True,
        env={**os.environ, "SPARSESCOPE_CACHE": folder},
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{combination}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def measure(combination: Combination) -> dict[str, Any] | None:
    """Cold and cached seconds; ``None`` if the solver does not take the problem."""
    with tempfile.TemporaryDirectory(prefix="sparsescope-cold-") as folder:
        cold = process(combination, folder)
        if "refused" in cold:
            return None
        cached = process(combination, folder)
    return {**combination._asdict(), "cold s": cold["first"], "cached s": cached["first"], "imports s": cold["imports"]}


def kernels(name: str) -> None:
    """Print the seconds in the compiler by kernel, for a combination written as loss/penalty/solver."""
    loss, rest = name.split("/", 1)
    penalty, solver = rest.rsplit("/", 1)
    with tempfile.TemporaryDirectory(prefix="sparsescope-cold-") as folder:
        found = process(Combination(loss, penalty, solver), folder, kernels=True)
    if "refused" in found:
        print(found["refused"])
        return
    rows = [{"kernel": k, "compiled": calls, "own s": own} for k, (calls, own) in found["spent"].items()]
    common.show(sorted(rows, key=lambda row: -row["own s"])[:30])
    print(f"in all {found['first']:.2f} s; own s: without the functions that were compiled on the way")


def main() -> None:
    """Measure and store the table."""
    parser = common.parser(__doc__, "fresh", quick="only the first loss with the first penalty; not stored")
    parser.add_argument("--only", nargs="+", help="parts of names of combinations")
    parser.add_argument("--kernels", metavar="LOSS/PENALTY/SOLVER", help="where the time of one combination goes")
    args = parser.parse_args()
    if args.kernels:
        kernels(args.kernels)
        return
    common.quiet()
    rows = common.Rows("compile", {"quick": args.quick}, args.fresh)
    wanted = [c for c in combinations() if not args.only or any(part in str(c) for part in args.only)]
    if args.quick:
        wanted = [c for c in wanted if c[:2] == (FIRST_LOSS, FIRST_PENALTY)]
    for combination in wanted:
        if str(combination) in rows:
            continue
        row = measure(combination)
        if row is not None:
            rows.keep(str(combination), {"combination": str(combination), **row})
            print(f"{combination}: cold {row['cold s']:.2f} s, cached {row['cached s']:.2f} s", flush=True)
    report(rows.finish(map(str, combinations()), by="combination", summary=summary, quick=args.quick))


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The largest figures."""
    return {name: max(rows, key=lambda row: row[name])[name] for name in ("cold s", "cached s")} if rows else {}


def report(rows: list[dict[str, Any]]) -> None:
    """A table of losses × solvers, the slowest combinations, and the bars."""
    if not rows:
        print("(nothing measured)")
        return
    print(f"\nFirst use with an empty cache, seconds, with {FIRST_PENALTY}:")
    grid: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["penalty"] == FIRST_PENALTY and row["variant"] == "dense":
            grid.setdefault(row["solver"], {"solver": row["solver"]})[row["loss"]] = row["cold s"]
    common.show(list(grid.values()))
    print("\nSlowest:")
    names = ("combination", "cold s", "cached s")
    common.show([{k: row[k] for k in names} for row in sorted(rows, key=lambda row: -row["cold s"])[:5]])
    for name, limit in (("cold s", COLD), ("cached s", CACHED)):
        worst = max(rows, key=lambda row: row[name])
        common.bar(
            f"first use, {name.split()[0]}, worst of {len(rows)} ({worst['combination']})",
            worst[name],
            limit,
            unit=" s",
        )


if __name__ == "__main__":
    main()
