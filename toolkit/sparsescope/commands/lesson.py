"""The command `lesson`: the list of lessons, a lesson's questions, and the notebooks made from their files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ._arguments import count
from ._output import say

HELP = "list the lessons, show the questions of one, or write their notebooks"
EXAMPLES = """
sparsescope lesson
sparsescope lesson 1
sparsescope lesson --notebooks notebooks
"""
DONE = 0


def add(parser: Any) -> None:
    """Add the arguments."""
    parser.add_argument("number", nargs="?", type=count, metavar="N", help="number of a lesson")
    parser.add_argument("--notebooks", metavar="FOLDER", help="write the notebook of each lesson into this folder")


def run(options: argparse.Namespace) -> int:
    """Write the notebooks, show a lesson, or list all."""
    from .. import registry
    from ..lessons import lesson
    from ..lessons.notebooks import write_all

    if options.notebooks is not None:
        folder = Path(options.notebooks)
        if not folder.is_dir():
            raise ValueError(f"there is no folder {folder}; make it first, or name another")
        for path in write_all(folder):
            say(str(path))
    elif options.number is not None:
        attempt = lesson(options.number)
        say(repr(attempt))
        for k in range(1, len(attempt.lesson.predictions) + 1):
            say("\n" + attempt.ask(k))
    else:
        for name in registry.lessons:
            made = registry.lessons[name]
            say(f"{made.place}  {made.title} ({made.minutes} minutes)\n    {made.asks}")
        say("In the browser: sparsescope explore, then Lessons. In Python: ss.lesson(1).")
    return DONE
