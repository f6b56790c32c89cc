"""Requests for memory before it is needed: what lies scattered in a large pool takes a tenth of a microsecond."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils
from numba.extending import intrinsic

from .compiler import disabled, numba_types
from .parts import lean


@intrinsic
def _request(typingctx, array, at):  # type: ignore[no-untyped-def]
    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        request = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        place = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        builder.call(request, [place, word(0), word(3), word(1)])  # to read, into the nearest cache, data
        return context.get_dummy_value()

    return numba_types.void(array, at), build


if disabled():

    def prefetch(array: np.ndarray, at: int | np.integer[Any]) -> None:
        """Do nothing: only compiled code can request memory."""

else:

    @lean
    def prefetch(array, at):  # type: ignore[no-untyped-def]
        """Request the memory of entry ``at`` of a contiguous array, counted as if it had one dimension."""
        _request(array, np.intp(at))
