"""One fit of QUIC, the authors' C++: quic_worker.py FOLDER LAMBDA TOLERANCE DIAGONAL (1: penalised, 0: free).

FOLDER holds S.npy; writes Theta.npy into it and prints the processor seconds of the call as JSON. The extension is that
of skggm, whose Python parts need an older scikit-learn, so it is loaded alone.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import sys
import sysconfig
import time
from pathlib import Path

import numpy as np


def extension():
    """Load the compiled module."""
    folder = Path(sysconfig.get_path("platlib")) / "inverse_covariance" / "pyquic"
    path = next(path for ending in importlib.machinery.EXTENSION_SUFFIXES for path in folder.glob(f"pyquic*{ending}"))
    spec = importlib.util.spec_from_file_location("pyquic", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fit(module, S, Lambda, tol):
    """Θ at a tolerance, from the identity."""
    p = len(S)
    Theta, Sigma = np.eye(p), np.eye(p)
    facts = [np.zeros(1), np.zeros(1), np.zeros(1, dtype=np.uint32), np.zeros(1)]
    module.quic(b"d", p, S, Lambda, 1, np.ones(1), tol, 0, 1000, Theta, Sigma, *facts)
    return Theta


def main():
    """Fit once to load everything, then under the clock."""
    folder, lam, tol, diagonal = Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    S = np.ascontiguousarray(np.load(folder / "S.npy"))
    Lambda = np.full_like(S, lam)
    if not diagonal:
        np.fill_diagonal(Lambda, 0.0)
    module = extension()
    fit(module, np.eye(3) + 0.2, np.full((3, 3), 0.1), 1e-3)
    began = time.process_time()
    Theta = fit(module, S, Lambda, tol)
    spent = time.process_time() - began
    np.save(folder / "Theta.npy", Theta)
    print(json.dumps({"cpu": spent}))


if __name__ == "__main__":
    main()
