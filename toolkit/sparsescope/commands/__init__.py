"""Commands of the program `sparsescope`: one file each, found by being there.

A file defines ``HELP`` (a line), ``EXAMPLES`` (shown by ``--help``), ``add(parser)`` and ``run(options)``; ``run``
returns the exit code. The command has the name of the file. Files whose name begins with an underscore hold functions
that the commands share.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import textwrap
from typing import Any


def names() -> list[str]:
    """Names of the commands of this folder, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def add_all(commands: Any) -> None:
    """Add all commands of this folder to the sub-parsers of the program."""
    for name in names():
        module = importlib.import_module(f"{__name__}.{name}")
        parser = commands.add_parser(
            name,
            help=module.HELP,
            description=module.HELP[0].upper() + module.HELP[1:] + ".",
            epilog="examples:\n" + textwrap.indent(textwrap.dedent(module.EXAMPLES).strip(), "  "),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.set_defaults(run=module.run)
        module.add(parser)
