"""Paper 5: Tang and Scheinberg (2013), LHAC."""

from __future__ import annotations

from ..base import Experiment, Measurement, Paper
from . import claims, figures, samples
from .covariances import count_flops, table2
from .differences import DIFFERENCES
from .races import race_solvers, table1

__all__ = ["PAPER", "count_flops", "race_solvers", "table1", "table2"]

MEASUREMENTS = (
    Measurement("Table 1", "races", race_solvers, refuses=samples.not_for_races),
    Measurement("Table 2", "covariances", count_flops, refuses=samples.not_for_covariances),
)
EXPERIMENTS = (
    Experiment("table1", "Table 1", "seconds of FISTA, newGLMNET and LHAC to ε = 1e-2 and 1e-5, over the number of "
               "samples", ("Table 1",), "races", None, lambda t: table1(t["races"])),
    Experiment("fig1", "Fig. 1", "their violation over time, and their time over the number of samples", ("Table 1",),
               "races", figures.races),
    Experiment("table2", "Table 2", "flops of QUIC and LHAC to ε = 1e-2 and 1e-6 on sparse inverse covariances",
               ("Table 2",), "covariances", None, lambda t: table2(t["covariances"])),
    Experiment("fig2", "Fig. 2", "their working sets over the iterations, and the violation over flops", ("Table 2",),
               "covariances", figures.working_sets),
)  # fmt: skip

WORDS = {
    "LHAC": "coordinate steps on a model of the curvature that is learnt from the last gradients",
    "GLMNET, QUIC": "coordinate steps on the exact curvature, for logistic regression and for inverse covariances",
    "FISTA": "gradient steps with momentum",
    "ε": "the violation of optimality at which a run ends, relative to that at its beginning",
    "working set": "the weights that a method moves at a step",
    "flops": "operations of arithmetic, counted in coordinate steps",
}

PAPER = Paper(
    number=5,
    title="Efficiently using second order information in large l1 regularization problems",
    question="do second-order methods that approximate the Hessian from gradients (LHAC) beat first-order "
    "methods and exact Hessians on sparse problems?",
    reference="X. Tang, K. Scheinberg, arXiv:1303.6935 (2013)",
    data=("pydocs", "digits", "breast_cancer"),
    measurements=MEASUREMENTS,
    experiments=EXPERIMENTS,
    claims=claims.CLAIMS,
    differences=DIFFERENCES,
    load=samples.load,
    words=WORDS,
)
