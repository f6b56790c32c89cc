"""Paper 3: Chierchia, Pustelnik, Pesquet and Pesquet-Popescu (2015), A proximal approach for sparse multiclass SVM."""

from __future__ import annotations

from collections.abc import Callable

from ..base import Experiment, Measurement, Paper
from ..pools import Pool
from . import claims, figures, samples
from .accuracy import fit_images, fit_table1, fit_text, table1
from .differences import DIFFERENCES
from .quadratic import compare_quadratic
from .races import follow_methods, time_methods

__all__ = ["PAPER", "compare_quadratic", "fit_images", "fit_table1", "fit_text", "follow_methods", "table1",
           "time_methods"]  # fmt: skip

WANTED = {"table": "dense data without images (a table of features, such as gene expressions)",
          "images": "images", "text": "sparse data (texts)"}  # fmt: skip


def _only(kind: str) -> Callable[[Pool], str | None]:
    def refuses(pool: Pool) -> str | None:
        return None if samples.kind(pool) == kind else f"it is for {WANTED[kind]}"

    return refuses


MEASUREMENTS = (
    Measurement("Table 1", "genes", fit_table1, refuses=_only("table")),
    Measurement("Fig. 1", "images", fit_images, refuses=_only("images")),
    Measurement("Fig. 2", "text", fit_text, refuses=_only("text")),
    Measurement("Fig. 3, times", "times", time_methods, refuses=_only("images")),
    Measurement("Fig. 3, distances", "distances", follow_methods, refuses=_only("images")),
    Measurement("Fig. 4", "quadratic", compare_quadratic, refuses=_only("images")),
)
EXPERIMENTS = (
    Experiment("table1", "Table 1", "errors and non-zero weights of four losses under four penalties",
               ("Table 1",), "genes", figures.genes, lambda tables: table1(tables["genes"])),
    Experiment("fig1", "Fig. 1", "images: error and zeros over α, ℓ1,∞ on blocks", ("Fig. 1",), "images",
               lambda tables: figures.sweep(tables, "images", "Images, ℓ1,∞ on blocks")),
    Experiment("fig2", "Fig. 2", "text: error and zeros over α, ℓ1,2 on rows", ("Fig. 2",), "text",
               lambda tables: figures.sweep(tables, "text", "Text, ℓ1,2 on rows")),
    Experiment("fig3-times", "Fig. 3, left", "time to a relative change of 1e-5 over α", ("Fig. 3, times",), "times",
               figures.times),
    Experiment("fig3", "Fig. 3, right", "distance to x∞ over time", ("Fig. 3, distances",), "distances",
               figures.distances),
    Experiment("fig4", "Fig. 4", "quadratic penalty: time over the number of samples", ("Fig. 4",), "quadratic",
               figures.quadratic),
)  # fmt: skip

WORDS = {
    "hinge": "the exact multiclass hinge: what a sample lacks of a lead of 1 over the best other class",
    "square, logit": "the smooth squared hinge, the logistic loss",
    "one-vs-all": "a squared hinge for each class against the rest",
    "Alg. 1, Alg. 2": "the paper's methods: the sum of the hinges is minimised, or kept below a bound",
    "linear constraints": "the same bound with an inequality for each sample and other class",
    "forward-backward": "a gradient step and a proximal step in turn",
    "α": "the strength of the penalty",
    "ℓ1,∞": "the sum over rows, or blocks of weights, of the largest size",
}

PAPER = Paper(
    number=3,
    title="A proximal approach for sparse multiclass SVM",
    question="what does the exact multiclass hinge gain in accuracy, sparsity and time over smooth losses, with "
    "the epigraph splitting of its Algorithms 1 and 2?",
    reference="G. Chierchia, N. Pustelnik, J.-C. Pesquet, B. Pesquet-Popescu, arXiv 1501.03669 (2015)",
    data=("wine", "digits", "pydocs"),
    measurements=MEASUREMENTS,
    experiments=EXPERIMENTS,
    claims=claims.CLAIMS,
    differences=DIFFERENCES,
    load=samples.load,
    words=WORDS,
)
