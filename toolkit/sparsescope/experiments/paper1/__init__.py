"""Paper 1: Blondel, Seki and Uehara (2013), Block coordinate descent algorithms for large-scale sparse multiclass
classification. Machine Learning 93."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base import Experiment, Measurement, Paper
from ..verdicts import power
from . import claims_objectives, claims_solvers, figures, protocol
from .comparison import compare_solvers, complete
from .eta0 import choose_eta0
from .objectives import compare_objectives, count_iterations, table2
from .patterns import fit_penalties
from .shrinking import compare_shrinking

__all__ = ["PAPER", "choose_eta0", "compare_objectives", "compare_shrinking", "compare_solvers", "count_iterations",
           "fit_penalties", "table2"]  # fmt: skip

LARGE, SMALL = protocol.LAMS


def _at_both(name: str, run: Callable[..., Any], **options: Any) -> list[Measurement]:
    """A measurement at the larger λ, and one at the smaller."""

    def at(lam: float) -> Measurement:
        made = f"{name}, λ = {power(lam)}"
        return Measurement(made, name, lambda pool, settings, report: run(pool, lam, settings, report), **options)

    return [at(LARGE), at(SMALL)]


ETA0, SOLVERS = _at_both("eta0", choose_eta0), _at_both("solvers", compare_solvers, finish=complete)
SHRINKING = _at_both("shrinking", compare_shrinking, finish=complete)
MEASUREMENTS = (
    Measurement("patterns", "patterns", fit_penalties),
    ETA0[0], SOLVERS[0], ETA0[1], SOLVERS[1], *SHRINKING,
    Measurement("objectives", "objectives", compare_objectives),
    Measurement("iterations", "iterations", count_iterations),
)  # fmt: skip
AT_LARGE, AT_SMALL = ((eta0.name, solvers.name) for eta0, solvers in zip(ETA0, SOLVERS, strict=True))

EXPERIMENTS = (
    Experiment("fig1", "Fig. 1", "which weights each penalty sets to zero", ("patterns",), "patterns",
               figures.patterns),
    Experiment("fig2", "Fig. 2", "six solvers at λ = 1e-3: objective and test accuracy over time", AT_LARGE, "solvers",
               lambda tables: figures.convergence(tables, LARGE)),
    Experiment("fig3", "Fig. 3", "six solvers at λ = 1e-5: objective and test accuracy over time", AT_SMALL, "solvers",
               lambda tables: figures.convergence(tables, SMALL)),
    Experiment("fig4", "Fig. 4", "percentage of non-zero rows over time, both λ", AT_LARGE + AT_SMALL,
               "solvers", figures.sparsity),
    Experiment("shrinking", "Sec. 5.2.4", "block coordinate descent with and without shrinking",
               tuple(m.name for m in SHRINKING), "shrinking", figures.shrinking),
    Experiment("fig5", "Fig. 5", "accuracy against percentage of non-zero rows, three objectives", ("objectives",),
               "objectives", figures.tradeoff),
    Experiment("table2", "Table 2", "training times of the three objectives", ("objectives",), "objectives",
               tabulate=lambda tables: table2(tables["objectives"])),
    Experiment("iterations", "Sec. 5.3.2", "outer iterations to the stopping criterion, multiclass against multitask",
               ("iterations",), "iterations", figures.criterion),
)  # fmt: skip

WORDS = {
    "BCD": "block coordinate descent: one row of weights, those of one feature, is moved at a time",
    "LS, CST": "steps by a line search, steps by a constant bound of the curvature",
    "FISTA, SpaRSA": "all weights move along the full gradient: with momentum, with steps from the last two gradients",
    "FOBOS": "weights move along the gradient of one sample at a time, with steps that fall from η0",
    "sparsity level of λ": "the number of rows that the solution at this λ uses",
    "shrinking": "leaving out rows that will probably stay zero",
    "multiclass, multitask": "one loss for all classes together, a loss for each class against the rest",
}

PAPER = Paper(
    number=1,
    title="Block coordinate descent algorithms for large-scale sparse multiclass classification",
    question="how fast does block coordinate descent (BCD), with line search (LS) or constant steps (CST), find "
    "models that use few features, compared with FISTA, SpaRSA and FOBOS?",
    reference="M. Blondel, K. Seki, K. Uehara, Machine Learning 93 (2013)",
    data=("digits", "pydocs"),
    measurements=MEASUREMENTS,
    experiments=EXPERIMENTS,
    claims=claims_solvers.CLAIMS + claims_objectives.CLAIMS,
    differences=protocol.DIFFERENCES,
    words=WORDS,
)
