"""Exponentials and logarithms that can be part of a vectorised loop.

A call of the system's functions cannot, takes 3 to 8 ns, and keeps the loop around it from being vectorised. These are
polynomials and a few operations on the bits of a number, without a branch: half a nanosecond in a long loop.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.extending import intrinsic

from .compiler import disabled, numba_types
from .parts import helper

LN_2 = 0.6931471805599453
SMALLEST_HALF = 0x3FE6A09E667F3BCD  # the bits of √½


@intrinsic
def _bits_of(typingctx, x):  # type: ignore[no-untyped-def]
    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.bitcast(arguments[0], ir.IntType(64))

    return numba_types.int64(numba_types.float64), build


@intrinsic
def _number_of(typingctx, bits):  # type: ignore[no-untyped-def]
    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.bitcast(arguments[0], ir.DoubleType())

    return numba_types.float64(numba_types.int64), build


if disabled():

    def power_of_two(k: Any) -> float:
        """Return 2^k for a whole number k in −1022…1023."""
        return math.ldexp(1.0, int(k))

    def split(x: Any) -> tuple[float, int]:
        """Return y in [√½, √2) and k with x = y·2^k, for a normal x > 0."""
        y, k = math.frexp(x)
        return (2.0 * y, k - 1) if y < math.sqrt(0.5) else (y, k)

else:

    @helper(exact=True)
    def power_of_two(k):  # type: ignore[no-untyped-def]
        """Return 2^k for a whole number k in −1022…1023, by writing the bits of its exponent."""
        return _number_of((np.int64(k) + 1023) << 52)

    @helper(exact=True)
    def split(x):  # type: ignore[no-untyped-def]
        """Return y in [√½, √2) and k with x = y·2^k, for a normal x > 0."""
        bits = _bits_of(x)
        k = (bits - SMALLEST_HALF) >> 52
        return _number_of(bits - (k << 52)), np.int32(k)


@helper(exact=True)
def exponential(x):  # type: ignore[no-untyped-def]
    """e^x for x ≤ 700, to a few units of the last digit; e^−700 (1e-304) for everything below.

    x = k·ln 2 + r with |r| ≤ ½ ln 2, and e^r by its Taylor polynomial (whose rest is below 1e-16).
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
    return p * power_of_two(np.int32(k))


@helper(exact=True)
def twice_area_tangent(s):  # type: ignore[no-untyped-def]
    """2 artanh s = log((1 + s)/(1 − s)) for |s| ≤ 3 − 2√2, to rounding: its series to s²¹."""
    t = s * s
    p = 1.0 / 21.0
    p = p * t + 1.0 / 19.0
    p = p * t + 1.0 / 17.0
    p = p * t + 1.0 / 15.0
    p = p * t + 1.0 / 13.0
    p = p * t + 1.0 / 11.0
    p = p * t + 1.0 / 9.0
    p = p * t + 1.0 / 7.0
    p = p * t + 1.0 / 5.0
    p = p * t + 1.0 / 3.0
    return 2.0 * s + 2.0 * s * (t * p)


@helper(exact=True)
def logarithm(x):  # type: ignore[no-untyped-def]
    """log x for a normal x > 0, to a few units of the last digit; about −709 below that, ∞ and NaN for themselves."""
    y, k = split(x)
    found = twice_area_tangent((y - 1.0) / (y + 1.0)) + k * LN_2
    return found if x < np.inf else x


@helper(exact=True)
def log_one_plus(e):  # type: ignore[no-untyped-def]
    """log(1 + e) for 0 ≤ e ≤ 1, to a few units of the last digit, however small e is."""
    large = 1.0 if e > 0.41421356 else 0.0  # then it is ln 2 + log((1 + e)/2)
    return twice_area_tangent((e - large) / (e + 2.0 + large)) + large * LN_2


@helper(exact=True)
def log_one_minus(p):  # type: ignore[no-untyped-def]
    """log(1 − p) for 0 ≤ p < 1, to a few units of the last digit, however small p is."""
    small = twice_area_tangent(-p / (2.0 - p))
    large = logarithm(1.0 - p)
    return small if p < 0.25 else large
