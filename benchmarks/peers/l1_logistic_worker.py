"""One measurement of a peer on binary logistic regression with the lasso, no intercept. See watch.py.

None of these shows anything while it works, so a run gives one point: the seconds of one call and the objective at its
end; "tol" is the threshold at which it stops by itself. Settings: "method", out of

liblinear   liblinear -s 6 (newGLMNET) through liblinear-official; the data are converted before the clock starts
skglm       skglm's prox-Newton with working sets; a small problem is solved first, so that compiling does not count
saga        scikit-learn's SAGA
celer       celer's prox-Newton with working sets and extrapolated dual points (Massias et al. 2020)
adelie      adelie's groups of size one, at λ alone or ("path") at the end of that number of λ from λ_max on
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
from watch import read_data, read_task, report_end

MOST_ITERATIONS = 100_000


def liblinear(X, y, lam, tol):
    """The call, as a function without arguments that gives w (d,)."""
    from liblinear.liblinear import liblinear as library
    from liblinear.liblinear import parameter, problem

    rows = sp.csr_matrix(X)
    signs = np.where(y == 1, 1.0, -1.0)
    data = problem(signs, rows)
    settings = parameter(f"-s 6 -c {1.0 / (len(y) * lam)!r} -e {tol!r} -B -1 -q")
    data.set_bias(settings.bias)

    def call():
        model = library.train(data, settings).contents
        return np.ctypeslib.as_array(model.w, (X.shape[1],)) * model.label[0]  # positive: the first label it met

    return call


def skglm(X, y, lam, tol):
    """The same for skglm."""
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Logistic
    from skglm.penalties import L1
    from skglm.solvers import ProxNewton

    signs = np.where(y == 1, 1.0, -1.0)

    def fit(A, b, alpha):
        solver = ProxNewton(tol=tol, max_iter=1000, fit_intercept=False)
        return GeneralizedLinearEstimator(Logistic(), L1(alpha), solver).fit(A, b).coef_.ravel()

    few = np.arange(min(200, len(y)))
    fit(sp.csc_matrix(X[few]) if sp.issparse(X) else X[few], signs[few], lam)  # compiles
    return lambda: fit(X, signs, lam)


def saga(X, y, lam, tol):
    """The same for SAGA."""
    from sklearn.linear_model import LogisticRegression

    rows = sp.csr_matrix(X) if sp.issparse(X) else np.ascontiguousarray(X)
    model = LogisticRegression(
        C=1.0 / (len(y) * lam),
        l1_ratio=1.0,
        solver="saga",
        tol=tol,
        fit_intercept=False,
        max_iter=MOST_ITERATIONS,
        random_state=0,
    )
    return lambda: model.fit(rows, y).coef_.ravel()


def celer(X, y, lam, tol):
    """The same for celer."""
    from celer import LogisticRegression

    columns = sp.csc_matrix(X) if sp.issparse(X) else np.asfortranarray(X)
    model = LogisticRegression(C=1.0 / (len(y) * lam), tol=tol, fit_intercept=False, max_iter=1000)
    return lambda: model.fit(columns, y).coef_.ravel()


def adelie(X, y, lam, tol, path=1):
    """The same for adelie; the path is on the clock."""
    import adelie as ad

    columns = ad.matrix.sparse(sp.csc_matrix(X)) if sp.issparse(X) else np.asfortranarray(X)
    target = (np.asarray(y) == 1).astype(np.float64)

    def call():
        most = np.abs(X.T @ (target - 0.5)).max() / len(y)
        lams = np.geomspace(most, lam, path + 1)[1:]
        found = ad.grpnet(columns, ad.glm.binomial(target), lmda_path=lams, intercept=False, tol=tol, irls_tol=tol,
                          early_exit=False, progress_bar=False)  # fmt: skip
        return np.asarray(found.betas[-1].todense()).ravel()

    return call


METHODS = {"liblinear": liblinear, "skglm": skglm, "saga": saga, "celer": celer, "adelie": adelie}


def main():
    """Run the task and report."""
    warnings.simplefilter("ignore")
    task = read_task()
    X, y = read_data(task["data"])
    setting = dict(task["setting"])
    call = METHODS[setting.pop("method")](X, y, task["lam"], **setting)
    wall, cpu = time.perf_counter(), time.process_time()
    w = call()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    report_end(task, X, y, w[:, None], cpu, wall)


if __name__ == "__main__":
    sys.exit(main())
