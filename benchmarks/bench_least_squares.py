"""The least-squares family (Agarwal et al. 2013): Table 1, stages, speed beside matrix products, memory, conditioning.

Cases, each stored as soon as it is done (`--only` takes some of them; `--quick` shrinks images and text):
    gemm            the machine's rate of matrix products on one thread
    fit             one least squares fit on 8000 random features of 60 000 images, made on the fly: rate and memory
    table1 …        error on MNIST of linear, logistic and calibrated fits on pixels and on 4000 and 8000 features
    stages          calibrated stages of 1024 random features until the error is 1.2 %
    condition       iterations of gls and of FISTA on a softmax problem of condition 1, 1e3 and 1e6
    liblinear       time until stages are as good as liblinear's SVMs and Vowpal Wabbit on the same features
    text            20 newsgroups, columns by gradient, beside liblinear and Vowpal Wabbit (Table 2)
    spectra         2nd over 1000th singular value of image and text features

    python benchmarks/bench_least_squares.py [--only gemm fit] [--quick] [--fresh] [--print]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import common
import numpy as np
import scipy.sparse as sp
from problems import file_of

import sparsescope as ss
from sparsescope.experiments import peers
from sparsescope.inputs.feature_maps import data_scale, draw
from sparsescope.problems.spectrum import spectrum
from sparsescope.runs.stopping import Iterations
from sparsescope.solvers import CLS, FISTA, GLS, Stagewise

NAME = "least_squares"
WIDTH = 3.0  # of random Fourier features, in units of the median squared distance; chosen on 4000 features
STAGE_WIDTH = 0.6  # with ten times as many features narrower ones are better
PAPER = {"pixels": (14.1, 7.8, 8.1), "4000": (1.83, 1.48, 1.54), "8000": (1.48, 1.33, 1.36)}  # Table 1
LAM = {"pixels": 1e-4, "4000": 1e-8, "8000": 1e-8}
LOGISTIC_LAM = {"pixels": 1e-5, "4000": 1e-9, "8000": 1e-9}  # best of 1e-8 … 1e-10 on 10 000 training images held out
CALIBRATED_STEPS = 10  # on the same, with 4000 features, the error rises again after that
TARGET, BLOCK, MOST_STAGES = 1.2, 1024, 45
LIBLINEAR_FEATURES, PEER_SECONDS = 500, 120.0
TEXT_TRAIN, TEXT_LEAST, TEXT_BATCH, TEXT_LAM, TEXT_PASSES = 15_000, 3, 500, 30.0 / 15_000, 2


def images(quick: bool) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """MNIST pixels in [0, 1], float32, and classes: training and test part."""
    with np.load(file_of("mnist.npz")) as file:
        rows = slice(0, 3000 if quick else None)
        X, Xt = (file[f"X_{part}"][rows].astype(np.float32) / np.float32(255.0) for part in ("train", "test"))
        return X, file["y_train"][rows].astype(int), Xt, file["y_test"][rows].astype(int)


def reduced(quick: bool) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """The same on the first 50 principal components."""
    from sparsescope.inputs.transformers import PCA

    X, y, Xt, yt = images(quick)
    pca = PCA(50, random_state=0).fit(X)
    return pca.transform(X), y, pca.transform(Xt), yt


def error(event: Any) -> float:
    """Test error in percent."""
    return 100.0 * (1.0 - event.test_accuracy)


def run(problem: Any, solver: Any, test: Any, steps: int, until: Callable[[Any], bool] = lambda e: False) -> list[Any]:
    """The events of a run, (iteration, seconds, error, features); certificates only at the end where steps are many."""
    every = 1 if steps <= 100 else steps
    events = []
    for event in ss.Run(problem, solver, stop=Iterations(steps), test=test, certify_every=every, clock=common.clock):
        events.append((event.iteration, event.seconds, error(event), event.features))
        if event.iteration and until(event):
            break
    return events


# --------------------------------------------------------------------------------------------------------------- cases
def gemm(quick: bool) -> dict[str, Any]:
    """GFLOP/s of a product of two square matrices, medians of 3."""
    found: dict[str, Any] = {}
    for dtype in (np.float32, np.float64):
        size = 1500 if quick else 4000
        A = np.random.default_rng(0).random((size, size)).astype(dtype)
        out = np.empty_like(A)
        seconds = common.timed(lambda A=A, out=out: np.matmul(A, A, out))
        found[f"{np.dtype(dtype).name} GFLOP/s"] = 2e-9 * size**3 / seconds
    return found


def fit_alone(quick: bool) -> dict[str, Any]:
    """One stage of 8000 features in this process: seconds, rate, peak memory."""
    X, y, Xt, yt = reduced(quick)
    p = 800 if quick else 8000
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    problem = ss.SequenceProblem(X, y, lam=LAM["8000"])
    (_, _, _, _), (_, seconds, wrong, _) = run(
        problem, Stagewise(generator="fourier", features=p, width=WIDTH), (Xt, yt), 1
    )
    n, d, m = *X.shape, 10
    flops = float(n) * p * p + p**3 / 3 + 2.0 * n * p * (2 * d + 2 * m)  # the triangle of AᵀA alone
    return {
        "features": p,
        "seconds": seconds,
        "error %": wrong,
        "GFLOP/s": 1e-9 * flops / seconds,
        "as full product GFLOP/s": 1e-9 * (flops + float(n) * p * p) / seconds,
        "peak bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "bytes before": start,
    }


def fit(quick: bool) -> dict[str, Any]:
    """The same in a separate process, whose peak memory is the fit's (and that of loading the data)."""
    command = [sys.executable, __file__, "--alone", *(["--quick"] if quick else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    rate = gemm(quick)["float32 GFLOP/s"]
    return {**found, "share of gemm": found["GFLOP/s"] / rate, "gemm GFLOP/s": rate}


def table1(features: str, column: int) -> Callable[[bool], dict[str, Any]]:
    """A cell of Table 1: features ``pixels``, ``4000`` or ``8000``; column 0 linear, 1 logistic, 2 calibrated."""

    def measure(quick: bool) -> dict[str, Any]:
        X, y, Xt, yt = images(quick) if features == "pixels" else reduced(quick)
        lam = (LOGISTIC_LAM if column == 1 else LAM)[features]
        loss = "logistic" if column == 1 else "squared"
        if features == "pixels":
            X, Xt = (np.hstack([x, np.ones((len(x), 1), x.dtype)]) for x in (X, Xt))  # a constant beside the pixels
            one = ss.SequenceProblem(X, y, loss=loss, lam=lam)
            solver, steps = (CLS(), 200) if column == 2 else (Stagewise(features=785, inner=400), 1)
        elif column == 2:
            p = int(features) // (10 if quick else 1)
            drawn = draw("fourier", p, _scaled(X), 0, dtype=np.float32)
            one = ss.SequenceProblem(np.asfortranarray(drawn.features(X)), y, lam=lam)
            Xt, solver, steps = drawn.features(Xt), CLS(), CALIBRATED_STEPS
        else:
            p = int(features) // (10 if quick else 1)
            one = ss.SequenceProblem(X, y, loss=loss, lam=lam)
            solver, steps = Stagewise(generator="fourier", features=p, width=WIDTH, inner=50), 1
        last = run(one, solver, (Xt, yt), steps)[-1]
        return {
            "features": features,
            "method": ("linear", "logistic", "calibrated")[column],
            "error %": last[2],
            "paper %": PAPER[features][column],
            "seconds": last[1],
            "steps": last[0],
            "solver": repr(solver),
            "lam": lam,
        }

    return measure


def _scaled(X: Any) -> Any:
    from dataclasses import replace

    scale = data_scale(X, 0)
    return replace(scale, width=WIDTH * scale.width)


def stages(quick: bool) -> dict[str, Any]:
    """Calibrated stages until the error is the target."""
    X, y, Xt, yt = reduced(quick)
    problem = ss.SequenceProblem(X, y, lam=LAM["8000"])
    solver = Stagewise(generator="fourier", features=BLOCK, width=STAGE_WIDTH, calibrated=True)
    events = run(problem, solver, (Xt, yt), 5 if quick else MOST_STAGES, lambda e: error(e) <= TARGET)
    return {
        "stages": events[-1][0],
        "features": events[-1][3],
        "seconds": events[-1][1],
        "error %": events[-1][2],
        "smallest error %": min(e[2] for e in events[1:]),
        "curve": [[e[0], round(e[1], 2), round(e[2], 2)] for e in events[1:]],
    }


def condition(quick: bool) -> dict[str, Any]:
    """Iterations to a sub-optimality of 1e-6 on the same scores in ever worse coordinates, gls and FISTA."""
    rng, found = np.random.default_rng(0), {}
    n, d, limit = 2000, 20, 2000 if quick else 20_000
    U, _ = np.linalg.qr(rng.standard_normal((n, d)))
    V, _ = np.linalg.qr(rng.standard_normal((d, d)))
    scores = np.sqrt(n) * U @ rng.standard_normal((d, 5))
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    for number in (1.0, 1e3, 1e6):
        X = (U * np.sqrt(n) * np.geomspace(1.0, 1.0 / number, d)) @ V.T
        problem = ss.Problem(X, y, loss="logistic", penalty="ridge", lam=1e-18)
        best = ss.solve(problem, GLS(), tol=1e-30, max_iter=600, record=False).objective
        for name, solver in (
            ("gls", GLS(accelerated=False)),
            ("gls accelerated", GLS()),
            ("fista", FISTA(line_search=False, restart=True)),
        ):
            events = ss.Run(problem, solver, stop=Iterations(limit), certify_every=10**9)
            at = next((e.iteration for e in events if e.objective - best <= 1e-6), None)
            found[f"{name}, condition {number:g}"] = at
    return {**found, "limit": limit}


def liblinear(quick: bool) -> dict[str, Any]:
    """liblinear's one-against-all SVMs and Vowpal Wabbit on random features; our time to be as good on them."""
    X, y, Xt, yt = reduced(quick)
    p = 100 if quick else LIBLINEAR_FEATURES
    drawn = draw("fourier", p, _scaled(X), 0, dtype=np.float32)
    A, At = drawn.features(X), drawn.features(Xt)
    A64 = A.astype(np.float64)
    peer = peers.one_vs_rest(peers.SVM, A64, sp.csr_array(np.eye(10)[y]), C=1.0, limit=PEER_SECONDS)
    found: dict[str, Any] = {
        "features": p,
        "liblinear seconds": peer.seconds * 10 / len(peer.trained),
        "liblinear note": peer.note,
    }
    if len(peer.trained) == 10:
        found["liblinear error %"] = 100.0 * float(np.mean((At @ peer.W).argmax(axis=1) != yt))
    if peers.vowpal_missing() is None:
        wabbit = peers.vowpal(
            A[: 6000 if quick else None], y[: 6000 if quick else None], At, 10, passes=3, limit=PEER_SECONDS
        )
        found |= {
            "vw seconds": wabbit.seconds,
            "vw error %": 100.0 * float(np.mean(wabbit.predicted != yt)),
            "vw passes": wabbit.passes,
        }
    else:
        found["vw note"] = peers.vowpal_missing()
    problem = ss.SequenceProblem(np.asfortranarray(A), y, lam=LAM["4000"])
    events = run(problem, CLS(), (At, yt), 20)
    found |= {"cls curve": [[e[0], round(e[1], 3), round(e[2], 2)] for e in events[1:]]}
    for name in ("liblinear", "vw"):
        wanted = found.get(f"{name} error %")
        at = next((e for e in events[1:] if wanted is not None and e[2] <= wanted), None)
        found[f"ours to {name}'s error s"] = None if at is None else at[1]
        if at is not None:
            found[f"{name} ÷ ours"] = found[f"{name} seconds"] / at[1]
    return found


def text(quick: bool) -> dict[str, Any]:
    """20 newsgroups as in Table 2: log-tf of words met at least three times, 15 000 documents to train."""
    data = ss.datasets.load(file_of("news20_bydate_counts.npz"), scale="none")
    X = sp.vstack([sp.csr_array(data.X), sp.csr_array(data.X_test)], format="csr").astype(np.float64)
    y = np.concatenate([data.y, data.y_test])
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: 2000 if quick else TEXT_TRAIN], order[TEXT_TRAIN:]
    X.data = np.log1p(X.data)
    kept = np.asarray((X[train] > 0).sum(axis=0)).ravel() >= TEXT_LEAST
    X = sp.csr_array(X[:, kept])
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    unit = sp.csr_array(sp.diags_array(1.0 / np.maximum(lengths, 1e-300)) @ X)
    A, At, yt = X[train], X[test], y[test]
    found: dict[str, Any] = {"samples": len(train), "tests": len(test), "words": A.shape[1]}
    steps = 2 if quick else TEXT_PASSES * -(-A.shape[1] // TEXT_BATCH)
    for name, matrix, tests, lam in (("raw", A, At, TEXT_LAM), ("unit rows", unit[train], unit[test], 1e-4)):
        problem = ss.SequenceProblem(matrix, y[train], lam=lam)
        begun = time.process_time()
        state = None
        job = ss.Run(
            problem,
            Stagewise(generator="gradient", features=TEXT_BATCH),
            stop=Iterations(steps),
            certify_every=10**9,
            clock=common.clock,
        )
        for _ in job:
            state = job.state
        predicted = problem.predict(state.model, X=tests)
        found[f"stagewise, {name} error %"] = 100.0 * float(np.mean(predicted != yt))
        found[f"stagewise, {name} seconds"] = job.seconds
        found[f"stagewise, {name} with prediction s"] = time.process_time() - begun
    peer = peers.one_vs_rest(peers.SVM, unit[train], sp.csr_array(np.eye(20)[y[train]]), C=1.0, limit=PEER_SECONDS)
    found |= {
        "liblinear error %": 100.0 * float(np.mean((unit[test] @ peer.W).argmax(axis=1) != yt)),
        "liblinear seconds": peer.seconds,
    }
    if peers.vowpal_missing() is None:
        wabbit = peers.vowpal(unit[train], y[train], unit[test], 20, limit=PEER_SECONDS)
        found |= {"vw error %": 100.0 * float(np.mean(wabbit.predicted != yt)), "vw seconds": wabbit.seconds}
    else:
        found["vw note"] = peers.vowpal_missing()
    return found


def spectra(quick: bool) -> dict[str, Any]:
    """2nd over 1000th singular value: MNIST with 3000 random features, 20 newsgroups log-tf."""
    X, _, _, _ = reduced(quick)
    A = draw("fourier", 3000, data_scale(X, 0), 0, dtype=np.float64).features(X.astype(np.float64))
    found = {"mnist, 3000 features": spectrum(A).condition(), "mnist, paper": 72_000.0}
    del A
    with suppress(common.Missing):
        data = ss.datasets.load(file_of("news20_bydate_counts.npz"), scale="none")
        T = sp.csr_array(data.X).astype(np.float64)
        T.data = np.log1p(T.data)
        T = T[:, np.asarray((T > 0).sum(axis=0)).ravel() >= TEXT_LEAST]
        began = time.process_time()
        found |= {
            "news20": spectrum(T, 50 if quick else 1000).condition(),
            "news20, paper": 19.8,
            "news20 seconds": time.process_time() - began,
        }
    return found


CASES: dict[str, Callable[[bool], dict[str, Any]]] = {
    "gemm": gemm, "condition": condition, "fit": fit,
    **{f"table1 {features} {('linear', 'logistic', 'calibrated')[k]}": table1(features, k)
       for features in PAPER for k in range(3)},
    "stages": stages, "liblinear": liblinear, "text": text, "spectra": spectra,
}  # fmt: skip


# -------------------------------------------------------------------------------------------------------------- report
def report(rows: list[dict[str, Any]]) -> None:
    """Every case, and the bars."""
    by = {row["case"]: row for row in rows}
    for row in rows:
        shown = {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items() if k not in ("case", "curve")}
        print(f"{row['case']}: {', '.join(f'{k} {v}' for k, v in shown.items() if 'curve' not in k)}")
    print()
    for name, row in by.items():
        if name.startswith("table1"):
            above = row["error %"] - row["paper %"]
            common.bar(f"{name}: points above the paper's {row['paper %']} %", above, 0.2)
    smallest = by.get("stages", {}).get("smallest error %")
    common.bar("calibrated stages, smallest test error", smallest, TARGET, unit=" %")
    common.bar(
        "fit on 8000 features, share of the rate of products",
        by.get("fit", {}).get("share of gemm"),
        0.7,
        at_least=True,
    )
    common.bar("peak memory of that fit [GB]", by["fit"]["peak bytes"] / 1e9 if "fit" in by else None, 2.5)
    for peer in ("liblinear", "vw"):
        common.bar(
            f"{peer} ÷ ours, to its error on the same features",
            by.get("liblinear", {}).get(f"{peer} ÷ ours"),
            10.0,
            at_least=True,
        )
    best = min(
        (v for k, v in by.get("text", {}).items() if k.startswith("stagewise") and k.endswith("error %")), default=None
    )
    common.bar("20 newsgroups, stagewise error", best, 11.7, unit=" %")
    found = by.get("condition")
    if found:
        counts = [found[f"gls, condition {c:g}"] for c in (1.0, 1e3, 1e6)]
        known = [c for c in counts if c is not None]
        common.bar(
            "gls: most ÷ fewest iterations over the conditions",
            max(known) / min(known) if len(known) == 3 else None,
            1.05,
        )


def main() -> None:
    """Measure, or print what is stored."""
    parser = common.parser(__doc__)
    parser.add_argument("--only", nargs="*", metavar="CASE", help=f"of: {', '.join(CASES)} (a first part is enough)")
    for flag in ("--quick", "--fresh", "--print", "--alone"):
        parser.add_argument(flag, action="store_true", help=argparse.SUPPRESS if flag == "--alone" else None)
    args = parser.parse_args()
    if args.alone:
        print(json.dumps(fit_alone(args.quick)))
        return
    if args.print:
        report(common.rows_of(NAME))
        return
    common.quiet()
    kept = common.Rows(NAME, {"quick": args.quick}, args.fresh)
    kept.measure(
        {name: partial(measure, args.quick) for name, measure in CASES.items()},
        lambda name: not args.only or any(name.startswith(part) for part in args.only),
    )
    report(kept.finish(CASES, quick=args.quick))


if __name__ == "__main__":
    main()
