"""The command `completion`: a script with which a shell completes commands, options and names of parts."""

from __future__ import annotations

import argparse
from typing import Any

from .. import extras
from ._output import say

HELP = "print the script with which a shell completes this program's arguments"
EXAMPLES = """
sparsescope completion bash > ~/.local/share/bash-completion/completions/sparsescope
sparsescope completion zsh > "${fpath[1]}/_sparsescope"
sparsescope completion tcsh > ~/.complete.csh
"""
SHELLS = ("bash", "zsh", "tcsh")


def add(parser: Any) -> None:
    """Add the arguments."""
    parser.add_argument("shell", choices=SHELLS, help=f"one of {', '.join(SHELLS)}")


def run(options: argparse.Namespace) -> int:
    """Print the script, made by shtab from the parser itself."""
    shtab = extras.package("shtab", "Completion in a shell")
    from ..cli import make_parser

    say(shtab.complete(make_parser(), options.shell))
    return 0
