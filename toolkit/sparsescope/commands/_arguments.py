"""Types of arguments, and the arguments that several commands share."""

from __future__ import annotations

import argparse
from typing import Any

TABLES = (".csv", ".parquet")


def whole(text: str) -> int:
    """Return a whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def count(text: str) -> int:
    """Return a whole number of at least 0."""
    value = whole(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative; allowed: 0, 1, 2, …")
    return value


def port(text: str) -> int:
    """Return the number of a port; 0: any free one."""
    value = whole(text)
    if not 0 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port; allowed: 0 to 65535")
    return value


def positive(text: str) -> float:
    """Return a number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def table_file(text: str) -> str:
    """Return the name of a file for a table."""
    if not text.lower().endswith(TABLES):
        raise argparse.ArgumentTypeError(f"{text!r} is no table; allowed suffixes: {', '.join(TABLES)}")
    return text


def add_problem(parser: Any) -> None:
    """Add the arguments that say what is minimised."""
    parser.add_argument(
        "data",
        metavar="NAME|FILE|-",
        help="a data set's name or a file: .npz, Parquet, svmlight or CSV (these also .gz, .bz2); -: standard input",
    )
    parser.add_argument("--target", metavar="COLUMN", help="label column of a table")
    parser.add_argument("--loss", help="default: multiclass-squared-hinge; for label sets label-ranking-squared-hinge")
    parser.add_argument("--penalty", default="l1/l2", help="default: %(default)s")
    parser.add_argument("--intercept", action="store_true", help="add an intercept, which is not penalised")


def add_server(parser: Any, address: str | None, password: str = "--token") -> None:
    """Add the arguments of commands that serve pages.

    Parameters
    ----------
    parser
        of the command
    address : str or None
        what is listened on by default; None leaves it to the command
    password : str
        name of the option with the token
    """
    parser.add_argument(
        "--data",
        metavar="NAME|PATH",
        help="a data set's name (see: sparsescope datasets) or a file: .npz, Parquet, svmlight or CSV",
    )
    parser.add_argument(
        "--sweep",
        metavar="FOLDER",
        help="let the page /sweep watch this folder, which sparsescope sweep --folder fills",
    )
    parser.add_argument("--port", type=port, help="default: 5006, or a free one where that is taken; 0: any free one")
    parser.add_argument(
        "--address",
        default=address,
        help="the network address to listen on; 0.0.0.0 lets other machines in, localhost does not"
        + (" (default: %(default)s)" if address else ""),
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a further name by which people come, such as explorer.example.org; may be repeated. The "
        "names of this machine are always allowed, every other one is refused",
    )
    parser.add_argument(
        password,
        default="",
        dest="token",
        metavar="TEXT",
        help="what everybody has to know who comes (default: a new one where other machines reach the "
        "address, none on this machine alone)",
    )
    parser.add_argument(
        f"--no-{password.lstrip('-')}",
        action="store_const",
        const=None,
        dest="token",
        help=f"ask nobody for a {password.lstrip('-')}, also where other machines reach the address",
    )
    parser.add_argument(
        "--linger",
        type=positive,
        default=10.0,
        metavar="SECONDS",
        help="seconds for which a closed page keeps its run and its place (default: %(default)s)",
    )


def add_output(parser: Any) -> None:
    """Add the arguments that say where the table goes."""
    parser.add_argument("--json", action="store_true", help="print one JSON object in place of text")
    parser.add_argument("--out", type=table_file, metavar="FILE", help="write the table to this file: .csv or .parquet")
