"""Progress of a measurement: a bar on a terminal, a line elsewhere, and the finished parts of an interrupted one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..progress import Silent, progress

if TYPE_CHECKING:
    import pandas as pd

LAYOUT = "{desc} {bar} {n_fmt}/{total_fmt} [{elapsed}]{postfix}"

Job = tuple[str, "Callable[[], pd.DataFrame]"]


class Report:
    """Observer of the jobs of a measurement that keeps its finished parts.

    shown : a progress bar for each measurement on standard error; where that is no terminal, a line
    """

    n_jobs: int | None = 1  # jobs at a time, as joblib has it; ``None``: what joblib.parallel_config says

    def __init__(self, shown: bool = False) -> None:
        self.parts: list[pd.DataFrame] = []
        self._shown, self._bar = shown, Silent()

    def begin(self, title: str) -> None:
        """A measurement begins; the parts of the one before are forgotten."""
        self.parts = []
        if self._shown:
            if not sys.stderr.isatty():
                print(title, file=sys.stderr, flush=True)
            self._bar = progress(0, desc=title, bar_format=LAYOUT, dynamic_ncols=True, leave=True)

    def jobs(self, count: int) -> None:
        """So many jobs will follow."""
        self._bar.total = (self._bar.total or 0) + count
        self._bar.refresh()

    def job(self, label: str) -> None:
        """The next job begins."""
        self._bar.set_postfix_str(label)

    def done(self) -> None:
        """A job is done."""
        self._bar.update(1)

    def keep(self, part: pd.DataFrame) -> None:
        """A job is done, and this is its part of the table."""
        self.parts.append(part)
        self.done()

    def end(self) -> None:
        """The measurement is over, also when it failed."""
        self._bar.set_postfix_str("", refresh=False)
        self._bar.close()


def gather(jobs: Sequence[Job], report: Report) -> pd.DataFrame:
    """Do the jobs and put their parts together in order; each is reported as soon as it and those before it are done.

    They are done one after the other, or where ``report.n_jobs`` says so in other processes: those of this machine, or
    the workers of a cluster.
    """
    import pandas as pd

    report.jobs(len(jobs))
    parts = []
    for part in _here(jobs, report) if report.n_jobs == 1 else _elsewhere(jobs, report):
        report.keep(part)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _here(jobs: Sequence[Job], report: Report) -> Iterator[pd.DataFrame]:
    for label, job in jobs:
        report.job(label)
        yield job()


def _elsewhere(jobs: Sequence[Job], report: Report) -> Iterator[pd.DataFrame]:
    from joblib import Parallel, delayed

    report.job(f"{len(jobs)} side by side")
    yield from Parallel(n_jobs=report.n_jobs, return_as="generator", batch_size=1)(
        delayed(_alone)(job) for _, job in jobs
    )


def _alone(job: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """A job in another process, on one thread, as all jobs are."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        return job()
