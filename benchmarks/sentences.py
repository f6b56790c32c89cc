"""Sentences on stored results: which commit, one answer to a question, remarks on what has no table."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

from figures import load, number, rows_of, where


def commits(folder: Path) -> str:
    """A sentence on the commit of each stored result, and how long these took; empty if no result names its commit."""
    of: dict[str, list[tuple[str, float]]] = {}
    for path in sorted(folder.glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        of.setdefault(" and ".join(result.get("commits", [])), []).append((path.stem, result.get("took", 0.0)))
    unknown = [name for name, _ in of.pop("", [])]
    parts = [
        f"{commit}: {', '.join(name for name, _ in found)} ({sum(took for _, took in found) / 60:.0f} minutes)"
        for commit, found in sorted(of.items(), key=lambda item: -len(item[1]))
    ]
    if unknown and parts:
        parts.append(f"before commits were stored: {', '.join(unknown)}")
    return f"Stored results by the commit that was measured. {'; '.join(parts)}." if parts else ""


def reach(name: str, folder: Path) -> str:
    """Reach of `auto`: a sentence for a result."""
    result = load(name, folder)
    if result is None or not result["rows"]:
        return ""
    rows, summary = result["rows"], result["summary"]
    names = {part: sorted({row[part] for row in rows}) for part in ("data", "loss", "penalty")}
    losses, penalties = len(names["loss"]), len(names["penalty"])
    return (
        f"**What `auto` reaches**: {len(rows)} problems on {', '.join(names['data'])} "
        f"({losses} loss{'es' * (losses > 1)} × {penalties} penalt{'ies' if penalties > 1 else 'y'}, with and without "
        f"intercept, two values of λ). {summary['missed']} missed "
        f"a relative gap of {summary['tol']:.0e} within {summary['bars']['seconds']:g} processor seconds; the slowest "
        f"took {number(summary['slowest'])} s. Losses: {', '.join(f'`{name}`' for name in names['loss'])}.\n\n"
        f"({where(result)}, while others used {summary['others']:.0%} of the machine; `bench_reach.py`)"
    )


def cross_validation(folder: Path) -> str:
    """λ by cross-validation beside cold fits, and beside R's glmnet where it was there: a sentence."""
    result = load("estimators", folder)
    cold = next((row for row in (result or {"rows": []})["rows"] if "cold fits s" in row), None)
    if result is None or cold is None:
        return ""
    said = (
        f"**λ by cross-validation** ({cold['case']}): `SparseClassifierCV` takes {number(cold['sparsescope s'])} "
        f"processor seconds, a fit from zero for each λ and fold {number(cold['cold fits s'])} s."
    )
    if "with path_ s" in cold:
        said += (
            f" With the path on all samples (`path_`), which the model does without: {number(cold['with path_ s'])} s."
        )
    peer = next((row for row in result["rows"] if "glmnet s" in row), None)
    if peer is None:
        said += " R's glmnet was not there."
    else:
        said += (
            f" With the logistic loss it takes {number(peer['sparsescope s'])} s to relative gaps of at most "
            f"{peer['worst gap']:.0e}; R's `cv.glmnet` (grouped, the same folds and λ) takes "
            f"{number(peer['glmnet s'])} s and is off by up to {peer['glmnet error']:.0e}."
        )
    load_of_others = result["summary"].get("others")
    busy = "" if load_of_others is None else f", while others used {load_of_others:.0%} of the machine"
    return f"{said}\n\n({where(result)}{busy}; `bench_estimators.py`)"


def remarks(folder: Path) -> str:
    """Sentences on what has no table."""
    found = []
    if cost := rows_of("iteration_cost", folder):
        ratios = [row["judged by"] for row in cost]
        found.append(
            f"- An iteration of ISTA, FISTA or SpaRSA costs {median(ratios):.2f} times its products with X in "
            f"the median of {len(ratios)} cases, {max(ratios):.2f} times at most (`bench_iteration_cost.py`)."
        )
    if lazy := rows_of("laziness", folder):
        gains, beside = ([row[key] for row in lazy] for key in ("gain of gradients", "logistic/lazy, same W"))
        found.append(
            "- Leaving out samples without active hinges makes the gradients of a sweep up to "
            f"{max(gains):.1f} times faster ({median(gains):.1f} in the median of {len(gains)} cases); a "
            f"sweep with the logistic loss at the same weights takes {min(beside):.1f} to {max(beside):.1f} "
            "times as long (`bench_laziness.py`)."
        )
    rows = rows_of("parallel", folder) or []
    if shared := [row for row in rows if "ratio" in row]:
        ratios = [row["ratio"] for row in shared]
        found.append(
            f"- `working-set` on two threads takes {1.0 / max(ratios):.2f} to {1.0 / min(ratios):.2f} times as long by "
            f"the wall as on one, {1.0 / median(ratios):.2f} times in the median of {len(ratios)} problems and gaps; "
            "its sweeps run on one (`bench_parallel.py`)."
        )
    if threads := [row for row in rows if "1 thread" in row]:
        own = [row["1 thread"] / row["2 threads"] for row in threads]
        serial, best = ([row[f"{name} ÷ 2 threads"] for row in threads] for name in ("bcd-cst", "best serial"))
        found.append(
            f"- `bcd-parallel` on two threads is {min(own):.2f} to {max(own):.2f} times as fast by the wall as on "
            f"one; beside the serial `bcd-cst` with the same constants it is {min(serial):.2f} to "
            f"{max(serial):.2f} times as fast, beside the best serial sweep (`bcd-ls`) {min(best):.2f} to "
            f"{max(best):.2f} times (`bench_parallel.py`)."
        )
    if screening := rows_of("screening", folder):
        most = max(row["could save %"] for row in screening)
        found.append(
            f"- Gap-safe screening could save at most {most:.0f} % of the time of `working-set`, before its "
            "own cost, and is left out (`bench_screening.py`)."
        )
    return "\n".join(found)


def compiling(folder: Path) -> str:
    """First use with an empty cache and from the cache."""
    result = load("compile", folder)
    if result is None or not result["rows"]:
        return ""
    cold, cached = ([row[name] for row in result["rows"]] for name in ("cold s", "cached s"))
    return (
        "**Compilation**: the first use of a loss × penalty × solver with an empty cache takes "
        f"{median(cold):.1f} s, at most {max(cold):.1f} s; from the cache {median(cached):.2f} s, at most "
        f"{max(cached):.2f} s (medians of {len(cold)} combinations; {where(result)}; `bench_compile.py`)."
    )


def answers(folder: Path) -> str:
    """A table of questions with their answers; empty if none of them was asked."""
    asked = {
        "Is the optimum certified?": ("agreement", certified),
        "Is `auto` the best choice?": ("default", regret),
        "And on problems drawn at random?": ("drawn", unseen),
        "What does watching cost?": ("observers", watching),
        "And proving every iterate?": ("observers", proving),
        "And memory?": ("memory", memory),
    }
    lines = []
    for question, (name, answer) in asked.items():
        result = load(name, folder)
        said = answer(result) if result is not None and result["rows"] else ""
        if result is not None and said:
            lines.append(f"| {question} | {said} | `bench_{name}.py`, {result['date']} |")
    return "\n".join(["| question | answer | script |", "|---|---|---|", *lines]) if lines else ""


def certified(result: dict[str, Any]) -> str:
    """Gaps of all pairs, and how far the other solvers are from them."""
    summary, rows = result["summary"], result["rows"]
    bars, facts = summary["bars"], ("data", "loss", "penalty", "gap", "disagreement", "farthest")
    proved = sum(row["gap"] <= bars["gap"] for row in rows)
    others = [(row[name], name) for row in rows for name in row if name not in facts and row[name] is not None]
    slow = sorted({name for far, name in others if far > bars["disagreement"]})
    said = (
        f"relative gap ≤ {bars['gap']:.0e} on {proved} of {len(rows)} pairs of loss and penalty, measured on "
        f"{_and(sorted({row['data'] for row in rows}))}; {sum(far <= bars['disagreement'] for far, _ in others)} of "
        f"{len(others)} runs of other solvers come within {bars['disagreement']:.0e} in {summary['seconds']:g} seconds "
        "each"
    )
    return said + (
        f"; the farthest is off by {max(others)[0]:.0e} ({_and([f'`{name}`' for name in slow])})" if slow else ""
    )


def regret(result: dict[str, Any]) -> str:
    """The time of `auto` over that of the best own solver."""
    summary, rows = result["summary"], [row for row in result["rows"] if row["regret"] is not None]
    worst, data = max(rows, key=lambda row: row["regret"]), sorted({row["case"].split(",")[0] for row in rows})
    return (
        "its processor seconds ÷ those of the best own solver, certificates included: "
        f"{summary['median regret']:.2f} in the median of {len(rows)} cases (loss × penalty × λ × gap of 1e-2, 1e-4, "
        f"1e-6 on {_and(data)}), {_missed(rows, worst, worst['case'])}"
    )


def _missed(rows: list[dict[str, Any]], worst: dict[str, Any], case: str) -> str:
    """Share of the cases in which `auto` is far from the best; the worst one."""
    return (
        f"above 1.15 in {sum(row['regret'] > 1.15 for row in rows)} and above 2 in "
        f"{sum(row['regret'] > 2 for row in rows)} of them; at most {worst['regret']:.1f} "
        f"({case}: {number(worst['auto'])} s, `{worst['best']}` {number(worst['best seconds'])} s)"
    )


def unseen(result: dict[str, Any]) -> str:
    """The same on problems that the rules of `auto` were not made with."""
    rows = [row for row in result["rows"] if row["regret"] is not None]
    worst, failed = max(rows, key=lambda row: row["regret"]), len(result["rows"]) - len(rows)
    return (
        f"the same on {len(rows)} drawn problems (five kinds of data, six losses, six penalties): "
        f"{result['summary']['median regret']:.2f} in the median, "
        f"{_missed(rows, worst, worst['case'].partition(', ')[2])}; {failed or 'none'} not certified in time"
    )


def watching(result: dict[str, Any]) -> str:
    """Solver seconds with the full recorder over those without."""
    ratios = [row["ratio"] for row in result["rows"] if "part" not in row]
    return (
        f"solver time with the full recorder ÷ without: {median(ratios):.2f} (median of {len(ratios)} cases, "
        f"{min(ratios):.2f} to {max(ratios):.2f})"
    )


def proving(result: dict[str, Any]) -> str:
    """Seconds of a run with a certificate at every iteration over those of the iterations alone."""
    found: dict[str, list[float]] = {}
    for row in result["rows"]:
        if row.get("part") == "events":
            found.setdefault(row["data"].removesuffix(".npz"), []).append(row["ratio"])
    if not found:
        return ""
    spans = [f"{min(ratios):.2f} to {max(ratios):.2f} on {name}" for name, ratios in found.items()]
    return (
        "`for event in ss.Run(…)` evaluates a certificate at every iteration. Processor seconds ÷ those of the same "
        f"iterations alone, `auto`, two losses, to 1e-2 and 1e-6: {', '.join(spans)}"
    )


def memory(result: dict[str, Any]) -> str:
    """The largest peak over data and model."""
    return (
        f"20 newsgroups, {result['rows'][0]['rows']} features: at most {result['summary']['worst_ratio']:.2f} × data "
        "and model, with the recorder and a certificate at every iteration, whose bounds of the gradient are most of it"
    )


def _and(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""
