"""`python -m sparsescope`, and what the command `sparsescope` starts."""

import _thread
import signal
import sys
import threading
from typing import Any

AGAIN = 0.01  # seconds until a Ctrl-C that was lost is raised again


def heed_interrupts() -> None:
    """Raise a Ctrl-C again that fell into a function called from C: Python only prints such an error and goes on. The
    compiler calls some."""

    def hook(lost: Any) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(lost)
            return
        again = threading.Timer(AGAIN, _interrupt)  # from here it would be lost again
        again.daemon = True
        again.start()

    sys.unraisablehook = hook


def _interrupt() -> None:
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:  # wakes one that sleeps, too
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


def start() -> int:
    """Run the command line; Ctrl-C while it is still being loaded ends it as quietly as later."""
    heed_interrupts()
    try:
        from .cli import main

        code = main()
    except KeyboardInterrupt:
        code = 130
    # CPython notes a KeyboardInterrupt that left code compiled from text (named tuples are made so) and would kill this
    # process by a signal at its end, although it was caught. The next such code that ends well clears the note.
    exec("")
    return code


if __name__ == "__main__":
    sys.exit(start())
