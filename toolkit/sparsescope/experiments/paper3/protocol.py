"""The numbers of the protocol: as in the paper where it gives them, our choice where it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ... import registry
from ...losses import Loss
from ...penalties import Penalty
from ...problems import objectives, scalings
from ...problems.prediction import Problem
from ...solvers.base import Solver
from ..base import Settings

HINGE, SQUARE, LOGIT, ONE_VS_ALL = objectives.names()
OBJECTIVES = (HINGE, SQUARE, LOGIT, ONE_VS_ALL)
CONSTRAINED = "hinge, constrained"  # Alg. 2's form of the hinge
# The paper's names of g: ℓ2 (our ridge, twice), ℓ1, ℓ1,2 and ℓ1,∞ on blocks of features within a class.
RIDGE, LASSO, BLOCK2, BLOCKINF, ROWS = "ridge", "l1", "block-l1/l2", "block-l1/linf", "l1/l2"
TABLE1_PENALTIES = (RIDGE, LASSO, BLOCK2, BLOCKINF)
GENES = 5  # genes in a block, Sec. 4
DRAWN = {"images": (3, 5, 10), "text": (5, 10, 50)}  # training samples a class, Fig. 1 to 3
QUADRATIC = (3, 5, 10, 50, 100, 500)  # the same, Fig. 4
CHANGE = 1e-5  # relative change between two iterates at which Fig. 3 stops
COARSE = 1e-3  # the same, Fig. 4
NEAR = 1e-3  # relative distance to x∞ at which times are compared
ONE, TWO, LINEAR = "Alg. 1", "Alg. 2", "linear constraints"
ONE_FAST, TWO_FAST = "Alg. 1, restarts", "Alg. 2, restarts"  # this package's forms of both
FISTA, FORWARD = "FISTA, square", "forward-backward, logit"
LIBLINEAR = "LinearSVC"

PLAIN = {"acceleration": "none", "steps": "balanced"}  # the paper's iterations; it leaves σ/τ open
# method of Fig. 3 -> (objective, solver in the registry, parameters)
METHODS: dict[str, tuple[str, str, dict[str, Any]]] = {
    ONE: (HINGE, "fbpd", PLAIN),
    TWO: (HINGE, "fbpd-constrained", {**PLAIN, "slacks": "each"}),
    ONE_FAST: (HINGE, "fbpd", {}),
    TWO_FAST: (HINGE, "fbpd-constrained", {}),
    LINEAR: (HINGE, "fbpd-linear", PLAIN),
    FISTA: (SQUARE, "fista-cst", {}),
    FORWARD: (LOGIT, "forward-backward", {}),
}
BOUNDED = (TWO, TWO_FAST, LINEAR)  # they bound the mean hinge by η


@dataclass(frozen=True)
class Limits:
    """Limits of a fit, and the number of fits.

    tol : relative duality gap that ends a fit of Table 1, Fig. 1 and 2 · seconds, iterations : at most, for one α
    settle : relative change between iterates at which a run of Fig. 3 is over · race_seconds : its limit
    alphas : values of α for sparse penalties · ridge_alphas : for ridge · decades : that they span · etas : of η/L
    draws, race_draws : random subsets, of Fig. 1 and 2, and of Fig. 3 and 4 · images, text : samples a class of Fig. 1
    and 3, and of Fig. 2 · quadratic : of Fig. 4 · filters : with the random filters beside the pixels · penalties : of
    Table 1 · shared : one α for all of Fig. 3, and the runs of its right part serve for the left one too
    """

    tol: float
    seconds: float
    iterations: int
    settle: float
    race_seconds: float
    alphas: int
    ridge_alphas: int
    decades: float
    etas: tuple[float, ...]
    draws: int
    race_draws: int
    images: tuple[int, ...]
    text: tuple[int, ...]
    quadratic: tuple[int, ...]
    filters: bool
    penalties: tuple[str, ...] = TABLE1_PENALTIES
    shared: bool = False


# Each penalty is compiled anew, so quick takes ridge and the one that Fig. 1 has as well.
QUICK = Limits(tol=5e-3, seconds=0.8, iterations=2500, settle=1e-5, race_seconds=2.0, alphas=3, ridge_alphas=3,
               decades=2.0, etas=(0.3, 0.03), draws=1, race_draws=1, images=(3,), text=(5,), quadratic=(3, 50),
               filters=False, penalties=(RIDGE, BLOCKINF), shared=True)  # fmt: skip
FULL = Limits(tol=1e-4, seconds=20.0, iterations=100_000, settle=1e-7, race_seconds=60.0, alphas=7, ridge_alphas=7,
              decades=3.0, etas=(0.5, 0.2, 0.1, 0.05, 0.02, 0.01), draws=25, race_draws=10, images=DRAWN["images"],
              text=DRAWN["text"], quadratic=QUADRATIC, filters=True)  # fmt: skip
TEXT_DRAWS = 10  # Sec. 4: 25 subsets of MNIST, 10 of the text


def limits(settings: Settings) -> Limits:
    """The limits that these settings ask for."""
    return settings.limits(QUICK, FULL, ("race_seconds",), ("draws", "race_draws"))


def loss(objective: str) -> Loss:
    """The loss of an objective of the paper (both forms of the hinge have the same)."""
    return objectives.loss(HINGE if objective == CONSTRAINED else objective)


def penalty(name: str, blocks: dict[str, Any]) -> Penalty:
    """A penalty by its registry name; ``blocks`` is what the two that have blocks are made with."""
    made: Penalty = registry.penalties[name](**(blocks if name in (BLOCK2, BLOCKINF) else {}))
    return made


def with_alpha(problem: Problem, alpha: float) -> Problem:
    """The problem at the paper's λ₃ = 1/α, which multiplies the sum of the losses (and its quadratic has no ½)."""
    ridge = registry.penalties.name_of(problem.penalty) == RIDGE
    return problem.with_lam(scalings.convert("paper-3", problem.n, lam3=1.0 / alpha, ridge=ridge).lam)


def solver(objective: str, eta: float | None = None) -> Solver:
    """Solver of the models of Table 1, Fig. 1 and 2; ``eta`` is the mean hinge of the constrained form."""
    if objective == CONSTRAINED:
        made: Solver = registry.solvers.create("fbpd-constrained", eta=eta)
    elif objective == HINGE:
        made = registry.solvers.create("fbpd")
    else:
        made = registry.solvers.create("fista-cst")
    return made


def method(name: str, eta: float) -> Solver:
    """A method of Fig. 3; ``eta`` for those that bound the mean hinge."""
    _, key, parameters = METHODS[name]
    given = {**parameters, **({"eta": eta} if name in BOUNDED else {})}
    known = {f.name for f in registry.solvers.fields(key)}
    made: Solver = registry.solvers.create(key, **{name: value for name, value in given.items() if name in known})
    return made
