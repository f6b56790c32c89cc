"""Paths of 50 λ: processor seconds to a worst error on the whole path, beside glmnet, adelie, celer and skglm.

ℓ1, elastic net and ℓ1/ℓ2, binary and multinomial logistic loss, without intercept, from λ_max down to a share of it.
Every program solves the same λ. The error at a λ is F − F* over F*, with F* certified by our own solver, and all
objectives are evaluated by the same code. A program is run once at each of its tolerances, the fastest one that got to
a level is repeated, in turns with the others, and medians count. Ours has making the problem (`ss.Problem`) on the
clock, and proves the tolerance at every λ; the others prove nothing. What is compiled in a process is compiled before
its clock starts.

    python benchmarks/bench_path.py [--only rcv1] [--quick] [--repeats 3] [--limit 120] [--fresh] [--print]
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np
import problems
import race
import scipy.sparse as sp
from peers import r_files

import sparsescope as ss

NAME = "path"
LAMS = 50
LEVELS = (1e-2, 1e-4, 1e-6)
REFERENCE = 1e-8  # relative gap of the optima
OURS = (3e-1, 1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7)
PEERS = {
    "glmnet": (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11),
    "adelie": (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11),
    "celer": (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6, 1e-7),
    "skglm": (1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 1e-8),  # of the gradient, not of F
}
WORKER = "path_worker.py"
HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class PathCase:
    """A path: data, loss, penalty with its ρ, and the share of λ_max at which it ends."""

    name: str
    data: str
    loss: str
    penalty: str
    ratio: float
    rho: float | None = None

    def problem(self) -> ss.Problem:
        """The problem; :class:`common.Missing` if its data are not here."""
        return ss.Problem(problems.dataset(self.data), loss=self.loss, penalty=penalty_of(self.penalty, self.rho))


CASES = [
    PathCase("rcv1, ℓ1", "rcv1", "binary-logistic", "l1", 0.01),
    PathCase("news20-binary, ℓ1", "news20-binary", "binary-logistic", "l1", 0.01),
    PathCase("mnist-49, ℓ1", "mnist-49", "binary-logistic", "l1", 0.01),
    PathCase("news20-binary, elastic net", "news20-binary", "binary-logistic", "elastic-net", 0.01, 0.5),
    PathCase("digits, ℓ1, ten classes", "digits", "logistic", "l1", 0.01),
    PathCase("news20, ℓ1, twenty classes", "news20", "logistic", "l1", 0.1),
    PathCase("digits, grouped", "digits", "logistic", "l1/l2", 0.01),
    PathCase("news20, grouped", "news20", "logistic", "l1/l2", 0.1),
]
QUICK = "digits, grouped"


def penalty_of(name: str, rho: float | None) -> Any:
    """The penalty of a case."""
    return name if rho is None else ss.penalties.ElasticNet(rho=rho)


def takes(peer: str, case: PathCase) -> bool:
    """Return whether a peer solves the problem."""
    if peer == "glmnet":
        return True
    if case.loss == "logistic":  # the others know two classes only; adelie's groups are rows
        return peer == "adelie" and case.penalty == "l1/l2"
    return peer == "adelie" or case.penalty == "l1"


def missing(peer: str) -> str | None:
    """A sentence if a peer is not installed."""
    if peer == "glmnet":
        there = (
            shutil.which("Rscript")
            and not subprocess.run(["Rscript", "-e", "library(glmnet)"], capture_output=True, check=False).returncode
        )
        return None if there else "glmnet is not here and left out (docs/benchmarks.md says how it is installed)."
    if peer in ("adelie", "celer"):
        return None if race.LASSO.exists() else f"{peer} is not here and left out: make bench-peers installs it."
    return None if importlib.util.find_spec(peer) else f"{peer} is not here: pip install 'sparsescope[bench]'"


# ------------------------------------------------------------------------------------------------------------ programs
def own(task: dict[str, Any]) -> dict[str, Any]:
    """Our path, in this process: prints nothing, gives seconds and stores the weights."""
    from sparsescope.registry import solvers
    from sparsescope.runs.run import warm_up

    sys.path.insert(0, str(HERE / "peers"))
    from watch import read_data

    X, y = read_data(task["data"])

    def problem() -> ss.Problem:
        return ss.Problem(X, y, loss=task["loss"], penalty=penalty_of(task["penalty"], task.get("rho")))

    first = problem()
    warm_up(first, solvers.create("auto"))
    ss.path(first, lams=task["lams"][:3], tol=1e-2)
    began = common.clock()
    found = ss.path(problem(), lams=task["lams"], tol=task["setting"]["tol"])
    spent = common.clock() - began
    weights = [sp.csr_matrix(found.weights(k)) for k in range(len(found))]
    sp.save_npz(task["out"], sp.vstack(weights, format="csr"))
    return {"cpu": spent, "lams": len(found), "gap": float(np.max(found.relative_gap))}


def glmnet(task: dict[str, Any], limit: float) -> dict[str, Any]:
    """One path of R's glmnet."""
    sys.path.insert(0, str(HERE / "peers"))
    from watch import read_data

    X, y = read_data(task["data"])
    family = "binomial" if task["loss"] == "binary-logistic" else "multinomial"
    kind = "grouped" if task["penalty"] == "l1/l2" else "ungrouped"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        r_files.write(folder, X, y, lambdas=np.array(task["lams"]))
        script = [str(HERE / "peers" / "glmnet_path.R"), name, family, kind, str(task.get("rho", 1.0))]
        done = subprocess.run(
            ["Rscript", *script, str(task["setting"]["tol"])], capture_output=True, text=True, timeout=limit, check=True
        )
        cpu, _, lams, version = done.stdout.split()[-4:]
        m = 1 if family == "binomial" else int(y.max()) + 1
        W = np.fromfile(folder / "W.bin").reshape(int(lams), m, X.shape[1])
        parts = [sp.csr_matrix(w.T) for w in W]
        if family == "binomial":  # its second class is the one with weights
            parts = [part if y.max() == 1 else -part for part in parts]
        sp.save_npz(task["out"], sp.vstack(parts, format="csr"))
    return {"cpu": float(cpu), "lams": int(lams), "version": version}


def answer(name: str, task: dict[str, Any], limit: float) -> dict[str, Any] | None:
    """One run in a process; ``None`` if it failed or took too long."""
    try:
        if name == "glmnet":
            return glmnet(task, 3 * limit)
        if name == "ours":
            command = [sys.executable, __file__, "--own"]
        else:
            python = str(race.LASSO) if name in ("adelie", "celer") else sys.executable
            command = [python, str(HERE / "peers" / WORKER)]
        done = subprocess.run(
            command, input=json.dumps(task), capture_output=True, text=True, timeout=3 * limit, check=True
        )
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found
    except subprocess.TimeoutExpired:
        print(f"  {name} {task['setting']['tol']:.0e}: no answer in {3 * limit:.0f} s")
    except subprocess.CalledProcessError as error:
        print(f"  {name} {task['setting']['tol']:.0e}: failed: {(error.stderr.strip().splitlines() or ['?'])[-1]}")
    return None


# --------------------------------------------------------------------------------------------------------- measurement
def objectives(problem: ss.Problem, lams: np.ndarray, weights: sp.csr_matrix) -> np.ndarray:
    """F at each λ, as many as there are weights; infinite at the others."""
    d, m = problem.d, problem.m
    found = np.full(len(lams), np.inf)
    for k in range(weights.shape[0] // d):
        W = np.asarray(weights[k * d : (k + 1) * d].todense(), dtype=float)
        W = np.column_stack([W, np.zeros(d)])[:, :m] if W.shape[1] < m else W
        found[k] = problem.with_lam(float(lams[k])).objective(np.ascontiguousarray(W))
    return found


def measure_case(case: PathCase, repeats: int, limit: float) -> dict[str, Any]:
    """The row of one path."""
    problem = case.problem()
    lams = np.geomspace(1.0, case.ratio, LAMS) * problem.lam_max
    certified = ss.path(problem, lams=lams, tol=REFERENCE, max_iter=100_000)
    best = certified.objective
    with tempfile.TemporaryDirectory() as folder:
        task = {
            "data": str(race.export(problems.Case(case.name, case.data, case.ratio))),
            "lams": lams.tolist(),
            "loss": case.loss,
            "penalty": case.penalty,
            "out": str(Path(folder) / "W.npz"),
        }
        if case.rho is not None:
            task["rho"] = case.rho

        def run(name: str, tol: float) -> dict[str, Any] | None:
            found = answer(name, {**task, "setting": {"method": name, "tol": tol}}, limit)
            if found is not None:
                F = objectives(problem, lams, sp.load_npz(task["out"]))
                found["error"] = float(np.max((F - best) / np.abs(best)))
                print(f"  {name} {tol:.0e}: {found['cpu']:.3f} s, worst error {found['error']:.1e}", flush=True)
            return found

        tried: dict[str, dict[float, dict[str, Any]]] = {}
        for name, tolerances in {"ours": OURS, **PEERS}.items():
            if name != "ours" and (not takes(name, case) or missing(name)):
                continue
            tried[name] = {}
            for tol in tolerances:
                found = run(name, tol)
                if found is None:
                    break
                tried[name][tol] = found
                if found["cpu"] > limit or found["error"] <= LEVELS[-1]:
                    break
        contestants = {name: {"levels": {}, "tried": _listed(runs)} for name, runs in tried.items()}
        for level in LEVELS:
            chosen = {name: _fastest(runs, level, limit) for name, runs in tried.items()}
            spent = {name: [tried[name][tol]["cpu"]] for name, tol in chosen.items() if tol is not None}
            for _ in range(repeats - 1):
                for name, times in spent.items():
                    again = run(name, chosen[name]) if sum(times) < limit else None
                    times += [again["cpu"]] if again else []
            for name, tol in chosen.items():
                entry = None if tol is None else {"cpu": median(spent[name]), "tol": tol, "all": spent[name]}
                contestants[name]["levels"][f"{level:.0e}"] = entry
    return {
        "loss": case.loss,
        "penalty": case.penalty,
        "ratio": case.ratio,
        "n": problem.n,
        "d": problem.d,
        "m": problem.m,
        "reference gap": float(np.max(certified.relative_gap)),
        "features": int(certified.nonzero_rows[-1]),
        "limit": limit,
        "contestants": contestants,
    }


def _listed(runs: dict[float, dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"tol": tol, "cpu": found["cpu"], "error": found["error"]} for tol, found in runs.items()]


def _fastest(runs: dict[float, dict[str, Any]], level: float, limit: float) -> float | None:
    """The tolerance with which a program was at a level soonest; ``None`` if it was at none in time."""
    there = {tol: found["cpu"] for tol, found in runs.items() if found["error"] <= level and found["cpu"] <= limit}
    return min(there, key=lambda tol: there[tol]) if there else None


def seconds(row: dict[str, Any], name: str, level: float) -> float | None:
    """Seconds of a program at a level; ``None`` if it did not take part or did not get there."""
    return race.seconds(row, name, level)


def ratios(rows: list[dict[str, Any]], level: float) -> list[float]:
    """The fastest peer's seconds ÷ ours, on the paths with a peer that got to the level."""
    found = []
    for row in rows:
        times = [seconds(row, name, level) for name in row["contestants"] if name != "ours"]
        mine, there = seconds(row, "ours", level), [time for time in times if time is not None]
        if mine is not None and there:
            found.append(min(there) / mine)
    return found


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures that have a bar."""
    found = {f"{level:.0e}": ratios(rows, level) for level in LEVELS}
    return {
        "median ratio": {level: median(values) if values else None for level, values in found.items()},
        "least ratio": {level: min(values, default=None) for level, values in found.items()},
    }


def report(rows: list[dict[str, Any]]) -> None:
    """The table, and the bars."""
    lines = []
    for row in rows:
        for name in row["contestants"]:
            times = {f"{level:.0e}": seconds(row, name, level) for level in LEVELS}
            lines.append({"path": row["case"], "program": name, **times})
    print()
    common.show(lines)
    print()
    facts = summary(rows)
    for level, value in facts["least ratio"].items():
        common.bar(f"best peer ÷ ours to {level}, least of all paths", value, 1.0, at_least=True)


def main() -> None:
    """Measure, or print what is stored."""
    parser = common.parser(__doc__, "fresh", "print", quick=f"{QUICK} only; not stored", repeats=3, limit=120.0)
    parser.add_argument("--only", nargs="+", help="paths whose names have one of these words")
    parser.add_argument("--own", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.own:
        print(json.dumps(own(json.loads(sys.stdin.read()))))
        return
    if args.print:
        report(common.rows_of(NAME))
        return
    common.quiet()
    for name in PEERS:
        if missing(name):
            print(missing(name))
    options = {"repeats": args.repeats, "limit": args.limit, "quick": args.quick}
    rows = common.Rows(NAME, options, args.fresh)

    def wanted(name: str) -> bool:
        if args.quick:
            return name == QUICK
        return not args.only or any(word.lower() in name.lower() for word in args.only)

    jobs = {case.name: functools.partial(measure_case, case, args.repeats, args.limit) for case in CASES}
    rows.measure(jobs, wanted)
    report(rows.finish(jobs, summary=summary, quick=args.quick))


if __name__ == "__main__":
    main()
