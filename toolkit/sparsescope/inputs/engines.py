"""Engines: where operations on blocks of rows are done. This one is the present process; see ``cluster_blocks`` too."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

import numpy as np

from .row_blocks import Block, LazyBlock, on_block

Arguments = Callable[[int], tuple[Any, ...]]  # of the operation on block k


class Engine(Protocol):
    """Interface of what does the work on the blocks of a design."""

    @property
    def count(self) -> int:
        """Number of blocks."""
        ...

    def each(self, operation: Callable[..., Any], arguments: Arguments) -> Iterator[Any]:
        """Yield the results of an operation on each block, in their order."""
        ...

    def total(self, operation: Callable[..., Any], arguments: Arguments) -> np.ndarray:
        """Sum the results of an operation over the blocks."""
        ...

    def derived(self, operation: Callable[..., Any], arguments: Arguments) -> Engine:
        """Return an engine whose blocks are the results of an operation on these."""
        ...


class Here:
    """The blocks one after the other in this process, or a few at a time in threads: kernels hold no lock.

    Parameters
    ----------
    blocks
        the blocks.
    threads
        blocks that are worked on at the same time; each takes the memory of a block and of a result.
    """

    def __init__(self, blocks: Sequence[Block], threads: int = 1) -> None:
        self.blocks, self.threads = list(blocks), threads

    def __deepcopy__(self, memo: Any) -> Here:
        return self

    @property
    def count(self) -> int:
        """Number of blocks."""
        return len(self.blocks)

    def each(self, operation: Callable[..., Any], arguments: Arguments) -> Iterator[Any]:
        """Yield the results of an operation on each block, in their order."""
        if self.threads > 1:
            yield from self._in_threads(operation, arguments)
            return
        for k, block in enumerate(self.blocks):
            if k + 1 < len(self.blocks):
                self.blocks[k + 1].prefetch()
            yield on_block(operation, block, arguments(k))

    def _in_threads(self, operation: Callable[..., Any], arguments: Arguments) -> Iterator[Any]:
        under_way: deque[Future[Any]] = deque()
        with ThreadPoolExecutor(self.threads) as pool:
            for k, block in enumerate(self.blocks):
                block.prefetch()
                under_way.append(pool.submit(on_block, operation, block, arguments(k)))
                if len(under_way) > self.threads:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()

    def total(self, operation: Callable[..., Any], arguments: Arguments) -> np.ndarray:
        """Sum the results of an operation over the blocks."""
        found: np.ndarray | None = None
        for part in self.each(operation, arguments):
            if found is None:
                found = np.asarray(part)
            else:
                found += part
        assert found is not None
        return found

    def derived(self, operation: Callable[..., Any], arguments: Arguments) -> Here:
        """Return an engine whose blocks are the results of an operation on these, done whenever one is needed."""
        made = [LazyBlock(partial(on_block, operation, block, arguments(k))) for k, block in enumerate(self.blocks)]
        return Here(made, self.threads)
