"""Write the tables of measured figures into docs/benchmarks.md, from results/*.json and from nothing else.

What has not been measured has no table; a peer that was not there has no column, and a sentence names it.

    python benchmarks/tables.py [--check]      --check: only say whether the page is up to date (exit code 1 if not)
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import classroom
import sentences
from figures import RESULTS, ROOT, code, load, number, where

BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"
LEVELS = ("1e-02", "1e-04", "1e-06")
PAPER1 = ("lightning", "bcd-ls", "bcd-ls, shrinking", "working-set")
LOGISTIC = ("glmnet", "lightning", "bcd-ls", "working-set")
HINGE = ("liblinear", "dual-cd", "pd-sparse", "ssnal", "fbpd")
PATH = ("glmnet", "adelie", "celer", "skglm", "ours")
SECOND_ORDER = ("liblinear", "adelie", "skglm", "celer", "saga", "newglmnet", "lhac")


def text(folder: Path = RESULTS) -> str:
    """All tables as Markdown; empty if nothing of them has been measured."""
    tables = {
        "paper1": paper1,
        "logistic": logistic,
        "ridge": ridge,
        "second_order": second_order,
        "path": paths,
        "covariance": covariance,
        "large_covariance": large_covariance,
        "least_squares": least_squares,
        "splitting": splitting,
        "crammer_singer": crammer_singer,
        "pd_sparse": pd_sparse,
        "constants": constants,
        "class_hour": classroom.bars,
        "holds": classroom.holds,
    }
    parts = [sentences.commits(folder), sentences.answers(folder)]
    parts += [table(name, lines_of, folder) for name, lines_of in tables.items()]
    parts.append(sentences.reach("reach", folder))
    parts += [part(folder) for part in (sentences.cross_validation, sentences.remarks, sentences.compiling)]
    return "\n\n".join(part for part in parts if part)


def table(name: str, lines_of: Callable[[dict[str, Any]], list[str]], folder: Path) -> str:
    """The lines that a function makes of a stored result, and where they come from; empty if nothing is stored."""
    result = load(name, folder)
    lines = lines_of(result) if result is not None and result["rows"] else []
    return "\n".join([*lines, f"({where(result)}; `bench_{name}.py`)"]) if result is not None and lines else ""


def race(result: dict[str, Any], names: tuple[str, ...], peers: dict[str, str]) -> list[str]:
    """Lines of a table with the seconds to 1e-2 / 1e-4 / 1e-6 of each contestant that took part anywhere."""
    rows = result["rows"]
    here = [name for name in names if any(name in row["contestants"] for row in rows)]
    titles = [peers.get(name, code(name)) for name in here]
    lines = [f"| problem | {' | '.join(titles)} |", "|---" * (len(here) + 1) + "|"]
    for row in rows:
        cells = []
        for name in here:
            if name not in row["contestants"]:
                cells.append("")
                continue
            levels = row["contestants"][name]["levels"]
            cells.append("/".join(number((levels.get(level) or {"cpu": None})["cpu"]) for level in LEVELS))
        lines.append(f"| {row['case']} | {' | '.join(cells)} |")
    return lines


def paper1(result: dict[str, Any]) -> list[str]:
    """Multiclass squared hinge beside lightning."""
    rows = result["rows"]
    limits = " or ".join(sorted({f"{row['limit']:g}" for row in rows}))
    lines = [
        "**ℓ1/ℓ2 multiclass squared hinge**: processor seconds on one thread to a relative sub-optimality of "
        f"1e-2/1e-4/1e-6, medians of {rows[0]['repeats']} (–: not within {limits} s). Percentages are shares of "
        "non-zero rows. Optima are certified by a duality gap.",
        "",
        *race(result, PAPER1, {"lightning": "lightning, best setting for each figure"}),
        "",
        ratios(rows),
    ]
    certified = [row["certified"] for row in rows if row.get("certified", {}).get("cpu") is not None]
    if certified:
        lines.append(
            "To a relative gap of 1e-9, `working-set` takes "
            + " and ".join(f"{number(c['cpu'])} s on {c['case']}" for c in certified)
            + "."
        )
    return lines


def ratios(rows: list[dict[str, Any]]) -> str:
    """Medians of lightning's time over ours, in a sentence; where lightning did not get there its limit counts."""
    if not any("lightning" in row["contestants"] for row in rows):
        return "lightning was not installed when this was measured."
    said = []
    for name in PAPER1[1:]:
        found = []
        for level in LEVELS:
            values = []
            for row in rows:
                ours = row["contestants"].get(name, {"levels": {}})["levels"].get(level)
                theirs = row["contestants"].get("lightning", {"levels": {}})["levels"].get(level)
                if ours is not None and "lightning" in row["contestants"]:
                    values.append((theirs["cpu"] if theirs else row["limit"]) / ours["cpu"])
            found.append(f"{median(values):.1f}" if values else "–")
        if any(value != "–" for value in found):
            said.append(f"{'/'.join(found)} for {code(name)}")
    return "lightning's best time ÷ ours, medians at the three levels: " + "; ".join(said) + "."


def logistic(result: dict[str, Any]) -> list[str]:
    """Multinomial logistic loss beside glmnet and lightning."""
    rows = result["rows"]
    absent = [name for name in ("glmnet", "lightning") if not any(name in row["contestants"] for row in rows)]
    lines = [
        "**ℓ1/ℓ2 multinomial logistic**: the same, with λ as a share of λ_max.",
        "",
        *race(result, LOGISTIC, {"glmnet": "glmnet (R, grouped)", "lightning": "lightning, best setting"}),
        "",
    ]
    if absent:
        lines.append(f"Not installed when this was measured: {', '.join(absent)}.")
    return lines


def ridge(result: dict[str, Any]) -> list[str]:
    """Multinomial logistic loss with ridge beside scikit-learn."""
    cells: dict[tuple[str, float], dict[str, list[str]]] = {}
    for row in result["rows"]:
        line = cells.setdefault((row["case"], row["C"]), {"auto": [], "scikit-learn": []})
        for name, numbers in line.items():
            numbers.append(number(None if row[name] is None else 1000.0 * row[name]))
    ratios = [row["ratio"] for row in result["rows"] if row["ratio"] is not None]
    return [
        "**Multinomial logistic loss with ridge**, λ = 1/(C·n): processor milliseconds to a relative sub-optimality of "
        "1e-2/1e-4/1e-6, from arrays to weights. Ours hold the data checked and a certified gap; scikit-learn's are "
        "those of the quickest of its solvers at the largest tolerance that suffices, which has to be known.",
        "",
        "| problem | C | `auto` | scikit-learn |",
        "|---|---|---|---|",
        *(
            f"| {case} | {C:g} | {'/'.join(line['auto'])} | {'/'.join(line['scikit-learn'])} |"
            for (case, C), line in cells.items()
        ),
        "",
        f"`auto` takes {min(ratios):.2f} to {max(ratios):.2f} times as long, {median(ratios):.2f} in the median.",
    ]


def splitting(result: dict[str, Any]) -> list[str]:
    """The exact multiclass hinge: both formulations to a gap, and the race of Chierchia et al., Fig. 3."""
    gaps = [row for row in result["rows"] if row["part"] == "gaps"]
    races = [row for row in result["rows"] if row["part"] == "races"]
    lines = []
    if gaps:
        lines = [
            "**Exact multiclass hinge** (Crammer–Singer): processor seconds on one thread to a relative duality "
            f"gap of 1e-4/1e-6, medians of {gaps[0]['repeats']} (–: not within {gaps[0]['limit']:g} s), at "
            "λ_max/10; the constrained form has the η of the same solution.",
            "",
            "| problem | `fbpd` | `fbpd-constrained` | objectives differ by |",
            "|---|---|---|---|",
        ]
        for row in gaps:
            cells = [
                "/".join(number(row[f"{name} {level} s"]) for level in ("1e-04", "1e-06"))
                for name in ("fbpd", "fbpd-constrained")
            ]
            lines.append(f"| {row['case'].removeprefix('gaps: ')} | {' | '.join(cells)} | {row['difference']:.0e} |")
        lines.append("")
    if races:
        names = [name.removesuffix(" gap") for name in races[0] if name.endswith(" gap")]
        lines += [
            "The race of Chierchia et al. (2015), Fig. 3: MNIST subsets, ℓ1,∞ on blocks of features within a "
            "class, processor seconds to a relative distance of 1e-3 from x∞, each method on its own problem, "
            f"medians of {races[0]['repeats']} subsets (–: not at rest within {races[0]['limit']:g} s).",
            "",
            f"| features, samples | {' | '.join(names)} |",
            "|---" * (len(names) + 1) + "|",
        ]
        lines += [
            f"| {row['case'].removeprefix('races: ')} | {' | '.join(number(row.get(name)) for name in names)} |"
            for row in races
        ]
        lines.append("")
    return lines[:-1]


def crammer_singer(result: dict[str, Any]) -> list[str]:
    """The multiclass hinge with ridge beside liblinear."""
    rows = result["rows"]
    limits = " or ".join(sorted({f"{row['limit']:g}" for row in rows}))
    return [
        "**Multiclass hinge (Crammer–Singer) with ridge**: processor seconds on one thread to a relative "
        f"sub-optimality of 1e-2/1e-4/1e-6, medians of {rows[0]['repeats']} (–: not within {limits} "
        "s). Optima are certified. Ours without certificates, liblinear at the largest of its tolerances whose weights "
        "are that good.",
        "",
        *race(result, HINGE, {"liblinear": "liblinear `-s 4`"}),
        "",
    ]


def second_order(result: dict[str, Any]) -> list[str]:
    """Binary logistic loss with the lasso beside liblinear, adelie, skglm, celer and saga."""
    rows = result["rows"]
    peers = {"liblinear": "liblinear `-s 6`", "adelie": "adelie", "skglm": "skglm", "celer": "celer", "saga": "saga"}
    lines = [
        "**ℓ1 binary logistic**, no intercept, λ as a share of λ_max: processor seconds on one thread to a relative "
        f"sub-optimality of 1e-2/1e-4/1e-6 (–: not within {rows[0]['limit']:g} s); skglm without compilation. "
        f"So far {len(rows)} of the script's problems are measured.",
        "",
        *race(result, SECOND_ORDER, peers),
    ]
    steps = [row["step ns"] for row in rows if row.get("step ns")]
    if steps:
        span = " to ".join(dict.fromkeys(f"{at(steps):.0f}" for at in (min, max)))
        lines += ["", f"A coordinate step of `lhac` takes {span} ns on these problems."]
    return [*lines, ""]


def least_squares(result: dict[str, Any]) -> list[str]:
    """Table 1 of Agarwal et al., and the speed of its fits."""
    by = {row["case"]: row for row in result["rows"]}
    methods = ("linear", "logistic", "calibrated")
    lines = [
        "**Least squares on MNIST** (Agarwal et al. 2013, Table 1): test error in percent, in brackets the "
        "paper's; processor seconds on one thread (–: not measured).",
        "",
        "| features | linear | logistic | calibrated |",
        "|---|---|---|---|",
    ]
    for features in ("pixels", "4000", "8000"):
        rows = [by.get(f"table1 {features} {method}") for method in methods]
        cells = [
            "–" if row is None else f"{row['error %']:.2f} ({row['paper %']}), {number(row['seconds'])} s"
            for row in rows
        ]
        words = "pixels" if features == "pixels" else f"{features} random Fourier"
        lines.append(f"| {words} | {' | '.join(cells)} |")
    said = []
    if "stages" in by:
        row = by["stages"]
        said.append(
            f"Calibrated stages of {row['features'] / row['stages']:.0f} random features come down "
            f"to {row['smallest error %']:.2f} % "
            f"({number(row['seconds'])} s, {row['features']:.0f} features)."
        )
    if "fit" in by:
        row = by["fit"]
        said.append(
            f"The fit on 8000 features runs at {row['share of gemm']:.0%} of the rate of matrix products, in "
            f"{row['peak bytes'] / 1e9:.1f} GB."
        )
    if "condition" in by:
        row = by["condition"]
        said.append(
            f"`gls` takes {row['gls, condition 1']} iterations to 1e-6 at condition 1 and "
            f"{row['gls, condition 1e+06']} at 1e6, accelerated {row['gls accelerated, condition 1']} and "
            f"{row['gls accelerated, condition 1e+06']}; FISTA {row['fista, condition 1']} and "
            f"{row['fista, condition 1e+06'] or 'more than ' + format(row['limit'])}."
        )
    if "text" in by:
        row = by["text"]
        best = min((row[f"stagewise, {k} error %"], row[f"stagewise, {k} seconds"]) for k in ("raw", "unit rows"))
        said.append(
            f"20 newsgroups ({row['samples']} documents to train): stages {best[0]:.1f} % in "
            f"{number(best[1])} s, liblinear's SVM {row['liblinear error %']:.1f} % in "
            f"{number(row['liblinear seconds'])} s."
        )
    return [*lines, "", *said, ""]


def paths(result: dict[str, Any]) -> list[str]:
    """Paths of 50 λ beside glmnet, adelie, celer and skglm."""
    limits = " or ".join(sorted({f"{row['limit']:g}" for row in result["rows"]}))
    return [
        "**Paths of 50 λ**, logistic loss, from λ_max to a hundredth of it (news20: a tenth): processor seconds on one "
        "thread until the worst error of the path, relative to the certified optimum, is at most 1e-2/1e-4/1e-6 (–: at "
        f"no tolerance within {limits} s; empty: no problem of this program). Ours with the time to make the problem, "
        "and certified.",
        "",
        *race(result, PATH, {"glmnet": "glmnet (R)", "ours": "`ss.path`"} | {name: name for name in PATH[1:4]}),
        "",
    ]


def covariance(result: dict[str, Any]) -> list[str]:
    """Sparse inverse covariance beside scikit-learn and glasso."""
    races = [row for row in result["rows"] if row["part"] == "race"]
    if not races:
        return []
    peers = {
        "graphical_lasso": "scikit-learn's graphical_lasso",
        "glasso": "R's glasso",
        "quic-cpp": "QUIC, the authors' C++",
    }
    names = [name for name in (*peers, "quic", "lhac-covariance") if any(name in row["contestants"] for row in races)]
    levels = list(races[0]["contestants"]["quic"]["reached"])
    lines = [
        "**Sparse inverse covariance**, gene-expression correlations, λ = 0.5 unless named: processor seconds on one "
        f"thread to a relative duality gap of {'/'.join(levels)}, medians of {races[0]['repeats']} (–: not reached "
        f"at any tolerance within {races[0]['limit']:g} s). glasso penalises the diagonal, graphical_lasso leaves "
        "it free.",
        "",
        "| problem | edges | " + " | ".join(peers.get(name, f"`{name}`") for name in names) + " |",
        "|---|---|" + "---|" * len(names),
    ]
    for row in races:
        entries = [row["contestants"].get(name) for name in names]
        cells = ["" if entry is None else "/".join(number(entry["reached"][v]) for v in levels) for entry in entries]
        lines.append(f"| {row['case']} | {row['edges']} | " + " | ".join(cells) + " |")
    steps = [row for row in result["rows"] if row["part"] == "step"]
    if steps:
        small, large = steps[0], steps[-1]
        times = [row["lhac ns"] for row in steps]
        lines += [
            "",
            f"A coordinate step of `lhac-covariance` takes {min(times):.0f} to {max(times):.0f} ns from p = "
            f"{small['p']} to {large['p']}, one of `quic` {small['quic ns']:.0f} to {large['quic ns']:.0f} ns.",
        ]
    return [*lines, ""]


def large_covariance(result: dict[str, Any]) -> list[str]:
    """The same with thousands of features: seconds and memory."""
    rows = result["rows"]
    levels = list(rows[0]["reached"])
    lines = [
        f"**Thousands of features**, generated correlations, λ = {rows[0]['lam']:g}, with the numbers of connected "
        "parts that the thresholded ones have: processor seconds on one thread to a relative gap of "
        f"{'/'.join(levels)}, making the "
        "problem included, and the memory of the process.",
        "",
        "| p | parts | solver | edges | seconds | GB |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        spent = "/".join(number(row["reached"][level]) for level in levels)
        lines.append(
            f"| {row['p']} | {row['components']} | `{row['solver']}` | {row['edges']} | {spent} | {row['GB']:.1f} |"
        )
    return [*lines, ""]


def pd_sparse(result: dict[str, Any]) -> list[str]:
    """PD-Sparse: beside liblinear, and what it takes with many classes."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in result["rows"]:
        rows.setdefault(row["part"], []).append(row)
    lines = [f"**PD-Sparse**: processor seconds on one thread, medians of {result['rows'][0]['repeats']}.", ""]
    if "ridge" in rows:
        lines += [
            "20 newsgroups, λ₄ = 0, C = 1, to the primal sub-optimality of liblinear's `-s 4` (scikit-learn's "
            "LinearSVC) at its tolerances (–: not in time):",
            "",
            "| tolerance | sub-optimality | liblinear | `pd-sparse` |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| {level['tol']:g} | {level['off']:.1e} | {number(level['liblinear s'])} | "
            f"{number(level['pd-sparse s'])} |"
            for level in rows["ridge"][0]["levels"]
        ]
        lines.append("")
    if "growth" in rows:
        lines += [
            f"An iteration on {rows['growth'][0]['samples']} generated documents, "
            f"{rows['growth'][0]['features']} words:",
            "",
            "| classes | iteration [s] | 1000 documents predicted [s] | model [MB] | k_A | k_W |",
            "|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {row['classes']} | {number(row['iteration_seconds'])} | {number(row['predict_seconds'])} | "
            f"{row['bytes'] / 1e6:.2f} | {row['k_a']:.1f} | {row['k_w']:.1f} |"
            for row in rows["growth"]
        ]
        lines.append("")
    lines += _growing_together(rows.get("together", []))
    return [*lines, *_pd_sparse_facts(rows)]


def _growing_together(rows: list[dict[str, Any]]) -> list[str]:
    """Table of classes and documents that grow together, and what the last two rows predict for ten times as many."""
    if not rows:
        return []
    lines = [
        f"Ten documents a class, a tenth of them held out, {rows[0]['words']} words; of each pass: microseconds a "
        "document, the relative gap and the held-out accuracy after it:",
        "",
        "| classes | documents | 1st pass | 2nd | 3rd | memory [GB] |",
        "|---|---|---|---|---|---|",
    ]
    rows = sorted(rows, key=lambda row: int(row["classes"]))
    for row in rows:
        cells = [f"{one['us']:.0f} µs, {one['gap']:.2g}, {one['accuracy']:.3f}" for one in row["passes"]]
        cells += ["–"] * (3 - len(cells))
        lines.append(f"| {row['classes']} | {row['documents']} | {' | '.join(cells)} | {row['peak GB']:.2f} |")
    lines.append("")
    if len(rows) > 1:
        last, before = rows[-1], rows[-2]
        factor = last["classes"] / before["classes"]
        found = [row["passes"][0]["us"] * row["documents"] for row in (before, last)]
        seconds = found[1] * found[1] / found[0] / 1e6
        own = [row["peak GB"] - row["data GB"] for row in (before, last)]
        memory = own[1] * own[1] / own[0]
        lines += [
            f"If both go on growing as between the last two rows, {factor * last['classes']:.0f} classes with "
            f"{factor * last['documents']:.1e} documents take {seconds / 60:.0f} minutes for the first pass and "
            f"{memory:.0f} GB beside the data.",
            "",
        ]
    return lines


def _pd_sparse_facts(rows: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Sentences on PD-Sparse."""
    found = []
    for row in rows.get("news20", []):
        if row["seconds"] is not None:
            found.append(
                f"- 20 newsgroups (9 000 documents, 2 314 held out, C = 1, λ₄ = 0.1): a held-out accuracy of "
                f"{row['accuracy']:.3f} after {number(row['seconds'])} s, with {row['k_W']:.1f} weights a "
                f"feature and {row['k_A others']:.1f} active duals a document."
            )
        else:
            found.append(
                f"- 20 newsgroups (9 000 documents, 2 314 held out, C = 1, λ₄ = 0.1): a held-out accuracy of "
                f"{row['accuracy']:.3f} is not reached; the best is {row['best accuracy']:.3f}."
            )
    for row in rows.get("scale", []):
        found.append(
            f"- {row['documents']} documents, {row['words']} words, {row['classes']} classes: one iteration "
            f"takes {number(row['seconds'])} s, with {row['peak GB']:.2f} GB in all; the classes of "
            f"{row['predicted']} other documents are ranked in {number(row['predict s'])} s."
        )
    for row in rows.get("bibtex", []):
        found.append(
            f"- bibtex: precision at 1 of {100 * row['precision at 1']:.2f} % (the paper has 64.55), k_A "
            f"{row['k_A']:.1f}, k_W {row['k_W']:.1f}."
        )
    if "gaps" in rows:
        gap, off = (max(row[name] for row in rows["gaps"]) for name in ("gap", "difference"))
        found.append(
            f"- iris, wine and digits, both losses: relative gaps of {gap:.0e} at most, objectives within "
            f"{off:.0e} of those of `fbpd`."
        )
    return found


def constants(result: dict[str, Any]) -> list[str]:
    """Iterations of coordinate descent with each of the constants."""
    kinds = ("class-aware", "tight", "paper")
    lines = [
        "**What a constant is worth**: iterations of `bcd-cst` (multiclass squared hinge, ℓ1/ℓ2) to a relative "
        f"sub-optimality of {result['summary']['level']:.0e} with each K_j (–: not within "
        f"{result['summary']['most']}).",
        "",
        f"| data, λ/λ_max | {' | '.join(kinds)} |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {row['data']}, {row['λ/λ_max']:g} | {' | '.join(str(row[k] or '–') for k in kinds)} |"
        for row in result["rows"]
    ]
    return [*lines, ""]


def insert(page: str, tables: str) -> str:
    """The page with the text between the two marks replaced. ``ValueError`` if the marks are not there."""
    if page.count(BEGIN) != 1 or page.count(END) != 1:
        raise ValueError(f"the page needs one line {BEGIN} and one line {END}")
    head, rest = page.split(BEGIN)
    tail = rest.split(END)[1]
    return head + BEGIN + "\n" + (tables + "\n" if tables else "") + END + tail


def main() -> int:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    page = ROOT / "docs" / "benchmarks.md"
    old = page.read_text(encoding="utf-8")
    new = insert(old, text())
    if args.check:
        print(
            "docs/benchmarks.md is up to date"
            if new == old
            else "docs/benchmarks.md is not up to date: python benchmarks/tables.py"
        )
        return int(new != old)
    if new != old:
        page.write_text(new, encoding="utf-8")
    print("docs/benchmarks.md holds the tables of what is stored")
    return 0


if __name__ == "__main__":
    sys.exit(main())
