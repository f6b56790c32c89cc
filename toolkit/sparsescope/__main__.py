"""`python -m sparsescope`, and what the command `sparsescope` starts."""

import sys


def start() -> int:
    """Run the command line; Ctrl-C while it is still being loaded ends it as quietly as later."""
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
