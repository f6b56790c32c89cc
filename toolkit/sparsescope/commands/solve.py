"""The command `solve`: one model, with a line an iteration; what was reached can be gone on with."""

from __future__ import annotations

import argparse
import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from ._arguments import add_output, add_problem, count, positive
from ._data import load_data, make_problem
from ._output import as_json, check_table, say, write_table

HELP = "fit one model and print what the solver does"
EXAMPLES = """
sparsescope solve digits --lam-ratio 0.05
sparsescope solve mydata.csv --target class --penalty l1 --save run.npz
sparsescope solve mydata.csv --target class --penalty l1 --resume run.npz    # after Ctrl-C or a crash
sparsescope solve mydata.csv --scale none --standardize --intercept --model model.npz    # for `sparsescope predict`
cat mydata.svm | sparsescope solve - --json | jq .objective
"""
DONE, UNCERTIFIED, INTERRUPTED = 0, 3, 130
SHAPE = ("n", "d", "m")
TOLD = ("n", "d", "m", "lam", "loss", "penalty", "intercept")  # of the problem, in JSON


def add(parser: Any) -> None:
    """Add the arguments."""
    add_problem(parser)
    parser.add_argument("--solver", default="auto", help="default: %(default)s")
    parser.add_argument(
        "--lam-ratio",
        type=positive,
        default=0.1,
        metavar="R",
        help="λ as a share of λ_max, above which all weights are zero (default: %(default)s)",
    )
    parser.add_argument(
        "--tol", type=positive, default=1e-6, help="relative duality gap to reach (default: %(default)s)"
    )
    parser.add_argument("--max-iter", type=count, default=1000, help="default: %(default)s")
    parser.add_argument(
        "--save",
        metavar="RUN.npz",
        help="keep the run in this file: its trace and where it stands; also written every few seconds of a long run",
    )
    parser.add_argument(
        "--resume", metavar="RUN.npz", help="go on where the run in this file stands; it is saved there again"
    )
    parser.add_argument("--scale", metavar="RULE", help="scaling of the values of X: none, standard, max, …")
    parser.add_argument(
        "--standardize", action="store_true", help="penalise weights of features divided by their standard deviations"
    )
    parser.add_argument(
        "--model", metavar="MODEL.npz", help="write a model for `sparsescope predict`; needs unscaled X"
    )
    add_output(parser)


def run(options: argparse.Namespace) -> int:
    """Fit, and tell of at most about forty iterations; Ctrl-C keeps what was reached."""
    from ..runs.continuing import Standing, counted_on
    from ..runs.keeping import Checkpoints, check_writable
    from ..runs.trace import Recorder

    if options.save is not None and options.resume is not None:
        raise ValueError("--resume saves the run where it was; give --save or --resume, not both")
    trace, point = (None, None) if options.resume is None else _kept(options.resume)
    named = options.resume if options.save is None else options.save
    file = None if named is None else check_writable(named)  # before the fit, which may take hours
    model = None if options.model is None else check_writable(options.model)
    table = None if options.out is None else check_table(options.out)
    data = load_data(options)
    if model is not None:
        _check_repeatable(data)
    problem = make_problem(options, data)
    problem = problem.with_lam(options.lam_ratio * problem.lam_reference)
    recorder = Recorder(trace)
    standing = Standing(recorder.trace)
    observers: list[Any] = [recorder, standing]
    if file is not None:
        observers.append(Checkpoints(standing, file))
    if point is not None:
        _check_same(recorder.trace, problem, options.resume)
        recorder.trace.mark(f"resumed at iteration {point.iteration}")
    if not options.json:
        _head(problem, data)
        observers.append(_Lines())
    started: dict[str, Any] = {"callbacks": observers}
    if point is not None:
        started = {"callbacks": counted_on(observers, point), "W": point.W, "b": point.b}
    result, interrupted = _fit(options, problem, data, started)
    before = 0 if point is None else point.iteration
    kept = None if file is None else standing.save(file)
    if table is not None:
        write_table(recorder.trace.to_frame(), table)
    if model is not None:
        _save_model(problem, result, recorder.trace, model)
    if options.json:
        say(as_json(_facts(result, problem, data, before)))
    else:
        _tail(result, problem, trace=kept, table=table, model=model)
    if interrupted:
        return INTERRUPTED
    return DONE if result.converged else UNCERTIFIED


def _fit(options: argparse.Namespace, problem: Any, data: Any, started: dict[str, Any]) -> tuple[Any, bool]:
    """The result of the run, and whether Ctrl-C ended it."""
    from ..runs.keeping import Interrupted
    from ..runs.solving import solve

    settings = {"solver": options.solver, "tol": options.tol, "max_iter": options.max_iter, "test": data.test}
    with warnings.catch_warnings():
        # The end of the run is reported, and by the exit code.
        warnings.filterwarnings("ignore", message=".* ended before the tolerance")
        try:
            return solve(problem, record=False, **settings, **started), False
        except Interrupted as interruption:
            return interruption.result, True


def _tail(result: Any, problem: Any, **written: Path | None) -> None:
    """Say how the run ended and which files were written, by what they hold."""
    say(
        f"{result.message}; objective {result.objective:.10g}, relative gap {result.relative_gap:.2e}, "
        f"{len(result.support)} of {problem.d} rows used, {result.seconds:.2f} s"
    )
    for what, path in written.items():
        if path is not None:
            say(f"{what}: {path}")


def _check_repeatable(data: Any) -> None:
    """Refuse values that were scaled: a model sees new samples as they are."""
    if data.scaling != "none":
        raise ValueError(
            f"--model: the values of {data.name} are scaled by the rule {data.scaling!r}, which cannot be repeated on "
            "new samples; add --scale none, and --standardize where features have different units"
        )


def _save_model(problem: Any, result: Any, trace: Any, path: Path) -> None:
    from ..estimators import from_result

    from_result(problem, replace(result, trace=trace)).save(path)


def _kept(path: str) -> tuple[Any, Any]:
    """The trace and the point of a file."""
    from ..inputs.archives import read_arrays
    from ..runs.continuing import point_in
    from ..runs.keeping import file_of
    from ..runs.trace import Trace

    file = file_of(path)
    trace = Trace.load(file)
    point = point_in(read_arrays(file))
    if point is None:
        raise ValueError(f"{file} holds a trace without the point where the run stands; only runs of `solve --save` do")
    return trace, point


def _check_same(trace: Any, problem: Any, resumed: str) -> None:
    """Refuse to go on with a run of other data, another loss, penalty or λ (by λ_max, other values of the data)."""
    facts = problem.metadata
    for name in ("dataset", *SHAPE, "loss", "penalty", "intercept", "lam", *facts):
        now, then = facts.get(name), trace.info.get(name, facts.get(name))
        same = math.isclose(then, now, rel_tol=1e-9) if name == "lam" else then == now
        if not same:
            raise ValueError(
                f"{Path(resumed).name} is a run with {name} {then}, and the arguments say {now}; give the same data "
                "and arguments, or begin anew with --save"
            )


def _head(problem: Any, data: Any) -> None:
    from ..registry import losses, penalties

    say(f"{data.name}: n {problem.n}, d {problem.d}, m {problem.m}")
    say(
        f"{losses.name_of(problem.loss)} + λ × {penalties.name_of(problem.penalty)}, λ = {problem.lam:.4g}"
        + (", with an intercept" if problem.intercept else "")
    )
    say(f"{'iteration':>9} {'seconds':>9} {'objective':>14} {'gap':>10} {'rows':>7}")


def _facts(result: Any, problem: Any, data: Any, before: int) -> dict[str, Any]:
    """Facts that `--json` prints."""
    names = problem.feature_names
    return {
        "data": data.name,
        **{name: problem.metadata[name] for name in TOLD},
        "converged": result.converged,
        "message": result.message,
        "objective": result.objective,
        "gap": result.gap,
        "relative_gap": result.relative_gap,
        "iterations": result.iterations + before,
        "seconds": result.seconds,
        "rows_used": len(result.support),
        "support": [int(j) if names is None else names[j] for j in result.support],
    }


class _Lines:
    """Prints events: all of the first ten, then fewer and fewer."""

    def __call__(self, event: Any) -> None:
        k = event.iteration
        if k <= 10 or k % 10 ** (len(str(k)) - 1) == 0:
            gap = "" if event.gap != event.gap else f"{event.gap:10.2e}"
            say(f"{k:9d} {event.seconds:9.3f} {event.objective:14.8g} {gap:>10} {event.nonzero_rows:7.0f}")
