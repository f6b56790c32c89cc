"""The command `sparsescope paper`: a paper's experiments, from the arguments to the exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import extras

if TYPE_CHECKING:
    from .base import Paper
    from .output import Folder
    from .verdicts import Results

DONE, USAGE, INTERRUPTED = 0, 2, 130


def add_paper(commands: Any, seconds: Callable[[str], float], count: Callable[[str], int]) -> None:
    """Add the sub-command; ``seconds`` and ``count`` read a positive number and a whole one from text."""
    text = "measure a paper's experiments: tables, figures, and a verdict on each of its claims"
    parser = commands.add_parser("paper", help=text, description=text[0].upper() + text[1:] + ".")
    parser.add_argument("number", type=count, metavar="NUMBER", help="number of the paper: 1, 2, 3, 4 or 5")
    parser.add_argument(
        "--data",
        action="append",
        metavar="NAME|PATH",
        help="a data set's name (see: sparsescope datasets) or a file; may be repeated (default: bundled sets)",
    )
    parser.add_argument("--quick", action="store_true", help="small limits: about a minute on the bundled data")
    parser.add_argument("--details", action="store_true", help="print the numbers of each case under its claim")
    parser.add_argument("--only", metavar="NAME,NAME…", help="only these experiments (see --list)")
    parser.add_argument("--list", action="store_true", help="list the experiments and claims, and do nothing else")
    parser.add_argument("--out", metavar="DIR", help="folder of the results (default: sparsescope-paper-NUMBER)")
    parser.add_argument("--seed", type=count, default=0, help="of splits and random orders (default: %(default)s)")
    parser.add_argument("--seconds", type=seconds, metavar="S", help="limit of solver seconds for each run")
    parser.add_argument(
        "--splits",
        type=count,
        metavar="N",
        help="train-test splits, or random training subsets, over which results are averaged",
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--jobs", type=count, default=1, metavar="N", help="runs at a time on this machine (default: 1; 0: all cores)"
    )
    where.add_argument("--scheduler", metavar="ADDRESS", help="work on the dask cluster of this scheduler")
    parser.set_defaults(run=run_paper)


def run_paper(options: argparse.Namespace) -> int:
    """0: done · 2: arguments that cannot be used · 130: interrupted, what was finished is in the folder.

    ValueError and OSError for data and folders that cannot be used.
    """
    from . import load_paper

    try:
        paper = load_paper(options.number)
        if options.list:
            _say(listing(paper))
            return DONE
        from .base import Settings
        from .conduct import conduct
        from .output import Folder
        from .progress import Report

        names = None if options.only is None else [n.strip() for n in options.only.split(",") if n.strip()]
        chosen = paper.choose(names)
        settings = Settings(options.quick, options.seed, options.seconds, options.splits)
    except (ValueError, OSError) as error:
        print(f"sparsescope paper: {_words(error)}", file=sys.stderr)
        return USAGE
    # Data and folders that cannot be used are reported like those of every other command.
    pools = paper.pools(options.data or (), options.quick)
    folder = Folder(options.out or f"sparsescope-paper-{paper.number}")
    with _workers(options.jobs, options.scheduler) as n_jobs:
        results = conduct(paper, pools, settings, folder, chosen, Report(True, n_jobs))
    _tell(results, paper, folder, options.details)
    return INTERRUPTED if results.interrupted else DONE


@contextmanager
def _workers(jobs: int, scheduler: str | None) -> Iterator[int | None]:
    """The number of jobs for joblib; with a scheduler, its workers do them."""
    if scheduler is None:
        yield jobs or -1
        return
    with extras.needed_by("A paper's experiments on a cluster"):
        from ..sweeps.cluster import connected
    from joblib import parallel_config

    with connected(scheduler) as client, parallel_config(backend="dask", client=client):
        yield None


def _tell(results: Results, paper: Paper, folder: Folder, details: bool) -> None:
    from .output import verdict_lines, word_lines

    words = word_lines(paper, [verdict.claim for verdict in results.verdicts])
    explained = ["Words:", *words, ""] if words else []
    for line in [*results.opening, "", *verdict_lines(results.verdicts, details), "", *explained]:
        _say(line)
    for note in folder.notes if details else ():
        _say(note)
    if not details:
        _say("Numbers behind each verdict: --details, or the folder.")
    if results.interrupted:
        _say("Interrupted: what was finished by then is kept.")
    _say(f"Results: {Path(folder.path) / 'index.html'} (verdicts and figures), summary.md, tables as CSV")


def listing(paper: Paper) -> str:
    """Experiments and claims of a paper, a line each."""
    from .output import word_lines

    width = max(len(name) for name in [*(e.name for e in paper.experiments), *(c.name for c in paper.claims)]) + 2
    lines = [f"Paper {paper.number}: {paper.title}", paper.reference, "", "Experiments (for --only):"]
    lines += [f"  {e.name:{width}}{e.title}: {e.doc}" for e in paper.experiments]
    lines += ["", "Claims:"]
    lines += [f"  {c.name:{width}}{c.text} ({c.where})" for c in paper.claims]
    if words := word_lines(paper, paper.claims):
        lines += ["", "Words:", *words]
    return "\n".join(lines)


def _say(text: str) -> None:
    print(text, flush=True)


def _words(error: Exception) -> str:
    # The text of a KeyError is the repr of its argument; ours carry sentences.
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
