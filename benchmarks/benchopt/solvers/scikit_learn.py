"""scikit-learn's SAGA: multinomial logistic loss with the ℓ1 penalty."""

import warnings

import numpy as np
import sklearn
from benchopt import BaseSolver
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression


class Solver(BaseSolver):
    """LogisticRegression with SAGA, for the logistic loss with ℓ1."""

    name = "scikit-learn"
    sampling_strategy = "iteration"
    requirements = ["scikit-learn>=1.8"]

    def skip(self, X, y, m, loss, penalty, lam):
        """Return whether it cannot solve the problem, and the reason."""
        if (loss, penalty) != ("logistic", "l1"):
            return True, "LogisticRegression has no row penalty and no squared hinge"
        if m < 3:
            return True, "with two classes LogisticRegression fits one vector: another problem"
        if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8):
            return (
                True,
                f"scikit-learn {sklearn.__version__} names the ℓ1 penalty in another way; 1.8 or later is needed",
            )
        return False, None

    def set_objective(self, X, y, m, loss, penalty, lam):
        """Take the problem; C is 1/(nλ)."""
        self.X, self.y = X, y
        self.model = LogisticRegression(
            l1_ratio=1.0, C=1.0 / (lam * len(y)), solver="saga", fit_intercept=False, tol=0.0, random_state=0
        )

    def run(self, n_iter):
        """Solve from zero with this many iterations."""
        if n_iter == 0:
            self.W = np.zeros((self.X.shape[1], int(self.y.max()) + 1))
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model.set_params(max_iter=n_iter).fit(self.X, self.y)
        self.W = self.model.coef_.T

    def get_result(self):
        """Return W."""
        return {"W": self.W}
