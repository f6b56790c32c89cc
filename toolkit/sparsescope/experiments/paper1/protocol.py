"""The numbers of the protocol: as in the paper where it gives them, our choice where it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ... import registry
from ...solvers.base import Solver
from ..base import Settings

LAMS = (1e-3, 1e-5)  # Fig. 2 and 4 left, Fig. 3 and 4 right
TEST_SIZE = 0.2  # 4/5 training, 1/5 testing, stratified (Sec. 5.1)
TAU = 1e-3  # Sec. 5.3
K = 200  # outer iterations at most, Sec. 5.3
MULTICLASS, MULTITASK, LOGISTIC = "multiclass-squared-hinge", "multitask-squared-hinge", "logistic"

# name in the paper -> (registry name, parameters). The paper's own constants, not our sharper ones.
SOLVERS: dict[str, tuple[str, dict[str, Any]]] = {
    "BCD (LS)": ("bcd-ls", {"selection": "cyclic", "curvature": "paper"}),
    "BCD (CST)": ("bcd-cst", {"selection": "random", "constants": "paper"}),
    "FISTA (LS)": ("fista-ls", {}),
    "FISTA (CST)": ("fista-cst", {"constants": "paper"}),
    "SpaRSA": ("sparsa", {}),
    "FOBOS": ("fobos", {"unit": "one"}),
}
ETA0 = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)  # Sec. 5.2


@dataclass(frozen=True)
class Limits:
    """Limits of a run, and the accuracy of the reference optimum.

    target : runs end at this relative distance from the optimum · seconds : or after this number of solver seconds
    reference_tol, reference_seconds : the certified optimum · eta0_passes : of each candidate step
    lams, splits, ls_splits : of Fig. 5 and Table 2 (ls: of the logistic loss with line search, with one number
    in the paper)
    """

    target: float
    seconds: float
    reference_tol: float
    reference_seconds: float
    eta0_passes: int
    lams: int
    splits: int
    ls_splits: int


QUICK = Limits(target=1e-5, seconds=0.6, reference_tol=1e-6, reference_seconds=4.0, eta0_passes=2, lams=4, splits=1,
               ls_splits=1)  # fmt: skip
FULL = Limits(target=1e-6, seconds=60.0, reference_tol=1e-7, reference_seconds=300.0, eta0_passes=5, lams=10, splits=3,
              ls_splits=1)  # fmt: skip


def limits(settings: Settings) -> Limits:
    """The limits that these settings ask for."""
    return settings.limits(QUICK, FULL, ("reference_seconds",), ("splits",))


def make_solver(name: str, seed: int, **parameters: Any) -> Solver:
    """A solver by its name in the paper."""
    key, fixed = SOLVERS[name]
    if any(f.name == "seed" for f in registry.solvers.fields(key)):
        parameters.setdefault("seed", seed)
    made: Solver = registry.solvers.create(key, **fixed, **parameters)
    return made


def lam_range(name: str) -> tuple[float, float]:
    """The largest and the smallest λ of Fig. 5: 1e-2 and 1e-4 for Sector, 1e-3 and 1e-5 for all other data."""
    return (1e-2, 1e-4) if name.lower().startswith("sector") else (1e-3, 1e-5)


DIFFERENCES = (
    "The data are those you name, or bundled ones; the paper's five sets do not come with the package. "
    "Training and test part of a data set are put together and split anew, 4/5 to 1/5 within each class, as "
    "the paper does.",
    "The paper does not state how values were scaled (its sets are the ready-made ones of the LIBSVM page). "
    "Here: values within [-1, 1] stay, images are divided by their largest value, other dense columns are "
    "standardised, counts become tf-idf with unit rows. The same λ means another strength of regularisation "
    "when values are scaled otherwise.",
    "λ = 1e-3 and 1e-5 are taken as they are: the objective is an average over the samples, as in the paper. "
    "Tables hold λ_max, above which the optimum is W = 0.",
    "Time is CPU seconds of the solver's own steps, on one thread: no compilation, no evaluation of objective"
    " or accuracy, no other program. All solvers share the same compiled kernels, so ratios speak of methods,"
    " not of their authors' code.",
    "Points are taken once in an outer iteration (a pass over all rows, or over all samples for FOBOS): what "
    "happens inside the first pass is not seen.",
    "F* is the best value known, and a duality gap bounds its distance from the true optimum. Levels below"
    " that gap are not compared. Runs end at a relative distance of 1e-6 (quick: 1e-5), or at their time "
    "limit.",
    "The solvers without line search use the paper's constants K_j and K, not the sharper ones of this "
    "package. For the logistic loss the paper prints K_j without its factor 1/n; here it has it.",
    "The candidates for FOBOS's η0 are compared by the loss on a fifth of the training part, after a few "
    "passes over the rest. Their time is not charged to FOBOS.",
    "Fig. 1 is a drawing in the paper; here the models are fitted.",
    "Fig. 5 and Table 2: no time limit unless --seconds sets one; quick takes 4 λ and one split.",
)
