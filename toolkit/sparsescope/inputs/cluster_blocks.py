"""Blocks of rows in the workers of a dask cluster.

Each operation is a task on a block; sums are taken in the workers, pair by pair, so that one array (d, m) comes back.
dask knows how each block was made: what a killed worker held is made again in another one, and the work goes on. The
pairs do not depend on who works, so neither do the sums, to the last bit.
"""

from __future__ import annotations

import operator
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from distributed import Client, Future, KilledWorker

from .engines import Arguments
from .row_blocks import Block, HeldBlock, on_block


class OnCluster:
    """The blocks in the workers of a cluster.

    Parameters
    ----------
    client
        a client of dask.distributed.
    parts
        blocks, matrices, objects of ``dask.delayed``, or futures. What is in the memory of this process is sent to
        the scheduler, which can send it on again when a worker is gone; mapped blocks are opened by the workers, which
        need the same folder under the same name.
    """

    def __init__(self, client: Client, parts: Sequence[Any]) -> None:
        self.client = client
        self._name = f"sparsescope-block-{uuid.uuid4().hex[:12]}"
        workers = list(client.scheduler_info(n_workers=-1)["workers"])
        if not workers:
            raise ValueError(
                f"the cluster at {client.scheduler.address} has no workers; start some, or leave client= out"
            )
        made = [client.compute(part) if hasattr(part, "__dask_graph__") else part for part in parts]
        self._blocks: list[Future] = [
            self._submit(_held, part, key=f"{self._name}-{k}", workers=[workers[k * len(workers) // len(made)]],
                         allow_other_workers=True)
            for k, part in enumerate(made)
        ]  # fmt: skip

    def __deepcopy__(self, memo: Any) -> OnCluster:
        return self

    @property
    def count(self) -> int:
        """Number of blocks."""
        return len(self._blocks)

    def each(self, operation: Callable[..., Any], arguments: Arguments) -> Iterator[Any]:
        """Yield the results of an operation on each block, in their order."""
        found = self._started(operation, arguments)
        for k in range(len(found)):
            yield self._result(found[k])
            found[k] = None  # type: ignore[call-overload]

    def total(self, operation: Callable[..., Any], arguments: Arguments) -> np.ndarray:
        """Sum the results of an operation over the blocks."""
        level = self._started(operation, arguments)
        while len(level) > 1:
            pairs = [
                self._submit(operator.add, level[k], level[k + 1], pure=False) for k in range(0, len(level) - 1, 2)
            ]
            level = pairs + level[2 * len(pairs) :]
        return np.array(self._result(level[0]))  # a copy: what dask hands over may be read-only

    def derived(self, operation: Callable[..., Any], arguments: Arguments) -> OnCluster:
        """Return an engine whose blocks are the results of an operation on these, held by the same workers."""
        made = object.__new__(OnCluster)
        made.client, made._name = self.client, f"{self._name}-derived"
        made._blocks = [self._submit(_held, part, pure=False) for part in self._started(operation, arguments)]
        return made

    def _started(self, operation: Callable[..., Any], arguments: Arguments) -> list[Future]:
        return [
            self._submit(_done, operation, block, *arguments(k), pure=False) for k, block in enumerate(self._blocks)
        ]

    def _submit(self, *task: Any, **options: Any) -> Future:
        with warnings.catch_warnings():
            # The arguments travel with the task on purpose: the scheduler can send them again.
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self.client.submit(*task, **options)

    def _result(self, future: Future) -> Any:
        try:
            return future.result()
        except KilledWorker as error:
            raise ConnectionError(
                f"the workers that worked on a block ended abruptly, one after the other ({error}); give them more "
                "memory, or use smaller blocks"
            ) from None


def _held(part: Any) -> Block:
    """A block, in a worker."""
    if callable(part) and not isinstance(part, Block):
        part = part()
    return part if isinstance(part, Block) else HeldBlock(part)


def _done(operation: Callable[..., Any], block: Block, *arguments: Any) -> Any:
    """An operation on a block, in a worker."""
    return on_block(operation, block, arguments)
