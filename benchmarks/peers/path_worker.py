"""One path of a peer over given λ, without intercept and without standardising.

Reads a task (see watch.py) with ``lams`` (falling), ``loss`` (``binary-logistic`` or ``logistic``), ``penalty``
(``l1``, ``l1/l2`` or ``elastic-net`` with ``rho``) and the setting's ``method`` and ``tol``; writes the weights of
every λ into the file ``out`` (CSR (λ·d, m)) and prints the processor and wall seconds of the call. Methods:

adelie   its grpnet on the whole path; its multinomial loss is 1/m of ours, and so is its λ
celer    celer_path (Massias et al. 2020), binary and ℓ1 alone
skglm    its prox-Newton, started at each λ at the solution before, binary and ℓ1 alone; some λ are solved first,
         because it compiles anew in every process
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
from watch import read_data, read_task


def adelie(X, y, task, tol):
    """The call, as a function without arguments that gives the weights of all λ, each (d, m)."""
    import adelie as ad

    columns = ad.matrix.sparse(sp.csc_matrix(X)) if sp.issparse(X) else np.asfortranarray(X)
    d, lams = X.shape[1], np.array(task["lams"])
    settings = {"intercept": False, "tol": tol, "irls_tol": tol, "early_exit": False, "progress_bar": False}
    settings["alpha"] = task.get("rho", 1.0)
    if task["loss"] == "binary-logistic":
        glm, m = ad.glm.binomial((y == 1).astype(np.float64)), 1
    else:
        m = int(y.max()) + 1
        glm, lams = ad.glm.multinomial(np.eye(m)[y]), lams / m
        settings["penalty"] = np.ones(d)  # its groups are rows: the weights of a feature

    def call():
        found = ad.grpnet(columns, glm, lmda_path=lams, **settings)
        return [sp.csr_matrix(np.asarray(beta.todense()).reshape(d, m)) for beta in found.betas]

    return call


def celer(X, y, task, tol):
    """The same for celer."""
    from celer import celer_path

    columns = sp.csc_matrix(X) if sp.issparse(X) else np.asfortranarray(X)
    signs = np.where(y == 1, 1.0, -1.0)
    alphas = len(y) * np.array(task["lams"])  # its loss is a sum

    def call():
        _, found, _ = celer_path(columns, signs, "logreg", alphas=alphas, tol=tol, max_iter=1000)[:3]
        return [sp.csr_matrix(w[:, None]) for w in found.T]

    return call


def skglm(X, y, task, tol):
    """The same for skglm."""
    from skglm.datafits import Logistic
    from skglm.penalties import L1
    from skglm.solvers import ProxNewton
    from skglm.utils.jit_compilation import compiled_clone

    columns = sp.csc_matrix(X) if sp.issparse(X) else np.asfortranarray(X)
    signs = np.where(y == 1, 1.0, -1.0)
    datafit = compiled_clone(Logistic())
    if sp.issparse(columns):
        datafit.initialize_sparse(columns.data, columns.indptr, columns.indices, signs)
    else:
        datafit.initialize(columns, signs)

    def fit(lams, tol):
        w, scores, found = np.zeros(columns.shape[1]), np.zeros(len(signs)), []
        solver = ProxNewton(tol=tol, max_iter=1000, fit_intercept=False)
        penalty = compiled_clone(L1(lams[0]))
        for lam in lams:
            penalty.alpha = lam
            w = solver.solve(columns, signs, datafit, penalty, w, scores)[0].copy()
            scores = np.asarray(columns @ w)
            found.append(sp.csr_matrix(w[:, None]))
        return found

    fit(task["lams"][:12:6], 1e-9)  # compiles
    return lambda: fit(task["lams"], tol)


METHODS = {"adelie": adelie, "celer": celer, "skglm": skglm}


def main():
    """Run the task and report."""
    warnings.simplefilter("ignore")
    task = read_task()
    X, y = read_data(task["data"])
    call = METHODS[task["setting"]["method"]](X, y, task, task["setting"]["tol"])
    wall, cpu = time.perf_counter(), time.process_time()
    found = call()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    sp.save_npz(task["out"], sp.vstack(found, format="csr"))
    print(json.dumps({"cpu": cpu, "wall": wall, "lams": len(found)}))


if __name__ == "__main__":
    sys.exit(main())
