"""The scikit-learn face: prediction beside scikit-learn's own with the same weights, and paths against cold fits.

Prediction: `decision_function` of a SparseClassifier and of a LogisticRegression that holds the same coefficients, on
samples whose weights vanish on most features. Then λ by cross-validation along one warm-started path for each fold
against a fit from zero for each λ and fold, to the same relative gap; and against R's grouped glmnet (`cv.glmnet`) on
the same folds and λ, where R and the package are installed (Debian: r-base-core, r-cran-glmnet).

    python benchmarks/bench_estimators.py [--quick] [--repeats 5] [--print]
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import Any

import common
import numpy as np
import scipy.sparse as sp
from peers import r_files
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

import sparsescope as ss
from sparsescope.estimators.weights import Weights

NAME = "estimators"
TOL = 1e-4
BAR = 0.2  # of the time of cold fits
R_SCRIPT = Path(__file__).with_name("peers") / "glmnet_cv.R"
R_THRESHOLD = 1e-7  # glmnet's default
R_LIMIT = 1800.0  # seconds


def models(d: int, m: int, rows: int) -> tuple[ss.SparseClassifier, LogisticRegression]:
    """Two fitted classifiers with the same weights, zero but for some rows."""
    rng = np.random.default_rng(0)
    W, b = np.zeros((d, m)), rng.standard_normal(m)
    W[rng.choice(d, rows, replace=False)] = rng.standard_normal((rows, m))
    ours = ss.SparseClassifier("logistic")
    ours._weights, ours.multilabel_, ours.sparse_targets_ = Weights.of(W, b), False, False
    ours.classes_, ours.n_features_in_ = np.arange(m), d
    peer = LogisticRegression()
    peer.coef_, peer.intercept_, peer.classes_, peer.n_features_in_ = np.ascontiguousarray(W.T), b, np.arange(m), d
    return ours, peer


def prediction(quick: bool, repeats: int) -> list[dict[str, Any]]:
    """Seconds of the scores of many samples, by storage and share of rows in use."""
    rng = np.random.default_rng(1)
    n, d, m = (500, 1000, 10) if quick else (2000, 10_000, 20)
    found = []
    for storage in ("dense", "CSR"):
        X: Any = rng.standard_normal((n, d))
        if storage == "CSR":
            X = sp.csr_matrix(sp.random_array((n, d), density=0.01, random_state=rng, format="csr"))
        for share in (0.01, 0.1, 1.0):
            ours, peer = models(d, m, int(share * d))
            gap = np.abs(ours.decision_function(X) - peer.decision_function(X)).max()
            assert gap <= 1e-8 * np.abs(peer.decision_function(X)).max()
            calls = {
                "sparsescope s": lambda ours=ours, X=X: ours.decision_function(X),
                "scikit-learn s": lambda peer=peer, X=X: peer.decision_function(X),
            }
            seconds = common.interleaved(calls, repeats)
            row = {"case": f"predict, {storage}, {share:.0%} of rows", "n": n, "d": d, "m": m, **seconds}
            found.append(row | {"ratio": seconds["sparsescope s"] / seconds["scikit-learn s"]})
    return found


def paths(quick: bool) -> dict[str, Any]:
    """Seconds of λ by cross-validation on pydocs, and of a fit from zero for each λ and fold."""
    data = ss.datasets.load("pydocs")
    count, folds = (8, 2) if quick else (50, 5)
    splitter = StratifiedKFold(folds, shuffle=True, random_state=0)
    model = ss.SparseClassifierCV(n_lams=count, cv=splitter, tol=TOL)
    ss.SparseClassifierCV(n_lams=2, cv=2, tol=TOL).fit(data.X, data.y)  # compiles
    began = common.clock()
    model.fit(data.X, data.y)
    warm = common.clock() - began
    assert model.path_.converged.all()  # on all samples; the model does without it
    with_path = common.clock() - began
    X, cold = sp.csr_array(data.X), 0.0
    for train, _ in splitter.split(X, data.y):
        for lam in model.lams_:
            alone = ss.SparseClassifier(lam=lam, tol=TOL)
            began = common.clock()
            alone.fit(X[train], data.y[train])
            cold += common.clock() - began
    return {
        "case": f"pydocs, {count} λ × {folds} folds",
        "sparsescope s": warm,
        "cold fits s": cold,
        "ratio": warm / cold,
        "with path_ s": with_path,
    }


def glmnet_missing() -> str:
    """Return why R's glmnet cannot be compared with; empty where it can."""
    if shutil.which("Rscript") is None:
        return "R's glmnet: left out, because Rscript is not installed (Debian: apt install r-base-core r-cran-glmnet)"
    asked = ["Rscript", "-e", 'quit(status = !requireNamespace("glmnet", quietly = TRUE))']
    if subprocess.run(asked, capture_output=True, check=False).returncode:
        return "R's glmnet: left out, because R has no package glmnet (Debian: apt install r-cran-glmnet)"
    return ""


def beside_glmnet(quick: bool) -> dict[str, Any]:
    """λ by cross-validation with the grouped multinomial logistic loss, the same folds and λ in both programs."""
    data = ss.datasets.load("pydocs")
    count, folds = (8, 3) if quick else (50, 5)  # cv.glmnet takes three folds or more
    splits = list(StratifiedKFold(folds, shuffle=True, random_state=0).split(data.X, data.y))
    fold = np.zeros(data.n, dtype=int)
    for k, (_, test) in enumerate(splits):
        fold[test] = k + 1
    model = ss.SparseClassifierCV("logistic", n_lams=count, cv=splits, tol=TOL)
    ss.SparseClassifierCV("logistic", n_lams=2, cv=2, tol=TOL).fit(data.X, data.y)  # compiles
    began = common.clock()
    model.fit(data.X, data.y)
    along = model.path_  # cv.glmnet, too, fits the path on all samples
    ours = common.clock() - began
    with tempfile.TemporaryDirectory(prefix="glmnet-") as name:
        folder = Path(name)
        r_files.write(folder, data.X, data.y, fold=fold, lambdas=model.lams_)
        command = ["Rscript", str(R_SCRIPT), str(folder), repr(R_THRESHOLD)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=R_LIMIT, check=False)
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or ["Rscript failed"])[-1])
        theirs, fitted, version = done.stdout.split()
        W = np.fromfile(folder / "W.bin").reshape(int(fitted), -1, data.d).transpose(0, 2, 1)
        b, wrong = np.fromfile(folder / "b.bin").reshape(int(fitted), -1), np.fromfile(folder / "wrong.bin")
    problem = ss.Problem(data.X, data.y, loss="logistic", intercept=True)
    lower = along.objective - along.gap
    solved = zip(model.lams_, W, b, strict=False)  # glmnet may end before the last λ
    reached = [problem.with_(lam=lam).objective(weights, bias) for lam, weights, bias in solved]
    errors = np.array(reached) / lower[: int(fitted)] - 1.0
    return {
        "case": f"beside R's glmnet {version}: pydocs, grouped logistic, {count} λ × {folds} folds",
        "sparsescope s": ours,
        "glmnet s": float(theirs),
        "ratio": ours / float(theirs),
        "λ fitted by glmnet": int(fitted),
        "worst gap": float(along.relative_gap.max()),
        "glmnet error": float(errors.max()),
        "scores differ by": float(np.abs(model.mean_scores_[: int(fitted)] - (1.0 - wrong)).max()),
    }


def main() -> None:
    """Measure, store and print; see the top of this file."""
    parser = common.parser(__doc__, "print", quick="smaller data, few λ and folds; nothing is stored", repeats=5)
    args = parser.parse_args()
    if args.print:
        common.show(common.rows_of(NAME))
        return
    common.quiet()
    others = common.OtherLoad()
    warnings.simplefilter("ignore", ConvergenceWarning)
    rows = [*prediction(args.quick, args.repeats), paths(args.quick)]
    common.bar("λ by cross-validation, of the time of cold fits", rows[-1]["ratio"], BAR)
    missing = glmnet_missing()
    if missing:
        print(missing)
    else:
        rows.append(beside_glmnet(args.quick))
        common.bar("λ by cross-validation, of the time of R's glmnet", rows[-1]["ratio"], 1.0)
    common.show(rows)
    if not args.quick:
        common.store(NAME, rows, others=others.share())


if __name__ == "__main__":
    main()
