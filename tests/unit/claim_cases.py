"""What the tests of the papers' claims share: the verdict on one claim, and the check of one of its cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparsescope.experiments.verdicts import Verdict, judge


def verdict(paper: Any, name: str, tables: Any) -> Verdict:
    """The verdict on the claim of this name, from tables made by hand."""
    (found,) = judge([next(c for c in paper.claims if c.name == name)], tables)
    return found


def check_case(paper: Any, cases: Mapping[str, tuple[Any, ...]], name: str, place: int, word: str) -> None:
    """The tables at ``place`` of a claim's cases lead to the verdict ``word``, and every finding says its numbers."""
    found = verdict(paper, name, cases[name][place])
    assert found.word == word, [f.numbers for f in found.findings]
    assert all(f.numbers for f in found.findings)
