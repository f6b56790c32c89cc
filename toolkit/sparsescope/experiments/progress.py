"""Progress of a measurement: bars on a terminal, lines elsewhere, and the finished parts of an interrupted one."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

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

    def say(self, text: str) -> None:
        """A line of text."""


class Lines(Report):
    """A line for each measurement and each job: for log files and pipes."""

    def __init__(self) -> None:
        super().__init__()
        self._began = 0.0
        self._count = self._done = 0

    def begin(self, title: str) -> None:
        super().begin(title)
        self._began, self._count, self._done = time.perf_counter(), 0, 0
        self.say(title)

    def jobs(self, count: int) -> None:
        self._count += count

    def job(self, label: str) -> None:
        self._done += 1
        self.say(f"  {self._done}/{self._count} {label}")

    def end(self) -> None:
        self.say(f"  {time.perf_counter() - self._began:.1f} s")

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


class Bars(Report):
    """A progress bar for each measurement, on standard error."""

    def __init__(self) -> None:
        super().__init__()
        self._title = ""
        self._bar: Any = None

    def begin(self, title: str) -> None:
        super().begin(title)
        self._title = title

    def jobs(self, count: int) -> None:
        from tqdm import tqdm

        if self._bar is None:
            layout = "{desc} {bar} {n_fmt}/{total_fmt} [{elapsed}]{postfix}"
            width = shutil.get_terminal_size().columns  # 80 where the terminal does not say
            self._bar = tqdm(total=count, desc=self._title, bar_format=layout, file=sys.stderr, ncols=width)
        else:
            self._bar.total += count
            self._bar.refresh()

    def job(self, label: str) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(label)

    def done(self) -> None:
        if self._bar is not None:
            self._bar.update(1)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str("")
            self._bar.close()
            self._bar = None

    def say(self, text: str) -> None:
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        else:
            print(text, file=sys.stderr, flush=True)


def reporter(terminal: bool | None = None) -> Report:
    """Bars where standard error is a terminal, lines elsewhere."""
    return Bars() if (sys.stderr.isatty() if terminal is None else terminal) else Lines()


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
