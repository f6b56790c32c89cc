"""StagewiseClassifier: least squares on one batch of features after the other, as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..inputs.feature_maps import KINDS as MAPS
from ..inputs.feature_maps import DataScale
from ..problems.sequence import SequenceProblem
from ..problems.sequence_model import Columns, RandomBlock, SequenceModel, Stage
from ..registry import solvers
from ..runs.solving import solve
from ..runs.stopping import Iterations
from .callbacks import History, told, with_callbacks
from .predicting import Classifier, seed_of
from .showing import sparkline

TINY = 1e-300  # a tolerance that no stage meets: tol=0 asks for max_iter stages, and is no failure to converge
MOST_FEATURES = 1_000_000  # of a random stage in a file


class StagewiseClassifier(Classifier):
    """Classifier that adds up least squares fits on batches of features, which are made and forgotten.

    Each stage draws columns of X or random features and fits the residual of the stages before it (Agarwal et al.
    2013, Alg. 3). Memory is O(n·p + p²) for any number of stages; there is no optimum, and no duality gap.

    Parameters
    ----------
    loss : str or Loss
        A smooth loss: ``"squared"``, or ``"logistic"`` for probabilities.
    features : int
        Features of a stage.
    generator : {"columns", "gradient", "fourier", "logits", "products"}
        Columns of X in random order or of largest gradient first, or random features.
    lam : float
        Ridge of every least squares problem.
    calibrated : bool
        The predictions so far are features of every stage.
    width : float
        Width of random features, in units of the median squared distance.
    inner : int
        Least squares steps of a stage for losses other than squared.
    fit_intercept : bool
        Begin at the best constant predictions.
    tol : float
        Stop when the objective falls by less than this part of itself in each of some stages; 0: never.
    max_iter : int
        Largest number of stages.
    random_state : int, RandomState or None
        Seed of random orders and features; ``None``: 0.

    Attributes
    ----------
    model_ : SequenceModel
        The stages.
    classes_, n_iter_, objective_, history_, threshold_
        As of :class:`SparseClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sparsescope import StagewiseClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = StagewiseClassifier(features=100, generator="fourier", max_iter=5, tol=0).fit(X, y)
    >>> len(model.model_)
    5
    """

    model_: SequenceModel
    saved: ClassVar[tuple[str, ...]] = Classifier.saved

    def __init__(
        self,
        loss: Any = "squared",
        *,
        features: int = 300,
        generator: str = "columns",
        lam: float = 1e-4,
        calibrated: bool = False,
        width: float = 1.0,
        inner: int = 50,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 50,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.features = features
        self.generator = generator
        self.lam = lam
        self.calibrated = calibrated
        self.width = width
        self.inner = inner
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any) -> StagewiseClassifier:
        """Fit the stages.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n_samples, n_features)
            Samples.
        y : array (n_samples,) or indicator (n_samples, n_labels)
            A class for each sample, or label sets.

        Returns
        -------
        StagewiseClassifier
            The fitted estimator.
        """
        X, targets = self._read(X, y)
        problem = SequenceProblem(
            X, targets.y, loss=self.loss, lam=self.lam, intercept=self.fit_intercept, class_names=targets.names
        )
        solver = solvers.create(
            "stagewise", features=self.features, generator=self.generator, calibrated=self.calibrated,
            width=self.width, inner=self.inner, seed=seed_of(self.random_state) or 0,
        )  # fmt: skip
        history = History()
        tellers = told(
            self, {"X": X, "y": targets.y},
            lambda event: {"classes_": targets.classes, "multilabel_": targets.multilabel, "sparse_targets_": False,
                           "loss_": problem.loss, "threshold_": 0.0, "model_": _model_of(event)},
        )  # fmt: skip
        settled = float(self.tol) or TINY
        result = solve(
            problem, solver, tol=settled, max_iter=self.max_iter + (self.tol == 0), stop=Iterations(self.max_iter),
            callbacks=[history, *tellers], record=False,
        )  # fmt: skip
        self._take(problem, targets)
        self.model_ = result.model
        self.threshold_ = 0.0
        if targets.multilabel:
            self.threshold_ = problem.threshold(problem.scores(result.model))
        self.n_iter_, self.objective_, self.history_ = result.iterations, result.objective, history.table
        for teller in tellers:
            teller.end()
        return self

    # ---------------------------------------------------------------------------------------------------- predictions
    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _width(self) -> int:
        check_is_fitted(self)
        return int(self.model_.start.size)

    def _scores(self, X: Any) -> np.ndarray:
        return self.model_.scores(X)

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Predict after each stage.

        Parameters
        ----------
        X : array, sparse matrix or data frame (n_samples, n_features)
            Samples.

        Yields
        ------
        array
            The predictions of :meth:`predict` with the stages so far.
        """
        X = self._samples(X)
        Z = np.tile(self.model_.start, (X.shape[0], 1))
        for k in range(len(self.model_)):
            Z = self.model_.replay(X, Z, k, k + 1)
            yield self._predicted(iter([Z]))

    # -------------------------------------------------------------------------------------------------- files, showing
    def _arrays(self) -> dict[str, np.ndarray]:
        found = {"start": self.model_.start, "d": np.array(self.model_.d), "count": np.array(len(self.model_))}
        for k, stage in enumerate(self.model_.steps):
            found[f"{k}_V"] = stage.V
            block = stage.block
            if isinstance(block, Columns):
                found[f"{k}_numbers"] = block.numbers
                continue
            found[f"{k}_drawn"] = np.array([MAPS.index(block.kind), block.p, block.seed, block.stage], dtype=np.int64)
            found[f"{k}_mean"], found[f"{k}_width"] = block.scale.mean, np.array(block.scale.width)
        return found | {"own": np.array([stage.own for stage in self.model_.steps], dtype=bool)}

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        start, d, count = arrays["start"], int(arrays["d"]), int(arrays["count"])
        if start.ndim != 1 or start.dtype.kind != "f" or arrays["own"].shape != (count,):
            raise ValueError("the model has no start")
        self._check_classes(start.size, d)
        self.model_ = SequenceModel(start, d)
        for k in range(count):
            block, own = _block(arrays, k, d, start.dtype), bool(arrays["own"][k])
            V, rows = np.ascontiguousarray(arrays[f"{k}_V"]), block.p + own * start.size
            if V.shape != (rows, start.size) or V.dtype.kind != "f" or not np.isfinite(V).all():
                raise ValueError(f"stage {k} has no finite coefficients of shape {(rows, start.size)}")
            self.model_.steps.append(Stage(block, V, own))

    def _fit_facts(self) -> list[tuple[str, str]]:
        return [
            ("λ", f"{self.lam_:.3g}"), ("stages", str(len(self.model_))), ("features", self.generator),
            ("mean loss", f"{self.objective_:.3g}"),
        ]  # fmt: skip

    def _fit_picture(self) -> str:
        return sparkline(self.history_["objective"], "Mean loss by stage, logarithmic")


def _block(arrays: dict[str, np.ndarray], k: int, d: int, dtype: Any) -> Any:
    """The features of a stage in a file; ``ValueError`` where they cannot be those of d columns."""
    if f"{k}_numbers" in arrays:
        numbers = arrays[f"{k}_numbers"]
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or numbers.size == 0:
            raise ValueError(f"stage {k} has no columns")
        if numbers.min() < 0 or numbers.max() >= d:
            raise ValueError(f"stage {k} has columns beyond the {d} features")
        return Columns(numbers)
    kind, p, seed, stage = (int(number) for number in arrays[f"{k}_drawn"])
    mean, width = arrays[f"{k}_mean"], float(arrays[f"{k}_width"])
    if not (0 <= kind < len(MAPS) and 1 <= p <= MOST_FEATURES and seed >= 0 and stage >= 0):
        raise ValueError(f"stage {k} has random features that cannot be drawn")
    if mean.shape != (d,) or mean.dtype.kind != "f" or not (np.isfinite(mean).all() and 0.0 < width < np.inf):
        raise ValueError(f"stage {k} has random features of other data")
    return RandomBlock(MAPS[kind], p, DataScale(mean, width), seed, stage, dtype)


def _model_of(event: Any) -> SequenceModel:
    """A copy of the model that an event's state holds."""
    made: SequenceModel = event.state.model.copy()
    return made
