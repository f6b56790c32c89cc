"""Memory of the recorder (bar: 1.5 × of data and model): 20 newsgroups, 130 107 features, 20 classes.

Each variant runs in a separate process: block coordinate descent without observers and with the full recorder, for a
penalty with a small support (ℓ1/ℓ2) and for one that keeps every weight (ridge). Reported is the largest amount of
memory that was allocated during the iterations beyond data and solver state (tracemalloc, which sees all numpy arrays).

    python benchmarks/bench_memory.py [--iterations 30]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tracemalloc
from typing import Any

from common import parser, shared_data, show, store


def child(path: str, penalty: str, watched: bool, iterations: int) -> None:
    """The process that is measured: prints one line of JSON."""
    import sparsescope as ss
    from sparsescope.runs.trace import Recorder

    problem = ss.Problem(ss.datasets.load(path), penalty=penalty)
    problem = problem.with_lam(0.02 * problem.lam_reference)
    recorder = Recorder()
    run = ss.Run(problem, "bcd-ls", callbacks=[recorder] if watched else [], certify_every=1 if watched else 10**9)
    run.warm_up()
    state = run.solver.init(problem)
    run = ss.Run(problem, "bcd-ls", state=state, callbacks=run.callbacks, certify_every=run.certify_every)
    tracemalloc.start()
    for _ in range(iterations + 1):
        run.advance()
    held, peak = tracemalloc.get_traced_memory()
    print(
        json.dumps(
            {
                "penalty": penalty,
                "watched": watched,
                "iterations": iterations,
                "data MB": problem.design.nbytes / 1e6,
                "model MB": (state.coef.nbytes + state.Z.nbytes) / 1e6,
                "held MB": held / 1e6,
                "peak MB": peak / 1e6,
                "snapshots MB": sum(s.nbytes for s in recorder.trace.snapshots) / 1e6,
                "rows": problem.d,
                "non-zero rows": int((state.weights() != 0).any(axis=1).sum()),
            }
        )
    )


def main() -> None:
    """Run all variants and store the table."""
    command = parser(__doc__)
    command.add_argument("--iterations", type=int, default=30)
    command.add_argument("--child", nargs=3, metavar=("PATH", "PENALTY", "WATCHED"), help=argparse.SUPPRESS)
    args = command.parse_args()
    if args.child:
        child(args.child[0], args.child[1], args.child[2] == "1", args.iterations)
        return
    folder = shared_data()
    if folder is None:
        print("20 newsgroups is not here: set SPARSESCOPE_DATA to the folder that holds news20_bydate_counts.npz")
        return
    rows: list[dict[str, Any]] = []
    for penalty in ("l1/l2", "ridge"):
        for watched in ("0", "1"):
            command = [
                sys.executable,
                __file__,
                "--iterations",
                str(args.iterations),
                "--child",
                str(folder / "news20_bydate_counts.npz"),
                penalty,
                watched,
            ]
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            rows.append(json.loads(answer.splitlines()[-1]))
    for row in rows:
        base = row["data MB"] + row["model MB"]
        row["of data + model"] = (base + row["peak MB"]) / base
    show(rows)
    store("memory", rows, worst_ratio=max(r["of data + model"] for r in rows), bar=1.5)


if __name__ == "__main__":
    main()
