"""Reports of checks: one sentence for each promise of a part."""

from __future__ import annotations

import html
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..registry import SparsescopeError

MARKS = {True: "✓", False: "✗", None: "–"}


class Fault(SparsescopeError, ValueError):
    """A promise that does not hold; the message is the sentence of the report."""


class LeftOut(SparsescopeError, ValueError):
    """A check that does not apply to this part; the message gives the reason."""


@dataclass(frozen=True)
class Finding:
    """Outcome of one check.

    Parameters
    ----------
    check
        what was checked.
    sentence
        what was found.
    held
        whether the promise holds; ``None``: the check does not apply.
    """

    check: str
    sentence: str
    held: bool | None

    def __str__(self) -> str:
        return f"{MARKS[self.held]} {self.check}: {self.sentence}"


@dataclass(frozen=True, repr=False)
class Report:
    """Answer of :func:`sparsescope.check`: what was tried on a part, and what was found.

    Parameters
    ----------
    part
        description of the part.
    findings
        outcome of each check.

    Attributes
    ----------
    passed
        whether something was checked and all of it holds.
    lines
        one sentence for each check, marked ✓ (holds), ✗ (does not) or – (does not apply).
    faults
        the sentences of the checks that failed.
    """

    part: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """True if something was checked and all of it holds."""
        held = [finding.held for finding in self.findings if finding.held is not None]
        return bool(held) and all(held)

    @property
    def lines(self) -> list[str]:
        """One sentence for each check, with its mark."""
        return [str(finding) for finding in self.findings]

    @property
    def faults(self) -> list[str]:
        """The sentences of the checks that failed."""
        return [f"{finding.check}: {finding.sentence}" for finding in self.findings if finding.held is False]

    @property
    def summary(self) -> str:
        """One sentence on the whole."""
        tried = sum(finding.held is not None for finding in self.findings)
        if not tried:
            return f"{self.part}: nothing could be checked"
        return f"{self.part}: {tried - len(self.faults)} of {tried} checks hold"

    def __repr__(self) -> str:
        return "\n".join([self.summary, *(f"  {line}" for line in self.lines)])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{MARKS[f.held]}</td><th scope='row' style='text-align:left'>{html.escape(f.check)}</th>"
            f"<td style='text-align:left'>{html.escape(f.sentence)}</td></tr>"
            for f in self.findings
        )
        return f"<div><b>{html.escape(self.summary)}</b><table>{rows}</table></div>"


def place(error: BaseException) -> str:
    """The line of code that an error comes from.

    Parameters
    ----------
    error
        the error.

    Returns
    -------
    str
        function, file and line; empty for an error that was never raised.
    """
    frames = traceback.extract_tb(error.__traceback__)
    return f" (in {frames[-1].name}, {frames[-1].filename}:{frames[-1].lineno})" if frames else ""


def finding(name: str, run: Callable[[], str]) -> Finding:
    """Run a check.

    Parameters
    ----------
    name
        what is checked.
    run
        returns the sentence of a promise that holds; raises :class:`Fault` or :class:`LeftOut`. Any other error is the
        part's own.

    Returns
    -------
    Finding
        the outcome.
    """
    try:
        with np.errstate(all="ignore"):
            return Finding(name, run(), True)
    except LeftOut as reason:
        return Finding(name, str(reason), None)
    except Fault as fault:
        return Finding(name, str(fault), False)
    except Exception as error:
        return Finding(name, f"ends in {type(error).__name__}: {error}{place(error)}", False)


def shown(value: Any) -> str:
    """A number or a row of numbers, short enough for a sentence.

    Parameters
    ----------
    value
        the number or row.

    Returns
    -------
    str
        the text.
    """
    if np.ndim(value):
        return "[" + ", ".join(f"{x:.3g}" for x in np.asarray(value)) + "]"
    return f"{value:.3g}"
