"""Nonlinear conjugate-gradient steps on all of W under a ridge, before Newton steps, whose systems cost more.

V ← M⁻¹G,  M the diagonal of c·XᵀX/n + λI at zero weights, G = ∇F(W)
D ← −V + βD⁻,  β = max(0, ⟨V, G − G⁻⟩/⟨D⁻, G − G⁻⟩)                  (Hestenes and Stiefel 1952; ⁻: the step before)
α ← −⟨G, D⟩/⟨D, ∇²F(W)D⟩, corrected by the slope that is left there;  W ← W + αD

A step costs two products with X, as one of the conjugate-gradient steps inside a Newton step does: XD is the sum of XV
and of the last XD. They go on while they are likely to reach the gap at which the run will stop sooner than Newton
steps: ‖G‖²/(2λ) is known after each, and falls by about the same factor.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...kernels.newton import hessian_rows
from ...pauses import even_parts, pause
from ...problems.linear_algebra import inner
from ...problems.prediction import Problem
from .gradient_steps import directions_share
from .newton import SCORES
from .pacing import pace
from .ridge_preconditioner import moment_samples

# Directions of the columns of dense X for each of them. With fewer than the first the steps do not begin (pixels, and
# features that share factors: up to 1.7 times as long); from the second on a diagonal is nearly all of XᵀX. Between
# these lie neighbours that go together: there they begin where making Σ̂ costs DEAR steps, or Newton steps do without
# it, but not for one score, nor for losses that are sums over scores, whose Newton steps end soon.
COUPLED, APART, DEAR = 0.5, 0.85, 2.0
# Steps that Newton steps are taken to cost besides making Σ̂; and what that costs: the columns for each step with one
# score, and those for each further score. Measured on 74 drawn problems with dense X (300 to 8000 samples, 15 to 600
# features, 2 to 14 classes, four losses, λ of .005 to .3 λ_max), at gaps of 1e-2, 1e-4 and 1e-6.
OF_COUPLED, OF_APART, FOR_EACH_STEP, FOR_EACH_SCORE = 3.0, 6.0, 13.0, 7.0
# The same with sparse X, where the steps begin with several scores and from this share of lam_reference on: words of 41
# drawn problems (at a hundredth and less they take up to 1.5 times as long).
OF_SPARSE, LEAST_SHARE = 8.0, 0.01
LEAST = 2  # steps after which it is judged how many are still needed, by the pace of the last WINDOW
WINDOW = 3
MOST_TRIALS, DECREASE = 3, 1e-4  # of a step length; share of the decrease that the slope promises
LEVEL = 0.3  # share of the slope that may be left at the end of a step
FURTHEST = 10.0  # factor by which one trial may be longer than the last


def opens(problem: Problem) -> bool:
    """Decide whether these steps come before Newton steps from zero weights on."""
    if problem.design.is_sparse:
        return problem.m > 1 and problem.lam >= LEAST_SHARE * problem.lam_reference
    share = directions_share(problem)
    if share >= APART:
        return True
    dear = not moment_samples(problem) or _making(problem) >= DEAR
    return share >= COUPLED and problem.m > 1 and not problem.loss.separable and dear


def newton_cost(problem: Problem) -> float:
    """Return how many steps cost as much as Newton steps to the end are likely to."""
    if problem.design.is_sparse:
        return OF_SPARSE
    return _making(problem) + (OF_APART if directions_share(problem) >= APART else OF_COUPLED)


def _making(problem: Problem) -> float:
    """Return how many steps cost as much as making Σ̂ of dense X does."""
    part = moment_samples(problem) / problem.n
    return part * problem.rows / (FOR_EACH_STEP + FOR_EACH_SCORE * problem.m)


class ConjugateSteps:
    """The steps, from zero weights on.

    Parameters
    ----------
    problem, state
        the problem, and the state of ``newton-cg`` whose point they move, with the derivatives there.
    """

    def __init__(self, problem: Problem, state: Any) -> None:
        squares = problem.design.squared_norms[: problem.d] / problem.n
        if problem.intercept:
            squares = np.append(squares, 1.0)
        diagonal = float(state.A.mean(dtype=np.float64)) * squares
        diagonal[: problem.d] += problem.lam
        self.inverse = (1.0 / diagonal).astype(problem.dtype)[:, None]
        self.last: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # D, XD and G of the last step
        self.cost = newton_cost(problem)
        self.left = [self._left(problem, state)]  # logarithms of the gap over the one at which the run will stop

    def advance(self, problem: Problem, state: Any) -> bool:
        """Take a step; False if F does not fall, and the point is what it was."""
        D, E = self._direction(problem, state)
        slope = inner(state.G, D)
        if not slope < 0.0:
            return False
        size = self._search(problem, state, D, E, slope)
        if not size:
            return False
        self.last = D, E, state.G.copy()
        state.coef += problem.dtype.type(size) * D
        state.step_size = size
        pause()
        state.take_gradient(problem)
        self.left = [*self.left, self._left(problem, state)][-WINDOW - 1 :]
        return True

    def goes_on(self) -> bool:
        """Return whether further steps are likely to end sooner than Newton steps would."""
        return len(self.left) <= LEAST or self.left[-1] <= pace(self.left) * self.cost

    @staticmethod
    def _left(problem: Problem, state: Any) -> float:
        least = float(np.finfo(np.float64).tiny)
        goal = state.strict * state.aim * abs(state.objective(problem))
        return math.log(max(state.size**2 / (2.0 * problem.lam), least) / max(goal, least))

    def _direction(self, problem: Problem, state: Any) -> tuple[np.ndarray, np.ndarray]:
        """D (rows, m) and XD (n, m)."""
        V = self.inverse * -state.G
        E = problem.design.matmul(V, np.empty_like(state.Z))
        pause()
        if self.last is None:
            return V, E
        D, XD, G = self.last
        turned = state.G - G
        under = inner(D, turned)
        beta = problem.dtype.type(max(0.0, -inner(V, turned) / under) if under > 0.0 else 0.0)
        pause()
        joint = V + beta * D
        return (joint, E + beta * XD) if inner(state.G, joint) < 0.0 else (V, E)

    @staticmethod
    def _search(problem: Problem, state: Any, D: np.ndarray, E: np.ndarray, slope: float) -> float:
        """Set scores and their derivatives to those at the end of a step along D, and return its length; 0: none was
        found, and they are what they were."""
        lam, d, before, Z = problem.lam, state.d, state.loss, state.Z
        bent = E.copy()
        for start, stop in even_parts(problem.n, problem.m, SCORES):
            at = slice(start, stop)
            hessian_rows(state.everybody[at], Z, state.U, *problem.terms, 1.0, bent[at])
            pause()
        along, square = inner(state.coef[:d], D[:d]), inner(D[:d], D[:d])
        curve = inner(E, bent) / problem.n + lam * square
        size, shorter, longer, found, trials = (-slope / curve if curve > 0.0 else 1.0), 0.0, math.inf, 0.0, 0
        while trials < MOST_TRIALS:
            trials += 1
            moved = Z + problem.dtype.type(size) * E
            state.loss = state.derivatives(problem, moved)
            pause()
            rise = state.loss - before + lam * (size * along + 0.5 * size**2 * square)
            if not rise <= DECREASE * size * slope:
                longer, size = size, (0.5 * (shorter + size) if found else 0.25 * size)
                continue
            found = size
            left = inner(state.U, E) / problem.n + lam * (along + size * square)
            if abs(left) <= LEVEL * abs(slope):
                break
            if left < 0.0:
                shorter = size
            else:
                longer = size
            wanted = size * slope / (slope - left)  # where a line through both slopes is zero
            size = min(max(wanted, shorter), longer, FURTHEST * size)
        state.trials = float(trials)
        if trials == MOST_TRIALS:  # the last trial may not be the one that is taken
            moved = Z + problem.dtype.type(found) * E
            state.loss = state.derivatives(problem, moved)
        state.Z[:] = moved
        return found
