"""Long files and functions of the package: their number may fall and does not rise.

A long file may be two rooms, a long function may do two things. Where one is split, the numbers below become smaller.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import sparsescope

PACKAGE = Path(sparsescope.__file__).parent
FILE_LINES, FUNCTION_LINES = 400, 60  # docstrings of functions not counted: their length is that of their parameters
MOST_FILES, MOST_FUNCTIONS = 0, 0
LONGEST_FILE, LONGEST_FUNCTION = 400, 60
MOST_PARAMETERS = 20  # of a kernel: arrays that belong together come as a struct
SUFFIXES = (".py", ".js", ".css")


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements within a node, at any depth; looking into their expressions too would take most of the time."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, name, ()):
            yield inner
            yield from statements(inner)


def function_lines(text: str) -> dict[str, int]:
    """Lines of each function without its head and docstring, by its name and line."""
    found = {}
    for node in statements(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if body:
                found[f"{node.name}:{node.lineno}"] = (body[-1].end_lineno or 0) - body[0].lineno + 1
    return found


def check(found: dict[str, int], limit: int, most: int, longest: int) -> None:
    long = {name: lines for name, lines in found.items() if lines > limit}
    listed = "\n".join(f"{lines} {name}" for name, lines in sorted(long.items(), key=lambda item: -item[1]))
    assert len(long) <= most, f"{len(long)} are longer than {limit} lines, {most} were:\n{listed}"
    assert max(long.values(), default=0) <= longest, f"one is longer than {longest} lines:\n{listed}"


def test_long_files_become_fewer() -> None:
    files = [path for path in PACKAGE.rglob("*") if path.suffix in SUFFIXES]
    found = {str(path.relative_to(PACKAGE)): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    check(found, FILE_LINES, MOST_FILES, LONGEST_FILE)


def test_long_functions_become_fewer() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}::{name}": lines
        for path in PACKAGE.rglob("*.py")
        for name, lines in function_lines(path.read_text(encoding="utf-8")).items()
    }
    check(found, FUNCTION_LINES, MOST_FUNCTIONS, LONGEST_FUNCTION)


def test_kernels_take_structs_in_place_of_many_arrays() -> None:
    found = {
        f"{path.name}::{node.name}": len(node.args.posonlyargs + node.args.args + node.args.kwonlyargs)
        for path in (PACKAGE / "kernels").glob("*.py")
        for node in statements(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    assert len(found) > 100 and {name: count for name, count in found.items() if count > MOST_PARAMETERS} == {}


def test_lines_of_a_function_are_counted_without_its_docstring() -> None:
    text = (
        'def f():\n    """One.\n\n    Two.\n    """\n    a = 1\n\n    return a\n\n\ndef g(\n    x,\n):\n    return x\n'
    )
    assert function_lines(text) == {"f:1": 3, "g:11": 1}
