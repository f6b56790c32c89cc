"""Build ``pydocs.npz``: the docstrings of the Python standard library as a text classification set.

A document is one docstring, its class is the area of the library it belongs to (roughly a chapter of the library
reference), its features are words. The ``.py`` files are parsed, never imported, so building runs no library code.

    python data/build_pydocs.py                       # from the running Python into the package
    python data/build_pydocs.py --stdlib DIR --out FILE

Choices, in order of use:

* docstrings of modules, classes and functions with at least 6 different words left after removal of stop words;
* interpreter prompts (``>>>``) are dropped, identifiers are split (``fileName``, ``file_name`` -> file, name),
  everything is lower case, words have 2 to 24 letters;
* a document loses the words that spell its own module path (``tkinter``, ``asyncio``, ...): they give the class away;
* documents with the same words are kept once, so that no copy sits in both parts;
* the name of the function or class inside its module is part of the document, like the heading of an entry;
* the test part (about a quarter of each area) is made of whole top-level classes and functions, so that no method of
  a class is tested with its siblings in the training part; whole files would be harsher still, but then most areas
  have modules of which the training part knows nothing (a linear SVM drops from three quarters right to little more
  than half);
* vocabulary and document frequencies come from the training part only: words in 3 or more training documents;
* weights are (1 + ln count) * (ln((1 + n) / (1 + df)) + 1), rows have Euclidean norm 1, float32.

The order of everything is fixed by sorting and hashing, so one Python version gives one file, byte for byte.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import io
import math
import platform
import re
import sysconfig
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

# Inside the package, so that an installed copy has it too; data/pydocs.npz is a link to it.
OUTPUT = Path(__file__).resolve().parents[1] / "toolkit" / "sparsescope" / "datasets" / "shipped" / "pydocs.npz"
MIN_WORDS = 6  # different words a docstring must have: shorter ones say too little about their area
MIN_DOCUMENTS = 3  # training documents a word must occur in: rarer words cannot be learnt, only memorised
TEST_SHARE = 0.25
LETTERS = range(2, 25)

# Area -> modules and packages. Left out on purpose: test packages, bundled third-party code, modules that are
# generated (encodings), leaving the library (lib2to3, distutils, ...) or too few for an area (multimedia).
AREAS: dict[str, str] = {
    "text": "string re sre_compile sre_constants sre_parse difflib textwrap stringprep codecs gettext locale",
    "data types": "collections _collections_abc heapq bisect weakref _weakrefset types copy pprint reprlib enum "
    "graphlib datetime calendar zoneinfo _strptime array",
    "numbers": "numbers _pydecimal decimal fractions random statistics",
    "runtime services": "functools operator contextlib abc _py_abc dataclasses typing inspect traceback warnings site "
    "_sitebuiltins sysconfig __future__ contextvars",
    "files and paths": "pathlib os genericpath posixpath ntpath nturl2path fileinput stat filecmp tempfile glob "
    "fnmatch linecache shutil _pyio io",
    "operating system": "platform ctypes signal subprocess pty tty pipes argparse optparse getopt getpass cmd shlex "
    "curses _osx_support _aix_support",
    "logging": "logging",
    "threads and processes": "threading multiprocessing concurrent queue sched _threading_local",
    "asyncio": "asyncio",
    "networking": "socket selectors socketserver ipaddress ftplib poplib imaplib smtplib telnetlib nntplib",
    "web": "http urllib wsgiref cgi cgitb xmlrpc webbrowser",
    "email": "email mailbox mimetypes mailcap base64 quopri",
    "markup": "xml html _markupbase",
    "data formats": "json csv configparser plistlib tomllib pickle pickletools copyreg shelve dbm sqlite3 xdrlib netrc",
    "compression": "gzip bz2 lzma zipfile tarfile zipapp _compression",
    "cryptography": "hashlib hmac secrets crypt ssl uuid",
    "graphical interface": "tkinter turtle",
    "testing and debugging": "unittest doctest bdb pdb profile cProfile pstats timeit trace tracemalloc pydoc",
    "import system": "importlib zipimport pkgutil modulefinder runpy imp venv",
    "language services": "ast symtable token tokenize keyword tabnanny pyclbr py_compile compileall dis opcode code "
    "codeop",
}
SKIPPED_FOLDERS = {"test", "tests", "idle_test", "__pycache__", "site-packages"}

STOP_WORDS = frozenset(
    """a about above after again all already also although always am among an and another any are as at back be because
    been before being below between both but by came can cannot could couldn did didn do does doesn doing don done down
    during each eg either else etc even ever every few for from further gets give given gives go goes going got had has
    hasn have haven having he hence her here hers him his how however ie if in instead into is isn it its itself just
    ll made make makes making many may me might more most much must my need needs neither never no nor not now of off
    often on once only onto or other others otherwise our out over own per perhaps quite rather re same say see seen
    shall she should shouldn so some something somewhat still such than that the their them themselves then there
    therefore these they thing things this those though through thus to together too under unless until up upon us use
    used uses using usually ve very via was wasn way we well went were weren what when whenever where whereas whether
    which while who whole whom whose why will with within without won would wouldn yes yet you your""".split()  # noqa: SIM905
)


class Document(NamedTuple):
    """One docstring: dotted name, area, source file, top-level name in that file, and its words with repetitions."""

    name: str
    area: str
    file: str
    top: str
    words: tuple[str, ...]


def area_of_modules() -> dict[str, str]:
    """Top-level module or package name -> area."""
    return {module: area for area, modules in AREAS.items() for module in modules.split()}


def tokens(text: str) -> list[str]:
    """Words of a docstring: no prompts, identifiers split at capitals and underscores, lower case, no stop words."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith((">>>", "..."))]
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", " ".join(lines))
    words = (part.lower() for part in parts)
    return [word for word in words if len(word) in LETTERS and word not in STOP_WORDS]


def docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Pairs (dotted name inside the module, docstring); the module itself has the empty name."""
    stack: list[tuple[str, ast.AST]] = [("", tree)]
    while stack:
        name, node = stack.pop()
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield name, text
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            stack.append((f"{name}.{child.name}".lstrip(".") if named else name, child))  # type: ignore[attr-defined]


def collect(stdlib: Path) -> list[Document]:
    """All documents below `stdlib`, sorted by name, each set of words once."""
    areas = area_of_modules()
    found = []
    for path in sorted(stdlib.rglob("*.py")):
        parts = path.relative_to(stdlib).with_suffix("").parts
        if parts[0] not in areas or SKIPPED_FOLDERS.intersection(parts):
            continue
        module = parts[:-1] if parts[-1] == "__init__" else parts
        own_name = set(tokens(" ".join(module)))
        for name, text in docstrings(ast.parse(path.read_bytes())):
            body = [word for word in tokens(text) if word not in own_name]
            if len(set(body)) >= MIN_WORDS:
                heading = [word for word in tokens(name) if word not in own_name]
                words = (*heading, *body)
                full = ".".join((*module, name)) if name else ".".join(module)
                found.append(Document(full, areas[parts[0]], "/".join(parts), name.split(".")[0], words))
    found.sort(key=lambda doc: (doc.file, doc.name, doc.words))
    unique: dict[tuple[str, ...], Document] = {}
    for doc in found:
        unique.setdefault(tuple(sorted(doc.words)), doc)
    return list(unique.values())


def stable_rank(text: str) -> str:
    """A fixed pseudo-random order: no generator whose stream could change between versions."""
    return hashlib.sha256(text.encode()).hexdigest()


def split(documents: list[Document]) -> tuple[list[Document], list[Document]]:
    """Training and test part, area by area; the documents of one top-level class or function stay together."""
    by_area: dict[str, list[Document]] = defaultdict(list)
    for doc in documents:
        by_area[doc.area].append(doc)
    test_units: set[tuple[str, str]] = set()
    for docs in by_area.values():
        units = Counter((doc.file, doc.top) for doc in docs)
        room = TEST_SHARE * len(docs)
        for unit in sorted(units, key=lambda u: stable_rank("/".join(u))):
            # A unit that overshoots by more than it fills stays in the training part.
            if units[unit] <= 2 * room:
                test_units.add(unit)
                room -= units[unit]
    train = [doc for doc in documents if (doc.file, doc.top) not in test_units]
    test = [doc for doc in documents if (doc.file, doc.top) in test_units]
    return train, test


def weigh(documents: list[Document], column: dict[str, int], idf: np.ndarray) -> dict[str, np.ndarray]:
    """CSR parts of the tf-idf matrix with unit rows, shape (len(documents), len(column)), float32."""
    data: list[float] = []
    indices: list[int] = []
    indptr = [0]
    for doc in documents:
        counts = sorted((column[w], c) for w, c in Counter(doc.words).items() if w in column)
        row = [(1.0 + math.log(c)) * idf[j] for j, c in counts]
        norm = math.sqrt(math.fsum(v * v for v in row)) or 1.0
        data += [v / norm for v in row]
        indices += [j for j, _ in counts]
        indptr.append(len(data))
    return {
        "data": np.array(data, dtype=np.float32),
        "indices": np.array(indices, dtype=np.int32),
        "indptr": np.array(indptr, dtype=np.int32),
        "shape": np.array([len(documents), len(column)], dtype=np.int64),
    }


def text_array(lines: list[str]) -> np.ndarray:
    """Lines joined by newlines as UTF-8 bytes: far smaller than a fixed-width unicode array."""
    return np.frombuffer("\n".join(lines).encode(), dtype=np.uint8)


def build(stdlib: Path, python_version: str) -> dict[str, np.ndarray]:
    """All arrays of the file. Raises ValueError when the folder holds fewer than two areas with documents."""
    documents = collect(stdlib)
    train, test = split(documents)
    present = {doc.area for doc in train}
    names = [area for area in AREAS if area in present]
    if len(names) < 2:
        raise ValueError(f"{stdlib} has docstrings of {len(names)} area(s), 2 are needed: is it a standard library?")
    frequency = Counter(word for doc in train for word in set(doc.words))
    words = sorted(word for word, df in frequency.items() if df >= MIN_DOCUMENTS)
    column = {word: j for j, word in enumerate(words)}
    idf = np.array([math.log((1 + len(train)) / (1 + frequency[w])) + 1.0 for w in words])
    # A document all of whose words are rare has an empty row: nothing can be learnt from it or said about it.
    train, test = ([doc for doc in part if column.keys() & doc.words] for part in (train, test))
    arrays: dict[str, np.ndarray] = {}
    for part, docs in (("train", train), ("test", [doc for doc in test if doc.area in present])):
        arrays |= {f"X_{part}_{key}": value for key, value in weigh(docs, column, idf).items()}
        arrays[f"y_{part}"] = np.array([names.index(doc.area) for doc in docs], dtype=np.uint8)
        arrays[f"document_names_{part}_utf8"] = text_array([doc.name for doc in docs])
    arrays["class_names"] = np.array(names)
    arrays["feature_names_utf8"] = text_array(words)
    arrays["idf"] = idf.astype(np.float32)
    arrays["title"] = np.array("Docstrings of the Python standard library, by area")
    arrays["description"] = np.array(
        "Document: one docstring; class: area of the library; features: words, tf-idf, unit rows. "
        "Test documents come from other top-level classes and functions than training documents."
    )
    arrays["source"] = np.array(f"standard library of CPython {python_version}, read by data/build_pydocs.py")
    arrays["licence"] = np.array("PSF-2.0 (Copyright (c) 2001-2023 Python Software Foundation; All Rights Reserved)")
    return arrays


def save(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write a compressed .npz with fixed dates and order, so that equal arrays give equal bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(arrays):
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asanyarray(arrays[name]), allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, buffer.getvalue(), compresslevel=9)


def main(arguments: list[str] | None = None) -> None:
    """Read the library, write the data file, and print what is in it. ``arguments``: those of the command line."""
    parser = argparse.ArgumentParser(description="Build pydocs.npz from the sources of a Python standard library.")
    here = Path(sysconfig.get_paths()["stdlib"])
    parser.add_argument("--stdlib", type=Path, default=here, help="folder of the library (of the running Python)")
    parser.add_argument("--python-version", default=platform.python_version(), help="version noted in the file")
    parser.add_argument("--out", type=Path, default=OUTPUT, help="file to write")
    options = parser.parse_args(arguments)
    arrays = build(options.stdlib, options.python_version)
    save(options.out, arrays)
    n, d = arrays["X_train_shape"]
    n_test, m = arrays["X_test_shape"][0], len(arrays["class_names"])
    print(f"{options.out}: {n} training and {n_test} test documents, {d} words, {m} areas")
    for k, name in enumerate(arrays["class_names"]):
        print(f"  {name:24s} {np.sum(arrays['y_train'] == k):5d} {np.sum(arrays['y_test'] == k):5d}")


if __name__ == "__main__":
    main()
