"""Progress of a measurement: a bar on a terminal, a line elsewhere, and the finished parts of an interrupted one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..progress import Silent, progress

if TYPE_CHECKING:
    import pandas as pd

LAYOUT = "{desc} {bar} {n_fmt}/{total_fmt} [{elapsed}]{postfix}"

Job = tuple[str, "Callable[[], pd.DataFrame]"]


class Report:
    """Observer of the jobs of a measurement that keeps its finished parts.

    shown : a progress bar for each measurement on standard error; where that is no terminal, a line
    n_jobs : jobs at a time, as joblib has it; ``None``: what joblib.parallel_config says
    """

    def __init__(self, shown: bool = False, n_jobs: int | None = 1) -> None:
        self.parts: list[pd.DataFrame] = []
        self.bar, self.n_jobs, self._shown = Silent(), n_jobs, shown

    def begin(self, title: str) -> None:
        """A measurement begins; the parts of the one before are forgotten."""
        self.parts = []
        if self._shown:
            if not sys.stderr.isatty():
                print(title, file=sys.stderr, flush=True)
            self.bar = progress(0, desc=title, bar_format=LAYOUT, dynamic_ncols=True, leave=True)

    def end(self) -> None:
        """The measurement is over, also when it failed."""
        self.bar.set_postfix_str("", refresh=False)
        self.bar.close()


def gather(jobs: Sequence[Job], report: Report) -> pd.DataFrame:
    """Do the jobs and put their parts together in order; each is kept as soon as it and those before it are done.

    They are done one after the other, or in other processes if ``report.n_jobs`` asks for them: those of this machine,
    or the workers of a cluster.
    """
    import pandas as pd
    from joblib import Parallel, delayed

    began, labels = len(report.parts), [label for label, _ in jobs]
    report.bar.total = (report.bar.total or 0) + len(jobs)
    report.bar.set_postfix_str(labels[0])
    workers = Parallel(n_jobs=report.n_jobs, return_as="generator", batch_size=1)
    parts = workers(delayed(_alone)(job) for _, job in jobs)
    for part, following in zip(parts, [*labels[1:], ""], strict=True):
        report.parts.append(part)
        report.bar.set_postfix_str(following, refresh=False)
        report.bar.update(1)
    return pd.concat(report.parts[began:], ignore_index=True)


def _alone(job: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """A job, which may be in another process, on one thread."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        return job()
