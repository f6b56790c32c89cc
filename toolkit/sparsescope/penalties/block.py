"""Penalties that are sums over blocks of features within one class, instead of over the rows of W."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..inputs.blocks import Blocks, Canonical, canonical, is_whole, resolve
from ..registry import Field
from .base import Penalty


class BlockPenalty(Penalty):
    """Penalty over blocks of features: Ω(W) = Σ_k Σ_b Ω(W_{B_b,k}), a penalty of one vector for every block and class.

    It is not compiled itself: kernels are given ``row``, the penalty whose functions of one row are applied to the
    vectors W_{B_b,k}, and the blocks as arrays. The blocks are computed when a problem is made, because only the
    problem knows the number and the names of the features.

    Parameters
    ----------
    size
        features in a block; the blocks are consecutive, the last one is shorter if d is no multiple of ``size``.
    blocks
        instead of ``size``, a list of sizes, a list of lists of feature numbers, or a list of prefixes of feature
        names (the longest one that fits counts); or a whole number, which means ``size``. See
        :mod:`sparsescope.inputs.blocks`.

    Raises
    ------
    ValueError, TypeError
        for invalid blocks, and, when a problem is made, for blocks that do not fit its features.
    """

    __slots__ = ("blocks", "size")
    row: ClassVar[Any]

    fields: ClassVar[tuple[Field, ...]] = (
        Field(
            "size",
            5,
            1,
            1000,
            "features in a block; the last block is shorter if they do not add up",
            log=True,
            kind="int",
        ),
    )
    size: int | None
    blocks: Canonical | None

    def __init__(self, size: Any = None, blocks: Any = None) -> None:
        owner = type(self).__name__
        if size is not None and blocks is not None:
            raise ValueError(f"{owner}: both size and blocks are given; give one of them")
        given = None if blocks is None else canonical(blocks, owner)
        if is_whole(given):
            size, given = given, None
        declared = self.fields[0]
        if given is None:
            size = declared.check(declared.default if size is None else size, owner)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "blocks", given)

    def resolve(self, d: int, feature_names: Sequence[str] | None) -> Blocks:
        """Return the blocks of d features.

        Parameters
        ----------
        d
            number of features.
        feature_names
            their names, for blocks by prefixes.

        Returns
        -------
        Blocks
            the blocks.

        Raises
        ------
        ValueError
            if they do not fit.
        """
        said = self.size if self.blocks is None else self.blocks
        assert said is not None
        return resolve(said, d, feature_names, type(self).__name__)

    def tiny_sibling(self) -> Penalty:
        return type(self)()

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} does not change; make another one")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and (self.size, self.blocks) == (other.size, other.blocks)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self).__qualname__, self.size, self.blocks))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({f'size={self.size}' if self.blocks is None else f'blocks={self.blocks!r}'})"

    def __reduce__(self) -> Any:
        return type(self), (self.size, self.blocks)
