"""One fit of scikit-learn's graphical_lasso: graphical_lasso_worker.py FOLDER LAMBDA TOLERANCE. The diagonal is free.

FOLDER holds S.npy; writes Theta.npy into it and prints the processor seconds of the call as JSON.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.covariance import graphical_lasso


def main():
    """Fit once to load everything, then under the clock."""
    folder, lam, tol = Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    S = np.load(folder / "S.npy")
    warnings.simplefilter("ignore")  # that it did not reach its own tolerance: the gap of what it found is judged
    graphical_lasso(np.eye(3) + 0.2, alpha=0.1)
    began = time.process_time()
    Theta = graphical_lasso(S, alpha=lam, tol=tol, enet_tol=min(1e-4, tol), max_iter=1000)[1]
    spent = time.process_time() - began
    np.save(folder / "Theta.npy", Theta)
    print(json.dumps({"cpu": spent}))


if __name__ == "__main__":
    main()
