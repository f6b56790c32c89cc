"""Plain texts of lessons: questions, verdicts and the comparison with an answer."""

from __future__ import annotations

from typing import Any

from .answers import Judgement
from .base import Case, Finding, Lesson, Prediction, Scene, Show
from .pictures import as_text


def question_text(lesson: Lesson, k: int) -> str:
    """Return a question with what may be answered."""
    p = lesson.predictions[k - 1]
    return f"Lesson {lesson.number}, prediction {k} of {len(lesson.predictions)}\n\n{p.question}\n\n{p.kind.how()}"


def sentences(prediction: Prediction, judgement: Judgement) -> list[str]:
    """Return the sentences that belong to the mistakes of an answer, each once."""
    return list(dict.fromkeys(prediction.wrong[key] for key in judgement.keys))


def answer_text(prediction: Prediction, answer: Any, sure: int | None = None) -> str:
    """Return an answer, and how sure the student is."""
    return prediction.kind.shown(answer) + ("" if sure is None else f" (sure: {sure} of 3)")


def reveal_text(prediction: Prediction, answer: str, finding: Finding, judgement: Judgement) -> str:
    """Return an answer beside the measured one, with the sentences that explain it."""
    kind = prediction.kind
    said = [
        f"your answer: {answer}",
        f"measured:    {kind.shown(finding.answer)}" + (f"; {judgement.distance}" if judgement.distance else ""),
        "",
        finding.said,
        "",
    ]
    if text := as_text(finding.picture):
        said += [text, ""]
    said += sentences(prediction, judgement)
    said.append(prediction.explained)
    verdict = "holds in this run" if finding.holds else "does not hold in this run"
    said += ["", f"Claim: {prediction.claim} It {verdict}. Where: {prediction.condition}"]
    return "\n".join(said)


def elsewhere_text(case: Case, finding: Finding, vote: bool | None = None) -> str:
    """Return a line: whether the claim holds on another case, beside a vote on that."""
    verdict = "holds" if finding.holds else "does not hold"
    beside = "" if vote is None else ", as you said" if vote == finding.holds else ", and you said otherwise"
    return f"{case}: {verdict}{beside}. {finding.said}"


def scene_text(scene: Scene, show: Show) -> str:
    """Return a scene: its text, its run and its question."""
    picture, said = scene.run(show)
    parts = [scene.title, "", scene.text, "", as_text(picture), "", said, scene.question]
    return "\n".join(parts).rstrip()
