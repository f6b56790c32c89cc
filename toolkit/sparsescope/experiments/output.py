"""Output of a paper's experiments: tables, figures, the verdicts, and one page with all of them."""

from __future__ import annotations

import html
import importlib.metadata
import importlib.util
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .base import Experiment, Paper, Settings
from .verdicts import Verdict

if TYPE_CHECKING:
    import pandas as pd

VERSIONS = ("sparsescope", "numpy", "scipy", "numba", "scikit-learn", "pandas", "plotly")
CONFIG = {"displaylogo": False, "responsive": True}
STYLE = """
body { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; color: #1c2430; margin: 0 auto;
       max-width: 1080px; padding: 24px; background: #fff; }
h1 { font-size: 26px; line-height: 1.25; } h2 { font-size: 20px; margin-top: 48px; } p.quiet, small { color: #596472; }
table { border-collapse: collapse; font-size: 14px; margin: 12px 0; }
th, td { text-align: left; vertical-align: top; padding: 4px 16px 4px 0; border-bottom: 1px solid #e4e8ed; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.word { white-space: nowrap; font-weight: 600; }
.holds { color: #00714f; } .fails { color: #a84300; } .open { color: #596472; }
details { margin: 0; } summary { cursor: pointer; } .scroll { overflow-x: auto; }
"""


class Folder:
    """The folder of the results. Files are replaced as a whole, so an interruption leaves none half-written.

    Raises ``ValueError`` when the folder cannot be made or written to.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            probe = self.path / ".sparsescope-probe"
            probe.write_text("")
            probe.unlink()
        except OSError as error:
            raise ValueError(f"cannot write into {self.path}: {error.strerror or error}") from error
        self.parquet = importlib.util.find_spec("pyarrow") is not None
        self.png = importlib.util.find_spec("kaleido") is not None
        self.notes: list[str] = []
        if not self.parquet:
            self.notes.append("Tables are CSV only: for Parquet as well, install pyarrow.")
        if not self.png:
            self.notes.append("Figures are HTML only: for PNG as well, install kaleido.")

    def write(self, name: str, text: str) -> Path:
        """A text file, replaced at once."""
        path = self.path / name
        part = path.with_name(path.name + ".part")
        part.write_text(text, encoding="utf-8")
        part.replace(path)
        return path

    def table(self, name: str, table: pd.DataFrame) -> None:
        """``name``.csv, and ``name``.parquet where pyarrow is installed."""
        self.write(f"{name}.csv", table.to_csv(index=False))
        if self.parquet:
            path = self.path / f"{name}.parquet"
            part = path.with_name(path.name + ".part")
            table.to_parquet(part, index=False)
            part.replace(path)

    def figure(self, name: str, figure: Any) -> None:
        """``name``.html (it reads plotly.min.js beside it, no network), and ``name``.png where kaleido works."""
        figure.write_html(self.path / f"{name}.html", include_plotlyjs="directory", full_html=True, config=CONFIG)
        if self.png:
            try:
                figure.write_image(self.path / f"{name}.png", width=1080, scale=2)
            except Exception as error:  # kaleido needs a browser, and fails in many ways without one
                self.png = False
                self.notes.append(f"No PNG: kaleido failed ({str(error).strip().splitlines()[0]}).")

    def about(self, paper: Paper, settings: Settings, facts: Sequence[Mapping[str, Any]], seconds: float) -> None:
        """about.json: what was run, on which data, with which versions, on which machine."""
        versions = {}
        for package in VERSIONS:
            try:
                versions[package] = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                continue
        content = {
            "paper": paper.number,
            "title": paper.title,
            "settings": asdict(settings),
            "data": list(facts),
            "wall_seconds": round(seconds, 1),
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "processor": processor(),
            "versions": versions,
        }
        self.write("about.json", json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def processor() -> str:
    """The processor's name as the system reports it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def markdown(table: pd.DataFrame) -> str:
    """A table in Markdown, numbers with three digits."""
    names = [str(c) for c in table.columns]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(map(cell, row)) + " |" for row in table.itertuples(index=False)]
    return "\n".join(lines)


def cell(value: Any) -> str:
    """A cell's text: at most four digits of a number, nothing for NaN."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}".replace(",", " ")
    if isinstance(value, int):
        return f"{value:,}".replace(",", " ")
    return str(value).replace("|", "\\|")


def verdict_lines(verdicts: Sequence[Verdict]) -> list[str]:
    """A line a claim, and under it a line a case with the numbers."""
    lines = []
    for verdict in verdicts:
        lines.append(f"{verdict.word:24} {verdict.claim.text} ({verdict.claim.where})")
        for finding in verdict.findings:
            case = f"{finding.case}: " if finding.case else ""
            word = f"{finding.word}: " if len(verdict.findings) > 1 else ""
            lines.append(f"{'':24}   {case}{word}{finding.numbers}")
    return lines


def summary(
    paper: Paper,
    chosen: Sequence[Experiment],
    verdicts: Sequence[Verdict],
    tables: Mapping[str, pd.DataFrame],
    facts: pd.DataFrame,
    notes: Sequence[str],
) -> str:
    """The page summary.md: data, verdicts with numbers, tables, and how the protocol differs from the paper's."""
    parts = [
        f"# Paper {paper.number}: {paper.title}",
        f"{paper.reference}. Made by `sparsescope paper {paper.number}`.",
        "## Data",
        markdown(facts),
        "## Verdicts on the paper's claims",
    ]
    for verdict in verdicts:
        lines = [f"- **{verdict.word}**: {verdict.claim.text} ({verdict.claim.where})"]
        lines += [f"    - {f.case + ': ' if f.case else ''}{f.word}: {f.numbers}" for f in verdict.findings]
        parts.append("\n".join(lines))
    for experiment in chosen:
        if experiment.tabulate is not None and experiment.name in tables:
            parts += [f"## {experiment.title}: {experiment.doc}", markdown(tables[experiment.name])]
    parts += ["## How this differs from the paper's protocol", "\n".join(f"- {text}" for text in paper.differences)]
    if notes:
        parts += ["## Notes", "\n".join(f"- {text}" for text in notes)]
    return "\n\n".join(parts) + "\n"


def page(
    paper: Paper,
    chosen: Sequence[Experiment],
    verdicts: Sequence[Verdict],
    tables: Mapping[str, pd.DataFrame],
    figures: Mapping[str, Any],
    facts: pd.DataFrame,
    notes: Sequence[str],
) -> str:
    """The page index.html: verdicts, every figure and table; works offline with plotly.min.js beside it."""
    parts = [
        f"<h1>{html.escape(paper.title)}</h1>",
        f"<p class='quiet'>Paper {paper.number}: "
        f"{html.escape(paper.reference)}. Made by <code>sparsescope paper {paper.number}</code>.</p>",
        "<h2>Data</h2>",
        html_table(facts),
        "<h2>Verdicts on the paper's claims</h2>",
        verdict_table(verdicts),
    ]
    for experiment in chosen:
        drawn, tabled = figures.get(experiment.name), tables.get(experiment.name)
        if drawn is None and (experiment.tabulate is None or tabled is None):
            continue
        heading = f"{experiment.title}: {experiment.doc}"
        parts.append(f"<h2 id='{experiment.name}'>{html.escape(heading)}</h2>")
        if drawn is not None:
            parts.append(drawn.to_html(full_html=False, include_plotlyjs=False, config=CONFIG))
        if experiment.tabulate is not None and tabled is not None:
            parts.append(html_table(tabled))
    parts += ["<h2>How this differs from the paper's protocol</h2>", _items(paper.differences)]
    if notes:
        parts += ["<h2>Notes</h2>", _items(notes)]
    head = (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
        f"content='width=device-width'><title>Paper {paper.number}: verdicts and figures</title>"
        f"<style>{STYLE}</style><script src='plotly.min.js'></script></head><body>"
    )
    return head + "\n".join(parts) + "</body></html>\n"


def _items(texts: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{html.escape(text)}</li>" for text in texts) + "</ul>"


def html_table(table: pd.DataFrame) -> str:
    """A table in HTML, numbers to the right."""
    head = "".join(f"<th>{html.escape(str(c))}</th>" for c in table.columns)
    rows = []
    for row in table.itertuples(index=False):
        rows.append(
            "".join(
                f"<td{' class=number' if isinstance(v, int | float) else ''}>{html.escape(cell(v))}</td>" for v in row
            )
        )
    return f"<div class='scroll'><table><tr>{head}</tr>" + "".join(f"<tr>{r}</tr>" for r in rows) + "</table></div>"


def verdict_table(verdicts: Sequence[Verdict]) -> str:
    """Claims with their verdicts; the numbers of each case fold out."""
    rows = []
    for verdict in verdicts:
        kind = "holds" if verdict.word == "holds" else "open" if verdict.word == "not decided" else "fails"
        cases = "".join(
            f"<li>{html.escape(f.case + ': ' if f.case else '')}<b>{f.word}</b>: {html.escape(f.numbers)}</li>"
            for f in verdict.findings
        )
        text = f"{html.escape(verdict.claim.text)} <small>{html.escape(verdict.claim.where)}</small>"
        rows.append(
            f"<tr><td class='word {kind}'>{verdict.word}</td><td><details><summary>{text}</summary>"
            f"<ul>{cases}</ul></details></td></tr>"
        )
    return "<table>" + "".join(rows) + "</table>"
