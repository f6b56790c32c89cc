"""Sparse inverse covariances on the explorer's page: the features of a data set as a network, Θ (p, p)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ...problems.covariance import CovarianceProblem
from ...registry import field, pages
from ...views.places import places
from .. import picture as pictures
from .. import theta
from ..kind import Kind, Settings
from ..setting import LOOK, NO_CONTROL, PART, Setting

MOST_GIVEN = 1000  # features of a problem that was handed over: limit of the lines in the picture of Θ
PAIRS = 12  # of features that the first screen names
NAMED = 5  # constant features that a notice names
MOST_NODES = 200  # more cannot be told apart on a page
CORRELATION = Setting(
    "correlation",
    field(
        True,
        doc="S holds correlations: every feature is scaled to unit variance. Else it holds covariances, and features "
        "that vary more count for more.",
    ),
    label="correlations",
    formula="S_ij / (S_ii S_jj)^{1/2}",
    place="above",
    argument="correlation",
)
FEATURES = Setting(
    "features",
    field(
        100,
        2,
        MOST_NODES,
        f"How many features are the nodes: those of largest variance, at most {MOST_NODES}. Constant ones are left "
        "out.",
    ),
    place="above",
    argument="features",
)
DIAGONAL = Setting(
    "diagonal",
    field(True, doc="Whether the diagonal of Θ is penalised too. Changed during a run, Θ stays (warm start)."),
    label="penalise the diagonal",
    formula="λ Σ_ij |Θ_ij|, over all entries or over those with i ≠ j",
    effect=PART,
    place="above",
    argument="diagonal",
)
ORDER = Setting(
    "order",
    field("given", choices=("given", "degree", "component", "name"), doc="Order of the features."),
    effect=LOOK,
    place=NO_CONTROL,
)


class Covariances(Kind):
    """CovarianceProblem: correlations or covariances of the features of largest variance, and λ."""

    problem: ClassVar[Any] = CovarianceProblem
    menu_order: ClassVar[float] = 30
    task: ClassVar[str] = "covariance"
    offer: ClassVar[tuple[str, str]] = (
        "Network of the features",
        "Conditional dependence graph of the features: a sparse inverse covariance Θ.",
    )
    settings: ClassVar[tuple[Setting, ...]] = (CORRELATION, FEATURES, DIAGONAL, ORDER)
    takes: ClassVar[tuple[str, ...]] = (CovarianceProblem.kind,)
    parts: ClassVar[tuple[str, ...]] = (DIAGONAL.name,)
    letters: ClassVar[tuple[str, ...]] = ("n", "p")
    sorting: ClassVar[str] = ORDER.name
    words: ClassVar[Mapping[str, tuple[str, str]]] = {
        "dataset": (
            "The samples whose features are the nodes of the network; their classes are not used. Another data set "
            "starts a new problem.",
            "S = (1/n) Σ_i (x_i − x̄)(x_i − x̄)^T, p × p, of the training samples",
        ),
        "lam_ratio": (
            "The weight of the penalty, as a part of λ_max: at 1 and above there are no edges. Move it during a run: "
            "the next step uses it.",
            "λ_max = max_{i≠j} |S_ij|",
        ),
        "solver": (
            "The method that minimises F. Changed during a run, it goes on from the present Θ.",
            "F(Θ) = −logdet Θ + tr(SΘ) + λ Σ_ij |Θ_ij|, over Θ ≻ 0",
        ),
        "seed": (
            "Which samples S is made of: another seed leaves out others. It makes a new problem, which shows how "
            "many of the edges stay.",
            "",
        ),
    }

    def create(self, source: Any, settings: Settings) -> tuple[CovarianceProblem, list[str]]:
        """The problem on new data, of the ``features`` that vary most."""
        diagonal = settings[DIAGONAL.name]
        if isinstance(source, CovarianceProblem):
            if source.d > MOST_GIVEN:
                raise ValueError(
                    f"the covariance problem has {source.d} features, and the explorer shows at most "
                    f"{MOST_GIVEN}; choose some of them, such as "
                    "CovarianceProblem.from_data(X, features=200)"
                )
            return source.with_(diagonal=diagonal), []
        X = source[0] if isinstance(source, tuple) else source
        problem = CovarianceProblem.from_data(X, **self.arguments(settings))
        if problem.d < 2:
            raise ValueError("a network needs at least 2 features that vary, and these data have only one")
        return problem, said(problem.constant, np.shape(samples(source))[1])

    def sibling(self, problem: Any, settings: Settings) -> CovarianceProblem:
        """The problem with its diagonal penalised or not."""
        found: CovarianceProblem = problem.with_(diagonal=settings[DIAGONAL.name])
        return found

    @property
    def flat(self) -> str:
        """Return the message for a diagonal S."""
        return "λ_max is zero: no two features are correlated, so the network has no edges at any λ"

    # ------------------------------------------------------------------------------------------------------ the page
    def facts(self, problem: Any, source: Any) -> dict[str, Any]:
        """Return the number of features to choose from, and F at the start of every run."""
        given = isinstance(source, CovarianceProblem)
        return {
            "letters": list(self.letters) if problem.n else ["p"],
            "p": problem.d,
            "all_features": problem.d if given else np.shape(samples(source))[1],
            "correlation": bool(np.all(np.diag(problem.S) == 1.0)),
            "given": given,
            "pairs": strongest(problem.S),
            **where(problem, source),
            "least_scale": problem.least_scale,
            "objective0": float(problem.objective(problem.coefficients())),
        }

    def impossible(self, problem: Any, settings: Mapping[str, Any]) -> dict[tuple[str, str], str]:
        """Reasons for solvers, and for the stop rule that needs predictions."""
        return {
            **super().impossible(problem, settings),
            ("stop", "held-out"): "Nothing is predicted here, so there is nothing to hold out.",
        }

    def title(self, settings: Mapping[str, Any]) -> str:
        """The network."""
        return "the network"

    def take_past(self, problem: Any, weights: Any, wish: pictures.Wish) -> theta.ThetaPicture:
        """Θ as a matrix and as a graph."""
        return theta.take(weights.toarray() if sp.issparse(weights) else weights, wish)

    def take(self, problem: Any, state: Any, wish: pictures.Wish) -> theta.ThetaPicture:
        """Θ as a matrix and as a graph."""
        return theta.take(state.weights(), wish)

    def snippet(self, settings: Mapping[str, Any], data: str) -> list[str]:
        """A CovarianceProblem of the data."""
        return [
            "problem = ss.CovarianceProblem.from_data(",
            "    data[0]," if data.startswith("*") else f"    {data},",  # of data handed over the samples alone
            *self.argument_lines(settings),
            ")",
        ]


def samples(source: Any) -> Any:
    """The samples of a Dataset or of a pair (X, y)."""
    return source[0] if isinstance(source, tuple) else source.X


def where(problem: CovarianceProblem, source: Any) -> dict[str, Any]:
    """The places of the nodes: on the grid of the image (``grid``) if the features are pixels, else by their
    correlations."""
    shape = getattr(source, "image_shape", None)
    if shape is not None and problem.kept is not None:
        return {"places": np.column_stack([problem.kept % shape[1], problem.kept // shape[1]]).tolist(), "grid": True}
    return {"places": np.round(_places(_Same(problem.S)), 4).tolist(), "grid": False}


class _Same:
    """A matrix as the key of a cache: itself and nothing else."""

    def __init__(self, S: np.ndarray) -> None:
        self.S = S

    def __hash__(self) -> int:
        return id(self.S)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.S is self.S


@lru_cache(maxsize=4)
def _places(same: _Same) -> np.ndarray:
    """A change of λ or solver makes a sibling on the same S: its nodes are placed once."""
    return places(same.S)


def strongest(S: np.ndarray) -> list[list[Any]]:
    """The largest entries of S off the diagonal: [i, j, S_ij], i < j."""
    rows, columns = np.triu_indices(S.shape[0], 1)
    values = S[rows, columns]
    order = np.argsort(-np.abs(values), kind="stable")[:PAIRS]
    return [[int(rows[k]), int(columns[k]), float(values[k])] for k in order]


def said(constant: tuple[str, ...], many: int) -> list[str]:
    """Return a notice that names the constant features that are left out of ``many``, if there are any."""
    count = len(constant)
    if not count:
        return []
    more = f" and {count - NAMED} more" if count > NAMED else ""
    return [
        f"{count} of {many} features {'is' if count == 1 else 'are'} constant in these samples and "
        f"{'was' if count == 1 else 'were'} left out: {', '.join(constant[:NAMED])}{more}"
    ]


pages.add(CovarianceProblem.kind, Covariances())
