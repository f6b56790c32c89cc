"""Sparse multiclass classification with linear scores: which solver reaches which objective in which time."""

import numpy as np
from benchmark_utils.formulas import lam_max, objective
from benchopt import BaseObjective


class Objective(BaseObjective):
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
        self.X, self.y, self.m = X, y, int(y.max()) + 1
        self.lam = self.lam_ratio * lam_max(X, y, self.m, self.loss, self.penalty)

    def evaluate_result(self, W):
        return {
            "value": objective(self.X, self.y, W, self.loss, self.penalty, self.lam),
            "rows_used": int((W != 0).any(axis=1).sum()),
        }

    def get_one_result(self):
        return {"W": np.zeros((self.X.shape[1], self.m))}

    def get_objective(self):
        return {"X": self.X, "y": self.y, "m": self.m, "loss": self.loss, "penalty": self.penalty, "lam": self.lam}
