"""Watching fits of scikit-learn: a callback that certifies the weights of every iteration and keeps them as a trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..problems.prediction import Problem
from ..runs.event import Event
from ..runs.run import Run
from ..runs.trace import Recorder, Trace
from ..solvers.base import Solver, State, settings

ITERATION = "iter"  # in the names of tasks that are iterations ("lbfgs-iter", "iteration")


@settings
class Shown(Solver):
    """Stand-in for a solver outside the package: its steps take the weights that are shown to it."""

    title = "solver of scikit-learn"
    doc = "Weights that another program computes."
    takes_sample_weights = True

    def start(self, problem: Problem, coef: np.ndarray) -> State:
        """Return a state to which nothing was shown yet."""
        state: Any = State(problem, coef)
        state.shown = None
        return state

    def step(self, problem: Problem, state: Any) -> None:
        """Take the weights that stand in ``state.shown``."""
        if state.shown is not None:  # the steps that compile kernels beforehand have none
            state.coef[...] = problem.coefficients(*state.shown)
            problem.design.matmul(state.coef, state.Z)
        state.iteration += 1


class Watch:
    """Callback of scikit-learn that turns every fit it sees into a run with certified iterations.

    It watches ``LogisticRegression`` (solver lbfgs, ridge), also inside pipelines. The objective is scikit-learn's
    divided by C and the number of samples, so that λ = 1/(C·n); with two classes, where scikit-learn fits one vector
    w, the columns of W are −w/2 and w/2.

    Parameters
    ----------
    callbacks
        functions of an event, called at every iteration; what they return is not asked for.

    Attributes
    ----------
    traces
        a trace for each fit, in the order of the fits.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> watch = ss.estimators.Watch()
    >>> data = ss.datasets.load("iris")
    >>> if hasattr(LogisticRegression, "set_callbacks"):  # scikit-learn 1.9 and later
    ...     model = LogisticRegression().set_callbacks(watch).fit(data.X, data.y)
    ...     assert len(watch.trace) > 3
    """

    def __init__(self, callbacks: Iterable[Callable[[Event], Any]] = ()) -> None:
        self.traces: list[Trace] = []
        self._callbacks = list(callbacks)
        self._run: Run | None = None
        self._fit: Any = None  # the context of the fit that the run belongs to
        self._began = 0.0

    @property
    def trace(self) -> Trace:
        """Trace of the newest fit.

        Raises
        ------
        ValueError
            if no fit was seen yet.
        """
        if not self.traces:
            raise ValueError("no fit was seen yet; call estimator.set_callbacks(watch).fit(X, y) first")
        return self.traces[-1]

    @property
    def problem(self) -> Problem:
        """Problem of the newest fit, whose F the trace holds.

        Raises
        ------
        ValueError
            if no fit was seen yet.
        """
        if self._run is None:
            raise ValueError("no fit was seen yet; call estimator.set_callbacks(watch).fit(X, y) first")
        found: Problem = self._run.problem
        return found

    # ------------------------------------------------------------------------------------------------ scikit-learn's
    def setup(self, estimator: Any, context: Any) -> None:
        """Begin anew; called by scikit-learn before a fit.

        Parameters
        ----------
        estimator
            the estimator that is fitted.
        context
            its task.
        """
        self._fit = None

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing; called by scikit-learn after a fit.

        Parameters
        ----------
        estimator
            the estimator that is fitted.
        context
            its task.
        """

    def on_fit_task_begin(
        self, estimator: Any, context: Any, *, X: Any, y: Any, metadata: Any, fitted_estimator: Any
    ) -> None:
        """Open a run at the weights with which the first iteration begins.

        Parameters
        ----------
        estimator
            the estimator that is fitted.
        context
            the task.
        X, y, metadata
            samples, classes, and the sample weights among the metadata.
        fitted_estimator
            an estimator with the weights of that moment.
        """
        if ITERATION in context.task_name and context.parent is not self._fit:
            self._fit = context.parent
            self._open(estimator, X, y, metadata, fitted_estimator)
        self._began = time.thread_time()

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, X: Any, y: Any, metadata: Any, fitted_estimator: Any
    ) -> bool:
        """Certify the weights of an iteration.

        Parameters
        ----------
        estimator
            the estimator that is fitted.
        context
            the task.
        X, y, metadata
            samples, classes, and the sample weights among the metadata.
        fitted_estimator
            an estimator with the weights of that moment.

        Returns
        -------
        bool
            False: the fit goes on.
        """
        spent = time.thread_time() - self._began
        if ITERATION in context.task_name and fitted_estimator is not None and self._run is not None:
            run: Any = self._run
            run.state.shown = weights_of(fitted_estimator)
            run.seconds += spent
            run.advance(certify_now=True)
        return False

    # -------------------------------------------------------------------------------------------------------- the run
    def _open(self, estimator: Any, X: Any, y: Any, metadata: Any, fitted: Any) -> None:
        problem = problem_of(estimator, X, y, (metadata or {}).get("sample_weight"))
        recorder = Recorder()
        W, b = (None, None) if fitted is None else weights_of(fitted)
        self._run = Run(problem, Shown(), callbacks=[recorder, *self._callbacks], W=W, b=b)
        self.traces.append(recorder.trace)
        self._run.advance()

    def _repr_html_(self) -> str:
        return self.trace._repr_html_() if self.traces else "<p>No fit was seen yet.</p>"


def problem_of(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Problem:
    """Return the problem that an estimator of scikit-learn solves, in the units of this package.

    Parameters
    ----------
    estimator
        a ``LogisticRegression``.
    X, y
        samples (n, d) and classes (n,).
    sample_weight
        weights of the samples (n,), with those of the classes in them.

    Returns
    -------
    Problem
        logistic loss + λ · ridge with λ = 1/(C·n).

    Raises
    ------
    TypeError
        for another estimator.
    ValueError
        for a penalty that it does not have here.
    """
    from sklearn.linear_model import LogisticRegression

    if not isinstance(estimator, LogisticRegression):
        raise TypeError(
            f"{type(estimator).__name__} cannot be watched: its objective is not known here. LogisticRegression can; "
            "estimators of this package are watched with ss.explore, or by their own callbacks"
        )
    if estimator.l1_ratio or getattr(estimator, "penalty", "l2") not in ("l2", "deprecated") or np.isinf(estimator.C):
        raise ValueError("only LogisticRegression with the ridge penalty (l1_ratio=0, finite C) can be watched")
    classes = np.unique(np.asarray(y))
    total = len(y) if sample_weight is None else float(np.sum(sample_weight))
    lam = 1.0 / (float(estimator.C) * total)
    return Problem(
        X,
        np.searchsorted(classes, np.asarray(y)),
        loss="logistic",
        penalty="ridge",
        lam=2.0 * lam if len(classes) == 2 else lam,
        intercept=bool(estimator.fit_intercept),
        class_names=[str(name) for name in classes],
        sample_weight=sample_weight,
    )


def weights_of(fitted: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Return W (d, m) and b (m,) of a fitted linear classifier; one vector of two classes becomes two columns.

    Parameters
    ----------
    fitted
        an estimator with ``coef_`` and ``intercept_``.

    Returns
    -------
    tuple
        W, and b or ``None`` where the estimator has no intercept.
    """
    W, b = np.atleast_2d(np.asarray(fitted.coef_, dtype=float)).T, np.atleast_1d(np.asarray(fitted.intercept_, float))
    if W.shape[1] == 1:
        W, b = np.hstack([-W / 2, W / 2]), np.array([-b[0] / 2, b[0] / 2])
    return np.ascontiguousarray(W), (b if fitted.fit_intercept else None)
