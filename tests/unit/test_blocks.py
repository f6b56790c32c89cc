"""Blocks of features as users give them, and the refusal of blocks that cannot be."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from sparsescope.inputs.blocks import canonical, resolve
from sparsescope.penalties import BlockL1L2, BlockL1Linf
from sparsescope.runs.changes import marks_between

NAMES = ["gene_a", "gene_b", "genes", "age", "sex"]


def found(blocks: Any, d: int = 5, names: Any = None) -> list[list[int]]:
    made = resolve(canonical(blocks, "X"), d, names, "X")
    assert sorted(made.order) == list(range(d)) and made.indptr[-1] == d
    for b in range(made.count):
        assert (made.of_feature[made.features(b)] == b).all()
    return [made.features(b).tolist() for b in range(made.count)]


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        (2, [[0, 1], [2, 3], [4]]),  # the last block is shorter
        (5, [[0, 1, 2, 3, 4]]),
        (99, [[0, 1, 2, 3, 4]]),
        (1, [[0], [1], [2], [3], [4]]),
        ([3, 2], [[0, 1, 2], [3, 4]]),
        (np.array([1, 4]), [[0], [1, 2, 3, 4]]),
        ([[4, 0], [2], [3, 1]], [[4, 0], [2], [3, 1]]),
        ([np.array([0, 1]), range(2, 5)], [[0, 1], [2, 3, 4]]),
        (["gene", "gene_", ""], [[2], [0, 1], [3, 4]]),  # the longest prefix wins
        (("gene_", "genes", "age", "sex"), [[0, 1], [2], [3], [4]]),
    ],
)
def test_the_four_ways_to_say_blocks(blocks: Any, expected: list[list[int]]) -> None:
    assert found(blocks, names=NAMES) == expected


def test_blocks_are_called_by_their_prefix_or_their_number() -> None:
    made = resolve(("gene", ""), 5, NAMES, "X")
    assert [made.name(b) for b in range(2)] == ["gene", "(others)"]
    assert resolve(2, 5, NAMES, "X").name(2) == "block 2"


@pytest.mark.parametrize(
    ("blocks", "error", "words"),
    [
        ("gene", TypeError, r"given as a list, like \['gene'\]"),
        (2.5, TypeError, "blocks is 2.5; allowed: a whole number, a list of sizes"),
        (True, TypeError, "blocks is True"),
        ([], ValueError, "blocks is empty"),
        ([2, 0, 3], ValueError, "size 0; sizes are at least 1"),
        (["a", "a"], ValueError, "duplicate prefix 'a'"),
        ([2, "a"], TypeError, "entry 0 of blocks is 2"),
        ([[0, 1], 3], TypeError, "entry 1 of blocks is 3"),
        ([[0], []], ValueError, "block 1 is empty"),
        ([[0, 1.5]], TypeError, "block 0 holds 1.5"),
        ([2, 2], ValueError, "2 sizes of blocks add up to 4, but there are 5 features"),
        ([[0, 1, 2], [2, 3, 4]], ValueError, r"feature 2 \(genes\) is in blocks 0 and 1"),
        ([[0, 0, 1, 2, 3, 4]], ValueError, r"feature 0 \(gene_a\) is twice in block 0"),
        ([[0, 1], [2]], ValueError, r"features 3 \(age\), 4 \(sex\) are in no block"),
        ([[0, 1, 2, 3], [5]], ValueError, "block 1 holds feature 5; with 5 features allowed: 0 to 4"),
        ([[-1]], ValueError, "block 0 holds feature -1"),
        (["gene", "age"], ValueError, r"feature 4 \(sex\) begins with none of the prefixes 'gene', 'age'"),
        (["gene", "age", "sex", "blood"], ValueError, "prefix 'blood' has no features: no feature's name begins"),
        (["gene", "gene_", "genes", "age", "sex"], ValueError, "prefix 'gene' has no features: all of its features go"),
    ],
)
def test_blocks_that_cannot_be_are_refused_in_words(blocks: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        ss.Problem(np.eye(5), [0, 1, 0, 1, 1], penalty=BlockL1L2(blocks=blocks), feature_names=NAMES)
    assert str(caught.value).startswith("BlockL1L2: ")


def test_messages_about_many_features_are_short() -> None:
    with pytest.raises(ValueError, match=r"features 1, 2, 3, 4, 5 and 94 more are in no block"):
        found([[0]], d=100)


def test_prefixes_need_names() -> None:
    with pytest.raises(ValueError, match="the features have no names; give feature_names"):
        ss.Problem(np.eye(2), [0, 1], penalty=BlockL1Linf(blocks=["a"]))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"size": 0}, "size is 0; allowed: 1 to 1000"),
        ({"blocks": 0}, "size is 0"),
        ({"size": 2.5}, "whole number"),
        ({"size": 5, "blocks": [2, 3]}, "both size and blocks"),
    ],
)
def test_bad_sizes_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        BlockL1L2(**given)


def test_block_penalties_are_values() -> None:
    lists = BlockL1L2(blocks=[np.array([0, 2]), [1]])
    assert repr(BlockL1L2()) == "BlockL1L2(size=5)" == repr(BlockL1L2(blocks=5)) and BlockL1L2() == BlockL1L2(blocks=5)
    assert repr(lists) == "BlockL1L2(blocks=((0, 2), (1,)))"
    assert eval(repr(lists), {"BlockL1L2": BlockL1L2}) == lists and hash(lists) == hash(BlockL1L2(blocks=[[0, 2], [1]]))
    assert BlockL1L2() != BlockL1Linf() and BlockL1L2(size=2) != BlockL1L2(size=3) and lists != "lists"
    assert pickle.loads(pickle.dumps(lists)) == lists
    with pytest.raises(AttributeError, match="does not change"):
        lists.size = 3  # type: ignore[misc]


def test_a_change_to_blocks_is_marked_in_few_words() -> None:
    old = ss.Problem(np.eye(5), [0, 1, 0, 1, 1], feature_names=NAMES)
    solver = ss.solvers.FISTA()
    shown = {}
    for blocks in (2, [1, 4], [[0, 1, 2], [3], [4]], ["gene", ""]):
        new = old.with_(penalty=BlockL1L2(blocks=blocks))
        ((kind, shown[str(blocks)]),) = marks_between(old, solver, new, solver)
        assert kind == "penalty"
    assert list(shown.values()) == [
        f"penalty l1/l2 → block-l1/l2 ({text})" for text in ("size 2", "2 blocks", "3 blocks", "2 blocks")
    ]


def test_problems_work_out_their_blocks_once_and_share_them() -> None:
    problem = ss.Problem(np.eye(5), [0, 1, 0, 1, 1], penalty=BlockL1L2(size=2), feature_names=NAMES)
    assert problem.with_lam(0.5).regulariser is problem.regulariser
    back = problem.with_(penalty="l1").with_(penalty=BlockL1L2(size=2))
    assert back.regulariser is problem.regulariser and back.key == problem.key
    other = problem.with_(penalty=BlockL1L2(blocks=["gene", ""]))
    assert other.key != problem.key and other.regulariser.blocks is not problem.regulariser.blocks
    assert problem.with_(penalty="l1").regulariser.blocks is None
