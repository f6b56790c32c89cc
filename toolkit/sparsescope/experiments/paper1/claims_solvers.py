"""Claims of Sec. 2, 4.4 and 5.2 of the paper on penalties and solvers, and their checks on the tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..base import Case, Claim, Finding, Tables
from ..verdicts import Answer, by_data, for_each, number, points, power, seconds, times
from . import reading
from .reading import INFINITY

if TYPE_CHECKING:
    import pandas as pd

LS, CST = "BCD (LS)", "BCD (CST)"
FISTA_LS, FISTA_CST = "FISTA (LS)", "FISTA (CST)"
TRIVIAL = "λ is above λ_max: the optimum is W = 0"
MUCH = 2.0  # "much", "quite", "substantially": at least this factor
SIMILAR = 2.0  # "similar", "comparable": within this factor
SLIGHT = 1.5  # "slightly": at most this factor


def ratio_words(ratios: dict[float, float], of: str, to: str) -> str:
    """``time of A / time of B: 2.1× at a relative sub-optimality of 1, 1.4× at 1e-1, …``."""
    names = (power(level) for level in ratios)
    each = [f"{times(r)} at {'' if k else 'a relative sub-optimality of '}{name}"
            for k, (name, r) in enumerate(zip(names, ratios.values(), strict=True))]  # fmt: skip
    return f"time of {of} / time of {to}: {', '.join(each)}"


@for_each(by_data, "patterns")
def patterns(part: pd.DataFrame) -> Answer:
    """Ridge dense; ℓ1 and elastic net zero inside rows; ℓ1/ℓ2 zero by whole rows."""
    first = part.groupby("penalty").first()
    dense, group = first.loc["ridge"], first.loc["l1/l2"]
    single = [first.loc["l1", "inside_percent"], first.loc["elastic-net", "inside_percent"]]
    if not group["nonzero_rows_percent"] > 0 or np.isnan(single).any():
        return None, "a model is zero altogether"
    holds = (
        dense["nonzero_percent"] > 95
        and max(single) < 99
        and group["nonzero_rows_percent"] < 99
        and group["inside_percent"] > 99
    )
    numbers = (
        f"non-zero weights: ridge {dense['nonzero_percent']:.0f} %; inside non-zero rows: ℓ1 "
        f"{single[0]:.0f} %, elastic net {single[1]:.0f} %, ℓ1/ℓ2 {group['inside_percent']:.0f} %; "
        f"non-zero rows with ℓ1/ℓ2: {group['nonzero_rows_percent']:.0f} %"
    )
    return bool(holds), numbers


@for_each(reading.cases, "solvers")
def compare(
    part: pd.DataFrame, fast: str, slow: str, least: float = 1.0, most: float = INFINITY, claimed: float = INFINITY
) -> Answer:
    """Return whether the median over the levels of time(slow)/time(fast) lies in (least, most].

    A ratio above ``claimed`` exceeds the claim. Where repeated runs disagree, the case is not decided.
    """
    ratios = reading.speed_ratios(part, fast, slow)
    if ratios:
        middle = reading.median(ratios)
        low, high = reading.ratio_spread(part, fast, slow) or (middle, middle)
        holds: bool | None = least < middle <= most
        numbers = f"{ratio_words(ratios, slow, fast)}; median {times(middle)}"
        if low != high:
            numbers += f" ({times(low)} to {times(high)} in repeated runs)"
        if len({least < ratio <= most for ratio in (low, middle, high)}) > 1:
            holds, numbers = None, numbers + ": they disagree"
        return holds, numbers, middle > claimed
    else:
        return None, TRIVIAL if reading.is_trivial(part) else no_level(part)


def no_level(part: pd.DataFrame) -> str:
    """Return the reason why no level could be compared."""
    return f"no level down to 1e-4 was reached that the optimum is certified for (to {power(reading.certified(part))})"


@for_each(reading.cases, "solvers")
def first_try(part: pd.DataFrame) -> Answer:
    """α = 1 usually passes the line search: on average fewer than 1.5 trials for a row that moves."""
    run = reading.run_of(part, LS)
    trials = run["trials"].dropna()
    if not len(trials):
        return None, TRIVIAL if reading.is_trivial(part) else "no row moved"
    mean = float(trials.mean())
    return mean < 1.5, f"{mean:.3f} trials for each row that moves (mean of the iterations)"


@for_each(by_data, "solvers")
def slow_at_small_lam(part: pd.DataFrame) -> Answer:
    """BCD (LS) needs more outer iterations to a level at the smaller λ than at the larger."""
    lams = sorted(part["lam"].unique(), reverse=True)
    if len(lams) < 2:
        return None, "one λ only"
    large, small = (reading.run_of(part[part["lam"] == lam], LS) for lam in (lams[0], lams[-1]))
    if reading.is_trivial(part[part["lam"] == lams[0]]):
        return None, TRIVIAL
    known = reading.certified(part)
    level = next((v for v in (1e-3, 1e-2, 1e-1) if v >= known and reading.time_to(large, v) < INFINITY), None)
    if level is None:
        return None, no_level(part)
    a = float(large.loc[large["relative"] <= level, "iteration"].min())
    inside = small.loc[small["relative"] <= level, "iteration"]
    b = float(inside.min()) if len(inside) else INFINITY
    shown = f"{b:.0f}" if b < INFINITY else f"more than {small['iteration'].max():.0f}"
    if b == INFINITY and small["iteration"].max() <= a:
        return None, f"the run at λ = {power(lams[-1])} ended before it could tell"
    return b > a, (
        f"outer iterations to {power(level)}: {a:.0f} at λ = {power(lams[0])}, {shown} at λ = {power(lams[-1])}"
    )


@for_each(reading.cases, "solvers")
def two_phases(part: pd.DataFrame) -> Answer:
    """The number of non-zero rows of BCD (LS) rises, then falls by more than a tenth."""
    why = TRIVIAL if reading.is_trivial(part) else ""
    run = reading.run_of(part, LS)
    rows = run["nonzero_rows"].to_numpy(dtype=float)
    if why or len(rows) < 3:
        return None, why or "too few points"
    peak, last = int(np.argmax(rows)), rows[-1]
    holds = 0 < peak < len(rows) - 1 and rows[peak] > 1.1 * last
    return bool(holds), (
        f"non-zero rows: {rows[0]:.0f} at the start, {rows[peak]:.0f} after "
        f"iteration {run['iteration'].iloc[peak]:.0f}, {last:.0f} at the end"
    )


@for_each(reading.cases, "solvers")
def first_to_sparsity(part: pd.DataFrame) -> Answer:
    """One of the two BCD variants is the first whose number of rows stays near the optimum's."""
    why = reading.has_sparsity(part)
    arrival = {name: reading.time_to_rows(run, part) for name, run in part.groupby("solver", sort=False)}
    if why or not arrival or min(arrival.values()) == INFINITY:
        return None, why or "no solver came to stay near the optimum's rows"
    best = min(arrival, key=lambda name: arrival[name])
    each = ", ".join(f"{name} {seconds(t)}" for name, t in arrival.items())
    return best in (LS, CST), f"time until the rows stay within 10 % of the optimum's: {each}"


@for_each(reading.cases, "solvers")
def fobos_dense(part: pd.DataFrame) -> Answer:
    """At the end FOBOS has at least twice as many non-zero rows as BCD (LS)."""
    runs = reading.run_of(part, LS), reading.run_of(part, "FOBOS")
    why = reading.has_sparsity(part) if all(map(len, runs)) else "FOBOS or BCD (LS) is missing"
    if why:
        return None, why
    ours, theirs = (float(run["nonzero_percent"].iloc[-1]) for run in runs)
    most = 100.0 * float(part["usable_rows"].iloc[0] / part["features"].iloc[0])
    if most < MUCH * ours:
        return None, f"BCD (LS) uses {ours:.3g} % of the rows: twice as many are not possible"
    return theirs >= MUCH * ours, f"non-zero rows at the end: BCD (LS) {ours:.3g} %, FOBOS {theirs:.3g} %"


@for_each(reading.cases, "eta0")
def eta0_matters(part: pd.DataFrame) -> Answer:
    """At most half of the candidate steps come within a factor of two of the best held-out loss."""
    loss = part["heldout_loss"]
    near = int((loss <= MUCH * loss.min()).sum())
    lost = int(loss.isna().sum())
    chosen = part[part["chosen"]].iloc[0]
    numbers = (
        f"{near} of {len(part)} candidates within twice the best held-out loss, {number(loss.min())} at "
        f"η0 = {chosen['eta0']:g} (accuracy {100 * chosen['heldout_accuracy']:.1f} %); the worst "
        f"{number(loss.max())}" + (f"; {lost} diverged" if lost else "")
    )
    return 2 * near <= len(part), numbers


@for_each(reading.cases, "solvers")
def faster_accuracy(part: pd.DataFrame) -> Answer:
    """BCD (LS) comes within one point of the optimum's accuracy before FISTA (LS) and SpaRSA."""
    names = (LS, FISTA_LS, "SpaRSA")
    runs = [reading.run_of(part, name) for name in names]
    if reading.is_trivial(part) or not all(map(len, runs)):
        return None, TRIVIAL if reading.is_trivial(part) else "a solver is missing"
    arrival = [reading.time_to_accuracy(run, part) for run in runs]
    each = ", ".join(f"{name} {seconds(t)}" for name, t in zip(names, arrival, strict=True))
    numbers = f"time to within a point of the optimum's accuracy: {each}"
    if min(arrival) == INFINITY:
        return None, numbers
    return arrival[0] < min(arrival[1:]), numbers


def faster_than_full_gradients(tables: Tables) -> list[Finding]:
    """BCD (LS) is faster than both FISTA (LS) and SpaRSA to the levels of the objective."""
    found = []
    for a, b in zip(compare(tables, LS, FISTA_LS), compare(tables, LS, "SpaRSA"), strict=True):
        decided = [f.holds for f in (a, b) if f.holds is not None]
        holds = None if len(decided) < 2 else all(decided)
        found.append(Finding(a.case, holds, a.numbers if a.numbers == b.numbers else f"{a.numbers}; {b.numbers}"))
    return found


@for_each(reading.cases, "solvers")
def steps_matter_more_for_fista(part: pd.DataFrame) -> Answer:
    """The factor between line search and constant step is smaller for BCD than for FISTA."""
    block = reading.median(reading.speed_ratios(part, LS, CST))
    full = reading.median(reading.speed_ratios(part, FISTA_LS, FISTA_CST))
    if np.isnan(block) or np.isnan(full):
        return None, TRIVIAL if reading.is_trivial(part) else no_level(part)
    return bool(
        abs(np.log(block)) < abs(np.log(full))
    ), f"median time of CST / LS: BCD {times(block)}, FISTA {times(full)}"


@for_each(reading.cases, "solvers")
def early_progress(part: pd.DataFrame) -> Answer:
    """After one iteration of BCD, FOBOS, FISTA and SpaRSA each, BCD (LS) and FOBOS have the lower objectives."""
    names = (LS, "FOBOS", FISTA_LS, "SpaRSA")
    runs = [reading.run_of(part, name) for name in names]
    if reading.is_trivial(part) or not all((run["iteration"] >= 1).any() for run in runs):
        return None, TRIVIAL if reading.is_trivial(part) else "a solver is missing"
    then = max(float(run.loc[run["iteration"] >= 1, "seconds"].iloc[0]) for run in runs)
    F = [float(run.loc[run["seconds"] <= then, "objective"].iloc[-1]) for run in runs]
    each = ", ".join(f"{name} {value:.4g}" for name, value in zip(names, F, strict=True))
    return max(F[:2]) < min(F[2:]), f"objective after {seconds(then)}: {each}"


@for_each(reading.cases, "solvers")
def rows_fall_slowly(part: pd.DataFrame) -> Answer:
    """FISTA (LS) and SpaRSA need at least twice BCD (LS)'s time until their rows stay near the optimum's."""
    why = reading.has_sparsity(part)
    runs = {name: reading.run_of(part, name) for name in (LS, FISTA_LS, "SpaRSA")}
    if why or not all(map(len, runs.values())):
        return None, why or "a solver is missing"
    arrival = {name: reading.time_to_rows(run, part) for name, run in runs.items()}
    each = ", ".join(f"{name} {seconds(t)}" for name, t in arrival.items())
    numbers = f"time until the rows stay within 10 % of the optimum's: {each}"
    if min(arrival.values()) == INFINITY:
        return None, numbers
    return min(arrival[FISTA_LS], arrival["SpaRSA"]) >= MUCH * arrival[LS], numbers


@for_each(reading.cases, "solvers")
def same_rows_in_the_limit(part: pd.DataFrame) -> Answer:
    """FISTA (LS) and SpaRSA end near the optimum's number of rows, where they came within 1e-4 of its objective."""
    why = reading.has_sparsity(part)
    runs = {name: reading.run_of(part, name) for name in (FISTA_LS, "SpaRSA")}
    arrived = {name: run for name, run in runs.items() if len(run) and run["relative"].iloc[-1] <= 1e-4}
    if why or not arrived:
        return None, why or "none of them came within 1e-4 of the optimum"
    best = float(part["best_rows"].iloc[0])
    rows = {name: float(run["nonzero_rows"].iloc[-1]) for name, run in arrived.items()}
    holds = all(abs(r - best) <= max(1.0, reading.NEAR * best) for r in rows.values())
    each = ", ".join(f"{name} {r:.0f}" for name, r in rows.items())
    return holds, f"non-zero rows at the end: {each}; optimum {best:.0f}"


def _by_solver(table: pd.DataFrame) -> Iterator[tuple[Case, pd.DataFrame]]:
    for case, part in reading.cases(table):
        for name, runs in part.groupby("solver", sort=False):
            yield case.and_also(str(name)), runs.assign(solver=np.where(runs["shrinking"], "on", "off"))


@for_each(_by_solver, "shrinking")
def shrinking_helps_little(part: pd.DataFrame) -> Answer:
    """Shrinking speeds a variant up by at most a slight factor (1.5), or not at all."""
    ratios = reading.speed_ratios(part, "on", "off")
    if not ratios:
        return None, TRIVIAL if reading.is_trivial(part) else no_level(part)
    middle = reading.median(ratios)
    passes = ", ".join(f"{k} {v:.0f}" for k, v in part.groupby("solver")["passes"].max().items())
    numbers = f"{ratio_words(ratios, 'off', 'on')}; median {times(middle)}; data passes: {passes}"
    return middle <= SLIGHT, numbers


def against_fobos(tables: Tables) -> list[Finding]:
    """BCD (LS) reaches the levels of the objective before FOBOS; where FOBOS is within a factor of two, it is close."""
    found = []
    for finding, (_, part) in zip(compare(tables, LS, "FOBOS"), reading.cases(tables["solvers"]), strict=True):
        runs = {name: reading.run_of(part, name) for name in (LS, "FOBOS")}
        extra = ""
        if all(map(len, runs.values())) and not reading.is_trivial(part):
            a, b = (float(run["test_accuracy"].iloc[-1]) for run in runs.values())
            extra = f"; accuracy at the end: BCD (LS) {100 * a:.1f} %, FOBOS {100 * b:.1f} % ({points(a - b)})"
        found.append(Finding(finding.case, finding.holds, finding.numbers + extra))
    return found


CLAIMS = (
    Claim("patterns", "Sec. 2, Fig. 1", "ℓ1/ℓ2 sets whole rows to zero, ℓ1 and elastic net single weights, ridge none.",
          ("patterns",), patterns),
    Claim("bcd-ls-vs-cst", "Sec. 5.2.1", "BCD with line search is overall slightly faster to converge than without.",
          ("solvers",), lambda t: compare(t, LS, CST, claimed=SLIGHT)),
    Claim("first-try", "Sec. 4.4.1, 5.2.1", "The line search usually accepts its first trial.", ("solvers",),
          first_try),
    Claim("small-lam", "Sec. 5.2.1", "BCD may converge slowly on very loosely regularised problems.", ("solvers",),
          slow_at_small_lam),
    Claim("two-phases", "Sec. 5.2.1, Fig. 4", "The number of non-zero rows of BCD first rises, then falls.",
          ("solvers",), two_phases),
    Claim("first-to-sparsity", "Sec. 5.2.1, Fig. 4", "BCD is always the fastest to reach the sparsity level of λ.",
          ("solvers",), first_to_sparsity),
    Claim("bcd-vs-fobos", "Sec. 5.2.2", "BCD outperforms FOBOS on smaller data (and is comparable on larger ones).",
          ("solvers",), against_fobos),
    Claim("eta0", "Sec. 5.2.2", "Tuning the first step η0 is crucial for FOBOS.", ("eta0",), eta0_matters),
    Claim("fobos-dense", "Sec. 5.2.2, Fig. 4", "FOBOS obtains much less sparse solutions than BCD.", ("solvers",),
          fobos_dense),
    Claim("bcd-vs-full-objective", "Sec. 5.2.3", "BCD outperforms FISTA and SpaRSA in speed of objective decrease.",
          ("solvers",), faster_than_full_gradients),
    Claim("bcd-vs-full-accuracy", "Sec. 5.2.3", "BCD outperforms FISTA and SpaRSA in speed of test accuracy increase.",
          ("solvers",), faster_accuracy),
    Claim("fista-vs-sparsa", "Sec. 5.2.3", "FISTA (LS) and SpaRSA converge at similar speed, FISTA slightly faster.",
          ("solvers",), lambda t: compare(t, FISTA_LS, "SpaRSA", 1.0, SIMILAR)),
    Claim("fista-cst", "Sec. 5.2.3", "FISTA (CST) is always quite worse than FISTA (LS).", ("solvers",),
          lambda t: compare(t, FISTA_LS, FISTA_CST, SLIGHT)),
    Claim("steps", "Sec. 5.2.3", "The difference between line search and constant step is smaller for BCD than for "
          "FISTA.", ("solvers",), steps_matter_more_for_fista),
    Claim("early-progress", "Sec. 5.2.3", "FOBOS and BCD start to minimise while FISTA and SpaRSA still compute their "
          "first gradient.", ("solvers",), early_progress),
    Claim("rows-fall-slowly", "Sec. 5.2.3, Fig. 4", "FISTA and SpaRSA reduce the non-zero rows much more slowly than "
          "BCD.", ("solvers",), rows_fall_slowly),
    Claim("same-limit", "Sec. 5.2.3", "In the limit, FISTA and SpaRSA obtain similar row sparsity to BCD.",
          ("solvers",), same_rows_in_the_limit),
    Claim("shrinking", "Sec. 5.2.4", "Shrinking helps at most slightly.", ("shrinking",), shrinking_helps_little),
)  # fmt: skip
