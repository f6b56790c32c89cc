"""Row functions of users that numba cannot compile: kernels call them back as plain Python, with a warning.

The kernel around them stays compiled. Each call takes the interpreter's lock and boxes its arguments, a few
microseconds, so such a part is right and slow. A kernel with a callback is never kept on disk.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numba

from .compiler import numba_types as types
from .stamps import NAME

COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # numba's messages on a terminal
_called: dict[Callable[..., Any], Any] = {}  # the function -> what kernels call instead
_names: dict[str, list[str]] = {}  # name of a part's class -> its functions that are called back


def callback(function: Callable[..., Any]) -> Any:
    """Return the substitute that kernels call for a function; ``None`` if it is compiled."""
    return _called.get(function)


def callbacks(kind: type) -> tuple[str, ...]:
    """Names of the row functions of a part's class that are called back as plain Python."""
    return tuple(_names.get(kind.__name__, ()))


def call_back(function: Callable[..., Any], kind: type, name: str, reason: Exception) -> bool:
    """Have a user's row function called back from now on, with a warning; False if its error has to be raised.

    That is so for parts of this package, and for functions that no base class gives a return type.
    """
    returns = getattr(kind, "row_returns", {}).get(name)
    if returns is None or kind.__module__.split(".")[0] == NAME:
        return False
    arguments = ", ".join(function.__code__.co_varnames[: function.__code__.co_argcount])
    found = f"found='{returns}'" if returns else ""
    keep, give = ("found = ", "found") if returns else ("", "None")
    scope: dict[str, Any] = {"objmode": numba.objmode, "plain": function}
    text = (
        f"def called({arguments}):\n    with objmode({found}):\n        {keep}plain({arguments})\n    return {give}\n"
    )
    exec(text, scope)  # numba reads the names of arguments and results from the code
    _called[function] = numba.njit(scope["called"])
    _names.setdefault(kind.__name__, []).append(name)
    warnings.warn(note(kind, (name,), _first_sentence(reason)), stacklevel=2)
    return True


def note(kind: type, names: tuple[str, ...], reason: str = "") -> str:
    """The sentence on functions that are called back."""
    part = getattr(kind, "plain_name", kind.__name__)
    listed = ", ".join(names)
    why = f" ({reason})" if reason else ""
    return f"{part}: numba cannot compile {listed}{why}; run as plain Python: the same results, many times slower"


def has_callbacks(sig: tuple[Any, ...]) -> bool:
    """Return whether a part among the argument types of a kernel has functions that are called back."""
    tuples: list[Any] = [kind for kind in sig if isinstance(kind, types.BaseTuple)]
    return any(
        getattr(kind, "instance_class", tuple).__name__ in _names or has_callbacks(tuple(kind)) for kind in tuples
    )


def _first_sentence(reason: Exception) -> str:
    # numba's messages open with headings; the first line that is indented or plain says what it met
    lines = [line.strip() for line in COLOURS.sub("", str(reason)).splitlines() if line.strip()]
    said = [line for line in lines if not line.startswith(("Failed in", "- ", "During", "File"))]
    return (said or lines or [type(reason).__name__])[0].rstrip(".:")
