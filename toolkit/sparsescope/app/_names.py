"""Names: choices of a page's menu that are looked up when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .. import datasets, registry


class Names(Sequence[str]):
    """Choices that are looked up when they are asked for: a part that a notebook registers later belongs to them.

    Parameters
    ----------
    parts : the registry that the names are from; menus show the titles that it has
    look_up : returns the names; by default all of the registry
    """

    def __init__(self, parts: registry.Registry, look_up: Callable[[], Iterable[str]] | None = None) -> None:
        self.parts = parts
        self._look_up: Callable[[], Iterable[str]] = look_up or (lambda: parts)

    def __getitem__(self, place: Any) -> Any:
        return tuple(self._look_up())[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._look_up())  # once, and not for every place

    def __len__(self) -> int:
        return len(tuple(self._look_up()))


# Files of one's own, too, which go by their names; settings with these choices also take what was uploaded.
DATASETS: Any = Names(registry.datasets, datasets.names)
LOSSES: Any = Names(registry.losses)
PENALTIES: Any = Names(registry.penalties)
