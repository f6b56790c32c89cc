"""The command `race`: several solvers on one problem, in turns, against one certified optimum."""

from __future__ import annotations

import argparse
from typing import Any

from .. import extras
from ..progress import progress
from ._arguments import add_output, add_problem, count, positive
from ._data import load_data, make_problem
from ._output import as_json, check_table, say, write_table

HELP = "let several solvers take turns on one problem, and tell what each needed"
EXAMPLES = """
sparsescope race digits bcd-ls fista-ls working-set
sparsescope race iris bcd-ls sparsa --unit passes --budget 500 --json
sparsescope race mydata.svm bcd-ls lhac --out race.csv
"""
DONE, INTERRUPTED = 0, 130


def add(parser: Any) -> None:
    """Add the arguments."""
    add_problem(parser)
    parser.add_argument("solvers", nargs="+", metavar="SOLVER", help="names of solvers (docs/parts.md)")
    parser.add_argument(
        "--lam-ratio", type=positive, default=0.1, metavar="R", help="λ as a share of λ_max (default: %(default)s)"
    )
    parser.add_argument(
        "--budget", type=positive, metavar="B", help="of each solver (default: 5 s, 1000 passes or 1000 iterations)"
    )
    parser.add_argument(
        "--unit",
        choices=("seconds", "passes", "iterations"),
        default="seconds",
        help="clock of the race; seconds are those of the processor (default: %(default)s)",
    )
    parser.add_argument(
        "--seeds", type=count, default=1, metavar="N", help="seeds of each solver that draws (default: %(default)s)"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--jobs", type=count, metavar="N", help="lanes side by side, N at a time (default: in turns; 0: all cores)"
    )
    where.add_argument("--scheduler", metavar="ADDRESS", help="lanes on the dask cluster of this scheduler")
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    """Race, and tell the times to each level of sub-optimality; Ctrl-C keeps the points so far."""
    from ..races import RaceRun
    from ..runs.keeping import Interrupts

    target = check_table(options.out)
    data = load_data(options)
    problem = make_problem(options, data).with_(lam_ratio=options.lam_ratio)
    chosen = {"budget": options.budget, "unit": options.unit, "seeds": options.seeds}
    interrupted = False
    if options.jobs is not None or options.scheduler is not None:
        found = _apart(problem, options, chosen)
    else:
        steps = RaceRun(problem, options.solvers, **chosen)
        with Interrupts() as interrupts, progress(len(steps.lanes), "lane") as bar:
            for _ in steps:
                bar.update(sum(bool(lane.message) for lane in steps.lanes) - bar.n)
                if interrupts.seen:
                    break
        found, interrupted = steps.end("interrupted"), interrupts.seen
    times = found.times()
    if target is not None:
        write_table(found.to_frame(), target)
    if options.json:
        say(as_json({"data": data.name, "unit": options.unit, "best": found.best, "times": times.to_dict("index")}))
    else:
        say(f"{options.unit} until (F − F*)/|F*| was at most")
        say(times.to_string(na_rep="–", float_format=lambda value: f"{value:.4g}"))
    return INTERRUPTED if interrupted else DONE


def _apart(problem: Any, options: argparse.Namespace, chosen: dict[str, Any]) -> Any:
    """The race with its lanes in other processes."""
    from ..races import race

    if options.scheduler is None:
        return race(problem, options.solvers, n_jobs=options.jobs or -1, **chosen)
    with extras.needed_by("A race on a cluster"):
        from ..sweeps.cluster import connected
    with connected(options.scheduler) as client:
        return race(problem, options.solvers, client=client, **chosen)
