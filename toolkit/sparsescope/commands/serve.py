"""The command `serve`: the pages for others, and with ``--class`` the board of a teacher."""

from __future__ import annotations

import argparse
from typing import Any

from ._arguments import add_server, count
from ._data import site_of
from ._output import say

HELP = "serve the pages to others; with --class to a class with a teacher's board"
EXAMPLES = """
sparsescope serve --class
sparsescope serve --class --sessions 30 --password lasso --data digits
sparsescope serve --class --keep monday.sqlite
"""
DONE = 0
HERE, EVERYWHERE = "localhost", "0.0.0.0"


def add(parser: Any) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--class",
        action="store_true",
        dest="teach",
        help="print the students' address with a QR code and the secret link of the teacher's board; listens on all "
        "networks of this machine",
    )
    parser.add_argument(
        "--sessions",
        type=count,
        default=0,
        metavar="N",
        help="how many pages may be open at a time (default: no limit)",
    )
    parser.add_argument(
        "--keep",
        metavar="FILE",
        help="keep questions, answers and the secret links in this SQLite file (with --class); without it they are "
        "forgotten when the server ends",
    )
    add_server(parser, None, "--password")


def run(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    if options.keep is not None and not options.teach:
        raise ValueError("--keep is for a class; add --class")
    from ..classroom import Keeper, Room
    from ..dashboard import serve

    site = site_of(options.data, options.sessions, options.sweep)
    if options.teach:
        site.teach(Room(Keeper(options.keep)))
    serve(
        site,
        options.port,
        options.address or (EVERYWHERE if options.teach else HERE),
        show=False,
        say=say,
        linger=options.linger,
        hosts=tuple(options.allow_host),
        token=options.token,
    )
    return DONE
