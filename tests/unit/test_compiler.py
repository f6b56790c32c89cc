"""Compilation leaves out what changes nothing: the same instructions, and garbage is collected again afterwards."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

from sparsescope.jit import compiler
from sparsescope.jit.compiler import KERNEL, LEAN, disabled, inner, uncollected

short_way = pytest.mark.skipif(disabled() or not LEAN, reason="this numba compiles in its own way")
X, Y = np.linspace(-1.0, 1.0, 37), np.linspace(2.0, -1.0, 37)


def made() -> Any:
    """A kernel that calls a function that calls another one, compiled for the arrays above."""

    def positive(x: float) -> float:
        return max(x, 0.0)

    least: Callable[[float], float] = inner(positive, forceinline=True)

    def weighted(x: np.ndarray, i: int) -> float:
        return least(x[i]) * np.exp(x[i])

    weigh: Callable[[np.ndarray, int], float] = inner(weighted, forceinline=True)

    def total(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> float:
        found = 0.0
        for i in range(x.size):
            found += weigh(x, i) * y[i]
            out[i] = least(y[i])
        return found

    compiled = numba.njit(**KERNEL)(total)
    out = np.zeros(X.size)
    assert compiled(X, Y, out) == pytest.approx(np.sum(np.maximum(X, 0.0) * np.exp(X) * Y), rel=1e-12)
    np.testing.assert_array_equal(out, np.maximum(Y, 0.0))
    return compiled


def text(compiled: Any) -> tuple[str, str]:
    """LLVM code of all of a kernel, and of its function alone, without names and numbers that count functions."""
    (result,) = compiled.overloads.values()
    whole, name = result.library.get_llvm_str(), result.fndesc.llvm_func_name
    found = re.search(rf"^define [^\n]*@{re.escape(name)}\(.*?^}}", whole, re.MULTILINE | re.DOTALL)
    assert found is not None
    return whole, re.sub(r"#\d+|!\d+", "", found[0].replace(name, "function"))


@short_way
def test_what_is_left_out_does_not_change_an_instruction(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, function = text(made())
    # numba's library, which prepares passes for every name and has ways in for all
    monkeypatch.setattr(
        compiler, "_library", lambda state: state.targetctx.codegen().create_library(state.func_id.func_qualname)
    )
    monkeypatch.delitem(compiler.KERNEL, "no_cfunc_wrapper")
    own, own_function = text(made())
    assert "fmul" in function and function == own_function
    assert "@cfunc." in own and "@cfunc." not in whole


def test_garbage_waits_for_the_outermost_compilation() -> None:
    assert gc.isenabled()
    with uncollected:
        with uncollected:
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with uncollected:
            pass
        assert not gc.isenabled(), "who had switched it off keeps it off"
    finally:
        gc.enable()


@short_way
def test_a_kernel_that_cannot_be_compiled_leaves_collections_on(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[bool] = []

    class Noted(type(uncollected)):  # type: ignore[misc]
        def __enter__(self) -> None:
            super().__enter__()
            begun.append(gc.isenabled())

    monkeypatch.setattr(compiler, "uncollected", Noted())
    with pytest.raises(numba.errors.TypingError):
        numba.njit(**KERNEL)(lambda x: x.nothing_of_the_kind)(1.0)
    assert begun and not any(begun) and gc.isenabled()
