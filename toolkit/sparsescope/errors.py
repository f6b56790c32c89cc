"""The errors that users meet: refusals that name what is allowed and the way out."""

from __future__ import annotations


class SparsescopeError(Exception):
    """Base of the errors that this package defines; each is a built-in error as well, such as ``ValueError``.

    Examples
    --------
    >>> try:
    ...     ss.Problem(ss.datasets.load("iris"), penalty="l3")
    ... except ss.SparsescopeError as error:
    ...     str(error)[:20]
    "unknown penalty 'l3'"
    """


class NotAllowed(SparsescopeError, ValueError):
    """Error for a value out of bounds, or for parts that do not fit each other; the message names what is allowed."""


class UnknownName(SparsescopeError, KeyError, ValueError):
    """Error for a name that no registered part has; the message suggests the nearest one and lists the known ones.

    Examples
    --------
    >>> ss.registry.solvers.create("bcd-l")
    Traceback (most recent call last):
    ...
    sparsescope.errors.UnknownName: ...
    """

    def __str__(self) -> str:  # KeyError would show the repr of the message, quotes and all
        return str(self.args[0]) if self.args else ""
