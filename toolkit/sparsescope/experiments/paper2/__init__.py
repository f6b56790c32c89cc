"""Paper 2: Agarwal, Kakade, Karampatziakis, Song and Valiant (2013), least squares revisited."""

from __future__ import annotations

from ..base import Experiment, Measurement, Paper
from . import claims, figures, samples
from .differences import DIFFERENCES
from .fits import measure_blocks, measure_spectra, measure_table1
from .rates import measure_rates, side_by_side
from .rivals import measure_peers, measure_text
from .tables import table1, table2

__all__ = [
    "PAPER",
    "measure_blocks",
    "measure_peers",
    "measure_rates",
    "measure_spectra",
    "measure_table1",
    "measure_text",
    "side_by_side",
    "table1",
    "table2",
]

MEASUREMENTS = (
    Measurement("Table 1", "fits", measure_table1, refuses=samples.not_dense),
    Measurement("Fig. 1a", "blocks", measure_blocks, refuses=samples.not_dense),
    Measurement("Fig. 2", "peers", measure_peers, refuses=samples.not_dense),
    Measurement("Table 2", "text", measure_text, refuses=samples.not_sparse),
    Measurement("Fig. 1b", "spectra", measure_spectra),
    Measurement("Theorem 1", "rates", measure_rates, refuses=samples.not_dense),
)
EXPERIMENTS = (
    Experiment("table1", "Table 1", "test error of linear, logistic and calibrated fits on the raw features and on "
               "random Fourier features", ("Table 1",), "fits", figures.fits, lambda t: table1(t["fits"])),
    Experiment("blocks", "Fig. 1a", "test error over time of stages of two sizes, linear, calibrated and logistic",
               ("Fig. 1a",), "blocks", figures.blocks),
    Experiment("peers", "Fig. 2", "the same beside liblinear's methods and Vowpal Wabbit on the same features",
               ("Fig. 1a", "Fig. 2"), "peers", figures.rivals),
    Experiment("table2", "Table 2", "text: stages of columns by gradient beside liblinear and Vowpal Wabbit",
               ("Table 2",), "text", figures.text, lambda t: table2(t["text"])),
    Experiment("spectra", "Fig. 1b", "share of the leading singular values, of images and of text", ("Fig. 1b",),
               "spectra", figures.spectra),
    Experiment("theorem1", "Theorem 1", "the bound of Theorem 1 and what plain and accelerated steps of gls reach",
               ("Theorem 1",), "rates", figures.rates, side_by_side),
)  # fmt: skip

WORDS = {
    "linear, logistic": "least squares on the classes as 0 and 1; the softmax",
    "calibrated": "least squares, then least squares on powers of its predictions, in turn",
    "stages, blocks": "a model that grows by one block of features after the other, each fitted to the errors so far",
    "random features": "cosines of random projections of the data",
    "condition proxy": "the 2nd singular value of the data over the 1000th",
    "plain steps": "steps in the metric of the data, XᵀX/n, without momentum",
}

PAPER = Paper(
    number=2,
    title="Least squares revisited: scalable approaches for multi-class prediction",
    question="can least-squares steps with a calibrated link, in stages over blocks of features, replace "
    "logistic regression?",
    reference="A. Agarwal, S. M. Kakade, N. Karampatziakis, L. Song, G. Valiant, arXiv:1310.1949 (2013)",
    data=("digits", "pydocs"),
    measurements=MEASUREMENTS,
    experiments=EXPERIMENTS,
    claims=claims.CLAIMS,
    differences=DIFFERENCES,
    load=samples.load,
    words=WORDS,
)
