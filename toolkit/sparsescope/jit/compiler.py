"""Compilation of kernels and of what only they call (trap 5 of ``parts.py``), without what changes nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
from numba.core import config, types

from ..collecting import uncollected

try:
    from numba.core.compiler import Compiler
    from numba.core.compiler_machinery import register_pass
    from numba.core.typed_passes import NativeLowering

    HOOKS = True
except ImportError:  # private names: a numba without them compiles in its own way
    Compiler = NativeLowering = object
    HOOKS = False

    def register_pass(**_: Any) -> Callable[[type], type]:
        """Leave a class as it is."""
        return lambda cls: cls


# Sums may be reassociated so that they can use vector instructions. Infinities and NaN keep their meaning (no "ninf",
# "nnan"): a conjugate of +inf is an answer, and NaN in the data must not turn into a number.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": FASTMATH, "error_model": "numpy"}
numba_types: Any = types  # its names are made at run time, which type checkers cannot follow


def disabled() -> bool:
    """True if ``NUMBA_DISABLE_JIT`` requests plain Python."""
    return bool(config.DISABLE_JIT)


def _library(state: Any) -> Any:
    """A library of code whose functions are optimised where they are defined.

    numba's runs the passes over functions that a module only names, too, of which a kernel has dozens; and over the way
    in from Python, which the passes over the whole kernel meet once more.
    """
    library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
    codegen = library.codegen

    def optimize(module: Any) -> None:
        module.data_layout = codegen._data_layout
        if module.name == "wrapper":
            return
        for function in module.functions:
            if not function.is_declaration:
                passes, builder = codegen._function_pass_manager()
                passes.run(function, builder)

    library._optimize_functions = optimize
    return library


@register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(NativeLowering):  # type: ignore[misc]
    """Lowering to machine code, with the library above."""

    _name = "kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _library(state)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):  # type: ignore[misc]
    """Lowering to LLVM's language only: the machine code is that of the kernel that calls it."""

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> bool:
        library = _library(state)
        library._optimize_final_module = lambda: None
        library._finalize_final_module = lambda: setattr(library, "_finalized", True)
        state.library = library
        state.flags.no_compile = state.flags.no_cpython_wrapper = state.flags.no_cfunc_wrapper = True
        done = super().run_pass(state)
        state.reload_init.extend(library._reload_init)
        # numba distinguishes functions by what a call from Python would run; nothing does, so any built-in one will do
        made = state["cr"]._replace(cfunc=[].append)
        state.targetctx.insert_user_function(made.cfunc, made.fndesc, [library])
        state["cr"] = made
        return bool(done)


class _KernelCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler with a lowering of ours instead of the default."""

    lowering: type = _KernelLowering

    def define_pipelines(self) -> Any:
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [
                (self.lowering, why) if made is NativeLowering else (made, why) for made, why in pipeline.passes
            ]
            pipeline._finalized = False
            pipeline.finalize()
        return pipelines

    def _compile_core(self) -> Any:
        with uncollected:
            return super()._compile_core()


class _InnerCompiler(_KernelCompiler):
    """The same for functions that kernels call."""

    lowering = _InnerLowering


# The classes above rest on private parts of numba. They are used with the versions that they are tested with; with
# others everything is compiled numba's own way, which gives the same and takes longer.
LEAN_VERSIONS = ("0.68.",)
LEAN = HOOKS and numba.__version__.startswith(LEAN_VERSIONS)
INNER: dict[str, Any] = dict(OPTIONS)
KERNEL: dict[str, Any] = dict(OPTIONS)
if LEAN:
    INNER["pipeline_class"] = _InnerCompiler
    # No way in for programs in C either.
    KERNEL |= {"pipeline_class": _KernelCompiler, "no_cfunc_wrapper": True}


def fallback() -> str:
    """A sentence if kernels are compiled in numba's own way, and why; "" if they are not."""
    if LEAN:
        return ""
    made_for = " and ".join(f"{version}*" for version in LEAN_VERSIONS)
    why = f"the short way is tested with numba {made_for}" if HOOKS else "this numba lacks private names it needs"
    return f"numba {numba.__version__} compiles in its own way, which gives the same and takes longer: {why}"


def inner(
    function: Callable[..., Any], remember: Callable[[Any, Callable[..., Any]], None] | None = None, **options: Any
) -> Any:
    """A function that kernels can call: compiled without machine code, and in one form whatever constants it is called
    with. Called from Python it is compiled as a whole, and kept on disk by ``remember``, as kernels are."""
    made = numba.njit(**{**INNER, **options})(function)
    if disabled() or not LEAN:
        return made
    general = made.get_call_template
    plain = numba_types.unliteral
    made.get_call_template = lambda args, kws: general(tuple(map(plain, args)), {k: plain(v) for k, v in kws.items()})

    @functools.cache
    def whole() -> Any:
        compiled = numba.njit(**KERNEL)(function)
        if remember is not None:
            remember(compiled, function)
        return compiled

    made.add_overload = lambda result: made.overloads.__setitem__(tuple(result.signature.args), result)
    made._compile_for_args = lambda *args, **kws: whole()
    return made
