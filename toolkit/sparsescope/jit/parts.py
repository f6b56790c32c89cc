"""Decorators for compiled code. Only the files of this folder know numba's internals.

``@kernel``
    compiles a function without the GIL and keeps the machine code on disk, in a file named after the sources that it is
    made of (``cache.py``, ``stamps.py``).
``@part``
    turns a plain class with declared fields and row functions into a NamedTuple type, which numba passes by value.
    A kernel that is handed a loss or a penalty is specialised to it, and the cache finds it again in a fresh process.
``@helper``
    is for small functions that kernels and parts call; they become machine code inside the kernel only
    (``compiler.py``).

Six traps of this design, and what is done about each:

1. numba does not see that a cached kernel depends on a loss in *another* file. Its file's name therefore holds a hash
   over all files whose code can end up inside it; files of user classes from other modules carry these in their names.
2. A notebook cell that redefines a class under the same name would find the old machine code. The hash of the class's
   code is part of its ``__name__``; the readable name stays in ``title`` and ``repr``.
3. numba cannot pass a NamedTuple without fields. A part without parameters gets one hidden field.
4. Classes defined in ``__main__`` cannot be found again by another process. They are compiled once in each process
   and not written to disk; everything else works for them.
5. numba optimises what a kernel calls once for itself and again inside each caller, makes machine code and a way in
   from Python for all of it, and compiles it anew for each constant that it is called with: most of the time of a first
   use. :func:`sparsescope.jit.compiler.inner` leaves all of that to the kernel.
   A kernel has no way in for C either, and Python collects no garbage while one is compiled.
6. A user's function may do what numba cannot compile. Kernels call it back as plain Python (``callbacks.py``).

With ``NUMBA_DISABLE_JIT=1`` kernels and parts are plain Python and can be stepped through in a debugger.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types as pytypes
from collections import namedtuple
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar, dataclass_transform

import numba
import numpy as np
from numba.core import types
from numba.core.errors import NumbaError
from numba.core.imputils import impl_ret_new_ref, lower_builtin
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr
from numba.extending import overload

from ..registry import Field, collect_fields, documented, field
from .cache import digest, remember
from .callbacks import call_back, callback
from .compiler import FASTMATH, INNER, KERNEL, disabled, inner, numba_types

HIDDEN_FIELD = "unused"  # the field of a part without parameters (trap 3)
TUPLE = ("_fields", "_field_defaults", "_make", "_replace", "_asdict", "__match_args__")

T = TypeVar("T")


def kernel(function: T) -> T:
    """Compile a function on arrays and parts: without the GIL, cached on disk. Plain Python if numba is disabled."""
    if disabled():
        return function
    compiled = numba.njit(**KERNEL)(function)
    remember(compiled, function)
    return compiled


# --------------------------------------------------------------------------------------------------------- the parts
@dataclass_transform(field_specifiers=(field,), frozen_default=True)
def part(cls: type[T]) -> type[T]:
    """Make a NamedTuple part of a plain class.

    The body declares parameters with :func:`sparsescope.registry.field` and functions of one row, whose first argument
    is the part itself. The result checks its parameters when it is created, can be an argument of a kernel, runs the
    same functions interpreted, and is an ordinary immutable Python object.

    Returns
    -------
    type[T]
        the part's class.

    Examples
    --------
    >>> @ss.part
    ... class Scaled(ss.penalties.Penalty):
    ...     factor: float = ss.field(1.0, 0.0, 10.0, "multiple of the sum")
    ...     def value(self, w):
    ...         return self.factor * abs(w).sum()
    >>> float(Scaled(factor=2.0).value(np.ones(3)))
    6.0
    """
    fields = _all_fields(cls)
    names = [f.name for f in fields] or [HIDDEN_FIELD]
    defaults = [f.default for f in fields] or [0.0]
    title = cls.__dict__.get("title", cls.__name__)
    plain = cls.__name__
    body = {k: v for k, v in vars(cls).items() if k not in (*names, "__dict__", "__weakref__")}
    for name, face in getattr(cls, "faces", {}).items():
        if name in body:
            body[name] = _faced(body[name], face)
    base: Any = namedtuple(plain, names, defaults=defaults)  # type: ignore[misc]

    def create(kind: type, *args: Any, **params: Any) -> Any:
        made: Any = base.__new__(kind, *args, **params)
        checked = [f.check(v, plain) for f, v in zip(fields, made, strict=False)] or list(made)
        return tuple.__new__(kind, checked)

    def show(self: Any) -> str:
        return f"{plain}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in fields)})"

    # Tuples of different classes with equal entries are equal; two losses without parameters are not the same loss.
    def same(self: Any, other: Any) -> bool:
        return type(self) is type(other) and tuple.__eq__(self, other)

    def differs(self: Any, other: Any) -> bool:
        return not same(self, other)

    def hashed(self: Any) -> int:
        return hash((type(self).__qualname__, *self))

    # The tuple's own members stand before those of a part that this one is derived from, which has fewer fields.
    body.update({k: v for k, v in vars(base).items() if k in names or k in TUPLE})
    body.update(__eq__=same, __ne__=differs, __hash__=hashed)
    body.update(__slots__=(), __new__=create, __repr__=show, fields=fields, title=title, plain_name=plain)
    body["__doc__"] = documented(cls.__doc__, fields)
    return _finish(cls, plain, base, body)


def _all_fields(cls: type) -> tuple[Field, ...]:
    """The parameters of a part: those of the part that it is derived from, then its own.

    One that is declared again keeps its place; a plain value instead of a declaration is another default.
    """
    found = {f.name: f for f in getattr(cls, "fields", ())}
    for name, inherited in found.items():
        if name in vars(cls) and not isinstance(vars(cls)[name], Field):
            found[name] = replace(inherited, default=inherited.check(vars(cls)[name], cls.__name__))
    return tuple((found | {f.name: f for f in collect_fields(cls)}).values())


def _faced(function: Any, face: Callable[..., Any]) -> Any:
    """Give a row function a plain face for people: what is called from Python goes to ``face(function, self, …)``.

    Compiled code never sees the face: :func:`_row_function` finds the function behind it.
    """
    function = getattr(function, "row_function", function)  # taken over from another part

    @functools.wraps(function)
    def plain(self: Any, *args: Any, **named: Any) -> Any:
        return face(function, self, *args, **named)

    plain.row_function = function  # type: ignore[attr-defined]
    return plain


def _row_function(cls: Any, name: str) -> Any:
    """The function of one row that compiled code calls by a name; ``None`` if the class has none."""
    function = getattr(cls, name, None)
    function = getattr(function, "row_function", function)
    return function if isinstance(function, pytypes.FunctionType) else None


def struct(cls: Any) -> Any:
    """Make a NamedTuple of arrays with functions (the body only annotates the fields), for use inside kernels."""
    names = list(inspect.get_annotations(cls))
    body = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__", "__annotations__")}
    return _finish(
        cls, cls.__name__, namedtuple(cls.__name__, names), {**body, "__slots__": (), "plain_name": cls.__name__}
    )  # type: ignore[misc]


def _finish(cls: type[Any], plain: str, base: type, body: dict[str, Any]) -> Any:
    mixins = tuple(b for b in cls.__bases__ if b is not object)
    hashed = f"{plain}_{digest(cls)}"
    made: Any = type(hashed, (*mixins, base), {**body, "__qualname__": hashed})
    # The cache index refers to the class by module and (hashed) name, so it must be found there.
    setattr(sys.modules[cls.__module__], hashed, made)
    for name in dir(made):
        if not name.startswith("_") and isinstance(getattr(made, name), pytypes.FunctionType):
            _dispatch(name)
    return made


NAMED = numba_types.BaseNamedTuple
_attached: set[str] = set()


@infer_getattr
class _PartFunctions(AttributeTemplate):
    """Typing of ``part.name(...)`` in compiled code: the function is looked up in the part's class."""

    key = NAMED

    def generic_resolve(self, kind: Any, name: str) -> Any:
        function = _row_function(kind.instance_class, name)
        if name not in _attached or function is None:
            return None

        class Method(AbstractTemplate):
            key = (NAMED, name)

            def generic(self, args: Any, kws: Any) -> Any:
                found: Any
                try:
                    found = _dispatcher(function).get_call_type(self.context, (kind, *args), kws)
                except NumbaError as reason:
                    if not call_back(function, kind.instance_class, name, reason):
                        raise
                    found = _dispatcher(function).get_call_type(self.context, (kind, *args), kws)
                return found.as_method()

        return types.BoundFunction(Method, kind)


def _dispatch(name: str) -> None:
    """Let compiled code call ``part.name(...)``: one rule for all parts. The call goes to the function itself, without
    a layer between, which halves the number of functions that a cold start compiles."""
    if name in _attached or disabled():
        return
    _attached.add(name)

    @lower_builtin((NAMED, name), NAMED, numba_types.VarArg(numba_types.Any))
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        function = _row_function(sig.args[0].instance_class, name)
        call = context.get_function(_dispatcher(function), sig)
        result = call(builder, args)
        context.add_linking_libs(getattr(call, "libs", ()))
        return impl_ret_new_ref(context, builder, sig.return_type, result)


def _dispatcher(function: Callable[..., Any]) -> Any:
    return types.Dispatcher(callback(function) or _compiled(function))


@functools.cache
def _compiled(function: Callable[..., Any]) -> Any:
    return inner(function, forceinline=True)


def helper(function: Any = None, *, forceinline: bool = True, exact: bool = False, _nrt: bool = True) -> Any:
    """Decorator for small functions that kernels and parts call (inlined there, and kept on disk only for calls from
    Python). ``exact``: its sums and products are taken as they are written, not in another order that is faster."""
    if function is None:
        return functools.partial(helper, forceinline=forceinline, exact=exact, _nrt=_nrt)
    options: dict[str, Any] = {"fastmath": FASTMATH - {"reassoc"}} if exact else {}
    return inner(function, remember, forceinline=forceinline, _nrt=_nrt, **options)


lean = functools.partial(helper, _nrt=False)
"""The same for helpers that make no arrays: without counting references, which in a loop with branches costs more than
short rows of numbers do."""


def two_forms(
    on_number: Callable[..., Any], on_array: Callable[..., Any], by: int = 0, makes_arrays: bool = True
) -> Callable[..., Any]:
    """One function out of two, chosen by the type of argument number ``by``: the second is for arrays.

    Compiled code decides when it is compiled, so there is no branch left in the kernel. Both have to take the same
    arguments; they are plain functions or helpers. ``makes_arrays=False`` compiles them as :data:`lean` does.
    """
    on_number, on_array = (getattr(function, "py_func", function) for function in (on_number, on_array))

    def chosen(*args: Any) -> Any:
        return (on_array if isinstance(args[by], np.ndarray) else on_number)(*args)

    def typed(*args: Any) -> Callable[..., Any]:
        return on_array if isinstance(args[by], numba_types.Array) else on_number

    if not disabled():
        options: dict[str, Any] = {**INNER, "forceinline": True}
        if not makes_arrays:
            options["_nrt"] = False
        overload(chosen, strict=False, jit_options=options)(typed)
    return chosen
