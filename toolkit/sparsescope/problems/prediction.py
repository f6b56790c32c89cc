"""Problem: data, loss, penalty and λ, with objective, gradient, certificates and predictions.

    F(W, b) = (1/n) Σ_i ℓ(W_·ᵀx_i + b, y_i) + λ Ω(W)                                      (MATH §1, problem P)

With sample weights w the mean of the losses is (1/Σw) Σ_i w_i ℓ_i = (1/n) Σ_i ω_i ℓ_i, ω = n·w/Σw.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy

from ..inputs.design import Design
from ..inputs.labels import LabelSets
from ..inputs.partitioned import PartitionedDesign
from ..losses import Loss
from ..penalties import Penalty
from ..registry import problems
from . import sample_weights
from .certificate import Workspace
from .measuring import Accuracies
from .predictor import Predictor, handed_on
from .problem_data import SharedData, shared_data
from .problem_parts import ProblemParts

# The loss of a problem that names none.
DEFAULT_LOSS = {"classes": "multiclass-squared-hinge", "sets": "label-ranking-squared-hinge"}


class Problem(ProblemParts):
    """Penalised multiclass or multilabel problem: min (1/n) Σ_i ℓ(Wᵀx_i + b, y_i) + λ Ω(W).

    A problem never changes; :meth:`with_` returns a sibling that shares the data.

    Parameters
    ----------
    X
        array (n, d), sparse matrix (n, d), data frame, or a Dataset of :mod:`sparsescope.datasets`. Data in blocks of
        rows (``docs/big-data.md``): a list of matrices, a dask array, or a :class:`sparsescope.PartitionedDesign`.
    y
        n labels (numbered in sorted order; the binary logistic loss has positive scores for the second), or n label
        sets: an indicator (n, m) of 0 and 1, dense or sparse, or a list of sets of labels (empty and full sets are
        allowed; see :func:`sparsescope.inputs.labels.holds_sets`); left out if ``X`` is a Dataset.
    loss, penalty
        registry names, or parts such as ``ss.penalties.ElasticNet(rho=0.3)``; a penalty over blocks of features
        computes its blocks here, from d and the feature names. Without a loss, the multiclass squared hinge for
        classes and the label ranking squared hinge for label sets.
    lam
        λ > 0; 1e-3 if neither it nor ``lam_ratio`` is given.
    lam_ratio
        λ as a multiple of :attr:`lam_reference` (λ_max where it is finite), in place of ``lam``.
    intercept
        add an unpenalised intercept b (m,). Features far from zero then cost no iterations: solvers see them about
        their means (:mod:`sparsescope.inputs.frame`), while weights, intercept and all values are those of X.
    standardize
        penalise the weights of features divided by their standard deviations (1/n about the mean, as glmnet does):
        F = (1/n) Σ ℓ + λ Ω(diag(σ) W). W and b are still those of X. A constant feature is left as it is.
    class_names, feature_names
        names to show; taken from a Dataset or a data frame where there is one.
    sample_weight
        weights w ≥ 0 of the samples, (n,): the loss is (1/Σw) Σ_i w_i ℓ_i, so whole weights are the same as
        repeated samples. Samples of weight 0 are left out: ``n`` and ``y`` are those of the others.
    class_weight
        ``None``; ``"balanced"``, which gives all classes that occur the same total weight; or a mapping of classes
        to factors ≥ 0 (1 for those that are missing in it). Multiplies ``sample_weight``; not for label sets.
    feature_weights
        weights c ≥ 0 of the features in the penalty, (d,): Ω(W) = Σ_j c_j Ω(W_j). A feature of weight 0 is not
        penalised (free); the features of a block have one weight. See ``docs/mathematics.md``, section 3.
    client
        for data in blocks: a client of dask.distributed, whose workers hold them.

    Raises
    ------
    ValueError, TypeError
        for data or parameters that cannot be used; the message names the argument.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), loss="logistic", penalty="l1/l2", lam_ratio=0.1)
    >>> problem.n, problem.d, problem.m
    (112, 4, 3)
    """

    kind = "prediction"
    title = "predictions of classes or label sets (sparsescope.Problem)"
    centres: ClassVar[bool] = True  # whether an intercept lets features be held about their means

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        loss: str | Loss | None = None,
        penalty: str | Penalty = "l1/l2",
        lam: float | None = None,
        lam_ratio: float | None = None,
        intercept: bool = False,
        standardize: bool = False,
        class_names: Any = None,
        feature_names: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        feature_weights: Any = None,
        client: Any = None,
    ) -> None:
        self._data = shared_data(
            X,
            y,
            centred=self.centres,
            intercept=bool(intercept),
            standardize=bool(standardize),
            class_names=class_names,
            feature_names=feature_names,
            sample_weight=sample_weight,
            class_weight=class_weight,
            feature_weights=feature_weights,
            client=client,
        )
        self._set(
            loss if loss is not None else DEFAULT_LOSS["sets" if self.multilabel else "classes"],
            penalty,
            lam,
            lam_ratio,
        )

    # -------------------------------------------------------------------------------------- other samples or features
    def on(self, X: Any, y: Any, sample_weight: Any = None) -> Problem:
        """Return the same problem on other samples, some of whose classes may be missing.

        It is for methods that go from sample to sample. X is held as it is given; samples of weight 0 are left out.

        Parameters
        ----------
        X
            samples (k, d).
        y
            their labels, in the form that the problem was given.
        sample_weight
            weights (k,); ``None``: equal.

        Returns
        -------
        Problem
            the problem.

        Raises
        ------
        ValueError
            for another number of features, and for unknown labels.
        """
        design = self.predictor.design_of(X)
        targets = self.match(y)
        weights = sample_weights.combined(sample_weight, None, None, design.n, self.class_names, None)
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            design, weights = Design(design.matrix[kept]), weights[kept]
            targets = LabelSets.of(targets.sparse()[kept]) if isinstance(targets, LabelSets) else targets[kept]
        sibling = object.__new__(type(self))
        sibling._data = SharedData(
            design, targets, self.class_names, self.feature_names, self.intercept, None, None,
            self._data.label_values, weights,
        )  # fmt: skip
        sibling._data.feature_weights = self._data.feature_weights
        sibling._set(self.loss, self.penalty, self.lam)
        return sibling

    def restricted(self, rows: np.ndarray, columns: Any = None) -> Problem:
        """Return the problem on a subset of the features, for solvers with a working set; only y is shared.

        Parameters
        ----------
        rows
            numbers of the features, sorted, complete in the sense of ``problem.regulariser.complete``.
        columns
            these columns of the design, if the caller has them.

        Returns
        -------
        Problem
            the restricted problem.
        """
        part = object.__new__(Problem)
        if columns is None:
            design = self.design
            columns = design.take(rows) if isinstance(design, PartitionedDesign) else design.matrix[:, rows]
        part_design = columns if isinstance(columns, Design) else Design(columns)
        part._data = SharedData(
            part_design,
            self._data.targets,
            self.class_names,
            None,
            self.intercept,
            None,
            None,
            None,
            self._data.weights,
        )
        part.loss, part.penalty, part.lam = self.loss, self.penalty, self.lam
        part.regulariser = self.regulariser.restricted(rows)
        weights = self._data.feature_weights
        part._data.feature_weights = None if weights is None else weights[rows]
        return part

    # ------------------------------------------------------------------------------------------------------ prediction
    @property
    def predictor(self) -> Predictor:
        """Predictor for weights of this problem."""
        return Predictor(self)

    scores = handed_on(Predictor.scores)
    class_scores = handed_on(Predictor.class_scores)
    predict = handed_on(Predictor.predict)
    rank = handed_on(Predictor.rank)
    threshold = handed_on(Predictor.threshold)
    threshold_of = handed_on(Predictor.threshold_of)
    encode = handed_on(Predictor.encode)
    match = handed_on(Predictor.match)

    # -------------------------------------------------------------------------------------------------------- in a run
    @property
    def kernel_types(self) -> tuple[Any, ...]:
        """Return the key of the kernels that a run needs."""
        return (
            type(self.loss),
            type(self.penalty),
            self.dtype,
            self.design.is_sparse,
            self.intercept,
            self.multilabel,
            self.sample_weight is None,
            self.feature_weights is None,
        )

    def tiny_sibling(self) -> Problem:
        """Return a tiny problem that needs the same kernels.

        Returns
        -------
        Any
            the tiny problem.
        """
        X: Any = np.eye(4, 3, dtype=self.dtype)
        y = np.array([0, 1, 0, 1])
        return Problem(
            scipy.sparse.csc_array(X) if self.design.is_sparse else X,
            np.eye(3)[y] if self.multilabel else y,
            loss=self.loss,
            penalty=self.penalty.tiny_sibling(),
            lam=0.01,
            intercept=self.intercept,
            sample_weight=None if self.sample_weight is None else y + 1.0,
            feature_weights=None if self.feature_weights is None else np.full(3, 2.0),
        )

    def workspace(self, sparse: bool) -> Workspace | None:
        """Return arrays for certificates; none where they would be larger than a sparse state.

        Parameters
        ----------
        sparse
            whether the state's weights are sparse.

        Returns
        -------
        Any
            the arrays, or ``None``.
        """
        return None if sparse else Workspace(self)  # its arrays are n × m

    def measuring(self, test: Any = None) -> Accuracies:
        """Return what measures the predictions of a run.

        Parameters
        ----------
        test
            held-out samples (X, y), or ``None``.

        Returns
        -------
        Any
            an object whose ``measures(problem, state)`` returns numbers by the names of their columns.

        Raises
        ------
        ValueError
            for held-out samples that do not fit.
        """
        return Accuracies(self, test)


problems.add(Problem.kind, Problem)
