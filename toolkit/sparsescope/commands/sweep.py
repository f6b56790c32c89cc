"""The command `sweep`: many problems × λ × solvers × seeds, here or on a cluster, as one table."""

from __future__ import annotations

import argparse
from typing import Any

from ..progress import progress
from ._arguments import add_output, count, positive
from ._data import load_data, make_problem
from ._output import as_json, check_table, say, write_table

HELP = "solve many problems, λ, solvers and seeds, and write one table of all results"
EXAMPLES = """
sparsescope sweep digits iris --penalty l1 l1/l2 --lam-ratio 0.3 0.1 0.03 --solver auto
sparsescope sweep mydata.svm --solver fobos auto --seeds 5 --jobs 4 --folder results --out sweep.parquet
sparsescope sweep mydata.svm --lam-ratio 0.1 --folder results --scheduler tcp://10.0.0.7:8786    # dask.distributed
sparsescope sweep digits --lam-ratio 0.5 0.1 --json | jq .best
"""
DONE, FAILED, UNCERTIFIED, INTERRUPTED = 0, 1, 3, 130


def add(parser: Any) -> None:
    """Add the arguments."""
    parser.add_argument(
        "names", nargs="+", metavar="NAME|FILE|-", help="data sets' names or files, as for sparsescope path"
    )
    parser.add_argument("--target", metavar="COLUMN", help="label column of CSV tables")
    parser.add_argument("--loss", nargs="+", default=[None], help="default: the one of the path command")
    parser.add_argument("--penalty", nargs="+", default=["l1/l2"], help="default: l1/l2")
    parser.add_argument("--intercept", action="store_true", help="add an intercept, which is not penalised")
    parser.add_argument(
        "--lam-ratio", nargs="+", type=positive, default=[0.1], metavar="R", help="λ/λ_max (default: 0.1)"
    )
    parser.add_argument("--solver", nargs="+", default=["auto"], help="names of solvers (default: auto)")
    parser.add_argument(
        "--seeds", type=count, default=1, metavar="N", help="seeds of each solver that draws (default: %(default)s)"
    )
    parser.add_argument("--tol", type=positive, default=1e-6, help="relative duality gap (default: %(default)s)")
    parser.add_argument("--max-iter", type=count, default=10_000, help="default: %(default)s")
    parser.add_argument("--max-seconds", type=positive, metavar="S", help="CPU seconds of a task at most")
    parser.add_argument(
        "--folder", metavar="FOLDER", help="keep results here; after an interrupt or a crash the same command goes on"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--jobs", type=count, metavar="N", help="processes of this machine (default: 1; 0: all cores)")
    where.add_argument("--scheduler", metavar="ADDRESS", help="work on the dask cluster of this scheduler")
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    """Do all tasks, with a line for each as it comes; Ctrl-C keeps what is done."""
    from ..sweeps import SweepRun

    target = check_table(options.out)
    problems, tests = _problems(options)
    steps = SweepRun(
        problems,
        lam_ratio=options.lam_ratio,
        solvers=options.solver,
        seeds=options.seeds,
        tol=options.tol,
        max_iter=options.max_iter,
        max_seconds=options.max_seconds,
        test=tests,
        folder=options.folder,
        client=options.scheduler,
        n_jobs=-1 if options.jobs == 0 else options.jobs,
    )
    interrupted = False
    with progress(steps.total, "task") as bar:
        try:
            for row in steps:
                bar.update(1)
                if not options.json:
                    say(_line(row))
        except KeyboardInterrupt:
            interrupted = True
            steps.interrupted()
    found = steps.result()
    if target is not None:
        write_table(found.to_frame(), target)
    if options.json:
        facts = {"total": found.total, "reused": found.reused, "message": found.message, "best": found.best()}
        say(as_json({**facts, "rows": list(found.rows)}))
    else:
        _tell(found)
    if interrupted:
        return INTERRUPTED
    if len(found.failures) == found.total:
        return FAILED
    return DONE if found.converged else UNCERTIFIED


def _problems(options: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """Label → problem, and label → held-out samples, of all data × losses × penalties."""
    problems, tests = {}, {}
    for name in options.names:
        data = load_data(argparse.Namespace(data=name, target=options.target))
        first = make_problem(
            argparse.Namespace(loss=options.loss[0], penalty=options.penalty[0], intercept=options.intercept), data
        )
        for loss in options.loss:
            for penalty in options.penalty:
                label = " · ".join(filter(None, (data.name, loss, penalty)))
                if label in problems:
                    raise ValueError(f"{label} is named twice; name each combination once")
                problems[label] = first.with_(loss=loss, penalty=penalty)
                if data.test is not None:
                    tests[label] = data.test
    return problems, tests


def _line(row: dict[str, Any]) -> str:
    seed = "" if row["seed"] is None else f", seed {row['seed']}"
    head = f"{row['problem']}, λ/λ_max {row['lam_ratio']:g}, {row['solver']}{seed}: "
    if row["error"]:
        return head + f"failed: {row['error']}"
    return head + (
        f"F {row['objective']:.8g}, gap {row['relative_gap']:.1e}, {row['nonzero_rows']:.0f} rows, "
        f"{row['seconds']:.2f} s" + ("" if row["converged"] else f" ({row['message']})")
    )


def _tell(found: Any) -> None:
    best, failures = found.best(), len(found.failures)
    again = f", {found.reused} of them found in the folder" if found.reused else ""
    count = f": {len(found.rows)} of {found.total}{again}" if found.complete else ""
    say(f"{found.message}{count}" + (f"; {failures} failed" if failures else ""))
    if best is not None:
        say(f"best: {_line(best)}")
