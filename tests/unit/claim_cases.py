"""Helpers of the tests of the papers' claims: the verdict on one claim, and the check of one of its cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparsescope.experiments.verdicts import DISAGREE, HOLDS, OPEN, Verdict, judge


def verdict(paper: Any, name: str, tables: Any) -> Verdict:
    """The verdict on the claim of this name, from tables made by hand."""
    (found,) = judge([next(c for c in paper.claims if c.name == name)], tables)
    return found


def check_case(paper: Any, cases: Mapping[str, tuple[Any, ...]], name: str, place: int, word: str) -> None:
    """The tables at ``place`` of a claim's cases lead to the verdict ``word``, and every finding says its numbers."""
    found = verdict(paper, name, cases[name][place])
    assert found.word == word, [f.numbers for f in found.findings]
    assert all(f.numbers for f in found.findings)


def check_repeats(paper: Any, cases: Mapping[str, tuple[Any, ...]], name: str) -> None:
    """A claim on times holds when repeated runs lie close together, and is open when their quartiles lie far apart."""

    def repeated(factor: float) -> Any:
        ends = {"low": 1.0 / factor, "high": factor}
        return {
            table: frame.assign(
                **{f"{c}_{end}": frame[c] * by for c in frame if c.endswith("seconds") for end, by in ends.items()}
            )
            for table, frame in cases[name][0].items()
        }

    assert verdict(paper, name, repeated(1.001)).word == HOLDS
    apart = verdict(paper, name, repeated(1000.0))
    assert apart.word == OPEN and any(DISAGREE in finding.numbers for finding in apart.findings)
