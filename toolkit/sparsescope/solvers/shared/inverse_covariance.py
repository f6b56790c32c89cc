"""Common parts of methods for sparse inverse covariances: components, the line search with its factorisations,
counters.

components of |S_ij| > λC_ij: Θ is block diagonal in them, and each is a separate problem          (MATH §6)
for each component that is not nearly solved yet (a method may work on several small ones as one):
    Σ = Θ⁻¹, G = S − Σ, the violations of all entries                            (known from the step before)
    N ← an approximate minimiser of a second-order model around Θ                (the method's own)
    α ← 1, ½, ¼… until Θ + α(N − Θ) has a Cholesky factor and F falls by Armijo's rule
    Σ from that factor
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy

from ...kernels.coordinates import FLOPS, REPORT, STEPS, SWEEPS, entry_violations
from ...problems.base import Certificate
from ...problems.covariance import CovarianceProblem
from ...problems.covariance_certificate import Component, Known, certify_covariance, graph_size, groups, split
from ...problems.linear_algebra import cholesky, inner, inverse, logdet
from ..base import Solver, State
from .armijo import backtrack
from .columns import INNER_COLUMNS, STEP_COLUMNS

TRIALS_MOST = 40
LEAVE = 0.1  # components whose violation is below this share of the largest wait


class Block(Component):
    """One component, or several small ones: its features ``at`` (k,), and S, λC, Θ, Σ = Θ⁻¹, G = S − Σ and violations
    there, all (k, k).

    f, omega : tr(SΘ) − logdet Θ and ΣλC|Θ| · wrong : norm of the violations · working : entries on and above the
    diagonal that the last step worked on · touched : flags (k,) of features with such an entry off the diagonal ·
    memory : what a method keeps
    """

    def __init__(self, problem: CovarianceProblem, at: np.ndarray, Theta: np.ndarray) -> None:
        self.at = at
        self.S = np.ascontiguousarray(problem.S[np.ix_(at, at)])
        self.Lam = problem.thresholds(at)
        self.working, self.touched = 0, np.zeros(at.size, dtype=bool)
        self.memory: Any = None
        self.violation = np.empty_like(self.S)
        factor = cholesky(Theta)
        assert factor is not None
        self.take(Theta, factor, *self.value(Theta, factor))

    def value(self, Theta: np.ndarray, factor: np.ndarray) -> tuple[float, float]:
        """f and ω of another Θ."""
        return inner(self.S, Theta) - logdet(factor), inner(self.Lam, np.abs(Theta))

    def take(self, Theta: np.ndarray, factor: np.ndarray, f: float, omega: float) -> None:
        """Go to Θ, whose factor and values are known."""
        self.Theta, self.f, self.omega = Theta, f, omega
        self.Sigma = inverse(factor)
        self.G = self.S - self.Sigma
        G, W, thresholds = (one.ravel() for one in (self.G, Theta, self.Lam))
        entry_violations(G, W, thresholds, 0.0, self.violation.reshape(-1))
        self.wrong = float(np.linalg.norm(self.violation))

    def works_on(self, rows: np.ndarray, columns: np.ndarray) -> None:
        """Note the entries (rows ≤ columns) of this step."""
        self.working = rows.size
        self.touched[:] = False
        off = rows != columns
        self.touched[rows[off]] = self.touched[columns[off]] = True

    def descend(self, new: np.ndarray) -> tuple[float, int]:
        """Go to ``new`` or part of the way there by Armijo's rule. Returns the step size (0: none is short enough,
        which is rounding) and how many factorisations it took."""
        D = new - self.Theta
        slope = inner(self.G, D) + inner(self.Lam, np.abs(new)) - self.omega
        slack = 4.0 * float(np.finfo(float).eps) * (abs(self.f) + self.omega + self.at.size)
        tried: tuple[Any, ...] = ()

        def rise(size: float) -> float:
            nonlocal tried
            point = new if size == 1.0 else self.Theta + size * D
            factor = cholesky(point)
            if factor is None:
                return float("nan")
            f, omega = self.value(point, factor)
            tried = point, factor, f, omega
            return float((f - self.f) + (omega - self.omega))

        size, trials, taken = backtrack(rise, slope, slack, TRIALS_MOST)
        if not taken:
            return 0.0, trials
        self.take(*tried)
        return size, trials


class CovarianceState(State):
    """State: Θ as ``coef`` (p, p), its smooth value f, and the components with what is known of them.

    blocks : ``None`` until the next step finds the components of the present λ · alone : isolated features
    """

    inner_sweeps = coordinate_steps = step_flops = float("nan")

    def __init__(self, problem: CovarianceProblem, coef: np.ndarray) -> None:
        self.bare()
        self.d = problem.d
        self.coef = coef
        self.blocks: list[Block] | None = None
        self.alone = np.empty(0, dtype=np.intp)
        self.report = np.zeros(REPORT)
        self.f = smooth_value(problem, coef)

    def prepare(self, problem: CovarianceProblem, least: int) -> None:
        """Find the components; what ties them together leaves Θ, which never raises F. Components of fewer than
        ``least`` features are put together up to that number."""
        components, self.alone = groups(problem.components)
        blocks = together(components, least)
        coef = np.zeros_like(self.coef)
        coef[self.alone, self.alone] = problem.null[self.alone]
        self.blocks = []
        for at in blocks:
            square = np.ix_(at, at)
            coef[square] = self.coef[square]
            self.blocks.append(Block(problem, at, np.ascontiguousarray(coef[square])))
        self.coef[:] = coef
        self.working = np.zeros(self.d, dtype=np.uint8)

    def gather(self, problem: CovarianceProblem) -> None:
        """Θ, f and the working set from the components."""
        assert self.blocks is not None and self.working is not None
        own = np.diag(self.coef)[self.alone]
        self.f = float((np.diag(problem.S)[self.alone] * own - np.log(own)).sum())
        self.working_set = float(self.alone.size)
        for block in self.blocks:
            self.coef[np.ix_(block.at, block.at)] = block.Theta
            self.f += block.f
            self.working_set += block.working
            self.working[block.at] = block.touched

    def point(self, problem: Any) -> tuple[float, float, int, int]:
        """tr(SΘ) − logdet Θ, ΣC|Θ|, features with an edge, non-zero entries."""
        return self.f, problem.penalty_of(self.coef), *graph_size(self.coef)

    def support(self, flags: np.ndarray) -> None:
        """flags[j] ← 1 where feature j has an edge, else 0; flags (p,) uint8."""
        flags[:] = np.count_nonzero(self.coef, axis=1) > 1  # the diagonal is never zero

    def snapshot(self, flags: np.ndarray) -> tuple[np.ndarray, Any]:
        """All of Θ, which has a diagonal, as CSR."""
        return np.arange(self.d, dtype=np.int32), scipy.sparse.csr_array(self.coef)

    def snapshot_bytes(self, flags: np.ndarray) -> int:
        """Bytes of Θ as CSR."""
        return 12 * int(np.count_nonzero(self.coef)) + 4 * self.d


def together(components: list[np.ndarray], least: int) -> list[np.ndarray]:
    """Put components (numbers of features) together, in their order, as long as they have at most ``least`` features:
    what a step costs beside its arithmetic is then paid once."""
    blocks: list[np.ndarray] = []
    held: list[np.ndarray] = []
    for at in components:
        if at.size >= least:
            blocks.append(at)
            continue
        if held and sum(part.size for part in held) + at.size > least:
            blocks.append(np.concatenate(held))
            held = []
        held.append(at)
    return [*blocks, *([np.concatenate(held)] if held else [])]


def smooth_value(problem: CovarianceProblem, Theta: np.ndarray) -> float:
    """tr(SΘ) − logdet Θ of a positive definite Θ (p, p)."""
    blocks, alone = split(problem, Theta)
    own = np.diag(Theta)[alone]
    total = float((np.diag(problem.S)[alone] * own - np.log(own)).sum())
    for at in blocks:
        square = np.ix_(at, at)
        factor = cholesky(Theta[square])
        assert factor is not None
        total += inner(problem.S[square], Theta[square]) - logdet(factor)
    return total


class CovarianceSolver(Solver):
    """A method of this kind; a subclass defines :meth:`model`. Its states start at the best diagonal Θ, or at a given
    one that is symmetric and positive definite."""

    kinds = (CovarianceProblem.kind,)
    columns = (*STEP_COLUMNS, *INNER_COLUMNS)
    takes_intercept = False
    least_block: ClassVar[int] = 0  # features up to which small components are worked on as one

    def refuses(self, problem: Any) -> str | None:
        """Return ``None``: every covariance problem can be solved."""
        return None

    def init(self, problem: Any, W: Any = None, b: Any = None) -> CovarianceState:
        """A state at Θ = ``W``; at the best diagonal Θ if it is left out."""
        self.require(problem)
        return self.start(problem, problem.coefficients(W, b))

    def start(self, problem: Any, coef: np.ndarray) -> CovarianceState:
        return CovarianceState(problem, coef)

    def adapt(self, problem: Any, state: Any) -> None:
        state.blocks = None  # other components
        state.working = None

    def step(self, problem: Any, state: Any) -> None:
        """One step on each component that is not nearly solved compared to the worst."""
        if state.blocks is None:
            state.prepare(problem, self.least_block)
        report = state.report
        sweeps, steps, flops = 0.0, 0.0, 0.0
        state.step_size, state.trials = 1.0, 1.0
        top = max((block.wrong for block in state.blocks), default=0.0)
        for block in state.blocks:
            if block.wrong <= LEAVE * top:
                continue
            report[:] = 0.0
            size, trials = self.move(block, report)
            sweeps, steps, flops = max(sweeps, report[SWEEPS]), steps + report[STEPS], flops + report[FLOPS]
            state.step_size, state.trials = min(state.step_size, size), max(state.trials, trials)
        state.gather(problem)
        state.inner_sweeps, state.coordinate_steps, state.step_flops = sweeps, steps, flops / max(steps, 1.0)
        state.passes += state.trials
        state.iteration += 1

    def move(self, block: Block, report: np.ndarray) -> tuple[float, int]:
        """One step on a component: what :meth:`Block.descend` returns. The counters of ``report`` are 0 on entry."""
        raise TypeError(f"{type(self).__name__} does not define move")

    def certificate(self, problem: Any, state: Any, work: Any) -> Certificate:
        # The inverses are those of the last step; where components are not known yet, the certificate finds them.
        known = None if state.blocks is None else Known(state.blocks, state.alone)
        return certify_covariance(problem, state.coef, known)
