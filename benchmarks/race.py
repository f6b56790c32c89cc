"""Side by side: every contestant solves the same problem in a separate process, one thread, the same stopwatch.

A *setting* is a dictionary that its worker understands; a *field* (:class:`Peer`) is a worker with the interpreter that
runs it. :func:`race` finds the best setting of each contestant for every level of sub-optimality, then repeats the best
ones in turns, so that a machine that drifts slows all alike, and gives medians.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import common
import numpy as np
import problems
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.registry import solvers

PEERS = Path(__file__).resolve().parent / "peers"
HOME = PEERS.parents[1] / ".peers"  # environments of the peers, and the problems as files; not under version control
LIGHTNING, LASSO = (HOME / name / "bin" / "python" for name in ("lightning", "lasso"))
FINE = [10.0 ** (-k / 2) for k in range(2, 13)]  # levels that are looked at; those shown are 1e-2, 1e-4, 1e-6
SHOWN = (1e-2, 1e-4, 1e-6)
ALLOWANCE = 120.0  # wall seconds a process may take beyond its limit: start, reading, looking
TOLERANCES = ("tol", "thresh")  # settings at which a peer stops by itself
SHORT = 5.0  # seconds; shorter runs are cheap enough to be repeated in full
OPTIMUM_TOL = 1e-10  # relative gap that is aimed at for F*
OPTIMUM_ENOUGH = 1e-7  # and the one that is needed to speak of 1e-6


@dataclass(frozen=True)
class Contestant:
    """Somebody in the race: a name, the command of its worker, and the settings to be tried."""

    name: str
    command: tuple[str, ...]
    settings: tuple[dict[str, Any], ...]


def own(name: str, *settings: dict[str, Any]) -> Contestant:
    """A solver of this package."""
    return Contestant(name, (sys.executable, str(PEERS / "own_worker.py")), settings)


def peer(name: str, worker: str, *settings: dict[str, Any]) -> Contestant:
    """A peer that lives in the environment of this package (the extra ``bench``)."""
    return Contestant(name, (sys.executable, str(PEERS / worker)), settings)


def lightning(*settings: dict[str, Any]) -> Contestant | None:
    """lightning, if its environment has been built."""
    if not LIGHTNING.exists():
        print("lightning is not here and left out: make bench-peers builds its environment.")
        return None
    return Contestant("lightning", (str(LIGHTNING), str(PEERS / "lightning_worker.py")), settings)


def lasso(name: str, worker: str, *settings: dict[str, Any]) -> Contestant | None:
    """celer or adelie, if their environment has been built."""
    if not LASSO.exists():
        print(f"{name} is not here and left out: make bench-peers builds its environment.")
        return None
    return Contestant(name, (str(LASSO), str(PEERS / worker)), settings)


def label(setting: dict[str, Any]) -> str:
    """Name of a setting as it is printed."""
    return ", ".join(str(v) if k in ("method", "solver") else f"{k}={v}" for k, v in setting.items())


# --------------------------------------------------------------------------------------------------------- problems
def export(case: problems.Case) -> Path:
    """The data of a case as a file that workers of any environment read; written once."""
    path = HOME / "problems" / f"{case.data}.npz"
    data = problems.dataset(case.data)
    X = data.X
    if path.exists() and path.stat().st_mtime > Path(problems.__file__).stat().st_mtime:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    y = ss.Problem(data).y.astype(np.int32)
    if sp.issparse(X):
        C = sp.csc_matrix(X, dtype=np.float64)
        C.sort_indices()
        parts = {
            "data": C.data,
            "indices": C.indices.astype(np.int32),
            "indptr": C.indptr.astype(np.int32),
            "shape": np.array(C.shape),
        }
    else:
        parts = {"X": np.asfortranarray(X, dtype=np.float64)}
    unfinished = path.with_suffix(".part.npz")
    np.savez(unfinished, y=y, **parts)
    unfinished.replace(path)
    return path


def fingerprint(problem: ss.Problem) -> str:
    """Twelve hex digits of data, λ, loss and penalty: an optimum belongs to exactly these."""
    seen = hashlib.sha256(repr((problem.n, problem.d, problem.m, problem.loss.title, problem.penalty.title)).encode())
    seen.update(np.float64(problem.lam).tobytes() + problem.y.tobytes())
    seen.update(np.ascontiguousarray(problem.block_constants("tight")).round(9).tobytes())
    return seen.hexdigest()[:12]


def optimum(case: problems.Case, say: bool = True) -> dict[str, Any]:
    """λ, F*, its relative gap and the share of non-zero rows of a case; from results/optima.json, or computed into it.

    Raises ``RuntimeError`` if the gap cannot be brought below 1e-7: sub-optimality of 1e-6 would not mean anything.
    """
    problem = case.problem()
    key = f"{case.name}, {case.loss}"
    known = common.rows_of("optima")
    for row in known:
        if row["case"] == key and row["fingerprint"] == fingerprint(problem):
            return row
    if say:
        print(f"{case.name}: F* is computed once", flush=True)
    solver = "working-set" if "working-set" in solvers else "bcd-ls"
    began = time.process_time()
    found = ss.solve(problem, solver, tol=OPTIMUM_TOL, max_iter=10**6, max_seconds=600.0, record=False)
    if not found.relative_gap <= OPTIMUM_ENOUGH:
        raise RuntimeError(
            f"{case.name}: {solver} ended with a relative gap of {found.relative_gap:.1e} "
            f"({found.message}); F* is needed to {OPTIMUM_ENOUGH:g}"
        )
    support = (found.W != 0).any(axis=1)
    row = {
        "case": key,
        "fingerprint": fingerprint(problem),
        "n": problem.n,
        "d": problem.d,
        "m": problem.m,
        "lam": problem.lam,
        "lam/lam_max": case.ratio,
        "F*": found.objective,
        "relative gap": found.relative_gap,
        "rows": int(support.sum()),
        "share of rows": float(support.mean()),
        "solver": solver,
        "seconds": time.process_time() - began,
    }
    others = [r for r in known if r["case"] != key]
    common.store("optima", [*others, row], say=False, kept=bool(others))
    return row


# ----------------------------------------------------------------------------------------------------------- running
def run(contestant: Contestant, task: dict[str, Any]) -> dict[str, Any]:
    """One process, one measurement. A worker that fails or hangs gives a result with the reason."""
    try:
        done = subprocess.run(
            contestant.command,
            input=json.dumps(task),
            capture_output=True,
            text=True,
            timeout=3 * task["limit"] + ALLOWANCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"reached": [], "ended": f"no answer within {3 * task['limit'] + ALLOWANCE:.0f} s", "lowest": None}
    if done.returncode != 0:
        return {
            "reached": [],
            "ended": f"failed: {(done.stderr.strip().splitlines() or ['without a word'])[-1]}",
            "lowest": None,
        }
    return json.loads(done.stdout.strip().splitlines()[-1])


def times(result: dict[str, Any], which: int = 1) -> dict[float, float]:
    """Level -> processor seconds (or wall seconds, which=2) of a result."""
    return {entry[0]: entry[which] for entry in result["reached"]}


def _task(case: problems.Case, facts: dict[str, Any], limit: float) -> dict[str, Any]:
    return {"data": str(export(case)), "loss": case.loss, "penalty": case.penalty, "lam": facts["lam"],
            "best": facts["F*"], "limit": limit}  # fmt: skip


def race(
    case: problems.Case, contestants: list[Contestant], repeats: int, limit: float, say: bool = True
) -> dict[str, Any]:
    """All contestants on one case. Gives for each name the times of its best setting for every shown level."""
    facts = optimum(case)
    task = _task(case, facts, limit)
    load = common.OtherLoad()
    tried = {c.name: _screen(c, task, say) for c in contestants}
    winners = {c.name: _winners(tried[c.name]) for c in contestants}
    rounds: dict[str, dict[float, list[dict[float, float]]]] = {c.name: {} for c in contestants}
    for turn in range(repeats):
        for c in contestants:
            for k, levels in _grouped(winners[c.name]).items():
                # The run that made a setting the best was perhaps a lucky one: it counts only where runs are long.
                known = tried[c.name][k] if turn == 0 else None
                result = (
                    known
                    if known is not None and known["cpu"] > SHORT
                    else run(c, {**task, "setting": c.settings[k], "levels": [v for v in FINE if v >= min(levels)]})
                )
                for level in levels:
                    if level in times(result):
                        rounds[c.name].setdefault(level, []).append(
                            {"cpu": times(result)[level], "wall": times(result, 2)[level]}
                        )
    row: dict[str, Any] = {
        "case": case.name,
        "optimum": facts,
        "limit": limit,
        "repeats": repeats,
        "load of others": load.share(),
        "date": time.strftime("%Y-%m-%d"),
        "contestants": {},
    }
    for c in contestants:
        row["contestants"][c.name] = {
            "levels": {
                f"{level:.0e}": _summary(rounds[c.name].get(level), c, winners[c.name].get(level)) for level in SHOWN
            },
            "tried": [
                {
                    "setting": label(s),
                    "ended": r["ended"],
                    "lowest": r["lowest"],
                    "cpu": r.get("cpu"),
                    "looks": r.get("looks"),
                    "compiling": r.get("compiling"),
                    "reached": {f"{level:.0e}": times(r)[level] for level in SHOWN if level in times(r)},
                }
                for s, r in zip(c.settings, tried[c.name], strict=False)
                if r is not None
            ],
        }
    return row


def _screen(contestant: Contestant, task: dict[str, Any], say: bool) -> list[dict[str, Any] | None]:
    """Each setting once; one that is far behind the best so far is given up on the way.

    Settings of one method that differ only in the tolerance at which they stop by themselves are tried from loose to
    tight, and the tighter ones are left out (``None``) once one has reached the last level.
    """
    results: list[dict[str, Any] | None] = []
    rivals: dict[float, float] = {}
    climbed: set[str] = set()
    for setting in contestant.settings:
        ladder = (
            str({k: v for k, v in setting.items() if k not in TOLERANCES})
            if any(setting.get(k) for k in TOLERANCES)
            else ""
        )
        if ladder in climbed:
            results.append(None)
            continue
        result = run(
            contestant,
            {
                **task,
                "setting": setting,
                "levels": FINE,
                "rivals": {str(level): seconds for level, seconds in rivals.items()},
            },
        )
        results.append(result)
        for level, seconds in times(result).items():
            rivals[level] = min(seconds, rivals.get(level, seconds))
        if ladder and (FINE[-1] in times(result) or result["ended"] != "by itself"):
            climbed.add(ladder)
        if say:
            got = "  ".join(f"{level:.0e}: {times(result)[level]:.3g} s" for level in SHOWN if level in times(result))
            lowest = "" if result["lowest"] is None else f", lowest {result['lowest']:.1e}"
            print(f"    {contestant.name} ({label(setting)}): {got or 'none'}{lowest}; {result['ended']}", flush=True)
    return results


def _winners(results: list[dict[str, Any] | None]) -> dict[float, int]:
    """Shown level -> number of the fastest setting."""
    best: dict[float, int] = {}
    for level in SHOWN:
        found = [(times(r)[level], k) for k, r in enumerate(results) if r is not None and level in times(r)]
        if found:
            best[level] = min(found)[1]
    return best


def _grouped(winners: dict[float, int]) -> dict[int, list[float]]:
    groups: dict[int, list[float]] = {}
    for level, k in winners.items():
        groups.setdefault(k, []).append(level)
    return groups


def _summary(runs: list[dict[str, float]] | None, contestant: Contestant, winner: int | None) -> dict[str, Any] | None:
    if not runs or winner is None:
        return None
    return {
        "cpu": median(r["cpu"] for r in runs),
        "wall": median(r["wall"] for r in runs),
        "all cpu": [r["cpu"] for r in runs],
        "setting": label(contestant.settings[winner]),
    }


def to_gap(case: problems.Case, solver: str, gap: float, repeats: int, limit: float) -> dict[str, Any]:
    """Median processor seconds of a solver of this package to a relative duality gap."""
    contestant = own(solver, {"solver": solver})
    task = {**_task(case, optimum(case), limit), "levels": [], "gap": gap, "setting": {"solver": solver}}
    found = [run(contestant, task) for _ in range(repeats)]
    reached = [r for r in found if r.get("gap_cpu") is not None]
    if len(reached) < len(found):
        return {
            "case": case.name,
            "solver": solver,
            "gap": gap,
            "cpu": None,
            "ended": [r["ended"] for r in found],
            "reached gap": [r.get("gap") for r in found],
        }
    return {
        "case": case.name,
        "solver": solver,
        "gap": gap,
        "cpu": median(r["gap_cpu"] for r in reached),
        "cpu with certificates": median(r["gap_cpu_with_certificates"] for r in reached),
        "iterations": reached[0]["gap_iterations"],
    }


# ------------------------------------------------------------------------------------------------- a whole measurement
def options(doc: str | None, quick: str) -> argparse.Namespace:
    """The command line that all races have."""
    parser = common.parser(
        doc, "fresh", "print", quick=f"only {quick}, one repeat, 5 s; not stored", repeats=3, limit=40.0
    )
    parser.add_argument("--only", nargs="+", help="parts of problem names")
    args = parser.parse_args()
    if args.quick:
        args.repeats, args.limit = 1, 5.0
    return args


def main(
    name: str,
    doc: str | None,
    cases: list[problems.Case],
    quick: tuple[str, ...],
    contestants: Callable[[], list[Contestant]],
    report: Callable[[list[dict[str, Any]]], None],
    summary: Callable[[list[dict[str, Any]]], dict[str, Any]] = lambda rows: {},
    more: Callable[[problems.Case, argparse.Namespace], dict[str, Any]] = lambda case, args: {},
) -> None:
    """Race on all wanted cases that are not measured yet, store them (not with --quick) and report; or only report.

    more : what else to measure for a case, as further entries of its row
    """
    args = options(doc, " and ".join(quick))
    if args.print:
        report(common.rows_of(name))
        return
    field = contestants()
    common.quiet()
    names = [c.name for c in field]
    asked = {"repeats": args.repeats, "limit": args.limit, "quick": args.quick, "contestants": names}
    rows = common.Rows(name, asked, args.fresh)

    def job(case: problems.Case) -> Callable[[], dict[str, Any]]:
        return lambda: {**race(case, field, args.repeats, args.limit), **more(case, args)}

    def wanted(case: str) -> bool:
        return case in quick if args.quick else not args.only or any(part.lower() in case.lower() for part in args.only)

    jobs = {case.name: job(case) for case in cases}
    rows.measure(jobs, wanted)
    report(rows.finish(jobs, summary=summary, quick=args.quick))


def table(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for each case and contestant: seconds to each shown level."""
    lines = []
    for row in rows:
        for name, found in row["contestants"].items():
            line: dict[str, Any] = {"problem": row["case"], "solver": name}
            entries = [found["levels"][f"{level:.0e}"] for level in SHOWN]
            for level, entry in zip(SHOWN, entries, strict=True):
                line[f"{level:.0e}"] = None if entry is None else entry["cpu"]
            line["lowest"] = min((t["lowest"] for t in found["tried"] if t["lowest"] is not None), default=None)
            line["setting at the last level"] = next((e["setting"] for e in reversed(entries) if e), None)
            lines.append(line)
    return lines


def seconds(row: dict[str, Any], name: str, level: float) -> float | None:
    """Processor seconds of a contestant at a level; ``None`` if it did not take part or did not get there."""
    entry = row["contestants"].get(name, {"levels": {}})["levels"].get(f"{level:.0e}")
    return None if entry is None else entry["cpu"]


def ratio(row: dict[str, Any], slow: str, fast: str, level: float) -> float | None:
    """Return how many times faster ``fast`` is than ``slow`` at a level.

    ``None`` if ``fast`` did not get there or one of them did not take part. Where only ``slow`` did not get there, its
    time limit stands for its time: a lower bound.
    """
    if slow not in row["contestants"]:
        return None
    a, b = seconds(row, slow, level), seconds(row, fast, level)
    return None if b is None else (row["limit"] if a is None else a) / b


def losses(rows: list[dict[str, Any]], peer: str, own: tuple[str, ...]) -> tuple[list[str], list[float]]:
    """Return where a peer was at least as fast as our best solver, and all ratios, at the levels that it reached."""
    lost, wins = [], []
    for row in rows:
        for level in SHOWN:
            theirs = seconds(row, peer, level)
            ours = [t for t in (seconds(row, name, level) for name in own) if t is not None]
            if theirs is None:
                continue
            wins.append(theirs / min(ours) if ours else 0.0)
            if wins[-1] <= 1.0:
                lost.append(f"{row['case']} at {level:.0e}")
    return lost, wins


def judge(rows: list[dict[str, Any]], peers: dict[str, str], own: tuple[str, ...]) -> None:
    """Print the table, and for each peer whether we were faster wherever it got to the same objective.

    peers : of each what it means that we lose: ``slower than``, ``not faster than``
    """
    print()
    common.show(table(rows))
    print()
    for peer, than in peers.items():
        lost, wins = losses(rows, peer, own)
        where = f" ({'; '.join(lost)})" if lost else ""
        common.bar(f"problems × levels where our best is {than} {peer}{where}", float(len(lost)) if wins else None, 0.0)
        if wins:
            print(f"                {peer} ÷ our best: median {median(wins):.3g}, {min(wins):.3g} to {max(wins):.3g}")


def gains(rows: list[dict[str, Any]], peers: Iterable[str], own: tuple[str, ...]) -> dict[str, Any]:
    """The figures of these bars, for the stored file."""
    found: dict[str, Any] = {}
    for peer in peers:
        lost, wins = losses(rows, peer, own)
        if wins:
            found[peer] = {"median ratio": median(wins), "least ratio": min(wins), "not faster": lost}
    return found
