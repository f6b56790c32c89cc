"""The command `path`: solutions at falling λ, each started at the one before."""

from __future__ import annotations

import argparse
from typing import Any

from ..progress import progress
from ._arguments import add_output, add_problem, count, positive
from ._data import load_data, make_problem
from ._output import as_json, check_table, say, write_table

HELP = "fit one model for each of many λ, from λ_max downwards"
EXAMPLES = """
sparsescope path digits --n-lams 20 --ratio 0.05
sparsescope path mydata.csv --target class --penalty l1 --out path.csv
cat mydata.csv | sparsescope path - --json | jq '.rows[-1].nonzero_rows'
"""
DONE, UNCERTIFIED, INTERRUPTED = 0, 3, 130
SHOWN = ("lam", "nonzero_rows", "objective", "relative_gap", "train_accuracy", "test_accuracy", "iterations")


def add(parser: Any) -> None:
    """Add the arguments."""
    add_problem(parser)
    parser.add_argument("--solver", default="auto", help="default: %(default)s")
    parser.add_argument("--n-lams", type=count, default=50, metavar="N", help="number of λ (default: %(default)s)")
    parser.add_argument(
        "--ratio", type=positive, default=0.01, metavar="R", help="smallest λ over λ_max (default: %(default)s)"
    )
    parser.add_argument(
        "--tol", type=positive, default=1e-4, help="relative duality gap at each λ (default: %(default)s)"
    )
    parser.add_argument("--max-iter", type=count, default=1000, help="iterations at one λ (default: %(default)s)")
    parser.add_argument("--save", metavar="PATH.npz", help="keep the path with its weights (sparsescope.Path.load)")
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    """Solve the path; Ctrl-C keeps the λ that are done."""
    from ..runs.keeping import Interrupts, check_writable
    from ..runs.paths import PathRun

    target = check_table(options.out)
    save = None if options.save is None else check_writable(options.save)
    data = load_data(options)
    problem = make_problem(options, data)
    steps = PathRun(
        problem,
        options.solver,
        n_lams=options.n_lams,
        ratio=options.ratio,
        tol=options.tol,
        max_iter=options.max_iter,
        test=data.test,
    )
    with Interrupts() as interrupts, progress(steps.lams.size, "λ") as bar:
        for _ in steps:
            bar.update(len(steps.path) - bar.n)
            if interrupts.seen:
                break
    found = steps.path
    table = found.to_frame()
    if target is not None:
        write_table(table, target)
    if save is not None:
        found.save(save)
    if options.json:
        rows = table.to_dict("records")
        say(as_json({"data": data.name, "info": found.info, "message": _message(found, interrupts.seen), "rows": rows}))
    else:
        _tell(found, table, interrupts.seen)
    if interrupts.seen:
        return INTERRUPTED
    return DONE if found.converged.all() else UNCERTIFIED


def _message(found: Any, interrupted: bool) -> str:
    return f"interrupted; {len(found)} λ are done" if interrupted else str(found.message)


def _tell(found: Any, table: Any, interrupted: bool) -> None:
    names = [name for name in SHOWN if name in table and table[name].notna().any()]
    if len(table):
        say(table[names].to_string(index=False, float_format=lambda value: f"{value:.5g}"))
    say(_message(found, interrupted))
