"""Worth of leaving samples out of a sweep whose hinges are all inactive (idle samples).

A sweep keeps the gradient u_i of every sample, so a loss costs something only where a row of W moves; and samples with
u_i = 0 are left out of the rest. Both are measured: one sweep of ``bcd-ls`` near the solution, at several λ, because
more hinges are inactive where λ is small. Turn by turn:

- the multiclass squared hinge;
- the same loss, but it denies that samples can be idle: the same sweep without laziness;
- the logistic loss, whose samples never are, at the same share of its λ_max; and at the squared hinge's weights,
  where every sweep visits and moves the same rows at first.

The gradients alone (what a row that stays zero costs) are timed as well: there the effect is largest. CPU time of this
thread, medians. Blondel et al. (2013, Sec. 4.5) report up to 10 times for their implementation.

    python benchmarks/bench_laziness.py [--turns 7] [--data text news20] [--quick]
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np
from common import cpu
from problems import dataset

import sparsescope as ss
from sparsescope.jit.parts import kernel, part
from sparsescope.kernels.sweeps import column_gradient
from sparsescope.losses import MulticlassSquaredHinge

RATIOS = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003)  # λ/λ_max
SETTLE = 25  # sweeps before the first that is timed
MULTICLASS = vars(MulticlassSquaredHinge)


@part
class NeverIdle(ss.losses.Loss):
    """The multiclass squared hinge without the notion of an idle sample."""

    value, gradient, derivatives, conjugate = (
        MULTICLASS[name] for name in ("value", "gradient", "derivatives", "conjugate")
    )
    hessian_diag, update_scores, class_aware, curvature = (
        MULTICLASS[name] for name in ("hessian_diag", "update_scores", "class_aware", "curvature")
    )

    title = "multiclass squared hinge, never idle"


@kernel
def all_gradients(columns, d, kept, listed, out):
    """Σ_i x_ij u_i for all rows j, one after the other, as a sweep computes them."""
    g = np.empty(kept.U.shape[1])
    for j in range(d):
        column_gradient(columns, j, kept, listed, g)
        out[j] = g[0]


def text() -> Any:
    """Generated text: 12 000 documents, 20 000 words, 20 classes."""
    return ss.datasets.make_text(12_000, 20_000, 20, test_size=0.0, seed=0, name="text")


DATA: dict[str, Callable[[], Any]] = {
    "text": text,
    "news20": lambda: dataset("news20"),
    "mnist10k": lambda: dataset("mnist10k"),
}


def settled(problem: ss.Problem, solver: Any, W: Any = None) -> Any:
    """A state after some sweeps."""
    state = solver.init(problem, W)
    for _ in range(SETTLE if W is None else 0):
        solver.step(problem, state)
    return state


def measure(name: str, base: ss.Problem, ratio: float, turns: int) -> dict[str, Any]:
    """One line of the table."""
    solver = ss.solvers.BCD()
    lazy = base.with_lam(ratio * base.lam_max)
    state = settled(lazy, solver)
    logistic = base.with_(loss="logistic")
    cases = {
        "lazy": (lazy, state),
        "not lazy": (lazy.with_(loss=NeverIdle()), None),
        "logistic": (logistic.with_lam(ratio * logistic.lam_max), None),
    }
    states = {case: settled(problem, solver) if found is None else found for case, (problem, found) in cases.items()}
    states["logistic, same W"] = settled(logistic, solver, state.weights())
    problems = {case: problem for case, (problem, _) in cases.items()}
    problems["logistic, same W"] = logistic.with_lam(lazy.lam)
    active = (state.kept.U > 0.0).sum() / (base.n * (base.m - 1.0))
    listed, out = np.empty(base.n, dtype=np.intp), np.empty(base.d)
    spent: dict[str, list[float]] = {case: [] for case in [*states, "gradients", "gradients, not lazy"]}
    for turn in range(turns + 1):
        for case, found in states.items():
            moving = found.copy() if case == "logistic, same W" else found
            took = cpu(lambda: solver.step(problems[case], moving))  # noqa: B023
            spent[case] += [took] if turn else []
        for case, which in (("gradients", "lazy"), ("gradients, not lazy", "not lazy")):
            took = cpu(lambda: all_gradients(base.design.columns, base.d, states[which].kept, listed, out))  # noqa: B023
            spent[case] += [took] if turn else []
    ms = {case: 1e3 * median(times) for case, times in spent.items()}
    return {
        "data": name,
        "λ/λ_max": ratio,
        "rows %": 100.0 * float(state.weights().any(axis=1).mean()),
        "active hinges %": 100.0 * float(active),
        "idle samples %": 100.0 * (1.0 - float(state.kept.busy.mean())),
        "lazy ms": ms["lazy"],
        "not lazy ms": ms["not lazy"],
        "logistic ms": ms["logistic"],
        "logistic, same W ms": ms["logistic, same W"],
        "gain": ms["not lazy"] / ms["lazy"],
        "gain of gradients": ms["gradients, not lazy"] / ms["gradients"],
        "logistic/lazy": ms["logistic"] / ms["lazy"],
        "logistic/lazy, same W": ms["logistic, same W"] / ms["lazy"],
    }


def main() -> None:
    """Measure all cases and store the table."""
    parser = common.parser(__doc__, quick="generated text and three values of λ only", turns=7)
    parser.add_argument("--data", nargs="+", default=list(DATA), choices=list(DATA))
    args = parser.parse_args()
    names, ratios = (["text"], RATIOS[1::2]) if args.quick else (args.data, RATIOS)
    common.quiet()
    rows = []
    for name, data in common.there(names, lambda name: DATA[name]()):
        problem = ss.Problem(data)
        rows += [measure(name, problem, ratio, args.turns) for ratio in ratios]
    common.show(rows)
    if not args.quick:
        best = max(rows, key=lambda row: row["gain of gradients"], default=None)
        common.store("laziness", rows, settle=SETTLE, best=best)


if __name__ == "__main__":
    main()
