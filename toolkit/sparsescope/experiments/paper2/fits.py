"""Measurements with this package alone: Table 1, the stages of Fig. 1a, the spectra of Fig. 1b."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...inputs.feature_maps import DataScale, Drawn, data_scale, draw
from ...problems.sequence import SequenceProblem
from ...problems.spectrum import spectrum
from ...registry import solvers
from ...runs.event import Event
from ...runs.run import Run
from ...runs.stopping import Iterations, Seconds
from ..base import Settings
from ..pools import Pool
from ..progress import Report, gather
from ..runs import CLOCK, repeat_times
from . import protocol, samples
from .protocol import CALIBRATED, LINEAR, LOGISTIC, RAW

if TYPE_CHECKING:
    import pandas as pd


def drawn_for(part: samples.Parts, p: int, seed: int, width: float = protocol.WIDTH) -> Drawn:
    """p random Fourier features for these data, in their precision."""
    scale = data_scale(part.X, seed)
    return draw("fourier", p, DataScale(scale.mean, width * scale.width), seed, dtype=part.X.dtype)


def follow(
    part: samples.Parts, X: Any, X_test: Any, solver: Any, steps: int, *, loss: str, lam: float, seconds: float
) -> list[dict[str, Any]]:
    """A run on X: stage, CPU seconds (medians of repeated runs), features and test error after each step."""
    import pandas as pd

    def run(test: Any) -> list[Event]:
        problem = SequenceProblem(X, part.y, loss=loss, lam=lam)
        rule = Iterations(steps) | Seconds(seconds)
        return [e for e in Run(problem, solver, stop=rule, test=test, clock=CLOCK) if e.iteration]

    table = pd.DataFrame(
        {
            "iteration": e.iteration,
            "seconds": e.seconds,
            "features": e.features,
            "error": 100.0 * (1.0 - e.test_accuracy),
        }
        for e in run((X_test, part.y_test))
    )
    repeat_times(table, lambda: {e.iteration: e.seconds for e in run(None)})
    rows: list[dict[str, Any]] = table.rename(columns={"iteration": "stage"}).to_dict("records")
    return rows


def _frame(rows: list[dict[str, Any]], **facts: Any) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame([{**facts, **row} for row in rows])


# ------------------------------------------------------------------------------------------------------------- Table 1
def measure_table1(data: Pool, settings: Settings, report: Report) -> pd.DataFrame:
    """The error of each method on the raw features and on random ones: a row each, the last step of its run."""
    limit = protocol.limits(settings)

    def job(features: str, method: str) -> pd.DataFrame:
        part = samples.parts(data, settings.seed) if features == RAW else samples.reduced(data, settings.seed)
        p = part.X.shape[1] if features == RAW else int(features)
        X, X_test, lam = part.X, part.X_test, limit.lam
        if features == RAW:  # with a constant: nothing else stands for it
            X, X_test = (np.hstack([x, np.ones((len(x), 1), x.dtype)]) for x in (X, X_test))
            p, lam = p + 1, limit.raw_lam
        loss, steps = "squared", 1
        kind = "columns" if features == RAW else "fourier"
        inner = protocol.PIXEL_INNER if features == RAW else protocol.INNER
        solver: Any = solvers.create(
            "stagewise", generator=kind, features=p, width=protocol.WIDTH, inner=inner, seed=settings.seed
        )
        if method == LOGISTIC:
            loss, lam = "logistic", limit.logistic_lam
        elif method == CALIBRATED:
            solver = solvers.create("cls")
            steps = protocol.PIXEL_CALIBRATIONS if features == RAW else protocol.CALIBRATIONS
            if features != RAW:
                maps = drawn_for(part, p, settings.seed)
                X, X_test = np.asfortranarray(maps.features(X)), maps.features(X_test)
        rows = follow(part, X, X_test, solver, steps, loss=loss, lam=lam, seconds=limit.seconds)
        return _frame(
            rows[-1:],
            data=data.name,
            set=features,
            method=method,
            dims=p,
            samples=len(part.y),
            tests=len(part.y_test),
            classes=part.classes,
        )

    sets = (RAW, *map(str, limit.features))
    return gather(
        [
            (f"{features}, {method}", lambda f=features, m=method: job(f, m))  # type: ignore[misc]
            for features in sets
            for method in protocol.METHODS
        ],
        report,
    )


# -------------------------------------------------------------------------------------------------------------- stages
def measure_blocks(data: Pool, settings: Settings, report: Report) -> pd.DataFrame:
    """Error after each stage, for each size of stages and each kind of step."""
    limit, part = protocol.limits(settings), samples.reduced(data, settings.seed)

    def job(method: str, block: int) -> pd.DataFrame:
        solver = solvers.create(
            "stagewise",
            generator="fourier",
            features=block,
            calibrated=method == CALIBRATED,
            width=protocol.WIDTH,
            inner=protocol.INNER,
            seed=settings.seed,
        )
        logistic = method == LOGISTIC
        rows = follow(
            part,
            part.X,
            part.X_test,
            solver,
            max(1, limit.most // block),
            seconds=limit.seconds,
            loss="logistic" if logistic else "squared",
            lam=limit.logistic_lam if logistic else limit.lam,
        )
        return _frame(rows, data=data.name, method=method, block=block, samples=len(part.y), tests=len(part.y_test))

    return gather(
        [
            (f"{method}, stages of {block}", lambda m=method, b=block: job(m, b))  # type: ignore[misc]
            for block in limit.blocks
            for method in (LINEAR, CALIBRATED, LOGISTIC)
        ],
        report,
    )


# ------------------------------------------------------------------------------------------------------------- spectra
def measure_spectra(data: Pool, settings: Settings, report: Report) -> pd.DataFrame:
    """Leading singular values: of random features of dense data, of text as it is."""
    return gather([("singular values", partial(_spectrum, data, settings))], report)


def _spectrum(data: Pool, settings: Settings) -> pd.DataFrame:
    import pandas as pd

    limit = protocol.limits(settings)
    if samples.not_dense(data) is None:
        part = samples.reduced(data, settings.seed)
        X = drawn_for(part, limit.spectrum_features, settings.seed, 1.0).features(part.X.astype(np.float64))
        what = f"{limit.spectrum_features} random features"
    else:
        X, what = samples.parts(data, settings.seed).X, "words"
    found = spectrum(X, limit.values, settings.seed)
    return pd.DataFrame({
        "data": data.name, "of": what, "number": np.arange(1, found.values.size + 1), "value": found.values,
        "share": found.shares(), "condition": found.condition(),
    })  # fmt: skip
