"""Tasks on a dask cluster. The data are a plugin of the workers: each gets them once, also one that comes later."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from distributed import Client, KilledWorker, WorkerPlugin, as_completed

from .places import Done, lost
from .tasks import Given, Order
from .work import failed, work

CONNECT_SECONDS = 20
_here: dict[str, Mapping[str, Given]] = {}  # in a worker: the data of each sweep


class Data(WorkerPlugin):
    """The data of a sweep in a worker.

    Scattered data would be lost with the workers that hold them, and dask drops copies that are not needed at the
    moment; a plugin is set up once in every worker, before its first task, also in the one that replaces a killed one.
    """

    def __init__(self, name: str, given: Mapping[str, Given]) -> None:
        self.name, self._given = name, dict(given)

    def setup(self, worker: Any) -> None:
        """Keep the data in the worker's process."""
        _here[self.name] = self._given

    def teardown(self, worker: Any) -> None:
        """Forget the data."""
        _here.pop(self.name, None)


def connected(address: str) -> Client:
    """Return a client of the scheduler at an address; OSError if nobody answers there."""
    try:
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise OSError(
            f"no dask scheduler answers at {address} ({error}); start one with `dask scheduler`, or leave it out to "
            "work on this machine"
        ) from error


def on_cluster(client: Client, given: Mapping[str, Given], orders: list[Order]) -> Iterator[Done]:
    """Do tasks on the workers of a cluster; see :func:`sparsescope.sweeps.places.at_home`.

    A task whose worker is gone is given to another one; dask gives it up after three (its own setting
    ``distributed.scheduler.allowed-failures``).

    Raises
    ------
    ConnectionError
        if the scheduler is gone.
    """
    name = f"sparsescope-sweep-{uuid.uuid4().hex[:12]}"
    client.register_plugin(Data(name, given))
    futures: dict[Any, str] = {}
    try:
        for order in orders:
            future = client.submit(_done, name, order, key=f"{name}-{order.key}", pure=False)
            futures[future] = order.key
        for future in as_completed(list(futures)):
            key = futures.pop(future)
            if future.status == "cancelled":
                raise ConnectionError("the connection to the scheduler was lost; the sweep can be resumed")
            error = future.exception() if future.status == "error" else None
            if error is None:
                yield key, future.result()
            elif isinstance(error, KilledWorker):
                yield key, lost()
            else:
                yield key, failed(f"{type(error).__name__}: {error}", final=False)
            future.release()
    finally:
        client.cancel(list(futures))
        if client.status == "running":
            client.unregister_worker_plugin(name)


def _done(name: str, order: Order) -> Any:
    """A task, in a worker."""
    return work(_here[name][order.problem], order)
