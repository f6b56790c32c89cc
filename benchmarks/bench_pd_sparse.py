"""PD-Sparse: times, sparsity and memory, beside liblinear, and from a hundred to a hundred thousand classes.

news20   20 newsgroups, 9 000 documents to train on and 2 314 held out, tf-idf, C = 1, λ₄ = 0.1: processor seconds to
         a held-out accuracy of .930, and the sparsity of both models there. The bar of 4.5 s is what the authors' C++
         program took elsewhere; it does not run here
ridge    λ₄ = 0, C = 1, all 11 314 documents: seconds of liblinear's -s 4 (scikit-learn's LinearSVC) at several of its
         tolerances, and of PD-Sparse to the same primal sub-optimality; the optimum is certified
scale    100 000 documents, 100 000 words, 20 000 classes, in a separate process: seconds of one iteration, the
         largest amount of memory the process ever had (bar 1.5 GB), seconds to rank the classes of 10 000 others
growth   the same corpus size with 10² to 10⁵ classes: seconds of an iteration; the exponent has to be below 1
together ten documents a class, 10³ to 10⁵ classes (10⁴ to 10⁶ documents), each in a separate process: microseconds a
         document of each of the first passes, the gap and the held-out accuracy after it, the largest memory
bibtex   precision at 1 with the protocol of paper 4 (bar: within a point of the paper's 64.55)
gaps     iris, wine and digits, both losses: relative gaps (bar 1e-6), and how far the objective is from that of fbpd

    python benchmarks/bench_pd_sparse.py [--only news20 …] [--classes 1000] [--repeats 3] [--limit 60] [--fresh]
                                         [--quick]

--quick takes small sizes and stores nothing.
"""

from __future__ import annotations

import argparse
import functools
import json
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np
import scipy.sparse as sp
from problems import dataset, file_of

import sparsescope as ss
from sparsescope.experiments import Settings, peers
from sparsescope.experiments.paper4 import claims, growth, models, protocol, samples
from sparsescope.inputs.design import Design
from sparsescope.runs.run import warm_up
from sparsescope.runs.stopping import Gap, HeldOut, Iterations, Seconds

PARTS = ("news20", "ridge", "scale", "growth", "together", "bibtex", "gaps")
ACCURACY, NEWS_BAR, NEWS_ROW, NEWS_DUALS = 0.930, 4.5, 1.9, 3.1
TRAINING = 9_000
TOLERANCES = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)  # of liblinear
MEMORY_BAR, PREDICT_BAR = 1.5, 10.0  # GB, seconds
GAP_BAR = 1e-6
NESTED = {"ridge": "levels", "together": "passes"}  # parts whose rows hold tables
GAPS = tuple((data, loss) for data in ("iris", "wine", "digits") for loss in ("crammer-singer", "separation-ranking"))
GAPS_NET, GAPS_LAM = 0.3, 0.02
SCALE = {False: (110_000, 100_000, 20_000), True: (5_500, 5_000, 1_000)}  # quick -> documents, words, classes
TESTS = 1.0 / 11.0  # of the documents
TOGETHER = {False: (1_000, 10_000, 100_000), True: (100, 300)}  # quick -> classes
DOCUMENTS, WORDS, TOGETHER_PASSES, TOGETHER_LIMIT = 10, 50_000, 3, 600.0  # a class; of all; at most; seconds


def solver() -> Any:
    """PD-Sparse with its defaults."""
    return protocol.solver(0)


# --------------------------------------------------------------------------------------------------------------- news20
def news20(repeats: int, limit: float) -> dict[str, Any]:
    """Seconds to the wanted held-out accuracy, and what the models look like there and at the end."""
    data = dataset("news20")
    order = np.random.default_rng(0).permutation(data.n)
    train, held = np.sort(order[:TRAINING]), np.sort(order[TRAINING:])
    problem = protocol.at(
        ss.Problem(
            sp.csc_array(data.X[train]),
            data.y[train],
            loss="crammer-singer",
            penalty="elastic-net",
            class_names=data.class_names,
        ),
        0.1,
    )
    spent: list[float] = []
    found: dict[str, Any] = {}
    for _ in range(repeats):
        run = ss.Run(
            problem,
            solver(),
            test=(data.X[held], data.y[held]),
            clock=time.thread_time,
            stop=Gap(1e-3) | HeldOut(6) | Seconds(limit),
        )
        reached = None
        best = 0.0
        for event in run:
            best = max(best, event.test_accuracy)
            if reached is None and event.test_accuracy >= ACCURACY:
                reached = event.seconds
                found = {"iterations": event.iteration, **density(run)}
        spent.append(float("inf") if reached is None else reached)
        found |= {
            "best accuracy": best,
            "gap": run.certificate().relative_gap,
            **{f"{name} at the end": value for name, value in density(run).items()},
        }
    seconds = median(spent)
    return {"seconds": seconds if seconds < float("inf") else None, "accuracy": ACCURACY, **found}


def density(run: ss.Run) -> dict[str, float]:
    """k_W, and k_A without and with the duals of the own class."""
    from sparsescope.experiments.paper4.sparsity import densities

    found = densities(run)
    return {"k_W": found["k_w"], "k_A others": found["k_a_others"], "k_A": found["k_a"]}


# ---------------------------------------------------------------------------------------------------------------- ridge
def ridge(repeats: int, limit: float, quick: bool) -> dict[str, Any]:
    """Liblinear at each tolerance, and PD-Sparse to the same primal objective."""
    data = dataset("news20")
    problem = protocol.at(ss.Problem(sp.csc_array(data.X), data.y, loss="crammer-singer", penalty="elastic-net"), 0.0)
    best = ss.Run(
        problem,
        solver(),
        clock=time.thread_time,
        certify_every=5,
        stop=Gap(1e-4 if quick else 1e-8) | Seconds(3 * limit),
    )
    for _ in best:
        pass
    certificate = best.certificate()
    optimum = certificate.dual
    rows: list[dict[str, Any]] = []
    for tol in TOLERANCES[: 2 if quick else None]:
        fits = [peers.crammer_singer(data.X, data.y, problem.m, tol=tol) for _ in range(repeats)]
        rows.append(
            {
                "tol": tol,
                "liblinear s": median(fit.seconds for fit in fits),
                "off": problem.objective(fits[-1].W) / optimum - 1.0,
            }
        )
    target = {row["tol"]: optimum * (1.0 + row["off"]) for row in rows}
    times: dict[float, list[float]] = {tol: [] for tol in target}
    for _ in range(repeats):
        run = ss.Run(
            problem,
            solver(),
            clock=time.thread_time,
            certify_every=10**9,
            stop=ss.stopping.Objective(min(target.values())) | Seconds(limit),
        )
        first: dict[float, float] = {}
        for event in run:
            for tol, value in target.items():
                if event.objective <= value:
                    first.setdefault(tol, event.seconds)
        for tol in target:
            times[tol].append(first.get(tol, float("inf")))
    for row in rows:
        seconds = median(times[row["tol"]])
        row["pd-sparse s"] = seconds if seconds < float("inf") else None
    return {"levels": rows, "gap of the optimum": certificate.relative_gap}


# ---------------------------------------------------------------------------------------------------------------- scale
def scale(quick: bool) -> dict[str, Any]:
    """One iteration at full size, in a separate process."""
    command = [sys.executable, __file__, "--child", *(["--quick"] if quick else [])]
    return answer_of(command)


def answer_of(command: list[str]) -> dict[str, Any]:
    """The row that a process prints in its last line."""
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: dict[str, Any] = json.loads(answer.splitlines()[-1])
    return found


def child(quick: bool) -> None:
    """The process that is measured: prints one line of JSON."""
    n, d, m = SCALE[quick]
    began = time.process_time()
    data = ss.datasets.make_extreme(n, d, m, test_size=TESTS)
    made, base = time.process_time() - began, common.peak()
    problem = protocol.at(
        ss.Problem(data.X, data.y, loss="crammer-singer", penalty="elastic-net", class_names=data.class_names), 0.1
    )
    run = ss.Run(problem, solver(), stop=Iterations(1), certify_every=10**9, clock=time.thread_time)
    for _ in run:
        pass
    assert run.state is not None
    W, after = run.state.weights(), common.peak()
    seconds = run.seconds
    tests = Design(data.X_test)
    problem.rank(W, X=Design(data.X_test[:5]), k=5)  # compiled
    began = time.thread_time()
    best = problem.rank(W, X=tests, k=5)
    ranked = time.thread_time() - began
    print(
        json.dumps(
            {
                "documents": problem.n,
                "words": d,
                "classes": m,
                "entries": data.nnz,
                "generating s": made,
                "seconds": seconds,
                "data GB": base,
                "peak GB": after,
                "peak GB with predictions": common.peak(),
                "predicted": tests.n,
                "predict s": ranked,
                "accuracy": float((best[:, 0] == data.y_test).mean()),
                **density(run),
            }
        )
    )


# ------------------------------------------------------------------------------------------------------- growth, bibtex
def growing(m: int, quick: bool) -> dict[str, Any]:
    """One number of classes: the row of paper 4's experiment."""
    limit = protocol.QUICK if quick else protocol.FULL
    row = growth.measure_one(protocol.PD, m, Settings(), limit).iloc[0]
    return {
        name: (value.item() if isinstance(value, np.generic) else value)
        for name, value in row.items()
        if name not in ("data", "method")
    }


def together(m: int) -> dict[str, Any]:
    """Classes and documents that grow together, in a separate process."""
    return answer_of([sys.executable, __file__, "--together", str(m)])


def together_child(m: int) -> None:
    """The process that is measured: prints one line of JSON."""
    data = ss.datasets.make_extreme(DOCUMENTS * m, WORDS, m, test_size=0.1)
    X, y = sp.csc_array(data.X), data.y
    problem = protocol.at(
        ss.Problem(X, y, loss="crammer-singer", penalty="elastic-net", class_names=data.class_names), 0.1
    )
    warm_up(problem, solver())
    problem.rank(sp.csr_array((problem.d, m)), X=Design(data.X_test[:5]), k=1)
    base, began = common.peak(), time.thread_time()
    run = ss.Run(
        problem,
        solver(),
        test=(data.X_test, data.y_test),
        stop=Iterations(TOGETHER_PASSES) | Seconds(TOGETHER_LIMIT),
        certify_every=1,
        clock=time.thread_time,
    )
    passes, before = [], 0.0
    for event in run:
        if event.iteration:
            passes.append(
                {"us": 1e6 * (event.seconds - before) / problem.n, "gap": event.gap, "accuracy": event.test_accuracy}
            )
        before = event.seconds
    spent = time.thread_time() - began
    row = {"documents": problem.n, "words": WORDS, "classes": m, "seen": int(np.unique(y).size)}
    row |= {"entries": int(data.X.nnz), "data GB": base, "peak GB": common.peak(), "passes": passes}
    row |= {"watched share": 1.0 - run.seconds / spent, **density(run)}
    print(json.dumps(row))


def bibtex(repeats: int, quick: bool) -> dict[str, Any]:
    """Precision at 1 as the experiments of paper 4 find it, the median of several random choices of held-out data."""
    pool = samples.load(str(file_of("bibtex.npz")))
    split, found = samples.whole(pool), []
    for seed in range(repeats):
        settings = Settings(quick=quick, seed=seed)
        table = models.ours(pool, split, settings, protocol.limits(settings))
        found.append(table[table["chosen"]].iloc[0])
    middle = sorted(found, key=lambda row: row["p_at_1"])[len(found) // 2]
    return {
        "precision at 1": float(middle["p_at_1"]),
        "λ4": float(middle["lam4"]),
        "k_A": float(middle["k_a"]),
        "k_W": float(middle["k_w"]),
        "seconds": float(middle["train_seconds"]),
        "model": str(middle["method"]),
        "bytes": float(middle["bytes"]),
        "all": [float(row["p_at_1"]) for row in found],
    }


# ----------------------------------------------------------------------------------------------------------------- gaps
def gaps(name: str, loss: str, repeats: int, limit: float) -> dict[str, Any]:
    """Seconds and gap of PD-Sparse, and the distance of its objective from that of fbpd on the same problem."""
    X, y = ss.datasets.load(name, test_size=0.0)
    net = ss.penalties.ElasticNet(rho=GAPS_NET)
    sets = loss == "separation-ranking"
    problem = ss.Problem(X, np.eye(int(y.max()) + 1)[y] if sets else y, loss=loss, penalty=net, lam=GAPS_LAM)
    spent, gap, objective = [], float("nan"), float("nan")
    for _ in range(repeats):
        run = ss.Run(
            problem, solver(), stop=Gap(0.5 * GAP_BAR) | Seconds(limit), certify_every=5, clock=time.thread_time
        )
        for _ in run:
            pass
        found = run.certificate()
        gap, objective = found.relative_gap, found.objective
        spent.append(run.seconds)
    hinge = ss.Problem(X, y, loss="crammer-singer", penalty=net, lam=GAPS_LAM)  # the same with one label a sample
    known = ss.Run(hinge, "fbpd", stop=Gap(0.5 * GAP_BAR) | Seconds(limit), certify_every=10, clock=time.thread_time)
    for _ in known:
        pass
    other = known.certificate()
    return {
        "seconds": median(spent),
        "gap": gap,
        "fbpd s": known.seconds,
        "fbpd gap": other.relative_gap,
        "difference": abs(objective - other.objective) / abs(other.objective),
    }


# ----------------------------------------------------------------------------------------------------------------- main
def jobs(args: argparse.Namespace) -> dict[str, tuple[str, Callable[[], dict[str, Any]]]]:
    """case -> (part, its measurement)."""
    sizes = (protocol.QUICK if args.quick else protocol.FULL).growth_m
    made: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
        "news20, λ4 = 0.1": ("news20", functools.partial(news20, args.repeats, args.limit)),
        "news20, λ4 = 0": ("ridge", functools.partial(ridge, args.repeats, args.limit, args.quick)),
        "20 000 classes": ("scale", functools.partial(scale, args.quick)),
    }
    made |= {f"growth: {m} classes": ("growth", functools.partial(growing, m, args.quick)) for m in sizes}
    made |= {
        f"together: {m} classes": ("together", functools.partial(together, m))
        for m in args.classes or TOGETHER[args.quick]
    }
    made["bibtex"] = ("bibtex", functools.partial(bibtex, args.repeats, args.quick))
    made |= {
        f"gaps: {data}, {loss}": ("gaps", functools.partial(gaps, data, loss, args.repeats, args.limit))
        for data, loss in GAPS
    }
    return made


def by_part(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """part -> its rows."""
    return {part: [row for row in rows if row["part"] == part] for part in PARTS}


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures that have a bar; ``None`` for what was not measured."""
    import pandas as pd

    parts = by_part(rows)
    first = {part: found[0] if found else {} for part, found in parts.items()}
    levels = first["ridge"].get("levels", [])
    ratios = [row["pd-sparse s"] / row["liblinear s"] if row["pd-sparse s"] is not None else float("inf")
              for row in levels]  # fmt: skip
    slope = claims.exponent(pd.DataFrame(parts["growth"]), "iteration_seconds") if parts["growth"] else None
    accuracy = first["bibtex"].get("precision at 1")
    return {
        "news20 s": first["news20"].get("seconds"), "news20 k_W": first["news20"].get("k_W"),
        "news20 k_A": first["news20"].get("k_A others"), "news20 reached": bool(first["news20"].get("seconds")),
        "slower than liblinear": sum(ratio > 1.0 for ratio in ratios) if ratios else None,
        "ridge worst ratio": max(ratios) if ratios and max(ratios) < float("inf") else None,
        "peak GB": first["scale"].get("peak GB"), "pass s": first["scale"].get("seconds"),
        "predict s": first["scale"].get("predict s"), "growth exponent": slope,
        "bibtex off": None if accuracy is None else 100.0 * abs(accuracy - claims.BIBTEX_ACCURACY),
        "worst gap": max((row["gap"] for row in parts["gaps"]), default=None),
        "worst difference": max((row["difference"] for row in parts["gaps"]), default=None),
    }  # fmt: skip


def report(rows: list[dict[str, Any]]) -> None:
    """Tables and bars."""
    for part, found in by_part(rows).items():
        if found:
            print(f"\n{part}")
            for row in found if part in NESTED else []:
                print(f"{row['classes']} classes, {row['documents']} documents" if "passes" in row else "")
                common.show(row[NESTED[part]])
            if part != "ridge":
                hidden = ("part", "all", "repeats", "passes")
                common.show([{k: v for k, v in row.items() if k not in hidden} for row in found])
    print()
    facts = summary(rows)
    common.bar(f"news20, λ4 = 0.1, to a held-out accuracy of {ACCURACY}", facts["news20 s"], NEWS_BAR, unit=" s")
    common.bar("  non-zero weights a feature there", facts["news20 k_W"], NEWS_ROW)
    common.bar("  active duals a sample there", facts["news20 k_A"], NEWS_DUALS)
    common.bar("tolerances of liblinear -s 4 at which PD-Sparse is slower (λ4 = 0)", facts["slower than liblinear"], 0)
    common.bar("peak memory of one pass, 20 000 classes", facts["peak GB"], MEMORY_BAR, unit=" GB")
    common.bar("ranking 10 000 documents, 20 000 classes", facts["predict s"], PREDICT_BAR, unit=" s")
    common.bar("exponent of an iteration's time over the classes", facts["growth exponent"], 1.0)
    common.bar("bibtex, points from the paper's 64.55", facts["bibtex off"], 1.0)
    common.bar("relative gaps, worst case", facts["worst gap"], GAP_BAR)
    common.bar("distance from fbpd's objective, worst case", facts["worst difference"], GAP_BAR)


def main() -> None:
    """Measure what is asked for, and store the rows as they come."""
    parser = common.parser(__doc__, "fresh", quick="small sizes; nothing is stored", repeats=3, limit=60.0)
    parser.add_argument("--only", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--classes", nargs="+", type=int, help="sizes of the part `together`; others stay as stored")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--together", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.together:
        together_child(args.together)
        return
    if args.child:
        child(args.quick)
        return
    common.quiet()
    options = {"repeats": args.repeats, "limit": args.limit, "quick": args.quick}
    rows, chosen = common.Rows("pd_sparse", options, args.fresh), jobs(args)

    def job(part: str, work: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
        return lambda: {"part": part, **work(), "repeats": args.repeats}

    rows.measure({case: job(*pair) for case, pair in chosen.items()}, lambda case: chosen[case][0] in args.only)
    kept = [row["case"] for row in common.rows_of("pd_sparse") if row["case"] not in chosen]
    report(rows.finish([*chosen, *kept], summary=summary, quick=args.quick))


if __name__ == "__main__":
    main()
