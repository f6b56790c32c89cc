"""Terms of the course: an explanation of a line for each, shown where it occurs, and how it is recognised in a text.

A lesson says which of them it introduces and which it needs; a test reads its texts and holds it to that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Term:
    """Term: the pattern of the words by which it occurs in a text, and an explanation.

    Attributes
    ----------
    words : regular expression of the term in a text
    meaning : a sentence
    known : whether every student knows it before the first lesson
    """

    words: str
    meaning: str
    known: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled expression: whole words, whatever their case."""
        return re.compile(rf"(?<![\w])(?:{self.words})(?![\w])", re.IGNORECASE)


TERMS: dict[str, Term] = {
    "weights": Term(r"weights?|W", "W has a row for each feature and a column for each class.", known=True),
    "gradient step": Term("gradient step", "W minus a step times the gradient of the loss.", known=True),
    "objective": Term(r"F|objectives?", "F = mean loss + λ × penalty, which the solvers make small.", known=True),
    "lambda": Term("λ", "λ is the strength of the penalty: a larger λ gives a smaller model.", known=True),
    "seed": Term("seeds?", "A seed fixes all that is drawn at random.", known=True),
    "gap": Term(r"(?:duality )?gaps?", "The gap is F minus a proved lower bound of the smallest F."),
    "penalty": Term("penalt(?:y|ies)", "The penalty adds λ times a size of W to the loss."),
    "prox": Term(
        "prox(?:es|imal)?", "prox_{τΩ}(v) is the vector that is best at being near v and at having a small penalty."
    ),
    "dual norm": Term("dual norms?|dual ball", "The dual norm of Ω: the largest ⟨v, w⟩ over all w with Ω(w) ≤ 1."),
    "ties": Term("ties|tied?|tying", "Entries are tied when they have exactly the same size."),
    "ridge": Term("ridge", "Ridge: half the sum of the squared weights; smooth, so it makes no zeros."),
    "l1": Term("ℓ1(?!/)", "ℓ1: the sum of the sizes of all weights."),
    "l1/l2": Term("ℓ1/ℓ2", "ℓ1/ℓ2: the sum of the lengths of the rows of W."),
    "l1/linf": Term("ℓ1/ℓ∞", "ℓ1/ℓ∞: the sum over rows of the largest size in the row."),
    "sparse group": Term("sparse groups?", "Sparse group: a mixture of ℓ1 and ℓ1/ℓ2."),
    "rows in use": Term("rows? in use|uses? (?:the )?rows?", "A row of W is in use when it is not all zero."),
    "lambda max": Term("λ_max", "λ_max is the smallest λ at which W = 0 is optimal."),
    "path": Term("paths?", "A path is one problem solved at many λ, from large to small."),
    "warm start": Term("warm starts?", "A warm start begins at the solution of the λ before."),
    "coordinate descent": Term(
        "BCD|bcd-\\w+|coordinate descent", "Block coordinate descent minimises over one row of W at a time."
    ),
    "active set": Term("active sets?", "The active set holds the rows of W in use at present."),
    "line search": Term("line search(?:es)?", "A line search tries steps and takes the first that lowers F enough."),
    "step constant": Term("class-aware|step constants?|2m|K_j", "K bounds the curvature: a step of 1/K lowers F."),
    "fista": Term("FISTA", "FISTA is a gradient method with momentum."),
    "ista": Term("ISTA", "ISTA takes a gradient step and then a prox, again and again."),
    "momentum": Term("momentum", "Momentum goes on in the direction of the last step."),
    "restart": Term("restarts?", "A restart sets the momentum back to zero."),
    "fobos": Term("FOBOS", "FOBOS takes a gradient step of one sample and then a prox."),
    "sparsa": Term("SpaRSA", "SpaRSA chooses its steps by the last two gradients (Barzilai and Borwein)."),
    "hinge": Term("(?:exact )?hinges?", "The hinge pays for margins below 1 and has a corner there."),
    "dual point": Term(
        "dual points?|dual rows?", "A dual point gives each sample its forces; it proves a lower bound."
    ),
    "certificate": Term("certificates?", "A certificate of W: its gap and its violation of optimality."),
    "screening": Term("screening", "Screening drops features that cannot be in the solution."),
    "second order": Term("second order|newGLMNET|LHAC|QUIC|gls", "Second order methods use the curvature of F."),
    "pd-sparse": Term("pd-sparse|k_A|k_W", "PD-Sparse keeps only the active duals and the non-zero weights."),
}


def used(text: str) -> set[str]:
    """Return the terms that occur in a text.

    Parameters
    ----------
    text
        anything a student reads.
    """
    return {name for name, term in TERMS.items() if term.pattern.search(text)}
