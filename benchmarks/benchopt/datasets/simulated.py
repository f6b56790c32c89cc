"""Gaussian features of which a share decides the class."""

import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """Gaussian features, ``used`` of which decide the class."""

    name = "simulated"
    parameters = {"n, d, m": [(1000, 500, 10)], "used": [20], "seed": [0]}
    test_parameters = {"n, d, m": [(60, 12, 3)], "used": [4]}

    def get_data(self):
        """Return X and y."""
        rng = np.random.default_rng(self.seed)
        X = rng.standard_normal((self.n, self.d))
        W = np.zeros((self.d, self.m))
        W[rng.choice(self.d, self.used, replace=False)] = rng.standard_normal((self.used, self.m))
        y = np.argmax(X @ W + rng.gumbel(size=(self.n, self.m)), axis=1)
        return {"X": X, "y": np.unique(y, return_inverse=True)[1]}
