"""Helpers of the tests of the papers' claims: the verdict on one claim, and the tests of its cases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from sparsescope.experiments.verdicts import DISAGREE, FAILS, HOLDS, OPEN, Verdict, judge


def verdict(paper: Any, name: str, tables: Any) -> Verdict:
    """The verdict on the claim of this name, from tables made by hand."""
    (found,) = judge([next(c for c in paper.claims if c.name == name)], tables)
    return found


def check_case(paper: Any, cases: Mapping[str, tuple[Any, ...]], name: str, place: int, word: str) -> None:
    """The tables at ``place`` of a claim's cases lead to the verdict ``word``, and every finding says its numbers."""
    found = verdict(paper, name, cases[name][place])
    assert found.word == word, [f.numbers for f in found.findings]
    assert all(f.numbers for f in found.findings)


def claim_tests(paper: Any, cases: Mapping[str, tuple[Any, ...]]) -> tuple[Callable[[], None], Callable[..., None]]:
    """Two tests: every claim of the paper has its cases, and their tables let it hold, fail and stay open."""

    def test_every_claim_has_its_cases() -> None:
        assert {c.name for c in paper.claims} == set(cases)

    @pytest.mark.parametrize("name", cases)
    @pytest.mark.parametrize(("place", "word"), [(0, HOLDS), (1, FAILS), (2, OPEN)], ids=["holds", "fails", "open"])
    def test_a_claim_can_hold_fail_and_stay_open(name: str, place: int, word: str) -> None:
        check_case(paper, cases, name, place, word)

    return test_every_claim_has_its_cases, test_a_claim_can_hold_fail_and_stay_open


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


def check_look(figure: Any) -> list[str]:
    """Lines of a figure can be told apart, and its axes have titles; returns the names of the lines."""
    names = [line.name for line in figure.data if line.showlegend]
    drawn = {(line.line.color, line.line.dash, line.marker.symbol) for line in figure.data}
    assert len(names) == len(set(names)) == len(drawn), "lines that can be told apart"
    assert figure.layout.xaxis.title.text and figure.layout.yaxis.title.text
    return names
