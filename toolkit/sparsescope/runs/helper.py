"""A process that works for the one that started it: it reads orders, and writes what it finds.

Started by :mod:`.processes` as ``python -m sparsescope.runs.helper``. Messages go through its standard streams: eight
bytes with the length, then a pickle. Both ends are this program on one machine, one the child of the other; nothing
that a user sends or opens is read this way. The process ends when its parent does.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import struct
import sys
import threading
import traceback
from typing import Any, BinaryIO

GIVE, DO = "give", "do"  # orders: here is what you work with; call one of its methods
FOUND, DONE, FAILED = "found", "done", "failed"  # answers
NICENESS = 5  # below the process that shows the pages


def write(stream: BinaryIO, message: bytes) -> None:
    """Write one message, which is pickled already."""
    stream.write(struct.pack("<Q", len(message)))
    stream.write(message)
    stream.flush()


def read(stream: BinaryIO) -> bytes:
    """Read one message.

    Raises
    ------
    EOFError
        if the other end is gone.
    """
    (length,) = struct.unpack("<Q", _exactly(stream, 8))
    return _exactly(stream, length)


def _exactly(stream: BinaryIO, count: int) -> bytes:
    parts = []
    while count:
        part = stream.read(count)
        if not part:
            raise EOFError("the other process is gone")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def main() -> None:
    """Obey orders until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever anybody prints goes to the errors
    orders: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read_orders, args=(sys.stdin.buffer, orders), daemon=True).start()
    given: Any = None
    while True:
        try:
            kind, *order = pickle.loads(orders.get())
            if kind == GIVE:
                given = pickle.loads(order[0])
                continue
            method, arguments = order
            for found in getattr(given, method)(*arguments):
                if found is not None:
                    write(out, pickle.dumps((FOUND, found)))
            answer: tuple[Any, ...] = (DONE,)
        except Exception as error:  # it belongs on the page that asked
            answer = (FAILED, isinstance(error, ValueError), _sentence(error), traceback.format_exc())
        write(out, pickle.dumps(answer))


def _read_orders(stream: BinaryIO, orders: queue.SimpleQueue[bytes]) -> None:
    """Take orders in; the end of the stream is the end of the parent, and so of this process, in mid-computation."""
    try:
        while True:
            orders.put(read(stream))
    except EOFError:
        os._exit(0)


def _sentence(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) and str(error) else f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main()
