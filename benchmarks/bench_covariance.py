"""Sparse inverse covariance: seconds to relative gaps of 1e-4 to 1e-8, beside QUIC's C++, scikit-learn and R's glasso.

The gene-expression correlations of Li and Toh (ER, 692 probes; p = 300 are its first ones), and those of the first
1000 genes of golub_leukemia.npz. glasso penalises the diagonal, graphical_lasso leaves it free, so each has other
problems; the authors' QUIC (C++, where it is installed) takes all. Every gap is that of CovarianceProblem.certificate
at the Θ that was found (made symmetric). The peers show nothing while they work: each is run at a series of
tolerances, and the fastest run that got to a level counts.

Then what a coordinate step costs over p: flops, and nanoseconds in the kernels with a full memory.

    python benchmarks/bench_covariance.py [--quick] [--repeats 3] [--limit 60] [--print]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import common
import numpy as np

import sparsescope as ss
from sparsescope.kernels.coordinates import FLOPS, REPORT, STEPS, lowrank_descent, walk
from sparsescope.kernels.covariance import newton_descent
from sparsescope.problems.linear_algebra import cholesky, inverse
from sparsescope.runs.stopping import Gap, Seconds

NAME = "covariance"
PEERS = Path(__file__).resolve().parent / "peers"
QUIC_PYTHON = PEERS.parents[1] / ".peers" / "quic" / "bin" / "python"
LEVELS = (1e-4, 1e-6, 1e-8)
OURS = ("quic", "lhac-covariance")
LAM = 0.5
# Probes, λ and whether the diagonal is penalised; 1000: the genes.
CASES = ((300, LAM, True), (300, LAM, False), (692, LAM, True), (692, LAM, False), (692, 0.3, True), (1000, LAM, True))
GENES = 1000
GLASSO = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
PEER_BARS = {"quic-cpp": 0.8}  # beside its own C++
QUIC = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)
SKLEARN = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8)
STEP_SIZES = (50, 100, 200, 400, 692)
ENTRIES, SWEEPS, MEMORY = 200, 500, 10
UNBROKEN = 10**12  # flops after which a descent stops to let others compute: never


def matrix(p: int) -> np.ndarray:
    """The correlations of the first p probes, or of as many genes."""
    name = "golub_leukemia.npz" if p == GENES else "er692_covariance.npz"
    folder = common.shared_data()
    path = None if folder is None else folder / name
    if path is None or not path.exists():
        raise SystemExit(f"{name} is not here; name its folder in SPARSESCOPE_DATA")
    with np.load(path) as stored:
        if p != GENES:
            return np.ascontiguousarray(stored["S"][:p, :p])
        X = stored["X_train"].astype(np.float64)
    X = X[:, X.std(axis=0) > 0.0][:, :p]
    return np.ascontiguousarray(np.corrcoef(X, rowvar=False))


def level(value: float) -> str:
    """1e-04."""
    return f"{value:.0e}"


def race_own(problem: ss.CovarianceProblem, name: str, args: argparse.Namespace) -> dict[str, Any]:
    """Median processor seconds to each level."""
    times: dict[str, list[float]] = {level(v): [] for v in LEVELS}
    for _ in range(args.repeats):
        left = list(LEVELS)
        run = ss.Run(problem, name, stop=Gap(min(LEVELS)) | Seconds(args.limit), clock=common.clock)
        for event in run:
            while left and event.relative_gap <= left[0]:
                times[level(left.pop(0))].append(event.seconds)
    return {
        "reached": {v: median(t) if len(t) == args.repeats else None for v, t in times.items()},
        "lowest gap": event.relative_gap,
    }


def fit_glasso(folder: Path, problem: ss.CovarianceProblem, tol: float, limit: float) -> tuple[float, np.ndarray]:
    """Seconds of a call of glasso, and its Θ."""
    problem.S.tofile(folder / "S.bin")
    command = [
        "Rscript",
        str(PEERS / "glasso_fit.R"),
        str(folder),
        str(problem.d),
        repr(problem.lam),
        repr(tol),
        str(int(problem.diagonal)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True)
    return float(done.stdout.split()[0]), np.fromfile(folder / "Theta.bin").reshape(problem.d, problem.d)


def fit_sklearn(folder: Path, problem: ss.CovarianceProblem, tol: float, limit: float) -> tuple[float, np.ndarray]:
    """Seconds of a call of graphical_lasso, and its Θ."""
    np.save(folder / "S.npy", problem.S)
    command = [sys.executable, str(PEERS / "graphical_lasso_worker.py"), str(folder), repr(problem.lam), repr(tol)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True, env=dict(os.environ))
    return float(json.loads(done.stdout)["cpu"]), np.load(folder / "Theta.npy")


def fit_quic(folder: Path, problem: ss.CovarianceProblem, tol: float, limit: float) -> tuple[float, np.ndarray]:
    """Seconds of a call of the authors' QUIC, and its Θ."""
    np.save(folder / "S.npy", problem.S)
    command = [str(QUIC_PYTHON), str(PEERS / "quic_worker.py"), str(folder), repr(problem.lam), repr(tol)]
    command.append(str(int(problem.diagonal)))
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True, env=dict(os.environ))
    return float(json.loads(done.stdout)["cpu"]), np.load(folder / "Theta.npy")


def race_peer(
    problem: ss.CovarianceProblem, fit: Any, tolerances: tuple[float, ...], best: float, args: argparse.Namespace
) -> dict[str, Any]:
    """Each tolerance once, those that were first at a level again.

    A run past the limit ends the series; a repetition past it counts as the limit.
    """
    runs: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory(prefix="covariance-") as name:
        folder = Path(name)

        def one(tol: float) -> dict[str, float]:
            seconds, Theta = fit(folder, problem, tol, args.limit)
            Theta = 0.5 * (Theta + Theta.T)
            definite = cholesky(Theta) is not None
            gap = problem.certificate(Theta).relative_gap if definite else float("inf")
            off = (problem.objective(Theta) - best) / max(1.0, abs(best))
            return {"tol": tol, "seconds": seconds, "gap": gap, "off": off}

        def again(tol: float) -> float:
            try:
                return one(tol)["seconds"]
            except subprocess.TimeoutExpired:
                return float(args.limit)

        for tol in tolerances:
            try:
                runs.append(one(tol))
            except subprocess.TimeoutExpired:
                break
        found: dict[str, float | None] = {}
        for v in LEVELS:
            able = [run for run in runs if run["gap"] <= v]
            first = min(able, key=lambda run: run["seconds"], default=None)
            spent = [] if first is None else [first["seconds"], *(again(first["tol"]) for _ in range(args.repeats - 1))]
            found[level(v)] = median(spent) if spent else None
    return {"reached": found, "lowest gap": min((run["gap"] for run in runs), default=None), "runs": runs}


def measure(p: int, lam: float, diagonal: bool, args: argparse.Namespace) -> dict[str, Any]:
    """One problem: our solvers, and the peers that solve it."""
    problem = ss.CovarianceProblem(matrix(p), lam=lam, diagonal=diagonal)
    exact = ss.solve(problem, "quic", tol=1e-13, max_iter=1000, max_seconds=args.limit, record=False)
    row: dict[str, Any] = {
        "part": "race",
        "case": f"{'genes' if p == GENES else 'ER'}, p = {p}, λ = {lam:g}, diagonal {problem.parts['diagonal']}",
        "p": p,
        "components": int(problem.components.max()) + 1,
        "edges": int(np.count_nonzero(np.triu(exact.W, 1))),
        "repeats": args.repeats,
        "limit": args.limit,
    }
    row["contestants"] = {name: race_own(problem, name, args) for name in OURS}
    if QUIC_PYTHON.exists():
        row["contestants"]["quic-cpp"] = race_peer(problem, fit_quic, QUIC, exact.objective, args)
    if lam != LAM or p == GENES:  # out of reach of the others within the limit
        return row
    if not diagonal:
        row["contestants"]["graphical_lasso"] = race_peer(problem, fit_sklearn, SKLEARN, exact.objective, args)
    elif has_glasso():
        row["contestants"]["glasso"] = race_peer(problem, fit_glasso, GLASSO, exact.objective, args)
    return row


def has_glasso() -> bool:
    """Return whether R and its package are here."""
    if shutil.which("Rscript") is None:
        return False
    check = ["Rscript", "-e", 'quit(status = !requireNamespace("glasso", quietly = TRUE))']
    return subprocess.run(check, capture_output=True, check=False).returncode == 0


def step_cost(p: int, args: argparse.Namespace) -> dict[str, Any]:
    """Flops and nanoseconds of a coordinate step of both methods at p features."""
    rng = np.random.default_rng(0)
    problem = ss.CovarianceProblem(matrix(p), lam=LAM)
    Theta = problem.coefficients()
    Sigma = inverse(cholesky(Theta))
    columns, rows = (np.sort(rng.integers(0, p, ENTRIES)) for _ in range(2))
    rows = np.minimum(rows, columns)
    Lam, U = problem.thresholds(), np.zeros((p, p))
    Q = rng.normal(size=(ENTRIES, 2 * MEMORY))
    vector = rng.normal(size=ENTRIES)
    reports = {"quic": np.zeros(REPORT), "lhac": np.zeros(REPORT)}

    def newton() -> None:
        reports["quic"][:] = 0.0
        newton_descent(
            Sigma,
            problem.S - Sigma,
            Lam,
            rows.copy(),
            columns,
            Theta.copy(),
            np.zeros_like(U),
            SWEEPS,
            0.0,
            walk(ENTRIES),
            UNBROKEN,
            reports["quic"],
        )

    def lowrank() -> None:
        reports["lhac"][:] = 0.0
        lowrank_descent(
            Q,
            1e-3 * Q,
            1.0,
            np.ones(ENTRIES),
            vector,
            0.1 * vector,
            np.full(ENTRIES, LAM),
            np.zeros(ENTRIES),
            vector.copy(),
            SWEEPS,
            0.0,
            walk(0, kept=2 * MEMORY),
            UNBROKEN,
            reports["lhac"],
        )

    spent = common.interleaved({"quic": newton, "lhac": lowrank}, max(5, args.repeats))
    found: dict[str, Any] = {"part": "step", "case": f"coordinate step, p = {p}", "p": p}
    for name, report in reports.items():
        found[f"{name} flops"] = report[FLOPS] / report[STEPS]
        found[f"{name} ns"] = 1e9 * spent[name] / report[STEPS]
    return found


def report(rows: list[dict[str, Any]]) -> None:
    """The tables, and the bars."""
    races = [row for row in rows if row["part"] == "race"]
    common.show(
        [
            {
                "case": row["case"],
                "edges": row["edges"],
                **{
                    f"{name} {v}": entry["reached"][v]
                    for name, entry in row["contestants"].items()
                    for v in entry["reached"]
                },
            }
            for row in races
        ]
    )
    print()
    for row in races:
        reached = row["contestants"]["quic"]["reached"]
        for peer in ("graphical_lasso", "glasso", "quic-cpp"):
            if peer in row["contestants"]:
                for v, theirs in row["contestants"][peer]["reached"].items():
                    ratio = None if theirs is None or reached[v] is None else reached[v] / theirs
                    common.bar(f"quic ÷ {peer} to a gap of {v}, {row['case']}", ratio, PEER_BARS.get(peer, 1.0))
        common.bar(f"lowest relative gap of quic, {row['case']}", row["contestants"]["quic"]["lowest gap"], 1e-8)
    steps = [row for row in rows if row["part"] == "step"]
    common.show([{k: v for k, v in row.items() if k not in ("part", "case")} for row in steps])
    if steps:
        times = [row["lhac ns"] for row in steps]
        common.bar("dearest ÷ cheapest coordinate step of LHAC over p", max(times) / min(times), 1.5)


def main() -> None:
    """Measure, or print what is stored."""
    parser = common.parser(__doc__, "print", quick="p = 300, once, and nothing is stored", repeats=3, limit=60.0)
    args = parser.parse_args()
    if args.print:
        report(common.rows_of(NAME))
        return
    if args.quick:
        args.repeats = 1
    common.quiet()
    rows = [measure(*case, args) for case in (CASES[:2] if args.quick else CASES)]
    if not QUIC_PYTHON.exists():
        print("QUIC's C++ is not here and left out; docs/benchmarks.md says where it is looked for")
    if not has_glasso():
        print("glasso is not here and left out. On Debian: apt-get install --no-install-recommends r-cran-glasso")
    rows += [step_cost(p, args) for p in STEP_SIZES]
    report(rows)
    if not args.quick:
        common.store(NAME, rows)


if __name__ == "__main__":
    main()
