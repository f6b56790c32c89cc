"""One measurement of lightning, in lightning's own environment. Task on standard input, result on standard output.

The problem is posed as C = 1, alpha = n * lam: with C = 1/n, which is the same problem, a floor of lightning's
curvature estimates bites and text takes four times as long. Settings: "method" (cd or fista) and what its estimator
takes.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import scipy.sparse as sp
from lightning.classification import CDClassifier, FistaClassifier
from watch import Watch, read_data, read_task

LOSSES = {"multiclass-squared-hinge": "squared_hinge", "logistic": "log"}
ONCE_A_PASS = 2**30  # callbacks of CD come at every n_calls-th feature of a pass, beginning with the first


def estimator(task, n, **more):
    """The estimator of a task."""
    setting = dict(task["setting"])
    method = setting.pop("method")
    share = setting.pop("C", 1.0)  # 1, or 1/n as the string "1/n"
    C = 1.0 / n if share == "1/n" else float(share)
    made = {"cd": CDClassifier, "fista": FistaClassifier}[method]
    if method == "cd":
        more = {"n_calls": ONCE_A_PASS, "random_state": 0, **more}
    return made(
        loss=LOSSES[task["loss"]], penalty="l1/l2", multiclass=True, C=C, alpha=n * C * task["lam"], **setting, **more
    )


def main():
    """Run the task and report."""
    task = read_task()
    X, y = read_data(task["data"])
    if not sp.issparse(X):
        X = sp.csc_matrix(X)  # dense input takes at least as long
    n = X.shape[0]
    watch = Watch(task, X, y)
    # Encoding the labels is no part of the method: what a fit without iterations takes is taken off.
    began = time.process_time()
    estimator(task, n, max_iter=0).fit(X, y)
    setup = time.process_time() - began

    def callback(model):
        return True if watch.look(model.coef_.T) else None

    model = estimator(task, n, max_iter=10**6, callback=callback)
    watch.cpu, watch.wall = -setup, -setup
    watch.start()
    model.fit(X, y)
    watch.look(np.ascontiguousarray(model.coef_.T))
    watch.report(setup=setup, version=__import__("lightning").__version__, numpy=np.__version__)


if __name__ == "__main__":
    sys.exit(main())
