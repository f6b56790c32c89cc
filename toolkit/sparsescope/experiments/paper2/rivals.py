"""Measurements beside other programs: liblinear and Vowpal Wabbit on random features (Fig. 2) and on text (Table 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ...problems.sequence import SequenceProblem
from ...registry import solvers
from ...runs.stopping import Iterations, Seconds
from .. import peers
from ..base import Settings
from ..pools import Pool
from ..progress import Report, gather
from ..runs import NEVER, ended, timed
from . import protocol, samples
from .fits import drawn_for
from .protocol import LOGISTIC_L2, MULTI, STAGEWISE, SVM, VW

if TYPE_CHECKING:
    import pandas as pd

NAN = float("nan")
ONE_VS_REST = {SVM: peers.SVM, LOGISTIC_L2: peers.LOGISTIC_L2}


def rival(name: str, part: samples.Parts, X: Any, X_test: Any, limit: float, seed: int) -> dict[str, Any]:
    """Error and CPU seconds of another program on X; NaN with a note where it is not there or took too long."""
    if name == VW:
        missing = peers.vowpal_missing()
        if missing is not None:
            return {"error": NAN, "seconds": NAN, "note": missing}
        wabbit = peers.vowpal(X, part.y, X_test, part.classes, limit=limit)
        return {"error": part.error(wabbit.predicted), "seconds": wabbit.seconds, "note": f"{wabbit.passes} passes"}
    if name == MULTI:
        fit = peers.repeated(lambda: peers.crammer_singer(X, part.y, part.classes, passes=1000))
    else:
        Y = sp.csr_array(np.eye(part.classes, dtype=np.uint8)[part.y])
        fit = peers.repeated(lambda: peers.one_vs_rest(ONE_VS_REST[name], X, Y, limit=limit, seed=seed))
    if len(fit.trained) < part.classes:
        return {"error": NAN, "seconds": fit.seconds * part.classes / len(fit.trained), "note": fit.note}
    return {"error": part.error(np.asarray((X_test @ fit.W).argmax(axis=1))), **fit.columns(), "note": fit.note}


def _row(**facts: Any) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame([facts])


def measure_peers(data: Pool, settings: Settings, report: Report) -> pd.DataFrame:
    """The other programs on one set of random Fourier features: a row each."""
    limit, part = protocol.limits(settings), samples.reduced(data, settings.seed)
    maps = drawn_for(part, limit.peer_features, settings.seed)
    X, X_test = (maps.features(x).astype(np.float64) for x in (part.X, part.X_test))

    def job(name: str) -> Callable[[], pd.DataFrame]:
        return lambda: _row(
            data=data.name,
            method=name,
            features=limit.peer_features,
            **rival(name, part, X, X_test, limit.seconds, settings.seed),
        )

    names = [name for name in protocol.PEERS if name != MULTI or settings.quick]  # dense and large: hours
    return gather([(name, job(name)) for name in names], report)


def measure_text(data: Pool, settings: Settings, report: Report) -> pd.DataFrame:
    """Stages of columns by gradient, two passes, and the other programs on the same words."""
    limit, part = protocol.limits(settings), samples.parts(data, settings.seed)

    def staged() -> pd.DataFrame:
        batch = min(protocol.BATCH, -(-part.X.shape[1] // 4))
        problem = SequenceProblem(part.X, part.y, lam=protocol.TEXT_LAM)
        solver = solvers.create("stagewise", generator="gradient", features=batch, seed=settings.seed)
        steps = protocol.PASSES * -(-part.X.shape[1] // batch)
        rule = Iterations(steps) | Seconds(limit.seconds)
        run = ended(problem, solver, rule, certify_every=NEVER)
        state: Any = run.state
        return _row(
            data=data.name,
            method=STAGEWISE,
            error=part.error(problem.predict(state.model, X=part.X_test)),
            **timed(run.seconds, lambda: ended(problem, solver, rule, certify_every=NEVER).seconds),
            note=f"{len(state.model)} stages of {batch} words",
            words=part.X.shape[1],
        )

    def job(name: str) -> Callable[[], pd.DataFrame]:
        return lambda: _row(
            data=data.name,
            method=name,
            words=part.X.shape[1],
            **rival(name, part, part.X, part.X_test, limit.seconds, settings.seed),
        )

    return gather([(STAGEWISE, staged), *((name, job(name)) for name in protocol.PEERS)], report)
