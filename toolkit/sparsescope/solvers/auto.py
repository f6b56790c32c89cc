"""`auto`: choose a solver for the problem, and say why.

    two classes, smooth  → one-score, where the loss sees the difference of the scores alone and features are left out:
    loss                   one weight for each feature in place of two tied ones
    smooth loss, X of few  → bcd-ls from zero weights on: what a step costs besides its arithmetic decides, and that is
    numbers                  least for sweeps; where they do not end soon, what the table says of larger X goes on
    smooth loss, penalty → newglmnet, if the Hessians of all samples fit into memory: of our own the fastest to 1e-6 in
    that sums entries      benchmarks/bench_default.py; at 1e-2 sweeps over rows are faster on some multiclass problems
    the same, dense X,     → working-set goes on from newglmnet while a third of the weights is in use (two thirds with
    many weights in use      one score or two): gradient steps on all, which are products with X, if they fall fast.
                             With one score not where columns go together, nor for hinges with many samples
    the same, sparse X,    → working-set, with a ridge in the penalty from eight scores on, with a loss of hinges from
    many scores              sixteen: m × m Hessians of all samples cost more than they gain; with fewer, and with few
                             samples, newglmnet. It takes sums over scores, too, whose Hessians are diagonal, but for
                             those with hinges and no intercept, and the logistic loss where the ridge is weak
    the same, many classes → working-set, for the same reason: with 26 classes, 16 features and 15 000 samples up to
    and few features         thirty times as fast; the more samples there are for a feature, the fewer classes it takes
    the same, dense X and  → working-set, whose steps are products of matrices: with three scores or more and a sample
    many even classes        for two features, the sooner the more classes of one size there are and the less the
                             columns go together (as those of pixels do); with a ridge sooner yet
    the same and two       → working-set from zero weights on, with dense X whose columns do not go together: from seven
    classes, or least        samples for each of them on and below ½ λ_max, or, if X holds many numbers, from two on
    squares                  and far below; nearer to λ_max, and along a path from there, newglmnet or one-score
    least squares, ridge → gls, with dense X of at most a thousand columns: one step with the factored XᵀX
    ridge, more features → row-space: a problem with as many features as samples is left, and solved by what this table
    than samples           says for it, smooth hinges by nearly exact newton-cg. Losses that are not smooth with dense X
                           and three features for each sample; smooth ones where XXᵀ and its eigenvectors cost less than
                           the products that steps on all features are expected to take. Else newton-cg begins, nearly
                           exact for hinges, and row-space goes on when its products have cost as much
    smooth loss, ridge   → newton-cg; hinges with dense X whose columns go together from five samples for each feature
                           on. working-set goes on where its steps are cut short or its systems are badly conditioned
    other smooth losses  → working-set: the fastest measured at every accuracy (docs/benchmarks.md); with Newton steps
                           where loss and penalty have the row functions for them
    smooth loss, penalty → working-set too: proximal gradient steps on all of W in place of sweeps, and Newton steps on
    over blocks            the blocks in use (benchmarks/bench_reach.py)
    crammer-singer,      → dual-cd, if dual rows and W fit into memory: of our own the fastest on all ten stored
    ridge                  problems, to each of three gaps (benchmarks/bench_crammer_singer.py)
    crammer-singer and   → pd-sparse with elastic net or ridge and without intercept, where W has many entries (it keeps
    separation-ranking     few of them, and few labels a sample), y holds label sets or W is small
    these, few weights   → ssnal, augmented Lagrangians by semismooth Newton steps: high accuracy in tens of iterations;
                           where pd-sparse fits, only after a third of the work that ssnal needs
    dual-cd, few weights → ssnal goes on from its dual point after as much work as it needs itself
    or few samples
    smooth loss, small   → ssnal takes over once others have cost what it would in all, after 1500 iterations at most:
    systems                features that go together at a small λ, and corners of the penalty, they find slowly; its
                           systems have the size of the weights or of the samples' scores, whichever is smaller. Also
                           after ten Newton steps of working-set without descent at one F
    these, few samples   → ssnal takes over from fbpd after a third of what interior points need; these begin there
    these two otherwise  → fbpd, primal–dual splitting: its dual point proves the optimum
    data in blocks       → working-set, in passes over the blocks; sparsa where a penalty leaves no feature out
    other non-smooth     → fobos, a stochastic subgradient method: gradients do not exist everywhere
    inverse covariance   → quic
    sequence of models   → cls, calibrated least squares, for few columns and the squared loss; stagewise else
A live change of loss or penalty chooses again; the weights are kept, or the dual point where pd-sparse goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from ..problems.base import Certificate
from ..problems.prediction import Problem
from ..registry import problems, solvers
from .base import Solution, Solver, State, settings
from .shared.few_numbers import SWEEPS, has_few_numbers
from .shared.gradient_steps import is_tangled, takes_all, takes_part
from .shared.hand_over import fitting, is_underdetermined, small_exact, successor
from .shared.newton import able
from .shared.row_space_pays import row_space_pays
from .shared.rows_or_entries import begins_on_rows, prefers_rows, sums_entries
from .ssnal import is_small

MOST_COLUMNS = 3000  # of a least squares step that is factored as a whole
DIRECT_COLUMNS = 1000  # up to which newton-cg takes .8 to 12 times as long with dense X (with words .06 to 1.1)
# What nearly exact Newton steps leave where hinges need them, and features for each sample from which on they do.
EXACT, EXACT_FROM = 0.01, 1.0
# Samples for each feature of dense X from which on undamped Newton steps on hinges win, under a ridge, where columns go
# together; where they do not, they take .45 to 1.2 of the time with fewer, too (19 problems, one to five samples each).
HINGES_HOLD = 5
MANY = 10_000  # entries of W from which on sparse weights pay
# By problem, kind of `auto` and whether sweeps were done.
CHOSEN: WeakKeyDictionary[Any, dict[tuple[type, bool], tuple[Solver, str]]] = WeakKeyDictionary()
MOST_NUMBERS = 20_000_000  # dual rows and weights that dual-cd may keep as arrays, 160 MB of each at most


def choose(problem: Any, anywhere: bool = False, swept: bool = False) -> tuple[Solver, str]:
    """The solver for a problem and the reason; ``anywhere``: one that can begin at given weights, ``swept``: one to go
    on after sweeps.

    Raises ``ValueError`` if no registered solver can solve it."""
    if not problem.samples:
        return solvers.create("quic"), (
            "a sparse inverse covariance: Newton steps on the entries in use, the fastest measured at every accuracy"
        )
    if problem.stages:
        calibrated = solvers.create("cls")
        if problem.d <= MOST_COLUMNS and calibrated.solves(problem) is None:
            return calibrated, (
                f"predictions are judged, and the {problem.d} columns fit into one least squares step: "
                "weights and link in turns"
            )
        return solvers.create("stagewise"), (
            "predictions are judged: least squares on a batch of columns after the other, with the others' as offset"
        )
    if problem.partitioned:
        return _in_blocks(problem)
    if not problem.loss.smooth:
        return _non_smooth(problem, anywhere)
    return (None if swept else _of_few_numbers(problem)) or _smooth(problem)


def _of_few_numbers(problem: Problem) -> tuple[Solver, str] | None:
    """``bcd-ls`` where sweeps are likely to end before others have begun, else ``None``."""
    sweeps = solvers.create("bcd-ls")
    if problem.regulariser.blocks is not None or not has_few_numbers(problem) or sweeps.solves(problem) is not None:
        return None
    return sweeps, (
        f"{problem.loss.title} is smooth and X holds few numbers: sweeps over the features, which cost least besides "
        "their arithmetic"
    )


def _smooth(problem: Problem) -> tuple[Solver, str]:
    """The solver for a smooth loss."""
    loss, penalty = problem.loss.title, problem.penalty.title
    if problem.regulariser.blocks is not None:
        why = f"{loss} is smooth, and {penalty} ties features in blocks: proximal gradient steps on all of W"
        if able(problem):
            return solvers.create("working-set"), f"{why}, and Newton steps on the blocks in use"
        return solvers.create("working-set", newton=False), f"{why}; {_lacking(problem)}"
    if problem.m == 2 and problem.penalty.zeroes_rows and not begins_on_rows(problem):
        halved = solvers.create("one-score")
        if halved.solves(problem) is None:
            return halved, (
                f"{loss} sees the difference of two scores alone, and under {penalty} its weights are a lasso's or an "
                "elastic net's: Newton steps on one weight for each feature"
            )
    if sums_entries(problem) and not prefers_rows(problem):
        exact = solvers.create("newglmnet")
        if exact.solves(problem) is None:
            why = f"{loss} is smooth, and the penalty is a sum over single weights"
            return exact, f"{why}: Newton steps on single weights"
    if problem.regulariser.weights is not None:
        return solvers.create("lhac"), (
            f"the penalty is a sum over single weights, and Hessians of {problem.m} scores would take too much memory: "
            "a low-rank model of them"
        )
    if problem.loss.quadratic and problem.d <= DIRECT_COLUMNS and not problem.design.is_sparse:
        direct = solvers.create("gls")
        if direct.solves(problem) is None:
            return direct, (
                f"{loss} and {penalty} are quadratic: one step with the factored XᵀX/n + λI, {problem.d} × {problem.d},"
                " is the solution"
            )
    if (found := _in_row_space(problem)) is not None:
        return found
    if is_underdetermined(problem, EXACT_FROM):
        why = f"{loss} has hinges, and under {penalty} {problem.d} features for {problem.n} samples are all in use"
        exact = solvers.create("newton-cg", forcing=EXACT, damping=False, opening=False)
        if exact.solves(problem) is None:
            return exact, f"{why}: nearly exact Newton steps, which open and close the hinges of the solution"
        return solvers.create("fista-ls"), f"{why}: accelerated gradient steps"
    if not able(problem):
        return solvers.create("working-set", newton=False), (
            f"smooth loss; sweeps over the most violated features; {_lacking(problem)}"
        )
    if problem.penalty.zeroes_rows:
        return solvers.create("working-set"), (
            f"{loss} is smooth and {penalty} leaves most features unused: {_steps(problem)} the most violated of the "
            f"{problem.d} features, Newton steps on those in use"
        )
    undamped = solvers.create("newton-cg")
    many = problem.design.is_sparse or problem.n >= HINGES_HOLD * problem.d
    holds = not problem.loss.hinges or many or not is_tangled(problem)
    why = f"{loss} and {penalty} are smooth, and every feature is used: Newton steps on all {problem.d} of them"
    if holds and undamped.solves(problem) is None:
        return undamped, f"{why} by conjugate gradients"
    return solvers.create("working-set"), f"{why}, with sweeps in between"


def _non_smooth(problem: Problem, anywhere: bool) -> tuple[Solver, str]:
    """The solver for a non-smooth loss; ``anywhere``: one that can begin at given weights."""
    loss, penalty = problem.loss.title, problem.penalty.title
    if (found := _in_row_space(problem)) is not None:
        return found
    dual = solvers.create("dual-cd")
    if max(problem.n, problem.d) * problem.m <= MOST_NUMBERS and dual.solves(problem) is None:
        return dual, (
            f"{loss} is not smooth, and {penalty} makes W a function of the dual point: exact steps on the dual of one "
            "sample after the other, which prove the optimum"
        )
    sparse = solvers.create("pd-sparse")
    if not anywhere and sparse.solves(problem) is None:
        why = "Frank–Wolfe steps on a sparse dual point, which proves the optimum"
        if problem.multilabel:
            return sparse, f"{loss} is not smooth and y holds label sets: {why}"
        if problem.d * problem.m >= MANY:
            return sparse, f"{loss} is not smooth, and W would have {problem.d} × {problem.m} entries: {why}"
        if is_small(problem):
            return sparse, f"{loss} is not smooth: {why}, until semismooth Newton steps pay"
    if (exact := small_exact(problem)) is not None:
        return exact, (
            f"{loss} is not smooth and W is small: augmented Lagrangians by semismooth Newton steps, which "
            "reach high accuracy in tens of iterations"
        )
    for name, why in (
        ("fbpd", "primal–dual splitting, which needs no gradient and whose dual point proves the optimum"),
        ("fobos", "a stochastic subgradient method, one sample a step"),
    ):
        solver = solvers.create(name)
        if solver.solves(problem) is None:
            return solver, f"{loss} is not smooth: {why}"
    raise ValueError(f"no solver for the {loss} loss with {penalty} is known; choose another loss")


def _in_blocks(problem: Problem) -> tuple[Solver, str]:
    """The solver for data in blocks of rows."""
    for name, why in (
        ("working-set", "a pass over all blocks names the features that matter, and the rest happens on their columns"),
        ("sparsa", f"{problem.penalty.title} uses every feature: proximal gradient steps, a pass or two each"),
    ):
        solver = solvers.create(name)
        if solver.solves(problem) is None:
            return solver, f"X lies in blocks of rows: {why}"
    raise ValueError(f"X lies in blocks of rows, and {solvers.create('sparsa').solves(problem)}")


def _in_row_space(problem: Problem) -> tuple[Solver, str] | None:
    """``row-space`` where it is faster than solvers of all features, else ``None``."""
    within = solvers.create("row-space")
    if within.solves(problem) is not None or not row_space_pays(problem):
        return None
    return within, (
        f"under {problem.penalty.title} every solution lies in the row space of X: of {problem.d} features, at most "
        f"{problem.n} combinations count"
    )


def _steps(problem: Problem) -> str:
    return "steps on" if takes_all(problem) or takes_part(problem, 1) else "sweeps over"


def _lacking(problem: Problem) -> str:
    part = problem.loss if not hasattr(problem.loss, "hessian_product") else problem.penalty
    return f"no Newton steps, because {part.title} does not define second derivatives"


@settings
class Auto(Solver):
    """Chooses a solver for the problem; the state it makes is that solver's, with ``delegate`` and ``reason``."""

    kinds = tuple(problems)
    title = "automatic"
    menu_order = 200
    delegates = True
    doc = "Chooses a solver for the problem and gives the reason."
    source = "this project"
    takes_sample_weights = takes_feature_weights = takes_partitions = True
    anywhere: ClassVar[bool] = False  # whether only solvers with dense weights, which can begin anywhere, are chosen

    def choose(self, problem: Any, anywhere: bool = False) -> tuple[Solver, str]:
        """Choose the solver for a problem.

        Parameters
        ----------
        problem
            the problem.
        anywhere
            choose one that can begin at given weights.

        Returns
        -------
        tuple of Solver and str
            the solver and the reason.
        """
        return choose(problem, anywhere or self.anywhere)

    def _chosen(self, problem: Any, swept: bool = False) -> tuple[Solver, str]:
        """The same from zero weights on, or from others (``swept``): for one problem it is asked many times."""
        found, key = CHOSEN.setdefault(problem, {}), (type(self), swept)
        if key not in found:
            found[key] = choose(problem, True, swept=True) if swept else self.choose(problem)
        return found[key]

    def _fitting(self, problem: Any, state: Any) -> tuple[Solver, str]:
        """The same from the weights of a state on. Sweeps begin at zero weights only: near the solution others win."""
        chosen = self._chosen(problem)
        if isinstance(chosen[0], solvers["bcd-ls"]):
            chosen = self._chosen(problem, swept=True)
        return fitting(problem, chosen, state)

    def refuses(self, problem: Problem) -> str | None:
        try:
            solver, _ = self._chosen(problem)
        except ValueError as error:
            return str(error)
        return solver.solves(problem)

    def init(self, problem: Problem, W: Any = None, b: Any = None) -> State:
        solver, reason = self._chosen(problem, swept=W is not None)
        return self.mark(solver.init(problem, W, b), solver, reason)

    def warm_start_from(self, problem: Problem, state: State) -> State:
        solver, reason = self._fitting(problem, state)
        return self.mark(solver.warm_start_from(problem, state), solver, reason)

    def mark(self, state: State, solver: Solver, reason: str) -> State:
        """Record in a state which solver it belongs to, and why.

        Parameters
        ----------
        state
            the state.
        solver
            the chosen solver.
        reason
            reason for the choice.

        Returns
        -------
        State
            the same state.
        """
        state.delegate, state.reason, state.chosen_at = solver, f"{solver.name}: {reason}", None
        return state

    def successor(self, problem: Any, state: Any) -> tuple[Solver, str] | None:
        if not problem.samples or problem.stages:
            return None
        chosen = self._chosen(problem)
        if isinstance(chosen[0], solvers["bcd-ls"]):
            if state.delegate == chosen[0]:
                state.chosen_at = state.iteration - 1 if state.chosen_at is None else state.chosen_at
                done = state.iteration - state.chosen_at
                if done <= SWEEPS:
                    return None
                after, why = self._chosen(problem, swept=True)
                return after, f"sweeps did not end in {done} iterations; {why}"
            chosen = self._chosen(problem, swept=True)
        return successor(problem, state, chosen)

    def step(self, problem: Problem, state: Any) -> None:
        state.delegate.step(problem, state)

    def step_in_parts(self, problem: Problem, state: Any, rows: int | None) -> Iterator[tuple[int, int]]:
        yield from state.delegate.step_in_parts(problem, state, rows)

    def adapt(self, problem: Problem, state: Any) -> State | None:
        solver, reason = self._fitting(problem, state)
        if solver != state.delegate:
            return self.mark(solver.warm_start_from(problem, state), solver, reason)
        adapted = solver.adapt(problem, state)
        self.mark(state if adapted is None else adapted, solver, reason)
        return adapted

    def lead(self, problem: Any, state: Any, earlier: Solution, length: float) -> bool:
        return bool(state.delegate.lead(problem, state, earlier, length))

    def certificate(self, problem: Problem, state: Any, work: Any) -> Certificate:
        found: Certificate = state.delegate.certificate(problem, state, work)
        return found

    def describe_steps(self, problem: Any, state: Any) -> str:
        return str(state.delegate.describe_steps(problem, state))

    def conclude(self, problem: Any, state: Any) -> bool:
        return bool(state.delegate.conclude(problem, state))

    def value(self, problem: Problem, loss: float, penalty: float) -> float:
        return self._chosen(problem)[0].value(problem, loss, penalty)

    def target(self, problem: Problem) -> tuple[Any, ...]:
        return self._chosen(problem)[0].target(problem)

    def variant(self, problem: Problem) -> Any:
        solver, _ = self._chosen(problem)
        return solver.name, solver.variant(problem)

    def precompile(self, tiny: Problem, problem: Problem) -> State:
        solver, reason = self._chosen(problem)
        return self.mark(solver.precompile(tiny, problem), solver, reason)


solvers.add("auto", Auto)
