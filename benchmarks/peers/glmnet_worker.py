"""One measurement of R's glmnet. Task on standard input, result on standard output; see watch.py.

glmnet shows nothing while it works, so a run gives one point: the seconds of the whole call (measured inside R) and the
objective at its end. Settings: "thresh" (its stopping threshold) and "lambdas" (1: only the λ of the task; k: a
geometric path of k from λ_max down to it, warm-started, which its authors recommend).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import r_files
import scipy.sparse as sp
from watch import GIVE_UP, read_data, read_task, report_end

STARTING = 15.0  # seconds for R to start and to read the data, on a busy machine
SCRIPT = Path(__file__).with_name("glmnet_fit.R")


def main():
    """Run the task and report."""
    task = read_task()
    X, y = read_data(task["data"])
    C = sp.csc_matrix(X)
    d, m = X.shape[1], int(y.max()) + 1
    U = np.full((len(y), m), 1.0 / m)
    U[np.arange(len(y)), y] -= 1.0
    top = np.sqrt((np.asarray(C.T @ U) ** 2).sum(axis=1)).max() / len(y)
    count = int(task["setting"]["lambdas"])
    lambdas = np.geomspace(top, task["lam"], count) if count > 1 else np.array([task["lam"]])
    with tempfile.TemporaryDirectory(prefix="glmnet-") as name:
        folder = Path(name)
        r_files.write(folder, C, y, lambdas=lambdas)
        command = ["Rscript", str(SCRIPT), str(folder), repr(task["setting"]["thresh"]), "lambdas.bin"]
        rivals = [
            GIVE_UP * seconds
            for level, seconds in task.get("rivals", {}).items()
            if float(level) <= min(task["levels"])
        ]
        limit = min([task["limit"], *rivals]) + STARTING
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            print(json.dumps({"reached": [], "ended": "time limit", "lowest": None, "cpu": limit}))
            return
        if done.returncode != 0:
            raise RuntimeError((done.stderr.strip().splitlines() or ["Rscript failed"])[-1])
        cpu, wall, fitted, version = done.stdout.split()
        W = np.fromfile(folder / "W.bin").reshape(m, d).T
    ended = "by itself" if int(fitted) == count else "gave up on the path"
    report_end(task, X, y, W, float(cpu), float(wall), ended, version=version)


if __name__ == "__main__":
    sys.exit(main())
