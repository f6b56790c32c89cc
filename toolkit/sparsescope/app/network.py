"""Page: the network of features at falling λ, and how many halves of the samples have each edge."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .. import datasets, registry
from ..live.pages.covariances import MOST_NODES, said, samples, where
from ..problems.base import BaseProblem
from ..problems.covariance import CovarianceProblem
from ..registry import field
from ..runs.edges import EdgeStudy
from ..runs.processes import HELPERS
from ..views.theta import graph
from ._names import DATASETS
from ._studies import StudyPage
from ._working import Work
from .base import Message, number

MOST_EDGES = 1000  # at one λ that are sent: the strongest
MOST_GIVEN = 400  # features of a problem that was handed over
LAM_LOW = 1e-3
SHARE_SECONDS = 0.4  # between two counts of the halves


class NetworkPage(StudyPage):
    """Graph of partial correlations along λ, with the stability of its edges."""

    name = "network"
    records = True
    title = "Network"
    menu_order = 70
    doc = "Features are nodes; an edge is a partial correlation that is not zero in the sparse inverse covariance Θ."

    dataset: ClassVar[Any] = field("breast_cancer", choices=DATASETS, doc="the data")
    features: ClassVar[Any] = field(40, 2, MOST_NODES, "number of nodes: the features of largest variance")
    correlation: ClassVar[Any] = field(True, doc="S holds correlations, else covariances")
    diagonal: ClassVar[Any] = field(True, doc="the diagonal of Θ is penalised as well")
    lam_ratio: ClassVar[Any] = field(0.5, LAM_LOW, 1.0, "λ/λ_max: the chosen λ; λ_max is the largest |S_ij|", log=True)
    n_lams: ClassVar[Any] = field(30, 5, 100, "number of λ")
    ratio: ClassVar[Any] = field(0.05, LAM_LOW, 0.5, "smallest λ divided by λ_max", log=True)
    resamples: ClassVar[Any] = field(20, 0, 200, "random halves of the samples; 0: none")
    threshold: ClassVar[Any] = field(0.8, 0.55, 1.0, "π: an edge is stable if at least this share of halves has it")
    seed: ClassVar[Any] = field(0, 0, 2**31 - 1, "of the split and the halves")

    labels: ClassVar[dict[str, str]] = {
        "dataset": "data",
        "correlation": "correlations",
        "diagonal": "penalise the diagonal",
        "lam_ratio": "λ/λ_max",
        "n_lams": "λs",
        "ratio": "down to",
        "resamples": "halves",
        "threshold": "stable π",
    }
    groups: ClassVar[dict[str, tuple[str, ...]]] = {
        "Network": ("dataset", "features", "correlation", "diagonal", "lam_ratio"),
        "Path": ("n_lams", "ratio", "seed"),
        "Stability": ("resamples", "threshold"),
    }

    # ----------------------------------------------------------------------------------------------------- computation
    def forget(self) -> None:
        super().forget()
        self._source: Any = None
        self._left_out: list[str] = []
        self._pairs: list[np.ndarray] = []  # of each λ: the edges that are sent
        self._told_points: list[Message] = []

    def forget_sent(self) -> None:
        super().forget_sent()
        self._sent_shares: tuple[int, int, float] = (-1, -1, 0.0)  # halves, number of the λ, threshold
        self._sent_at = 0.0

    def steps(self, work: Work) -> Iterator[None]:
        """Read the data, then work through the study."""
        chosen = self.settings
        given = self.given
        source = datasets.load(chosen["dataset"], seed=chosen["seed"]) if given is None else given
        problem, X, left_out = _problem(source, chosen)
        options = {name: chosen[name] for name in ("n_lams", "ratio", "resamples", "seed", "correlation")}
        study = EdgeStudy(problem, X, **options)
        self._doing = "Compiling the solver …"
        yield
        if work is self.work:
            self._study, self._source, self._left_out = study, source, left_out
        for _ in study.steps(work.turn.aside, HELPERS):
            yield

    # --------------------------------------------------------------------------------------------------------- browser
    def found(self, study: EdgeStudy) -> Iterator[Message]:
        """Return the edges of new λ, and the shares of halves that have those at the chosen λ."""
        yield from self._points(study)
        yield from self._shares(study)

    def begin(self, study: EdgeStudy) -> Iterator[Message]:
        """Return the λ, the nodes, and what was left out."""
        problem = study.problem
        if self._left_out:
            yield {"type": "notices", "notices": self._left_out}
        yield {
            "type": "begin",
            "epoch": self._epoch,
            "lams": [number(x) for x in study.lams],
            "ratios": [number(x / problem.lam_reference) for x in study.lams],
            "names": [problem.feature_name(j) for j in range(problem.d)],
            "p": problem.d,
            "resamples": study.resamples,
            **where(problem, self._source),
        }

    def _points(self, study: EdgeStudy) -> Iterator[Message]:
        size = len(study.points)
        for k in range(len(self._pairs), size):
            pairs, ties, degrees, labels = graph(study.theta(k))
            best = np.argsort(-np.abs(ties), kind="stable")[:MOST_EDGES]
            self._pairs.append(pairs[best])
            self._told_points.append(
                {
                    "edges": pairs[best].ravel().tolist(),
                    "ties": [number(float(x), 4) for x in ties[best]],
                    "count": len(ties),
                    "degrees": degrees.tolist(),
                    "components": int(np.count_nonzero(np.bincount(labels) > 1)),
                    "gap": number(study.points[k].numbers["relative_gap"], 3),
                    "converged": study.points[k].converged,
                }
            )
        if size > self._sent_points:
            yield {"type": "points", "from": self._sent_points, "points": self._told_points[self._sent_points : size]}
            self._sent_points = size

    def _shares(self, study: EdgeStudy) -> Iterator[Message]:
        found, now = study.selections, time.monotonic()
        k, threshold = self._nearest(study), self.settings["threshold"]
        key = (found.halves, k, threshold)
        more = found.halves != self._sent_shares[0]
        if not found.halves or key == self._sent_shares or k >= len(self._pairs):
            return
        if more and key[1:] == self._sent_shares[1:] and now - self._sent_at < SHARE_SECONDS and study.stage:
            return
        self._sent_shares, self._sent_at = key, now
        shares = study.share(k, self._pairs[k])
        yield {
            "type": "shares",
            "at": k,
            "halves": found.halves,
            "of": study.resamples,
            "shares": [number(float(x), 3) for x in shares],
            "stable": int(np.count_nonzero(found.most_selected(k) >= threshold - 1e-12)),
            "bound": number(found.false_bound(k, threshold), 3),
            "threshold": threshold,
        }


def _problem(source: Any, chosen: Message) -> tuple[CovarianceProblem, Any, list[str]]:
    """The problem, the samples of its features (``None`` without samples), and what was left out."""
    if isinstance(source, CovarianceProblem):
        if source.d > MOST_GIVEN:
            raise ValueError(f"this problem has {source.d} features; the page shows at most {MOST_GIVEN}")
        return source, None, []
    if isinstance(source, BaseProblem):
        raise ValueError(f"the page of networks takes data or a CovarianceProblem, not a {type(source).__name__}")
    X = samples(source)
    problem = CovarianceProblem.from_data(
        X if isinstance(source, tuple) else source,
        correlation=chosen["correlation"],
        diagonal=chosen["diagonal"],
        features=chosen["features"],
    )
    if problem.d < 2:
        raise ValueError("a network needs at least 2 features that vary, and these data have only one")
    matrix = sp.csc_array(X) if sp.issparse(X) else np.asarray(X)
    part = matrix if problem.kept is None else matrix[:, problem.kept]
    return problem, part, said(problem.constant, np.shape(X)[1])


registry.app_pages.add(NetworkPage.name, NetworkPage)
