"""The only file that knows numba's internals.

Three things live here:

``@kernel``
    compiles a function without the GIL and keeps the machine code on disk, in a folder named after the sources of this
    package (:class:`_KernelCache`).
``@part``
    turns a plain class with declared fields and row functions into a NamedTuple type, which numba passes by value.
    A kernel that is handed a loss or a penalty is specialised to it, and the cache finds it again in a fresh process.
``digest``
    names code by what it says, so that edited code is never mistaken for the old one.

Five traps of this design, and what is done about each:

1. numba does not see that a cached kernel depends on a loss in *another* file. The cache folder is therefore named by a
   hash over all files whose code can end up inside a kernel; user classes from other modules get index files of their
   own.
2. A notebook cell that redefines a class under the same name would find the old machine code. The hash of the class's
   code is part of its ``__name__``; the readable name stays in ``title`` and ``repr``.
3. numba cannot pass a NamedTuple without fields. A part without parameters gets one hidden field.
4. Classes defined in ``__main__`` cannot be found again by another process. They are compiled once in each process
   and not written to disk; everything else works for them.
5. numba optimises what a kernel calls once for itself and again inside each caller, makes machine code and a way in
   from Python for all of it, and compiles it anew for each constant that it is called with: most of the time of a first
   use. :func:`_inner` leaves all of that to the kernel.

With ``NUMBA_DISABLE_JIT=1`` kernels and parts are plain Python and can be stepped through in a debugger.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import shutil
import sys
import tempfile
import time
import types as pytypes
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, dataclass_transform

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import config, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import register_pass
from numba.core.imputils import impl_ret_new_ref, lower_builtin
from numba.core.typed_passes import NativeLowering
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr
from numba.extending import intrinsic, overload

from .registry import collect_fields, field

# Sums may be reassociated so that they can use vector instructions. Infinities and NaN keep their meaning (no "ninf",
# "nnan"): a conjugate of +inf is an answer, and NaN in the data must not turn into a number.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}
PACKAGE = Path(__file__).resolve().parent
# Folders and files whose code is compiled into kernels.
SOURCES = ("jit.py", "design.py", "kernels", "losses", "penalties")
PRUNE_AFTER_DAYS = 30.0  # cache folders of older versions of the sources are removed after this time
LIBRARIES = ("numpy", "numba", "scipy", "math", "cmath", "builtins")  # what digests do not look into
HIDDEN_FIELD = "unused"  # the field of a part without parameters (trap 3)

T = TypeVar("T")


def disabled() -> bool:
    """True if ``NUMBA_DISABLE_JIT`` asks for plain Python."""
    return bool(config.DISABLE_JIT)


# ---------------------------------------------------------------------------------------------- digests (traps 1, 2)
def source_digest() -> str:
    """Sixteen hex digits over the sources that can end up in a kernel."""
    return _source_digest(PACKAGE)


@functools.cache
def _source_digest(root: Path) -> str:
    seen = hashlib.sha256()
    for name in SOURCES:
        path = root / name
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        for file in files:
            if file.exists():
                seen.update(str(file.relative_to(root)).encode())
                seen.update(file.read_bytes())
    return seen.hexdigest()[:16]


def digest(thing: Any, *, _seen: set[int] | None = None) -> str:
    """Hash of what a class or function does: byte code, constants, and the plain functions and numbers it refers to."""
    found = hashlib.sha256()
    seen = _seen if _seen is not None else set()
    _feed(found, thing, seen)
    return found.hexdigest()[:12]


def _feed(into: Any, thing: Any, seen: set[int]) -> None:
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, type):
        for base in thing.__mro__:
            if base.__module__ == "builtins":
                continue
            for key in sorted(vars(base)):
                value = vars(base)[key]
                if isinstance(value, pytypes.FunctionType):
                    into.update(key.encode())
                    _feed(into, value, seen)
    elif isinstance(thing, pytypes.FunctionType):
        _feed_code(into, thing.__code__)
        into.update(repr(thing.__defaults__).encode())
        cells = [c.cell_contents for c in thing.__closure__ or ()]
        names = sorted(_names(thing.__code__))
        named = [thing.__globals__.get(name) for name in names]
        for module in [value for value in named if isinstance(value, pytypes.ModuleType)]:
            if module.__name__.split(".")[0] not in LIBRARIES:  # helpers called as ``mymodule.helper(...)``
                named += [getattr(module, name, None) for name in names]
        for value in cells + named:
            inner = getattr(value, "py_func", value)
            if isinstance(inner, pytypes.FunctionType):
                _feed(into, inner, seen)
            elif isinstance(inner, np.ndarray):  # compiled code keeps the values of arrays it finds by name
                into.update(repr((inner.dtype, inner.shape)).encode() + inner.tobytes())
            elif isinstance(inner, int | float | complex | str | bytes | bool | tuple):
                into.update(repr(inner).encode())


def _feed_code(into: Any, code: pytypes.CodeType) -> None:
    into.update(code.co_code)
    into.update(repr(code.co_names + code.co_varnames).encode())
    for const in code.co_consts:
        if isinstance(const, pytypes.CodeType):
            _feed_code(into, const)
        elif isinstance(const, frozenset):  # its order is another one in each process
            into.update(repr(sorted(map(repr, const))).encode())
        else:
            into.update(repr(const).encode())


def _names(code: pytypes.CodeType) -> set[str]:
    names = set(code.co_names)
    for const in code.co_consts:
        if isinstance(const, pytypes.CodeType):
            names |= _names(const)
    return names


# ---------------------------------------------------------------------------------------------------- the disk cache
def cache_root() -> Path:
    """Folder of all compiled kernels: ``SPARSESCOPE_CACHE``, else ``NUMBA_CACHE_DIR``, else the user's cache folder."""
    chosen = os.environ.get("SPARSESCOPE_CACHE") or os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen) / "kernels"
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or "~/.cache"
    return Path(base).expanduser() / "sparsescope" / "kernels"


@functools.cache
def cache_folder() -> Path:
    """Folder for the kernels of exactly these sources, this Python and this numba (trap 1); made on first use."""
    name = f"{source_digest()}-py{sys.version_info[0]}{sys.version_info[1]}-numba{numba.__version__}"
    folder = cache_root() / name
    try:
        fresh = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "used").touch()
    except OSError:  # a home that cannot be written to: kernels last as long as the machine's temporary folder
        user = getattr(os, "getuid", lambda: "user")()
        folder = Path(tempfile.gettempdir()) / f"sparsescope-{user}" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    if fresh:
        _prune(folder.parent, keep=folder)
    return folder


def _prune(root: Path, keep: Path) -> None:
    limit = time.time() - PRUNE_AFTER_DAYS * 86400
    for old in root.iterdir():
        mark = old / "used"
        if old != keep and mark.exists() and mark.stat().st_mtime < limit:
            shutil.rmtree(old, ignore_errors=True)


class _SourceKeyedLocator(_CacheLocator):
    def __init__(self, py_func: Callable[..., Any], py_file: str) -> None:
        self._file = py_file
        self._line = py_func.__code__.co_firstlineno
        # The folder's name speaks for the kernels of this package; a user's kernel says itself what it does.
        inside = (py_func.__module__ or "").split(".")[0] == __package__
        self._stamp = source_digest() + ("" if inside else digest(py_func))

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return hashlib.sha256(f"{self._file}:{self._line}".encode()).hexdigest()[:10]

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _SourceKeyedLocator:
        return cls(py_func, py_file)


class _KernelCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_SourceKeyedLocator]


class _KernelCache(FunctionCache):
    """numba's function cache in our folder, with an index file of its own for each combination of foreign parts."""

    _impl_class = _KernelCacheImpl

    def _file_for(self, sig: tuple[Any, ...]) -> IndexDataCacheFile | None:
        foreign = []
        for arg in sig:
            cls = getattr(arg, "instance_class", None)
            if cls is None or cls.__module__.split(".")[0] == __package__:
                continue
            if cls.__module__ == "__main__":
                return None  # trap 4
            foreign.append(cls.__module__ + "." + cls.__qualname__)
        if not foreign:
            return self._cache_file
        key = hashlib.sha256(" ".join(foreign).encode()).hexdigest()[:12]
        stamp = self._impl.locator.get_source_stamp()
        return IndexDataCacheFile(self.cache_path, f"{self._impl.filename_base}-{key}", stamp)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        file = self._file_for(sig) if self._enabled else None
        if file is None:
            return None
        data = file.load(self._index_key(sig, target_context.codegen()))
        return None if data is None else self._impl.rebuild(target_context, data)

    def _save_overload(self, sig: Any, data: Any) -> None:
        file = self._file_for(sig) if self._enabled else None
        if file is None or not self._impl.check_cachable(data):
            return
        self._impl.locator.ensure_cache_path()
        file.save(self._index_key(sig, data.codegen), self._impl.reduce(data))


def kernel(function: T) -> T:
    """Compile a function on arrays and parts: without the GIL, cached on disk. Plain Python if numba is disabled."""
    if disabled():
        return function
    compiled = numba.njit(nogil=True, fastmath=FASTMATH, error_model="numpy")(function)
    compiled._cache = _KernelCache(function)
    return compiled


# --------------------------------------------------------------------------------------------------------- the parts
@dataclass_transform(field_specifiers=(field,), frozen_default=True)
def part(cls: type[T]) -> type[T]:
    """Make a NamedTuple part of a plain class.

    The body declares parameters with :func:`sparsescope.registry.field` and functions of one row, whose first argument
    is the part itself. The result checks its parameters when it is created, can be an argument of a kernel, runs the
    same functions interpreted, and is an ordinary immutable Python object.
    """
    fields = collect_fields(cls)
    names = [f.name for f in fields] or [HIDDEN_FIELD]
    defaults = [f.default for f in fields] or [0.0]
    title = cls.__dict__.get("title", cls.__name__)
    plain = cls.__name__
    body = {k: v for k, v in vars(cls).items() if k not in (*names, "__dict__", "__weakref__")}
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

    body.update(__eq__=same, __ne__=differs, __hash__=hashed)
    body.update(__slots__=(), __new__=create, __repr__=show, fields=fields, title=title, plain_name=plain)
    return _finish(cls, plain, base, body)


def struct(cls: Any) -> Any:
    """Make a NamedTuple of arrays with functions (the body only annotates the fields), for use inside kernels."""
    names = list(inspect.get_annotations(cls))
    body = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__", "__annotations__")}
    return _finish(cls, cls.__name__, namedtuple(cls.__name__, names), {**body, "__slots__": ()})  # type: ignore[misc]


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


numba_types: Any = types  # its names are made at run time, which type checkers cannot follow
NAMED = numba_types.BaseNamedTuple
_attached: set[str] = set()


@infer_getattr
class _PartFunctions(AttributeTemplate):
    """Typing of ``part.name(...)`` in compiled code: the function is looked up in the part's class."""

    key = NAMED

    def generic_resolve(self, kind: Any, name: str) -> Any:
        function = getattr(kind.instance_class, name, None)
        if name not in _attached or not isinstance(function, pytypes.FunctionType):
            return None
        called = types.Dispatcher(_compiled(function))

        class Method(AbstractTemplate):
            key = (NAMED, name)

            def generic(self, args: Any, kws: Any) -> Any:
                found: Any = called.get_call_type(self.context, (kind, *args), kws)
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
        function = getattr(sig.args[0].instance_class, name)
        call = context.get_function(types.Dispatcher(_compiled(function)), sig)
        result = call(builder, args)
        context.add_linking_libs(getattr(call, "libs", ()))
        return impl_ret_new_ref(context, builder, sig.return_type, result)


# -------------------------------------------------------------------------------------- what only kernels call (trap 5)
@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):  # type: ignore[misc]
    """To LLVM's language and no further: the kernel that calls it is what becomes machine code."""

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> bool:
        library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
        library._optimize_final_module = lambda: None
        library._finalize_final_module = lambda: setattr(library, "_finalized", True)
        state.library = library
        state.flags.no_compile = state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        done = super().run_pass(state)
        state.reload_init.extend(library._reload_init)
        # numba tells functions apart by what a call from Python would run; nothing does, so any built-in one will do
        made = state["cr"]._replace(cfunc=[].append)
        state.targetctx.insert_user_function(made.cfunc, made.fndesc, [library])
        state["cr"] = made
        return bool(done)


class _InnerCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler with the lowering above in the place of its own."""

    def define_pipelines(self) -> Any:
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [(_InnerLowering, why) if made is NativeLowering else (made, why)
                               for made, why in pipeline.passes]
            pipeline._finalized = False
            pipeline.finalize()
        return pipelines


# The two classes above rest on private parts of numba. They are used with the versions that they are tested with; with
# others everything is compiled numba's own way, which gives the same and takes longer.
LEAN_VERSIONS = ("0.68.",)
LEAN = numba.__version__.startswith(LEAN_VERSIONS)
INNER: dict[str, Any] = {"nogil": True, "fastmath": FASTMATH, "error_model": "numpy"}
if LEAN:
    INNER["pipeline_class"] = _InnerCompiler


def _inner(function: Callable[..., Any], **options: Any) -> Any:
    """A function that kernels can call: compiled without machine code, and in one form whatever constants it is called
    with. Called from Python it is compiled as a whole."""
    made = numba.njit(**{**INNER, **options})(function)
    if disabled() or not LEAN:
        return made
    general = made.get_call_template
    plain = numba_types.unliteral
    made.get_call_template = lambda args, kws: general(tuple(map(plain, args)), {k: plain(v) for k, v in kws.items()})

    @functools.cache
    def whole() -> Any:
        return numba.njit(nogil=True, fastmath=FASTMATH, error_model="numpy")(function)

    made.add_overload = lambda result: made.overloads.__setitem__(tuple(result.signature.args), result)
    made._compile_for_args = lambda *args, **kws: whole()
    return made


@functools.cache
def _compiled(function: Callable[..., Any]) -> Any:
    return _inner(function, forceinline=True)


def helper(function: Any = None, *, forceinline: bool = True, _nrt: bool = True) -> Any:
    """Decorator for small functions that kernels and parts call (inlined, not cached on their own)."""
    if function is None:
        return functools.partial(helper, forceinline=forceinline, _nrt=_nrt)
    return _inner(function, forceinline=forceinline, _nrt=_nrt)


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


@intrinsic
def _power_of_two(typingctx, k):  # type: ignore[no-untyped-def]
    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        exponent = builder.add(arguments[0], ir.Constant(ir.IntType(64), 1023))
        return builder.bitcast(builder.shl(exponent, ir.Constant(ir.IntType(64), 52)), ir.DoubleType())

    return numba_types.float64(numba_types.int64), build


if disabled():

    def power_of_two(k: int) -> float:
        """2^k for a whole number k in −1022…1023."""
        return float(np.ldexp(1.0, k))

else:

    @helper
    def power_of_two(k):  # type: ignore[no-untyped-def]
        """2^k for a whole number k in −1022…1023, by writing the bits of its exponent."""
        return _power_of_two(np.int64(k))


@helper
def exponential(x):  # type: ignore[no-untyped-def]
    """e^x for x ≤ 700, to a relative error of 1e-13; e^−700 (1e-304) for everything below.

    Unlike a call of the system's exp it can be part of a vectorised loop, which makes rows of exponentials about three
    times as fast: x = k·ln 2 + r with |r| ≤ ½ ln 2, and e^r by its Taylor polynomial (whose rest is below 1e-16).
    """
    x = max(x, -700.0)
    k = np.floor(x * 1.4426950408889634 + 0.5)
    r = x - k * 0.6931471803691238 - k * 1.9082149292705877e-10
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * power_of_two(np.int32(k))  # type: ignore[arg-type]
