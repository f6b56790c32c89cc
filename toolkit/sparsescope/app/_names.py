"""Names: choices of a page's menu that are looked up when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any


class Names(Sequence[str]):
    """Choices that are looked up when they are asked for: a part that a notebook registers later belongs to them.

    Parameters
    ----------
    look_up : returns the names
    """

    def __init__(self, look_up: Callable[[], tuple[str, ...]]) -> None:
        self._look_up = look_up

    def __getitem__(self, place: Any) -> Any:
        return self._look_up()[place]

    def __iter__(self) -> Iterator[str]:
        return iter(self._look_up())  # once, and not for every place

    def __len__(self) -> int:
        return len(self._look_up())
