"""The numbers of the protocol: as in the paper where it gives them, our choice where it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...problems.prediction import Problem
from ...solvers.pd_sparse import PDSparse
from ..base import Settings
from ..peers import LOGISTIC_L1, LOGISTIC_L2, SVM

C = 1.0  # Sec. 5, for all methods
LAM4 = (0.01, 0.1, 1.0, 10.0)  # Sec. 5: the candidates for λ
NU = 3  # Sec. 5: parts of the labels in the bi-stochastic search
PATIENCE = 3  # Sec. 5: iterations without a better held-out accuracy
HELD_OUT = 0.2  # of the training part, to choose λ on
TEST = 0.25  # of data without a test part

PD, POST = "PD-Sparse", "PD-Sparse, post-solved"
ONE_SVM, ONE_LOGISTIC, ONE_L1 = "1vsA SVM", "1vsA logistic", "1vsA ℓ1 logistic"
MULTI, VW = "Multi-SVM", "VW (oaa)"
ONE_VS_REST = {ONE_SVM: SVM, ONE_LOGISTIC: LOGISTIC_L2, ONE_L1: LOGISTIC_L1}
OURS = (PD, POST)
LIBLINEAR = (*ONE_VS_REST, MULTI)
METHODS = (*OURS, *LIBLINEAR, VW)
POST_SWEEPS = 20
BYTES = 2_000_000_000  # of the arrays of a peer: where they would take more, it is left out

EXACT, PARTS, SAMPLED, OWN = "exact", "ν = 3", "ν = 3, sampling", "doubling"
PLAIN = {"opening": False, "doubling": False, "shrinking": False}
# The searches that are compared, by their parameters. Those of the paper return one candidate and visit all samples.
SEARCHES: dict[str, dict[str, Any]] = {
    EXACT: PLAIN,
    PARTS: {"nu": NU, **PLAIN},
    SAMPLED: {"nu": NU, "sampling": True, **PLAIN},
    OWN: {},
}


@dataclass(frozen=True)
class Limits:
    """Limits of a fit, and the number of fits.

    lam4s : candidates for λ₄ · seconds, iterations : of a fit of PD-Sparse at most · peer_seconds : of a method that is
    one against all; classes that are left then are extrapolated · search_seconds, search_gap : of a run of Sec. 3.2
    growth_n, growth_d : documents and words of the growth · growth_m : its numbers of classes · growth_iterations : of
    PD-Sparse at each · growth_lam4
    """

    lam4s: tuple[float, ...]
    seconds: float
    iterations: int
    peer_seconds: float
    search_seconds: float
    search_gap: float
    growth_n: int
    growth_d: int
    growth_m: tuple[int, ...]
    growth_iterations: int
    growth_lam4: float = 0.1


QUICK = Limits(lam4s=(0.1, 1.0), seconds=1.5, iterations=30, peer_seconds=1.0, search_seconds=1.0, search_gap=1e-1,
               growth_n=4000, growth_d=4000, growth_m=(100, 300, 1000), growth_iterations=2)  # fmt: skip
FULL = Limits(lam4s=LAM4, seconds=120.0, iterations=200, peer_seconds=120.0, search_seconds=60.0, search_gap=1e-2,
              growth_n=100_000, growth_d=50_000,
              growth_m=(100, 300, 1000, 3000, 10_000, 30_000, 100_000), growth_iterations=3)  # fmt: skip


def limits(settings: Settings) -> Limits:
    """The limits that these settings ask for; ``seconds`` is that of a fit, the others follow in proportion."""
    return settings.limits(QUICK, FULL, ("peer_seconds", "search_seconds"))


def at(problem: Problem, lam4: float) -> Problem:
    """The problem at the paper's λ (our λ₄) and C = 1: ½‖W‖² + λ₄‖W‖₁ + C Σℓ."""
    return problem.with_scaling("paper-4", C=C, lam4=lam4)


def loss(multilabel: bool) -> str:
    """The paper's loss; with one class a sample the two are the same."""
    return "separation-ranking" if multilabel else "crammer-singer"


def solver(seed: int, **parameters: Any) -> PDSparse:
    """PD-Sparse with this package's settings, but for the given ones."""
    given: dict[str, Any] = {"seed": seed, **parameters}
    return PDSparse(**given)
