"""Sparse multiclass classification with linear scores: which solver reaches which objective in which time."""

import numpy as np
from benchmark_utils.formulas import lam_max, objective
from benchopt import BaseObjective


class Objective(BaseObjective):
    """The penalised objective of sparse multiclass classification, evaluated with NumPy alone."""

    name = "Sparse multiclass classification"
    url = "https://github.com/sparsescope/sparsescope"
    min_benchopt_version = "1.6"
    parameters = {
        "loss, penalty": [
            ("logistic", "l1"), ("logistic", "l1/l2"),
            ("multiclass-squared-hinge", "l1"), ("multiclass-squared-hinge", "l1/l2"),
        ],
        "lam_ratio": [0.1, 0.01],
    }  # fmt: skip

    def set_data(self, X, y):
        """Take the data; λ is a share of λ_max."""
        self.X, self.y, self.m = X, y, int(y.max()) + 1
        self.lam = self.lam_ratio * lam_max(X, y, self.m, self.loss, self.penalty)

    def evaluate_result(self, W):
        """Return F at W, and the number of non-zero rows."""
        return {
            "value": objective(self.X, self.y, W, self.loss, self.penalty, self.lam),
            "rows_used": int((W != 0).any(axis=1).sum()),
        }

    def get_one_result(self):
        """Return zero weights."""
        return {"W": np.zeros((self.X.shape[1], self.m))}

    def get_objective(self):
        """Return what solvers are given."""
        return {"X": self.X, "y": self.y, "m": self.m, "loss": self.loss, "penalty": self.penalty, "lam": self.lam}
