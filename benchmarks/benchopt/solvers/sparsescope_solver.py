"""Any solver of sparsescope, one iteration after another; certificates are left out, since benchopt judges W."""

import numpy as np
from benchopt import BaseSolver

import sparsescope as ss


class Solver(BaseSolver):
    name = "sparsescope"
    sampling_strategy = "callback"
    parameters = {"solver": ["auto", "working-set", "bcd-ls", "fista-ls", "newglmnet"]}
    requirements = ["pip::sparsescope"]
    test_parameters = {"solver": ["auto"]}

    def skip(self, X, y, m, loss, penalty, lam):
        problem = ss.Problem(X, y, loss=loss, penalty=penalty, lam=lam)
        refusal = ss.registry.solvers.create(self.solver).solves(problem)
        return refusal is not None, refusal

    def set_objective(self, X, y, m, loss, penalty, lam):
        self.data = (X, y, {"loss": loss, "penalty": penalty, "lam": lam})

    def start(self):
        X, y, settings = self.data
        endless = ss.stopping.Iterations(10**9)
        return ss.Run(ss.Problem(X, y, **settings), self.solver, stop=endless, certify_every=10**9)

    def warm_up(self):
        steps = iter(self.start())
        for _ in range(3):  # compiles, or loads, the kernels
            next(steps, None)

    def run(self, callback):
        run = self.start()
        steps = iter(run)
        self.state = None
        while callback():
            next(steps, None)  # a solver that has settled ends its run and keeps its W
            self.state = run.state

    def get_result(self):
        X, y, _ = self.data
        return {"W": np.zeros((X.shape[1], int(y.max()) + 1)) if self.state is None else self.state.weights()}
