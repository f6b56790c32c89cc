"""Study of a paper, claim by claim: a vote, the figure, a second vote, and the verdict beside both. For notebooks."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .base import Claim, Measurement, Settings, load_paper
from .conduct import measure
from .progress import Report
from .verdicts import Results, Verdict, judge

VOTES = ("holds", "in part", "does not hold")


@dataclass(frozen=True)
class Reveal:
    """A verdict beside the vote that was given before.

    verdict : the claim with its findings · vote : one of ``VOTES``, or empty · sure : 1 to 3 ·
    first : vote and confidence before talking, where there was a second vote
    """

    verdict: Verdict
    vote: str = ""
    sure: int = 0
    first: tuple[str, int] | None = None

    @property
    def sentence(self) -> str:
        """The vote against the verdict, and the vote before it."""
        if self.first is None:
            return self._beside
        return f"{self._beside} At first you said: {self.first[0]} (sure: {self.first[1]} of 3)."

    @property
    def _beside(self) -> str:
        if not self.vote:
            return "You did not vote."
        if self.verdict.vote is None:
            return f"You said: {self.vote}. These data do not decide it."
        beside = "and so it is here" if self.vote == self.verdict.vote else f"and here it {_verb(self.verdict.vote)}"
        return f"You said: {self.vote} (sure: {self.sure} of 3), {beside}."

    def __repr__(self) -> str:
        head = f"{self.verdict.word.upper()}: {self.verdict.claim.text} ({self.verdict.claim.where})"
        return "\n".join([head, *(f"  {line}" for line in self.verdict.lines), self.sentence])

    def _repr_html_(self) -> str:
        head, *lines, said = map(html.escape, repr(self).splitlines())
        return f"<div><b>{head}</b><ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul><p>{said}</p></div>"


def _verb(vote: str) -> str:
    return {"in part": "holds in some cases only"}.get(vote, vote)


class Study:
    """The claims of a paper one after the other. What a claim needs is measured when it is first asked for.

    number : of the paper · data : names or files, the paper's own if none is given · settings : quick ones by default

    Raises ``ValueError`` for unknown papers, data sets, claims and figures; its message names those that there are.
    """

    def __init__(self, number: int, data: Sequence[str] = (), settings: Settings | None = None) -> None:
        self.paper = load_paper(number)
        self.settings = settings or Settings(quick=True)
        self.pools = self.paper.pools(data, self.settings.quick)
        self.results = Results()
        self.votes: dict[str, list[tuple[str, int]]] = {}  # by claim, the last one counts

    def claim(self, name: str) -> Claim:
        """The claim of this name."""
        found = {claim.name: claim for claim in self.paper.claims}
        if name not in found:
            raise ValueError(f"paper {self.paper.number} has no claim {name!r}; its claims: {', '.join(found)}")
        return found[name]

    def vote(self, name: str, answer: str, sure: int = 2) -> None:
        """Lock in a vote on a claim: ``holds``, ``in part`` or ``does not hold``, and how sure (1 to 3)."""
        self.votes[name] = [self._checked(name, answer, sure)]

    def vote_again(self, name: str, answer: str, sure: int = 2) -> None:
        """Lock in a second vote, after talking or after the figure; the first one is shown beside it."""
        self.votes[name] = [*self.votes.get(name, [])[:1], self._checked(name, answer, sure)]

    def _checked(self, name: str, answer: str, sure: int) -> tuple[str, int]:
        self.claim(name)
        if answer not in VOTES or sure not in (1, 2, 3):
            raise ValueError(f"a vote is one of {', '.join(map(repr, VOTES))}, with sure=1, 2 or 3")
        return answer, sure

    def figure(self, name: str) -> Any:
        """The figure or table of an experiment, from what is measured now or was before."""
        experiment = self.paper.choose([name])[0]
        self._measure([m for m in self.paper.measurements if m.name in experiment.needs])
        make = experiment.draw or experiment.tabulate
        assert make is not None
        return make(self.results.tables)

    def verdict(self, name: str) -> Reveal:
        """The verdict on a claim, beside the votes."""
        claim = self.claim(name)
        self._measure([m for m in self.paper.measurements if m.table in claim.needs])
        *before, last = self.votes.get(name, [("", 0)])
        return Reveal(judge([claim], self.results.tables)[0], *last, *before)

    def elsewhere(self, name: str, *data: str) -> Reveal:
        """The verdict on a claim on other data, names or files, beside the same votes."""
        if not data:
            raise ValueError(f"name the data: elsewhere({name!r}, 'wine')")
        other = Study(self.paper.number, data, self.settings)
        other.votes = self.votes
        return other.verdict(name)

    def _measure(self, wanted: list[Measurement]) -> None:
        for _ in measure(self.results, wanted, self.pools, self.settings, Report()):
            pass
