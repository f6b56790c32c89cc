"""lightning's block coordinate descent (Blondel et al. 2013): the reference implementation of ℓ1/ℓ2."""

import numpy as np
from benchopt import BaseSolver
from lightning.classification import CDClassifier


class Solver(BaseSolver):
    """lightning's CDClassifier, for ℓ1/ℓ2."""

    name = "lightning"
    sampling_strategy = "iteration"
    requirements = ["pip::sklearn-contrib-lightning"]

    def skip(self, X, y, m, loss, penalty, lam):
        """Return whether it cannot solve the problem, and the reason."""
        return penalty != "l1/l2" or m < 3, "the multiclass form of CDClassifier is for l1/l2 and three classes or more"

    def set_objective(self, X, y, m, loss, penalty, lam):
        """Take the problem; α is nλ."""
        self.X, self.y = (X.tocsc() if hasattr(X, "tocsc") else np.asfortranarray(X)), y
        names = {"logistic": "log", "multiclass-squared-hinge": "squared_hinge"}
        self.model = CDClassifier(
            loss=names[loss], penalty="l1/l2", multiclass=True, C=1.0, alpha=lam * len(y), tol=0.0, random_state=0
        )

    def run(self, n_iter):
        """Solve from zero with this many iterations."""
        if n_iter == 0:
            self.W = np.zeros((self.X.shape[1], int(self.y.max()) + 1))
            return
        self.model.set_params(max_iter=n_iter).fit(self.X, self.y)
        self.W = self.model.coef_.T

    def get_result(self):
        """Return W."""
        return {"W": self.W}
