"""A study of a paper: votes, lazily measured figures and verdicts."""

from __future__ import annotations

import pandas as pd
import pytest

from sparsescope.experiments import Case, Finding, Settings, Study, Verdict, load_paper
from sparsescope.experiments.study import VOTES, Reveal


@pytest.fixture(scope="module")
def study() -> Study:
    return Study(1, ["iris"], Settings(quick=True, seconds=0.05))


def test_a_claim_is_measured_when_it_is_asked_for_and_stands_beside_the_vote(study: Study) -> None:
    assert not study.results.tables, "nothing is measured before"
    study.vote("patterns", "in part", sure=3)
    shown = study.verdict("patterns")
    assert set(study.results.tables) == {"patterns"}, "what other claims need is not measured"
    before = study.results.tables["patterns"]
    assert study.figure("fig1").data and study.results.tables["patterns"] is before, "nothing is measured twice"
    text = repr(shown)
    assert text.splitlines()[0].endswith(f"{shown.verdict.claim.text} ({shown.verdict.claim.where})")
    assert "iris: " in text and "You said: in part (sure: 3 of 3)" in text
    assert shown.verdict.claim.text in shown._repr_html_() and "<li>" in shown._repr_html_()


def test_a_second_vote_stands_beside_the_first_and_both_beside_other_data(study: Study) -> None:
    study.vote("patterns", "holds", sure=1)
    study.vote_again("patterns", "in part", sure=3)
    study.vote_again("patterns", "does not hold", sure=2)
    shown = study.verdict("patterns")
    assert (shown.vote, shown.sure, shown.first) == ("does not hold", 2, ("holds", 1))
    assert "At first you said: holds (sure: 1 of 3)." in repr(shown)
    elsewhere = study.elsewhere("patterns", "wine")
    assert "wine: " in repr(elsewhere) and elsewhere.first == shown.first
    study.vote("patterns", "in part")
    assert study.verdict("patterns").first is None, "a new first vote begins anew"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda study: study.verdict("nothing"), "no claim 'nothing'; its claims: patterns"),
        (lambda study: study.vote("patterns", "yes"), "'holds', 'in part', 'does not hold'"),
        (lambda study: study.vote("patterns", "holds", sure=4), "sure=1, 2 or 3"),
        (lambda study: study.vote_again("patterns", "no"), "'holds', 'in part', 'does not hold'"),
        (lambda study: study.elsewhere("patterns"), "name the data"),
        (lambda study: study.figure("fig9"), "known: fig1"),
        (lambda study: Study(9), "known: 1, 2, 3, 4, 5"),
    ],
)
def test_wrong_names_are_refused_with_those_there_are(study: Study, call: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call(study)  # type: ignore[operator]


def test_the_sentence_compares_vote_and_verdict() -> None:
    claim = load_paper(1).claims[0]
    answers = (("a", True, "1"), ("b", False, "2"), ("c", None, "3"))
    yes, no, unknown = (Finding(Case.on(name), holds, number) for name, holds, number in answers)
    verdicts = {VOTES[0]: Verdict(claim, (yes, unknown)), VOTES[1]: Verdict(claim, (yes, no)),
                VOTES[2]: Verdict(claim, (no,))}  # fmt: skip
    for vote, verdict in verdicts.items():
        assert verdict.vote == vote
        for said in VOTES:
            assert ("and so it is here" in Reveal(verdict, said, 2).sentence) == (said == vote)
    assert "do not decide it" in Reveal(Verdict(claim, (unknown,)), "holds", 1).sentence
    assert Reveal(verdicts["holds"]).sentence == "You did not vote."
    escaped = Reveal(Verdict(claim, (Finding(Case.on("<b>"), True, "a < b"),)))._repr_html_()
    assert "&lt;b&gt;" in escaped and "a &lt; b" in escaped


@pytest.mark.parametrize("number", range(1, 6))
def test_every_paper_has_a_question_and_a_notebook_on_its_claims(number: int) -> None:
    import json
    import re
    from pathlib import Path

    paper = load_paper(number)
    assert paper.question.endswith("?") and len(paper.question) <= 200
    path = Path(__file__).resolve().parents[2] / "notebooks" / f"3{number}_paper_{number}.ipynb"
    code = "".join("".join(cell["source"]) + "\n" for cell in json.loads(path.read_text(encoding="utf-8"))["cells"])
    claims = {claim.name for claim in paper.claims}
    voted, judged = (re.findall(rf'study\.{what}\("([^"]+)"', code) for what in ("vote", "verdict"))
    again = re.findall(r'study\.vote_again\("([^"]+)"', code)
    assert voted == again == judged and len(voted) == 5 and set(voted) <= claims
    assert code.count("study.elsewhere(") == 1
    assert set(re.findall(r'study\.figure\("([^"]+)"', code)) <= {e.name for e in paper.experiments}
    assert code.count("**Why here and not there.**") == 5


def test_a_study_on_other_data_keeps_to_its_settings() -> None:
    made = Study(5, ["iris"], Settings(quick=False))
    assert [pool.name for pool in made.pools] == ["iris"] and not made.settings.quick
    assert isinstance(made.results.tables, dict) and not any(isinstance(t, pd.DataFrame) for t in made.results.tables)
