"""Lanes of a race in other processes: those of this machine, or the workers of a dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

from joblib import Parallel, delayed, parallel_config

from .table import Entry

Work = tuple[Callable[..., Entry], tuple[Any, ...]]


def entries(works: list[Work], n_jobs: int | None, client: Any) -> Iterator[Entry]:
    """Do the work of lanes side by side.

    joblib brings the data to each process: large arrays are mapped, and a cluster's workers get them with the work.

    Parameters
    ----------
    works
        a function and its arguments for each lane.
    n_jobs
        processes of this machine, as in joblib.
    client
        a client of dask.distributed, or ``None``.

    Yields
    ------
    Entry
        entries of the race, in the order of the lanes.
    """
    with nullcontext() if client is None else parallel_config(backend="dask", client=client):
        yield from Parallel(n_jobs=n_jobs, return_as="generator", batch_size=1, mmap_mode="c")(
            delayed(function)(*arguments) for function, arguments in works
        )
