"""``ss.check``: which kind a part is of, and the checks of that kind."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from .. import registry
from ..losses.base import Loss
from ..penalties.base import Penalty
from ..registry import NotAllowed, UnknownName
from ..solvers.base import Solver
from . import losses, penalties, solvers
from .points import values_of
from .report import Finding, Report, finding

Checks = Callable[[Any], Iterator[tuple[str, Callable[[], str]]]]
ROWS: dict[type, Checks] = {Loss: losses.checks, Penalty: penalties.checks}  # parts of row functions: quick to try
REGISTRIES = ("losses", "penalties", "solvers", "views")


def checks_of(kind: type) -> tuple[str, Checks]:
    """The noun for a class of parts, and its checks."""
    for base, found in ROWS.items():
        if issubclass(kind, base):
            return base.__name__.lower(), found
    if issubclass(kind, Solver):
        return "solver", solvers.checks
    from ..views.base import View
    from . import views

    if issubclass(kind, View):
        return "view", views.checks
    raise NotAllowed(
        f"{kind.__name__} is none of the parts that can be checked; derive it from sparsescope.losses.Loss, "
        "sparsescope.penalties.Penalty, sparsescope.solvers.base.Solver or sparsescope.views.base.View"
    )


def by_name(name: str) -> Any:
    """The part that is registered under a name, in whichever registry."""
    for room in REGISTRIES:
        known = getattr(registry, room)
        if name in known:
            return known.create(name)
    rooms = "; ".join(f"{room}: {', '.join(getattr(registry, room))}" for room in REGISTRIES)
    raise UnknownName(f"no loss, penalty, solver or view is registered as {name!r}. {rooms}")


def variants(part: Any) -> Iterator[Any]:
    """A part with row functions, with each of its parameters at its bounds, one at a time."""
    given = {f.name: getattr(part, f.name) for f in part.fields}
    for declared in part.fields:
        for chosen in values_of(declared):
            if chosen != given[declared.name]:
                yield type(part)(**given | {declared.name: chosen})


def made(cls: type) -> tuple[Any, Finding | None]:
    """An instance of a class, or the finding that it cannot be made."""
    kept: list[Any] = []

    def make() -> str:
        kept.append(cls())
        return "is made without arguments"

    outcome = finding("parameters", make)
    return (kept[0], None) if kept else (None, outcome)


def tried(part: Any, checks: Checks, kind: str) -> Iterator[Finding]:
    """The outcomes for a part, and for its other parameters those that fail."""
    for name, run in checks(part):
        yield finding(name, run)
    if kind in ("loss", "penalty"):
        for other in variants(getattr(part, "row", part)):
            for name, run in checks(other):
                outcome = finding(name, run)
                if outcome.held is False:
                    yield Finding(f"{name} of {other!r}", outcome.sentence, False)


def check(part: Any) -> Report:
    """Check what a loss, penalty, solver or view promises, and answer in sentences.

    Losses and penalties are tried on their functions of one row, as plain Python: values, gradients against
    differences, conjugates by the Fenchel–Young inequality, prox against numerical minimisation, constants against
    Hessians; and with each parameter at its bounds. Solvers run on two small problems that they accept, against a
    certified reference. Views draw an empty trace and filled ones. The contract tests of this package make the same
    checks.

    Parameters
    ----------
    part
        a class, an instance, or the registered name of a part.

    Returns
    -------
    Report
        the report; ``passed`` says whether all checks hold, ``lines`` has a sentence for each. What is wrong with a
        part is a sentence too, errors in its code included, and never raised.

    Raises
    ------
    NotAllowed
        if it is no part of these four kinds.
    UnknownName
        for a name that is not registered.

    Examples
    --------
    >>> ss.check("l1").passed
    True
    >>> @ss.part
    ... class Longer(ss.penalties.L1):
    ...     def prox(self, v, tau, out):
    ...         for k in range(v.size):
    ...             out[k] = 0.9 * v[k]
    >>> ss.check(Longer).faults[0].startswith("prox: your prox gives")
    True
    """
    if isinstance(part, str):
        part = by_name(part)
    cls = part if inspect.isclass(part) else type(part)
    kind, checks = checks_of(cls)
    name = getattr(cls, "plain_name", cls.__name__)
    row_functions = kind in ("loss", "penalty")
    decorated = hasattr(cls, "plain_name") or hasattr(cls, "row")
    if row_functions and not decorated:
        return Report(
            f"{kind} {name}",
            (Finding("decorator", "your class is not decorated with @ss.part: no kernel can take it", False),),
        )
    if inspect.isclass(part):
        part, failed = made(cls)
        if failed is not None:
            return Report(f"{kind} {name}", (failed,))
    return Report(f"{kind} {name}", tuple(tried(part, checks, kind)))
