"""Small mistakes in the package's source: where they can be made, and the text with one of them in it."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# How many mutants are drawn from which folders of the package.
SHARES = {"kernels": 14, "losses": 8, "penalties": 8, "solvers": 12, "problems": 10, "runs": 4, "live": 4}
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is not": "is", "is": "is not"}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "**": "*", "@": None, "//": "/", "%": "*"}
NAMES = {"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "any": "all", "all": "any",
         "argmax": "argmin", "argmin": "argmax"}  # fmt: skip
# Bodies that only make words for people: what tests say of them is not what this check is about.
WORDS = {"__repr__", "__str__", "_repr_html_", "describe", "in_words", "rehearse", "precompile"}


@dataclass(frozen=True)
class Mutant:
    """One mistake: the span of a file's text that is replaced."""

    path: str
    start: int
    end: int
    before: str
    after: str
    line: int
    function: str

    @property
    def key(self) -> str:
        """Name of the mutant as long as the code around it stays."""
        return f"{self.path}::{self.function}: {self.before.strip()} -> {self.after.strip()} (line {self.line})"

    def applied(self, text: str) -> str:
        """The file's text with the mistake."""
        assert text[self.start : self.end] == self.before
        return text[: self.start] + self.after + text[self.end :]


def draw(package: Path, seed: int) -> list[Mutant]:
    """Draw mutants of all folders, no two in one function.

    The order is by a hash of each mutant's name without its line, so a change of the sources replaces only the mutants
    of the functions that it changes: results stay comparable from commit to commit.
    """
    found: list[Mutant] = []
    for folder, count in SHARES.items():
        every = [m for path in sorted((package / folder).rglob("*.py")) for m in mutants(package, path)]
        seen: Counter[str] = Counter()
        order: list[tuple[str, Mutant]] = []
        for mutant in every:
            name = mutant.key.rpartition(" (line")[0]
            seen[name] += 1  # the same mistake at several places of a function
            order.append((hashlib.sha256(f"{seed} {name} {seen[name]}".encode()).hexdigest(), mutant))
        used: set[tuple[str, str]] = set()
        for _, mutant in sorted(order, key=lambda one: one[0]):
            if len(used) < count and (mutant.path, mutant.function) not in used:
                used.add((mutant.path, mutant.function))
                found.append(mutant)
    return found


def mutants(package: Path, path: Path) -> Iterator[Mutant]:
    """All mutants of a file."""
    text = path.read_text(encoding="utf-8")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = text.splitlines()

    def at(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def span(node: ast.AST) -> tuple[int, int]:
        return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    for function, node in _nodes(ast.parse(text)):
        for start, end, after in _mistakes(node, text, span):
            yield Mutant(str(path.relative_to(package)), start, end, text[start:end], after, node.lineno, function)


def _nodes(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """(name of the function, node) of all nodes in bodies of functions but words, errors and annotations."""

    def walk(node: ast.AST, function: str, inside: bool) -> Iterator[tuple[str, ast.AST]]:
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.Assert | ast.ImportFrom | ast.Import):
            return
        if inside:
            yield function, node
        for name, value in ast.iter_fields(node):
            if name in ("decorator_list", "returns", "annotation", "args", "type_comment"):
                continue_with = name == "args" and not isinstance(node, ast.FunctionDef | ast.Lambda)
                if not continue_with:
                    continue
            for child in value if isinstance(value, list) else [value]:
                if not isinstance(child, ast.AST):
                    continue
                if isinstance(child, ast.FunctionDef | ast.ClassDef):
                    if child.name not in WORDS:
                        full = f"{function}.{child.name}" if function else child.name
                        yield from walk(child, full, isinstance(child, ast.FunctionDef))
                else:
                    yield from walk(child, function, inside)

    yield from walk(tree, "", False)


def _mistakes(node: ast.AST, text: str, span) -> Iterator[tuple[int, int, str]]:  # type: ignore[no-untyped-def]
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield from _swap(text, span(node.left)[1], span(node.comparators[0])[0], COMPARISONS)
    elif isinstance(node, ast.BinOp):
        yield from _swap(text, span(node.left)[1], span(node.right)[0], ARITHMETIC)
    elif isinstance(node, ast.BoolOp):
        yield from _swap(text, span(node.values[0])[1], span(node.values[1])[0], {"and": "or", "or": "and"})
    elif isinstance(node, ast.AugAssign):
        start, end = span(node.target)[1], span(node.value)[0]
        yield from _swap(text, start, end, {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "|=": "&=", "&=": "|="})
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield span(node)[0], span(node.operand)[0], ""
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        start, end = span(node.test)
        yield start, end, f"not ({text[start:end]})"
    elif isinstance(node, ast.Call):
        start, end = span(node.func)
        name = text[start:end].rpartition(".")[2]
        if name in NAMES and len(node.args) > (0 if "." in text[start:end] else 1):
            yield end - len(name), end, NAMES[name]
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        value = node.value
        yield *span(node), str((not value) if isinstance(value, bool) else value + 1)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield *span(node), "pass"


def _swap(text: str, start: int, end: int, table: dict[str, str | None]) -> Iterator[tuple[int, int, str]]:
    sign = text[start:end].strip(" ()\n")
    after = table.get(sign)
    if after:
        at = text.index(sign, start, end)
        yield at, at + len(sign), after
