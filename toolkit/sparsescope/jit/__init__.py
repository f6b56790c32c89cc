"""Compiled code: decorators for kernels and parts, the compiler's passes, and the cache of machine code on disk."""

from .callbacks import callbacks, note
from .compiler import disabled
from .elementary import exponential
from .parts import helper, kernel, lean, part, struct, two_forms

__all__ = ["callbacks", "disabled", "exponential", "helper", "kernel", "lean", "note", "part", "struct", "two_forms"]
