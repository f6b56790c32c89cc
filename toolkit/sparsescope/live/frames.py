"""The header of a frame without news (protocol.md, *A frame*); what is new is put into it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

Message = dict[str, Any]


def without_news(seq: int, stream: int, epoch: int, generation: int, state: Mapping[str, Any]) -> Message:
    """Return a header with the present state of the run.

    Parameters
    ----------
    seq, stream, epoch, generation : int
        counters
    state : mapping
        ``mode``, ``message``, ``playing``, ``rate``, ``late``, ``turbo``, ``preparing`` and ``goal``

    Returns
    -------
    dict
        JSON
    """
    return {
        "type": "frame",
        "seq": seq,
        "stream": stream,
        "anew": False,
        "epoch": epoch,
        "generation": generation,
        "clock": time.time(),
        **state,
        "applied": [],
        "settings": None,
        "lam": None,
        "start": 0,
        "count": 0,
        "total": 0,
        "columns": [],
        "bounds": [],
        "marks": [],
        "raster": None,
        "working": None,
        "picture": None,
        "strip": None,
        "names": {},
        "status": None,
    }
