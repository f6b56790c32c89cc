"""ProblemFacts: the data of a problem as its parts see them: sizes, names, targets, weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inputs.design import Design
from ..inputs.html import facts_table
from ..inputs.labels import LabelSets
from ..inputs.partitioned import PartitionedDesign
from ..losses.weighted import WeightedLoss
from .base import BaseProblem
from .problem_data import SharedData
from .regulariser import Regulariser


class ProblemFacts(BaseProblem):
    """Sizes, names, targets and weights of a problem; see :class:`sparsescope.Problem`."""

    loss: Any  # a Loss; kernels take it as a value
    penalty: Any
    regulariser: Regulariser
    _data: SharedData

    @property
    def design(self) -> Design:
        """The data matrix, in the frame that solvers work in; ``problem.design.plain()`` is X as it was given."""
        return self._data.design

    @property
    def partitioned(self) -> bool:
        """True if X lies in blocks of rows, here or on a cluster, so that solvers see sums over them only."""
        return isinstance(self._data.design, PartitionedDesign)

    @property
    def standardize(self) -> bool:
        """True if the penalty is one on the weights of features divided by their standard deviations."""
        return self._data.standardize

    @property
    def y(self) -> np.ndarray:
        """Classes 0…m−1, shape (n,), int64; for label sets their indicator, shape (n, m), uint8 in C order.

        The indicator is made of the lists (:attr:`sets`) when it is first asked for; ``ValueError`` if it would take
        more than 4 GB.
        """
        targets = self._data.targets
        if isinstance(targets, LabelSets):
            return self._data.cached("indicator", targets.indicator)
        return targets

    @property
    def sets(self) -> LabelSets | None:
        """The labels of each sample as lists; ``None`` for classes."""
        targets = self._data.targets
        return targets if isinstance(targets, LabelSets) else None

    @property
    def multilabel(self) -> bool:
        """True if every sample has a set of labels; else it has one class."""
        return isinstance(self._data.targets, LabelSets)

    @property
    def n(self) -> int:
        """Number of samples."""
        return self._data.design.n

    @property
    def d(self) -> int:
        """Number of features."""
        return self._data.design.d

    @property
    def classes(self) -> int:
        """Number of classes, or of labels."""
        return len(self._data.class_names)

    @property
    def m(self) -> int:
        """Number of scores of a sample, columns of W: one for each class or label, or 1 if the loss has one score."""
        return 1 if self.loss.one_score else self.classes

    @property
    def dtype(self) -> np.dtype:
        """float64 or float32, as the data."""
        return self._data.design.dtype

    @property
    def intercept(self) -> bool:
        """True if there is an unpenalised intercept."""
        return self._data.intercept

    @property
    def rows(self) -> int:
        """Rows of the coefficient array: d, and one more for the intercept."""
        return self.d + int(self.intercept)

    @property
    def name(self) -> str | None:
        """Name of the data set, if it has one."""
        return self._data.name

    @property
    def class_names(self) -> list[str]:
        """Names of the classes or labels."""
        return self._data.class_names

    @property
    def score_names(self) -> list[str]:
        """Names of the m columns of W: the classes or labels; of a single score the class of positive scores."""
        return self.class_names[1:] if self.loss.one_score else self.class_names

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the d features, or ``None``."""
        return self._data.feature_names

    @property
    def image_shape(self) -> tuple[int, int] | None:
        """(height, width) if the features are the pixels of an image."""
        return self._data.image_shape

    @property
    def class_shares(self) -> np.ndarray:
        """Share of the samples that have each class or label, (m,) float64."""
        if self.sets is not None:
            return self.sets.shares
        return np.bincount(self.y, minlength=self.classes) / self.n

    @property
    def weighted_shares(self) -> np.ndarray:
        """Share of each class in the sum of the sample weights, (m,) float64; not for label sets."""
        return np.bincount(self.y, self.sample_weight, minlength=self.classes) / self.n

    @property
    def sample_weight(self) -> np.ndarray | None:
        """ω = n·w/Σw, the weights of the samples with the mean 1, (n,) float64; ``None`` if all are equal."""
        return self._data.weights

    @property
    def feature_weights(self) -> np.ndarray | None:
        """c, the weights of the features in the penalty, (d,) float64; ``None`` if they have none."""
        return self._data.feature_weights

    @property
    def row_penalty(self) -> Any:
        """Penalty of the rows of W as kernels take it: :attr:`penalty`, with the weights of the features."""
        return getattr(self.regulariser, "penalty", self.penalty)

    @property
    def total_weight(self) -> float:
        """Σw, the sum of the weights as they were given; n without weights."""
        return self._data.total

    @property
    def terms(self) -> tuple[np.ndarray, Any]:
        """The targets and the loss as kernels take them: ``loss_sum(Z, *problem.terms)`` is Σ_i ω_i ℓ(z_i, y_i).

        Without sample weights they are :attr:`y` and :attr:`loss`; with weights the numbers of the samples, and a loss
        that has the targets and the weights inside.
        """
        weights = self.sample_weight
        if weights is None:
            return self.y, self.loss
        terms: tuple[np.ndarray, Any] = self._data.cached(
            ("terms", self.loss),
            lambda: (np.arange(self.n), WeightedLoss(self.loss, self.y, weights)),  # type: ignore[call-arg]
        )
        return terms

    @property
    def key(self) -> tuple[Any, ...]:
        """Key of the problem among its siblings: loss, penalty and λ."""
        return (repr(self.loss), repr(self.penalty), self.lam)

    @property
    def parts(self) -> dict[str, Any]:
        """Loss and penalty."""
        return {"loss": self.loss, "penalty": self.penalty}

    @property
    def metadata(self) -> dict[str, Any]:
        """Facts as of every problem, with the penalty's blocks of features if it has some."""
        blocks, facts = self.regulariser.blocks, super().metadata
        if self.standardize:
            facts["standardize"] = True
        if blocks is None:
            return facts
        names = None if blocks.names is None else list(blocks.names)
        return facts | {"blocks": {"of_feature": blocks.of_feature.tolist(), "names": names}}

    def incompatibility_reason(self, other: Any) -> str | None:
        """Return why a run cannot continue on another problem: a live change keeps data, intercept and the shape of W.

        Parameters
        ----------
        other
            the other problem.

        Returns
        -------
        str | None
            one sentence, or ``None`` if it can.
        """
        if other.kind != self.kind or other.design is not self.design or other.intercept != self.intercept:
            return "a live change keeps the data and the intercept; start a new run for other data"
        if other.m != self.m:
            return (
                f"a live change keeps the shape of W: the {other.loss.title} loss has {other.m} score(s) a sample, "
                f"the {self.loss.title} loss {self.m}; start a new run"
            )
        return None

    def __repr__(self) -> str:
        where = f"{self.name}: " if self.name else ""
        extra = (" + intercept" if self.intercept else "") + (", weighted" if self.sample_weight is not None else "")
        return (
            f"Problem({where}n={self.n}, d={self.d}, m={self.m}, {self.loss!r} + {self.lam:.3g}·{self.penalty!r}"
            f"{extra})"
        )

    def _repr_html_(self) -> str:
        storage = "sparse" if self.design.is_sparse else "dense"
        if isinstance(self.design, PartitionedDesign):
            storage = f"{storage}, {self.design.parts} blocks of rows"
        return facts_table(
            f"{type(self).__name__}{f' on {self.name}' if self.name else ''}",
            [
                ("samples, features, " + ("labels" if self.multilabel else "classes"), f"{self.n}, {self.d}, {self.m}"),
                ("storage", f"{storage}, {self.dtype}, {self.design.nnz} entries"),
                *((name, repr(part)) for name, part in self.parts.items()),
                ("λ", self.lam),
                ("intercept", self.intercept),
                ("weights of samples", "given" if self.sample_weight is not None else None),
            ],
        )
