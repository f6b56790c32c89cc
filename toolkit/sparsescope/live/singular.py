"""Spectrum of the data as the page takes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problems.spectrum import LATE, SECOND, Spectrum
from .packer import plain

MAX_VALUES = 240  # singular values that are sent; more cannot be told apart on a log axis
FLOOR = 1e-7  # of the largest singular value: what is smaller counts as zero (they are right to about 1e-8 of it)

Message = dict[str, Any]


def spectrum_facts(found: Spectrum) -> Message:
    """Return the page's values of a spectrum (a selection of many) and their meaning."""
    values = found.values
    number = np.unique(np.rint(np.geomspace(1, values.size, MAX_VALUES)).astype(np.int64))
    rank = int(np.count_nonzero(values > FLOOR * values[0]))
    last = min(LATE, rank)
    shares = found.shares()
    return {
        "number": number.tolist(),
        "values": [plain(v) for v in values[number - 1]],
        "count": int(values.size),
        "bound": found.rank_bound,
        "rank": rank,
        "first": SECOND,
        "last": last,
        "proxy": plain(found.condition(SECOND, last)) if last >= SECOND else None,
        "condition": plain(found.condition(1, rank)) if rank else None,
        "shares": [[k, plain(shares[k - 1])] for k in (1, 10, 100, 1000) if k <= values.size],
    }
