"""Any solver of sparsescope, one iteration after another; certificates are left out, since benchopt judges W."""

import numpy as np
from benchopt import BaseSolver

import sparsescope as ss


class Solver(BaseSolver):
    """A solver of this package by its registered name."""

    name = "sparsescope"
    sampling_strategy = "callback"
    parameters = {"solver": ["auto", "working-set", "bcd-ls", "fista-ls", "newglmnet"]}
    requirements = ["pip::sparsescope"]
    test_parameters = {"solver": ["auto"]}

    def skip(self, X, y, m, loss, penalty, lam):
        """Return whether it cannot solve the problem, and the reason."""
        problem = ss.Problem(X, y, loss=loss, penalty=penalty, lam=lam)
        refusal = ss.registry.solvers.create(self.solver).solves(problem)
        return refusal is not None, refusal

    def set_objective(self, X, y, m, loss, penalty, lam):
        """Take the problem."""
        self.data = (X, y, {"loss": loss, "penalty": penalty, "lam": lam})

    def start(self):
        """Return a run from zero weights without certificates."""
        X, y, settings = self.data
        endless = ss.stopping.Iterations(10**9)
        return ss.Run(ss.Problem(X, y, **settings), self.solver, stop=endless, certify_every=10**9)

    def warm_up(self):
        """Compile the kernels before the clock starts."""
        steps = iter(self.start())
        for _ in range(3):  # compiles, or loads, the kernels
            next(steps, None)

    def run(self, callback):
        """Make one iteration after the other while ``callback`` asks for more."""
        run = self.start()
        steps = iter(run)
        self.state = None
        while callback():
            next(steps, None)  # a solver that has settled ends its run and keeps its W
            self.state = run.state

    def get_result(self):
        """Return W."""
        X, y, _ = self.data
        return {"W": np.zeros((X.shape[1], int(y.max()) + 1)) if self.state is None else self.state.weights()}
