"""SequenceProblem: data whose predictions are judged, whatever sequence of fits makes them (Agarwal et al. 2013)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from ..inputs.feature_maps import DataScale, data_scale
from ..inputs.labels import fits_dense
from ..kernels.rows import loss_sum
from ..registry import problems
from .certificate import Workspace
from .measuring import ReplayedAccuracies
from .prediction import Problem
from .predictor import Predictor
from .sequence_model import SequenceModel

NO_WEIGHTS = (
    "a sequence of models has no weights W whose optimality could be measured; ask for its predictions: "
    "problem.scores(model, X)"
)


class SequenceProblem(Problem):
    """Problem for a model that is a sequence of fits: F = (1/n) Σ_i ℓ(ŷ_i, y_i), the mean loss of its predictions ŷ_i.

    There is no set of weights that F is minimised over, so there is no gap and no λ_max: solvers lower F step by step.
    λ is the ridge of every least squares problem that they solve, and no part of F.

    Parameters
    ----------
    X, y, class_names, feature_names
        as for :class:`sparsescope.problems.prediction.Problem`.
    loss
        ``"squared"`` (predictions approach the indicators of classes or label sets), or a smooth loss of scores,
        such as ``"logistic"``.
    lam
        λ > 0, in units of the diagonal of Σ̂ = AᵀA/n, A the features of a step.
    intercept
        begin at the best constant predictions instead of zero.

    Raises
    ------
    ValueError, TypeError
        as for :class:`sparsescope.problems.prediction.Problem`, and for non-smooth losses.

    Examples
    --------
    >>> problem = ss.SequenceProblem(ss.datasets.load("iris"))
    >>> result = ss.solve(problem, max_iter=3)
    >>> problem.predict(result.model, X=problem.design.matrix[:2]).shape
    (2,)
    """

    kind = "sequence"
    title = "sequences of models (sparsescope.SequenceProblem)"
    stages = True
    default_solver = "stagewise"  # takes any number of columns and any smooth loss; `auto` may take `cls`
    proves = False
    centres = False  # random features are of X itself

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        loss: Any = "squared",
        lam: float = 1e-4,
        intercept: bool = False,
        class_names: Any = None,
        feature_names: Any = None,
    ) -> None:
        super().__init__(
            X,
            y,
            loss=loss,
            penalty="ridge",
            lam=lam,
            intercept=intercept,
            class_names=class_names,
            feature_names=feature_names,
        )

    def _set(self, loss: Any, penalty: Any, lam: float | None, lam_ratio: float | None = None) -> None:
        if self.sample_weight is not None:
            raise ValueError(
                "a sequence of models gives every sample the same weight, and this problem has weights of "
                "samples or classes; make it without them"
            )
        super()._set(loss, "ridge", lam, lam_ratio)
        if not self.loss.smooth:
            raise ValueError(
                f"a sequence of least squares steps needs a smooth loss; the {self.loss.title} loss is "
                "not smooth. Choose squared or logistic"
            )

    @classmethod
    def of(cls, problem: Problem, lam: float | None = None) -> SequenceProblem:
        """Make a sequence problem that shares data, labels and loss with another problem.

        Parameters
        ----------
        problem
            the other problem.
        lam
            λ; ``None``: that of ``problem``.

        Returns
        -------
        SequenceProblem
            the sequence problem.
        """
        made: SequenceProblem = object.__new__(cls)
        made._data = problem._data.on(problem.design.plain())
        made._set(problem.loss, None, problem.lam if lam is None else lam)
        return made

    def of_weights(self, *, loss: Any = None, penalty: Any = "l1/l2", lam: float | None = None) -> Problem:
        """Make the problem of finding weights W on the same data, the inverse of :meth:`of`.

        Parameters
        ----------
        loss, penalty, lam
            as for :class:`sparsescope.problems.prediction.Problem`; without a loss that of this problem.

        Returns
        -------
        Problem
            the problem.
        """
        made: Problem = object.__new__(Problem)
        made._data = self._data.on(self.design.framed(self.intercept, self.standardize))
        made._set(self.loss if loss is None else loss, penalty, self.lam if lam is None else lam)
        return made

    @property
    def parts(self) -> dict[str, Any]:
        """The loss."""
        return {"loss": self.loss}

    @property
    def key(self) -> tuple[Any, ...]:
        """The loss alone decides what F is; λ, last as always, how it is lowered."""
        return ("sequence", repr(self.loss), self.lam)

    def describe_sparsity(self, rows: int, entries: int) -> str:
        """Describe the use of the columns of X; empty for random features.

        Parameters
        ----------
        rows
            non-zero rows.
        entries
            non-zero entries.

        Returns
        -------
        str
            the description.
        """
        return f"{rows} of {self.d} columns"

    @property
    def lam_max(self) -> float:  # type: ignore[override]
        """+inf: no λ makes the predictions constant."""
        return float("inf")

    @property
    def lam_reference(self) -> float:  # type: ignore[override]
        """Unit of λ sliders: the mean of the diagonal of XᵀX/n. ``ValueError`` if X is zero."""
        unit = float(self.design.squared_norms.sum()) / (self.n * self.d)
        if unit <= 0.0:
            raise ValueError("X is zero everywhere, so there is nothing to fit")
        return unit

    @property
    def natural(self) -> Any:  # type: ignore[override]
        """The problem itself: its λ is in units of the data, and random features have their scale."""
        return self

    @property
    def null_objective(self) -> float:
        """F of the predictions before the first step: zero, or the best constant ones."""

        def evaluate() -> float:
            first = self.null_intercept if self.intercept else np.zeros(self.m)
            return self.objective(SequenceModel(first.astype(self.dtype), self.d))

        return float(self._data.cached(("null sequence", self.loss), evaluate))

    # ------------------------------------------------------------------------------------------------------- the point
    @property
    def predictor(self) -> SequencePredictor:
        """Predictor for models of this problem; methods of the problem that take W take a model."""
        return SequencePredictor(self)

    def objective(self, model: SequenceModel, b: Any = None) -> float:
        """Evaluate F at a model's predictions.

        Parameters
        ----------
        model
            the fitted sequence.
        b
            not used.

        Returns
        -------
        float
            F.
        """
        return self.mean_loss(np.ascontiguousarray(self.scores(model, b)))

    def mean_loss(self, Z: np.ndarray) -> float:
        """Evaluate F at given predictions of the problem's samples.

        Parameters
        ----------
        Z
            predictions (n, m).

        Returns
        -------
        float
            F.
        """
        return float(loss_sum(Z, *self.terms)) / self.n

    def indicator(self) -> np.ndarray:
        """Return the targets Y: 1 for the class of a sample, or each of its labels, and 0 elsewhere.

        Returns
        -------
        np.ndarray
            Y (n, m), float64.
        """
        return self.y.astype(np.float64) if self.multilabel else np.eye(self.m)[self.y]

    def data_scale(self, seed: int) -> DataScale:
        """Return the mean row and the median squared distance of the samples, for random features.

        Parameters
        ----------
        seed
            seed of the sample of distances.

        Returns
        -------
        DataScale
            the two.
        """
        return self._data.cached(("scale", seed), lambda: data_scale(self.design.matrix, seed))

    def by_rows(self) -> Any:
        """Return a sparse X as CSR; this second copy is made once.

        Returns
        -------
        Any
            X by rows.
        """
        return self._data.cached(("by rows",), lambda: scipy.sparse.csr_array(self.design.matrix))

    @staticmethod
    def _check(model: Any, b: Any) -> None:
        if not isinstance(model, SequenceModel) or b is not None:
            raise TypeError(
                f"a model is needed, as run.state.model and Result.model hold it; this is "
                f"{type(model).__name__}{' with an intercept' if b is not None else ''}"
            )

    # -------------------------------------------------------------------------------------------------------- in a run
    def tiny_sibling(self) -> SequenceProblem:
        return SequenceProblem.of(super().tiny_sibling())

    def workspace(self, sparse: bool) -> Workspace:
        return Workspace(self)

    def measuring(self, test: Any = None) -> ReplayedAccuracies:
        return ReplayedAccuracies(self, test)

    def gradient(self, W: Any, b: Any = None) -> Any:
        """Raise ``TypeError``: a sequence problem has no weights.

        Parameters
        ----------
        W
            not used.
        b
            not used.

        Raises
        ------
        TypeError
            always.
        """
        raise TypeError(NO_WEIGHTS)

    def certificate(self, W: Any, b: Any = None) -> Any:
        """Raise ``TypeError``: a sequence problem has no weights.

        Parameters
        ----------
        W
            not used.
        b
            not used.

        Raises
        ------
        TypeError
            always.
        """
        raise TypeError(NO_WEIGHTS)


class SequencePredictor(Predictor):
    """Prediction with a model, which replays its steps.

    Parameters
    ----------
    problem
        the problem.
    """

    def scores(self, model: SequenceModel, b: Any = None, X: Any = None) -> np.ndarray:
        """Return the predictions Ŷ.

        Parameters
        ----------
        model
            the fitted sequence.
        b
            not used.
        X
            other samples (k, d); ``None``: those of the problem.

        Returns
        -------
        np.ndarray
            predictions (k, m).
        """
        self.problem._check(model, b)
        design = self.design_of(X)
        fits_dense("predictions", design.n, self.problem.m, design.dtype.itemsize, "predict fewer samples at a time")
        return model.scores(design.matrix)


problems.add(SequenceProblem.kind, SequenceProblem)
