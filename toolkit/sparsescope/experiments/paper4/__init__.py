"""Paper 4: Yen, Huang, Zhong, Ravikumar and Dhillon (2016), PD-Sparse."""

from __future__ import annotations

from ..base import Experiment, Measurement, Paper
from . import claims, figures, samples
from .differences import DIFFERENCES
from .growth import measure_growth
from .models import compare_models, tables12
from .search import compare_searches
from .sparsity import measure_sparsity, table3

__all__ = ["PAPER", "compare_models", "compare_searches", "measure_growth", "measure_sparsity", "table3", "tables12"]

MEASUREMENTS = (
    Measurement("Table 3", "sparsity", measure_sparsity),
    Measurement("Tables 1 and 2", "models", compare_models),
    Measurement("Sec. 3.2", "searches", compare_searches),
    Measurement("Growth", "growth", measure_growth, refuses=samples.not_for_growth),
)
EXPERIMENTS = (
    Experiment("tables12", "Tables 1 and 2", "accuracy, model size, training and prediction time, beside liblinear and "
               "Vowpal Wabbit", ("Tables 1 and 2",), "models", figures.models, lambda t: tables12(t["models"])),
    Experiment("table3", "Table 3", "active duals a sample and weights a feature over λ", ("Table 3",), "sparsity",
               figures.sparsity, lambda t: table3(t["sparsity"])),
    Experiment("search", "Sec. 3.2", "the gap over time, with and without bi-stochastic search", ("Sec. 3.2",),
               "searches", figures.searches),
    Experiment("growth", "Sec. 5", "time of an iteration, time of prediction and size over the number of classes",
               ("Growth",), "growth", figures.growth),
)  # fmt: skip

WORDS = {
    "active dual variables, k_A": "classes that pull at a sample: its own and its nearest rivals; their mean number",
    "k_W": "the mean number of non-zero weights of a feature",
    "one against all": "a model for each class against the rest, by liblinear or Vowpal Wabbit",
    "bi-stochastic search": "the worst rival of a sample is looked for among some classes and with some features only",
    "sub-linearly": "twice the classes cost less than twice as much",
}

PAPER = Paper(
    number=4,
    title="PD-Sparse: a primal and dual sparse approach to extreme multiclass and multilabel classification",
    question="with thousands of classes, can a method that touches only active classes and features train in "
    "sub-linear time?",
    reference="I. E. H. Yen, X. Huang, K. Zhong, P. Ravikumar, I. S. Dhillon, ICML (2016)",
    data=("pydocs", "planted-extreme", "planted-extreme-tags"),
    measurements=MEASUREMENTS,
    experiments=EXPERIMENTS,
    claims=claims.CLAIMS,
    differences=DIFFERENCES,
    load=samples.load,
    quick=samples.quick,
    words=WORDS,
)
