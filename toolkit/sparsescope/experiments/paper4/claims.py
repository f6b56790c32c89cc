"""Claims of Sec. 5 of the paper, and their checks on the tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import Case, Claim, Finding, Tables
from ..verdicts import DISAGREE, Answer, Time, agreed, by_data, for_each, number, points, seconds, slower, times
from . import protocol
from .protocol import LIBLINEAR, MULTI, ONE_L1, ONE_LOGISTIC, ONE_SVM, PD, POST, VW
from .sparsity import PAPER_BIBTEX, choose, is_bibtex

if TYPE_CHECKING:
    import pandas as pd

POINT = 0.01  # of accuracy: "competitive", and the tolerance of a figure that is met
BIBTEX_ACCURACY = 0.6455  # Table 2
SMALLER = 10.0  # Tables 1 and 2: the models are 2.6 to 1000 times smaller than those of 1vsA SVM, 36 times on sector
AS_SPARSE = 3.0  # "sparsity close to that from ℓ1": within this factor
COMPETITIVE = 2.0  # "very competitive training time": at most this many times the fastest of liblinear's methods
FEW = 0.2  # "much smaller than the number of classes"
MANY_CLASSES = 50  # below this there is no extreme classification to speak of
FACTOR = 2.0  # figures of Table 3
DECADE = 10.0  # the numbers of classes have to span this factor for an exponent
LINEAR = 0.8  # an exponent from here on is a linear growth


def megabytes(value: float) -> str:
    """Return a number of bytes as text."""
    return f"{value / 1e6:.3g} MB"


def models(tables: Tables) -> Iterator[tuple[Case, Any, dict[str, Any]]]:
    """(case, our chosen row or ``None``, method -> row) of each data set."""
    for case, part in by_data(tables["models"]):
        rows = {str(row["method"]): row for _, row in part.iterrows()}
        ours = [rows[name] for name in protocol.OURS if name in rows and bool(rows[name]["chosen"])]
        yield case, ours[0] if ours else None, rows


def _known(rows: dict[str, Any], names: tuple[str, ...], column: str) -> dict[str, float]:
    return {n: float(rows[n][column]) for n in names if n in rows and math.isfinite(rows[n][column])}


NOT_OURS = "PD-Sparse was not measured"


@for_each(models)
def accurate(ours: Any, rows: dict[str, Any], rivals: tuple[str, ...], margin: float) -> Answer:
    """The chosen PD-Sparse is at most ``margin`` below the best of the rivals in accuracy (precision at 1)."""
    theirs = _known(rows, rivals, "p_at_1")
    if ours is None or not theirs:
        return None, NOT_OURS if ours is None else _why(rows, rivals)
    best = max(theirs, key=lambda name: theirs[name])
    difference = float(ours["p_at_1"]) - theirs[best]
    said = f"{ours['method']} {100 * ours['p_at_1']:.1f} %, {best} {100 * theirs[best]:.1f} % ({points(difference)})"
    return difference >= -margin, said


def _why(rows: dict[str, Any], names: tuple[str, ...]) -> str:
    said = [f"{n}: {rows[n]['note']}" for n in names if n in rows and rows[n]["note"]]
    return "; ".join(said) or f"not measured: {', '.join(names)}"


@for_each(models)
def as_table2(ours: Any, rows: dict[str, Any]) -> Answer:
    """The accuracy on bibtex is the paper's, within a point; other data cannot tell."""
    if ours is None or not is_bibtex(_frame_of(ours)):
        return None, "not the paper's bibtex (159 labels, 1836 words)"
    value = float(ours["p_at_1"])
    each = ", ".join(f"{name} {100 * v:.2f} %" for name, v in _known(rows, protocol.OURS, "p_at_1").items())
    return abs(value - BIBTEX_ACCURACY) <= POINT, f"{each}; the paper {BIBTEX_ACCURACY:.2%}"


def _frame_of(row: Any) -> pd.DataFrame:
    frame: pd.DataFrame = row.to_frame().T
    return frame


def smaller(tables: Tables) -> list[Finding]:
    """The model takes at most a tenth of the bytes of the ℓ2 one-against-all SVM."""
    return _ratios(tables, ONE_SVM, "bytes", SMALLER, megabytes)


def as_sparse(tables: Tables) -> list[Finding]:
    """It has at most three times as many non-zero weights as the ℓ1 one-against-all logistic regression."""
    return _ratios(tables, ONE_L1, "nonzeros", 1.0 / AS_SPARSE, lambda v: f"{v:.0f} weights")


def faster(tables: Tables, rival: str, column: str) -> list[Finding]:
    """The time in a column is below the rival's."""
    return _ratios(tables, rival, column, 1.0, seconds)


@for_each(models)
def _ratios(ours: Any, rows: dict[str, Any], rival: str, column: str, least: float, words: Any) -> Answer:
    """Return whether theirs / ours is at least ``least`` (above it for 1)."""
    if ours is None or not _known(rows, (rival,), column):
        return None, NOT_OURS if ours is None else _why(rows, (rival,))
    here, there = Time.of(ours, column), Time.of(rows[rival], column)
    ratios = there.over(here)
    holds = agreed(ratio > 1.0 if least == 1.0 else ratio >= least for ratio in ratios)
    told = str if words is seconds else lambda value: words(value.middle)
    trained, classes = int(rows[rival]["trained"]), int(rows[rival]["classes"])
    guess = f", extrapolated from {trained} of {classes} classes" if 0 < trained < classes else ""
    numbers = f"{ours['method']} {told(here)}, {rival} {told(there)}{guess}; {times(ratios[0])}"
    return holds, numbers + (f"; {DISAGREE}" if holds is None else "")


@for_each(models)
def competitive(ours: Any, rows: dict[str, Any]) -> Answer:
    """Training takes at most twice the time of the fastest of liblinear's methods."""
    theirs = _known(rows, LIBLINEAR, "train_seconds")
    if ours is None or not theirs:
        return None, NOT_OURS if ours is None else _why(rows, LIBLINEAR)
    if int(ours["classes"]) < MANY_CLASSES:
        return None, f"{int(ours['classes'])} classes are not many"
    fastest = min(theirs, key=lambda name: theirs[name])
    here = Time.of(ours, "train_seconds")
    ratios = here.over(Time.of(rows[fastest], "train_seconds"))
    holds = agreed(ratio <= COMPETITIVE for ratio in ratios)
    each = ", ".join(f"{name} {Time.of(rows[name], 'train_seconds')}" for name in theirs)
    numbers = f"{ours['method']} {here}; {each}; {times(ratios[0])} the fastest"
    return holds, numbers + (f"; {DISAGREE}" if holds is None else "")


@for_each(models)
def post_helps(ours: Any, rows: dict[str, Any]) -> Answer:
    """The post-solved weights are more accurate than those before; equal ones cannot tell."""
    both = _known(rows, protocol.OURS, "p_at_1")
    if len(both) < 2:
        return None, NOT_OURS
    difference = both[POST] - both[PD]
    said = f"{100 * both[POST]:.1f} % after, {100 * both[PD]:.1f} % before ({points(difference)})"
    return (None if difference == 0.0 else difference > 0.0), said


@for_each(by_data, "sparsity")
def few_duals(part: pd.DataFrame) -> Answer:
    """k_A at the best λ is at most a fifth of the number of classes."""
    row = choose(part)
    k, m = float(row["k_a"]), int(row["classes"])
    holds = None if m < MANY_CLASSES else k <= FEW * m
    numbers = f"k_A {number(k)} of {m} classes at λ = {row['lam4']:g}"
    return holds, numbers + (", which are not many" if holds is None else "")


@for_each(by_data, "sparsity")
def as_table3(part: pd.DataFrame) -> Answer:
    """k_A and k_W on bibtex are within a factor of two of Table 3."""
    if not is_bibtex(part):
        return None, "not the paper's bibtex (159 labels, 1836 words)"
    row = choose(part)
    here = (float(row["k_a"]), float(row["k_w"]))
    near = [1.0 / FACTOR <= a / b <= FACTOR for a, b in zip(here, PAPER_BIBTEX, strict=True)]
    return all(near), (
        f"k_A {number(here[0])} (the paper {PAPER_BIBTEX[0]}), k_W "
        f"{number(here[1])} ({PAPER_BIBTEX[1]}) at λ = {row['lam4']:g}"
    )


# --------------------------------------------------------------------------------------------------------------- growth
def exponent(part: pd.DataFrame, column: str) -> float:
    """Slope of log(column) over log(classes), by least squares; NaN for a span of less than a decade."""
    part = part[(part[column] > 0.0) & np.isfinite(part[column])]
    m = part["classes"].to_numpy(dtype=float)
    if len(m) < 2 or m.max() < DECADE * m.min():
        return float("nan")
    return float(np.polyfit(np.log(m), np.log(part[column].to_numpy(dtype=float)), 1)[0])


@for_each(by_data, "growth")
def grows(part: pd.DataFrame, method: str, column: str, sublinear: bool, words: Any) -> Answer:
    """Return whether a column of a method grows with an exponent below 1 (``sublinear``), or of at least 0.8 (not)."""
    rows = part[part["method"] == method].sort_values("classes")
    value = exponent(rows, column)
    if not math.isfinite(value):
        return None, f"{method} was not measured over a tenfold number of classes"
    ends = [f"{words(float(row[column]))} at {int(row['classes'])}" for _, row in rows.iloc[[0, -1]].iterrows()]
    return value < 1.0 if sublinear else value >= LINEAR, f"{ends[0]} classes, {ends[1]}: exponent {value:.2f}"


# --------------------------------------------------------------------------------------------------------------- search
def reached(run: pd.DataFrame, level: float) -> Time:
    """Seconds until the gap of a run is at most ``level``; infinity if it never was."""
    return Time.first(run, run["gap"] <= level)


@for_each(by_data, "searches")
def search_helps(part: pd.DataFrame) -> Answer:
    """ν = 3 with sampled features reaches the wanted gap sooner than the exact search; where k_W ≤ k_A it need not."""
    runs = {str(name): run for name, run in part.groupby("search", sort=False)}
    if not {protocol.EXACT, protocol.SAMPLED} <= set(runs):
        return None, "both searches were not measured"
    level = float(part["wanted"].iloc[0])
    spent = {name: reached(run, level) for name, run in runs.items()}
    words = ", ".join(f"{name} {value}" for name, value in spent.items())
    k_a, k_w = (float(runs[protocol.EXACT][name].iloc[-1]) for name in ("k_a", "k_w"))
    words = f"to a gap of {level:g}: {words}; k_W {number(k_w)}, k_A {number(k_a)}"
    fast, slow = spent[protocol.SAMPLED], spent[protocol.EXACT]
    holds = slower(slow, fast)
    if k_w <= k_a:
        holds, words = None, words + ": the search is not the bottleneck"
    elif math.isinf(fast.middle) and math.isinf(slow.middle):
        holds = None
    elif holds is None:
        words += f"; {DISAGREE}"
    return holds, words


CLAIMS = (
    Claim("competitive-accuracy", "Sec. 5, Tables 1 and 2", "PD-Sparse keeps an accuracy that is competitive with that "
          "of the standard methods (at most a point below the best of liblinear's).", ("models",),
          lambda t: accurate(t, LIBLINEAR, POINT)),
    Claim("vw-accuracy", "Table 1", "PD-Sparse is more accurate than Vowpal Wabbit's one against all.", ("models",),
          lambda t: accurate(t, (VW,), 0.0)),
    Claim("bibtex-accuracy", "Table 2", "The test accuracy on bibtex is 64.55 % (within a point).", ("models",),
          as_table2),
    Claim("post-solve", "Sec. 4.3", "In some cases an ℓ2-regularised problem on the selected features yields a better "
          "performance.", ("models",), post_helps),
    Claim("small-model", "Tables 1 and 2", "The model is far smaller (ten times) than that of the ℓ2 one-against-all "
          "SVM.", ("models",), smaller),
    Claim("sparse-as-l1", "Sec. 2", "The elastic net gives a sparsity close to that of the ℓ1 regulariser (within a "
          "factor of three of the ℓ1 logistic regression).", ("models",), as_sparse),
    Claim("train-l1", "Tables 1 and 2", "PD-Sparse trains faster than ℓ1 one-against-all logistic "
          "regression.", ("models",),
          lambda t: faster(t, ONE_L1, "train_seconds")),
    Claim("train-logistic", "Tables 1 and 2", "PD-Sparse trains faster than ℓ2 one-against-all logistic regression.",
          ("models",), lambda t: faster(t, ONE_LOGISTIC, "train_seconds")),
    Claim("train-time", "Sec. 1 and 5", "The training time of PD-Sparse is very competitive (at most "
          "twice that of the fastest of "
          "liblinear's methods).", ("models",), competitive),
    Claim("predict-time", "Tables 1 and 2", "PD-Sparse predicts faster than the one-against-all SVM.", ("models",),
          lambda t: faster(t, ONE_SVM, "predict_seconds")),
    Claim("few-duals", "Sec. 5, Table 3", "The average number of active dual variables of a sample is much smaller "
          "than the number of classes.", ("sparsity",), few_duals),
    Claim("table3-bibtex", "Table 3", "On bibtex k_A is 18.17 and k_W 1.94 (within a factor of two).", ("sparsity",),
          as_table3),
    Claim("search", "Sec. 3.2", "Where k_W is above k_A, bi-stochastic search makes training faster.", ("searches",),
          search_helps),
    Claim("growth-train", "Sec. 5", "Training time grows sub-linearly with the number of classes.", ("growth",),
          lambda t: grows(t, PD, "iteration_seconds", True, seconds)),
    Claim("growth-predict", "Sec. 5", "Prediction time grows sub-linearly with the number of classes.", ("growth",),
          lambda t: grows(t, PD, "predict_seconds", True, seconds)),
    Claim("growth-size", "Sec. 5", "Model size grows sub-linearly with the number of classes.", ("growth",),
          lambda t: grows(t, PD, "bytes", True, megabytes)),
    Claim("growth-standard", "Sec. 5", "Standard multiclass solvers suffer from complexity growing linearly with the "
          "number of classes.", ("growth",), lambda t: grows(t, MULTI, "iteration_seconds", False, seconds)),
)  # fmt: skip
