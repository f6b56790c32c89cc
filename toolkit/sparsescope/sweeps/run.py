"""SweepRun: a sweep that is under way, and ``sweep``, its one-call form."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from .. import extras
from ..problems.base import positive
from ..registry import check_whole
from .folder import Folder
from .places import Done, at_home
from .table import Row, Sweep, row_of
from .tasks import Given, Limits, Task, named, tasks_of
from .work import Outcome

DONE = "all tasks are done"


class SweepRun:
    """Sweep that is under way: an iterator of rows, first those in the folder, then the others as they end.

    Each task is a separate fit from zero weights; for many λ of one problem, each started at the solution before,
    see :func:`sparsescope.path`.

    Parameters
    ----------
    problems
        a problem, a list of them, or a mapping of labels to them.
    lam, lam_ratio
        λ, or λ as multiples of each problem's ``lam_reference``: a number or several. Neither: the problems' own.
    solvers
        registry names, solver classes or solvers; one, a list, or a mapping of labels to them. ``None``: the default
        of each problem.
    seeds
        number of seeds of each solver that draws, counted up from its own; or the seeds.
    tol, max_iter, max_seconds
        a task ends at this relative gap, or at these limits of iterations and CPU seconds.
    test
        held-out samples (X, y), for measures of predictions; or a mapping of the problems' labels to them.
    folder
        keep the results here; what is there already is not computed again.
    client
        ``distributed.Client`` of a dask cluster, or the address of its scheduler; ``None``: this machine.
    n_jobs
        processes of this machine, as in scikit-learn; ``None``: one, or what ``joblib.parallel_config`` says.

    Raises
    ------
    TypeError, ValueError
        for arguments that are not allowed and names that are not known. What a solver refuses is no error: its
        row names the reason.
    OSError
        for a folder that cannot be written, or a scheduler that does not answer.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> run = ss.SweepRun(problem, lam_ratio=[0.5, 0.1], tol=1e-4)
    >>> len(list(run))
    2
    """

    def __init__(
        self,
        problems: Any,
        *,
        lam: Any = None,
        lam_ratio: Any = None,
        solvers: Any = None,
        seeds: Any = 1,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        max_seconds: float | None = None,
        test: Any = None,
        folder: str | Path | None = None,
        client: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        if client is not None and n_jobs is not None:
            raise ValueError("n_jobs is for this machine and client for a cluster; give one of them")
        limits = Limits(
            0.0 if tol == 0 else positive("tol", tol),
            check_whole("max_iter", max_iter, 0),
            None if max_seconds is None else positive("max_seconds", max_seconds),
        )
        chosen = named(problems)
        tests = _tests(test, chosen)
        self._given = {name: Given(problem, tests.get(name)) for name, problem in chosen.items()}
        self.tasks: list[Task] = tasks_of(
            chosen, tests, lam=lam, lam_ratio=lam_ratio, solvers=solvers, seeds=seeds, limits=limits
        )
        self._client, self._n_jobs = client, n_jobs
        self._folder = None if folder is None else Folder(folder)
        self._outcomes: dict[str, Outcome] = {}
        self.reused = 0
        self.message = ""
        self.between: Callable[[], None] | None = None  # called after each iteration of a task in this process
        self._look_up()

    @property
    def total(self) -> int:
        """Number of tasks."""
        return len(self.tasks)

    @property
    def done(self) -> int:
        """Number of tasks that are done."""
        return len(self._outcomes)

    def result(self) -> Sweep:
        """Return the table so far.

        Returns
        -------
        Sweep
            the rows that are there.
        """
        found = [(task, self._outcomes.get(task.order.key)) for task in self.tasks]
        rows = tuple(row_of(_known(task), outcome) for task, outcome in found if outcome is not None)
        return Sweep(rows, self.total, self.reused, self.message)

    def __iter__(self) -> Iterator[Row]:
        known = {task.order.key: _known(task) for task in self.tasks}
        for key, outcome in list(self._outcomes.items()):
            yield row_of(known[key], outcome)
        orders = [task.order for task in self.tasks if task.order.key not in self._outcomes]
        if orders:
            with closing(self._started(orders)) as results:
                for key, found in results:
                    if found is None:
                        raise KeyboardInterrupt
                    self._outcomes[key] = found
                    if self._folder is not None and found["final"]:
                        self._folder.keep(key, found)
                    yield row_of(known[key], found)
        self.message = DONE

    def run(self) -> Sweep:
        """Do all tasks; Ctrl-C ends the sweep with what is there.

        Returns
        -------
        Sweep
            the table.
        """
        try:
            for _ in self:
                pass
        except KeyboardInterrupt:
            self.interrupted()
        return self.result()

    def interrupted(self) -> None:
        """Note that the sweep was ended before all tasks were done."""
        again = "the same call goes on from the folder" if self._folder is not None else "with folder= it could go on"
        self.message = f"interrupted: {self.done} of {self.total} tasks are done; {again}"

    def _look_up(self) -> None:
        """Find what the folder has, and write down the tasks."""
        if self._folder is None:
            return
        self._folder.begin(_known(task) for task in self.tasks)
        for task in self.tasks:
            kept = self._folder.kept(task.order.key)
            if kept is not None:
                self._outcomes[task.order.key] = kept
        self.reused = len(self._outcomes)

    def _started(self, orders: list[Any]) -> Generator[Done, None, None]:
        if self._client is None:
            yield from at_home(self._given, orders, self._n_jobs, self.between)
            return
        with extras.needed_by("A sweep on a cluster"):
            from . import cluster
        if not isinstance(self._client, str):
            yield from cluster.on_cluster(self._client, self._given, orders)
            return
        with cluster.connected(self._client) as client:
            yield from cluster.on_cluster(client, self._given, orders)


def _known(task: Task) -> Row:
    return {**task.facts, "key": task.order.key}


def _tests(test: Any, problems: Mapping[str, Any]) -> Mapping[str, Any]:
    """Label → held-out samples."""
    if test is None:
        return {}
    if not isinstance(test, Mapping):
        return dict.fromkeys(problems, test)
    strange = [str(name) for name in test if name not in problems]
    if strange:
        raise ValueError(f"test names {', '.join(strange)}, and the problems are {', '.join(problems)}")
    return test


def sweep(problems: Any, **options: Any) -> Sweep:
    """Solve many problems × λ × solvers × seeds, and return one table with a row for each.

    Parameters
    ----------
    problems, **options
        as for :class:`SweepRun`, which yields the rows as they come.

    Returns
    -------
    Sweep
        the table (:meth:`Sweep.to_frame`, :meth:`Sweep.save`). A task that failed has its reason in the column
        ``error``; after Ctrl-C the rows that are there.

    Raises
    ------
    TypeError, ValueError, OSError
        as for :class:`SweepRun`.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), penalty="l1/l2")
    >>> found = ss.sweep(problem, lam_ratio=[0.5, 0.1], solvers=["bcd-ls", "fista-ls"])
    >>> found
    Sweep(4 of 4 done; all tasks are done)
    """
    return SweepRun(problems, **options).run()
