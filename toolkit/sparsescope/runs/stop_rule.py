"""Stop: base of all stop rules, and their combination with ``|``."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from .event import Event


class Stop:
    """Base of all stopping rules.

    Rules may have a memory (those of Blondel et al. compare with the first iteration): use a new rule, or call
    :meth:`reset`, for each run.

    Examples
    --------
    >>> problem = ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    >>> class Few(ss.stopping.Stop):
    ...     def check(self, event):
    ...         return "three rows are in use" if event.nonzero_rows >= 3 else None
    >>> ss.solve(problem, "bcd-ls", tol=0, stop=Few()).message.startswith("three rows")
    True
    """

    def check(self, event: Event) -> str | None:
        """Return the reason to stop after this event, or ``None``.

        Parameters
        ----------
        event
            the event to judge.

        Returns
        -------
        str | None
            one sentence, or ``None`` to go on.

        Raises
        ------
        TypeError
            if the class does not define the rule.
        """
        raise TypeError(f"{type(self).__name__} does not define check")

    def reset(self) -> None:
        """Forget what was seen."""

    @property
    def aim(self) -> float:
        """Relative gap at which the rule stops a run, so that a solver need not go on far beyond it; 0: at none."""
        return 0.0

    def __or__(self, other: Stop) -> Stop:
        if not isinstance(other, Stop):
            raise TypeError(f"{other!r} is not a stop rule; rules are objects such as sparsescope.stopping.Gap(1e-6)")
        return AnyOf((*parts(self), *parts(other)))


def parts(rule: Stop) -> tuple[Stop, ...]:
    """Return the rules that a rule is composed of, or the rule itself."""
    return rule.rules if isinstance(rule, AnyOf) else (rule,)


@dataclass
class AnyOf(Stop):
    """Stop as soon as one of the rules does.

    Parameters
    ----------
    rules
        the rules, asked in this order.

    Examples
    --------
    >>> rule = ss.stopping.Gap(1e-6) | ss.stopping.Iterations(100)
    >>> type(rule).__name__
    'AnyOf'
    """

    rules: tuple[Stop, ...]

    def check(self, event: Event) -> str | None:
        for rule in self.rules:
            reason = rule.check(event)
            if reason is not None:
                return reason
        return None

    def reset(self) -> None:
        for rule in self.rules:
            rule.reset()

    @property
    def aim(self) -> float:
        """Largest of the rules' aims."""
        return max((rule.aim for rule in self.rules), default=0.0)


def positive(owner: str, name: str, value: float, zero: bool = False) -> None:
    """Check that a setting of a rule is a number above zero, or not below it; ``ValueError`` otherwise."""
    if not (isinstance(value, Real) and (value > 0 or (zero and value == 0))):
        raise ValueError(f"{owner}: {name} is {value!r}; it must be a number {'of at least 0' if zero else 'above 0'}")
