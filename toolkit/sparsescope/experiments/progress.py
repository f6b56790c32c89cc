"""Progress of a measurement: a bar on a terminal, a line elsewhere, and the finished parts of an interrupted one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

LAYOUT = "{desc} {bar} {n_fmt}/{total_fmt} [{elapsed}]{postfix}"

Job = tuple[str, "Callable[[], pd.DataFrame]"]


class Report:
    """Observer of the jobs of a measurement and of its finished parts. This one prints nothing and keeps the parts."""

    def __init__(self) -> None:
        self.parts: list[pd.DataFrame] = []

    def begin(self, title: str) -> None:
        """A measurement begins; the parts of the one before are forgotten."""
        self.parts = []

    def jobs(self, count: int) -> None:
        """So many jobs will follow."""

    def job(self, label: str) -> None:
        """The next job begins."""

    def done(self) -> None:
        """A job is done."""

    def keep(self, part: pd.DataFrame) -> None:
        """A job is done, and this is its part of the table."""
        self.parts.append(part)
        self.done()

    def end(self) -> None:
        """The measurement is over, also when it failed."""


class Bars(Report):
    """A progress bar for each measurement on standard error; where that is no terminal, a line."""

    def __init__(self) -> None:
        super().__init__()
        self._bar: Any = None

    def begin(self, title: str) -> None:
        from tqdm import tqdm

        super().begin(title)
        terminal = sys.stderr.isatty()
        if not terminal:
            print(title, file=sys.stderr, flush=True)
        self._bar = tqdm(total=0, desc=title, bar_format=LAYOUT, dynamic_ncols=True, disable=not terminal)

    def jobs(self, count: int) -> None:
        self._bar.total = (self._bar.total or 0) + count
        self._bar.refresh()

    def job(self, label: str) -> None:
        self._bar.set_postfix_str(label)

    def done(self) -> None:
        self._bar.update(1)

    def end(self) -> None:
        self._bar.set_postfix_str("", refresh=False)
        self._bar.close()


def gather(jobs: Sequence[Job], report: Report) -> pd.DataFrame:
    """Do the jobs one after the other and put their parts together; each is reported as soon as it is done."""
    import pandas as pd

    report.jobs(len(jobs))
    parts = []
    for label, job in jobs:
        report.job(label)
        part = job()
        report.keep(part)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)
