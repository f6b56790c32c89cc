"""Verdicts on claims: findings for single cases, and what they add up to."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .base import EVERYWHERE, EXCEEDED, FAILS, HOLDS, OPEN, Case, Claim, Finding, Tables

if TYPE_CHECKING:
    import pandas as pd

    from .base import Measurement
    from .pools import Pool


Findings = list[Finding]


@dataclass(frozen=True)
class Verdict:
    """A claim with its findings."""

    claim: Claim
    findings: tuple[Finding, ...]

    @property
    def word(self) -> str:
        """All decided cases together; for a claim that holds in some of them only, their number."""
        decided = [f.holds for f in self.findings if f.holds is not None]
        if not decided:
            return OPEN
        if all(decided):
            return EXCEEDED if any(f.exceeded for f in self.findings if f.holds) else HOLDS
        return f"holds in {sum(decided)} of {len(decided)} cases" if any(decided) else FAILS

    @property
    def vote(self) -> str | None:
        """The verdict as an answer to vote for: ``holds``, ``in part`` or ``does not hold``; None: not decided."""
        decided = {f.holds for f in self.findings if f.holds is not None}
        return (
            None if not decided else "in part" if len(decided) > 1 else "holds" if True in decided else "does not hold"
        )

    @property
    def data(self) -> list[str]:
        """The data sets of the cases that can decide, or of all where none can."""
        decided = [f for f in self.findings if f.holds is not None] or self.findings
        return list(dict.fromkeys(name for f in decided for name in f.case.data))

    @property
    def lines(self) -> list[str]:
        """A sentence for each case, with its numbers."""
        return [f"{f.begins}{f.word}: {f.numbers}" for f in self.findings]


class Results:
    """Results so far: ``tables`` by name, ``figures`` by experiment, ``verdicts`` on all claims."""

    def __init__(self) -> None:
        self.tables: dict[str, pd.DataFrame] = {}
        self.parts: dict[str, dict[tuple[str, Pool], pd.DataFrame]] = {}  # of each table, by measurement and data
        self.measured: set[tuple[str, Pool]] = set()
        self.figures: dict[str, Any] = {}
        self.verdicts: list[Verdict] = []
        self.opening: list[str] = []  # question, data, number of claims that hold
        self.interrupted = False

    def add(self, measurement: Measurement, pool: Pool, part: pd.DataFrame) -> None:
        """Add what a measurement found on a data set to its table; it replaces what an interrupted one left there."""
        import pandas as pd

        parts = self.parts.setdefault(measurement.table, {})
        parts[measurement.name, pool] = part
        self.tables[measurement.table] = pd.concat(parts.values(), ignore_index=True)


def judge(claims: Iterable[Claim], tables: Tables) -> list[Verdict]:
    """The verdicts on all claims, in order; a claim whose tables were not measured is not decided."""
    found = []
    for claim in claims:
        missing = [name for name in claim.needs if name not in tables or not len(tables[name])]
        if missing:
            findings = [Finding(EVERYWHERE, None, f"not measured: {', '.join(missing)}")]
        else:
            findings = claim.judge(tables) or [Finding(EVERYWHERE, None, "no case in the tables")]
        found.append(Verdict(claim, tuple(findings)))
    return found


def frame(verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """A row a finding: claim, where, text, verdict (of all cases), case, finding, numbers."""
    import pandas as pd

    columns = ["claim", "where", "text", "verdict", "case", "finding", "numbers"]
    rows = [
        (v.claim.name, v.claim.where, v.claim.text, v.word, str(f.case), f.word, f.numbers)
        for v in verdicts
        for f in v.findings
    ]
    return pd.DataFrame(rows, columns=columns)


Answer = tuple[bool | None, str] | tuple[bool | None, str, bool]


def for_each(
    cases: Callable[[Any], Iterable[tuple[Any, ...]]], table: str = ""
) -> Callable[[Callable[..., Answer]], Callable[..., Findings]]:
    """Make the judge of all cases from that of one.

    ``cases`` gives (case, what is known of it …) of a table, or of all tables where none is named. The decorated
    function takes what is known, and returns whether the claim holds, the numbers, and where it matters whether it is
    exceeded.
    """

    def of_all(judge: Callable[..., Answer]) -> Callable[..., Findings]:
        @functools.wraps(judge)
        def judge_all(tables: Tables, *rest: Any, **named: Any) -> Findings:
            found = cases(tables[table] if table else tables)
            return [Finding(case, *judge(*known, *rest, **named)) for case, *known in found]

        return judge_all

    return of_all


def by_data(table: pd.DataFrame) -> Iterator[tuple[Case, pd.DataFrame]]:
    """(case, part) of each data set."""
    for data, part in table.groupby("data", sort=False):
        yield Case.on(data), part


# --------------------------------------------------------------------------------------------------------- times
@dataclass(frozen=True)
class Time:
    """Seconds of repeated runs: their median and quartiles, which are equal where a run was not repeated."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, row: Any, column: str = "seconds") -> Time:
        """The time in a column of a row, with the quartiles beside it (``…_low``, ``…_high``) where there are any."""
        middle = float(row[column])
        ends = [float(row.get(f"{column}_{end}", middle)) for end in ("low", "high")]
        low, high = (middle if math.isnan(value) else value for value in ends)
        return cls(middle, low, high)

    @classmethod
    def first(cls, run: pd.DataFrame, there: pd.Series) -> Time:
        """The time of the first row of a run for which ``there`` is true; infinity if there is none."""
        return cls.of(run[there].iloc[0]) if there.any() else cls(math.inf, math.inf, math.inf)

    def over(self, other: Time) -> tuple[float, float, float]:
        """Ratio of two times: of the medians, and of the quartiles that make it smallest and largest."""
        return (
            _ratio(self.middle, other.middle),
            _ratio(self.low, other.high),
            _ratio(self.high, other.low),
        )

    def __str__(self) -> str:
        repeated = math.isfinite(self.middle) and self.low != self.high
        spread = f" ({seconds(self.low)} to {seconds(self.high)})" if repeated else ""
        return seconds(self.middle) + spread


def _ratio(a: float, b: float) -> float:
    return math.nan if math.isinf(a) and math.isinf(b) else a / max(b, 1e-12)


DISAGREE = "repeated runs disagree"


def agreed(answers: Iterable[bool]) -> bool | None:
    """Common answer of the median of repeated runs and of their quartiles; ``None`` where they disagree."""
    found = set(answers)
    return found.pop() if len(found) == 1 else None


def slower(slow: Time, fast: Time, least: float = 1.0) -> bool | None:
    """Return whether ``slow`` takes more than ``least`` times as long as ``fast``; ``None`` where repeats disagree."""
    return agreed(ratio > least for ratio in slow.over(fast))


# ----------------------------------------------------------------------------------------------- numbers as text
def number(value: float, digits: int = 3) -> str:
    """A number with few digits; ``never`` for NaN and infinity, which mark a level that was not reached."""
    return f"{value:.{digits}g}" if math.isfinite(value) else "never"


def power(value: float) -> str:
    """A number near a power of ten in the papers' way: ``1e-3``, ``2e5``, ``1``."""
    text = f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    return text.removesuffix("e0")


def seconds(value: float) -> str:
    """Seconds with a unit."""
    if not math.isfinite(value):
        return "never"
    return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s"


def times(value: float) -> str:
    """A ratio: ``2.3×``."""
    return f"{value:.2g}×" if value < 100 else f"{value:.0f}×"


def points(value: float) -> str:
    """A difference of two shares in percentage points, with its sign."""
    return f"{100 * value:+.1f} points"
