"""Claims of Sec. 4 of the paper, and their checks on the tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..base import Case, Claim
from ..verdicts import DISAGREE, Answer, agreed, by_data, for_each, number, slower, times
from . import protocol
from .covariances import table2
from .protocol import FISTA, GLMNET, LHAC, QUIC
from .races import exponent, table1, times_to

if TYPE_CHECKING:
    import pandas as pd

LOOSE, TIGHT = protocol.EPSILONS
OVER = 1.05  # "from below": a working set is at most this many times the final size


def _races(table: pd.DataFrame) -> Iterator[tuple[Case, pd.DataFrame]]:
    return by_data(table1(table))


def _times(table: pd.DataFrame) -> Iterator[tuple[Case, list[dict[str, Any]]]]:
    """(case, its rows of Table 1, with the times of repeated runs)."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in times_to(table):
        found.setdefault(str(row["data"]), []).append(row)
    return ((Case.on(data), rows) for data, rows in found.items())


def _wins(part: list[dict[str, Any]], name: str, rivals: tuple[str, ...]) -> tuple[int, int, str]:
    """Number of rows in which a method was first, of those in which any was, and the times of the last row as text.

    A row whose repeated runs disagree on who was first is not counted.
    """
    won = decided = close = 0
    for row in part:
        best = min((row[rival] for rival in rivals), key=lambda time: time.middle)
        if math.isfinite(min(row[name].middle, best.middle)):
            sooner = slower(best, row[name])
            decided += sooner is not None
            close += sooner is None
            won += bool(sooner)
    last = part[-1]
    said = ", ".join(f"{each} {last[each]}" for each in (name, *rivals))
    said = f"{last['samples']} samples to {last['epsilon']:g}: {said}"
    counted = f"first in {won} of {decided}" + (f", {DISAGREE} in {close}" if close else "")
    return won, decided, f"{counted}; {said}"


@for_each(_times, "races")
def fastest(part: list[dict[str, Any]]) -> Answer:
    """LHAC is the fastest in all cells of Table 1 but one."""
    won, decided, said = _wins(part, LHAC, (FISTA, GLMNET))
    return won >= decided - 1 if decided > 1 else None, said


@for_each(_times, "races")
def first_at(part: list[dict[str, Any]], name: str, rival: str, epsilon: float) -> Answer:
    """A method is faster than a rival to ε for most numbers of samples."""
    won, decided, said = _wins([row for row in part if row["epsilon"] == epsilon], name, (rival,))
    return 2 * won > decided if decided else None, said


@for_each(_times, "races")
def margin(part: list[dict[str, Any]]) -> Answer:
    """The time of newGLMNET over that of LHAC is above 1 with the most samples, and larger than with the fewest."""
    able = [row for row in part if row["epsilon"] == TIGHT and math.isfinite(max(row[GLMNET].middle, row[LHAC].middle))]
    if len(able) < 2:
        return None, "fewer than two numbers of samples at which both finished"
    few, many = (row[GLMNET].over(row[LHAC]) for row in (able[0], able[-1]))
    holds = agreed(late > max(early, 1.0) for late, early in ((many[0], few[0]), (many[1], few[2]), (many[2], few[1])))
    said = f"{times(few[0])} at {able[0]['samples']} samples, {times(many[0])} at {able[-1]['samples']}"
    said += f": {DISAGREE}" if holds is None else ""
    return holds, f"GLMNET ÷ LHAC {said}"


@for_each(_races, "races")
def growth(part: pd.DataFrame) -> Answer:
    """The time of LHAC grows with a smaller exponent of the samples than that of newGLMNET."""
    ours, theirs = exponent(part, LHAC), exponent(part, GLMNET)
    known = math.isfinite(ours) and math.isfinite(theirs)
    said = f"exponents {number(ours)} and {number(theirs)}" if known else "too few sizes for an exponent"
    return ours < theirs if known else None, said


def _precisions(table: pd.DataFrame) -> Iterator[tuple[Case, pd.Series]]:
    """(case, its row) of Table 2."""
    for _, row in table2(table).iterrows():
        yield Case.on(row["data"], f"ε = {row['epsilon']:g}"), row


def _finest(table: pd.DataFrame) -> Iterator[tuple[Case, pd.Series]]:
    """(case, its row) of Table 2 at the smallest ε."""
    for _, row in table2(table).iterrows():
        if row["epsilon"] == min(protocol.PRECISIONS):
            yield Case.on(row["data"]), row


@for_each(_precisions, "covariances")
def fewer_flops(row: pd.Series) -> Answer:
    """LHAC needs fewer flops than QUIC at every ε."""
    ours, theirs = row[f"{LHAC} Mflops"], row[f"{QUIC} Mflops"]
    holds = bool(ours < theirs) if math.isfinite(min(ours, theirs)) else None
    return holds, f"LHAC {number(ours, 4)}, QUIC {number(theirs, 4)} Mflops"


@for_each(_finest, "covariances")
def trade(row: pd.Series) -> Answer:
    """QUIC needs fewer iterations, and LHAC fewer flops a coordinate step."""
    values: list[Any] = [row[f"{name} {what}"] for what in ("iterations", "flops a step") for name in (QUIC, LHAC)]
    if not all(map(math.isfinite, values)):
        return None, f"not both got to ε = {row['epsilon']:g}"
    k_quic, k_lhac, t_quic, t_lhac = values
    said = f"iterations {k_quic:.0f} and {k_lhac:.0f}, flops a step {t_quic:.0f} and {t_lhac:.0f} (QUIC, LHAC)"
    return k_quic < k_lhac and t_lhac < t_quic, said


@for_each(by_data, "covariances")
def working_set(part: pd.DataFrame, name: str, below: bool) -> Answer:
    """The working set approaches the final size from below (never above it by more than 5 %), or from above (it begins
    above it)."""
    sets = part.loc[(part["solver"] == name) & (part["iteration"] > 0), "working_set"]
    if not len(sets):
        return None, f"{name} was not measured"
    first, most, size = float(sets.iloc[0]), float(sets.max()), float(part["optimum"].iloc[0])
    holds = first < size and most <= OVER * size if below else first > size
    return holds, f"at first {first:.0f}, at most {most:.0f}; in the end {size:.0f}"


CLAIMS = (
    Claim("lhac-fastest", "Sec. 4.1, Table 1", "LHAC is faster than FISTA and GLMNET in all but one experiment.",
          ("races",), fastest),
    Claim("fista-early", "Sec. 4.1, Table 1", "At ε = 1e-2, FISTA mostly takes less time than GLMNET.", ("races",),
          lambda t: first_at(t, FISTA, GLMNET, LOOSE)),
    Claim("fista-late", "Sec. 4.1, Table 1", "At ε = 1e-5, GLMNET almost always ends before FISTA.", ("races",),
          lambda t: first_at(t, GLMNET, FISTA, TIGHT)),
    Claim("margin-grows", "Sec. 4.1, Fig. 1(c, d)", "The more training samples, the larger the margin between LHAC and "
          "GLMNET.", ("races",), margin),
    Claim("scales", "Sec. 4.1, Fig. 1(c, d)", "The time of LHAC grows less with the number of samples than that of "
          "GLMNET.", ("races",), growth),
    Claim("fewer-flops", "Sec. 4.2, Table 2", "QUIC always needs more flops than LHAC.", ("covariances",), fewer_flops),
    Claim("trade", "Sec. 4.2", "QUIC needs fewer iterations, LHAC fewer flops a coordinate step.", ("covariances",),
          trade),
    Claim("from-below", "Sec. 4.2, Fig. 2", "The working set of LHAC approaches the optimal size from below.",
          ("covariances",), lambda t: working_set(t, LHAC, True)),
    Claim("from-above", "Sec. 4.2, Fig. 2", "The working set of QUIC approaches the optimal size from above.",
          ("covariances",), lambda t: working_set(t, QUIC, False)),
)  # fmt: skip
