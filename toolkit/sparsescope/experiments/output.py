"""Output of a paper's experiments: tables, figures, the verdicts, and one page with all of them."""

from __future__ import annotations

import html
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..runs import keeping
from ..wording import plural
from .base import Claim, Experiment, Paper, Settings
from .verdicts import Results, Verdict

if TYPE_CHECKING:
    import pandas as pd


VERSIONS = ("sparsescope", "numpy", "scipy", "numba", "scikit-learn", "pandas", "plotly")
VERBS = {
    "holds": ("holds", "hold"),
    "in part": ("holds in part", "hold in part"),
    "does not hold": ("does not hold here", "do not hold here"),
    None: ("is not decided", "are not decided"),
}  # after the number of claims with this vote
CONFIG = {"displaylogo": False, "responsive": True}
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2430; margin: 0 auto; max-width: 1080px; padding: 24px; }
h1 { font-size: 26px; line-height: 1.25; } h2 { font-size: 20px; margin-top: 48px; }
table { border-collapse: collapse; font-size: 14px; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: 4px 16px 4px 0; border-bottom: 1px solid #e4e8ed; }
"""


class Folder:
    """The folder of the results. Files are replaced as a whole, so an interruption leaves none half-written.

    Raises ``ValueError`` when the folder cannot be made or written to.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.write(".sparsescope-probe", "").unlink()
        except OSError as error:
            raise ValueError(f"cannot write into {self.path}: {error.strerror or error}") from error
        self.parquet = importlib.util.find_spec("pyarrow") is not None
        self.png = importlib.util.find_spec("kaleido") is not None
        self.notes: list[str] = []
        if not self.parquet:
            self.notes.append("Tables are CSV only: for Parquet as well, install pyarrow.")
        if not self.png:
            self.notes.append("Figures are HTML only: for PNG as well, install kaleido.")

    def write(self, name: str, content: str) -> Path:
        """A file, replaced at once."""
        keeping.write(self.path / name, content.encode())
        return self.path / name

    def table(self, name: str, table: pd.DataFrame) -> None:
        """``name``.csv, and ``name``.parquet where pyarrow is installed."""
        for suffix in (".csv", ".parquet") if self.parquet else (".csv",):
            keeping.write_table(table, self.path / f"{name}{suffix}")

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
        installed = {d.name for d in importlib.metadata.distributions()}
        content = {
            "paper": paper.number,
            "title": paper.title,
            "settings": asdict(settings),
            "data": list(facts),
            "wall_seconds": round(seconds, 1),
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "processor": processor(),
            "versions": {name: importlib.metadata.version(name) for name in VERSIONS if name in installed},
        }
        self.write("about.json", json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def processor() -> str:
    """The processor's name as the system reports it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(errors="replace").splitlines() if info.exists() else []
    named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


# ------------------------------------------------------------------------------------------------------- the verdicts
def opening(paper: Paper, facts: pd.DataFrame, verdicts: Sequence[Verdict], quick: bool = False) -> list[str]:
    """Three lines: what the paper asks, on which data, and how many of its claims hold."""
    sets = ", ".join(f"{row.data} ({row.n} × {row.d}, {row.classes} classes)" for row in facts.itertuples())
    votes = [verdict.vote for verdict in verdicts]
    told = ", ".join(plural(votes.count(vote), *verbs) for vote, verbs in VERBS.items() if vote in votes)
    total = (
        f"Of {plural(len(votes), 'claim')} {told}." if votes else "No claim of the paper rests on these experiments."
    )
    short = "; quick settings: short limits, few splits" if quick else ""
    return [f"Paper {paper.number} asks: {paper.question}", f"Data: {sets}{short}.", total]


def word_lines(paper: Paper, claims: Iterable[Claim]) -> list[str]:
    """A line for each word of these claims that a newcomer does not know."""
    text = " ".join(claim.text for claim in claims)
    said = {w: meaning for w, meaning in paper.words.items() if any(_occurs(part, text) for part in w.split(", "))}
    width = max(map(len, said), default=0)
    return [f"  {word:{width}}  {meaning}" for word, meaning in said.items()]


def _occurs(word: str, text: str) -> bool:
    # From its beginning on: "block" is in "blocks", and LS is not in "models".
    return re.search(rf"(?<!\w){re.escape(word)}", text, re.IGNORECASE) is not None


def verdict_lines(verdicts: Sequence[Verdict], details: bool = False) -> list[str]:
    """A line a claim, with the data unless it is judged on all of several; with ``details`` the place in the paper, and
    a line for each case with its numbers."""
    width = max((len(verdict.word) for verdict in verdicts), default=0)
    everywhere = {name for verdict in verdicts for name in verdict.data}
    lines = []
    for verdict in verdicts:
        where = f" ({verdict.claim.where})" if details else ""
        named = verdict.data and (len(everywhere) == 1 or len(verdict.data) < len(everywhere))
        on = f" [here: {', '.join(verdict.data)}]" if named else ""
        lines.append(f"{verdict.word:{width}}  {verdict.claim.text}{where}{on}")
        for finding in verdict.findings if details else ():
            word = f"{finding.word}: " if len(verdict.findings) > 1 else ""
            lines.append(f"{'':{width}}    {finding.begins}{word}{finding.numbers}")
    return lines


# ----------------------------------------------------------------------------------------------------------- the page
Section = tuple[str, list[Any]]  # a heading, and tables, figures, or lists of sentences


def sections(paper: Paper, chosen: Sequence[Experiment], results: Results, facts: pd.DataFrame,
             notes: Sequence[str]) -> Iterator[Section]:  # fmt: skip
    """Return the contents of the page and the summary, in order."""
    yield paper.title, [[f"{paper.reference}. Made by sparsescope paper {paper.number}.", *results.opening]]
    yield "Data", [facts]
    yield "Verdicts on the paper's claims", [results.verdicts]
    if paper.words:
        yield "Words", [[f"{word}: {meaning}." for word, meaning in paper.words.items()]]
    for experiment in chosen:
        shown = [results.figures.get(experiment.name)]
        shown += [results.tables.get(experiment.name)] if experiment.tabulate is not None else []
        if any(part is not None for part in shown):
            yield f"{experiment.title}: {experiment.doc}", [part for part in shown if part is not None]
    yield "How this differs from the paper's protocol", [paper.differences]
    if notes:
        yield "Notes", [notes]


def page(parts: Sequence[Section]) -> str:
    """The page index.html; it works offline with plotly.min.js beside it."""
    body = []
    for level, (heading, contents) in enumerate(parts):
        name = "h2" if level else "h1"
        body += [f"<{name}>{html.escape(heading)}</{name}>", *map(_as_html, contents)]
    head = f"<meta charset='utf-8'><title>{html.escape(parts[0][0])}</title><style>{STYLE}</style>"
    script = "<script src='plotly.min.js'></script>"
    return f"<!doctype html><html lang='en'><head>{head}{script}</head><body>{''.join(body)}</body></html>\n"


def summary(parts: Sequence[Section]) -> str:
    """The page summary.md: the same without figures."""
    body = []
    for level, (heading, contents) in enumerate(parts):
        found = [text for text in map(_as_markdown, contents) if text]
        body += [f"{'##' if level else '#'} {heading}", *found] if found else []
    return "\n\n".join(body) + "\n"


def _as_html(part: Any) -> str:
    if hasattr(part, "to_plotly_json"):
        return str(part.to_html(full_html=False, include_plotlyjs=False, config=CONFIG))
    if hasattr(part, "to_html"):
        return str(part.to_html(index=False, border=0, float_format=digits, na_rep=""))
    if all(isinstance(item, Verdict) for item in part):
        return "".join(
            f"<details><summary><b>{item.word}</b>: {html.escape(item.claim.text)} ({html.escape(item.claim.where)})"
            f"</summary><ul>{''.join(f'<li>{html.escape(text)}</li>' for text in item.lines)}</ul></details>"
            for item in part
        )
    return "<ul>" + "".join(f"<li>{html.escape(text)}</li>" for text in part) + "</ul>"


def _as_markdown(part: Any) -> str:
    if hasattr(part, "to_plotly_json"):
        return ""
    if hasattr(part, "to_markdown"):
        return "```\n" + str(part.to_string(index=False, float_format=digits, na_rep="")) + "\n```"
    lines = []
    for item in part:
        if isinstance(item, Verdict):
            lines.append(f"- **{item.word}**: {item.claim.text} ({item.claim.where})")
            lines += [f"    - {text}" for text in item.lines]
        else:
            lines.append(f"- {item}")
    return "\n".join(lines)


def digits(value: float) -> str:
    """A number of a table with three digits."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
