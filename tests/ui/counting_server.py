"""`sparsescope` that prints how many workers (threads of sessions) it has, whenever that changes."""

from __future__ import annotations

import sys
import threading
import time

from sparsescope import cli


def report() -> None:
    """Print the number of workers as it changes, for ever."""
    said = -1
    while True:
        count = sum(thread.name == "sparsescope-session" for thread in threading.enumerate())
        if count != said:
            print(f"workers: {count}", flush=True)
            said = count
        time.sleep(0.02)


threading.Thread(target=report, daemon=True).start()
sys.exit(cli.main(sys.argv[1:]))
