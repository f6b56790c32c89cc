"""Other programs on the papers' problems: liblinear through scikit-learn, and Vowpal Wabbit where it is installed.

All are given the same matrices and no intercept, run on one thread, and are timed by the CPU seconds of their fitting.
"""

from __future__ import annotations

import importlib.util
import math
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .runs import CLOCK, timed

PASSES = 100_000  # of liblinear at most
SVM, LOGISTIC_L2, LOGISTIC_L1 = "svm", "logistic-l2", "logistic-l1"
# Stop tolerances of the liblinear program itself (its -e) for -s 1, 7 and 6; scikit-learn's are far smaller for some.
TOLERANCES = {SVM: 0.1, LOGISTIC_L2: 0.1, LOGISTIC_L1: 0.01}
VW_PASSES = 10
VW_BITS = (18, 24)  # of its table of weights: its default at least, 16 million weights at most


@dataclass(frozen=True)
class Fit:
    """A fitted model: W (d, m), dense or CSR, of which only the columns of the trained classes mean something; CPU
    seconds; which classes were trained.

    note : deviations from the request · spread : quartiles of the seconds of repeated fits, NaN of a single one
    """

    W: Any
    seconds: float
    trained: np.ndarray
    note: str = ""
    spread: tuple[float, float] = (math.nan, math.nan)

    def columns(self, prefix: str = "") -> dict[str, float]:
        """The seconds with their quartiles, as columns of a table."""
        low, high = self.spread
        return {f"{prefix}seconds": self.seconds, f"{prefix}seconds_low": low, f"{prefix}seconds_high": high}


def repeated(make: Callable[[], Fit]) -> Fit:
    """The first fit, with the median time of repeated ones, and their quartiles, where it took little."""
    fit = make()
    found = timed(fit.seconds, lambda: make().seconds)
    return replace(fit, seconds=found["seconds"], spread=(found["seconds_low"], found["seconds_high"]))


# ----------------------------------------------------------------------------------------------------------- liblinear
def crammer_singer(X: Any, y: np.ndarray, m: int, *, C: float = 1.0, tol: float = 0.1, passes: int = PASSES) -> Fit:
    """½‖W‖² + C Σℓ with the exact multiclass hinge (liblinear -s 4). ``note`` is "passes" where these were used up.

    y : classes 0…m−1, of which some may be missing: their weights are zero. For two classes liblinear hands out the
    difference w of the two vectors, which are −w/2 and w/2.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    model = LinearSVC(multi_class="crammer_singer", C=C, fit_intercept=False, tol=tol, max_iter=passes)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        began = CLOCK()
        model.fit(X, y)
        seconds = CLOCK() - began
    found = np.asarray(model.coef_).T
    if found.shape[1] == 1:
        found = np.hstack([-0.5 * found, 0.5 * found])
    late = any(issubclass(w.category, ConvergenceWarning) for w in said)
    present = np.asarray(model.classes_, dtype=np.int64)
    if len(present) < m:
        W = np.zeros((found.shape[0], m))
        W[:, present] = found
        found = W
    return Fit(found, seconds, np.arange(m), "passes" if late else "")


def one_vs_rest(kind: str, X: Any, Y: Any, *, C: float = 1.0, limit: float = float("inf"), seed: int = 0) -> Fit:
    """A binary model for each class or label: ``SVM`` (squared hinge, ℓ2; -s 1), ``LOGISTIC_L2`` (-s 7) or
    ``LOGISTIC_L1`` (-s 6), with liblinear's own tolerances.

    Y : indicator (n, m), sparse. Classes come in a random order until ``limit`` CPU seconds are over; those that all or
    none of the samples have need no model. W is CSR for ``LOGISTIC_L1``.
    """
    import sklearn
    from sklearn.exceptions import ConvergenceWarning

    columns = sp.csc_array(Y)
    n, m = columns.shape
    columns_of: dict[int, np.ndarray] = {}
    seconds = 0.0
    order = np.random.default_rng(seed).permutation(m)
    with warnings.catch_warnings(), sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = _binary(kind, C)
        for k in order:
            has = columns.indices[columns.indptr[k] : columns.indptr[k + 1]]
            began = CLOCK()
            if 0 < len(has) < n:
                t = np.zeros(n, dtype=np.int64)
                t[has] = 1
                columns_of[int(k)] = np.array(model.fit(X, t).coef_).ravel()
            else:
                columns_of[int(k)] = np.full(X.shape[1], 0.0)
            seconds += CLOCK() - began
            if seconds > limit:
                break
    W = _together(columns_of, X.shape[1], m, kind == LOGISTIC_L1)
    note = "" if len(columns_of) == m else f"{len(columns_of)} of {m} classes were trained"
    return Fit(W, seconds, np.sort(np.array(list(columns_of))), note)


def _binary(kind: str, C: float) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    tol = TOLERANCES[kind]
    if kind == SVM:
        return LinearSVC(C=C, fit_intercept=False, dual=True, tol=tol)
    common = {"C": C, "fit_intercept": False, "solver": "liblinear", "tol": tol}
    if kind == LOGISTIC_L2:
        return LogisticRegression(dual=True, **common)
    return LogisticRegression(**lasso_arguments(), **common)


def lasso_arguments() -> dict[str, Any]:
    """Return the arguments of scikit-learn's ``LogisticRegression`` for the ℓ1 penalty, which version 1.8 renamed."""
    import sklearn

    major, minor = (int(part) for part in sklearn.__version__.split(".")[:2])
    return {"l1_ratio": 1.0} if (major, minor) >= (1, 8) else {"penalty": "l1"}


def _together(columns: dict[int, np.ndarray], d: int, m: int, sparse: bool) -> Any:
    if not sparse:
        W = np.zeros((d, m))
        for k, w in columns.items():
            W[:, k] = w
        return W
    parts = [(np.flatnonzero(w), k, w) for k, w in columns.items()]
    rows = np.concatenate([at for at, _, _ in parts])
    labels = np.concatenate([np.full(len(at), k) for at, k, _ in parts])
    data = np.concatenate([w[at] for at, _, w in parts])
    return sp.csr_array(sp.coo_array((data, (rows, labels)), shape=(d, m)))


# ------------------------------------------------------------------------------------------------------- Vowpal Wabbit
@dataclass(frozen=True)
class VWFit:
    """Result of a fit by Vowpal Wabbit: predicted classes of the test samples, CPU seconds, bytes of its model file,
    number of passes."""

    predicted: np.ndarray
    seconds: float
    predict_seconds: float
    size: int
    passes: int


def vowpal_missing() -> str | None:
    """Return why Vowpal Wabbit cannot take part; ``None`` if it is installed."""
    if importlib.util.find_spec("vowpalwabbit") is None:
        return "Vowpal Wabbit is not installed (pip install vowpalwabbit, or the extra bench)"
    return None


def vowpal(
    X: Any, y: np.ndarray, X_test: Any, m: int, *, passes: int = VW_PASSES, limit: float = float("inf")
) -> VWFit:
    """One against all with the hinge loss, ``passes`` passes in the order of the samples, its other settings default.

    No pass is begun after ``limit`` CPU seconds.

    Reading the text of the examples is not counted: the others get their matrices ready as well.
    """
    from vowpalwabbit import LabelType, Workspace

    bits = int(np.clip(np.ceil(np.log2(X.shape[1] * m)), *VW_BITS))
    model = Workspace(f"--oaa {m} --loss_function hinge -b {bits} --noconstant --quiet")
    examples = [model.parse(line, LabelType.MULTICLASS) for line in vw_lines(X, y + 1)]
    began = time.process_time()  # it may learn in another thread
    done = 0
    while done < passes and (done == 0 or time.process_time() - began < limit):
        for example in examples:
            model.learn(example)
        done += 1
    seconds = time.process_time() - began
    tests = [model.parse(line, LabelType.MULTICLASS) for line in vw_lines(X_test, None)]
    began = time.process_time()
    predicted = np.array([model.predict(example) for example in tests], dtype=np.int64) - 1
    predict_seconds = time.process_time() - began
    for example in (*examples, *tests):
        model.finish_example(example)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.vw"
        model.save(str(path))
        size = path.stat().st_size
    model.finish()
    return VWFit(predicted, seconds, predict_seconds, size, done)


def vw_lines(X: Any, labels: np.ndarray | None) -> list[str]:
    """Samples in its text format, ``label | feature:value …``, with labels from 1 on."""
    X = sp.csr_array(X)
    lines = []
    for i in range(X.shape[0]):
        part = slice(X.indptr[i], X.indptr[i + 1])
        entries = " ".join(f"{j}:{x:.7g}" for j, x in zip(X.indices[part], X.data[part], strict=True))
        lines.append(f"{'' if labels is None else labels[i]} | {entries}")
    return lines
