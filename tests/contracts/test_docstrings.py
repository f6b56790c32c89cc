"""Docstrings of the public names: numpydoc sections that tools can render, and no parameter without its line."""

from __future__ import annotations

import ast
import copy
import doctest
import importlib
import inspect
import io
import re
import textwrap
import warnings
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import docutils.core
import numpy as np
import pytest
from docutils import nodes
from docutils.parsers.rst import roles
from numpydoc.docscrape import NumpyDocString
from numpydoc.docscrape_sphinx import SphinxDocString

import sparsescope as ss
from sparsescope import registry

# Rooms whose names are not all public, and of them the modules that are. The others serve these.
MODULES = (
    *("problems." + name for name in (
        "base", "prediction", "covariance", "sequence", "sequence_model", "judging", "metrics", "objectives",
        "scalings", "spectrum")),
    *("runs." + name for name in (
        "event", "grids", "optima", "problem_keys", "result", "run", "solving", "trace", "session", "stopping",
        "paths", "path_points", "path_result", "reference")),
)  # fmt: skip
LONGEST = 120
STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
ROLES = ("class", "func", "meth", "attr", "mod", "data", "exc")


def _own(value: Any) -> bool:
    return (getattr(value, "__module__", None) or "").startswith("sparsescope")


def _exported(module: Any) -> Iterator[tuple[str, Any]]:
    """Classes and functions that a module offers: those of ``__all__``, or those it defines."""
    listed = getattr(module, "__all__", None)
    for name in listed or [key for key in vars(module) if not key.startswith("_")]:
        value = getattr(module, name)
        if inspect.ismodule(value):
            if listed and value.__name__.startswith("sparsescope"):
                yield from _exported(value)
            continue
        defined = inspect.isroutine(value) or inspect.isclass(value)
        if defined and (value.__module__ == module.__name__ or (listed and _own(value))):
            yield f"{module.__name__}.{getattr(value, 'plain_name', name)}", value


def _members(name: str, cls: type) -> Iterator[tuple[str, Any, Any]]:
    """(name, member, the function behind it) of the public methods and properties of a class, inherited ones once;
    bases that bear its name (Trace: TraceData, TraceFiles …) are parts of it."""
    parts = [base for base in reversed(cls.__mro__) if base is cls or re.fullmatch(f"{cls.__name__}.+", base.__name__)]
    for key, value in [pair for part in parts for pair in vars(part).items()]:
        if key.startswith("_"):
            continue
        if isinstance(value, property):
            yield f"{name}.{key}", value, value.fget
        elif isinstance(value, cached_property):
            yield f"{name}.{key}", value, value.func
        elif isinstance(value, staticmethod | classmethod):
            yield f"{name}.{key}", getattr(cls, key), value.__func__
        elif inspect.isfunction(value):
            yield f"{name}.{key}", value, inspect.unwrap(value)


def _everything() -> dict[str, tuple[Any, str]]:
    """{name: (the function or class whose parameters count, or ``None``, docstring)} of all public names."""
    found: dict[str, tuple[Any, str]] = {}
    modules = [ss, *(importlib.import_module(f"sparsescope.{name}") for name in MODULES)]
    for name, value in {id(v): (n, v) for module in modules for n, v in _exported(module)}.values():
        found[name] = (value, value.__doc__ or "")
        for full, member, function in _members(name, value) if inspect.isclass(value) else ():
            doc, key = member.__doc__ or "", full.rpartition(".")[2]
            if doc:
                plain = isinstance(member, property | cached_property)
                found[full] = (None if plain else function, doc)
            else:  # it does what its base class says of it
                inherited = [getattr(vars(base)[key], "__doc__", None) for base in value.__mro__ if key in vars(base)]
                found[full] = (None, next(filter(None, inherited), ""))
    return {name: (value, inspect.cleandoc(doc)) for name, (value, doc) in found.items()}


PUBLIC = _everything()
CHECKED = {name: (value, NumpyDocString(doc)) for name, (value, doc) in PUBLIC.items() if value is not None}


def _parameters(value: Any) -> list[str]:
    """Names of the parameters that a caller gives, with the stars of ``*args`` and ``**named``."""
    given = inspect.signature(value).parameters.values()
    if inspect.isclass(value) and not inspect.isabstract(value) and all(p.kind in STARRED for p in given):
        declared = [field.name for field in getattr(value, "fields", ())]  # of a part or a view
        return declared or [name for name in getattr(value, "_fields", ()) if name != "unused"]
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [stars.get(p.kind, "") + p.name for p in given if p.name not in ("self", "cls")]


def _body(value: Any) -> list[ast.AST]:
    """The statements of a function, those of functions inside it left out."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(value)))).body[0]

    def walk(node: ast.AST) -> Iterator[ast.AST]:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
                yield child
                yield from walk(child)

    return list(walk(tree))


ROOMS = sorted({name.split(".")[1] for name in PUBLIC})


def _in(room: str, names: Any = PUBLIC) -> list[str]:
    return [name for name in names if name.split(".")[1] == room]


def _first_line(name: str) -> None:
    lines = PUBLIC[name][1].splitlines() or [""]
    assert lines[0], f"{name} has no docstring"
    assert len(lines[0]) <= LONGEST, f"{name}: the first line has {len(lines[0])} characters"
    assert lines[0].endswith((".", ":")), f"{name}: the first line is no sentence: {lines[0]!r}"
    assert len(lines) == 1 or not lines[1].strip(), f"{name}: a blank line has to follow the first one"


def _parameters_documented(name: str) -> None:
    value, doc = CHECKED[name]
    if inspect.isclass(value) and value.__init__ is object.__init__:
        return
    if inspect.isclass(value) and issubclass(value, BaseException):
        return
    sections = [*doc["Parameters"], *doc["Other Parameters"]]
    if inspect.isclass(value) and not sections:  # a record: its parameters are its attributes
        sections = doc["Attributes"]
    told = [one.strip() for line in sections for one in line.name.split(",")]
    assert sorted(told) == sorted(_parameters(value)), f"{name}: documented {told}"
    assert all(line.desc for line in sections), f"{name}: a parameter without a description"


def _results_documented(name: str) -> None:
    value, doc = CHECKED[name]
    body = _body(value)
    yields = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in body)
    returns = any(isinstance(node, ast.Return) and node.value is not None for node in body) and not yields
    always_none = all(
        isinstance(node.value, ast.Constant) and node.value.value is None
        for node in body
        if isinstance(node, ast.Return) and node.value is not None
    )
    assert bool(doc["Yields"]) == yields, f"{name}: Yields"
    if not always_none:
        assert bool(doc["Returns"]) == returns, f"{name}: Returns"
    told = " ".join(line.type + line.name for line in doc["Raises"])
    for node in body:
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
            assert node.exc.func.id in told, f"{name} raises {node.exc.func.id}"


@cache
def _renderer() -> tuple[dict[str, Any], Any]:
    """The template and the settings of the tools, which they would read anew for every docstring."""
    for role in ROLES:  # Sphinx knows these, docutils alone does not
        roles.register_generic_role(role, nodes.literal)
    settings = docutils.core.publish_doctree("", settings_overrides={"report_level": 2}).settings
    return {"template": SphinxDocString("").template}, settings


@cache
def _warnings_of(doc: str) -> str:
    """Return the warnings of the tools on a docstring; some names share theirs."""
    config, settings = _renderer()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = str(SphinxDocString(doc, config))
    said = io.StringIO()
    settings = copy.copy(settings)
    settings.warning_stream = said
    docutils.core.publish_doctree(text, settings=settings)
    return said.getvalue()


def _rendered(name: str) -> None:
    said = _warnings_of(PUBLIC[name][1])
    assert not said, f"{name}: {said}"


def _all(check: Any, names: list[str]) -> None:
    """Ask a check of every name, and tell all that fail."""
    failed = []
    for name in names:
        try:
            check(name)
        except (AssertionError, ValueError, Warning) as error:
            failed.append(f"{name}: {str(error) or repr(error)}".splitlines()[0])
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_has_a_docstring_whose_first_sentence_fits_a_line(room: str) -> None:
    _all(_first_line, _in(room))


@pytest.mark.parametrize("room", ROOMS)
def test_the_parameters_documented_are_those_there_are(room: str) -> None:
    _all(_parameters_documented, _in(room, CHECKED))


@pytest.mark.parametrize("room", ROOMS)
def test_what_is_returned_yielded_and_raised_is_documented(room: str) -> None:
    _all(_results_documented, [name for name in _in(room, CHECKED) if not inspect.isclass(CHECKED[name][0])])


def test_what_a_tool_cannot_render_is_noticed() -> None:
    plain = "Make it.\n\nParameters\n----------\nx\n    number of :class:`Problem`"
    assert not _warnings_of(plain)
    assert "Unknown interpreted text role" in _warnings_of(plain.replace(":class:", ":nonsense:"))
    assert "Inline strong start-string" in _warnings_of(plain.replace("number", "**number"))


@pytest.mark.parametrize("room", ROOMS)
def test_a_tool_renders_the_docstring_without_a_warning(room: str) -> None:
    _all(_rendered, _in(room))


@pytest.mark.parametrize("room", ROOMS)
def test_the_examples_of_docstrings_give_what_they_say(room: str) -> None:
    finder = doctest.DocTestParser()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for name in _in(room):
        told = finder.get_doctest(PUBLIC[name][1], {"ss": ss, "np": np}, name, None, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of limits that end a run
            said: list[str] = []
            assert not runner.run(told, out=said.append).failed, f"{name}:\n{''.join(said)}"


# Language: a docstring begins with a verb or a noun, and says plainly what it is about.
QUESTION = re.compile(r"(Whether|What|How|Which|Where|Why|Who|When)\b")
TORN = re.compile(r"(As|At|By|For|From|In|It|Of|On|There|To|With|Without|Nothing)\b")  # neither: a part of a sentence
IDIOMS = ("of its own", "of their own", "in words", "so many", "in the place of", "one's own", "with kinks", "overdraw")
FILES = sorted(Path(ss.__file__).parent.rglob("*.py"))
ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").glob("*.md") if path.stem != "CHANGELOG")]


STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)
QUOTED = r"""["'](?:\s|\\n|\\$)*"""  # what may stand before a docstring's first word


@cache
def _source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _may_begin(path: Path, words: re.Pattern[str]) -> bool:
    """Return whether a string of the file begins with one of the words: no other file has such a docstring."""
    return re.search(QUOTED + words.pattern, _source(path), re.MULTILINE) is not None


def _docstrings(path: Path) -> Iterator[tuple[str, str]]:
    nodes: list[ast.AST] = [ast.parse(_source(path))]
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            doc = ast.get_docstring(node)
            if doc:
                yield f"{path.name}:{getattr(node, 'name', '')}", doc
        # Classes and functions are statements: there are none in expressions, which take most of the time.
        nodes += [child for child in ast.iter_child_nodes(node) if isinstance(child, STATEMENTS)]


def test_docstrings_are_found_wherever_a_function_may_be_defined(tmp_path: Path) -> None:
    heads = ("if 1:", "else:", "for x in y:", "while 1:", "with x:", "class C:", "try:", "except E:", "finally:")
    defined = "".join(f'{head}\n  def f{k}():\n    "doc {k}"\n' for k, head in enumerate(heads))
    defined += 'match x:\n  case 1:\n    async def g():\n      "doc g"\n      def h(): "doc h"\n'
    (tmp_path / "made.py").write_text(defined, encoding="utf-8")
    found = {doc for _, doc in _docstrings(tmp_path / "made.py")}
    assert found == {*(f"doc {k}" for k in range(len(heads))), "doc g", "doc h"}


@pytest.mark.parametrize("string", ['"How."', "r'''How.'''", '"""\n    How."""', '"""\\\n How."""', '"\\nHow."'])
def test_files_whose_docstrings_may_begin_with_a_word_are_found(string: str, tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text(f"def f():\n    {string}\n", encoding="utf-8")
    (tmp_path / "other.py").write_text(f"# How.\nHow = {string.replace('How', 'Now how')}\n", encoding="utf-8")
    assert [doc for _, doc in _docstrings(tmp_path / "made.py") if QUESTION.match(doc)]
    assert _may_begin(tmp_path / "made.py", QUESTION) and not _may_begin(tmp_path / "other.py", QUESTION)


# To parse all files takes seconds: every time it is those with such words in them, with the slow tests all of them.
which_files = pytest.mark.parametrize("all_files", [False, pytest.param(True, marks=pytest.mark.slow)])


@which_files
def test_docstrings_begin_with_a_verb_or_a_noun_and_hold_no_idioms(all_files: bool) -> None:
    """Those of the package, and of its tests and measurements, which are read as much."""
    others = [path for room in ("tests", "benchmarks") for path in sorted((ROOT / room).rglob("*.py"))]
    wrong = [
        f"{name}: {doc.splitlines()[0]}"
        for path in (*FILES, *others)
        if all_files or _may_begin(path, QUESTION) or _idioms(_source(path).replace("\\n", " "))
        for name, doc in _docstrings(path)
        if QUESTION.match(doc) or _idioms(doc)
    ]
    assert not wrong, "\n".join(wrong)


@which_files
def test_docstrings_of_the_package_begin_with_no_part_of_a_sentence(all_files: bool) -> None:
    """Those of claims are the claims, in sentences."""
    others = [path for path in FILES if not path.stem.startswith("claims") and (all_files or _may_begin(path, TORN))]
    wrong = [f"{name}: {doc.splitlines()[0]}" for path in others for name, doc in _docstrings(path) if TORN.match(doc)]
    assert not wrong, "\n".join(wrong)


def _idioms(text: str) -> list[str]:
    plain = " " + " ".join(re.findall(r"[\w'’]+", text)) + " "
    return [idiom for idiom in IDIOMS if f" {idiom} " in plain]


def test_pages_hold_no_idioms() -> None:
    wrong = [
        f"{path.name}:{number}: {', '.join(_idioms(line))}"
        for path in PAGES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if _idioms(line)
    ]
    assert not wrong, "\n".join(wrong)
    assert _idioms("in a folder of its own.") == ["of its own"]


# Data of a problem, which problems make; of the registered parts' bases nobody makes one.
SHOWN_ELSEWHERE = {"Design"}


def _reached() -> dict[str, Any]:
    """Functions and classes that somebody reaches as ``ss.name`` or ``ss.room.name``; of parts the registered ones."""
    registries = [registry.losses, registry.penalties, registry.solvers, registry.views]
    registered = {id(entry.make) for known in registries for entry in known.parts.values()}
    bases = (ss.losses.Loss, ss.penalties.Penalty, ss.solvers.Solver, ss.solvers.State, ss.views.View)
    found = {}
    for room in ("", "datasets", "estimators", "losses", "penalties", "solvers", "stopping", "views"):
        home: Any = getattr(ss, room) if room else ss
        listed = getattr(home, "__all__", None)
        for name in listed or [key for key in vars(home) if not key.startswith("_")]:
            value = getattr(home, name)
            part = inspect.isclass(value) and issubclass(value, bases)
            defined = _own(value) if listed else getattr(value, "__module__", None) == home.__name__
            named = inspect.isclass(value) or inspect.isfunction(value)
            if named and defined and (not part or id(value) in registered):
                found[f"{room}.{name}".lstrip(".")] = value
    return found


def test_every_name_that_is_reached_has_an_example() -> None:
    names = _reached()
    assert len(names) > 90
    bare = sorted(name for name, value in names.items() if ">>> " not in (value.__doc__ or ""))
    assert set(bare) <= SHOWN_ELSEWHERE, f"without Examples: {', '.join(bare)}"
