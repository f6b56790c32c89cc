"""Table 1, Fig. 1 and Fig. 2: errors and zeros of four losses, with the exact hinge in both of its forms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..base import Settings
from ..pools import Pool
from ..progress import Job, Report, gather
from . import protocol, samples
from .fitting import fit_along, fit_subset, ridge_alphas, sparse_alphas

if TYPE_CHECKING:
    import pandas as pd

FORMS = (*protocol.OBJECTIVES, protocol.CONSTRAINED)


def fit_table1(pool: Pool, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """Four penalties × four losses over a grid of α on all training rows: a row for each model.

    Columns: data, penalty, those of :func:`sparsescope.experiments.paper3.fitting.fit_along`. The blocks of the two
    block penalties are five features in a row (the last one may be shorter).
    """
    limit = protocol.limits(settings)
    split, blocks = samples.whole(pool), samples.blocks(pool, samples.PIXELS)
    jobs: list[Job] = []
    for name in limit.penalties:
        penalty = protocol.penalty(name, blocks)
        alphas = ridge_alphas(split, limit) if name == protocol.RIDGE else sparse_alphas(split, penalty, limit)
        jobs += [
            (
                f"{name}, {objective}",
                partial(fit_along, split, objective, penalty, alphas, limit, {"data": pool.name, "penalty": name}),
            )
            for objective in protocol.OBJECTIVES
        ]
    return gather(jobs, report or Report())


def best_alphas(table: pd.DataFrame) -> pd.DataFrame:
    """Fit with the fewest test errors of each penalty and loss; of several the one with the fewest weights."""
    order = table.dropna(subset=["errors"]).sort_values(["errors", "nonzero_entries"], kind="stable")
    first = order.groupby(["data", "penalty", "objective"], sort=False, as_index=False).first()
    place = {name: k for k, name in enumerate(protocol.TABLE1_PENALTIES)}
    column = {name: k for k, name in enumerate(protocol.OBJECTIVES)}
    keyed = first.assign(_p=first["penalty"].map(place), _o=first["objective"].map(column))
    return keyed.sort_values(["data", "_p", "_o"], kind="stable").drop(columns=["_p", "_o"]).reset_index(drop=True)


def table1(table: pd.DataFrame) -> pd.DataFrame:
    """The paper's Table 1: a row for each penalty, for each loss errors, non-zero weights a class, and the α."""
    import pandas as pd

    rows = []
    for (data, penalty), part in best_alphas(table).groupby(["data", "penalty"], sort=False):
        row = {"data": data, "penalty": penalty}
        for found in part.itertuples():
            row[f"{found.objective}: errors"] = f"{found.errors:.0f}/{found.tests:.0f}"
            row[f"{found.objective}: non-zeros"] = found.nonzeros
            row[f"{found.objective}: α"] = f"{found.alpha:.2g}"
        rows.append(row)
    return pd.DataFrame(rows)


def fit_images(pool: Pool, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """Fig. 1: ℓ1,∞ on blocks, random subsets of images: a row for each model. Columns as :func:`fit_subsets`."""
    limit = protocol.limits(settings)
    kinds = (samples.PIXELS, samples.FILTERS) if limit.filters else (samples.PIXELS,)
    return fit_subsets(pool, kinds, protocol.BLOCKINF, limit.images, limit, settings.seed, limit.draws, report)


def fit_text(pool: Pool, settings: Settings, report: Report | None = None) -> pd.DataFrame:
    """Fig. 2: ℓ1,2 on rows, random subsets of documents: a row for each model. Columns as :func:`fit_subsets`."""
    limit = protocol.limits(settings)
    draws = limit.draws if settings.splits is not None else min(limit.draws, protocol.TEXT_DRAWS)
    return fit_subsets(pool, ("terms",), protocol.ROWS, limit.text, limit, settings.seed, draws, report)


def fit_subsets(
    pool: Pool,
    kinds: tuple[str, ...],
    penalty: str,
    per_class: tuple[int, ...],
    limit: protocol.Limits,
    seed: int,
    draws: int,
    report: Report | None = None,
) -> pd.DataFrame:
    """All losses over α on random training subsets, tested on the whole test part: a row for each model.

    The values of α are those of the first subset of each size. Columns: data, kind (of the features), penalty,
    per_class, draw, those of :func:`sparsescope.experiments.paper3.fitting.fit_along`.
    """
    jobs: list[Job] = []
    for features in kinds:
        part = protocol.penalty(penalty, samples.blocks(pool, features))
        for size in per_class:
            alphas = sparse_alphas(samples.draw(pool, features, size, seed), part, limit)
            for k in range(draws):
                for objective in FORMS:
                    labels = {"data": pool.name, "kind": features, "penalty": penalty, "per_class": size, "draw": k}
                    values = limit.etas if objective == protocol.CONSTRAINED else alphas
                    jobs.append(
                        (
                            f"{features}, {size} a class, subset {k + 1}, {objective}",
                            partial(_fit, pool, features, size, seed + k, objective, penalty, values, limit, labels),
                        )
                    )
    return gather(jobs, report or Report())


def _fit(
    pool: Pool,
    features: str,
    per_class: int,
    seed: int,
    objective: str,
    penalty: str,
    alphas: Sequence[float],
    limit: protocol.Limits,
    labels: dict[str, object],
) -> pd.DataFrame:
    found = fit_subset(pool, features, per_class, penalty, objective, alphas, limit, seed)
    return found.assign(**labels)[[*labels, *found.columns]]
