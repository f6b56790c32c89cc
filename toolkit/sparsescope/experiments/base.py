"""Elements of a paper's experiments: settings, measurements, experiments, claims."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from .. import extras

if TYPE_CHECKING:
    import pandas as pd

    from .pools import Pool
    from .progress import Report

Limits = TypeVar("Limits")  # a dataclass of a paper's protocol
Tables = Mapping[str, "pd.DataFrame"]
HOLDS, FAILS, OPEN = "holds", "does not hold here", "not decided"
EXCEEDED = "holds, by more than claimed"


@dataclass(frozen=True)
class Settings:
    """Settings of a measurement.

    quick : small limits, few λ and splits: about a minute for all experiments on the bundled data
    seed : of the splits and of the solvers' random orders
    seconds : limit of solver seconds for each run; ``None`` leaves it to the experiment
    splits : number of train-test splits where results are averaged over splits; ``None`` likewise

    Raises ``ValueError`` for a negative seed, seconds ≤ 0 or splits < 1.
    """

    quick: bool = False
    seed: int = 0
    seconds: float | None = None
    splits: int | None = None

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}; a whole number of at least 0 is needed")
        if self.seconds is not None and not self.seconds > 0:
            raise ValueError(f"seconds is {self.seconds}; a number above 0 is needed")
        if self.splits is not None and self.splits < 1:
            raise ValueError(f"splits is {self.splits}; at least 1 is needed")

    def limits(
        self, quick: Limits, full: Limits, in_proportion: tuple[str, ...] = (), splits: tuple[str, ...] = ()
    ) -> Limits:
        """Return the limits of a paper for these settings.

        ``quick`` or ``full`` with other ``seconds``, those limits in seconds that follow in proportion, and other
        numbers of splits, where they are set.
        """
        base: Any = quick if self.quick else full
        changed: dict[str, Any] = dict.fromkeys(splits, self.splits) if self.splits is not None else {}
        if self.seconds is not None:
            changed |= {name: self.seconds * getattr(base, name) / base.seconds for name in in_proportion}
            changed["seconds"] = self.seconds
        made: Limits = replace(base, **changed) if changed else base
        return made


@dataclass(frozen=True)
class Measurement:
    """Measurement on one data set.

    ``run(pool, settings, report)`` returns a tidy frame with a column ``data``; measurements with the same ``table``
    are stored together. Its jobs are done by ``progress.gather``, so that an interrupted measurement keeps the finished
    parts; ``finish`` then completes the columns that need all parts. ``refuses(pool)`` returns the reason why data do
    not suit this measurement; ``None`` if they do.
    """

    name: str
    table: str
    run: Callable[[Pool, Settings, Report], pd.DataFrame]
    finish: Callable[[pd.DataFrame], pd.DataFrame] = field(default=lambda frame: frame)
    refuses: Callable[[Pool], str | None] = field(default=lambda pool: None)


@dataclass(frozen=True)
class Experiment:
    """A figure or table of the paper: a name for ``--only``, what it needs, and what is made of it.

    ``needs`` are names of measurements, ``table`` is the table it is made from. ``draw(tables)`` gives a plotly figure,
    or ``None`` where an interrupted measurement left nothing to draw; ``tabulate(tables)`` gives a frame in the paper's
    layout. Either may be missing.
    """

    name: str
    title: str
    doc: str
    needs: tuple[str, ...]
    table: str
    draw: Callable[[Tables], Any] | None = None
    tabulate: Callable[[Tables], pd.DataFrame] | None = None


@dataclass(frozen=True)
class Case:
    """A case in which a claim is judged: its data sets, and what else tells cases apart (a λ, a size, a method)."""

    data: tuple[str, ...] = ()
    details: tuple[str, ...] = ()

    @classmethod
    def on(cls, data: object, *details: str) -> Case:
        """The case of one data set."""
        return cls((str(data),), details)

    def and_also(self, detail: str) -> Case:
        """The same with one more detail."""
        return Case(self.data, (*self.details, detail))

    def __str__(self) -> str:
        return ", ".join([*([" and ".join(self.data)] if self.data else []), *self.details])


EVERYWHERE = Case()


@dataclass(frozen=True)
class Finding:
    """Evidence of the tables on a claim in one case (a data set, often with a λ).

    ``holds`` is True, False, or None where the case cannot decide; ``numbers`` are the numbers behind it, as text.
    ``exceeded``: it holds, and by more than the claim says.
    """

    case: Case
    holds: bool | None
    numbers: str
    exceeded: bool = False

    @property
    def begins(self) -> str:
        """The case with a colon, which a sentence begins with; "" where there is one case only."""
        return f"{self.case}: " if str(self.case) else ""

    @property
    def word(self) -> str:
        """``holds``, ``does not hold here`` or ``not decided``."""
        return OPEN if self.holds is None else FAILS if not self.holds else EXCEEDED if self.exceeded else HOLDS


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper that the tables can support or contradict.

    ``judge(tables)`` is a pure function of the tables, whose names are ``needs``; it returns a finding for each case.
    """

    name: str
    where: str
    text: str
    needs: tuple[str, ...]
    judge: Callable[[Tables], list[Finding]]


@dataclass(frozen=True)
class Paper:
    """A paper: its question, what can be measured, what is made of it, what it claims, and how our protocol differs.

    ``words`` explains those of the claims that a newcomer does not know.
    ``load`` reads a data set by name or file; ``None``: :func:`sparsescope.experiments.load_data`. ``quick`` makes of a
    data set what is measured with quick settings; ``None``: the whole of it.
    """

    number: int
    title: str
    question: str
    reference: str
    data: tuple[str, ...]  # used when the user names none
    measurements: tuple[Measurement, ...]
    experiments: tuple[Experiment, ...]
    claims: tuple[Claim, ...]
    differences: tuple[str, ...]
    load: Callable[[str], Pool] | None = None
    quick: Callable[[Pool], Pool] | None = None
    words: Mapping[str, str] = field(default_factory=dict)

    def pools(self, names: Sequence[str], quick: bool) -> list[Pool]:
        """Load the data sets of these names or files, each once; the paper's own if none is given."""
        from .pools import load_data

        load = self.load or load_data
        found = [load(name) for name in dict.fromkeys(names or self.data)]
        return [self.quick(pool) for pool in found] if quick and self.quick is not None else found

    def choose(self, names: list[str] | None) -> list[Experiment]:
        """The experiments of these names, in the paper's order; all for ``None``. ``ValueError`` for unknown ones."""
        if names is None:
            return list(self.experiments)
        known = [e.name for e in self.experiments]
        unknown = [name for name in names if name not in known]
        if unknown:
            words = "are no experiments" if len(unknown) > 1 else "is no experiment"
            raise ValueError(
                f"{', '.join(map(repr, unknown))} {words} of paper {self.number}; known: {', '.join(known)}"
            )
        if not names:
            raise ValueError(f"no experiment is named; known: {', '.join(known)}")
        return [e for e in self.experiments if e.name in names]

    def needed(self, chosen: list[Experiment]) -> list[Measurement]:
        """The measurements that these experiments need, in the paper's order, each once."""
        return [m for m in self.measurements if any(m.name in e.needs for e in chosen)]

    def claims_on(self, measurements: list[Measurement]) -> list[Claim]:
        """The claims that these measurements say something on."""
        tables = {m.table for m in measurements}
        return [c for c in self.claims if tables & set(c.needs)]


# number -> the sub-package that holds its PAPER
PAPERS: dict[int, str] = {1: "paper1", 2: "paper2", 3: "paper3", 4: "paper4", 5: "paper5"}


def load_paper(number: int) -> Paper:
    """The paper of this number; ``ValueError`` names the numbers there are."""
    if number not in PAPERS:
        known = ", ".join(map(str, sorted(PAPERS)))
        raise ValueError(f"there are no experiments of paper {number}; known: {known}")
    with extras.needed_by(f"Paper {number}"):
        found: Paper = importlib.import_module(f".{PAPERS[number]}", __package__).PAPER
    return found
