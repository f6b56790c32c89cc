"""ℓ1 binary logistic loss: seconds to relative sub-optimality 1e-2, 1e-4, 1e-6, beside five peers.

No intercept, for liblinear penalises its own. All objectives are evaluated by the same code. The peers show nothing
while they work, so each is run at a series of tolerances and the fastest one that got to a level counts; what skglm
compiles does not. docs/benchmarks.md says more.

For every problem also what one coordinate step of `lhac` costs: flops, and nanoseconds in its kernel with a full memory
on a working set of 200 entries of the problem.

    python benchmarks/bench_second_order.py [--only news20] [--quick] [--repeats 3] [--limit 20] [--fresh] [--print]
"""

from __future__ import annotations

import argparse
import importlib.util
from typing import Any

import common
import numpy as np
import problems
import race

from sparsescope.kernels.coordinates import FLOPS, REPORT, STEPS, lowrank_descent, walk
from sparsescope.registry import solvers

NAME = "second_order"
OURS = ("newglmnet", "lhac")
PEERS = {
    "liblinear": (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6),
    "skglm": (3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6, 1e-7),
    "saga": (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
    "celer": (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7),
    "adelie": (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10),
}
APART = ("celer", "adelie")  # in a separate environment
WORKER = "l1_logistic_worker.py"
ENTRIES, SWEEPS = 200, 200  # of the model whose coordinate steps are timed
UNBROKEN = 10**12  # flops after which a descent stops to let others compute: never


def contestants() -> list[race.Contestant]:
    """Our solvers, and the peers that are installed."""
    field = [race.own(name, {"solver": name}) for name in OURS if name in solvers]
    for name, tolerances in PEERS.items():
        settings = [{"method": name, "tol": tol} for tol in tolerances]
        if name in APART:
            settings += [{**setting, "path": 8} for setting in settings if name == "adelie"]
            found = race.lasso(name, WORKER, *settings)
            field += [found] if found else []
            continue
        if name != "saga" and importlib.util.find_spec(name) is None:
            print(f"{name} is not here and left out: pip install 'sparsescope[bench]'")
            continue
        field.append(race.peer(name, WORKER, *settings))
    return field


def step_cost(case: problems.Case, args: argparse.Namespace) -> dict[str, Any]:
    """Flops and nanoseconds of a coordinate step of lhac on this problem's data, with memory 10."""
    problem = case.problem()
    solver = solvers.create("lhac")
    state = solver.init(problem)
    for _ in range(3 * solver.memory):
        solver.step(problem, state)
    at = np.argsort(-np.abs(state.coef.ravel()) - 1e-9 * np.abs(state.G.ravel()), kind="stable")[:ENTRIES]
    Q, Qhat, diagonal = state.model.rows(at)
    part = state.entries(problem, at)
    g = state.G.ravel()[at].astype(np.float64)
    report = np.zeros(REPORT)

    def sweep() -> None:
        report[:] = 0.0
        new, at = part.w.copy(), walk(0, kept=Q.shape[1])
        model = Q, Qhat, state.model.gamma, diagonal, g, part.w, part.t, part.ridge, new
        lowrank_descent(*model, SWEEPS, 0.0, at, UNBROKEN, report)

    seconds = common.timed(sweep, max(3, args.repeats))
    return {"flops": report[FLOPS] / report[STEPS], "step ns": 1e9 * seconds / report[STEPS]}


def report(rows: list[dict[str, Any]]) -> None:
    """The table, and the bars."""
    race.judge(rows, {peer: "slower than" if peer == "liblinear" else "not faster than" for peer in PEERS}, OURS)
    steps = [row["step ns"] for row in rows if row.get("step ns")]
    spread = max(steps) / min(steps) if steps else None
    common.bar("dearest ÷ cheapest coordinate step of lhac, over the problems", spread, 1.5)


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of the bars, for the stored file."""
    return race.gains(rows, PEERS, OURS)


def main() -> None:
    """Measure, or print what is stored."""
    cases = problems.SECOND_ORDER
    race.main(NAME, __doc__, cases, (cases[3].name,), contestants, report, summary, step_cost)


if __name__ == "__main__":
    main()
